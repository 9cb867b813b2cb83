// The doctor's checker: score 1 if the probe's attempt was denied; the message is the probe's output. Protocol: cms.

#include <cstdio>
#include <fstream>
#include <string>

int main(int argc, char **argv) {
    if (argc < 4) return 1;
    std::ifstream output(argv[3]);
    std::string words;
    std::getline(output, words);
    std::printf(words.rfind("denied", 0) == 0 ? "1.0\n" : "0.0\n");
    std::fprintf(stderr, "%s\n", words.c_str());
    return 0;
}
