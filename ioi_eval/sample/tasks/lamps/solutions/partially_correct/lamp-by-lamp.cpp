// Measures each lamp alone.

#include "lamps.h"

std::vector<int> find_dark(int n, int) {
    std::vector<int> dark;
    for (int lamp = 0; lamp < n; ++lamp)
        if (measure(lamp, lamp) == 1) dark.push_back(lamp);
    return dark;
}
