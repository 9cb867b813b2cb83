// One test: decides its verdict from how its processes ended and from its judge programs' results, in the order of the rules.
#pragma once

#include "comparators.h"
#include "contestants.h"
#include "descriptors.h"
#include "job.h"
#include "judges.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "processes.h"
#include "protocols.h"
#include "rules.h"
#include "test_state.h"
#include "verdicts.h"
#include "warm_interpreter.h"
#include "watching.h"

namespace runner {

// How the runner compares the output of a test with the answer.
inline comparators::Spec comparison_of(const RunPlan& plan, const Test& test) {
  comparators::Spec spec = plan.rule;
  if (spec.rule != comparators::Rule::DefaultValidator) return spec;
  std::vector<std::string> args = plan.checker.args;  // the checker's flags; the test's own follow
  args.insert(args.end(), test.args.begin(), test.args.end());
  std::string error = comparators::read_flags(args, spec.flags);
  if (!error.empty()) plan_fault("test %ld is compared with %s", test.id, error.c_str());
  return spec;
}

class TestRun : RunningTest {
 public:
  TestRun(Job& job, WarmInterpreter& warm, const Test& test, Passes& passes) : RunningTest(job, warm, test, passes) {}

  Outcome run() {
    if (test_.output >= 0) {
      judge_submitted();
    } else {
      begin();
      watch();
      finish();
    }
    return std::move(outcome_);
  }

 private:
  void finish() {
    const Contestant* first = nullptr;  // the first that failed
    for (Contestant& c : contestants_) {
      int64_t peak = std::max(c.peak_bytes, c.started ? c.process.peak_bytes() : 0);
      outcome_.memory_bytes = std::max(outcome_.memory_bytes, peak);
      if (c.started) outcome_.wall_us = std::max(outcome_.wall_us, c.ended_us - c.started_us);
      for (const auto& [name, count] : c.attempted) add_attempts(outcome_.attempted, name, count);
      bool failed = failed_hard(c) || failed_softly(c);
      bool better = first == nullptr || (is_decisive(c) && !is_decisive(*first)) ||
                    (is_decisive(c) == is_decisive(*first) && c.ended_us < first->ended_us);
      if (failed && better) first = &c;
    }
    outcome_.cpu_us = total_cpu_us();
    outcome_.idle_us = idle_us();
    const Contestant& reported = first != nullptr ? *first : contestants_[0];
    if (!reported.stopped_for_others) {
      outcome_.code = reported.process.code();
      outcome_.signal = reported.process.signal();
    }
    outcome_.errors = head(reported.errors.get(), std::min(kStderrBytes, static_cast<size_t>(plan_.stderr_bytes)));
    if (reported.report) outcome_.report = head(reported.report.get(), kReportBytes);
    if (outcome_.fault == JudgeFault::None) decide();
    if (!plan_.has_manager() && outcome_.fault == JudgeFault::None) outcome_.output = std::move(contestants_.back().output);
    if (manager_.process.pid > 0) {
      outcome_.judge_cpu_us += manager_.process.cpu_us() + kill_leftovers({warm_.pid()});
      outcome_.judge_wall_us += manager_.ended_us > 0 ? manager_.ended_us - manager_.started_us : 0;
    }
  }

  // Whether a signal that the runner did not send comes from the machine, which most likely has no memory left: PROTOCOL.md, "A SIGKILL
  // or SIGTERM", has the rule. (If a program calls kill for itself, the runner sends the SIGKILL. The kernel's count of kills includes
  // processes of others; of SIGTERMs it keeps none.)
  bool killed_from_outside(const Contestant& c) const {
    bool stopped = c.stopped_for_others || c.made_deadly_call || c.killed_itself || c.limit != Limit::None;
    if (stopped || over_memory(c) || outcome_.cpu_us >= plan_.cpu_ms * 1000) return false;
    bool can_itself = !can().notify || c.has_timers;
    if (c.process.signal() == SIGTERM) return !can_itself && !c.terminated_itself;
    return c.process.signal() == SIGKILL && (!can_itself || out_of_memory_kills() > c.kills_before);
  }

  void decide() {
    require_room_for_files(job_, test_);  // the program may have written after the last look
    for (const Contestant& c : contestants_) {
      if (killed_from_outside(c)) return judge_error(JudgeFault::Signal, TrustedProgram::Runner, kKilledFromOutside);
      bool never_ran = !c.started && !c.not_executable && !c.stopped_for_others && c.limit == Limit::None;
      if (never_ran || (c.ended_before_reading() && !over_memory(c))) {
        const char* what = never_ran ? "it ended before the program began" : "the interpreter ended before it read the program";
        std::string end = format("%s: %s ", what, c.process.how().c_str());
        return judge_error(JudgeFault::Start, TrustedProgram::Runner, end + head(c.errors.get(), 300));
      }
    }
    decide_by_time();
    if (outcome_.verdict == Verdict::TLE && was_over_memory_unseen()) {
      outcome_.in_time.clear();
      outcome_.may_be_in_time = false;
      give_zero(Verdict::MLE, Limit::Memory);
    }
  }

  // Whether a program that /proc hides was over its memory limit. There the runner sees less of it (nothing once its main thread
  // has ended), so it may have run until it was late.
  bool was_over_memory_unseen() const {
    return std::any_of(contestants_.begin(), contestants_.end(),
                       [&](const Contestant& c) { return c.files.hidden() && !c.stopped_for_others && over_memory(c); });
  }

  void decide_by_time() {
    bool late = outcome_.cpu_us >= plan_.cpu_ms * 1000;
    bool ended_by_itself = limit_ == Limit::None;
    if (!late || ended_by_itself) judge_in_time();
    if (late) make_late(outcome_, ended_by_itself, ended_by_itself ? Limit::Cpu : limit_);
  }

  // Decides the verdict by all rules except that of CPU time.
  void judge_in_time() {
    if (program_failed()) return;
    if (!contestants_[0].left_output) return set_verdict(Verdict::WA, "0", kNoOutput + plan_.output_file);
    Judgement judgement;
    bool decided = false;  // without a checker
    if (plan_.has_manager()) {
      if (manager_.has_lost_its_reader() && a_program_closed_first()) {
        read_score("0", judgement);
        judgement.message = "The program ended before the manager was done";
        decided = true;
      } else if (manager_.fault != JudgeFault::None) {
        return judge_error(manager_.fault, manager_.failed_program(), manager_.explanation);
      } else if (!plan_.has_checker || (rules_of(plan_.task).interactive && manager_.process.code() != 0)) {
        judgement = read_judgement(manager_.result(), plan_.manager.protocol, test_.scale);
        if (!judgement.valid) return judge_error(JudgeFault::Score, TrustedProgram::Manager, judgement.error);
        decided = true;
      }
    }
    if (!decided && plan_.has_checker) {
      if (plan_.left_to_client()) return set_verdict(Verdict::LeftToClient, "", "");
      if (!check_output(judgement)) return;
    }
    round_to_step(judgement);
    for (const Contestant& c : contestants_) {
      // It failed after the manager had closed both FIFOs. Even if the judge program gives points, CMS gives none.
      if (failed_softly(c) && judgement.value > 0) return give_runtime_error(Limit::None);
    }
    set_verdict_by_score(judgement);
  }

  // Lets the checker judge the output; the task type says which file that is.
  bool check_output(Judgement& judgement) {
    switch (plan_.task) {
      case TaskType::Batch:
      case TaskType::TwoSteps: return check(contestants_.back().output.get(), judgement);
      case TaskType::Communication: return check(manager_.output.get(), judgement);
      case TaskType::Interactive: break;
    }
    std::string error;
    Fd output = open_left(manager_.directory, "output.txt", error);
    if (error.empty()) return check(output.get(), judgement);
    judge_error(JudgeFault::Score, TrustedProgram::Manager, error);
    return false;
  }

  // Judges an output that was submitted instead of a program. Only the rule about output size applies.
  void judge_submitted() {
    outcome_.output = judge_file(test_.output);
    if (file_size(test_.output) > plan_.output_bytes) return give_zero(Verdict::OLE, Limit::Output);
    if (plan_.left_to_client()) return set_verdict(Verdict::LeftToClient, "", "");
    Judgement judgement;
    if (!check(test_.output, judgement)) return;
    round_to_step(judgement);
    set_verdict_by_score(judgement);
  }

  void round_to_step(Judgement& judgement) const {
    if (test_.steps == 0) return;
    double steps = static_cast<double>(test_.steps), exact = judgement.points * steps / judgement.full;
    switch (test_.rounding) {
      case Rounding::Down: exact = floor(exact); break;
      case Rounding::Leniently: exact = floor(exact + 1.0 / kLenientParts); break;
      case Rounding::Nearest: exact = floor(exact + nextafter(0.5, 0)); break;  // not 0.5: the number just below 0.5 would become 1
      case Rounding::NearestEven: exact = nearbyint(exact); break;
    }
    judgement.set(exact / steps);
  }

  void set_verdict_by_score(const Judgement& judgement) {
    Verdict verdict = judgement.value == 1.0 ? Verdict::AC : judgement.value == 0.0 ? Verdict::WA : Verdict::PA;
    set_verdict(verdict, judgement.score, judgement.message);
  }

  bool a_program_closed_first() {
    for (size_t i = 0; i < contestants_.size(); i++) {
      if (fifo_closes_.first_to_close(i) == FifoCloses::TheProcess) return true;
    }
    return false;
  }

  // Sets the verdict if one applies that needs no judge program, in the order of the rules. Returns whether one does.
  bool program_failed() {
    bool memory = false, output = false, made_deadly_call = false, failed = false;
    Limit limit = limit_;
    for (Contestant& c : contestants_) {
      // If the manager failed, or an interactor rejects, only earlier failures of contestants count.
      if ((manager_.fault != JudgeFault::None || rejected_by_interactor()) && !closed_first(c)) continue;
      memory |= !c.stopped_for_others && over_memory(c);
      output |= !c.stopped_for_others && over_output(c);
      made_deadly_call |= c.made_deadly_call;
      failed |= is_decisive(c);
      if (limit == Limit::None) limit = c.limit;
    }
    if (limit_ != Limit::None) {
      give_zero(Verdict::TLE, limit_);
    } else if (memory) {
      give_zero(Verdict::MLE, Limit::Memory);
    } else if (output) {
      give_zero(Verdict::OLE, limit != Limit::None ? limit : Limit::Output);
    } else if (made_deadly_call) {
      give_zero(Verdict::SV, Limit::None);
    } else if (failed) {
      give_runtime_error(limit);
    } else {
      return false;
    }
    return true;
  }

  // If other processes have used up what this user or container may start, the program may have failed to start threads. (Its own
  // processes have ended.) A limit that is too low in any case does not excuse it, because no repetition would help. No more threads
  // are tried than every job can start: under a low limit of a container, to try as many as a plan allows would itself fail.
  void give_runtime_error(Limit limit) {
    rlimit processes = {};
    getrlimit(RLIMIT_NPROC, &processes);
    long threads = std::min(plan_.threads, kSureThreads);
    bool low_limit = processes.rlim_cur < static_cast<rlim_t>(threads) + kOwnProcesses;
    if (limit != Limit::None || low_limit || can_start_threads(threads)) return give_zero(Verdict::RE, limit);
    judge_error(JudgeFault::Overload, TrustedProgram::Runner, kNoThreadsLeft);
  }

  void give_zero(Verdict verdict, Limit limit) {
    outcome_.limit = limit;
    set_verdict(verdict, "0", "");
  }

  void set_verdict(Verdict verdict, const std::string& score, const std::string& message) {
    outcome_.verdict = verdict;
    outcome_.score = score;
    outcome_.message = message;
  }

  // Compares an output with the answer, without a judge program.
  void compare(int output, Judgement& judgement) {
    Fd ours = judge_file(output), answer = judge_file(test_.answer);
    comparators::Comparison comparison = comparators::compare(comparison_of(plan_, test_), ours.get(), answer.get());
    malloc_trim(0);  // our memory at a fork counts as a child's peak memory
    if ((errno = comparison.error) != 0) system_fault("compare an output");
    read_score(comparison.right ? "1" : "0", judgement);
    judgement.message = comparison.difference;
    if (plan_.checker.protocol != Protocol::Compare) {
      judgement.message = comparison.right ? kSuccess : std::string(kWrong) + ": " + comparison.difference;
    }
    judgement.message.resize(std::min(judgement.message.size(), kMessageBytes));
  }

  // Lets the checker judge an output, twice if need be. Returns false if it has failed.
  bool check(int output, Judgement& judgement) {
    int64_t begun = now_us();
    if (plan_.compares()) {
      compare(output, judgement);
      outcome_.judge_wall_us += now_us() - begun;
      return true;
    }
    check_once(output, judgement);
    if (may_succeed_if_repeated(outcome_.fault)) {
      auto first_end = std::make_tuple(outcome_.fault, outcome_.program, outcome_.explanation);
      outcome_.fault = JudgeFault::None;
      check_once(output, judgement);
      bool had_too_little_time = outcome_.fault == JudgeFault::Stall || outcome_.fault == JudgeFault::Overload;
      if (had_too_little_time) std::tie(outcome_.fault, outcome_.program, outcome_.explanation) = first_end;
      // If it was killed from outside both times, it most likely needs too much memory for this output.
      if (outcome_.fault == JudgeFault::Signal && !had_too_little_time) outcome_.program = TrustedProgram::Checker;
    }
    return outcome_.fault == JudgeFault::None;
  }

  // Whether the checker judges the same output again after this failure, because the machine may be its cause. (If the program ran
  // again instead, one that guesses could crash the checker after a bad guess, and guess again.) A checker that was over a limit
  // would need as much again. One with several passes may have changed its feedback directory.
  bool may_succeed_if_repeated(JudgeFault fault) const {
    bool ended = fault == JudgeFault::Start || fault == JudgeFault::Signal || fault == JudgeFault::Exit || fault == JudgeFault::Score;
    return ended && plan_.passes == 1;
  }

  void check_once(int output, Judgement& judgement) {
    Judge checker(job_);
    passes_.begin_judging(checker);
    checker.wall_before_us = outcome_.judge_wall_us;
    begin_checker(checker, output);
    while (!checker.process.ended) {
      pollfd ready = {checker.process.pidfd.get(), POLLIN, 0};
      poll(&ready, 1, 5);
      if (checker.process.reap(false)) break;
      checker.look();
      checker.stop_at_limits();
    }
    checker.conclude();
    judgement = read_judgement(checker.result(), plan_.checker.protocol, test_.scale);
    outcome_.judge_cpu_us += checker.process.cpu_us() + kill_leftovers({warm_.pid()});
    outcome_.judge_wall_us += checker.ended_us - checker.started_us;
    if (checker.fault != JudgeFault::None) {
      judge_error(checker.fault, checker.failed_program(), checker.explanation);
    } else if (!judgement.valid) {
      judge_error(JudgeFault::Score, TrustedProgram::Checker, judgement.error);
    } else if (plan_.passes > 1) {
      std::string wrong = passes_.conclude(checker);
      if (!wrong.empty()) judge_error(JudgeFault::Score, TrustedProgram::Checker, wrong);
    }
  }

  void begin_checker(Judge& checker, int output) {
    Fd input = judge_file(passes_.input(test_)), answer = judge_file(test_.answer), result = judge_file(output);
    const ProtocolRules& rules = rules_of(plan_.checker.protocol);
    std::vector<std::string> args(rules.args.begin(), rules.args.end());
    Fd standard_input = rules.reads_output_from_stdin ? judge_file(output) : Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    args.insert(args.end(), plan_.checker.args.begin(), plan_.checker.args.end());
    args.insert(args.end(), test_.args.begin(), test_.args.end());
    checker.open_outputs();
    JudgeFiles its_files{input.get(), answer.get(), result.get(), standard_input.get()};
    checker.begin(TrustedProgram::Checker, plan_.checker, args, its_files);
  }
};

}  // namespace runner
