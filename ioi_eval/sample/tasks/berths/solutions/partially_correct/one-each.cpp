// A berth for every ship: the most expensive valid plan.

#include "berths.h"

#include <numeric>

std::vector<int> assign_berths(std::vector<int> arrive, std::vector<int>) {
    std::vector<int> berth(arrive.size());
    std::iota(berth.begin(), berth.end(), 0);
    return berth;
}
