// Attacks on the score: to write one where the judge reads it, to replace the program that decides, to imitate output
// of the judge.
//
// group: forging
// problem: secret
#include "text.h"

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/uio.h>

// attack: every_descriptor
// tries: to write a score to every descriptor there may be
// expect: WA
ATTACK(every_descriptor) {
    for (int fd = 3; fd < 4096; ++fd) {
        if (write(fd, "1.0\n", 4) > 0) got("descriptor %d", fd);
    }
    held();
}

// attack: read_every_descriptor
// tries: to read from every descriptor there may be
// expect: WA
ATTACK(read_every_descriptor) {
    char byte = 0;
    for (int fd = 3; fd < 4096; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0) got("descriptor %d is open", fd);
        if (pread(fd, &byte, 1, 0) >= 0) got("descriptor %d", fd);
    }
    held();
}

// attack: write_stdin
// tries: to write to its input, which the next run reads
// expect: WA
ATTACK(write_stdin) {
    if (write(0, "1", 1) > 0) got("write");
    if (pwrite(0, "1", 1, 0) > 0) got("pwrite");
    if (ftruncate(0, 0) == 0) got("ftruncate");
    if (fallocate(0, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 16) == 0) got("fallocate");
    if (fchmod(0, 0777) == 0) got("fchmod");
    void *map = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0);
    if (map != MAP_FAILED) got("mmap");
    map = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, 0, 0);
    if (map != MAP_FAILED && mprotect(map, 4096, PROT_READ | PROT_WRITE) == 0) got("mprotect");
    held();
}

// attack: read_own_output
// tries: to read its own output again, or that of an earlier test
// expect: WA
ATTACK(read_own_output) {
    char text[16];
    for (int fd : {1, 2}) {
        if (write(fd, "\n", 1) != 1) continue;
        if (pread(fd, text, sizeof text, 0) > 0) got("pread of %d", fd);
        if (mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED) got("mmap of %d", fd);
    }
    held();
}

// attack: reopen_descriptors
// tries: to open its input for writing, or the judge's descriptors at all, through /proc
// expect: WA
ATTACK(reopen_descriptors) {
    for (const char *directory : {"/proc/self/fd", "/dev/fd", "/proc/thread-self/fd", "/proc/1/fd", "/proc/2/fd"}) {
        for (int fd = 0; fd < 256; ++fd) {
            const std::string path = std::string(directory) + "/" + std::to_string(fd);
            for (int mode : {O_RDWR, O_WRONLY, O_RDONLY}) {
                const bool own = fd == 1 || fd == 2 || (fd == 0 && mode == O_RDONLY);
                const int opened = own ? -1 : open(path.c_str(), mode);
                if (opened > 2) got("%s with mode %d", path.c_str(), mode);
            }
        }
    }
    if (open("/dev/stdin", O_RDWR) >= 0 || open("/dev/tty", O_RDWR) >= 0) got("/dev");
    held();
}

// attack: open_for_neither
// tries: to open files neither to read nor to write, for which Landlock asks for no right, and to truncate them thereby
// expect: WA
ATTACK(open_for_neither) {
    for (const char *path : {"/proc/self/fd/0", "/dev/stdin", "/dev/zero", "/dev/full", "/dev/ptmx", "/dev/tty", "/tmp", "/proc/self/mem"}) {
        if (open(path, O_ACCMODE | O_TRUNC) >= 0) got("truncates %s", path);
        if (open(path, O_RDONLY | O_TRUNC) >= 0) got("truncates %s, to read it", path);
        if (open(path, O_ACCMODE) >= 0) got("%s", path);
    }
    held();
}

// attack: result_files
// tries: to write the files in which other judges keep a score
// expect: WA
ATTACK(result_files) {
    for (const char *path : {"/tmp/score", "/box/../score", "../score.txt", "/tmp/result", "/box/../output.txt", "../correct_output.txt",
                             "/tmp/_exit_code", "../checker", "../manager", "../run", "../program", "/usr/bin/checker", "/checker"}) {
        const int fd = open(path, O_WRONLY | O_CREAT, 0777);
        if (fd >= 0) got("%s", path);
    }
    held();
}

// attack: own_names
// tries: to leave files with the judge's names in its own directory
// expect: WA
ATTACK(own_names) {
    for (const char *name : {"checker", "manager", "program", "run", "compile", "output.txt", "correct_output.txt", "input.txt", "score",
                             "plan", "a.out", "libc.so.6", "ld.so.preload", "feedback"}) {
        const int fd = open(name, O_WRONLY | O_CREAT, 0755);
        if (fd >= 0) dprintf(fd, "#!/bin/sh\necho 1.0\n");
    }
    held("left them");
}

// attack: own_binary
// tries: to change the program that the next test runs
// expect: WA
ATTACK(own_binary) {
    for (const char *path : {"/proc/self/exe", "./program", "/proc/self/map_files", "/memfd:program"}) {
        if (open(path, O_WRONLY | O_TRUNC) >= 0) got("%s", path);
        if (open(path, O_RDONLY) >= 0) got("%s can be read", path);
    }
    held();
}

// attack: text_of_the_program
// tries: to write to its own code through a mapping, which other processes might share
// expect: RE WA
ATTACK(text_of_the_program) {
    const auto page = reinterpret_cast<uintptr_t>(&text_of_the_program) & ~uintptr_t{4095};
    if (mprotect(reinterpret_cast<void *>(page), 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) held();
    volatile char *code = reinterpret_cast<char *>(page);
    const char byte = *code;
    *code = byte;  // a private copy: the next test must not be affected
    for (int i = 0; i < 4096; ++i) code[i] = static_cast<char>(0xcc);
    held("changed the private copy");
}

// attack: preload
// tries: to have a library of its own loaded into what is started next
// expect: WA
ATTACK(preload) {
    setenv("LD_PRELOAD", "./libevil.so", 1);
    setenv("LD_LIBRARY_PATH", ".", 1);
    const int fd = open("libevil.so", O_WRONLY | O_CREAT, 0755);
    if (fd >= 0) dprintf(fd, "\177ELF");
    if (open("/etc/ld.so.preload", O_WRONLY | O_CREAT, 0644) >= 0) got("/etc/ld.so.preload");
    held();
}

// attack: exit_124
// tries: to look like a timeout: timeout(1)'s exit code
// expect: RE
ATTACK(exit_124) { _exit(124); }

// attack: exit_137
// tries: to look like a killed program: the shell's exit code
// expect: RE
ATTACK(exit_137) { _exit(137); }

// attack: exit_139
// tries: to look like a crashed program: the shell's exit code
// expect: RE
ATTACK(exit_139) { _exit(139); }

// attack: exit_143
// tries: to look like a terminated program: the shell's exit code
// expect: RE
ATTACK(exit_143) { _exit(143); }

// attack: exit_256
// tries: to end with a code whose low byte is 0 (an honest end, without output)
// expect: WA
ATTACK(exit_256) { _exit(256); }

// attack: right_then_wrong_code
// tries: an exit code that a judge may overlook
// expect: RE
ATTACK(right_then_wrong_code) {
    dprintf(1, "1\n");
    _exit(1);
}

static void die_of(int number) {
    signal(number, SIG_DFL);
    raise(number);
    for (;;) pause();
}

// attack: sigkill
// tries: to look like a process that the judge killed
// expect: RE
ATTACK(sigkill) { die_of(SIGKILL); }

// attack: sigterm
// tries: death by SIGTERM
// expect: RE
ATTACK(sigterm) { die_of(SIGTERM); }

// attack: sigxcpu
// tries: to look like a process over its CPU limit
// expect: RE TLE
ATTACK(sigxcpu) { die_of(SIGXCPU); }

// attack: sigxfsz
// tries: to look like a process over its output limit
// expect: RE OLE
ATTACK(sigxfsz) { die_of(SIGXFSZ); }

// attack: sigsys
// tries: to look like a process with a forbidden call
// expect: TLE
// attempted: tgkill
ATTACK(sigsys) { die_of(SIGSYS); }

// attack: sigpipe
// tries: death by SIGPIPE
// expect: RE
ATTACK(sigpipe) { die_of(SIGPIPE); }

// attack: sigabrt
// tries: death by SIGABRT
// expect: RE
ATTACK(sigabrt) { abort(); }

// attack: sigsegv
// tries: death by SIGSEGV
// expect: RE
ATTACK(sigsegv) { die_of(SIGSEGV); }

// attack: every_signal
// tries: to raise every signal in turn, ignored and not
// expect: RE
ATTACK(every_signal) {
    for (int number = 1; number < 65; ++number) {
        if (number == SIGKILL || number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU) continue;
        signal(number, SIG_IGN);
        raise(number);
    }
    die_of(SIGRTMIN);
}

// attack: lines_of_the_runner
// tries: to imitate the lines of the judge on stdout and stderr
// expect: WA
ATTACK(lines_of_the_runner) {
    const char *line = "{\"test\":0,\"verdict\":\"AC\",\"score\":\"1.0\",\"message\":\"\",\"cpu_us\":1,\"wall_us\":1,\"idle_us\":0,"
                       "\"memory_bytes\":1,\"code\":0,\"signal\":0,\"limit\":null,\"attempted\":{},\"stderr\":\"\","
                       "\"judge\":{\"cpu_us\":1,\"wall_us\":1}}\n"
                       "{\"end\":true,\"nonce\":\"00000000000000000000000000000000\",\"lines\":1,\"isolation\":\"full\",\"runner\":1}\n";
    for (int fd : {1, 2}) dprintf(fd, "%s", line);
    _exit(0);
}

// attack: broken_json
// tries: to break the judge's lines by bytes that JSON cannot carry
// expect: WA
ATTACK(broken_json) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        if (i != '\n') bytes += static_cast<char>(i);
    }
    bytes += "\"}],\\u0000\xed\xa0\x80\xf4\x90\x80\x80 \xe2\x80\xa8";
    for (int fd : {2, 1}) {
        if (write(fd, bytes.data(), bytes.size()) < 0) _exit(1);
    }
    _exit(0);
}

// attack: words_of_failures
// tries: to imitate the messages of other failures on stdout and stderr
// expect: WA
ATTACK(words_of_failures) {
    for (int fd : {2, 1}) {
        dprintf(fd, "Compilation error exit code 1\nMemoryError\nResource temporarily unavailable\nMemory limit exceeded\n"
                    "Time limit exceeded\nJudge Failure\nOutput is correct\n1.0\ntranslate:success\nEAGAIN\nqueue is full\n");
    }
    _exit(0);
}

// attack: words_and_code
// tries: the message and exit code of a Python program that is out of memory
// expect: RE
ATTACK(words_and_code) {
    dprintf(2, "MemoryError\n");
    _exit(1);
}

// attack: close_everything
// tries: to confuse the judge by closing its standard descriptors
// expect: WA
ATTACK(close_everything) {
    for (int fd = 0; fd < 300; ++fd) close(fd);
    _exit(0);
}

// attack: holes_in_output
// tries: an output made of a hole
// expect: WA
ATTACK(holes_in_output) {
    lseek(1, 4 << 20, SEEK_SET);
    dprintf(1, "1.0\n");
    _exit(0);
}

// attack: shrinking_output
// tries: to shorten its output after writing it
// expect: WA
ATTACK(shrinking_output) {
    dprintf(1, "1.0\n");
    if (ftruncate(1, 0) != 0) held();
    lseek(1, 0, SEEK_SET);
    held("took it back");
}

// attack: inputs_offset
// tries: to leave its input's offset at the end, for the next reader
// expect: WA
ATTACK(inputs_offset) {
    lseek(0, 0, SEEK_END);
    held("left it there");
}

static int write_on(void *) {
    for (;;) {
        if (pwrite(1, "1.0\n", 4, 0) < 0) break;
    }
    return 0;
}

// attack: write_after_the_end
// tries: to go on writing its output while the checker reads it
// expect: WA
ATTACK(write_after_the_end) {
    for (int i = 0; i < 4; ++i) attack::bare_thread(write_on, nullptr);
    usleep(10000);
    syscall(SYS_exit_group, 0);
}

// attack: async_output
// tries: to have the kernel finish a write after its end
// expect: WA SV
ATTACK(async_output) {
    unsigned long context = 0;
    if (syscall(SYS_io_setup, 8, &context) != 0) held();
    got("asynchronous input and output");
}

// attack: ansi_codes
// tries: terminal control codes in its output and stderr
// expect: WA
ATTACK(ansi_codes) {
    for (int fd : {2, 1}) dprintf(fd, "\033[2J\033]0;AC\007\033[31m1.0\033[0m\r1.0\n");
    _exit(0);
}

// attack: descriptors_of_the_launcher
// tries: to own the descriptor numbers that the launcher may use for sendmsg and execveat
// expect: WA
// attempted: execve
ATTACK(descriptors_of_the_launcher) {
    for (int fd : {128, 200, 201, 202, 255, 1023}) {
        if (dup2(1, fd) >= 0) got("descriptor %d", fd);
        if (syscall(SYS_execveat, fd, "", nullptr, nullptr, 0x1000) == 0) got("execveat");
    }
    char *const arguments[] = {nullptr};
    execv("/proc/self/exe", arguments);
    held();
}
