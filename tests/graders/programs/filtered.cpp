// `filtered CALL… -- COMMAND…`: runs a command under a seccomp filter that refuses these calls, like a container's filter.
// CALL is a number; or NUMBER:INDEX for a call whose argument INDEX is 0; or `threads`, as if too many had been started.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

int main(int argc, char** argv) {
  std::vector<sock_filter> code;
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (strcmp(argv[i], "threads") == 0) {
      code.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)});
      code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_clone});
      code.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, args)});
      code.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, 1, CLONE_THREAD});
      code.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EAGAIN});
      continue;
    }
    code.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)});
    const char* index = strchr(argv[i], ':');
    unsigned char skipped = index != nullptr ? 3 : 1;
    code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, skipped, static_cast<unsigned>(atoi(argv[i]))});
    if (index != nullptr) {
      code.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<unsigned>(offsetof(seccomp_data, args) + 8 * atoi(index + 1))});
      code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0});
    }
    code.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM});
  }
  code.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return perror("seccomp"), 90;
  if (i + 1 >= argc) return 91;
  execvp(argv[i + 1], argv + i + 1);
  return perror(argv[i + 1]), 92;
}
