#ifndef BERTHS_H
#define BERTHS_H

#include <vector>

// The berth of every ship, each in 0 … n - 1. Ship i stays from arrive[i] to depart[i], both included.
std::vector<int> assign_berths(std::vector<int> arrive, std::vector<int> depart);

#endif
