// The same answers with blanks in odd places and blank lines at the end. White-diff compares words line by
// line, so all of this is right.

#include <algorithm>
#include <iostream>
#include <vector>

struct Buoy {
    long long start, period, flashes;

    long long until(long long second) const {
        return second < start ? 0 : std::min(flashes, (second - start) / period + 1);
    }
};

int main() {
    int n, q;
    std::cin >> n >> q;
    std::vector<Buoy> buoys(n);
    for (auto& b : buoys) std::cin >> b.start >> b.period >> b.flashes;

    const auto total = [&](long long second) {
        long long sum = 0;
        for (const auto& b : buoys) sum += b.until(second);
        return sum;
    };

    for (; q > 0; --q) {
        long long k, second = -1;
        std::cin >> k;
        // Leaps that halve: `second` stays the last one with fewer than k flashes until it.
        for (long long leap = 1LL << 60; leap > 0; leap /= 2)
            if (total(second + leap) < k) second += leap;
        if (total(second + 1) < k) {
            std::cout << "\tnever \n";
            continue;
        }
        k -= total(second++);
        int buoy = -1;
        while (k > 0) {
            ++buoy;
            k -= buoys[buoy].until(second) - buoys[buoy].until(second - 1);
        }
        std::cout << "  " << second << "\t  " << buoy + 1 << "  \r\n";
    }
    std::cout << "\n \n\n";
}
