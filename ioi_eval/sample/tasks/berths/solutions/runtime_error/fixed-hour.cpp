// Keeps one hour of seconds and looks up others too: `at` throws, nobody catches, the program aborts.

#include "berths.h"

#include <array>

std::vector<int> assign_berths(std::vector<int> arrive, std::vector<int> depart) {
    const int n = arrive.size();
    std::vector<std::array<bool, 3600>> taken;
    std::vector<std::vector<int>> arriving(3600);
    for (int i = 0; i < n; ++i) arriving.at(arrive[i]).push_back(i);

    std::vector<int> berth(n);
    for (int second = 0; second < 3600; ++second)
        for (int ship : arriving[second]) {
            std::size_t b = 0;
            while (b < taken.size() && taken[b].at(second)) ++b;
            if (b == taken.size()) taken.push_back({});
            for (int s = second; s <= depart[ship]; ++s) taken[b].at(s) = true;
            berth[ship] = b;
        }
    return berth;
}
