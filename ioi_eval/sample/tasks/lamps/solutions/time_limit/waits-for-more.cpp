// Reads from the manager without the stub. Nothing was asked, so nothing comes: program and manager
// wait for each other for ever and use no processor time at all.

#include "lamps.h"

#include <cstdio>

std::vector<int> find_dark(int, int k) {
    std::vector<int> dark(k);
    for (int& lamp : dark)
        if (std::scanf("%d", &lamp) != 1) return {};
    return dark;
}
