// One test: start, watch, judge.
#pragma once

#include "tokens.h"

namespace {

struct Outcome {
  std::string verdict = "JE", score, message;
  std::string in_time;  // of a TLE that ended by itself: the score that it would have had in time; empty if that is not known
  const char* limit = nullptr;
  int code = 0, signal = 0;
  int64_t cpu_us = 0, wall_us = 0, idle_us = 0, memory_bytes = 0, judge_cpu_us = 0, judge_wall_us = 0;
  std::vector<std::pair<std::string, int>> attempted;
  std::string errors, report;
  Fd output;                          // what is returned of it
  std::string fault, program, words;  // of a JE
  bool zero = false;
};

void print_line(const Test& test, const Outcome& o) {
  std::string attempted;
  for (const auto& [name, count] : o.attempted) {
    attempted += (attempted.empty() ? "" : ",") + quoted(name) + ":" + std::to_string(count);
  }
  std::string line = format("{\"test\":%ld,\"verdict\":", test.id);
  line += o.verdict.empty() ? "null" : quoted(o.verdict);
  line += ",\"score\":" + (o.score.empty() ? "null" : quoted(o.score));
  line += ",\"message\":" + quoted(o.message);
  if (!o.in_time.empty()) line += ",\"in_time\":" + quoted(o.in_time);
  line += format(",\"cpu_us\":%lld,\"wall_us\":%lld,\"idle_us\":%lld,\"memory_bytes\":%lld,\"code\":%d,\"signal\":%d",
                 static_cast<long long>(o.cpu_us), static_cast<long long>(o.wall_us), static_cast<long long>(o.idle_us),
                 static_cast<long long>(o.memory_bytes), o.code, o.signal);
  line += ",\"limit\":" + (o.limit != nullptr ? quoted(o.limit) : "null");
  line += ",\"attempted\":{" + attempted + "},\"stderr\":" + quoted(o.errors);
  line += format(",\"judge\":{\"cpu_us\":%lld,\"wall_us\":%lld}", static_cast<long long>(o.judge_cpu_us),
                 static_cast<long long>(o.judge_wall_us));
  if (o.verdict == "JE") {
    line += ",\"fault\":" + quoted(o.fault) + ",\"program\":" + quoted(o.program) + ",\"words\":" + quoted(o.words);
  }
  if (g_interpreter) line += ",\"report\":" + quoted(o.report);
  print(line);
  if (g_plan.return_bytes > 0 || g_plan.protocol == Protocol::None) {
    int64_t bytes = o.output ? file_size(o.output.get()) : 0;
    print(format(",\"output_bytes\":%lld,\"output\":\"", static_cast<long long>(bytes)));
    if (bytes > 0) print_base64(o.output.get(), std::min(bytes, g_plan.return_bytes));
    print("\"");
  }
  print("}\n");
  g_lines++;
}

// Which side of a FIFO pair closed it first, by the kernel's account.
class HangUps {
 public:
  explicit HangUps(size_t processes) : first_(processes, Nobody), left_by_manager_(processes, 0) {
    if (!g_plan.communication) return;
    queue_ = Fd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!queue_) system_fault("inotify_init1");
  }

  enum Side { Nobody, TheProcess, TheManager };

  // A manager that ends closes its FIFOs one after the other, and its process may be quicker than the second close. But
  // before any of them goes one of its two descriptors of its own `errors`, the lowest and the highest that it has.
  void watch_end(const Judge& manager) {
    lifeline_ = inotify_add_watch(queue_.get(), format("/proc/self/fd/%d", manager.errors.get()).c_str(), IN_CLOSE_WRITE);
    if (lifeline_ < 0) system_fault("inotify_add_watch");
  }

  void watch(size_t process, const Place& place) {
    add(process, place.fifo_out, IN_CLOSE_WRITE, IN_CLOSE_NOWRITE);
    add(process, place.fifo_in, IN_CLOSE_NOWRITE, IN_CLOSE_WRITE);
  }

  Side first(size_t process) {
    alignas(inotify_event) char buffer[2048];
    ssize_t n;
    while (queue_ && (n = read(queue_.get(), buffer, sizeof buffer)) > 0) {
      for (ssize_t at = 0; at < n;) {
        const inotify_event* event = reinterpret_cast<const inotify_event*>(buffer + at);
        manager_leaves_ |= event->wd == lifeline_;
        for (const Watched& w : watched_) {
          if (w.descriptor != event->wd || first_[w.process] != Nobody) continue;
          if ((event->mask & w.of_process) != 0) first_[w.process] = TheProcess;
          // The end of file may be all that it has still to say: it has hung up when it does not listen either.
          if ((event->mask & w.of_manager) == 0) continue;
          left_by_manager_[w.process] |= w.of_manager;
          // An interactor's two are its first descriptors and go before its `errors`: there the one it reads from will do.
          bool deaf = g_plan.interactive() && w.of_manager == IN_CLOSE_NOWRITE;
          if (manager_leaves_ || deaf || left_by_manager_[w.process] == IN_CLOSE) first_[w.process] = TheManager;
        }
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    }
    return first_[process];
  }

 private:
  struct Watched {
    int descriptor;
    size_t process;
    uint32_t of_process, of_manager;
  };
  void add(size_t process, const std::string& path, uint32_t of_process, uint32_t of_manager) {
    int descriptor = inotify_add_watch(queue_.get(), path.c_str(), of_process | of_manager);
    if (descriptor < 0) system_fault("inotify_add_watch");
    watched_.push_back({descriptor, process, of_process, of_manager});
  }
  std::vector<Side> first_;
  std::vector<uint32_t> left_by_manager_;
  int lifeline_ = -1;
  bool manager_leaves_ = false;
  std::vector<Watched> watched_;
  Fd queue_;
};

class TestRun {
 public:
  explicit TestRun(const Test& test)
      : test_(test), contestants_(static_cast<size_t>(g_plan.processes)), hang_ups_(contestants_.size()) {}

  Outcome run() {
    begin();
    watch();
    finish();
    return std::move(o_);
  }

 private:
  // -------------------------------------------------- starting

  void begin() {
    if (g_plan.communication) begin_manager();
    begun_us_ = ticked_us_ = settled_us_ = now_us();
    for (size_t i = 0; i < contestants_.size(); i++) {
      Contestant& c = contestants_[i];
      c.index = static_cast<long>(i);
      Fd input;
      if (!g_plan.communication) {
        input = Fd(reopen(test_.input, O_RDONLY));
      } else if (g_plan.fifo_io) {
        input = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
      }
      if (!input && (!g_plan.communication || g_plan.fifo_io)) system_fault("open the input of test %ld", test_.id);
      std::string trouble = start_contestant(c, g_places[i], input.get(), test_.program);
      if (!trouble.empty()) judge_error("start", "runner", trouble);
    }
  }

  void begin_manager() {
    std::vector<std::string> args;
    for (size_t i = 0; i < contestants_.size(); i++) {
      open_place(g_places[i], static_cast<long>(i));
      hang_ups_.watch(i, g_places[i]);
      args.push_back(g_places[i].fifo_out);
      args.push_back(g_places[i].fifo_in);
    }
    Fd input = judge_file(test_.input), again = judge_file(test_.input), answer = judge_file(test_.answer);
    const Place* talks = g_plan.interactive() ? &g_places[0] : nullptr;
    if (talks != nullptr) {
      bool kattis = g_plan.manager.protocol == Protocol::Kattis;
      args = {"input.txt", kattis ? "correct_output.txt" : "output.txt", kattis ? "feedback/" : "correct_output.txt"};
      held_in_ = hold(talks->fifo_in);
      held_out_ = hold(talks->fifo_out);
    }
    args.insert(args.end(), g_plan.manager.args.begin(), g_plan.manager.args.end());
    if (talks != nullptr && !g_plan.has_checker) args.insert(args.end(), test_.args.begin(), test_.args.end());
    manager_.begin("manager", g_plan.manager, args, again.get(), answer.get(), -1, input.get(), talks);
    hang_ups_.watch_end(manager_);
  }

  // An interactor may write to a program that has ended, and a program to an interactor that has accepted it: neither is
  // told of it by a signal. So we hold a reading end of each FIFO; what nobody else reads any more is thrown away.
  // Source: problemtools' `interactive`.
  static Fd hold(const std::string& fifo) {
    Fd end(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!end) system_fault("hold a fifo");
    return end;
  }

  void drain() {
    char buffer[65536];
    auto empty = [&](const Fd& end) {
      while (end && read(end.get(), buffer, sizeof buffer) > 0) {
      }
    };
    if (!anybody_alive()) empty(held_in_);
    if (!manager_.process.alive()) empty(held_out_);
  }

  // A test without an answer has an empty one.
  Fd judge_file(int fd) {
    Fd file(fd >= 0 ? reopen(fd, O_RDONLY) : open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!file) system_fault("open a file of test %ld for a judge program", test_.id);
    return file;
  }

  // -------------------------------------------------- watching

  void watch() {
    for (;;) {
      sleep();
      for (Contestant& c : contestants_) listen(c);
      for (Contestant& c : contestants_) {
        if (!c.process.alive() || !c.process.reap(false)) continue;
        c.ended_us = now_us();
        listen(c);  // its last words may be why
        // Without a listener the filter kills by this signal, and nothing tells it from the program's own.
        c.violated |= !g_means.notify && g_means.seccomp && c.process.signal() == SIGSYS;
      }
      if (manager_.process.alive() && manager_.process.reap(false)) manager_.conclude();
      int64_t now = now_us();
      if (now >= ticked_us_ + tick_length()) tick(now);
      if (is_over(now)) break;
    }
    for (Contestant& c : contestants_) stop(c);
    if (manager_.process.alive()) manager_.clear();
    for (Contestant& c : contestants_) {
      c.process.reap(true);
      if (c.ended_us == 0) c.ended_us = now_us();
      c.zone.end();
      if (fchmod(c.output.get(), 0400) != 0) system_fault("fchmod");  // now a checker may
    }
  }

  int64_t tick_length() const { return ticked_us_ - begun_us_ < kQuickPhaseUs ? kFirstTickUs : kTickUs; }

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
    int64_t left = std::max<int64_t>(0, ticked_us_ + tick_length() - now_us());
    timespec timeout = {left / 1'000'000, left % 1'000'000 * 1000};
    if (ppoll(fds.data(), fds.size(), &timeout, nullptr) < 0 && errno != EINTR) system_fault("ppoll");
  }

  void listen(Contestant& c) {
    if (c.control) {
      std::string trouble = hear(c);
      if (!trouble.empty()) judge_error("start", "runner", trouble);
    }
    if (!c.listener) return;
    pollfd ready = {c.listener.get(), POLLIN, 0};
    if (poll(&ready, 1, 0) != 1) return;
    if ((ready.revents & POLLIN) != 0) {
      answer_refusal(c);
    } else {
      c.listener.reset();  // everybody behind it has gone
    }
  }

  // Every few milliseconds: the rules that stop a program.
  void tick(int64_t now) {
    for (Contestant& c : contestants_) {
      if (c.process.alive()) look(c);
    }
    manager_.look();
    ticked_us_ = now;
    // The kernel adds a wait for a processor to schedstat when it is over: until nobody is in one, nothing is settled.
    int64_t idle = somebody_is('R') ? 0 : settle(now);
    unblock();
    drain();
    if (anybody_alive()) {
      idle_us_ += idle;
      check_times(now);
    } else {
      manager_idle_us_ += idle;
      if (manager_idle_us_ >= kManagerIdleUs) manager_.stop("stall", "does nothing, though all processes have ended");
    }
  }

  // What remains of the time since the last settlement after CPU time and run-queue delay. The machine's disk may be slow:
  // some of what is spent in waiting for it is forgiven.
  int64_t settle(int64_t now) {
    int64_t busy = busy_us(manager_.process, manager_.last), idle = now - settled_us_ - (busy - manager_settled_us_);
    manager_settled_us_ = busy;
    for (Contestant& c : contestants_) {
      busy = busy_us(c.process, c.last);
      idle -= busy - c.settled_us;
      c.settled_us = busy;
    }
    settled_us_ = now;
    idle = std::max<int64_t>(0, idle);
    if (idle == 0 || !somebody_is('D')) return idle;
    int64_t forgiven = std::min(idle, g_plan.cpu_ms * 1000 + kDiskUs - disk_us_);
    disk_us_ += forgiven;
    return idle - forgiven;
  }

  bool somebody_is(char state) const {
    if (manager_.process.alive() && has_thread(manager_.process.pid, state)) return true;
    return std::any_of(contestants_.begin(), contestants_.end(),
                       [&](const Contestant& c) { return c.process.alive() && has_thread(c.process.pid, state); });
  }

  void look(Contestant& c) {
    c.last = sample(c.process.pid, c.last);
    c.peak_bytes = std::max(c.peak_bytes, c.started ? c.last.resident_bytes : 0);
    if (c.started && c.last.resident_bytes > g_plan.memory_bytes) end(c, "memory");
    if (c.last.threads > g_plan.threads) end(c, "threads");
    if (!full()) {
      Litter litter = look_at_scratch(g_places[static_cast<size_t>(c.index)].scratch, false);
      if (litter.bytes > kScratchBytes || litter.files > kScratchFiles) end(c, "files");
    }
    if (file_size(c.output.get()) > g_plan.output_bytes) end(c, "output");
    cut(c.errors, g_plan.stderr_bytes);
    if (c.report) cut(c.report, kReportBytes);
  }

  static void cut(const Fd& file, int64_t bytes) {
    if (file_size(file.get()) > bytes && ftruncate(file.get(), bytes) != 0) system_fault("cut what a program writes");
  }

  void check_times(int64_t now) {
    int64_t limit_us = g_plan.cpu_ms * 1000;
    if (total_cpu_us() >= limit_us * 5 / 4 + 100'000) return end_all("cpu");
    int64_t manager_us = g_plan.has_manager ? g_plan.manager.cpu_ms * 1000 : 0, wall = now - begun_us_;
    bool given_up = wall >= 10 * (limit_us + manager_us) + 10'000'000;
    if (given_up) {
      int64_t busy = busy_us(manager_.process, manager_.last);
      for (const Contestant& c : contestants_) busy += busy_us(c.process, c.last);
      if (busy >= wall / 2) return judge_error("wall", "runner", "the machine is too loaded to judge on");
    }
    // Without load to explain so much wall clock it was waiting, only so that the ticks did not see it.
    if (!given_up && idle_us_ < limit_us + 1'000'000) return;
    bool waits = std::any_of(contestants_.begin(), contestants_.end(),
                             [](const Contestant& c) { return c.process.alive() && !c.started; });
    if (waits && manager_.process.alive()) return judge_error("stall", "manager", "it does not open its FIFOs");
    end_all("idle");
  }

  int64_t total_cpu_us() const {
    int64_t total = 0;
    for (const Contestant& c : contestants_) total += c.cpu_us();
    return total;
  }

  bool anybody_alive() const {
    return std::any_of(contestants_.begin(), contestants_.end(), [](const Contestant& c) { return c.process.alive(); });
  }

  static void end(Contestant& c, const char* limit) {
    if (c.limit == nullptr && !c.stopped) c.limit = limit;
    c.process.kill();
  }

  void end_all(const char* limit) {
    limit_ = limit;
    for (Contestant& c : contestants_) {
      if (c.process.alive()) end(c, limit);
    }
  }

  static void stop(Contestant& c) {
    if (!c.process.alive()) return;
    if (c.limit == nullptr) c.stopped = true;
    c.process.kill();
  }

  void judge_error(const char* fault, const char* program, const std::string& words) {
    if (!o_.fault.empty()) return;
    o_.fault = fault;
    o_.program = program;
    o_.words = words;
  }

  // While one side is dead, its FIFOs must not block the other. See the essay.
  void unblock() {
    if (!g_plan.communication) return;
    auto touch = [](const std::string& fifo, int mode) { Fd(open(fifo.c_str(), mode | O_NONBLOCK | O_CLOEXEC)); };
    bool manager_alive = manager_.process.alive();
    for (size_t i = 0; i < contestants_.size(); i++) {
      const Contestant& c = contestants_[i];
      if (!c.process.alive() && manager_alive) {
        touch(g_places[i].fifo_out, O_WRONLY);
        touch(g_places[i].fifo_in, O_RDONLY);
      } else if (c.process.alive() && !manager_alive && (!c.started || g_plan.fifo_io)) {
        touch(g_places[i].fifo_in, O_WRONLY);
        touch(g_places[i].fifo_out, O_RDONLY);
      }
    }
  }

  bool is_over(int64_t now) {
    if (!o_.fault.empty()) return true;
    for (Contestant& c : contestants_) {
      if (c.process.ended && is_decisive(c)) return true;
    }
    if (manager_.process.alive()) return false;
    if (!anybody_alive()) return true;
    // A batch task, or a manager that is done: they have their limits. After a rejection nothing counts that comes later, but
    // a program that has hung up before is on its way out, and its end may be the reason of the rejection.
    if (manager_.fault.empty() && !rejected_by_interactor()) return false;
    bool own_failure_may_show = false;
    for (size_t i = 0; i < contestants_.size(); i++) {
      own_failure_may_show |= contestants_[i].process.alive() && hang_ups_.first(i) == HangUps::TheProcess;
    }
    return !own_failure_may_show || now - manager_.ended_us > kManagerGraceUs;
  }

  bool rejected_by_interactor() const {
    int accepts = g_plan.manager.protocol == Protocol::Kattis ? 42 : 0;
    int code = manager_.process.code();
    return g_plan.interactive() && manager_.fault.empty() && code != accepts && code != 7 /* points */;
  }

  // -------------------------------------------------- what a process did

  bool over_memory(const Contestant& c) const {
    return c.limit_is("memory") || std::max(c.process.peak_bytes(), c.peak_bytes) > g_plan.memory_bytes;
  }
  bool over_output(const Contestant& c) const {
    return c.limit_is("files") || c.limit_is("output") || c.process.signal() == SIGXFSZ || file_size(c.output.get()) > g_plan.output_bytes;
  }
  // A failure that has no cause outside of the program.
  bool failed_hard(const Contestant& c) const {
    if (c.stopped) return false;
    int signal = c.process.signal();
    return c.limit != nullptr || c.violated || c.unfit || (signal != 0 && signal != SIGPIPE) || over_memory(c) || over_output(c);
  }
  // A failure that may be the consequence of the manager's end.
  bool failed_softly(const Contestant& c) const { return !c.stopped && !failed_hard(c) && c.process.failed(); }

  bool hung_up_first(const Contestant& c) {
    if (!g_plan.communication) return true;
    HangUps::Side side = hang_ups_.first(static_cast<size_t>(c.index));
    if (side != HangUps::Nobody) return side == HangUps::TheProcess;
    return manager_.process.alive() || manager_.ended_us >= c.ended_us;
  }

  bool is_decisive(const Contestant& c) { return failed_hard(c) || (failed_softly(c) && hung_up_first(c)); }

  // -------------------------------------------------- concluding

  void finish() {
    const Contestant* first = nullptr;  // that failed
    for (Contestant& c : contestants_) {
      int64_t peak = std::max(c.peak_bytes, c.started ? c.process.peak_bytes() : 0);
      o_.memory_bytes = std::max(o_.memory_bytes, peak);
      if (c.started) o_.wall_us = std::max(o_.wall_us, c.ended_us - c.started_us);
      for (const auto& entry : c.attempted) add_attempt(entry);
      bool failed = failed_hard(c) || failed_softly(c);
      bool better = first == nullptr || (is_decisive(c) && !is_decisive(*first)) ||
                    (is_decisive(c) == is_decisive(*first) && c.ended_us < first->ended_us);
      if (failed && better) first = &c;
    }
    o_.cpu_us = total_cpu_us();
    o_.idle_us = idle_us_;
    const Contestant& told = first != nullptr ? *first : contestants_[0];
    if (!told.stopped) {
      o_.code = told.process.code();
      o_.signal = told.process.signal();
    }
    o_.errors = head(told.errors.get(), std::min(kStderrBytes, static_cast<size_t>(g_plan.stderr_bytes)));
    if (told.report) o_.report = head(told.report.get(), kReportBytes);
    if (o_.fault.empty()) decide();
    if (!g_plan.communication && o_.fault.empty()) o_.output = Fd(reopen(contestants_[0].output.get(), O_RDONLY));
    if (manager_.process.pid > 0) {
      o_.judge_cpu_us += manager_.process.cpu_us() + sweep({});
      o_.judge_wall_us += manager_.ended_us > 0 ? manager_.ended_us - manager_.started_us : 0;
    }
  }

  void add_attempt(const std::pair<std::string, int>& entry) {
    for (auto& known : o_.attempted) {
      if (known.first == entry.first) {
        known.second += entry.second;
        return;
      }
    }
    o_.attempted.push_back(entry);
  }

  // A SIGKILL that is not ours is the machine's: no memory left, most likely. With a listener a contestant cannot send one
  // but by a timer, and we hear of those; else only the kernel's count of such kills can tell.
  bool killed_from_outside(const Contestant& c) const {
    bool other = c.process.signal() == SIGKILL && !c.stopped && !c.violated && c.limit == nullptr && !over_memory(c) &&
                 o_.cpu_us < g_plan.cpu_ms * 1000;
    bool can_itself = !g_means.notify || c.suicide || c.has_timers;
    return other && (!can_itself || out_of_memory_kills() > kills_before_);
  }

  void decide() {
    for (const Contestant& c : contestants_) {
      if (killed_from_outside(c)) return judge_error("signal", "runner", kKilledFromOutside);
      bool never_ran = !c.started && !c.unfit && !c.stopped && c.limit == nullptr;
      if (never_ran) {
        std::string words = format("it ended before the program began: %s ", c.how().c_str());
        return judge_error("start", "runner", words + head(c.errors.get(), 300));
      }
    }
    bool late = o_.cpu_us >= g_plan.cpu_ms * 1000;
    bool ended = limit_ == nullptr;
    if (!late || ended) judge_in_time();
    if (!late) return;
    // A program that ended by itself, if late, is timed once more, and only timed: what this run was worth is told.
    if (ended && o_.fault.empty()) o_.in_time = o_.score;
    forgive();
    o_.limit = limit_ != nullptr ? limit_ : "cpu";
    give("TLE", "0", "");
  }

  // A judge program that failed on an output that came too late has no say.
  void forgive() { o_.fault = o_.program = o_.words = ""; }

  // The verdict of all rules but that of CPU time.
  void judge_in_time() {
    if (own_failure()) return;
    Said said;
    bool crossed = false;  // the manager was killed by SIGPIPE as the program had hung up
    bool decided = false;  // by the manager
    if (g_plan.communication) {
      crossed = manager_.fault == "signal" && manager_.process.signal() == SIGPIPE && somebody_hung_up_first();
      if (crossed) {
        said.score = "0";
        said.valid = true;
        said.message = "The program ended before the manager was done";
      } else if (!manager_.fault.empty()) {
        return judge_error(manager_.fault.c_str(), manager_.blamed(), manager_.words);
      } else if (!g_plan.has_checker || (g_plan.interactive() && manager_.process.code() != 0)) {
        said = read_words(manager_, g_plan.manager.protocol, test_.full);
        if (!said.valid) return judge_error("score", "manager", said.words);
        decided = true;
      }
    }
    if (!crossed && !decided && g_plan.has_checker) {
      if (g_plan.protocol == Protocol::None) return leave_to_reader();
      Fd written;  // by an interactor
      if (g_plan.interactive()) written = Fd(open((manager_.directory + "/output.txt").c_str(), O_RDONLY | O_CLOEXEC));
      int output = g_plan.interactive() ? written.get() : g_plan.communication ? manager_.output.get() : contestants_[0].output.get();
      if (!check(output, said)) return;
    }
    if (test_.steps > 0) said.set(floor(said.value * static_cast<double>(test_.steps)) / static_cast<double>(test_.steps));
    for (const Contestant& c : contestants_) {
      // It failed after the manager had hung up. Where the judge gives points nonetheless, CMS gives none.
      if (failed_softly(c) && said.value > 0) return give("RE", "0", "");
    }
    give(said.value == 1.0 ? "AC" : said.value == 0.0 ? "WA" : "PA", said.score, said.message);
  }

  bool somebody_hung_up_first() {
    for (size_t i = 0; i < contestants_.size(); i++) {
      if (hang_ups_.first(i) == HangUps::TheProcess) return true;
    }
    return false;
  }

  // The verdicts that need no judge, in their order.
  bool own_failure() {
    bool memory = false, output = false, violated = false, failed = false;
    const char* limit = limit_;
    for (Contestant& c : contestants_) {
      // After a manager's failure only those count that came before it.
      bool late = !manager_.fault.empty() && !hung_up_first(c);
      if (late) continue;
      memory |= !c.stopped && over_memory(c);
      output |= !c.stopped && over_output(c);
      violated |= c.violated;
      failed |= is_decisive(c);
      if (limit == nullptr) limit = c.limit;
    }
    if (limit_ != nullptr) {
      o_.limit = limit_;
      give("TLE", "0", "");
    } else if (memory) {
      o_.limit = "memory";
      give("MLE", "0", "");
    } else if (output) {
      o_.limit = limit != nullptr ? limit : "output";
      give("OLE", "0", "");
    } else if (violated) {
      give("SV", "0", "");
    } else if (failed) {
      o_.limit = limit;
      give("RE", "0", "");
    } else {
      return false;
    }
    return true;
  }

  void give(const char* verdict, const std::string& score, const std::string& message) {
    o_.verdict = verdict;
    o_.score = score;
    o_.message = message;
    o_.zero = strtod(score.c_str(), nullptr) == 0.0;
  }

  // It has failed by no rule; whoever reads its output judges it.
  void leave_to_reader() { o_.verdict.clear(); }

  void compare(int output, Said& said) {
    Fd ours(reopen(output, O_RDONLY)), answer = judge_file(test_.answer);
    if (!ours) system_fault("open an output");
    comparators::Comparison found = comparators::compare(g_plan.rule, ours.get(), answer.get());
    if ((errno = found.error) != 0) system_fault("compare an output");
    read_score(found.right ? "1" : "0", said);
    said.message = found.words.substr(0, kMessageBytes);
    malloc_trim(0);  // what we hold at a fork is part of a child's peak memory
  }

  // Lets the checker judge an output. False: it is at fault.
  bool check(int output, Said& said) {
    int64_t begun = now_us();
    if (g_plan.protocol == Protocol::Compare) {
      compare(output, said);
      o_.judge_wall_us += now_us() - begun;
      return true;
    }
    if (g_plan.compares()) {
      Fd ours(reopen(output, O_RDONLY)), answer = judge_file(test_.answer);
      if (!ours) system_fault("open an output");
      bool same = g_plan.protocol == Protocol::WhiteDiff ? white_diff(ours.get(), answer.get())
                                                         : same_tokens(ours.get(), answer.get(), token_rules(test_));
      read_score(same ? "1" : "0", said);
      said.message = said.value == 1.0 ? kSuccess : kWrong;
      o_.judge_wall_us += now_us() - begun;
      return true;
    }
    Judge checker;
    begin_checker(checker, output);
    while (!checker.process.ended) {
      pollfd ready = {checker.process.pidfd.get(), POLLIN, 0};
      poll(&ready, 1, 5);
      if (!checker.process.reap(false)) checker.look();
    }
    checker.conclude();
    said = read_words(checker, g_plan.protocol, test_.full);
    o_.judge_cpu_us += checker.process.cpu_us() + sweep({});
    o_.judge_wall_us += checker.ended_us - checker.started_us;
    if (!checker.fault.empty()) {
      judge_error(checker.fault.c_str(), checker.blamed(), checker.words);
    } else if (!said.valid) {
      judge_error("score", "checker", said.words);
    }
    return o_.fault.empty();
  }

  void begin_checker(Judge& checker, int output) {
    Fd input = judge_file(test_.input), answer = judge_file(test_.answer), result = judge_file(output);
    std::vector<std::string> args = {"input.txt", "correct_output.txt", "output.txt"};
    Fd standard_input;
    if (g_plan.protocol == Protocol::Testlib) std::swap(args[1], args[2]);
    if (g_plan.protocol == Protocol::Kattis) {
      args[2] = "feedback/";
      standard_input = judge_file(output);
    } else {
      standard_input = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    args.insert(args.end(), g_plan.checker.args.begin(), g_plan.checker.args.end());
    args.insert(args.end(), test_.args.begin(), test_.args.end());
    checker.begin("checker", g_plan.checker, args, input.get(), answer.get(), result.get(), standard_input.get());
  }

  const Test& test_;
  Outcome o_;
  std::vector<Contestant> contestants_;
  HangUps hang_ups_;
  Judge manager_;
  Fd held_in_, held_out_;  // beside an interactor
  const char* limit_ = nullptr;  // a rule about all processes together
  int64_t begun_us_ = 0, ticked_us_ = 0, idle_us_ = 0, manager_idle_us_ = 0;
  int64_t settled_us_ = 0, manager_settled_us_ = 0, disk_us_ = 0;
  long long kills_before_ = out_of_memory_kills();
};

}  // namespace
