// A checker with many faults: the first word of the output selects the fault. Protocol: cms.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    std::ifstream answer(argv[2]), output(argv[3]);
    std::string wanted, word;
    answer >> wanted;
    output >> word;
    if (word == "crash") raise(SIGSEGV);
    if (word == "abort") std::abort();
    if (word == "exit") return 3;
    if (word == "late") {
        sleep(4);
        std::abort();
    }
    if (word == "loop") {
        for (volatile int i = 0;; i = i + 1) {
        }
    }
    if (word == "sleep") {
        for (;;) pause();
    }
    if (word == "blow") {
        std::vector<char *> all;
        for (;;) {
            all.push_back(static_cast<char *>(std::malloc(1 << 20)));
            if (all.back() == nullptr) return 4;
            std::memset(all.back(), 1, 1 << 20);
        }
    }
    if (word == "flood") {
        const std::string line(1 << 16, 'x');
        for (int i = 0; i < 4096; ++i) std::cout << line << '\n';
        return 0;
    }
    if (word == "many") {
        const std::string line(1 << 16, 'x');
        for (int number = 0; !output.eof(); output >> number) std::cerr << line << '\n';  // it stops reading at a word
    }
    if (word == "silent") return 0;
    if (word == "recurse") {
        std::string all, line;
        while (std::getline(output, line)) all += line;  // as much memory as the output has bytes
        std::vector<std::string> copies(8, all);
        std::printf("%zu\n", copies.size());
        return 0;
    }
    std::puts(word == wanted ? "1" : "0");
    return 0;
}
