// Linked with the submission: reads the test, calls assign_berths, prints what it returned.

#include "berths.h"

#include <cstdio>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;

    std::vector<int> arrive(n), depart(n);
    for (int i = 0; i < n; ++i)
        if (std::scanf("%d %d", &arrive[i], &depart[i]) != 2) return 1;

    const std::vector<int> berths = assign_berths(arrive, depart);

    std::printf("%zu\n", berths.size());
    for (std::size_t i = 0; i < berths.size(); ++i) std::printf("%d%c", berths[i], i + 1 < berths.size() ? ' ' : '\n');
    return 0;
}
