// Who hung up first: which side of a FIFO pair closed it first, as the kernel reports it.
#pragma once

#include "descriptors.h"
#include "job.h"
#include "judges.h"
#include "lines.h"
#include "numbers.h"
#include "rules.h"
#include "system.h"

namespace runner {

static_assert(kJudgeLastFd > kJudgeProgramFd + 2 * kMaxProcesses, "the end of a manager must be seen before its FIFOs are closed");

// Finds out which side of each process's FIFO pair closed it first, by inotify.
class HangUps {
 public:
  explicit HangUps(Job& job)
      : inotify_(job.fifo_inotify),
        interactive_(rules_of(job.plan.task).interactive),
        forgeable_(job.plan.shows_fifos() && job.machine.can.landlock == 0),
        first_(job.directories.size(), Nobody),
        closed_by_manager_(first_.size(), 0) {
    if (!job.plan.has_manager() || inotify_) return;
    inotify_ = Fd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!inotify_) system_fault("inotify_init1");
  }
  HangUps(const HangUps&) = delete;
  HangUps& operator=(const HangUps&) = delete;

  // Removes the watches and empties the queue, for the next test.
  ~HangUps() {
    for (const Watched& w : watched_) inotify_rm_watch(inotify_.get(), w.descriptor);
    if (manager_end_watch_ >= 0) inotify_rm_watch(inotify_.get(), manager_end_watch_);
    char buffer[2048];
    while (inotify_ && read(inotify_.get(), buffer, sizeof buffer) > 0) {
    }
  }

  enum Side { Nobody, TheProcess, TheManager };

  // The FIFOs of a manager that ends are closed one after the other, and the program may end before the second one is. The kernel
  // closes a process's files in the order of their numbers or, since Linux 4.3, in the reverse order. So the manager also has the file
  // `errors` open, below and above its FIFOs, as descriptors 2 and kJudgeLastFd: one of these is closed before any FIFO.
  void watch_end(const Judge& manager) {
    manager_end_watch_ = inotify_add_watch(inotify_.get(), format("/proc/self/fd/%d", manager.errors.get()).c_str(), IN_CLOSE_WRITE);
    if (manager_end_watch_ < 0) system_fault("inotify_add_watch");
  }

  void watch(size_t process, const ProcessDirectories& directories) {
    add(process, directories.fifo_out, IN_CLOSE_WRITE, IN_CLOSE_NOWRITE);
    add(process, directories.fifo_in, IN_CLOSE_NOWRITE, IN_CLOSE_WRITE);
  }

  // One side has ended, and the runner is about to open the FIFOs in its place, which the other side may then close before the runner.
  void note_end(Side side, size_t process) {
    if (first_to_hang_up(process) == Nobody) first_[process] = side;
  }

  // From here on nothing counts: the runner is about to kill the processes that are left, which closes their FIFOs too.
  void end() {
    read_events();
    ended_ = true;
  }

  // Which side has closed the FIFO pair of this process first, as far as is known now.
  Side first_to_hang_up(size_t process) {
    read_events();
    return first_[process];
  }

 private:
  void read_events() {
    alignas(inotify_event) char buffer[2048];
    ssize_t n;
    while (inotify_ && !ended_ && (n = read(inotify_.get(), buffer, sizeof buffer)) > 0) {
      for (ssize_t at = 0; at < n;) {
        const inotify_event* event = reinterpret_cast<const inotify_event*>(buffer + at);
        manager_ends_ |= event->wd == manager_end_watch_;
        for (const Watched& w : watched_) {
          if (w.descriptor != event->wd || first_[w.process] != Nobody) continue;
          if ((event->mask & w.of_process) != 0) first_[w.process] = TheProcess;
          // The manager may close one FIFO only to send an end of file. It has hung up when it has closed the other one too.
          if ((event->mask & w.of_manager) == 0) continue;
          closed_by_manager_[w.process] |= w.of_manager;
          // An interactor's FIFOs are its descriptors 0 and 1, which may be closed before `errors`. So closing the one that it reads
          // is enough.
          bool reads_no_more = interactive_ && w.of_manager == IN_CLOSE_NOWRITE;
          bool has_left = reads_no_more || (closed_by_manager_[w.process] == IN_CLOSE && !forgeable_);
          if (manager_ends_ || has_left) first_[w.process] = TheManager;
        }
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    }
  }

  struct Watched {
    int descriptor;
    size_t process;
    uint32_t of_process, of_manager;
  };
  void add(size_t process, const std::string& path, uint32_t of_process, uint32_t of_manager) {
    int descriptor = inotify_add_watch(inotify_.get(), path.c_str(), of_process | of_manager);
    if (descriptor < 0) system_fault("inotify_add_watch");
    watched_.push_back({descriptor, process, of_process, of_manager});
  }
  Fd& inotify_;  // of the job
  bool interactive_;
  bool forgeable_;  // the process can open the manager's ends too, and close them: without Landlock only the manager's end counts
  std::vector<Side> first_;
  std::vector<uint32_t> closed_by_manager_;
  int manager_end_watch_ = -1;
  bool manager_ends_ = false, ended_ = false;
  std::vector<Watched> watched_;
};

}  // namespace runner
