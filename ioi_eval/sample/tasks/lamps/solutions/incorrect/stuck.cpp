// The bisection that everybody has written once: `low = middle` does not advance when two lamps are left. The
// manager stops it after max(2 n, F) measurements.

#include "lamps.h"

std::vector<int> find_dark(int n, int k) {
    std::vector<int> dark;
    int from = 0;
    while (static_cast<int>(dark.size()) < k) {
        int low = from, high = n - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (measure(from, middle) > 0)
                high = middle;
            else
                low = middle;  // should be middle + 1
        }
        dark.push_back(low);
        from = low + 1;
    }
    return dark;
}
