// Finds the first dark lamp and takes it that the others are next to it: the first two subtasks.

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
    std::vector<int> dark;
    for (int i = 0; i < k; ++i) dark.push_back(low + i);
    return dark;
}
