// The seccomp programs: what the table of system calls becomes, and what a refusal means.
#pragma once

#include "system_calls.h"

namespace {

// Instructions that end in a decision.
struct Piece {
  std::vector<sock_filter> code;
  std::vector<size_t> self;  // the instructions whose constant is the contestant's own process id

  bool operator==(const Piece& other) const {
    return self == other.self && code.size() == other.code.size() &&
           memcmp(code.data(), other.code.data(), code.size() * sizeof code[0]) == 0;
  }
};

// Who else is of a contestant's submission: processes that live at the same time, or other passes of the same test, which
// must learn nothing of each other either.
enum class Company { Nobody, Together, InTurn };

// Writes what is decided of a call. What is not let pass goes to the listener if there is one, else it is decided here.
class Decider {
 public:
  Decider(bool notify, bool reduced, Company company, bool libraries, bool interpreted)
      : notify_(notify),
        reduced_(reduced),
        siblings_(company != Company::Nobody),
        in_turn_(company == Company::InTurn),
        libraries_(libraries),
        interpreted_(interpreted) {}

  // Of a call that stands nowhere.
  Piece unknown() {
    emit(BPF_RET | BPF_K, notify_ ? static_cast<uint32_t>(SECCOMP_RET_USER_NOTIF) : SECCOMP_RET_ERRNO | ENOSYS);
    return std::exchange(piece_, {});
  }

  Piece foreign_abi() {
    end_program();
    return std::exchange(piece_, {});
  }

  Piece by(const Rule& rule) {
    Let let = rule.where == Where::Sibling && !siblings_ ? Let::Always : holds(rule.where) ? rule.let : Let::Never;
    if (notify_ && rule.noted && (let == Let::Never || let == Let::Deadly)) return unknown();  // the listener knows
    decide(rule, let);
    return std::exchange(piece_, {});
  }

 private:
  void emit(int op, uint32_t k, uint8_t yes = 0, uint8_t no = 0) {
    piece_.code.push_back({static_cast<uint16_t>(op), yes, no, k});
  }
  void load(size_t offset) { emit(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
  void load_argument(uint32_t index) {
    // The low half: the kernel takes none of the arguments that are judged here as more than 32 bits.
    load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(index));
  }
  void allow() { emit(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
  void end_program() {
    emit(BPF_RET | BPF_K, notify_ ? static_cast<uint32_t>(SECCOMP_RET_USER_NOTIF) : SECCOMP_RET_KILL_PROCESS);
  }
  uint32_t refusal(const Rule& rule) const {
    bool told = notify_ && rule.noted;
    return told ? static_cast<uint32_t>(SECCOMP_RET_USER_NOTIF) : SECCOMP_RET_ERRNO | static_cast<uint32_t>(rule.error);
  }
  void refuse(const Rule& rule) { emit(BPF_RET | BPF_K, refusal(rule)); }

  // Goes on if an argument is a null pointer.
  void must_be_null(uint32_t index, uint32_t otherwise) {
    for (size_t half : {0, 4}) {
      load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(index) + half);
      emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
      emit(BPF_RET | BPF_K, otherwise);
    }
  }

  // Decides of a futex, in four instructions or in one. What siblings could both have mapped is libraries.
  void only_private(const Rule& rule, uint32_t op) {
    if (!libraries_) return allow();
    load_argument(op);
    emit(BPF_JMP | BPF_JSET | BPF_K, 128 /* FUTEX_PRIVATE_FLAG */, 1, 0);
    refuse(rule);
    allow();
  }

  bool holds(Where where) const {
    switch (where) {
      case Where::Full: return !reduced_;
      case Where::OnlyChild: return !siblings_;
      case Where::FullAlone: return !reduced_ && !siblings_;
      case Where::OrFull: return !(reduced_ && siblings_) || (in_turn_ && libraries_);
      case Where::OrApart: return !((reduced_ || libraries_) && siblings_);
      case Where::Sockets: return interpreted_ && !siblings_;
      case Where::NoSockets: return !(interpreted_ && !siblings_);
      default: return true;
    }
  }

  void decide(const Rule& rule, Let let) {
    const uint32_t* values = rule.values.begin();
    uint32_t bits = values != nullptr && rule.values.size() > 0 ? values[0] : 0;
    if (bits == kOpenRefused && !reduced_) let = Let::Always;
    switch (let) {
      case Let::Always:
        return allow();
      case Let::SignalSelf:
        load_argument(bits);
        emit(BPF_JMP | BPF_JEQ | BPF_K, SIGKILL, 0, 1);
        refuse(rule);
        [[fallthrough]];
      case Let::OnSelf:
        load_argument(static_cast<uint32_t>(rule.arg));
        emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        piece_.self.push_back(piece_.code.size());
        emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
        allow();
        return refuse(rule);
      case Let::OneOf:
        load_argument(static_cast<uint32_t>(rule.arg));
        for (size_t i = 0; i < rule.values.size(); i++) {
          emit(BPF_JMP | BPF_JEQ | BPF_K, values[i], static_cast<uint8_t>(rule.values.size() - i), 0);
        }
        refuse(rule);
        return allow();
      case Let::Without:
        load_argument(static_cast<uint32_t>(rule.arg));
        emit(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
        allow();
        return refuse(rule);
      case Let::Told:
        if (notify_) return refuse(rule);
        [[fallthrough]];
      case Let::OwnClock:
        // A clock of a process or thread is ~id << 3 | kind: the last eight numbers are those of id 0, which is oneself.
        load_argument(static_cast<uint32_t>(rule.arg));
        emit(BPF_JMP | BPF_JGE | BPF_K, 0xfffffff8, 2, 0);
        emit(BPF_JMP | BPF_JSET | BPF_K, 0x80000000, 0, 1);
        refuse(rule);
        return allow();
      case Let::Counted:
        load_argument(3);
        emit(BPF_JMP | BPF_JSET | BPF_K, 0x40000 /* MAP_HUGETLB */, 5, 0);
        emit(BPF_JMP | BPF_JSET | BPF_K, 1 /* MAP_SHARED, MAP_SHARED_VALIDATE */, 0, 3);
        emit(BPF_JMP | BPF_JSET | BPF_K, 0x20 /* MAP_ANONYMOUS */, 3, 0);
        load_argument(2);
        emit(BPF_JMP | BPF_JSET | BPF_K, 2 /* PROT_WRITE */, 1, 0);
        allow();
        return refuse(rule);
      case Let::Private: {
        if (!siblings_) return allow();
        uint32_t op = static_cast<uint32_t>(rule.arg);
        load_argument(op);
        emit(BPF_ALU | BPF_AND | BPF_K, 0x7f);  // without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME
        uint8_t left = libraries_ ? 9 : 6;
        for (uint32_t wait : {0 /* WAIT */, 9 /* WAIT_BITSET */, 6 /* LOCK_PI */, 13 /* LOCK_PI2 */, 11 /* WAIT_REQUEUE_PI */}) {
          emit(BPF_JMP | BPF_JEQ | BPF_K, wait, --left, 0);
        }
        only_private(rule, op);
        must_be_null(3, SECCOMP_RET_ERRNO | ETIMEDOUT);
        if (!libraries_) return allow();
        load_argument(op);
        emit(BPF_ALU | BPF_AND | BPF_K, 0x7f);
        emit(BPF_JMP | BPF_JEQ | BPF_K, 0 /* WAIT */, 5, 0);
        emit(BPF_JMP | BPF_JEQ | BPF_K, 9 /* WAIT_BITSET */, 4, 0);
        only_private(rule, op);
        return allow();
      }
      case Let::Untimed:
        must_be_null(static_cast<uint32_t>(rule.arg), refusal(rule));
        return allow();
      case Let::Unwaiting:
        load_argument(static_cast<uint32_t>(rule.arg));
        emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
        emit(BPF_JMP | BPF_JSET | BPF_K, 0x80000000, 1, 0);
        refuse(rule);
        return allow();
      case Let::Pair:
        load_argument(0);
        emit(BPF_JMP | BPF_JEQ | BPF_K, bits, 0, 4);
        load_argument(1);
        emit(BPF_ALU | BPF_AND | BPF_K, ~values[2]);
        emit(BPF_JMP | BPF_JEQ | BPF_K, values[1], 0, 1);
        allow();
        return refuse(rule);
      case Let::Connected:
        must_be_null(4, refusal(rule));  // the address
        load_argument(static_cast<uint32_t>(rule.arg));
        emit(BPF_JMP | BPF_JSET | BPF_K, ~bits, 0, 1);
        refuse(rule);
        return allow();
      case Let::OwnLimit:
        load_argument(0);
        emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
        piece_.self.push_back(piece_.code.size());
        emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
        refuse(rule);
        load(offsetof(seccomp_data, args) + 16);
        emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
        load(offsetof(seccomp_data, args) + 20);
        emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
        allow();
        load_argument(1);
        for (size_t i = 0; i < rule.values.size(); i++) {
          emit(BPF_JMP | BPF_JEQ | BPF_K, values[i], static_cast<uint8_t>(rule.values.size() - i), 0);
        }
        refuse(rule);
        return allow();
      case Let::Never:
        return refuse(rule);
      case Let::Deadly:
        return end_program();
    }
  }

  bool notify_, reduced_, siblings_, in_turn_, libraries_, interpreted_;
  Piece piece_;
};

// A seccomp filter from the table. The kernel translates it for every contestant, and goes through it once for each call
// that there is, to remember those that are always allowed: so it is a tree, in which a number finds its decision in nine
// steps rather than hundreds. It is written from its end, as jumps lead forward, and not far: what is decided stands again
// where no copy of it is near.
class FilterWriter {
 public:
  explicit FilterWriter(Decider decider) {
    pieces_.push_back(decider.unknown());
    for (const Rule& rule : kRules) {
      size_t piece = number_of(decider.by(rule));
      for (const CallName& call : rule.calls) decisions_.push_back({call.number, piece});
    }
    size_t foreign = number_of(decider.foreign_abi());
    find_ranges();
    near_.assign(pieces_.size(), kNowhere);
    size_t tree = node(0, ranges_.size());
    size_t end = leaf(foreign);
    test(BPF_JGE, 0x40000000 /* x32 */, end, tree);
    put(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    test(BPF_JEQ, AUDIT_ARCH_X86_64, back_.size() - 1, end);
    put(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
    code.assign(back_.rbegin(), back_.rend());
    for (size_t& at : self) at = code.size() - 1 - at;
  }

  std::vector<sock_filter> code;
  std::vector<size_t> self;

 private:
  static constexpr size_t kNowhere = static_cast<size_t>(-1), kNear = 100, kFarthest = 255;

  struct Range {
    long first;
    size_t piece;
  };

  size_t number_of(const Piece& piece) {
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

  // These return where what they wrote begins, counted from the filter's end.
  size_t node(size_t from, size_t to) {
    if (to - from == 1) return leaf(ranges_[from].piece);
    size_t middle = from + (to - from) / 2;
    size_t above = node(middle, to), below = node(from, middle);
    return test(BPF_JGE, static_cast<uint32_t>(ranges_[middle].first), above, below);
  }

  size_t leaf(size_t number) {
    if (near_[number] != kNowhere && back_.size() - near_[number] < kNear) return near_[number];
    const Piece& piece = pieces_[number];
    size_t end = back_.size() + piece.code.size() - 1;
    for (size_t at : piece.self) self.push_back(end - at);
    back_.insert(back_.end(), piece.code.rbegin(), piece.code.rend());
    return near_[number] = end;
  }

  size_t test(int comparison, uint32_t constant, size_t yes, size_t no) {
    if (distance(no) >= kFarthest) no = jump(no);
    if (distance(yes) >= kFarthest) yes = jump(yes);
    return put(BPF_JMP | comparison | BPF_K, constant, static_cast<uint8_t>(distance(yes)), static_cast<uint8_t>(distance(no)));
  }

  size_t jump(size_t target) { return put(BPF_JMP | BPF_JA, static_cast<uint32_t>(distance(target))); }

  // Of what is written next.
  size_t distance(size_t target) const { return back_.size() - 1 - target; }

  size_t put(int op, size_t k, uint8_t yes = 0, uint8_t no = 0) {
    back_.push_back({static_cast<uint16_t>(op), yes, no, static_cast<uint32_t>(k)});
    return back_.size() - 1;
  }

  std::vector<Piece> pieces_;
  std::vector<Range> decisions_, ranges_;
  std::vector<size_t> near_;  // where each piece was last written
  std::vector<sock_filter> back_;
};

// What the table says of a call that was refused.
struct Refusal {
  std::string name;
  int error = ENOSYS;
  bool deadly = false, suicide = false;
};

Refusal refusal_of(const seccomp_data& data) {
  Refusal refusal;
  if (data.arch != AUDIT_ARCH_X86_64 || data.nr >= 0x40000000) {
    refusal.name = "foreign_abi";
    refusal.deadly = true;
    return refusal;
  }
  refusal.name = format("syscall_%d", data.nr);
  for (const Rule& rule : kRules) {
    for (const CallName& call : rule.calls) {
      if (call.number != data.nr) continue;
      refusal.name = call.name;
      refusal.error = rule.error;
      refusal.deadly = rule.let == Let::Deadly;
      refusal.suicide = rule.let == Let::SignalSelf && data.args[*rule.values.begin()] == SIGKILL;
      return refusal;
    }
  }
  return refusal;
}

// What the compiler must not do. Nothing hostile runs in a step, only a compiler that reads hostile text: a short list
// of what no compiler needs, network first.
std::vector<sock_filter> step_filter() {
  static const long refused[] = {SYS_socket,  SYS_connect, SYS_ptrace,  SYS_process_vm_readv, SYS_process_vm_writev,
                                 SYS_unshare, SYS_setns,   SYS_mount,   SYS_umount2,          SYS_pivot_root,
                                 SYS_chroot,  SYS_bpf,     SYS_keyctl,  SYS_add_key,          SYS_request_key,
                                 SYS_userfaultfd, SYS_perf_event_open, 425, 426, 427, 438, SYS_open_by_handle_at};
  std::vector<sock_filter> code;
  auto emit = [&](int op, size_t k, uint8_t yes, uint8_t no) {
    code.push_back({static_cast<uint16_t>(op), yes, no, static_cast<uint32_t>(k)});
  };
  emit(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch), 0, 0);
  emit(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
  emit(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
  emit(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr), 0, 0);
  for (long number : refused) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, static_cast<size_t>(number), 0, 1);
    emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
  }
  emit(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  emit(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
  emit(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  return code;
}

// Returns the listener if one was asked for, 0 if not, -1 on failure. Needs no_new_privs.
// SPEC_ALLOW: without it, kernels before 5.16 slow a filtered program down against Spectre v4, and with it its times.
int install_filter(const std::vector<sock_filter>& code, bool notify) {
  sock_fprog program{static_cast<unsigned short>(code.size()), const_cast<sock_filter*>(code.data())};
  unsigned long flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW | (notify ? 1UL << 3 /* NEW_LISTENER */ : 0);
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

}  // namespace
