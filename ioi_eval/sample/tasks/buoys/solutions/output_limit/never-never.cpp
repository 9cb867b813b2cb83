// Prints all flashes for each question and, once all batteries are empty, goes on without end.

#include <cstdio>
#include <string>
#include <vector>

int main() {
    int n, q;
    if (std::scanf("%d %d", &n, &q) != 2) return 1;
    std::vector<long long> next(n), period(n), left(n);
    for (int i = 0; i < n; ++i)
        if (std::scanf("%lld %lld %lld", &next[i], &period[i], &left[i]) != 3) return 1;

    const std::string empty = std::string(4096, ' ') + "never\n";
    while (true) {
        int at = -1;
        for (int i = 0; i < n; ++i)
            if (left[i] > 0 && (at < 0 || next[i] < next[at])) at = i;
        if (at < 0) {
            std::fwrite(empty.data(), 1, empty.size(), stdout);
            continue;
        }
        if (left[at] > 1000) left[at] = 1000;
        std::printf("%lld %d\n", next[at], at + 1);
        next[at] += period[at];
        --left[at];
    }
}
