// The start of a contestant: what it may use, what its child does until the exec, and what it tells the runner.
#pragma once

#include "contestants.h"
#include "descriptors.h"
#include "isolation_features.h"
#include "job.h"
#include "job_files.h"
#include "landlock.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "processes.h"
#include "seccomp.h"

namespace runner {

// All limits except that of descriptors, which is set last. None on CPU time: for that limit the kernel counts a whole tick for a
// process that runs at the tick. A program that runs only then is killed after little CPU time, as if the machine had killed it.
inline std::vector<std::pair<__rlimit_resource_t, rlim_t>> contestant_limits(const RunPlan& plan, bool full) {
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
      {RLIMIT_MEMLOCK, 0},
      {RLIMIT_MSGQUEUE, 0},
      // (A timer takes one of the pending signals: a thousand timers would use CPU time that is charged to no process.)
      {RLIMIT_SIGPENDING, siblings ? 0 : kWaitingSignals}};
  if (!siblings) limits.emplace_back(RLIMIT_NPROC, static_cast<rlim_t>(plan.threads) + 200 + threads_of_other_processes(full));
  return limits;
}

// Grants access to the paths that all tests use. `root`: the contestant's root directory, as the caller sees it.
inline void grant_system(const RunPlan& plan, Landlock& landlock, const std::string& root) {
  auto grant = [&](const std::string& path, uint64_t rights) { landlock.grant((root + path).c_str(), rights); };
  grant("/dev/null", right::ReadFile | right::WriteFile | right::Truncate);
  for (const char* device : {"/dev/random", "/dev/urandom"}) grant(device, right::ReadFile);
  for (const std::string& path : plan.sees) grant(path, right::Read | right::Execute);
}

inline void grant_scratch(const Job& job, Landlock& landlock, const char* path) {
  uint64_t scratch = right::Read | right::WriteFile | right::Truncate;
  // If siblings (or passes) share a file system, it numbers their files from one counter.
  bool names_files = job.plan.names_files(), alone = job.plan.processes == 1 && job.plan.passes == 1;
  if (!names_files && (job.full() || alone)) scratch |= right::MakeReg;
  if (!names_files && job.full()) scratch |= right::RemoveFile | right::MakeDir | right::RemoveDir | right::Refer;
  landlock.grant(path, scratch);
}

inline void grant_fifos(const RunPlan& plan, Landlock& landlock, const ProcessDirectories& directories) {
  if (!plan.shows_fifos()) return;
  if (!directories.inside_in.empty()) landlock.grant(directories.inside_in.c_str(), right::ReadFile);
  if (!directories.inside_out.empty()) landlock.grant(directories.inside_out.c_str(), right::WriteFile | right::Truncate);
}

// A contestant's child sends these messages before its exec, in this order; the socket's end of file means that the exec has happened.
// - `step` is kThreadStep, with a descriptor: the directory of the child's thread in /proc, which shows what the program uses also
//   where /proc hides the process from the runner
// - a descriptor only: the filter's listener, if there is one
// - the times
// - if something failed, `error` and the `step` that failed; nothing follows
struct StartMessage {
  int64_t cpu_us = 0;  // spent before the exec, so not by the program
  int64_t now_us = 0;
  int error = 0;  // an errno
  char step[24] = {};
};

// Whether an error of a contestant's exec is our failure, and not caused by the file's content. (The file is in memory: EIO
// means that it ends too early, or that a dynamic linker could not be read from a disk.)
inline bool is_ours(const RunPlan& plan, int exec_error) {
  return !plan.interpreter.empty() || is_machine_error(exec_error) || (exec_error == EIO && !plan.is_static);
}

// Whether a program ends before the name of its dynamic linker. The kernel's error for that is EIO too, and a program in Rust can
// give its linker arguments that make such a file.
inline bool ends_before_linker_name(int program) {
  uint64_t size = static_cast<uint64_t>(file_size(program));
  Elf64_Ehdr header;
  if (read_at(program, &header, sizeof header, 0) != sizeof header) return true;
  for (int i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    int64_t at = static_cast<int64_t>(header.e_phoff + static_cast<uint64_t>(i) * sizeof segment);
    if (read_at(program, &segment, sizeof segment, at) != sizeof segment) return true;
    if (segment.p_type == PT_INTERP) return segment.p_offset > size || segment.p_filesz > size - segment.p_offset;
  }
  return false;
}

// The smallest program: it exits with code 0. Source: elf(5) and the x86-64 supplement of the System V ABI.
struct ExitingProgram {
  static constexpr uint64_t kAddress = 0x400000;
  Elf64_Ehdr header = {{ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT, ELFOSABI_NONE},
                       ET_EXEC, EM_X86_64, EV_CURRENT, kAddress + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), sizeof(Elf64_Ehdr),
                       0, 0, sizeof(Elf64_Ehdr), sizeof(Elf64_Phdr), 1, 0, 0, 0};
  Elf64_Phdr segment = {PT_LOAD, PF_R | PF_X, 0, kAddress, kAddress, sizeof(ExitingProgram), sizeof(ExitingProgram), 0x1000};
  unsigned char code[16] = {0x31, 0xff, 0xb8, SYS_exit, 0, 0, 0, 0x0f, 0x05};  // xor edi, edi; mov eax, SYS_exit; syscall
};

// Whether a contestant's user can execute a memory file like that of `program_copy` in its root directory. Where an outer filter,
// a security module or gVisor's kernel forbids it, the errors look like those of a program that cannot be executed.
inline bool can_execute_programs(const std::string& root, uid_t contestant_uid) {
  Fd writable = sealable_file("program");
  const ExitingProgram content;
  if (!write_all(writable.get(), reinterpret_cast<const char*>(&content), sizeof content)) system_fault("write a memory file");
  Fd program = sealed(std::move(writable), kExecuteOnly);
  Process process;
  if (start(process) > 0) return process.reap(true) && !process.failed();
  if (!root.empty() && chroot(root.c_str()) != 0) _exit(1);
  if (dup2(program.get(), kExecutedFd) < 0 || !drop_privileges(contestant_uid)) _exit(1);
  char name[] = "./program", *argv[] = {name, nullptr}, *environment[] = {nullptr};
  syscall(SYS_execveat, kExecutedFd, "", argv, environment, AT_EMPTY_PATH);
  _exit(1);
}

const char* const kExecStep = "execute the program";
const char* const kThreadStep = "thread";
constexpr int kNotExecutableCode = 127;  // the exit code of shells for a program that cannot be executed

// The command line of a contestant's program, or of the interpreter that reads it.
class Command {
 public:
  // `request`: the argument that tells an interpreter what to do.
  Command(const RunPlan& plan, const char* request) : environment_(plan.environment) {
    if (plan.interpreter.empty()) {
      words_ = {"./program"};
    } else {
      words_ = {plan.interpreter};
      words_.insert(words_.end(), plan.interpreter_args.begin(), plan.interpreter_args.end());
      words_.push_back(request);
    }
    environment_.push_back("PATH=/usr/bin:/bin");
    // Only an interpreter sees the files of locales; without them, `std::locale("")` of a named locale throws.
    if (!plan.interpreter.empty()) environment_.push_back("LANG=C.UTF-8");
  }

  void add(const std::string& word) { words_.push_back(word); }

  // Executes it from the descriptor, and with the key, that the filter allows. Returns the errno if that fails.
  int execute(uint64_t key) {
    std::vector<char*> argv = pointers_to(words_), environment = pointers_to(environment_);
    syscall(SYS_execveat, kExecutedFd, "", argv.data(), environment.data(), AT_EMPTY_PATH, key);
    return errno;
  }

 private:
  std::vector<std::string> words_, environment_;
};

// The child's side. Nothing here returns.
struct Launch {
  Job& job;
  const Contestant& contestant;
  const ProcessDirectories& directories;
  int control, input, program;  // the program is what an interpreter reads; -1 without one
  int output = -1, errors = -1, report = -1, interpreter_file = -1;
  const RunPlan& plan = job.plan;
  int executed = job.interpreter ? job.interpreter.get() : job.programs[contestant.index].get();

  [[noreturn]] void run() noexcept {
    setsid();
    plain_signals();
    umask(077);
    send_thread();
    open_files();
    if (job.full() && chroot(directories.root.c_str()) != 0) die("chroot");
    if (chdir(job.full() ? "/box" : directories.scratch.c_str()) != 0) die("chdir");
    if (!place_descriptors({{input, 0}, {output, 1}, {errors, 2}, {program, kProgramFd}, {report, kReportFd},
                            {interpreter_file, kInterpreterFileFd}, {control, kControlFd}, {executed, kExecutedFd}},
                           kControlFd)) {
      die("descriptors");
    }
    control = kControlFd;
    for (auto [resource, value] : contestant_limits(plan, job.full())) set_limit(resource, value);
    if (!drop_privileges(can().contestant_uid)) die("drop privileges");
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // a change of user has reset it
    confine();
    set_limit(RLIMIT_NOFILE, kContestantFds);  // now: Landlock and the listener needed more
    execute();
  }

 private:
  // Before descriptors are limited, because the kernel limits how many may be under way by that limit too.
  void send_thread() {
    Fd thread(open("/proc/thread-self", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    StartMessage message;
    strncpy(message.step, kThreadStep, sizeof message.step - 1);
    if (thread) send(message, {thread.get()});
  }

  // Opens each file again, outputs for writing only. O_APPEND: stderr and report can be cut while they grow.
  void open_files() {
    output = open_output(plan, contestant);
    errors = reopen(contestant.errors.get(), O_WRONLY | O_APPEND);
    if (output < 0 || errors < 0) die("open outputs");
    if (job.interpreter) {
      if (!contestant.program) program = reopen(program, O_RDONLY);
      report = reopen(contestant.report.get(), O_WRONLY | O_APPEND);
      if (program < 0 || report < 0) die("open a program");
      if (!plan.interpreter_file.empty()) {
        interpreter_file = reopen(job.interpreter_file.get(), O_RDONLY);
        if (interpreter_file < 0) die("open a file");
      }
    }
    if (plan.has_manager() && plan.fifo_use == FifoUse::Standard) {
      // In this order, as in isolate, because managers rely on it. Each open waits for the manager's.
      if ((input = open(directories.fifo_in.c_str(), O_RDONLY | O_CLOEXEC)) < 0) die("open input fifo");
      if ((output = open(directories.fifo_out.c_str(), O_WRONLY | O_CLOEXEC)) < 0) die("open output fifo");
    }
  }

  void confine() {
    Landlock landlock(can().landlock);
    grant_system(plan, landlock, "");
    grant_scratch(job, landlock, ".");
    grant_fifos(plan, landlock, directories);
    if (!landlock.restrict()) die("landlock");
    if (!can().seccomp) return;
    for (size_t at : job.filter.self) job.filter.code[at].k = static_cast<uint32_t>(syscall(SYS_getpid));  // a child's copy
    int listener = install_filter(job.filter.code, can().notify);
    if (listener < 0) die("seccomp");
    if (can().notify) send(StartMessage{}, {listener});
  }

  [[noreturn]] void execute() {
    Command command(plan, "run");
    add_arguments(command);
    StartMessage message;
    message.now_us = now_us();
    message.cpu_us = std::max<int64_t>(1, cpu_clock_us(0));  // 0 would mean that it is not ready
    send(message);
    errno = command.execute(job.exec_key);
    if (errno == EIO && !job.interpreter) errno = ends_before_linker_name(kExecutedFd) ? ENOEXEC : EIO;
    die(kExecStep, is_ours(plan, errno) ? 1 : kNotExecutableCode);
  }

  void add_arguments(Command& command) const {
    switch (plan.task) {
      case TaskType::Batch:
      case TaskType::Interactive: return;
      case TaskType::TwoSteps:
        command.add(std::to_string(contestant.index));
        command.add(contestant.index == 0 ? directories.inside_out : directories.inside_in);
        return;
      case TaskType::Communication:
        if (plan.fifo_use == FifoUse::Paths) {
          command.add(directories.inside_in);
          command.add(directories.inside_out);
        }
        if (plan.processes != 1) command.add(std::to_string(contestant.index));
        return;
    }
  }

  void send(const StartMessage& message, const std::vector<int>& descriptors = {}) {
    if (!send_message(control, &message, sizeof message, descriptors)) _exit(1);
  }

  [[noreturn]] void die(const char* step, int code = 1) {
    StartMessage message;
    message.error = errno != 0 ? errno : EIO;
    strncpy(message.step, step, sizeof message.step - 1);
    send(message);
    _exit(code);
  }

  const IsolationFeatures& can() const { return job.machine.can; }
};

// Reads the child's messages. Returns an error if the contestant could not be started, else nothing.
inline std::string read_start_messages(const RunPlan& plan, Contestant& contestant, const std::string& root, uid_t contestant_uid) {
  for (;;) {
    StartMessage message;
    Fd descriptor;
    ssize_t n = receive_message(contestant.control.get(), &message, sizeof message, descriptor);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return "";
    if (n != static_cast<ssize_t>(sizeof message)) {
      contestant.control.reset();
      contestant.started = contestant.ready;
      return "";
    }
    message.step[sizeof message.step - 1] = '\0';
    if (message.error != 0 && strcmp(message.step, kExecStep) == 0 && !is_ours(plan, message.error) &&
        can_execute_programs(root, contestant_uid)) {
      contestant.not_executable = true;
      continue;
    }
    if (message.error != 0) return std::string(message.step) + ": " + strerror(message.error);
    if (strcmp(message.step, kThreadStep) == 0) {
      contestant.files.main_thread_is(std::move(descriptor));
    } else if (descriptor) {
      contestant.listener = std::move(descriptor);
    }
    if (message.cpu_us > 0) {
      contestant.spent_before_us = message.cpu_us;
      contestant.started_us = message.now_us;
      contestant.ready = true;
    }
  }
}

}  // namespace runner
