// The comparison of CMS: two texts are the same except for blanks and blank lines.
#pragma once

#include "reader.h"
#include "system.h"

namespace comparators {

// A text as white-diff reads it: a run of blanks counts as one, blanks at the ends of a line are ignored.
// Source: CMS, cms/grading/steps/whitediff.py: blank, tab, vertical tab, form feed, carriage return.
class Canonical {
 public:
  explicit Canonical(Reader& file) : file_(file) {}

  // The next character; kEnd after the last line, with or without its newline.
  int next() {
    offset_ = file_.offset();
    file_.skip_blanks();
    bool gap = file_.offset() > offset_;
    int c = file_.peek();
    if (c != kEnd && c != '\n' && gap && inside_) return ' ';
    if (!inside_ || c != '\n') offset_ = file_.offset();
    file_.skip();
    if (c == kEnd && inside_) c = '\n';
    inside_ = c != kEnd && c != '\n';
    return c;
  }

  // Goes back to that character; for a run of blanks, to the first one.
  void go_back() { file_.seek(offset_); }

 private:
  Reader& file_;
  uint64_t offset_ = 0;
  bool inside_ = false;  // something of the line has been seen
};

inline bool white_diff(Reader& output, Reader& answer) {
  Canonical ours(output), theirs(answer);
  int a = 0, b = 0;
  while ((a = ours.next()) == (b = theirs.next())) {
    if (a == kEnd) return true;
  }
  // If one text has ended, the rest of the other must be blank lines.
  while (a == '\n' && b == kEnd) a = ours.next();
  while (b == '\n' && a == kEnd) b = theirs.next();
  if (a == b) return true;
  ours.go_back();
  theirs.go_back();
  return false;
}

}  // namespace comparators
