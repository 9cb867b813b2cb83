// Honest programs of two processes that call what is refused to several processes. Their verdicts must not change.
//
// group: honest use
// problem: pair
#include "attack.h"

#include <poll.h>
#include <sys/select.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#define HONEST ATTACK

[[noreturn]] static void solve() {
    long a = 0, b = 0;
    if (scanf("%ld %ld", &a, &b) != 2) exit(4);
    printf("%ld\n", a + b);
    exit(0);
}

// attack: honest_sleep_beside_another
// tries: to sleep, in each way that a program of a contest sleeps
// expect: AC
// attempted: clock_nanosleep
HONEST(honest_sleep_beside_another) {
    const auto begun = std::chrono::steady_clock::now();
    usleep(1000);
    if (sleep(1) != 0) exit(5);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_until(std::chrono::steady_clock::now() + std::chrono::seconds(1));
    const timespec time = {0, 1000};
    if (nanosleep(&time, nullptr) != 0) exit(6);
    if (std::chrono::steady_clock::now() == begun) exit(7);
    std::this_thread::yield();
    solve();
}

// attack: honest_alarm_beside_another
// tries: a time limit of its own by alarm and an interval timer
// expect: AC
HONEST(honest_alarm_beside_another) {
    signal(SIGALRM, [](int) { _exit(6); });
    if (alarm(10) != 0 || alarm(0) != 0) exit(5);
    const itimerval timer = {{0, 0}, {10, 0}};
    if (setitimer(ITIMER_REAL, &timer, nullptr) != 0) exit(7);
    solve();
}

// attack: honest_poll_beside_another
// tries: to wait for the manager's data by poll and select, and to ask whether there is any
// expect: AC
HONEST(honest_poll_beside_another) {
    pollfd in = {0, POLLIN, 0};
    if (poll(&in, 1, -1) != 1 || poll(&in, 1, 0) != 1) exit(5);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(0, &set);
    if (select(1, &set, nullptr, nullptr, nullptr) != 1) exit(6);
    solve();
}

// attack: honest_threads_beside_another
// tries: threads, a future, a condition with and without a timeout
// expect: AC
// expect reduced: RE
HONEST(honest_threads_beside_another) {
    std::mutex mutex;
    std::condition_variable ready;
    bool done = false;
    std::thread worker([&] {
        const std::lock_guard lock(mutex);
        done = true;
        ready.notify_all();
    });
    auto later = std::async(std::launch::async, [] { return 7; });
    while (later.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    }
    std::unique_lock lock(mutex);
    ready.wait_for(lock, std::chrono::milliseconds(10), [&] { return done; });
    ready.wait(lock, [&] { return done; });
    lock.unlock();
    worker.join();
    if (later.get() != 7) exit(5);
    solve();
}
