// Which system calls a contestant, and a step, may make, as rules; seccomp.h makes the filters from them.
#pragma once

#include "numbers.h"

namespace runner {

// What a contestant may call, and why: groups of calls under one rule. A call that is not listed is refused.

enum class Let {
  Always,
  OnSelf,           // argument `arg` is 0 or the process's own id
  SignalSelf,       // the same, and the signal, argument values[0], is neither SIGKILL nor SIGSYS: those are ours and the filter's. A
                    // listener is told of SIGTERM, and lets it be sent. It is told of SIGKILL, and the runner sends it
  OneOf,            // argument `arg` is one of `values`
  NoneOf,           // argument `arg` is none of `values`
  Without,          // argument `arg` has none of the bits of values[0], nor all those of values[1], if there is one
  NotAllOf,         // argument `arg` lacks one of the bits of values[0]
  Opening,          // the same for the flags of an open, which is to read or to write, and truncates only to write
  OwnClock,         // argument `arg` is not a clock of another process (those are negative numbers)
  Counted,          // a mapping whose pages count as resident: no huge pages; shared pages only of files, and at first read-only
  Private,          // with siblings: no lock with an owner; a wait only without a timeout; if libraries are mapped, a wake
                    // only of a private futex
  Untimed,          // argument `arg`, the address of a timeout, is null
  Unwaiting,        // argument `arg`, a timeout in milliseconds, is 0, or negative (no timeout)
  Pair,             // two connected stream sockets of this process
  Control,          // argument 1 is one of `values`, or F_SETFL, with flags (argument 2) that lack O_DIRECT
  ControlExcept,    // argument 1 is none of `values`, and F_SETFL only with flags (argument 2) that lack O_DIRECT
  Connected,        // to and from a connected socket: no address, only the flags of plain reads and writes
  Launching,        // argument `arg` is values[0], and the sixth argument is the launcher's key; without a key, `Never`
  NotifyThenAllow,  // as OwnClock; if there is a listener, the call is reported to it and then allowed
  OtherSignal,      // the signal, argument 0, is not SIGCHLD; or the call asks what happens at it (argument 1 is null)
  OwnLimit,         // argument 0 is 0 or the process's own id, and argument 2 is null or argument 1 one of `values`
  Never,            // refused by errno
  Deadly,           // no honest program needs it: ends the program
};

// Where a rule holds; elsewhere it becomes `Never`, or, for the two that say so, `Always`. Siblings are other processes of the
// same submission, also of other passes.
enum class Where {
  Everywhere,
  Full,                   // not under reduced isolation
  Reduced,                // under reduced isolation; elsewhere Always
  Sibling,                // for a contestant with siblings; for others Always
  NoSiblings,             // not for a contestant with siblings
  ExceptReducedSiblings,  // not with siblings under reduced isolation (passes of a dynamically linked program excepted)
  ExceptLinkedSiblings,   // not with siblings under reduced isolation, nor with siblings that map the same libraries
  Sockets,                // only for an interpreted contestant without siblings: it may have pairs of sockets
  NoSockets,              // for all other contestants
};

constexpr long kCalls = 512;     // there are fewer numbers
constexpr long kLastCall = 480;  // no kernel has named one from here on

struct CallName {
  long number;
  const char* name;
};

struct CallRule {
  Let let;
  int arg;
  std::initializer_list<uint32_t> values;
  Where where;
  int error;   // the errno of a refused call; 0: it returns at once, as if it had succeeded
  bool noted;  // whether a refusal is reported to the runner
  std::initializer_list<CallName> calls;
};

#define C(name) \
  { SYS_##name, #name }

constexpr uint32_t kDirect = 040000;  // O_DIRECT
constexpr uint32_t kOpenWaits = 04000000 | 010000 | kDirect;  // __O_SYNC, O_DSYNC: with them, reading or writing waits for a disk
constexpr uint32_t kOpenRefused = 020000000 | 010000000 | kOpenWaits;  // __O_TMPFILE, O_PATH
constexpr uint32_t kOpenMode = 3, kOpenTruncates = 01000;  // O_ACCMODE (musl's has another bit), O_TRUNC
constexpr uint32_t kNewNamespaces = 0x7e020000;  // CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
constexpr uint32_t kThread = 0x50f00;  // CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM

// No call is listed twice (asserted below), and the filter finds a call by its number: the order is for readers only. Calls
// with a condition come first.
constexpr CallRule kCallRules[] = {
    // Huge pages do not count as resident; shared pages stay in memory when no process maps them, and then do not count either.
    {Let::Counted, 0, {}, Where::Everywhere, ENOMEM, true, {C(mmap)}},
    // Without the flag that gives a thread its own table of descriptors, as clone could.
    {Let::Without, 2, {2 /* CLOSE_RANGE_UNSHARE */}, Where::Everywhere, EPERM, true, {{kSysCloseRange, "close_range"}}},
    // If the scratch directory is not a file system of its own, files without a name are not counted, and synced or direct
    // access waits for a disk; O_PATH would show properties of files that Landlock forbids to open. Landlock asks for a right only if an open reads or
    // writes. Mode 3 does neither, so Landlock permits it for every file, before its ABI 3 even together with O_TRUNC.
    {Let::Opening, 2, {kOpenRefused}, Where::Reduced, EOPNOTSUPP, true, {C(openat)}},
    {Let::Opening, 1, {kOpenRefused}, Where::Reduced, EOPNOTSUPP, true, {C(open)}},
    // NORMAL to DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP. PAGEOUT or COLD would keep pages from being counted.
    {Let::OneOf, 2, {0, 1, 2, 3, 4, 8, 14, 15, 16, 17}, Where::Everywhere, EINVAL, false, {C(madvise)}},
    // Within the process: QUERY, PRIVATE_EXPEDITED and SYNC_CORE with their registrations. Not GLOBAL: it waits for all
    // processors of the machine without using CPU time, and interrupts them.
    {Let::OneOf, 0, {0, 8, 16, 32, 64}, Where::Everywhere, EINVAL, false, {C(membarrier)}},
    // Threads, not processes: CPU time and memory are counted for one process, and nothing outlives it. All threads share one
    // table of descriptors, because otherwise each could fill as many pipes as a process may. Whole sets of flags are allowed,
    // not single ones: a descriptor of a thread (CLONE_PIDFD) has a number from a counter for all processes, VFORK is a wait
    // that looks like work, and newer kernels may have more flags.
    // With siblings even threads are refused if siblings could communicate by them: under reduced isolation by thread ids;
    // with shared libraries by the futex that the kernel wakes at a thread's end, on a page of a library.
    {Let::OneOf, 0, {kThread | 0x380000 /* SETTLS, PARENT_SETTID, CHILD_CLEARTID: glibc */,
                     kThread | 0x780000 /* the same, DETACHED: musl */, kThread /* by hand */}, Where::ExceptLinkedSiblings, EPERM, true,
     {C(clone)}},
    // When a process dies with a lock, the kernel wakes processes that wait for it, on any page.
    {Let::Always, 0, {}, Where::ExceptLinkedSiblings, ENOSYS, false, {C(set_robust_list)}},
    // On a mapped file, a futex that is not private is identified by the file: siblings could wake each other on a page of a
    // shared libc. Waiting alone sends nothing, and libc waits this way for a thread's end. (std::future
    // makes a wake that is not private.)
    // Locks with an owner (PI) are refused to siblings: the owner may be any process, so they show when another one ends.
    {Let::Private, 1, {}, Where::Everywhere, EPERM, true, {C(futex)}},
    {Let::Never, 0, {}, Where::Everywhere, ENOSYS, false, {{kSysClone3, "clone3"}}},  // glibc takes clone then; EPERM breaks std::thread
    // Clocks of other processes show how they spend their time.
    {Let::OwnClock, 0, {}, Where::Everywhere, EINVAL, true, {C(clock_gettime), C(clock_getres)}},
    // A timer can send any signal, SIGKILL too: so timers are reported to the runner.
    {Let::NotifyThenAllow, 0, {}, Where::NoSiblings, EAGAIN, true, {C(timer_create)}},
    // Siblings cannot wait for a time. Otherwise one could keep the manager waiting, and the next could measure how long, and
    // neither would use CPU time for it. So a sleep ends at once, an alarm sends no signal, and waits are for the manager or a
    // thread only. (They can still compute for a certain time, but that counts against the limit.)
    {Let::OwnClock, 0, {}, Where::NoSiblings, 0, true, {C(clock_nanosleep)}},
    {Let::Always, 0, {}, Where::NoSiblings, 0, true, {C(nanosleep), C(alarm), C(setitimer)}},
    {Let::Always, 0, {}, Where::NoSiblings, EAGAIN, true, {C(rt_sigtimedwait)}},
    {Let::Unwaiting, 2, {}, Where::Sibling, EINVAL, true, {C(poll)}},
    {Let::Untimed, 2, {}, Where::Sibling, EINVAL, true, {C(ppoll)}},
    {Let::Untimed, 4, {}, Where::Sibling, EINVAL, true, {C(select), C(pselect6)}},
    {Let::Untimed, 3, {}, Where::Sibling, EINVAL, true, {{449, "futex_waitv"}}},
    // Signals to itself: abort, raise. A SIGKILL that we did not send means that the machine ran out of memory; so does a SIGTERM that
    // the program did not send (earlyoom sends it first).
    {Let::SignalSelf, 0, {1}, Where::Everywhere, EPERM, true, {C(kill), C(tkill), C(rt_sigqueueinfo)}},
    {Let::SignalSelf, 0, {2}, Where::Everywhere, EPERM, true, {C(tgkill), C(rt_tgsigqueueinfo)}},
    // Queries about the process itself.
    {Let::OnSelf, 0, {}, Where::Everywhere, EPERM, true,
     {C(getpgid), C(getsid), C(get_robust_list), C(sched_getparam), C(sched_getscheduler), C(sched_getattr)}},
    // A Rust thread asks glibc for its stack, and glibc makes this call with the thread's id; it can do without, if the errno
    // is ENOSYS.
    {Let::OnSelf, 0, {}, Where::Everywhere, ENOSYS, false, {C(sched_getaffinity)}},
    // On older kernels the answer depends on how many processes want the processor.
    {Let::OnSelf, 0, {}, Where::NoSiblings, EPERM, true, {C(sched_rr_get_interval)}},
    {Let::OnSelf, 1, {}, Where::Everywhere, EPERM, true, {C(getpriority)}},
    // Limits can be read. None can be raised, and only those can be lowered for which the kernel sends no signal: a SIGKILL
    // for a CPU limit that the program set itself would look like one from outside.
    {Let::OwnLimit, 0, {RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_AS}, Where::Everywhere, EPERM, true, {C(prlimit64)}},
    {Let::OneOf, 0, {RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_AS}, Where::Everywhere, EPERM, true, {C(setrlimit)}},
    // (Nor can that of core files be lowered: our limit of 1 keeps the kernel from piping a core to a program, 0 does not.)
    // Many calls in one: no locks, leases, owners or signals of descriptors; what isatty and stdio ask of a device. An input is on a
    // disk: direct reads of it would wait for the disk, which uses no CPU time. (A direct FIFO has packets.)
    {Let::Control, 1, {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC, 1032 /* F_GETPIPE_SZ */}, Where::Everywhere, EPERM, true,
     {C(fcntl)}},
    {Let::OneOf, 1, {0x5401 /* TCGETS */, 0x802c542a /* TCGETS2: glibc 2.42 */, 0x5413 /* TIOCGWINSZ */, 0x541b /* FIONREAD */,
                     0x5421 /* FIONBIO */, 0x5450 /* FIONCLEX */, 0x5451 /* FIOCLEX */}, Where::Everywhere, ENOTTY, true,
     {C(ioctl)}},
    {Let::OneOf, 0, {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS,
                     PR_GET_PDEATHSIG, PR_GET_TIMERSLACK, 0x53564d41 /* PR_SET_VMA */},
     Where::Everywhere, EINVAL, true, {C(prctl)}},
    {Let::OneOf, 0, {0x1001, 0x1002, 0x1003, 0x1004 /* ARCH_{SET,GET}_{FS,GS} */}, Where::Everywhere, EINVAL, false,
     {C(arch_prctl)}},
    // The last steps before the exec, for descriptor numbers that a contestant can never own. execveat also has a key, a secret number
    // that the kernel ignores, because the kernel ignores the descriptor too if the path is absolute.
    {Let::OneOf, 0, {kControlFd}, Where::Everywhere, EPERM, true, {C(sendmsg)}},
    {Let::Launching, 0, {kExecutedFd}, Where::Everywhere, EACCES, true, {C(execveat)}},
    // An event loop wakes itself by a pair of sockets (asyncio creates one at its start). No other process can get an end of
    // it, because descriptors can only be sent by sendmsg. Only streams, because a datagram can be sent to any socket with a
    // name; no flags, because MSG_OOB is unused and has had holes. Not with siblings, who share the counter of their numbers.
    {Let::Pair, 0, {AF_UNIX, SOCK_STREAM, SOCK_NONBLOCK | SOCK_CLOEXEC}, Where::Sockets, EACCES, true, {C(socketpair)}},
    {Let::Connected, 3, {MSG_DONTWAIT | MSG_NOSIGNAL}, Where::Sockets, EPERM, true, {C(sendto)}},
    {Let::Connected, 3, {MSG_DONTWAIT | MSG_PEEK | MSG_WAITALL}, Where::Sockets, EPERM, true, {C(recvfrom)}},
    {Let::Always, 0, {}, Where::Sockets, EPERM, true, {C(getsockname), C(getpeername), C(shutdown)}},
    // To a socket it sends the pages of a file themselves: one byte of a page would count, but the whole page stays in memory.
    {Let::Always, 0, {}, Where::NoSockets, EINVAL, false, {C(sendfile)}},
    // Files in the scratch directory.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true, {C(getcwd), C(getdents64), C(umask)}},
    // If a file is removed while it is open, it is not counted either.
    {Let::Always, 0, {}, Where::Full, EPERM, true,
     {C(unlink), C(unlinkat), C(rename), C(renameat), C(renameat2), C(mkdir), C(mkdirat), C(rmdir)}},
    // Landlock does not forbid looking up a path, and /proc would show siblings to each other. (A dynamic loader needs it, so it
    // is allowed to passes of a program that has one: they never run at the same time.)
    {Let::Always, 0, {}, Where::ExceptReducedSiblings, EACCES, false,
     {C(stat), C(lstat), C(newfstatat), C(statx), C(access), C(faccessat), {439, "faccessat2"}, C(chdir), C(fchdir)}},
    // It would show where the judge stores the input.
    {Let::Always, 0, {}, Where::Full, EACCES, false, {C(readlink), C(readlinkat)}},
    // Waiting for a real disk uses no CPU time, and an input is on one: the call returns at once.
    {Let::Never, 0, {}, Where::Everywhere, 0, false, {C(fsync), C(fdatasync), C(msync)}},
    // Without flags: RWF_NOWAIT shows whether another process has read a part of a file before.
    {Let::OneOf, 5, {0}, Where::Everywhere, EOPNOTSUPP, true, {C(preadv2), C(pwritev2)}},
    // Its own descriptors.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true,
     {C(read), C(write), C(readv), C(writev), C(pread64), C(pwrite64), C(preadv), C(pwritev),
      C(lseek), C(close), C(fstat), C(ftruncate), C(copy_file_range), C(dup), C(dup2), C(dup3)}},
    // The kernel numbers pipes from one counter for all processes: a sibling could read how many there were. Watches are
    // counted for a user; and a timer is a sleep.
    {Let::Always, 0, {}, Where::NoSiblings, EPERM, true,
     {C(pipe), C(pipe2), C(epoll_create), C(epoll_create1), C(epoll_ctl), C(epoll_wait), C(epoll_pwait), C(eventfd),
      C(eventfd2), C(timerfd_create), C(timerfd_settime), C(timerfd_gettime), C(signalfd), C(signalfd4)}},
    // The machine's free memory, which a sibling could change. (libc asks for it in sort functions, and can do without.)
    {Let::Always, 0, {}, Where::NoSiblings, EPERM, false, {C(sysinfo)}},
    // Its own memory, threads, signals and timers.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true,
     {C(munmap), C(mremap), C(mprotect), C(brk), C(set_tid_address), {334, "rseq"}, C(sched_yield), C(sched_get_priority_max),
      C(sched_get_priority_min), C(getcpu), C(exit), C(exit_group), C(wait4), C(waitid), C(rt_sigaction),
      C(rt_sigprocmask), C(rt_sigreturn), C(rt_sigpending), C(rt_sigsuspend), C(sigaltstack),
      C(restart_syscall), C(pause), C(getitimer), C(timer_settime), C(timer_gettime), C(timer_getoverrun), C(timer_delete)}},
    // Harmless queries.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true,
     {C(time), C(times), C(gettimeofday), C(getrusage), C(getrlimit), C(getrandom), C(uname),
      C(getpid), C(gettid), C(getppid), C(getpgrp), C(getuid), C(geteuid), C(getgid), C(getegid), C(getresuid),
      C(getresgid), C(getgroups)}},
    // Refused without a note: libraries try them and continue. (Advice on files could empty caches that siblings share; an event
    // loop of Python 3.14 asks at its start whether it can wait for a process by a descriptor.)
    {Let::Never, 0, {}, Where::Everywhere, EPERM, false,
     {C(mlock), {325, "mlock2"}, C(mlockall), C(munlock), C(munlockall), C(mbind), C(set_mempolicy), C(get_mempolicy),
      C(fadvise64), C(readahead), {434, "pidfd_open"}}},
    // Refused and noted. They are listed for their names and errors; a call that is not listed is "syscall_<number>" with ENOSYS.
    {Let::Never, 0, {}, Where::Everywhere, EPERM, true,
     {C(fork), C(vfork), C(connect), C(bind), C(listen), C(accept), C(accept4), C(recvmsg),
      C(sendmmsg), C(recvmmsg), C(setsockopt), C(getsockopt), C(chmod),
      C(fchmod), C(fchmodat), {452, "fchmodat2"}, C(chown), C(fchown), C(lchown), C(fchownat), C(utime), C(utimes),
      C(utimensat), C(futimesat), C(setxattr), C(lsetxattr), C(fsetxattr), C(getxattr), C(lgetxattr), C(fgetxattr),
      C(listxattr), C(llistxattr), C(flistxattr), C(removexattr), C(lremovexattr), C(fremovexattr), C(flock),
      C(truncate), C(link), C(linkat), C(symlink), C(symlinkat), C(mknod), C(mknodat), C(creat), C(statfs), C(fstatfs),
      C(sync), C(syncfs), C(memfd_create), {447, "memfd_secret"}, C(splice), C(tee), C(vmsplice), C(mincore),
      C(remap_file_pages), C(shmget), C(shmat), C(shmctl), C(shmdt), C(semget), C(semop), C(semctl), C(semtimedop),
      C(msgget), C(msgsnd), C(msgrcv), C(msgctl), C(mq_open), C(mq_unlink), C(inotify_init), C(inotify_init1),
      C(fanotify_init), C(setpriority), C(sched_setaffinity), C(sched_setscheduler), C(sched_setparam),
      C(sched_setattr), C(ioprio_set), C(ioprio_get), C(setsid), C(setpgid), C(setuid), C(setgid), C(setreuid),
      C(setregid), C(setresuid), C(setresgid), C(setgroups), C(capget), C(capset), C(personality), C(syslog),
      C(vhangup), {kSysPidfdSendSignal, "pidfd_send_signal"}}},
    {Let::Never, 0, {}, Where::Everywhere, EACCES, true, {C(execve), C(socket)}},
    {Let::Never, 0, {}, Where::Everywhere, ENOSYS, true, {{437, "openat2"}}},
    // It allocates memory beyond the end of a file, which no size shows, and faster than we can poll. (libc can do without.)
    {Let::Never, 0, {}, Where::Everywhere, EOPNOTSUPP, true, {C(fallocate)}},
    // Calls that no honest program needs.
    {Let::Deadly, 0, {}, Where::Everywhere, EPERM, true,
     {C(ptrace), C(process_vm_readv), C(process_vm_writev), C(kcmp), {438, "pidfd_getfd"}, {440, "process_madvise"},
      C(unshare), C(setns), C(chroot), C(pivot_root), C(mount), C(umount2), {428, "open_tree"}, {429, "move_mount"},
      {430, "fsopen"}, {431, "fsconfig"}, {432, "fsmount"}, {433, "fspick"}, {442, "mount_setattr"}, C(swapon),
      C(swapoff), C(reboot), C(sethostname), C(setdomainname), C(settimeofday), C(clock_settime), C(adjtimex),
      C(clock_adjtime), C(iopl), C(ioperm), C(modify_ldt), C(init_module), C(finit_module), C(delete_module),
      C(kexec_load), C(kexec_file_load), C(bpf), C(perf_event_open), C(userfaultfd), {425, "io_uring_setup"},
      {426, "io_uring_enter"}, {427, "io_uring_register"}, C(io_setup), C(io_submit), C(add_key), C(request_key),
      C(keyctl), C(seccomp), C(name_to_handle_at), C(open_by_handle_at), C(acct), C(quotactl), C(lookup_dcookie)}},
};

// What no compiler needs, and no step may do. All other calls are allowed. (The calls that are deadly to contestants are refused too.)
constexpr CallRule kStepRules[] = {
    {Let::Never, 0, {}, Where::Everywhere, EPERM, false, {C(socket), C(connect)}},
    {Let::Never, 0, {}, Where::Everywhere, ENOSYS, false, {{kSysClone3, "clone3"}}},  // libc takes clone then
    // A sibling would be our child: it would not be seen, and the end of the PID namespace would wait until we reap it. Nor may a
    // process wait for a thread as for a vfork: it would look like one that waits for a disk.
    {Let::Without, 0, {kNewNamespaces | CLONE_PARENT, CLONE_THREAD | CLONE_VFORK}, Where::Everywhere, EPERM, false, {C(clone)}},
    {Let::OneOf, 0, {0}, Where::Everywhere, EPERM, false, {C(prlimit64)}},  // only its own limits
    // A descriptor must not send signals to a process, nor tell when others use a directory or file. Pipes keep their size, because
    // the kernel limits all of a user's together: a process with 64 of 1 MiB would leave other programs only small FIFOs. A file may
    // have any number of record locks, whose memory nothing counts. (It has one flock for each open.)
    {Let::ControlExcept, 1, {F_SETLK, F_SETLKW, 37 /* F_OFD_SETLK */, 38 /* F_OFD_SETLKW */, F_SETOWN, 15 /* F_SETOWN_EX */,
                             1024 /* F_SETLEASE */, 1026 /* F_NOTIFY */, 1031 /* F_SETPIPE_SZ */},
     Where::Everywhere, EPERM, false, {C(fcntl)}},
    // As for contestants, because of Landlock; and nothing waits for a disk on purpose, as such a wait is not the program's.
    {Let::Opening, 1, {kOpenWaits}, Where::Everywhere, EOPNOTSUPP, false, {C(open)}},
    {Let::Opening, 2, {kOpenWaits}, Where::Everywhere, EOPNOTSUPP, false, {C(openat)}},
};

// What a step must not do to other processes and files of its user, unless it builds a judge program by its author's script.
constexpr CallRule kMoreStepRules[] = {
    // Processes stay in the group of the step's first process, by which all are ended at once. Memory that no process maps would not
    // count (memory files, sockets, shared memory, rules of Landlock).
    {Let::Never, 0, {}, Where::Everywhere, EPERM, false,
     {C(kill), C(tkill), C(tgkill), C(rt_sigqueueinfo), C(rt_tgsigqueueinfo), {kSysPidfdSendSignal, "pidfd_send_signal"},
      C(setpriority), C(ioprio_set), C(sched_setaffinity), C(sched_setscheduler), C(sched_setparam), C(sched_setattr), C(truncate),
      C(chown), C(fchown), C(lchown), C(fchownat), C(utime), C(utimes), C(utimensat), C(futimesat), C(setxattr), C(lsetxattr),
      C(fsetxattr), C(removexattr), C(lremovexattr), C(fremovexattr), C(shmget), C(shmat), C(shmctl), C(semget), C(semop),
      C(semtimedop), C(semctl), C(msgget), C(msgsnd), C(msgrcv), C(msgctl), C(mq_open), C(mq_unlink), C(setsid), C(setpgid),
      C(memfd_create), {447, "memfd_secret"}, C(inotify_init), C(inotify_init1), C(fanotify_init), C(bind), C(socketpair),
      C(sendto), C(sendmsg), C(sendmmsg), {kSysLandlockCreateRuleset, "landlock_create_ruleset"},
      {kSysLandlockAddRule, "landlock_add_rule"}}},
    // A change of a file's mode seems to succeed, because linkers make their output executable. Nothing waits for a disk to be
    // written, or empties a cache to read a file again: a wait for a disk is not the program's.
    {Let::Never, 0, {}, Where::Everywhere, 0, false,
     {C(chmod), C(fchmod), C(fchmodat), {452, "fchmodat2"}, C(sync), C(syncfs), C(fsync), C(fdatasync), C(sync_file_range), C(msync),
      C(fadvise64)}},
    {Let::OneOf, 5, {0}, Where::Everywhere, EOPNOTSUPP, false, {C(preadv2), C(pwritev2)}},
    {Let::OneOf, 1, {0, 1 /* FALLOC_FL_KEEP_SIZE */}, Where::Everywhere, EOPNOTSUPP, false, {C(fallocate)}},
    {Let::NoneOf, 2, {20, 21 /* MADV_COLD, MADV_PAGEOUT */}, Where::Everywhere, EINVAL, false, {C(madvise)}},
    {Let::OneOf, 1, {0x5401 /* TCGETS */, 0x802c542a /* TCGETS2 */, 0x5413 /* TIOCGWINSZ */, 0x541b /* FIONREAD */,
                     0x5421 /* FIONBIO */, 0x5450 /* FIONCLEX */, 0x5451 /* FIOCLEX */}, Where::Everywhere, ENOTTY, false, {C(ioctl)}},
    {Let::Never, 0, {}, Where::Everywhere, ENOSYS, false, {{437, "openat2"}}},  // a filter cannot check its flags, which are in memory
    {Let::NotAllOf, 3, {MAP_SHARED | MAP_ANONYMOUS}, Where::Everywhere, EPERM, false, {C(mmap)}},
    // A process that ignores SIGCHLD reaps its children without adding their time to its own. The call seems to succeed, because
    // compilers' drivers make it, to have the default. (A shell script in place of a compiler that waits for a command in the
    // background waits for ever; `make` too.)
    {Let::OtherSignal, 0, {}, Where::Everywhere, 0, false, {C(rt_sigaction)}},
};
constexpr long kLastStepCall = 453;  // Linux 6.6 and newer (setxattrat, file_setattr): no compiler needs such a call

#undef C

// Calls that are in no table: refused, allowed, or of another ABI.
constexpr CallRule kUnlisted = {Let::Never, 0, {}, Where::Everywhere, ENOSYS, true, {}};
constexpr CallRule kAllowed = {Let::Always, 0, {}, Where::Everywhere, 0, false, {}};
constexpr CallRule kForeignAbi = {Let::Deadly, 0, {}, Where::Everywhere, ENOSYS, true, {}};

constexpr bool each_call_stands_once() {
  bool seen[kCalls] = {};
  for (const CallRule& rule : kCallRules) {
    for (const CallName& call : rule.calls) {
      if (seen[call.number]) return false;
      seen[call.number] = true;
    }
  }
  return true;
}
static_assert(each_call_stands_once(), "kCallRules decides on a call twice");

}  // namespace runner
