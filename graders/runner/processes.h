// Starting and ending processes; their clocks, privileges and limits.
#pragma once

#include "descriptors.h"
#include "lines.h"
#include "numbers.h"
#include "rules.h"

namespace runner {

// Waits for the end of a child, and returns its status.
inline int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

// How shells report a status.
inline int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// How much of a process's CPU time may be the cost of its page faults: at most kPageUs a fault, and at most its system time.
inline int64_t cost_of_pages_us(int64_t faults, int64_t system_us) { return std::min(faults * kPageUs, system_us); }

inline int64_t cpu_of(const rusage& usage) {
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000LL + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

// A child of ours: contestant, judge or step. It is killed at the latest when its object is destroyed.
struct Process {
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (!alive()) return;
    ::kill(pid, SIGKILL);
    wait_for(pid);
  }

  pid_t pid = 0;  // 0: not started
  Fd pidfd;
  bool ended = false;
  int status = 0;
  rusage usage = {};

  bool alive() const { return pid > 0 && !ended; }
  int code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : 0; }
  int signal() const { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }
  bool failed() const { return status != 0; }
  std::string how() const { return signal() != 0 ? format("signal %d", signal()) : format("exit code %d", code()); }
  int64_t cpu_us() const { return cpu_of(usage); }
  int64_t peak_bytes() const { return usage.ru_maxrss * 1024; }
  int64_t cost_of_pages_us() const {
    return runner::cost_of_pages_us(usage.ru_minflt + usage.ru_majflt, usage.ru_stime.tv_sec * 1'000'000LL + usage.ru_stime.tv_usec);
  }

  // By its pid, which is its own until we reap it: outer filters that know only older calls refuse pidfd_send_signal.
  void kill() {
    if (alive()) ::kill(pid, SIGKILL);
  }

  // Whether it has ended. With `wait`, waits for that.
  bool reap(bool wait) {
    if (!alive()) return ended;
    pid_t got;
    while ((got = wait4(pid, &status, wait ? 0 : WNOHANG, &usage)) < 0 && errno == EINTR) {
    }
    if (got < 0) system_fault("wait4");
    ended = got == pid;
    return ended;
  }
};

// Forks. Returns 0 in the child, which ends with the runner; a change of its user resets that. A process that has ended may be
// started again.
inline pid_t start(Process& process) {
  pid_t runner = getpid();
  int pidfd = -1;
  long pid = syscall(SYS_clone, static_cast<unsigned long>(SIGCHLD | CLONE_PIDFD), nullptr, &pidfd, nullptr, nullptr);
  if (pid < 0) system_fault("clone");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    pid_t parent = getppid();  // 0: the runner, outside of this process's PID namespace
    if (parent != runner && parent != 0) _exit(1);
  }
  if (pid > 0) {
    process.pid = static_cast<pid_t>(pid);
    process.pidfd = Fd(pidfd);
    process.ended = false;
  }
  return static_cast<pid_t>(pid);
}

// Whether this many threads can be started now. They belong to a process of its own, which ends them.
inline bool can_start_threads(long count) {
  Process process;
  if (start(process) > 0) return process.reap(true) && !process.failed();
  constexpr int kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  auto wait = [](void*) { return static_cast<int>(syscall(SYS_pause)); };
  std::vector<std::array<char, 1024>> stacks(static_cast<size_t>(count));
  for (auto& stack : stacks) {
    if (clone(wait, stack.end(), kFlags, nullptr) < 0 && is_machine_error(errno)) _exit(1);
  }
  _exit(0);
}

// Counts wall clock, at most kLongestTickUs between two looks: if the machine, the container or the job was paused, so was the
// runner, and that time does not count. A runner that only waited for a processor looks late too; then a program has a little
// more time.
class Stopwatch {
 public:
  // Returns the time from the start on.
  int64_t look(int64_t now) {
    elapsed_us_ += std::min(now - std::exchange(looked_us_, now), kLongestTickUs);
    return elapsed_us_;
  }
  int64_t elapsed_us() const { return elapsed_us_; }  // up to the last look
  int64_t looked_us() const { return looked_us_; }    // when that was

 private:
  int64_t looked_us_ = now_us(), elapsed_us_ = 0;
};

// Divides wall clock into work and waiting, piece by piece. Work counts at most as long as the piece lasts: processes that work, or wait
// for a processor, at the same time have more CPU time and run-queue delay together than wall clock. It counts at least 0: the CPU time
// falls if a look misses a process.
class WaitClock {
 public:
  // Ends a piece, and returns how much of it was waiting. Both times count from the start; `busy_us`: CPU time and run-queue delay.
  int64_t end_piece(int64_t wall_us, int64_t busy_us) {
    int64_t before = std::exchange(waited_us_, waited_us(wall_us, busy_us));
    ended_us_ = wall_us;
    busy_us_ = busy_us;
    return waited_us_ - before;
  }
  // How much of all wall clock was waiting, with the piece that has not ended.
  int64_t waited_us(int64_t wall_us, int64_t busy_us) const {
    int64_t worked = std::max<int64_t>(0, busy_us - busy_us_);
    return waited_us_ + std::max<int64_t>(0, wall_us - ended_us_ - worked);
  }
  int64_t ended_us() const { return ended_us_; }  // when the last piece ended

 private:
  int64_t ended_us_ = 0, busy_us_ = 0, waited_us_ = 0;
};

inline int64_t cpu_clock_us(pid_t pid) {
  timespec t;
  clockid_t clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2u);  // as clock_getcpuclockid(3)
  return clock_gettime(clock, &t) == 0 ? t.tv_sec * 1'000'000LL + t.tv_nsec / 1000 : 0;
}

// Calls f(directory, name) for each entry of a directory, without allocating.
template <typename F>
void each_entry(int directory, F f) {
  alignas(8) char buffer[2048];
  long n;
  while ((n = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < n;) {
      const char* record = buffer + at;
      uint16_t length;
      memcpy(&length, record + 16, sizeof length);
      const char* name = record + 19;
      if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) f(directory, name);
      at += length;
    }
  }
}

// Makes all inherited descriptors close-on-exec, so that no child gets one by accident.
inline void close_on_exec() {
  if (syscall(kSysCloseRange, 3, ~0U, 4 /* CLOEXEC */) == 0) return;
  Fd directory(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) system_fault("open /proc/self/fd");
  each_entry(directory.get(), [](int, const char* name) {
    if (atoi(name) > 2) fcntl(atoi(name), F_SETFD, FD_CLOEXEC);
  });
}

// Opens a file of /proc; an empty Fd if the process has ended. If there are no descriptors left, it is a fault: a limit could not be
// enforced.
inline Fd open_of_process(int directory, const char* path, int flags = 0) {
  Fd file(openat(directory, path, O_RDONLY | O_CLOEXEC | flags));
  if (!file && is_machine_error(errno)) system_fault("open %s", path);
  return file;
}

// All descendants of a process, nearest first. Orphans of theirs are found below the runner or below PID 1 of their namespace.
inline std::vector<pid_t> descendants(pid_t root) {
  std::vector<pid_t> pids{root};
  for (size_t i = 0; i < pids.size(); i++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pids[i]);
    Fd tasks = open_of_process(AT_FDCWD, path, O_DIRECTORY);
    if (!tasks) continue;
    each_entry(tasks.get(), [&](int directory, const char* tid) {
      snprintf(path, sizeof path, "%s/children", tid);
      std::string text = read_text(open_of_process(directory, path));
      for (char* word = strtok(&text[0], " "); word != nullptr; word = strtok(nullptr, " ")) pids.push_back(atoi(word));
    });
  }
  pids.erase(pids.begin());
  return pids;
}

// Without the kernel's lists `descendants` would find nothing: no limit would hold for the processes that compilers and managers
// start, and none of them would be ended.
inline void require_lists_of_children(const char* list = "/proc/thread-self/children") {
  if (!Fd(open(list, O_RDONLY | O_CLOEXEC))) system_fault("open %s (does the kernel lack CONFIG_PROC_CHILDREN?)", list);
}

// Kills and reaps every descendant that is not listed: processes that judges and steps left behind. Returns their CPU time in us.
// A process that is killed may have started others meanwhile, so it looks again until none is left. Those that are in `group` are
// killed at once, so that they cannot start others faster than they are found.
inline int64_t kill_leftovers(const std::vector<pid_t>& keep, pid_t group = 0) {
  int64_t cpu_us = 0;
  for (int round = 0; round < 1000; round++) {
    std::vector<pid_t> left = descendants(getpid());
    left.erase(std::remove_if(left.begin(), left.end(),
                                [&](pid_t pid) { return std::find(keep.begin(), keep.end(), pid) != keep.end(); }),
                 left.end());
    if (left.empty()) return cpu_us;
    if (group > 0) kill(-group, SIGKILL);
    for (pid_t pid : left) kill(pid, SIGKILL);
    for (pid_t pid : left) {
      rusage usage;
      if (wait4(pid, nullptr, 0, &usage) == pid) cpu_us += cpu_of(usage);
    }
  }
  return cpu_us;
}

inline void set_limit(__rlimit_resource_t resource, rlim_t value) {
  rlimit limit = {value, value};
  rlimit current;
  // An existing lower limit stays, because not every user can raise it, and nothing needs it to be raised.
  if (setrlimit(resource, &limit) != 0 && getrlimit(resource, &current) == 0) {
    current.rlim_cur = std::min(value, current.rlim_max);
    setrlimit(resource, &current);
  }
}

// The threads that RLIMIT_NPROC counts in addition to a job's own: none in our own user namespace since Linux 5.14, else
// all threads of its user. We do not count these, but take an upper bound: the machine's threads now, and a number for new ones.
inline rlim_t threads_of_other_processes(bool full) {
  utsname system;
  int major = 0, minor = 0;
  bool known = uname(&system) == 0 && sscanf(system.release, "%d.%d", &major, &minor) == 2;
  if (full && known && (major > 5 || (major == 5 && minor >= 14))) return 0;
  long threads = 0;
  if (sscanf(read_text(AT_FDCWD, "/proc/loadavg").c_str(), "%*s %*s %*s %*d/%ld", &threads) != 1) return RLIM_INFINITY / 2;
  return static_cast<rlim_t>(threads) + kMoreThreadsOfOthers;
}

inline rlim_t cpu_backstop_s(int64_t ms) { return static_cast<rlim_t>(ms / 1000 + 2); }

// A child's signals at its start: none blocked, none ignored, none handled.
inline void plain_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < 65; number++) {
    if (number != SIGKILL && number != SIGSTOP) sigaction(number, &standard, nullptr);
  }
}

inline bool has_capability(int capability) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> capability & 1) != 0;
}

// Drops everything by which root's privileges (in any namespace) could be regained.
inline bool drop_privileges(uid_t uid) {
  bool privileged = has_capability(CAP_SETPCAP);
  if (privileged) {
    for (int capability = 0; capability < 64; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    prctl(PR_SET_SECUREBITS, 0x3f, 0, 0, 0);  // NOROOT, NO_SETUID_FIXUP, KEEP_CAPS, each with its lock
  }
  if (uid != geteuid()) {
    gid_t gid = static_cast<gid_t>(uid);
    if (setgroups(0, nullptr) != 0 && getgroups(0, nullptr) > 0) return false;
    if (setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) return false;
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct nothing[2] = {};
  if (syscall(SYS_capset, &header, nothing) != 0) return false;
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// What exec takes: pointers to texts, and a null pointer.
inline std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(&text[0]);
  pointers.push_back(nullptr);
  return pointers;
}

// Moves descriptors to their numbers, in two steps, because a source may have the number of another target. -1: there is none.
inline bool place_descriptors(std::vector<std::pair<int, int>> moves, int closed_on_exec_from) {
  for (auto& [from, to] : moves) {
    if (from >= 0 && (from = fcntl(from, F_DUPFD_CLOEXEC, 256)) < 0) return false;
  }
  for (auto [from, to] : moves) {
    if (from >= 0 && dup3(from, to, to >= closed_on_exec_from ? O_CLOEXEC : 0) != to) return false;
  }
  return true;
}

}  // namespace runner
