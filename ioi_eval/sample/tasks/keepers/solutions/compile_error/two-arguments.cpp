// Calls exchange with an argument too many.

#include "keepers.h"

#include <algorithm>

int median(int keeper, std::vector<int> heights) {
    const int highest = heights.back();
    return std::min(highest, exchange(keeper, highest));
}
