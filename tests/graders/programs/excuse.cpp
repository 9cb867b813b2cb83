// A contestant that tries to get JE: ways to wait, to die or to keep memory that could look like a fault of the judge.
// -DNO_LOADER: a program whose loader does not exist, so that it cannot be executed.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <thread>

#ifdef NO_LOADER
asm(".section .interp,\"a\",@progbits\n.string \"/no/such/loader\"\n.previous");
#endif

static int refused(bool is, const char* what) { return printf("%s\n", is ? "held" : what), 0; }

static volatile sig_atomic_t handled = 0;

// Sends itself SIGTERM in one of all possible ways.
static int terminate(const std::string& way) {
  pid_t pid = getpid();
  siginfo_t info = {};
  info.si_code = SI_QUEUE;
  if (way == "kill") kill(pid, SIGTERM);
  if (way == "group") kill(0, SIGTERM);
  if (way == "tkill") syscall(SYS_tkill, pid, SIGTERM);
  if (way == "tgkill") syscall(SYS_tgkill, pid, pid, SIGTERM);
  if (way == "sigqueue") syscall(SYS_rt_sigqueueinfo, pid, SIGTERM, &info);
  if (way == "tgsigqueue") syscall(SYS_rt_tgsigqueueinfo, pid, pid, SIGTERM, &info);
  if (way == "thread") std::thread([] { pthread_kill(pthread_self(), SIGTERM); }).join();
  if (way == "timer") {
    struct sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGTERM;
    timer_t timer;
    itimerspec soon = {{0, 0}, {0, 1000000}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &soon, nullptr) != 0) return 95;
    for (;;) pause();
  }
  if (way == "blocked") {  // until long after the call
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGTERM);
    sigprocmask(SIG_BLOCK, &one, nullptr);
    kill(pid, SIGTERM);
    usleep(100'000);
    sigprocmask(SIG_UNBLOCK, &one, nullptr);
  }
  if (way == "others") {
    bool sent = false;
    for (int number : {SIGTERM, SIGKILL}) {
      for (pid_t other : {1, -1}) sent |= kill(other, number) == 0 || errno != EPERM;
    }
    return refused(!sent, "sent");
  }
  if (way == "handled") {
    signal(SIGTERM, [](int) { handled = 1; });
    return refused(raise(SIGTERM) == 0 && handled == 1, "not sent");
  }
  return 91;
}

int main() {
  char word[64] = "";
  if (scanf("%63s", word) != 1) return 90;
  std::string mode = word;
  volatile unsigned long work = 0;
  if (mode == "membarrier") {
    return refused(syscall(SYS_membarrier, 1 /* GLOBAL */, 0, 0) != 0 && errno == EINVAL, "membarrier(GLOBAL) works");
  } else if (mode == "vfork") {  // a wait in state D
    char* stack = static_cast<char*>(mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    auto body = [](void*) -> int { for (;;) pause(); };
    return refused(clone(body, stack + 65536, 0x50f00 | 0x4000 /* threads, VFORK */, nullptr) < 0, "a thread by vfork");
  } else if (mode == "fsync") {
    int fd = open("file", O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 2000; i++) {
      if (pwrite(fd, "x", 1, 0) != 1 || fsync(fd) != 0) return 92;
    }
    return refused(fsync(99) == 0 && fdatasync(99) == 0, "the kernel is asked");  // it has no such descriptor
  } else if (mode == "synced") {
    bool no = true;
    for (int flag : {O_DSYNC, O_SYNC, O_DIRECT}) no &= open("file", O_WRONLY | O_CREAT | flag, 0600) < 0;
    return refused(no, "synced");
  } else if (mode == "direct") {  // each read would wait for the input's disk
    bool no = fcntl(0, F_SETFL, O_DIRECT) != 0 && errno == EPERM;
    return refused(no && fcntl(0, F_SETFL, O_NONBLOCK) == 0 && (fcntl(0, F_GETFL) & O_NONBLOCK) != 0, "direct");
  } else if (mode == "cpu-limit" || mode == "old-cpu-limit") {
    rlimit one = {1, 1};
    bool no = mode == "cpu-limit" ? prlimit(0, RLIMIT_CPU, &one, nullptr) != 0 : syscall(SYS_setrlimit, RLIMIT_CPU, &one) != 0;
    rlimit now;
    if (prlimit(0, RLIMIT_CPU, nullptr, &now) != 0 || getrlimit(RLIMIT_FSIZE, &now) != 0) return 93;
    rlimit stack = {64 << 20, 64 << 20};
    if (setrlimit(RLIMIT_STACK, &stack) != 0) return 94;
    return refused(no, "a CPU limit of its own");
  } else if (mode == "ticks") {  // the kernel would end it at such a limit after little CPU time, if it ran at every tick
    rlimit cpu;
    return refused(getrlimit(RLIMIT_CPU, &cpu) == 0 && cpu.rlim_cur == RLIM_INFINITY, "the kernel limits its CPU time");
  } else if (mode == "timer") {
    struct sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 95;
    itimerspec soon = {{0, 0}, {0, 1000000}};
    timer_settime(timer, 0, &soon, nullptr);
    for (;;) work = work + 1;
  } else if (mode == "kill") {
    return kill(getpid(), SIGKILL);
  } else if (mode.compare(0, 10, "terminate-") == 0) {
    return terminate(mode.substr(10));
  } else if (mode == "shared") {
    size_t size = 1 << 20;
    void* no_file = mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int fd = open("file", O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, 4096) != 0) return 96;
    void* file = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    void* zero = mmap(nullptr, size, PROT_READ, MAP_SHARED, open("/dev/zero", O_RDONLY), 0);
    bool reads = mmap(nullptr, 4, PROT_READ, MAP_SHARED, 0, 0) != MAP_FAILED;  // as fast input routines do
    return refused(no_file == MAP_FAILED && file == MAP_FAILED && zero == MAP_FAILED && reads, "shared memory");
  } else if (mode == "outputs") {
    bool no = open("/proc/self/fd/1", O_RDWR) < 0 && open("/proc/self/fd/1", O_RDONLY) < 0 && open("/proc/self/fd/2", O_RDWR) < 0;
    return refused(no, "its output can be read again");
  }
  return 97;
}
