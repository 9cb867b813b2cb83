// Attacks by programs that read an input file and write an output file in their working directory.
//
// group: files
// problem: filed
#include "attack.h"

// Before `main`, which reads stdin and prints.
__attribute__((constructor)) static void take_the_files() {
    dup2(open("task.in", O_RDONLY), 0);
    dup2(open("task.out", O_WRONLY), 1);
    for (int fd = 3; fd < 8; ++fd) close(fd);
}

// attack: output_read_again
// tries: to read what it has written into its output file, which would be memory that is not counted
// expect: WA
ATTACK(output_read_again) {
    dprintf(1, "something\n");
    for (const char *path : {"task.out", "./task.out", "/box/task.out", "/proc/self/fd/1", "/dev/stdout"}) {
        for (int flags : {O_RDONLY, O_RDWR}) {
            if (open(path, flags) >= 0) ftruncate(1, 0), lseek(1, 0, SEEK_SET), got("%s", path);
        }
    }
    if (mmap(nullptr, 4096, PROT_READ, MAP_SHARED, 1, 0) != MAP_FAILED) got("a mapping");
    held();
}

// attack: output_in_its_way
// tries: to put a link, a FIFO or a directory where the judge expects its output
// expect: WA
ATTACK(output_in_its_way) {
    chmod(".", 0777);
    unlink("task.out");
    rename("task.out", "away");
    symlink("task.in", "task.out");
    link("task.in", "task.out");
    mkfifo("task.out", 0666);
    mkdir("task.out", 0777);
    struct stat status;
    if (lstat("task.out", &status) == 0 && !S_ISREG(status.st_mode)) got("another kind of file");
    held();
}

// attack: output_of_holes
// tries: an output file of 10 GB that takes no room
// expect: OLE
ATTACK(output_of_holes) {
    ftruncate(1, 10LL << 30);
    for (;;) {
    }
}

// attack: room_of_the_output
// tries: to use the space allowed for its output as memory, in a file that it can read
// expect: WA
ATTACK(room_of_the_output) {
    for (const char *path : {"more", "./task.out2", "../more", "/box/more", "/tmp/more"}) {
        if (open(path, O_RDWR | O_CREAT, 0600) >= 0) got("%s", path);
    }
    held();
}

// attack: input_of_the_judge
// tries: to change its input, which the checker reads too
// expect: WA
ATTACK(input_of_the_judge) {
    if (open("task.in", O_WRONLY) >= 0 || open("task.in", O_RDWR | O_TRUNC) >= 0) got("its input");
    if (truncate("task.in", 0) == 0 || chmod("task.in", 0666) == 0) got("its input's size or mode");
    held();
}

// attack: output_after_the_end
// tries: to let a thread go on writing when the program has ended
// expect: WA
ATTACK(output_after_the_end) {
    attack::bare_thread(
        [](void *) {
            for (;;) pwrite(1, "?\n", 2, 0);
            return 0;
        },
        nullptr);
    held("the thread goes on");
}
