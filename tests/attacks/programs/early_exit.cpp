// The program's own start: entry points, initialisers and exit functions of its own.
//
// group: forging
// problem: secret
//
// attack: own_start
// tries: to end before main by an entry in .preinit_array, with functions of libc replaced
// expect: WA
#define OWN_MAIN
#include "attack.h"

static void first() {
    dprintf(1, "1.0\n");
    syscall(SYS_exit_group, 0);
}

__attribute__((section(".preinit_array"), used)) static void (*const entry)() = first;

extern "C" int puts(const char *) { return 0; }

int main() { return 1; }
