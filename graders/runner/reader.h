// Reads a file for a comparator: by pread, byte by byte through a small buffer; blanks and ends of lines.
#pragma once

#include "system.h"

namespace comparators {

constexpr size_t kBuffer = 1 << 14;

constexpr int kEnd = -1;

inline bool is_blank(int c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }
inline bool is_space(int c) { return is_blank(c) || c == '\n'; }
inline int lower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

class Reader {
 public:
  explicit Reader(int fd) : fd_(fd) {}

  // The byte here, or kEnd.
  int peek() {
    if (at_ == filled_ && !fill()) return kEnd;
    return static_cast<unsigned char>(buffer_[at_]);
  }
  void skip() {
    if (peek() != kEnd) at_++;
  }
  int next() {
    int c = peek();
    skip();
    return c;
  }
  void skip_blanks() {
    while (is_blank(peek())) at_++;
  }
  void skip_spaces() {
    while (is_space(peek())) at_++;
  }
  void skip_token() {
    while (peek() != kEnd && !is_space(peek())) at_++;
  }

  // Skips the bytes that are the same in both files from here on.
  static void skip_common(Reader& a, Reader& b) {
    while (a.peek() != kEnd && b.peek() != kEnd) {
      size_t both = std::min(a.filled_ - a.at_, b.filled_ - b.at_), same = both;
      const char *p = a.buffer_ + a.at_, *q = b.buffer_ + b.at_;
      if (memcmp(p, q, both) != 0) same = static_cast<size_t>(std::mismatch(p, p + both, q).first - p);
      a.at_ += same;
      b.at_ += same;
      if (same < both) return;
    }
  }

  uint64_t offset() const { return base_ + at_; }
  // Goes to an offset, cheaply if it is near.
  void seek(uint64_t offset) {
    if (offset < base_ || offset > base_ + filled_) {
      base_ = offset;
      filled_ = 0;
    }
    at_ = offset - base_;
  }

  int error() const { return error_; }

 private:
  bool fill() {
    base_ += filled_;
    at_ = filled_ = 0;
    ssize_t n;
    do n = pread(fd_, buffer_, sizeof buffer_, static_cast<off_t>(base_));
    while (n < 0 && errno == EINTR);
    if (n < 0) error_ = errno;
    if (n > 0) filled_ = static_cast<size_t>(n);
    return filled_ > 0;
  }

  int fd_;
  int error_ = 0;
  uint64_t base_ = 0;
  size_t at_ = 0, filled_ = 0;
  char buffer_[kBuffer];
};

// The two files of a comparison.
struct Files {
  Reader output, answer;

  void skip_blanks() {
    output.skip_blanks();
    answer.skip_blanks();
  }
  void skip_spaces() {
    output.skip_spaces();
    answer.skip_spaces();
  }
  // A comparison that finds a difference goes back to the offsets where that begins.
  std::pair<uint64_t, uint64_t> offsets() const { return {output.offset(), answer.offset()}; }
  void seek(std::pair<uint64_t, uint64_t> offsets) {
    output.seek(offsets.first);
    answer.seek(offsets.second);
  }
};

}  // namespace comparators
