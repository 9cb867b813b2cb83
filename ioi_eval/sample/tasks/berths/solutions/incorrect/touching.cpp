// The model solution with one character missing: it lets a ship in during the second in which the last one
// leaves. Right wherever no two times coincide.

#include "berths.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

std::vector<int> assign_berths(std::vector<int> arrive, std::vector<int> depart) {
    const int n = arrive.size();
    std::vector<int> order(n), berth(n);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return arrive[a] < arrive[b]; });

    using Busy = std::pair<int, int>;
    std::priority_queue<Busy, std::vector<Busy>, std::greater<Busy>> busy;
    for (int ship : order) {
        int place = busy.size();
        if (!busy.empty() && busy.top().first <= arrive[ship]) {  // should be <
            place = busy.top().second;
            busy.pop();
        }
        berth[ship] = place;
        busy.emplace(depart[ship], place);
    }
    return berth;
}
