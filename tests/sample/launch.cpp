// launch <report> <CPU seconds> <most bytes of output> <program> [<argument>…]
//
// Runs a program under limits and writes to the report how it ended: its wait status and its peak resident
// memory in KiB. A process inherits the peak of whoever forks it, so it must not be Python that does.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    const pid_t child = fork();
    if (child == 0) {
        const rlim_t seconds = std::strtoul(argv[2], nullptr, 10), bytes = std::strtoul(argv[3], nullptr, 10);
        const rlimit cpu{seconds, seconds + 1}, output{bytes, bytes}, core{0, 0};
        setrlimit(RLIMIT_CPU, &cpu);
        setrlimit(RLIMIT_FSIZE, &output);
        setrlimit(RLIMIT_CORE, &core);
        execv(argv[4], argv + 4);
        _exit(127);
    }
    int status;
    rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) return 2;
    std::FILE* report = std::fopen(argv[1], "w");
    if (!report) return 2;
    std::fprintf(report, "%d %ld\n", status, usage.ru_maxrss);
    return std::fclose(report) == 0 ? 0 : 2;
}
