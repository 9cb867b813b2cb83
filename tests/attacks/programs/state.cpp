// Attacks that leave something for the next test of the same program. In each pair, the first leaves something and the
// second looks for it.
//
// group: state
// problem: secret
// bundle: 64
#include "text.h"

#include <sys/prctl.h>
#include <sys/resource.h>

static int counter_in_data = 7;

// attack: leave_files
// tries: to leave files for the next test
// expect: WA
ATTACK(leave_files) {
    for (const char *path : {"left", "/tmp/left", "/dev/shm/left", ".left", "/box/left", "left.d"}) {
        const int file = open(path, O_RDWR | O_CREAT, 0666);
        if (file >= 0 && write(file, "secret", 6) != 6) held();
    }
    mkdir("directory", 0777);
    held("left them");
}

// attack: find_files
// tries: to find the files that the test before left
// expect: WA
ATTACK(find_files) {
    for (const char *path : {"left", "/tmp/left", "/dev/shm/left", ".left", "/box/left", "left.d"}) {
        const std::string text = content(path);
        if (!text.empty()) got("%s: %s", path, text.c_str());
    }
    if (chdir("directory") == 0) got("a directory");
    if (DIR *directory = opendir(".")) {
        while (const dirent *entry = readdir(directory)) {
            if (entry->d_name[0] != '.') got("%s", entry->d_name);
        }
    }
    held();
}

// attack: leave_memory
// tries: to leave something in its data, its code, and memory that it gives back
// expect: WA
ATTACK(leave_memory) {
    counter_in_data = 42;
    for (int i = 0; i < 16; ++i) {
        char *area = static_cast<char *>(mmap(nullptr, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        memset(area, 0x5a, 4 << 20);
    }
    held("left it");
}

// attack: find_memory
// tries: to find what the test before left in memory
// expect: WA
ATTACK(find_memory) {
    if (counter_in_data != 7) got("its data");
    for (int i = 0; i < 16; ++i) {
        const char *area = static_cast<char *>(mmap(nullptr, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        for (size_t j = 0; j < 4 << 20; j += 8) {
            if (area[j] == 0x5a) got("freed memory");
        }
    }
    held();
}

// attack: leave_process_settings
// tries: to leave changed settings: its name, limits and file mask, an ignored signal, flags of its descriptors
// expect: WA
ATTACK(leave_process_settings) {
    prctl(PR_SET_NAME, "left", 0, 0, 0);
    umask(0123);
    const rlimit few = {100, 100};
    setrlimit(RLIMIT_NOFILE, &few);
    setrlimit(RLIMIT_CPU, &few);
    signal(SIGUSR1, SIG_IGN);
    fcntl(0, F_SETFL, O_NONBLOCK);
    fcntl(1, F_SETFL, O_NONBLOCK | O_APPEND);
    fcntl(2, F_SETFL, 0);
    lseek(0, 0, SEEK_END);
    held("left it");
}

// attack: find_process_settings
// tries: to find these settings in the next test
// expect: WA
ATTACK(find_process_settings) {
    char name[16] = "";
    prctl(PR_GET_NAME, name, 0, 0, 0);
    if (strcmp(name, "left") == 0) got("its name");
    rlimit limit = {};
    getrlimit(RLIMIT_CPU, &limit);
    if (limit.rlim_max == 100) got("a limit");
    struct sigaction action = {};
    sigaction(SIGUSR1, nullptr, &action);
    if (action.sa_handler == SIG_IGN) got("an ignored signal");
    if ((fcntl(0, F_GETFL) & O_NONBLOCK) != 0 || (fcntl(1, F_GETFL) & (O_NONBLOCK | O_APPEND)) != 0) got("flags of a descriptor");
    if (lseek(0, 0, SEEK_CUR) > 64) got("the offset of its input");
    const mode_t mask = umask(0);
    if (mask == 0123) got("its mask");
    held();
}

// attack: leave_output
// tries: to leave bytes in the output or the offset of the next test
// expect: WA
ATTACK(leave_output) {
    const std::string bytes(1 << 20, '1');
    for (int fd : {1, 2}) {
        if (write(fd, bytes.data(), bytes.size()) < 0) _exit(1);
    }
    _exit(0);
}

// attack: find_output
// tries: to find bytes of the test before in its own output
// expect: WA
ATTACK(find_output) {
    struct stat status{};
    for (int fd : {1, 2}) {
        if (fstat(fd, &status) == 0 && status.st_size > 0) got("%ld bytes in descriptor %d", static_cast<long>(status.st_size), fd);
        if (lseek(fd, 0, SEEK_CUR) > 0) got("an offset in descriptor %d", fd);
    }
    held();
}

// attack: leave_mapping
// tries: to leave a shared, writable mapping of a file that is there in the next test too
// expect: WA
ATTACK(leave_mapping) {
    const int file = open("mapped", O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0) held();
    void *area = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (area != MAP_FAILED) memset(area, 1, 4096);
    held("left it");
}

// attack: which_number_am_i
// tries: to learn from its process id how many tests ran before
// expect: WA
ATTACK(which_number_am_i) {
    // With reduced isolation, process ids are those of the machine. They show that time passes; clocks show that too.
    held("process id %d", getpid());
}
