// The comparison of CMS: two texts are the same except for blanks and blank lines.
#pragma once

#include <stdint.h>

#include "bytes.h"

namespace runner {

// A text as white-diff reads it: a run of blanks counts as one, blanks at the ends of a line are ignored.
// Source: CMS, cms/grading/steps/whitediff.py: blank, tab, vertical tab, form feed, carriage return.
class Canonical {
 public:
  static constexpr int End = Bytes::End;

  explicit Canonical(int fd) : bytes_(fd) {}

  // The next character; End after the last line, with or without its newline.
  int next() {
    bool gap = false;
    offset_ = bytes_.offset();
    for (int c = bytes_.peek(); c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; c = bytes_.peek()) {
      gap = true;
      bytes_.next();
    }
    int c = bytes_.peek();
    if (c != End && c != '\n' && gap && inside_) return ' ';
    if (!inside_ || c != '\n') offset_ = bytes_.offset();
    bytes_.next();
    if (c == End && inside_) c = '\n';
    inside_ = c != End && c != '\n';
    return c;
  }

  // The offset of that character; for a run of blanks, of the first one.
  uint64_t offset() const { return offset_; }

 private:
  Bytes bytes_;
  uint64_t offset_ = 0;
  bool inside_ = false;  // something of the line has been seen
};

// Whether an output is right; `where` is set if not.
inline bool white_diff(int output, int answer, Difference& where) {
  Canonical ours(output), theirs(answer);
  for (;;) {
    int a = ours.next(), b = theirs.next();
    if (a == b) {
      if (a == Canonical::End) return true;
      continue;
    }
    where = {ours.offset(), theirs.offset()};
    // One text has ended: the rest of the other must be blank lines.
    if (a != Canonical::End && b != Canonical::End) return false;
    Canonical& rest = a == Canonical::End ? theirs : ours;
    for (int c = a == Canonical::End ? b : a; c != Canonical::End; c = rest.next()) {
      where = {ours.offset(), theirs.offset()};
      if (c != '\n') return false;
    }
    return true;
  }
}

}  // namespace runner
