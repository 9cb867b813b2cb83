// Attacks that try to send bytes to other processes or machines.
//
// group: talking
// problem: secret
#include "attack.h"

#include <mqueue.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

// attack: sockets_of_every_family
// tries: to make a socket of each of 64 families and each type
// expect: WA
// attempted: socket
ATTACK(sockets_of_every_family) {
    for (int family = 0; family < 64; ++family) {
        for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
            if (socket(family, type, 0) >= 0) got("family %d, type %d", family, type);
        }
    }
    held();
}

// attack: socket_pair
// tries: socketpair, for sending descriptors
// expect: WA
// attempted: socketpair
ATTACK(socket_pair) {
    int pair[2];
    tell(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
}

// attack: socket_by_old_abi
// tries: a socket through the 32-bit entry, where calls have other numbers
// expect: SV RE
ATTACK(socket_by_old_abi) {
    long result = -1;
    const long arguments[3] = {AF_INET, SOCK_STREAM, 0};
    (void)arguments;
    asm volatile("int $0x80" : "=a"(result) : "a"(359L), "b"(2L), "c"(1L), "d"(0L) : "memory", "r8", "r9", "r10", "r11");
    tell(result >= 0, "socket");
}

// attack: socket_by_x32
// tries: a socket through the x32 entry
// expect: SV RE WA
ATTACK(socket_by_x32) { tell(syscall(0x40000000 + SYS_socket, AF_INET, SOCK_STREAM, 0) >= 0, "socket"); }

// attack: calls_without_numbers
// tries: call numbers that do not exist, and negative ones
// expect: SV
ATTACK(calls_without_numbers) {
    for (long number : {337L, 423L, 500L, 512L, 547L, 1000L, 0x3fffffffL, -1L}) {
        if (syscall(number, 0, 0, 0, 0, 0, 0) >= 0) got("call %ld", number);
    }
    held();
}

// attack: calls_of_trampolines
// tries: calls that are meant for the kernel's own trampolines (uretprobe), which no filter sees
// expect: WA SV RE
ATTACK(calls_of_trampolines) {
    for (long number : {335L, 336L}) {
        if (syscall(number, 0, 0, 0, 0, 0, 0) >= 0) got("call %ld", number);
    }
    held();
}

// attack: shared_memory_segments
// tries: System V shared memory, which outlives its maker
// expect: WA
// attempted: shmget
ATTACK(shared_memory_segments) {
    for (key_t key : {IPC_PRIVATE, static_cast<key_t>(1234)}) {
        if (shmget(key, 4096, IPC_CREAT | 0666) >= 0) got("shmget");
    }
    held();
}

// attack: semaphores
// tries: System V semaphores
// expect: WA
// attempted: semget
ATTACK(semaphores) { tell(semget(1234, 1, IPC_CREAT | 0666) >= 0, "semget"); }

// attack: message_queues
// tries: message queues of both kinds
// expect: WA
// attempted: msgget mq_open
ATTACK(message_queues) {
    if (msgget(1234, IPC_CREAT | 0666) >= 0) got("msgget");
    tell(mq_open("/whisper", O_CREAT | O_RDWR, 0666, nullptr) != static_cast<mqd_t>(-1), "mq_open");
}

// attack: shared_memory_files
// tries: files in /dev/shm, /tmp and other places that everybody may write
// expect: WA
ATTACK(shared_memory_files) {
    for (const char *path : {"/dev/shm/whisper", "/tmp/whisper", "/var/tmp/whisper", "/run/lock/whisper", "/run/user/0/whisper", "/var/crash/whisper",
                             "/dev/mqueue/whisper", "/dev/hugepages/whisper", "/whisper", "../whisper"}) {
        if (open(path, O_RDWR | O_CREAT, 0666) >= 0) got("%s", path);
        if (mkdir(path, 0777) == 0) got("%s", path);
    }
    held();
}

// attack: memory_files
// tries: memfd_create and memfd_secret
// expect: WA
// attempted: memfd_create
ATTACK(memory_files) {
    if (syscall(SYS_memfd_create, "whisper", 0) >= 0) got("memfd_create");
    tell(syscall(447, 0) >= 0, "memfd_secret");
}

// attack: keyrings
// tries: the kernel's keyrings, which belong to the user
// expect: SV
ATTACK(keyrings) { tell(syscall(SYS_add_key, "user", "whisper", "x", 1, -4 /* KEY_SPEC_USER_KEYRING */) >= 0, "add_key"); }

// attack: locks_on_its_files
// tries: locks on the files that it shares with others: its input, its devices
// expect: WA
// attempted: flock fcntl
ATTACK(locks_on_its_files) {
    struct flock lock = {};
    lock.l_type = F_RDLCK;
    const int null = open("/dev/null", O_RDWR);
    for (int fd : {0, 1, null}) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) got("flock of %d", fd);
        if (fcntl(fd, F_SETLK, &lock) == 0) got("F_SETLK of %d", fd);
        if (fcntl(fd, F_GETLK, &lock) == 0) got("F_GETLK of %d", fd);
        if (fcntl(fd, 37 /* F_OFD_SETLK */, &lock) == 0) got("F_OFD_SETLK of %d", fd);
        if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) got("F_SETLEASE of %d", fd);
        if (fcntl(fd, F_NOTIFY, 1) == 0) got("F_NOTIFY of %d", fd);
        if (fcntl(fd, 1036 /* F_SET_RW_HINT */, &lock) == 0) got("F_SET_RW_HINT of %d", fd);
    }
    held();
}

// attack: watches
// tries: inotify and fanotify, to see what others do
// expect: WA
// attempted: inotify_init1
ATTACK(watches) {
    if (inotify_init1(0) >= 0) got("inotify");
    tell(syscall(SYS_fanotify_init, 0, 0) >= 0, "fanotify");
}

// attack: fifos
// tries: to make a FIFO, a device or a socket in its directory
// expect: WA
ATTACK(fifos) {
    if (mknod("fifo", S_IFIFO | 0666, 0) == 0) got("a FIFO");
    if (mknod("socket", S_IFSOCK | 0666, 0) == 0) got("a socket");
    if (mknod("device", S_IFCHR | 0666, 0x0103) == 0) got("a device");
    held();
}

// attack: links
// tries: hard and symbolic links to what it may not open
// expect: WA
ATTACK(links) {
    if (symlink("/etc/passwd", "link") == 0) got("symlink");
    if (linkat(AT_FDCWD, "/proc/self/fd/0", AT_FDCWD, "input", AT_SYMLINK_FOLLOW) == 0) got("link to the input");
    if (linkat(1, "", AT_FDCWD, "output", AT_EMPTY_PATH) == 0) got("link to the output");
    if (link("/etc/passwd", "passwd") == 0) got("link");
    held();
}

// attack: move_pages_between_pipes
// tries: splice, tee and vmsplice, which give pages away
// expect: WA
ATTACK(move_pages_between_pipes) {
    int ends[2];
    if (pipe(ends) != 0) held();
    char bytes[4096] = "x";
    struct iovec part = {bytes, sizeof bytes};
    if (syscall(SYS_vmsplice, ends[1], &part, 1, 8 /* SPLICE_F_GIFT */) >= 0) got("vmsplice");
    if (syscall(SYS_splice, 0, nullptr, ends[1], nullptr, 4096, 0) >= 0) got("splice");
    if (syscall(SYS_tee, ends[0], ends[1], 4096, 0) >= 0) got("tee");
    held();
}

// attack: large_pipes
// tries: pipes larger than the kernel's default
// expect: WA
ATTACK(large_pipes) {
    int ends[2];
    if (pipe(ends) != 0) held();
    if (fcntl(ends[0], F_SETPIPE_SZ, 1 << 20) > 65536) got("F_SETPIPE_SZ");
    if (pipe2(ends, 0200 /* O_NOTIFICATION_PIPE, as O_EXCL */) == 0) got("a notification pipe");
    held();
}

// attack: marks_on_its_input
// tries: to leave times, modes, attributes on its input for the next reader
// expect: WA
// attempted: fchmod fsetxattr utimensat
ATTACK(marks_on_its_input) {
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    if (futimens(0, times) == 0) got("futimens");
    if (syscall(SYS_utimensat, 0, nullptr, nullptr, 0) == 0) got("utimensat");
    if (fchmod(0, 0777) == 0) got("fchmod");
    if (fchown(0, getuid(), getgid()) == 0) got("fchown");
    if (syscall(SYS_fsetxattr, 0, "user.mark", "1", 1, 0) == 0) got("fsetxattr");
    if (fcntl(0, F_SETOWN, getpid()) == 0) got("F_SETOWN");
    if (fcntl(0, F_SETSIG, SIGKILL) == 0) got("F_SETSIG");
    if (fcntl(0, 1033 /* F_ADD_SEALS */, 1) == 0) got("F_ADD_SEALS");
    held();
}
