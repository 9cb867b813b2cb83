// Attacks that use more memory than the limit allows.
//
// group: exhausting
// problem: secret
#include "attack.h"

static char *pages(size_t size, int flags) {
    void *area = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    return area == MAP_FAILED ? nullptr : static_cast<char *>(area);
}

// attack: memory_in_one_process
// tries: to use twice its memory
// expect: MLE
ATTACK(memory_in_one_process) {
    char *area = pages(256 << 20, MAP_PRIVATE);
    for (size_t i = 0; i < 256 << 20; i += 4096) area[i] = 1;
    got("all of it");
}

// attack: memory_for_a_moment
// tries: to use twice its memory and give it back before the judge polls
// expect: MLE
ATTACK(memory_for_a_moment) {
    char *area = pages(200 << 20, MAP_PRIVATE);
    for (size_t i = 0; i < 200 << 20; i += 4096) area[i] = 1;
    munmap(area, 200 << 20);
    held("gave it back");
}

// attack: shared_memory
// tries: to use twice its memory in a shared mapping
// expect: MLE WA RE
ATTACK(shared_memory) {
    char *area = pages(256 << 20, MAP_SHARED);
    if (area == nullptr) held();
    for (size_t i = 0; i < 256 << 20; i += 4096) area[i] = 1;
    got("all of it");
}

// attack: memory_that_is_not_counted
// tries: to keep three times its memory in a shared mapping, of which only a little is resident at a time
// expect: MLE WA RE
ATTACK(memory_that_is_not_counted) {
    const size_t size = 384 << 20, step = 16 << 20;
    char *area = pages(size, MAP_SHARED);
    if (area == nullptr) held();
    for (size_t at = 0; at < size; at += step) {
        for (size_t i = at; i < at + step; i += 4096) area[i] = static_cast<char>(1 + i / step);
        madvise(area + at, step, MADV_DONTNEED);
    }
    for (size_t at = 0; at < size; at += step) {
        if (area[at] != static_cast<char>(1 + at / step)) held("it was dropped");
        madvise(area + at, step, MADV_DONTNEED);
    }
    got("%zu MiB of which nobody knows", size >> 20);
}

// attack: memory_behind_a_device
// tries: the same by mapping /dev/zero
// expect: MLE WA RE
ATTACK(memory_behind_a_device) {
    const int zero = open("/dev/zero", O_RDWR);
    if (zero < 0) held();
    void *area = mmap(nullptr, 256 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0);
    tell(area != MAP_FAILED, "a shared mapping of /dev/zero");
}

// attack: mapping_made_writable
// tries: a shared mapping that was to be read only, made writable afterwards, as uncounted memory
// expect: RE OLE MLE WA
ATTACK(mapping_made_writable) {
    const size_t size = 200 << 20;
    const int file = open("mapped", O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, size) != 0) held();
    void *area = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (area == MAP_FAILED || mprotect(area, size, PROT_READ | PROT_WRITE) != 0) held();
    for (size_t i = 0; i < size; i += 4096) static_cast<char *>(area)[i] = 1;
    for (int i = 0; i < 20; ++i) usleep(1000);
    got("%zu MiB", size >> 20);
}

static int *deeper(int depth, int *above) {
    volatile int frame[1024];
    frame[0] = depth;
    int *below = deeper(depth + 1, above);
    return below == nullptr ? above : const_cast<int *>(frame + 1);
}

// attack: stack
// tries: infinite recursion
// expect: MLE RE
ATTACK(stack) {
    int seed = 0;
    got("%p", static_cast<void *>(deeper(0, &seed)));
}

static int fill(void *) {
    char *area = pages(300 << 20, MAP_PRIVATE);
    for (size_t i = 0; i < 300 << 20; i += 4096) area[i] = 1;
    syscall(SYS_exit_group, 0);
    return 0;
}

// attack: memory_without_a_main_thread
// tries: to use memory after its main thread has ended, when /proc shows none
// expect: MLE
ATTACK(memory_without_a_main_thread) {
    attack::bare_thread(fill, nullptr);
    syscall(SYS_exit, 0);
}

static int fill_and_stay(void *) {
    char *area = pages(300 << 20, MAP_PRIVATE);
    for (size_t i = 0; i < 300 << 20; i += 4096) area[i] = 1;
    for (;;) pause();
    return 0;
}

// attack: memory_kept_without_a_main_thread
// tries: the same, and to keep this memory until the time limit
// expect: MLE
ATTACK(memory_kept_without_a_main_thread) {
    attack::bare_thread(fill_and_stay, nullptr);
    syscall(SYS_exit, 0);
}

// attack: memory_that_may_be_dropped
// tries: pages that the kernel may drop (MAP_DROPPABLE), in case these are not counted
// expect: MLE WA
ATTACK(memory_that_may_be_dropped) {
    const size_t size = 256 << 20;
    void *area = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | 8 /* since Linux 6.11 */, -1, 0);
    if (area == MAP_FAILED) held();
    for (size_t i = 0; i < size; i += 4096) static_cast<char *>(area)[i] = 1;
    got("all of it");
}

// attack: page_tables_of_single_pages
// tries: single pages far apart, each of which costs the kernel two pages of tables
// expect: MLE
ATTACK(page_tables_of_single_pages) {
    size_t tables = 0;
    for (uintptr_t at = uintptr_t{1} << 32; at < uintptr_t{1} << 46; at += uintptr_t{1} << 30) {
        void *page = mmap(reinterpret_cast<void *>(at), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (page == MAP_FAILED && errno != EEXIST) break;
        if (page != MAP_FAILED) tables += *static_cast<volatile char *>(page) == 0 ? 2 : 0;
        if (tables > 32768) break;  // 128 MiB
    }
    for (int i = 0; i < 100; ++i) usleep(1000);
    got("%zu page tables", tables);
}
