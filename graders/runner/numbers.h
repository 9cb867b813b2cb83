// Numbers that only the runner uses: descriptors, sizes, times. Those that other programs must know are in rules.h.
#pragma once

#include "system.h"

namespace runner {

// Descriptors. A contestant's control socket, and what it executes, have these numbers until its exec: it can never own them.
constexpr int kControlFd = 200;
constexpr int kExecutedFd = 201;
constexpr rlim_t kContestantFds = 128;  // not fewer: libraries of CEOI 2026 duplicate a descriptor to number 100
static_assert(kControlFd >= static_cast<int>(kContestantFds), "a contestant must not be able to own these numbers");
constexpr int kLeastFds = 320;  // the least limit on the runner's own descriptors: above all numbers that it uses
// The least limits of a job on a worker. With less, correct programs fail: sandbox/least_limits.py (file size, stack) and
// sandbox/piston/conditions.py (processes) say why.
constexpr rlim_t kLeastProcesses = 64;
constexpr rlim_t kLeastFileBytes = 320 << 20;
constexpr rlim_t kLeastStackBytes = 64 << 20;
// An interpreter finds its program, its report and its file here.
constexpr int kProgramFd = 3, kReportFd = 4, kInterpreterFileFd = 5;
constexpr int kRequestsFd = 3;  // a warm interpreter gets its requests here
constexpr int kJudgeInputFd = 10, kJudgeAnswerFd = 11, kJudgeOutputFd = 12, kJudgeProgramFd = 13;
constexpr int kJudgeLastFd = 180;  // above the FIFOs that a manager opens: two for each process, with the lowest free numbers

// A contestant's limits that the plan does not state.
constexpr rlim_t kNoCore = 1;  // too little for a file, and unlike 0 it stops the kernel from starting a core handler
constexpr rlim_t kWaitingSignals = 64;
constexpr rlim_t kMoreThreadsOfOthers = 4096;  // how many more threads the machine may get while a test runs
constexpr long kSureThreads = 64;  // that a program can start; our sandbox checks it at the start. Source: config.py, RunPolicy.threads
constexpr rlim_t kJudgeProcesses = 1000;  // of a judge program, with their threads. Source: CMS's limit for compilers
constexpr rlim_t kOwnProcesses = 32;  // that a job needs besides the threads of a program
constexpr int64_t kScratchBytes = 16 << 20;    // of files in its scratch directory
constexpr int kScratchFiles = 256;
constexpr int64_t kScratchSlackBytes = 1 << 20;  // a file may take this much more than its size on a disk
constexpr int64_t kFileSlackBytes = 256 << 20;   // a file may exceed its limit by this much before polling sees it
constexpr int64_t kManagersFilesBytes = 128 << 20;  // a manager may read this much of files that are not the test's
// Page tables may take twice what the memory limit needs, plus this. One page in each 2 MiB of the address space takes less.
constexpr int64_t kTablesBytes = 32 << 20;

// How much of a text goes into a line.
constexpr size_t kMessageBytes = 4000;
constexpr size_t kStderrBytes = 2000;
constexpr size_t kReportBytes = 16384;  // an interpreter's report
constexpr size_t kMaxNames = 32;        // a line names at most this many refused calls
constexpr size_t kScoreBytes = 4096;    // a longer line or file is not a score
constexpr int64_t kMostPoints = 1'000'000'000;  // the most that a plan may state of points, scores and steps
constexpr int kPipeBytes = 65536;       // what a FIFO holds. Source: pipe(7)

// How often the runner looks, and how long it waits.
constexpr int64_t kFirstTickUs = 1000, kTickUs = 5000;  // how often it looks at the processes; at first more often
constexpr int64_t kLongestTickUs = 100'000;             // more time between two looks does not count
constexpr int kLooksAtTables = 8;                       // at every eighth look it counts page tables and swapped pages
constexpr int kMaxRefusals = 1000;                      // it answers this many refused calls; then the kernel refuses without asking
constexpr int64_t kWarmUs = 30'000'000;                 // a warm interpreter must start and answer within this, also on a loaded machine
constexpr int64_t kManagerIdleUs = 10'000'000;          // a manager may be idle this long after all contestants have ended
constexpr int64_t kManagerMoreMs = 400;                 // of CPU time beyond its limit, to find out who keeps it busy
constexpr int64_t kManagerGraceUs = 200'000;            // how long after a manager's failure a contestant's own failure is awaited
constexpr int64_t kHiddenDelayUs = 2'000'000;           // a process may get no processor for this long if /proc hides what it waits for

// Steps of a compilation.
constexpr int kStepTickMs = 20;                   // how often it looks at their processes; rlimits bound what grows in between
constexpr size_t kStepFloodBytes = 64 << 20;      // a step that prints more than this is stopped
constexpr int kStepFiles = 1'000, kStepDepth = 50;  // more files, or directories in directories, are too many
constexpr int kStepDescriptors = 256;             // of a process; each pipe takes kernel memory that belongs to no process
constexpr int64_t kRoundingBytes = 8 << 20;       // a file system rounds the size of each file up to whole pages
constexpr int64_t kStepFileSlackBytes = 1 << 30;  // polling sees a file over its limit long before it has grown by this

// Bounds of files that a client, who may be hostile, has packed. `ioi-eval serve` has the same for whole requests (json_bodies.py).
constexpr size_t kMostPackedBytes = 512 << 20, kMostUnpackedBytes = 64 << 20, kMostRatio = 32;

constexpr int kNotStoredCode = 66;  // the exit code if a problem's package lacks files of the job; `graders/stored/run` has it too
constexpr const char* kHiddenCall = "hidden_call";  // replaces the name of a deadly call that the listener did not receive
constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin";
constexpr const char* kOverCpu = "over its CPU limit";
constexpr const char* kNoThreadsLeft =
    "other programs have used up the limit on processes, so this one may have failed to start threads: raise the limit (ulimit -u)";
constexpr const char* kTooBusy = "the machine is too busy to judge";
constexpr const char* kKilledFromOutside = "killed from outside: is there memory left?";

}  // namespace runner
