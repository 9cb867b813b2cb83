// Opens more pipes than a user may have at their usual size, says so, and keeps them until its stdin ends.
#include <stdio.h>
#include <unistd.h>

int main() {
  for (int i = 0, ends[2]; i < 1100; i++) {
    if (pipe(ends) != 0) return 1;
  }
  puts("open");
  fflush(stdout);
  return getchar() == EOF ? 0 : 1;
}
