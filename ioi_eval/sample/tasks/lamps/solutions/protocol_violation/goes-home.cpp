// Ends after one measurement without an answer, with exit code 0.

#include "lamps.h"

#include <cstdlib>

std::vector<int> find_dark(int n, int) {
    if (measure(0, n - 1) > 0) std::exit(0);
    return {};
}
