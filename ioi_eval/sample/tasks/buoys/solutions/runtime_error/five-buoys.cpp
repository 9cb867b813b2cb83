// Made for five buoys. The sixth makes `at` throw, and the program aborts.

#include <algorithm>
#include <array>
#include <iostream>

int main() {
    struct Buoy {
        long long next, period, left;
    };
    std::array<Buoy, 5> buoys{};
    int n, q;
    std::cin >> n >> q;
    for (int i = 0; i < n; ++i) {
        Buoy& b = buoys.at(i);
        std::cin >> b.next >> b.period >> b.left;
    }

    const auto fresh = buoys;
    while (q--) {
        long long k;
        std::cin >> k;
        buoys = fresh;
        int at = -1;
        long long second = 0;
        for (; k > 0; --k) {
            at = -1;
            for (int i = 0; i < n; ++i)
                if (buoys[i].left > 0 && (at < 0 || buoys[i].next < buoys[at].next)) at = i;
            if (at < 0) break;
            second = buoys[at].next;
            buoys[at].next += buoys[at].period;
            --buoys[at].left;
        }
        if (at < 0)
            std::cout << "never\n";
        else
            std::cout << second << ' ' << at + 1 << '\n';
    }
}
