// The account that the kernel keeps of a living process: times, memory, threads, and what they are at.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "descriptors.h"
#include "lines.h"
#include "numbers.h"
#include "processes.h"

namespace runner {

// What the runner reads of a living process. Times are since its start. Run-queue delay is what somebody else has made it
// wait: threads that wake together wait for each other too, so of each interval the thread that waited longest counts.
struct Sample {
  int64_t cpu_us = 0, delay_us = 0, resident_bytes = 0;
  int64_t at_us = 0;       // when that was, of a process that is hidden
  int threads = 0;
  bool runs = false;       // if it was asked for: some thread runs or waits for a processor (state R)
  bool waits = false;      // likewise: some thread waits for a disk or the kernel (state D)
  std::vector<std::pair<int, int64_t>> delays;  // thread id, its delay; sorted
};

inline int64_t resident_of(const char* statm) {
  long long size, resident;
  return sscanf(statm, "%lld %lld", &size, &resident) == 2 ? resident * getpagesize() : 0;
}

// How many want a processor, for each that there is, if they are short: more than there are, beside us who ask. Else 0.
inline int wanting_per_processor() {
  cpu_set_t ours;
  int processors = sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : 1;
  char text[128];
  int runnable = 0;
  read_text(AT_FDCWD, "/proc/loadavg", text, sizeof text);
  bool known = sscanf(text, "%*s %*s %*s %d/", &runnable) == 1;
  return known && runnable - 1 > processors ? (runnable - 1) / processors : 0;
}

// A look happens up to a thousand times a second, beside programs that wait for the processor it takes. To find a file of
// /proc by its path costs five times what reading it does, so the files stay open: those of the process, and of its main
// thread, which most have no other beside. They speak of this process for ever, whoever has its number later.
class ProcFiles {
 public:
  // `states`: whether `runs` and `waits` are asked for. To write `stat` costs the kernel more than all the rest.
  Sample read(pid_t pid, const Sample& before, bool states) {
    Sample result;
    result.delay_us = before.delay_us;
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    if (!tasks_) tasks_ = open_kept(AT_FDCWD, path, O_DIRECTORY);
    if (!tasks_ || lseek(tasks_.get(), 0, SEEK_SET) != 0) {
      look_at_hidden(pid, before, result);
      return result;
    }
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    read_kept(statm_, AT_FDCWD, path, text, sizeof text);
    result.resident_bytes = resident_of(text);
    int64_t longest = 0;
    each_number(tasks_.get(), [&](int, const char* tid) {
      longest = std::max(longest, read_thread(tid, atoi(tid) == pid, states, before, result));
    });
    std::sort(result.delays.begin(), result.delays.end());
    result.delay_us += longest;
    result.cpu_us = cpu_clock_us(pid);
    return result;
  }

  // What the kernel spends on page tables, which is in no resident size: single pages far apart take two pages of tables
  // each. To write `status` costs the kernel as much as all the rest, so this is for now and then.
  static int64_t tables_bytes(pid_t pid, const Sample& sample) {
    char path[64], text[4096];
    int thread = sample.delays.empty() ? pid : sample.delays.back().first;  // a main thread that has ended tells nothing
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, thread);
    read_text(AT_FDCWD, path, text, sizeof text);
    const char* line = strstr(text, "\nVmPTE:");
    return line != nullptr ? 1024 * atoll(line + 7) : 0;
  }

  // What its pages may have cost; 0 if it is gone, or hidden.
  static int64_t cost_of_pages_us(pid_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_text(AT_FDCWD, path, text, sizeof text);
    const char* rest = strrchr(text, ')');  // the name may contain anything
    constexpr char kFields[] = " %*c %*d %*d %*d %*d %*d %*u %lld %*u %lld %*u %*u %lld";
    long long minor, major, system;
    if (rest == nullptr || sscanf(rest + 1, kFields, &minor, &major, &system) != 3) return 0;
    return runner::cost_of_pages_us(minor + major, system * 1'000'000 / sysconf(_SC_CLK_TCK));
  }

 private:
  // It is gone, or hidden (hidepid), which its clock never is. Its run-queue delay is hidden too: while processors are
  // short, its time without one counts as that. But who wants a processor gets a share of it. Less CPU time than an eighth
  // of a fair share, beyond what a start may take, is a sleeper's.
  static void look_at_hidden(pid_t pid, const Sample& before, Sample& result) {
    result.cpu_us = cpu_clock_us(pid);
    result.at_us = now_us();
    int wanting = wanting_per_processor();
    if (before.at_us == 0 || wanting == 0) return;
    int64_t without = std::max<int64_t>(0, result.at_us - before.at_us - (result.cpu_us - before.cpu_us));
    int64_t most = kHiddenDelayUs + 8 * wanting * result.cpu_us;
    result.delay_us = std::max(before.delay_us, std::min(before.delay_us + without, most));
  }

  // Returns by how much its delay has grown. Its state comes first: what is no wait then is in its delay afterwards.
  int64_t read_thread(const char* tid, bool is_main, bool states, const Sample& before, Sample& result) {
    char path[64], text[512];
    result.threads++;
    if (result.resident_bytes == 0) {  // a main thread that has ended has no memory any more: its process has
      snprintf(path, sizeof path, "%s/statm", tid);
      read_text(tasks_.get(), path, text, sizeof text);
      result.resident_bytes = resident_of(text);
    }
    Fd another;
    if (states) {
      snprintf(path, sizeof path, "%s/stat", tid);
      read_kept(is_main ? stat_ : another, tasks_.get(), path, text, sizeof text);
      const char* rest = strrchr(text, ')');  // the state comes after the name, which may hold anything
      char state = rest != nullptr && rest[1] == ' ' ? rest[2] : '\0';
      result.runs |= state == 'R';
      result.waits |= state == 'D';
      another.reset();
    }
    snprintf(path, sizeof path, "%s/schedstat", tid);
    read_kept(is_main ? schedstat_ : another, tasks_.get(), path, text, sizeof text);
    unsigned long long ran, waited;
    if (sscanf(text, "%llu %llu", &ran, &waited) != 2) return 0;
    std::pair<int, int64_t> now{atoi(tid), static_cast<int64_t>(waited / 1000)};
    auto known = std::lower_bound(before.delays.begin(), before.delays.end(), std::make_pair(now.first, int64_t{0}));
    bool same = known != before.delays.end() && known->first == now.first && known->second <= now.second;
    result.delays.push_back(now);
    return now.second - (same ? known->second : 0);
  }

  // Nothing, if the process has gone. What cannot be opened for want of descriptors would be a rule that is not kept.
  static Fd open_kept(int directory, const char* path, int flags) {
    Fd file(openat(directory, path, O_RDONLY | O_CLOEXEC | flags));
    if (!file && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) system_fault("open %s", path);
    return file;
  }

  static void read_kept(Fd& file, int directory, const char* path, char* text, size_t size) {
    if (!file) file = open_kept(directory, path, 0);
    ssize_t n = file ? pread(file.get(), text, size - 1, 0) : 0;
    text[std::max<ssize_t>(n, 0)] = '\0';
  }

  Fd tasks_, statm_, schedstat_, stat_;  // the last two of the main thread
};

// The same of a process that is looked at once or twice.
inline int64_t resident_bytes(pid_t pid) {
  char path[64], text[128];
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  read_text(AT_FDCWD, path, text, sizeof text);
  int64_t bytes = resident_of(text);
  return bytes > 0 ? bytes : ProcFiles().read(pid, {}, false).resident_bytes;
}

}  // namespace runner
