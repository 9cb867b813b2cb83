// A process that ends before it has opened its FIFOs: the manager must not wait without end.
//
// group: delaying
// problem: whisper-fifo
//
// attack: end_before_opening
// tries: to end before it opens its FIFOs
// expect: WA RE
#define OWN_MAIN
#include "attack.h"

int main() { return 0; }
