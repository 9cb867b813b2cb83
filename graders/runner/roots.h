// Root directories of contestants and compilers, which show them a part of this machine.
#pragma once

#include "descriptors.h"
#include "directories.h"
#include "isolation_features.h"
#include "lines.h"
#include "numbers.h"

namespace runner {

// A root directory; both are empty if none was made.
struct Root {
  std::string outside;  // as the runner can write to it
  std::string root;     // the same directory, mounted read-only
};

// (Not named `bind`: if another header includes <functional>, argument-dependent look-up would prefer std::bind.)
inline void bind_mount(const std::string& from, const std::string& to) {
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) system_fault("bind %s", from.c_str());
}

// Keeps the other restrictions of the mount, because the kernel refuses to drop those of a mount from another namespace.
inline void make_read_only(const std::string& at) {
  struct statfs mounted;
  if (statfs(at.c_str(), &mounted) != 0) system_fault("look at %s", at.c_str());
  unsigned long kept = static_cast<unsigned long>(mounted.f_flags) & (MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME);
  if ((mounted.f_flags & 4096 /* ST_RELATIME */) != 0) kept |= MS_RELATIME;
  mount(nullptr, at.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | kept, nullptr);
  struct statvfs flags;  // it may be a mount of the user who runs all this
  if (statvfs(at.c_str(), &flags) != 0 || (flags.f_flag & ST_RDONLY) == 0) system_fault("make %s read-only", at.c_str());
}

// Builds a root directory: it shows given paths of this machine, each at its own path, and nothing else.
class View {
 public:
  explicit View(const Root& made) : outside_(made.outside), root_(made.root) {}

  // Shows a file, or a directory with all below it. A symbolic link on the way is copied, and its target is shown too. A path
  // that does not exist is skipped.
  void show(const std::string& path, int links = 0) {
    std::string at;  // the part that exists and has no links
    for (size_t from = 0; from < path.size();) {
      size_t slash = std::min(path.find('/', from), path.size());
      std::string name = path.substr(from, slash - from), next = at + "/" + name;
      from = slash + 1;
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        at.resize(at.empty() ? 0 : at.rfind('/'));
        continue;
      }
      struct stat status;
      if (!is_made(next) && lstat(next.c_str(), &status) != 0) return skip(next);
      if (is_made(next) || !S_ISLNK(status.st_mode)) {
        at = next;
        continue;
      }
      char target[PATH_MAX] = {};
      if (links == kMaxLinks) return;
      if (readlink(next.c_str(), target, sizeof target - 1) <= 0) return skip(next);
      put_link(target, next);
      std::string rest = slash < path.size() ? path.substr(slash) : "";
      return show((target[0] == '/' ? "" : at + "/") + target + rest, links + 1);
    }
    put(at);
  }

  void make_all_read_only() {
    struct {
      uint64_t set, clear, propagation, userns;
    } attributes = {1 | 2 /* RDONLY, NOSUID */, 0, 0, 0};
    if (syscall(kSysMountSetattr, AT_FDCWD, root_.c_str(), 0x8000 /* AT_RECURSIVE */, &attributes, sizeof attributes) == 0) return;
    for (const std::string& path : shown_) make_read_only(root_ + path);
  }

 private:
  static constexpr int kMaxLinks = 40;  // Source: Linux, path_resolution(7)

  bool covers(const std::string& path) const {
    return std::any_of(shown_.begin(), shown_.end(), [&](const std::string& shown) {
      return path.compare(0, shown.size(), shown) == 0 && (path.size() == shown.size() || path[shown.size()] == '/');
    });
  }

  // Without a file that is there, a correct program could fail.
  static void skip(const std::string& path) {
    if (!is_no_path(errno)) system_fault("look at %s", path.c_str());
  }

  bool is_made(const std::string& path) const { return std::find(made_.begin(), made_.end(), path) != made_.end(); }

  void make_directories_above(const std::string& path) {
    for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      std::string above = path.substr(0, slash);
      if (is_made(above)) continue;
      mkdir((outside_ + above).c_str(), 0755);
      made_.push_back(above);
    }
  }

  void put_link(const char* target, const std::string& path) {
    if (covers(path)) return;
    make_directories_above(path);
    if (symlink(target, (outside_ + path).c_str()) != 0 && errno != EEXIST) system_fault("make the link %s", path.c_str());
  }

  void put(const std::string& path) {
    struct stat status;
    if (path.empty() || covers(path)) return;
    if (stat(path.c_str(), &status) != 0) return skip(path);
    make_directories_above(path);
    std::string point = outside_ + path;
    bool made = S_ISDIR(status.st_mode) ? mkdir(point.c_str(), 0755) == 0 || errno == EEXIST
                                        : bool(Fd(open(point.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644)));
    if (!made) system_fault("make %s", point.c_str());
    bind_mount(path, root_ + path);
    shown_.push_back(path);
  }

  std::string outside_, root_;
  std::vector<std::string> shown_, made_;  // mounts; the directories on the way to them
};

// The root directory of a contestant or of a compiler: read-only, with devices, and with the paths that the plan shows.
// `own`: directories that are created in it.
inline Root make_root(const Machine& machine, const std::vector<std::string>& sees, const std::string& name,
                      std::initializer_list<const char*> own) {
  Root made;
  made.outside = make_directory(machine.base + "/outside" + name, 0755);
  made.root = make_directory(machine.base + "/root" + name, 0755);
  make_directory(made.outside + "/dev", 0755);
  for (const char* directory : own) make_directory(made.outside + directory, 0755);
  if (mount(made.outside.c_str(), made.root.c_str(), nullptr, MS_BIND, nullptr) != 0) system_fault("bind a root");
  // Not /dev/zero: if its pages were mapped shared, they would be memory that is not counted.
  for (const char* device : {"/dev/null", "/dev/random", "/dev/urandom"}) {
    Fd point(open((made.outside + device).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    bind_mount(device, made.root + device);
  }
  // Before 6.12, TOMOYO lets nothing be executed from a descriptor if this path does not exist; its contents do not matter.
  make_directory(made.outside + "/dev/fd", 0755);
  Fd executed(open((made.outside + "/dev/fd/" + std::to_string(kExecutedFd)).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0));
  if (!executed) system_fault("make a file in /dev/fd");
  View view(made);
  for (const std::string& path : sees) view.show(path);
  view.make_all_read_only();
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (mount(nullptr, made.root.c_str(), nullptr, flags, nullptr) != 0) system_fault("remount a root");
  return made;
}

}  // namespace runner
