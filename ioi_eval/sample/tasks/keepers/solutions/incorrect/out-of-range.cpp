// Signals differences, which can be negative.

#include "keepers.h"

#include <algorithm>

int median(int keeper, std::vector<int> heights) {
    std::vector<int> all = heights;
    for (int height : heights) {
        const int sign = keeper == 0 ? -1 : 1;
        all.push_back(exchange(sign * (height + 1)) * -sign - 1);
    }
    std::nth_element(all.begin(), all.begin() + heights.size() - 1, all.end());
    return all[heights.size() - 1];
}
