// Linked with the submission, and started twice:  stub <from the manager> <to the manager> <keeper>
//
//     manager                    stub
//     n heights[0] … [n - 1]  →
//                             ←  x number
//     the other's number      →               or -1: the stub ends
//                             ←  m median

#include "keepers.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

std::FILE *from_manager, *to_manager;

}  // namespace

int exchange(int number) {
    std::fprintf(to_manager, "x %d\n", number);
    std::fflush(to_manager);
    int other;
    if (std::fscanf(from_manager, "%d", &other) != 1 || other < 0) std::exit(0);
    return other;
}

int main(int argc, char** argv) {
    if (argc != 4) return 1;
    std::signal(SIGPIPE, SIG_IGN);  // to write to a manager that has ended is no crash

    from_manager = std::fopen(argv[1], "r");  // the manager opens this one first
    to_manager = std::fopen(argv[2], "w");
    if (!from_manager || !to_manager) return 1;
    const int keeper = std::atoi(argv[3]);

    int n;
    if (std::fscanf(from_manager, "%d", &n) != 1) return 0;
    std::vector<int> heights(n);
    for (int& height : heights)
        if (std::fscanf(from_manager, "%d", &height) != 1) return 0;

    const int answer = median(keeper, heights);

    std::fprintf(to_manager, "m %d\n", answer);
    std::fflush(to_manager);
    return 0;
}
