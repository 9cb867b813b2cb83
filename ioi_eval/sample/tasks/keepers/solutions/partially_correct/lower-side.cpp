// Takes it that all heights of one keeper are below those of the other: then the median is the highest of
// the lower ones.

#include "keepers.h"

#include <algorithm>

int median(int, std::vector<int> heights) {
    const int highest = heights.back();
    return std::min(highest, exchange(highest));
}
