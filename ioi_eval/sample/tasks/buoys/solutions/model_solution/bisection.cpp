// How many flashes there are up to second T is a sum of n terms. Bisect for the first T with at least k of
// them, then walk through the flashes of that one second.

#include <algorithm>
#include <cstdio>
#include <vector>

using Count = long long;

struct Buoy {
    Count start, period, flashes;

    Count until(Count second) const {
        return second < start ? 0 : std::min(flashes, (second - start) / period + 1);
    }
};

int main() {
    int n, q;
    if (std::scanf("%d %d", &n, &q) != 2) return 1;
    std::vector<Buoy> buoys(n);
    for (Buoy& b : buoys)
        if (std::scanf("%lld %lld %lld", &b.start, &b.period, &b.flashes) != 3) return 1;

    const auto total = [&](Count second) {
        Count sum = 0;
        for (const Buoy& b : buoys) sum += b.until(second);
        return sum;
    };

    const Count dawn = 2'000'000'000'000'000'000;  // later than the last flash: 10^9 + (10^9 - 1) * 10^9
    while (q--) {
        Count k;
        if (std::scanf("%lld", &k) != 1) return 1;
        if (total(dawn) < k) {
            std::puts("never");
            continue;
        }
        Count low = 0, high = dawn;  // total(high) >= k
        while (low < high) {
            const Count middle = (low + high) / 2;
            if (total(middle) >= k)
                high = middle;
            else
                low = middle + 1;
        }
        k -= total(low - 1);
        for (int i = 0; i < n; ++i) {
            k -= buoys[i].until(low) - buoys[i].until(low - 1);
            if (k == 0) {
                std::printf("%lld %d\n", low, i + 1);
                break;
            }
        }
    }
    return 0;
}
