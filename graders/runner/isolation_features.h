// Which isolation is available here, found by trying, and the directory in which the runner works.
#pragma once

#include "decisions.h"
#include "descriptors.h"
#include "lines.h"
#include "pid_namespaces.h"
#include "seccomp.h"
#include "system.h"
#include "verdicts.h"

namespace runner {

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

inline bool has_capability(int capability) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> capability & 1) != 0;
}

// How many user ids are mapped here, and one of them that is not ours. The whole range means: no user namespace.
inline void read_uid_map(IsolationFeatures& can) {
  char text[4096];
  read_text(AT_FDCWD, "/proc/self/uid_map", text, sizeof text);
  unsigned long inside, outside, count, total = 0;
  can.contestant_uid = geteuid();
  for (char* line = text; sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3;) {
    total += count;
    for (unsigned long id : {inside + count - 1, inside}) {
      if (id != geteuid() && can.contestant_uid == geteuid()) can.contestant_uid = static_cast<uid_t>(id);
    }
    char* end = strchr(line, '\n');
    if (end == nullptr) break;
    line = end + 1;
  }
  can.uids = std::max(total, 1UL);
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
  char text[4096];
  read_text(AT_FDCWD, "/proc/self/net/dev", text, sizeof text);
  int interfaces = static_cast<int>(std::count(text, text + strlen(text), ':'));
  return interfaces == 0 || (interfaces == 1 && strstr(text, "lo:") != nullptr);
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
  auto pretended = [&](const char* what) { return ("," + without + ",").find(std::string(",") + what + ",") != std::string::npos; };
  Machine machine;
  IsolationFeatures& can = machine.can;
  read_uid_map(can);
  can.root = geteuid() == 0 && can.uids >= 4294967295UL;  // not the root of a user namespace
  if (most >= Isolation::Reduced) {
    can.landlock = std::max(0, static_cast<int>(syscall(kSysLandlockCreateRuleset, nullptr, 0, 1 /* VERSION */)));
    can.seccomp = action_available(SECCOMP_RET_KILL_PROCESS);
    can.notify = can.seccomp && action_available(SECCOMP_RET_USER_NOTIF) && succeeds_in_child(get_listener);
    if (pretended("landlock")) can.landlock = 0;
    if (pretended("notify")) can.notify = false;
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

}  // namespace runner
