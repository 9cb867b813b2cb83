// Manager of a task for two processes that take turns: it sends the first a number, and the second must answer it. In
// each turn it waits for a line of the first, then for one of the second, and forwards nothing. So the second process
// learns only how long it waited. Protocol: cms.

#include <csignal>
#include <cstdio>
#include <cstring>

constexpr int kTurns = 4;

int main(int argc, char **argv) {
    if (argc < 5) return 1;
    char name[64] = "";
    unsigned secret = 0;
    if (std::scanf("%63s %u", name, &secret) != 2) return 1;
    signal(SIGPIPE, SIG_IGN);
    FILE *from[2], *to[2];
    for (int i = 0; i < 2; ++i) {
        to[i] = std::fopen(argv[2 * i + 2], "w");
        from[i] = std::fopen(argv[2 * i + 1], "r");
        if (from[i] == nullptr || to[i] == nullptr) return 1;
    }
    for (int i = 0; i < 2; ++i) {
        std::fprintf(to[i], "%s %d %u\n", name, i, i == 0 ? secret : 0);
        std::fflush(to[i]);
    }
    char words[512] = "";
    for (int turn = 0; turn < kTurns && std::strncmp(name, "honest", 6) != 0; ++turn) {
        for (int i = 0; i < 2; ++i) {
            std::fprintf(to[i], "turn\n");
            std::fflush(to[i]);
            if (std::fgets(words, sizeof words, from[i]) == nullptr) break;
        }
    }
    if (std::fgets(words, sizeof words, from[1]) == nullptr) words[0] = '\0';
    unsigned said = 0;
    const bool right = std::sscanf(words, "%u", &said) == 1 && said == secret;
    for (int i = 0; i < 2; ++i) std::fclose(to[i]);
    char rest[512];
    while (std::fgets(rest, sizeof rest, from[0]) != nullptr) {
    }
    words[std::strcspn(words, "\n")] = '\0';
    std::printf("%d\n", right ? 1 : 0);
    std::fprintf(stderr, "%s\n", words);
    return 0;
}
