// A semicolon is missing.

#include "berths.h"

std::vector<int> assign_berths(std::vector<int> arrive, std::vector<int> depart) {
    std::vector<int> berth(arrive.size())
    return berth;
}
