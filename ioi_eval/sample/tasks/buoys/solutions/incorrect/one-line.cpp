// All answers are right but stand in one line: white-diff forgives blanks, not missing lines.

#include <algorithm>
#include <cstdio>
#include <vector>

int main() {
    int n, q;
    if (std::scanf("%d %d", &n, &q) != 2) return 1;
    std::vector<long long> start(n), period(n), flashes(n);
    for (int i = 0; i < n; ++i)
        if (std::scanf("%lld %lld %lld", &start[i], &period[i], &flashes[i]) != 3) return 1;

    const auto until = [&](int i, long long second) {
        return second < start[i] ? 0 : std::min(flashes[i], (second - start[i]) / period[i] + 1);
    };
    const auto total = [&](long long second) {
        long long sum = 0;
        for (int i = 0; i < n; ++i) sum += until(i, second);
        return sum;
    };

    while (q--) {
        long long k;
        if (std::scanf("%lld", &k) != 1) return 1;
        long long low = 0, high = 2'000'000'000'000'000'000;
        if (total(high) < k) {
            std::printf("never ");
            continue;
        }
        while (low < high) {
            const long long middle = (low + high) / 2;
            total(middle) >= k ? high = middle : low = middle + 1;
        }
        k -= total(low - 1);
        for (int i = 0; i < n && k > 0; ++i)
            if ((k -= until(i, low) - until(i, low - 1)) == 0) std::printf("%lld %d ", low, i + 1);
    }
    std::puts("");
    return 0;
}
