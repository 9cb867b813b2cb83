// Ships in order of arrival; each takes the berth that has been free for longest, or a new one.
// No berth is opened unless all the others are taken in that very second, so none is opened in vain.

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

    using Busy = std::pair<int, int>;  // until when, which berth
    std::priority_queue<Busy, std::vector<Busy>, std::greater<Busy>> busy;
    for (int ship : order) {
        int place = busy.size();
        if (!busy.empty() && busy.top().first < arrive[ship]) {
            place = busy.top().second;
            busy.pop();
        }
        berth[ship] = place;
        busy.emplace(depart[ship], place);
    }
    return berth;
}
