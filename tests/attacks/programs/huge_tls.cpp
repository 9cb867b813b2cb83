// A program whose thread-local data are larger than its address space: it fails while it starts.
//
// group: exhausting
// problem: secret
//
// attack: zeros_beyond_memory
// tries: 64 GB of zero-initialised data
// expect: CE RE MLE
// (CE: with glibc 2.43 it cannot be linked.)
#include <cstdio>

asm(".section .tbss,\"awT\",@nobits\nmuch: .zero 68719476736\n.previous");

int main() { std::puts("1"); }
