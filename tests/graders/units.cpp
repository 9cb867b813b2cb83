// Unit tests of the runner's pure parts, and of some that ask the kernel: results are compared with expected values, or with a second, slower implementation.
//
// Tested elsewhere: comparators.h and decimal.h (tests/graders_py/test_comparators.py; the default validator in
// tests/fidelity/test_tokens.py; white-diff and the scores of checkers in test_runner_checkers.py, through the runner).
// Prints a line for each check that fails, and exits with 1 if one did.

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../../graders/runner/call_decisions.h"
#include "../../graders/runner/compile_mode.h"
#include "../../graders/runner/contestants.h"
#include "../../graders/runner/descriptors.h"
#include "../../graders/runner/directories.h"
#include "../../graders/runner/job.h"
#include "../../graders/runner/job_files.h"
#include "../../graders/runner/lines.h"
#include "../../graders/runner/numbers.h"
#include "../../graders/runner/plan.h"
#include "../../graders/runner/plan_reader.h"
#include "../../graders/runner/proc_files.h"
#include "../../graders/runner/processes.h"
#include "../../graders/runner/protocols.h"
#include "../../graders/runner/rules.h"
#include "../../graders/runner/run_mode.h"
#include "../../graders/runner/seccomp.h"
#include "../../graders/runner/system_calls.h"
#include "../../graders/runner/test_state.h"
#include "../../graders/runner/verdicts.h"

using namespace runner;

// Takes the place of libc's function: each path is the name of a file system, with what that states.
extern "C" int statvfs(const char* path, struct statvfs* disk) noexcept {
  *disk = {};
  disk->f_frsize = 4096;
  disk->f_blocks = disk->f_bavail = 1 << 20;
  disk->f_files = 1000;
  disk->f_favail = strcmp(path, "CephFS") == 0 ? static_cast<fsfilcnt_t>(-1) : 100;
  if (strcmp(path, "btrfs") == 0) disk->f_files = disk->f_favail = 0;
  return 0;
}

namespace {

int failed = 0;

void check(bool holds, const char* what, int line) {
  if (holds) return;
  printf("line %d: %s\n", line, what);
  failed = 1;
}
#define CHECK(condition) check(condition, #condition, __LINE__)

// The kind and the message of the fault that `f` throws.
template <typename F>
std::string fault_of(F f) {
  try {
    f();
  } catch (const Fault& fault) {
    return std::string(name_of(fault.kind)) + ": " + fault.explanation;
  }
  return "no fault";
}

Fd file_of(const std::string& text) {
  Fd fd = memory_file("text");
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) failed = 1;
  return fd;
}

void test_wait_clock() {
  WaitClock clock;
  CHECK(clock.waited_us(100, 40) == 60);
  CHECK(clock.end_piece(100, 40) == 60);
  CHECK(clock.end_piece(110, 1040) == 0);  // a hundred threads have waited for a processor together
  CHECK(clock.waited_us(210, 1060) == 60 + 80);
  CHECK(clock.end_piece(210, 1060) == 80);
  CHECK(clock.ended_us() == 210);
  CHECK(clock.end_piece(310, 0) == 100);  // this look has missed the processes
  CHECK(clock.end_piece(410, 1070) == 0);
}

void test_json() {
  CHECK(quoted("a \"b\" \\ ~") == "\"a \\\"b\\\" \\\\ ~\"");
  CHECK(quoted(std::string("\0\n\x7f\xc3\xa9", 5)) == "\"\\u0000\\u000a\\u007f\\u00c3\\u00a9\"");
  const char* encoded[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};  // Source: RFC 4648, 10
  for (size_t i = 0; i < 7; i++) CHECK(base64(reinterpret_cast<const unsigned char*>("foobar"), i) == encoded[i]);
  Json line;
  line.open('{').member("a", 1).member("b", true).member("c", static_cast<const char*>(nullptr)).key("d").open('[').value("x").value(-2L);
  line.close(']').key("e").open('{').close('}').key("f").open_text();
  CHECK(line.take() == "{\"a\":1,\"b\":true,\"c\":null,\"d\":[\"x\",-2],\"e\":{},\"f\":\"");
  CHECK(line.close_text().member("g", std::string("h")).close('}').take() == "\",\"g\":\"h\"}");
}

void test_lines() {
  CHECK(format("%d%s", 7, std::string(5000, 'x').c_str()).size() == 5001);
  CHECK(fault_of([] { plan_fault("line %d", 3); }) == "plan: line 3");
  CHECK(fault_of([] {
          errno = ENOENT;
          system_fault("open %s", "x");
        }) == "system: open x: No such file or directory");
}

void test_plan_lines() {
  CHECK(decode("%") == "" && decode("a%20b%0A") == "a b\n" && decode("a=b,c") == "a=b,c");
  for (const char* bad : {"%2", "%zz", "a%", "%0a", "%%20"}) {
    CHECK(fault_of([&] { decode(bad); }) == std::string("plan: a word is not encoded as it must be: ") + bad);
  }
  CHECK((split("a,,b", ',') == std::vector<std::string>{"a", "", "b"}) && split("", ',').size() == 1);
  PlanLine line(5, "test id=3 at=0:1 args=% args=x%3Dy");
  CHECK(line.name == "test" && line.number("id", 0, 9) == 3 && line.has("at") && !line.has("full"));
  CHECK((line.all("args") == std::vector<std::string>{"", "x=y"}));
  CHECK(fault_of([&] { line.finish(); }) == "plan: line 5 (test) has an unknown key: at");
  CHECK(fault_of([&] { line.text("args"); }) == "plan: line 5 (test) needs `args` once");
  for (const char* digits : {"", "-1", "+1", "10", "1.0", "0x1", "9999999999999999999"}) {
    CHECK(fault_of([&] { line.to_number(digits, 0, 9, "id"); }) == std::string("plan: line 5 (test) `id` is out of range: ") + digits);
  }
}

void test_protocols() {
  std::set<std::string> names;
  for (Protocol protocol : kProtocols) {
    const ProtocolRules& rules = rules_of(protocol);
    bool has_codes = rules.accepts.size() > 0;
    CHECK(names.insert(rules.name).second);
    CHECK(has_codes == (rules.judged_by == JudgedBy::Program));
    CHECK(has_codes == (rules.args.size() == 3));
    for (int code : rules.accepts) CHECK(!has(rules.rejects, code));
    Fd nothing = file_of("");
    JudgeResult result{0, nothing.get(), nothing.get(), "/nonexistent"};
    bool unread = fault_of([&] { read_judgement(result, protocol, {}); }).find("has no program") != std::string::npos;
    CHECK(unread == !has_codes);
  }
}

// Scores in points, and lines that are too long for a score.
void test_scores() {
  Fd errors = file_of("words\nmore");
  for (auto [code, words, score, valid] : {std::tuple{0, "ok", "1", true}, {1, "wrong", "0", true}, {7, "points 0.25 rest", "0.25", true},
                                           {7, "0.25", "", false}, {7, "points 2", "2", false}}) {
    Fd said_words = file_of(words);
    Judgement said = read_judgement({code, errors.get(), said_words.get(), ""}, Protocol::Testlib, {});
    CHECK(said.valid == valid && said.score == score && said.message == words);
  }
  Judgement said;
  CHECK(read_score("30", said, {40}) && said.value == 0.75 && said.score == "0.75");
  CHECK(!read_score("41", said, {40}) && said.error == "a score outside of [0, 40]: 41");
  const Scale counts{20, {{3, 20}, {10, 5}}};
  CHECK(read_score("0", said, counts) && said.value == 1.0);
  CHECK(read_score("4", said, counts) && said.value == 0.25 && said.points == 5.0);
  for (const char* text : {"3.5", "11", "-1"}) CHECK(!read_score(text, said, counts));
  Fd longest = file_of("1" + std::string(kScoreBytes - 2, ' ') + "\n" + std::string(kScoreBytes, 'x'));
  CHECK(read_score_of(longest.get(), true, said) && said.value == 1.0);
  Fd longer = file_of("1" + std::string(kScoreBytes, ' ') + "\n");
  CHECK(!read_score_of(longer.get(), true, said) && !read_score_of(longer.get(), false, said));
  CHECK(said.error == "not a score: a text of more than 4096 bytes");
}

// Each test gets its share of the sandbox's time; prefaulting memory comes first: 262,144 pages of 20 us.
void test_room() {
  for (auto [job_wall_ms, tests, prefault_bytes, stop_ms] : {std::tuple{50'000L, 6, 0L, 8'333L}, {50'000, 1, 1L << 30, 44'758}, {0, 3, 0, 1}}) {
    RunPlan plan;
    plan.cpu_ms = 1'000;
    plan.memory_bytes = 2L << 30;
    plan.tests.resize(static_cast<size_t>(tests));
    CHECK(plan.pages_stop_us() == INT64_MAX);
    plan.job_wall_ms = job_wall_ms;
    plan.prefault_bytes = prefault_bytes;
    CHECK(plan.pages_stop_us() == stop_ms * 1'000);
    CHECK(plan.page_margin_us() == std::min<int64_t>(plan.memory_bytes / 4096 * 20, 13'000'000));
    plan.memory_bytes = 1L << 20;
    CHECK(plan.bytes_to_prefault() == std::min(prefault_bytes, 1L << 20) && plan.page_margin_us() == 256 * 20);
  }
  static_assert(cpu_stop_us(2'000) == 2'600'000 && idle_stop_us(2'000) == 3'000'000);
  static_assert(given_up_us(2'000, 10'000) == 130'000'000 && max_for_pages_us(1'000) == 13'000'000);
}

void test_room_on_disks() {
  auto fault_on = [](const char* disk, int files) {
    return fault_of([&] { require_room(disk, {1 << 20, files}, [] { return DiskUse{0, 10}; }); });
  };
  for (const char* disk : {"CephFS", "btrfs"}) CHECK(fault_on(disk, 256) == "no fault");
  CHECK(fault_on("ext4", 110) == "no fault" && fault_on("ext4", 111) == "system: fewer than 111 more files fit into ext4");
}

// A checker or interpreter that cannot be opened is our failure: neither the checker's nor the plan's, whose job would not be
// sent again.
// While it exists, this process can open only so many more files.
class DescriptorsLeft {
 public:
  explicit DescriptorsLeft(int count) {
    int free = dup(0);  // the lowest number that is free, and all above it
    close(free);
    getrlimit(RLIMIT_NOFILE, &usual_);
    rlimit few = {static_cast<rlim_t>(free + count), usual_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~DescriptorsLeft() { setrlimit(RLIMIT_NOFILE, &usual_); }

 private:
  rlimit usual_;
};

void test_no_descriptor_left() {
  Fd program(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  JobFiles files;
  files.inherit(format("checker=%d", program.get()));
  CHECK(fault_of([&] { executable(files, "checker"); }) == "no fault");
  RunPlan plan;
  plan.interpreter = "/proc/self/exe";
  Machine machine;
  Job job{plan, machine};
  {
    DescriptorsLeft none(0);
    CHECK(fault_of([&] { executable(files, "checker"); }) == "system: open checker: Too many open files");
    CHECK(fault_of([&] { open_interpreter(job, files); }) == "system: open /proc/self/exe: Too many open files");
  }
  plan.interpreter = "/nowhere/python3";
  CHECK(fault_of([&] { open_interpreter(job, files); }) == "plan: there is no interpreter /nowhere/python3: No such file or directory");
}

// An artifact that cannot be opened is our failure too. Without one, the compiler would have made no program, which is CE.
void test_no_descriptor_for_an_artifact() {
  char base[] = "/tmp/units-XXXXXX";
  CHECK(mkdtemp(base) != nullptr);
  Machine machine;
  machine.base = base;
  CompilePlan plan;
  plan.actions.push_back({CompileAction::Kind::Artifact, "a.out", "", "a.out"});
  JobFiles files;
  Lines lines;
  {
    Compilation compilation(plan, machine, files, lines);
    CHECK(fault_of([&] { compilation.run(); }) == "no fault" && lines.printed == 0);
    for (auto [count, what] : {std::pair{0, "the work directory"}, {1, "a.out"}}) {
      DescriptorsLeft left(count);
      CHECK(fault_of([&] { compilation.run(); }) == format("system: open %s: Too many open files", what));
    }
  }
  CHECK(rmdir(base) == 0);
}

// The result of a seccomp filter program for a call. -1: it jumps outside of the program, or has an invalid instruction.
int64_t run_filter(const std::vector<sock_filter>& code, const seccomp_data& data) {
  uint32_t accumulator = 0;
  for (size_t at = 0; at < code.size(); at++) {
    const sock_filter& now = code[at];
    bool jump = false;
    switch (now.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (now.k % 4 != 0 || now.k + 4 > sizeof data) return -1;
        memcpy(&accumulator, reinterpret_cast<const char*>(&data) + now.k, 4);
        continue;
      case BPF_ALU | BPF_AND | BPF_K: accumulator &= now.k; continue;
      case BPF_RET | BPF_K: return now.k;
      case BPF_JMP | BPF_JA: at += now.k; continue;
      case BPF_JMP | BPF_JEQ | BPF_K: jump = accumulator == now.k; break;
      case BPF_JMP | BPF_JGE | BPF_K: jump = accumulator >= now.k; break;
      case BPF_JMP | BPF_JSET | BPF_K: jump = (accumulator & now.k) != 0; break;
      default: return -1;
    }
    at += jump ? now.jt : now.jf;
  }
  return -1;
}

// The filter's tree gives the same decision as the call's rule in the table, for each call and each kind of contestant.
void test_filters() {
  const uint64_t values[] = {0, 1, 2, 9, 77, 0x40000, 0xffffffff, 0x80000000};
  CallSet none, some;
  for (long number : {SYS_socket, SYS_ptrace, SYS_mmap}) some.has[number] = true;
  for (int kind = 0; kind < 96; kind++) {
    bool notify = kind & 1, reduced = kind & 2, libraries = kind & 4, interpreted = kind & 8;
    const CallSet& hidden = kind & 16 ? some : none;
    Siblings siblings = static_cast<Siblings>(kind / 32);
    uint64_t key = interpreted ? 0 : 0x123456789abcdef0;
    FilterKind filter_kind{notify, reduced, siblings, libraries, interpreted, key};
    Filter filter = contestant_filter(filter_kind, hidden);
    for (size_t at : filter.self) filter.code[at].k = 77;
    CHECK(filter.code.size() <= BPF_MAXINSNS);
    for (long number = 0; number < kCalls; number++) {
      const CallRule* rule = rule_of(number);
      // Numbers without a call are not tried one by one: one hidden call hides all of them.
      bool is_hidden = rule != nullptr || number < kLastCall ? hidden.has[number] : hidden.any();
      Filter piece = decision(filter_kind, rule != nullptr ? *rule : kUnlisted, is_hidden);
      for (size_t at : piece.self) piece.code[at].k = 77;
      for (uint64_t value : values) {
        seccomp_data data = {static_cast<int>(number), AUDIT_ARCH_X86_64, 0, {value, value, value, value, value, value}};
        int64_t decided = run_filter(filter.code, data);
        CHECK(decided >= 0 && decided == run_filter(piece.code, data));
      }
    }
    for (auto [descriptor, sixth, is_allowed] : {std::tuple{kExecutedFd, key, key != 0}, {kExecutedFd, key + 1, false},
                                                 {kExecutedFd, key ^ 1UL << 32, false}, {kControlFd, key, false}}) {
      seccomp_data data = {SYS_execveat, AUDIT_ARCH_X86_64, 0, {static_cast<uint64_t>(descriptor), 1, 1, 1, 1, sixth}};
      CHECK((run_filter(filter.code, data) == SECCOMP_RET_ALLOW) == is_allowed);
    }
    uint32_t deadly = notify && !hidden.any() ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_KILL_PROCESS;
    CHECK(run_filter(filter.code, {SYS_read, AUDIT_ARCH_I386, 0, {}}) == deadly);
    CHECK(run_filter(filter.code, {0x40000000 | SYS_read, AUDIT_ARCH_X86_64, 0, {}}) == deadly);
  }
  CHECK(refusal_of({SYS_read, AUDIT_ARCH_I386, 0, {}}).deadly);
  CHECK(refusal_of({-1, AUDIT_ARCH_X86_64, 0, {}}).deadly);  // as for the filter, to which it is a large number
  CHECK(refusal_of({SYS_socket, AUDIT_ARCH_X86_64, 0, {}}).name == "socket");
  CHECK(refusal_of({511, AUDIT_ARCH_X86_64, 0, {}}).name == "syscall_511");
  for (int number : {512, 999}) CHECK(refusal_of({number, AUDIT_ARCH_X86_64, 0, {}}).name == "unknown_call");
}

// The filter of a step decides about each call that has a rule as the rule says, and allows others.
void test_step_filter() {
  std::vector<CallRule> rules(std::begin(kStepRules), std::end(kStepRules));
  rules.insert(rules.end(), std::begin(kMoreStepRules), std::end(kMoreStepRules));
  std::vector<sock_filter> code = step_filter(false);
  for (const CallRule& rule : rules) {
    for (const CallName& call : rule.calls) {
      for (uint64_t value : {0, 1, 2, 3, 8, 15, 17, 0x21, 0x200, 0x8000, 0x10000000}) {
        seccomp_data data = {static_cast<int>(call.number), AUDIT_ARCH_X86_64, 0, {value, value, value, value, value, value}};
        CHECK(run_filter(code, data) == run_filter(decision({}, rule, false).code, data));
      }
    }
  }
  CHECK(run_filter(code, {SYS_ptrace, AUDIT_ARCH_X86_64, 0, {}}) == (SECCOMP_RET_ERRNO | EPERM));
  CHECK(run_filter(code, {SYS_read, AUDIT_ARCH_X86_64, 0, {}}) == SECCOMP_RET_ALLOW);
  CHECK(run_filter(code, {kLastStepCall, AUDIT_ARCH_X86_64, 0, {}}) == (SECCOMP_RET_ERRNO | ENOSYS));
  auto decided = [&](long call, std::initializer_list<uint64_t> args) {
    seccomp_data data = {static_cast<int>(call), AUDIT_ARCH_X86_64, 0, {}};
    std::copy(args.begin(), args.end(), data.args);
    return run_filter(code, data);
  };
  // Waits that look like waits for a disk.
  CHECK(decided(SYS_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD}) == SECCOMP_RET_ALLOW);
  CHECK(decided(SYS_clone, {kThread}) == SECCOMP_RET_ALLOW);
  CHECK(decided(SYS_clone, {kThread | CLONE_VFORK}) == (SECCOMP_RET_ERRNO | EPERM));
  CHECK(decided(SYS_openat, {0, 0, O_RDWR | O_CREAT | O_CLOEXEC}) == SECCOMP_RET_ALLOW);
  for (uint64_t waits : {O_DSYNC, O_SYNC, O_DIRECT}) {
    CHECK(decided(SYS_open, {0, O_RDWR | waits}) == (SECCOMP_RET_ERRNO | EOPNOTSUPP));
    CHECK(decided(SYS_openat, {0, 0, O_RDWR | waits}) == (SECCOMP_RET_ERRNO | EOPNOTSUPP));
  }
  CHECK(decided(SYS_fcntl, {0, F_SETFL, O_NONBLOCK}) == SECCOMP_RET_ALLOW);
  CHECK(decided(SYS_fcntl, {0, F_SETFL, O_DIRECT}) == (SECCOMP_RET_ERRNO | EPERM));
  CHECK(decided(SYS_pwritev2, {0, 0, 0, 0, 0, 2 /* RWF_DSYNC */}) == (SECCOMP_RET_ERRNO | EOPNOTSUPP));
  CHECK(decided(SYS_madvise, {0, 0, MADV_DONTNEED}) == SECCOMP_RET_ALLOW);
  CHECK(decided(SYS_madvise, {0, 0, 21 /* MADV_PAGEOUT */}) == (SECCOMP_RET_ERRNO | EINVAL));
  CHECK(decided(SYS_ioctl, {0, 0x40086602 /* FS_IOC_SETFLAGS */}) == (SECCOMP_RET_ERRNO | ENOTTY));
  for (long call : {SYS_sync_file_range, SYS_msync, SYS_fadvise64}) CHECK(decided(call, {}) == SECCOMP_RET_ERRNO);
  CHECK(run_filter(step_filter(true), {SYS_kill, AUDIT_ARCH_X86_64, 0, {}}) == SECCOMP_RET_ALLOW);
}

// One side has ended before it opened its FIFOs. The runner opens them in its place, and is held up before it closes them:
// meanwhile the other side reads the end of file, and ends. It was not the first to close, unless it had closed before.
void test_fifo_closes() {
  char directory[] = "/tmp/fifo-closes-XXXXXX";
  CHECK(mkdtemp(directory) != nullptr);
  ProcessDirectories fifos;
  fifos.fifo_in = std::string(directory) + "/in";
  fifos.fifo_out = std::string(directory) + "/out";
  CHECK(mkfifo(fifos.fifo_in.c_str(), 0600) == 0 && mkfifo(fifos.fifo_out.c_str(), 0600) == 0);
  RunPlan plan;
  plan.task = TaskType::Communication;
  Machine machine;
  for (FifoCloses::Side first : {FifoCloses::Nobody, FifoCloses::TheProcess}) {
    for (FifoCloses::Side ended : {FifoCloses::TheManager, FifoCloses::TheProcess}) {
      Job job{plan, machine};
      job.directories.resize(1);
      FifoCloses fifo_closes(job);
      fifo_closes.watch(0, fifos);
      auto opened = [](const std::string& fifo, int mode) { return Fd(open(fifo.c_str(), mode | O_NONBLOCK)); };
      if (first == FifoCloses::TheProcess) opened(fifos.fifo_in, O_RDONLY);
      fifo_closes.note_end(ended, 0);
      Fd in = opened(fifos.fifo_in, O_RDWR), out = opened(fifos.fifo_out, O_RDWR);  // so that neither side waits
      if (ended == FifoCloses::TheManager) opened(fifos.fifo_in, O_RDONLY), opened(fifos.fifo_out, O_WRONLY);
      if (ended == FifoCloses::TheProcess) opened(fifos.fifo_in, O_WRONLY), opened(fifos.fifo_out, O_RDONLY);
      CHECK(fifo_closes.first_to_close(0) == (first == FifoCloses::Nobody ? ended : first));
    }
  }
  for (const std::string& fifo : {fifos.fifo_in, fifos.fifo_out}) unlink(fifo.c_str());
  rmdir(directory);
}

void test_messages() {
  auto [ours, theirs] = connected_sockets();
  char text[8];
  Fd received;
  auto receive = [&] { receive_message(ours.get(), text, sizeof text, received); };
  CHECK(send_message(theirs.get(), "text", 5, {theirs.get()}));
  receive();
  CHECK(received && strcmp(text, "text") == 0);
  CHECK(send_message(theirs.get(), "more", 5, {theirs.get()}));
  DescriptorsLeft none(0);
  CHECK(fault_of(receive) == "system: a descriptor was lost: is there a free one left?");
}

// More processes than one read of /proc shows.
void test_descendants() {
  constexpr size_t kMany = 800;
  for (size_t i = 0; i < kMany; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      pause();
    }
    CHECK(pid > 0);
  }
  CHECK(descendants(getpid()).size() == kMany);
  for (int count : {0, 1}) {  // without descriptors they are not "none": a limit would not hold, and nothing would be killed
    DescriptorsLeft left(count);
    CHECK(fault_of([] { kill_leftovers({}); }).find(": Too many open files") != std::string::npos);
  }
  kill_leftovers({});
  CHECK(descendants(getpid()).empty());
  CHECK(fault_of([] { require_lists_of_children(); }) == "no fault");
  CHECK(fault_of([] { require_lists_of_children("/proc/thread-self/none"); }) ==
        "system: open /proc/thread-self/none (does the kernel lack CONFIG_PROC_CHILDREN?): No such file or directory");
}

// Page tables and swapped pages of a process that /proc hides, which shows the directory of its main thread itself.
void test_memory() {
  char directory[] = "/tmp/status-XXXXXX";
  CHECK(mkdtemp(directory) != nullptr);
  std::string path = std::string(directory) + "/status";
  FILE* status = fopen(path.c_str(), "w");
  fputs("Name:\tVmSwap:\nVmRSS:\t    1024 kB\nVmPTE:\t      44 kB\nVmSwap:\t    2048 kB\nThreads:\t1\n", status);
  fclose(status);
  ProcFiles files;
  files.main_thread_is(Fd(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  ProcFiles::Memory memory = files.memory(1, {});
  CHECK(memory.tables_bytes == 44 << 10);
  CHECK(memory.with_swapped_bytes == 3 << 20);
  unlink(path.c_str());
  rmdir(directory);
}

// The names of a line are bounded, however many processes and passes a test has.
void test_attempts() {
  Attempts attempted;
  for (size_t i = 0; i < 2 * kMaxNames; i++) add_attempts(attempted, format("syscall_%zu", i), 2);
  add_attempts(attempted, "syscall_0", 3);
  CHECK(attempted.size() == kMaxNames);
  CHECK(attempted.front() == std::make_pair(std::string("syscall_0"), 5));
}

// A step can put directories into directories without end.
void test_remove_tree() {
  char name[] = "/tmp/tree-XXXXXX";
  CHECK(mkdtemp(name) != nullptr);
  CHECK(close(open((std::string(name) + "/file").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0);
  CHECK(symlink("/", (std::string(name) + "/link").c_str()) == 0);
  Fd deepest(open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int depth = 0; depth < 8'000; depth++) {
    CHECK(mkdirat(deepest.get(), "below", 0700) == 0);
    deepest = Fd(openat(deepest.get(), "below", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  remove_tree(AT_FDCWD, name);
  CHECK(access(name, F_OK) != 0);
}

}  // namespace

int main() {
  test_wait_clock();
  test_json();
  test_lines();
  test_plan_lines();
  test_protocols();
  test_scores();
  test_room();
  test_room_on_disks();
  test_no_descriptor_left();
  test_no_descriptor_for_an_artifact();
  test_filters();
  test_step_filter();
  test_fifo_closes();
  test_messages();
  test_descendants();
  test_memory();
  test_attempts();
  test_remove_tree();
  return failed;
}
