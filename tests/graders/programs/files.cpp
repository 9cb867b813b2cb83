// A contestant of a task with an input file and an output file: reads a word and a number from in.txt, does what the word
// says, and normally writes the number + 1 to out.txt.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

static int answer(long number, int flags = O_WRONLY | O_CREAT | O_TRUNC, mode_t mode = 0644, const char* name = "out.txt") {
  int fd = open(name, flags, mode);
  if (fd < 0) return fd;
  dprintf(fd, "%ld\n", number);
  return fd;
}

// The names of the files in the working directory, except the input.
static std::string others() {
  std::string names;
  DIR* here = opendir(".");
  while (dirent* entry = here != nullptr ? readdir(here) : nullptr) {
    if (entry->d_name[0] != '.' && strcmp(entry->d_name, "in.txt") != 0) names += std::string(entry->d_name) + " ";
  }
  return names;
}

int main() {
  char word[64] = "";
  long number = 0;
  FILE* given = fopen("in.txt", "r");
  if (given == nullptr || fscanf(given, "%63s %ld", word, &number) != 2) return 99;
  fclose(given);
  std::string mode = word;
  printf("%ld\n", number + 1);  // discarded
  fflush(stdout);
  if (mode == "sum") {
    if (getchar() != EOF || others() != "out.txt " || open("in.txt", O_WRONLY) >= 0) return 97;
    if (open("out.txt", O_RDONLY) >= 0 || open("out.txt", O_RDWR) >= 0) return 96;
    answer(number + 1);
  } else if (mode == "print") {
    for (long i = 0; i < number << 20; i++) putchar('x');
    answer(number + 1);
  } else if (mode == "nothing") {
  } else if (mode == "keep") {
    if (unlink("out.txt") == 0 || rename("out.txt", "in.txt") == 0 || mkdir("d", 0755) == 0) return 96;
    answer(number + 1);
  } else if (mode == "empty") {
    close(open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644));
  } else if (mode == "other") {  // as in CMS's own tests
    if (open("other.txt", O_WRONLY | O_CREAT, 0600) >= 0) return 96;
    answer(number + 1);
  } else if (mode == "exit") {
    answer(number + 1);
    return 3;
  } else if (mode == "closed") {
    answer(number + 1, O_WRONLY | O_CREAT, 0);
  } else if (mode == "replace") {
    unlink("in.txt");
    int fd = open("in.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dprintf(fd, "sum 6\n");
    answer(7);
  } else if (mode == "rename") {
    rename("in.txt", "out.txt");
  } else if (mode == "symlink") {
    chmod(".", 0755);
    close(answer(number + 1, O_WRONLY | O_CREAT, 0644, "other.txt"));
    unlink("out.txt");
    symlink("other.txt", "out.txt");
  } else if (mode == "hardlink") {
    chmod(".", 0755);
    close(answer(number + 1, O_WRONLY | O_CREAT, 0644, "other.txt"));
    unlink("out.txt");
    link("other.txt", "out.txt");
  } else if (mode == "fifo") {
    chmod(".", 0755);
    unlink("out.txt");
    mkfifo("out.txt", 0666);
  } else if (mode == "directory") {
    chmod(".", 0755);
    unlink("out.txt");
    mkdir("out.txt", 0755);
  } else if (mode == "huge" || mode == "hole") {
    int fd = answer(number + 1);
    std::string block(1 << 20, 'x');
    if (mode == "hole") return ftruncate(fd, number << 20) == 0 ? 0 : 96;
    for (long i = 0; i < number; i++) {
      if (write(fd, block.data(), block.size()) < 0) return 95;
    }
  } else if (mode == "daemon") {
    pid_t child = fork();
    if (child == 0) {
      setsid();
      signal(SIGTERM, SIG_IGN);
      sleep(5);
      answer(number + 1);
      _exit(0);
    }
    if (child > 0) return 0;
  } else {
    return 94;
  }
  return 0;
}
