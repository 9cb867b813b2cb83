// Keeper 0 falls into an endless loop if there are more than 8 heights; keeper 1 waits for him.

#include "keepers.h"

#include <algorithm>

int median(int keeper, std::vector<int> heights) {
    int k = heights.size(), dropped = 0;
    volatile bool awake = true;
    while (k > 1) {
        while (keeper == 0 && heights.size() > 8 && awake) continue;
        const int half = k / 2, mine = heights[dropped + half - 1];
        if (mine < exchange(mine)) dropped += half;
        k -= half;
    }
    const int mine = heights[dropped];
    return std::min(mine, exchange(mine));
}
