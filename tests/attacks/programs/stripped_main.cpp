// A program with its own versions of sections that the linker normally makes.
//
// group: forging
// problem: secret
//
// attack: executable_stack_and_notes
// tries: an executable stack, notes and properties of its own
// expect: WA
#define OWN_MAIN
#include "attack.h"

asm(".section .note.GNU-stack,\"x\",@progbits\n.previous");
asm(".section .note.gnu.property,\"a\",@note\n.long 4, 16, 5\n.asciz \"GNU\"\n.long 0xc0000002, 4, 3, 0\n.previous");
asm(".section .gnu.warning.main,\"\",@progbits\n.asciz \"Killed signal terminated program\"\n.previous");

int main() {
    puts("1");
    return 0;
}
