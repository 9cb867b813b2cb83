// The directories in which judge programs run.
#pragma once

#include "directories.h"
#include "lines.h"
#include "system.h"

namespace runner {

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
