// Makes the first of two processes act or rest, as the letters of the input say (`a`, `r`), and the second read all numbers
// after each turn. The names of the numbers that the second has found are the message.
#include <signal.h>
#include <stdio.h>

#include <string>

static FILE *from[2], *to[2];

static std::string ask(int process, const std::string& words) {
  fprintf(to[process], "%s\n", words.c_str());
  fflush(to[process]);
  std::string line;
  for (int byte; (byte = getc(from[process])) != EOF && byte != '\n';) line += static_cast<char>(byte);
  return line;
}

int main(int argc, char** argv) {
  if (argc < 5) return 1;
  signal(SIGPIPE, SIG_IGN);
  for (int i = 0; i < 2; i++) {
    to[i] = fopen(argv[2 * i + 2], "w");
    from[i] = fopen(argv[2 * i + 1], "r");
    if (to[i] == nullptr || from[i] == nullptr) return 1;
  }
  char turns[128] = "";
  if (scanf("%127s", turns) != 1) return 1;
  ask(1, "look");
  ask(0, "act");  // twice without recording: the first turn differs from all others
  ask(1, "look"), ask(0, "rest"), ask(1, "forget");
  ask(1, "look");
  for (const char* turn = turns; *turn != '\0'; turn++) ask(0, *turn == 'a' ? "act" : "rest"), ask(1, "look");
  fprintf(stderr, "%s\n", ask(1, turns).c_str());
  puts("1");
  for (int i = 0; i < 2; i++) fclose(to[i]), fclose(from[i]);
  return 0;
}
