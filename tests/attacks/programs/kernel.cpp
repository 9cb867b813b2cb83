// Attacks on dangerous system calls, and on other processes through the kernel.
//
// group: kernel surface
// problem: secret
#include "attack.h"

#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timex.h>

static int others() { return getppid() > 0 ? getppid() : 1; }

// attack: io_uring
// tries: io_uring, whose work no filter sees
// expect: SV
ATTACK(io_uring) {
    char parameters[256] = "";
    tell(syscall(425, 8, parameters) >= 0, "io_uring_setup");
}

// attack: new_user_namespace
// tries: a user namespace, to become root in it
// expect: SV
ATTACK(new_user_namespace) { tell(unshare(CLONE_NEWUSER) == 0, "unshare"); }

// attack: namespaces_by_clone
// tries: namespaces through clone's flags
// expect: WA
ATTACK(namespaces_by_clone) {
    for (unsigned long flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
        if (syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0) >= 0) got("%lx", flag);
        if (syscall(SYS_clone, flag | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0) >= 0) got("%lx in a thread", flag);
    }
    held();
}

// attack: threads_of_other_kinds
// tries: a thread with each flag that clone has and no library uses, and without each that they use
// expect: WA
// attempted: clone
ATTACK(threads_of_other_kinds) {
    char *stack = static_cast<char *>(mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const unsigned usual = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    const unsigned with_numbers = CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    for (unsigned flag = 1; flag != 0; flag <<= 1) {
        for (unsigned base : {usual, usual | with_numbers}) {
            const unsigned flags = base ^ flag;
            if (flags == (usual | with_numbers | 0x400000 /* CLONE_DETACHED, as musl has it */)) continue;
            int number = 0;
            auto body = [](void *) -> int { syscall(SYS_exit, 0); return 0; };
            if (clone(body, stack + 65536, static_cast<int>(flags), nullptr, &number, stack, &number) >= 0) got("%x", flags);
        }
    }
    held();
}

// attack: join_namespace
// tries: setns
// expect: SV
ATTACK(join_namespace) { tell(syscall(SYS_setns, 0, 0) == 0, "setns"); }

// attack: kernel_programs
// tries: bpf
// expect: SV
ATTACK(kernel_programs) { tell(syscall(SYS_bpf, 0, nullptr, 0) >= 0, "bpf"); }

// attack: performance_counters
// tries: perf_event_open, to time others
// expect: SV
ATTACK(performance_counters) {
    char attributes[128] = "";
    tell(syscall(SYS_perf_event_open, attributes, -1, 0, -1, 0) >= 0, "perf_event_open");
}

// attack: key_control
// tries: keyctl
// expect: SV
ATTACK(key_control) { tell(syscall(SYS_keyctl, 0, -3, 1) >= 0, "keyctl"); }

// attack: mount_a_file_system
// tries: mount
// expect: SV
ATTACK(mount_a_file_system) { tell(mount("none", "/box", "tmpfs", 0, nullptr) == 0, "mount"); }

// attack: unmount_the_scratch
// tries: umount
// expect: SV
ATTACK(unmount_the_scratch) { tell(umount2("/box", MNT_DETACH) == 0, "umount2"); }

// attack: new_mount_calls
// tries: fsopen and its relatives
// expect: SV
ATTACK(new_mount_calls) { tell(syscall(430, "tmpfs", 0) >= 0 || syscall(428, AT_FDCWD, "/", 1) >= 0, "fsopen"); }

// attack: clone3
// tries: clone3, whose flags no filter can read
// expect: WA
ATTACK(clone3) {
    uint64_t arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
    tell(syscall(435, arguments, sizeof arguments) >= 0, "clone3");
}

// attack: fault_handling
// tries: userfaultfd, to stop the kernel in the middle of a copy
// expect: SV
ATTACK(fault_handling) { tell(syscall(SYS_userfaultfd, 0) >= 0, "userfaultfd"); }

// attack: fault_handling_by_device
// tries: userfaultfd through its device
// expect: WA
ATTACK(fault_handling_by_device) { tell(open("/dev/userfaultfd", O_RDWR) >= 0, "/dev/userfaultfd"); }

// attack: layout_without_chance
// tries: personality, to switch off address randomisation
// expect: WA
// attempted: personality
ATTACK(layout_without_chance) { tell(personality(ADDR_NO_RANDOMIZE) >= 0, "personality"); }

// attack: io_priority
// tries: to take precedence over others' disk accesses
// expect: WA
// attempted: ioprio_set
ATTACK(io_priority) { tell(syscall(SYS_ioprio_set, 1, others(), 1 << 13) == 0 || syscall(SYS_ioprio_set, 1, 0, 1 << 13) == 0, "ioprio_set"); }

// attack: limits_of_others
// tries: prlimit on the judge: no more files, no more CPU time
// expect: WA
// attempted: prlimit64
ATTACK(limits_of_others) {
    rlimit none = {0, 0}, old = {};
    for (int pid : {others(), getpid() - 1, getpid() + 1}) {
        if (prlimit(pid, RLIMIT_NOFILE, nullptr, &old) == 0) got("limits of %d", pid);
        if (prlimit(pid, RLIMIT_CPU, &none, nullptr) == 0) got("limits of %d", pid);
    }
    held();
}

// attack: own_limits
// tries: to raise its own limits
// expect: WA
ATTACK(own_limits) {
    for (int resource = 0; resource < 16; ++resource) {
        rlimit limit = {};
        if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 || limit.rlim_max == RLIM_INFINITY) continue;
        limit.rlim_max += 1;
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0) got("limit %d", resource);
    }
    held();
}

// attack: priority_of_others
// tries: setpriority on the judge
// expect: WA
// attempted: setpriority
ATTACK(priority_of_others) {
    if (setpriority(PRIO_PROCESS, static_cast<id_t>(others()), 19) == 0) got("of the parent");
    if (setpriority(PRIO_USER, 0, 19) == 0) got("of the user");
    tell(setpriority(PRIO_PGRP, 0, 19) == 0, "of the group");
}

// attack: processors_of_others
// tries: sched_setaffinity on the judge and on itself
// expect: WA
// attempted: sched_setaffinity
ATTACK(processors_of_others) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    if (sched_setaffinity(others(), sizeof set, &set) == 0) got("of the parent");
    tell(sched_setaffinity(0, sizeof set, &set) == 0, "its own");
}

// attack: real_time
// tries: real-time scheduling, to starve the judge
// expect: WA
// attempted: sched_setscheduler
ATTACK(real_time) {
    sched_param parameter = {1};
    if (sched_setscheduler(others(), SCHED_IDLE, &parameter) == 0) got("of the parent");
    for (int policy : {SCHED_FIFO, SCHED_RR, SCHED_BATCH, SCHED_IDLE}) {
        if (sched_setscheduler(0, policy, &parameter) == 0) got("policy %d", policy);
    }
    held();
}

// attack: signals_to_others
// tries: to stop every process there is
// expect: WA
// attempted: kill tgkill tkill
ATTACK(signals_to_others) {
    for (int pid : {-1, 1, others(), getpid() - 1, getpid() + 1, -others(), -1000}) {
        if (pid == 0 || pid == getpid()) continue;
        if (kill(pid, SIGSTOP) == 0) got("kill of %d", pid);
    }
    if (syscall(SYS_tgkill, others(), others(), SIGTERM) == 0) got("tgkill");
    if (syscall(SYS_tkill, others(), SIGTERM) == 0) got("tkill");
    siginfo_t info = {};
    info.si_code = SI_QUEUE;
    if (syscall(SYS_rt_sigqueueinfo, others(), SIGTERM, &info) == 0) got("sigqueue");
    held();
}

// attack: kill_others
// tries: to kill every process there is
// expect: WA
// attempted: kill
ATTACK(kill_others) {
    for (int pid : {1, others(), getpid() - 1, getpid() + 1, -1}) {
        if (pid != 0 && pid != getpid() && kill(pid, SIGKILL) == 0) got("kill of %d", pid);
    }
    held();
}

// attack: signals_by_descriptor
// tries: a signal to another by making it the owner of a descriptor
// expect: WA
// attempted: fcntl
ATTACK(signals_by_descriptor) {
    int ends[2];
    if (pipe(ends) != 0) held();
    if (fcntl(ends[0], F_SETOWN, others()) == 0) got("F_SETOWN");
    struct {
        int type, pid;
    } owner = {1, others()};
    if (fcntl(ends[0], 15 /* F_SETOWN_EX */, &owner) == 0) got("F_SETOWN_EX");
    if (fcntl(ends[0], F_SETSIG, SIGKILL) == 0) got("F_SETSIG");
    int pid = others();
    if (syscall(SYS_ioctl, ends[0], 0x8901 /* FIOSETOWN */, &pid) == 0) got("FIOSETOWN");
    held();
}

// attack: signals_by_timer
// tries: a timer that signals a thread of another process
// expect: WA
ATTACK(signals_by_timer) {
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGKILL;
    event._sigev_un._tid = others();
    int timer = 0;
    tell(syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
}

// attack: clocks_of_others
// tries: the CPU clocks of other processes
// expect: WA
ATTACK(clocks_of_others) {
    for (int pid : {others(), 1}) {
        timespec time{};
        for (unsigned kind : {0u, 1u, 2u}) {
            const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | kind);
            if (clock_gettime(clock, &time) == 0) got("the clock of %d", pid);
            timer_t timer;
            if (timer_create(clock, nullptr, &timer) == 0) got("a timer on the clock of %d", pid);
        }
    }
    held();
}

// attack: change_the_time
// tries: to set the machine's clock
// expect: SV
ATTACK(change_the_time) {
    timespec time = {1, 0};
    tell(clock_settime(CLOCK_REALTIME, &time) == 0, "clock_settime");
}

// attack: become_root
// tries: setuid and its relatives
// expect: WA
// attempted: setuid
ATTACK(become_root) {
    if (geteuid() == 0 && getuid() != geteuid()) got("root already");
    syscall(SYS_setuid, 0);
    if (syscall(SYS_setresuid, 0, 0, 0) == 0) got("setresuid");
    if (syscall(SYS_setgroups, 0, nullptr) == 0) got("setgroups");
    held();
}

// attack: capabilities
// tries: to find or gain capabilities
// expect: WA
ATTACK(capabilities) {
    for (int capability = 0; capability < 41; ++capability) {
        if (prctl(PR_CAP_AMBIENT, 2 /* RAISE */, capability, 0, 0) == 0) got("ambient capability %d", capability);
    }
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0) got("PR_SET_KEEPCAPS");
    if (prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) == 0) got("PR_SET_SECUREBITS");
    held();
}

// attack: undo_process_settings
// tries: to change what the judge has set for its process by prctl: parent-death signal, dumpable, subreaper, tracer
// expect: WA
// attempted: prctl
ATTACK(undo_process_settings) {
    if (prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) == 0) got("PR_SET_PDEATHSIG");
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0) got("PR_SET_DUMPABLE");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0) got("PR_SET_CHILD_SUBREAPER");
    if (prctl(PR_SET_PTRACER, -1, 0, 0, 0) == 0) got("PR_SET_PTRACER");
    if (prctl(PR_SET_MM, 1, 0, 0, 0) == 0) got("PR_SET_MM");
    if (prctl(PR_SET_SECCOMP, 0, 0, 0, 0) == 0) got("PR_SET_SECCOMP");
    if (prctl(PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0) == 0) got("PR_TASK_PERF_EVENTS_DISABLE");
    if (prctl(PR_SET_SPECULATION_CTRL, 0, 2, 0, 0) == 0) got("PR_SET_SPECULATION_CTRL");
    if (prctl(PR_SET_TSC, 2, 0, 0, 0) == 0) got("PR_SET_TSC");
    held();
}

// attack: filter_of_its_own
// tries: a seccomp filter with a listener, to sit between itself and the judge
// expect: SV
ATTACK(filter_of_its_own) { tell(syscall(SYS_seccomp, 1, 8, nullptr) >= 0, "seccomp"); }

// attack: landlock_of_its_own
// tries: a Landlock domain of its own
// expect: WA
ATTACK(landlock_of_its_own) { tell(syscall(444, nullptr, 0, 1) >= 0, "landlock"); }

// attack: modules_and_kernels
// tries: to load a module
// expect: SV
ATTACK(modules_and_kernels) { tell(syscall(SYS_init_module, nullptr, 0, "") == 0, "init_module"); }

// attack: restart_the_machine
// tries: reboot
// expect: SV
ATTACK(restart_the_machine) { tell(syscall(SYS_reboot, 0xfee1dead, 672274793, 0, nullptr) == 0, "reboot"); }

// attack: ports
// tries: access to the machine's ports
// expect: SV
ATTACK(ports) { tell(syscall(SYS_iopl, 3) == 0, "iopl"); }

// attack: segments
// tries: a local descriptor table of its own
// expect: SV
ATTACK(segments) {
    char table[16] = "";
    tell(syscall(SYS_modify_ldt, 1, table, sizeof table) == 0, "modify_ldt");
}

// attack: hidden_from_the_count
// tries: madvise to have its pages written out or not counted
// expect: WA
ATTACK(hidden_from_the_count) {
    void *pages = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (madvise(pages, 1 << 20, 21 /* MADV_PAGEOUT */) == 0) got("MADV_PAGEOUT");
    if (madvise(pages, 1 << 20, 20 /* MADV_COLD */) == 0) got("MADV_COLD");
    if (madvise(pages, 1 << 20, MADV_MERGEABLE) == 0) got("MADV_MERGEABLE");
    if (madvise(pages, 1 << 20, 9 /* MADV_REMOVE */) == 0) got("MADV_REMOVE");
    if (madvise(pages, 1 << 20, 100 /* MADV_HWPOISON */) == 0) got("MADV_HWPOISON");
    if (mlock(pages, 1 << 20) == 0) got("mlock");
    if (mmap(nullptr, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0) != MAP_FAILED) got("huge pages");
    held();
}

// attack: flood_of_refusals
// tries: to keep the judge busy with calls that it must refuse one by one
// expect: WA TLE
ATTACK(flood_of_refusals) {
    for (long i = 0; i < 200000; ++i) syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    held();
}

static void nothing(int) {}

// attack: refusals_interrupted
// tries: refused calls that a timer interrupts before the judge has answered
// expect: WA TLE
ATTACK(refusals_interrupted) {
    signal(SIGALRM, nothing);
    const itimerval often = {{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &often, nullptr);
    for (long i = 0; i < 20000; ++i) syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    const itimerval never = {};
    setitimer(ITIMER_REAL, &never, nullptr);
    held();
}

// attack: deadly_after_refusals
// tries: a deadly call after the judge has stopped listening
// expect: WA SV
ATTACK(deadly_after_refusals) {
    for (int i = 0; i < 5000; ++i) syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    tell(syscall(SYS_bpf, 0, nullptr, 0) >= 0, "bpf");
}

// attack: seldom_calls
// tries: calls that no contest program needs, each harmless to try
// expect: WA
ATTACK(seldom_calls) {
    // pkey_*, map_shadow_stack, mseal, process_mrelease, set_mempolicy_home_node, cachestat, futex_wake, statmount,
    // listmount, lsm_get_self_attr, migrate_pages, move_pages, sync_file_range, remap_file_pages, uselib, ustat, sysfs,
    // io_pgetevents, mincore, vhangup, the numbers of calls that were never made or are gone
    for (long number : {329L, 330L, 331L, 453L, 462L, 448L, 450L, 451L, 454L, 457L, 458L, 459L, 256L, 279L, 277L, 216L, 134L, 136L,
                        139L, 333L, 27L, 153L, 177L, 181L, 184L, 214L, 215L, 461L, 463L, 464L, 467L}) {
        if (syscall(number, 0, 0, 0, 0, 0, 0) >= 0) got("call %ld", number);
    }
    held();
}

static uint64_t state = 1;

static uint64_t next_number() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// attack: random_calls
// tries: calls that are allowed or refused, but not deadly, with arguments drawn at random
// expect: WA RE TLE OLE MLE
ATTACK(random_calls) {
    // Not in the list: calls that end or stop the process, and calls that no honest program uses.
    static const int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 18, 19, 20, 21, 22, 24, 25, 26, 27, 28, 32, 33, 35, 36,
                                  37, 38, 39, 40, 41, 42, 53, 56, 59, 63, 72, 73, 74, 75, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86,
                                  87, 88, 89, 90, 92, 95, 96, 97, 98, 99, 100, 102, 105, 111, 112, 118, 124, 131, 132, 133, 135,
                                  137, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 157, 158, 160, 162, 186, 187, 188, 191,
                                  200, 201, 202, 203, 204, 213, 217, 218, 221, 222, 223, 224, 225, 226, 228, 229, 232, 233, 234,
                                  251, 253, 257, 258, 262, 263, 264, 267, 268, 269, 273, 274, 275, 276, 280, 281, 282, 283, 284,
                                  285, 286, 287, 288, 289, 290, 291, 292, 293, 294, 295, 296, 299, 302, 306, 307, 309, 314, 315,
                                  316, 318, 319, 322, 324, 325, 326, 327, 328, 332, 334, 424, 434, 436, 437, 439, 441, 449};
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    state ^= static_cast<uint64_t>(time.tv_nsec) << 20 ^ static_cast<uint64_t>(getpid());
    static char area[1 << 16];
    for (const double end = attack::now() + 0.15; attack::now() < end;) {
        long arguments[6];
        for (long &argument : arguments) {
            switch (next_number() % 8) {
                case 0: argument = 0; break;
                case 1: argument = -1; break;
                case 2: argument = static_cast<long>(next_number() % 64); break;
                case 3: argument = reinterpret_cast<long>(area + next_number() % 4096); break;
                case 4: argument = 1L << next_number() % 64; break;
                case 5: argument = getpid(); break;
                case 6: argument = 4096; break;
                default: argument = static_cast<long>(next_number());
            }
        }
        const long number = numbers[next_number() % (sizeof numbers / sizeof numbers[0])];
        syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    }
    held("the end");
}
