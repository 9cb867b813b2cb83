#ifndef KEEPERS_H
#define KEEPERS_H

#include <vector>

// To be implemented: the n-th smallest of both keepers' 2 n heights. `heights` is sorted; `keeper` is 0 or 1.
int median(int keeper, std::vector<int> heights);

// Signals a number to the other keeper and returns his. 0 ≤ number ≤ 1,000,000,000.
int exchange(int number);

#endif
