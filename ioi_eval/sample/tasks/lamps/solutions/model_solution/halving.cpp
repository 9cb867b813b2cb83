// Halve a stretch of the pier as long as it holds both kinds of lamps. How many dark lamps the whole stretch
// has is known, so measuring the left half tells the right one too. Every measurement belongs to a stretch
// with a dark lamp in it, and a lamp lies in at most ⌈log2 n⌉ stretches of more than one lamp.

#include "lamps.h"

namespace {

void search(int first, int last, int count, std::vector<int>& dark) {
    if (count == 0) return;
    if (count == last - first + 1) {
        for (int lamp = first; lamp <= last; ++lamp) dark.push_back(lamp);
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
