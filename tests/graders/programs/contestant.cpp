// A contestant that does what the first word of its input says: one program for most tests of the runner.
// Modes that end without failure print the sum of two numbers, which is the task.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <locale>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static long number = 0;

static void sum() { printf("%ld\n", number + 1); }

static void burn(long ms) {
  clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);
  volatile unsigned long work = 0;
  while (clock() < end) work = work + 1;
}

static void burn_forever() {
  volatile unsigned long work = 0;
  for (;;) work = work + 1;
}

static void touch(char* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 4096) from[at] = static_cast<char>(at >> 12 | 1);
}

// Takes pages and gives them back.
static void take_pages(size_t bytes) {
  void* area = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  touch(static_cast<char*>(area), bytes);
  munmap(area, bytes);
}

static long system_ms() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_stime.tv_sec * 1000 + usage.ru_stime.tv_usec / 1000;
}

static char big[600u << 20];

__attribute__((noinline)) static long recurse(long depth) {
  volatile char frame[1000];
  frame[depth % 1000] = 1;
  return depth == 0 ? 0 : recurse(depth - 1) + frame[depth % 1000];
}

// Uses all that an honest program may use. Prints the first thing that does not work.
static const char* honest() {
  long total = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back([&] { __atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST); });
  for (std::thread& thread : threads) thread.join();
  if (total != 4) return "threads";
  std::random_device device("/dev/urandom");
  if (device() == device() && device() == device()) return "random_device";
  if (FILE* null = fopen("/dev/null", "w")) {
    fprintf(null, "nothing\n");
    fclose(null);
  } else {
    return "/dev/null";
  }
  struct stat executed;  // without this path, TOMOYO before Linux 6.12 lets no program start in its own root directory
  if (getppid() == 0 && stat("/dev/fd/201", &executed) != 0) return "/dev/fd/201";
  rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur != RLIM_INFINITY) return "stack";
  stack.rlim_cur = 256 << 20;
  if (setrlimit(RLIMIT_STACK, &stack) != 0) return "setrlimit";
  if (std::chrono::steady_clock::now().time_since_epoch().count() == 0) return "clock";
  itimerval timer = {{0, 0}, {5, 0}};
  if (setitimer(ITIMER_REAL, &timer, nullptr) != 0) return "timer";
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (isatty(1)) return "isatty";
  if (errno != ENOTTY) return "isatty's errno";
  char terminal[64];
  if (ioctl(1, 0x802c542aul /* TCGETS2, in isatty since glibc 2.42 */, terminal) != -1 || errno != ENOTTY) return "TCGETS2";
  if (syscall(434 /* pidfd_open, at the start of Python 3.14's event loop */, getpid(), 0) != -1) return "pidfd_open";
  signal(SIGUSR1, SIG_IGN);
  if (raise(SIGUSR1) != 0) return "raise";
  FILE* file = fopen("notes.txt", "w+");
  if (file == nullptr || fprintf(file, "%d", 42) != 2 || fseek(file, 0, SEEK_SET) != 0) return "scratch";
  int value = 0;
  if (fscanf(file, "%d", &value) != 1 || value != 42 || fclose(file) != 0) return "scratch file";
  if (time(nullptr) < 1000) return "time";
  char* grown = static_cast<char*>(realloc(malloc(1 << 20), 8 << 20));
  if (grown == nullptr) return "realloc";
  free(grown);
  try {
    throw std::runtime_error("caught");
  } catch (const std::exception&) {
    return "";
  }
  return "exceptions";
}

static void open_descriptors() {
  for (int fd = 0; fd < 4096; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) printf("%d ", fd);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  char word[64] = "";
  if (scanf("%63s %ld", word, &number) < 1) return 99;
  std::string mode = word;
  size_t bytes = static_cast<size_t>(number) << 20;
  if (mode == "sum") {
  } else if (mode == "print") {  // the rest of the input
    getchar();
    for (int c; (c = getchar()) != EOF;) putchar(c);
    return 0;
  } else if (mode == "wrong") {
    number++;
  } else if (mode == "silent") {
    return 0;
  } else if (mode == "exit") {
    sum();
    return static_cast<int>(number);
  } else if (mode == "abort") {
    abort();
  } else if (mode == "raise") {
    raise(static_cast<int>(number));
    return 98;  // the signal was not sent
  } else if (mode == "segv") {
    *static_cast<volatile int*>(nullptr) = 1;
  } else if (mode == "throw") {
    throw std::runtime_error("nobody catches this");
  } else if (mode == "burn") {
    burn(number);
  } else if (mode == "burn-in-thread") {
    std::thread(burn, number).join();
  } else if (mode == "burn-and-pause") {
    burn(number);
    for (;;) pause();
  } else if (mode == "loop-after-pages") {  // prints the system time of the pages
    take_pages(200 << 20);
    fprintf(stderr, "%ld", system_ms());
    burn_forever();
  } else if (mode == "pages") {  // until they have cost so many ms of system time
    while (system_ms() < number) take_pages(1 << 20);
  } else if (mode == "loop-pages") {
    for (;;) take_pages(1 << 20);
  } else if (mode == "loop-kernel-pages") {  // the kernel touches them: only system time
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    for (;;) munmap(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, flags, -1, 0), 1 << 20);
  } else if (mode == "loop") {
    burn_forever();
  } else if (mode == "loop-threads") {
    for (int i = 0; i < 3; i++) std::thread(burn_forever).detach();
    burn_forever();
  } else if (mode == "loop-signals") {  // ignores all signals that could end it
    for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
    burn_forever();
  } else if (mode == "sleep") {
    usleep(static_cast<useconds_t>(number) * 1000);
  } else if (mode == "naps") {
    for (long nap = 0; nap < number; nap++) usleep(25'000);
  } else if (mode == "pause") {
    for (;;) pause();
  } else if (mode == "stop") {
    raise(SIGSTOP);
  } else if (mode == "new") {
    char* p = new char[bytes];
    touch(p, bytes);
    printf("%c", p[bytes / 2] == 0 ? 'x' : ' ');
  } else if (mode == "malloc-small") {
    for (size_t done = 0; done < bytes; done += 1000) *static_cast<volatile char*>(malloc(1000)) = 1;
  } else if (mode == "static") {
    touch(big, bytes < sizeof big ? bytes : sizeof big);
  } else if (mode == "shared") {
    touch(static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)), bytes);
  } else if (mode == "recurse") {
    if (recurse(number * 1000) < 0) return 97;
  } else if (mode == "thread-memory") {
    std::thread([&] { touch(new char[bytes], bytes); }).join();
  } else if (mode == "loop-after-tables") {  // single pages, each of which needs two pages of tables
    for (uintptr_t i = 4; i < static_cast<uintptr_t>(number); i++) {
      void* at = mmap(reinterpret_cast<void*>(i << 30), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (at != MAP_FAILED) touch(static_cast<char*>(at), 4096);
    }
    burn_forever();
  } else if (mode == "huge-pages") {  // a byte in each 2 MiB, as on a machine that gives huge pages without being asked
    char* area = static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(area, bytes, MADV_HUGEPAGE);
    for (size_t at = 0; at < bytes; at += 2 << 20) area[at] = 1;
  } else if (mode == "reserve") {  // address space without memory
    if (mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED) return 96;
  } else if (mode == "threads") {
    for (long i = 0; i < number; i++) std::thread([] { pause(); }).detach();
    usleep(200000);
  } else if (mode == "output" || mode == "output-stubborn") {
    if (mode == "output-stubborn") signal(SIGXFSZ, SIG_IGN);
    std::string line(1023, 'x');
    line += '\n';
    for (long i = 0; i < number; i++) fputs(line.c_str(), stdout);
    return 0;
  } else if (mode == "stderr") {
    std::string line(1023, 'e');
    line += '\n';
    for (long i = 0; i < number; i++) fputs(line.c_str(), stderr);
  } else if (mode == "say") {
    fprintf(stderr, "caf\xc3\xa9 \"quoted\" \\ \x01 \xff\n");
  } else if (mode == "honest") {
    const char* missing = honest();
    if (*missing != '\0') return printf("missing: %s\n", missing), 0;
  } else if (mode == "system") {
    if (system("pause") == 0) return 95;
  } else if (mode == "descriptors") {
    open_descriptors();
    return 0;
  } else if (mode == "environment") {
    for (char** e = environ; *e != nullptr; e++) puts(*e);
    return 0;
  } else if (mode == "locale") {
    puts(std::locale("").name().c_str());
    return 0;
  } else if (mode == "uid") {
    return printf("%d\n", static_cast<int>(getuid())), 0;
  } else if (mode == "arguments") {
    for (int i = 0; i < argc; i++) puts(argv[i]);
    return 0;
  } else if (mode == "leave-file") {
    FILE* file = fopen("left.txt", "w");
    if (file == nullptr) return 94;
    fputs("for whom it may concern\n", file);
    fclose(file);
  } else if (mode == "find-file") {
    if (fopen("left.txt", "r") != nullptr) return 93;
  } else if (mode == "many-files") {
    for (long i = 0; i < number; i++) {
      int fd = open(std::to_string(i).c_str(), O_CREAT | O_WRONLY, 0600);
      if (fd < 0) return puts("no more files"), 0;
      close(fd);
    }
    usleep(200000);
  } else if (mode == "big-file") {
    int fd = open("big", O_CREAT | O_WRONLY, 0600);
    std::vector<char> block(1 << 20, 'x');
    for (long i = 0; i < number; i++) {
      if (write(fd, block.data(), block.size()) < 0) return puts("no more room"), 0;
    }
    usleep(200000);
  } else {
    return 92;
  }
  sum();
  return 0;
}
