// Attacks by processes or threads that run for longer than the judge expects, or that it does not know of.
//
// group: outlasting
// problem: secret
#include "attack.h"

#include <spawn.h>
#include <sys/prctl.h>

// attack: daemon_by_double_fork
// tries: to leave a daemon behind
// expect: WA
// attempted: fork
ATTACK(daemon_by_double_fork) {
    const long child = syscall(SYS_fork);
    if (child == 0) {
        if (syscall(SYS_fork) == 0) {
            for (;;) pause();
        }
        _exit(0);
    }
    tell(child > 0, "fork");
}

// attack: every_way_to_fork
// tries: every call that makes a process
// expect: WA
ATTACK(every_way_to_fork) {
    if (fork() >= 0) got("fork");
    if (vfork() >= 0) got("vfork");
    for (unsigned long flags : {0UL, static_cast<unsigned long>(SIGCHLD), static_cast<unsigned long>(CLONE_VM | CLONE_VFORK | SIGCHLD), 0x8000UL /* CLONE_PARENT */,
                                static_cast<unsigned long>(CLONE_VM | CLONE_SIGHAND), static_cast<unsigned long>(CLONE_UNTRACED)}) {
        if (syscall(SYS_clone, flags, 0, 0, 0, 0) >= 0) got("clone %lx", flags);
    }
    pid_t child = 0;
    char *const arguments[] = {const_cast<char *>("sh"), nullptr};
    if (posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, arguments) == 0) got("posix_spawn");
    if (popen("true", "r") != nullptr) got("popen");
    held();
}

// attack: session_of_its_own
// tries: setsid and setpgid, to escape a kill of its group
// expect: WA
ATTACK(session_of_its_own) {
    if (setpgid(0, 0) == 0) got("setpgid");
    tell(setsid() >= 0, "setsid");
}

// attack: ignored_signals
// tries: to ignore every signal and go on
// expect: TLE
ATTACK(ignored_signals) {
    for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    for (;;) {
    }
}

// attack: stopped
// tries: to stop itself, so that nobody notices its end
// expect: TLE
ATTACK(stopped) {
    raise(SIGSTOP);
    for (;;) pause();
}

// attack: stop_and_go
// tries: to stop itself again and again, with a timer that lets it go on
// expect: TLE
ATTACK(stop_and_go) {
    struct sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) held();
    const itimerspec often = {{0, 2'000'000}, {0, 2'000'000}};
    timer_settime(timer, 0, &often, nullptr);
    for (;;) raise(SIGSTOP);
}

// attack: sleeping
// tries: to sleep for ever instead of using CPU time
// expect: TLE
ATTACK(sleeping) {
    for (;;) pause();
}

// attack: napping
// tries: to sleep in little pieces
// expect: TLE
ATTACK(napping) {
    for (;;) usleep(500);
}

// attack: fork_bomb
// tries: a fork bomb
// expect: WA TLE
ATTACK(fork_bomb) {
    for (int i = 0; i < 20000; ++i) {
        if (fork() >= 0) got("fork");
    }
    held();
}

static int sleep_for_ever(void *) {
    for (;;) pause();
    return 0;
}

// attack: thread_bomb
// tries: as many threads as there can be
// expect: RE TLE
ATTACK(thread_bomb) {
    long started = 0;
    for (int i = 0; i < 100000; ++i) {
        if (attack::bare_thread(sleep_for_ever, nullptr, 16384) < 0) break;
        ++started;
    }
    for (;;) usleep(1000);
}

// attack: thread_bomb_that_ends
// tries: more threads than allowed, which end before the judge counts them
// expect: RE WA
ATTACK(thread_bomb_that_ends) {
    long started = 0;
    while (started < 5000 && attack::bare_thread(sleep_for_ever, nullptr, 16384) >= 0) ++started;
    if (started >= 5000) got("%ld threads", started);
    held("%ld threads", started);
}

// attack: threads_after_the_end
// tries: to let its main thread end and go on in another
// expect: TLE
ATTACK(threads_after_the_end) {
    attack::bare_thread(sleep_for_ever, nullptr);
    syscall(SYS_exit, 0);
}

static int compute_for_ever(void *) {
    for (volatile long i = 0;; i = i + 1) {
    }
    return 0;
}

// attack: work_after_the_end
// tries: the same, computing: CPU time of a process whose main thread is gone
// expect: TLE
ATTACK(work_after_the_end) {
    attack::bare_thread(compute_for_ever, nullptr);
    syscall(SYS_exit, 0);
}

// attack: cpu_in_many_threads
// tries: CPU time in many threads, each of them below the limit
// expect: TLE
ATTACK(cpu_in_many_threads) {
    for (int i = 0; i < 12; ++i) attack::bare_thread(compute_for_ever, nullptr);
    for (;;) pause();
}

static int compute_shortly(void *) {
    attack::spin(0.02);
    syscall(SYS_exit, 0);
    return 0;
}

// attack: cpu_in_short_threads
// tries: CPU time in threads that end before the judge looks at them
// expect: TLE
ATTACK(cpu_in_short_threads) {
    for (;;) {
        attack::bare_thread(compute_shortly, nullptr);
        usleep(20000);
    }
}

// attack: input_for_ever
// tries: to read its input again and again
// expect: TLE
ATTACK(input_for_ever) {
    char bytes[4096];
    for (;;) {
        lseek(0, 0, SEEK_SET);
        if (read(0, bytes, sizeof bytes) < 0) break;
    }
}

// attack: wait_for_children
// tries: to wait for children that it does not have
// expect: WA
ATTACK(wait_for_children) {
    int status = 0;
    tell(waitpid(-1, &status, 0) >= 0, "waitpid");
}

// attack: timers
// tries: timers of every kind, which may expire after its end
// expect: WA
ATTACK(timers) {
    timer_t timer;
    itimerspec soon = {{0, 1000000}, {0, 1000000}};
    signal(SIGALRM, SIG_IGN);
    for (int i = 0; i < 3000; ++i) {
        if (timer_create(CLOCK_MONOTONIC, nullptr, &timer) != 0) break;
        timer_settime(timer, 0, &soon, nullptr);
    }
    alarm(1);
    held("left them");
}

// attack: without_cpu_in_the_kernel
// tries: to wait in the kernel in a state that looks like work (membarrier), for ever
// expect: TLE
ATTACK(without_cpu_in_the_kernel) {
    for (;;) syscall(SYS_membarrier, 1 /* GLOBAL */, 0, 0);
}

// attack: waiting_for_the_disk
// tries: to wait for a disk for ever
// expect: TLE
ATTACK(waiting_for_the_disk) {
    const int file = open("slow", O_RDWR | O_CREAT, 0600);
    for (;;) {
        if (pwrite(file, "x", 1, 0) < 0 || fsync(file) != 0) usleep(100);
    }
}

// attack: waiting_for_a_thread
// tries: to wait for a thread as one waits for a vfork, in a state that looks like work
// expect: TLE
ATTACK(waiting_for_a_thread) {
    char *stack = static_cast<char *>(mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    clone(sleep_for_ever, stack + 65536, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_VFORK, nullptr);
    for (;;) pause();
}

// attack: name_of_a_state
// tries: a name that looks like a state of the process where the kernel prints both
// expect: TLE
ATTACK(name_of_a_state) {
    prctl(PR_SET_NAME, ") R 1 1 (", 0, 0, 0);
    for (;;) usleep(1000);
}

static int contend(void *) {
    for (;;) {
        timespec next{};
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec = next.tv_nsec / 10000000 * 10000000 + 10000000;  // all of them wake at the same instant
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            ++next.tv_sec;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
        for (volatile int i = 0; i < 3000; i = i + 1) {
        }
    }
    return 0;
}

// attack: waiting_for_itself
// tries: to have its own threads wait for each other's processor, so that its idleness looks like the machine's load
// expect: TLE
ATTACK(waiting_for_itself) {
    for (int i = 0; i < 60; ++i) attack::bare_thread(contend, nullptr);
    for (;;) pause();
}

// attack: blocked_on_a_pipe
// tries: to wait on a pipe of its own for ever
// expect: TLE
ATTACK(blocked_on_a_pipe) {
    int ends[2];
    if (pipe(ends) != 0) held();
    char byte = 0;
    for (;;) {
        if (read(ends[0], &byte, 1) < 0) break;
    }
}

static int run_at_ticks(void *) {
    const auto clock_ns = [](clockid_t clock) {
        timespec time{};
        clock_gettime(clock, &time);
        return time.tv_sec * 1'000'000'000L + time.tv_nsec;
    };
    timespec period{};
    clock_getres(CLOCK_MONOTONIC_COARSE, &period);
    for (;;) {
        const long before = clock_ns(CLOCK_MONOTONIC_COARSE);
        while (clock_ns(CLOCK_MONOTONIC_COARSE) == before) {
        }
        const long next = clock_ns(CLOCK_MONOTONIC) + period.tv_nsec * 9 / 10;
        const timespec until = {next / 1'000'000'000, next % 1'000'000'000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    }
    return 0;
}

// attack: running_at_ticks
// tries: to run only at the ticks for which the kernel counts CPU time against a limit, and to be killed early, as if by somebody else
// expect: TLE
ATTACK(running_at_ticks) {
    for (int i = 0; i < 7; ++i) attack::bare_thread(run_at_ticks, nullptr);
    run_at_ticks(nullptr);
}
