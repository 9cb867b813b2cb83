// A run plan with the line `compile`: compiles the program and runs its tests in one job, so that the program need not be sent.
//
// The steps of the compilation are confined as in compile mode: they see their own files and the compiler, and no input,
// answer or judge program of the job. These are open files of the runner; with --dir they are unlinked before the first step.
#pragma once

#include "compile_mode.h"
#include "descriptors.h"
#include "isolation_features.h"
#include "job_files.h"
#include "lines.h"
#include "plan.h"
#include "processes.h"
#include "run_mode.h"
#include "system.h"

namespace runner {

// Whether a test may still be needed that this job has not run, or one may be run again.
inline bool needs_another_job(const Plan& plan, const RunEnd& ran) {
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
inline void build_and_run(const Plan& steps, const Plan& plan, const Machine& machine, JobFiles& files, Lines& lines) {
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
