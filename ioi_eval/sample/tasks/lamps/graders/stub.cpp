// Linked with the submission: asks the manager its questions, through stdin and stdout.
//
//     manager          stub
//     n k         →
//                 ←    ? first last
//     count       →                         or -1: the stub ends
//                 ←    ! size a[0] a[1] …

#include "lamps.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

int measure(int first, int last) {
    std::printf("? %d %d\n", first, last);
    std::fflush(stdout);
    int count;
    if (std::scanf("%d", &count) != 1 || count < 0) std::exit(0);
    return count;
}

int main() {
    std::signal(SIGPIPE, SIG_IGN);  // to write to a manager that has ended is no crash

    int n, k;
    if (std::scanf("%d %d", &n, &k) != 2) return 0;

    const std::vector<int> dark = find_dark(n, k);

    std::printf("! %zu", dark.size());
    for (int lamp : dark) std::printf(" %d", lamp);
    std::printf("\n");
    std::fflush(stdout);
    return 0;
}
