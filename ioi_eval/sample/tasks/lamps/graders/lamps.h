#ifndef LAMPS_H
#define LAMPS_H

#include <vector>

// To be implemented: the numbers of the k dark lamps among 0 … n - 1, in any order.
std::vector<int> find_dark(int n, int k);

// How many of the lamps first, first + 1, …, last are dark. 0 ≤ first ≤ last < n.
int measure(int first, int last);

#endif
