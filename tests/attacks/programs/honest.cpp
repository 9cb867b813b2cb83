// Honest programs that do something that attacks do: by accident, through a library, or by habit. Their verdicts must
// not change; the result lists their refused calls.
//
// group: honest use
// problem: sum
#include "text.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <locale>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#define HONEST ATTACK

[[noreturn]] static void solve() {
    long a = 0, b = 0;
    if (scanf("%ld %ld", &a, &b) != 2) exit(4);
    printf("%ld\n", a + b);
    exit(0);
}

// attack: honest_pause
// tries: system("pause") at its end, as on another system
// expect: AC
HONEST(honest_pause) {
    long a = 0, b = 0;
    if (scanf("%ld %ld", &a, &b) != 2) exit(4);
    printf("%ld\n", a + b);
    if (system("pause") == 12345) exit(5);
    exit(0);
}

// attack: honest_commands
// tries: to clear the screen and ask the time through a shell
// expect: AC
HONEST(honest_commands) {
    if (system("clear") == 12345) exit(5);
    if (FILE *date = popen("date", "r")) pclose(date);
    solve();
}

// attack: honest_threads
// tries: eight threads, futures and a mutex
// expect: AC
HONEST(honest_threads) {
    std::atomic<long> total{0};
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            const std::lock_guard lock(mutex);
            total += 1;
        });
    }
    for (auto &thread : threads) thread.join();
    auto later = std::async(std::launch::async, [&] { return total.load(); });
    if (later.get() != 8) exit(5);
    solve();
}

// attack: honest_socket
// tries: a socket, as a library's logging makes one
// expect: AC
// attempted: socket
HONEST(honest_socket) {
    const int log = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (log >= 0) close(log);
    solve();
}

// attack: honest_limits
// tries: to raise its stack by setrlimit, as many programs do
// expect: AC
HONEST(honest_limits) {
    rlimit limit{};
    if (getrlimit(RLIMIT_STACK, &limit) != 0) exit(5);
    limit.rlim_cur = 256 << 20;
    setrlimit(RLIMIT_STACK, &limit);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    solve();
}

// attack: honest_mapping
// tries: to map its input, shared and private, for fast reading
// expect: AC
HONEST(honest_mapping) {
    struct stat status{};
    fstat(0, &status);
    for (int flags : {MAP_SHARED, MAP_PRIVATE, MAP_PRIVATE | MAP_POPULATE}) {
        const char *text = static_cast<char *>(mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, flags, 0, 0));
        if (text == MAP_FAILED) exit(5);
        if (text[0] != 'h') exit(6);
    }
    solve();
}

// attack: honest_randomness
// tries: randomness of every kind
// expect: AC
HONEST(honest_randomness) {
    std::random_device device;
    std::mt19937_64 engine(device() ^ static_cast<unsigned>(time(nullptr)) ^ static_cast<unsigned>(clock()) ^ static_cast<unsigned>(getpid()));
    std::ifstream urandom("/dev/urandom", std::ios::binary);
    char byte = 0;
    urandom.read(&byte, 1);
    if (!urandom || std::uniform_int_distribution<int>(0, 1)(engine) > 1) exit(5);
    solve();
}

// attack: honest_clocks
// tries: clocks, a time limit of its own by alarm, sleeping a little
// expect: AC
HONEST(honest_clocks) {
    signal(SIGALRM, [](int) { _exit(6); });
    alarm(10);
    const auto begun = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (std::chrono::steady_clock::now() == begun) exit(5);
    const itimerval timer = {{0, 0}, {10, 0}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    solve();
}

// attack: honest_timer
// tries: a POSIX timer
// expect: AC
HONEST(honest_timer) {
    timer_t timer;
    struct sigevent event{};
    event.sigev_notify = SIGEV_NONE;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) exit(5);
    timer_delete(timer);
    solve();
}

// attack: honest_files
// tries: to write a debug file, read it back and remove it
// expect: AC
HONEST(honest_files) {
    {
        std::ofstream debug("debug.txt");
        debug << "3 4\n";
    }
    std::ifstream again("debug.txt");
    int a = 0, b = 0;
    again >> a >> b;
    if (a != 3 || b != 4) exit(5);
    std::remove("debug.txt");
    if (std::filesystem::exists("there is no such file")) exit(6);
    solve();
}

// attack: honest_redirection
// tries: to redirect stdin and stderr to files that do not exist here, as at home
// expect: AC
HONEST(honest_redirection) {
    if (std::ifstream input("input.txt"); input) exit(5);
    if (freopen("/dev/null", "w", stderr) == nullptr) exit(6);
    std::cerr << "debugging\n";
    solve();
}

// attack: honest_streams
// tries: fast streams, a locale, exceptions and casts
// expect: AC
HONEST(honest_streams) {
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    setlocale(LC_ALL, "");
    std::cout.imbue(std::locale(""));
    try {
        std::vector<int>().at(3) = 1;
    } catch (const std::out_of_range &) {
        long a = 0, b = 0;
        std::cin >> a >> b;
        std::cout << a + b << std::endl;
        std::cout.flush();
        exit(0);
    }
    exit(5);
}

static long deep(long n) {
    volatile char frame[64];
    frame[0] = static_cast<char>(n);
    return n == 0 ? 0 : deep(n - 1) + 1 + 0 * frame[0];
}

// attack: honest_recursion
// tries: recursion 500,000 deep
// expect: AC
HONEST(honest_recursion) {
    if (deep(500000) != 500000) exit(5);
    solve();
}

// attack: honest_reserve
// tries: to reserve much more memory than it uses
// expect: AC
HONEST(honest_reserve) {
    std::vector<long> large;
    large.reserve(size_t{1} << 27);
    large.push_back(1);
    auto *zeros = static_cast<char *>(calloc(size_t{1} << 30, 1));
    if (zeros == nullptr) exit(5);
    zeros[size_t{1} << 29] = 1;
    solve();
}

// attack: honest_processors
// tries: to ask how many processors there are, and for their features
// expect: AC
HONEST(honest_processors) {
    if (std::thread::hardware_concurrency() > 100000) exit(5);
    if (sysconf(_SC_NPROCESSORS_ONLN) < 1) exit(6);
    if (__builtin_cpu_supports("sse2") == 0) exit(7);
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) exit(8);
    solve();
}

// attack: honest_priority
// tries: to be nice, to lock its memory, to advise the kernel
// expect: AC
HONEST(honest_priority) {
    if (nice(1) == -100) exit(5);
    mlockall(MCL_CURRENT);
    void *area = mmap(nullptr, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(area, 4 << 20, MADV_HUGEPAGE);
    madvise(area, 4 << 20, MADV_DONTNEED);
    solve();
}

// attack: honest_signals
// tries: handlers for crashes, a handled abort, a raised signal
// expect: AC
HONEST(honest_signals) {
    stack_t stack{};
    static char space[65536];
    stack.ss_sp = space;
    stack.ss_size = sizeof space;
    sigaltstack(&stack, nullptr);
    signal(SIGSEGV, [](int) { _exit(6); });
    signal(SIGUSR1, [](int) {});
    raise(SIGUSR1);
    solve();
}

// attack: honest_fork
// tries: to divide its work by fork, or to do it alone if that fails
// expect: AC
HONEST(honest_fork) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, nullptr, 0);
    solve();
}

// attack: honest_quick_exit
// tries: to end by quick_exit, with exit functions
// expect: AC
HONEST(honest_quick_exit) {
    atexit([] { fflush(stdout); });
    at_quick_exit([] { fflush(stdout); });
    long a = 0, b = 0;
    if (scanf("%ld %ld", &a, &b) != 2) exit(4);
    printf("%ld\n", a + b);
    std::quick_exit(0);
}

// attack: honest_pipe
// tries: a pipe between its own threads
// expect: AC
HONEST(honest_pipe) {
    int ends[2];
    if (pipe(ends) != 0) exit(5);
    std::thread writer([&] {
        if (write(ends[1], "x", 1) != 1) exit(6);
    });
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1 || byte != 'x') exit(7);
    writer.join();
    solve();
}

// attack: honest_environment
// tries: its environment, its name, its directory, its user
// expect: AC
HONEST(honest_environment) {
    if (getenv("ONLINE_JUDGE") != nullptr) exit(5);
    char name[16] = "";
    prctl(PR_GET_NAME, name, 0, 0, 0);
    char directory[4096];
    if (getcwd(directory, sizeof directory) == nullptr) exit(6);
    if (getuid() != geteuid() || isatty(0) != 0) exit(7);
    solve();
}

// attack: honest_temporary_file
// tries: a temporary file, or to go on without it
// expect: AC
HONEST(honest_temporary_file) {
    if (FILE *file = tmpfile()) fclose(file);
    char name[] = "temporaryXXXXXX";
    const int file = mkstemp(name);
    if (file >= 0) close(file);
    solve();
}

// attack: honest_last_error
// tries: to end with a number of errors in errno, all of its descriptors open
// expect: AC
HONEST(honest_last_error) {
    for (int i = 0; i < 32; ++i) {
        if (dup(0) < 0) break;
    }
    errno = ENOMEM;
    perror("debugging");
    solve();
}
