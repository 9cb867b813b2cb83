// Counts flashes by recursion, one call a flash: a few hundred calls in the first subtask, up to 10^9 in the
// others. What ends it depends on the judge: the stack's limit (a crash) or, without one, the memory's.

#include <iostream>
#include <vector>

struct Buoy {
    long long start, period, flashes;
};

struct Flash {
    long long number;
};

long long count(const Buoy& b, long long second, const Flash* last) {
    const long long so_far = last ? last->number : 0;
    if (second < b.start || so_far == b.flashes) return so_far;
    const Flash here{so_far + 1};
    return count(b, second - b.period, &here);
}

int main() {
    int n, q;
    std::cin >> n >> q;
    std::vector<Buoy> buoys(n);
    for (auto& b : buoys) std::cin >> b.start >> b.period >> b.flashes;

    const auto total = [&](long long second) {
        long long sum = 0;
        for (const auto& b : buoys) sum += count(b, second, nullptr);
        return sum;
    };

    while (q--) {
        long long k, low = 0, high = 2'000'000'000'000'000'000;
        std::cin >> k;
        if (total(high) < k) {
            std::cout << "never\n";
            continue;
        }
        while (low < high) {
            const long long middle = (low + high) / 2;
            total(middle) >= k ? high = middle : low = middle + 1;
        }
        k -= total(low - 1);
        for (int i = 0; i < n && k > 0; ++i) {
            k -= count(buoys[i], low, nullptr) - count(buoys[i], low - 1, nullptr);
            if (k == 0) std::cout << low << ' ' << i + 1 << '\n';
        }
    }
}
