// The warm interpreter: started once per job, forked for each test.
#pragma once

#include "contestants.h"
#include "descriptors.h"
#include "isolation_features.h"
#include "job.h"
#include "landlock.h"
#include "launch.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "processes.h"

namespace runner {

constexpr int kTestsARuleset = 64;

// Starting an interpreter takes ten times as long as forking one, so one is started, and each test is a fork of it. PROTOCOL.md,
// "The warm interpreter", defines the requests, and what a fork does. A fork prepares itself as Launch prepares a contestant.
//
//   full      it runs in the contestant's root directory and keeps its capabilities (of our own user namespace), to put each
//             child into its own PID namespace. The child drops them.
//   reduced   it runs in our own directory tree.
class WarmInterpreter {
 public:
  explicit WarmInterpreter(const Job& job) : job_(job), plan_(job.plan) {}
  WarmInterpreter(const WarmInterpreter&) = delete;
  WarmInterpreter& operator=(const WarmInterpreter&) = delete;

  // 0: there is none.
  pid_t pid() const { return process_.alive() ? process_.pid : 0; }

  // Forks the contestant, in the PID namespace `pid_namespace` if there is one. Returns an error if it failed, else nothing.
  std::string fork(Contestant& c, const ProcessDirectories& directories, int control, int input, int program, int pid_namespace) {
    if (!process_.alive() || process_.reap(false)) begin(directories);
    Fd output(open_output(plan_, c)), errors(reopen(c.errors.get(), O_WRONLY | O_APPEND));
    Fd own_program(reopen(program, O_RDONLY)), report(reopen(c.report.get(), O_WRONLY | O_APPEND));
    Fd directory(open(directories.scratch.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!output || !errors || !own_program || !report || !directory) system_fault("open the files of a contestant");
    Fd code(code_file_of(program));
    int landlock = rules(directories).descriptor();
    std::vector<std::pair<const char*, int>> descriptors{
        {"stdin", input}, {"stdout", output.get()}, {"stderr", errors.get()}, {"program", own_program.get()}, {"code", code.get()},
        {"report", report.get()}, {"ready", control}, {"directory", directory.get()}};
    if (landlock >= 0) descriptors.emplace_back("landlock", landlock);
    if (pid_namespace >= 0) descriptors.emplace_back("pid_namespace", pid_namespace);
    if (request_.empty()) request_ = request(descriptors);
    std::vector<int> sent;
    for (const auto& [name, fd] : descriptors) sent.push_back(fd);
    if (!send_message(control_.get(), request_.data(), request_.size(), sent)) return gone(c, "does not listen");
    Stopwatch waited;
    pollfd ready = {control_.get(), POLLIN, 0};
    while (poll(&ready, 1, 100) == 0 && waited.look(now_us()) < kWarmUs) {
    }
    char text[128];
    ssize_t n = recv(control_.get(), text, sizeof text - 1, MSG_DONTWAIT);
    int pid = 0;
    text[std::max<ssize_t>(n, 0)] = '\0';
    if (n <= 0 || sscanf(text, "{\"pid\": %d}", &pid) != 1 || pid <= 0) return gone(c, "does not answer");
    c.process.pid = pid;
    c.process.pidfd = Fd(static_cast<int>(syscall(kSysPidfdOpen, pid, 0)));
    if (!c.process.pidfd) system_fault("pidfd_open");
    return "";
  }

 private:
  // The Landlock rules of a test. Paths that all tests use are granted once. The rule for an earlier test's scratch directory
  // stays although the directory is gone. That slows later tests a little, so the rules are made again from time to time.
  const Landlock& rules(const ProcessDirectories& directories) {
    if (tests_ruled_++ % kTestsARuleset == 0) {
      rules_ = Landlock(can().landlock);
      grant_system(plan_, rules_, directories.root);
    }
    grant_scratch(job_, rules_, directories.scratch.c_str());
    if (!rules_.is_complete()) system_fault("make the Landlock rules of a test");
    return rules_;
  }

  // A file for the compiled code of a program: the program's first test writes it, before any of the program runs, and its next
  // tests read it. The tests of one program follow each other.
  int code_file_of(int program) {
    if (program != code_file_program_) code_file_ = memory_file("code");
    code_file_program_ = program;
    int code = reopen(code_file_.get(), file_size(code_file_.get()) == 0 ? O_RDWR : O_RDONLY);
    if (code < 0) system_fault("open a program's code");
    return code;
  }

  // Whether each fork sets this limit itself. The others are set once, for the interpreter, and forks inherit them. But threads are
  // counted for a user, and a fork may have another user than the interpreter.
  static bool is_set_by_forks(__rlimit_resource_t resource) { return resource == RLIMIT_NPROC; }

  // It may have made a child already. As our child this would outlive it, and the end of its namespace would wait until we reap it.
  std::string gone(const Contestant& c, const char* what) {
    process_.kill();
    process_.reap(true);
    kill_leftovers({c.pid_namespace.pid()});
    return format("the warm interpreter %s (%s): ", what, process_.how().c_str()) + head(errors_.get(), 900);
  }

  void begin(const ProcessDirectories& directories) {
    auto [ours, theirs] = connected_sockets();
    control_ = std::move(ours);
    errors_ = memory_file("interpreter");
    if (start(process_) == 0) run(directories, theirs.get());
  }

  // The child's side.
  [[noreturn]] void run(const ProcessDirectories& directories, int control) noexcept {
    plain_signals();
    umask(077);
    Fd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
    int interpreter_file = plan_.interpreter_file.empty() ? -1 : reopen(job_.interpreter_file.get(), O_RDONLY);
    bool ready = nothing && (!job_.full() || chroot(directories.root.c_str()) == 0) && chdir("/") == 0 &&
                 place_descriptors({{nothing.get(), 0}, {nothing.get(), 1}, {errors_.get(), 2}, {control, kRequestsFd},
                                    {interpreter_file, kInterpreterFileFd}, {job_.interpreter.get(), kExecutedFd}},
                                   kExecutedFd);
    if (!ready) _exit(126);
    // Set before the exec: the stack limit decides where the exec puts its mappings.
    for (auto [resource, value] : contestant_limits(plan_, job_.full())) {
      if (!is_set_by_forks(resource)) set_limit(resource, value);
    }
    dprintf(STDERR_FILENO, "cannot be executed: %s\n", strerror(Command(plan_, "serve").execute(job_.exec_key)));
    _exit(127);
  }

  // The request: how every child must confine itself.
  std::string request(const std::vector<std::pair<const char*, int>>& descriptors) const {
    Json line;
    line.open('{').key("descriptors").open('[');
    for (const auto& [name, fd] : descriptors) line.value(name);
    line.close(']').key("rlimits").open('[');
    for (auto [resource, value] : contestant_limits(plan_, job_.full())) {
      if (!is_set_by_forks(resource)) continue;
      rlimit now;
      if (getrlimit(resource, &now) == 0) value = std::min(value, now.rlim_max);  // not every user can raise it
      long long number = value == RLIM_INFINITY ? -1 : static_cast<long long>(value);
      line.open('[').value(static_cast<int>(resource)).value(number).value(number).close(']');
    }
    line.close(']').member("nofile", kContestantFds).member("ready_fd", kControlFd);
    if (job_.full()) line.member("drop", true);
    if (can().contestant_uid != geteuid()) line.member("uid", can().contestant_uid);
    if (can().seccomp) {
      const std::vector<sock_filter>& code = job_.filter.code;
      line.member("seccomp", base64(reinterpret_cast<const unsigned char*>(code.data()), code.size() * sizeof code[0]));
      line.key("self").open('[');
      for (size_t at : job_.filter.self) line.value(at);
      line.close(']').member("listener", can().notify);
    }
    return line.close('}').take();
  }

  const IsolationFeatures& can() const { return job_.machine.can; }

  const Job& job_;
  const RunPlan& plan_;
  Process process_;
  Fd control_, errors_;
  std::string request_;
  Fd code_file_;  // of the program `code_file_program_`
  int code_file_program_ = -1;
  Landlock rules_{0};
  int tests_ruled_ = 0;
};

}  // namespace runner
