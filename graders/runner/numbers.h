// Our numbers: descriptors, sizes, times.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

namespace runner {

constexpr int kControlFd = 200;  // a contestant's control socket, until its exec
constexpr int kProgramFd = 201;  // its program, until its exec
constexpr int kTaskFd = 3, kReportFd = 4, kWithFd = 5;  // of an interpreter: its program, what it reports, what it needs
constexpr int kLeastFds = 320;  // of our own: numbers above these two must be possible
constexpr rlim_t kContestantFds = 128;  // libraries of contests hide a descriptor at 100 (CEOI 2026)
static_assert(kControlFd >= static_cast<int>(kContestantFds), "a contestant must not be able to own these numbers");
constexpr rlim_t kNoCore = 1;  // too little for a file, and unlike 0 it stops the kernel from starting a core handler
constexpr rlim_t kWaitingSignals = 64;
constexpr rlim_t kMoreThreadsOfOthers = 4096;
constexpr int kJudgeInputFd = 10, kJudgeResultFd = 11, kJudgeOutputFd = 12, kJudgeProgramFd = 13,
              kJudgeLastFd = 14;

constexpr int64_t kScratchBytes = 16 << 20;  // what a contestant may keep in files
constexpr int kScratchFiles = 256;
constexpr int kLooksAtTables = 8;  // one of so many looks counts page tables
// Of page tables, beside twice what the memory limit needs. A page in each 2 MiB that may be reserved takes less.
constexpr int64_t kTablesBytes = 32 << 20;
constexpr int64_t kScratchSlackBytes = 1 << 20;  // for a file of a stated size: the blocks that a file system adds
constexpr int64_t kFileSlackBytes = 256 << 20;  // by how much a file may outgrow its limit before polling sees it
constexpr size_t kMostNames = 32;             // of refused calls, in one report
constexpr int kMostRefusals = 1000;          // after that the kernel refuses by itself
constexpr size_t kMessageBytes = 4000;
constexpr size_t kScoreBytes = 4096;         // of the line or file that a judge program gives a score in
constexpr size_t kStderrBytes = 2000;        // of what is kept, this much is in a line
constexpr int64_t kWarmUs = 30'000'000;      // for an interpreter to start, or to answer, on a loaded machine
constexpr size_t kReportBytes = 16384;       // the longest report of an interpreter
constexpr int64_t kFirstTickUs = 1000, kTickUs = 5000;  // between two looks at what runs
constexpr int64_t kManagerIdleUs = 10'000'000;  // a manager that does nothing after all contestants have ended
constexpr int64_t kManagerGraceUs = 200'000;    // how long after a manager's failure a contestant's own may show
constexpr int64_t kHiddenDelayUs = 2'000'000;   // that a process may get no processor, where /proc hides what it waits for
constexpr int kStepTickMs = 20;               // between two looks at the processes of a step: what grows in between has rlimits
constexpr size_t kStepFloodBytes = 64 << 20;    // a step that prints more than this is stopped
constexpr int64_t kStepFileSlackBytes = 1 << 30;  // polling sees a file over its limit long before it has grown so much

constexpr uint32_t kOpenRefused = 020000000 | 010000000;  // under reduced isolation: __O_TMPFILE, O_PATH

const char* const kHiddenCall = "hidden_call";  // in the place of a deadly call's name that no listener has heard
const char* const kPath = "/usr/local/bin:/usr/bin:/bin";
const char* const kKilledFromOutside = "killed from outside: is there memory left?";

}  // namespace runner
