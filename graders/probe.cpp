// The program that `ioi-eval doctor` runs as a contestant: it tries what contestants are forbidden to do.
//
// stdin has the name of one attempt; stdout reports its result: `denied: <errno text>`, or `ALLOWED <what it got>`. If
// the runner kills the program for an attempt, nothing is printed, and the doctor counts the attempt as denied too. The
// program runs in the same kind of box as submissions, so what it may do there, submissions may do too. Do not start it
// by hand as root: outside of a box the attempts succeed (`mount` covers `/`).

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

extern char **environ;

namespace {

std::string got;  // what a successful attempt got

bool opens(const char *path, int flags) {
    const int fd = open(path, flags, 0600);
    if (fd < 0) return false;
    got = path;
    close(fd);
    return true;
}

bool lists_root() {
    DIR *directory = opendir("/");
    if (directory == nullptr) return false;
    const char *known[] = {".", "..", "dev", "box", "fifo", "lib", "lib64", "usr", "tmp"};
    while (const dirent *entry = readdir(directory)) {
        bool expected = false;
        for (const char *name : known) expected = expected || std::strcmp(entry->d_name, name) == 0;
        if (!expected) got += std::string(entry->d_name) + " ";
    }
    closedir(directory);
    errno = ENOENT;
    return !got.empty();
}

bool writes_its_input() {
    for (const char *path : {"/proc/self/fd/0", "/dev/fd/0", "/dev/stdin"}) {
        const int fd = open(path, O_RDWR);
        if (fd < 0) continue;
        if (write(fd, "x", 1) == 1) got = path;
        close(fd);
    }
    return write(0, "x", 1) == 1 || !got.empty();
}

bool inherits_descriptors() {
    for (int fd = 3; fd < 4096; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0) {
            got = "descriptor " + std::to_string(fd);
            return true;
        }
    }
    return false;
}

bool sees_environment() {
    for (char **entry = environ; *entry != nullptr; ++entry) {
        const std::string variable = *entry;
        if (variable.rfind("PATH=", 0) == 0 || variable.rfind("LANG=", 0) == 0) continue;
        got = variable.substr(0, 40);
        return true;
    }
    errno = ENOENT;
    return false;
}

bool makes_socket(int family, int type) {
    const int fd = socket(family, type, 0);
    if (fd < 0) return false;
    close(fd);
    return true;
}

bool forks() {
    const pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    return true;
}

bool starts_a_shell() {
    char *const arguments[] = {const_cast<char *>("sh"), const_cast<char *>("-c"),
                               const_cast<char *>("echo ALLOWED a shell"), nullptr};
    execv("/bin/sh", arguments);
    return false;
}

// In a PID namespace of its own, this process has no visible parent, and `getppid` returns 0. As an argument of the calls
// below, 0 would mean this process itself.
pid_t somebody_else() { return getppid() != 0 ? getppid() : 1; }

bool limits_others() {
    rlimit limit{};
    return prlimit(somebody_else(), RLIMIT_CPU, nullptr, &limit) == 0 || prlimit(1, RLIMIT_CPU, nullptr, &limit) == 0;
}

bool moves_others() {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    return sched_setaffinity(1, sizeof set, &set) == 0;
}

bool writes_elsewhere() {
    return opens("/tmp/ioi-eval-probe", O_WRONLY | O_CREAT) || opens("/dev/shm/ioi-eval-probe", O_WRONLY | O_CREAT) ||
           opens("/ioi-eval-probe", O_WRONLY | O_CREAT) || opens("../ioi-eval-probe", O_WRONLY | O_CREAT);
}

struct Attempt {
    const char *name;
    bool (*succeeds)();
};

const Attempt attempts[] = {
    {"read-system-files", [] { return opens("/etc/passwd", O_RDONLY) || opens("/etc/hostname", O_RDONLY); }},
    {"list-root", lists_root},
    {"process-table", [] { return opens("/proc/self/maps", O_RDONLY) || opens("/proc/1/environ", O_RDONLY); }},
    {"write-input", writes_its_input},
    {"inherited-descriptors", inherits_descriptors},
    {"environment", sees_environment},
    {"write-elsewhere", writes_elsewhere},
    {"internet", [] { return makes_socket(AF_INET, SOCK_STREAM) || makes_socket(AF_INET6, SOCK_DGRAM); }},
    {"local-sockets", [] { return makes_socket(AF_UNIX, SOCK_STREAM); }},
    {"fork", forks},
    {"shell", starts_a_shell},
    {"signal-others", [] { return kill(somebody_else(), 0) == 0 || kill(-1, 0) == 0 || kill(1, 0) == 0; }},
    {"limit-others", limits_others},
    {"slow-others", [] { return setpriority(PRIO_PROCESS, static_cast<id_t>(somebody_else()), 19) == 0; }},
    {"move-others", moves_others},
    {"shared-memory", [] { return shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0; }},
    {"memory-file", [] { return syscall(SYS_memfd_create, "x", 0u) >= 0; }},
    {"trace", [] { return ptrace(PTRACE_ATTACH, somebody_else(), nullptr, nullptr) == 0; }},
    {"memory-of-others", [] { return syscall(SYS_process_vm_readv, somebody_else(), nullptr, 0, nullptr, 0, 0) == 0; }},
    {"mount", [] { return mount("none", "/", "tmpfs", 0, nullptr) == 0; }},
    {"namespaces", [] { return unshare(CLONE_NEWUSER) == 0; }},
    {"privileges", [] { return (geteuid() != 0 && setuid(0) == 0) || chroot(".") == 0; }},
    {"io-uring", [] { return syscall(425, 1, nullptr) >= 0; }},
    {"kernel-programs", [] { return syscall(SYS_bpf, 0, nullptr, 0) >= 0; }},
};

}  // namespace

int main() {
    char name[64] = "";
    if (std::scanf("%63s", name) != 1) return 2;
    for (const Attempt &attempt : attempts) {
        if (std::strcmp(attempt.name, name) != 0) continue;
        errno = 0;
        if (attempt.succeeds()) {
            std::printf("ALLOWED %s\n", got.c_str());
        } else {
            std::printf("denied: %s\n", std::strerror(errno));
        }
        return 0;
    }
    std::printf("ALLOWED unknown attempt\n");
    return 0;
}
