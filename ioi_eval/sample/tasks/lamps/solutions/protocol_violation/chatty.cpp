// Prints to standard output, which belongs to the stub.

#include "lamps.h"

#include <iostream>

std::vector<int> find_dark(int n, int) {
    std::vector<int> dark;
    for (int lamp = 0; lamp < n; ++lamp) {
        std::cout << "debug: lamp " << lamp << std::endl;
        if (measure(lamp, lamp) == 1) dark.push_back(lamp);
    }
    return dark;
}
