// Attacks on a manager with faults, and on its protocol.
//
// group: delaying
// problem: relay
#include "attack.h"

static void say(const char *text) {
    dprintf(1, "%s\n", text);
    for (char byte = 0; read(0, &byte, 1) > 0;) {
    }
    _exit(0);
}

// attack: manager_crashes
// tries: to crash the manager
// expect: JE:manager
ATTACK(manager_crashes) { say("crash"); }

// attack: manager_exits
// tries: to have the manager end with an error
// expect: JE:manager
ATTACK(manager_exits) { say("exit"); }

// attack: manager_loops
// tries: to have the manager compute for ever
// expect: JE:manager TLE
ATTACK(manager_loops) { say("loop"); }

// attack: manager_score_nan
// tries: to have the manager print a score that is not a number
// expect: JE:manager
ATTACK(manager_score_nan) { say("score nan"); }

// attack: manager_score_two
// tries: to have the manager print a score of 2
// expect: JE:manager
ATTACK(manager_score_two) { say("score 2"); }

// attack: manager_is_left
// tries: to end immediately, while the manager waits
// expect: WA RE
ATTACK(manager_is_left) { _exit(0); }

// attack: manager_is_left_with_an_error
// tries: to crash, while the manager waits
// expect: RE
ATTACK(manager_is_left_with_an_error) { abort(); }

// attack: manager_gets_sigpipe
// tries: to kill the manager by SIGPIPE, so that the judge seems at fault
// expect: WA RE
ATTACK(manager_gets_sigpipe) {
    dprintf(1, "write\n");
    char bytes[4096];
    if (read(0, bytes, sizeof bytes) < 0) _exit(1);
    close(0);
    usleep(20000);
    _exit(0);
}

// attack: manager_gets_sigpipe_then_code
// tries: the same, ending with an error
// expect: RE WA
ATTACK(manager_gets_sigpipe_then_code) {
    dprintf(1, "write\n");
    close(0);
    usleep(20000);
    _exit(1);
}

// attack: manager_waits
// tries: to say nothing and wait
// expect: TLE
ATTACK(manager_waits) {
    for (;;) pause();
}

// attack: never_reads_from_the_manager
// tries: not to read, so that the manager blocks
// expect: TLE
ATTACK(never_reads_from_the_manager) {
    dprintf(1, "write\n");
    for (;;) pause();
}

// attack: flood_for_the_manager
// tries: to send data without end
// expect: WA RE TLE OLE
ATTACK(flood_for_the_manager) {
    static char bytes[65536];
    memset(bytes, 'x', sizeof bytes);
    for (;;) {
        if (write(1, bytes, sizeof bytes) < 0) _exit(0);
    }
}

// attack: blanks_for_the_manager
// tries: to send blanks without end, which the manager skips until it is over its own limit, so that the judge seems at fault
// expect: OLE
ATTACK(blanks_for_the_manager) {
    static char bytes[65536];
    memset(bytes, ' ', sizeof bytes);
    for (;;) {
        if (write(1, bytes, sizeof bytes) < 0) _exit(0);
    }
}

// attack: questions_without_end
// tries: to ask without end a manager that does not limit questions, until the manager is over its own limit, so that the judge seems at fault
// expect: TLE
ATTACK(questions_without_end) {
    dprintf(1, "ask\n");
    for (char byte = 0;;) {
        dprintf(1, "1\n");
        while (read(0, &byte, 1) == 1 && byte != '\n') {
        }
    }
}

// attack: packets_for_the_manager
// tries: to turn its FIFO into one of packets, of which a short read throws the rest away
// expect: WA TLE
ATTACK(packets_for_the_manager) {
    if (fcntl(1, F_SETFL, O_DIRECT) != 0) say("held");
    say("packets");
}

// attack: half_a_line
// tries: to close its descriptors in the middle of a line and keep running
// expect: TLE WA
ATTACK(half_a_line) {
    if (write(1, "1", 1) < 0) _exit(1);
    close(0);
    close(1);
    for (;;) pause();
}

// attack: right_and_then_crash
// tries: to crash after the right answer, so that the manager's score stands
// expect: RE
ATTACK(right_and_then_crash) {
    dprintf(1, "0\n");
    abort();
}

// attack: right_and_then_stay
// tries: not to end after the right answer
// expect: TLE
ATTACK(right_and_then_stay) {
    dprintf(1, "0\n");
    for (;;) pause();
}

// attack: input_of_the_manager
// tries: to open the manager's input by each name that judges use for it
// expect: WA
ATTACK(input_of_the_manager) {
    for (const char *path : {"input.txt", "../input.txt", "/box/input.txt", "/tmp/input.txt", "../m_to_u0", "/fifo/m_to_u0", "/fifo/u0_to_m"}) {
        if (open(path, O_RDONLY | O_NONBLOCK) >= 0) dprintf(1, "GOT %s\n", path), _exit(0);
    }
    for (int pid = 1; pid < 300; ++pid) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/fd/10", pid);
        if (open(path, O_RDONLY) >= 0) dprintf(1, "GOT %s\n", path), _exit(0);
    }
    say("held");
}
