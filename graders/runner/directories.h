// Making and removing directories.
#pragma once

#include "lines.h"
#include "processes.h"
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
inline void remove_tree(int parent, const char* name) {
  if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
  Fd directory(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  each_entry(directory.get(), remove_tree);
  unlinkat(parent, name, AT_REMOVEDIR);
}

}  // namespace runner
