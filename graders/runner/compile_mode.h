// Compile mode: runs the steps of a plan, and returns the artifacts.
#pragma once

#include "descriptors.h"
#include "directories.h"
#include "isolation_features.h"
#include "job.h"
#include "job_files.h"
#include "landlock.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "proc_files.h"
#include "processes.h"
#include "roots.h"
#include "seccomp.h"
#include "verdicts.h"

namespace runner {

// The precompiled header <bits/stdc++.h> of a worker: our package's script `precompile` makes it when Piston installs the package, and
// lists on what it depends, because GCC does not notice that a header has changed since.

// Whether a line of the list is still true: `<size> <seconds>.<nanoseconds> <path>`, or `absent <path>`. The size of a directory
// is not listed, because it depends on the file system.
inline bool is_unchanged(const std::string& line) {
  struct stat status;
  if (line.compare(0, 7, "absent ") == 0) return stat(line.c_str() + 7, &status) != 0;
  long long size = 0, seconds = 0;
  long nanoseconds = 0;
  int at = 0;
  if (sscanf(line.c_str(), "%lld %lld.%9ld %n", &size, &seconds, &nanoseconds, &at) != 3 || at == 0) return false;
  if (stat(line.c_str() + at, &status) != 0) return false;
  return (S_ISDIR(status.st_mode) || status.st_size == size) && status.st_mtim.tv_sec == seconds && status.st_mtim.tv_nsec == nanoseconds;
}

// The precompiled header for a C++ standard; empty if this worker has none, or it is out of date.
inline std::string precompiled_header(const std::string& std) {
  const char* judge = getenv("IOI_EVAL_JUDGE");  // a directory of the package; its script `run` sets it
  if (judge == nullptr || std.empty()) return "";
  Fd list(open((std::string(judge) + "/../precompiled/" + std + ".files").c_str(), O_RDONLY | O_CLOEXEC));
  if (!list) return "";
  std::vector<std::string> lines = split(head(list.get(), 16 << 20), '\n');
  lines.pop_back();  // after the last line's end
  if (!std::all_of(lines.begin(), lines.end(), is_unchanged)) return "";
  std::string last = lines.empty() ? "" : lines.back();
  return last.size() > 4 && last.compare(last.size() - 4, 4, ".gch") == 0 ? last.substr(last.find('/')) : "";
}

// Prints the line of an artifact, with its bytes.
inline void print_artifact(Lines& lines, const std::string& name, int fd) {
  int64_t bytes = file_size(fd);
  Json line;
  lines.print(line.open('{').member("artifact", name).key("base64").open_text().take());
  print_base64(lines, fd, bytes);
  lines.end_line(line.close_text().member("bytes", bytes).close('}'));
}

// Runs the steps of a compile plan in one work directory.
class Compilation {
 public:
  Compilation(const CompilePlan& plan, const Machine& machine, JobFiles& files, Lines& lines)
      : plan_(plan), machine_(machine), files_(files), lines_(lines), header_(precompiled_header(plan.precompiled)), sees_(plan.sees) {
    if (!header_.empty()) sees_.push_back(header_);
    if (machine_.full()) {
      directory_ = make_directory(machine_.base + "/work", 0755);
      long long size = 2 * (plan_.file_bytes + kStepFileSlackBytes) + seen_bytes();
      std::string options = format("size=%lld,nr_inodes=65536,mode=755", size);
      unsigned long flags = MS_NOSUID | MS_NODEV;
      if (!executes_own_files()) flags |= MS_NOEXEC;
      if (mount("work", directory_.c_str(), "tmpfs", flags, options.c_str()) != 0) system_fault("mount work");
      if (!plan_.sees_system) make_root();
    } else {
      directory_ = make_directory(machine_.base + "/" + random_name());
    }
    work_ = Fd(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!work_) system_fault("open the work directory");
    if (!header_.empty() && symlinkat(header_.c_str(), work_.get(), plan_.precompiled_as.c_str()) != 0) system_fault("link %s", header_.c_str());
  }

  ~Compilation() {
    work_.reset();
    if (machine_.full()) {
      if (!root_.root.empty()) umount2((root_.root + directory_).c_str(), MNT_DETACH);
      umount2(directory_.c_str(), MNT_DETACH);
    } else {
      remove_tree(AT_FDCWD, directory_.c_str());
    }
  }

  void run() {
    using Kind = CompileAction::Kind;
    int steps = 0;
    for (const CompileAction& action : plan_.actions) {
      if (action.kind == Kind::Put) put(action.file, action.path);
      if (action.kind == Kind::Step && !step(action.argv, steps++)) return;
    }
    for (const CompileAction& action : plan_.actions) {
      if (action.kind == Kind::Artifact) artifact(action.path, action.name, action.file);
    }
  }

 private:
  // The work directory is in it at its original path, because steps get that path as HOME.
  void make_root() {
    root_ = runner::make_root(machine_, sees_, "", {"/tmp", "/proc", "/proc/self", directory_.c_str()});
    if (mount(directory_.c_str(), (root_.root + directory_).c_str(), nullptr, MS_BIND, nullptr) != 0) system_fault("bind work");
  }

  // Whether steps may execute what they have made. Only the build script of a judge program does; it sees the system.
  bool executes_own_files() const { return plan_.sees_system; }

  // In /proc, a step sees only its own /proc/self/exe: rustc finds its library by that, and the loader finds files
  // beside a program (`$ORIGIN`).
  void show_itself(const std::string& command) {
    if (root_.root.empty() || command[0] != '/') return;
    std::string link = root_.outside + "/proc/self/exe";
    unlink(link.c_str());
    if (symlink(command.c_str(), link.c_str()) != 0) system_fault("make the link %s", link.c_str());
  }

  // The directory of a path, and the path's last name. It follows no link that a step has put there; with `make`, it replaces it.
  std::pair<Fd, std::string> parent_of(const std::string& path, bool make) const {
    Fd directory(fcntl(work_.get(), F_DUPFD_CLOEXEC, 0));
    if (!directory) system_fault("open the work directory");
    std::vector<std::string> names = split(path, '/');
    std::string own = std::move(names.back());
    names.pop_back();
    for (const std::string& name : names) {
      if (name.empty()) continue;
      if (make) unlinkat(directory.get(), name.c_str(), 0);
      if (make) mkdirat(directory.get(), name.c_str(), 0755);
      directory = Fd(openat(directory.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!directory && is_machine_error(errno)) system_fault("open %s", path.c_str());
    }
    return {std::move(directory), own};
  }

  void put(const std::string& file, const std::string& path) {
    auto [directory, own] = parent_of(path, true);
    remove_tree(directory.get(), own.c_str());
    // Not O_TRUNC: we must not overwrite anything that a step has put there.
    Fd to(openat(directory.get(), own.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!to || !copy_bytes(files_.get(file), to.get())) system_fault("put %s into the work directory", path.c_str());
    put_[path] = file;
  }

  // Puts the files back that are missing. Returns whether there were any. Under reduced isolation a program that cleans the
  // machine's /tmp may have deleted them; or a step has deleted them, if the submission makes its compiler do so.
  bool put_missing_files() {
    bool missing = false;
    for (const auto& [path, file] : std::exchange(put_, {})) {
      bool is_there = faccessat(work_.get(), path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
      missing |= !is_there;
      is_there ? void(put_.emplace(path, file)) : put(file, path);
    }
    return missing;
  }

  // The total size of the files that steps are given.
  long long seen_bytes() const {
    long long total = 0;
    for (const CompileAction& action : plan_.actions) {
      if (action.kind == CompileAction::Kind::Put) total += file_size(files_.get(action.file));
    }
    return total;
  }

  struct Step {
    PidNamespace pid_namespace;
    Process process;  // after the namespace, whose end waits for it
    Fd pipe;
    std::string output;
    size_t printed = 0;
    Limit limit = Limit::None;
    int64_t begun_us = 0, cpu_us = 0, peak_bytes = 0;
    Stopwatch stopwatch;
    WaitClock wait_clock;
    int64_t idle_us = 0;  // for how long all of them have waited
    StartError start_error;
  };

  bool step(const std::vector<std::string>& argv, int number) {
    Step s;
    auto [ours, theirs] = new_pipe();
    s.pipe = std::move(ours);
    show_itself(argv[0]);
    if (machine_.full() && !s.pid_namespace.enter(machine_.own_pidns)) system_fault("a PID namespace cannot be made");
    s.begun_us = now_us();
    long long kills = out_of_memory_kills();
    if (start(s.process) == 0) execute(argv, theirs.get(), s.start_error);
    if (machine_.full()) PidNamespace::leave(machine_.own_pidns);
    theirs.reset();
    watch(s);
    int64_t wall_us = now_us() - s.begun_us;
    s.pid_namespace.end();
    // For processes that were killed together with their parent, only the polled values are known.
    s.cpu_us = std::max(s.cpu_us, s.process.cpu_us() + kill_leftovers({}, s.process.pid));
    s.peak_bytes = std::max(s.peak_bytes, s.process.peak_bytes());
    drain(s);
    std::string unstarted = s.start_error.read();
    if (!unstarted.empty()) fault(FaultKind::System, format("step %d was not started: %s", number, unstarted.c_str()));
    if (s.limit == Limit::None) s.limit = late_limit(s);
    spent_us_ += s.cpu_us;
    if (s.process.failed() && s.limit == Limit::None && put_missing_files() && !std::exchange(repeated_, true)) return step(argv, number);
    // A source can make the compiler print this, so it counts only if there is less room than steps may use.
    bool mentions_full_disk = s.output.find(strerror(ENOSPC)) != std::string::npos;
    if (mentions_full_disk && s.process.failed() && s.limit == Limit::None) require_room(directory_, {most_made(), kScratchFiles}, [this] { return made().all; });
    // If a compiler was killed, its driver exits with an ordinary code. But the kernel counts such kills.
    bool killed = s.process.failed() && s.limit == Limit::None && out_of_memory_kills() > kills;
    Json line;
    line.open('{').member("step", number).member("code", s.process.code()).member("signal", s.process.signal());
    line.member("limit", name_of(s.limit)).member("killed", killed ? SIGKILL : 0).member("cpu_us", s.cpu_us);
    line.member("wall_us", wall_us).member("memory_bytes", s.peak_bytes).member("output", s.output);
    if (!header_.empty()) line.member("precompiled", true);
    line.close('}');
    lines_.end_line(line);
    return s.limit == Limit::None && !s.process.failed();
  }

  void watch(Step& s) {
    while (!s.process.ended) {
      pollfd fds[2] = {{s.process.pidfd.get(), POLLIN, 0}, {s.pipe.get(), POLLIN, 0}};
      poll(fds, s.pipe ? 2 : 1, kStepTickMs);
      drain(s);
      if (!s.process.reap(false)) look(s);
    }
  }

  void drain(Step& s) {
    char buffer[16384];
    ssize_t n;
    while (s.pipe && (n = read(s.pipe.get(), buffer, sizeof buffer)) >= 0) {
      if (n == 0) return s.pipe.reset();
      size_t room = static_cast<size_t>(plan_.output_bytes) - s.output.size();
      s.output.append(buffer, std::min(room, static_cast<size_t>(n)));
      s.printed += static_cast<size_t>(n);
      if (s.printed > kStepFloodBytes) return stop(s, Limit::Output);
    }
  }

  void look(Step& s) {
    // Parents come before their children: if a child ends between two reads, its time moves to its parent, which was read already. In
    // the other order it would count twice. Orphans are children of ours, or of PID 1 of the namespace.
    std::vector<pid_t> processes = descendants(getpid());
    processes.erase(std::remove(processes.begin(), processes.end(), s.pid_namespace.pid()), processes.end());
    int64_t cpu_us = 0, resident_bytes = 0;
    bool waits = !processes.empty();
    std::set<pid_t> parents, uninterruptible;
    for (pid_t pid : processes) {
      Sample sample = ProcFiles().read(pid, {}, true);
      ProcessTotals totals = read_totals(pid);
      cpu_us += sample.cpu_us + totals.reaped_children_us;
      s.peak_bytes = std::max(s.peak_bytes, sample.resident_bytes);
      resident_bytes += sample.resident_bytes;
      waits &= sample.threads > 0 && !sample.runs;
      parents.insert(totals.parent);
      if (sample.waits) uninterruptible.insert(pid);
    }
    // A process in state D that has a child waits for it (vfork); any other waits for a disk, which is not idle.
    for (pid_t pid : uninterruptible) waits &= parents.count(pid) > 0;
    int64_t waited_us = s.wait_clock.end_piece(s.stopwatch.look(now_us()), cpu_us);
    if (waits) s.idle_us += waited_us;
    s.cpu_us = std::max(s.cpu_us, cpu_us);
    // A compiler waits for a processor or a disk only. If it waits for something else, a program made it open a pipe (under
    // reduced isolation the pipes of its own processes are in /proc/self/fd), or sleep. It would reach its wall clock limit, which a
    // loaded machine can cause too.
    if (s.idle_us > plan_.cpu_ms * 1000) stop(s, Limit::Idle);
    bool too_much_together = resident_bytes > 2 * plan_.memory_bytes && !executes_own_files();
    if (s.peak_bytes > plan_.memory_bytes || too_much_together) stop(s, Limit::Memory);
    if (spent_us_ + cpu_us > plan_.cpu_ms * 1000) stop(s, Limit::Cpu);
    if (now_us() - s.begun_us > plan_.wall_ms * 1000) stop(s, Limit::Wall);
    if (static_cast<long>(processes.size()) > plan_.processes) stop(s, Limit::Processes);
    if (has_made_too_much()) stop(s, Limit::FileSize);
  }

  // Limits that polling has missed.
  Limit late_limit(const Step& s) const {
    if (spent_us_ + s.cpu_us > plan_.cpu_ms * 1000) return Limit::Cpu;
    if (s.peak_bytes > plan_.memory_bytes) return Limit::Memory;
    if (has_made_too_much()) return Limit::FileSize;
    return Limit::None;
  }

  struct Made {
    int64_t largest = 0;
    DiskUse all;
  };

  // The files that steps have made.
  Made made() const {
    Made made;
    add_made(work_.get(), ".", "", 0, made);
    return made;
  }

  // Whether it is a file that was put there, and not something that a step has put in its place.
  bool is_as_put(const std::string& path, const struct stat& status) const {
    auto put = put_.find(path);
    return put != put_.end() && S_ISREG(status.st_mode) && status.st_size == file_size(files_.get(put->second));
  }

  // Adds the files of a directory, and of those in it: rustc makes one, and a program that a compiler executes could make many.
  // `before`: what precedes their names in the plan.
  void add_made(int parent, const char* directory_name, const std::string& before, int depth, Made& made) const {
    if (depth > kStepDepth) made.all.files = kStepFiles + 1;
    Fd again(openat(parent, directory_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));  // from its beginning
    each_entry(again.get(), [&](int directory, const char* name) {
      struct stat status;
      std::string path = before + name;
      if (made.all.files > kStepFiles || fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || is_as_put(path, status)) return;
      made.all.files++;
      if (S_ISDIR(status.st_mode) && !executes_own_files()) return add_made(directory, name, path + '/', depth + 1, made);
      made.largest = std::max<int64_t>(made.largest, status.st_size);
      made.all.bytes += status.st_size;
    });
  }

  // What the work directory's own file system holds, also of files that are deleted and still open.
  int64_t used_bytes() const {
    struct statfs room;
    if (fstatfs(work_.get(), &room) != 0) system_fault("statfs of the work directory");
    return static_cast<int64_t>((room.f_blocks - room.f_bfree) * static_cast<uint64_t>(room.f_bsize));
  }

  // An object and a program of the largest size: a submission of many sources may not take more.
  int64_t most_made() const { return 2 * plan_.file_bytes; }

  bool has_made_too_much() const {
    if (machine_.full() && !executes_own_files() && used_bytes() > most_made() + seen_bytes() + kRoundingBytes) return true;
    Made files = made();
    bool too_many = files.all.files > kStepFiles && !executes_own_files();
    return files.largest > plan_.file_bytes || files.all.bytes > most_made() || too_many;
  }

  static void stop(Step& s, Limit limit) {
    if (s.limit == Limit::None) s.limit = limit;
    kill(-s.process.pid, SIGKILL);  // the group that its child has made
    for (pid_t pid : descendants(s.process.pid)) kill(pid, SIGKILL);
    s.process.kill();
  }

  // The child's side.
  [[noreturn]] void execute(const std::vector<std::string>& step_argv, int output, StartError& start_error) noexcept {
    setsid();
    plain_signals();
    umask(022);
    Fd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    int shared = fcntl(output, F_GETFL);
    fcntl(output, F_SETFL, shared & ~O_NONBLOCK);
    if (!root_.root.empty() && chroot(root_.root.c_str()) != 0) start_error.exit_with("chroot");
    if (chdir(directory_.c_str()) != 0) start_error.exit_with("enter the work directory");
    if (!place_descriptors({{nothing.get(), 0}, {output, 1}, {output, 2}}, INT_MAX)) start_error.exit_with("descriptors");
    set_limit(RLIMIT_CORE, kNoCore);
    set_limit(RLIMIT_AS, 2 * static_cast<rlim_t>(plan_.memory_bytes) + (rlim_t{1} << 30));
    set_limit(RLIMIT_CPU, cpu_backstop_s(plan_.cpu_ms));
    set_limit(RLIMIT_FSIZE, static_cast<rlim_t>(plan_.file_bytes + kStepFileSlackBytes));
    if (!executes_own_files()) set_limit(RLIMIT_NOFILE, kStepDescriptors);
    if (machine_.full()) set_limit(RLIMIT_NPROC, static_cast<rlim_t>(plan_.processes) + 10);
    if (!drop_privileges(geteuid())) start_error.exit_with("drop privileges");
    if (const char* failed = confine()) start_error.exit_with(failed);
    std::vector<std::string> words = step_argv;
    std::vector<char*> argv = pointers_to(words);
    clearenv();
    setenv("PATH", search_path().c_str(), 1);
    setenv("HOME", directory_.c_str(), 1);
    setenv("TMPDIR", directory_.c_str(), 1);
    setenv("LANG", "C.UTF-8", 1);
    execvp(argv[0], argv.data());
    start_error.exit_with(format("execute %s", argv[0]).c_str());
  }

  // Piston's compiler packages are on the PATH that its jobs get.
  static std::string search_path() {
    const char* inherited = getenv("PATH");
    return inherited != nullptr && *inherited != '\0' ? inherited : kPath;
  }

  // Allows only the paths that the plan names, and the work directory. Returns what failed.
  const char* confine() const {
    if (machine_.can.landlock >= 1) {
      Landlock landlock(machine_.can.landlock);
      if (plan_.sees_system) {
        for (const char* path : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives",
                                 "/etc/ld.so.cache", "/piston/packages"}) {
          landlock.grant(path, right::Read | right::Execute);
        }
      }
      for (const std::string& path : sees_) landlock.grant(path.c_str(), right::Read | right::Execute);
      landlock.grant("/dev/null", right::ReadFile | right::WriteFile | right::Truncate);
      landlock.grant("/dev/urandom", right::ReadFile);
      landlock.grant(".", executes_own_files() ? ~uint64_t{0} : ~uint64_t{right::Execute});
      if (!landlock.restrict()) return "landlock";
    }
    return machine_.can.seccomp && install_filter(step_filter(plan_.sees_system), false) < 0 ? "seccomp" : nullptr;
  }

  // A step itself may not open what a link of its leads to.
  void artifact(const std::string& path, const std::string& as, const std::string& into) {
    auto [directory, own] = parent_of(path, false);
    Fd fd(openat(directory.get(), own.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (!fd && is_machine_error(errno)) system_fault("open %s", path.c_str());
    struct stat status;
    if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;  // no line if there is no such artifact
    int file = files_.descriptor_of(into);
    if (file < 0) return print_artifact(lines_, as, fd.get());
    if (!copy_bytes(fd.get(), file)) system_fault("write %s", into.c_str());
    Json line;
    line.open('{').member("artifact", as).member("into", into).member("bytes", status.st_size).close('}');
    lines_.end_line(line);
  }

  const CompilePlan& plan_;
  const Machine& machine_;
  JobFiles& files_;
  Lines& lines_;
  std::string header_;             // the precompiled header; empty: there is none
  std::vector<std::string> sees_;  // what steps see of this machine
  std::string directory_;
  std::map<std::string, std::string> put_;  // the job's file for each path in the work directory
  bool repeated_ = false;                   // a step was run again, because files were missing after it had failed
  Fd work_;
  Root root_;                       // full, and steps do not see the system: their root directory
  int64_t spent_us_ = 0;            // CPU time of the steps that have ended; all steps share the limit
};

}  // namespace runner
