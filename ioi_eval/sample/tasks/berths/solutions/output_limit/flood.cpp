// A progress line in a loop that never advances: endless output.

#include "berths.h"

#include <cstdio>
#include <string>

std::vector<int> assign_berths(std::vector<int> arrive, std::vector<int> depart) {
    const std::string line = "still thinking" + std::string(4096, '.') + "\n";
    std::size_t settled = 0;
    while (settled < arrive.size()) {
        std::fwrite(line.data(), 1, line.size(), stdout);
        if (depart[settled] < arrive[settled]) ++settled;  // never
    }
    return arrive;
}
