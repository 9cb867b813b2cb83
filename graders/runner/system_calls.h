// Which system calls a contestant may make, as rules; seccomp.h makes the filter of them.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>

#include <initializer_list>

#include "kernel.h"
#include "numbers.h"

namespace runner {

// What a contestant may call, and why: groups of calls under one rule. A call that stands nowhere is refused.

enum class Let {
  Always,
  OnSelf,    // argument `arg` is 0 or the process's own id
  SignalSelf,  // the same, and the signal, argument values[0], is neither SIGKILL nor SIGSYS: those are ours and the filter's
  OneOf,     // argument `arg` is one of `values`
  Without,   // argument `arg` has none of the bits of values[0]
  OwnClock,  // argument `arg` is no clock of another process (those are negative numbers)
  Counted,   // a mapping whose pages are counted as resident: no huge ones; shared ones of a file only, to read
  Private,   // among siblings: a futex of this process alone, or a wait; no wait with a time at which it ends
  Untimed,   // argument `arg`, the address of a time to wait for, is null
  Unwaiting, // argument `arg`, milliseconds to wait for, is 0, or negative: without end
  Pair,      // two connected stream sockets of this process
  Connected, // to and from a connected socket: no address, no flags but those of plain reads and writes
  Told,      // as OwnClock; and if there is a listener, it lets the call pass
  OwnLimit,  // argument 0 is 0 or the process's own id, and argument 2 is null or argument 1 one of `values`
  Never,     // refused by errno
  Deadly,    // has no honest use: ends the program
};

// A narrower place makes `Never` of a rule. Siblings are other processes of the same submission, also those of other passes.
enum class Where {
  Everywhere,
  Full,         // not under reduced isolation
  Sibling,      // only for a contestant with siblings: for others the rule is Always
  OnlyChild,    // not for a contestant with siblings
  FullAlone,    // neither under reduced isolation nor with siblings
  OrFull,       // not for a contestant with siblings, under reduced isolation
  OrApart,      // the same, nor where siblings map the same libraries
  Sockets,      // only for an interpreted contestant without siblings: it may have pairs of sockets
  NoSockets,    // not for one of those
};

struct CallName {
  long number;
  const char* name;
};

struct Rule {
  Let let;
  int arg;
  std::initializer_list<uint32_t> values;
  Where where;
  int error;   // what a refusal answers
  bool noted;  // whether the runner hears of a refusal
  std::initializer_list<CallName> calls;
};

#define C(name) \
  { SYS_##name, #name }

constexpr uint32_t kThread = 0x50f00;  // CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM

// No call stands twice (asserted below), and the filter finds a call by its number: the order is for readers only. Calls
// with a condition come first.
constexpr Rule kRules[] = {
    // Huge pages are not counted as resident; shared pages are kept when nobody has them mapped, and then not counted either.
    {Let::Counted, 0, {}, Where::Everywhere, ENOMEM, true, {C(mmap)}},
    // Without a flag by which a thread gets a table of descriptors of its own, as it would by clone.
    {Let::Without, 2, {2 /* CLOSE_RANGE_UNSHARE */}, Where::Everywhere, EPERM, true, {{kSysCloseRange, "close_range"}}},
    // Files without a name escape the count of a scratch directory that is not a
    // file system of its own; O_PATH would look at what Landlock does not let it open.
    {Let::Without, 2, {kOpenRefused}, Where::Everywhere, EOPNOTSUPP, true, {C(openat)}},
    {Let::Without, 1, {kOpenRefused}, Where::Everywhere, EOPNOTSUPP, true, {C(open)}},
    // NORMAL to DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP. PAGEOUT or COLD would hide pages from the count.
    {Let::OneOf, 2, {0, 1, 2, 3, 4, 8, 14, 15, 16, 17}, Where::Everywhere, EINVAL, false, {C(madvise)}},
    // Within the process: QUERY, PRIVATE_EXPEDITED and SYNC_CORE with their registrations. GLOBAL waits for all processors
    // of the machine without using CPU time, and interrupts them.
    {Let::OneOf, 0, {0, 8, 16, 32, 64}, Where::Everywhere, EINVAL, false, {C(membarrier)}},
    // Threads, not processes: CPU time and memory are counted for one process, and nothing outlives it. With one table of
    // descriptors for all of them, or each could hold as many pipes full of bytes as a process may. Whole sets of flags, not
    // single ones: a descriptor of a thread (CLONE_PIDFD) has a number from a counter for all, VFORK is a wait that looks
    // like work, and the next kernel may have more.
    // With siblings not even threads where that would be a channel between them: under reduced isolation their ids; on a
    // shared library's page the wake-up call that the kernel makes at a thread's end.
    {Let::OneOf, 0, {kThread | 0x380000 /* SETTLS, PARENT_SETTID, CHILD_CLEARTID: glibc */,
                     kThread | 0x780000 /* the same, DETACHED: musl */, kThread /* by hand */}, Where::OrApart, EPERM, true,
     {C(clone)}},
    // The kernel wakes who waits for a lock that its holder had when it died, on whatever page that is.
    {Let::Always, 0, {}, Where::OrApart, ENOSYS, false, {C(set_robust_list)}},
    // A futex that is not private is known by its file where a file is mapped: siblings meet on a page of libc, if they have
    // one. Waiting alone tells nothing, and libc waits so for a thread's end. (std::future wakes by one that is not private.)
    {Let::Private, 1, {}, Where::Everywhere, EPERM, true, {C(futex)}},
    {Let::Never, 0, {}, Where::Everywhere, ENOSYS, false, {C(clone3)}},  // glibc takes clone then; EPERM breaks std::thread
    // Clocks of other processes tell how they spend their time.
    {Let::OwnClock, 0, {}, Where::Everywhere, EINVAL, true, {C(clock_gettime), C(clock_getres)}},
    // A timer can send any signal, SIGKILL too: the runner wants to know.
    {Let::Told, 0, {}, Where::OnlyChild, EAGAIN, true, {C(timer_create)}},
    // Siblings do not wait for a time. How long one keeps the manager waiting the next one measures, and the time in which
    // nobody works costs neither of them anything. So a sleep is over at once, an alarm never rings, and a wait is for the
    // manager or for a thread. (What is left is to work for so long, which counts against the limit.)
    {Let::OwnClock, 0, {}, Where::OnlyChild, 0, true, {C(clock_nanosleep)}},
    {Let::Always, 0, {}, Where::OnlyChild, 0, true, {C(nanosleep), C(alarm), C(setitimer)}},
    {Let::Always, 0, {}, Where::OnlyChild, EAGAIN, true, {C(rt_sigtimedwait)}},
    {Let::Unwaiting, 2, {}, Where::Sibling, EINVAL, true, {C(poll)}},
    {Let::Untimed, 2, {}, Where::Sibling, EINVAL, true, {C(ppoll)}},
    {Let::Untimed, 4, {}, Where::Sibling, EINVAL, true, {C(select), C(pselect6)}},
    {Let::Untimed, 3, {}, Where::Sibling, EINVAL, true, {{449, "futex_waitv"}}},
    // Signals to itself: abort, raise. A SIGKILL that we did not send means that the machine ran out of memory.
    {Let::SignalSelf, 0, {1}, Where::Everywhere, EPERM, true, {C(kill), C(tkill), C(rt_sigqueueinfo)}},
    {Let::SignalSelf, 0, {2}, Where::Everywhere, EPERM, true, {C(tgkill), C(rt_tgsigqueueinfo)}},
    // Questions about itself.
    {Let::OnSelf, 0, {}, Where::Everywhere, EPERM, true,
     {C(getpgid), C(getsid), C(get_robust_list), C(sched_getparam), C(sched_getscheduler), C(sched_getattr)}},
    // A thread of Rust's asks glibc for its stack, which asks this by the thread's number, and does without (ENOSYS alone).
    {Let::OnSelf, 0, {}, Where::Everywhere, ENOSYS, false, {C(sched_getaffinity)}},
    // Older kernels answer by how many want the processor.
    {Let::OnSelf, 0, {}, Where::OnlyChild, EPERM, true, {C(sched_rr_get_interval)}},
    {Let::OnSelf, 1, {}, Where::Everywhere, EPERM, true, {C(getpriority)}},
    // Limits can be asked for; none can be raised, and only those lowered with which the kernel does not send signals: a
    // SIGKILL for a CPU limit of the program's own would look like one from outside.
    {Let::OwnLimit, 0, {RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_AS}, Where::Everywhere, EPERM, true, {C(prlimit64)}},
    {Let::OneOf, 0, {RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_AS}, Where::Everywhere, EPERM, true, {C(setrlimit)}},
    // (Not even that of core files: ours stops the kernel from piping one to a program, a limit of 0 does not.)
    // Many calls in one: no locks, leases, owners or signals of descriptors; what isatty and stdio ask of a device.
    {Let::OneOf, 1, {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, 1032 /* F_GETPIPE_SZ */},
     Where::Everywhere, EPERM, true, {C(fcntl)}},
    {Let::OneOf, 1, {0x5401 /* TCGETS */, 0x5413 /* TIOCGWINSZ */, 0x541b /* FIONREAD */, 0x5421 /* FIONBIO */,
                     0x5450 /* FIONCLEX */, 0x5451 /* FIOCLEX */}, Where::Everywhere, ENOTTY, true, {C(ioctl)}},
    {Let::OneOf, 0, {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS,
                     PR_GET_PDEATHSIG, PR_GET_TIMERSLACK, 0x53564d41 /* PR_SET_VMA */},
     Where::Everywhere, EINVAL, true, {C(prctl)}},
    {Let::OneOf, 0, {0x1001, 0x1002, 0x1003, 0x1004 /* ARCH_{SET,GET}_{FS,GS} */}, Where::Everywhere, EINVAL, false,
     {C(arch_prctl)}},
    // The launcher's last steps, with numbers that a contestant can never own.
    {Let::OneOf, 0, {kControlFd}, Where::Everywhere, EPERM, true, {C(sendmsg)}},
    {Let::OneOf, 0, {kProgramFd}, Where::Everywhere, EACCES, true, {C(execveat)}},
    // An event loop wakes itself by a pair of sockets (asyncio has one as soon as it is there). Nobody else can have an end of
    // it: a descriptor travels by sendmsg alone. Streams only, as a datagram can be sent to whoever has a name; no flags,
    // one of which (MSG_OOB) is used by nobody and has had holes. Siblings would meet in the counter that numbers them.
    {Let::Pair, 0, {AF_UNIX, SOCK_STREAM, SOCK_NONBLOCK | SOCK_CLOEXEC}, Where::Sockets, EACCES, true, {C(socketpair)}},
    {Let::Connected, 3, {MSG_DONTWAIT | MSG_NOSIGNAL}, Where::Sockets, EPERM, true, {C(sendto)}},
    {Let::Connected, 3, {MSG_DONTWAIT | MSG_PEEK | MSG_WAITALL}, Where::Sockets, EPERM, true, {C(recvfrom)}},
    {Let::Always, 0, {}, Where::Sockets, EPERM, true, {C(getsockname), C(getpeername), C(shutdown)}},
    // To a socket it sends pages of a file as they are: a byte of each is counted, and the whole page is kept.
    {Let::Always, 0, {}, Where::NoSockets, EINVAL, false, {C(sendfile)}},
    // Files in the scratch directory.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true, {C(getcwd), C(getdents64), C(umask)}},
    // Taken away while open, they escape the count too.
    {Let::Always, 0, {}, Where::Full, EPERM, true,
     {C(unlink), C(unlinkat), C(rename), C(renameat), C(renameat2), C(mkdir), C(mkdirat), C(rmdir)}},
    // Landlock does not keep a path from being looked at; /proc would show siblings to each other. (A loader must look, and so
    // passes of a program that has one may: they never live at the same time.)
    {Let::Always, 0, {}, Where::OrFull, EACCES, false,
     {C(stat), C(lstat), C(newfstatat), C(statx), C(access), C(faccessat), {439, "faccessat2"}, C(chdir), C(fchdir)}},
    // It would tell where the judge keeps the input.
    {Let::Always, 0, {}, Where::Full, EACCES, false, {C(readlink), C(readlinkat)}},
    // To wait for a real disk is to wait without using CPU time: where the scratch directory is on one, or libraries that
    // siblings see, it is done at once.
    {Let::Always, 0, {}, Where::FullAlone, 0, false, {C(fsync), C(fdatasync), C(msync)}},
    // Without flags: one of them (RWF_NOWAIT) tells whether somebody has read a part of a file before.
    {Let::OneOf, 5, {0}, Where::Everywhere, EOPNOTSUPP, true, {C(preadv2), C(pwritev2)}},
    // Its own descriptors.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true,
     {C(read), C(write), C(readv), C(writev), C(pread64), C(pwrite64), C(preadv), C(pwritev),
      C(lseek), C(close), C(fstat), C(ftruncate), C(copy_file_range), C(dup), C(dup2), C(dup3)}},
    // The kernel numbers pipes from one counter for all processes: a sibling could read from it how many there were. It counts
    // what is watched for a user; and a timer is a sleep.
    {Let::Always, 0, {}, Where::OnlyChild, EPERM, true,
     {C(pipe), C(pipe2), C(epoll_create), C(epoll_create1), C(epoll_ctl), C(epoll_wait), C(epoll_pwait), C(eventfd),
      C(eventfd2), C(timerfd_create), C(timerfd_settime), C(timerfd_gettime), C(signalfd), C(signalfd4)}},
    // How much memory is free on the machine: a sibling could make it more or less. (libc asks, to sort, and does without.)
    {Let::Always, 0, {}, Where::OnlyChild, EPERM, false, {C(sysinfo)}},
    // Its own memory, threads, signals and timers.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true,
     {C(munmap), C(mremap), C(mprotect), C(brk), C(set_tid_address), {334, "rseq"}, C(sched_yield), C(sched_get_priority_max),
      C(sched_get_priority_min), C(getcpu), C(exit), C(exit_group), C(wait4), C(waitid), C(rt_sigaction),
      C(rt_sigprocmask), C(rt_sigreturn), C(rt_sigpending), C(rt_sigsuspend), C(sigaltstack),
      C(restart_syscall), C(pause), C(getitimer), C(timer_settime), C(timer_gettime), C(timer_getoverrun), C(timer_delete)}},
    // Harmless questions.
    {Let::Always, 0, {}, Where::Everywhere, EPERM, true,
     {C(time), C(times), C(gettimeofday), C(getrusage), C(getrlimit), C(getrandom), C(uname),
      C(getpid), C(gettid), C(getppid), C(getpgrp), C(getuid), C(geteuid), C(getgid), C(getegid), C(getresuid),
      C(getresgid), C(getgroups)}},
    // Refused quietly: libraries try them and go on. (Advice on files could empty caches that siblings share.)
    {Let::Never, 0, {}, Where::Everywhere, EPERM, false,
     {C(mlock), {325, "mlock2"}, C(mlockall), C(munlock), C(munlockall), C(mbind), C(set_mempolicy), C(get_mempolicy),
      C(fadvise64), C(readahead)}},
    // Refused and noted. They stand here for their names and errors; what does not is "syscall_<number>" and ENOSYS.
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
      C(vhangup), {kSysPidfdSendSignal, "pidfd_send_signal"}, {434, "pidfd_open"}}},
    {Let::Never, 0, {}, Where::Everywhere, EACCES, true, {C(execve), C(socket)}},
    {Let::Never, 0, {}, Where::Everywhere, ENOSYS, true, {{437, "openat2"}}},
    // It takes memory behind the end of a file, which no size tells, and faster than it can be looked at. (libc does without.)
    {Let::Never, 0, {}, Where::Everywhere, EOPNOTSUPP, true, {C(fallocate)}},
    // No honest use.
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

#undef C

constexpr bool each_call_stands_once() {
  bool seen[512] = {};
  for (const Rule& rule : kRules) {
    for (const CallName& call : rule.calls) {
      if (seen[call.number]) return false;
      seen[call.number] = true;
    }
  }
  return true;
}
static_assert(each_call_stands_once(), "kRules decides on a call twice");

}  // namespace runner
