// The rules of time and memory that more than this program must know. Each number stands here and nowhere else.
//
// `ioi_eval/jobs/rules.py` reads this file: a number is a line `constexpr int64_t NAME = DIGITS;`. `graders/run` repeats two of
// them, and PROTOCOL.md tells all in words; `tests/jobs/test_rules.py` compares both.
#pragma once

#include <stdint.h>

namespace runner {

// A program is TLE from its CPU limit L on, and is stopped when its CPU time reaches this part of L, in percent, and this much
// more: so that who is a little late is timed to its end.
constexpr int64_t kCpuPercent = 125;
constexpr int64_t kCpuSlackMs = 100;

// It is stopped too when the idle time of the whole test reaches L and this much more. Source: CMS, which allows the wall clock
// of a program a second more than its CPU time.
constexpr int64_t kIdleSlackMs = 1'000;

// A wait for a disk is not idle before L and this much more.
constexpr int64_t kDiskSlackMs = 5'000;

// A test is given up when its wall clock reaches so many times L + M, M being the manager's CPU limit, and this much more.
constexpr int64_t kGivenUpTimes = 10;
constexpr int64_t kGivenUpSlackMs = 10'000;

// What a page of memory may cost the kernel in CPU time: a virtual machine may have to ask its host for it. 13 us were measured,
// 1 us elsewhere. That adds to the CPU time at which a program is stopped, but no more than so many times L, and this much.
constexpr int64_t kPageUs = 20;
constexpr int64_t kPageBytes = 4'096;
constexpr int64_t kPagesTimes = 8;
constexpr int64_t kPagesSlackMs = 5'000;

// The longest time, and the most memory, that a plan may name: a day, 64 TiB.
constexpr int64_t kMostMs = 86'400'000;
constexpr int64_t kMostBytes = 70'368'744'177'664;

constexpr int64_t cpu_stop_us(int64_t limit_ms) { return limit_ms * 10 * kCpuPercent + kCpuSlackMs * 1'000; }
constexpr int64_t idle_stop_us(int64_t limit_ms) { return (limit_ms + kIdleSlackMs) * 1'000; }
constexpr int64_t disk_stop_us(int64_t limit_ms) { return (limit_ms + kDiskSlackMs) * 1'000; }
constexpr int64_t given_up_us(int64_t limit_ms, int64_t manager_ms) {
  return (kGivenUpTimes * (limit_ms + manager_ms) + kGivenUpSlackMs) * 1'000;
}
constexpr int64_t most_for_pages_us(int64_t limit_ms) { return (kPagesTimes * limit_ms + kPagesSlackMs) * 1'000; }

}  // namespace runner
