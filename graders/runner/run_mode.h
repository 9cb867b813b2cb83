// Run mode: runs the needed tests of a plan, in a build job after compiling its program.
#pragma once

#include "compile_mode.h"
#include "contestants.h"
#include "descriptors.h"
#include "isolation_features.h"
#include "job.h"
#include "job_files.h"
#include "judges.h"
#include "lines.h"
#include "one_test.h"
#include "plan.h"
#include "processes.h"
#include "protocols.h"
#include "seccomp.h"
#include "test_state.h"
#include "verdicts.h"
#include "warm_interpreter.h"

namespace runner {

// Decides which tests are needed: those that come before the first known zero in at least one of their groups.
class NeededTests {
 public:
  explicit NeededTests(const RunPlan& plan) : all_(!plan.needed_only) {}

  bool has(const Test& test) const {
    if (all_ || test.at.empty()) return true;
    return std::any_of(test.at.begin(), test.at.end(), [&](const auto& at) {
      auto zero = zeros_.find(at.first);
      return zero == zeros_.end() || at.second < zero->second;
    });
  }

  void note_zero(const Test& test) {
    for (auto [group, position] : test.at) {
      int& first = zeros_.emplace(group, position).first->second;
      first = std::min(first, position);
    }
  }

 private:
  bool all_;
  std::map<int, int> zeros_;  // for each group with a zero, the position of its first
};

inline void open_interpreter(Job& job, JobFiles& files) {
  const RunPlan& plan = job.plan;
  job.interpreter = Fd(open(plan.interpreter.c_str(), O_PATH | O_CLOEXEC));
  if (!job.interpreter && !is_no_path(errno)) system_fault("open %s", plan.interpreter.c_str());
  if (!job.interpreter) plan_fault("there is no interpreter %s: %s", plan.interpreter.c_str(), strerror(errno));
  if (!plan.interpreter_file.empty()) job.interpreter_file = Fd(reopen(files.get(plan.interpreter_file), O_RDONLY));
}

inline void clear_all_directories(Job& job) {
  for (ProcessDirectories& directories : job.directories) clear_directories(job, directories);
}

// Deletes the files that the test made in the directories of its processes, also if a fault ends it.
inline Outcome run_once(Job& job, WarmInterpreter& warm, const Test& test, Passes& passes) {
  try {
    passes.begin();
    for (size_t i = 0; i < job.directories.size() && !job.plan.has_manager() && test.output < 0; i++) {
      make_directories(job, i, test);
    }
    Outcome outcome = TestRun(job, warm, test, passes).run();
    clear_all_directories(job);
    return outcome;
  } catch (const Fault& first) {
    try {
      clear_all_directories(job);
    } catch (const Fault&) {
      throw first;
    }
    throw;
  }
}

// Whether the program is run again after a pass that the judge program has judged. The score of such a pass does not count. A
// late pass of a program that ended by itself does not end the test: only the last pass gives the score that a repetition could earn.
// (Otherwise a program whose random choices were bad could be late on purpose, and get another chance.)
inline bool goes_on(const Outcome& outcome, const Passes& passes) {
  bool by_judge = outcome.verdict == Verdict::AC || outcome.verdict == Verdict::PA || outcome.verdict == Verdict::WA;
  return passes.wants_another() && (by_judge || !outcome.in_time.empty());
}

// The outcome of a test after another pass: the last pass decides, unless an earlier one was late. Each has the whole limits.
inline Outcome merged(const Outcome& earlier, Outcome outcome) {
  if (earlier.verdict == Verdict::TLE && outcome.verdict != Verdict::TLE) make_late(outcome, true, Limit::Cpu);
  outcome.cpu_us = std::max(outcome.cpu_us, earlier.cpu_us);
  outcome.memory_bytes = std::max(outcome.memory_bytes, earlier.memory_bytes);
  outcome.wall_us += earlier.wall_us;
  outcome.idle_us += earlier.idle_us;
  outcome.judge_cpu_us += earlier.judge_cpu_us;
  outcome.judge_wall_us += earlier.judge_wall_us;
  for (const auto& [name, count] : earlier.attempted) add_attempts(outcome.attempted, name, count);
  return outcome;
}

// Allocates memory, touches it and frees it: pages that were in use a moment ago cost a program less than pages that a virtual
// machine must get from its host. A separate process does it, because the runner's memory at a fork counts as a child's peak
// memory.
inline void prefault_once(const Job& job) {
  int64_t bytes = job.plan.bytes_to_prefault();
  Process prefaulter;
  if (bytes == 0 || start(prefaulter) > 0) {
    prefaulter.reap(true);
    return;
  }
  mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  _exit(0);
}

// Gives the programs of this job, which inherit this, no pages of 2 MiB: such a page is resident as a whole when a program uses a
// byte of it, and only some machines give them, depending on their free memory. Source: isolate, `isolate-check-environment`.
inline void refuse_huge_pages() { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }

// Not 0, which means that nothing is executed.
inline uint64_t random_key() {
  uint64_t key;
  if (syscall(SYS_getrandom, &key, sizeof key, 0) != sizeof key) system_fault("getrandom");
  return key | 1;
}

// The seccomp filter for the programs of this job.
inline Filter filter_of(const RunPlan& plan, const Machine& machine, uint64_t exec_key) {
  Siblings siblings = plan.processes > 1 ? Siblings::Together : plan.passes > 1 ? Siblings::InTurn : Siblings::Nobody;
  FilterKind kind{machine.can.notify, !machine.full(), siblings, !plan.is_static, !plan.interpreter.empty(), exec_key};
  return contestant_filter(kind, machine.can.hidden);
}

// What is known when a plan's tests have ended.
struct RunEnd {
  NeededTests needed;
  bool left_out = false;  // whether the time was up before all needed tests had been started
  bool in_doubt = false;  // whether a test may be run again in another job
};

inline RunEnd run_tests(const RunPlan& plan, const Machine& machine, JobFiles& files, Lines& lines) {
  for (const Test& test : plan.tests) {
    if (plan.compares()) comparison_of(plan, test);  // finds flags that are unknown
  }
  Job job{plan, machine};
  if (!plan.has_program()) {
    // For every test an output was submitted.
  } else if (plan.interpreter.empty()) {
    for (long i = 0; i < plan.processes; i++) job.programs.push_back(program_copy(files.get(plan.program)));
  } else {
    open_interpreter(job, files);
  }
  files.forget();
  malloc_trim(0);  // our memory at a fork counts as a child's peak memory
  refuse_huge_pages();
  if (!plan.warm) job.exec_key = random_key();
  job.filter = filter_of(plan, machine, job.exec_key);
  job.directories.resize(static_cast<size_t>(plan.processes));
  prefault_once(job);
  WarmInterpreter warm(job);
  RunEnd ran{NeededTests(plan)};
  int printed_before = lines.printed;
  int64_t begun_us = now_us();
  for (const Test& test : plan.tests) {
    if (!ran.needed.has(test)) continue;
    bool enough = plan.enough_ms > 0 && now_us() - begun_us >= plan.enough_ms * 1000;
    if (enough && lines.printed > printed_before) {
      ran.left_out = true;
      break;
    }
    Passes passes(job);
    Outcome outcome = run_once(job, warm, test, passes);
    while (goes_on(outcome, passes)) outcome = merged(outcome, run_once(job, warm, test, passes));
    if (outcome.is_zero()) ran.needed.note_zero(test);
    ran.in_doubt |= outcome.is_in_doubt();
    print_line(lines, plan, test, outcome);
  }
  return ran;
}

// Whether a test may still be needed that this job has not run, or one may be run again.
inline bool needs_another_job(const RunPlan& plan, const RunEnd& ran) {
  if (ran.left_out || ran.in_doubt) return true;
  Test rest;
  rest.at = plan.build.rest;
  return plan.build.has_rest && ran.needed.has(rest);
}

// Whether the sandbox gave an empty file that takes the program. Any other file of that name contradicts the line `compile`.
inline bool takes_program(const JobFiles& files, const std::string& name) {
  int fd = files.descriptor_of(name);
  if (fd < 0) return false;
  if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY || file_size(fd) != 0) {
    plan_fault("the job has a file %s, which it is to compile", name.c_str());
  }
  return true;
}

// Runs the compile plan `steps`, and then the tests of `plan`. If the sandbox gave no descriptor for the program, its bytes are
// printed if another job needs them.
// The steps are confined as in compile mode: they see their own files and the compiler, and no input, answer or judge program of
// the job. These are open files of the runner; with --dir they are unlinked before the first step.
inline void build_and_run(const CompilePlan& steps, const RunPlan& plan, const Machine& machine, JobFiles& files, Lines& lines) {
  bool is_returned = takes_program(files, plan.program);
  Fd own;
  if (!is_returned) {
    own = memory_file("program");
    files.add(plan.program, own.get());
  }
  int program = files.get(plan.program);
  int64_t begun_us = now_us();
  Compilation(steps, machine, files, lines).run();
  if (!descendants(getpid()).empty()) fault(FaultKind::System, "processes of the compiler cannot be ended");
  if (file_size(program) == 0) return;
  bool in_time = now_us() - begun_us <= plan.build.max_ms * 1000;
  bool is_needed = !in_time || needs_another_job(plan, run_tests(plan, machine, files, lines));
  if (is_needed && !is_returned) print_artifact(lines, steps.only_artifact()->name, program);
}

}  // namespace runner
