// Manager of a task for one process, with many faults that a program can trigger. A program that answers the sum of its
// two numbers gets 1. Protocol: cms.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 3) return 1;
    char line[256] = "";
    if (std::fgets(line, sizeof line, stdin) == nullptr) return 1;
    FILE *to = std::fopen(argv[2], "w"), *from = std::fopen(argv[1], "r");
    if (from == nullptr || to == nullptr) return 1;
    std::fputs(line, to);
    std::fflush(to);
    long a = 0, b = 0, said = 0;
    std::sscanf(line, "%*s %ld %ld", &a, &b);
    char word[256] = "";
    const int heard = std::fscanf(from, "%255s", word);
    if (heard == 1 && std::strcmp(word, "crash") == 0) raise(SIGSEGV);
    if (heard == 1 && std::strcmp(word, "exit") == 0) return 3;
    if (heard == 1 && std::strcmp(word, "loop") == 0) {
        for (volatile int i = 0;; i = i + 1) {
        }
    }
    if (heard == 1 && std::strcmp(word, "ask") == 0) {
        while (std::fscanf(from, "%255s", word) == 1) {
            for (volatile int i = 0; i < 100000; i = i + 1) {
            }
            std::fprintf(to, "%s\n", word);
            std::fflush(to);
        }
        std::printf("0\n");
        return 0;
    }
    if (heard == 1 && std::strcmp(word, "write") == 0) {
        for (;;) std::fprintf(to, "more\n");  // dies of SIGPIPE when the program leaves
    }
    if (heard == 1 && std::strcmp(word, "score") == 0) {
        if (std::fscanf(from, "%255s", word) == 1) std::printf("%s\n", word);
        return 0;
    }
    const bool right = heard == 1 && std::sscanf(word, "%ld", &said) == 1 && said == a + b;
    std::printf("%d\n", right ? 1 : 0);
    std::fprintf(stderr, "%s\n", heard == 1 ? word : "nothing was said");
    return 0;
}
