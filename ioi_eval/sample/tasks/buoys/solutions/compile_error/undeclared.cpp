// Uses names that nobody declared.

#include <iostream>

int main() {
    int n, q;
    std::cin >> n >> q;
    vector<int> start(n);
    for (auto& s : start) std::cin >> s;
    std::cout << first_flash(start) << "\n";
}
