// The calls that a contestant is refused: the kernel reports each to the runner, which answers.
#pragma once

#include "contestants.h"
#include "numbers.h"
#include "plan.h"
#include "processes.h"
#include "seccomp.h"
#include "system.h"

namespace runner {

// Whether a call sends a signal to the program itself.
inline bool sends_itself(int signal, const Contestant& contestant, const seccomp_data& call) {
  const CallRule* rule = call.arch == AUDIT_ARCH_X86_64 ? rule_of(call.nr) : nullptr;
  bool sends = rule != nullptr && rule->let == Let::SignalSelf && static_cast<int>(call.args[*rule->values.begin()]) == signal;
  pid_t own = contestant.pid_namespace.pid() > 0 ? PidNamespace::kOnlyProcess : contestant.process.pid;
  return sends && (static_cast<pid_t>(call.args[rule->arg]) == 0 || static_cast<pid_t>(call.args[rule->arg]) == own);
}

inline void count_answer(Contestant& contestant) {
  if (++contestant.refusals >= kMaxRefusals) contestant.listener.reset();
}

// Whether a call makes a timer that the program may have.
inline bool makes_timer(const Plan& plan, const seccomp_data& call) {
  int clock = static_cast<int>(call.args[0]);
  return call.arch == AUDIT_ARCH_X86_64 && call.nr == SYS_timer_create && plan.processes == 1 && plan.passes == 1 &&
         clock >= -8 /* its own */;
}

// Answers one call that the kernel reports.
inline void answer_refusal(const Plan& plan, Contestant& contestant) {
  Padded<seccomp_notif> request;
  if (!receive_call(contestant.listener, request)) return;
  const seccomp_data& call = request.fields.data;
  bool is_timer = makes_timer(plan, call), is_own_end = sends_itself(SIGTERM, contestant, call);
  if (is_timer && !contestant.has_timers) contestant.kills_before = out_of_memory_kills();
  contestant.has_timers |= is_timer;
  contestant.terminated_itself |= is_own_end;
  if (is_timer || is_own_end) {
    uint32_t go_on = 1;  // SECCOMP_USER_NOTIF_FLAG_CONTINUE, Linux 5.5
    if (answer_call(contestant.listener, request, 0, go_on) || errno == ENOENT) return count_answer(contestant);
  }
  Refusal refusal = refusal_of(call);
  add_attempts(contestant.attempted, refusal.name, 1);
  bool kills_itself = sends_itself(SIGKILL, contestant, call);
  if (refusal.deadly || kills_itself) {
    contestant.made_deadly_call |= refusal.deadly;
    contestant.killed_itself |= kills_itself;
    contestant.process.kill();
    return;
  }
  answer_call(contestant.listener, request, refusal.error);
  count_answer(contestant);
}

}  // namespace runner
