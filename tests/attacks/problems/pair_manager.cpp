// Manager of a task for two processes: it sends two numbers to each, and each must answer their sum. Protocol: cms.

#include <csignal>
#include <cstdio>

int main(int argc, char **argv) {
    if (argc < 5) return 1;
    char name[64] = "";
    long number = 0;
    if (std::scanf("%63s %ld", name, &number) != 2) return 1;
    signal(SIGPIPE, SIG_IGN);
    FILE *from[2], *to[2];
    for (int i = 0; i < 2; ++i) {
        to[i] = std::fopen(argv[2 * i + 2], "w");
        from[i] = std::fopen(argv[2 * i + 1], "r");
        if (from[i] == nullptr || to[i] == nullptr) return 1;
    }
    int right = 0;
    for (int i = 0; i < 2; ++i) {
        std::fprintf(to[i], "%s %ld %ld\n", name, number + i, number + i);
        std::fflush(to[i]);
        long said = 0;
        if (std::fscanf(from[i], "%ld", &said) == 1 && said == 2 * (number + i)) ++right;
    }
    std::printf("%d\n", right == 2 ? 1 : 0);
    return 0;
}
