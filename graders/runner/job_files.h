// The job's files, opened before anything else starts.
#pragma once

#include "descriptors.h"
#include "inflate.h"
#include "lines.h"
#include "numbers.h"

namespace runner {

// The job's files, by their names: descriptors that are inherited, or opened in the working directory and unlinked. A file may
// also be in the file `packed`, or deflated in a file NAME.deflated: it then becomes a sealed memory file.
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
      entries_.emplace(decode(entry.substr(0, equals)), static_cast<int>(fd));
    }
    read_lists();
  }

  void in_directory(const std::string& directory) {
    if (chdir(directory.c_str()) != 0) system_fault("--dir %s", directory.c_str());
    by_path_ = true;
    read_lists();
    // If the client has sent the runner, we are that file. Damage may not have kept us from starting.
    Fd runner(open("runner", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (runner) checked("runner", runner.get());
  }

  // Adds the files that the job takes from a problem's package. `stored` has a line for each of them: `stored FILE HASH NAME`. The
  // package has the file as blobs/NAME, and its checksum in `sums`. Returns a line about each one that is missing or damaged.
  std::string add_stored(const std::string& package) {
    int list = take(kStored);
    if (list < 0) plan_fault("the job has no file %s", kStored);
    Fd sums(open((package + "/" + kSums).c_str(), O_RDONLY | O_CLOEXEC));
    std::map<std::string, std::string> known = read_sums(sums.get());
    std::string refusals;
    for (const std::string& line : split(head(list, kMostUnpackedBytes), '\n')) {
      std::vector<std::string> words = split(line, ' ');
      if (words.size() < 4 || words[1] == "runner") continue;  // `graders/stored/run` has checked the runner
      Fd file(open((package + "/blobs/" + words[3]).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
      if (!file && is_machine_error(errno)) system_fault("open %s", words[1].c_str());
      if (!file) {
        refusals += "not stored: " + words[2] + " is missing\n";
      } else if (sum_of(words[1], file.get()) != known[words[3]]) {
        refusals += "not stored: " + words[2] + " is another file\n";
      } else {
        entries_.emplace(words[1], file.get());
        opened_.push_back(std::move(file));
      }
    }
    return refusals;
  }

  // Drops the names and what was packed. The descriptors stay open.
  void forget() {
    entries_ = {};
    packed_.clear();
    unpacked_.clear();
  }

  // The descriptor that was inherited or added under this name; -1 if there is none.
  int descriptor_of(const std::string& name) const {
    auto known = entries_.find(name);
    return known != entries_.end() && (!by_path_ || known->second == added_) ? known->second : -1;
  }

  // Adds a file that the job does not have: the program that it compiles.
  void add(const std::string& name, int fd) {
    if (!entries_.emplace(name, fd).second) plan_fault("the job has a file %s, which it is to compile", name.c_str());
    added_ = fd;
  }

  int get(const std::string& name) {
    int fd = take(name);
    if (fd < 0) fd = unpack(name);
    if (fd < 0 && sums_.count(name) > 0) fault(FaultKind::System, "the job's file " + name + " was lost on the way");
    if (fd < 0) plan_fault("the job has no file %s", name.c_str());
    return checked(name, fd);
  }

  // A plan is never packed: `ioi-eval serve` reads each plan before the runner follows it.
  int get_plan(const std::string& name) {
    int fd = unpacked_.count(name) == 0 ? take(name) : -1;
    if (fd < 0) plan_fault("the job has no file %s that is sent as it is", name.c_str());
    return checked(name, fd);
  }

 private:
  static constexpr const char *kSums = "sums", *kPacked = "packed", *kDeflated = ".deflated", *kStored = "stored";

  void read_lists() {
    sums_ = read_sums(take(kSums));
    read_packed(take(kPacked));
  }

  // The descriptor of a file that was sent as it is; -1 if there is none. The first time, the file is opened and its path removed.
  int take(const std::string& name) {
    auto known = entries_.find(name);
    if (known != entries_.end()) return known->second;
    int fd = by_path_ ? open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd < 0 && by_path_ && is_machine_error(errno)) system_fault("open %s", name.c_str());
    if (fd < 0) return -1;
    if (!is_regular(fd)) plan_fault("%s is not a file", name.c_str());
    unlink(name.c_str());  // if this fails, Landlock or the root directory still hides it from contestants
    entries_.emplace(name, fd);
    return fd;
  }

  // A file that was sent in `packed`, or deflated; -1 if there is none.
  int unpack(const std::string& name) {
    std::string content;
    auto found = packed_.find(name);
    if (found != packed_.end()) {
      content = std::move(found->second);
      packed_.erase(found);
    } else {
      int deflated = take(name + kDeflated);
      if (deflated < 0) return -1;
      content = inflated(name, head(deflated, kMostPackedBytes));
    }
    Fd file = sealable_file(name.c_str());
    if (!write_all(file.get(), content.data(), content.size())) system_fault("unpack %s", name.c_str());
    opened_.push_back(sealed(std::move(file), 0555));
    unpacked_.insert(name);
    return entries_.emplace(name, opened_.back().get()).first->second;
  }

  // A deflated file begins with a line that has the size of what is in it.
  static std::string inflated(const std::string& name, const std::string& file) {
    size_t line = std::min(file.find('\n'), file.size());
    size_t size = number(file.substr(0, line), name + kDeflated);
    if (size > std::max(kMostUnpackedBytes, kMostRatio * file.size())) fault(FaultKind::System, name + " is too large when unpacked");
    return inflate(std::string_view(file).substr(std::min(line + 1, file.size())), size);
  }

  static size_t number(const std::string& digits, const std::string& file) {
    bool is_number = !digits.empty() && digits.size() < 12 && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) fault(FaultKind::System, file + " has a size that is no number: " + digits.substr(0, 64));
    return std::stoul(digits);
  }

  // For each file a line with its size and its name, as a word, and then its bytes. `packed` itself may be absent.
  void read_packed(int fd) {
    if (fd < 0) return;
    std::string text = head(fd, kMostUnpackedBytes);
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find('\n', at), blank = text.find(' ', at);
      if (end == std::string::npos || blank > end) fault(FaultKind::System, format("%s is cut off", kPacked));
      size_t size = number(text.substr(at, blank - at), kPacked);
      if (size > text.size() - end - 1) fault(FaultKind::System, format("%s is cut off", kPacked));
      packed_[decode(text.substr(blank + 1, end - blank - 1), FaultKind::System)] = text.substr(end + 1, size);
      at = end + 1 + size;
    }
  }

  // Lines of a file's checksum and its name, as a word. The file may be absent: then nothing is known.
  static std::map<std::string, std::string> read_sums(int fd) {
    std::map<std::string, std::string> sums;
    if (fd < 0) return sums;
    for (const std::string& line : split(head(fd, 16 << 20), '\n')) {
      if (line.size() > 9) sums[decode(line.substr(9), FaultKind::System)] = line.substr(0, 8);
    }
    return sums;
  }

  static std::string sum_of(const std::string& name, int fd) {
    Checksum sum;
    char block[65536];
    ssize_t n;
    for (int64_t offset = 0; (n = read_at(fd, block, sizeof block, offset)) != 0; offset += n) {
      if (n < 0) system_fault("read %s", name.c_str());
      sum.add(block, static_cast<size_t>(n));
    }
    return sum.text();
  }

  // The descriptor, once the file is known to be what the client has sent.
  int checked(const std::string& name, int fd) {
    auto found = sums_.find(name);
    if (found == sums_.end()) return fd;
    if (sum_of(name, fd) != found->second) fault(FaultKind::System, "the job's file " + name + " was changed on the way");
    sums_.erase(found);
    return fd;
  }

  std::map<std::string, std::string> sums_, packed_;
  std::map<std::string, int> entries_;
  std::set<std::string> unpacked_;
  std::vector<Fd> opened_;  // memory files, and those of a package
  bool by_path_ = false;
  int added_ = -1;
};

// An executable file: the job's own if it is executable, else a copy. (Piston, for example, gives every file mode 644.)
inline Fd executable(JobFiles& files, const std::string& name) {
  int original = files.get(name);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", original);
  if (access(path, X_OK) == 0) {
    Fd again(reopen(original, O_RDONLY));
    if (!again) system_fault("open %s", name.c_str());
    return again;
  }
  Fd copy = sealable_file(name.c_str());
  if (!copy_bytes(original, copy.get())) system_fault("copy %s", name.c_str());
  return sealed(std::move(copy), 0500);
}

constexpr mode_t kExecuteOnly = 0111;

// The contestant's program in a memory file that can only be executed, whatever the mode of the original file.
inline Fd program_copy(int original) {
  Fd writable = sealable_file("program");
  if (!copy_bytes(original, writable.get())) system_fault("copy the program");
  return sealed(std::move(writable), kExecuteOnly);
}

}  // namespace runner
