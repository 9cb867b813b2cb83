// The runner: the judge inside the box. It reads a plan, starts programs, watches them, and prints lines.
//
// THEORY OF OPERATION
//
// PROTOCOL.md defines input and output. This comment says how a test is run, and why.
//
// The runner is one small, single-threaded process. During a test there are also: the *contestants* (the processes of the
// submission; several in a Communication task), the *judges* (checker, manager), and for each contestant the first process
// of a PID namespace. In compile mode there are *steps* instead; a job that compiles its program has steps first, and tests
// after the last of them has ended. The runner trusts the plan and the judges; it does not trust contestants.
//
//   runner ─┬─ PID 1         of a namespace that lives for one process of one test
//           │    └─ (the contestant is PID 2 there, but the runner's own child)
//           ├─ contestant      its own root directory, no capabilities, Landlock, seccomp, rlimits
//           └─ judge           sees everything that the plan names, by descriptor
//
// There are two isolation levels, and the runner uses the stronger one that is available (isolation_features.h):
//
//   full      for each contestant a PID namespace and a root directory (a tmpfs with three devices, a bounded scratch
//             directory and, in some tasks, two FIFOs), no capabilities, seccomp; Landlock if the kernel has it.
//   reduced   no namespaces: Landlock forbids every path except the scratch directory, seccomp forbids access to other
//             processes. If either of the two is missing, the level is `none`.
//
// Seccomp is an allowlist (system_calls.h). A call that is not on it is reported to the runner through a seccomp
// listener. The runner records its name and lets it fail with an errno, so that an honest program that tries
// `system("pause")` continues. A call that no honest program needs ends the program (verdict SV). After many refusals the
// listener is closed, and the kernel refuses without asking, so refusals cost the judge only a bounded time.
//
// Starting a contestant. The child prepares itself in this order, because each step must still be possible after the
// ones before it: session, FIFOs, root directory, rlimits, capabilities, no_new_privs, Landlock, seccomp. Seccomp comes
// before exec, so the filter must allow the remaining calls: `sendmsg` on the control socket, which sends the listener
// to the runner, and one `execveat` of the program. Each is allowed for one descriptor number only. Both numbers are
// above the descriptor limit of a contestant, and both descriptors are closed by the exec: the program can never own
// these numbers. `execveat` is allowed only with a secret number, which the exec removes from the process's memory:
// otherwise the program could execute files by absolute paths, for which the kernel ignores the descriptor. When the control socket
// reaches its end of file, the runner knows that the exec has happened; the contestant's clocks start there.
//
// No two processes share an open file: an input is opened again through /proc/self/fd for each reader (with a shared
// offset, processes could communicate or disturb each other). Outputs are memory files. A contestant's program is copied
// into a memory file with mode 0111, so that it can be executed but not read, and the kernel makes its process undumpable.
//
// Watching. The runner sleeps in ppoll on pidfds and wakes every 1 to 5 ms to read three numbers of each process: CPU
// time (its CPU clock), run-queue delay (schedstat of its threads) and resident memory; and less often a fourth, the
// size of its page tables, which resident memory does not include. *Idle* time is an interval minus CPU time and
// run-queue delay. A program that waits becomes TLE by its idle time; or when the wall clock of the test is over, if it
// waited for more than half of that. Waiting for a processor does not count, so a busy machine cannot cause a TLE. The
// numbers that are judged come from wait4 at the end. The runner maps no test data and stays small, because the kernel
// counts a child's peak memory from its parent's size at the fork.
//
// Communication. The manager runs at the same time as the contestants and talks to them over FIFOs. Two questions are hard.
// *Who is blocked by whom?* If a process ends before it has opened its FIFOs, the other side would wait in open(2) for
// ever; and if the runner kept an end open, the other side would never read the end of file. So while one side is dead, the
// runner opens and closes that side's ends, without blocking, at every tick: a blocked open returns, and reads get the end
// of file.
// *Who ended first?* If a program crashes, most managers print 0; if a manager is done, many stubs exit with an error. The
// order in which the runner sees two processes end depends on the scheduler. But each side must close its FIFOs
// to be noticed by the other, and inotify reports these closes in the order in which the kernel made them. PROTOCOL.md, "Whose
// failure decides in communication", has the rules. A program can cause a manager's SIGPIPE whenever it likes, so that is the
// program's 0, not a JE. (For a manager, both FIFOs count: it may close one only to send an end of file.) Source: CMS's Communication
// task type gives 0 whenever a process fails, and an error when the manager fails.
//
// After a test all of its processes are killed and reaped, its directories unmounted or emptied, its descriptors closed.
//
// Failures are reported in three ways, which are never mixed: a `Fault` (the job has no result), the line of a test with JE
// (a judge program, or the machine, failed at this test), and a verdict of the submission. A fault is thrown and caught in
// `main`, which prints it; destructors end the processes and remove the directories. No fault leaves a child: everything that a
// child does before its exec is `noexcept`.
//
// There are no global variables. `main` owns the lines, and `run_job` what lives as long as the job (files, plan, machine). Run mode owns what the
// tests share (Job, WarmInterpreter), and each test owns its state. Functions get what they need as arguments.

// The parts are headers in `runner/`. Each includes the parts that it uses, and compiles alone. Only the lowest include `system.h`,
// for the system's headers. Boxes get all of them as one file. From the bottom up:
// - kernel, texts and numbers: system, rules, numbers, verdicts, lines, descriptors
// - comparing outputs: decimal, reader, comparators
// - the plan: protocols, plan, inflate, job_files, plan_reader
// - confinement: system_calls, call_decisions, seccomp, landlock
// - processes: processes, isolation_features, proc_files, directories, roots, job
// - contestants: contestants, launch, warm_interpreter
// - a test: judges, test_state, watching, one_test
// - a job: compile_mode, run_mode

#include "runner/compile_mode.h"
#include "runner/descriptors.h"
#include "runner/isolation_features.h"
#include "runner/job_files.h"
#include "runner/lines.h"
#include "runner/numbers.h"
#include "runner/plan.h"
#include "runner/plan_reader.h"
#include "runner/processes.h"
#include "runner/run_mode.h"
#include "runner/seccomp.h"
#include "runner/system_calls.h"
#include "runner/verdicts.h"

namespace runner {
namespace {

// Lets the table of descriptors grow now: later it is shared with the first process of each PID namespace, and growing a shared
// table takes the kernel 10 ms.
void grow_table() { close(fcntl(STDERR_FILENO, F_DUPFD, kLeastFds - 1)); }

void require_isolation(const Plan& plan, IsolationFeatures& can) {
  // Steps that see the system have no root directory of their own: only an outer box (bwrap) or Landlock hides other files.
  if (plan.compile && plan.compile->sees_system && can.isolation == Isolation::Full && !can.boxed && can.landlock < 1) can.isolation = Isolation::None;
  // Under Landlock, siblings may not look up paths, because they would find each other in /proc; but a dynamic linker must.
  if (plan.run && can.isolation == Isolation::Reduced && plan.run->processes > 1 && !plan.run->is_static) {
    plan_fault("several processes that are linked dynamically need full isolation; with reduced, install static libraries");
  }
  if (can.isolation >= plan.least) return;
  const char* root = can.root ? "; it was started as root: start it as another user" : "";
  fault(FaultKind::Isolation, format("%s is needed, only %s is available: user namespace %d, mounts %d, PID namespaces %d, Landlock %d, "
                            "seccomp %d%s",
                            name_of(plan.least), name_of(can.isolation), can.userns, can.mountns, can.pidns, can.landlock, can.seccomp,
                            root));
}

// Ends the runner when its parent ends, because nobody could then read an answer. (bwrap does this itself; others do not.)
void die_with_parent() {
  pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != parent) _exit(4);
}

// In a box that was prepared in advance: waits until the parent writes a byte. An end of file means that the parent has ended.
void await_turn() {
  char word;
  ssize_t n;
  while ((n = read(STDIN_FILENO, &word, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1) _exit(4);
}

[[noreturn]] void usage() {
  static const char text[] = "usage: runner (--dir DIRECTORY [--stored PACKAGE] | --fds NAME=NUMBER,... | --probe | --version)"
                             " [--most full|reduced|none] [--wait] [--without landlock,notify]\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(2);
  _exit(2);
}

// The arguments. PROTOCOL.md explains them.
struct Options {
  std::string mode, value, without, stored;
  bool waits = false;
  Isolation most = Isolation::Full;
};

Isolation isolation_named(const std::string& name) {
  for (Isolation isolation : kIsolations) {
    if (name == name_of(isolation)) return isolation;
  }
  usage();
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i++) {
    std::string word = argv[i];
    bool takes_value = word == "--dir" || word == "--fds" || word == "--most" || word == "--without" || word == "--stored";
    if (takes_value && i + 1 == argc) usage();
    if (word == "--most") {
      options.most = isolation_named(argv[++i]);
    } else if (word == "--without") {
      options.without = argv[++i];
    } else if (word == "--stored") {
      options.stored = argv[++i];
    } else if (word == "--wait") {
      options.waits = true;
    } else if (options.mode.empty() && (takes_value || word == "--probe" || word == "--version")) {
      options.mode = word;
      if (takes_value) options.value = argv[++i];
    } else {
      usage();
    }
  }
  if (options.mode.empty() || (!options.stored.empty() && options.mode != "--dir")) usage();
  return options;
}

void require_limit(int resource, rlim_t least, const char* name) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_max >= least) return;
  fault(FaultKind::Limits, format("the limit on %s is %lu, below %lu", name, limit.rlim_max, least));
}

// Raises soft limits. Programs inherit some: at that of CPU time a correct one would be killed, at that of the data segment it would get
// no memory. At that of the size of a file the runner would be killed, when it copies a program or an output. (Not that of the stack,
// which changes where compilers' memory is mapped; programs get their own.)
void raise_soft_limits() {
  for (auto resource : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA}) {
    rlimit limit;
    if (getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
  }
  require_limit(RLIMIT_NOFILE, kLeastFds, "open files");
}

// A worker may have been started again with other settings since the client measured its limits. (Where the client starts the runner
// itself, it has checked them.)
void require_worker_limits() {
  require_limit(RLIMIT_NPROC, kLeastProcesses, "processes");
  require_limit(RLIMIT_FSIZE, kLeastFileBytes, "the size of a file");
  require_limit(RLIMIT_STACK, kLeastStackBytes, "the stack");
}

// The same for limits that depend on the plan. With lower ones a correct program would get no memory, or be killed. (More addresses would
// be better. But Piston v3 limits them to the `run_memory_limit` of a request, and a client may send the problem's memory limit.)
void require_limits_of(const Plan& plan) {
  auto require = [](int64_t memory_bytes, int64_t cpu_ms) {
    require_limit(RLIMIT_AS, static_cast<rlim_t>(memory_bytes), "the address space");
    require_limit(RLIMIT_DATA, static_cast<rlim_t>(memory_bytes), "the data segment");
    require_limit(RLIMIT_CPU, cpu_backstop_s(cpu_ms), "CPU time");
  };
  if (plan.compile) require(plan.compile->memory_bytes, plan.compile->cpu_ms);
  if (plan.run) require(plan.run->memory_bytes, cpu_stop_us(plan.run->cpu_ms) / 1000);
}

void probe(const Options& options) {
  IsolationFeatures can = find_machine(options.most, options.without).can;
  find_hidden_calls(can);
  Json line;
  line.open('{').member("probe", true).member("userns", can.userns).member("pidns", can.pidns).member("mountns", can.mountns);
  line.member("netns", can.netns).member("landlock", can.landlock).member("seccomp", can.seccomp).member("notify", can.notify);
  line.key("hidden").open('[');
  for (long number = 0; number < kCalls; number++) {
    if (can.hidden.has[number]) line.value(name_of_call(number));
  }
  line.close(']').member("uids", can.uids).member("isolation", name_of(can.isolation)).close('}');
  print(line.take() + "\n");
}

void print_end(const Lines& lines, Isolation isolation) {
  Json line;
  line.open('{').member("end", true).member("nonce", lines.nonce).member("lines", lines.printed);
  line.member("sum", lines.sum.text());
  line.member("isolation", name_of(isolation)).member("runner", kVersion).close('}');
  print(line.take() + "\n");
}

void run_job(const Options& options, Lines& lines) {
  close_on_exec();
  grow_table();
  JobFiles files;
  if (options.mode == "--dir") {
    require_worker_limits();
    files.in_directory(options.value);
  } else {
    files.inherit(options.value);
  }
  // If a file of the problem's package is missing, nothing is run, and the client must send it.
  std::string refusals = options.stored.empty() ? "" : files.add_stored(options.stored);
  if (!refusals.empty()) {
    print(refusals);
    _exit(kNotStoredCode);
  }
  const Plan plan = read_plan(files, lines.nonce);
  if (options.mode == "--dir") require_limits_of(plan);
  Machine machine = find_machine(options.most, options.without);
  require_isolation(plan, machine.can);
  require_lists_of_children();
  if (plan.run) find_hidden_calls(machine.can);
  // If memory runs out, the kernel kills the largest of our children first. All inherit this. Contestants and
  // compilers cannot open the file; a judge program could set it back.
  write_text("/proc/self/oom_score_adj", "1000");
  // From here on, unprivileged processes cannot read our memory or our descriptors.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  find_base(machine);
  if (options.waits) await_turn();
  if (!plan.run) {
    Compilation(*plan.compile, machine, files, lines).run();
  } else if (plan.compile) {
    build_and_run(*plan.compile, *plan.run, machine, files, lines);
  } else {
    run_tests(*plan.run, machine, files, lines);
  }
  print_end(lines, machine.can.isolation);
}

void run(const Options& options, Lines& lines) {
  if (options.mode == "--version") return print(format("ioi-eval-runner %d\n", kVersion));
  die_with_parent();
  umask(022);  // a stricter one would make directories that even their owner cannot enter
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // a parent may ignore it, and then the kernel would not tell us how our children end
  raise_soft_limits();
  if (options.mode == "--probe") return probe(options);
  run_job(options, lines);
}

}  // namespace
}  // namespace runner

int main(int argc, char** argv) {
  using namespace runner;
  Lines lines;
  try {
    run(read_options(argc, argv), lines);
    return 0;
  } catch (const Fault& fault) {
    Json line;
    line.open('{').member("fault", name_of(fault.kind)).member("explanation", fault.explanation).member("nonce", lines.nonce).close('}');
    std::string text = line.take() + "\n";
    return write_all(STDOUT_FILENO, text.data(), text.size()) ? 3 : 4;
  } catch (const ReaderGone&) {
    return 4;
  }
}
