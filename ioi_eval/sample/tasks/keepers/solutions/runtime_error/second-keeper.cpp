// Keeper 1 follows a null pointer if there are more than 8 heights; keeper 0 has already signalled by then.

#include "keepers.h"

#include <algorithm>

int median(int keeper, std::vector<int> heights) {
    int k = heights.size(), dropped = 0;
    while (k > 1) {
        const int half = k / 2, mine = heights[dropped + half - 1], other = exchange(mine);
        if (keeper == 1 && heights.size() > 8) {
            int* volatile lookup = nullptr;
            dropped = *lookup;
        }
        if (mine < other) dropped += half;
        k -= half;
    }
    const int mine = heights[dropped];
    return std::min(mine, exchange(mine));
}
