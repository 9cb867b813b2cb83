// Counts the flashes of every second of the night in a table with a byte a second: 100 MB and more where
// the night is 150,000,000 seconds long.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

int main() {
    int n, q;
    if (std::scanf("%d %d", &n, &q) != 2) return 1;
    std::vector<long long> start(n), period(n), flashes(n), asked(q);
    for (int i = 0; i < n; ++i)
        if (std::scanf("%lld %lld %lld", &start[i], &period[i], &flashes[i]) != 3) return 1;
    for (long long& k : asked)
        if (std::scanf("%lld", &k) != 1) return 1;

    // Nobody asks about anything later than the last flash, or than the time that one buoy alone would need
    // for so many flashes.
    const long long most = *std::max_element(asked.begin(), asked.end());
    long long night = 0;
    for (int i = 0; i < n; ++i) night = std::max(night, start[i] + period[i] * (flashes[i] - 1));
    for (int i = 0; i < n; ++i)
        if (flashes[i] >= most) night = std::min(night, start[i] + period[i] * (most - 1));

    std::vector<std::uint8_t> table(night + 1, 0);
    for (int i = 0; i < n; ++i) {
        long long second = start[i];
        for (long long f = 0; f < flashes[i] && second <= night; ++f, second += period[i]) ++table[second];
    }

    std::map<long long, std::pair<long long, int>> found;
    for (long long k : asked) found[k] = {-1, -1};
    long long before = 0, second = 0;
    for (auto& [k, flash] : found) {
        while (second <= night && before + table[second] < k) before += table[second++];
        if (second > night) break;
        long long number = before;
        for (int i = 0; i < n && number < k; ++i) {
            const long long since = second - start[i];
            number += since >= 0 && since % period[i] == 0 && since / period[i] < flashes[i];
            if (number == k) flash = {second, i};
        }
    }

    for (long long k : asked) {
        const auto [when, buoy] = found[k];
        if (buoy < 0)
            std::puts("never");
        else
            std::printf("%lld %d\n", when, buoy + 1);
    }
    return 0;
}
