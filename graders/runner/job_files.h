// The job's files, opened before anything else starts.
#pragma once

#include "descriptors.h"
#include "lines.h"
#include "plan_lines.h"
#include "system.h"

namespace runner {

// The job's files, by their names: descriptors that are inherited, or opened in the working directory and unlinked.
class JobFiles {
 public:
  // `plan=12,t0.in=13,…`: names are encoded as words, as in a plan.
  void inherit(const std::string& table) {
    for (const std::string& entry : split(table, ',')) {
      size_t equals = entry.rfind('=');
      if (equals == std::string::npos) plan_fault("--fds: not name=number: %s", entry.c_str());
      char* end = nullptr;
      long fd = strtol(entry.c_str() + equals + 1, &end, 10);
      if (*end != '\0' || fd < 3 || fd > INT_MAX || fcntl(static_cast<int>(fd), F_GETFD) < 0) {
        plan_fault("--fds: not an open descriptor: %s", entry.c_str());
      }
      // A memory file has no path, so Landlock lets a contestant open it again through /proc/self/fd; it must not be writable.
      if (fcntl(static_cast<int>(fd), 1034 /* F_GET_SEALS */) >= 0) fchmod(static_cast<int>(fd), 0555);
      entries_.emplace_back(decode(entry.substr(0, equals)), static_cast<int>(fd));
    }
    read_sums(descriptor_of(kSums));
  }

  void in_directory(const std::string& directory) {
    if (chdir(directory.c_str()) != 0) system_fault("--dir %s", directory.c_str());
    by_path_ = true;
    Fd sums(open(kSums, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    read_sums(sums.get());
  }

  void forget() { std::vector<std::pair<std::string, int>>().swap(entries_); }

  // The descriptor that was inherited or added under this name; -1 if there is none.
  int descriptor_of(const std::string& name) const {
    for (const auto& [known, fd] : entries_) {
      if (known == name && (!by_path_ || fd == added_)) return fd;
    }
    return -1;
  }

  // Adds a file that the job does not have: the program that it compiles.
  void add(const std::string& name, int fd) {
    for (const auto& entry : entries_) {
      if (entry.first == name) plan_fault("the job has a file %s, which it is to compile", name.c_str());
    }
    entries_.emplace_back(name, fd);
    added_ = fd;
  }

  int get(const std::string& name) {
    for (const auto& [known, fd] : entries_) {
      if (known == name) return checked(name, fd);
    }
    int fd = by_path_ ? open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd < 0) plan_fault("the job has no file %s", name.c_str());
    if (!is_regular(fd)) plan_fault("%s is not a file", name.c_str());
    unlink(name.c_str());  // if this fails, Landlock or the root directory still hides it from contestants
    entries_.emplace_back(name, fd);
    return checked(name, fd);
  }

 private:
  static constexpr const char* kSums = "sums";

  // Lines of a file's checksum and its name, as a word. The file may be absent: then nothing is checked.
  void read_sums(int fd) {
    if (fd < 0) return;
    for (const std::string& line : split(head(fd, 16 << 20), '\n')) {
      if (line.size() > 9) sums_[decode(line.substr(9))] = line.substr(0, 8);
    }
    if (by_path_) unlink(kSums);
  }

  // The descriptor, once the file is known to be what the client has sent.
  int checked(const std::string& name, int fd) {
    auto found = sums_.find(name);
    if (found == sums_.end()) return fd;
    Checksum sum;
    char block[65536];
    ssize_t n;
    for (int64_t offset = 0; (n = read_at(fd, block, sizeof block, offset)) != 0; offset += n) {
      if (n < 0) system_fault("read %s", name.c_str());
      sum.add(block, static_cast<size_t>(n));
    }
    if (sum.text() != found->second) fault(FaultKind::System, "the job's file " + name + " was changed on the way");
    sums_.erase(found);
    return fd;
  }

  std::map<std::string, std::string> sums_;
  std::vector<std::pair<std::string, int>> entries_;
  bool by_path_ = false;
  int added_ = -1;
};

// An executable file: the job's own if it is executable, else a copy. (Piston, for example, gives every file mode 644.)
inline Fd executable(JobFiles& files, const std::string& name) {
  int original = files.get(name);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", original);
  if (access(path, X_OK) == 0) return Fd(reopen(original, O_RDONLY));
  Fd copy = memory_file(name.c_str());
  if (!copy_bytes(original, copy.get()) || fchmod(copy.get(), 0500) != 0) system_fault("copy %s", name.c_str());
  return Fd(reopen(copy.get(), O_RDONLY));
}

// The contestant's program in a memory file that can only be executed, whatever the mode of the original file.
inline Fd program_copy(int original) {
  constexpr unsigned kFlags = 1 | 2;  // MFD_CLOEXEC, MFD_ALLOW_SEALING
  Fd writable(static_cast<int>(syscall(SYS_memfd_create, "program", kFlags | MFD_EXEC)));
  if (!writable) writable = Fd(static_cast<int>(syscall(SYS_memfd_create, "program", kFlags)));  // before Linux 6.3
  if (!writable) system_fault("memfd_create");
  if (!copy_bytes(original, writable.get())) system_fault("copy the program");
  int fd = reopen(writable.get(), O_RDONLY);  // before its mode forbids reading
  if (fd < 0 || fchmod(writable.get(), 0111) != 0) system_fault("the program's memory file");
  fcntl(writable.get(), 1033 /* F_ADD_SEALS */, 0xf);
  return Fd(fd);
}

}  // namespace runner
