// Manager of a task for two processes: it sends the first a number, and the second must answer it. The manager forwards
// nothing, so the second can only guess, or cheat. Protocol: cms.
//
// Both get the name of the attack and exchange a message with the manager before they start, so both run at one time.

#include <csignal>
#include <cstdio>
#include <cstring>

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
    if (std::fgets(words, sizeof words, from[1]) == nullptr) words[0] = '\0';
    unsigned said = 0;
    const bool is_number = std::sscanf(words, "%u", &said) == 1;
    for (int i = 0; i < 2; ++i) std::fclose(to[i]);
    char rest[512];
    while (std::fgets(rest, sizeof rest, from[0]) != nullptr) {
    }
    words[std::strcspn(words, "\n")] = '\0';
    std::printf("%s\n", is_number && said == secret ? "1" : std::strncmp(words, "GOT", 3) == 0 ? "0.5" : "0");
    std::fprintf(stderr, "%s\n", words);
    return 0;
}
