// Measures the right half too, although it could be known: up to twice as many measurements.

#include "lamps.h"

namespace {

void search(int first, int last, std::vector<int>& dark) {
    if (measure(first, last) == 0) return;
    if (first == last) {
        dark.push_back(first);
        return;
    }
    const int middle = (first + last) / 2;
    search(first, middle, dark);
    search(middle + 1, last, dark);
}

}  // namespace

std::vector<int> find_dark(int n, int) {
    std::vector<int> dark;
    search(0, n - 1, dark);
    return dark;
}
