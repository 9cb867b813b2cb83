// Prints to standard output, which this task does not use: harmless.

#include "keepers.h"

#include <algorithm>
#include <iostream>

int median(int keeper, std::vector<int> heights) {
    auto lowest = heights.begin();
    for (std::size_t k = heights.size(); k > 1; k -= k / 2) {
        const int mine = lowest[k / 2 - 1], other = exchange(mine);
        std::cout << "keeper " << keeper << ": " << mine << " against " << other << std::endl;
        if (mine < other) lowest += k / 2;
    }
    const int other = exchange(*lowest);
    return std::min(*lowest, other);
}
