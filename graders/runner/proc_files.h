// What the kernel reports about a living process: times, memory, threads and their states.
#pragma once

#include "descriptors.h"
#include "lines.h"
#include "numbers.h"
#include "processes.h"

namespace runner {

// What the runner reads about a living process. Times are since its start. Run-queue delay is the time in which it waited for
// a processor. In each interval, only the thread that waited longest counts, because threads also wait for each other.
struct Sample {
  int64_t cpu_us = 0, delay_us = 0, resident_bytes = 0;
  int64_t at_us = 0;       // when it was read; only for a process that /proc hides
  int threads = 0;
  bool runs = false;       // if requested: some thread runs or waits for a processor (state R)
  bool waits = false;      // if requested: some thread waits for a disk or the kernel (state D)
  std::vector<std::pair<int, int64_t>> delays;  // thread id, its delay; sorted
};

inline int64_t resident_of(const char* statm) {
  long long size, resident;
  return sscanf(statm, "%lld %lld", &size, &resident) == 2 ? resident * getpagesize() : 0;
}

// If more threads want a processor than there are processors (not counting ourselves): how many for each processor. Else 0.
inline int wanting_per_processor() {
  cpu_set_t ours;
  int processors = sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : 1;
  int runnable = 0;
  bool known = sscanf(read_text(AT_FDCWD, "/proc/loadavg").c_str(), "%*s %*s %*s %d/", &runnable) == 1;
  return known && runnable - 1 > processors ? (runnable - 1) / processors : 0;
}

// The part of a `stat` file of /proc after the process's name, which may contain anything. Empty if there is none.
inline const char* fields_after_name(const char* stat) {
  const char* end = strrchr(stat, ')');
  return end != nullptr ? end + 1 : "";
}

// Reads the beginning of such a file. It is opened if it is not open yet, and stays open.
inline void read_of_process(Fd& file, int directory, const char* path, char* text, size_t size) {
  if (!file) file = open_of_process(directory, path);
  ssize_t n = file ? pread(file.get(), text, size - 1, 0) : 0;
  text[std::max<ssize_t>(n, 0)] = '\0';
}

// Totals from /proc/PID/stat; 0 if the process has ended or is hidden.
struct ProcessTotals {
  int64_t page_faults = 0, user_us = 0, system_us = 0, reaped_children_us = 0, resident_bytes = 0;
  int parent = 0;
};

inline ProcessTotals read_totals(pid_t pid) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  Fd file;
  read_of_process(file, AT_FDCWD, path, text, sizeof text);
  constexpr char kFields[] = " %*c %d %*d %*d %*d %*d %*u %lld %*u %lld %*u %lld %lld %lld %lld %*d %*d %*d %*d %*u %*u %lld";
  int parent;
  long long minor, major, user, system, reaped_user, reaped_system, pages;
  int read = sscanf(fields_after_name(text), kFields, &parent, &minor, &major, &user, &system, &reaped_user, &reaped_system, &pages);
  if (read != 8) return {};
  int64_t tick_us = 1'000'000 / sysconf(_SC_CLK_TCK);
  return {minor + major, user * tick_us, system * tick_us, (reaped_user + reaped_system) * tick_us, pages * getpagesize(), parent};
}

inline int64_t cost_of_pages_so_far_us(pid_t pid) {
  ProcessTotals totals = read_totals(pid);
  return cost_of_pages_us(totals.page_faults, totals.system_us);
}

// Processes are looked at up to a thousand times a second, and that takes CPU time from the programs. Opening a file of /proc by its
// path costs five times as much as reading it, so the files of the process and of its main thread stay open. (Most processes have no
// other thread.) An open file still belongs to this process if its pid is used again.
class ProcFiles {
 public:
  // `states`: whether to read `runs` and `waits`. Producing `stat` costs the kernel more than all the rest.
  Sample read(pid_t pid, const Sample& before, bool states) {
    Sample result;
    result.delay_us = before.delay_us;
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    if (!tasks_) tasks_ = open_of_process(AT_FDCWD, path, O_DIRECTORY);
    if (!tasks_ || lseek(tasks_.get(), 0, SEEK_SET) != 0) {
      look_at_hidden(pid, before, states, result);
      return result;
    }
    main_thread_.reset();
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    read_of_process(statm_, AT_FDCWD, path, text, sizeof text);
    result.resident_bytes = resident_of(text);
    int64_t longest = 0;
    each_entry(tasks_.get(), [&](int, const char* tid) {
      longest = std::max(longest, read_thread(tasks_.get(), tid, atoi(tid), atoi(tid) == pid, states, before, result));
    });
    std::sort(result.delays.begin(), result.delays.end());
    result.delay_us += longest;
    result.cpu_us = cpu_clock_us(pid);
    return result;
  }

  // The directory of its main thread, which the process has opened itself: it can be read also if /proc hides the process. It is
  // kept only as long as `tasks_` is not open.
  void main_thread_is(Fd directory) {
    if (hidden()) main_thread_ = std::move(directory);
  }

  // Whether /proc has never shown the process: it hides processes, or this one ended at once.
  bool hidden() const { return !tasks_; }

  struct Moved {
    long long read = 0, written = 0;
  };

  // How many bytes it has read and written, from and to files and pipes; 0 if the kernel does not say.
  Moved moved_bytes(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/io", pid);
    read_of_process(io_, AT_FDCWD, path, text, sizeof text);
    Moved bytes;
    sscanf(text, "rchar: %lld wchar: %lld", &bytes.read, &bytes.written);
    return bytes;
  }

  // Memory with what resident size does not include: page tables (single pages far apart need two pages of tables each), and pages
  // that the machine has swapped out.
  struct Memory {
    int64_t tables_bytes = 0, with_swapped_bytes = 0;
  };

  // Producing `status` costs the kernel as much as all the rest, so this is read less often.
  Memory memory(pid_t pid, const Sample& sample) const {
    char path[64] = "status";
    int thread = sample.delays.empty() ? pid : sample.delays.back().first;  // a main thread that has ended has no values
    if (!hidden()) snprintf(path, sizeof path, "%d/status", thread);
    std::string status = read_text((hidden() ? main_thread_ : tasks_).get(), path);  // its list of groups can be long
    return {1024 * value_in(status, "\nVmPTE:"), 1024 * (value_in(status, "\nVmRSS:") + value_in(status, "\nVmSwap:"))};
  }

 private:
  // A number in the text of a `status` file; 0 if there is none.
  static int64_t value_in(const std::string& text, const char* name) {
    size_t at = text.find(name);
    return at != std::string::npos ? atoll(text.c_str() + at + strlen(name)) : 0;
  }

  // For a process that has ended, or that /proc hides (hidepid). Its CPU clock, and the main thread that it shows us itself, can
  // still be read, but not how long its other threads wait. If it has some, and more threads want a processor than there are
  // processors, the time in which it did not run counts as delay. But a process that wants a processor gets a share of it: if
  // it used less than an eighth of a fair share (after a time for its start), the rest counts as sleep.
  void look_at_hidden(pid_t pid, const Sample& before, bool states, Sample& result) {
    int64_t delay_us = main_thread_ ? read_thread(main_thread_.get(), ".", pid, true, states, before, result) : 0;
    result.threads = static_cast<int>(value_in(read_text(main_thread_.get(), "status"), "\nThreads:"));
    result.cpu_us = cpu_clock_us(pid);
    result.at_us = now_us();
    if (result.threads == 1) {
      result.delay_us += delay_us;
      return;
    }
    int wanting = wanting_per_processor();
    if (before.at_us == 0 || wanting == 0) return;
    int64_t not_run_us = std::max<int64_t>(0, result.at_us - before.at_us - (result.cpu_us - before.cpu_us));
    int64_t longest_us = kHiddenDelayUs + 8 * wanting * result.cpu_us;
    result.delay_us = std::max(before.delay_us, std::min(before.delay_us + not_run_us, longest_us));
  }

  // Returns how much its delay has grown. The state is read first: if the thread does not wait then, the delay that is read
  // afterwards includes all its waits.
  int64_t read_thread(int directory, const char* name, int tid, bool is_main, bool states, const Sample& before, Sample& result) {
    char path[64], text[512];
    result.threads++;
    if (result.resident_bytes == 0) {  // not read yet; or the main thread has ended and shows no memory, but the process has some
      snprintf(path, sizeof path, "%s/statm", name);
      result.resident_bytes = resident_of(read_text(directory, path).c_str());
    }
    Fd another;
    if (states) {
      snprintf(path, sizeof path, "%s/stat", name);
      read_of_process(is_main ? stat_ : another, directory, path, text, sizeof text);
      const char* fields = fields_after_name(text);
      char state = *fields == ' ' ? fields[1] : '\0';
      result.runs |= state == 'R';
      result.waits |= state == 'D';
      another.reset();
    }
    snprintf(path, sizeof path, "%s/schedstat", name);
    read_of_process(is_main ? schedstat_ : another, directory, path, text, sizeof text);
    unsigned long long ran, waited;
    if (sscanf(text, "%llu %llu", &ran, &waited) != 2) return 0;
    std::pair<int, int64_t> now{tid, static_cast<int64_t>(waited / 1000)};
    auto known = std::lower_bound(before.delays.begin(), before.delays.end(), std::make_pair(now.first, int64_t{0}));
    bool same = known != before.delays.end() && known->first == now.first && known->second <= now.second;
    result.delays.push_back(now);
    return now.second - (same ? known->second : 0);
  }

  Fd tasks_, main_thread_;
  Fd statm_, io_, schedstat_, stat_;  // the last two of the main thread
};

}  // namespace runner
