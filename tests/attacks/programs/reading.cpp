// Attacks on secrets of the judge: answers, other tests, the judge's memory and files, earlier programs.
//
// group: reading
// problem: secret
#include "text.h"

#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

extern char **environ;

// attack: answer_by_name
// tries: to open the answer under each name that judges use for it
// expect: WA
ATTACK(answer_by_name) {
    for (const char *path : {"correct_output.txt", "../correct_output.txt", "/box/correct_output.txt", "answer.txt", "../output.txt",
                             "/tmp/correct_output.txt", "t0.ans", "../t0.ans", "/box/t0.ans", "plan", "/box/plan", "../plan"}) {
        const std::string text = content(path);
        if (!text.empty()) {
            printf("%s\n", text.c_str());
            exit(0);
        }
    }
    held();
}

// attack: answer_by_descriptor
// tries: to open the judge's descriptors through /proc
// expect: WA
ATTACK(answer_by_descriptor) {
    for (int pid = 1; pid < 400; ++pid) {
        for (int fd = 3; fd < 40; ++fd) {
            char path[64];
            snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
            if (open(path, O_RDONLY) >= 0) got("%s", path);
        }
    }
    held();
}

// attack: answer_of_the_parent
// tries: to read files, memory and environment of the process that started it
// expect: WA
ATTACK(answer_of_the_parent) {
    for (const int pid : {static_cast<int>(getppid()), 1, static_cast<int>(getpid()) - 1}) {
        for (const char *name : {"mem", "environ", "maps", "cmdline", "fd/11", "cwd", "root/etc/passwd", "exe"}) {
            char path[64];
            snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
            if (open(path, O_RDONLY) >= 0) got("%s", path);
        }
    }
    held();
}

// attack: sizes_of_the_judges_files
// tries: to learn the answer's length by stat through /proc
// expect: WA
ATTACK(sizes_of_the_judges_files) {
    struct stat status{};
    const int self = getpid();
    for (int pid = self > 200 ? self - 200 : 1; pid < self + 200; ++pid) {
        if (pid == self) continue;
        for (int fd = 3; fd < 40; ++fd) {
            char path[64];
            snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
            if (stat(path, &status) == 0) got("%s has %ld bytes", path, static_cast<long>(status.st_size));
        }
    }
    held();
}

// attack: name_of_the_input
// tries: to learn from its own descriptors where the judge keeps test data
// expect: WA
ATTACK(name_of_the_input) {
    for (const char *path : {"/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"}) {
        char target[512] = "";
        if (readlink(path, target, sizeof target - 1) > 0) got("%s is %s", path, target);
    }
    held();
}

// attack: other_inputs
// tries: to find the inputs of other tests beside its own
// expect: WA
ATTACK(other_inputs) {
    for (const char *path : {"input.txt", "../input.txt", "t1.in", "../t1.in", "/box/t1.in", "/box/input.txt", "/tmp/input.txt"}) {
        if (open(path, O_RDONLY) >= 0) got("%s", path);
    }
    held();
}

// attack: directories
// tries: to list every directory that may hold something
// expect: WA
ATTACK(directories) {
    for (const char *path : {"/", "..", "/tmp", "/box", "/proc", "/dev", "/dev/shm", "/etc", "/usr", "/home", "/root", "/var/tmp", "/sys"}) {
        DIR *directory = opendir(path);
        if (directory == nullptr) continue;
        while (const dirent *entry = readdir(directory)) {
            const std::string name = entry->d_name;
            bool expected = false;
            for (const char *known : {".", "..", "dev", "box", "fifo", "null", "zero", "random", "urandom", "usr", "lib", "lib32", "lib64"}) {
                expected = expected || name == known;
            }
            if (!expected) got("%s/%s", path, name.c_str());
        }
        closedir(directory);
    }
    held();
}

// attack: environment
// tries: to find secrets in its environment
// expect: WA
ATTACK(environment) {
    for (char **entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (text.rfind("PATH=", 0) != 0 && text.rfind("LANG=", 0) != 0) got("%s", text.c_str());
    }
    held("nothing there");
}

// attack: arguments_and_auxv
// tries: to find paths and secrets above its stack
// expect: WA
ATTACK(arguments_and_auxv) {
    const auto from = reinterpret_cast<uintptr_t>(environ[0]), end = (from | 4095) + 1;  // the stack ends with a page
    const std::string above(environ[0], end - from);
    for (const char *word : {"/root", "/home", "/tmp", "nonce", "plan", ".cache"}) {
        if (above.find(word) != std::string::npos) got("%s", word);
    }
    held("nothing there");
}

// attack: packages
// tries: to read the judge's own package, caches and the machine's files
// expect: WA
ATTACK(packages) {
    for (const char *path : {"/etc/passwd", "/etc/hostname", "/etc/shadow", "/root/.bashrc", "/root/.cache/ioi-eval", "/usr/bin/g++",
                             "/usr/lib/python3", "/usr/local/lib/python3.11", "/piston", "/proc/mounts", "/proc/meminfo", "/proc/version",
                             "/sys/kernel", "/var/log", "/srv", "/proc/self/environ", "/proc/self/mountinfo", "/proc/self/maps"}) {
        if (open(path, O_RDONLY) >= 0) got("%s", path);
    }
    held();
}

// attack: file_handles
// tries: to open files by handle, past every path
// expect: SV
ATTACK(file_handles) {
    struct {
        unsigned bytes;
        int type;
        unsigned char handle[64];
    } handle = {64, 0, {}};
    int mount = 0;
    tell(syscall(SYS_name_to_handle_at, AT_FDCWD, "/", &handle, &mount, 0) == 0, "name_to_handle_at");
}

// attack: trace_the_parent
// tries: ptrace
// expect: SV
ATTACK(trace_the_parent) { tell(ptrace(PTRACE_ATTACH, getppid() > 0 ? getppid() : 1, nullptr, nullptr) == 0, "ptrace"); }

// attack: trace_me
// tries: to be traced by its parent
// expect: SV
ATTACK(trace_me) { tell(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0, "ptrace"); }

// attack: read_memory_of_others
// tries: process_vm_readv
// expect: SV
ATTACK(read_memory_of_others) {
    char bytes[64];
    iovec local = {bytes, sizeof bytes}, remote = {reinterpret_cast<void *>(0x400000), sizeof bytes};
    tell(process_vm_readv(getppid() > 0 ? getppid() : 1, &local, 1, &remote, 1, 0) > 0, "process_vm_readv");
}

// attack: write_memory_of_others
// tries: process_vm_writev
// expect: SV
ATTACK(write_memory_of_others) {
    char bytes[64] = "";
    iovec local = {bytes, sizeof bytes}, remote = {reinterpret_cast<void *>(0x400000), sizeof bytes};
    tell(process_vm_writev(getppid() > 0 ? getppid() : 1, &local, 1, &remote, 1, 0) > 0, "process_vm_writev");
}

// attack: own_memory_file
// tries: /proc/self/mem, to get round the protection of its own memory
// expect: WA
ATTACK(own_memory_file) { tell(open("/proc/self/mem", O_RDWR) >= 0, "/proc/self/mem"); }

// attack: copy_a_descriptor
// tries: to take a descriptor out of another process
// expect: SV WA
ATTACK(copy_a_descriptor) {
    const long pidfd = syscall(434, getppid() > 0 ? getppid() : 1, 0);
    if (pidfd >= 0) got("pidfd_open");
    tell(syscall(438, 3, 11, 0) >= 0, "pidfd_getfd");
}

// attack: compare_descriptors
// tries: kcmp, to learn what other processes have open
// expect: SV
ATTACK(compare_descriptors) { tell(syscall(SYS_kcmp, getpid(), getppid(), 0, 0, 0) >= 0, "kcmp"); }

// attack: up_the_tree
// tries: to climb out of its root directory
// expect: WA
ATTACK(up_the_tree) {
    for (int i = 0; i < 64; ++i) {
        if (chdir("..") != 0) break;
    }
    for (const char *name : {"etc/passwd", "proc/1/environ", "root", "home", "tmp"}) {
        if (open(name, O_RDONLY) >= 0) got("%s", name);
    }
    held();
}

// attack: change_root
// tries: chroot
// expect: SV
ATTACK(change_root) { tell(chroot(".") == 0, "chroot"); }

// attack: core_dump
// tries: to leave a core file, or have the kernel start a program for it
// expect: RE
ATTACK(core_dump) {
    struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_CORE, &unlimited) == 0) got("core dumps");
    abort();
}

// attack: core_handler
// tries: to have the kernel pipe its core to a program of the machine, which a limit of 0 does not prevent
// expect: WA
// attempted: prlimit64
ATTACK(core_handler) {
    const rlimit none = {0, 0};
    tell(setrlimit(RLIMIT_CORE, &none) == 0, "a limit of 0 on core files");
}

// attack: freed_pages
// tries: to find data of others in memory that the kernel gives it
// expect: WA
ATTACK(freed_pages) {
    const size_t size = 64 << 20;
    auto *pages = static_cast<unsigned char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (size_t i = 0; i < size; i += 64) {
        if (pages[i] != 0) got("a byte at %zu", i);
    }
    held("all zero");
}

// attack: page_cache
// tries: mincore, to learn which files others have read
// expect: WA
// attempted: mincore
ATTACK(page_cache) {
    unsigned char present = 0;
    void *page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
    tell(mincore(page == MAP_FAILED ? reinterpret_cast<void *>(0x400000) : page, 1, &present) == 0, "mincore");
}

// attack: kernel_log
// tries: to read the kernel's log
// expect: WA
// attempted: syslog
ATTACK(kernel_log) {
    char text[256];
    tell(syscall(SYS_syslog, 3, text, sizeof text) > 0, "syslog");
}

// attack: attributes_of_the_input
// tries: to read extended attributes of its input
// expect: WA
ATTACK(attributes_of_the_input) {
    char text[64];
    tell(syscall(SYS_fgetxattr, 0, "user.answer", text, sizeof text) >= 0 || syscall(SYS_flistxattr, 0, text, sizeof text) >= 0, "xattr");
}
