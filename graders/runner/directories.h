// Making and removing directories, and the directories in which judge programs run.
#pragma once

#include "lines.h"
#include "processes.h"

namespace runner {

inline std::string random_name() {
  unsigned char bytes[16];
  if (syscall(SYS_getrandom, bytes, sizeof bytes, 0) != sizeof bytes) system_fault("getrandom");
  std::string name;
  for (unsigned char byte : bytes) name += format("%02x", byte);
  return name;
}

inline std::string make_directory(const std::string& path, mode_t mode = 0700) {
  if (mkdir(path.c_str(), mode) != 0) system_fault("mkdir %s", path.c_str());
  return path;
}

// What files take on a disk: bytes, and how many files they are.
struct DiskUse {
  int64_t bytes = 0;
  int files = 0;
};

// Checks that this much can be written to a directory, if the files that `count_own` counts were not there. They are counted after
// the look at the disk: those that a program makes meanwhile then count as its own, and not as missing room.
template <typename CountOwn>
void require_room(const std::string& directory, DiskUse room, CountOwn count_own) {
  struct statvfs disk;
  if (statvfs(directory.c_str(), &disk) != 0) system_fault("look at %s", directory.c_str());
  DiskUse own = count_own();
  bool is_unlimited = disk.f_blocks == 0;  // Source: Linux, tmpfs with size=0
  if (!is_unlimited && static_cast<int64_t>(disk.f_bavail * disk.f_frsize) + own.bytes < room.bytes) {
    fault(FaultKind::System, format("less than %lld MiB are free in %s", static_cast<long long>(room.bytes >> 20), directory.c_str()));
  }
  bool has_any_number = disk.f_files == 0;  // Source: Linux, btrfs, and tmpfs with nr_inodes=0
  int64_t files = static_cast<int64_t>(std::min<fsfilcnt_t>(disk.f_favail, INT_MAX));  // CephFS has no limit, and says 2^64 - 1
  if (!has_any_number && files + own.files < room.files) {
    fault(FaultKind::System, format("fewer than %d more files fit into %s", room.files, directory.c_str()));
  }
}

// Removes a directory with all that a judge or a step put there, or a confined contestant, which can make no directories in it.
// Directories in directories are moved up first: a recursion as deep as a step can make them would need more stack than there is.
inline void remove_tree(int parent, const char* name) {
  constexpr int kMostRounds = 100'000;  // a program that a judge has left may go on making directories
  if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
  Fd tree(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  bool has_moved = true;
  auto move_up = [&](int directory, const char* entry) {
    if (unlinkat(directory, entry, 0) == 0 || unlinkat(directory, entry, AT_REMOVEDIR) == 0) return;
    has_moved |= renameat(directory, entry, tree.get(), random_name().c_str()) == 0;
  };
  for (int round = 0; round < kMostRounds && std::exchange(has_moved, false); round++) {
    lseek(tree.get(), 0, SEEK_SET);
    each_entry(tree.get(), [&](int directory, const char* entry) {
      if (unlinkat(directory, entry, 0) == 0) return;
      Fd below(openat(directory, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      each_entry(below.get(), move_up);
      unlinkat(directory, entry, AT_REMOVEDIR);
    });
  }
  unlinkat(parent, name, AT_REMOVEDIR);
}

// Each judge program runs in a directory with links to its descriptors. If a program did not change its directory, the next one
// with the same links gets it, because on a disk a directory with four links takes 0.1 ms to make and to remove.
// The links lead through one more, beside the directory (DIRECTORY.fd), to /proc/PID/fd of the program that has it now. (Links through
// /proc/self would be dead in processes that it starts without these descriptors, as Python's `subprocess` does. They name the whole
// path, so that they can be moved or copied.)
// No contestant can change it: under full isolation it is outside of the contestant's root, else Landlock refuses.
class JudgeDirectories {
 public:
  using Links = std::vector<std::pair<std::string, int>>;  // names, and the descriptors that they lead to

  explicit JudgeDirectories(const std::string& base) : base_(base) {}
  JudgeDirectories(const JudgeDirectories&) = delete;
  JudgeDirectories& operator=(const JudgeDirectories&) = delete;
  ~JudgeDirectories() {
    for (const auto& [links, directory] : unused_) remove(directory);
  }

  std::string take(const Links& links) {
    auto found = unused_.find(links);
    if (found != unused_.end()) return std::move(unused_.extract(found).mapped());
    std::string directory = make_directory(base_ + "/" + random_name());
    for (const auto& [name, fd] : links) {
      if (symlink(format("%s.fd/%d", directory.c_str(), fd).c_str(), (directory + "/" + name).c_str()) != 0) system_fault("symlink");
    }
    // Any change of the directory's entries sets another time.
    const timespec times[] = {kUnchanged, kUnchanged};
    if (utimensat(AT_FDCWD, directory.c_str(), times, 0) != 0) system_fault("set the times of a judge program's directory");
    return directory;
  }

  // The judge program's side: from now on the links lead to its descriptors.
  static bool lead_to_own_descriptors(const std::string& directory) {
    std::string link = directory + ".fd";
    unlink(link.c_str());  // the last program's
    return symlink(format("/proc/%d/fd", getpid()).c_str(), link.c_str()) == 0;
  }

  static void remove(const std::string& directory) {
    unlink((directory + ".fd").c_str());
    remove_tree(AT_FDCWD, directory.c_str());
  }

  // Called after the end of all processes that could write to it.
  void give_back(const Links& links, const std::string& directory) {
    if (!is_unchanged(directory) || !unused_.emplace(links, directory).second) remove(directory);
  }

 private:
  static constexpr timespec kUnchanged = {1, 0};

  static bool is_unchanged(const std::string& directory) {
    struct stat status;
    if (stat(directory.c_str(), &status) != 0 || (status.st_mode & 07777) != 0700) return false;
    return status.st_mtim.tv_sec == kUnchanged.tv_sec && status.st_mtim.tv_nsec == kUnchanged.tv_nsec;
  }

  std::string base_;
  std::map<Links, std::string> unused_;
};

}  // namespace runner
