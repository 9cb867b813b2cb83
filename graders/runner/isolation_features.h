// Which isolation is available here, found by trying: PID namespaces, calls that an outer filter hides, the runner's directory.
#pragma once

#include "descriptors.h"
#include "lines.h"
#include "processes.h"
#include "seccomp.h"
#include "system_calls.h"
#include "verdicts.h"

namespace runner {

// A PID namespace for one process. Its PID 1 does nothing; when it is killed, all processes in the namespace die.
// The process itself must not be PID 1: signals to PID 1 have no effect, not even those of abort().
class PidNamespace {
 public:
  PidNamespace() = default;
  ~PidNamespace() { end(); }
  PidNamespace(const PidNamespace&) = delete;
  PidNamespace& operator=(const PidNamespace&) = delete;

  // Children that are started from here to `leave` are in the new namespace. `own`: the runner's.
  bool enter(const Fd& own) {
    runner_ = Fd(static_cast<int>(syscall(kSysPidfdOpen, getpid(), 0)));
    if (unshare(CLONE_NEWPID) != 0) return false;
    // It shares our memory and our descriptors: nothing is copied, and no copy keeps a descriptor open.
    pid_ = clone(&PidNamespace::sleep, stack_ + sizeof stack_, CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD, this);
    if (pid_ > 0) return true;
    bool is_machine_full = is_machine_error(errno);
    leave(own);
    if (is_machine_full) fault(FaultKind::System, "no process can be started for a PID namespace: is there memory left?");
    return false;
  }

  static void leave(const Fd& own) {
    if (setns(own.get(), CLONE_NEWPID) != 0) system_fault("setns");
  }

  // Called only after all our children in it are reaped, because its end waits for them.
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    wait_for(pid_);
    pid_ = 0;
  }

  pid_t pid() const { return pid_; }

  static constexpr pid_t kOnlyProcess = 2;  // the id of the process that is started in it, as that process itself sees it

 private:
  static int sleep(void* pid_namespace) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // The runner may have died before. In this namespace its pid is not visible, so it is checked by its pidfd.
    pollfd runner = {static_cast<const PidNamespace*>(pid_namespace)->runner_.get(), POLLIN, 0};
    if (syscall(SYS_poll, &runner, 1, 0) == 1 && (runner.revents & POLLIN) != 0) syscall(SYS_exit_group, 0);
    for (;;) syscall(SYS_pause);
  }

  pid_t pid_ = 0;
  Fd runner_;                     // its pidfd
  alignas(16) char stack_[4096];  // of PID 1
};

constexpr unsigned long kAllUids = 4294967295;

// What isolation is available here.
struct IsolationFeatures {
  bool userns = false, pidns = false, mountns = false, netns = false;  // namespaces that programs can be given
  bool boxed = false;  // an outer box (bwrap) gave us namespaces and a root directory without the host's files
  bool root = false;   // the machine's root: contestants would have the same user id as we
  int landlock = 0;  // the kernel's ABI; 0: none
  bool seccomp = false, notify = false;
  unsigned long uids = 1;
  uid_t contestant_uid = 0;  // differs from ours only if several user ids are mapped
  CallSet hidden;            // calls that are not reported to the listener
  Isolation isolation = Isolation::None;
};

// What the machine offers, and the runner's own directory.
struct Machine {
  IsolationFeatures can;
  Fd own_pidns;
  std::string base;  // full: our own tmpfs. reduced: a directory to which we may write.

  bool full() const { return can.isolation == Isolation::Full; }
};

// How many user ids are mapped here, and one of them that is not ours. The whole range means: no user namespace. So does a kernel
// without CONFIG_USER_NS, which does not have the file.
inline void read_uid_map(IsolationFeatures& can) {
  unsigned long inside, outside, count, total = 0;
  can.contestant_uid = geteuid();
  for (const std::string& line : split(read_text(AT_FDCWD, "/proc/self/uid_map"), '\n')) {
    if (sscanf(line.c_str(), "%lu %lu %lu", &inside, &outside, &count) != 3) break;
    total += count;
    for (unsigned long id : {inside + count - 1, inside}) {
      if (id != geteuid() && can.contestant_uid == geteuid()) can.contestant_uid = static_cast<uid_t>(id);
    }
  }
  can.uids = total > 0 ? total : kAllUids;
}

// For an ordinary user outside of any box: creates our own namespaces, if the system allows it. The caller continues as PID 1
// of a PID namespace, while the original process waits for its end.
inline bool enter_own_namespaces() {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0) return false;
  write_text("/proc/self/setgroups", "deny");
  if (!write_text("/proc/self/uid_map", format("0 %u 1", uid).c_str())) return false;
  if (!write_text("/proc/self/gid_map", format("0 %u 1", gid).c_str())) return false;
  pid_t child = fork();
  if (child < 0) system_fault("fork");
  if (child > 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // new credentials may have reset it
    _exit(exit_code_of(wait_for(child)));
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

// A mount namespace with a tmpfs of ours in /tmp.
inline bool make_base(std::string& base) {
  if (unshare(CLONE_NEWNS) != 0) return false;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (mount("ioi-eval", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1g,nr_inodes=65536,mode=711") != 0) return false;
  base = "/tmp";
  return true;
}

// Whether we can enter new PID namespaces and return to our own. The capabilities alone do not show this: our PID namespace may
// belong to another user namespace, and then we could not return to it.
inline bool can_make_pid_namespaces(Fd& own) {
  own = Fd(open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (!own || setns(own.get(), CLONE_NEWPID) != 0) return false;
  PidNamespace pid_namespace;
  if (!pid_namespace.enter(own)) return false;
  PidNamespace::leave(own);
  return true;
}

inline bool has_no_network() {
  std::string text = read_text(AT_FDCWD, "/proc/self/net/dev");
  auto interfaces = std::count(text.begin(), text.end(), ':');
  return interfaces == 0 || (interfaces == 1 && text.find("lo:") != std::string::npos);
}

// Whether something succeeds that cannot be undone: a child tries it. If the machine has no memory or process left for this, nothing
// is known, and that is a fault.
inline bool succeeds_in_child(bool (*attempt)()) {
  constexpr int kLacking = 2, kKilled = 128 + SIGKILL;
  pid_t child = fork();
  if (child < 0) system_fault("fork");
  if (child == 0) {
    try {
      _exit(attempt() ? 0 : 1);
    } catch (const Fault&) {
      _exit(kLacking);
    }
  }
  int code = exit_code_of(wait_for(child));
  if (code == kLacking || code == kKilled) fault(FaultKind::System, "no process could be started, or it was killed: is there memory left?");
  return code == 0;
}

// Of all filters of a process only one can have a listener, and our parent may have installed one already.
inline bool get_listener() noexcept {
  std::vector<sock_filter> code{{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && install_filter(code, true) >= 0;
}

inline bool action_available(uint32_t action) {
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// Whether all of the namespaces can be created, and not only some.
inline bool enter_all_namespaces() {
  Machine tried;
  return enter_own_namespaces() && make_base(tried.base) && can_make_pid_namespaces(tried.own_pidns);
}

// `most` is the strongest isolation that is tried; `without` names features that are treated as missing, for tests.
inline Machine find_machine(Isolation most, const std::string& without) {
  auto is_disabled = [&](const char* what) { return ("," + without + ",").find(std::string(",") + what + ",") != std::string::npos; };
  Machine machine;
  IsolationFeatures& can = machine.can;
  read_uid_map(can);
  can.root = geteuid() == 0 && can.uids >= kAllUids;  // not the root of a user namespace
  if (most >= Isolation::Reduced) {
    can.landlock = std::max(0, static_cast<int>(syscall(kSysLandlockCreateRuleset, nullptr, 0, 1 /* VERSION */)));
    can.seccomp = action_available(SECCOMP_RET_KILL_PROCESS);
    can.notify = can.seccomp && action_available(SECCOMP_RET_USER_NOTIF) && succeeds_in_child(get_listener);
    if (is_disabled("landlock")) can.landlock = 0;
    if (is_disabled("notify")) can.notify = false;
  }
  if (most == Isolation::Full && !can.root) {
    can.boxed = has_capability(CAP_SYS_ADMIN) && can_make_pid_namespaces(machine.own_pidns);
    can.userns = can.boxed || (succeeds_in_child(enter_all_namespaces) && enter_own_namespaces());
    if (can.userns && !can.boxed) read_uid_map(can);
    can.netns = can.userns && (!can.boxed || has_no_network());
    can.mountns = can.userns && make_base(machine.base);
    can.pidns = can.mountns && can_make_pid_namespaces(machine.own_pidns);
  }
  if (can.root) {
    can.isolation = Isolation::None;
  } else if (can.pidns && can.seccomp) {
    can.isolation = Isolation::Full;
  } else if (can.landlock >= 1 && can.seccomp) {
    can.isolation = Isolation::Reduced;
  }
  if (!has_capability(CAP_SETUID)) can.contestant_uid = geteuid();
  return machine;
}

// The base directory without our own tmpfs: the working directory if we may write to it, else /tmp. Names in it are random.
inline void find_base(Machine& machine) {
  if (!machine.base.empty()) return;
  char here[PATH_MAX];
  for (const char* candidate : {static_cast<const char*>(getcwd(here, sizeof here)), "/tmp"}) {
    if (candidate == nullptr || access(candidate, W_OK | X_OK) != 0) continue;
    machine.base = candidate;
    return;
  }
  fault(FaultKind::System, "neither the working directory nor /tmp can be written");
}

// If a process has several filters, the strictest answer counts, and an error from an outer filter is stricter than our "ask
// the listener": such a call is never reported to us. So we must know for which calls this is the case. A child tries them
// under a filter that asks the listener for each; none is carried out.
class HiddenCalls {
 public:
  CallSet found() {
    if (!is_filtered()) return {};
    void* shared = mmap(nullptr, sizeof(Asking), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) system_fault("mmap");
    asking_ = static_cast<Asking*>(shared);
    for (long from = 0; from < kCalls;) from = ask(from);
    munmap(shared, sizeof(Asking));
    CallSet hidden;
    for (long number = 0; number < kCalls; number++) {
      hidden.has[number] = reported_[number] < times(number);
    }
    return hidden;
  }

 private:
  struct Asking {
    volatile int listener;  // a number in the shared table of descriptors; 0: not yet there
    volatile long number;   // the call that is being made
  };

  static bool is_filtered() {
    std::string text = read_text(AT_FDCWD, "/proc/self/status");
    size_t at = text.find("\nSeccomp:");
    return at == std::string::npos || atoi(text.c_str() + at + strlen("\nSeccomp:")) != 0;
  }

  // How often a call is tried. A deadly call is tried with several arguments, because a filter may depend on them. Calls that
  // never go to the listener need not be tried.
  static int times(long number) {
    if (number == 335 || number == 336) return 0;  // of the kernel's own trampolines (uprobes): no filter sees them
    const CallRule* rule = rule_of(number);
    if (rule == nullptr) return number < kLastCall ? 1 : 0;
    if (rule->let == Let::Deadly) return 2;
    bool always = rule->let == Let::Always && rule->where == Where::Everywhere;
    return rule->noted && !always ? 1 : 0;
  }

  // Returns where to continue: after the last call, or after a call for which the outer filter killed the child.
  long ask(long from) {
    asking_->listener = 0;
    asking_->number = from;
    int pidfd = -1;
    Process child;
    child.pid = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD | CLONE_FILES | CLONE_PIDFD, nullptr, &pidfd, nullptr, nullptr));
    if (child.pid < 0) system_fault("clone");
    if (child.pid == 0) make_calls(from);
    child.pidfd = Fd(pidfd);
    while (asking_->listener == 0 && !child.reap(false)) sched_yield();
    Fd listener(asking_->listener > 0 ? asking_->listener : -1);
    while (!child.ended) {
      pollfd ready[2] = {{listener.get(), POLLIN, 0}, {child.pidfd.get(), POLLIN, 0}};
      poll(ready, 2, -1);
      if ((ready[0].revents & POLLIN) != 0) {
        count(listener);
      } else {
        child.reap(false);
      }
    }
    return child.signal() != 0 ? asking_->number + 1 : kCalls;
  }

  void count(const Fd& listener) {
    Padded<seccomp_notif> request;
    if (!receive_call(listener, request)) return;
    int number = request.fields.data.nr;
    if (number >= 0 && number < kCalls) reported_[number]++;
    answer_call(listener, request, ENOSYS);
  }

  [[noreturn]] void make_calls(long from) noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    std::vector<sock_filter> code{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                                  {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_exit_group},
                                  {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
                                  {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF}};
    int listener = install_filter(code, true);
    if (listener < 0) _exit(1);  // nothing is tried, so all calls count as hidden
    asking_->listener = listener;
    for (long number = from; number < kCalls; number++) {
      int tries = times(number);
      asking_->number = number;
      if (tries > 0) syscall(number, 0, 0, 0, 0, 0, 0);
      if (tries > 1) syscall(number, CLONE_NEWUSER, 1, 1, 1, 1, 1);
    }
    _exit(0);
  }

  Asking* asking_ = nullptr;
  int reported_[kCalls] = {};
};

inline void find_hidden_calls(IsolationFeatures& can) {
  if (can.notify) can.hidden = HiddenCalls().found();
}

}  // namespace runner
