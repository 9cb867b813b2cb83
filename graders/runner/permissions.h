// What a contestant may use: its resource limits, and the paths that Landlock grants it.
#pragma once

#include "descriptors.h"
#include "job.h"
#include "landlock.h"
#include "numbers.h"
#include "plan.h"
#include "processes.h"
#include "system.h"

namespace runner {

// The threads that RLIMIT_NPROC counts in addition to a contestant's own: none in our own user namespace since Linux 5.14, else
// all threads of its user. We do not count these, but take an upper bound: the machine's threads now, and a number for new ones.
inline rlim_t threads_of_other_processes(bool full) {
  utsname system;
  int major = 0, minor = 0;
  bool known = uname(&system) == 0 && sscanf(system.release, "%d.%d", &major, &minor) == 2;
  if (full && known && (major > 5 || (major == 5 && minor >= 14))) return 0;
  char text[128];
  long threads = 0;
  read_text(AT_FDCWD, "/proc/loadavg", text, sizeof text);
  if (sscanf(text, "%*s %*s %*s %*d/%ld", &threads) != 1) return RLIM_INFINITY / 2;
  return static_cast<rlim_t>(threads) + kMoreThreadsOfOthers;
}

// All limits except that of descriptors, which is set last. None on CPU time: for that limit the kernel counts a whole tick for a
// process that runs at the tick. A program that runs only then is killed after little CPU time, as if the machine had killed it.
inline std::vector<std::pair<__rlimit_resource_t, rlim_t>> contestant_limits(const Plan& plan, bool full) {
  rlim_t memory = static_cast<rlim_t>(plan.memory_bytes);
  // The kernel counts NPROC and SIGPENDING for a user id, so a sibling could find out how much the other one uses. So with
  // siblings they are 0 or unlimited. Polling counts threads; NPROC stops a sudden burst of them, which on a busy machine could
  // use up all ids before the next poll. (Under reduced isolation siblings could do this, but there they get no threads.)
  bool siblings = plan.processes > 1;
  std::vector<std::pair<__rlimit_resource_t, rlim_t>> limits{
      {RLIMIT_CORE, kNoCore},
      {RLIMIT_STACK, RLIM_INFINITY},
      {RLIMIT_AS, std::max(2 * memory + (rlim_t{1} << 30), memory + (rlim_t{4} << 30))},
      // Polling enforces the output limit. FSIZE must be higher, because stderr is cut only at every tick and grows in between.
      {RLIMIT_FSIZE, static_cast<rlim_t>(plan.output_bytes + kFileSlackBytes)},
      {RLIMIT_MEMLOCK, 0},
      {RLIMIT_MSGQUEUE, 0},
      // (A timer takes one of the pending signals: a thousand timers would use CPU time that is charged to no process.)
      {RLIMIT_SIGPENDING, siblings ? 0 : kWaitingSignals}};
  if (!siblings) limits.emplace_back(RLIMIT_NPROC, static_cast<rlim_t>(plan.threads) + 200 + threads_of_other_processes(full));
  return limits;
}

// Grants access to the paths that all tests use. `root`: the contestant's root directory, as the caller sees it.
inline void grant_system(const Plan& plan, Landlock& landlock, const std::string& root) {
  auto grant = [&](const std::string& path, uint64_t rights) { landlock.grant((root + path).c_str(), rights); };
  grant("/dev/null", right::ReadFile | right::WriteFile | right::Truncate);
  for (const char* device : {"/dev/random", "/dev/urandom"}) grant(device, right::ReadFile);
  for (const std::string& path : plan.sees) grant(path, right::Read | right::Execute);
}

inline void grant_scratch(const Job& job, Landlock& landlock, const char* path) {
  uint64_t scratch = right::Read | right::WriteFile | right::Truncate;
  // If siblings (or passes) share a file system, it numbers their files from one counter.
  bool names_files = job.plan.names_files(), alone = job.plan.processes == 1 && job.plan.passes == 1;
  if (!names_files && (job.full() || alone)) scratch |= right::MakeReg;
  if (!names_files && job.full()) scratch |= right::RemoveFile | right::MakeDir | right::RemoveDir | right::Refer;
  landlock.grant(path, scratch);
}

inline void grant_fifos(const Plan& plan, Landlock& landlock, const ProcessDirectories& directories) {
  if (!plan.shows_fifos()) return;
  if (!directories.inside_in.empty()) landlock.grant(directories.inside_in.c_str(), right::ReadFile);
  if (!directories.inside_out.empty()) landlock.grant(directories.inside_out.c_str(), right::WriteFile | right::Truncate);
}

}  // namespace runner
