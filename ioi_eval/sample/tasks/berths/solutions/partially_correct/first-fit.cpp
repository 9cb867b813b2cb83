// Ships in the order in which they are given, each into the first berth that is free for all its stay.
// Always a valid plan, not always the smallest: without sorting, early ships cut berths into useless gaps.

#include "berths.h"

std::vector<int> assign_berths(std::vector<int> arrive, std::vector<int> depart) {
    const int n = arrive.size();
    std::vector<std::vector<int>> ships_in;
    std::vector<int> berth(n);
    for (int i = 0; i < n; ++i) {
        std::size_t b = 0;
        for (; b < ships_in.size(); ++b) {
            bool fits = true;
            for (int j : ships_in[b]) fits = fits && (depart[j] < arrive[i] || depart[i] < arrive[j]);
            if (fits) break;
        }
        if (b == ships_in.size()) ships_in.emplace_back();
        ships_in[b].push_back(i);
        berth[i] = b;
    }
    return berth;
}
