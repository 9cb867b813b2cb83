// Code that runs before the grader's main, and symbols that replace those of libc.
//
// group: forging
// problem: secret
//
// attack: constructor_prints_and_closes
// tries: to print, and close stdin and stdout, before main
// expect: WA RE
#define OWN_MAIN
#include "attack.h"

__attribute__((constructor(101))) static void early() {
    dprintf(1, "1.0\n");
    close(0);
    close(1);
}

int main() {
    puts("nothing");
    return 0;
}
