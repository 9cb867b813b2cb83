// Has no answer for a flash that never happens: exit code 3.

#include <algorithm>
#include <iostream>
#include <vector>

int main() {
    int n, q;
    std::cin >> n >> q;
    std::vector<long long> start(n), period(n), flashes(n);
    for (int i = 0; i < n; ++i) std::cin >> start[i] >> period[i] >> flashes[i];

    const auto until = [&](int i, long long second) {
        return second < start[i] ? 0 : std::min(flashes[i], (second - start[i]) / period[i] + 1);
    };
    const auto total = [&](long long second) {
        long long sum = 0;
        for (int i = 0; i < n; ++i) sum += until(i, second);
        return sum;
    };

    while (q--) {
        long long k, low = 0, high = 2'000'000'000'000'000'000;
        std::cin >> k;
        if (total(high) < k) return 3;
        while (low < high) {
            const long long middle = (low + high) / 2;
            total(middle) >= k ? high = middle : low = middle + 1;
        }
        k -= total(low - 1);
        for (int i = 0; i < n && k > 0; ++i)
            if ((k -= until(i, low) - until(i, low - 1)) == 0) std::cout << low << ' ' << i + 1 << '\n';
    }
}
