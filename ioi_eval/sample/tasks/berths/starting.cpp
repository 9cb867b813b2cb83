#include "berths.h"

std::vector<int> assign_berths(std::vector<int> arrive, std::vector<int> depart) {
    // your code here
}
