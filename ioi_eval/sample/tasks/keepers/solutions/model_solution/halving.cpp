// The k-th smallest of two sorted arrays. Each keeper signals the height at half of k in what is left of his
// array. The keeper with the smaller one drops all heights up to it: fewer than k heights can be smaller.
// Both see both numbers, so both know who drops and how many, and k is halved (rounded up) in each exchange.

#include "keepers.h"

#include <algorithm>

int median(int, std::vector<int> heights) {
    int k = heights.size(), dropped = 0;
    while (k > 1) {
        const int half = k / 2, mine = heights[dropped + half - 1];
        if (mine < exchange(mine)) dropped += half;
        k -= half;
    }
    const int mine = heights[dropped];
    return std::min(mine, exchange(mine));
}
