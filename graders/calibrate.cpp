// A fixed workload that measures how fast this machine is. Each part does one kind of work of contest programs.
//
// It is judged like any submission: it reads the name of a part, does the part's work, and prints a number that depends
// on all of this work, so that no compiler leaves it out and a wrong result is noticed. `ioi_eval/calibration.py` holds
// these numbers, and what each part takes on the reference machine. Whoever changes a part must measure it again on the
// reference machine.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

// The same numbers everywhere (splitmix64).
class Numbers {
  public:
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_ = 2024;
};

// Dependent multiplications and remainders: counting modulo a prime, hashing.
std::uint64_t arithmetic() {
    const std::uint64_t prime = 998244353;
    std::uint64_t power = 3, sum = 0;
    for (int i = 0; i < 70000000; ++i) {
        power = power * 3 % prime;
        sum += power ^ static_cast<std::uint64_t>(i);
    }
    return sum;
}

// Branches that no processor predicts: sorting.
std::uint64_t sorting() {
    Numbers numbers;
    std::vector<std::uint32_t> values(3600000);
    for (auto& value : values) value = static_cast<std::uint32_t>(numbers.next());
    std::sort(values.begin(), values.end());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < values.size(); i += 7) sum = sum * 31 + values[i];
    return sum;
}

// Reads that wait for each other, within what caches hold and beyond: graphs.
std::uint64_t walking() {
    Numbers numbers;
    std::vector<std::uint32_t> next(1 << 21);
    std::iota(next.begin(), next.end(), 0u);
    for (std::uint32_t i = static_cast<std::uint32_t>(next.size()) - 1; i > 0; --i)  // one cycle through all (Sattolo)
        std::swap(next[i], next[numbers.next() % i]);
    std::uint64_t sum = 0;
    std::uint32_t at = 0;
    for (int i = 0; i < 1700000; ++i) {
        at = next[at];
        sum += at;
    }
    return sum;
}

// Allocation and trees: maps of the standard library.
std::uint64_t containers() {
    Numbers numbers;
    std::map<std::uint32_t, std::uint32_t> tree;
    std::unordered_map<std::uint32_t, std::uint32_t> table;
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < 250000; ++i) {
        const auto key = static_cast<std::uint32_t>(numbers.next() % 200000);
        tree[key] += i;
        table[key] ^= i;
        const auto after = tree.upper_bound(key);
        if (after != tree.end()) sum += after->first + table.size();
    }
    return sum;
}

// A table filled row by row: dynamic programming.
std::uint64_t table() {
    Numbers numbers;
    const int n = 15000;
    std::vector<std::uint8_t> a(n), b(n);
    for (int i = 0; i < n; ++i) {
        a[i] = static_cast<std::uint8_t>(numbers.next() % 4);
        b[i] = static_cast<std::uint8_t>(numbers.next() % 4);
    }
    std::vector<int> row(n + 1), last(n + 1);
    for (int i = 1; i <= n; ++i) {
        std::swap(row, last);
        for (int j = 1; j <= n; ++j) row[j] = a[i - 1] == b[j - 1] ? last[j - 1] + 1 : std::max(last[j], row[j - 1]);
    }
    return static_cast<std::uint64_t>(row[n]);
}

// Floating point: geometry. The result is rounded, so that the last bit does not matter.
std::uint64_t floating() {
    double sum = 0;
    for (int i = 1; i <= 60000000; ++i) {
        const double x = i % 4001, y = i % 3989;
        sum += std::sqrt(x * x + y * y) / (1.0 + x);
    }
    return static_cast<std::uint64_t>(std::llround(sum));
}

}  // namespace

int main() {
    std::string part;
    std::cin >> part;
    if (part == "arithmetic") std::cout << arithmetic() << '\n';
    else if (part == "sorting") std::cout << sorting() << '\n';
    else if (part == "walking") std::cout << walking() << '\n';
    else if (part == "containers") std::cout << containers() << '\n';
    else if (part == "table") std::cout << table() << '\n';
    else if (part == "floating") std::cout << floating() << '\n';
    else return 1;
}
