// A checker that prints the first line of the output as its score, whatever it is. Protocol: cms.

#include <cstdio>
#include <fstream>
#include <string>

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    std::ifstream answer(argv[2]), output(argv[3]);
    std::string wanted, words;
    std::getline(answer, wanted);
    std::getline(output, words);
    if (words == wanted) words = "1";
    std::fwrite(words.data(), 1, words.size(), stdout);
    std::putchar('\n');
    std::fprintf(stderr, "a naive checker\n");
    return 0;
}
