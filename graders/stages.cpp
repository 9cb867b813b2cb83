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
// loop polls; pages that processes share count for each. Over the limit, the largest process is killed, as the kernel
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
// `limit` is `cpu`, `wall`, `stdout` or `stderr` if one of these ended the stage. Exit code 0: the answer has all stages
// that had to run. Any other: this program itself failed, and its answer does not count.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr long kSysPidfdOpen = 434, kSysCloseRange = 436;
constexpr rlim_t kOpenFiles = 2048;  // Source: Piston's default max_open_files
constexpr rlim_t kProcesses = 512;   // Piston's default is 64 of the user's; threads count too
constexpr int kQuickMs = 1, kSlowMs = 10;
constexpr int64_t kQuickPhaseUs = 50000;

[[noreturn]] void fail(const char* what) {
  fprintf(stderr, "stages: %s: %s\n", what, strerror(errno));
  _exit(4);
}

int64_t now_us() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

int64_t in_us(const timeval& t) { return t.tv_sec * INT64_C(1000000) + t.tv_usec; }

void write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("write");
    data += n;
    size -= static_cast<size_t>(n);
  }
}

// ------------------------------------------------------------------------------------------------ the arguments

struct Stage {
  const char* name;
  int64_t wall_us, cpu_us, memory_bytes, output_bytes;
  int input;
  char** command;  // ends with a null pointer
};

int64_t number(const char* text) {
  char* end = nullptr;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0') {
    errno = EINVAL;
    fail(text);
  }
  return value;
}

// ------------------------------------------------------------------------------------------------ one stream

// A pipe's reading end, and a memory file for its data: if we held it in our memory, every child would report our size.
class Stream {
 public:
  explicit Stream(int64_t most) : most_(most) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    from_ = ends[0];
    into_ = ends[1];
    if (fcntl(from_, F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
    kept_ = static_cast<int>(syscall(SYS_memfd_create, "stream", 1 /* MFD_CLOEXEC */));
    if (kept_ < 0) fail("memfd_create");
  }
  ~Stream() {
    close(from_);
    close(kept_);
    if (into_ >= 0) close(into_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int into() const { return into_; }
  int from() const { return open_ ? from_ : -1; }  // poll ignores negative numbers
  int64_t size() const { return size_; }
  bool over() const { return over_; }

  void close_into() {
    close(into_);
    into_ = -1;
  }

  void drain() {
    char buffer[65536];
    while (open_) {
      ssize_t n = read(from_, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) fail("read");
      if (n == 0) open_ = false;
      if (n > most_ - size_) {
        over_ = true;
        n = static_cast<ssize_t>(most_ - size_);
      }
      write_all(kept_, buffer, static_cast<size_t>(n));
      size_ += n;
      if (over_) return;  // much output must not keep us from checking the clocks
    }
  }

  void print() const {
    char buffer[65536];
    for (off_t offset = 0; offset < size_;) {
      ssize_t n = pread(kept_, buffer, sizeof buffer, offset);
      if (n <= 0) fail("read what was kept");
      write_all(STDOUT_FILENO, buffer, static_cast<size_t>(n));
      offset += n;
    }
  }

 private:
  int from_ = -1, into_ = -1, kept_ = -1;
  int64_t most_, size_ = 0;
  bool open_ = true, over_ = false;
};

// ------------------------------------------------------------------------------------------------ all processes

struct Usage {
  int64_t cpu_us = 0, resident_bytes = 0, largest_bytes = 0;
  pid_t largest = 0;
};

// Reads the numbers of one process; false if it is gone.
bool look(int directory, const char* pid, Usage& usage) {
  char path[280], text[1024];
  snprintf(path, sizeof path, "%s/stat", pid);
  int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT && errno != ESRCH) fail("open /proc/<pid>/stat");
    return false;
  }
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return false;
  text[n] = '\0';
  const char* rest = strrchr(text, ')');  // a process can choose any name
  long long user, system, reaped_user, reaped_system, pages;
  if (rest == nullptr ||
      sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld %lld %*d %*d %*d %*d %*u %*u %lld",
             &user, &system, &reaped_user, &reaped_system, &pages) != 5) {
    errno = EPROTO;
    fail("/proc/<pid>/stat");
  }
  static const int64_t ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
  usage.cpu_us += (user + system + reaped_user + reaped_system) * 1000000 / ticks;
  usage.resident_bytes += pages * page;
  if (pages * page > usage.largest_bytes) {
    usage.largest_bytes = pages * page;
    usage.largest = static_cast<pid_t>(atol(pid));
  }
  return true;
}

Usage usage_now() {
  Usage all;
  DIR* directory = opendir("/proc");
  if (directory == nullptr) fail("open /proc");
  while (dirent* entry = readdir(directory)) {
    const char* name = entry->d_name;
    if (name[0] >= '0' && name[0] <= '9' && strcmp(name, "1") != 0) look(dirfd(directory), name, all);
  }
  closedir(directory);
  return all;
}

int64_t reaped_cpu_us() {
  rusage used;
  if (getrusage(RUSAGE_CHILDREN, &used) != 0) fail("getrusage");
  return in_us(used.ru_utime) + in_us(used.ru_stime);
}

// ------------------------------------------------------------------------------------------------ one stage

void limit(__rlimit_resource_t resource, rlim_t value) {
  rlimit old;
  if (getrlimit(resource, &old) != 0) _exit(126);
  if (old.rlim_max < value) value = old.rlim_max;
  rlimit both = {value, value};
  if (setrlimit(resource, &both) != 0) _exit(126);
}

[[noreturn]] void execute(const Stage& stage, int input, int output, int errors) {
  setsid();
  signal(SIGPIPE, SIG_DFL);
  if (dup2(input, 0) != 0 || dup2(output, 1) != 1 || dup2(errors, 2) != 2) _exit(126);
  if (syscall(kSysCloseRange, 3, ~0U, 0) != 0) {
    for (int fd = 3; fd < 1 << 16; fd++) close(fd);
  }
  limit(RLIMIT_CORE, 1);  // not 0: with a limit of 0 the kernel still starts a core handler (coredump.c)
  limit(RLIMIT_NOFILE, kOpenFiles);
  limit(RLIMIT_NPROC, kProcesses);
  limit(RLIMIT_CPU, static_cast<rlim_t>(stage.cpu_us / 1000000 + 2));  // of each process; the sum is polled
  execvp(stage.command[0], stage.command);
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
      reap(WNOHANG);
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
    if (input < 0) fail("open /dev/null");
    main_ = fork();
    if (main_ < 0) fail("fork");
    if (main_ == 0) execute(stage_, input, out_.into(), err_.into());
    close(input);
    out_.close_into();
    err_.close_into();
    pidfd_ = static_cast<int>(syscall(kSysPidfdOpen, main_, 0));  // close-on-exec; if it fails, the ticks suffice
  }

  void wait_a_little() {
    pollfd fds[] = {{pidfd_, POLLIN, 0}, {out_.from(), POLLIN, 0}, {err_.from(), POLLIN, 0}};
    poll(fds, 3, now_us() - begun_us_ < kQuickPhaseUs ? kQuickMs : kSlowMs);
  }

  void reap(int flags) {
    int status;
    rusage used;
    pid_t pid;
    while ((pid = wait4(-1, &status, flags, &used)) > 0) {
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
      reap(WNOHANG);
      siginfo_t any;
      if (waitid(P_ALL, 0, &any, WEXITED | WNOWAIT) != 0 && errno == ECHILD) break;
    }
    if (pidfd_ >= 0) close(pidfd_);
    out_.drain();
    err_.drain();
    if (limit_ == nullptr && out_.over()) limit_ = "stdout";
    if (limit_ == nullptr && err_.over()) limit_ = "stderr";
  }

  void print() const {
    char line[512], why[16] = "null";
    if (limit_ != nullptr) snprintf(why, sizeof why, "\"%s\"", limit_);
    int n = snprintf(line, sizeof line,
                     "{\"stage\":\"%s\",\"code\":%d,\"signal\":%d,\"limit\":%s,\"cpu_us\":%lld,\"wall_us\":%lld,"
                     "\"memory_bytes\":%lld,\"stdout\":%lld,\"stderr\":%lld}\n",
                     stage_.name, WIFEXITED(status_) ? WEXITSTATUS(status_) : 0,
                     WIFSIGNALED(status_) ? WTERMSIG(status_) : 0, why,
                     static_cast<long long>(reaped_cpu_us() - already_us_), static_cast<long long>(wall_us_),
                     static_cast<long long>(peak_bytes_), static_cast<long long>(out_.size()),
                     static_cast<long long>(err_.size()));
    write_all(STDOUT_FILENO, line, static_cast<size_t>(n));
    out_.print();
    err_.print();
  }

  const Stage& stage_;
  Stream out_, err_;
  pid_t main_ = 0;
  int pidfd_ = -1, status_ = 0;
  bool ended_ = false;
  const char* limit_ = nullptr;
  int64_t begun_us_ = 0, wall_us_ = 0, already_us_ = 0, peak_bytes_ = 0;
};

int main_of(int argc, char** argv) {
  if (getpid() != 1) {
    fprintf(stderr, "stages: not PID 1 of a namespace: it would kill everything else\n");
    return 2;
  }
  // If memory runs out, our children are killed before any other process on this machine: they inherit this. (A script can set it
  // back to 0: only a privileged process sets a least value.)
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0 && write(fd, "1000", 4) == 4) close(fd);
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) fail("prctl");
  // Our parent may ignore or block signals, which our children would inherit; and the kernel would not tell us how they end.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  for (int i = 1; i < argc;) {
    if (argc - i < 8) {
      errno = EINVAL;
      fail("a stage has eight words or more");
    }
    Stage stage = {argv[i],        number(argv[i + 1]) * 1000,  number(argv[i + 2]) * 1000,  number(argv[i + 3]),
                   number(argv[i + 4]), static_cast<int>(number(argv[i + 5])), nullptr};
    int64_t words = number(argv[i + 6]);
    if (words < 1 || words > argc - i - 7) {
      errno = EINVAL;
      fail("a stage's command");
    }
    i += 7;
    char** command = static_cast<char**>(calloc(static_cast<size_t>(words) + 1, sizeof(char*)));
    if (command == nullptr) fail("calloc");
    memcpy(command, argv + i, static_cast<size_t>(words) * sizeof(char*));
    stage.command = command;
    i += static_cast<int>(words);
    if (!StageRun(stage).run()) break;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return main_of(argc, argv); }
