// Run mode: the tests of a plan that can still matter.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "decisions.h"
#include "descriptors.h"
#include "job_files.h"
#include "judges.h"
#include "lines.h"
#include "means.h"
#include "one_test.h"
#include "outcome.h"
#include "passes.h"
#include "places.h"
#include "plan.h"
#include "processes.h"
#include "protocols.h"
#include "seccomp.h"
#include "tokens.h"
#include "warm.h"

namespace runner {

// Which tests can still matter: those before the first known zero of one of their groups.
class Needed {
 public:
  bool has(const Test& test) const {
    if (!g_plan.needed_only || test.at.empty()) return true;
    return std::any_of(test.at.begin(), test.at.end(), [&](const auto& place) {
      auto zero = find(place.first);
      return zero == zeros_.end() || place.second < zero->second;
    });
  }

  void zero(const Test& test) {
    for (const auto& place : test.at) {
      auto known = find(place.first);
      if (known == zeros_.end()) {
        zeros_.push_back(place);
      } else {
        zeros_[static_cast<size_t>(known - zeros_.begin())].second = std::min(known->second, place.second);
      }
    }
  }

 private:
  std::vector<std::pair<int, int>>::const_iterator find(int group) const {
    return std::find_if(zeros_.begin(), zeros_.end(), [&](const auto& zero) { return zero.first == group; });
  }
  std::vector<std::pair<int, int>> zeros_;  // (group, position)
};

inline void open_interpreter() {
  g_interpreter = Fd(open(g_plan.interpreter.c_str(), O_PATH | O_CLOEXEC));
  if (!g_interpreter) plan_fault("there is no interpreter %s: %s", g_plan.interpreter.c_str(), strerror(errno));
  if (!g_plan.with.empty()) g_with = Fd(reopen(g_files.get(g_plan.with), O_RDONLY));
  int task = g_files.get(g_plan.program);
  for (Test& test : g_plan.tests) {
    if (test.program < 0) test.program = task;
  }
}

inline Outcome run_once(const Test& test, Passes& passes) {
  Outcome outcome;
  {
    for (size_t i = 0; i < g_places.size() && !g_plan.communication && test.output < 0; i++) {
      open_place(g_places[i], static_cast<long>(i), test);
    }
    TestRun run(test, passes);
    outcome = run.run();
  }
  for (Place& place : g_places) close_place(place);
  return outcome;
}

// What came of a test after another pass: that pass decides. Each has the limits for itself.
inline Outcome after(const Outcome& earlier, Outcome outcome) {
  outcome.cpu_us = std::max(outcome.cpu_us, earlier.cpu_us);
  outcome.memory_bytes = std::max(outcome.memory_bytes, earlier.memory_bytes);
  outcome.wall_us += earlier.wall_us;
  outcome.idle_us += earlier.idle_us;
  outcome.judge_cpu_us += earlier.judge_cpu_us;
  outcome.judge_wall_us += earlier.judge_wall_us;
  return outcome;
}

// Pages that were in use a moment ago cost a program less than those that a virtual machine has to ask its host for. What takes
// them is a process of its own: what we hold at a fork is part of a child's peak memory. If memory is short, it has to go, and
// nobody is excused by that.
inline void make_ready(int64_t bytes) {
  Process taker;
  if (bytes == 0 || start(taker) > 0) {
    taker.reap(true);
    if (taker.failed()) g_kills_seen = out_of_memory_kills();
    return;
  }
  write_text("/proc/self/oom_score_adj", "1000");
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  _exit(0);
}

inline void run_tests() {
  for (const Test& test : g_plan.tests) {
    if (g_plan.has_checker && g_plan.protocol == Protocol::Tokens) token_rules(test);
  }
  if (!g_plan.has_program()) {
    // every output was submitted
  } else if (g_plan.interpreter.empty()) {
    for (long i = 0; i < g_plan.processes; i++) g_programs.push_back(program_copy());
  } else {
    open_interpreter();
  }
  g_files.forget();
  malloc_trim(0);  // what we hold at a fork is part of a child's peak memory
  bool reduced = !full();
  Company company = g_plan.processes > 1 ? Company::Together : g_plan.passes > 1 ? Company::InTurn : Company::Nobody;
  FilterWriter filter(Decider(g_means.notify, reduced, company, !g_plan.is_static, !g_plan.interpreter.empty()), g_means.hidden);
  g_filter = std::move(filter.code);
  g_filter_self = std::move(filter.self);
  g_places.resize(static_cast<size_t>(g_plan.processes));
  make_ready(std::min(g_plan.ready_bytes, g_plan.memory_bytes));
  Needed needed;
  int64_t begun_us = now_us();
  for (const Test& test : g_plan.tests) {
    if (g_lines > 0 && g_plan.enough_ms > 0 && now_us() - begun_us >= g_plan.enough_ms * 1000) break;
    if (!needed.has(test)) continue;
    Passes passes;
    Outcome outcome = run_once(test, passes);
    while (outcome.verdict == "AC" && passes.wants_another()) outcome = after(outcome, run_once(test, passes));
    if (outcome.verdict != "JE" && outcome.zero) needed.zero(test);
    print_line(test, outcome);
  }
  g_warm.end();
}

}  // namespace runner
