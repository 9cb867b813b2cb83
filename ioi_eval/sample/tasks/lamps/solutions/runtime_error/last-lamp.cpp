// Looks at the lamp after the last one: `at` throws, and the program aborts before it has answered.

#include "lamps.h"

std::vector<int> find_dark(int n, int) {
    std::vector<int> until(n), dark;
    for (int i = 0; i < n; ++i) until[i] = measure(0, i);
    for (int i = 0; i < n; ++i)
        if (until.at(i + 1) > until.at(i)) dark.push_back(i + 1);
    return dark;
}
