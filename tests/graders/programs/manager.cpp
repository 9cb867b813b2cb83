// A manager for tests: `manager <sol0-to-mgr> <mgr-to-sol0> … [args] < input`. The first word of the input says what it does
// with the processes, the second what it tells them to do. The task: it sends each process a number, and each must answer
// with the doubled number.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

static std::vector<FILE*> to, from;

[[noreturn]] static void verdict(const char* score, const char* message) {
  printf("%s\n", score);
  fprintf(stderr, "%s\n", message);
  exit(0);
}

// Computes until this process has used so much CPU time.
static void compute_until(double ms) {
  while (static_cast<double>(clock()) < ms * (CLOCKS_PER_SEC / 1000)) {
  }
}

int main(int argc, char** argv) {
  char word[64] = "", order[64] = "", score[64] = "1.0";
  if (scanf("%63s %63s %63s", word, order, score) < 2) return 90;
  std::string mode = word;
  if (mode != "default-sigpipe") signal(SIGPIPE, SIG_IGN);
  if (mode == "never-opens") {
    sleep(1000);
  }
  unsigned seconds = mode == "waits-in-the-kernel" ? 8 : mode == "waits-in-the-kernel-for-ever" ? 1000 : 0;
  if (seconds > 0 && vfork() == 0) {  // the parent is in state D until the child's end
    sleep(seconds);
    _exit(0);
  }
  if (mode == "opens-its-input-only") {
    if (open(argv[1], O_RDONLY | O_NONBLOCK) < 0) return 91;
    sleep(1000);
  }
  if (mode == "ends-unopened") verdict("0", "I do not care");
  if (mode == "arguments") {
    std::string text;
    for (int i = 1; i < argc; i++) text += strchr(argv[i], '/') != nullptr ? "fifo " : std::string(argv[i]) + " ";
    fprintf(stderr, "%s\n", text.c_str());
    puts("1");
    return 0;
  }
  int processes = 0;
  while (1 + 2 * processes + 1 < argc && strchr(argv[1 + 2 * processes], '/') != nullptr) processes++;
  if (mode == "one-by-one") {  // opens the FIFOs of a process after the process before it has answered
    for (int i = 0; i < processes; i++) {
      bool swapped = i > 0 && strcmp(score, "swapped") == 0;
      FILE* in = swapped ? fopen(argv[1 + 2 * i], "r") : nullptr;
      FILE* out = fopen(argv[2 + 2 * i], "a");
      if (!swapped) in = fopen(argv[1 + 2 * i], "r");
      fprintf(out, "%s 1\n", order);
      fflush(out);
      int number;
      if (fscanf(in, "%d", &number) != 1) verdict("0", "nothing came back");
      if (strcmp(score, "swapped") != 0) fprintf(out, "end 1\n");
      fflush(out);
    }
    verdict(score, "all answered");
  }
  for (int i = 0; i < processes; i++) {
    bool reads_first = mode == "reads-first";
    FILE* in = reads_first ? fopen(argv[1 + 2 * i], "r") : nullptr;
    to.push_back(fopen(argv[2 + 2 * i], "a"));
    from.push_back(reads_first ? in : fopen(argv[1 + 2 * i], "r"));
  }
  if (mode == "crashes") abort();
  if (mode == "crashes-at-end") {
    char c;
    while (fread(&c, 1, 1, from[0]) == 1) {
    }
    abort();
  }
  if (mode == "exits-badly") return 3;
  if (mode == "counts") {  // the descriptors above its FIFOs
    int above = 0;
    for (int fd = fileno(from.back()) + 1; fd < 1024; fd++) above += fcntl(fd, F_GETFD) >= 0;
    for (FILE* out : to) fprintf(out, "end 0\n"), fflush(out);
    verdict("1", std::to_string(above).c_str());
  }
  if (mode == "skips-blanks") {
    fprintf(to[0], "%s 1\n", order);
    fflush(to[0]);
    char bytes[65536];
    for (ssize_t n; (n = read(fileno(from[0]), bytes, sizeof bytes)) > 0;) {
      if (memchr(bytes, '2', static_cast<size_t>(n)) == nullptr) continue;
      fprintf(to[0], "end 0\n"), fflush(to[0]);
      verdict("1", "a number after blanks");
    }
    verdict("0", "blanks only");
  }
  if (mode == "loops") {
    volatile long work = 0;
    for (;;) work = work + 1;
  }
  if (mode == "answers") {  // any number of questions, each in 10 ms of CPU time; it reads 32 questions at once
    char buffer[64];
    setvbuf(from[0], buffer, _IOFBF, sizeof buffer);
    fprintf(to[0], "%s 1\n", order), fflush(to[0]);
    for (int number; fscanf(from[0], "%d", &number) == 1;) {
      for (clock_t until = clock() + CLOCKS_PER_SEC / 100; clock() < until;) {
      }
      fprintf(to[0], "%d\n", number), fflush(to[0]);
    }
    verdict("0", "no more questions");
  }
  if (mode == "waits") {  // without end
    for (int i = 0; i < processes; i++) fprintf(to[i], "%s 1\n", order), fflush(to[i]);
    sleep(1000);
  }
  if (mode == "hangs-up-half") {  // sends its order, closes its output, and then reads
    fprintf(to[0], "%s 1\n", order);
    fclose(to[0]);
    char c;
    while (fread(&c, 1, 1, from[0]) == 1) {
    }
    if (strcmp(score, "fails") == 0) return 1;
    verdict("0", "nothing came back");
  }
  if (mode == "hangs-up") {  // closes both FIFOs, and ends after the program, which goes on when the second is closed
    fclose(from[0]);
    fclose(to[0]);
    usleep(200'000);
    verdict(score, "I have seen enough");
  }
  if (mode == "garbage") verdict("perfect", "not a score");
  if (mode == "too-much") verdict("1000", "a large score");
  if (mode == "translates") {  // when the program has ended
    fprintf(to[0], "end 0\n");
    fclose(to[0]);
    while (fgetc(from[0]) != EOF) {
    }
    verdict("1.0", "translate:success");
  }
  if (mode == "silent") return 0;
  if (mode == "gives-up") verdict(score, "I have seen enough");
  if (mode == "busy") {  // the processes wait for this manager: not idle time of theirs
    compute_until(1300);
  }
  if (mode == "busy-child") {  // the same, but another process of the manager's does the work
    pid_t child = fork();
    if (child == 0) {
      compute_until(1300);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  if (mode == "many-threads") {  // any number of questions; it has so many threads that to measure it takes longer than a tick
    for (int i = 0; i < 300; i++) std::thread([] { pause(); }).detach();
    for (int number = 1; fprintf(to[0], "%s 1\n", order) > 0 && fflush(to[0]) == 0 && fscanf(from[0], "%d", &number) == 1;) {
    }
    verdict("1", "no more answers");
  }
  for (int round = 1; round <= 3; round++) {
    for (int i = 0; i < processes; i++) {
      int number = 10 * round + i, answer = 0;
      fprintf(to[i], "%s %d\n", order, number);
      fflush(to[i]);
      if (fscanf(from[i], "%d", &answer) != 1) verdict("0", "Judge Failure: nothing came back");
      if (answer != 2 * number) verdict("0", "a wrong number came back");
    }
  }
  if (mode == "computes-for") {  // `score` ms of CPU time, and very little more
    compute_until(atof(score));
    strcpy(score, "1");
  }
  for (int i = 0; i < processes; i++) fprintf(to[i], "end 0\n"), fflush(to[i]);
  if (mode == "slow-to-finish") sleep(1000);
  if (mode == "output") {  // for a checker that judges the manager's output
    printf("cms %s\nthe checker's words\n", score);
    return 0;
  }
  verdict(score, "all numbers came back");
}
