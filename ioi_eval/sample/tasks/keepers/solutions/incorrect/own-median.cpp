// Each keeper returns the middle of his own heights and signals nothing.

#include "keepers.h"

int median(int, std::vector<int> heights) { return heights[heights.size() / 2]; }
