// A job: what all its tests share; and what the runner makes and removes for each process of a submission: its scratch directory, its
// FIFOs.
#pragma once

#include "descriptors.h"
#include "directories.h"
#include "isolation_features.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "processes.h"
#include "roots.h"
#include "seccomp.h"

namespace runner {

// The directories of one process of the submission. Made once; what a test can change in them is made again for each test.
struct ProcessDirectories : Root {  // the root only with full isolation
  std::string scratch;             // its working directory, as the runner sees it
  std::string fifo_in, fifo_out;   // what it reads and what it writes, as the runner and the manager see them
  std::string inside_in, inside_out;  // the same, as the process sees them
  bool made = false;               // what is made for each test is there, and has not been removed yet
};

// What the tests of a job share.
struct Job {
  const RunPlan& plan;
  const Machine& machine;
  std::vector<Fd> programs = {};                     // one copy each: processes could communicate through shared pages
  Fd interpreter = {};                               // executed with the program as its argument, if the plan has one
  Fd interpreter_file = {};                          // the plan's `with=` file, which is open for the interpreter
  std::vector<ProcessDirectories> directories = {};  // for each process
  JudgeDirectories judge_directories{machine.base};
  uint64_t exec_key = 0;  // what a contestant's child must know to execute the program; 0: contestants execute nothing
  Filter filter = {};
  // An inotify descriptor: it reports who closed a FIFO. All tests share it, because closing one that had watches takes the
  // kernel 10 to 20 ms (it waits until no reader of its list of watches is left). No two watches have the same number.
  Fd fifo_inotify = {};

  bool full() const { return machine.full(); }
};

// How much files in a scratch directory may take. The output file is not counted, because it has its own limit.
inline DiskUse scratch_limit(const RunPlan& plan, const Test& test) {
  DiskUse room{kScratchBytes, kScratchFiles};
  if (plan.input_file.empty()) return room;
  room.bytes += file_size(test.input) + kScratchSlackBytes;
  room.files++;
  return room;
}

// The same with the output file.
inline DiskUse scratch_room(const RunPlan& plan, const Test& test) {
  DiskUse room = scratch_limit(plan, test);
  if (plan.output_file.empty()) return room;
  room.bytes += plan.output_bytes + kScratchSlackBytes;
  room.files++;
  return room;
}

// A file in a scratch directory, made by the runner.
inline Fd put_file(const ProcessDirectories& directories, const std::string& name) {
  Fd file(open((directories.scratch + "/" + name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0200));
  if (!file) system_fault("make a file in a scratch directory");
  return file;
}

// A read-only copy: the judge never sees what the program does to it, or puts in its place.
inline void put_input(const ProcessDirectories& directories, const std::string& name, int input) {
  Fd file = put_file(directories, name);
  if (!copy_bytes(input, file.get()) || fchmod(file.get(), 0444) != 0) system_fault("put an input in its place");
}

// The output file exists from the start, as in CMS. It can be written but not read, because otherwise it would be memory that
// is not counted. Its time shows whether the program has opened it to write, as programs cannot set times.
inline void put_output(const ProcessDirectories& directories, const std::string& name, uid_t owner) {
  Fd file = put_file(directories, name);
  const timespec never[2] = {};
  bool theirs = owner == geteuid() || fchown(file.get(), owner, static_cast<gid_t>(-1)) == 0;
  if (!theirs || futimens(file.get(), never) != 0) system_fault("prepare an output file");
}

// Opens the output file. It must be a regular file without another name; nothing else is opened or followed.
inline Fd find_output(const ProcessDirectories& directories, const std::string& name, struct stat& status) {
  Fd file(open((directories.scratch + "/" + name).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  bool is_known = file ? fstat(file.get(), &status) == 0 : errno == ENOENT;
  if (!is_known) system_fault("look at an output file");
  return file && S_ISREG(status.st_mode) && status.st_nlink == 1 ? std::move(file) : Fd();
}

// Makes a FIFO that a user may open too. If a user has many pipes, the kernel makes new ones small. Then two processes that write at
// once may wait for each other for ever.
inline void share_fifo(const std::string& path, uid_t with) {
  if (mkfifo(path.c_str(), 0600) != 0) system_fault("mkfifo");
  Fd end(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  int bytes = end ? fcntl(end.get(), F_GETPIPE_SZ) : -1;
  if (bytes < 0) system_fault("open a fifo");
  if (bytes < kPipeBytes) {
    fault(FaultKind::System, format("a FIFO holds %d bytes only: this user has too many pipes (fs.pipe-user-pages-soft)", bytes));
  }
  if (with != geteuid() && chmod(path.c_str(), 0666) != 0) system_fault("chmod");
}

// One FIFO between the two steps; each step has it in its own directory, to write to or to read from.
inline void put_step_fifo(const Job& job, ProcessDirectories& directories, size_t index) {
  std::string directory = job.full() ? directories.outside + "/fifo" : make_directory(job.machine.base + "/" + random_name(), 0711);
  directories.fifo_in = directories.fifo_out = directory + "/fifo";
  (index == 0 ? directories.inside_out : directories.inside_in) = job.full() ? "/fifo/fifo" : directories.fifo_in;
  if (index == 0) return share_fifo(directories.fifo_out, job.machine.can.contestant_uid);
  if (link(job.directories[0].fifo_out.c_str(), directories.fifo_in.c_str()) != 0) system_fault("link a fifo");
}

// Whether the FIFOs are in the contestant's root directory. FIFOs that are opened for it before its start are outside.
inline bool fifos_are_inside(const Job& job) { return job.full() && job.plan.shows_fifos(); }

// Two FIFOs, from the manager to the process and back.
inline void put_manager_fifos(const Job& job, ProcessDirectories& directories, size_t index) {
  bool inside = fifos_are_inside(job);
  std::string directory = inside ? directories.outside + "/fifo" : make_directory(job.machine.base + "/" + random_name(), 0711);
  directories.fifo_in = directory + format("/m_to_u%zu", index);
  directories.fifo_out = directory + format("/u%zu_to_m", index);
  directories.inside_in = inside ? format("/fifo/m_to_u%zu", index) : directories.fifo_in;
  directories.inside_out = inside ? format("/fifo/u%zu_to_m", index) : directories.fifo_out;
  for (const std::string& fifo : {directories.fifo_in, directories.fifo_out}) share_fifo(fifo, job.machine.can.contestant_uid);
}

// Prepares the directories of one process for a test: a scratch directory, empty except for the input and output files; new FIFOs.
inline void make_directories(Job& job, size_t index, const Test& test) {
  ProcessDirectories& directories = job.directories[index];
  const RunPlan& plan = job.plan;
  uid_t contestant_uid = job.machine.can.contestant_uid;
  if (job.full() && directories.root.empty()) {
    static_cast<Root&>(directories) = make_root(job.machine, plan.sees, std::to_string(index), {"/fifo", "/box"});
    directories.scratch = directories.root + "/box";
  }
  if (job.full()) {
    DiskUse room = scratch_room(plan, test);
    int inodes = room.files + 1;  // the directory itself is one
    std::string options = format("size=%lld,nr_inodes=%d,mode=700,uid=%u", static_cast<long long>(room.bytes), inodes, contestant_uid);
    unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (mount("scratch", directories.scratch.c_str(), "tmpfs", flags, options.c_str()) != 0) system_fault("mount scratch");
  } else {
    directories.scratch = make_directory(job.machine.base + "/" + random_name());
    if (contestant_uid != geteuid()) {
      if (chown(directories.scratch.c_str(), contestant_uid, static_cast<gid_t>(-1)) != 0) system_fault("chown");
    }
  }
  directories.made = true;
  if (!plan.input_file.empty()) put_input(directories, plan.input_file, test.input);
  if (!plan.output_file.empty()) put_output(directories, plan.output_file, contestant_uid);
  // As in CMS: existing files may be used, and no others created. (A confined process cannot change a directory's mode.)
  if (plan.names_files() && chmod(directories.scratch.c_str(), 0555) != 0) system_fault("chmod");
  switch (plan.task) {
    case TaskType::Batch: return;
    case TaskType::TwoSteps: return put_step_fifo(job, directories, index);
    case TaskType::Communication:
    case TaskType::Interactive: return put_manager_fifos(job, directories, index);
  }
}

// Under reduced isolation a contestant can make plain files in its scratch directory, and nothing else. `except`: a file that is not
// counted; if it is empty, all are.
inline DiskUse scratch_size(const std::string& path, const std::string& except) {
  DiskUse size;
  Fd scratch(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  each_entry(scratch.get(), [&](int directory, const char* name) {
    if (except == name) return;
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0) size.bytes += status.st_blocks * 512;
    size.files++;
  });
  return size;
}

// Under full isolation a program's files are in a file system of their own. Otherwise they are on the machine's disk: if that is
// full, the program may fail because of it. Its own files do not count: otherwise it could fill a small disk to get a fault.
inline void require_room_for_files(const Job& job, const Test& test) {
  if (job.full()) return;
  require_room(job.machine.base, scratch_room(job.plan, test), [&job] {
    DiskUse own;
    for (const ProcessDirectories& each : job.directories) {
      if (!each.made) continue;
      DiskUse size = scratch_size(each.scratch, "");
      own.bytes += size.bytes;
      own.files += size.files;
    }
    return own;
  });
}

inline void clear_directories(const Job& job, ProcessDirectories& directories) {
  if (!directories.made) return;
  directories.made = false;
  if (job.full()) {
    if (umount2(directories.scratch.c_str(), MNT_DETACH) != 0) system_fault("umount");
  } else {
    if (job.plan.names_files() && chmod(directories.scratch.c_str(), 0700) != 0) system_fault("chmod");
    remove_tree(AT_FDCWD, directories.scratch.c_str());
  }
  if (directories.fifo_in.empty()) return;
  unlink(directories.fifo_in.c_str());
  unlink(directories.fifo_out.c_str());
  if (!fifos_are_inside(job)) rmdir(directories.fifo_in.substr(0, directories.fifo_in.rfind('/')).c_str());
  directories.fifo_in.clear();
}

}  // namespace runner
