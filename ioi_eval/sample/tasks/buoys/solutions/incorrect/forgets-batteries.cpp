// Right as long as no battery is empty.

#include <cstdio>
#include <vector>

int main() {
    int n, q;
    if (std::scanf("%d %d", &n, &q) != 2) return 1;
    std::vector<long long> start(n), period(n), flashes(n);
    for (int i = 0; i < n; ++i)
        if (std::scanf("%lld %lld %lld", &start[i], &period[i], &flashes[i]) != 3) return 1;

    const auto until = [&](int i, long long second) {
        return second < start[i] ? 0 : (second - start[i]) / period[i] + 1;  // flashes[i] is never looked at
    };
    const auto total = [&](long long second) {
        long long sum = 0;
        for (int i = 0; i < n; ++i) sum += until(i, second);
        return sum;
    };

    while (q--) {
        long long k;
        if (std::scanf("%lld", &k) != 1) return 1;
        long long low = 0, high = 10'000'000'000'000'000;
        while (low < high) {
            const long long middle = (low + high) / 2;
            total(middle) >= k ? high = middle : low = middle + 1;
        }
        k -= total(low - 1);
        for (int i = 0; i < n && k > 0; ++i)
            if ((k -= until(i, low) - until(i, low - 1)) == 0) std::printf("%lld %d\n", low, i + 1);
    }
    return 0;
}
