// Judge programs: checker and manager; and the passes that a validator asks for.
#pragma once

#include "descriptors.h"
#include "directories.h"
#include "job.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "proc_files.h"
#include "processes.h"
#include "protocols.h"
#include "verdicts.h"

namespace runner {

// The files of a judge program: descriptors, or -1.
struct JudgeFiles {
  int input, answer, output;
  int standard_input;
};

// A checker or manager. It runs in a directory of its own, in which `input.txt`, `correct_output.txt`, `output.txt` and
// the program itself are links to its descriptors, because some judge programs are scripts and read files of these names.
class Judge {
 public:
  Process process;
  Fd output, errors;
  Fd end;  // its highest descriptor, which nothing else opens: closed before its FIFOs when it ends
  int64_t started_us = 0, ended_us = 0;
  ProcFiles files;
  Sample last;
  JudgeFault fault = JudgeFault::None;
  std::string explanation;
  bool ours = false;          // the fault is not the judge program's
  int64_t more_ms = 0;        // of CPU time, beyond its limit, before it is stopped
  int64_t wall_before_us = 0;  // of its earlier run on the same output, which counts against its limit of wall clock
  std::string directory;      // in which it runs
  std::string kept_feedback;  // the feedback directory of an earlier pass

  explicit Judge(Job& job) : job_(job) {}
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  ~Judge() { clear(); }

  JudgeResult result() const { return {process.code(), output.get(), errors.get(), directory + "/feedback"}; }

  // Whether it failed because nobody was left to read what it wrote. (Python ignores SIGPIPE, and ends by an exception.)
  bool has_lost_its_reader() const {
    if (fault == JudgeFault::Signal) return process.signal() == SIGPIPE;
    bool has_line = false;
    for_each_line(errors.get(), [&](const std::string& line) { has_line |= begins_with(line, "BrokenPipeError: "); });
    return fault == JudgeFault::Exit && has_line;
  }

  TrustedProgram failed_program() const { return ours ? TrustedProgram::Runner : who_; }

  // Called before `begin`, so that they can be watched from the start.
  void open_outputs() {
    output = memory_file("judge stdout");
    errors = memory_file("judge stderr");
    end = memory_file("judge end");
  }

  // `partner` is given for an interactor: the directories of the program whose FIFOs become its stdin and stdout.
  void begin(TrustedProgram who, const JudgeSpec& spec, const std::vector<std::string>& args, const JudgeFiles& its_files,
             const ProcessDirectories* partner = nullptr) {
    who_ = who;
    spec_ = &spec;
    links_ = {{"input.txt", kJudgeInputFd}, {"correct_output.txt", kJudgeAnswerFd}, {name(), kJudgeProgramFd}};
    if (its_files.output >= 0) links_.emplace_back("output.txt", kJudgeOutputFd);
    directory = job_.judge_directories.take(links_);
    if (!kept_feedback.empty()) {
      if (rename(kept_feedback.c_str(), (directory + "/feedback").c_str()) != 0) system_fault("give a feedback directory");
    } else if (rules_of(spec.protocol).has_feedback_directory) {
      make_directory(directory + "/feedback");
    }
    started_us = now_us();
    stopwatch_ = Stopwatch();
    if (start(process) == 0) run(args, its_files, partner);
  }

  bool over(int64_t cpu_us) const { return cpu_us > (spec_->cpu_ms + more_ms) * 1000; }

  // Measures it. `states`: whether to read the states of its threads.
  void look(bool states = false) {
    if (process.alive()) last = files.read(process.pid, last, states);
  }

  // Whether it waits for others to do its work: a process that it has started runs, or waits for a processor or a disk. (Some are
  // scripts that start the program proper.)
  bool has_busy_child() const {
    if (!process.alive()) return false;
    std::vector<pid_t> started = descendants(process.pid);
    return std::any_of(started.begin(), started.end(), [](pid_t pid) {
      Sample sample = ProcFiles().read(pid, {}, true);
      return sample.runs || sample.waits;
    });
  }

  // Stops it if it is over a limit, as it was last measured.
  void stop_at_limits() {
    if (!process.alive()) return;
    if (over(last.cpu_us)) stop(JudgeFault::Time, kOverCpu);
    int64_t wall_us = stopwatch_.look(now_us());
    if (fault == JudgeFault::None && wall_before_us + wall_us > spec_->wall_ms * 1000) {
      ours = last.delay_us > wall_us / 2;
      stop(ours ? JudgeFault::Overload : JudgeFault::Stall, ours ? kTooBusy : "over its wall clock limit");
    }
    if (last.resident_bytes > spec_->memory_bytes) stop(JudgeFault::Memory, "over its memory limit");
  }

  void stop(JudgeFault kind, const char* why) {
    if (fault == JudgeFault::None) fail(kind, why);
    process.kill();
  }

  // Called after its end: finds out whether it failed. The exit codes of its protocol are not failures.
  void conclude() {
    const ProtocolRules& rules = rules_of(spec_->protocol);
    ended_us = now_us();
    if (fault != JudgeFault::None) return;
    std::string unstarted = start_error_.read();
    if (!unstarted.empty()) {
      ours = true;
      return fail(JudgeFault::Start, format("the %s was not started: %s", name(), unstarted.c_str()));
    }
    if (over(process.cpu_us())) {
      fail(JudgeFault::Time, kOverCpu);
    } else if (process.peak_bytes() > spec_->memory_bytes) {
      fail(JudgeFault::Memory, "over its memory limit");
    } else if (process.signal() == SIGKILL) {
      ours = true;
      fail(JudgeFault::Signal, format("the %s was %s", name(), kKilledFromOutside));
    } else if (process.signal() == SIGXFSZ) {
      fail(JudgeFault::Signal, format("it wrote more than %lld MiB", static_cast<long long>(max_written() >> 20)));
    } else if (process.signal() != 0) {
      fail(JudgeFault::Signal, format("killed by signal %d", process.signal()));
    } else if (!has(rules.accepts, process.code()) && !has(rules.rejects, process.code())) {
      fail(JudgeFault::Exit, format("exit code %d, which protocol %s does not have", process.code(), rules.name));
    }
    std::string text = head(errors.get(), 500);
    if (fault != JudgeFault::None && !text.empty()) explanation += ": " + text;
  }

  void clear() {
    bool ended_before = !process.alive();
    if (!ended_before) {
      process.kill();
      process.reap(true);
      ended_us = now_us();
    }
    if (directory.empty()) return;
    if (ended_before) {
      job_.judge_directories.give_back(links_, directory);
    } else {
      JudgeDirectories::remove(directory);  // processes that it started may still run
    }
    directory.clear();
  }

 private:
  void fail(JudgeFault kind, const std::string& why) {
    fault = kind;
    explanation = why;
  }

  // The child's side.
  [[noreturn]] void run(const std::vector<std::string>& args, const JudgeFiles& its_files,
                        const ProcessDirectories* partner) noexcept {
    setsid();
    plain_signals();
    umask(077);
    Fd own_errors(reopen(errors.get(), O_WRONLY | O_APPEND)), own_end(reopen(end.get(), O_WRONLY));
    if (!own_errors || !own_end) start_error_.exit_with("open its stderr");
    if (chdir(directory.c_str()) != 0) start_error_.exit_with("chdir");
    if (!JudgeDirectories::lead_to_own_descriptors(directory)) start_error_.exit_with("symlink");
    int standard_input = its_files.standard_input, standard_output = output.get();
    if (partner != nullptr) {
      // In the order in which the program opens them, because each open waits for the other side's.
      if ((standard_output = open(partner->fifo_in.c_str(), O_WRONLY | O_CLOEXEC)) < 0) start_error_.exit_with("open a fifo");
      if ((standard_input = open(partner->fifo_out.c_str(), O_RDONLY | O_CLOEXEC)) < 0) start_error_.exit_with("open a fifo");
    }
    if (!place_descriptors({{standard_input, 0}, {standard_output, 1}, {own_errors.get(), 2}, {its_files.input, kJudgeInputFd},
                            {its_files.answer, kJudgeAnswerFd}, {its_files.output, kJudgeOutputFd}, {spec_->program.get(), kJudgeProgramFd},
                            {own_end.get(), kJudgeLastFd}},
                           INT_MAX)) {
      start_error_.exit_with("descriptors");
    }
    set_limit(RLIMIT_CORE, kNoCore);
    set_limit(RLIMIT_STACK, RLIM_INFINITY);
    set_limit(RLIMIT_AS, static_cast<rlim_t>(spec_->memory_bytes) + (rlim_t{1} << 30));
    set_limit(RLIMIT_FSIZE, static_cast<rlim_t>(max_written()));
    // A script that starts itself again and again must not use up the ids of processes, which the machine's other jobs need too. (The
    // kernel counts the program's processes and threads as well, and the PID 1 of each.)
    rlim_t of_program = static_cast<rlim_t>(job_.plan.processes) * (static_cast<rlim_t>(job_.plan.threads) + 1);
    set_limit(RLIMIT_NPROC, kJudgeProcesses + of_program + threads_of_other_processes(job_.full()));
    // Not its limit of CPU time: for this limit the kernel counts a whole tick for the process that runs at the tick, and a program can
    // let its manager run at ticks only.
    set_limit(RLIMIT_CPU, cpu_backstop_s(spec_->wall_ms));
    if (!drop_privileges(geteuid())) start_error_.exit_with("drop privileges");
    std::vector<std::string> words{std::string("./") + name()};
    words.insert(words.end(), args.begin(), args.end());
    std::vector<std::string> variables{std::string("PATH=") + kPath, "HOME=" + directory, "TMPDIR=" + directory};
    std::vector<char*> argv = pointers_to(words), environment = pointers_to(variables);
    execve(argv[0], argv.data(), environment.data());
    if (errno != ENOEXEC) start_error_.exit_with("execute it");  // for example, the interpreter of a script is missing
    dprintf(STDERR_FILENO, "cannot execute it: %s\n", strerror(errno));
    _exit(127);
  }

  const char* name() const { return name_of(who_); }

  // The most bytes that it may write to a file. Its stdout and stderr are memory, which no other limit counts: a checker that
  // prints in an endless loop would fill it. Some do: they try again and again to read a number where there is another word.
  int64_t max_written() const { return job_.plan.output_bytes + kFileSlackBytes; }

  Job& job_;
  TrustedProgram who_ = TrustedProgram::Checker;
  const JudgeSpec* spec_ = nullptr;
  JudgeDirectories::Links links_;
  StartError start_error_;
  Stopwatch stopwatch_;
};

// A Kattis validator that accepts an output may request another run of the program, a *pass*, on an input that it wrote. Keeps the
// files that one pass of a test leaves for the next: that input, and the validator's feedback directory.
class Passes {
 public:
  explicit Passes(const Job& job) : job_(job) {}
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;
  ~Passes() {
    if (!feedback_.empty()) remove_tree(AT_FDCWD, feedback_.c_str());
  }

  // The input of this pass: the test's own on the first. (Source: problemtools and DOMjudge, whose validators get it too.)
  int input(const Test& test) const { return input_ ? input_.get() : test.input; }

  bool wants_another() const { return wants_another_; }

  // A pass begins. It asks for another one only if its own output is judged and accepted.
  void begin() { wants_another_ = false; }

  // Gives the validator the feedback directory of the pass before.
  void begin_judging(Judge& validator) {
    done_++;
    validator.kept_feedback = std::move(feedback_);
    feedback_.clear();
  }

  // Called after the validator has ended with an exit code of its protocol. Returns an error if it broke a rule, else nothing.
  // Source: Kattis problem package format 2025-09, "Multi-pass validation".
  std::string conclude(const Judge& validator) {
    std::string feedback = validator.directory + "/feedback", error;
    Fd input = open_left(feedback, "nextpass.in", error);
    if (!input || !error.empty()) return error;
    bool accepted = has(rules_of(job_.plan.checker.protocol).accepts, validator.process.code());
    if (!accepted) return "it asks for another pass of an output that it rejects";
    if (done_ >= job_.plan.passes) return format("it asks for more than %ld passes", job_.plan.passes);
    std::string kept = job_.machine.base + "/" + random_name();
    if (unlink((feedback + "/nextpass.in").c_str()) != 0 || rename(feedback.c_str(), kept.c_str()) != 0) {
      if (errno != EACCES) system_fault("keep a feedback directory");
      return "it forbids to change its feedback directory";
    }
    feedback_ = kept;
    input_ = std::move(input);
    wants_another_ = true;
    return "";
  }

 private:
  const Job& job_;
  Fd input_;
  std::string feedback_;
  long done_ = 0;
  bool wants_another_ = false;
};

}  // namespace runner
