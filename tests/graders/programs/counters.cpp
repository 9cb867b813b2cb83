// Two processes of one submission. The first acts, or rests for the same time. The second makes each call that a contestant
// may make, and records all numbers in the results. At the end it names the numbers that depend on the first.
//
// `counters list` prints the names of the calls that the second makes.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using Number = unsigned long;

static long call(long number, Number a = 0, Number b = 0, Number c = 0, Number d = 0, Number e = 0, Number f = 0) {
  long result = syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
}

template <typename T>
static Number at(T* pointer) {
  return reinterpret_cast<Number>(pointer);
}

static double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr unsigned kThread = 0x50f00;
static char stack[1 << 16];
static volatile int thread_done;

// Starts a thread, with a descriptor if `flags` say so, and waits for its end. Returns its number or an error.
static long thread(unsigned flags, int* descriptor) {
  thread_done = 0;
  int number = clone(
      [](void*) -> int {
        thread_done = 1;
        syscall(SYS_exit, 0);
        return 0;
      },
      stack + sizeof stack, static_cast<int>(kThread | flags), nullptr, descriptor);
  if (number < 0) return -errno;
  while (thread_done == 0) sched_yield();
  double end = now() + 0.0005;  // the thread uses its stack until its end
  while (now() < end) {
  }
  return number;
}

// ---- the first process acts

static std::vector<int> held;
static void* held_memory = MAP_FAILED;
constexpr size_t kHeldBytes = 48 << 20;

static void let_go() {
  for (int fd : held) close(fd);
  held.clear();
  if (held_memory != MAP_FAILED) munmap(held_memory, kHeldBytes);
  held_memory = MAP_FAILED;
}

static void keep(long fd) {
  if (fd >= 0) held.push_back(static_cast<int>(fd));
}

// As many of each kind as are allowed; the last of each kind is kept until the next turn.
static void act() {
  for (int round = 0; round < 40; round++) {
    for (int fd : held) close(fd);
    held.clear();
    int ends[2] = {-1, -1}, pidfd = -1;
    if (pipe(ends) == 0) keep(ends[0]), keep(ends[1]);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) keep(ends[0]), keep(ends[1]);
    keep(socket(AF_UNIX, SOCK_DGRAM, 0));
    keep(eventfd(0, 0));
    long set = epoll_create1(0), event = eventfd(0, 0);
    epoll_event watched{};
    if (set >= 0) epoll_ctl(static_cast<int>(set), EPOLL_CTL_ADD, static_cast<int>(event), &watched);
    keep(set), keep(event);
    keep(timerfd_create(CLOCK_MONOTONIC, 0));
    sigset_t none;
    sigemptyset(&none);
    keep(signalfd(-1, &none, 0));
    keep(call(SYS_memfd_create, at("m"), 0));
    keep(call(SYS_inotify_init1, 0));
    for (const char* path : {"/dev/null", "/dev/urandom", "/", ".", "/usr"}) keep(open(path, O_RDONLY));
    int file = open(("f" + std::to_string(round)).c_str(), O_RDWR | O_CREAT, 0600);
    if (file >= 0 && write(file, "x", 1) == 1) keep(file);
    unlink(("f" + std::to_string(round)).c_str());
    if (mkdir("d", 0700) == 0) rmdir("d");
    thread(0, nullptr);
    if (thread(CLONE_PIDFD, &pidfd) >= 0) keep(pidfd);
    if (clone([](void*) -> int { return 0; }, stack + sizeof stack, SIGCHLD | CLONE_VM, nullptr) > 0) wait(nullptr);
    timer_t timer;
    struct sigevent quiet{};
    quiet.sigev_notify = SIGEV_NONE;
    if (timer_create(CLOCK_MONOTONIC, &quiet, &timer) == 0 && round % 2 == 0) timer_delete(timer);
    keep(dup(0));
    call(SYS_futex, at(&pidfd), 1, 1);
    call(SYS_shmget, 4711, 4096, 0600 | 01000 /* IPC_CREAT */);
    call(SYS_msgget, 4711, 0600 | 01000 /* IPC_CREAT */);
    call(SYS_fcntl, 0, F_SETPIPE_SZ, 1 << 16);
    void* shared = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED) munmap(shared, 8192);
    int null = open("/dev/null", O_RDWR);
    char bytes[64];
    if (write(null, "x", 1) < 0 || read(null, bytes, 1) < 0 || call(SYS_getrandom, at(bytes), sizeof bytes) < 0) return;
    close(null);
    prctl(PR_SET_NAME, round % 2 != 0 ? "one" : "two", 0, 0, 0);
    sched_yield();
  }
  int ends[2];  // more pipes: all processes of a machine make many
  for (int i = 0; i < 3000 && pipe(ends) == 0; i++) close(ends[0]), close(ends[1]);
  for (int i = 0, fd; i < 3000 && (fd = socket(AF_UNIX, SOCK_DGRAM, 0)) >= 0; i++) close(fd);
  if (held_memory == MAP_FAILED) {
    held_memory = mmap(nullptr, kHeldBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  }
}

// ---- the second process reads numbers

class Look {
 public:
  std::map<std::string, Number> numbers;
  std::set<std::string> calls;

  void take(const char* name, const std::string& of, long result) { numbers[std::string(name) + " " + of] = static_cast<Number>(result); }

  template <typename T>
  void take(const char* name, const std::string& of, long result, const T& answer) {
    take(name, of, result);
    Number words[(sizeof answer + 7) / 8] = {};
    memcpy(words, &answer, sizeof answer);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) numbers[std::string(name) + " " + of + "." + std::to_string(i)] = words[i];
  }
};

#define LOOK(name, of, ...) take(#name, of, call(SYS_##name __VA_OPT__(, ) __VA_ARGS__))
#define LOOK_INTO(name, of, answer, ...)             \
  do {                                               \
    memset(&answer, 0, sizeof answer);               \
    long result_of_it = call(SYS_##name, __VA_ARGS__); \
    look.take(#name, of, result_of_it, answer);      \
  } while (false)

static void look_at_descriptor(Look& look, const std::string& of, int fd) {
  struct stat status;
  LOOK_INTO(fstat, of, status, static_cast<Number>(fd), at(&status));
  struct statfs system;
  LOOK_INTO(fstatfs, of, system, static_cast<Number>(fd), at(&system));
  char more[256];
  LOOK_INTO(statx, of, more, static_cast<Number>(fd), at(""), 0x1000 /* EMPTY_PATH */, 0x1fff, at(more));
  LOOK_INTO(statx, of + " unique", more, static_cast<Number>(fd), at(""), 0x1000, 0x5fff, at(more));
  for (int ask : {F_GETFL, F_GETFD, 1032, F_GETOWN, F_GETLEASE, 1034}) {
    look.LOOK(fcntl, of + std::to_string(ask), static_cast<Number>(fd), static_cast<Number>(ask));
  }
  for (unsigned ask : {0x5401u, 0x5413u, 0x541bu, 0x5421u, 0x5200u /* RNDGETENTCNT */, 0x80046601u, 0x80087601u}) {
    long answer[16];
    LOOK_INTO(ioctl, of + std::to_string(ask), answer, static_cast<Number>(fd), ask, at(answer));
  }
  look.LOOK(lseek, of, static_cast<Number>(fd), 0, SEEK_CUR);
}

static void look_at_new_things(Look& look) {
  int ends[2] = {-1, -1}, pidfd = -1;
  std::vector<int> made;
  auto also = [&](const char* name, const std::string& of, long fd) {
    look.take(name, of, fd < 0 ? fd : 0);
    if (fd < 0) return;
    look_at_descriptor(look, std::string("of ") + name + of, static_cast<int>(fd));
    made.push_back(static_cast<int>(fd));
  };
  also("pipe", "", call(SYS_pipe, at(ends)) == 0 ? ends[0] : -errno);
  also("pipe2", "", call(SYS_pipe2, at(ends), 0) == 0 ? ends[1] : -errno);
  also("socketpair", "", call(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, at(ends)) == 0 ? ends[0] : -errno);
  also("socket", "", call(SYS_socket, AF_UNIX, SOCK_DGRAM, 0));
  also("eventfd", "", call(SYS_eventfd, 0));
  also("eventfd2", "", call(SYS_eventfd2, 0, 0));
  long set = call(SYS_epoll_create1, 0);
  also("epoll_create1", "", set);
  also("epoll_create", "", call(SYS_epoll_create, 1));
  epoll_event event{};
  if (set >= 0) look.LOOK(epoll_ctl, "", static_cast<Number>(set), EPOLL_CTL_ADD, 0, at(&event));
  look.LOOK(epoll_wait, "", static_cast<Number>(set), at(&event), 1, 0);
  look.LOOK(epoll_pwait, "", static_cast<Number>(set), at(&event), 1, 0, 0, 8);
  long timer = call(SYS_timerfd_create, CLOCK_MONOTONIC, 0);
  also("timerfd_create", "", timer);
  itimerspec time{};
  LOOK_INTO(timerfd_gettime, "", time, static_cast<Number>(timer), at(&time));
  look.LOOK(timerfd_settime, "", static_cast<Number>(timer), 0, at(&time), 0);
  Number none = 0;
  also("signalfd", "", call(SYS_signalfd, ~0UL, at(&none), 8));
  also("signalfd4", "", call(SYS_signalfd4, ~0UL, at(&none), 8, 0));
  also("memfd_create", "", call(SYS_memfd_create, at("m"), 0));
  also("open", "file", call(SYS_open, at("mine"), O_RDWR | O_CREAT, 0600));
  for (const char* path : {"/", ".", "/dev/null", "/dev/urandom", "/dev/random", "/usr", "/usr/lib/x86_64-linux-gnu/libc.so.6"}) {
    also("openat", path, call(SYS_openat, static_cast<Number>(AT_FDCWD), at(path), O_RDONLY));
  }
  also("dup", "", call(SYS_dup, 0));
  also("dup2", "", call(SYS_dup2, 0, 90));
  also("dup3", "", call(SYS_dup3, 0, 91, 0));
  look.take("clone", "number", thread(0, nullptr));
  also("clone", "descriptor", thread(CLONE_PIDFD, &pidfd) >= 0 ? pidfd : -1);
  timer_t named = nullptr;
  struct sigevent quiet{};
  quiet.sigev_notify = SIGEV_NONE;
  LOOK_INTO(timer_create, "", named, CLOCK_MONOTONIC, at(&quiet), at(&named));
  LOOK_INTO(timer_gettime, "", time, at(named), at(&time));
  look.LOOK(timer_settime, "", at(named), 0, at(&time), 0);
  look.LOOK(timer_getoverrun, "", at(named));
  look.LOOK(timer_delete, "", at(named));
  look.LOOK(close_range, "", 92, 100, 0);
  for (int fd : made) look.LOOK(close, "", static_cast<Number>(fd));
  look.LOOK(unlink, "", at("mine"));
  if (ends[0] >= 0) close(ends[0]), close(ends[1]);
}

static void look_at_paths(Look& look) {
  struct stat status;
  char text[4096];
  for (const char* path : {"/", ".", "/dev/null", "/fifo", "/box", "/proc", "/usr", "/tmp", "/dev/shm"}) {
    LOOK_INTO(stat, path, status, at(path), at(&status));
    LOOK_INTO(lstat, path, status, at(path), at(&status));
    LOOK_INTO(newfstatat, path, status, static_cast<Number>(AT_FDCWD), at(path), at(&status), 0);
    struct statfs system;
    LOOK_INTO(statfs, path, system, at(path), at(&system));
    look.LOOK(access, path, at(path), R_OK);
    look.LOOK(faccessat, path, static_cast<Number>(AT_FDCWD), at(path), R_OK);
    look.take("faccessat2", path, call(439, static_cast<Number>(AT_FDCWD), at(path), R_OK, 0));
    LOOK_INTO(readlink, path, text, at(path), at(text), sizeof text);
    LOOK_INTO(readlinkat, path, text, static_cast<Number>(AT_FDCWD), at(path), at(text), sizeof text);
    int directory = open(path, O_RDONLY | O_DIRECTORY);
    if (directory >= 0) LOOK_INTO(getdents64, path, text, static_cast<Number>(directory), at(text), sizeof text);
    if (directory >= 0) close(directory);
  }
  LOOK_INTO(getcwd, "", text, at(text), sizeof text);
  look.LOOK(chdir, "", at("."));
  int here = open(".", O_RDONLY);
  look.LOOK(fchdir, "", static_cast<Number>(here));
  close(here);
  look.LOOK(mkdir, "", at("d"), 0700), look.LOOK(rmdir, "", at("d"));
  look.LOOK(mkdirat, "", static_cast<Number>(AT_FDCWD), at("d"), 0700);
  look.LOOK(rename, "", at("d"), at("e")), look.LOOK(renameat, "", static_cast<Number>(AT_FDCWD), at("e"), static_cast<Number>(AT_FDCWD), at("d"));
  look.LOOK(renameat2, "", static_cast<Number>(AT_FDCWD), at("d"), static_cast<Number>(AT_FDCWD), at("e"), 0);
  look.LOOK(unlinkat, "", static_cast<Number>(AT_FDCWD), at("e"), AT_REMOVEDIR);
  look.LOOK(umask, "", 077);
}

// Calls that read and write files that both processes have.
static void look_into_files(Look& look) {
  char bytes[64] = {};
  iovec part = {bytes, 1};
  int null = open("/dev/null", O_RDWR), file = open("mine", O_RDWR | O_CREAT, 0600);
  for (int fd : {null, file}) {
    std::string of = fd == null ? "null" : "file";
    Number n = static_cast<Number>(fd);
    look.LOOK(read, of, n, at(bytes), 1), look.LOOK(write, of, n, at(bytes), 1);
    look.LOOK(readv, of, n, at(&part), 1), look.LOOK(writev, of, n, at(&part), 1);
    look.LOOK(pread64, of, n, at(bytes), 1, 0), look.LOOK(pwrite64, of, n, at(bytes), 1, 0);
    look.LOOK(preadv, of, n, at(&part), 1, 0), look.LOOK(pwritev, of, n, at(&part), 1, 0);
    for (Number flags : {0, 1, 2, 4, 8, 16}) {
      look.LOOK(preadv2, of + std::to_string(flags), n, at(&part), 1, 0, 0, flags);
      look.LOOK(pwritev2, of + std::to_string(flags), n, at(&part), 1, 0, 0, flags);
    }
    look.LOOK(fsync, of, n), look.LOOK(fdatasync, of, n), look.LOOK(ftruncate, of, n, 10);
    look.LOOK(sendfile, of, n, n, 0, 1), look.LOOK(copy_file_range, of, n, 0, n, 0, 1, 0);
    pollfd ready = {fd, POLLIN | POLLOUT, 0};
    LOOK_INTO(poll, of, ready, at(&ready), 1, 0);
    timespec nothing{};
    look.LOOK(ppoll, of, at(&ready), 1, at(&nothing), 0, 8);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    timeval none{};
    look.LOOK(select, of, n + 1, at(&set), 0, 0, at(&none)), look.LOOK(pselect6, of, n + 1, at(&set), 0, 0, at(&nothing), 0);
  }
  close(null), close(file);
  call(SYS_unlink, at("mine"));
  unsigned char pages[16] = {};
  LOOK_INTO(mincore, "", pages, at(&look_into_files) & ~4095UL, 4096, at(pages));
}

static void look_at_itself(Look& look) {
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD}) {
    rusage usage;
    LOOK_INTO(getrusage, std::to_string(who), usage, static_cast<Number>(who), at(&usage));
  }
  struct sysinfo machine;
  LOOK_INTO(sysinfo, "", machine, at(&machine));
  utsname system;
  LOOK_INTO(uname, "", system, at(&system));
  tms times;
  LOOK_INTO(times, "", times, at(&times));
  timespec time;
  for (int clock = -8; clock < 20; clock++) {
    LOOK_INTO(clock_gettime, std::to_string(clock), time, static_cast<Number>(clock), at(&time));
    LOOK_INTO(clock_getres, std::to_string(clock), time, static_cast<Number>(clock), at(&time));
  }
  timeval day;
  LOOK_INTO(gettimeofday, "", day, at(&day), 0);
  look.LOOK(time, "", 0);
  for (int resource = 0; resource < 16; resource++) {
    rlimit limit;
    LOOK_INTO(getrlimit, std::to_string(resource), limit, static_cast<Number>(resource), at(&limit));
    LOOK_INTO(prlimit64, std::to_string(resource), limit, 0, static_cast<Number>(resource), 0, at(&limit));
  }
  rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) look.LOOK(setrlimit, "", RLIMIT_NOFILE, at(&files));
  unsigned ids[3], cpu[2];
  Number mask[16];
  look.LOOK(getpid, ""), look.LOOK(gettid, ""), look.LOOK(getppid, ""), look.LOOK(getpgrp, "");
  look.LOOK(getuid, ""), look.LOOK(geteuid, ""), look.LOOK(getgid, ""), look.LOOK(getegid, "");
  LOOK_INTO(getresuid, "", ids, at(ids), at(ids + 1), at(ids + 2));
  LOOK_INTO(getresgid, "", ids, at(ids), at(ids + 1), at(ids + 2));
  LOOK_INTO(getgroups, "", mask, 16, at(mask));
  LOOK_INTO(getcpu, "", cpu, at(cpu), at(cpu + 1), 0);
  look.LOOK(getpgid, "", 0), look.LOOK(getsid, "", 0), look.LOOK(getpriority, "", PRIO_PROCESS, 0), look.LOOK(getpriority, "user", PRIO_USER, 0);
  LOOK_INTO(sched_getaffinity, "", mask, 0, sizeof mask, at(mask));
  LOOK_INTO(sched_getparam, "", ids, 0, at(ids));
  look.LOOK(sched_getscheduler, "", 0);
  LOOK_INTO(sched_getattr, "", mask, 0, at(mask), 64, 0);
  LOOK_INTO(sched_rr_get_interval, "", time, 0, at(&time));
  look.LOOK(sched_get_priority_max, "", SCHED_RR), look.LOOK(sched_get_priority_min, "", SCHED_RR), look.LOOK(sched_yield, "");
  for (int ask : {PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_GET_TIMERSLACK, PR_GET_SECCOMP, PR_GET_TSC, 78 /* FUTEX_HASH */, 75}) {
    look.LOOK(prctl, std::to_string(ask), static_cast<Number>(ask), 2, 0, 0, 0);
  }
  char name[16];
  LOOK_INTO(prctl, "name", name, PR_GET_NAME, at(name));
  look.LOOK(arch_prctl, "", 0x1003, at(mask)), look.LOOK(membarrier, "", 0, 0);
  look.LOOK(kill, "", 0, 0), look.LOOK(tkill, "", static_cast<Number>(getpid()), 0);
  look.LOOK(tgkill, "", static_cast<Number>(getpid()), static_cast<Number>(getpid()), 0);
  siginfo_t information{};
  information.si_code = -1;
  Number usr1 = 1UL << (SIGUSR1 - 1), before = 0;
  call(SYS_rt_sigprocmask, SIG_BLOCK, at(&usr1), at(&before), 8);
  look.LOOK(rt_sigqueueinfo, "", static_cast<Number>(getpid()), SIGUSR1, at(&information));
  look.LOOK(rt_tgsigqueueinfo, "", static_cast<Number>(getpid()), static_cast<Number>(getpid()), SIGUSR1, at(&information));
  LOOK_INTO(rt_sigpending, "", mask, at(mask), 8);
  timespec nothing{};
  look.LOOK(rt_sigtimedwait, "", at(&usr1), at(&information), at(&nothing), 8);
  LOOK_INTO(rt_sigprocmask, "", mask, SIG_BLOCK, 0, at(mask), 8);
  LOOK_INTO(rt_sigaction, "", mask, SIGUSR1, 0, at(mask), 8);
  LOOK_INTO(sigaltstack, "", mask, 0, at(mask));
  itimerval interval;
  LOOK_INTO(getitimer, "", interval, ITIMER_REAL, at(&interval));
  memset(&interval, 0, sizeof interval);
  look.LOOK(setitimer, "", ITIMER_REAL, at(&interval), 0), look.LOOK(alarm, "", 0);
  look.LOOK(nanosleep, "", at(&nothing), 0), look.LOOK(clock_nanosleep, "", CLOCK_MONOTONIC, 0, at(&nothing), 0);
  int word = 0;
  look.LOOK(futex, "wake", at(&word), 1, 1), look.LOOK(futex, "wait", at(&word), 0, 1, at(&nothing));
  look.take("futex_waitv", "", call(449, 0, 0, 0, 0, 0));
  LOOK_INTO(get_robust_list, "", mask, 0, at(mask), at(mask + 1));
  look.LOOK(wait4, "", ~0UL, 0, WNOHANG, 0), look.LOOK(waitid, "", P_ALL, 0, 0, WEXITED | WNOHANG, 0);
  void* page = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  look.take("mmap", "", page == MAP_FAILED ? -errno : 0);
  look.LOOK(mprotect, "", at(page), 4096, PROT_READ), look.LOOK(madvise, "", at(page), 4096, MADV_DONTNEED);
  look.LOOK(msync, "", at(page), 4096, MS_SYNC), look.take("mremap", "", call(SYS_mremap, at(page), 8192, 4096, 0) < 0);
  look.LOOK(munmap, "", at(page), 4096), look.take("brk", "", call(SYS_brk, 0) < 0);
  for (size_t gib : {1, 3, 30, 300, 3000, 30000}) {  // how much memory may be reserved
    void* much = mmap(nullptr, gib << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    look.take("mmap", std::to_string(gib), much == MAP_FAILED ? -errno : 0);
    if (much != MAP_FAILED) munmap(much, gib << 30);
  }
}

static Look look() {
  Look look;
  for (int fd = 0; fd < 3; fd++) look_at_descriptor(look, "of " + std::to_string(fd), fd);
  look_at_new_things(look);
  look_at_paths(look);
  look_into_files(look);
  look_at_itself(look);
  return look;
}

// ---- which numbers depend on the first process

// Whether all values of one kind are greater than all of the other kind.
static bool are_apart(const std::vector<Number>& values, const std::string& acted, bool either_way) {
  Number least[2] = {~0UL, ~0UL}, most[2] = {0, 0};
  for (size_t i = 0; i < values.size(); i++) {
    int kind = acted[i] == 'a';
    least[kind] = std::min(least[kind], values[i]), most[kind] = std::max(most[kind], values[i]);
  }
  return least[1] > most[0] || (either_way && least[0] > most[1]);
}

// Whether the change in each turn, or the value after each turn, depends on what the first process did.
static bool tells(const std::vector<Number>& series, const std::string& acted) {
  for (Number part : {~0UL, 0xffffffffUL, ~0xffffffffUL}) {
    std::vector<Number> steps, levels;
    for (size_t i = 1; i < series.size(); i++) {
      long step = static_cast<long>((series[i] & part) - (series[i - 1] & part));
      steps.push_back(static_cast<Number>(step < 0 ? -step : step));
      levels.push_back(series[i] & part);
    }
    if (are_apart(steps, acted, false) || are_apart(levels, acted, true)) return true;
  }
  return false;
}

static std::string hear() {
  std::string line;
  for (char byte = 0; read(0, &byte, 1) == 1 && byte != '\n';) line += byte;
  return line;
}

static void say(const std::string& words) {
  if (write(1, (words + "\n").data(), words.size() + 1) < 0) _exit(1);
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "list") == 0) {
    std::set<std::string> names;
    for (const auto& [name, number] : look().numbers) names.insert(name.substr(0, name.find(' ')));
    for (const std::string& name : names) puts(name.c_str());
    return 0;
  }
  std::vector<Look> looks;
  std::minstd_rand random(static_cast<unsigned>(time(nullptr)));
  double lasted = 0.02;
  for (std::string order = hear(); !order.empty(); order = hear()) {
    if (order == "look") {
      looks.push_back(look());
      say("done");
    } else if (order == "forget") {
      looks.clear();
      say("done");
    } else if (order == "act") {
      let_go();
      double begun = now();
      act();
      lasted = now() - begun;
      say("done");
    } else if (order == "rest") {  // for a random time, otherwise the clock would show the difference
      let_go();
      double end = now() + lasted * (0.3 + static_cast<double>(random() % 1000) / 400.0);
      while (now() < end) {
      }
      say("done");
    } else {
      std::string found;
      for (const auto& [name, number] : looks[0].numbers) {
        std::vector<Number> series;
        for (const Look& each : looks) series.push_back(each.numbers.count(name) != 0 ? each.numbers.at(name) : 0);
        if (tells(series, order)) found += name + ",";
      }
      say(found);
    }
  }
  return 0;
}
