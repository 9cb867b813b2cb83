// A job: what all its tests share, and what each process of a submission has.
#pragma once

#include "descriptors.h"
#include "directories.h"
#include "isolation_features.h"
#include "plan.h"
#include "seccomp.h"

namespace runner {

// The directories of one process of the submission. Made once; what a test can change in them is made again for each test.
struct ProcessDirectories {
  std::string outside;             // full: the root directory as the runner can write to it
  std::string root;                // full: the same directory, mounted read-only
  std::string scratch;             // its working directory, as the runner sees it
  std::string fifo_in, fifo_out;   // what it reads and what it writes, as the runner and the manager see them
  std::string inside_in, inside_out;  // the same, as the process sees them
  bool made = false;               // what is made for each test is there, and has not been removed yet
};

// What the tests of a job share.
struct Job {
  const Plan& plan;
  const Machine& machine;
  std::vector<Fd> programs = {};                     // one copy each: processes could communicate through shared pages
  Fd interpreter = {};                               // executed with the program as its argument, if the plan has one
  Fd interpreter_file = {};                          // the plan's `with=` file, which is open for the interpreter
  std::vector<ProcessDirectories> directories = {};  // for each process
  JudgeDirectories judge_directories{machine.base};
  uint64_t exec_key = 0;  // what a contestant's child must know to execute the program; 0: contestants execute nothing
  Filter filter = {};
  // An inotify descriptor: it reports who closed a FIFO. All tests share it, because closing one that had watches takes the
  // kernel 10 to 20 ms (it waits until no reader of its list of watches is left). No two watches have the same number.
  Fd fifo_inotify = {};

  bool full() const { return machine.full(); }
};

}  // namespace runner
