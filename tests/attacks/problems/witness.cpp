// A checker that reports the result of an attack: 1 if the output is the answer, 0.5 if the program prints that it got
// something, else 0. Its message is the first line of the output. Protocol: cms.

#include <cstdio>
#include <fstream>
#include <string>

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    std::ifstream answer(argv[2]), output(argv[3]);
    std::string wanted, words;
    std::getline(answer, wanted);
    std::getline(output, words);
    words.resize(words.size() < 1000 ? words.size() : 1000);
    if (words == wanted) {
        std::puts("1.0");
    } else {
        std::puts(words.rfind("GOT", 0) == 0 ? "0.5" : "0.0");
    }
    std::fprintf(stderr, "%s\n", words.c_str());
    return 0;
}
