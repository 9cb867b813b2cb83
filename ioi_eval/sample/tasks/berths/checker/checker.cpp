// Checker of "Berths", protocol cms:  checker <input> <answer> <output>
//
// The score goes to the first line of stdout, the message to stderr, and the exit code is 0 whatever
// the submission printed. Any other exit code says that the checker itself failed.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace {

[[noreturn]] void verdict(double score, const std::string& words) {
    std::printf("%.4f\n", score);
    std::fprintf(stderr, "%s\n", words.c_str());
    std::exit(0);
}

[[noreturn]] void wrong(const std::string& why) { verdict(0, "Output isn't correct: " + why); }

[[noreturn]] void broken(const char* why) {
    std::fprintf(stderr, "checker: %s\n", why);
    std::exit(1);
}

struct Ships {
    std::vector<int> arrive, depart;

    explicit Ships(std::ifstream in) {
        int n;
        if (!(in >> n)) broken("cannot read the input");
        arrive.resize(n), depart.resize(n);
        for (int i = 0; i < n; ++i)
            if (!(in >> arrive[i] >> depart[i])) broken("the input ends early");
    }

    int count() const { return static_cast<int>(arrive.size()); }
};

// The submission's plan. Whatever is wrong with it is a score, never a failure of ours.
std::vector<int> read_plan(std::ifstream in, int n) {
    long long length;
    if (!(in >> length)) wrong("the output does not begin with the length of a plan");
    if (length != n) wrong("the plan has not one berth for each ship");

    std::vector<int> berth(n);
    for (int i = 0; i < n; ++i) {
        if (!(in >> berth[i])) wrong("the plan ends early, or holds something that is not a number");
        if (berth[i] < 0 || berth[i] >= n) wrong("ship " + std::to_string(i) + " got a berth that does not exist");
    }
    std::string more;
    if (in >> more) wrong("there is more output than the plan");
    return berth;
}

int berths_used(const std::vector<int>& berth) {
    return static_cast<int>(std::set<int>(berth.begin(), berth.end()).size());
}

// Within a berth and in order of arrival, each ship must have left before the next one comes.
void check_collisions(const Ships& ships, const std::vector<int>& berth) {
    std::vector<int> order(ships.count());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        return berth[a] != berth[b] ? berth[a] < berth[b] : ships.arrive[a] < ships.arrive[b];
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
        const int first = order[i - 1], second = order[i];
        if (berth[first] == berth[second] && ships.depart[first] >= ships.arrive[second])
            wrong("ships " + std::to_string(first) + " and " + std::to_string(second) + " collide in berth " +
                  std::to_string(berth[first]));
    }
}

double share(int used, int fewest) {
    if (used <= fewest) return 1;
    if (used <= fewest + 2) return 0.7;
    if (used <= 2 * fewest) return 0.4;
    return 0.1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) broken("usage: checker <input> <answer> <output>");

    const Ships ships{std::ifstream(argv[1])};

    std::ifstream answer(argv[2]);
    int n;
    if (!(answer >> n) || n != ships.count()) broken("the answer does not belong to the input");
    std::vector<int> model(n);
    for (int& b : model)
        if (!(answer >> b)) broken("the answer ends early");

    const std::vector<int> plan = read_plan(std::ifstream(argv[3]), n);
    check_collisions(ships, plan);

    const int used = berths_used(plan), fewest = berths_used(model);
    const std::string words = std::to_string(used) + " berths, " + std::to_string(fewest) + " are possible";
    if (used < fewest) broken("the plan is better than the answer");
    verdict(share(used, fewest), (used == fewest ? "Output is correct: " : "Output is partially correct: ") + words);
}
