// Manager of "Keepers":  manager <from 0> <to 0> <from 1> <to 1>  < input
//
// Sends each keeper his heights, and each one's numbers to the other. In each round it reads one message from
// each of them, and only then answers. The score goes to the first line of stdout, the message to stderr. It
// exits with 0 whatever the programs do. If one of them crashes, the manager reads the end of a file and gives 0;
// the judge sees the crash, and its verdict is RE.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int keepers = 2;
constexpr int largest = 1'000'000'000;

std::FILE *to_keeper[keepers], *from_keeper[keepers];

[[noreturn]] void broken(const char* why) {
    std::fprintf(stderr, "manager: %s\n", why);
    std::exit(1);
}

void say(int keeper, int number) {
    std::fprintf(to_keeper[keeper], "%d\n", number);
    std::fflush(to_keeper[keeper]);
}

[[noreturn]] void verdict(double score, const std::string& words) {
    std::printf("%.4f\n", score);
    std::fprintf(stderr, "%s\n", words.c_str());
    std::exit(0);
}

[[noreturn]] void wrong(const std::string& why) {
    for (int i = 0; i < keepers; ++i) say(i, -1);  // a stub that waits for a number ends
    verdict(0, "Output isn't correct: " + why);
}

struct Message {
    bool is_answer;
    int number;
};

Message hear(int keeper) {
    const std::string who = "keeper " + std::to_string(keeper);
    char kind[4], number[16];
    if (std::fscanf(from_keeper[keeper], "%3s %15s", kind, number) != 2) wrong(who + " ended before he gave an answer");

    char* end;
    const long value = std::strtol(number, &end, 10);
    if ((std::string(kind) != "x" && std::string(kind) != "m") || *end != '\0')
        wrong("Protocol Violation: found text that the stub did not write");
    if (kind[0] == 'x' && (value < 0 || value > largest)) wrong(who + " signals a number that is out of range");
    return {kind[0] == 'm', static_cast<int>(value)};
}

int ceil_log2(int n) {
    int bits = 0;
    while ((1 << bits) < n) ++bits;
    return bits;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 1 + 2 * keepers) broken("usage: manager <from 0> <to 0> <from 1> <to 1>");
    std::signal(SIGPIPE, SIG_IGN);

    int n;
    if (std::scanf("%d", &n) != 1) broken("cannot read the input");
    std::vector<int> heights[keepers], all;
    for (auto& seen : heights) {
        seen.resize(n);
        for (int& height : seen)
            if (std::scanf("%d", &height) != 1) broken("the input ends early");
        all.insert(all.end(), seen.begin(), seen.end());
    }
    std::nth_element(all.begin(), all.begin() + n - 1, all.end());
    const int median = all[n - 1];

    // Opening a FIFO waits for the other side: keeper by keeper, and the stub's input first, as the stub does.
    for (int i = 0; i < keepers; ++i) {
        to_keeper[i] = std::fopen(argv[2 + 2 * i], "w");
        from_keeper[i] = std::fopen(argv[1 + 2 * i], "r");
        if (!to_keeper[i] || !from_keeper[i]) broken("cannot open the FIFOs");
    }
    for (int i = 0; i < keepers; ++i) {
        std::fprintf(to_keeper[i], "%d", n);
        for (int height : heights[i]) std::fprintf(to_keeper[i], " %d", height);
        std::fprintf(to_keeper[i], "\n");
        std::fflush(to_keeper[i]);
    }

    const int full_marks = ceil_log2(n) + 1, most = std::max(3 * full_marks, n);
    int exchanges = 0;
    while (true) {
        const Message first = hear(0), second = hear(1);
        if (first.is_answer != second.is_answer) wrong("one keeper waits for an exchange, the other one has gone to bed");
        if (first.is_answer) {
            if (first.number != median) wrong("keeper 0 does not return the median");
            if (second.number != median) wrong("keeper 1 does not return the median");
            break;
        }
        if (++exchanges > most) wrong("more than " + std::to_string(most) + " exchanges");
        say(0, second.number);
        say(1, first.number);
    }

    const std::string words = std::to_string(exchanges) + " exchanges, " + std::to_string(full_marks) + " for full marks";
    if (exchanges <= full_marks) verdict(1, "Output is correct: " + words);
    verdict(exchanges <= 3 * full_marks ? 0.6 : 0.25, "Output is partially correct: " + words);
}
