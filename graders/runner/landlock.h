// Landlock: paths that a process may use.
#pragma once

#include "descriptors.h"

namespace runner {

namespace right {  // of Landlock; the kernel's ABI says which of them it knows
constexpr uint64_t Execute = 1 << 0, WriteFile = 1 << 1, ReadFile = 1 << 2, ReadDir = 1 << 3, RemoveDir = 1 << 4,
                   RemoveFile = 1 << 5, MakeDir = 1 << 7, MakeReg = 1 << 8, Refer = 1 << 13, Truncate = 1 << 14;
constexpr uint64_t Read = ReadFile | ReadDir, OfFiles = Execute | WriteFile | ReadFile | Truncate;
constexpr uint64_t Everything = (1 << 13) - 1;  // of ABI 1
}  // namespace right

// A Landlock ruleset: everything that is not granted is forbidden. It restricts the calling process permanently.
class Landlock {
 public:
  explicit Landlock(int abi) : abi_(abi) {
    if (abi_ < 1) return;
    handled_ = right::Everything;
    if (abi_ >= 2) handled_ |= right::Refer;
    if (abi_ >= 3) handled_ |= right::Truncate;
    struct {
      uint64_t fs, net, scoped;
    } attributes = {handled_, abi_ >= 4 ? 3u : 0u /* TCP */, abi_ >= 6 ? 3u : 0u /* abstract sockets, signals */};
    if (abi_ >= 5) attributes.fs |= 1 << 15;  // ioctl on devices
    size_t size = abi_ >= 6 ? 24 : abi_ >= 4 ? 16 : 8;
    rules_ = Fd(static_cast<int>(syscall(kSysLandlockCreateRuleset, &attributes, size, 0)));
    if (!rules_) error_ = errno;
  }

  // A path that does not exist is skipped. If the machine refuses a rule, without which programs would fail, `is_complete` is false.
  void grant(const char* path, uint64_t rights) {
    if (!rules_) return;
    Fd at(open(path, O_PATH | O_CLOEXEC));
    if (!at && !is_no_path(errno)) error_ = errno;
    if (!at) return;
    struct stat status;
    if (fstat(at.get(), &status) != 0) return;
    if (!S_ISDIR(status.st_mode)) rights &= right::OfFiles;
    struct {
      uint64_t allowed;
      int32_t parent;
    } __attribute__((packed)) rule = {rights & handled_, at.get()};
    if (syscall(kSysLandlockAddRule, rules_.get(), 1 /* PATH_BENEATH */, &rule, 0) != 0) error_ = errno;
  }

  // Whether it was made and has everything that was granted; if not, `errno` says why.
  bool is_complete() const {
    errno = error_;
    return error_ == 0;
  }

  int descriptor() const { return rules_.get(); }  // -1: there is no Landlock here

  bool restrict() {
    return abi_ < 1 || (is_complete() && syscall(kSysLandlockRestrictSelf, rules_.get(), 0) == 0);
  }

 private:
  int abi_;
  uint64_t handled_ = 0;
  int error_ = 0;
  Fd rules_;
};

}  // namespace runner
