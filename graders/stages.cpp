// The stage runner. It runs a script job: starts `compile` and `run` in the box, one after the other, and reports how each ended.
//
// THEORY OF OPERATION
//
// It is PID 1 of the box's PID namespace, so it inherits every process whose parent dies. When a stage is over, it kills
// and reaps all processes that are left: no process of `compile` survives into `run`, and none of `run` into the answer.
//
// Only this program writes the answer. Its children get pipes for stdout and stderr, which it empties into memory files,
// and no other descriptor. They have the same user id, but cannot open its descriptors or its memory, because it is not
// dumpable, and cannot signal it, because PID 1 gets only signals for which it has a handler. With `prlimit` they can
// take its resources away: then there is no answer, and the job has no result.
//
// How it measures. CPU time is that of reaped processes (getrusage), and for each living process its own and that of the
// children it has reaped (/proc/<pid>/stat). Only children of a process that ignores SIGCHLD are missed; wall clock and
// RLIMIT_CPU still limit those. Memory is the resident memory of all processes together, measured whenever the
// loop polls (every 1 or 10 ms); pages that processes share count for each. `memory_bytes` is the largest sum that was
// measured, or the peak of a single process if that is more (getrusage). Over the limit, the largest process is killed, as the kernel
// does if a memory cgroup is full: the script itself may continue and report it. Files on the box's tmpfs are limited by
// its size and not counted.
//
// How it is started:   stages STAGE…     where STAGE is
//     NAME WALL_MS CPU_MS MEMORY_BYTES OUTPUT_BYTES STDIN_FD WORDS WORD…
// STDIN_FD is a descriptor, or -1 for /dev/null; WORDS is how many words of a command follow. A stage after one that
// failed is not started.
//
// Its answer on stdout: for each stage that ran, one line of JSON, then the unchanged stdout and stderr of the stage, with
// the lengths that the line states:
//     {"stage":"run","code":0,"signal":0,"limit":null,"cpu_us":…,"wall_us":…,"memory_bytes":…,"stdout":…,"stderr":…}
// `limit` is `cpu`, `wall`, `stdout` or `stderr` if that limit ended the stage. Exit code 0: the answer has all stages
// that had to run. Any other: this program itself failed, and its answer does not count.

#include "runner/descriptors.h"
#include "runner/lines.h"
#include "runner/proc_files.h"
#include "runner/processes.h"

namespace {

using namespace runner;

constexpr rlim_t kOpenFiles = 2048;  // Source: Piston's default max_open_files
constexpr rlim_t kProcesses = 512;   // Piston's default is 64 of the user's; threads count too
constexpr int kQuickMs = 1, kSlowMs = 10;
constexpr int64_t kQuickPhaseUs = 50000;

// ------------------------------------------------------------------------------------------------ the arguments

struct Stage {
  const char* name;
  int64_t wall_us, cpu_us, memory_bytes, output_bytes;
  int input;
  std::vector<char*> command;  // ends with a null pointer
};

int64_t number(const char* text) {
  char* end = nullptr;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0') fault(FaultKind::Plan, std::string("not a number: ") + text);
  return value;
}

// The stage whose words begin here. Moves `at` behind them.
Stage read_stage(int argc, char** argv, int& at) {
  if (argc - at < 8) fault(FaultKind::Plan, "a stage has eight words or more");
  Stage stage = {argv[at], number(argv[at + 1]) * 1000, number(argv[at + 2]) * 1000, number(argv[at + 3]), number(argv[at + 4]),
                 static_cast<int>(number(argv[at + 5])), {}};
  int64_t words = number(argv[at + 6]);
  at += 7;
  if (words < 1 || words > argc - at) fault(FaultKind::Plan, "a stage's command has another number of words");
  stage.command.assign(argv + at, argv + at + words);
  stage.command.push_back(nullptr);
  at += static_cast<int>(words);
  return stage;
}

// ------------------------------------------------------------------------------------------------ one stream

// A pipe's reading end, and a memory file for its data: if we held it in our memory, every child would report our size.
class Stream {
 public:
  explicit Stream(int64_t most) : most_(most) {
    std::tie(from_, into_) = new_pipe();
    if (fcntl(into_.get(), F_SETFL, 0) != 0) system_fault("fcntl");  // the stage's writes wait
  }

  int into() const { return into_.get(); }
  int from() const { return open_ ? from_.get() : -1; }  // poll ignores negative numbers
  int64_t size() const { return size_; }
  bool over() const { return over_; }
  void close_into() { into_.reset(); }

  void drain() {
    char buffer[65536];
    while (open_) {
      ssize_t n = read(from_.get(), buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) system_fault("read");
      if (n == 0) open_ = false;
      if (n > most_ - size_) {
        over_ = true;
        n = static_cast<ssize_t>(most_ - size_);
      }
      if (!write_all(kept_.get(), buffer, static_cast<size_t>(n))) system_fault("write");
      size_ += n;
      if (over_) return;  // much output must not keep us from checking the clocks
    }
  }

  void print() const {
    if (!copy_bytes(kept_.get(), STDOUT_FILENO)) system_fault("print what was kept");
  }

 private:
  Fd from_, into_, kept_ = memory_file("stream");
  int64_t most_, size_ = 0;
  bool open_ = true, over_ = false;
};

// ------------------------------------------------------------------------------------------------ all processes

struct Usage {
  int64_t cpu_us = 0, resident_bytes = 0, largest_bytes = 0;
  pid_t largest = 0;
};

Usage usage_now() {
  Usage all;
  Fd directory(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) system_fault("open /proc");
  each_entry(directory.get(), [&](int, const char* name) {
    pid_t pid = atoi(name);
    if (pid <= 1) return;
    ProcessTotals totals = read_totals(pid);
    all.cpu_us += totals.user_us + totals.system_us + totals.reaped_children_us;
    all.resident_bytes += totals.resident_bytes;
    if (totals.resident_bytes > all.largest_bytes) {
      all.largest_bytes = totals.resident_bytes;
      all.largest = pid;
    }
  });
  return all;
}

int64_t reaped_cpu_us() {
  rusage used;
  if (getrusage(RUSAGE_CHILDREN, &used) != 0) system_fault("getrusage");
  return cpu_of(used);
}

// ------------------------------------------------------------------------------------------------ one stage

[[noreturn]] void execute(const Stage& stage, int input, int output, int errors) noexcept {
  setsid();
  signal(SIGPIPE, SIG_DFL);
  if (dup2(input, 0) != 0 || dup2(output, 1) != 1 || dup2(errors, 2) != 2) _exit(126);
  set_limit(RLIMIT_CORE, kNoCore);
  set_limit(RLIMIT_NOFILE, kOpenFiles);
  set_limit(RLIMIT_NPROC, kProcesses);
  set_limit(RLIMIT_CPU, cpu_backstop_s(stage.cpu_us / 1000));  // of each process; the sum is polled
  execvp(stage.command[0], stage.command.data());
  dprintf(2, "cannot execute %s: %s\n", stage.command[0], strerror(errno));
  _exit(127);
}

class StageRun {
 public:
  explicit StageRun(const Stage& stage) : stage_(stage), out_(stage.output_bytes), err_(stage.output_bytes) {}

  // Whether it succeeded.
  bool run() {
    already_us_ = reaped_cpu_us();
    begun_us_ = now_us();
    start();
    while (!ended_) {
      wait_a_little();
      out_.drain();
      err_.drain();
      reap();
      check();
    }
    wall_us_ = now_us() - begun_us_;
    end_all();
    print();
    return limit_ == nullptr && WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
  }

 private:
  void start() {
    int input = stage_.input >= 0 ? stage_.input : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input < 0) system_fault("open /dev/null");
    main_ = fork();
    if (main_ < 0) system_fault("fork");
    if (main_ == 0) execute(stage_, input, out_.into(), err_.into());
    close(input);
    out_.close_into();
    err_.close_into();
    pidfd_ = Fd(static_cast<int>(syscall(kSysPidfdOpen, main_, 0)));  // if it fails, the ticks suffice
  }

  void wait_a_little() {
    pollfd fds[] = {{pidfd_.get(), POLLIN, 0}, {out_.from(), POLLIN, 0}, {err_.from(), POLLIN, 0}};
    poll(fds, 3, now_us() - begun_us_ < kQuickPhaseUs ? kQuickMs : kSlowMs);
  }

  void reap() {
    int status;
    rusage used;
    pid_t pid;
    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0) {
      if (used.ru_maxrss * 1024 > peak_bytes_) peak_bytes_ = used.ru_maxrss * 1024;
      if (pid == main_) {
        ended_ = true;
        status_ = status;
      }
    }
  }

  void check() {
    if (ended_) return;
    Usage all = usage_now();
    if (all.resident_bytes > peak_bytes_) peak_bytes_ = all.resident_bytes;
    if (all.resident_bytes > stage_.memory_bytes && all.largest > 1) kill(all.largest, SIGKILL);
    if (out_.over()) stop("stdout");
    if (err_.over()) stop("stderr");
    if (all.cpu_us + reaped_cpu_us() - already_us_ > stage_.cpu_us) stop("cpu");
    if (now_us() - begun_us_ > stage_.wall_us) stop("wall");
  }

  void stop(const char* why) {
    if (limit_ == nullptr) limit_ = why;
    kill(main_, SIGKILL);
  }

  // Afterwards only we are left in this namespace, so no process holds a writing end.
  void end_all() {
    for (;;) {
      kill(-1, SIGKILL);
      reap();
      siginfo_t any;
      if (waitid(P_ALL, 0, &any, WEXITED | WNOWAIT) != 0 && errno == ECHILD) break;
    }
    out_.drain();
    err_.drain();
    if (limit_ == nullptr && out_.over()) limit_ = "stdout";
    if (limit_ == nullptr && err_.over()) limit_ = "stderr";
  }

  void print() const {
    Json line;
    line.open('{').member("stage", stage_.name).member("code", WIFEXITED(status_) ? WEXITSTATUS(status_) : 0);
    line.member("signal", WIFSIGNALED(status_) ? WTERMSIG(status_) : 0).member("limit", limit_);
    line.member("cpu_us", reaped_cpu_us() - already_us_).member("wall_us", wall_us_).member("memory_bytes", peak_bytes_);
    line.member("stdout", out_.size()).member("stderr", err_.size()).close('}');
    std::string text = line.take() + "\n";
    if (!write_all(STDOUT_FILENO, text.data(), text.size())) system_fault("write the answer");
    out_.print();
    err_.print();
  }

  const Stage& stage_;
  Stream out_, err_;
  pid_t main_ = 0;
  Fd pidfd_;
  int status_ = 0;
  bool ended_ = false;
  const char* limit_ = nullptr;
  int64_t begun_us_ = 0, wall_us_ = 0, already_us_ = 0, peak_bytes_ = 0;
};

int main_of(int argc, char** argv) {
  if (getpid() != 1) {
    fprintf(stderr, "stages: not PID 1 of a namespace: it would kill everything else\n");
    return 2;
  }
  close_on_exec();  // before we are not dumpable, because then we may not list our descriptors
  // If memory runs out, our children are killed before any other process on this machine: they inherit this. (A script can set it
  // back to 0: only a privileged process sets a least value.)
  write_text("/proc/self/oom_score_adj", "1000");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) system_fault("prctl");
  plain_signals();  // our children would inherit those that our parent ignores; and the kernel would not tell us how they end
  signal(SIGPIPE, SIG_IGN);
  for (int at = 1; at < argc;) {
    if (!StageRun(read_stage(argc, argv, at)).run()) break;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return main_of(argc, argv);
  } catch (const runner::Fault& fault) {
    fprintf(stderr, "stages: %s\n", fault.explanation.c_str());
    return 4;
  }
}
