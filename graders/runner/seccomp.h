// The seccomp filters that are made from the table of system calls, the meaning of a refusal, and the listener.
#pragma once

#include "call_decisions.h"
#include "descriptors.h"
#include "lines.h"
#include "system_calls.h"

namespace runner {

// A set of calls, by their numbers.
struct CallSet {
  bool has[kCalls] = {};

  bool any() const { return std::any_of(has, has + kCalls, [](bool is) { return is; }); }
};

// A seccomp filter from the table. The kernel compiles it for every contestant, and executes it once for each existing call, to
// remember those that are always allowed. Therefore it is a tree: a call's decision is reached in nine steps rather than
// hundreds. It is written from its end, because jumps lead forward. Jumps do not reach far, so a decision is written again
// if no copy of it is near.
class FilterWriter {
 public:
  // `unlisted`: about calls before `last` that have no rule; `newer`: about those after it.
  FilterWriter(const FilterKind& kind, const std::vector<CallRule>& rules, const CallSet& hidden, long last, const CallRule& unlisted,
               const CallRule& newer) {
    size_t decided[kCalls];
    std::fill(decided, decided + kCalls, number_of(decision(kind, newer, hidden.any())));
    size_t unnamed = number_of(decision(kind, unlisted, false));
    for (long number = 0; number < last; number++) {
      if (!hidden.has[number]) decided[number] = unnamed;
    }
    for (const CallRule& rule : rules) {
      size_t usual = number_of(decision(kind, rule, false)), if_hidden = number_of(decision(kind, rule, true));
      for (const CallName& call : rule.calls) decided[call.number] = hidden.has[call.number] ? if_hidden : usual;
    }
    size_t foreign = number_of(decision(kind, kForeignAbi, hidden.any()));
    for (long number = 0; number < kCalls; number++) {
      if (number == 0 || decided[number] != decided[number - 1]) ranges_.push_back({number, decided[number]});
    }
    near_.assign(pieces_.size(), kNowhere);
    size_t tree = node(0, ranges_.size());
    size_t end = leaf(foreign);
    test(BPF_JGE, 0x40000000 /* x32 */, end, tree);
    put(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    test(BPF_JEQ, AUDIT_ARCH_X86_64, back_.size() - 1, end);
    put(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
    filter.code.assign(back_.rbegin(), back_.rend());
    for (size_t& at : filter.self) at = filter.code.size() - 1 - at;
  }

  Filter filter;

 private:
  static constexpr size_t kNowhere = static_cast<size_t>(-1), kNear = 100, kFarthest = 255;

  // Numbers in a row that share a decision.
  struct Range {
    long first;
    size_t piece;
  };

  size_t number_of(const Filter& piece) {
    auto known = std::find(pieces_.begin(), pieces_.end(), piece);
    if (known == pieces_.end()) known = pieces_.insert(known, piece);
    return static_cast<size_t>(known - pieces_.begin());
  }

  // These return the beginning of what they wrote, counted from the filter's end.
  size_t node(size_t from, size_t to) {
    if (to - from == 1) return leaf(ranges_[from].piece);
    size_t middle = from + (to - from) / 2;
    size_t above = node(middle, to), below = node(from, middle);
    return test(BPF_JGE, static_cast<uint32_t>(ranges_[middle].first), above, below);
  }

  size_t leaf(size_t number) {
    if (near_[number] != kNowhere && back_.size() - near_[number] < kNear) return near_[number];
    const Filter& piece = pieces_[number];
    size_t end = back_.size() + piece.code.size() - 1;
    for (size_t at : piece.self) filter.self.push_back(end - at);
    back_.insert(back_.end(), piece.code.rbegin(), piece.code.rend());
    return near_[number] = end;
  }

  size_t test(int comparison, uint32_t constant, size_t yes, size_t no) {
    if (distance(no) >= kFarthest) no = jump(no);
    if (distance(yes) >= kFarthest) yes = jump(yes);
    return put(BPF_JMP | comparison | BPF_K, constant, static_cast<uint8_t>(distance(yes)), static_cast<uint8_t>(distance(no)));
  }

  size_t jump(size_t target) { return put(BPF_JMP | BPF_JA, static_cast<uint32_t>(distance(target))); }

  // How far a jump goes that is written next.
  size_t distance(size_t target) const { return back_.size() - 1 - target; }

  size_t put(int op, size_t k, uint8_t yes = 0, uint8_t no = 0) {
    back_.push_back({static_cast<uint16_t>(op), yes, no, static_cast<uint32_t>(k)});
    return back_.size() - 1;
  }

  std::vector<Filter> pieces_;
  std::vector<Range> ranges_;
  std::vector<size_t> near_;  // where each piece was last written
  std::vector<sock_filter> back_;
};

// A call in the table, with its rule; null pointers if it is not there.
inline std::pair<const CallRule*, const CallName*> entry_of(long number) {
  for (const CallRule& rule : kCallRules) {
    for (const CallName& call : rule.calls) {
      if (call.number == number) return {&rule, &call};
    }
  }
  return {nullptr, nullptr};
}

inline const CallRule* rule_of(long number) { return entry_of(number).first; }

// Numbers that are no call share a name, because a program could try so many of them that a run's results fill the memory.
inline std::string name_of_call(long number) {
  if (number >= kCalls) return "unknown_call";
  const CallName* call = entry_of(number).second;
  return call != nullptr ? call->name : format("syscall_%ld", number);
}

// The table's rule for a call that was refused.
struct Refusal {
  std::string name;
  int error;
  bool deadly;
};

inline Refusal refusal_of(const seccomp_data& data) {
  bool is_foreign = data.arch != AUDIT_ARCH_X86_64 || static_cast<uint32_t>(data.nr) >= 0x40000000;
  const CallRule* listed = rule_of(data.nr);
  const CallRule& rule = is_foreign ? kForeignAbi : listed != nullptr ? *listed : kUnlisted;
  return {is_foreign ? "foreign_abi" : name_of_call(data.nr), rule.error, rule.let == Let::Deadly};
}

// The filter of a contestant. `hidden`: the calls that the listener never receives.
inline Filter contestant_filter(const FilterKind& kind, const CallSet& hidden) {
  std::vector<CallRule> rules(std::begin(kCallRules), std::end(kCallRules));
  return FilterWriter(kind, rules, hidden, kLastCall, kUnlisted, kUnlisted).filter;
}

// The filter of a step. A program's text can make a compiler execute other code: rustc lets a program give any arguments to the
// linker. `trusted`: the step builds a judge program by its author's script.
inline std::vector<sock_filter> step_filter(bool trusted) {
  std::vector<CallRule> rules(std::begin(kStepRules), std::end(kStepRules));
  if (!trusted) rules.insert(rules.end(), std::begin(kMoreStepRules), std::end(kMoreStepRules));
  for (CallRule rule : kCallRules) {
    if (rule.let != Let::Deadly) continue;
    rule.let = Let::Never;
    rules.push_back(rule);
  }
  return FilterWriter({}, rules, {}, kLastStepCall, kAllowed, trusted ? kAllowed : kUnlisted).filter.code;
}

// ---------------------------------------------------------------------------------------- the listener

// A message of the listener. The kernel may know of more fields than our headers.
template <typename Fields>
union Padded {
  Padded() { memset(space, 0, sizeof space); }
  char space[256];
  Fields fields;
};

// Receives a call that the listener reports. Returns false if its process has died meanwhile.
inline bool receive_call(const Fd& listener, Padded<seccomp_notif>& request) {
  return ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) == 0;
}

// Lets a reported call return `error`. Returns whether the kernel has taken the answer: the process waits for it, or is killed.
inline bool answer_call(const Fd& listener, const Padded<seccomp_notif>& request, int error, uint32_t flags = 0) {
  Padded<seccomp_notif_resp> response;
  response.fields.id = request.fields.id;
  response.fields.error = -error;
  response.fields.flags = flags;
  return ioctl(listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0;
}

// Returns the listener if one was asked for, 0 if not, -1 on failure. Needs no_new_privs.
// SPEC_ALLOW: without it, kernels before 5.16 slow a filtered program down (their mitigation of Spectre v4).
inline int install_filter(const std::vector<sock_filter>& code, bool notify) {
  sock_fprog program{static_cast<unsigned short>(code.size()), const_cast<sock_filter*>(code.data())};
  unsigned long flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW | (notify ? 1UL << 3 /* NEW_LISTENER */ : 0);
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

}  // namespace runner
