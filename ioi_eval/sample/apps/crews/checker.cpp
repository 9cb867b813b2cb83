// Takes any right answer: `checker input answer output` prints the score, as CMS's checkers do.
#include <fstream>
#include <iostream>
#include <set>
#include <string>

static int verdict(bool right, const std::string &words) {
    std::cout << (right ? 1 : 0) << '\n';
    std::cerr << words << '\n';
    return 0;
}

int main(int, char **argv) {
    std::ifstream input(argv[1]), answer(argv[2]), output(argv[3]);
    long long boats = 0, sailors = 0, expected = 0;
    input >> boats >> sailors;
    answer >> expected;

    std::set<long long> sizes;
    long long size = 0, sum = 0, count = 0;
    while (output >> size) {
        if (++count > boats) break;
        if (size < 1 && size != -1) return verdict(false, "a boat without a crew");
        sizes.insert(size);
        sum += size;
        if (sum > sailors) return verdict(false, "more sailors than there are");
    }
    if (count <= boats && !output.eof()) return verdict(false, "something that is no number");
    if (expected == -1) return verdict(count == 1 && sizes.count(-1), "it cannot be done: -1 is expected");
    if (sizes.count(-1)) return verdict(false, "it can be done, but the output says -1");
    if (count != boats) return verdict(false, "not as many sizes as boats");
    if (static_cast<long long>(sizes.size()) != boats) return verdict(false, "two crews of the same size");
    return verdict(sum == sailors, sum == sailors ? "right" : "somebody stays ashore");
}
