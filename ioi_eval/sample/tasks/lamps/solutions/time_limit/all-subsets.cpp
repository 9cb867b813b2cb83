// Measures 0 … i for every i, and then tries all sets of k lamps until one of them fits. With one dark lamp
// there are few of them; with seven or more there is no end.

#include "lamps.h"

#include <algorithm>

std::vector<int> find_dark(int n, int k) {
    std::vector<int> until(n);
    for (int i = 0; i < n; ++i) until[i] = measure(0, i);

    std::vector<bool> is_dark(n, false);
    std::fill(is_dark.end() - k, is_dark.end(), true);
    do {
        int seen = 0;
        bool fits = true;
        for (int i = 0; i < n && fits; ++i) fits = (seen += is_dark[i]) == until[i];
        if (fits) break;
    } while (std::next_permutation(is_dark.begin(), is_dark.end()));

    std::vector<int> dark;
    for (int i = 0; i < n; ++i)
        if (is_dark[i]) dark.push_back(i);
    return dark;
}
