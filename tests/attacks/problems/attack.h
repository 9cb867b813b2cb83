// The header of the problem: every attacking program includes it, as submissions include a task's header.
//
// A program has several attacks. The first word of stdin is the name of the attack to try, so one compilation is enough
// for all. An attack that succeeded calls `got`; one that was prevented calls `held`; a stolen answer is simply printed.
// With the word `honest`, the program adds two numbers: each attack is followed by such a test.
// Attacks that need C++ strings include text.h too: the compiler takes six times as long for it.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace attack {

using Body = void (*)();

inline const char *fifo_in = "", *fifo_out = "";  // paths of the FIFOs, if a process gets them by name

struct Entry {
    const char *name;
    Body body;
    Entry *next;
    inline static Entry *first = nullptr;
    Entry(const char *its_name, Body its_body) : name(its_name), body(its_body), next(first) { first = this; }
};

[[noreturn]] inline void say(const char *word, const char *format, va_list arguments) {
    char text[800];
    vsnprintf(text, sizeof text, format, arguments);
    dprintf(1, "%s %s\n", word, text);
    _exit(0);
}

// The attack did something that no program may do.
[[noreturn]] inline void got(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("GOT", format, arguments);
}

// The attack was prevented.
[[noreturn]] inline void held(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("held", format, arguments);
}

// Like `held`, with the error of the last system call.
[[noreturn]] inline void held() { held("%s", strerror(errno)); }

// `got` if the call succeeded, else `held`.
[[noreturn]] inline void tell(bool succeeded, const char *what) {
    if (succeeded) got("%s", what);
    held("%s: %s", what, strerror(errno));
}

// Seconds of wall clock.
inline double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline double cpu() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

inline void spin(double seconds) {
    for (const double end = cpu() + seconds; cpu() < end;) {
    }
}

// Waits with a busy loop: a process of a submission with several processes cannot sleep.
inline void work_until_later(double seconds) {
    for (const double end = now() + seconds; now() < end;) {
    }
}

// Starts a thread with `clone`, not with `pthread_create`. Returns the thread's id, or -1.
inline long bare_thread(int (*body)(void *), void *argument, size_t stack_bytes = 65536) {
    void *stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return -1;
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    return clone(body, static_cast<char *>(stack) + stack_bytes, flags, argument);
}

}  // namespace attack

using attack::got;
using attack::held;
using attack::tell;

// NOLINTNEXTLINE: a function with its registration
#define ATTACK(name)                                             \
    static void name();                                          \
    static const attack::Entry entry_of_##name{#name, name};     \
    static void name()

#ifndef OWN_MAIN
int main(int argc, char **argv) {
    if (argc >= 3) {  // the task gives its processes the names of their FIFOs
        dup2(open(argv[1], O_RDONLY), 0);
        dup2(open(argv[2], O_WRONLY), 1);
        for (int fd = 3; fd < 8; ++fd) close(fd);
        attack::fifo_in = argv[1];
        attack::fifo_out = argv[2];
    }
    char word[64] = "";
    // Byte by byte: an attack may read the rest of the input itself.
    for (size_t length = 0; length + 1 < sizeof word && read(0, word + length, 1) == 1; ++length) {
        if (word[length] == ' ' || word[length] == '\n') {
            word[length] = '\0';
            break;
        }
    }
    if (strcmp(word, "honest") == 0) {
        long a = 0, b = 0;
        if (scanf("%ld %ld", &a, &b) != 2) return 3;
        printf("%ld\n", a + b);
        return 0;
    }
    for (const attack::Entry *entry = attack::Entry::first; entry != nullptr; entry = entry->next) {
        if (strcmp(entry->name, word) != 0) continue;
        errno = 0;
        entry->body();
        return 0;
    }
    return 2;
}
#endif
