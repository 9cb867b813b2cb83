// The runner: the judge inside the box. It reads a plan, starts programs, watches them, and prints lines.
//
// THEORY OF OPERATION
//
// The page PROTOCOL.md says what goes in and out. This essay says how a test is run, and why so.
//
// The runner is one small, single-threaded process. Beside it live, for the length of one test: the *contestants*
// (the submission; several in a Communication task), the *judges* (checker, manager), and *zones* (below). In
// compile mode there are *steps* instead. It trusts the plan and the judges; of a contestant it believes nothing.
//
//   runner ─┬─ zone ·····PID 1 of a namespace that lives for one process of one test
//           │    └─ (the contestant is PID 2 there, but the runner's own child)
//           ├─ contestant      root directory of its own, no capabilities, Landlock, seccomp, rlimits
//           └─ judge           sees everything that the plan names, by descriptor
//
// Isolation comes in two strengths, and the runner uses the best that it finds (section "Means"):
//
//   full      a PID namespace for each contestant, a root directory of its own (a tmpfs with /dev/null, a bounded
//             scratch directory and, in some tasks, two FIFOs), no capabilities, seccomp; Landlock where it exists.
//   reduced   no namespaces: Landlock keeps every path but the scratch directory away, seccomp keeps every other
//             process away. Either of the two missing: `none`.
//
// Seccomp is an allowlist (section "System calls"). A call that is not on it reaches the runner through a seccomp
// listener: the runner notes its name and refuses it by errno, so that an honest program that tries `system("pause")`
// goes on; a call with no honest use ends the program (verdict SV). After many refusals the listener is closed, and
// the kernel refuses by itself: refusals can cost the judge a bounded time only.
//
// Starting a contestant. The child sets itself up in the order in which each step still permits the next: session,
// FIFOs, root directory, rlimits, capabilities, no_new_privs, Landlock, seccomp. Seccomp comes before exec, so the
// filter must let pass what is still to be done: a `sendmsg` that hands the listener to the runner, and one `execveat`
// of the program. Both are allowed for one descriptor number each, both above the descriptor limit of a contestant and
// closed by the exec: the program can never own these numbers. The end of that socket tells the runner that the exec
// has happened; the clocks of a contestant start there.
//
// No process is given a descriptor that another has: an input is opened anew through /proc/self/fd for each reader (a
// shared offset would be a channel, or a fault). Outputs are memory files. A contestant's program is copied into a
// memory file with mode 0111, so that it can be executed but not read, and the kernel makes its process undumpable.
//
// Watching. The runner sleeps in ppoll on pidfds and wakes every 1 to 5 ms to read three numbers of each process: CPU
// time (its CPU clock), run-queue delay (schedstat of its threads) and resident memory. *Idle* time is what
// remains of an interval after CPU time and run-queue delay; only idle time, never the wall clock, makes a program that
// waits a TLE: a loaded machine cannot. The numbers that are judged come from wait4 when all is over. The runner maps
// no test data and stays small: a child's peak memory as the kernel counts it begins with its parent's at the fork.
//
// Communication. The manager runs beside the contestants and talks to them over FIFOs. Two questions are hard.
// *Who is blocked by whom?* A process that ends before it has opened its FIFOs would leave its peer in open(2) for
// ever, and a spare end held by the runner would hide the end of file. So while one side is dead the runner opens and
// closes that side's ends, without blocking, at every tick: a blocked open returns, and reads find the end of file.
// *Who ended first?* A program that crashes makes most managers print 0; a manager that is done makes many stubs exit
// with an error. The order in which the runner sees two deaths is the scheduler's. But each side must close its FIFOs
// to be noticed by the other, and inotify reports these closes in the order in which the kernel made them. So:
//   - TLE, MLE, OLE, SV and death by a signal other than SIGPIPE are the program's doing, whenever they happen;
// (The manager has hung up on a process when it has closed both FIFOs: an end of file may be its last word.)
//   - a non-zero exit code or SIGPIPE is the program's doing if it hung up first; if the manager hung up first it is a
//     consequence: a manager's score of 0 stands (WA). A higher score does not: CMS gives 0 then, and so do we (RE).
//   - a manager that fails is at fault (JE) unless a contestant failed by these rules, with one exception: SIGPIPE after
//     a contestant has hung up. The program can cause that at will, so it is its own 0 (WA), not the judge's error.
// Source: CMS's Communication task type gives 0 whenever a process fails, and an error when the manager fails.
//
// After a test all of its processes are killed and reaped, its directories unmounted or emptied, its descriptors closed.
//
// Two ways to report failure, never mixed: `fault` is ours (the job has no result), a verdict is theirs. A judge program
// that fails makes a JE line, which is about one test; it is neither.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#if !defined(__x86_64__)
#error "The runner's table of system calls is written for x86-64."
#endif

// ------------------------------------------------------------------------------------------------ the kernel's numbers
// What the headers of an older system (Debian 11: Linux 5.10, glibc 2.31) lack. The kernel says at run time what it has.

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1UL << 2)
#endif

namespace {

constexpr int kVersion = 1;

constexpr long kSysPidfdSendSignal = 424;
constexpr long kSysPidfdOpen = 434;
constexpr long kSysCloseRange = 436;
constexpr long kSysLandlockCreateRuleset = 444;
constexpr long kSysLandlockAddRule = 445;
constexpr long kSysLandlockRestrictSelf = 446;

// ------------------------------------------------------------------------------------------------ our numbers

constexpr int kControlFd = 200;  // a contestant's control socket, until its exec
constexpr int kProgramFd = 201;  // its program, until its exec
constexpr int kLeastFds = 320;  // of our own: numbers above these two must be possible
constexpr rlim_t kContestantFds = 64;
static_assert(kControlFd >= static_cast<int>(kContestantFds), "a contestant must not be able to own these numbers");
constexpr int kJudgeInputFd = 10, kJudgeAnswerFd = 11, kJudgeOutputFd = 12, kJudgeProgramFd = 13,
              kJudgeLastFd = 14;

constexpr int64_t kScratchBytes = 16 << 20;  // what a contestant may keep in files
constexpr int kScratchFiles = 256;
constexpr int64_t kFileSlackBytes = 256 << 20;  // by how much a file may outgrow its limit before polling sees it
constexpr size_t kMostNames = 32;             // of refused calls, in one report
constexpr int kMostRefusals = 1000;          // after that the kernel refuses by itself
constexpr size_t kMessageBytes = 4000;
constexpr size_t kStderrBytes = 2000;        // of what is kept, this much is in a line
constexpr int64_t kFirstTickUs = 1000, kTickUs = 5000, kQuickPhaseUs = 20000;
constexpr int64_t kManagerIdleUs = 10'000'000;  // a manager that does nothing after all contestants have ended
constexpr int64_t kDiskUs = 5'000'000;  // beside the CPU limit: how long a test may wait for disks
constexpr int64_t kManagerGraceUs = 200'000;    // how long after a manager's failure a contestant's own may show
constexpr size_t kStepFloodBytes = 64 << 20;    // a step that prints more than this is stopped
constexpr int64_t kStepFileSlackBytes = 1 << 30;  // polling sees a file over its limit long before it has grown so much

constexpr uint32_t kOpenRefused = 020000000 | 010000000;  // under reduced isolation: __O_TMPFILE, O_PATH

const char* const kPath = "/usr/local/bin:/usr/bin:/bin";
const char* const kKilledFromOutside = "killed from outside: is there memory left?";

// ------------------------------------------------------------------------------------------------ lines and faults

std::string g_nonce;
int g_lines = 0;

int64_t now_us() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000LL + t.tv_nsec / 1000;
}

void print(const char* data, size_t size) {
  while (size > 0) {
    ssize_t n = write(STDOUT_FILENO, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(4);  // nobody listens any more: there is nothing left to say, or to do
    data += n;
    size -= static_cast<size_t>(n);
  }
}

void print(const std::string& text) { print(text.data(), text.size()); }

// Text as a JSON string: bytes that are not printable ASCII become \u00XX, byte for byte.
std::string quoted(const std::string& text) {
  static const char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c >= 0x20 && c < 0x7f) {
      out += static_cast<char>(c);
    } else {
      out += "\\u00";
      out += hex[c >> 4];
      out += hex[c & 15];
    }
  }
  return out + '"';
}

__attribute__((format(printf, 1, 0))) std::string vformat(const char* format, va_list args) {
  char buffer[1024];
  vsnprintf(buffer, sizeof buffer, format, args);
  return buffer;
}

__attribute__((format(printf, 1, 2))) std::string format(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = vformat(format, args);
  va_end(args);
  return text;
}

// Our failure. There is no result; the kernel kills every child of ours as we go (PR_SET_PDEATHSIG).
[[noreturn]] void fault(const char* kind, const std::string& words) {
  print("{\"fault\":\"" + std::string(kind) + "\",\"words\":" + quoted(words) + ",\"nonce\":" + quoted(g_nonce) + "}\n");
  _exit(3);
}

[[noreturn]] __attribute__((format(printf, 1, 2))) void plan_fault(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fault("plan", vformat(format, args));
}

// A system call of ours failed that cannot fail on a healthy machine.
[[noreturn]] __attribute__((format(printf, 1, 2))) void system_fault(const char* format, ...) {
  int error = errno;
  va_list args;
  va_start(args, format);
  fault("system", vformat(format, args) + ": " + strerror(error));
}

// ------------------------------------------------------------------------------------------------ descriptors

// A descriptor that closes itself. Everything that the runner opens is close-on-exec.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// The same file, opened anew: an offset of its own.
int reopen(int fd, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return open(path, flags | O_CLOEXEC);
}

Fd memory_file(const char* name) {
  Fd fd(static_cast<int>(syscall(SYS_memfd_create, name, 1 /* MFD_CLOEXEC */)));
  if (!fd) system_fault("memfd_create");
  return fd;
}

int64_t file_size(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 ? status.st_size : 0;
}

// The first bytes of a file, whatever its offset.
std::string head(int fd, size_t most) {
  std::string text(static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(most), file_size(fd))), '\0');
  size_t got = 0;
  while (got < text.size()) {
    ssize_t n = pread(fd, &text[got], text.size() - got, static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  text.resize(got);
  return text;
}

bool copy_bytes(int from, int to) {
  char buffer[16384];
  off_t offset = 0;
  for (;;) {
    ssize_t n = pread(from, buffer, sizeof buffer, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    offset += n;
    for (ssize_t done = 0; done < n;) {
      ssize_t m = write(to, buffer + done, static_cast<size_t>(n - done));
      if (m < 0 && errno == EINTR) continue;
      if (m <= 0) return false;
      done += m;
    }
  }
}

bool write_text(const char* path, const char* text) {
  Fd fd(open(path, O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), text, strlen(text)) == static_cast<ssize_t>(strlen(text));
}

// A small file of /proc as text. Empty if it is gone.
size_t read_text(int directory, const char* path, char* buffer, size_t size) {
  Fd fd(openat(directory, path, O_RDONLY | O_CLOEXEC));
  ssize_t n = fd ? read(fd.get(), buffer, size - 1) : 0;
  buffer[std::max<ssize_t>(n, 0)] = '\0';
  return static_cast<size_t>(std::max<ssize_t>(n, 0));
}

// How many processes the kernel has killed since its start because there was no memory, of the machine or of a cgroup.
long long out_of_memory_kills() {
  Fd fd(open("/proc/vmstat", O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  for (ssize_t n; fd && (n = read(fd.get(), buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  size_t at = text.find("\noom_kill ");
  return at != std::string::npos ? atoll(text.c_str() + at + 10) : 0;
}

// How a child says what went wrong before its exec: a pipe that the exec closes.
class LastWords {
 public:
  LastWords() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) system_fault("pipe");
    ours_ = Fd(ends[0]);
    theirs_ = Fd(ends[1]);
  }

  // The child's side.
  [[noreturn]] void say(const char* what) {
    std::string text = std::string(what) + ": " + strerror(errno);
    if (write(theirs_.get(), text.data(), text.size()) < 0) _exit(126);
    _exit(127);
  }

  // After its end. Empty: there were none.
  std::string hear() {
    char text[512];
    ssize_t n = read(ours_.get(), text, sizeof text);
    return std::string(text, static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }

 private:
  Fd ours_, theirs_;
};

// ------------------------------------------------------------------------------------------------ the plan

enum class Isolation { None, Reduced, Full };
enum class Protocol { Cms, Testlib, Kattis, WhiteDiff };

const char* name_of(Isolation level) {
  return level == Isolation::Full ? "full" : level == Isolation::Reduced ? "reduced" : "none";
}

// A program of the judge: what it is, and what it may use.
struct JudgeSpec {
  Fd program;
  int64_t cpu_ms = 0, wall_ms = 0, memory_bytes = 0;
  std::vector<std::string> args;
};

struct Test {
  long id = 0;
  int input = -1, answer = -1;                 // descriptors
  std::vector<std::pair<int, int>> at;         // (group, position)
};

struct CompileAction {
  enum class Kind { See, Step, Artifact } kind;
  std::vector<std::string> words;  // See: file, path. Step: argv. Artifact: path, name.
};

struct Plan {
  Isolation least = Isolation::Full;
  bool compile = false;
  // both modes, where they apply
  int64_t cpu_ms = 0, wall_ms = 0, memory_bytes = 0, output_bytes = 0, stderr_bytes = 0, file_bytes = 0;
  long processes = 1, threads = 1;
  std::vector<CompileAction> actions;
  std::string program;
  bool is_static = true;
  bool communication = false, fifo_io = false;
  bool has_manager = false, has_checker = false;
  JudgeSpec manager, checker;
  Protocol protocol = Protocol::Cms;
  bool needed_only = false;
  std::vector<Test> tests;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decode(const std::string& word) {
  std::string text;
  if (word == "%") return text;
  for (size_t i = 0; i < word.size(); i++) {
    if (word[i] != '%') {
      text += word[i];
      continue;
    }
    int high = i + 2 < word.size() ? hex_digit(word[i + 1]) : -1;
    int low = i + 2 < word.size() ? hex_digit(word[i + 2]) : -1;
    if (high < 0 || low < 0) plan_fault("a word is not encoded as it must be: %s", word.c_str());
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// One line of a plan. Every key is asked for; what was not asked for is unknown.
class PlanLine {
 public:
  PlanLine(int number, const std::string& text) : number_(number) {
    std::vector<std::string> words = split(text, ' ');
    name = words[0];
    for (size_t i = 1; i < words.size(); i++) {
      size_t equals = words[i].find('=');
      if (equals == std::string::npos) {
        bare_.push_back(decode(words[i]));
      } else {
        pairs_.push_back({words[i].substr(0, equals), decode(words[i].substr(equals + 1)), false});
      }
    }
  }

  std::string name;

  bool has(const char* key) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const Pair& p) { return p.key == key; });
  }

  std::vector<std::string> all(const char* key) {
    std::vector<std::string> values;
    for (Pair& pair : pairs_) {
      if (pair.key != key) continue;
      pair.used = true;
      values.push_back(pair.value);
    }
    return values;
  }

  std::string text(const char* key) {
    std::vector<std::string> values = all(key);
    if (values.size() != 1) bad(format("needs `%s` once", key));
    return values[0];
  }

  int64_t number(const char* key, int64_t least, int64_t most) {
    return to_number(text(key), least, most, key);
  }

  int64_t to_number(const std::string& digits, int64_t least, int64_t most, const char* what) const {
    bool plain = !digits.empty() && digits.size() <= 18 && digits.find_first_not_of("0123456789") == std::string::npos;
    int64_t value = plain ? strtoll(digits.c_str(), nullptr, 10) : -1;
    if (!plain || value < least || value > most) bad(format("`%s` is out of range: %s", what, digits.c_str()));
    return value;
  }

  template <typename Value>
  Value choice(const char* key, std::initializer_list<std::pair<const char*, Value>> choices) {
    std::string word = text(key);
    for (const auto& [name_of_choice, value] : choices) {
      if (word == name_of_choice) return value;
    }
    bad(format("`%s` is unknown: %s", key, word.c_str()));
  }

  std::string bare() {
    if (bare_.size() != 1) bad("needs one word");
    return std::exchange(bare_, {})[0];
  }

  void finish() const {
    if (!bare_.empty()) bad("has a word too many: " + bare_[0]);
    for (const Pair& pair : pairs_) {
      if (!pair.used) bad("has an unknown key: " + pair.key);
    }
  }

  [[noreturn]] void bad(const std::string& words) const {
    plan_fault("line %d (%s) %s", number_, name.c_str(), words.c_str());
  }

 private:
  struct Pair {
    std::string key, value;
    bool used;
  };
  int number_;
  std::vector<std::string> bare_;
  std::vector<Pair> pairs_;
};

// The job's files, by their names: descriptors that are inherited, or opened in the working directory and unlinked.
class JobFiles {
 public:
  // `plan=12,t0.in=13,…`: names are encoded as words, as in a plan.
  void inherit(const std::string& table) {
    for (const std::string& entry : split(table, ',')) {
      size_t equals = entry.rfind('=');
      if (equals == std::string::npos) plan_fault("--fds: not name=number: %s", entry.c_str());
      char* end = nullptr;
      long fd = strtol(entry.c_str() + equals + 1, &end, 10);
      if (*end != '\0' || fd < 3 || fd > INT_MAX || fcntl(static_cast<int>(fd), F_GETFD) < 0) {
        plan_fault("--fds: not an open descriptor: %s", entry.c_str());
      }
      // A memory file is on no path, so Landlock lets a contestant open it anew through /proc/self/fd: but not to write.
      if (fcntl(static_cast<int>(fd), 1034 /* F_GET_SEALS */) >= 0) fchmod(static_cast<int>(fd), 0555);
      entries_.emplace_back(decode(entry.substr(0, equals)), static_cast<int>(fd));
    }
  }

  void in_directory(const std::string& directory) {
    if (chdir(directory.c_str()) != 0) system_fault("--dir %s", directory.c_str());
    by_path_ = true;
  }

  void forget() { std::vector<std::pair<std::string, int>>().swap(entries_); }

  int get(const std::string& name) {
    for (const auto& [known, fd] : entries_) {
      if (known == name) return fd;
    }
    int fd = by_path_ ? open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd < 0) plan_fault("the job has no file %s", name.c_str());
    if (file_size(fd) < 0) plan_fault("%s is not a file", name.c_str());
    unlink(name.c_str());  // should this fail, then Landlock or the root directory still hides it from contestants
    entries_.emplace_back(name, fd);
    return fd;
  }

 private:
  std::vector<std::pair<std::string, int>> entries_;
  bool by_path_ = false;
};

JobFiles g_files;

// A file that may be executed: the job's own if it may, else a copy. Piston, for one, gives every file mode 644.
Fd executable(const std::string& name) {
  int original = g_files.get(name);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", original);
  if (access(path, X_OK) == 0) return Fd(reopen(original, O_RDONLY));
  Fd copy = memory_file(name.c_str());
  if (!copy_bytes(original, copy.get()) || fchmod(copy.get(), 0500) != 0) system_fault("copy %s", name.c_str());
  return Fd(reopen(copy.get(), O_RDONLY));
}

constexpr int64_t kMostMs = 86'400'000, kMostBytes = int64_t{1} << 46;

JudgeSpec judge_spec(PlanLine& line, bool with_file) {
  JudgeSpec spec;
  if (with_file) spec.program = executable(line.text("file"));
  spec.cpu_ms = line.number("cpu_ms", 1, kMostMs);
  spec.wall_ms = line.number("wall_ms", 1, kMostMs);
  spec.memory_bytes = line.number("memory_bytes", 1, kMostBytes);
  if (with_file && line.has("args")) {
    for (const std::string& word : split(line.text("args"), ',')) spec.args.push_back(decode(word));
  }
  return spec;
}

std::string path_below(PlanLine& line, const char* key) {
  std::string path = line.text(key);
  bool leaves = path.empty() || path[0] == '/' || ("/" + path + "/").find("/../") != std::string::npos;
  if (leaves) line.bad("leaves the work directory: " + path);
  return path;
}

void read_compile_line(PlanLine& line, Plan& plan) {
  using Kind = CompileAction::Kind;
  if (line.name == "limits") {
    plan.cpu_ms = line.number("cpu_ms", 1, kMostMs);
    plan.wall_ms = line.number("wall_ms", 1, kMostMs);
    plan.memory_bytes = line.number("memory_bytes", 1, kMostBytes);
    plan.processes = line.number("processes", 1, 1'000'000);
    plan.output_bytes = line.number("output_bytes", 0, 1 << 30);
    plan.file_bytes = line.number("file_bytes", 1, kMostBytes);
  } else if (line.name == "see") {
    std::string file = line.text("file"), path = path_below(line, "as");
    g_files.get(file);
    plan.actions.push_back({Kind::See, {file, path}});
  } else if (line.name == "step") {
    std::vector<std::string> argv = line.all("argv");
    if (argv.empty() || argv[0].empty()) line.bad("needs `argv`");
    plan.actions.push_back({Kind::Step, argv});
  } else if (line.name == "artifact") {
    std::string path = path_below(line, "path");
    plan.actions.push_back({Kind::Artifact, {path, line.has("as") ? line.text("as") : path}});
  } else {
    line.bad("is unknown in compile mode");
  }
}

void read_test_line(PlanLine& line, Plan& plan) {
  Test test;
  test.id = line.number("id", 0, INT_MAX);
  test.input = g_files.get(line.text("input"));
  if (line.has("answer")) test.answer = g_files.get(line.text("answer"));
  if (line.has("at")) {
    for (const std::string& place : split(line.text("at"), ',')) {
      std::vector<std::string> pair = split(place, ':');
      if (pair.size() != 2) line.bad("has a place that is not group:position: " + place);
      test.at.emplace_back(static_cast<int>(line.to_number(pair[0], 0, INT_MAX, "at")),
                           static_cast<int>(line.to_number(pair[1], 0, INT_MAX, "at")));
    }
  }
  plan.tests.push_back(std::move(test));
}

void read_run_line(PlanLine& line, Plan& plan) {
  if (line.name == "program") {
    plan.program = line.text("file");
    g_files.get(plan.program);
    if (line.has("static")) plan.is_static = line.number("static", 0, 1) == 1;
  } else if (line.name == "limits") {
    plan.cpu_ms = line.number("cpu_ms", 1, kMostMs);
    plan.memory_bytes = line.number("memory_bytes", 1, kMostBytes);
    plan.output_bytes = line.number("output_bytes", 0, kMostBytes);
    plan.stderr_bytes = line.number("stderr_bytes", 0, kMostBytes);
    plan.processes = line.number("processes", 1, 64);
    plan.threads = line.number("threads", 1, 100'000);
  } else if (line.name == "task") {
    plan.communication = line.choice<bool>("kind", {{"batch", false}, {"communication", true}});
    if (plan.communication) plan.fifo_io = line.choice<bool>("io", {{"std_io", false}, {"fifo_io", true}});
  } else if (line.name == "manager") {
    plan.has_manager = true;
    plan.manager = judge_spec(line, true);
  } else if (line.name == "checker") {
    plan.has_checker = true;
    plan.protocol = line.choice<Protocol>("protocol", {{"cms", Protocol::Cms},
                                                       {"testlib", Protocol::Testlib},
                                                       {"kattis", Protocol::Kattis},
                                                       {"white-diff", Protocol::WhiteDiff}});
    plan.checker = judge_spec(line, plan.protocol != Protocol::WhiteDiff);
  } else if (line.name == "order") {
    plan.needed_only = line.choice<bool>("run", {{"all", false}, {"needed", true}});
  } else if (line.name == "test") {
    read_test_line(line, plan);
  } else {
    line.bad("is unknown in run mode");
  }
}

// Reads the plan strictly: whatever we do not understand, we do not run.
Plan read_plan() {
  Plan plan;
  int fd = g_files.get("plan");
  std::string text = head(fd, 64 << 20);
  if (text.empty() || text.back() != '\n') plan_fault("the plan is cut off");
  text.pop_back();
  std::string title = "ioi-eval-runner " + std::to_string(kVersion);
  if (text.compare(0, title.size() + 1, title + "\n") != 0) {
    plan_fault("the plan is not of version %d: %s", kVersion, text.substr(0, text.find('\n')).c_str());
  }
  if (text.size() < 4 || text.compare(text.size() - 4, 4, "\nend") != 0) plan_fault("the plan is cut off");
  text.resize(text.size() - 3);
  static const char* const opening[] = {"nonce", "isolation", "mode"};
  std::vector<std::string> seen;
  size_t start = title.size() + 1;
  for (int i = 1; start < text.size(); i++) {
    size_t end = text.find('\n', start);
    PlanLine line(i + 1, text.substr(start, end - start));
    start = end + 1;
    if (i <= 3 && line.name != opening[i - 1]) line.bad(format("stands where `%s` must stand", opening[i - 1]));
    if (i == 1) {
      std::string nonce = line.bare();
      if (nonce.size() != 32 || nonce.find_first_not_of("0123456789abcdef") != std::string::npos) line.bad("is malformed");
      g_nonce = nonce;
    } else if (i == 2) {
      plan.least = line.choice<Isolation>(
          "least", {{"full", Isolation::Full}, {"reduced", Isolation::Reduced}, {"none", Isolation::None}});
    } else if (i == 3) {
      std::string mode = line.bare();
      if (mode != "compile" && mode != "run") line.bad("is unknown: " + mode);
      plan.compile = mode == "compile";
    } else {
      bool repeats = line.name == "test" || line.name == "see" || line.name == "step" || line.name == "artifact";
      if (!repeats && std::find(seen.begin(), seen.end(), line.name) != seen.end()) line.bad("stands twice");
      if (!repeats || seen.empty() || seen.back() != line.name) seen.push_back(line.name);
      plan.compile ? read_compile_line(line, plan) : read_run_line(line, plan);
    }
    line.finish();
  }
  auto needs = [&](const char* name) {
    if (std::find(seen.begin(), seen.end(), name) == seen.end()) plan_fault("the plan has no line `%s`", name);
  };
  needs("limits");
  if (plan.compile) return plan;
  for (const char* name : {"program", "task", "order"}) needs(name);
  needs(plan.communication ? "manager" : "checker");
  if (!plan.communication && plan.has_manager) plan_fault("a batch task has no manager");
  if (!plan.communication && plan.processes != 1) plan_fault("a batch task has one process");
  for (const Test& test : plan.tests) {
    bool needs_answer = plan.has_checker && plan.protocol == Protocol::WhiteDiff;
    if (needs_answer && test.answer < 0) plan_fault("test %ld has no answer to compare with", test.id);
  }
  return plan;
}

// ------------------------------------------------------------------------------------------------ system calls
// What a contestant may call, and why: groups of calls under one rule. A call that stands nowhere is refused.

enum class Let {
  Always,
  OnSelf,    // argument `arg` is 0 or the process's own id
  SignalSelf,  // the same, and the signal, argument values[0], is not SIGKILL: that one is ours
  OneOf,     // argument `arg` is one of `values`
  Without,   // argument `arg` has none of the bits of values[0]
  With,      // argument `arg` has all bits of values[0] and none of those of values[1]
  OwnClock,  // argument `arg` is no clock of another process (those are negative numbers)
  Counted,   // a mapping whose pages are counted as resident: no huge ones; shared ones of a file only, to read
  Told,      // as OwnClock; and if there is a listener, it lets the call pass
  OwnLimit,  // argument 0 is 0 or the process's own id, and argument 2 is null or argument 1 one of `values`
  Never,     // refused by errno
  Deadly,    // has no honest use: ends the program
};

// A narrower place makes `Never` of a rule.
enum class Where {
  Everywhere,
  Full,         // not under reduced isolation
  OnlyChild,    // not for a contestant with siblings
  OrFull,       // not for a contestant with siblings, under reduced isolation
};

struct CallName {
  long number;
  const char* name;
};

struct Rule {
  Let let;
  int arg;
  std::initializer_list<uint32_t> values;
  Where where;
  int error;   // what a refusal answers
  bool noted;  // whether the runner hears of a refusal
  std::initializer_list<CallName> calls;
};

#define C(name) \
  { SYS_##name, #name }

// Calls with a condition come first: the kernel remembers the others as allowed and does not run the filter for them.
const Rule kRules[] = {
    // Huge pages are not counted as resident; shared pages are kept when nobody has them mapped, and then not counted either.
    {Let::Counted, 0, {}, Where::Everywhere, ENOMEM, true, {C(mmap)}},
    // Files without a name escape the count of a scratch directory that is not a
    // file system of its own; O_PATH would look at what Landlock does not let it open.
    {Let::Without, 2, {kOpenRefused}, Where::Everywhere, EOPNOTSUPP, true, {C(openat)}},
    {Let::Without, 1, {kOpenRefused}, Where::Everywhere, EOPNOTSUPP, true, {C(open)}},
    // NORMAL to DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP. PAGEOUT or COLD would hide pages from the count.
    {Let::OneOf, 2, {0, 1, 2, 3, 4, 8, 14, 15, 16, 17}, Where::Everywhere, EINVAL, false, {C(madvise)}},
    // Within the process: QUERY, PRIVATE_EXPEDITED and SYNC_CORE with their registrations. GLOBAL waits for all processors
    // of the machine without using CPU time, and interrupts them.
    {Let::OneOf, 0, {0, 8, 16, 32, 64}, Where::Everywhere, EINVAL, false, {C(membarrier)}},
    // Threads, not processes: CPU time and memory are counted for one process, and nothing outlives it.
    // With siblings under reduced isolation not even threads: thread ids would be a channel between them.
    {Let::With, 0, {0x10000 /* CLONE_THREAD */, 0x7e020000 /* namespaces */}, Where::OrFull, EPERM, true, {C(clone)}},
    {Let::Never, 0, {}, Where::Everywhere, ENOSYS, false, {C(clone3)}},  // glibc takes clone then; EPERM breaks std::thread
    // Clocks of other processes tell how they spend their time.
    {Let::OwnClock, 0, {}, Where::Everywhere, EINVAL, true,
     {C(clock_gettime), C(clock_getres), C(clock_nanosleep)}},
    // A timer can send any signal, SIGKILL too: the runner wants to know.
    {Let::Told, 0, {}, Where::Everywhere, EINVAL, true, {C(timer_create)}},
    // Signals to itself: abort, raise. A SIGKILL that we did not send means that the machine ran out of memory.
    {Let::SignalSelf, 0, {1}, Where::Everywhere, EPERM, true, {C(kill), C(tkill), C(rt_sigqueueinfo)}},
    {Let::SignalSelf, 0, {2}, Where::Everywhere, EPERM, true, {C(tgkill), C(rt_tgsigqueueinfo)}},
    // Questions about itself.
    {Let::OnSelf, 0, {}, Where::Everywhere, EPERM, true,
     {C(getpgid), C(getsid), C(get_robust_list), C(sched_getaffinity), C(sched_getparam),
      C(sched_getscheduler), C(sched_getattr), C(sched_rr_get_interval)}},
    {Let::OnSelf, 1, {}, Where::Everywhere, EPERM, true, {C(getpriority)}},
    // Limits can be asked for; none can be raised, and only those lowered with which the kernel does not send signals: a
    // SIGKILL for a CPU limit of the program's own would look like one from outside.
    {Let::OwnLimit, 0, {RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_AS}, Where::Everywhere, EPERM, true,
     {C(prlimit64)}},
    {Let::OneOf, 0, {RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_AS}, Where::Everywhere, EPERM, true,
     {C(setrlimit)}},
    // Many calls in one: no locks, leases, owners or signals of descriptors; what isatty and stdio ask of a device.
    {Let::OneOf, 1, {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, 1032 /* F_GETPIPE_SZ */},
     Where::Everywhere, EPERM, true, {C(fcntl)}},
    {Let::OneOf, 1, {0x5401 /* TCGETS */, 0x5413 /* TIOCGWINSZ */, 0x541b /* FIONREAD */, 0x5421 /* FIONBIO */,
                     0x5450 /* FIONCLEX */, 0x5451 /* FIOCLEX */}, Where::Everywhere, ENOTTY, true, {C(ioctl)}},
    {Let::OneOf, 0, {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS,
                     PR_GET_PDEATHSIG, PR_GET_TIMERSLACK, 0x53564d41 /* PR_SET_VMA */},
     Where::Everywhere, EINVAL, true, {C(prctl)}},
    {Let::OneOf, 0, {0x1001, 0x1002, 0x1003, 0x1004 /* ARCH_{SET,GET}_{FS,GS} */}, Where::Everywhere, EINVAL, false,
     {C(arch_prctl)}},
    // The launcher's last steps, with numbers that a contestant can never own.
    {Let::OneOf, 0, {kControlFd}, Where::Everywhere, EPERM, true, {C(sendmsg)}},
    {Let::OneOf, 0, {kProgramFd}, Where::Everywhere, EACCES, true, {C(execveat)}},
    // Files in the scratch directory.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true, {C(getcwd), C(getdents64), C(umask)}},
    // Taken away while open, they escape the count too.
    {Let::Always, 0, {}, Where::Full, EPERM, true,
     {C(unlink), C(unlinkat), C(rename), C(renameat), C(renameat2), C(mkdir), C(mkdirat), C(rmdir)}},
    // Landlock does not keep a path from being looked at; /proc would show siblings to each other.
    {Let::Always, 0, {}, Where::OrFull, EACCES, false,
     {C(stat), C(lstat), C(newfstatat), C(statx), C(access), C(faccessat), {439, "faccessat2"}, C(chdir), C(fchdir)}},
    // It would tell where the judge keeps the input.
    {Let::Always, 0, {}, Where::Full, EACCES, false, {C(readlink), C(readlinkat)}},
    // To wait for a real disk is to wait without using CPU time: where the scratch directory is on one, it is done at once.
    {Let::Always, 0, {}, Where::Full, 0, false, {C(fsync), C(fdatasync), C(msync)}},
    // Its own descriptors.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true,
     {C(read), C(write), C(readv), C(writev), C(pread64), C(pwrite64), C(preadv), C(pwritev), C(preadv2), C(pwritev2),
      C(lseek), C(close), {kSysCloseRange, "close_range"}, C(fstat), C(ftruncate), C(fallocate), C(sendfile), C(copy_file_range), C(dup), C(dup2), C(dup3), C(poll), C(ppoll), C(select), C(pselect6),
      C(epoll_create), C(epoll_create1), C(epoll_ctl), C(epoll_wait), C(epoll_pwait), C(eventfd), C(eventfd2),
      C(timerfd_create), C(timerfd_settime), C(timerfd_gettime), C(signalfd), C(signalfd4)}},
    // The kernel numbers pipes from one counter for all processes: a sibling could read from it how many there were.
    {Let::Always, 0, {}, Where::OnlyChild, EPERM, true, {C(pipe), C(pipe2)}},
    // Its own memory, threads, signals and timers.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true,
     {C(munmap), C(mremap), C(mprotect), C(brk), C(futex), {449, "futex_waitv"}, C(set_robust_list),
      C(set_tid_address), {334, "rseq"}, C(sched_yield), C(sched_get_priority_max),
      C(sched_get_priority_min), C(getcpu), C(exit), C(exit_group), C(wait4), C(waitid), C(rt_sigaction),
      C(rt_sigprocmask), C(rt_sigreturn), C(rt_sigpending), C(rt_sigsuspend), C(rt_sigtimedwait), C(sigaltstack),
      C(restart_syscall), C(pause), C(alarm), C(nanosleep), C(getitimer), C(setitimer), C(timer_settime),
      C(timer_gettime), C(timer_getoverrun), C(timer_delete)}},
    // Harmless questions.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true,
     {C(time), C(times), C(gettimeofday), C(getrusage), C(getrlimit), C(getrandom), C(uname), C(sysinfo),
      C(getpid), C(gettid), C(getppid), C(getpgrp), C(getuid), C(geteuid), C(getgid), C(getegid), C(getresuid),
      C(getresgid), C(getgroups)}},
    // Refused quietly: libraries try them and go on. (Advice on files could empty caches that siblings share.)
    {Let::Never, 0, {}, Where::Everywhere, EPERM, false,
     {C(mlock), {325, "mlock2"}, C(mlockall), C(munlock), C(munlockall), C(mbind), C(set_mempolicy), C(get_mempolicy),
      C(fadvise64), C(readahead)}},
    // Refused and noted. They stand here for their names and errors; what does not is "syscall_<number>" and ENOSYS.
    {Let::Never, 0, {}, Where::Everywhere, EPERM, true,
     {C(fork), C(vfork), C(connect), C(bind), C(listen), C(accept), C(accept4), C(sendto), C(recvfrom), C(recvmsg),
      C(sendmmsg), C(recvmmsg), C(setsockopt), C(getsockopt), C(getsockname), C(getpeername), C(shutdown), C(chmod),
      C(fchmod), C(fchmodat), {452, "fchmodat2"}, C(chown), C(fchown), C(lchown), C(fchownat), C(utime), C(utimes),
      C(utimensat), C(futimesat), C(setxattr), C(lsetxattr), C(fsetxattr), C(getxattr), C(lgetxattr), C(fgetxattr),
      C(listxattr), C(llistxattr), C(flistxattr), C(removexattr), C(lremovexattr), C(fremovexattr), C(flock),
      C(truncate), C(link), C(linkat), C(symlink), C(symlinkat), C(mknod), C(mknodat), C(creat), C(statfs), C(fstatfs),
      C(sync), C(syncfs), C(memfd_create), {447, "memfd_secret"}, C(splice), C(tee), C(vmsplice), C(mincore),
      C(remap_file_pages), C(shmget), C(shmat), C(shmctl), C(shmdt), C(semget), C(semop), C(semctl), C(semtimedop),
      C(msgget), C(msgsnd), C(msgrcv), C(msgctl), C(mq_open), C(mq_unlink), C(inotify_init), C(inotify_init1),
      C(fanotify_init), C(setpriority), C(sched_setaffinity), C(sched_setscheduler), C(sched_setparam),
      C(sched_setattr), C(ioprio_set), C(ioprio_get), C(setsid), C(setpgid), C(setuid), C(setgid), C(setreuid),
      C(setregid), C(setresuid), C(setresgid), C(setgroups), C(capget), C(capset), C(personality), C(syslog),
      C(vhangup), {kSysPidfdSendSignal, "pidfd_send_signal"}, {434, "pidfd_open"}}},
    {Let::Never, 0, {}, Where::Everywhere, EACCES, true, {C(execve), C(socket), C(socketpair)}},
    {Let::Never, 0, {}, Where::Everywhere, ENOSYS, true, {{437, "openat2"}}},
    // No honest use.
    {Let::Deadly, 0, {}, Where::Everywhere, EPERM, true,
     {C(ptrace), C(process_vm_readv), C(process_vm_writev), C(kcmp), {438, "pidfd_getfd"}, {440, "process_madvise"},
      C(unshare), C(setns), C(chroot), C(pivot_root), C(mount), C(umount2), {428, "open_tree"}, {429, "move_mount"},
      {430, "fsopen"}, {431, "fsconfig"}, {432, "fsmount"}, {433, "fspick"}, {442, "mount_setattr"}, C(swapon),
      C(swapoff), C(reboot), C(sethostname), C(setdomainname), C(settimeofday), C(clock_settime), C(adjtimex),
      C(clock_adjtime), C(iopl), C(ioperm), C(modify_ldt), C(init_module), C(finit_module), C(delete_module),
      C(kexec_load), C(kexec_file_load), C(bpf), C(perf_event_open), C(userfaultfd), {425, "io_uring_setup"},
      {426, "io_uring_enter"}, {427, "io_uring_register"}, C(io_setup), C(io_submit), C(add_key), C(request_key),
      C(keyctl), C(seccomp), C(name_to_handle_at), C(open_by_handle_at), C(acct), C(quotactl), C(lookup_dcookie)}},
};

#undef C

// Writes a seccomp filter from the table. What the filter does not let pass goes to the listener if there is one, else
// it is decided here.
class FilterWriter {
 public:
  FilterWriter(bool notify, bool reduced, bool siblings) : notify_(notify), reduced_(reduced), siblings_(siblings) {
    load(offsetof(seccomp_data, arch));
    emit(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    end_program();
    load(offsetof(seccomp_data, nr));
    emit(BPF_JMP | BPF_JGE | BPF_K, 0x40000000 /* x32 */, 0, 1);
    end_program();
    for (const Rule& rule : kRules) add(rule);
    emit(BPF_RET | BPF_K, notify_ ? static_cast<uint32_t>(SECCOMP_RET_USER_NOTIF) : SECCOMP_RET_ERRNO | ENOSYS);
  }

  std::vector<sock_filter> code;
  std::vector<size_t> self;  // the instructions whose constant is the contestant's own process id

 private:
  void emit(int op, uint32_t k, uint8_t yes = 0, uint8_t no = 0) {
    code.push_back({static_cast<uint16_t>(op), yes, no, k});
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
  void refuse(const Rule& rule) {
    bool told = notify_ && rule.noted;
    emit(BPF_RET | BPF_K, told ? static_cast<uint32_t>(SECCOMP_RET_USER_NOTIF)
                               : SECCOMP_RET_ERRNO | static_cast<uint32_t>(rule.error));
  }

  bool holds(Where where) const {
    switch (where) {
      case Where::Full: return !reduced_;
      case Where::OnlyChild: return !siblings_;
      case Where::OrFull: return !(reduced_ && siblings_);
      default: return true;
    }
  }

  void add(const Rule& rule) {
    Let let = holds(rule.where) ? rule.let : Let::Never;
    if (notify_ && rule.noted && (let == Let::Never || let == Let::Deadly)) return;  // the listener's, by default
    for (const CallName& call : rule.calls) {
      size_t test = code.size();
      emit(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call.number), 0, 0 /* below: to the next call */);
      decide(rule, let);
      code[test].jf = static_cast<uint8_t>(code.size() - test - 1);
    }
  }

  // Code that ends in a decision.
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
        self.push_back(code.size());
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
      case Let::With:
        load_argument(static_cast<uint32_t>(rule.arg));
        emit(BPF_ALU | BPF_AND | BPF_K, bits | values[1]);
        emit(BPF_JMP | BPF_JEQ | BPF_K, bits, 0, 1);
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
      case Let::OwnLimit:
        load_argument(0);
        emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
        self.push_back(code.size());
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

  bool notify_, reduced_, siblings_;
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

// ------------------------------------------------------------------------------------------------ Landlock

namespace right {  // of Landlock; the kernel's ABI says which of them it knows
constexpr uint64_t Execute = 1 << 0, WriteFile = 1 << 1, ReadFile = 1 << 2, ReadDir = 1 << 3, RemoveDir = 1 << 4,
                   RemoveFile = 1 << 5, MakeDir = 1 << 7, MakeReg = 1 << 8, Refer = 1 << 13, Truncate = 1 << 14;
constexpr uint64_t Read = ReadFile | ReadDir, OfFiles = Execute | WriteFile | ReadFile | Truncate;
constexpr uint64_t Everything = (1 << 13) - 1;  // of ABI 1
}  // namespace right

// What is not granted is forbidden. Restricts the calling process, for good.
class Landlock {
 public:
  explicit Landlock(int abi) : abi_(abi) {
    if (abi_ < 1) return;
    handled_ = right::Everything;
    if (abi_ >= 2) handled_ |= right::Refer;
    if (abi_ >= 3) handled_ |= right::Truncate;
    struct {
      uint64_t fs, net, scoped;
    } attributes = {handled_, abi_ >= 4 ? 3u : 0u /* TCP */, abi_ >= 6 ? 3u : 0u /* abstract sockets, signals */};
    if (abi_ >= 5) attributes.fs |= 1 << 15;  // ioctl on devices
    size_t size = abi_ >= 6 ? 24 : abi_ >= 4 ? 16 : 8;
    rules_ = Fd(static_cast<int>(syscall(kSysLandlockCreateRuleset, &attributes, size, 0)));
  }

  // A path that does not exist is nothing to grant.
  void grant(const char* path, uint64_t rights) {
    if (!rules_) return;
    Fd at(open(path, O_PATH | O_CLOEXEC));
    if (!at) return;
    struct stat status;
    if (fstat(at.get(), &status) != 0) return;
    if (!S_ISDIR(status.st_mode)) rights &= right::OfFiles;
    struct {
      uint64_t allowed;
      int32_t parent;
    } __attribute__((packed)) rule = {rights & handled_, at.get()};
    syscall(kSysLandlockAddRule, rules_.get(), 1 /* PATH_BENEATH */, &rule, 0);
  }

  bool restrict() {
    return abi_ < 1 || (rules_ && syscall(kSysLandlockRestrictSelf, rules_.get(), 0) == 0);
  }

 private:
  int abi_;
  uint64_t handled_ = 0;
  Fd rules_;
};

// ------------------------------------------------------------------------------------------------ means
// What isolation is to be had here. Tried, not guessed.

struct Means {
  bool userns = false, pidns = false, mountns = false, netns = false;
  bool boxed = false;  // somebody (bwrap) gave us namespaces and a root directory without the host's files
  bool root = false;   // the machine's: its contestants could not be told from us
  int landlock = 0;
  bool seccomp = false, notify = false;
  unsigned long uids = 1;
  uid_t contestant_uid = 0;  // other than ours only if several are mapped
  Isolation isolation = Isolation::None;
};

Means g_means;
Fd g_own_pidns;
std::string g_base;  // full: our own tmpfs. reduced: a directory that we may write.

bool has_capability(int capability) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> capability & 1) != 0;
}

// How many user ids are mapped here, and one of them that is not ours. The whole range means: no user namespace.
void read_uid_map(Means& means) {
  char text[4096];
  read_text(AT_FDCWD, "/proc/self/uid_map", text, sizeof text);
  unsigned long inside, outside, count, total = 0;
  means.contestant_uid = geteuid();
  for (char* line = text; sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3;) {
    total += count;
    for (unsigned long id : {inside + count - 1, inside}) {
      if (id != geteuid() && means.contestant_uid == geteuid()) means.contestant_uid = static_cast<uid_t>(id);
    }
    char* end = strchr(line, '\n');
    if (end == nullptr) break;
    line = end + 1;
  }
  means.uids = std::max(total, 1UL);
}

// As an ordinary user, outside of any box: namespaces of our own, where the system lets us. The caller goes on as PID 1 of
// a PID namespace, while the process that it was waits for its end.
bool enter_own_namespaces() {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) != 0) return false;
  write_text("/proc/self/setgroups", "deny");
  if (!write_text("/proc/self/uid_map", format("0 %u 1", uid).c_str())) return false;
  if (!write_text("/proc/self/gid_map", format("0 %u 1", gid).c_str())) return false;
  pid_t child = fork();
  if (child < 0) return false;
  if (child > 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // new credentials may have taken it away
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

// A mount namespace with a tmpfs of ours in /tmp.
bool make_base() {
  if (unshare(CLONE_NEWNS) != 0) return false;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (mount("ioi-eval", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1g,nr_inodes=65536,mode=711") != 0) return false;
  g_base = "/tmp";
  return true;
}

// A PID namespace for one process: its PID 1, which does nothing. When it is killed, all that lives in it dies.
// The process for which it is made must not be PID 1 itself: signals to PID 1 do nothing, not even those of abort().
class Zone {
 public:
  Zone() = default;
  ~Zone() { end(); }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

  // From here to `leave`, children are born into the new namespace.
  bool enter() {
    parent_ = Fd(static_cast<int>(syscall(kSysPidfdOpen, getpid(), 0)));
    if (unshare(CLONE_NEWPID) != 0) return false;
    // It shares our memory and our descriptors (nothing to copy, and no copy of a descriptor to keep it open).
    pid_ = clone(&Zone::sleep, stack_ + sizeof stack_, CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD, this);
    if (pid_ < 0) leave();
    return pid_ > 0;
  }

  static void leave() {
    if (setns(g_own_pidns.get(), CLONE_NEWPID) != 0) system_fault("setns");
  }

  // Only after everything of ours in it is reaped: its end waits for that.
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
  }

  pid_t pid() const { return pid_; }

 private:
  static int sleep(void* zone) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    // Has the runner died before that? Its number is not known in here, but it has a descriptor.
    pollfd parent = {static_cast<const Zone*>(zone)->parent_.get(), POLLIN, 0};
    if (syscall(SYS_poll, &parent, 1, 0) == 1 && (parent.revents & POLLIN) != 0) syscall(SYS_exit_group, 0);
    for (;;) syscall(SYS_pause);
  }

  pid_t pid_ = 0;
  Fd parent_;
  alignas(16) char stack_[4096];
};

// Capabilities alone do not say so: the PID namespace that we are in may belong to somebody else's user namespace, and
// there would be no way back into it.
bool can_make_zones() {
  g_own_pidns = Fd(open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (!g_own_pidns || setns(g_own_pidns.get(), CLONE_NEWPID) != 0) return false;
  Zone zone;
  if (!zone.enter()) return false;
  Zone::leave();
  return true;
}

bool has_no_network() {
  char text[4096];
  read_text(AT_FDCWD, "/proc/self/net/dev", text, sizeof text);
  int interfaces = static_cast<int>(std::count(text, text + strlen(text), ':'));
  return interfaces == 0 || (interfaces == 1 && strstr(text, "lo:") != nullptr);
}

// Tried in a child: of all filters that a process is under only one can have a listener, and who started us may have it.
bool can_listen() {
  pid_t child = fork();
  if (child == 0) {
    std::vector<sock_filter> code{{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && install_filter(code, true) >= 0 ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && status == 0;
}

bool action_available(uint32_t action) {
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

// There is no way back from half of a set of namespaces, so a child tries first.
bool could_have_own_namespaces() {
  pid_t child = fork();
  if (child == 0) _exit(enter_own_namespaces() && make_base() && can_make_zones() ? 0 : 1);
  int status = 1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && status == 0;
}

// `most` bounds what is tried; `without` names what is taken for missing, to test what is done without it.
void find_means(Isolation most, const std::string& without) {
  auto pretended = [&](const char* what) { return ("," + without + ",").find(std::string(",") + what + ",") != std::string::npos; };
  Means& means = g_means;
  read_uid_map(means);
  means.root = geteuid() == 0 && means.uids >= 4294967295UL;  // and not just that of a user namespace
  if (most >= Isolation::Reduced) {
    means.landlock = std::max(0, static_cast<int>(syscall(kSysLandlockCreateRuleset, nullptr, 0, 1 /* VERSION */)));
    means.seccomp = action_available(SECCOMP_RET_KILL_PROCESS);
    means.notify = means.seccomp && action_available(SECCOMP_RET_USER_NOTIF) && can_listen();
    if (pretended("landlock")) means.landlock = 0;
    if (pretended("notify")) means.notify = false;
  }
  if (most == Isolation::Full && !means.root) {
    means.boxed = has_capability(CAP_SYS_ADMIN) && can_make_zones();
    means.userns = means.boxed || (could_have_own_namespaces() && enter_own_namespaces());
    if (means.userns && !means.boxed) read_uid_map(means);
    means.netns = means.userns && (!means.boxed || has_no_network());
    means.mountns = means.userns && make_base();
    means.pidns = means.mountns && can_make_zones();
  }
  if (means.root) {
    means.isolation = Isolation::None;
  } else if (means.pidns && means.mountns && means.seccomp) {
    means.isolation = Isolation::Full;
  } else if (means.landlock >= 1 && means.seccomp) {
    means.isolation = Isolation::Reduced;
  }
  if (!has_capability(CAP_SETUID)) means.contestant_uid = geteuid();
}

std::string random_name() {
  unsigned char bytes[16];
  if (syscall(SYS_getrandom, bytes, sizeof bytes, 0) != sizeof bytes) system_fault("getrandom");
  std::string name;
  for (unsigned char byte : bytes) name += format("%02x", byte);
  return name;
}

// Without a tmpfs of ours: the working directory if we may write it, else /tmp. Names in it cannot be guessed.
void find_base() {
  if (!g_base.empty()) return;
  char here[PATH_MAX];
  for (const char* candidate : {static_cast<const char*>(getcwd(here, sizeof here)), "/tmp"}) {
    if (candidate == nullptr || access(candidate, W_OK | X_OK) != 0) continue;
    g_base = candidate;
    return;
  }
  fault("system", "neither the working directory nor /tmp can be written");
}

std::string make_directory(const std::string& path, mode_t mode = 0700) {
  if (mkdir(path.c_str(), mode) != 0) system_fault("mkdir %s", path.c_str());
  return path;
}

// Removes a directory that a judge or a step filled. (What contestants fill is unmounted, or flat.)
void remove_tree(int parent, const char* name) {
  if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
  Fd fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) {
    DIR* directory = fdopendir(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
    while (dirent* entry = directory != nullptr ? readdir(directory) : nullptr) {
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove_tree(fd.get(), entry->d_name);
    }
    if (directory != nullptr) closedir(directory);
  }
  unlinkat(parent, name, AT_REMOVEDIR);
}

// ------------------------------------------------------------------------------------------------ processes

// A child of ours: contestant, judge or step.
struct Process {
  pid_t pid = 0;  // 0: not started
  Fd pidfd;
  bool ended = false;
  int status = 0;
  rusage usage = {};

  bool alive() const { return pid > 0 && !ended; }
  int code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : 0; }
  int signal() const { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }
  bool failed() const { return status != 0; }
  int64_t cpu_us() const {
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000LL + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
  }
  int64_t peak_bytes() const { return usage.ru_maxrss * 1024; }

  void kill() {
    if (alive()) syscall(kSysPidfdSendSignal, pidfd.get(), SIGKILL, nullptr, 0);
  }

  // Whether it has ended. With `wait`, waits for that.
  bool reap(bool wait) {
    if (!alive()) return ended;
    pid_t got;
    while ((got = wait4(pid, &status, wait ? 0 : WNOHANG, &usage)) < 0 && errno == EINTR) {
    }
    if (got < 0) system_fault("wait4");
    ended = got == pid;
    return ended;
  }
};

// Forks. Returns 0 in the child.
pid_t start(Process& process) {
  int pidfd = -1;
  long pid = syscall(SYS_clone, static_cast<unsigned long>(SIGCHLD | CLONE_PIDFD), nullptr, &pidfd, nullptr, nullptr);
  if (pid < 0) system_fault("clone");
  if (pid > 0) {
    process.pid = static_cast<pid_t>(pid);
    process.pidfd = Fd(pidfd);
  }
  return static_cast<pid_t>(pid);
}

// What the runner reads of a living process. Times are since its start. Run-queue delay is what somebody else has made it
// wait: threads that wake together wait for each other too, so of each interval the thread that waited longest counts.
struct Sample {
  int64_t cpu_us = 0, delay_us = 0, resident_bytes = 0;
  int threads = 0;
  std::vector<std::pair<int, int64_t>> delays;  // thread id, its delay; sorted
};

int64_t cpu_clock_us(pid_t pid) {
  timespec t;
  clockid_t clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2u);  // as clock_getcpuclockid(3)
  return clock_gettime(clock, &t) == 0 ? t.tv_sec * 1'000'000LL + t.tv_nsec / 1000 : 0;
}

// Calls f(directory, name) for each number in a directory of /proc, without allocating.
template <typename F>
void each_number(int directory, F f) {
  alignas(8) char buffer[2048];
  long n;
  while ((n = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < n;) {
      const char* record = buffer + at;
      uint16_t length;
      memcpy(&length, record + 16, sizeof length);
      const char* name = record + 19;
      if (*name >= '0' && *name <= '9') f(directory, name);
      at += length;
    }
  }
}

Sample sample(pid_t pid, const Sample& before = {}) {
  Sample result;
  result.delay_us = before.delay_us;
  int64_t longest = 0;
  result.cpu_us = cpu_clock_us(pid);
  char path[64], text[128];
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  long long size, resident;
  read_text(AT_FDCWD, path, text, sizeof text);
  if (sscanf(text, "%lld %lld", &size, &resident) == 2) result.resident_bytes = resident * getpagesize();
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  Fd tasks(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!tasks) return result;
  each_number(tasks.get(), [&](int directory, const char* tid) {
    result.threads++;
    snprintf(path, sizeof path, "%s/schedstat", tid);
    unsigned long long ran, waited;
    read_text(directory, path, text, sizeof text);
    if (sscanf(text, "%llu %llu", &ran, &waited) != 2) return;
    std::pair<int, int64_t> now{atoi(tid), static_cast<int64_t>(waited / 1000)};
    auto known = std::lower_bound(before.delays.begin(), before.delays.end(), std::make_pair(now.first, int64_t{0}));
    bool same = known != before.delays.end() && known->first == now.first && known->second <= now.second;
    longest = std::max(longest, now.second - (same ? known->second : 0));
    result.delays.push_back(now);
  });
  std::sort(result.delays.begin(), result.delays.end());
  result.delay_us += longest;
  return result;
}

// Whether a thread of it is in this state: R runs or waits for a processor, D waits for a disk or the kernel. State is the
// word after the name in `stat`; the name may hold anything.
bool has_thread(pid_t pid, char state) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  Fd tasks(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  bool found = false;
  if (!tasks) return false;
  each_number(tasks.get(), [&](int directory, const char* tid) {
    snprintf(path, sizeof path, "%s/stat", tid);
    read_text(directory, path, text, sizeof text);
    const char* rest = strrchr(text, ')');
    found |= rest != nullptr && rest[1] == ' ' && rest[2] == state;
  });
  return found;
}

// All descendants of a process, nearest first. Orphans of theirs are found below the runner or below their zone.
std::vector<pid_t> descendants(pid_t root) {
  std::vector<pid_t> found{root};
  for (size_t i = 0; i < found.size(); i++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", found[i]);
    Fd tasks(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!tasks) continue;
    each_number(tasks.get(), [&](int directory, const char* tid) {
      char text[8192];
      snprintf(path, sizeof path, "%s/children", tid);
      read_text(directory, path, text, sizeof text);
      for (char* word = strtok(text, " "); word != nullptr; word = strtok(nullptr, " ")) found.push_back(atoi(word));
    });
  }
  found.erase(found.begin());
  return found;
}

// Kills and reaps every descendant that is not listed: what judges and steps have left behind. Returns their CPU time.
int64_t sweep(const std::vector<pid_t>& keep) {
  int64_t cpu = 0;
  for (int round = 0; round < 1000; round++) {
    std::vector<pid_t> strays = descendants(getpid());
    strays.erase(std::remove_if(strays.begin(), strays.end(),
                                [&](pid_t pid) { return std::find(keep.begin(), keep.end(), pid) != keep.end(); }),
                 strays.end());
    if (strays.empty()) return cpu;
    for (pid_t pid : strays) kill(pid, SIGKILL);
    for (pid_t pid : strays) {
      Process stray;
      stray.pid = pid;
      if (wait4(pid, &stray.status, 0, &stray.usage) == pid) cpu += stray.cpu_us();
    }
  }
  return cpu;
}

void set_limit(__rlimit_resource_t resource, rlim_t value) {
  rlimit limit = {value, value};
  rlimit current;
  // A limit that is lower already cannot be raised by everybody, and need not be.
  if (setrlimit(resource, &limit) != 0 && getrlimit(resource, &current) == 0) {
    current.rlim_cur = std::min(value, current.rlim_max);
    setrlimit(resource, &current);
  }
}

rlim_t cpu_backstop_s(int64_t ms) { return static_cast<rlim_t>(ms / 1000 + 2); }

// Which signals a child finds: none blocked, none ignored, none handled.
void plain_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < 65; number++) {
    if (number != SIGKILL && number != SIGSTOP) sigaction(number, &standard, nullptr);
  }
}

// Nothing that root's privileges (of whatever namespace) could be regained from.
bool drop_privileges(uid_t uid) {
  bool privileged = has_capability(CAP_SETPCAP);
  if (privileged) {
    for (int capability = 0; capability < 64; capability++) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    prctl(PR_SET_SECUREBITS, 0x3f, 0, 0, 0);  // NOROOT, NO_SETUID_FIXUP, and these for good
  }
  if (uid != geteuid()) {
    gid_t gid = static_cast<gid_t>(uid);
    if (setgroups(0, nullptr) != 0 && getgroups(0, nullptr) > 0) return false;
    if (setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0) return false;
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct nothing[2] = {};
  if (syscall(SYS_capset, &header, nothing) != 0) return false;
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// Puts descriptors at their numbers. Sources may stand where targets are to be, hence twice.
bool place_descriptors(std::initializer_list<std::pair<int, int>> moves, int closed_on_exec_from) {
  int fresh[8];
  int count = 0;
  for (auto [from, to] : moves) {
    (void)to;
    fresh[count] = from < 0 ? -1 : fcntl(from, F_DUPFD_CLOEXEC, 256);
    if (from >= 0 && fresh[count] < 0) return false;
    count++;
  }
  count = 0;
  for (auto [from, to] : moves) {
    if (from >= 0 && dup3(fresh[count], to, to >= closed_on_exec_from ? O_CLOEXEC : 0) != to) return false;
    count++;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------ contestants

// Where one process of the submission lives. Made once; what a test can change in it is made anew for each test.
struct Place {
  std::string outside;             // full: what becomes its root, as the runner may write it
  std::string root;                // full: its root directory, read-only
  std::string scratch;             // its working directory, as the runner sees it
  std::string fifo_in, fifo_out;   // as the runner and the manager see them
  std::string inside_in, inside_out;
  bool made = false;
};

Plan g_plan;
std::vector<Fd> g_programs;         // a copy for each process: pages that two share would be a channel
std::vector<Place> g_places;
std::vector<sock_filter> g_filter;  // with 0 for the process's own id
std::vector<size_t> g_filter_self;

bool full() { return g_means.isolation == Isolation::Full; }

void bind_read_only(const std::string& from, const std::string& to) {
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) system_fault("bind %s", from.c_str());
}

// The root directory of a contestant: read-only, with devices, and with what a dynamic linker needs.
void make_root(Place& place, long index) {
  place.outside = make_directory(g_base + format("/outside%ld", index), 0755);
  place.root = make_directory(g_base + format("/root%ld", index), 0755);
  for (const char* name : {"/dev", "/fifo", "/box"}) make_directory(place.outside + name, 0755);
  if (mount(place.outside.c_str(), place.root.c_str(), nullptr, MS_BIND, nullptr) != 0) system_fault("bind a root");
  // Not /dev/zero: its pages, mapped shared, would be memory that is not counted.
  for (const char* device : {"/dev/null", "/dev/random", "/dev/urandom"}) {
    Fd point(open((place.outside + device).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    bind_read_only(device, place.root + device);
  }
  if (!g_plan.is_static) {
    for (const char* directory : {"/usr", "/lib", "/lib32", "/lib64", "/libx32"}) {
      struct stat status;
      if (lstat(directory, &status) != 0) continue;
      if (S_ISLNK(status.st_mode)) {
        char target[PATH_MAX] = {};
        if (readlink(directory, target, sizeof target - 1) > 0) {
          if (symlink(target, (place.outside + directory).c_str()) != 0) system_fault("symlink");
        }
      } else {
        make_directory(place.outside + directory, 0755);
        bind_read_only(directory, place.root + directory);
      }
    }
  }
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount(nullptr, place.root.c_str(), nullptr, flags, nullptr) != 0) system_fault("remount a root");
  place.scratch = place.root + "/box";
}

// What belongs to one test: an empty scratch directory, new FIFOs.
void open_place(Place& place, long index) {
  if (full() && place.root.empty()) make_root(place, index);
  if (full()) {
    std::string options = format("size=%lld,nr_inodes=%d,mode=700,uid=%u", static_cast<long long>(kScratchBytes),
                                 kScratchFiles, g_means.contestant_uid);
    unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (mount("scratch", place.scratch.c_str(), "tmpfs", flags, options.c_str()) != 0) system_fault("mount scratch");
  } else {
    place.scratch = make_directory(g_base + "/" + random_name());
    if (g_means.contestant_uid != geteuid()) {
      if (chown(place.scratch.c_str(), g_means.contestant_uid, static_cast<gid_t>(-1)) != 0) system_fault("chown");
    }
  }
  place.made = true;
  if (!g_plan.communication) return;
  std::string directory = full() ? place.outside + "/fifo" : make_directory(g_base + "/" + random_name(), 0711);
  place.fifo_in = directory + format("/m_to_u%ld", index);
  place.fifo_out = directory + format("/u%ld_to_m", index);
  place.inside_in = full() ? format("/fifo/m_to_u%ld", index) : place.fifo_in;
  place.inside_out = full() ? format("/fifo/u%ld_to_m", index) : place.fifo_out;
  for (const std::string& fifo : {place.fifo_in, place.fifo_out}) {
    if (mkfifo(fifo.c_str(), 0600) != 0) system_fault("mkfifo");
    if (g_means.contestant_uid != geteuid()) {
      if (chmod(fifo.c_str(), 0666) != 0) system_fault("chmod");
    }
  }
}

// Under reduced isolation a contestant can make plain files in its scratch directory, and nothing else.
struct Litter {
  int64_t bytes = 0;
  int files = 0;
};

Litter look_at_scratch(const std::string& path, bool remove) {
  Litter litter;
  DIR* directory = opendir(path.c_str());
  while (dirent* entry = directory != nullptr ? readdir(directory) : nullptr) {
    if (entry->d_name[0] == '.' && (entry->d_name[1] == '\0' || strcmp(entry->d_name, "..") == 0)) continue;
    struct stat status;
    if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) litter.bytes += status.st_blocks * 512;
    litter.files++;
    if (remove) unlinkat(dirfd(directory), entry->d_name, 0);
  }
  if (directory != nullptr) closedir(directory);
  return litter;
}

void close_place(Place& place) {
  if (!place.made) return;
  place.made = false;
  if (full()) {
    if (umount2(place.scratch.c_str(), MNT_DETACH) != 0) system_fault("umount");
  } else {
    look_at_scratch(place.scratch, true);
    rmdir(place.scratch.c_str());
  }
  if (place.fifo_in.empty()) return;
  unlink(place.fifo_in.c_str());
  unlink(place.fifo_out.c_str());
  if (!full()) rmdir(place.fifo_in.substr(0, place.fifo_in.rfind('/')).c_str());
  place.fifo_in.clear();
}

// What a contestant's child says before its exec; the end of the socket says that the exec has happened.
struct Word {
  int64_t cpu_us = 0;  // spent before the exec: not the program's
  int64_t now_us = 0;
  int error = 0;
  char step[24] = {};
};

struct Contestant {
  long index = 0;
  Process process;
  Zone zone;
  Fd control, listener, output, errors;
  bool ready = false, started = false;  // about to exec; past it
  int64_t started_us = 0, ended_us = 0, spent_before_us = 0;
  Sample last;
  int64_t settled_us = 0;          // CPU time and delay up to the last settlement
  int64_t peak_bytes = 0;          // as polled; wait4 has the last word
  const char* limit = nullptr;     // the rule that stopped it
  bool unfit = false;              // the kernel does not execute it, for what is in its file
  bool violated = false;           // a deadly call
  bool suicide = false;            // by SIGKILL
  bool has_timers = false;         // that send a signal of its choice
  bool stopped = false;            // by us, for what another process did
  int refusals = 0;
  std::vector<std::pair<std::string, int>> attempted;

  std::string how() const {
    return process.signal() != 0 ? format("signal %d", process.signal()) : format("exit code %d", process.code());
  }
  bool limit_is(const char* name) const { return limit != nullptr && strcmp(limit, name) == 0; }

  int64_t cpu_us() const {
    int64_t cpu = process.ended ? process.cpu_us() : last.cpu_us;
    return std::max<int64_t>(0, cpu - spent_before_us);
  }
};

// CPU time and run-queue delay together: the wall clock that a process can account for.
int64_t busy_us(const Process& process, const Sample& last) {
  return (process.ended ? std::max(process.cpu_us(), last.cpu_us) : last.cpu_us) + last.delay_us;
}

// Of the errors of an exec, those that do not come from what is in the file. (The file lies in memory: EIO is a file that
// ends too early, unless a dynamic linker had to be read from a disk.)
bool is_ours(int exec_error) {
  switch (exec_error) {
    case ENOMEM: case EAGAIN: case EMFILE: case ENFILE: case ETXTBSY: return true;
    case EIO: return !g_plan.is_static;
    default: return false;
  }
}

const char* const kExecStep = "execute the program";
constexpr int kUnfitCode = 127;  // as shells say of a program that cannot be executed

// The child's side. Nothing here returns.
class Launch {
 public:
  Launch(const Contestant& contestant, const Place& place, int control, int input)
      : contestant_(contestant),
        place_(place),
        control_(control),
        input_(input),
        program_(g_programs[static_cast<size_t>(contestant.index)].get()) {}

  [[noreturn]] void run() {
    setsid();
    plain_signals();
    umask(077);
    write_text("/proc/self/oom_score_adj", "1000");
    // Opened anew, for writing only; append, so that what is too much of stderr can be cut off while it grows.
    int input = input_, output = reopen(contestant_.output.get(), O_WRONLY);
    int errors = reopen(contestant_.errors.get(), O_WRONLY | O_APPEND);
    if (output < 0 || errors < 0) die("open outputs");
    if (g_plan.communication && !g_plan.fifo_io) {
      // In this order, as isolate does: managers rely on it. Each open waits for the manager's.
      if ((input = open(place_.fifo_in.c_str(), O_RDONLY | O_CLOEXEC)) < 0) die("open input fifo");
      if ((output = open(place_.fifo_out.c_str(), O_WRONLY | O_CLOEXEC)) < 0) die("open output fifo");
    }
    if (full() && chroot(place_.root.c_str()) != 0) die("chroot");
    if (chdir(full() ? "/box" : place_.scratch.c_str()) != 0) die("chdir");
    if (!place_descriptors({{input, 0}, {output, 1}, {errors, 2}, {control_, kControlFd}, {program_, kProgramFd}}, kControlFd)) {
      die("descriptors");
    }
    control_ = kControlFd;
    limits();
    if (!drop_privileges(g_means.contestant_uid)) die("drop privileges");
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    confine();
    set_limit(RLIMIT_NOFILE, kContestantFds);  // now: Landlock and the listener needed more
    execute();
  }

 private:
  void limits() {
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_STACK, RLIM_INFINITY);
    rlim_t memory = static_cast<rlim_t>(g_plan.memory_bytes);
    set_limit(RLIMIT_AS, std::max(2 * memory + (rlim_t{1} << 30), memory + (rlim_t{4} << 30)));
    // The limit on output is kept by polling: stderr, which is cut at every tick, must not meet it in between.
    set_limit(RLIMIT_FSIZE, static_cast<rlim_t>(g_plan.output_bytes + kFileSlackBytes));
    set_limit(RLIMIT_CPU, cpu_backstop_s(g_plan.cpu_ms * 5 / 4 + 100));
    set_limit(RLIMIT_MEMLOCK, 0);
    set_limit(RLIMIT_MSGQUEUE, 0);
    // These two are counted for a user id: what one sibling leaves of them the other could read, so siblings get none, or
    // no limit. Threads are counted by polling; NPROC only stops a burst. Outside of a user namespace of ours it would
    // count strangers too.
    bool siblings = g_plan.processes > 1;
    set_limit(RLIMIT_SIGPENDING, siblings ? 0 : 1024);
    if (full() && !siblings) set_limit(RLIMIT_NPROC, static_cast<rlim_t>(g_plan.threads) + 200);
  }

  void confine() {
    Landlock landlock(g_means.landlock);
    landlock.grant("/dev/null", right::ReadFile | right::WriteFile | right::Truncate);
    for (const char* device : {"/dev/random", "/dev/urandom"}) landlock.grant(device, right::ReadFile);
    uint64_t scratch = right::Read | right::WriteFile | right::Truncate | right::MakeReg;
    if (full()) scratch |= right::RemoveFile | right::MakeDir | right::RemoveDir | right::Refer;
    landlock.grant(".", scratch);
    if (g_plan.communication && g_plan.fifo_io) {
      landlock.grant(place_.inside_in.c_str(), right::ReadFile);
      landlock.grant(place_.inside_out.c_str(), right::WriteFile | right::Truncate);
    }
    if (!g_plan.is_static) {
      for (const char* directory : {"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache"}) {
        landlock.grant(directory, right::Read | right::Execute);
      }
    }
    if (!landlock.restrict()) die("landlock");
    if (!g_means.seccomp) return;
    for (size_t at : g_filter_self) g_filter[at].k = static_cast<uint32_t>(syscall(SYS_getpid));
    int listener = install_filter(g_filter, g_means.notify);
    if (listener < 0) die("seccomp");
    if (g_means.notify) tell(Word{}, listener);
  }

  [[noreturn]] void execute() {
    std::string in = place_.inside_in, out = place_.inside_out, index = std::to_string(contestant_.index);
    std::vector<char*> argv{const_cast<char*>("./program")};
    if (g_plan.communication) {
      if (g_plan.fifo_io) argv.insert(argv.end(), {&in[0], &out[0]});
      if (g_plan.processes != 1) argv.push_back(&index[0]);
    }
    argv.push_back(nullptr);
    char path[] = "PATH=/usr/bin:/bin", lang[] = "LANG=C.UTF-8";
    char* environment[] = {path, lang, nullptr};
    Word word;
    word.now_us = now_us();
    word.cpu_us = cpu_clock_us(0);
    tell(word, -1);
    syscall(SYS_execveat, kProgramFd, "", argv.data(), environment, AT_EMPTY_PATH);
    die(kExecStep, is_ours(errno) ? 1 : kUnfitCode);
  }

  void tell(const Word& word, int descriptor) {
    iovec part = {const_cast<Word*>(&word), sizeof word};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
      message.msg_control = space;
      message.msg_controllen = sizeof space;
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    if (sendmsg(control_, &message, MSG_NOSIGNAL) < 0) _exit(1);
  }

  [[noreturn]] void die(const char* step, int code = 1) {
    Word word;
    word.error = errno != 0 ? errno : EIO;
    strncpy(word.step, step, sizeof word.step - 1);
    tell(word, -1);
    _exit(code);
  }

  const Contestant& contestant_;
  const Place& place_;
  int control_, input_, program_;
};

void start_contestant(Contestant& contestant, const Place& place, int input) {
  int ends[2];
  contestant.errors = memory_file("stderr");
  contestant.output = memory_file("stdout");
  // They are on no path, so Landlock would let the contestant open them anew, to keep there what is not counted as its
  // memory and read it again. Their owner can write them and nothing else.
  if (fchmod(contestant.errors.get(), 0200) != 0 || fchmod(contestant.output.get(), 0200) != 0) system_fault("fchmod");
  if (full() && !contestant.zone.enter()) system_fault("a PID namespace cannot be made");
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) system_fault("socketpair");
  contestant.control = Fd(ends[0]);
  Fd theirs(ends[1]);
  if (start(contestant.process) == 0) Launch(contestant, place, theirs.get(), input).run();
  if (full()) Zone::leave();
}

// The child's words: the listener, the time it spent, an error; or the end, which is the exec.
// Returns words if it could not be started.
std::string hear(Contestant& contestant) {
  for (;;) {
    Word word;
    iovec part = {&word, sizeof word};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    ssize_t n = recvmsg(contestant.control.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return "";
    if (n != static_cast<ssize_t>(sizeof word)) {
      contestant.control.reset();
      contestant.started = contestant.ready;
      return "";
    }
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
      contestant.listener = Fd(descriptor);
    }
    word.step[sizeof word.step - 1] = '\0';
    if (word.error != 0 && strcmp(word.step, kExecStep) == 0 && !is_ours(word.error)) {
      contestant.unfit = true;
      continue;
    }
    if (word.error != 0) return std::string(word.step) + ": " + strerror(word.error);
    if (word.cpu_us > 0) {
      contestant.spent_before_us = word.cpu_us;
      contestant.started_us = word.now_us;
      contestant.ready = true;
    }
  }
}

// One refused call, reported by the kernel. The caller waits for our answer, or for its end.
void answer_refusal(Contestant& contestant) {
  union {
    seccomp_notif fields;
    char space[256];  // the kernel may know of more fields than our headers
  } request = {};
  union {
    seccomp_notif_resp fields;
    char space[256];
  } answer = {};
  memset(&request, 0, sizeof request);
  memset(&answer, 0, sizeof answer);
  if (ioctl(contestant.listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;  // it has died meanwhile
  const seccomp_data& call = request.fields.data;
  int clock = static_cast<int>(call.args[0]);
  if (call.arch == AUDIT_ARCH_X86_64 && call.nr == SYS_timer_create && clock >= -8 /* its own */) {
    contestant.has_timers = true;
    answer.fields.id = request.fields.id;
    answer.fields.flags = 1;  // SECCOMP_USER_NOTIF_FLAG_CONTINUE, Linux 5.5
    bool done = ioctl(contestant.listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0 || errno == ENOENT;
    if (++contestant.refusals >= kMostRefusals) contestant.listener.reset();
    if (done) return;
    answer.fields.flags = 0;
  }
  Refusal refusal = refusal_of(call);
  auto known = std::find_if(contestant.attempted.begin(), contestant.attempted.end(),
                            [&](const auto& entry) { return entry.first == refusal.name; });
  if (known == contestant.attempted.end()) {
    if (contestant.attempted.size() < kMostNames) contestant.attempted.emplace_back(refusal.name, 1);
  } else {
    known->second++;
  }
  if (refusal.deadly || refusal.suicide) {
    contestant.violated |= refusal.deadly;
    contestant.suicide |= refusal.suicide;
    contestant.process.kill();
    return;
  }
  answer.fields.id = request.fields.id;
  answer.fields.error = -refusal.error;
  ioctl(contestant.listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
  if (++contestant.refusals >= kMostRefusals) contestant.listener.reset();
}

// ------------------------------------------------------------------------------------------------ judge programs

// How a judge program ended. `fault` empty: as it should.
struct JudgeEnd {
  std::string fault;  // exit, signal, time, memory, score, stall, start
  std::string words;
  int64_t cpu_us = 0, wall_us = 0;
};

// A checker or manager. It runs in a directory of its own, in which `input.txt`, `correct_output.txt`, `output.txt` and
// the program itself are links to its descriptors: some are scripts and read these names.
class Judge {
 public:
  const char* name = "";
  Process process;
  Fd output, errors;
  int64_t started_us = 0, ended_us = 0;
  Sample last;
  std::string fault, words;
  bool ours = false;  // the fault is none of its own

  ~Judge() { clear(); }

  const char* blamed() const { return ours ? "runner" : name; }

  void begin(const char* its_name, const JudgeSpec& spec, const std::vector<std::string>& args, int input, int answer,
             int result, int standard_input) {
    name = its_name;
    spec_ = &spec;
    output = memory_file("judge stdout");
    errors = memory_file("judge stderr");
    directory = make_directory(g_base + "/" + random_name());
    link(kJudgeInputFd, "input.txt");
    link(kJudgeAnswerFd, "correct_output.txt");
    if (result >= 0) link(kJudgeOutputFd, "output.txt");
    link(kJudgeProgramFd, name);
    if (g_plan.protocol == Protocol::Kattis) make_directory(directory + "/feedback");
    started_us = now_us();
    if (start(process) != 0) return;
    // -------- the child's side
    setsid();
    plain_signals();
    umask(077);
    Fd own(reopen(errors.get(), O_WRONLY | O_APPEND)), again(reopen(errors.get(), O_WRONLY | O_APPEND));
    if (!own || !again) last_words_.say("open its stderr");
    if (chdir(directory.c_str()) != 0) last_words_.say("chdir");
    if (!place_descriptors({{standard_input, 0}, {output.get(), 1}, {own.get(), 2}, {input, kJudgeInputFd},
                            {answer, kJudgeAnswerFd}, {result, kJudgeOutputFd}, {spec.program.get(), kJudgeProgramFd},
                            {again.get(), kJudgeLastFd}},
                           INT_MAX)) {
      last_words_.say("descriptors");
    }
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_STACK, RLIM_INFINITY);
    set_limit(RLIMIT_AS, static_cast<rlim_t>(spec.memory_bytes) + (rlim_t{1} << 30));
    set_limit(RLIMIT_CPU, cpu_backstop_s(spec.cpu_ms));
    if (!drop_privileges(geteuid())) last_words_.say("drop privileges");
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    std::string itself = std::string("./") + name;
    std::vector<char*> argv{&itself[0]};
    for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
    argv.push_back(nullptr);
    std::string path = std::string("PATH=") + kPath, home = "HOME=" + directory, tmp = "TMPDIR=" + directory;
    char lang[] = "LANG=C.UTF-8";
    char* environment[] = {&path[0], &home[0], &tmp[0], lang, nullptr};
    execve(itself.c_str(), argv.data(), environment);
    if (is_ours(errno)) last_words_.say("execute it");
    dprintf(STDERR_FILENO, "cannot execute it: %s\n", strerror(errno));
    _exit(127);
  }

  bool over(int64_t cpu_us) const { return cpu_us > spec_->cpu_ms * 1000; }

  // Looks at it, and stops it if it is over a limit.
  void look() {
    if (!process.alive()) return;
    last = sample(process.pid, last);
    if (over(last.cpu_us)) stop("time", "over its CPU limit");
    if (now_us() - started_us > spec_->wall_ms * 1000) stop("stall", "over its wall clock limit");
    if (last.resident_bytes > spec_->memory_bytes) stop("memory", "over its memory limit");
  }

  void stop(const char* kind, const char* why) {
    if (fault.empty()) {
      fault = kind;
      words = why;
    }
    process.kill();
  }

  // After its end: what its exit says, but for the codes of its protocol.
  void conclude(std::initializer_list<int> good_codes) {
    ended_us = now_us();
    if (!fault.empty()) return;
    std::string unstarted = last_words_.hear();
    if (!unstarted.empty()) {
      fault = "start";
      words = format("the %s was not started: %s", name, unstarted.c_str());
      ours = true;
      return;
    }
    if (over(process.cpu_us())) {
      fault = "time";
      words = "over its CPU limit";
    } else if (process.peak_bytes() > spec_->memory_bytes) {
      fault = "memory";
      words = "over its memory limit";
    } else if (process.signal() == SIGKILL) {
      fault = "signal";
      words = format("the %s was %s", name, kKilledFromOutside);
      ours = true;
    } else if (process.signal() != 0) {
      fault = "signal";
      words = format("killed by signal %d", process.signal());
    } else if (std::find(good_codes.begin(), good_codes.end(), process.code()) == good_codes.end()) {
      fault = "exit";
      words = format("exit code %d", process.code());
    }
    std::string said = head(errors.get(), 500);
    if (!fault.empty() && !said.empty()) words += ": " + said;
  }

  void clear() {
    if (process.alive()) {
      process.kill();
      process.reap(true);
      ended_us = now_us();
    }
    if (!directory.empty()) remove_tree(AT_FDCWD, directory.c_str());
    directory.clear();
  }

  std::string directory;

 private:
  void link(int fd, const char* as) {
    if (symlink(format("/proc/self/fd/%d", fd).c_str(), (directory + "/" + as).c_str()) != 0) system_fault("symlink");
  }

  const JudgeSpec* spec_ = nullptr;
  LastWords last_words_;
};

// The contestant's program in a memory file: it can be executed and nothing else, whatever file it came in.
Fd program_copy() {
  Fd writable(static_cast<int>(syscall(SYS_memfd_create, "program", 1 | 2 | MFD_EXEC)));
  if (!writable) writable = Fd(static_cast<int>(syscall(SYS_memfd_create, "program", 1 | 2)));
  if (!writable) system_fault("memfd_create");
  if (!copy_bytes(g_files.get(g_plan.program), writable.get())) system_fault("copy the program");
  int fd = reopen(writable.get(), O_RDONLY);  // while it may still be read
  if (fd < 0 || fchmod(writable.get(), 0111) != 0) system_fault("the program's memory file");
  fcntl(writable.get(), 1033 /* F_ADD_SEALS */, 0xf);
  return Fd(fd);
}

// ------------------------------------------------------------------------------------------------ scores

// What a checker or manager said.
struct Said {
  bool valid = false;
  std::string score;    // as it was printed
  double value = 0;
  std::string message;
  std::string words;    // what is wrong with it
};

std::string trimmed(const std::string& text) {
  size_t from = text.find_first_not_of(" \t\r\n\v\f"), to = text.find_last_not_of(" \t\r\n\v\f");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

std::string first_line(const std::string& text) { return trimmed(text.substr(0, text.find('\n'))); }

// A score: a plain decimal number within [0, 1] and nothing else. No nan, no inf, no hexadecimal.
bool read_score(const std::string& text, Said& said) {
  said.score = text;
  const char* at = text.c_str();
  bool digits = false;
  if (*at == '+' || *at == '-') at++;
  for (; *at >= '0' && *at <= '9'; at++) digits = true;
  if (*at == '.') at++;
  for (; *at >= '0' && *at <= '9'; at++) digits = true;
  if (digits && (*at == 'e' || *at == 'E')) {
    at++;
    if (*at == '+' || *at == '-') at++;
    digits = false;
    for (; *at >= '0' && *at <= '9'; at++) digits = true;
  }
  if (!digits || *at != '\0' || text.size() != static_cast<size_t>(at - text.c_str())) {
    said.words = "not a score: " + text.substr(0, 100);
    return false;
  }
  said.value = strtod(text.c_str(), nullptr);
  said.valid = said.value >= 0.0 && said.value <= 1.0;
  if (!said.valid) said.words = "a score outside of [0, 1]: " + text.substr(0, 100);
  return said.valid;
}

// The texts of CMS for the three outcomes. Source: CMS, cms/grading/steps/evaluation.py.
const char* const kSuccess = "Output is correct";
const char* const kPartial = "Output is partially correct";
const char* const kWrong = "Output isn't correct";

// CMS: the score is the first line of stdout, the message the first line of stderr, which may ask for a standard text.
Said read_cms(int output, int errors) {
  Said said;
  std::string text = first_line(head(errors, kMessageBytes));
  if (text.compare(0, 10, "translate:") == 0) {
    std::string which = trimmed(text.substr(10));
    if (which == "success") text = kSuccess;
    if (which == "partial") text = kPartial;
    if (which == "wrong") text = kWrong;
  }
  said.message = text;
  read_score(first_line(head(output, 4096)), said);
  return said;
}

// testlib.h as it is published: 0 ok, 1 wrong answer, 2 presentation error, 4 dirt, 8 unexpected end of file;
// 7 a score as the word after `points`. (3 is the checker's own failure. Its "partially" codes have no base of their own
// and overlap with these, so they are refused.) Points are whatever the author means by them; here, parts of 1.
Said read_testlib(int code, int errors) {
  Said said;
  said.message = first_line(head(errors, kMessageBytes));
  if (code == 7) {
    std::vector<std::string> words = split(said.message, ' ');
    read_score(words.size() > 1 && words[0] == "points" ? words[1] : "", said);
    return said;
  }
  read_score(code == 0 ? "1" : "0", said);
  return said;
}

// Kattis: 42 accepts, 43 rejects; `score.txt` in the feedback directory has the score of an accepted output.
Said read_kattis(int code, const std::string& feedback) {
  Said said;
  Fd message(open((feedback + "/judgemessage.txt").c_str(), O_RDONLY | O_CLOEXEC));
  Fd score(open((feedback + "/score.txt").c_str(), O_RDONLY | O_CLOEXEC));
  if (message) said.message = trimmed(head(message.get(), kMessageBytes));
  read_score(code != 42 ? "0" : score ? trimmed(head(score.get(), 4096)) : "1", said);
  return said;
}

// A text as white-diff sees it: runs of blanks are one, those at the ends of a line are none.
// Source: CMS, cms/grading/steps/whitediff.py: blank, tab, vertical tab, form feed, carriage return.
class Canonical {
 public:
  explicit Canonical(int fd) : fd_(fd) {}

  static constexpr int End = -1;

  // The next character; End after the last line, whether or not that had its newline.
  int next() {
    bool gap = false;
    int c = raw();
    while (c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r') {
      gap = true;
      c = raw();
    }
    if (c == '\n' || (c == End && inside_)) {
      inside_ = false;
      return '\n';
    }
    if (c != End && gap && inside_) {
      at_--;
      return ' ';
    }
    inside_ = c != End;
    return c;
  }

 private:
  int raw() {
    if (at_ == filled_) {
      ssize_t n;
      while ((n = read(fd_, buffer_, sizeof buffer_)) < 0 && errno == EINTR) {
      }
      if (n < 0) system_fault("read an output");
      if (n == 0) return End;
      at_ = 0;
      filled_ = static_cast<size_t>(n);
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }

  int fd_;
  bool inside_ = false;  // something of the line has been seen
  size_t at_ = 0, filled_ = 0;
  char buffer_[8192];
};

bool white_diff(int output, int answer) {
  Canonical ours(output), theirs(answer);
  for (;;) {
    int a = ours.next(), b = theirs.next();
    if (a == b) {
      if (a == Canonical::End) return true;
      continue;
    }
    // One has ended: the rest of the other must be blank lines.
    if (a != Canonical::End && b != Canonical::End) return false;
    Canonical& rest = a == Canonical::End ? theirs : ours;
    for (int c = a == Canonical::End ? b : a; c != Canonical::End; c = rest.next()) {
      if (c != '\n') return false;
    }
    return true;
  }
}

// ------------------------------------------------------------------------------------------------ one test

struct Outcome {
  std::string verdict = "JE", score, message;
  const char* limit = nullptr;
  int code = 0, signal = 0;
  int64_t cpu_us = 0, wall_us = 0, idle_us = 0, memory_bytes = 0, judge_cpu_us = 0, judge_wall_us = 0;
  std::vector<std::pair<std::string, int>> attempted;
  std::string errors;
  std::string fault, program, words;  // of a JE
  bool zero = false;
};

std::string line_of(const Test& test, const Outcome& o) {
  std::string attempted;
  for (const auto& [name, count] : o.attempted) {
    attempted += (attempted.empty() ? "" : ",") + quoted(name) + ":" + std::to_string(count);
  }
  std::string line = format("{\"test\":%ld,\"verdict\":\"%s\",\"score\":", test.id, o.verdict.c_str());
  line += o.verdict == "JE" ? "null" : quoted(o.score);
  line += ",\"message\":" + quoted(o.message);
  line += format(",\"cpu_us\":%lld,\"wall_us\":%lld,\"idle_us\":%lld,\"memory_bytes\":%lld,\"code\":%d,\"signal\":%d",
                 static_cast<long long>(o.cpu_us), static_cast<long long>(o.wall_us), static_cast<long long>(o.idle_us),
                 static_cast<long long>(o.memory_bytes), o.code, o.signal);
  line += ",\"limit\":" + (o.limit != nullptr ? quoted(o.limit) : "null");
  line += ",\"attempted\":{" + attempted + "},\"stderr\":" + quoted(o.errors);
  line += format(",\"judge\":{\"cpu_us\":%lld,\"wall_us\":%lld}", static_cast<long long>(o.judge_cpu_us),
                 static_cast<long long>(o.judge_wall_us));
  if (o.verdict == "JE") {
    line += ",\"fault\":" + quoted(o.fault) + ",\"program\":" + quoted(o.program) + ",\"words\":" + quoted(o.words);
  }
  return line + "}\n";
}

// Which side of a FIFO pair closed it first, by the kernel's account.
class HangUps {
 public:
  explicit HangUps(size_t processes) : first_(processes, Nobody), left_by_manager_(processes, 0) {
    if (!g_plan.communication) return;
    queue_ = Fd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!queue_) system_fault("inotify_init1");
  }

  enum Side { Nobody, TheProcess, TheManager };

  // A manager that ends closes its FIFOs one after the other, and its process may be quicker than the second close. But
  // before any of them goes one of its two descriptors of its own `errors`, the lowest and the highest that it has.
  void watch_end(const Judge& manager) {
    lifeline_ = inotify_add_watch(queue_.get(), format("/proc/self/fd/%d", manager.errors.get()).c_str(), IN_CLOSE_WRITE);
    if (lifeline_ < 0) system_fault("inotify_add_watch");
  }

  void watch(size_t process, const Place& place) {
    add(process, place.fifo_out, IN_CLOSE_WRITE, IN_CLOSE_NOWRITE);
    add(process, place.fifo_in, IN_CLOSE_NOWRITE, IN_CLOSE_WRITE);
  }

  Side first(size_t process) {
    alignas(inotify_event) char buffer[2048];
    ssize_t n;
    while (queue_ && (n = read(queue_.get(), buffer, sizeof buffer)) > 0) {
      for (ssize_t at = 0; at < n;) {
        const inotify_event* event = reinterpret_cast<const inotify_event*>(buffer + at);
        manager_leaves_ |= event->wd == lifeline_;
        for (const Watched& w : watched_) {
          if (w.descriptor != event->wd || first_[w.process] != Nobody) continue;
          if ((event->mask & w.of_process) != 0) first_[w.process] = TheProcess;
          // The end of file may be all that it has still to say: it has hung up when it does not listen either.
          if ((event->mask & w.of_manager) == 0) continue;
          left_by_manager_[w.process] |= w.of_manager;
          if (manager_leaves_ || left_by_manager_[w.process] == IN_CLOSE) first_[w.process] = TheManager;
        }
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    }
    return first_[process];
  }

 private:
  struct Watched {
    int descriptor;
    size_t process;
    uint32_t of_process, of_manager;
  };
  void add(size_t process, const std::string& path, uint32_t of_process, uint32_t of_manager) {
    int descriptor = inotify_add_watch(queue_.get(), path.c_str(), of_process | of_manager);
    if (descriptor < 0) system_fault("inotify_add_watch");
    watched_.push_back({descriptor, process, of_process, of_manager});
  }
  std::vector<Side> first_;
  std::vector<uint32_t> left_by_manager_;
  int lifeline_ = -1;
  bool manager_leaves_ = false;
  std::vector<Watched> watched_;
  Fd queue_;
};

class TestRun {
 public:
  explicit TestRun(const Test& test)
      : test_(test), contestants_(static_cast<size_t>(g_plan.processes)), hang_ups_(contestants_.size()) {}

  Outcome run() {
    begin();
    watch();
    finish();
    return std::move(o_);
  }

 private:
  // -------------------------------------------------- starting

  void begin() {
    if (g_plan.communication) begin_manager();
    begun_us_ = ticked_us_ = settled_us_ = now_us();
    for (size_t i = 0; i < contestants_.size(); i++) {
      Contestant& c = contestants_[i];
      c.index = static_cast<long>(i);
      Fd input;
      if (!g_plan.communication) {
        input = Fd(reopen(test_.input, O_RDONLY));
      } else if (g_plan.fifo_io) {
        input = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
      }
      if (!input && (!g_plan.communication || g_plan.fifo_io)) system_fault("open the input of test %ld", test_.id);
      start_contestant(c, g_places[i], input.get());
    }
  }

  void begin_manager() {
    std::vector<std::string> args;
    for (size_t i = 0; i < contestants_.size(); i++) {
      open_place(g_places[i], static_cast<long>(i));
      hang_ups_.watch(i, g_places[i]);
      args.push_back(g_places[i].fifo_out);
      args.push_back(g_places[i].fifo_in);
    }
    args.insert(args.end(), g_plan.manager.args.begin(), g_plan.manager.args.end());
    Fd input = judge_file(test_.input), again = judge_file(test_.input), answer = judge_file(test_.answer);
    manager_.begin("manager", g_plan.manager, args, again.get(), answer.get(), -1, input.get());
    hang_ups_.watch_end(manager_);
  }

  // A test without an answer has an empty one.
  Fd judge_file(int fd) {
    Fd file(fd >= 0 ? reopen(fd, O_RDONLY) : open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!file) system_fault("open a file of test %ld for a judge program", test_.id);
    return file;
  }

  // -------------------------------------------------- watching

  void watch() {
    for (;;) {
      sleep();
      for (Contestant& c : contestants_) listen(c);
      for (Contestant& c : contestants_) {
        if (!c.process.alive() || !c.process.reap(false)) continue;
        c.ended_us = now_us();
        listen(c);  // its last words may be why
        // Without a listener the filter kills by this signal, and nothing tells it from the program's own.
        c.violated |= !g_means.notify && g_means.seccomp && c.process.signal() == SIGSYS;
      }
      if (manager_.process.alive() && manager_.process.reap(false)) manager_.conclude({0});
      int64_t now = now_us();
      if (now >= ticked_us_ + tick_length()) tick(now);
      if (is_over(now)) break;
    }
    for (Contestant& c : contestants_) stop(c);
    if (manager_.process.alive()) manager_.clear();
    for (Contestant& c : contestants_) {
      c.process.reap(true);
      if (c.ended_us == 0) c.ended_us = now_us();
      c.zone.end();
      if (fchmod(c.output.get(), 0400) != 0) system_fault("fchmod");  // now a checker may
    }
  }

  int64_t tick_length() const { return ticked_us_ - begun_us_ < kQuickPhaseUs ? kFirstTickUs : kTickUs; }

  void sleep() {
    std::vector<pollfd> fds;
    auto add = [&](const Fd& fd) {
      if (fd) fds.push_back({fd.get(), POLLIN, 0});
    };
    for (const Contestant& c : contestants_) {
      if (!c.process.alive()) continue;
      add(c.process.pidfd);
      add(c.control);
      add(c.listener);
    }
    if (manager_.process.alive()) add(manager_.process.pidfd);
    int64_t left = std::max<int64_t>(0, ticked_us_ + tick_length() - now_us());
    timespec timeout = {left / 1'000'000, left % 1'000'000 * 1000};
    if (ppoll(fds.data(), fds.size(), &timeout, nullptr) < 0 && errno != EINTR) system_fault("ppoll");
  }

  void listen(Contestant& c) {
    if (c.control) {
      std::string trouble = hear(c);
      if (!trouble.empty()) judge_error("start", "runner", trouble);
    }
    if (!c.listener) return;
    pollfd ready = {c.listener.get(), POLLIN, 0};
    if (poll(&ready, 1, 0) != 1) return;
    if ((ready.revents & POLLIN) != 0) {
      answer_refusal(c);
    } else {
      c.listener.reset();  // everybody behind it has gone
    }
  }

  // Every few milliseconds: the rules that stop a program.
  void tick(int64_t now) {
    for (Contestant& c : contestants_) {
      if (c.process.alive()) look(c);
    }
    manager_.look();
    ticked_us_ = now;
    // The kernel adds a wait for a processor to schedstat when it is over: until nobody is in one, nothing is settled.
    int64_t idle = somebody_is('R') ? 0 : settle(now);
    unblock();
    if (anybody_alive()) {
      idle_us_ += idle;
      check_times(now);
    } else {
      manager_idle_us_ += idle;
      if (manager_idle_us_ >= kManagerIdleUs) manager_.stop("stall", "does nothing, though all processes have ended");
    }
  }

  // What remains of the time since the last settlement after CPU time and run-queue delay. The machine's disk may be slow:
  // some of what is spent in waiting for it is forgiven.
  int64_t settle(int64_t now) {
    int64_t busy = busy_us(manager_.process, manager_.last), idle = now - settled_us_ - (busy - manager_settled_us_);
    manager_settled_us_ = busy;
    for (Contestant& c : contestants_) {
      busy = busy_us(c.process, c.last);
      idle -= busy - c.settled_us;
      c.settled_us = busy;
    }
    settled_us_ = now;
    idle = std::max<int64_t>(0, idle);
    if (idle == 0 || !somebody_is('D')) return idle;
    int64_t forgiven = std::min(idle, g_plan.cpu_ms * 1000 + kDiskUs - disk_us_);
    disk_us_ += forgiven;
    return idle - forgiven;
  }

  bool somebody_is(char state) const {
    if (manager_.process.alive() && has_thread(manager_.process.pid, state)) return true;
    return std::any_of(contestants_.begin(), contestants_.end(),
                       [&](const Contestant& c) { return c.process.alive() && has_thread(c.process.pid, state); });
  }

  void look(Contestant& c) {
    c.last = sample(c.process.pid, c.last);
    c.peak_bytes = std::max(c.peak_bytes, c.started ? c.last.resident_bytes : 0);
    if (c.started && c.last.resident_bytes > g_plan.memory_bytes) end(c, "memory");
    if (c.last.threads > g_plan.threads) end(c, "threads");
    if (!full()) {
      Litter litter = look_at_scratch(g_places[static_cast<size_t>(c.index)].scratch, false);
      if (litter.bytes > kScratchBytes || litter.files > kScratchFiles) end(c, "files");
    }
    if (file_size(c.output.get()) > g_plan.output_bytes) end(c, "output");
    if (file_size(c.errors.get()) > g_plan.stderr_bytes) {
      if (ftruncate(c.errors.get(), g_plan.stderr_bytes) != 0) system_fault("cut stderr");
    }
  }

  void check_times(int64_t now) {
    int64_t limit_us = g_plan.cpu_ms * 1000;
    if (total_cpu_us() >= limit_us * 5 / 4 + 100'000) return end_all("cpu");
    int64_t manager_us = g_plan.has_manager ? g_plan.manager.cpu_ms * 1000 : 0, wall = now - begun_us_;
    bool given_up = wall >= 10 * (limit_us + manager_us) + 10'000'000;
    if (given_up) {
      int64_t busy = busy_us(manager_.process, manager_.last);
      for (const Contestant& c : contestants_) busy += busy_us(c.process, c.last);
      if (busy >= wall / 2) return judge_error("wall", "runner", "the machine is too loaded to judge on");
    }
    // Without load to explain so much wall clock it was waiting, only so that the ticks did not see it.
    if (!given_up && idle_us_ < limit_us + 1'000'000) return;
    bool waits = std::any_of(contestants_.begin(), contestants_.end(),
                             [](const Contestant& c) { return c.process.alive() && !c.started; });
    if (waits && manager_.process.alive()) return judge_error("stall", "manager", "it does not open its FIFOs");
    end_all("idle");
  }

  int64_t total_cpu_us() const {
    int64_t total = 0;
    for (const Contestant& c : contestants_) total += c.cpu_us();
    return total;
  }

  bool anybody_alive() const {
    return std::any_of(contestants_.begin(), contestants_.end(), [](const Contestant& c) { return c.process.alive(); });
  }

  static void end(Contestant& c, const char* limit) {
    if (c.limit == nullptr && !c.stopped) c.limit = limit;
    c.process.kill();
  }

  void end_all(const char* limit) {
    limit_ = limit;
    for (Contestant& c : contestants_) {
      if (c.process.alive()) end(c, limit);
    }
  }

  static void stop(Contestant& c) {
    if (!c.process.alive()) return;
    if (c.limit == nullptr) c.stopped = true;
    c.process.kill();
  }

  void judge_error(const char* fault, const char* program, const std::string& words) {
    if (!o_.fault.empty()) return;
    o_.fault = fault;
    o_.program = program;
    o_.words = words;
  }

  // While one side is dead, its FIFOs must not block the other. See the essay.
  void unblock() {
    if (!g_plan.communication) return;
    auto touch = [](const std::string& fifo, int mode) { Fd(open(fifo.c_str(), mode | O_NONBLOCK | O_CLOEXEC)); };
    bool manager_alive = manager_.process.alive();
    for (size_t i = 0; i < contestants_.size(); i++) {
      const Contestant& c = contestants_[i];
      if (!c.process.alive() && manager_alive) {
        touch(g_places[i].fifo_out, O_WRONLY);
        touch(g_places[i].fifo_in, O_RDONLY);
      } else if (c.process.alive() && !manager_alive && (!c.started || g_plan.fifo_io)) {
        touch(g_places[i].fifo_in, O_WRONLY);
        touch(g_places[i].fifo_out, O_RDONLY);
      }
    }
  }

  bool is_over(int64_t now) {
    if (!o_.fault.empty()) return true;
    for (Contestant& c : contestants_) {
      if (c.process.ended && is_decisive(c)) return true;
    }
    if (manager_.process.alive()) return false;
    if (!anybody_alive()) return true;
    if (manager_.fault.empty()) return false;  // a batch task, or a manager that is done: they have their limits
    bool own_failure_may_show = false;
    for (size_t i = 0; i < contestants_.size(); i++) {
      own_failure_may_show |= contestants_[i].process.alive() && hang_ups_.first(i) == HangUps::TheProcess;
    }
    return !own_failure_may_show || now - manager_.ended_us > kManagerGraceUs;
  }

  // -------------------------------------------------- what a process did

  bool over_memory(const Contestant& c) const {
    return c.limit_is("memory") || std::max(c.process.peak_bytes(), c.peak_bytes) > g_plan.memory_bytes;
  }
  bool over_output(const Contestant& c) const {
    return c.limit_is("files") || c.limit_is("output") || c.process.signal() == SIGXFSZ || file_size(c.output.get()) > g_plan.output_bytes;
  }
  // A failure that has no cause outside of the program.
  bool failed_hard(const Contestant& c) const {
    if (c.stopped) return false;
    int signal = c.process.signal();
    return c.limit != nullptr || c.violated || c.unfit || (signal != 0 && signal != SIGPIPE) || over_memory(c) || over_output(c);
  }
  // A failure that may be the consequence of the manager's end.
  bool failed_softly(const Contestant& c) const { return !c.stopped && !failed_hard(c) && c.process.failed(); }

  bool hung_up_first(const Contestant& c) {
    if (!g_plan.communication) return true;
    HangUps::Side side = hang_ups_.first(static_cast<size_t>(c.index));
    if (side != HangUps::Nobody) return side == HangUps::TheProcess;
    return manager_.process.alive() || manager_.ended_us >= c.ended_us;
  }

  bool is_decisive(const Contestant& c) { return failed_hard(c) || (failed_softly(c) && hung_up_first(c)); }

  // -------------------------------------------------- concluding

  void finish() {
    const Contestant* first = nullptr;  // that failed
    for (Contestant& c : contestants_) {
      int64_t peak = std::max(c.peak_bytes, c.started ? c.process.peak_bytes() : 0);
      o_.memory_bytes = std::max(o_.memory_bytes, peak);
      if (c.started) o_.wall_us = std::max(o_.wall_us, c.ended_us - c.started_us);
      for (const auto& entry : c.attempted) add_attempt(entry);
      bool failed = failed_hard(c) || failed_softly(c);
      bool better = first == nullptr || (is_decisive(c) && !is_decisive(*first)) ||
                    (is_decisive(c) == is_decisive(*first) && c.ended_us < first->ended_us);
      if (failed && better) first = &c;
    }
    o_.cpu_us = total_cpu_us();
    o_.idle_us = idle_us_;
    const Contestant& told = first != nullptr ? *first : contestants_[0];
    if (!told.stopped) {
      o_.code = told.process.code();
      o_.signal = told.process.signal();
    }
    o_.errors = head(told.errors.get(), std::min(kStderrBytes, static_cast<size_t>(g_plan.stderr_bytes)));
    if (o_.fault.empty()) decide();
    if (manager_.process.pid > 0) {
      o_.judge_cpu_us += manager_.process.cpu_us() + sweep({});
      o_.judge_wall_us += manager_.ended_us > 0 ? manager_.ended_us - manager_.started_us : 0;
    }
  }

  void add_attempt(const std::pair<std::string, int>& entry) {
    for (auto& known : o_.attempted) {
      if (known.first == entry.first) {
        known.second += entry.second;
        return;
      }
    }
    o_.attempted.push_back(entry);
  }

  // A SIGKILL that is not ours is the machine's: no memory left, most likely. With a listener a contestant cannot send one
  // but by a timer, and we hear of those; else only the kernel's count of such kills can tell.
  bool killed_from_outside(const Contestant& c) const {
    bool other = c.process.signal() == SIGKILL && !c.stopped && !c.violated && c.limit == nullptr && !over_memory(c) &&
                 o_.cpu_us < g_plan.cpu_ms * 1000;
    bool can_itself = !g_means.notify || c.suicide || c.has_timers;
    return other && (!can_itself || out_of_memory_kills() > kills_before_);
  }

  void decide() {
    for (const Contestant& c : contestants_) {
      if (killed_from_outside(c)) return judge_error("signal", "runner", kKilledFromOutside);
      bool never_ran = !c.started && !c.unfit && !c.stopped && c.limit == nullptr;
      if (never_ran) return judge_error("start", "runner", format("it ended before the program began: %s", c.how().c_str()));
    }
    if (own_failure()) return;
    Said said;
    bool crossed = false;  // the manager was killed by SIGPIPE as the program had hung up
    if (g_plan.communication) {
      crossed = manager_.fault == "signal" && manager_.process.signal() == SIGPIPE && somebody_hung_up_first();
      if (crossed) {
        said.score = "0";
        said.valid = true;
        said.message = "The program ended before the manager was done";
      } else if (!manager_.fault.empty()) {
        return judge_error(manager_.fault.c_str(), manager_.blamed(), manager_.words);
      } else if (!g_plan.has_checker) {
        said = read_cms(manager_.output.get(), manager_.errors.get());
        if (!said.valid) return judge_error("score", "manager", said.words);
      }
    }
    if (!crossed && g_plan.has_checker) {
      if (!check(g_plan.communication ? manager_.output.get() : contestants_[0].output.get(), said)) return;
    }
    for (const Contestant& c : contestants_) {
      // It failed after the manager had hung up. Where the judge gives points nonetheless, CMS gives none.
      if (failed_softly(c) && said.value > 0) return give("RE", "0", "");
    }
    give(said.value == 1.0 ? "AC" : said.value == 0.0 ? "WA" : "PA", said.score, said.message);
  }

  bool somebody_hung_up_first() {
    for (size_t i = 0; i < contestants_.size(); i++) {
      if (hang_ups_.first(i) == HangUps::TheProcess) return true;
    }
    return false;
  }

  // The verdicts that need no judge, in their order.
  bool own_failure() {
    bool memory = false, output = false, violated = false, failed = false;
    const char* limit = limit_;
    for (Contestant& c : contestants_) {
      // After a manager's failure only those count that came before it.
      bool late = !manager_.fault.empty() && !hung_up_first(c);
      if (late) continue;
      memory |= !c.stopped && over_memory(c);
      output |= !c.stopped && over_output(c);
      violated |= c.violated;
      failed |= is_decisive(c);
      if (limit == nullptr) limit = c.limit;
    }
    if (limit_ != nullptr || o_.cpu_us >= g_plan.cpu_ms * 1000) {
      o_.limit = limit_ != nullptr ? limit_ : "cpu";
      give("TLE", "0", "");
    } else if (memory) {
      o_.limit = "memory";
      give("MLE", "0", "");
    } else if (output) {
      o_.limit = limit != nullptr ? limit : "output";
      give("OLE", "0", "");
    } else if (violated) {
      give("SV", "0", "");
    } else if (failed) {
      o_.limit = limit;
      give("RE", "0", "");
    } else {
      return false;
    }
    return true;
  }

  void give(const char* verdict, const std::string& score, const std::string& message) {
    o_.verdict = verdict;
    o_.score = score;
    o_.message = message;
    o_.zero = strtod(score.c_str(), nullptr) == 0.0;
  }

  // Lets the checker judge an output. False: it is at fault.
  bool check(int output, Said& said) {
    int64_t begun = now_us();
    if (g_plan.protocol == Protocol::WhiteDiff) {
      Fd ours(reopen(output, O_RDONLY)), answer = judge_file(test_.answer);
      if (!ours) system_fault("open an output");
      read_score(white_diff(ours.get(), answer.get()) ? "1" : "0", said);
      said.message = said.value == 1.0 ? kSuccess : kWrong;
      o_.judge_wall_us += now_us() - begun;
      return true;
    }
    Judge checker;
    begin_checker(checker, output);
    while (!checker.process.ended) {
      pollfd ready = {checker.process.pidfd.get(), POLLIN, 0};
      poll(&ready, 1, 5);
      if (!checker.process.reap(false)) checker.look();
    }
    int code = checker.process.code();
    switch (g_plan.protocol) {
      case Protocol::Testlib:
        checker.conclude({0, 1, 2, 4, 7, 8});
        said = read_testlib(code, checker.errors.get());
        break;
      case Protocol::Kattis:
        checker.conclude({42, 43});
        said = read_kattis(code, checker.directory + "/feedback");
        break;
      default:
        checker.conclude({0});
        said = read_cms(checker.output.get(), checker.errors.get());
    }
    o_.judge_cpu_us += checker.process.cpu_us() + sweep({});
    o_.judge_wall_us += checker.ended_us - checker.started_us;
    if (!checker.fault.empty()) {
      judge_error(checker.fault.c_str(), checker.blamed(), checker.words);
    } else if (!said.valid) {
      judge_error("score", "checker", said.words);
    }
    return o_.fault.empty();
  }

  void begin_checker(Judge& checker, int output) {
    Fd input = judge_file(test_.input), answer = judge_file(test_.answer), result = judge_file(output);
    std::vector<std::string> args = {"input.txt", "correct_output.txt", "output.txt"};
    Fd standard_input;
    if (g_plan.protocol == Protocol::Testlib) std::swap(args[1], args[2]);
    if (g_plan.protocol == Protocol::Kattis) {
      args[2] = "feedback/";
      standard_input = judge_file(output);
    } else {
      standard_input = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    args.insert(args.end(), g_plan.checker.args.begin(), g_plan.checker.args.end());
    checker.begin("checker", g_plan.checker, args, input.get(), answer.get(), result.get(), standard_input.get());
  }

  const Test& test_;
  Outcome o_;
  std::vector<Contestant> contestants_;
  HangUps hang_ups_;
  Judge manager_;
  const char* limit_ = nullptr;  // a rule about all processes together
  int64_t begun_us_ = 0, ticked_us_ = 0, idle_us_ = 0, manager_idle_us_ = 0;
  int64_t settled_us_ = 0, manager_settled_us_ = 0, disk_us_ = 0;
  long long kills_before_ = out_of_memory_kills();
};

// ------------------------------------------------------------------------------------------------ run mode

// Which tests can still matter: those before the first known zero of one of their groups.
class Needed {
 public:
  bool has(const Test& test) const {
    if (!g_plan.needed_only || test.at.empty()) return true;
    return std::any_of(test.at.begin(), test.at.end(), [&](const auto& place) {
      auto zero = find(place.first);
      return zero == zeros_.end() || place.second < zero->second;
    });
  }

  void zero(const Test& test) {
    for (const auto& place : test.at) {
      auto known = find(place.first);
      if (known == zeros_.end()) {
        zeros_.push_back(place);
      } else {
        zeros_[static_cast<size_t>(known - zeros_.begin())].second = std::min(known->second, place.second);
      }
    }
  }

 private:
  std::vector<std::pair<int, int>>::const_iterator find(int group) const {
    return std::find_if(zeros_.begin(), zeros_.end(), [&](const auto& zero) { return zero.first == group; });
  }
  std::vector<std::pair<int, int>> zeros_;  // (group, position)
};

void run_tests() {
  for (long i = 0; i < g_plan.processes; i++) g_programs.push_back(program_copy());
  g_files.forget();
  malloc_trim(0);  // what we hold at a fork is part of a child's peak memory
  bool reduced = !full();
  FilterWriter filter(g_means.notify, reduced, g_plan.processes > 1);
  g_filter = std::move(filter.code);
  g_filter_self = std::move(filter.self);
  g_places.resize(static_cast<size_t>(g_plan.processes));
  Needed needed;
  for (const Test& test : g_plan.tests) {
    if (!needed.has(test)) continue;
    Outcome outcome;
    {
      if (!g_plan.communication) open_place(g_places[0], 0);
      TestRun run(test);
      outcome = run.run();
    }
    for (Place& place : g_places) close_place(place);
    if (outcome.verdict != "JE" && outcome.zero) needed.zero(test);
    print(line_of(test, outcome));
    g_lines++;
  }
}

// ------------------------------------------------------------------------------------------------ compile mode

// Runs the steps of a compile plan in one work directory.
class Workshop {
 public:
  Workshop() {
    if (full()) {
      directory_ = make_directory(g_base + "/work", 0755);
      long long size = 2 * (g_plan.file_bytes + kStepFileSlackBytes);
      std::string options = format("size=%lld,nr_inodes=65536,mode=755", size);
      if (mount("work", directory_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) system_fault("mount work");
    } else {
      directory_ = make_directory(g_base + "/" + random_name());
    }
    work_ = Fd(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!work_) system_fault("open the work directory");
  }

  ~Workshop() { clear(); }

  void clear() {
    work_.reset();
    if (full()) {
      umount2(directory_.c_str(), MNT_DETACH);
    } else {
      remove_tree(AT_FDCWD, directory_.c_str());
    }
  }

  void run() {
    using Kind = CompileAction::Kind;
    int steps = 0;
    for (const CompileAction& action : g_plan.actions) {
      if (action.kind == Kind::See) see(action.words[0], action.words[1]);
      if (action.kind == Kind::Step && !step(action.words, steps++)) return;
    }
    for (const CompileAction& action : g_plan.actions) {
      if (action.kind == Kind::Artifact) artifact(action.words[0], action.words[1]);
    }
  }

 private:
  void see(const std::string& file, const std::string& path) {
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      mkdirat(work_.get(), path.substr(0, slash).c_str(), 0755);
    }
    // Not O_TRUNC: a step must not have put anything there that we would follow or overwrite.
    unlinkat(work_.get(), path.c_str(), 0);
    Fd to(openat(work_.get(), path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!to || !copy_bytes(g_files.get(file), to.get())) system_fault("put %s into the work directory", path.c_str());
  }

  struct Step {
    Process process;
    Zone zone;
    Fd pipe;
    std::string output;
    size_t printed = 0;
    const char* limit = nullptr;
    int64_t begun_us = 0, cpu_us = 0, peak_bytes = 0;
    LastWords last_words;
  };

  bool step(const std::vector<std::string>& argv, int number) {
    Step s;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) system_fault("pipe");
    s.pipe = Fd(ends[0]);
    Fd theirs(ends[1]);
    if (full() && !s.zone.enter()) system_fault("a PID namespace cannot be made");
    s.begun_us = now_us();
    long long kills = out_of_memory_kills();
    if (start(s.process) == 0) execute(argv, theirs.get(), s.last_words);
    if (full()) Zone::leave();
    theirs.reset();
    watch(s);
    int64_t wall = now_us() - s.begun_us;
    s.zone.end();
    // Of processes that were killed with their parent there is no account but what was seen of them.
    s.cpu_us = std::max(s.cpu_us, s.process.cpu_us() + sweep({}));
    s.peak_bytes = std::max(s.peak_bytes, s.process.peak_bytes());
    drain(s);
    std::string unstarted = s.last_words.hear();
    if (!unstarted.empty()) {
      clear();
      fault("system", format("step %d was not started: %s", number, unstarted.c_str()));
    }
    if (s.limit == nullptr) s.limit = late_limit(s);
    // A compiler driver whose compiler was killed exits with a code like any other. The kernel counts such kills.
    bool killed = s.process.failed() && s.limit == nullptr && out_of_memory_kills() > kills;
    std::string line = format("{\"step\":%d,\"code\":%d,\"signal\":%d,\"limit\":", number, s.process.code(), s.process.signal());
    line += s.limit != nullptr ? quoted(s.limit) : "null";
    line += format(",\"killed\":%d,\"cpu_us\":%lld,\"wall_us\":%lld,\"memory_bytes\":%lld,\"output\":", killed ? SIGKILL : 0,
                   static_cast<long long>(s.cpu_us), static_cast<long long>(wall), static_cast<long long>(s.peak_bytes));
    print(line + quoted(s.output) + "}\n");
    g_lines++;
    return s.limit == nullptr && !s.process.failed();
  }

  void watch(Step& s) {
    while (!s.process.ended) {
      pollfd fds[2] = {{s.process.pidfd.get(), POLLIN, 0}, {s.pipe.get(), POLLIN, 0}};
      poll(fds, s.pipe ? 2 : 1, 10);
      drain(s);
      if (!s.process.reap(false)) look(s);
    }
  }

  void drain(Step& s) {
    char buffer[16384];
    ssize_t n;
    while (s.pipe && (n = read(s.pipe.get(), buffer, sizeof buffer)) >= 0) {
      if (n == 0) return s.pipe.reset();
      size_t room = static_cast<size_t>(g_plan.output_bytes) - s.output.size();
      s.output.append(buffer, std::min(room, static_cast<size_t>(n)));
      s.printed += static_cast<size_t>(n);
      if (s.printed > kStepFloodBytes) return stop(s, "output");
    }
  }

  void look(Step& s) {
    std::vector<pid_t> family = descendants(s.process.pid);
    family.push_back(s.process.pid);
    if (s.zone.pid() > 0) {
      for (pid_t orphan : descendants(s.zone.pid())) family.push_back(orphan);
    }
    int64_t cpu = 0;
    for (pid_t pid : family) {
      Sample now = sample(pid);
      cpu += now.cpu_us + cpu_of_dead_children_us(pid);
      s.peak_bytes = std::max(s.peak_bytes, now.resident_bytes);
    }
    s.cpu_us = std::max(s.cpu_us, cpu);
    if (s.peak_bytes > g_plan.memory_bytes) stop(s, "memory");
    if (cpu > g_plan.cpu_ms * 1000) stop(s, "cpu");
    if (now_us() - s.begun_us > g_plan.wall_ms * 1000) stop(s, "wall");
    if (static_cast<long>(family.size()) > g_plan.processes) stop(s, "processes");
    if (largest_file() > g_plan.file_bytes) stop(s, "file");
  }

  // What polling has missed.
  const char* late_limit(const Step& s) const {
    if (s.cpu_us > g_plan.cpu_ms * 1000) return "cpu";
    if (s.peak_bytes > g_plan.memory_bytes) return "memory";
    if (largest_file() > g_plan.file_bytes) return "file";
    return nullptr;
  }

  static int64_t cpu_of_dead_children_us(pid_t pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    read_text(AT_FDCWD, path, text, sizeof text);
    const char* rest = strrchr(text, ')');  // the name may contain anything
    long long user, system;
    if (rest == nullptr || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lld %lld", &user, &system) != 2) {
      return 0;
    }
    return (user + system) * 1'000'000 / sysconf(_SC_CLK_TCK);
  }

  int64_t largest_file() const {
    int64_t largest = 0;
    DIR* directory = fdopendir(openat(work_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (dirent* entry = directory != nullptr ? readdir(directory) : nullptr) {
      struct stat status;
      if (fstatat(work_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
      largest = std::max<int64_t>(largest, status.st_size);
    }
    if (directory != nullptr) closedir(directory);
    return largest;
  }

  static void stop(Step& s, const char* limit) {
    if (s.limit == nullptr) s.limit = limit;
    for (pid_t pid : descendants(s.process.pid)) kill(pid, SIGKILL);
    s.process.kill();
  }

  // The child's side.
  [[noreturn]] void execute(const std::vector<std::string>& step_argv, int output, LastWords& last_words) {
    setsid();
    plain_signals();
    umask(022);
    Fd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    int shared = fcntl(output, F_GETFL);
    fcntl(output, F_SETFL, shared & ~O_NONBLOCK);
    if (fchdir(work_.get()) != 0) last_words.say("enter the work directory");
    if (!place_descriptors({{nothing.get(), 0}, {output, 1}, {output, 2}}, INT_MAX)) last_words.say("descriptors");
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_AS, 2 * static_cast<rlim_t>(g_plan.memory_bytes) + (rlim_t{1} << 30));
    set_limit(RLIMIT_CPU, cpu_backstop_s(g_plan.cpu_ms));
    set_limit(RLIMIT_FSIZE, static_cast<rlim_t>(g_plan.file_bytes + kStepFileSlackBytes));
    if (full()) set_limit(RLIMIT_NPROC, static_cast<rlim_t>(g_plan.processes) + 10);
    if (!drop_privileges(geteuid())) last_words.say("drop privileges");
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (const char* failed = confine(compiler_prefix(step_argv[0]))) last_words.say(failed);
    std::vector<char*> argv;
    for (const std::string& word : step_argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    clearenv();
    setenv("PATH", search_path().c_str(), 1);
    setenv("HOME", directory_.c_str(), 1);
    setenv("TMPDIR", directory_.c_str(), 1);
    setenv("LANG", "C.UTF-8", 1);
    execvp(argv[0], argv.data());
    last_words.say(format("execute %s", argv[0]).c_str());
  }

  // Where a compiler that is not the system's has its parts; empty if the command is none such.
  static std::string compiler_prefix(const std::string& command) {
    for (const std::string& directory : split(search_path(), ':')) {
      char real[PATH_MAX];
      std::string path = command.find('/') == std::string::npos ? directory + "/" + command : command;
      if (access(path.c_str(), X_OK) != 0 || realpath(path.c_str(), real) == nullptr) continue;
      std::string prefix = real;
      for (int level = 0; level < 2 && !prefix.empty(); level++) prefix.resize(prefix.rfind('/'));
      bool has_parts = false;
      for (const char* parts : {"/lib/gcc", "/libexec/gcc", "/lib/clang"}) {
        has_parts |= access((prefix + parts).c_str(), F_OK) == 0;
      }
      return has_parts && prefix != "/usr" && prefix != "/usr/local" ? prefix : "";
    }
    return "";
  }

  // Piston's compiler packages are on the PATH that its jobs get.
  static std::string search_path() {
    const char* inherited = getenv("PATH");
    return inherited != nullptr && *inherited != '\0' ? inherited : kPath;
  }

  // The compiler and its libraries, and nothing else of this machine: not even other programs' data in /usr.
  // Returns what failed.
  const char* confine(const std::string& prefix) {
    if (g_means.landlock >= 1) {
      Landlock landlock(g_means.landlock);
      for (const char* path :
           {"/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/include",
            "/usr/x86_64-linux-gnu", "/usr/local/bin", "/usr/local/include", "/usr/local/libexec", "/usr/local/lib64",
            "/usr/local/lib/gcc", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives", "/etc/ld.so.cache",
            "/piston/packages", prefix.c_str()}) {
        landlock.grant(path, right::Read | right::Execute);
      }
      landlock.grant("/dev/null", right::ReadFile | right::WriteFile | right::Truncate);
      landlock.grant("/dev/urandom", right::ReadFile);
      landlock.grant(".", ~uint64_t{0});
      if (!landlock.restrict()) return "landlock";
    }
    return g_means.seccomp && install_filter(step_filter(), false) < 0 ? "seccomp" : nullptr;
  }

  void artifact(const std::string& path, const std::string& as) {
    Fd fd(openat(work_.get(), path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;  // no line: there is no such artifact
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    print("{\"artifact\":" + quoted(as) + ",\"base64\":\"");
    unsigned char block[3 * 4096];
    for (off_t offset = 0; offset < status.st_size;) {
      size_t want = std::min<size_t>(sizeof block, static_cast<size_t>(status.st_size - offset)), got = 0;
      while (got < want) {
        ssize_t n = pread(fd.get(), block + got, want - got, offset + static_cast<off_t>(got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) system_fault("read an artifact");
        got += static_cast<size_t>(n);
      }
      offset += static_cast<off_t>(got);
      std::string text;
      for (size_t i = 0; i < got; i += 3) {
        size_t left = got - i;
        unsigned bits = static_cast<unsigned>(block[i]) << 16;
        if (left > 1) bits |= static_cast<unsigned>(block[i + 1]) << 8;
        if (left > 2) bits |= block[i + 2];
        text += digits[bits >> 18];
        text += digits[bits >> 12 & 63];
        text += left > 1 ? digits[bits >> 6 & 63] : '=';
        text += left > 2 ? digits[bits & 63] : '=';
      }
      print(text);
    }
    print(format("\",\"bytes\":%lld}\n", static_cast<long long>(status.st_size)));
    g_lines++;
  }

  std::string directory_;
  Fd work_;
};

// ------------------------------------------------------------------------------------------------ start

void print_probe() {
  const Means& m = g_means;
  auto yes = [](bool b) { return b ? "true" : "false"; };
  print(format("{\"probe\":true,\"userns\":%s,\"pidns\":%s,\"mountns\":%s,\"netns\":%s,\"landlock\":%d,\"seccomp\":%s,"
               "\"notify\":%s,\"uids\":%lu,\"isolation\":\"%s\"}\n",
               yes(m.userns), yes(m.pidns), yes(m.mountns), yes(m.netns), m.landlock, yes(m.seccomp), yes(m.notify), m.uids,
               name_of(m.isolation)));
}

// Nothing that we inherited reaches a child by accident.
void close_on_exec() {
  if (syscall(kSysCloseRange, 3, ~0U, 4 /* CLOEXEC */) == 0) return;
  Fd directory(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) system_fault("open /proc/self/fd");
  each_number(directory.get(), [](int, const char* name) {
    if (atoi(name) > 2) fcntl(atoi(name), F_SETFD, FD_CLOEXEC);
  });
}

void require_isolation() {
  Means& m = g_means;
  // Only somebody else's root directory hides this machine's files from a compiler; else it takes Landlock.
  if (g_plan.compile && m.isolation == Isolation::Full && !m.boxed && m.landlock < 1) m.isolation = Isolation::None;
  if (m.isolation >= g_plan.least) return;
  const char* root = m.root ? "; it was started as root: start it as another user" : "";
  fault("isolation", format("%s is asked for, %s is to be had: user namespace %d, mounts %d, PID namespaces %d, Landlock %d, "
                            "seccomp %d%s",
                            name_of(g_plan.least), name_of(m.isolation), m.userns, m.mountns, m.pidns, m.landlock, m.seccomp,
                            root));
}

// Whoever started us wants no answer after its own end. (bwrap sees to this itself; here it is for those without.)
void die_with_parent() {
  pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(4);
}

[[noreturn]] void usage() {
  static const char text[] = "usage: runner (--dir DIRECTORY | --fds NAME=NUMBER,... | --probe | --version)"
                             " [--most full|reduced|none] [--without landlock,notify]\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(2);
  _exit(2);
}

int main_of(int argc, char** argv) {
  std::string mode, value, without;
  Isolation most = Isolation::Full;
  for (int i = 1; i < argc; i++) {
    std::string word = argv[i];
    bool takes_value = word == "--dir" || word == "--fds" || word == "--most" || word == "--without";
    if (takes_value && i + 1 == argc) usage();
    if (word == "--most") {
      std::string level = argv[++i];
      if (level != "full" && level != "reduced" && level != "none") usage();
      most = level == "full" ? Isolation::Full : level == "reduced" ? Isolation::Reduced : Isolation::None;
    } else if (word == "--without") {
      without = argv[++i];
    } else if (mode.empty() && (takes_value || word == "--probe" || word == "--version")) {
      mode = word;
      if (takes_value) value = argv[++i];
    } else {
      usage();
    }
  }
  if (mode.empty()) usage();
  if (mode == "--version") {
    print(format("ioi-eval-runner %d\n", kVersion));
    return 0;
  }
  die_with_parent();
  signal(SIGPIPE, SIG_IGN);
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
    if (descriptors.rlim_cur < kLeastFds) fault("system", format("the limit on open files is below %d", kLeastFds));
  }
  if (mode == "--probe") {
    find_means(most, without);
    print_probe();
    return 0;
  }
  close_on_exec();
  mode == "--dir" ? g_files.in_directory(value) : g_files.inherit(value);
  g_plan = read_plan();
  find_means(most, without);
  require_isolation();
  // From here on no process without privileges over us can read our memory or our descriptors.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  find_base();
  if (g_plan.compile) {
    Workshop().run();
  } else {
    run_tests();
  }
  print(format("{\"end\":true,\"nonce\":\"%s\",\"lines\":%d,\"isolation\":\"%s\",\"runner\":%d}\n", g_nonce.c_str(), g_lines,
               name_of(g_means.isolation), kVersion));
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return main_of(argc, argv); }
