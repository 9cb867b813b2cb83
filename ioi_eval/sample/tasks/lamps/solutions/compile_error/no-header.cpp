// Neither the header nor the names that it declares.

std::vector<int> find_dark(int n, int k) {
    std::vector<int> dark;
    for (int i = 0; i < n; ++i)
        if (measure(i, i)) dark.push_back(i);
    return dark;
}
