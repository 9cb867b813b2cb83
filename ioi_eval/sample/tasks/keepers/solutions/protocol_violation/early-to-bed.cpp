// Keeper 1 knows the median one exchange before keeper 0 does, and leaves this one out.

#include "keepers.h"

#include <algorithm>

int median(int keeper, std::vector<int> heights) {
    std::vector<int> all = heights;
    for (std::size_t i = 0; i + keeper < heights.size(); ++i) all.push_back(exchange(heights[i]));
    std::nth_element(all.begin(), all.begin() + heights.size() - 1, all.end());
    return all[heights.size() - 1];
}
