// The runner: the judge inside the box. It reads a plan, starts programs, watches them, and prints lines.
//
// THEORY OF OPERATION
//
// The page PROTOCOL.md says what goes in and out. This essay says how a test is run, and why so.
//
// The runner is one small, single-threaded process. Beside it live, for the length of one test: the *contestants*
// (the submission; several in a Communication task), the *judges* (checker, manager), and for each contestant the
// first process of a PID namespace. In compile mode there are *steps* instead. It trusts the plan and the judges; of a
// contestant it believes nothing.
//
//   runner ─┬─ PID 1 ····of a namespace that lives for one process of one test
//           │    └─ (the contestant is PID 2 there, but the runner's own child)
//           ├─ contestant      root directory of its own, no capabilities, Landlock, seccomp, rlimits
//           └─ judge           sees everything that the plan names, by descriptor
//
// Isolation comes in two strengths, and the runner uses the best that it finds (capabilities.h):
//
//   full      a PID namespace for each contestant, a root directory of its own (a tmpfs with /dev/null, a bounded
//             scratch directory and, in some tasks, two FIFOs), no capabilities, seccomp; Landlock where it exists.
//   reduced   no namespaces: Landlock keeps every path but the scratch directory away, seccomp keeps every other
//             process away. Either of the two missing: `none`.
//
// Seccomp is an allowlist (system_calls.h). A call that is not on it reaches the runner through a seccomp
// listener: the runner notes its name and refuses it by errno, so that an honest program that tries `system("pause")`
// goes on; a call with no honest use ends the program (verdict SV). After many refusals the listener is closed, and
// the kernel refuses by itself: refusals can cost the judge a bounded time only. Where a filter outside of ours (a container's)
// has an error for a call, no listener hears of it: there our filter itself refuses, or kills, with the same verdict.
//
// Starting a contestant. The child sets itself up in the order in which each step still permits the next: session,
// FIFOs, root directory, rlimits, capabilities, no_new_privs, Landlock, seccomp. Seccomp comes before exec, so the
// filter must let pass what is still to be done: a `sendmsg` that hands the listener to the runner, and one `execveat`
// of the program. Both are allowed for one descriptor number each, both above the descriptor limit of a contestant and
// closed by the exec: the program can never own these numbers. The end of that socket tells the runner that the exec
// has happened; the clocks of a contestant start there.
//
// No process is given a descriptor that another has: an input is opened anew through /proc/self/fd for each reader (a
// shared offset would be a channel, or a fault). Outputs are memory files. A contestant's program is copied into a
// memory file with mode 0111, so that it can be executed but not read, and the kernel makes its process undumpable.
//
// Watching. The runner sleeps in ppoll on pidfds and wakes every 1 to 5 ms to read three numbers of each process: CPU
// time (its CPU clock), run-queue delay (schedstat of its threads) and resident memory; and now and then a fourth, the
// size of its page tables, which are no part of that. *Idle* time is what remains of an interval after CPU time and
// run-queue delay; only idle time, never the wall clock, makes a program that waits a TLE: a loaded machine cannot. The
// numbers that are judged come from wait4 when all is over. The runner maps no test data and stays small: a child's peak
// memory as the kernel counts it begins with its parent's at the fork.
//
// Communication. The manager runs beside the contestants and talks to them over FIFOs. Two questions are hard.
// *Who is blocked by whom?* A process that ends before it has opened its FIFOs would leave its peer in open(2) for
// ever, and a spare end held by the runner would hide the end of file. So while one side is dead the runner opens and
// closes that side's ends, without blocking, at every tick: a blocked open returns, and reads find the end of file.
// *Who ended first?* A program that crashes makes most managers print 0; a manager that is done makes many stubs exit
// with an error. The order in which the runner sees two deaths is the scheduler's. But each side must close its FIFOs
// to be noticed by the other, and inotify reports these closes in the order in which the kernel made them. So:
//   - TLE, MLE, OLE, SV and death by a signal other than SIGPIPE are the program's doing, whenever they happen;
// (The manager has hung up on a process when it has closed both FIFOs: an end of file may be its last word.)
//   - a non-zero exit code or SIGPIPE is the program's doing if it hung up first; if the manager hung up first it is a
//     consequence: a manager's score of 0 stands (WA). A higher score does not: CMS gives 0 then, and so do we (RE).
//   - a manager that fails is at fault (JE) unless a contestant failed by these rules, with one exception: SIGPIPE after
//     a contestant has hung up. The program can cause that at will, so it is its own 0 (WA), not the judge's error.
// Source: CMS's Communication task type gives 0 whenever a process fails, and an error when the manager fails.
//
// After a test all of its processes are killed and reaped, its directories unmounted or emptied, its descriptors closed.
//
// Two ways to report failure, never mixed: a `Fault` is ours (the job has no result), a verdict is theirs. A judge program
// that fails makes a JE line, which is about one test; it is neither. A fault is thrown: on its way up to `main`, which prints
// it, it ends the processes and removes the directories that it passes. No child throws one: what a child does before its exec
// is `noexcept`.
//
// There are no global variables. `main` owns what lives as long as the job (plan, machine, files, lines), run mode what the
// tests share (Job, WarmInterpreter), a test its own state; each function is given what it needs.

// The parts are headers in `runner/`. Each includes what it names and compiles alone; they travel as one file. From the
// bottom up:
// kernel, rules, numbers, verdicts, tasks, json, lines, descriptors, decimal, reader, comparators, protocols, bytes,
// white_diff, tokens, plan_lines, scores, plan, job_files, plan_reader, system_calls, decisions, seccomp, landlock,
// directories, pid_namespaces, capabilities, processes, hidden_calls, proc_files, job, process_directories, contestants,
// warm_interpreter, judges, outcome, hang_ups, passes, test_state, watching, one_test, run_mode, compile_mode.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "runner/compile_mode.h"
#include "runner/decisions.h"
#include "runner/descriptors.h"
#include "runner/hidden_calls.h"
#include "runner/job_files.h"
#include "runner/json.h"
#include "runner/kernel.h"
#include "runner/lines.h"
#include "runner/capabilities.h"
#include "runner/numbers.h"
#include "runner/job.h"
#include "runner/plan.h"
#include "runner/processes.h"
#include "runner/plan_reader.h"
#include "runner/run_mode.h"
#include "runner/seccomp.h"
#include "runner/verdicts.h"

namespace runner {
namespace {

void print_probe(const Capabilities& m) {
  Json line;
  line.open('{').member("probe", true).member("userns", m.userns).member("pidns", m.pidns).member("mountns", m.mountns);
  line.member("netns", m.netns).member("landlock", m.landlock).member("seccomp", m.seccomp).member("notify", m.notify);
  line.key("hidden").open('[');
  for (long number = 0; number < kCalls; number++) {
    if (m.hidden.has[number]) line.value(name_of_call(number));
  }
  line.close(']').member("uids", m.uids).member("isolation", name_of(m.isolation)).close('}');
  print(line.take() + "\n");
}

// Nothing that we inherited reaches a child by accident.
void close_on_exec() {
  if (syscall(kSysCloseRange, 3, ~0U, 4 /* CLOEXEC */) == 0) return;
  Fd directory(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) system_fault("open /proc/self/fd");
  each_number(directory.get(), [](int, const char* name) {
    if (atoi(name) > 2) fcntl(atoi(name), F_SETFD, FD_CLOEXEC);
  });
}

// The table of descriptors is shared with the first process of each PID namespace, and where it is shared the kernel takes 10 ms to let it grow: so now.
void grow_table() { close(fcntl(STDERR_FILENO, F_DUPFD, kLeastFds - 1)); }

void require_isolation(const Plan& plan, Capabilities& m) {
  // Steps that see the system have no root directory of their own: what hides the rest is somebody else's, or Landlock.
  if (plan.compile && plan.sees_system && m.isolation == Isolation::Full && !m.boxed && m.landlock < 1) m.isolation = Isolation::None;
  // Siblings under Landlock may not ask about paths, or they would find each other in /proc; but a dynamic linker must ask.
  if (!plan.compile && m.isolation == Isolation::Reduced && plan.processes > 1 && !plan.is_static) {
    plan_fault("several processes that are linked dynamically need full isolation; with reduced, install static libraries");
  }
  if (m.isolation >= plan.least) return;
  const char* root = m.root ? "; it was started as root: start it as another user" : "";
  fault(FaultKind::Isolation, format("%s is needed, only %s is available: user namespace %d, mounts %d, PID namespaces %d, Landlock %d, "
                            "seccomp %d%s",
                            name_of(plan.least), name_of(m.isolation), m.userns, m.mountns, m.pidns, m.landlock, m.seccomp,
                            root));
}

// Whoever started us wants no answer after its own end. (bwrap sees to this itself; here it is for those without.)
void die_with_parent() {
  pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(4);
}

// Whoever started us keeps a box ready, and says when its turn has come. Without a word there is nobody left who could.
void await_turn() {
  char word;
  ssize_t n;
  while ((n = read(STDIN_FILENO, &word, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1) _exit(4);
}

[[noreturn]] void usage() {
  static const char text[] = "usage: runner (--dir DIRECTORY | --fds NAME=NUMBER,... | --probe | --version)"
                             " [--most full|reduced|none] [--wait] [--without landlock,notify]\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(2);
  _exit(2);
}

int main_of(int argc, char** argv, Lines& lines) {
  std::string mode, value, without;
  bool waits = false;
  Isolation most = Isolation::Full;
  for (int i = 1; i < argc; i++) {
    std::string word = argv[i];
    bool takes_value = word == "--dir" || word == "--fds" || word == "--most" || word == "--without";
    if (takes_value && i + 1 == argc) usage();
    if (word == "--most") {
      std::string level = argv[++i];
      auto known = std::find_if(std::begin(kIsolations), std::end(kIsolations), [&](Isolation is) { return level == name_of(is); });
      if (known == std::end(kIsolations)) usage();
      most = *known;
    } else if (word == "--without") {
      without = argv[++i];
    } else if (word == "--wait") {
      waits = true;
    } else if (mode.empty() && (takes_value || word == "--probe" || word == "--version")) {
      mode = word;
      if (takes_value) value = argv[++i];
    } else {
      usage();
    }
  }
  if (mode.empty()) usage();
  if (mode == "--version") {
    print(format("ioi-eval-runner %d\n", kVersion));
    return 0;
  }
  die_with_parent();
  signal(SIGPIPE, SIG_IGN);
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
    if (descriptors.rlim_cur < kLeastFds) fault(FaultKind::System, format("the limit on open files is below %d", kLeastFds));
  }
  if (mode == "--probe") {
    Machine machine = find_machine(most, without);
    find_hidden_calls(machine.can);
    print_probe(machine.can);
    return 0;
  }
  close_on_exec();
  grow_table();
  JobFiles files;
  mode == "--dir" ? files.in_directory(value) : files.inherit(value);
  const Plan plan = read_plan(files, lines.nonce);
  Machine machine = find_machine(most, without);
  require_isolation(plan, machine.can);
  if (!plan.compile) find_hidden_calls(machine.can);
  // From here on no process without privileges over us can read our memory or our descriptors.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  find_base(machine);
  if (waits) await_turn();
  if (plan.compile) {
    Compilation(plan, machine, files, lines).run();
  } else {
    run_tests(plan, machine, files, lines);
  }
  Json line;
  line.open('{').member("end", true).member("nonce", lines.nonce).member("lines", lines.printed);
  line.member("isolation", name_of(machine.can.isolation)).member("runner", kVersion).close('}');
  print(line.take() + "\n");
  return 0;
}

}  // namespace
}  // namespace runner

int main(int argc, char** argv) {
  using namespace runner;
  Lines lines;
  try {
    return main_of(argc, argv, lines);
  } catch (const Fault& fault) {
    Json line;
    line.open('{').member("fault", name_of(fault.kind)).member("words", fault.message).member("nonce", lines.nonce).close('}');
    print(line.take() + "\n");
    return 3;
  }
}
