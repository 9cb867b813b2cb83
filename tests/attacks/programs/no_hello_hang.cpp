// A process that never opens its FIFOs.
//
// group: delaying
// problem: whisper-fifo
//
// attack: wait_before_opening
// tries: to wait for ever before it opens its FIFOs
// expect: TLE
#define OWN_MAIN
#include "attack.h"

int main() {
    for (;;) pause();
}
