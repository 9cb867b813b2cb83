// Definitions that the headers of an older system (Debian 11: Linux 5.10, glibc 2.31) lack. The runner asks the kernel at run
// time which features it has.
#pragma once

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>

#if !defined(__x86_64__)
#error "The runner's table of system calls is written for x86-64."
#endif

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW (1UL << 2)
#endif

namespace runner {

constexpr int kVersion = 1;

constexpr long kSysPidfdSendSignal = 424;
constexpr long kSysPidfdOpen = 434;
constexpr long kSysCloseRange = 436;
constexpr long kSysMountSetattr = 442;
constexpr long kSysLandlockCreateRuleset = 444;
constexpr long kSysLandlockAddRule = 445;
constexpr long kSysLandlockRestrictSelf = 446;

}  // namespace runner
