// The state of one test: its processes, and which of them have failed.
//
// A test is one object in three classes, each of which uses only those before it:
//   TestState    this file      knows the processes and the outcome so far; changes nothing but the outcome's fault
//   RunningTest  watching.h     starts the processes, watches them, stops those that break a rule (`begin`, `watch`, `idle_us`)
//   TestRun      one_test.h     decides the verdict when they have ended
#pragma once

#include "contestants.h"
#include "descriptors.h"
#include "isolation_features.h"
#include "job.h"
#include "judges.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "rules.h"
#include "verdicts.h"
#include "warm_interpreter.h"

namespace runner {

static_assert(kJudgeLastFd > kJudgeProgramFd + 2 * kMaxProcesses, "the end of a manager must be seen before its FIFOs are closed");

// Finds out which side of each process's FIFO pair closed it first, by inotify.
class FifoCloses {
 public:
  explicit FifoCloses(Job& job)
      : inotify_(job.fifo_inotify),
        forgeable_(job.plan.shows_fifos() && job.machine.can.landlock == 0),
        first_(job.directories.size(), Nobody),
        closed_by_manager_(first_.size(), 0) {
    if (!job.plan.has_manager() || inotify_) return;
    inotify_ = Fd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!inotify_) system_fault("inotify_init1");
  }
  FifoCloses(const FifoCloses&) = delete;
  FifoCloses& operator=(const FifoCloses&) = delete;

  // Removes the watches and empties the queue, for the next test.
  ~FifoCloses() {
    for (const Watched& w : watched_) inotify_rm_watch(inotify_.get(), w.descriptor);
    if (manager_end_watch_ >= 0) inotify_rm_watch(inotify_.get(), manager_end_watch_);
    char buffer[2048];
    while (inotify_ && read(inotify_.get(), buffer, sizeof buffer) > 0) {
    }
  }

  enum Side { Nobody, TheProcess, TheManager };

  // The FIFOs of a manager that ends are closed one after the other, and the program may end before the second one is. The kernel
  // closes a process's files in the reverse order of their numbers (since Linux 4.3). So the manager has the file `end` open above its
  // FIFOs, as descriptor kJudgeLastFd. It is no other file of the manager's, which it may open by a name (/dev/stderr) and close.
  void watch_end(const Judge& manager) {
    manager_end_watch_ = inotify_add_watch(inotify_.get(), format("/proc/self/fd/%d", manager.end.get()).c_str(), IN_CLOSE_WRITE);
    if (manager_end_watch_ < 0) system_fault("inotify_add_watch");
  }

  void watch(size_t process, const ProcessDirectories& directories) {
    add(process, directories.fifo_out, IN_CLOSE_WRITE, IN_CLOSE_NOWRITE);
    add(process, directories.fifo_in, IN_CLOSE_NOWRITE, IN_CLOSE_WRITE);
  }

  // One side has ended, and the runner is about to open the FIFOs in its place, which the other side may then close before the runner.
  void note_end(Side side, size_t process) {
    if (first_to_close(process) == Nobody) first_[process] = side;
  }

  // From here on nothing counts: the runner is about to kill the processes that are left, which closes their FIFOs too.
  void end() {
    read_events();
    ended_ = true;
  }

  // Which side has closed the FIFO pair of this process first, as far as is known now.
  Side first_to_close(size_t process) {
    read_events();
    return first_[process];
  }

 private:
  void read_events() {
    alignas(inotify_event) char buffer[2048];
    ssize_t n;
    while (inotify_ && !ended_ && (n = read(inotify_.get(), buffer, sizeof buffer)) > 0) {
      for (ssize_t at = 0; at < n;) {
        const inotify_event* event = reinterpret_cast<const inotify_event*>(buffer + at);
        manager_ends_ |= event->wd == manager_end_watch_;
        for (const Watched& w : watched_) {
          if (w.descriptor != event->wd || first_[w.process] != Nobody) continue;
          if ((event->mask & w.of_process) != 0) first_[w.process] = TheProcess;
          // The manager may close one FIFO only to send an end of file. So it counts once the manager has closed both.
          if ((event->mask & w.of_manager) == 0) continue;
          closed_by_manager_[w.process] |= w.of_manager;
          bool has_left = closed_by_manager_[w.process] == IN_CLOSE && !forgeable_;
          if (manager_ends_ || has_left) first_[w.process] = TheManager;
        }
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    }
  }

  struct Watched {
    int descriptor;
    size_t process;
    uint32_t of_process, of_manager;
  };
  void add(size_t process, const std::string& path, uint32_t of_process, uint32_t of_manager) {
    int descriptor = inotify_add_watch(inotify_.get(), path.c_str(), of_process | of_manager);
    if (descriptor < 0) system_fault("inotify_add_watch");
    watched_.push_back({descriptor, process, of_process, of_manager});
  }
  Fd& inotify_;  // of the job
  // Without Landlock the process can open and close the manager's side of the FIFOs too: then only the manager's termination
  // counts.
  bool forgeable_;
  std::vector<Side> first_;
  std::vector<uint32_t> closed_by_manager_;
  int manager_end_watch_ = -1;
  bool manager_ends_ = false, ended_ = false;
  std::vector<Watched> watched_;
};

struct Outcome {
  Verdict verdict = Verdict::JE;
  std::string score, message;
  std::string in_time;          // of a TLE not stopped for its time: its score if it had been in time; empty if unknown
  bool may_be_in_time = false;  // whether the client may measure its time again
  Limit limit = Limit::None;
  int code = 0, signal = 0;
  int64_t cpu_us = 0, wall_us = 0, idle_us = 0, memory_bytes = 0, judge_cpu_us = 0, judge_wall_us = 0;
  Attempts attempted;
  std::string errors, report;
  Fd output;                            // its first bytes are returned
  JudgeFault fault = JudgeFault::None;  // of a JE, with the program at fault and an explanation
  TrustedProgram program = TrustedProgram::Runner;
  std::string explanation;

  // Whether the client may run the test again.
  bool is_in_doubt() const { return may_be_in_time || (fault != JudgeFault::None && program == TrustedProgram::Runner); }

  bool is_zero() const { return !score.empty() && strtod(score.c_str(), nullptr) == 0.0; }
};

// Makes the outcome of a program that was late a TLE. If the program was not stopped for its time, the score that it would
// have in time is kept, and the client may run it once more to measure its time. If a failure hides that score, the verdict stays
// JE.
inline void make_late(Outcome& o, bool ended_by_itself, Limit limit) {
  if (o.fault != JudgeFault::None) return;
  if (ended_by_itself) o.in_time = o.score;
  o.may_be_in_time = ended_by_itself && !o.is_zero();
  o.verdict = Verdict::TLE;
  o.limit = limit;
  o.score = "0";
  o.message.clear();
}

inline void print_line(Lines& lines, const RunPlan& plan, const Test& test, const Outcome& o) {
  Json line;
  line.open('{').member("test", test.id).member("verdict", name_of(o.verdict));
  line.member("score", o.score.empty() ? nullptr : o.score.c_str()).member("message", o.message);
  if (!o.in_time.empty()) line.member("in_time", o.in_time);
  line.member("cpu_us", o.cpu_us).member("wall_us", o.wall_us).member("idle_us", o.idle_us).member("memory_bytes", o.memory_bytes);
  line.member("code", o.code).member("signal", o.signal).member("limit", name_of(o.limit));
  line.key("attempted").open('{');
  for (const auto& [name, count] : o.attempted) line.member(name.c_str(), count);
  line.close('}').member("stderr", o.errors);
  line.key("judge").open('{').member("cpu_us", o.judge_cpu_us).member("wall_us", o.judge_wall_us).close('}');
  if (o.verdict == Verdict::JE) {
    line.member("fault", name_of(o.fault)).member("program", name_of(o.program)).member("explanation", o.explanation);
  }
  if (!plan.interpreter.empty()) line.member("report", o.report);
  if (plan.return_bytes > 0 || plan.left_to_client()) {
    int64_t bytes = o.output ? file_size(o.output.get()) : 0;
    lines.print(line.member("output_bytes", bytes).key("output").open_text().take());
    if (bytes > 0) print_base64(lines, o.output.get(), std::min(bytes, plan.return_bytes));
    line.close_text();
  }
  lines.end_line(line.close('}'));
}

class TestState {
 protected:
  TestState(Job& job, WarmInterpreter& warm, const Test& test, Passes& passes)
      : job_(job),
        plan_(job.plan),
        warm_(warm),
        test_(test),
        passes_(passes),
        contestants_(job.directories.size()),
        fifo_closes_(job),
        manager_(job) {}

  const IsolationFeatures& can() const { return job_.machine.can; }
  const ProcessDirectories& directories_of(const Contestant& c) const { return job_.directories[c.index]; }

  // A file of the test, opened for a judge program. A test without an answer has an empty one.
  Fd judge_file(int fd) {
    Fd file(fd >= 0 ? reopen(fd, O_RDONLY) : open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!file) system_fault("open a file of test %ld for a judge program", test_.id);
    return file;
  }

  void judge_error(JudgeFault fault, TrustedProgram program, const std::string& explanation) {
    if (outcome_.fault != JudgeFault::None) return;
    outcome_.fault = fault;
    outcome_.program = program;
    outcome_.explanation = explanation;
  }

  // The CPU time that counts against the limit: of all processes together, or the most of one if each has the whole limit.
  int64_t total_cpu_us() const {
    int64_t total = 0;
    bool each = rules_of(plan_.task).limits_each;
    for (const Contestant& c : contestants_) total = each ? std::max(total, c.cpu_us()) : total + c.cpu_us();
    return total;
  }

  bool anybody_alive() const {
    return std::any_of(contestants_.begin(), contestants_.end(), [](const Contestant& c) { return c.process.alive(); });
  }

  bool over_memory(const Contestant& c) const {
    return c.limit == Limit::Memory || std::max(c.process.peak_bytes(), c.peak_bytes) > plan_.memory_bytes;
  }
  bool over_output(const Contestant& c) const {
    return c.limit == Limit::Files || c.limit == Limit::Output || c.process.signal() == SIGXFSZ ||
           std::max(file_size(c.output.get()), c.written_bytes) > plan_.output_bytes;
  }
  // Whether it has failed, and only the program can be the cause.
  bool failed_hard(const Contestant& c) const {
    if (c.stopped_for_others) return false;
    int signal = c.process.signal();
    if (c.limit != Limit::None || c.made_deadly_call || c.not_executable) return true;
    return (signal != 0 && signal != SIGPIPE) || over_memory(c) || over_output(c);
  }
  // Whether it has failed, and the manager's end may be the cause.
  bool failed_softly(const Contestant& c) const { return !c.stopped_for_others && !failed_hard(c) && c.process.failed(); }

  // Whether it closed its FIFOs before the manager did; or, if no close was seen, whether it ended first.
  bool closed_first(const Contestant& c) {
    if (!plan_.has_manager()) return true;
    FifoCloses::Side side = fifo_closes_.first_to_close(c.index);
    if (side != FifoCloses::Nobody) return side == FifoCloses::TheProcess;
    return manager_.process.alive() || manager_.ended_us >= c.ended_us;
  }

  bool rejected_by_interactor() const {
    const ProtocolRules& rules = rules_of(plan_.manager.protocol);
    return rules_of(plan_.task).interactive && manager_.fault == JudgeFault::None && has(rules.rejects, manager_.process.code());
  }

  bool is_decisive(const Contestant& c) { return failed_hard(c) || (failed_softly(c) && closed_first(c)); }

  Job& job_;
  const RunPlan& plan_;
  WarmInterpreter& warm_;
  const Test& test_;
  Passes& passes_;
  Outcome outcome_;
  std::vector<Contestant> contestants_;
  FifoCloses fifo_closes_;
  Judge manager_;
  Limit limit_ = Limit::None;  // the limit that stopped all processes together (CPU or idle time), if one did
};

}  // namespace runner
