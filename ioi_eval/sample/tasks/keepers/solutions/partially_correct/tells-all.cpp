// Signals every height.

#include "keepers.h"

#include <algorithm>

int median(int, std::vector<int> heights) {
    std::vector<int> all = heights;
    for (int height : heights) all.push_back(exchange(height));
    std::nth_element(all.begin(), all.begin() + heights.size() - 1, all.end());
    return all[heights.size() - 1];
}
