// Calls that an outer filter, such as a container's, answers before ours.
#pragma once

#include "decisions.h"
#include "descriptors.h"
#include "isolation_features.h"
#include "lines.h"
#include "processes.h"
#include "seccomp.h"
#include "system.h"
#include "system_calls.h"

namespace runner {

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
    std::string text = read_long_text(AT_FDCWD, "/proc/self/status");
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
