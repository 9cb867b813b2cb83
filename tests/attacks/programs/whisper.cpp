// Attacks by two processes of one submission that must not communicate: the first knows a number, the second must
// answer it.
//
// group: talking
// problem: whisper
#include "text.h"

#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>

struct Part {
    int index = 0;
    unsigned number = 0;
    Part() {
        if (scanf("%d %u", &index, &number) != 2) _exit(3);
    }
    bool knows() const { return index == 0; }
};

// The first process waits until the manager has the answer of the second.
[[noreturn]] static void wait_for_the_end() {
    for (char byte = 0; read(0, &byte, 1) > 0;) {
    }
    _exit(0);
}

[[noreturn]] static void answer(long number) {
    printf("%ld\n", number);
    fflush(stdout);
    wait_for_the_end();
}

// attack: whisper_by_file
// tries: a file at a name that both know
// expect: WA
ATTACK(whisper_by_file) {
    const Part part;
    for (const char *path : {"/tmp/whisper", "/dev/shm/whisper", "/whisper", "../whisper", "whisper", "/box/whisper", "/var/tmp/whisper"}) {
        if (part.knows()) {
            const int file = open(path, O_WRONLY | O_CREAT, 0666);
            if (file >= 0) dprintf(file, "%u\n", part.number);
        } else {
            attack::work_until_later(0.05);
            const std::string text = content(path);
            if (!text.empty()) answer(atol(text.c_str()));
        }
    }
    if (part.knows()) wait_for_the_end();
    answer(-1);
}

// attack: whisper_by_shared_memory
// tries: a shared memory segment
// expect: WA
ATTACK(whisper_by_shared_memory) {
    const Part part;
    const int segment = shmget(4711, 4096, IPC_CREAT | 0666);
    if (segment < 0 && part.knows()) wait_for_the_end();
    if (segment < 0) answer(-1);
    auto *cell = static_cast<volatile unsigned *>(shmat(segment, nullptr, 0));
    if (part.knows()) {
        *cell = part.number;
        wait_for_the_end();
    }
    attack::work_until_later(0.1);
    answer(*cell);
}

// attack: whisper_by_thread_ids
// tries: the counter of thread ids: how many threads the first has started meanwhile
// expect: WA RE
ATTACK(whisper_by_thread_ids) {
    const Part part;
    auto end = [](void *) -> int {
        syscall(SYS_exit, 0);
        return 0;
    };
    const long unit = (part.number & 7) + 1;
    if (part.knows()) {
        attack::work_until_later(0.05);
        for (long i = 0; i < 50 * unit; ++i) attack::bare_thread(end, nullptr, 8192);
        wait_for_the_end();
    }
    const long first = attack::bare_thread(end, nullptr);
    attack::work_until_later(0.15);
    const long second = attack::bare_thread(end, nullptr);
    if (first < 0 || second < 0) answer(-1);
    // Only three bits: the attack succeeds if any data get through.
    if (second - first > 40) {
        printf("GOT %ld thread ids\n", second - first);
        fflush(stdout);
        wait_for_the_end();
    }
    answer(-1);
}

// attack: whisper_by_waiting_signals
// tries: the count of waiting signals, which the kernel keeps for a user
// expect: WA
ATTACK(whisper_by_waiting_signals) {
    const Part part;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    rlimit limit = {};
    getrlimit(RLIMIT_SIGPENDING, &limit);
    const long most = static_cast<long>(limit.rlim_cur);
    long queued = 0;
    if (part.knows()) {
        const long mine = 100 + (part.number & 255);
        while (queued < mine && sigqueue(getpid(), SIGRTMIN, {}) == 0) ++queued;
        wait_for_the_end();
    }
    attack::work_until_later(0.15);
    while (queued < 100000 && sigqueue(getpid(), SIGRTMIN, {}) == 0) ++queued;
    if (queued > 0 && most - queued >= 100) {
        printf("GOT %ld\n", most - queued - 100);
        fflush(stdout);
        wait_for_the_end();
    }
    answer(-1);
}

// attack: whisper_by_memory_of_the_other
// tries: to read the other's memory and descriptors through /proc
// expect: WA
ATTACK(whisper_by_memory_of_the_other) {
    const Part part;
    static volatile unsigned treasure;
    treasure = treasure + part.number;
    if (part.knows()) wait_for_the_end();
    attack::work_until_later(0.02);
    for (int pid = getpid() - 20; pid < getpid() + 20; ++pid) {
        if (pid == getpid() || pid <= 0) continue;
        for (const char *name : {"mem", "fd/0", "fd/1", "environ", "stat", "cmdline", "io"}) {
            const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
            const int file = open(path.c_str(), O_RDONLY);
            if (file >= 0) {
                printf("GOT %s\n", path.c_str());
                fflush(stdout);
                wait_for_the_end();
            }
        }
    }
    answer(-1);
}

// attack: whisper_by_locks
// tries: locks on the devices that both have
// expect: WA
ATTACK(whisper_by_locks) {
    const Part part;
    int locked = 0;
    for (const char *device : {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"}) {
        const int file = open(device, O_RDONLY);
        struct flock lock = {};
        lock.l_type = F_RDLCK;
        if (file >= 0 && (fcntl(file, F_SETLK, &lock) == 0 || syscall(SYS_flock, file, 2 | 4) == 0)) ++locked;
    }
    if (part.knows()) wait_for_the_end();
    if (locked > 0) printf("GOT %d locks\n", locked), fflush(stdout), wait_for_the_end();
    answer(-1);
}

// attack: whisper_by_times
// tries: the times of the devices and of the program that both have
// expect: WA
ATTACK(whisper_by_times) {
    const Part part;
    auto sum = [] {
        long total = 0;
        for (const char *path : {"/dev/null", "/dev/zero", "/dev/urandom", "/proc/self/exe", "/box", "/fifo", "/"}) {
            struct stat status{};
            const int file = open(path, O_RDONLY);
            if (file >= 0 && fstat(file, &status) == 0) {
                total += status.st_atim.tv_sec + status.st_atim.tv_nsec + status.st_mtim.tv_nsec + status.st_ctim.tv_nsec;
            }
            if (file >= 0) close(file);
        }
        return total;
    };
    if (part.knows()) {
        for (int i = 0; i < 40; ++i) {
            attack::work_until_later(0.005);
            const int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY);
            char byte = 0;
            if (write(null, "x", 1) < 0 || read(zero, &byte, 1) < 0) _exit(0);
            close(null);
            close(zero);
        }
        wait_for_the_end();
    }
    const long before = sum();
    attack::work_until_later(0.15);
    if (sum() != before) printf("GOT a changed time\n"), fflush(stdout), wait_for_the_end();
    answer(-1);
}

// attack: whisper_by_existence
// tries: whether a process of a certain number exists, by opening its directory in /proc
// expect: WA
ATTACK(whisper_by_existence) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    for (int pid = 1; pid < 70000; ++pid) {
        char path[32];
        snprintf(path, sizeof path, "/proc/%d/task", pid);
        const int file = open(path, O_RDONLY);
        if (file >= 0) printf("GOT %s\n", path), fflush(stdout), wait_for_the_end();
    }
    answer(-1);
}

// attack: whisper_by_sockets
// tries: an abstract socket
// expect: WA
ATTACK(whisper_by_sockets) {
    const Part part;
    const int end = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (part.knows()) wait_for_the_end();
    if (end >= 0) printf("GOT a socket\n"), fflush(stdout), wait_for_the_end();
    answer(-1);
}

// attack: whisper_by_limits
// tries: a limit that is counted for the user: processes, queues, locked memory
// expect: WA
ATTACK(whisper_by_limits) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    rlimit limit = {};
    for (auto resource : {RLIMIT_MSGQUEUE, RLIMIT_MEMLOCK}) {
        if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != 0) printf("GOT limit %d\n", resource), fflush(stdout), wait_for_the_end();
    }
    answer(-1);
}

// attack: whisper_from_stderr
// tries: to read what the other wrote to stderr
// expect: WA
ATTACK(whisper_from_stderr) {
    const Part part;
    if (part.knows()) {
        dprintf(2, "%u\n", part.number);
        wait_for_the_end();
    }
    attack::work_until_later(0.05);
    char text[32] = "";
    if (pread(2, text, sizeof text - 1, 0) > 0) answer(atol(text));
    const int again = open("/proc/self/fd/2", O_RDONLY);
    if (again >= 0 && read(again, text, sizeof text - 1) > 0) answer(atol(text));
    answer(-1);
}

[[noreturn]] static void answer_words(const char *words) {
    printf("%s\n", words);
    fflush(stdout);
    wait_for_the_end();
}

// attack: whisper_by_free_memory
// tries: how much memory is free on the machine, which the other can change
// expect: WA
ATTACK(whisper_by_free_memory) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    struct sysinfo machine = {};
    if (sysinfo(&machine) == 0) answer_words("GOT the machine's free memory");
    answer(-1);
}

// attack: whisper_by_pipe_numbers
// tries: the counter from which the kernel numbers pipes
// expect: WA
ATTACK(whisper_by_pipe_numbers) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    int ends[2];
    struct stat status{};
    if (pipe(ends) == 0 && fstat(ends[0], &status) == 0) answer_words("GOT the number of a pipe");
    answer(-1);
}

// attack: whisper_by_descriptors_of_threads
// tries: the counter from which the kernel numbers descriptors of processes: a thread can be started with one
// expect: WA
// attempted: clone
ATTACK(whisper_by_descriptors_of_threads) {
    const Part part;
    char *stack = static_cast<char *>(mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    auto number_of_a_thread = [stack] {
        int descriptor = -1;
        struct stat status{};
        const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_PIDFD;
        const int thread = clone([](void *) -> int { syscall(SYS_exit, 0); return 0; }, stack + 65536, flags, nullptr, &descriptor);
        if (thread < 0 || fstat(descriptor, &status) != 0) return -1L;
        attack::work_until_later(0.0001);
        close(descriptor);
        return static_cast<long>(status.st_ino);
    };
    if (part.knows()) {
        attack::work_until_later(0.05);
        for (unsigned i = 0; i < 100 + (part.number & 255); ++i) {
            if (number_of_a_thread() < 0) break;
        }
        wait_for_the_end();
    }
    const long first = number_of_a_thread();
    attack::work_until_later(0.2);
    if (first < 0) answer(-1);
    answer_words(("GOT " + std::to_string(number_of_a_thread() - first)).c_str());
}

// attack: whisper_by_file_numbers
// tries: the counter from which a file system numbers new files
// expect: WA
ATTACK(whisper_by_file_numbers) {
    const Part part;
    auto number_of_a_new_file = [](int n) {
        struct stat status{};
        const int file = open(("n" + std::to_string(n)).c_str(), O_RDWR | O_CREAT, 0600);
        if (file < 0 || fstat(file, &status) != 0) return 0L;
        close(file);
        return static_cast<long>(status.st_ino);
    };
    if (part.knows()) {
        attack::work_until_later(0.05);
        for (int i = 0; i < 100; ++i) number_of_a_new_file(i);
        wait_for_the_end();
    }
    const long first = number_of_a_new_file(0);
    attack::work_until_later(0.15);
    const long second = number_of_a_new_file(1);
    if (second - first > 50) answer_words("GOT a jump in the numbers");
    answer(-1);
}

// attack: whisper_by_owners
// tries: owners, leases, watches, locks and hints of descriptors, and the sizes of its FIFOs
// expect: WA
// attempted: fcntl ioctl
ATTACK(whisper_by_owners) {
    const Part part;
    std::string got;
    for (int fd = 0; fd < 3; ++fd) {
        struct flock lock = {};
        lock.l_type = F_RDLCK;
        struct {
            int type, pid;
        } owner = {2, getpid()};
        unsigned long hint = 2;
        int on = 1;
        if (fcntl(fd, F_SETOWN, getpid()) == 0 || fcntl(fd, F_GETOWN) >= 0) got += " owner";
        if (fcntl(fd, 15 /* F_SETOWN_EX */, &owner) == 0) got += " owner of another kind";
        if (fcntl(fd, 10 /* F_SETSIG */, SIGUSR1) == 0) got += " signal";
        if (fcntl(fd, 1024 /* F_SETLEASE */, F_RDLCK) == 0) got += " lease";
        if (fcntl(fd, 1026 /* F_NOTIFY */, 1) == 0) got += " watch";
        if (fcntl(fd, F_GETLK, &lock) == 0 || fcntl(fd, 37 /* F_OFD_SETLK */, &lock) == 0) got += " lock";
        if (fcntl(fd, 1036 /* F_SET_RW_HINT */, &hint) == 0) got += " hint";
        if (ioctl(fd, 0x5452 /* FIOASYNC */, &on) == 0 || ioctl(fd, 0x8901 /* FIOSETOWN */, &on) == 0) got += " ioctl";
        const int size = fcntl(fd, 1032 /* F_GETPIPE_SZ */);
        if (fcntl(fd, 1031 /* F_SETPIPE_SZ */, 131072) >= 0 || fcntl(fd, 1032) != size) got += " size";
    }
    if (part.knows()) wait_for_the_end();
    answer_words(got.empty() ? "-1" : ("GOT" + got).c_str());
}

// attack: whisper_by_questions
// tries: to ask the kernel about each process that there may be: limits, priorities, processors, clocks, groups
// expect: WA
// attempted: prlimit64 getpriority getpgid kill clock_gettime
ATTACK(whisper_by_questions) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    for (long pid = 1; pid < 300; ++pid) {
        if (pid == getpid()) continue;
        char room[128];
        timespec time{};
        const bool known = syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, nullptr, room) == 0 || syscall(SYS_getpriority, 0, pid) >= 0 ||
                           syscall(SYS_sched_getaffinity, pid, sizeof room, room) >= 0 || syscall(SYS_getpgid, pid) >= 0 ||
                           syscall(SYS_sched_rr_get_interval, pid, &time) == 0 || syscall(SYS_kill, pid, 0) == 0 ||
                           syscall(SYS_wait4, pid, nullptr, 1, nullptr) >= 0 || syscall(SYS_clock_gettime, (~pid << 3) | 2, &time) == 0;
        if (known) answer_words(("GOT process " + std::to_string(pid)).c_str());
    }
    answer(-1);
}

static int wait_on(void *page) {
    const int value = *static_cast<volatile int *>(page);
    for (int tries = 0; tries < 100; ++tries) syscall(SYS_futex, page, 0 /* FUTEX_WAIT */, value, nullptr, nullptr, 0);
    syscall(SYS_exit, 0);
    return 0;
}

// attack: whisper_by_futex
// tries: to wake the other, who waits on the same page of a file that both have mapped
// expect: WA TLE
ATTACK(whisper_by_futex) {
    const Part part;
    std::vector<void *> pages = {reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(&printf) & ~uintptr_t{4095}),
                                 reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(&whisper_by_futex) & ~uintptr_t{4095})};
    pages.push_back(reinterpret_cast<void *>(getauxval(AT_SYSINFO_EHDR)));  // the kernel's own, in every process
    for (const char *path : {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"}) {
        const int file = open(path, O_RDONLY);
        void *page = file < 0 ? MAP_FAILED : mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
        if (page != MAP_FAILED) pages.push_back(page);
    }
    for (void *page : pages) {
        if (part.knows()) {
            // The wait has no timeout, so a thread waits; if there are no threads, the process itself waits.
            if (attack::bare_thread(wait_on, page) < 0) wait_on(page);
        } else {
            attack::work_until_later(0.02);
            if (syscall(SYS_futex, page, 1 /* FUTEX_WAKE */, 1, nullptr, nullptr, 0) > 0) answer_words("GOT somebody who waits");
        }
    }
    if (part.knows()) wait_for_the_end();
    answer(-1);
}

// attack: whisper_by_robust_futex
// tries: to have the kernel wake the other at its own end, as for a lock that it held, on a page that both have mapped
// expect: WA TLE
ATTACK(whisper_by_robust_futex) {
    const Part part;
    void *page = MAP_FAILED;
    for (const char *path : {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"}) {
        const int file = open(path, O_RDONLY);
        if (file >= 0) page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);
        if (page != MAP_FAILED) break;
    }
    if (page == MAP_FAILED && part.knows()) wait_for_the_end();
    if (page == MAP_FAILED) answer(-1);
    char *zero = static_cast<char *>(page) + 8;  // of an ELF file's head
    if (part.knows()) {
        attack::work_until_later(0.06);
        static struct {
            void *list;
            long offset;
            void *pending;
        } head = {&head, 0, zero};
        syscall(SYS_set_robust_list, &head, sizeof head);
        _exit(0);
    }
    if (syscall(SYS_futex, zero, 0 /* FUTEX_WAIT */, 0, nullptr, nullptr, 0) == 0) answer_words("GOT a last wish");
    answer(-1);
}

// attack: whisper_by_owner_of_a_lock
// tries: whether a process of a certain number exists, by a lock that this process seems to hold
// expect: WA
// attempted: futex
ATTACK(whisper_by_owner_of_a_lock) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    const int own = getpid();
    for (int pid = own > 100 ? own - 100 : 1; pid < own + 100; ++pid) {
        int lock = pid;
        const bool held = syscall(SYS_futex, &lock, 8 /* FUTEX_TRYLOCK_PI */, 0, nullptr, nullptr, 0) != 0 && errno == EAGAIN;
        if (held) answer_words(("GOT process " + std::to_string(pid)).c_str());
    }
    answer(-1);
}

// attack: guess
// tries: simply to guess
// expect: WA
ATTACK(guess) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    answer(0);
}

// attack: first_answers_too
// tries: to have the process that knows the number print it
// expect: WA
ATTACK(first_answers_too) {
    const Part part;
    if (part.knows()) {
        answer(part.number);
    }
    answer(-1);
}

// attack: second_dies
// tries: to end the second process with an error
// expect: RE
ATTACK(second_dies) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    _exit(1);
}
