// Simulates one flash after the other. The last subtask has up to 10^11 of them.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

int main() {
    int n, q;
    if (std::scanf("%d %d", &n, &q) != 2) return 1;
    std::vector<long long> period(n), left(n);
    using Flash = std::pair<long long, int>;  // second, buoy
    std::priority_queue<Flash, std::vector<Flash>, std::greater<Flash>> next;
    for (int i = 0; i < n; ++i) {
        long long start;
        if (std::scanf("%lld %lld %lld", &start, &period[i], &left[i]) != 3) return 1;
        next.emplace(start, i);
    }
    std::vector<long long> asked(q);
    for (long long& k : asked)
        if (std::scanf("%lld", &k) != 1) return 1;

    std::map<long long, Flash> wanted;
    for (long long k : asked) wanted[k] = {-1, -1};
    const long long last = *std::max_element(asked.begin(), asked.end());

    for (long long number = 1; number <= last && !next.empty(); ++number) {
        const auto [second, buoy] = next.top();
        next.pop();
        if (--left[buoy] > 0) next.emplace(second + period[buoy], buoy);
        if (auto it = wanted.find(number); it != wanted.end()) it->second = {second, buoy};
    }

    for (long long k : asked) {
        const auto [second, buoy] = wanted[k];
        if (buoy < 0)
            std::puts("never");
        else
            std::printf("%lld %d\n", second, buoy + 1);
    }
    return 0;
}
