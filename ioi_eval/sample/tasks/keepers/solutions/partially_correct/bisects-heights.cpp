// Bisects for the median's height instead of its rank: each keeper signals how many of his heights are at
// most the middle. Always 30 exchanges, however few heights there are, so with few it rather tells them all.

#include "keepers.h"

#include <algorithm>

int median(int, std::vector<int> heights) {
    const int n = heights.size();
    if (n <= 8) {
        std::vector<int> all = heights;
        for (int height : heights) all.push_back(exchange(height));
        std::nth_element(all.begin(), all.begin() + n - 1, all.end());
        return all[n - 1];
    }
    int low = 0, high = (1 << 30) - 1;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const int mine = std::upper_bound(heights.begin(), heights.end(), middle) - heights.begin();
        if (mine + exchange(mine) >= n)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
