// A program that the kernel cannot start, because its loader (ELF interpreter) does not exist.
//
// group: delaying
// problem: secret
//
// attack: loader_that_is_not_there
// tries: a program that cannot be started, so that the judge seems at fault
// expect: RE
#include <cstdio>

asm(".section .interp,\"a\",@progbits\n.string \"/no/such/loader\"\n.previous");

int main() { std::puts("1"); }
