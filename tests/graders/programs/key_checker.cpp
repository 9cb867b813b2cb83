// A checker that accepts everything, unless it finds the key of tests/session_keys.py.
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main() {
  long key = syscall(SYS_keyctl, 10 /* SEARCH */, -3 /* the session's keyring */, "user", "ioi-eval-test", 0);
  fprintf(stderr, "%s\n", key < 0 ? "none" : "found");
  puts(key < 0 ? "1" : "0");
}
