// The rules that other programs must know too. They are defined here.
//
// `ioi_eval/boxfiles.py` reads this file: a number is a line `constexpr int64_t NAME = DIGITS;`. `graders/run` repeats two of
// them, and PROTOCOL.md explains them; `tests/jobs/test_plan.py` compares both.
#pragma once

#include "system.h"

namespace runner {

// A program is TLE if its CPU time reaches its limit L. It is stopped only when its CPU time reaches this percentage of L plus
// this slack, so that a program that is slightly late is measured to its end.
constexpr int64_t kCpuPercent = 125;
constexpr int64_t kCpuSlackMs = 100;

// It is also stopped when the idle time of the whole test reaches L plus this slack. Source: CMS, which stops a program after
// 2 L + 1 s of wall clock.
constexpr int64_t kIdleSlackMs = 1'000;

// A test is given up when its wall clock reaches this many times L + M (M is the manager's CPU limit) plus this slack.
constexpr int64_t kGivenUpFactor = 10;
constexpr int64_t kGivenUpSlackMs = 10'000;

// The CPU time that the kernel may need for a page of memory. 13 us were measured on a virtual machine that gets the page from
// its host, 1 us elsewhere. It is added to the CPU time at which a program is stopped, up to this many times L plus this slack.
constexpr int64_t kPageUs = 20;
constexpr int64_t kPageBytes = 4'096;
constexpr int64_t kPagesFactor = 8;
constexpr int64_t kPagesSlackMs = 5'000;

// The longest time, the most memory, and the most processes of one submission, that a plan may name: a day, 64 TiB, 64.
constexpr int64_t kMaxMs = 86'400'000;
constexpr int64_t kMaxBytes = 70'368'744'177'664;
constexpr int64_t kMaxProcesses = 64;

// If scores are rounded leniently, a score that is below a step by less than 1 / this of a step counts as that step. Source: graders
// of EGOI 2024.
constexpr int64_t kLenientParts = 10'000'000;

constexpr int64_t cpu_stop_us(int64_t limit_ms) { return limit_ms * 10 * kCpuPercent + kCpuSlackMs * 1'000; }
constexpr int64_t idle_stop_us(int64_t limit_ms) { return (limit_ms + kIdleSlackMs) * 1'000; }
constexpr int64_t given_up_us(int64_t limit_ms, int64_t manager_ms) {
  return (kGivenUpFactor * (limit_ms + manager_ms) + kGivenUpSlackMs) * 1'000;
}
constexpr int64_t max_for_pages_us(int64_t limit_ms) { return (kPagesFactor * limit_ms + kPagesSlackMs) * 1'000; }

}  // namespace runner
