// One test while it runs: starts its processes, watches them, and stops those that break a rule.
#pragma once

#include "contestants.h"
#include "descriptors.h"
#include "isolation_features.h"
#include "job.h"
#include "launch.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "proc_files.h"
#include "processes.h"
#include "protocols.h"
#include "seccomp.h"
#include "test_state.h"
#include "verdicts.h"
#include "warm_interpreter.h"

namespace runner {

// Whether a call sends a signal to the program itself.
inline bool sends_itself(int signal, const Contestant& contestant, const seccomp_data& call) {
  const CallRule* rule = call.arch == AUDIT_ARCH_X86_64 ? rule_of(call.nr) : nullptr;
  bool sends = rule != nullptr && rule->let == Let::SignalSelf && static_cast<int>(call.args[*rule->values.begin()]) == signal;
  pid_t own = contestant.pid_namespace.pid() > 0 ? PidNamespace::kOnlyProcess : contestant.process.pid;
  return sends && (static_cast<pid_t>(call.args[rule->arg]) == 0 || static_cast<pid_t>(call.args[rule->arg]) == own);
}

inline void count_answer(Contestant& contestant) {
  if (++contestant.refusals >= kMaxRefusals) contestant.listener.reset();
}

// Whether a call makes a timer that the program may have.
inline bool makes_timer(const RunPlan& plan, const seccomp_data& call) {
  int clock = static_cast<int>(call.args[0]);
  return call.arch == AUDIT_ARCH_X86_64 && call.nr == SYS_timer_create && plan.processes == 1 && plan.passes == 1 &&
         clock >= -8 /* its own */;
}

// Answers one call that the kernel reports.
inline void answer_refusal(const RunPlan& plan, Contestant& contestant) {
  Padded<seccomp_notif> request;
  if (!receive_call(contestant.listener, request)) return;
  const seccomp_data& call = request.fields.data;
  bool is_timer = makes_timer(plan, call), is_own_end = sends_itself(SIGTERM, contestant, call);
  if (is_timer && !contestant.has_timers) contestant.kills_before = out_of_memory_kills();
  contestant.has_timers |= is_timer;
  contestant.terminated_itself |= is_own_end;
  if (is_timer || is_own_end) {
    uint32_t go_on = 1;  // SECCOMP_USER_NOTIF_FLAG_CONTINUE, Linux 5.5
    if (answer_call(contestant.listener, request, 0, go_on) || errno == ENOENT) return count_answer(contestant);
  }
  Refusal refusal = refusal_of(call);
  add_attempts(contestant.attempted, refusal.name, 1);
  bool kills_itself = sends_itself(SIGKILL, contestant, call);
  if (refusal.deadly || kills_itself) {
    contestant.made_deadly_call |= refusal.deadly;
    contestant.killed_itself |= kills_itself;
    contestant.process.kill();
    return;
  }
  answer_call(contestant.listener, request, refusal.error);
  count_answer(contestant);
}

class RunningTest : protected TestState {
 protected:
  using TestState::TestState;

  int64_t idle_us() const { return idle_us_; }

  void begin() {
    if (plan_.has_manager()) begin_manager();
    for (size_t i = 0; i < contestants_.size(); i++) {
      Contestant& c = contestants_[i];
      c.index = i;
      std::string error = start_contestant(c);
      if (!error.empty()) judge_error(JudgeFault::Start, TrustedProgram::Runner, error);
    }
    stopwatch_ = Stopwatch();  // only now, because the start of a warm interpreter may have taken seconds
  }

  void watch() {
    for (;;) {
      sleep();
      for (Contestant& c : contestants_) listen(c);
      for (Contestant& c : contestants_) {
        if (!c.process.alive() || !c.process.reap(false)) continue;
        c.ended_us = now_us();
        listen(c);  // its last message may contain the reason
        bool killed_by_filter = can().seccomp && (!can().notify || can().hidden.any()) && c.process.signal() == SIGSYS;
        if (killed_by_filter && !c.made_deadly_call) c.attempted.emplace_back(kHiddenCall, 1);
        c.made_deadly_call |= killed_by_filter;
      }
      if (manager_.process.alive() && manager_.process.reap(false)) {
        give_manager_more_time(manager_.process.cpu_us());  // it may have gone over its limit after the last look
        manager_.conclude();
      }
      int64_t now = now_us();
      if (now >= next_tick_us()) tick(now);
      if (is_over(now)) break;
    }
    fifo_closes_.end();
    bool has_ended = !manager_.process.alive() && (manager_.fault == JudgeFault::None || manager_.has_lost_its_reader());
    if (asks_without_end_ && has_ended) limit_ = Limit::Idle;
    for (Contestant& c : contestants_) stop_for_others(c);
    if (manager_.process.alive()) manager_.clear();
    for (Contestant& c : contestants_) {
      c.process.reap(true);
      if (c.ended_us == 0) c.ended_us = now_us();
      c.pid_namespace.end();
      if (!plan_.output_file.empty()) collect(c);
      if (fchmod(c.output.get(), 0400) != 0) system_fault("fchmod");  // now a checker may read it
    }
  }

 private:
  // Returns an error if it could not be started, else nothing.
  std::string start_contestant(Contestant& c) {
    const ProcessDirectories& directories = directories_of(c);
    Fd input = standard_input(c.index);
    c.errors = write_only_file("stderr");
    c.output = write_only_file("stdout");
    if (!can().notify) c.kills_before = out_of_memory_kills();
    if (job_.interpreter) c.report = write_only_file("report");
    if (job_.interpreter_file && !plan_.warm) c.program = Fd(reopen(test_.program, O_RDONLY));
    if (job_.full() && !c.pid_namespace.enter(job_.machine.own_pidns)) system_fault("a PID namespace cannot be made");
    auto [ours, theirs] = connected_sockets();
    c.control = std::move(ours);
    if (plan_.warm) {
      Fd pid_namespace(job_.full() ? open("/proc/self/ns/pid_for_children", O_RDONLY | O_CLOEXEC) : -1);
      if (job_.full() && !pid_namespace) system_fault("open a PID namespace");
      if (job_.full()) PidNamespace::leave(job_.machine.own_pidns);
      return warm_.fork(c, directories, theirs.get(), input.get(), test_.program, pid_namespace.get());
    }
    int program = c.program ? c.program.get() : test_.program;
    if (start(c.process) == 0) Launch{job_, c, directories, theirs.get(), input.get(), program}.run();
    if (job_.full()) PidNamespace::leave(job_.machine.own_pidns);
    return "";
  }

  // Memory files have no path, so Landlock would let the contestant open them again and use them as memory that is not counted.
  // So their owner can write to them, but not read them.
  static Fd write_only_file(const char* name) {
    Fd file = memory_file(name);
    if (fchmod(file.get(), 0200) != 0) system_fault("fchmod");
    return file;
  }

  // The stdin of a process; none if the process opens a FIFO as its stdin itself.
  Fd standard_input(size_t process) const {
    bool empty = false;
    switch (plan_.task) {
      case TaskType::Batch: empty = !plan_.input_file.empty(); break;
      case TaskType::TwoSteps: empty = process > 0; break;
      case TaskType::Communication:
      case TaskType::Interactive:
        if (plan_.fifo_use == FifoUse::Standard) return Fd();
        empty = true;
        break;
    }
    Fd input(empty ? open("/dev/null", O_RDONLY | O_CLOEXEC) : reopen(passes_.input(test_), O_RDONLY));
    if (!input) system_fault("open the input of test %ld", test_.id);
    return input;
  }

  void begin_manager() {
    std::vector<std::string> args;
    for (size_t i = 0; i < contestants_.size(); i++) {
      make_directories(job_, i, test_);
      fifo_closes_.watch(i, job_.directories[i]);
      args.push_back(job_.directories[i].fifo_out);
      args.push_back(job_.directories[i].fifo_in);
    }
    Fd input = judge_file(test_.input), again = judge_file(test_.input), answer = judge_file(test_.answer);
    const ProcessDirectories* partner = rules_of(plan_.task).interactive ? &job_.directories[0] : nullptr;
    if (partner != nullptr) {
      const ProtocolRules& rules = rules_of(plan_.manager.protocol);
      args.assign(rules.args.begin(), rules.args.end());
      held_in_ = hold(partner->fifo_in);
      held_out_ = hold(partner->fifo_out);
    }
    args.insert(args.end(), plan_.manager.args.begin(), plan_.manager.args.end());
    if (partner != nullptr && !plan_.has_checker) args.insert(args.end(), test_.args.begin(), test_.args.end());
    manager_.open_outputs();
    fifo_closes_.watch_end(manager_);  // before its start: it may end before we run again
    manager_.begin(TrustedProgram::Manager, plan_.manager, args, {again.get(), answer.get(), -1, input.get()}, partner);
  }

  // An interactor may write to a program that has ended, and a program to an interactor that has accepted it, without getting
  // a SIGPIPE. So the runner holds a reading end of each FIFO, and discards data that has no other reader left.
  // Source: problemtools' `interactive`.
  static Fd hold(const std::string& fifo) {
    Fd end(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!end) system_fault("hold a fifo");
    return end;
  }

  // At most 1 MiB at once, so that no flood keeps the runner from its limits.
  static void discard(const Fd& end) {
    char buffer[65536];
    for (int pieces = 0; pieces < 16 && end && read(end.get(), buffer, sizeof buffer) > 0; pieces++) {
    }
  }

  void discard_unread() {
    if (!anybody_alive()) discard(held_in_);
    if (!manager_.process.alive()) discard(held_out_);
  }

  void collect(Contestant& c) const {
    if (can().isolation == Isolation::None) kill_leftovers({warm_.pid()});  // at the other levels no child outlives a program
    collect_output(plan_, c, directories_of(c));
  }

  // Most tests are short, so the runner looks more often at first: the time to the next look is that from the start to this one, but
  // at least 1 ms and at most 5 ms. (After the end, peak memory, CPU time and output are known exactly in any case.)
  int64_t next_tick_us() const { return stopwatch_.looked_us() + std::clamp(stopwatch_.elapsed_us(), kFirstTickUs, kTickUs); }

  void sleep() {
    std::vector<pollfd> fds;
    auto add = [&](const Fd& fd) {
      if (fd) fds.push_back({fd.get(), POLLIN, 0});
    };
    for (const Contestant& c : contestants_) {
      if (!c.process.alive()) continue;
      add(c.process.pidfd);
      add(c.control);
      add(c.listener);
    }
    if (manager_.process.alive()) add(manager_.process.pidfd);
    int64_t left = std::max<int64_t>(0, next_tick_us() - now_us());
    timespec timeout = {left / 1'000'000, left % 1'000'000 * 1000};
    if (ppoll(fds.data(), fds.size(), &timeout, nullptr) < 0 && errno != EINTR) system_fault("ppoll");
  }

  void listen(Contestant& c) {
    if (c.control) {
      std::string error = read_start_messages(plan_, c, directories_of(c).root, can().contestant_uid);
      if (!error.empty()) judge_error(JudgeFault::Start, TrustedProgram::Runner, error);
    }
    if (!c.listener) return;
    pollfd ready = {c.listener.get(), POLLIN, 0};
    if (poll(&ready, 1, 0) != 1) return;
    if ((ready.revents & POLLIN) != 0) {
      answer_refusal(plan_, c);
    } else {
      c.listener.reset();  // all processes under the filter have ended
    }
  }

  // Every few milliseconds the runner reads what the processes use, and applies the rules that stop a program.
  void tick(int64_t now) {
    int64_t wall_us = stopwatch_.look(now);
    bool due = wall_us - wait_clock_.ended_us() >= kTickUs;  // early ticks are too short; a later one adds up their idle time too
    require_room_for_files(job_, test_);
    for (Contestant& c : contestants_) {
      if (c.process.alive()) look(c, due);
    }
    manager_.look(due);
    if (manager_.process.alive()) give_manager_more_time(manager_.last.cpu_us);
    manager_.stop_at_limits();
    if (due && manager_.process.alive()) stop_flood();
    // The kernel adds a wait for a processor to schedstat only when the wait is over. So while a thread is runnable, idle time is not added up.
    int64_t idle_us = !due || anybody(&Sample::runs) ? 0 : new_idle_us(wall_us);
    unblock();
    discard_unread();
    if (anybody_alive()) {
      idle_us_ += idle_us;
      check_times(wall_us);
    } else {
      manager_idle_us_ += idle_us;
      if (manager_idle_us_ >= kManagerIdleUs) manager_.stop(JudgeFault::Stall, "does nothing, though all processes have ended");
    }
  }

  // Idle time since it was last added up: wall clock minus CPU time and run-queue delay. Waiting for the machine's disk is not
  // idle, nor for a process that the manager has started; only the wall clock of the test bounds it.
  int64_t new_idle_us(int64_t wall_us) {
    int64_t waited_us = wait_clock_.end_piece(wall_us, all_busy_us());
    return waited_us == 0 || anybody(&Sample::waits) || manager_.has_busy_child() ? 0 : waited_us;
  }

  int64_t all_busy_us() const {
    int64_t busy = busy_us(manager_.process, manager_.last);
    for (const Contestant& c : contestants_) busy += busy_us(c.process, c.last);
    return busy;
  }

  // Whether a living process had this state when it was last looked at.
  bool anybody(bool Sample::*state) const {
    if (manager_.process.alive() && manager_.last.*state) return true;
    return std::any_of(contestants_.begin(), contestants_.end(),
                       [&](const Contestant& c) { return c.process.alive() && c.last.*state; });
  }

  void look(Contestant& c, bool states) {
    c.last = c.files.read(c.process.pid, c.last, states);
    c.peak_bytes = std::max(c.peak_bytes, c.started ? c.last.resident_bytes : 0);
    if (c.started && c.last.resident_bytes > plan_.memory_bytes) stop_by_rule(c, Limit::Memory);
    if (states && ++c.looks % kLooksAtTables == 0) {
      int64_t most = kTablesBytes + plan_.memory_bytes / 256;  // one page of page tables maps 512 pages
      ProcFiles::Memory memory = c.files.memory(c.process.pid, c.last);
      bool over = c.started && memory.with_swapped_bytes > plan_.memory_bytes;
      if (over) c.peak_bytes = std::max(c.peak_bytes, memory.with_swapped_bytes);  // what is reported explains the verdict
      if (over || memory.tables_bytes > most) stop_by_rule(c, Limit::Memory);
    }
    if (c.last.threads > plan_.threads) stop_by_rule(c, Limit::Threads);
    const ProcessDirectories& directories = directories_of(c);
    if (!job_.full()) {
      DiskUse size = scratch_size(directories.scratch, plan_.output_file), room = scratch_limit(plan_, test_);
      if (size.bytes > room.bytes || size.files > room.files) stop_by_rule(c, Limit::Files);
    }
    struct stat status;
    if (!plan_.output_file.empty()) c.written_bytes = find_output(directories, plan_.output_file, status) ? status.st_size : 0;
    if (std::max(file_size(c.output.get()), c.written_bytes) > plan_.output_bytes) stop_by_rule(c, Limit::Output);
    cut(c.errors, plan_.stderr_bytes);
    if (c.report) cut(c.report, kReportBytes);
  }

  // If a manager goes over its CPU limit, the processes may be the cause: if it does not bound the number of questions, they may ask
  // without end.
  // - First it gets a little more time. If it neither reads nor writes meanwhile, it is at fault.
  // - If it does, the processes are ended, and what it has not read is thrown away. If it ends then, also because it writes to them,
  //   the verdict is TLE (`idle`); else it is at fault. Source: CMS stops a process after 2 L + 1 s of wall clock, and such a manager
  //   then ends.
  // - If all processes have ended already, it may use its limit once more: many questions may be left.
  void give_manager_more_time(int64_t cpu_us) {
    if (!manager_.over(cpu_us)) return;
    ProcFiles::Moved bytes = manager_.files.moved_bytes(manager_.process.pid);
    int64_t moved = bytes.read + bytes.written;
    if (!anybody_alive()) {
      manager_.more_ms = plan_.manager.cpu_ms;
    } else if (manager_.more_ms == 0) {
      moved_bytes_at_limit_ = moved;
      manager_.more_ms = cpu_us / 1000 - plan_.manager.cpu_ms + kManagerMoreMs;  // on a busy machine it is seen late
    } else if (moved > moved_bytes_at_limit_) {
      asks_without_end_ = true;
      for (Contestant& c : contestants_) stop_for_others(c);
      manager_.more_ms += plan_.manager.cpu_ms;
    }
  }

  // What the processes send to the manager is output too. A correct manager that reads blanks, or a word, without end would be
  // stopped at its own limit, as if it were at fault; until then it could use more memory than the machine has.
  void stop_flood() {
    int64_t most = plan_.output_bytes + file_size(test_.input) + file_size(test_.answer) + kManagersFilesBytes;
    if (manager_.files.moved_bytes(manager_.process.pid).read <= most) return;
    for (Contestant& c : contestants_) {
      if (c.process.alive()) stop_by_rule(c, Limit::Output);
    }
  }

  static void cut(const Fd& file, int64_t bytes) {
    if (file_size(file.get()) > bytes && ftruncate(file.get(), bytes) != 0) system_fault("cut what a program writes");
  }

  void check_times(int64_t wall_us) {
    int64_t over_us = total_cpu_us() - cpu_stop_us(plan_.cpu_ms);
    int64_t manager_ms = plan_.has_manager() ? plan_.manager.cpu_ms : 0;
    bool given_up = wall_us >= given_up_us(plan_.cpu_ms, manager_ms);
    bool no_time_for_pages = given_up || wall_us >= plan_.pages_stop_us();
    if (over_us >= 0 && (no_time_for_pages || over_us >= cost_of_pages_us())) return stop_all_by_rule(Limit::Cpu);
    if (given_up && wait_clock_.waited_us(wall_us, all_busy_us()) <= wall_us / 2) {
      return judge_error(JudgeFault::Overload, TrustedProgram::Runner, kTooBusy);
    }
    // If a test is given up here, the machine's load does not explain its wall clock: the program was waiting, though no tick saw it.
    if (!given_up && idle_us_ < idle_stop_us(plan_.cpu_ms)) return;
    auto waits = std::find_if(contestants_.begin(), contestants_.end(),
                              [](const Contestant& c) { return c.process.alive() && !c.started; });
    if (waits == contestants_.end() || !manager_.process.alive()) return stop_all_by_rule(Limit::Idle);
    // If a process has started, the manager may be waiting for it before it opens the FIFOs of the others.
    bool has_started = std::any_of(contestants_.begin(), contestants_.end(),
                                   [](const Contestant& c) { return c.process.alive() && c.started; });
    auto [is_wrong_first, explanation] = unopened(*waits);
    if (has_started && !is_wrong_first) return stop_all_by_rule(Limit::Idle);
    judge_error(JudgeFault::Stall, TrustedProgram::Manager, "it does not open its FIFOs" + explanation);
  }

  // How much of the CPU time the kernel may have spent on getting pages from a virtual machine's host.
  int64_t cost_of_pages_us() const {
    int64_t total = 0;
    for (const Contestant& c : contestants_) {
      int64_t cost = c.process.ended ? c.process.cost_of_pages_us() : cost_of_pages_so_far_us(c.process.pid);
      total += std::min(cost, plan_.page_margin_us());
    }
    return std::min(total, max_for_pages_us(plan_.cpu_ms));
  }

  struct Unopened {
    bool is_wrong_first;      // whether the manager waits to open the one that the process opens second
    std::string explanation;  // which one it has not opened
  };

  // Which of a process's two FIFOs its manager has not opened. The process waits to open the first or the second one. (For the
  // kernel, whoever waits in open(2) has already opened the FIFO.)
  Unopened unopened(const Contestant& c) const {
    const ProcessDirectories& directories = directories_of(c);
    Fd in(open(directories.fifo_in.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    char byte;
    bool writes = in && (read(in.get(), &byte, 1) != 0);
    bool reads = static_cast<bool>(Fd(open(directories.fifo_out.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)));
    size_t from = 2 * c.index + 1, to = from + 1;
    if (writes) return {false, format(" (argument %zu is open, argument %zu is not opened for reading)", to, from)};
    if (!reads) return {false, format("; first argument %zu for writing, then argument %zu for reading", to, from)};
    return {true, format(": it waits in opening argument %zu for reading; argument %zu, for writing, comes first", from, to)};
  }

  static void stop_by_rule(Contestant& c, Limit limit) {
    if (c.limit == Limit::None && !c.stopped_for_others) c.limit = limit;
    c.process.kill();
  }

  void stop_all_by_rule(Limit limit) {
    limit_ = limit;
    for (Contestant& c : contestants_) {
      if (c.process.alive()) stop_by_rule(c, limit);
    }
  }

  static void stop_for_others(Contestant& c) {
    if (!c.process.alive()) return;
    if (c.limit == Limit::None) c.stopped_for_others = true;
    c.process.kill();
  }

  // While one side is dead, its FIFOs must not block the other. See runner.cpp, "Communication".
  void unblock() {
    if (!plan_.has_manager()) return;
    auto touch = [](const std::string& fifo, int mode) {
      Fd end(open(fifo.c_str(), mode | O_NONBLOCK | O_CLOEXEC));
      if (!end && is_machine_error(errno)) system_fault("open a fifo for a process that has ended");
      return end;
    };
    bool manager_alive = manager_.process.alive();
    for (size_t i = 0; i < contestants_.size(); i++) {
      const Contestant& c = contestants_[i];
      if (!c.process.alive() && manager_alive) {
        fifo_closes_.note_end(FifoCloses::TheProcess, i);
        touch(job_.directories[i].fifo_out, O_WRONLY);
        touch(job_.directories[i].fifo_in, O_RDONLY);
        if (asks_without_end_) discard(touch(job_.directories[i].fifo_out, O_RDONLY));
      } else if (c.process.alive() && !manager_alive && (!c.started || plan_.fifo_use == FifoUse::Paths)) {
        fifo_closes_.note_end(FifoCloses::TheManager, i);
        touch(job_.directories[i].fifo_in, O_WRONLY);
        touch(job_.directories[i].fifo_out, O_RDONLY);
      }
    }
  }

  bool is_over(int64_t now) {
    if (outcome_.fault != JudgeFault::None) return true;
    for (Contestant& c : contestants_) {
      // An interactor that closed the FIFOs first is about to end. If it rejects, the program's failure does not count.
      bool may_be_rejected = rules_of(plan_.task).interactive && manager_.process.alive() && !closed_first(c);
      if (c.process.ended && is_decisive(c) && !may_be_rejected) return true;
    }
    if (manager_.process.alive()) return false;
    if (!anybody_alive()) return true;
    // Without a manager, or if the manager ended well, the processes continue within their limits. After a rejection, later
    // events do not count. But a program that closed its FIFOs before is about to end, and its end may be the cause of the rejection.
    if (manager_.fault == JudgeFault::None && !rejected_by_interactor()) return false;
    bool own_failure_may_show = false;
    for (size_t i = 0; i < contestants_.size(); i++) {
      own_failure_may_show |= contestants_[i].process.alive() && fifo_closes_.first_to_close(i) == FifoCloses::TheProcess;
    }
    return !own_failure_may_show || now - manager_.ended_us > kManagerGraceUs;
  }

  Fd held_in_, held_out_;  // only with an interactor
  Stopwatch stopwatch_;
  int64_t idle_us_ = 0, manager_idle_us_ = 0;
  int64_t moved_bytes_at_limit_ = 0;  // how much the manager had read and written when it reached its CPU limit
  bool asks_without_end_ = false;
  WaitClock wait_clock_;
};

}  // namespace runner
