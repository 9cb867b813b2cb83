// What a seccomp filter decides about one call: the instructions for each rule of system_calls.h.
#pragma once

#include "lines.h"
#include "system_calls.h"

namespace runner {

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

// What the rules depend on.
struct FilterKind {
  bool notify = false;       // a listener gets the calls that are not allowed
  bool reduced = false;      // the isolation
  Siblings siblings = Siblings::Nobody;
  bool libraries = false;    // the program maps some
  bool interpreted = false;
  uint64_t exec_key = 0;     // the launcher's secret number, without which nothing is executed; 0: nothing is

  bool has_siblings() const { return siblings != Siblings::Nobody; }
};

// Writes the decision about a call. A call that is not allowed goes to the listener if there is one, else the filter decides.
// It also decides calls that are hidden from a listener (`HiddenCalls`): of several errors the kernel takes that of the newest
// filter, which is ours, and a kill takes precedence over an error. So the result of a call is the same everywhere.
class CallDecision {
 public:
  CallDecision(const FilterKind& kind, const CallRule& rule, bool hidden) : kind_(kind), rule_(rule), asks_(kind.notify && !hidden) {
    bool unneeded = (rule.where == Where::Sibling && !kind_.has_siblings()) || (rule.where == Where::Reduced && !kind_.reduced);
    decide(unneeded ? Let::Always : holds(rule.where) ? rule.let : Let::Never);
  }

  Filter piece;

 private:
  void emit(int op, size_t k, size_t yes = 0, size_t no = 0) {
    piece.code.push_back({static_cast<uint16_t>(op | BPF_K), static_cast<uint8_t>(yes), static_cast<uint8_t>(no), static_cast<uint32_t>(k)});
  }
  // The low half of an argument, or the high one. The kernel uses only the low one of most arguments that are checked here.
  void load(int argument, size_t half = 0) {
    emit(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + 8 * static_cast<size_t>(argument) + 4 * half);
  }
  void load() { load(rule_.arg); }
  void keep(size_t bits) { emit(BPF_ALU | BPF_AND, bits); }
  // These skip as many instructions as `yes` or `no` says.
  void if_is(size_t value, size_t yes, size_t no) { emit(BPF_JMP | BPF_JEQ, value, yes, no); }
  void if_any_of(size_t bits, size_t yes, size_t no) { emit(BPF_JMP | BPF_JSET, bits, yes, no); }
  void if_own_id(size_t yes, size_t no) {
    piece.self.push_back(piece.code.size());
    if_is(0, yes, no);
  }
  void allow() { emit(BPF_RET, SECCOMP_RET_ALLOW); }
  void refuse() { emit(BPF_RET, refusal()); }
  void allow_or_refuse() {
    allow();
    refuse();
  }
  void refuse_or_allow() {
    refuse();
    allow();
  }

  uint32_t ask_or(uint32_t otherwise) const { return asks_ ? static_cast<uint32_t>(SECCOMP_RET_USER_NOTIF) : otherwise; }
  uint32_t refusal() const {
    uint32_t error = SECCOMP_RET_ERRNO | static_cast<uint32_t>(rule_.error);
    return rule_.noted ? ask_or(error) : error;
  }
  uint32_t value(size_t index = 0) const { return rule_.values.begin()[index]; }

  bool holds(Where where) const {
    bool siblings = kind_.has_siblings();
    switch (where) {
      case Where::Full: return !kind_.reduced;
      case Where::NoSiblings: return !siblings;
      case Where::ExceptReducedSiblings: return !(kind_.reduced && siblings) || (kind_.siblings == Siblings::InTurn && kind_.libraries);
      case Where::ExceptLinkedSiblings: return !((kind_.reduced || kind_.libraries) && siblings);
      case Where::Sockets: return kind_.interpreted && !siblings;
      case Where::NoSockets: return !(kind_.interpreted && !siblings);
      default: return true;
    }
  }

  void decide(Let let) {
    switch (let) {
      case Let::Always: return allow();
      case Let::OnSelf: return decide_on_self();
      case Let::SignalSelf: return decide_signal();
      case Let::OneOf: return decide_one_of(rule_.arg);
      case Let::NoneOf: return decide_none_of();
      case Let::Without: return decide_without();
      case Let::NotAllOf: return decide_not_all_of();
      case Let::Opening: return decide_open();
      case Let::OwnClock: return decide_clock();
      case Let::Counted: return decide_mapping();
      case Let::Private: return kind_.has_siblings() ? decide_futex() : allow();
      case Let::Untimed: return decide_null(rule_.arg, refusal());
      case Let::Unwaiting: return decide_timeout();
      case Let::Pair: return decide_socket_pair();
      case Let::Control: return decide_control([this] { decide_one_of(1); });
      case Let::ControlExcept: return decide_control([this] { decide_none_of(); });
      case Let::Connected: return decide_connected();
      case Let::Launching: return decide_launch();
      case Let::NotifyThenAllow: return asks_ ? refuse() : decide_clock();
      case Let::OtherSignal: return decide_action();
      case Let::OwnLimit: return decide_limit();
      case Let::Never: return refuse();
      case Let::Deadly: return emit(BPF_RET, ask_or(SECCOMP_RET_KILL_PROCESS));
    }
  }

  // Continues if both halves of an argument have this value.
  void must_be(uint64_t number, int argument, uint32_t otherwise) {
    for (size_t half : {0, 1}) {
      load(argument, half);
      if_is(static_cast<uint32_t>(number >> 32 * half), 1, 0);
      emit(BPF_RET, otherwise);
    }
  }

  void decide_null(int argument, uint32_t otherwise) {
    must_be(0, argument, otherwise);
    allow();
  }

  void decide_on_self() {
    load();
    if_is(0, 1, 0);
    if_own_id(0, 1);
    allow_or_refuse();
  }

  void decide_signal() {
    load(static_cast<int>(value()));
    for (int asked : {SIGKILL, SIGSYS, SIGTERM}) {
      if (asked == SIGTERM && !kind_.notify) continue;  // only a listener can note it and let it be sent
      if_is(static_cast<size_t>(asked), 0, 1);
      refuse();
    }
    decide_on_self();
  }

  // Compares an argument with each value. Skips one instruction more if it is one of them.
  void find_among_values(int argument) {
    load(argument);
    size_t left = rule_.values.size();
    for (uint32_t known : rule_.values) if_is(known, left--, 0);
  }

  void decide_one_of(int argument) {
    find_among_values(argument);
    refuse_or_allow();
  }

  void decide_none_of() {
    find_among_values(rule_.arg);
    allow_or_refuse();
  }

  void decide_bits(int argument, uint32_t refused) {
    load(argument);
    if_any_of(refused, 1, 0);
    allow_or_refuse();
  }

  void decide_without() {
    if (rule_.values.size() == 1) return decide_bits(rule_.arg, value());
    load();
    if_any_of(value(), 2, 0);
    keep(value(1));
    if_is(value(1), 0, 1);
    refuse_or_allow();
  }

  void decide_not_all_of() {
    load();
    keep(value());
    if_is(value(), 1, 0);
    allow_or_refuse();
  }

  void decide_action() {
    load(0);
    if_is(SIGCHLD, 1, 0);
    allow();
    decide_null(1, refusal());
  }

  // Refuses flags with one of the bits of the value, with O_TRUNC but without writing, and with mode 3, which is neither to read nor
  // to write.
  void decide_open() {
    load();
    if_any_of(value(), 5, 0);
    keep(kOpenTruncates | kOpenMode);
    if_is(kOpenTruncates | O_RDONLY, 3, 0);
    keep(kOpenMode);
    if_is(kOpenMode, 1, 0);
    allow_or_refuse();
  }

  // A clock of a process or thread is ~id << 3 | kind: the last eight numbers are those of id 0, the caller itself.
  void decide_clock() {
    load();
    emit(BPF_JMP | BPF_JGE, 0xfffffff8, 2, 0);
    if_any_of(0x80000000, 0, 1);
    refuse_or_allow();
  }

  void decide_mapping() {
    load(3);
    if_any_of(0x40000 /* MAP_HUGETLB */, 5, 0);
    if_any_of(1 /* MAP_SHARED, MAP_SHARED_VALIDATE */, 0, 3);
    if_any_of(0x20 /* MAP_ANONYMOUS */, 3, 0);
    load(2);
    if_any_of(2 /* PROT_WRITE */, 1, 0);
    allow_or_refuse();
  }

  void decide_futex() {
    load();
    keep(0x7f);  // without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME
    for (size_t owned : {6 /* LOCK_PI */, 7 /* UNLOCK_PI */, 8 /* TRYLOCK_PI */, 11 /* WAIT_REQUEUE_PI */, 12 /* CMP_REQUEUE_PI */,
                         13 /* LOCK_PI2 */}) {
      if_is(owned, 0, 1);
      refuse();
    }
    size_t to_waits = 2 + (kind_.libraries ? 4 : 1);  // these comparisons, and what `decide_wake` writes
    for (size_t wait : {0 /* WAIT */, 9 /* WAIT_BITSET */}) if_is(wait, --to_waits, 0);
    decide_wake();
    decide_null(3, SECCOMP_RET_ERRNO | ETIMEDOUT);
  }

  // Only pages of libraries could be mapped by several siblings.
  void decide_wake() {
    if (!kind_.libraries) return allow();
    load();
    if_any_of(128 /* FUTEX_PRIVATE_FLAG */, 1, 0);
    refuse_or_allow();
  }

  void decide_timeout() {
    load();
    if_is(0, 2, 0);
    if_any_of(0x80000000, 1, 0);
    refuse_or_allow();
  }

  // The values: the domain; the type; bits of the type that may be set or not.
  void decide_socket_pair() {
    load(0);
    if_is(value(0), 0, 4);
    load(1);
    keep(~value(2));
    if_is(value(1), 0, 1);
    allow_or_refuse();
  }

  template <typename DecideOthers>
  void decide_control(DecideOthers decide_others) {
    load(1);
    if_is(F_SETFL, 0, 4);
    decide_bits(2, kDirect);
    decide_others();
  }

  void decide_connected() {
    must_be(0, 4, refusal());  // the address
    load();
    if_any_of(~value(), 0, 1);
    refuse_or_allow();
  }

  void decide_launch() {
    if (kind_.exec_key == 0) return refuse();
    load();
    if_is(value(), 1, 0);
    refuse();
    must_be(kind_.exec_key, 5, refusal());
    allow();
  }

  void decide_limit() {
    load(0);
    if_is(0, 2, 0);
    if_own_id(1, 0);
    refuse();
    load(2);
    if_is(0, 0, 3);
    load(2, 1);
    if_is(0, 0, 1);
    allow();
    decide_one_of(1);
  }

  const FilterKind& kind_;
  const CallRule& rule_;
  bool asks_;
};

// `hidden`: whether the call may be hidden from the listener.
inline Filter decision(const FilterKind& kind, const CallRule& rule, bool hidden) { return CallDecision(kind, rule, hidden).piece; }

}  // namespace runner
