// Attacks on a checker with faults: the output makes it crash, hang or use much memory. The verdict is a final JE that
// names the judge program: no score, and no further attempts.
//
// group: delaying
// problem: fragile
#include "attack.h"

static void print(const char *text) {
    dprintf(1, "%s\n", text);
    _exit(0);
}

// attack: checker_crashes
// tries: to crash the checker
// expect: JE:checker
ATTACK(checker_crashes) { print("crash"); }

// attack: checker_aborts
// tries: to have the checker abort
// expect: JE:checker
ATTACK(checker_aborts) { print("abort"); }

// attack: checker_exits
// tries: to have the checker end with an error
// expect: JE:checker
ATTACK(checker_exits) { print("exit"); }

// attack: checker_aborts_late
// tries: to have the checker abort when most of its time is over, twice, so that the job is too late and the program runs again
// expect: JE:checker
ATTACK(checker_aborts_late) { print("late"); }

// attack: checker_loops
// tries: to have the checker compute for ever
// expect: JE:checker
ATTACK(checker_loops) { print("loop"); }

// attack: checker_sleeps
// tries: to have the checker wait for ever
// expect: JE:checker
ATTACK(checker_sleeps) { print("sleep"); }

// attack: checker_blows_up
// tries: to have the checker use all memory
// expect: JE:checker
ATTACK(checker_blows_up) { print("blow"); }

// attack: checker_floods
// tries: to have the checker print 256 MB
// expect: JE:checker
ATTACK(checker_floods) { print("flood"); }

// attack: checker_prints_without_end
// tries: to fill the machine's memory by way of the checker, which prints a message for each number, until it has read the last
// expect: JE:checker
ATTACK(checker_prints_without_end) { print("many words"); }

// attack: checker_is_silent
// tries: to have the checker say nothing
// expect: JE:checker
ATTACK(checker_is_silent) { print("silent"); }

// attack: checker_keeps_its_output
// tries: to have the checker keep its largest output in memory, many times over
// expect: JE:checker
ATTACK(checker_keeps_its_output) {
    dprintf(1, "recurse\n");
    static char bytes[65536];
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < 127; ++i) {
        if (write(1, bytes, sizeof bytes) < 0) break;
    }
    _exit(0);
}

// attack: slow_then_checker_crashes
// tries: a time near the limit and then a crash of the checker, to be run again without end
// expect: JE:checker TLE
ATTACK(slow_then_checker_crashes) {
    attack::spin(0.29);
    print("crash");
}

// attack: near_the_limit
// tries: a time just over the limit, again and again
// expect: TLE
ATTACK(near_the_limit) {
    attack::spin(0.32);
    print("0");
}
