// Contestants: what the runner knows about each, and its output.
#pragma once

#include "descriptors.h"
#include "isolation_features.h"
#include "job.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "proc_files.h"
#include "processes.h"
#include "verdicts.h"

namespace runner {

// Refused calls by name, with their counts.
using Attempts = std::vector<std::pair<std::string, int>>;

// Counts refused calls under their name. (A line has a bounded length, so further names are left out.)
inline void add_attempts(Attempts& attempted, const std::string& name, int count) {
  auto known = std::find_if(attempted.begin(), attempted.end(), [&](const auto& entry) { return entry.first == name; });
  if (known != attempted.end()) {
    known->second += count;
  } else if (attempted.size() < kMaxNames) {
    attempted.emplace_back(name, count);
  }
}

struct Contestant {
  size_t index = 0;
  PidNamespace pid_namespace;
  Process process;  // after the namespace, whose end waits for it
  Fd control, listener, output, errors, report;
  Fd program;            // only with a file `with`: what the interpreter reads. We share the offset, which shows whether it has read it
  bool ready = false;    // its child is about to exec
  bool started = false;  // the exec has happened
  int64_t started_us = 0, ended_us = 0;
  int64_t spent_before_us = 0;    // CPU time before the exec, which does not count
  ProcFiles files;
  Sample last;                    // the last look at it
  int64_t peak_bytes = 0;         // as polled; wait4 gives the final value
  int64_t written_bytes = 0;      // of the output file, if it has a name
  bool left_output = true;        // whether there is an output
  Limit limit = Limit::None;      // the rule that stopped it
  bool not_executable = false;    // the kernel refuses to execute it because of the file's content
  bool made_deadly_call = false;  // a call that ends the program (SV)
  bool killed_itself = false;     // it called for its own SIGKILL, which the runner then sent
  bool terminated_itself = false;  // it called for SIGTERM, which it may
  bool has_timers = false;        // it has timers, which can send any signal
  long long kills_before = 0;     // the kernel's count of out-of-memory kills before it could send itself a SIGKILL
  bool stopped_for_others = false;  // by us, because of another process
  int refusals = 0;
  int looks = 0;
  Attempts attempted;

  // Whether its interpreter has ended by itself before it read the program. Nothing of the program has run then.
  bool ended_before_reading() const {
    return program && started && !stopped_for_others && limit == Limit::None && lseek(program.get(), 0, SEEK_CUR) == 0;
  }

  int64_t cpu_us() const {
    int64_t cpu = process.ended ? process.cpu_us() : last.cpu_us;
    return std::max<int64_t>(0, cpu - spent_before_us);
  }
};

// Opens the file that becomes its stdout.
inline int open_output(const RunPlan& plan, const Contestant& contestant) {
  return plan.output_file.empty() ? reopen(contestant.output.get(), O_WRONLY) : open("/dev/null", O_WRONLY | O_CLOEXEC);
}

// The output file's content becomes the output, as if it had been printed. Called after the end of all possible writers.
inline void collect_output(const RunPlan& plan, Contestant& contestant, const ProcessDirectories& directories) {
  struct stat status;
  Fd file = find_output(directories, plan.output_file, status);
  contestant.left_output = file && (status.st_mtim.tv_sec != 0 || status.st_size > 0);
  contestant.written_bytes = file ? status.st_size : 0;
  if (!contestant.left_output || contestant.written_bytes > plan.output_bytes) return;
  chmod(format("/proc/self/fd/%d", file.get()).c_str(), 0400);  // its mode may forbid reading even to its owner
  Fd readable(reopen(file.get(), O_RDONLY));
  if (!readable || !copy_bytes(readable.get(), contestant.output.get())) system_fault("read an output file");
}

// CPU time plus run-queue delay: how long a process was not idle. Threads can make it more than the wall clock (`WaitClock`).
inline int64_t busy_us(const Process& process, const Sample& last) {
  return (process.ended ? std::max(process.cpu_us(), last.cpu_us) : last.cpu_us) + last.delay_us;
}

}  // namespace runner
