// PID namespaces that live as long as one process of one test.
#pragma once

#include "descriptors.h"
#include "lines.h"
#include "system.h"

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

}  // namespace runner
