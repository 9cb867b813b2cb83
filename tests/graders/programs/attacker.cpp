// A contestant with many attacks on the judge; its input names one. It prints `held` if the attack failed, else what
// succeeded. Attacks that must end the program print `still alive` if they do not.
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

static std::string broken;

static void expect(bool held, const std::string& what) {
  if (!held) broken += what + "; ";
}

// Process ids to try: the first ones, and those around our own and our parent's.
static std::vector<pid_t> others() {
  std::vector<pid_t> pids;
  for (pid_t pid = 1; pid < 64; pid++) pids.push_back(pid);
  for (pid_t near : {getpid(), getppid()}) {
    for (pid_t pid = near - 40; pid < near + 40; pid++) {
      if (pid > 0) pids.push_back(pid);
    }
  }
  std::vector<pid_t> result;
  for (pid_t pid : pids) {
    if (pid != getpid()) result.push_back(pid);
  }
  return result;
}

static void forks() {
  for (int i = 0; i < 200; i++) {
    pid_t pid = fork();
    if (pid == 0) {
      setsid();
      sleep(1000);
    }
    expect(pid < 0, "fork");
    expect(syscall(SYS_vfork) < 0, "vfork");
    expect(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) < 0, "clone");
    expect(syscall(SYS_clone, SIGCHLD | CLONE_VM | CLONE_NEWUSER, 0, 0, 0, 0) < 0, "clone into a namespace");
    expect(syscall(435, 0, 0) < 0 && errno == ENOSYS, "clone3");
  }
}

static void daemon_() { expect(daemon(0, 0) != 0, "daemon"); }

static void signals() {
  for (pid_t pid : others()) {
    expect(kill(pid, 0) != 0, "kill 0");
    expect(kill(pid, SIGSTOP) != 0, "kill");
    expect(syscall(SYS_tkill, pid, SIGSTOP) != 0, "tkill");
    expect(syscall(SYS_tgkill, pid, pid, SIGSTOP) != 0, "tgkill");
    expect(kill(-pid, SIGSTOP) != 0, "kill a group");
  }
  expect(kill(-1, SIGSTOP) != 0, "kill everybody");
  expect(kill(-1, 0) != 0, "ask for everybody");
}

static void other_processes() {
  for (pid_t pid : others()) {
    rlimit limit = {1, 1};
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    timespec time;
    expect(prlimit(pid, RLIMIT_CPU, &limit, nullptr) != 0, "prlimit");
    expect(prlimit(pid, RLIMIT_CPU, nullptr, &limit) != 0, "ask prlimit");
    expect(setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 19) != 0, "setpriority");
    expect(sched_setaffinity(pid, sizeof set, &set) != 0, "sched_setaffinity");
    expect(sched_getaffinity(pid, sizeof set, &set) != 0, "sched_getaffinity");
    expect(getpgid(pid) < 0, "getpgid");
    expect(getsid(pid) < 0, "getsid");
    expect(clock_gettime(static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2), &time) != 0, "its clock");
    expect(syscall(434, pid, 0) < 0, "pidfd_open");
  }
  expect(setpriority(PRIO_USER, 0, 19) != 0, "setpriority of a user");
  sched_param parameters = {};
  expect(sched_setscheduler(0, SCHED_IDLE, &parameters) != 0, "sched_setscheduler");
}

static void paths() {
  for (const char* path :
       {"/", "/etc", "/etc/passwd", "/etc/hostname", "/proc", "/proc/1", "/proc/1/environ", "/proc/1/mem", "/proc/self",
        "/proc/self/maps", "/proc/self/fd", "/proc/self/fd/0", "/proc/self/environ", "/sys", "/tmp", "/usr/bin/ls",
        "/usr/lib", "/box", "/home", "/root", "/dev/shm", "/dev/tty", "/dev", "..", "../..", "/box/..", "/fifo", "plan", "/run",
        "0.in", "0.ans", "../0.ans", "/outside0", "/root0", "/srv", "/dev/fd/0", "/dev/stdin", "program", "/dev/mem"}) {
    for (int flags : {O_RDONLY, O_RDWR, O_WRONLY, O_RDONLY | O_DIRECTORY, O_RDONLY | O_TRUNC, O_WRONLY | O_CREAT, 3, 3 | O_TRUNC}) {
      if (strchr(path, '/') == nullptr && (flags & O_CREAT) != 0) continue;  // its own directory
      // With its own root directory, a contestant may list empty directories.
      bool listing = (flags & (O_WRONLY | O_RDWR | O_TRUNC)) == 0;
      bool own = false;
      for (const char* empty : {"/", "/box", "/dev", "/fifo", "..", "../..", "/box/.."}) own |= strcmp(path, empty) == 0;
      bool input = false;  // its own input, opened again only for reading: possible if there is /proc
      for (const char* path_of : {"/proc/self/fd/0", "/dev/fd/0", "/dev/stdin"}) input |= strcmp(path, path_of) == 0;
      int fd = open(path, flags, 0600);
      expect(fd < 0 || (own && listing && getppid() == 0) || (input && listing && getppid() != 0), std::string("open ") + path);
      if (fd >= 0) close(fd);
    }
  }
  expect(open(".", O_TMPFILE | O_RDWR, 0600) < 0 || getppid() == 0, "O_TMPFILE");
}

static void descriptors() {
  for (int fd = 3; fd < 4096; fd++) {
    expect(write(fd, "{\"end\":true}\n", 13) < 0 && errno == EBADF, "write to " + std::to_string(fd));
    if (fd >= 128) expect(dup2(1, fd) < 0, "own " + std::to_string(fd));
  }
  char byte;
  expect(read(1, &byte, 1) < 0, "read its own output");
  expect(mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, 0, 0) == MAP_FAILED, "map its input to write");
  expect(write(0, "x", 1) < 0, "write to its input");
  expect(ftruncate(0, 0) != 0, "truncate its input");
}

static void attributes() {
  timespec times[2] = {{1, 0}, {1, 0}};
  int own = open("mine", O_CREAT | O_RDWR, 0600);
  for (const char* path : {"/dev/null", "/", ".", "mine", "/dev/urandom"}) {
    expect(chmod(path, 0777) != 0, "chmod");
    expect(chown(path, getuid(), getgid()) != 0, "chown");
    expect(utimensat(AT_FDCWD, path, times, 0) != 0, "utimensat");
    expect(setxattr(path, "user.note", "x", 1, 0) != 0, "setxattr");
    char value[8];
    expect(getxattr(path, "user.note", value, sizeof value) < 0 && errno == EPERM, "getxattr");
  }
  for (int fd : {0, 1, 2, own}) {
    expect(fchmod(fd, 0777) != 0, "fchmod");
    expect(futimens(fd, times) != 0, "futimens");
    expect(flock(fd, LOCK_EX | LOCK_NB) != 0, "flock");
    struct flock lock = {};
    lock.l_type = F_RDLCK;
    expect(fcntl(fd, F_SETLK, &lock) != 0, "F_SETLK");
    expect(fcntl(fd, F_GETLK, &lock) != 0, "F_GETLK");
    expect(fcntl(fd, F_SETOWN, getpid()) != 0, "F_SETOWN");
    expect(fcntl(fd, F_SETSIG, SIGKILL) != 0, "F_SETSIG");
    expect(fcntl(fd, F_SETLEASE, F_RDLCK) != 0, "F_SETLEASE");
    expect(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) != 0, "F_ADD_SEALS");
  }
}

static void ipc() {
  expect(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) < 0, "shmget");
  expect(semget(IPC_PRIVATE, 1, IPC_CREAT | 0600) < 0, "semget");
  expect(msgget(IPC_PRIVATE, IPC_CREAT | 0600) < 0, "msgget");
  expect(syscall(SYS_memfd_create, "x", 0) < 0, "memfd_create");
  expect(shm_open("/ioi-eval-test", O_CREAT | O_RDWR, 0600) < 0, "shm_open");
  expect(syscall(SYS_mq_open, "ioi-eval-test", O_CREAT | O_RDWR, 0600, nullptr) < 0, "mq_open");
  expect(syscall(SYS_inotify_init1, 0) < 0, "inotify");
  expect(syscall(SYS_fanotify_init, 0, 0) < 0, "fanotify");
}

static void sockets() {
  for (int family = 0; family < 46; family++) {
    for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW}) expect(socket(family, type, 0) < 0, "socket " + std::to_string(family));
  }
  int pair[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0, "socketpair");
  msghdr message = {};
  expect(sendmsg(200, &message, 0) < 0, "the runner's own socket");
}

static void file_types() {
  expect(mkfifo("fifo", 0600) != 0, "mkfifo");
  expect(symlink("/etc/passwd", "link") != 0, "symlink");
  expect(link("/dev/null", "hard") != 0, "link");
  expect(mknod("node", S_IFCHR | 0600, 0x103) != 0, "mknod");
  expect(syscall(SYS_truncate, "/dev/null", 0) != 0, "truncate");
}

static void execute() {
  char* argv[] = {const_cast<char*>("sh"), nullptr};
  expect(execv("/bin/sh", argv) != 0, "exec sh");
  expect(execv("/proc/self/exe", argv) != 0, "exec itself");
  for (int fd = 0; fd < 256; fd++) expect(syscall(SYS_execveat, fd, "", argv, nullptr, AT_EMPTY_PATH) != 0, "execveat");
  int fd = open("made", O_CREAT | O_WRONLY, 0700);
  expect(fd >= 0 && write(fd, "#!/bin/sh\n", 10) == 10, "the scratch directory");
  close(fd);
  expect(execv("./made", argv) != 0, "exec a file of its own");
  expect(syscall(SYS_execveat, 201, "./made", argv, nullptr, 0) != 0, "execveat a path");
  // The kernel ignores the descriptor if the path is absolute. A program that is linked dynamically may read and execute this file.
  const char* visible = "/lib64/ld-linux-x86-64.so.2";
  for (int flags : {0, AT_EMPTY_PATH}) {
    for (long sixth : {0, 1, -1}) {
      long result = syscall(SYS_execveat, 201, visible, argv, nullptr, flags, sixth);
      expect(result != 0 && errno == EACCES, "execveat an absolute path");
    }
  }
}

static void privileges() {
  expect(setuid(0) != 0 && setresuid(1, 1, 1) != 0, "setuid");
  expect(prctl(PR_SET_DUMPABLE, 1) != 0, "PR_SET_DUMPABLE");
  expect(prctl(PR_SET_PDEATHSIG, 0) != 0, "PR_SET_PDEATHSIG");
  expect(prctl(PR_SET_SECCOMP, 2, nullptr) != 0, "PR_SET_SECCOMP");
  expect(prctl(PR_CAPBSET_READ, 0) != 1, "capabilities");
  expect(syscall(SYS_personality, 0x0040000) < 0, "personality");
  expect(setsid() < 0, "setsid");
  rlimit limit;
  for (int resource = 0; resource < 16; resource++) {
    if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) continue;
    if (limit.rlim_max == RLIM_INFINITY) continue;
    limit.rlim_max++;
    expect(setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0, "raise limit " + std::to_string(resource));
  }
  expect(mmap(nullptr, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0) == MAP_FAILED, "huge pages");
  char* page = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  expect(madvise(page, 4096, 21 /* MADV_PAGEOUT */) != 0, "MADV_PAGEOUT");
}

// Many refused calls must not use up the judge's time.
static void flood() {
  for (int i = 0; i < 300000; i++) expect(syscall(SYS_socket, 1, 1, 0) < 0, "socket");
}

static void unknown() { expect(syscall(999) < 0 && errno == ENOSYS, "an unknown call"); }

// Each of these calls must end the program.
static void deadly(const std::string& which) {
  if (which == "ptrace") ptrace(PTRACE_TRACEME, 0, 0, 0);
  if (which == "process_vm_readv") syscall(SYS_process_vm_readv, getppid(), nullptr, 0, nullptr, 0, 0);
  if (which == "unshare") unshare(CLONE_FILES);
  if (which == "mount") mount("x", "/box", "tmpfs", 0, nullptr);
  if (which == "io_uring_setup") syscall(425, 8, nullptr);
  if (which == "bpf") syscall(SYS_bpf, 0, nullptr, 0);
  if (which == "perf_event_open") syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0);
  if (which == "userfaultfd") syscall(SYS_userfaultfd, 0);
  if (which == "keyctl") syscall(SYS_keyctl, 0, 0, 0, 0, 0);
  if (which == "seccomp") syscall(SYS_seccomp, 0, 0, nullptr);
  if (which == "x32") syscall(0x40000000 + SYS_getpid);
  if (which == "i386") {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
  }
  puts("still alive");
}

int main() {
  char word[64] = "", argument[64] = "";
  if (scanf("%63s %63s", word, argument) < 1) return 99;
  std::string attack = word;
  if (attack == "deadly") return deadly(argument), 0;
  struct {
    const char* name;
    void (*run)();
  } attacks[] = {{"forks", forks},           {"daemon", daemon_},         {"signals", signals},       {"others", other_processes},
                 {"paths", paths},           {"descriptors", descriptors}, {"attributes", attributes}, {"ipc", ipc},
                 {"sockets", sockets},       {"types", file_types},       {"execute", execute},       {"privileges", privileges},
                 {"flood", flood},           {"unknown", unknown}};
  for (const auto& known : attacks) {
    if (attack != known.name) continue;
    known.run();
    puts(broken.empty() ? "held" : "broken");
    fputs(broken.substr(0, 1000).c_str(), stderr);
    return 0;
  }
  return 98;
}
