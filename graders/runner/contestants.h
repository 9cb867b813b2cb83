// Contestants: their start, and the calls that they were refused.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "capabilities.h"
#include "descriptors.h"
#include "job.h"
#include "kernel.h"
#include "landlock.h"
#include "lines.h"
#include "messages.h"
#include "numbers.h"
#include "pid_namespaces.h"
#include "plan.h"
#include "proc_files.h"
#include "process_directories.h"
#include "processes.h"
#include "seccomp.h"
#include "tasks.h"
#include "verdicts.h"

namespace runner {

// A contestant's child sends this before its exec; the socket's end of file means that the exec has happened.
struct StartMessage {
  int64_t cpu_us = 0;  // spent before the exec, so not by the program
  int64_t now_us = 0;
  int error = 0;
  char step[24] = {};
};

struct Contestant {
  long index = 0;
  PidNamespace pid_namespace;
  Process process;  // after the namespace, whose end waits for it
  Fd control, listener, output, errors, report;
  bool ready = false, started = false;  // about to exec; after the exec
  int64_t started_us = 0, ended_us = 0, spent_before_us = 0;
  ProcFiles files;
  Sample last;
  int64_t settled_us = 0;          // CPU time and delay up to the last settlement
  int64_t peak_bytes = 0;          // as polled; wait4 gives the final value
  int64_t written_bytes = 0;       // of the output file, if it has a name
  bool left_output = true;         // whether there is an output
  Limit limit = Limit::None;       // the rule that stopped it
  bool not_executable = false;              // the kernel refuses to execute it because of the file's content
  bool made_deadly_call = false;           // a call that ends the program (SV)
  bool killed_itself = false;            // by SIGKILL
  bool has_timers = false;         // it has timers, which can send any signal
  bool stopped = false;            // by us, because of another process
  int refusals = 0;
  int looks = 0;
  std::vector<std::pair<std::string, int>> attempted;

  std::string how() const {
    return process.signal() != 0 ? format("signal %d", process.signal()) : format("exit code %d", process.code());
  }

  int64_t cpu_us() const {
    int64_t cpu = process.ended ? process.cpu_us() : last.cpu_us;
    return std::max<int64_t>(0, cpu - spent_before_us);
  }
};

// Opens the file that becomes its stdout.
inline int open_output(const Plan& plan, const Contestant& contestant) {
  return plan.output_file.empty() ? reopen(contestant.output.get(), O_WRONLY) : open("/dev/null", O_WRONLY | O_CLOEXEC);
}

// The output file's content becomes the output, as if it had been printed. Called after the end of all possible writers.
inline void collect_output(const Plan& plan, Contestant& contestant, const ProcessDirectories& directories) {
  struct stat status;
  Fd file = find_output(directories, plan.output_file, status);
  contestant.left_output = file && (status.st_mtim.tv_sec != 0 || status.st_size > 0);
  contestant.written_bytes = file ? status.st_size : 0;
  if (!contestant.left_output || contestant.written_bytes > plan.output_bytes) return;
  chmod(format("/proc/self/fd/%d", file.get()).c_str(), 0400);  // its mode may forbid reading even to its owner
  Fd readable(reopen(file.get(), O_RDONLY));
  if (!readable || !copy_bytes(readable.get(), contestant.output.get())) system_fault("read an output file");
}

// CPU time plus run-queue delay: the wall clock in which a process was not idle.
inline int64_t busy_us(const Process& process, const Sample& last) {
  return (process.ended ? std::max(process.cpu_us(), last.cpu_us) : last.cpu_us) + last.delay_us;
}

// Whether an error of exec is our failure, and not caused by the file's content. (The file is in memory: EIO means that it ends
// too early, unless a dynamic linker had to be read from a disk.)
inline bool is_ours(const Plan& plan, int exec_error) {
  if (!plan.interpreter.empty()) return true;
  switch (exec_error) {
    case ENOMEM: case EAGAIN: case EMFILE: case ENFILE: case ETXTBSY: return true;
    case EIO: return !plan.is_static;
    default: return false;
  }
}

const char* const kExecStep = "execute the program";
constexpr int kNotExecutableCode = 127;  // the exit code of shells for a program that cannot be executed

// The command line of a contestant's program, or of the interpreter that reads it.
class Command {
 public:
  // `word`: the argument that tells an interpreter what to do.
  Command(const Plan& plan, const char* word) : environment_(plan.environment) {
    if (plan.interpreter.empty()) {
      words_ = {"./program"};
    } else {
      words_ = {plan.interpreter};
      words_.insert(words_.end(), plan.interpreter_args.begin(), plan.interpreter_args.end());
      words_.push_back(word);
    }
    environment_.insert(environment_.end(), {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"});
  }

  void add(const std::string& word) { words_.push_back(word); }
  char* const* argv() { return pointers_to(words_, argv_); }
  char* const* environment() { return pointers_to(environment_, envp_); }

 private:
  static char* const* pointers_to(std::vector<std::string>& texts, std::vector<char*>& pointers) {
    pointers.clear();
    for (std::string& text : texts) pointers.push_back(&text[0]);
    pointers.push_back(nullptr);
    return pointers.data();
  }

  std::vector<std::string> words_, environment_;
  std::vector<char*> argv_, envp_;
};

// The threads that RLIMIT_NPROC counts in addition to a contestant's own: none in our own user namespace since Linux 5.14, else
// all threads of its user. We do not count these, but take an upper bound: the machine's threads now, and a number for new ones.
inline rlim_t threads_of_other_processes(bool full) {
  utsname system;
  int major = 0, minor = 0;
  bool known = uname(&system) == 0 && sscanf(system.release, "%d.%d", &major, &minor) == 2;
  if (full && known && (major > 5 || (major == 5 && minor >= 14))) return 0;
  char text[128];
  long threads = 0;
  read_text(AT_FDCWD, "/proc/loadavg", text, sizeof text);
  if (sscanf(text, "%*s %*s %*s %*d/%ld", &threads) != 1) return RLIM_INFINITY / 2;
  return static_cast<rlim_t>(threads) + kMoreThreadsOfOthers;
}

// All limits except that of descriptors, which is set last.
inline std::vector<std::pair<__rlimit_resource_t, rlim_t>> contestant_limits(const Plan& plan, bool full) {
  rlim_t memory = static_cast<rlim_t>(plan.memory_bytes);
  // The kernel counts NPROC and SIGPENDING for a user id, so a sibling could find out how much the other one uses. So with
  // siblings they are 0 or unlimited. Polling counts threads; NPROC stops a sudden burst of them, which on a busy machine could
  // use up all ids before the next poll. (Under reduced isolation siblings could do this, but there they get no threads.)
  bool siblings = plan.processes > 1;
  std::vector<std::pair<__rlimit_resource_t, rlim_t>> limits{
      {RLIMIT_CORE, kNoCore},
      {RLIMIT_STACK, RLIM_INFINITY},
      {RLIMIT_AS, std::max(2 * memory + (rlim_t{1} << 30), memory + (rlim_t{4} << 30))},
      // Polling enforces the output limit. FSIZE must be higher, because stderr is cut only at every tick and grows in between.
      {RLIMIT_FSIZE, static_cast<rlim_t>(plan.output_bytes + kFileSlackBytes)},
      {RLIMIT_CPU, cpu_backstop_s(plan.cpu_ms + (plan.margin_us() + plan.page_margin_us()) / 1000)},
      {RLIMIT_MEMLOCK, 0},
      {RLIMIT_MSGQUEUE, 0},
      // (A timer takes one of the pending signals: a thousand timers would use CPU time that is charged to no process.)
      {RLIMIT_SIGPENDING, siblings ? 0 : kWaitingSignals}};
  if (!siblings) limits.emplace_back(RLIMIT_NPROC, static_cast<rlim_t>(plan.threads) + 200 + threads_of_other_processes(full));
  return limits;
}

// Grants access to the paths that all tests use. `root`: the contestant's root directory, as the caller sees it.
inline void grant_system(const Plan& plan, Landlock& landlock, const std::string& root) {
  auto grant = [&](const std::string& path, uint64_t rights) { landlock.grant((root + path).c_str(), rights); };
  grant("/dev/null", right::ReadFile | right::WriteFile | right::Truncate);
  for (const char* device : {"/dev/random", "/dev/urandom"}) grant(device, right::ReadFile);
  for (const std::string& path : plan.sees) grant(path, right::Read | right::Execute);
}

inline void grant_scratch(const Job& job, Landlock& landlock, const char* path) {
  uint64_t scratch = right::Read | right::WriteFile | right::Truncate;
  // If siblings share a file system, it numbers their files from one counter.
  bool names_files = job.plan.names_files();
  if (!names_files && (job.full() || job.plan.processes == 1)) scratch |= right::MakeReg;
  if (!names_files && job.full()) scratch |= right::RemoveFile | right::MakeDir | right::RemoveDir | right::Refer;
  landlock.grant(path, scratch);
}

inline void grant_fifos(const Plan& plan, Landlock& landlock, const ProcessDirectories& directories) {
  if (!plan.shows_fifos()) return;
  if (!directories.inside_in.empty()) landlock.grant(directories.inside_in.c_str(), right::ReadFile);
  if (!directories.inside_out.empty()) landlock.grant(directories.inside_out.c_str(), right::WriteFile | right::Truncate);
}

// The child's side. Nothing here returns.
class Launch {
 public:
  // `task`: what an interpreter executes.
  Launch(Job& job, const Contestant& contestant, const ProcessDirectories& directories, int control, int input, int task)
      : job_(job),
        plan_(job.plan),
        contestant_(contestant),
        directories_(directories),
        control_(control),
        input_(input),
        task_(task),
        program_(job.interpreter ? job.interpreter.get() : job.programs[static_cast<size_t>(contestant.index)].get()) {}

  [[noreturn]] void run() noexcept {
    setsid();
    plain_signals();
    umask(077);
    write_text("/proc/self/oom_score_adj", "1000");
    // Opened again, for writing only; with O_APPEND, so that stderr can be cut while it grows.
    int input = input_, output = open_output(plan_, contestant_);
    int errors = reopen(contestant_.errors.get(), O_WRONLY | O_APPEND);
    if (output < 0 || errors < 0) die("open outputs");
    int task = -1, report = -1, with = -1;
    if (job_.interpreter) {
      task = reopen(task_, O_RDONLY);
      report = reopen(contestant_.report.get(), O_WRONLY | O_APPEND);
      if (task < 0 || report < 0) die("open a task");
      if (!plan_.with.empty() && (with = reopen(job_.with.get(), O_RDONLY)) < 0) die("open a file");
    }
    if (plan_.has_manager() && plan_.fifo_use == FifoUse::Standard) {
      // In this order, as in isolate, because managers rely on it. Each open waits for the manager's.
      if ((input = open(directories_.fifo_in.c_str(), O_RDONLY | O_CLOEXEC)) < 0) die("open input fifo");
      if ((output = open(directories_.fifo_out.c_str(), O_WRONLY | O_CLOEXEC)) < 0) die("open output fifo");
    }
    if (job_.full() && chroot(directories_.root.c_str()) != 0) die("chroot");
    if (chdir(job_.full() ? "/box" : directories_.scratch.c_str()) != 0) die("chdir");
    if (!place_descriptors({{input, 0}, {output, 1}, {errors, 2}, {task, kTaskFd}, {report, kReportFd}, {with, kWithFd},
                            {control_, kControlFd}, {program_, kProgramFd}},
                           kControlFd)) {
      die("descriptors");
    }
    control_ = kControlFd;
    for (auto [resource, value] : contestant_limits(plan_, job_.full())) set_limit(resource, value);
    if (!drop_privileges(can().contestant_uid)) die("drop privileges");
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    confine();
    set_limit(RLIMIT_NOFILE, kContestantFds);  // now: Landlock and the listener needed more
    execute();
  }

 private:
  void confine() {
    Landlock landlock(can().landlock);
    grant_system(plan_, landlock, "");
    grant_scratch(job_, landlock, ".");
    grant_fifos(plan_, landlock, directories_);
    if (!landlock.restrict()) die("landlock");
    if (!can().seccomp) return;
    for (size_t at : job_.filter.self) job_.filter.code[at].k = static_cast<uint32_t>(syscall(SYS_getpid));  // a child's copy
    int listener = install_filter(job_.filter.code, can().notify);
    if (listener < 0) die("seccomp");
    if (can().notify) send(StartMessage{}, {listener});
  }

  [[noreturn]] void execute() {
    Command command(plan_, "run");
    add_arguments(command);
    StartMessage word;
    word.now_us = now_us();
    word.cpu_us = cpu_clock_us(0);
    send(word);
    syscall(SYS_execveat, kProgramFd, "", command.argv(), command.environment(), AT_EMPTY_PATH);
    die(kExecStep, is_ours(plan_, errno) ? 1 : kNotExecutableCode);
  }

  void add_arguments(Command& command) const {
    switch (plan_.task) {
      case TaskType::Batch:
      case TaskType::Interactive: return;
      case TaskType::TwoSteps:
        command.add(std::to_string(contestant_.index));
        command.add(contestant_.index == 0 ? directories_.inside_out : directories_.inside_in);
        return;
      case TaskType::Communication:
        if (plan_.fifo_use == FifoUse::Paths) command.add(directories_.inside_in), command.add(directories_.inside_out);
        if (plan_.processes != 1) command.add(std::to_string(contestant_.index));
        return;
    }
  }

  void send(const StartMessage& word, const std::vector<int>& descriptors = {}) {
    if (!send_message(control_, &word, sizeof word, descriptors)) _exit(1);
  }

  [[noreturn]] void die(const char* step, int code = 1) {
    StartMessage word;
    word.error = errno != 0 ? errno : EIO;
    strncpy(word.step, step, sizeof word.step - 1);
    send(word);
    _exit(code);
  }

  const Capabilities& can() const { return job_.machine.can; }

  Job& job_;
  const Plan& plan_;
  const Contestant& contestant_;
  const ProcessDirectories& directories_;
  int control_, input_, task_, program_;
};

// Reads the child's messages: the listener, the time it spent, an error; or the end of the socket, which means that the exec
// has happened. Returns an error if the contestant could not be started, else nothing.
inline std::string read_start_messages(const Plan& plan, Contestant& contestant) {
  for (;;) {
    StartMessage word;
    ssize_t n = receive_message(contestant.control.get(), &word, sizeof word, contestant.listener);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return "";
    if (n != static_cast<ssize_t>(sizeof word)) {
      contestant.control.reset();
      contestant.started = contestant.ready;
      return "";
    }
    word.step[sizeof word.step - 1] = '\0';
    if (word.error != 0 && strcmp(word.step, kExecStep) == 0 && !is_ours(plan, word.error)) {
      contestant.not_executable = true;
      continue;
    }
    if (word.error != 0) return std::string(word.step) + ": " + strerror(word.error);
    if (word.cpu_us > 0) {
      contestant.spent_before_us = word.cpu_us;
      contestant.started_us = word.now_us;
      contestant.ready = true;
    }
  }
}

// Answers one refused call that the kernel reports. The calling process waits for our answer, or until it is killed.
inline void answer_refusal(const Plan& plan, Contestant& contestant) {
  union {
    seccomp_notif fields;
    char space[256];  // the kernel may know of more fields than our headers
  } request = {};
  union {
    seccomp_notif_resp fields;
    char space[256];
  } answer = {};
  memset(&request, 0, sizeof request);
  memset(&answer, 0, sizeof answer);
  if (ioctl(contestant.listener.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;  // the process has died meanwhile
  const seccomp_data& call = request.fields.data;
  int clock = static_cast<int>(call.args[0]);
  bool may_have_timers = plan.processes == 1 && plan.passes == 1 && clock >= -8 /* its own */;
  if (call.arch == AUDIT_ARCH_X86_64 && call.nr == SYS_timer_create && may_have_timers) {
    contestant.has_timers = true;
    answer.fields.id = request.fields.id;
    answer.fields.flags = 1;  // SECCOMP_USER_NOTIF_FLAG_CONTINUE, Linux 5.5
    bool done = ioctl(contestant.listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0 || errno == ENOENT;
    if (++contestant.refusals >= kMostRefusals) contestant.listener.reset();
    if (done) return;
    answer.fields.flags = 0;
  }
  Refusal refusal = refusal_of(call);
  auto known = std::find_if(contestant.attempted.begin(), contestant.attempted.end(),
                            [&](const auto& entry) { return entry.first == refusal.name; });
  if (known == contestant.attempted.end()) {
    if (contestant.attempted.size() < kMostNames) contestant.attempted.emplace_back(refusal.name, 1);
  } else {
    known->second++;
  }
  if (refusal.deadly || refusal.killed_itself) {
    contestant.made_deadly_call |= refusal.deadly;
    contestant.killed_itself |= refusal.killed_itself;
    contestant.process.kill();
    return;
  }
  answer.fields.id = request.fields.id;
  answer.fields.error = -refusal.error;
  ioctl(contestant.listener.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
  if (++contestant.refusals >= kMostRefusals) contestant.listener.reset();
}

}  // namespace runner
