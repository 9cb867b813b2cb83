// The calls that a contestant is refused: the kernel reports each to the runner, which answers.
#pragma once

#include "contestants.h"
#include "numbers.h"
#include "plan.h"
#include "processes.h"
#include "seccomp.h"
#include "system.h"

namespace runner {

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
  if (makes_timer(plan, call)) {
    if (!contestant.has_timers) contestant.kills_before = out_of_memory_kills();
    contestant.has_timers = true;
    uint32_t go_on = 1;  // SECCOMP_USER_NOTIF_FLAG_CONTINUE, Linux 5.5
    if (answer_call(contestant.listener, request, 0, go_on) || errno == ENOENT) return count_answer(contestant);
  }
  Refusal refusal = refusal_of(call);
  add_attempts(contestant.attempted, refusal.name, 1);
  if (refusal.deadly || refusal.killed_itself) {
    contestant.made_deadly_call |= refusal.deadly;
    contestant.killed_itself |= refusal.killed_itself;
    contestant.process.kill();
    return;
  }
  answer_call(contestant.listener, request, refusal.error);
  count_answer(contestant);
}

}  // namespace runner
