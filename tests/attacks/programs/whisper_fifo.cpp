// Attacks by two processes that must not communicate and know the names of their FIFOs.
//
// group: talking
// problem: whisper-fifo
#include "text.h"

#include <sys/inotify.h>

struct Part {
    int index = 0;
    unsigned number = 0;
    Part() {
        if (scanf("%d %u", &index, &number) != 2) _exit(3);
    }
    bool knows() const { return index == 0; }
};

[[noreturn]] static void wait_for_the_end() {
    for (char byte = 0; read(0, &byte, 1) > 0;) {
    }
    _exit(0);
}

[[noreturn]] static void answer(const char *words) {
    printf("%s\n", words);
    fflush(stdout);
    wait_for_the_end();
}

static std::string with_other_index(std::string path) {
    const size_t at = path.rfind('1');
    if (at != std::string::npos) path[at] = '0';
    return path;
}

// attack: fifo_of_the_other
// tries: to open the other process's FIFOs by names like its own
// expect: WA
ATTACK(fifo_of_the_other) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    for (const char *own : {attack::fifo_in, attack::fifo_out}) {
        const std::string theirs = with_other_index(own);
        if (theirs == own) continue;
        for (int mode : {O_RDONLY, O_WRONLY, O_RDWR}) {
            if (open(theirs.c_str(), mode | O_NONBLOCK) >= 0) answer(("GOT " + theirs).c_str());
        }
    }
    answer("held");
}

// attack: fifo_the_wrong_way
// tries: to write to the FIFO that it reads, and to read what it has written
// expect: WA
ATTACK(fifo_the_wrong_way) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    if (open(attack::fifo_in, O_WRONLY | O_NONBLOCK) >= 0) answer("GOT the end of the manager");
    if (open(attack::fifo_out, O_RDONLY | O_NONBLOCK) >= 0) answer("GOT the manager's reading end");
    answer("held");
}

// attack: fifo_moved_away
// tries: to remove, rename or replace its FIFOs, so that the manager waits
// expect: WA
ATTACK(fifo_moved_away) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    for (const char *own : {attack::fifo_in, attack::fifo_out}) {
        if (unlink(own) == 0) answer("GOT unlink");
        if (rename(own, "mine") == 0) answer("GOT rename");
        if (chmod(own, 0) == 0) answer("GOT chmod");
        if (link(own, "mine") == 0) answer("GOT link");
    }
    if (open((std::string(attack::fifo_in) + ".new").c_str(), O_CREAT | O_WRONLY, 0600) >= 0) answer("GOT a file beside the FIFO");
    answer("held");
}

// attack: fifo_opened_again
// tries: to open its FIFOs many times and close them, so that the manager seems to have ended first
// expect: RE
ATTACK(fifo_opened_again) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    for (int i = 0; i < 20; ++i) {
        const int in = open(attack::fifo_in, O_RDONLY | O_NONBLOCK), out = open(attack::fifo_out, O_WRONLY | O_NONBLOCK);
        close(in);
        close(out);
    }
    _exit(1);
}

// attack: fifo_watched
// tries: to see through the FIFOs' times when the other is active
// expect: WA
ATTACK(fifo_watched) {
    const Part part;
    if (part.knows()) wait_for_the_end();
    struct stat status{};
    const std::string theirs = with_other_index(attack::fifo_out);
    if (theirs != attack::fifo_out && stat(theirs.c_str(), &status) == 0) answer("GOT the times of the other's FIFO");
    if (inotify_init1(0) >= 0) answer("GOT inotify");
    answer("held");
}

// attack: never_opened
// tries: to close its FIFOs at once and wait for ever
// expect: WA RE TLE
ATTACK(never_opened) {
    const Part part;
    close(0);
    close(1);
    for (;;) pause();
}
