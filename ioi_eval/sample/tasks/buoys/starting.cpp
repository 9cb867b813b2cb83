#include <iostream>

int main() {
    // read the buoys and the questions from std::cin, print the answers to std::cout
}
