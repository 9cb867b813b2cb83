// Two processes of one submission, and their manager (-DMANAGER). One process sends the other numbers that both know: by the
// time for which it computes before its message (`work`: a turn is a symbol of 4 bits, a unit is in microseconds), or by the
// load that it puts on the shared memory (`memory`: a slot of that many microseconds is a bit). Prints "right of".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

constexpr int kTurns = 64;

static long now_us() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

#ifdef MANAGER
int main(int, char **argv) {
    char mode[16] = "";
    long unit = 0;
    if (scanf("%15s %ld", mode, &unit) != 2) return 1;
    FILE *from[2], *to[2];
    for (int i = 0; i < 2; ++i) {
        to[i] = fopen(argv[2 * i + 2], "w");
        from[i] = fopen(argv[2 * i + 1], "r");
    }
    const long begin = now_us() + 100000;
    for (int i = 0; i < 2; ++i) fprintf(to[i], "%s %ld %ld\n", mode, unit, begin), fflush(to[i]);
    char words[256] = "";
    for (int turn = 0; turn < 2 * kTurns && mode[0] == 'w'; ++turn) {
        fputs("turn\n", to[turn % 2]), fflush(to[turn % 2]);
        if (fgets(words, sizeof words, from[turn % 2]) == nullptr) return 1;
    }
    if (fgets(words, sizeof words, from[1]) == nullptr) return 1;
    fputs(words, stderr);
    puts("1");
}
#else
static void work(long us) {
    for (const long end = now_us() + us; now_us() < end;) {
    }
}

// Counts the correct symbols of the second half. If `unit` > 0, a symbol is the number of units above the least time of the first
// half; otherwise it is the one whose mean in the first half is on the same side of the middle.
static void tell(const std::vector<unsigned> &symbols, const std::vector<long> &took, long unit) {
    const size_t half = symbols.size() / 2;
    double sum[2] = {}, count[2] = {};
    long least = took[0];
    for (size_t i = 0; i < half; ++i) {
        least = std::min(least, took[i]);
        sum[symbols[i] % 2] += static_cast<double>(took[i]), count[symbols[i] % 2] += 1;
    }
    const double middle = (sum[0] / count[0] + sum[1] / count[1]) / 2;
    const bool more_is_one = sum[1] / count[1] > sum[0] / count[0];
    int right = 0;
    for (size_t i = half; i < symbols.size(); ++i) {
        const long units = unit > 0 ? (took[i] - least + unit / 2) / unit : 0;
        const bool one = (static_cast<double>(took[i]) > middle) == more_is_one;
        right += unit > 0 ? units == symbols[i] : one == (symbols[i] == 1);
    }
    printf("%d %zu\n", right, symbols.size() - half);
}

int main(int argc, char **argv) {
    const bool first = argc > 1 && argv[argc - 1][0] == '0';
    char mode[16] = "", line[64];
    long unit = 0, begin = 0;
    if (scanf("%15s %ld %ld%*c", mode, &unit, &begin) != 3) return 1;
    std::minstd_rand random(7);
    std::vector<unsigned> symbols;
    std::vector<long> took;
    if (mode[0] == 'w') {
        for (int i = 0; i < kTurns; ++i) symbols.push_back(i == 0 ? 0 : static_cast<unsigned>(random() >> 8) % 16);
        for (unsigned symbol : symbols) {
            const long waits = now_us();
            if (fgets(line, sizeof line, stdin) == nullptr) return 1;
            took.push_back(now_us() - waits);
            if (first) work(unit * symbol);
            puts("done"), fflush(stdout);
        }
        if (!first) tell(symbols, took, unit);
    } else {
        std::vector<unsigned> memory(8 << 20, 1);
        for (int i = 0; i < 2 * kTurns; ++i) symbols.push_back(static_cast<unsigned>(random() >> 8) % 2);
        unsigned at = 1;
        for (size_t i = 0; i < symbols.size(); ++i) {
            const long from = begin + unit * static_cast<long>(i), until = from + unit;
            work(from - now_us());
            long reads = 0;
            while (now_us() < until) {
                if (first && symbols[i] == 0) continue;
                for (int j = 0; j < 64; ++j) at = at * 1664525u + 1013904223u + memory[at >> 9] * (first ? 2u : 1u), memory[at >> 9] += first;
                reads += 1;
            }
            took.push_back(reads);
        }
        if (!first) tell(symbols, took, 0);
    }
    fflush(stdout);
}
#endif
