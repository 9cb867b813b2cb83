// Scores: what a judge program's words mean; white-diff.
#pragma once

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "comparators.h"
#include "descriptors.h"
#include "judges.h"
#include "lines.h"
#include "numbers.h"
#include "plan.h"
#include "protocols.h"

namespace runner {

// What a checker or manager said.
struct Said {
  bool valid = false;
  std::string score;    // as it was printed
  double value = 0;
  std::string message;
  std::string words;    // what is wrong with it

  void set(double new_value) {
    value = new_value;
    score = format("%.17g", value);
  }
};

inline std::string trimmed(const std::string& text) {
  size_t from = text.find_first_not_of(" \t\r\n\v\f"), to = text.find_last_not_of(" \t\r\n\v\f");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

inline std::string first_line(const std::string& text) { return trimmed(text.substr(0, text.find('\n'))); }

// A score: a plain decimal number within [0, 1] and nothing else. No nan, no inf, no hexadecimal.
inline bool read_score(const std::string& text, Said& said, int64_t full = 1) {
  said.score = text;
  const char* at = text.c_str();
  bool digits = false;
  if (*at == '+' || *at == '-') at++;
  for (; *at >= '0' && *at <= '9'; at++) digits = true;
  if (*at == '.') at++;
  for (; *at >= '0' && *at <= '9'; at++) digits = true;
  if (digits && (*at == 'e' || *at == 'E')) {
    at++;
    if (*at == '+' || *at == '-') at++;
    digits = false;
    for (; *at >= '0' && *at <= '9'; at++) digits = true;
  }
  if (!digits || *at != '\0' || text.size() != static_cast<size_t>(at - text.c_str())) {
    said.words = "not a score: " + (text.empty() ? "nothing was printed where it belongs" : text.substr(0, 100));
    return false;
  }
  double value = strtod(text.c_str(), nullptr);
  said.valid = value >= 0.0 && value <= static_cast<double>(full);
  if (!said.valid) said.words = format("a score outside of [0, %lld]: ", static_cast<long long>(full)) + text.substr(0, 100);
  said.value = value;
  if (full != 1) said.set(value / static_cast<double>(full));
  return said.valid;
}

// The text of a file in which a score stands. What is longer than this is none, and is not cut to make it one.
inline bool read_score_of(int fd, bool first, Said& said, int64_t full = 1) {
  std::string text = head(fd, kScoreBytes);
  bool cut = file_size(fd) > static_cast<int64_t>(text.size());
  if (cut && !(first && text.find('\n') != std::string::npos)) {
    said.words = format("not a score: %s of more than %zu bytes", first ? "a line" : "a text", kScoreBytes);
    return false;
  }
  return read_score(first ? first_line(text) : trimmed(text), said, full);
}

// The texts of CMS. Source: CMS, cms/grading/steps/evaluation.py.
const char* const kSuccess = "Output is correct";
const char* const kPartial = "Output is partially correct";
const char* const kWrong = "Output isn't correct";
const char* const kNoOutput = "Evaluation didn't produce file ";

// CMS: the score is the first line of stdout, the message the first line of stderr, which may ask for a standard text.
inline Said read_cms(int output, int errors) {
  Said said;
  std::string text = first_line(head(errors, kMessageBytes));
  if (text.compare(0, 10, "translate:") == 0) {
    std::string which = trimmed(text.substr(10));
    if (which == "success") text = kSuccess;
    if (which == "partial") text = kPartial;
    if (which == "wrong") text = kWrong;
  }
  said.message = text;
  read_score_of(output, true, said);
  return said;
}

// testlib.h as it is published: 0 ok, 1 wrong answer, 2 presentation error, 4 dirt, 8 unexpected end of file;
// 7 a score as the word after `points`. (3 is the checker's own failure. Its "partially" codes have no base of their own
// and overlap with these, so they are refused.) Points are whatever the author means by them; here, parts of 1.
inline Said read_testlib(int code, int errors) {
  Said said;
  said.message = first_line(head(errors, kMessageBytes));
  if (code == 7) {
    std::vector<std::string> words = split(said.message, ' ');
    read_score(words.size() > 1 && words[0] == "points" ? words[1] : "", said);
    return said;
  }
  read_score(code == 0 ? "1" : "0", said);
  return said;
}

// Kattis: 42 accepts, 43 rejects; `score.txt` in the feedback directory has the score of an accepted output.
inline Said read_kattis(int code, const std::string& feedback, int64_t full) {
  Said said;
  Fd message = open_if_there(feedback + "/judgemessage.txt"), score = open_if_there(feedback + "/score.txt");
  if (message) said.message = trimmed(head(message.get(), kMessageBytes));
  if (code != 42 || !score) {
    read_score(code == 42 ? "1" : "0", said);
  } else {
    read_score_of(score.get(), false, said, full);
  }
  return said;
}

// What a judge program said that has ended as its protocol wants.
inline Said read_words(const Judge& judge, Protocol protocol, int64_t full) {
  switch (protocol) {
    case Protocol::Cms: return read_cms(judge.output.get(), judge.errors.get());
    case Protocol::Testlib: return read_testlib(judge.process.code(), judge.errors.get());
    case Protocol::Kattis: return read_kattis(judge.process.code(), judge.directory + "/feedback", full);
    case Protocol::WhiteDiff:
    case Protocol::Tokens:
    case Protocol::Compare:
    case Protocol::None: break;
  }
  plan_fault("the protocol %s has no program", rules_of(protocol).name);
}

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

  // Of the byte that `next` gives.
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

// The message of a wrong output that no program has judged: the line, what is expected there, what was found.
inline std::string wrong_output(int output, int answer, const Difference& where) {
  std::string words = comparators::difference_at(output, where.output, answer, where.answer);
  malloc_trim(0);  // what we hold at a fork is part of a child's peak memory
  return (std::string(kWrong) + ": " + words).substr(0, kMessageBytes);
}

// A text as white-diff sees it: runs of blanks are one, those at the ends of a line are none.
// Source: CMS, cms/grading/steps/whitediff.py: blank, tab, vertical tab, form feed, carriage return.
class Canonical {
 public:
  static constexpr int End = Bytes::End;

  explicit Canonical(int fd) : bytes_(fd) {}

  // The next character; End after the last line, whether or not that had its newline.
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

  // Where that character stands: of a run of blanks, its first.
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
    // One has ended: the rest of the other must be blank lines.
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
