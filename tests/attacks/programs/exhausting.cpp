// Attacks that use up resources.
//
// group: exhausting
// problem: secret
#include "text.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

constexpr long kCloseRange = 436;  // since Linux 5.9; older headers lack it

// attack: memory_in_files
// tries: to use its scratch directory as memory
// expect: WA OLE RE
ATTACK(memory_in_files) {
    std::vector<char> block(1 << 20, 'x');
    size_t total = 0;
    for (int i = 0; i < 64; ++i) {
        const int file = open(("file" + std::to_string(i)).c_str(), O_RDWR | O_CREAT, 0600);
        for (int j = 0; j < 8 && file >= 0; ++j) {
            const ssize_t n = write(file, block.data(), block.size());
            if (n > 0) total += static_cast<size_t>(n);
        }
    }
    for (int i = 0; i < 20; ++i) usleep(1000);
    if (total > (32 << 20)) got("%zu MiB", total >> 20);
    held("%zu MiB", total >> 20);
}

// attack: memory_without_writing
// tries: to allocate disk or memory by fallocate, faster than the judge polls
// expect: WA OLE RE
ATTACK(memory_without_writing) {
    size_t total = 0;
    for (int i = 0; i < 200; ++i) {
        const int file = open(("file" + std::to_string(i)).c_str(), O_RDWR | O_CREAT, 0600);
        if (file < 0) break;
        if (fallocate(file, 0, 0, 8 << 20) == 0) total += 8 << 20;
        close(file);
    }
    if (total > (64 << 20)) got("%zu MiB", total >> 20);
    held("%zu MiB", total >> 20);
}

// attack: memory_behind_the_end
// tries: to allocate memory after the ends of its outputs, where file sizes do not show it
// expect: WA
// attempted: fallocate
ATTACK(memory_behind_the_end) {
    for (int fd : {1, 2}) {
        if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 256 << 20) == 0) got("256 MiB behind descriptor %d", fd);
    }
    held();
}

static int sleep_with_pipes(void *) {
    for (;;) pause();
    return 0;
}

// attack: pipes_of_every_thread
// tries: a descriptor table for each thread, to open many more pipes than a process may
// expect: WA
// attempted: clone
ATTACK(pipes_of_every_thread) {
    void *stack = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int left_out : {CLONE_FILES, CLONE_FS, CLONE_FILES | CLONE_FS}) {
        const int flags = (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM) & ~left_out;
        if (clone(sleep_with_pipes, static_cast<char *>(stack) + 65536, flags, nullptr) >= 0) got("a thread without %x", left_out);
    }
    held();
}

enum : int { kNotTried, kRefused, kMade };

static int make_own_table(void *answer) {
    const bool made = syscall(kCloseRange, 1000, 1000, 2 /* CLOSE_RANGE_UNSHARE */) == 0;
    *static_cast<volatile int *>(answer) = made ? kMade : kRefused;
    for (;;) pause();
    return 0;
}

// attack: pipes_behind_close_range
// tries: the same by close_range, which can give the calling thread its own table
// expect: WA
// attempted: close_range
ATTACK(pipes_behind_close_range) {
    static volatile int answer = kNotTried;
    attack::bare_thread(make_own_table, const_cast<int *>(&answer));
    while (answer == kNotTried) usleep(1000);
    if (answer == kMade) got("a table of its own");
    held();
}

// attack: memory_in_pipes
// tries: to keep bytes in as many pipes as it can open
// expect: WA
ATTACK(memory_in_pipes) {
    size_t total = 0;
    int ends[2];
    static char bytes[65536];
    while (pipe2(ends, O_NONBLOCK) == 0) {
        ssize_t n = 0;
        while ((n = write(ends[1], bytes, sizeof bytes)) > 0) total += static_cast<size_t>(n);
    }
    if (total > (8 << 20)) got("%zu bytes", total);
    held("%zu bytes", total);
}

// attack: address_space
// tries: to reserve all addresses there are
// expect: WA
ATTACK(address_space) {
    size_t total = 0;
    while (mmap(nullptr, size_t{1} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED) {
        total += size_t{1} << 30;
        if (total > size_t{64} << 30) got("%zu GiB", total >> 30);
    }
    held("%zu GiB", total >> 30);
}

// attack: many_mappings
// tries: as many mappings as the kernel allows, which costs it memory
// expect: WA TLE RE
ATTACK(many_mappings) {
    size_t count = 0;
    for (; count < 100000; ++count) {
        if (mmap(nullptr, 4096, count % 2 != 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) break;
    }
    held("%zu mappings", count);
}

// attack: page_tables
// tries: to make the kernel spend memory on page tables
// expect: WA MLE RE TLE
ATTACK(page_tables) {
    size_t tables = 0;
    char *area = nullptr;
    while ((area = static_cast<char *>(mmap(nullptr, size_t{1} << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) != MAP_FAILED) {
        for (size_t i = 0; i < size_t{1} << 30; i += 2 << 20) tables += area[i] == 0 ? 1 : 0;
    }
    if (tables > 100000) got("%zu page tables", tables);
    held("%zu page tables", tables);
}

// attack: output_without_end
// tries: to print for ever
// expect: OLE
ATTACK(output_without_end) {
    static char bytes[65536];
    for (;;) {
        if (write(1, bytes, sizeof bytes) < 0) break;
    }
}

// attack: output_without_end_ignored
// tries: to print for ever, and ignore the signal that should stop it
// expect: OLE TLE
ATTACK(output_without_end_ignored) {
    signal(SIGXFSZ, SIG_IGN);
    static char bytes[65536];
    for (;;) {
        if (write(1, bytes, sizeof bytes) < 0) break;
    }
    _exit(0);
}

// attack: output_by_seeking
// tries: an output of 10 GB made of holes
// expect: OLE RE
ATTACK(output_by_seeking) {
    const off_t far = off_t{10} << 30;
    if (ftruncate(1, far) == 0) got("ftruncate");
    if (pwrite(1, "x", 1, far) == 1) got("pwrite");
    held();
}

// attack: output_at_its_limit
// tries: an output of just as many bytes as allowed
// expect: WA
ATTACK(output_at_its_limit) {
    static char bytes[65536];
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < 8 * 16; ++i) {
        if (write(1, bytes, sizeof bytes) != sizeof bytes) _exit(3);
    }
    _exit(0);
}

// attack: output_over_its_limit
// tries: an output of one byte more than allowed
// expect: OLE
ATTACK(output_over_its_limit) {
    static char bytes[65536];
    for (int i = 0; i < 8 * 16; ++i) {
        if (write(1, bytes, sizeof bytes) != sizeof bytes) _exit(3);
    }
    if (write(1, "x", 1) < 0) _exit(3);
    _exit(0);
}

// attack: stderr_without_end
// tries: to fill the judge's memory by way of stderr
// expect: WA TLE OLE RE
ATTACK(stderr_without_end) {
    static char bytes[65536];
    memset(bytes, 'e', sizeof bytes);
    for (const double end = attack::now() + 0.15; attack::now() < end;) {
        if (write(2, bytes, sizeof bytes) < 0) break;
    }
    held("wrote");
}

// attack: many_files
// tries: a million tiny files
// expect: WA OLE RE
ATTACK(many_files) {
    int count = 0;
    for (; count < 1000000; ++count) {
        const int file = open(("f" + std::to_string(count)).c_str(), O_CREAT | O_WRONLY, 0600);
        if (file < 0) break;
        close(file);
    }
    if (count > 20000) got("%d files", count);
    held("%d files", count);
}

// attack: many_directories
// tries: a tree too deep to be removed
// expect: WA RE OLE
ATTACK(many_directories) {
    int count = 0;
    while (mkdir("d", 0) == 0 && chmod("d", 0777) != 0 && ++count < 5000) {
        if (chdir("d") != 0) break;
    }
    held("%d deep", count);
}

// attack: unreadable_directory
// tries: a directory that nobody may open, with a file in it
// expect: WA RE OLE
ATTACK(unreadable_directory) {
    mkdir("d", 0700);
    const int file = open("d/file", O_CREAT | O_WRONLY, 0);
    (void)file;
    umask(0777);
    mkdir("e", 0);
    held("left them");
}

// attack: descriptors
// tries: as many descriptors as there can be, of every kind
// expect: WA
ATTACK(descriptors) {
    int count = 0, last = 0;
    while (last >= 0) {
        last = dup(1);
        count += last >= 0 ? 1 : 0;
    }
    if (count > 130 || epoll_create1(0) >= 0 || eventfd(0, 0) >= 0 || timerfd_create(CLOCK_MONOTONIC, 0) >= 0) got("%d descriptors", count);
    held("%d descriptors", count);
}

// attack: nested_epolls
// tries: epoll descriptors that watch each other, which costs the kernel time
// expect: WA TLE
ATTACK(nested_epolls) {
    int all[50];
    int count = 0;
    for (; count < 50 && (all[count] = epoll_create1(0)) >= 0; ++count) {
    }
    epoll_event event = {};
    event.events = EPOLLIN;
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) epoll_ctl(all[i], EPOLL_CTL_ADD, all[j], &event);
    }
    held("%d of them", count);
}

// attack: queued_signals
// tries: as many pending signals as the user may have, so that others get none
// expect: WA
ATTACK(queued_signals) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    int count = 0;
    while (count < 100000 && sigqueue(getpid(), SIGRTMIN, {}) == 0) ++count;
    if (count > 5000) got("%d signals", count);
    held("%d signals", count);
}

// attack: thousands_of_timers
// tries: so many timers that a processor is busy with their interrupts, which no process is charged for
// expect: WA
ATTACK(thousands_of_timers) {
    signal(SIGRTMIN, SIG_IGN);
    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGRTMIN;
    int count = 0;
    timer_t timer;
    while (count < 5000 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) ++count;
    if (count > 100) got("%d timers", count);
    held("%d timers", count);
}

// attack: entropy
// tries: to read randomness for ever
// expect: TLE
ATTACK(entropy) {
    static char bytes[1 << 20];
    const int random = open("/dev/random", O_RDONLY);
    for (;;) {
        if (read(random, bytes, sizeof bytes) < 0) break;
    }
}

// attack: copies_in_the_kernel
// tries: to have the kernel copy for ever between its own files
// expect: TLE OLE RE WA
ATTACK(copies_in_the_kernel) {
    static char bytes[1 << 20];
    const int file = open("source", O_RDWR | O_CREAT, 0600), other = open("sink", O_RDWR | O_CREAT, 0600);
    if (file < 0 || other < 0 || write(file, bytes, sizeof bytes) < 0) held();
    for (;;) {
        off_t from = 0, to = 0;
        if (syscall(SYS_copy_file_range, file, &from, other, &to, sizeof bytes, 0) <= 0) held();
    }
}
