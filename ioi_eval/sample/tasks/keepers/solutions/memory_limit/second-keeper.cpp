// Keeper 1 marks his heights in a table of all heights up to the highest, with a byte for each. It ends at 128 MB,
// twice the limit.

#include "keepers.h"

#include <algorithm>
#include <cstdint>

namespace {

std::vector<std::uint8_t> scale;

}  // namespace

int median(int keeper, std::vector<int> heights) {
    if (keeper == 1) {
        scale.assign(std::min(heights.back() + 1, 128'000'000), 0);
        for (int height : heights)
            if (height < static_cast<int>(scale.size())) scale[height] = 1;
    }
    int k = heights.size(), dropped = 0;
    while (k > 1) {
        const int half = k / 2, mine = heights[dropped + half - 1];
        if (mine < exchange(mine)) dropped += half;
        k -= half;
    }
    const int mine = heights[dropped];
    return std::min(mine, exchange(mine));
}
