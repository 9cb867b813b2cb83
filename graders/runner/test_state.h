// The state of one test: its processes, and which of them have failed.
//
// A test is one object in three classes, each of which uses only those before it:
//   TestState    this file      what is known: processes, outcome so far; asks, changes nothing but the outcome's fault
//   RunningTest  watching.h     starts the processes, watches them, stops those that break a rule (`begin`, `watch`, `idle_us`)
//   TestRun      one_test.h     decides the verdict when they have ended
#pragma once

#include "contestants.h"
#include "descriptors.h"
#include "hang_ups.h"
#include "isolation_features.h"
#include "job.h"
#include "judges.h"
#include "lines.h"
#include "outcome.h"
#include "passes.h"
#include "plan.h"
#include "system.h"
#include "verdicts.h"
#include "warm_interpreter.h"

namespace runner {

class TestState {
 protected:
  TestState(Job& job, WarmInterpreter& warm, const Test& test, Passes& passes)
      : job_(job),
        plan_(job.plan),
        warm_(warm),
        test_(test),
        passes_(passes),
        contestants_(job.directories.size()),
        hang_ups_(job),
        manager_(job) {}

  const IsolationFeatures& can() const { return job_.machine.can; }

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
  bool hung_up_first(const Contestant& c) {
    if (!plan_.has_manager()) return true;
    HangUps::Side side = hang_ups_.first_to_hang_up(static_cast<size_t>(c.index));
    if (side != HangUps::Nobody) return side == HangUps::TheProcess;
    return manager_.process.alive() || manager_.ended_us >= c.ended_us;
  }

  bool is_decisive(const Contestant& c) { return failed_hard(c) || (failed_softly(c) && hung_up_first(c)); }

  Job& job_;
  const Plan& plan_;
  WarmInterpreter& warm_;
  const Test& test_;
  Passes& passes_;
  Outcome outcome_;
  std::vector<Contestant> contestants_;
  HangUps hang_ups_;
  Judge manager_;
  Limit limit_ = Limit::None;  // the limit that stopped all processes together (CPU or idle time), if one did
};

}  // namespace runner
