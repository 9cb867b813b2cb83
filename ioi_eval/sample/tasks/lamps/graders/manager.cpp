// Manager of "Lamps":  manager <from the program> <to the program>  < input
//
// Answers measurements, counts them and gives the score: to the first line of stdout, with a message on stderr.
// It exits with 0 whatever the program does. If the program crashes, the manager reads the end of a file and
// gives 0; the judge sees the crash, and its verdict is RE.

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::FILE *to_program, *from_program;

[[noreturn]] void broken(const char* why) {
    std::fprintf(stderr, "manager: %s\n", why);
    std::exit(1);
}

void say(int number) {
    std::fprintf(to_program, "%d\n", number);
    std::fflush(to_program);
}

[[noreturn]] void verdict(double score, const std::string& words) {
    std::printf("%.4f\n", score);
    std::fprintf(stderr, "%s\n", words.c_str());
    std::exit(0);
}

[[noreturn]] void wrong(const std::string& why) {
    say(-1);  // a stub that waits for an answer ends
    verdict(0, "Output isn't correct: " + why);
}

// One word of what the program sends. A word that is too long is wrong.
std::string hear() {
    char word[16];
    if (std::fscanf(from_program, "%15s", word) != 1) wrong("the program ended before it gave an answer");
    return word;
}

int hear_number() {
    const std::string word = hear();
    char* end;
    const long number = std::strtol(word.c_str(), &end, 10);
    if (*end != '\0' || number < -1'000'000'000 || number > 1'000'000'000)
        wrong("Protocol Violation: a number was expected");
    return static_cast<int>(number);
}

int ceil_log2(int n) {
    int bits = 0;
    while ((1 << bits) < n) ++bits;
    return bits;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) broken("usage: manager <from the program> <to the program>");
    std::signal(SIGPIPE, SIG_IGN);

    int n, k;
    if (std::scanf("%d %d", &n, &k) != 2) broken("cannot read the input");
    std::vector<int> dark(k), before(n + 1, 0);  // before[i]: dark lamps among 0 … i - 1
    for (int& lamp : dark) {
        if (std::scanf("%d", &lamp) != 1) broken("the input ends early");
        ++before[lamp + 1];
    }
    for (int i = 0; i < n; ++i) before[i + 1] += before[i];

    // Opening a FIFO waits for the other side: first the one that the stub opens first, its input.
    to_program = std::fopen(argv[2], "w");
    from_program = std::fopen(argv[1], "r");
    if (!to_program || !from_program) broken("cannot open the FIFOs");

    std::fprintf(to_program, "%d ", n);
    say(k);

    const int full_marks = k * ceil_log2(n), most = std::max(2 * n, full_marks);
    int measured = 0;
    std::string kind;
    while ((kind = hear()) == "?") {
        const int first = hear_number(), last = hear_number();
        if (++measured > most) wrong("more than " + std::to_string(most) + " measurements");
        if (first < 0 || first > last || last >= n)
            wrong("measure(" + std::to_string(first) + ", " + std::to_string(last) + ") breaks the rules");
        say(before[last + 1] - before[first]);
    }
    if (kind != "!") wrong("Protocol Violation: found text that the stub did not write");

    if (hear_number() != k) wrong("the answer has not k lamps");
    std::vector<int> answer(k);
    for (int& lamp : answer) lamp = hear_number();
    std::sort(answer.begin(), answer.end());
    if (answer != dark) wrong("these are not the dark lamps");

    const std::string words = std::to_string(measured) + " measurements, " + std::to_string(full_marks) + " for full marks";
    if (measured <= full_marks) verdict(1, "Output is correct: " + words);
    verdict(static_cast<double>(full_marks) / measured, "Output is partially correct: " + words);
}
