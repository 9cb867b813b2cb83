// Tries every plan with one berth, then every plan with two, and so on. At most 6^6 plans in the first
// subtask; with 200 ships far too many.

#include "berths.h"

namespace {

bool valid(const std::vector<int>& berth, const std::vector<int>& arrive, const std::vector<int>& depart) {
    for (std::size_t i = 0; i < berth.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (berth[i] == berth[j] && arrive[i] <= depart[j] && arrive[j] <= depart[i]) return false;
    return true;
}

// Counts up in base k. False when it overflows.
bool next_plan(std::vector<int>& berth, int k) {
    for (int& digit : berth) {
        if (++digit < k) return true;
        digit = 0;
    }
    return false;
}

}  // namespace

std::vector<int> assign_berths(std::vector<int> arrive, std::vector<int> depart) {
    for (int k = 1;; ++k) {
        std::vector<int> berth(arrive.size(), 0);
        do {
            if (valid(berth, arrive, depart)) return berth;
        } while (next_plan(berth, k));
    }
}
