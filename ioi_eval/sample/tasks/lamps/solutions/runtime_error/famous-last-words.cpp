// Gives the right answer, and crashes when it ends. The manager gives full marks, but the program's verdict is RE.

#include "lamps.h"

#include <cstdlib>

namespace {

struct Farewell {
    ~Farewell() { std::abort(); }
} farewell;

void search(int first, int last, int count, std::vector<int>& dark) {
    if (count == 0) return;
    if (first == last) {
        dark.push_back(first);
        return;
    }
    const int middle = (first + last) / 2, left = measure(first, middle);
    search(first, middle, left, dark);
    search(middle + 1, last, count - left, dark);
}

}  // namespace

std::vector<int> find_dark(int n, int k) {
    std::vector<int> dark;
    search(0, n - 1, k, dark);
    return dark;
}
