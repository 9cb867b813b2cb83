// The contestant for manager.cpp. It does what the manager's order says.
// -DEARLY=…: what it does before it opens anything. Many of these are compiled, so it includes no headers of C++.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef EARLY
#define EARLY ""
#endif

static bool is(const char* word, const char* other) { return strcmp(word, other) == 0; }

static void* nothing(void*) { return nullptr; }

int main(int argc, char** argv) {
  const char* early = EARLY;
  if (is(early, "exit")) return 0;
  if (is(early, "fail")) return 7;
  if (is(early, "fail-later")) {
    usleep(300'000);
    return 7;
  }
  if (is(early, "abort")) abort();
  if (is(early, "sleep")) pause();
  if (is(early, "pages")) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    for (;;) munmap(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, flags, -1, 0), 1 << 20);
  }
  FILE *in = stdin, *out = stdout;
#ifdef FIFOS
#ifdef OUT_FIRST
  out = fopen(argv[2], "w");
  in = fopen(argv[1], "r");
#else
  in = fopen(argv[1], "r");
  out = fopen(argv[2], "w");
#endif
  argv += 2;
  argc -= 2;
#endif
  if (in == nullptr || out == nullptr) return 8;
  bool second = argc > 1 && is(argv[1], "1");
  char order[64] = "";
  int number;
  for (;;) {
    if (fscanf(in, "%63s %d", order, &number) != 2) {
      fprintf(stderr, "the manager has gone\n");
      return 3;
    }
    const char* what = order;
    if (strncmp(order, "second-", 7) == 0) what = second ? order + 7 : "play";
    if (is(what, "end")) return 0;
    if (is(what, "wrong")) number++;
    if (is(what, "leave")) return 0;
    if (is(what, "blame")) {  // opens and closes the manager's ends, as if the manager had ended first
#ifdef FIFOS
      const char *its_input = argv[-1], *its_output = argv[0];
#else
      const char *its_input = "/fifo/m_to_u0", *its_output = "/fifo/u0_to_m";
#endif
      int writes = open(its_input, O_WRONLY | O_NONBLOCK), reads = open(its_output, O_RDONLY | O_NONBLOCK);
      fprintf(stderr, "opened %d %d\n", writes >= 0, reads >= 0);
      close(writes);
      close(reads);
      close(fileno(in));
      fprintf(out, "%d\n", 2 * number);
      fflush(out);
      usleep(300000);
      return 0;
    }
    if (is(what, "fail")) return 5;
    if (is(what, "abort")) abort();
    if (is(what, "burn")) {
      volatile long work = 0;
      for (;;) work = work + 1;
    }
    if (is(what, "burn-a-bit")) {
      volatile long work = 0;
      for (clock_t end = clock() + CLOCKS_PER_SEC / 15; clock() < end;) work = work + 1;
    }
    if (is(what, "sleep")) pause();
    if (is(what, "flood")) {
      signal(SIGPIPE, SIG_DFL);
      for (;;) fputs("1 ", out);
    }
    if (is(what, "ask-and-leave")) {
      for (int i = 0; i < 140; i++) fputs("1 ", out);
      return 0;
    }
    if (is(what, "blanks") || is(what, "many-blanks")) {  // 64 MiB, or without end
      static char bytes[65536];
      memset(bytes, ' ', sizeof bytes);
      for (int i = 0; i < 1024 || is(what, "many-blanks"); i++) fwrite(bytes, 1, sizeof bytes, out);
    }
    if (is(what, "churn")) {  // more events than the kernel's inotify queue holds (16,384)
      for (int i = 0; i < 9000; i++) {
        close(open(argv[-1], O_RDONLY | O_NONBLOCK));
        close(open(argv[0], O_WRONLY | O_NONBLOCK));
      }
    }
    if (is(what, "eat")) {
      size_t size = 400u << 20;
      char* p = static_cast<char*>(malloc(size));
      for (size_t at = 0; at < size; at += 4096) p[at] = 1;
      pause();
    }
    if (is(what, "peek")) {  // at the descriptors of a process
      for (int fd = -1; fd < 300; fd++) {
        char path[64], target[64];
        snprintf(path, sizeof path, fd < 0 ? "/proc/%d/fd" : "/proc/%d/fd/%d", number, fd);
        if (open(path, O_RDONLY | O_NONBLOCK) >= 0 || readlink(path, target, sizeof target) >= 0) {
          fprintf(stderr, "peeked at %s\n", path);
          return 9;
        }
      }
    }
    if (is(what, "index")) {
      fprintf(stderr, "argc %d %s\n", argc, argc > 1 ? argv[1] : "");
    }
    if (is(what, "thread")) {
      pthread_t thread;
      if (pthread_create(&thread, nullptr, nothing, nullptr) != 0) abort();
      pthread_join(thread, nullptr);
    }
    fprintf(out, "%d\n", 2 * number);
    fflush(out);
  }
}
