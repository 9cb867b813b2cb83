// Finds one dark lamp and names it k times.

#include "lamps.h"

std::vector<int> find_dark(int n, int k) {
    int low = 0, high = n - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (measure(0, middle) > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return std::vector<int>(k, low);
}
