// The seccomp filters that are made from the table of system calls, and the meaning of a refusal.
#pragma once

#include "descriptors.h"
#include "lines.h"
#include "system_calls.h"

namespace runner {

// ------------------------------------------------------------------------ the decision about each call

// A seccomp filter, or instructions of one that end in a decision.
struct Filter {
  std::vector<sock_filter> code;
  std::vector<size_t> self;  // the instructions whose constant is the contestant's own process id; it is 0 here

  bool operator==(const Filter& other) const {
    return self == other.self && code.size() == other.code.size() &&
           memcmp(code.data(), other.code.data(), code.size() * sizeof code[0]) == 0;
  }
};

// Other processes of a contestant's submission: they run at the same time, or they are other passes of the same test, which
// must not communicate either.
enum class Siblings { Nobody, Together, InTurn };

struct CallSet {
  bool has[kCalls] = {};

  bool any() const { return std::any_of(has, has + kCalls, [](bool is) { return is; }); }
};

// Writes the decision about a call. A call that is not allowed goes to the listener if there is one, else the filter decides.
// It also decides calls that are hidden from a listener (`HiddenCalls`): of several errors the kernel takes that of the newest
// filter, which is ours, and a kill takes precedence over an error. So the result of a call is the same everywhere.
class CallFilter {
 public:
  // `exec_key`: the launcher's secret number, without which nothing is executed; 0: nothing is.
  CallFilter(bool notify, bool reduced, Siblings siblings, bool libraries, bool interpreted, uint64_t exec_key)
      : notify_(notify),
        reduced_(reduced),
        siblings_(siblings != Siblings::Nobody),
        in_turn_(siblings == Siblings::InTurn),
        libraries_(libraries),
        interpreted_(interpreted),
        exec_key_(exec_key) {}

  // The decision about a call that is not in the table.
  Filter unknown(bool hidden) {
    hidden_ = hidden;
    emit(BPF_RET | BPF_K, ask_or(SECCOMP_RET_ERRNO | ENOSYS));
    return std::exchange(piece_, {});
  }

  // The decision to allow a call.
  Filter anything() {
    allow();
    return std::exchange(piece_, {});
  }

  // `hidden`: whether some of its calls may be hidden from the listener.
  Filter foreign_abi(bool hidden) {
    hidden_ = hidden;
    end_program();
    return std::exchange(piece_, {});
  }

  Filter by(const CallRule& rule, bool hidden) {
    hidden_ = hidden;
    bool unneeded = (rule.where == Where::Sibling && !siblings_) || (rule.where == Where::Reduced && !reduced_);
    Let let = unneeded ? Let::Always : holds(rule.where) ? rule.let : Let::Never;
    decide(rule, let);
    return std::exchange(piece_, {});
  }

 private:
  void emit(int op, uint32_t k, uint8_t yes = 0, uint8_t no = 0) {
    piece_.code.push_back({static_cast<uint16_t>(op), yes, no, k});
  }
  void load(size_t offset) { emit(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
  void load_argument(uint32_t index) {
    // The low half: the kernel uses only 32 bits of the arguments that are checked here.
    load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(index));
  }
  void allow() { emit(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  void end_program() { emit(BPF_RET | BPF_K, ask_or(SECCOMP_RET_KILL_PROCESS)); }
  bool asks() const { return notify_ && !hidden_; }
  uint32_t ask_or(uint32_t otherwise) const { return asks() ? static_cast<uint32_t>(SECCOMP_RET_USER_NOTIF) : otherwise; }
  uint32_t refusal(const CallRule& rule) const {
    uint32_t error = SECCOMP_RET_ERRNO | static_cast<uint32_t>(rule.error);
    return rule.noted ? ask_or(error) : error;
  }
  void refuse_or_ask(const CallRule& rule) { emit(BPF_RET | BPF_K, refusal(rule)); }

  // Continues if an argument has this value. (The low half of an argument comes first.)
  void must_be(uint64_t value, uint32_t index, uint32_t otherwise) {
    for (size_t half : {0, 4}) {
      load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(index) + half);
      emit(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(value >> 8 * half), 1, 0);
      emit(BPF_RET | BPF_K, otherwise);
    }
  }
  void must_be_null(uint32_t index, uint32_t otherwise) { must_be(0, index, otherwise); }

  // Decides about a futex, in four instructions or in one. Only pages of libraries could be mapped by several siblings.
  void only_private(const CallRule& rule, uint32_t op) {
    if (!libraries_) return allow();
    load_argument(op);
    emit(BPF_JMP | BPF_JSET | BPF_K, 128 /* FUTEX_PRIVATE_FLAG */, 1, 0);
    refuse_or_ask(rule);
    allow();
  }

  bool holds(Where where) const {
    switch (where) {
      case Where::Full: return !reduced_;
      case Where::NoSiblings: return !siblings_;
      case Where::ExceptReducedSiblings: return !(reduced_ && siblings_) || (in_turn_ && libraries_);
      case Where::ExceptLinkedSiblings: return !((reduced_ || libraries_) && siblings_);
      case Where::Sockets: return interpreted_ && !siblings_;
      case Where::NoSockets: return !(interpreted_ && !siblings_);
      default: return true;
    }
  }

  void decide(const CallRule& rule, Let let) {
    uint32_t arg = static_cast<uint32_t>(rule.arg), first = rule.values.size() > 0 ? *rule.values.begin() : 0;
    switch (let) {
      case Let::Always: return allow();
      case Let::OnSelf: return decide_on_self(rule);
      case Let::SignalSelf: return decide_signal(rule, first);
      case Let::OneOf: return decide_one_of(rule, arg);
      case Let::NoneOf: return decide_none_of(rule, arg);
      case Let::Without: return decide_bits(rule, arg, first);
      case Let::NotAllOf: return decide_all_bits(rule, arg, first);
      case Let::Opening: return decide_open(rule, arg, first);
      case Let::OwnClock: return decide_clock(rule);
      case Let::Counted: return decide_mapping(rule);
      case Let::Private: return siblings_ ? decide_futex(rule) : allow();
      case Let::Untimed: must_be_null(arg, refusal(rule)); return allow();
      case Let::Unwaiting: return decide_timeout(rule);
      case Let::Pair: return decide_socket_pair(rule);
      case Let::Control: return decide_control(rule);
      case Let::Connected: return decide_connected(rule, first);
      case Let::Launching: return decide_launch(rule, arg, first);
      case Let::NotifyThenAllow: return asks() ? refuse_or_ask(rule) : decide_clock(rule);
      case Let::OtherSignal: return decide_action(rule);
      case Let::OwnLimit: return decide_limit(rule);
      case Let::Never: return refuse_or_ask(rule);
      case Let::Deadly: return end_program();
    }
  }

  void decide_on_self(const CallRule& rule) {
    load_argument(static_cast<uint32_t>(rule.arg));
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    piece_.self.push_back(piece_.code.size());
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    allow();
    refuse_or_ask(rule);
  }

  void decide_signal(const CallRule& rule, uint32_t signal_argument) {
    load_argument(signal_argument);
    for (uint32_t asked : {SIGKILL, SIGSYS, SIGTERM}) {
      if (asked == SIGTERM && !notify_) continue;  // only a listener can note it and let it be sent
      emit(BPF_JMP | BPF_JEQ | BPF_K, asked, 0, 1);
      refuse_or_ask(rule);
    }
    decide_on_self(rule);
  }

  void decide_one_of(const CallRule& rule, uint32_t arg) {
    load_argument(arg);
    uint8_t left = static_cast<uint8_t>(rule.values.size());
    for (uint32_t value : rule.values) emit(BPF_JMP | BPF_JEQ | BPF_K, value, left--, 0);
    refuse_or_ask(rule);
    allow();
  }

  void decide_none_of(const CallRule& rule, uint32_t arg) {
    load_argument(arg);
    uint8_t left = static_cast<uint8_t>(rule.values.size());
    for (uint32_t value : rule.values) emit(BPF_JMP | BPF_JEQ | BPF_K, value, left--, 0);
    allow();
    refuse_or_ask(rule);
  }

  void decide_all_bits(const CallRule& rule, uint32_t arg, uint32_t bits) {
    load_argument(arg);
    emit(BPF_ALU | BPF_AND | BPF_K, bits);
    emit(BPF_JMP | BPF_JEQ | BPF_K, bits, 1, 0);
    allow();
    refuse_or_ask(rule);
  }

  void decide_action(const CallRule& rule) {
    load_argument(0);
    emit(BPF_JMP | BPF_JEQ | BPF_K, SIGCHLD, 1, 0);
    allow();
    must_be_null(1, refusal(rule));
    allow();
  }

  void decide_bits(const CallRule& rule, uint32_t arg, uint32_t refused) {
    load_argument(arg);
    emit(BPF_JMP | BPF_JSET | BPF_K, refused, 1, 0);
    allow();
    refuse_or_ask(rule);
  }

  // Refuses flags with one of the bits `refused`, with O_TRUNC but without writing, and with mode 3, which is neither to read nor
  // to write.
  void decide_open(const CallRule& rule, uint32_t arg, uint32_t refused) {
    load_argument(arg);
    emit(BPF_JMP | BPF_JSET | BPF_K, refused, 5, 0);
    emit(BPF_ALU | BPF_AND | BPF_K, kOpenTruncates | kOpenMode);
    emit(BPF_JMP | BPF_JEQ | BPF_K, kOpenTruncates | O_RDONLY, 3, 0);
    emit(BPF_ALU | BPF_AND | BPF_K, kOpenMode);
    emit(BPF_JMP | BPF_JEQ | BPF_K, kOpenMode, 1, 0);
    allow();
    refuse_or_ask(rule);
  }

  // A clock of a process or thread is ~id << 3 | kind: the last eight numbers are those of id 0, the caller itself.
  void decide_clock(const CallRule& rule) {
    load_argument(static_cast<uint32_t>(rule.arg));
    emit(BPF_JMP | BPF_JGE | BPF_K, 0xfffffff8, 2, 0);
    emit(BPF_JMP | BPF_JSET | BPF_K, 0x80000000, 0, 1);
    refuse_or_ask(rule);
    allow();
  }

  void decide_mapping(const CallRule& rule) {
    load_argument(3);
    emit(BPF_JMP | BPF_JSET | BPF_K, 0x40000 /* MAP_HUGETLB */, 5, 0);
    emit(BPF_JMP | BPF_JSET | BPF_K, 1 /* MAP_SHARED, MAP_SHARED_VALIDATE */, 0, 3);
    emit(BPF_JMP | BPF_JSET | BPF_K, 0x20 /* MAP_ANONYMOUS */, 3, 0);
    load_argument(2);
    emit(BPF_JMP | BPF_JSET | BPF_K, 2 /* PROT_WRITE */, 1, 0);
    allow();
    refuse_or_ask(rule);
  }

  void decide_futex(const CallRule& rule) {
    uint32_t op = static_cast<uint32_t>(rule.arg);
    load_argument(op);
    emit(BPF_ALU | BPF_AND | BPF_K, 0x7f);  // without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME
    for (uint32_t owned : {6 /* LOCK_PI */, 7 /* UNLOCK_PI */, 8 /* TRYLOCK_PI */, 11 /* WAIT_REQUEUE_PI */, 12 /* CMP_REQUEUE_PI */,
                           13 /* LOCK_PI2 */}) {
      emit(BPF_JMP | BPF_JEQ | BPF_K, owned, 0, 1);
      refuse_or_ask(rule);
    }
    uint8_t to_waits = 2 + (libraries_ ? 4 : 1);  // these comparisons, and what `only_private` writes
    for (uint32_t wait : {0 /* WAIT */, 9 /* WAIT_BITSET */}) emit(BPF_JMP | BPF_JEQ | BPF_K, wait, --to_waits, 0);
    only_private(rule, op);
    must_be_null(3, SECCOMP_RET_ERRNO | ETIMEDOUT);
    allow();
  }

  void decide_timeout(const CallRule& rule) {
    load_argument(static_cast<uint32_t>(rule.arg));
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
    emit(BPF_JMP | BPF_JSET | BPF_K, 0x80000000, 1, 0);
    refuse_or_ask(rule);
    allow();
  }

  // The values: the domain; the type; bits of the type that may be set or not.
  void decide_socket_pair(const CallRule& rule) {
    const uint32_t* values = rule.values.begin();
    load_argument(0);
    emit(BPF_JMP | BPF_JEQ | BPF_K, values[0], 0, 4);
    load_argument(1);
    emit(BPF_ALU | BPF_AND | BPF_K, ~values[2]);
    emit(BPF_JMP | BPF_JEQ | BPF_K, values[1], 0, 1);
    allow();
    refuse_or_ask(rule);
  }

  void decide_control(const CallRule& rule) {
    load_argument(1);
    emit(BPF_JMP | BPF_JEQ | BPF_K, F_SETFL, 0, 4);
    decide_bits(rule, 2, kDirect);
    decide_one_of(rule, 1);
  }

  void decide_connected(const CallRule& rule, uint32_t plain_flags) {
    must_be_null(4, refusal(rule));  // the address
    load_argument(static_cast<uint32_t>(rule.arg));
    emit(BPF_JMP | BPF_JSET | BPF_K, ~plain_flags, 0, 1);
    refuse_or_ask(rule);
    allow();
  }

  void decide_launch(const CallRule& rule, uint32_t arg, uint32_t descriptor) {
    if (exec_key_ == 0) return refuse_or_ask(rule);
    load_argument(arg);
    emit(BPF_JMP | BPF_JEQ | BPF_K, descriptor, 1, 0);
    refuse_or_ask(rule);
    must_be(exec_key_, 5, refusal(rule));
    allow();
  }

  void decide_limit(const CallRule& rule) {
    load_argument(0);
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
    piece_.self.push_back(piece_.code.size());
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    refuse_or_ask(rule);
    load(offsetof(seccomp_data, args) + 16);
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
    load(offsetof(seccomp_data, args) + 20);
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
    allow();
    decide_one_of(rule, 1);
  }

  bool notify_, reduced_, siblings_, in_turn_, libraries_, interpreted_, hidden_ = false;
  uint64_t exec_key_;
  Filter piece_;
};

// A seccomp filter from the table. The kernel compiles it for every contestant, and executes it once for each existing call, to
// remember those that are always allowed. Therefore it is a tree: a call's decision is reached in nine steps rather than
// hundreds. It is written from its end, because jumps lead forward. Jumps do not reach far, so a decision is written again
// if no copy of it is near.
class FilterWriter {
 public:
  // `unlisted`: the decision about calls before `last` that have no rule; `newer`: about those after it.
  FilterWriter(CallFilter call_filter, const std::vector<CallRule>& rules, const CallSet& hidden, long last, const Filter& unlisted,
               const Filter& newer) {
    pieces_.push_back(newer);
    bool named[kCalls] = {};
    for (const CallRule& rule : rules) {
      size_t usual = number_of(call_filter.by(rule, false)), if_hidden = number_of(call_filter.by(rule, true));
      for (const CallName& call : rule.calls) {
        decisions_.push_back({call.number, hidden.has[call.number] ? if_hidden : usual});
        named[call.number] = true;
      }
    }
    size_t unnamed = number_of(unlisted);
    for (long number = 0; number < last; number++) {
      if (!named[number] && !hidden.has[number]) decisions_.push_back({number, unnamed});
    }
    size_t foreign = number_of(call_filter.foreign_abi(hidden.any()));
    find_ranges();
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

  struct Range {
    long first;
    size_t piece;
  };

  size_t number_of(const Filter& piece) {
    auto known = std::find(pieces_.begin(), pieces_.end(), piece);
    if (known == pieces_.end()) known = pieces_.insert(known, piece);
    return static_cast<size_t>(known - pieces_.begin());
  }

  // Numbers in a row that share a decision.
  void find_ranges() {
    auto by_number = [](const Range& a, const Range& b) { return a.first < b.first; };
    std::sort(decisions_.begin(), decisions_.end(), by_number);
    ranges_ = {{0, 0}};
    long next = 0;
    for (const Range& call : decisions_) {
      if (call.first > next) begin_range({next, 0});
      begin_range(call);
      next = call.first + 1;
    }
    begin_range({next, 0});
  }

  void begin_range(const Range& range) {
    if (ranges_.back().first == range.first) ranges_.pop_back();
    if (ranges_.empty() || ranges_.back().piece != range.piece) ranges_.push_back(range);
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
  std::vector<Range> decisions_, ranges_;
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
  int error = ENOSYS;
  bool deadly = false;
};

inline Refusal refusal_of(const seccomp_data& data) {
  Refusal refusal;
  if (data.arch != AUDIT_ARCH_X86_64 || static_cast<uint32_t>(data.nr) >= 0x40000000) {
    refusal.name = "foreign_abi";
    refusal.deadly = true;
    return refusal;
  }
  refusal.name = name_of_call(data.nr);
  if (const CallRule* rule = rule_of(data.nr)) {
    refusal.error = rule->error;
    refusal.deadly = rule->let == Let::Deadly;
  }
  return refusal;
}

// The filter of a contestant. `hidden`: the calls that the listener never receives.
inline Filter contestant_filter(CallFilter call_filter, const CallSet& hidden) {
  std::vector<CallRule> rules(std::begin(kCallRules), std::end(kCallRules));
  return FilterWriter(call_filter, rules, hidden, kLastCall, call_filter.unknown(false), call_filter.unknown(hidden.any())).filter;
}

// The filter of a step. A program's text can make a compiler execute other code: rustc lets a program give any arguments to the
// linker. `trusted`: the step builds a judge program by its author's script.
inline std::vector<sock_filter> step_filter(bool trusted) {
  CallFilter call_filter(false, false, Siblings::Nobody, false, false, 0);
  std::vector<CallRule> rules(std::begin(kStepRules), std::end(kStepRules));
  if (!trusted) rules.insert(rules.end(), std::begin(kMoreStepRules), std::end(kMoreStepRules));
  for (CallRule rule : kCallRules) {
    if (rule.let != Let::Deadly) continue;
    rule.let = Let::Never;
    rules.push_back(rule);
  }
  Filter newer = trusted ? call_filter.anything() : call_filter.unknown(false);
  return FilterWriter(call_filter, rules, {}, kLastStepCall, call_filter.anything(), newer).filter.code;
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
