// Attacks by two processes that must not communicate and take turns: the second measures how long the first waits. The
// manager's time limit is not reached, and waiting uses no CPU time.
//
// group: talking
// problem: whisper-turns
#include "text.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

constexpr long kUnitMs = 10;
constexpr int kTurns = 4;

static timespec after(long ms) { return {ms / 1000, ms % 1000 * 1000000}; }

static std::string hear() {
    std::string line;
    for (char byte = 0; byte != '\n'; line += byte) {
        if (read(0, &byte, 1) != 1) _exit(0);
    }
    return line;
}

static void say(const std::string &words) {
    if (write(1, (words + "\n").data(), words.size() + 1) < 0) _exit(0);
}

// Four bits in each turn, if `wait` waits for so many milliseconds.
[[noreturn]] static void hand_over(void (*wait)(long ms)) {
    int index = 0;
    unsigned number = 0;
    if (sscanf(hear().c_str(), "%d %u", &index, &number) != 2) _exit(3);
    unsigned heard = 0;
    for (int turn = 0; turn < kTurns; ++turn) {
        const double begun = attack::now();
        hear();
        if (index == 0) {
            wait(kUnitMs * static_cast<long>((number >> 4 * turn & 15) + 1));
        } else {
            const long units = static_cast<long>((attack::now() - begun) * 1000.0 / static_cast<double>(kUnitMs));
            heard |= static_cast<unsigned>(units - 1 > 15 || units < 1 ? 0 : units - 1) << 4 * turn;
        }
        say("done");
    }
    if (index == 1) say(std::to_string(heard));
    for (char byte = 0; read(0, &byte, 1) > 0;) {
    }
    _exit(0);
}

// attack: hand_over_by_sleep
// tries: to sleep before it answers, for a time that encodes the secret
// expect: WA
// attempted: clock_nanosleep
ATTACK(hand_over_by_sleep) {
    hand_over([](long ms) {
        const timespec time = after(ms);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
    });
}

// attack: hand_over_by_old_sleep
// tries: the same by nanosleep
// expect: WA
// attempted: nanosleep
ATTACK(hand_over_by_old_sleep) {
    hand_over([](long ms) {
        const timespec time = after(ms);
        syscall(SYS_nanosleep, &time, nullptr);
    });
}

// attack: hand_over_by_sleep_until
// tries: to sleep until a time of the clock
// expect: WA
ATTACK(hand_over_by_sleep_until) {
    hand_over([](long ms) {
        timespec time{};
        clock_gettime(CLOCK_REALTIME, &time);
        time.tv_nsec += ms * 1000000;
        time.tv_sec += time.tv_nsec / 1000000000;
        time.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, nullptr);
    });
}

// attack: hand_over_by_poll
// tries: to wait for data that never comes, with a timeout
// expect: WA
// attempted: poll
ATTACK(hand_over_by_poll) {
    hand_over([](long ms) {
        pollfd in = {0, POLLIN, 0};
        poll(&in, 1, static_cast<int>(ms));
    });
}

// attack: hand_over_by_ppoll
// tries: the same by ppoll, without descriptors
// expect: WA
// attempted: ppoll
ATTACK(hand_over_by_ppoll) {
    hand_over([](long ms) {
        const timespec time = after(ms);
        ppoll(nullptr, 0, &time, nullptr);
    });
}

// attack: hand_over_by_select
// tries: the same by select and pselect
// expect: WA
// attempted: pselect6 select
ATTACK(hand_over_by_select) {
    hand_over([](long ms) {
        timeval half = {0, ms * 500};
        syscall(SYS_select, 0, nullptr, nullptr, nullptr, &half);
        const timespec rest = after(ms / 2);
        pselect(0, nullptr, nullptr, nullptr, &rest, nullptr);
    });
}

// attack: hand_over_by_epoll
// tries: the same by epoll, with and without a time in nanoseconds
// expect: WA
// attempted: epoll_create1
ATTACK(hand_over_by_epoll) {
    hand_over([](long ms) {
        epoll_event event{};
        const int set = epoll_create1(0);
        epoll_wait(set, &event, 1, static_cast<int>(ms / 2));
        const timespec rest = after(ms / 2);
        syscall(441 /* epoll_pwait2 */, set, &event, 1, &rest, nullptr, 0);
        close(set);
    });
}

// attack: hand_over_by_timer_file
// tries: to read from a timer
// expect: WA
// attempted: timerfd_create
ATTACK(hand_over_by_timer_file) {
    hand_over([](long ms) {
        const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
        const itimerspec time = {{0, 0}, after(ms)};
        timerfd_settime(timer, 0, &time, nullptr);
        uint64_t rung = 0;
        if (read(timer, &rung, sizeof rung) > 0) close(timer);
    });
}

static void wake(int) {}

// attack: hand_over_by_alarm
// tries: to read until an interval timer interrupts it
// expect: WA TLE
// attempted: setitimer
ATTACK(hand_over_by_alarm) {
    hand_over([](long ms) {
        struct sigaction action{};
        action.sa_handler = wake;
        sigaction(SIGALRM, &action, nullptr);
        const itimerval time = {{0, 0}, {0, ms * 1000}};
        setitimer(ITIMER_REAL, &time, nullptr);
        char byte = 0;
        if (read(0, &byte, 1) >= 0) _exit(0);
    });
}

// attack: hand_over_by_alarm_clock
// tries: alarm, whose shortest time is a second
// expect: WA TLE
// attempted: alarm
ATTACK(hand_over_by_alarm_clock) {
    hand_over([](long) {
        alarm(1);
        pause();
    });
}

// attack: hand_over_by_signal
// tries: to wait for a signal that does not come
// expect: WA
// attempted: rt_sigtimedwait
ATTACK(hand_over_by_signal) {
    hand_over([](long ms) {
        sigset_t none;
        sigemptyset(&none);
        sigaddset(&none, SIGUSR1);
        sigprocmask(SIG_BLOCK, &none, nullptr);
        const timespec time = after(ms);
        sigtimedwait(&none, nullptr, &time);
    });
}

// attack: hand_over_by_posix_timer
// tries: to wait for the signal of a POSIX timer
// expect: WA TLE
// attempted: timer_create
ATTACK(hand_over_by_posix_timer) {
    hand_over([](long ms) {
        sigset_t ring;
        sigemptyset(&ring);
        sigaddset(&ring, SIGALRM);
        sigprocmask(SIG_BLOCK, &ring, nullptr);
        timer_t timer;
        if (timer_create(CLOCK_MONOTONIC, nullptr, &timer) != 0) return;
        const itimerspec time = {{0, 0}, after(ms)};
        timer_settime(timer, 0, &time, nullptr);
        int signal = 0;
        sigwait(&ring, &signal);
    });
}

// attack: hand_over_by_futex
// tries: to wait for a lock that is never released, with a timeout, by each call that can wait for one
// expect: WA
ATTACK(hand_over_by_futex) {
    hand_over([](long ms) {
        static int word = 7;
        const timespec time = after(ms / 4);
        for (int operation : {FUTEX_WAIT, FUTEX_WAIT_PRIVATE}) syscall(SYS_futex, &word, operation, 7, &time, nullptr, 0);
        timespec until{};
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += ms / 4 * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 7, &until, nullptr, FUTEX_BITSET_MATCH_ANY);
        static int held = 1;  // as if by another thread, which does not exist
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        syscall(SYS_futex, &held, FUTEX_LOCK_PI_PRIVATE, 0, &until, nullptr, 0);
        struct {
            uint64_t value, address;
            uint32_t flags, reserved;
        } waiter = {7, reinterpret_cast<uint64_t>(&word), 2 | 128, 0};
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 1;
        syscall(449 /* futex_waitv */, &waiter, 1, 0, &until, CLOCK_MONOTONIC);
    });
}

// attack: hand_over_by_disk
// tries: to wait for a disk: to sync the files that it sees until the time is over
// expect: WA
ATTACK(hand_over_by_disk) {
    hand_over([](long ms) {
        for (const char *path : {"/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "mine"}) {
            const int file = open(path, O_RDONLY | O_CREAT, 0600);
            for (long i = 0; i < ms; ++i) {
                if (file < 0 || fsync(file) != 0) break;
            }
            close(file);
        }
    });
}
