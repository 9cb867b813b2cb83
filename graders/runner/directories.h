// Directories that the runner makes and removes.
#pragma once

#include "descriptors.h"
#include "lines.h"
#include "system.h"

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

// Removes a directory that a judge or a step filled. (Directories that contestants fill are unmounted, or flat.)
inline void remove_tree(int parent, const char* name) {
  if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
  Fd fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd) {
    DIR* directory = fdopendir(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
    while (dirent* entry = directory != nullptr ? readdir(directory) : nullptr) {
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove_tree(fd.get(), entry->d_name);
    }
    if (directory != nullptr) closedir(directory);
  }
  unlinkat(parent, name, AT_REMOVEDIR);
}

}  // namespace runner
