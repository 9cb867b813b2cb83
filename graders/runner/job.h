// A job: what all its tests share, and what each process of a submission has.
#pragma once

#include <string>
#include <vector>

#include "capabilities.h"
#include "descriptors.h"
#include "plan.h"
#include "seccomp.h"

namespace runner {

// Where one process of the submission lives. Made once; what a test can change in it is made anew for each test.
struct ProcessDirectories {
  std::string outside;             // full: what becomes its root, as the runner may write it
  std::string root;                // full: its root directory, read-only
  std::string scratch;             // its working directory, as the runner sees it
  std::string fifo_in, fifo_out;   // as the runner and the manager see them
  std::string inside_in, inside_out;
  bool made = false;
};

// What the tests of a job share.
struct Job {
  const Plan& plan;
  const Machine& machine;
  std::vector<Fd> programs = {};                     // a copy for each process: pages that two share would be a channel
  Fd interpreter = {}, with = {};                    // what is executed instead of a program, and a file that it needs
  std::vector<ProcessDirectories> directories = {};  // for each process
  Filter filter = {};
  // An inotify descriptor: it tells who closed a FIFO. All tests share it, as the kernel takes 10 to 20 ms to close one in which
  // anything was watched (it waits until nobody can be reading its list of watches). No two watches have the same number.
  Fd closes = {};
  long long kills_seen = out_of_memory_kills();  // when the runner last asked

  bool full() const { return machine.full(); }
};

}  // namespace runner
