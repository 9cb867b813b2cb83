// A text as bytes, one by one, and where two texts differ.
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "lines.h"

namespace runner {

// A text as bytes, one by one.
class Bytes {
 public:
  static constexpr int End = -1;

  explicit Bytes(int fd) : fd_(fd) {}

  int peek() {
    if (at_ == filled_) {
      ssize_t n;
      while ((n = read(fd_, buffer_, sizeof buffer_)) < 0 && errno == EINTR) {
      }
      if (n < 0) system_fault("read an output");
      if (n == 0) return End;
      base_ += filled_;
      at_ = 0;
      filled_ = static_cast<size_t>(n);
    }
    return static_cast<unsigned char>(buffer_[at_]);
  }

  int next() {
    int c = peek();
    if (c != End) at_++;
    return c;
  }

  // The offset of the byte that `next` returns.
  uint64_t offset() const { return base_ + at_; }

 private:
  int fd_;
  uint64_t base_ = 0;  // of the buffer's first byte
  size_t at_ = 0, filled_ = 0;
  char buffer_[8192];
};

// Where an output and an answer first differ: an offset in each.
struct Difference {
  uint64_t output = 0, answer = 0;
};

}  // namespace runner
