// Comparators: decide whether an output is right.
//
// Each rule compares two files, the program's output and the official answer, byte by byte and by its definition in
// docs/apps.md, which is binding (or in docs/verdicts.md: the last two of `Rule`). Both are read with pread through small
// buffers, so neither is mapped, shared offsets do not move, and a rule uses more memory only if its definition requires it:
//
//   exact, lines, tokens, case-insensitive,
//   white-diff                                two buffers
//   float, default validator                  two buffers and two numbers (at most kLongestNumber bytes each)
//   unordered-lines                           the lines of both, but at most twice the answer's size: lines are
//                                             counted first, and a wrong number of them ends the comparison
//
// A *blank* is one of space, tab, vertical tab, form feed, carriage return; a line ends with a newline or with the file.
// Nothing is decoded: invalid UTF-8 is compared as it is, and the blanks of Unicode are text.
//
// Numbers (rule `float`) are decimal and exact: decimal.h.

#pragma once

#include "decimal.h"
#include "reader.h"

namespace comparators {

// ------------------------------------------------------------------------------------------ white-diff

// A run of blanks counts as one; blanks at the ends of a line, and blank lines at the end, are ignored.
// Source: CMS, cms/grading/steps/whitediff.py: space, tab, vertical tab, form feed, carriage return.
inline bool white_diff(Files& files) {
  auto ends_line = [](int c) { return c == '\n' || c == kEnd; };
  for (bool inside = false;;) {  // whether both have text on this line, and the same so far
    auto begin = files.offsets();
    files.skip_blanks();
    auto text = files.offsets();
    int a = files.output.peek(), b = files.answer.peek();
    if (!inside && (a == kEnd || b == kEnd)) {
      files.skip_spaces();
      return files.output.peek() == files.answer.peek();
    }
    bool both_end = ends_line(a) && ends_line(b), both_go_on = !ends_line(a) && !ends_line(b);
    bool same_gaps = !inside || (text.first > begin.first) == (text.second > begin.second);
    if (both_end || (both_go_on && same_gaps && a == b)) {
      inside = both_go_on;
      files.output.skip();
      files.answer.skip();
      continue;
    }
    bool gap_differs = inside && !(both_go_on && same_gaps);  // then the message shows where it begins
    if (gap_differs && a != kEnd) files.output.seek(begin.first);
    if (gap_differs && b != kEnd) files.answer.seek(begin.second);
    return false;
  }
}

// ------------------------------------------------------------------------------- the default validator

constexpr size_t kLongestFloat = 65536;  // a longer token is text

// How tokens are compared. Source: the Kattis problem format's default validator, and DOMjudge's, which is the same except
// for numbers that are not finite: there NaN equals NaN, and infinities of the same sign are equal, as here.
struct ValidatorFlags {
  bool case_sensitive = false, space_sensitive = false;
  long double absolute = -1, relative = -1;  // negative: not tolerated

  bool numeric() const { return absolute >= 0 || relative >= 0; }
};

// A number as scanf reads it, and nothing after it: decimal or hexadecimal, an infinity, NaN. A token ends at a NUL. (The
// official validators call scanf too, which takes `1e` for 1.)
inline bool read_float(const std::string& token, long double& value) {
  char rest[2];
  return token.size() < kLongestFloat && sscanf(token.c_str(), "%Lf%1s", &value, rest) == 1;
}

// Reads the arguments of the checker line. Returns an error, or nothing.
inline std::string read_flags(const std::vector<std::string>& args, ValidatorFlags& flags) {
  for (size_t i = 0; i < args.size(); i++) {
    const std::string& flag = args[i];
    if (flag == "case_sensitive" || flag == "space_change_sensitive") {
      (flag == "case_sensitive" ? flags.case_sensitive : flags.space_sensitive) = true;
      continue;
    }
    bool absolute = flag == "float_absolute_tolerance", relative = flag == "float_relative_tolerance";
    if (!absolute && !relative && flag != "float_tolerance") return "an unknown flag: " + flag;
    long double value = -1;
    if (++i == args.size() || !read_float(args[i], value) || !(value >= 0)) return flag + " needs a number from 0 on";
    if (!relative) flags.absolute = value;
    if (!absolute) flags.relative = value;
  }
  return "";
}

// Whether two tokens are numbers within the tolerance of each other.
inline bool near(const std::string& output, const std::string& answer, const ValidatorFlags& flags) {
  long double ours = 0, theirs = 0;
  if (!read_float(answer, theirs) || !read_float(output, ours)) return false;
  if (std::isnan(theirs) || std::isnan(ours)) return std::isnan(theirs) && std::isnan(ours);
  if (std::isinf(theirs) || std::isinf(ours)) return ours == theirs;
  long double difference = std::fabs(ours - theirs);
  return difference <= flags.absolute || difference <= flags.relative * std::fabs(theirs);
}

constexpr size_t kShown = 60;               // bytes of each file that a message shows

enum class Rule {
  Exact, Lines, Tokens, Float, CaseInsensitive, UnorderedLines,  // the comparators of APPS, by their names in plans
  WhiteDiff, DefaultValidator,  // in place of a checker
};

// ---------------------------------------------------------------------------------------------------- the rule

struct Spec {
  Rule rule = Rule::Lines;
  Decimal absolute, relative;  // of `float`
  ValidatorFlags flags;        // of the default validator
};

// Reads `lines`, `float:1e-6`, `float:1e-6:1e-9`, …
inline bool parse_spec(const std::string& text, Spec& spec) {
  static const struct {
    const char* name;
    Rule rule;
  } kRules[] = {{"exact", Rule::Exact},   {"lines", Rule::Lines},
                {"tokens", Rule::Tokens}, {"case-insensitive", Rule::CaseInsensitive},
                {"float", Rule::Float},   {"unordered-lines", Rule::UnorderedLines}};
  size_t colon = std::min(text.find(':'), text.size());
  for (const auto& known : kRules) {
    if (text.compare(0, colon, known.name) != 0) continue;
    spec = Spec();
    spec.rule = known.rule;
    if (spec.rule != Rule::Float) return colon == text.size();
    if (colon == text.size()) return false;
    size_t second = std::min(text.find(':', colon + 1), text.size());
    auto tolerance = [](const std::string& word, Decimal& number) {
      return word.size() <= 66 && !word.empty() && word[0] != '+' && word[0] != '-' && parse_decimal(word, number);
    };
    return tolerance(text.substr(colon + 1, second - colon - 1), spec.absolute) &&
           (second == text.size() || tolerance(text.substr(second + 1), spec.relative));
  }
  return false;
}

// The result. If `error`, an errno, is not 0, a file could not be read, and the output is not judged.
struct Comparison {
  bool right = false;
  int error = 0;
  std::string difference;  // for a wrong output: where it first differs, in printable ASCII
};

// ---------------------------------------------------------------------------------------------------- messages

inline void append_printable(std::string& text, int c) {
  static const char kHex[] = "0123456789abcdef";
  if (c == '\\' || c == '"') {
    text += '\\';
    text += static_cast<char>(c);
  } else if (c >= 0x20 && c < 0x7f) {
    text += static_cast<char>(c);
  } else if (c == '\n' || c == '\t' || c == '\r') {
    text += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
  } else {
    text += "\\x";
    text += kHex[c >> 4];
    text += kHex[c & 15];
  }
}

// The text at an offset, in quotes: from the beginning of its line if that is near. Counts the lines before it.
inline std::string around(Reader& file, uint64_t here, uint64_t& line) {
  uint64_t line_start = 0;
  line = 1;
  file.seek(0);
  while (file.offset() < here) {
    if (file.next() != '\n') continue;
    line++;
    line_start = file.offset();
  }
  if (file.peek() == kEnd) return "the end";
  uint64_t from = here - line_start > kShown / 2 ? here - kShown / 4 : line_start;
  std::string text = from > line_start ? "\"..." : "\"";
  file.seek(from);
  for (size_t i = 0; i < kShown; i++) {
    int c = file.peek();
    if (c == kEnd || (c == '\n' && file.offset() >= here)) return text + "\"";
    append_printable(text, file.next());
  }
  return text + "...\"";
}

// The message about the first difference. The readers are at the first byte that differs, or at a token's beginning. If the output
// has ended too early, the line is that of the text which it lacks.
inline std::string difference(Files& files) {
  uint64_t line, line_of_answer;
  bool has_ended = files.output.peek() == kEnd;
  std::string found = around(files.output, files.output.offset(), line);
  std::string expected = around(files.answer, files.answer.offset(), line_of_answer);
  if (has_ended) line = std::max(line, line_of_answer);
  return "line " + std::to_string(line) + ": expected " + expected + ", found " + found;
}

// ---------------------------------------------------------------------------------------------------- rules

// Whether only blanks and newlines are left in both. If not, the message shows where the difference begins: the readers stay where
// they are, or, if one file lacks the other's last lines, go to the first text of these.
inline bool both_only_spaces(Files& files) {
  auto begin = files.offsets();
  files.skip_blanks();
  auto line_ends = [](Reader& file) { return file.peek() == '\n' || file.peek() == kEnd; };
  bool lines_end = line_ends(files.output) && line_ends(files.answer);
  files.skip_spaces();
  bool output_ends = files.output.peek() == kEnd, answer_ends = files.answer.peek() == kEnd;
  if (output_ends && answer_ends) return true;
  if (!lines_end || (!output_ends && !answer_ends)) files.seek(begin);
  return false;
}

inline bool compare_exact(Files& files) {
  files.skip_spaces();
  Reader::skip_common(files.output, files.answer);
  return both_only_spaces(files);
}

// With `fold`, ASCII letters are compared without case.
inline bool compare_lines(Files& files, bool fold) {
  for (;;) {
    Reader::skip_common(files.output, files.answer);
    int a = files.output.peek(), b = files.answer.peek();
    if (a == b || (fold && lower(a) == lower(b))) {
      if (a == kEnd) return true;
      files.output.skip();
      files.answer.skip();
      continue;
    }
    auto begin = files.offsets();
    files.skip_blanks();
    if (files.output.peek() == '\n' && files.answer.peek() == '\n') continue;
    files.seek(begin);
    return both_only_spaces(files);
  }
}

// A token of each file: its first bytes, as many as a number may have, and whether the tokens are the same.
struct TokenPair {
  std::string output, answer;
  bool same = true, too_long = false;
};

// Reads the tokens that begin here. Without `keep`, it only compares them, and stops at the first difference. With `fold`, ASCII
// letters are compared without case. With `c_strings`, what follows a NUL in a token is skipped.
inline TokenPair read_tokens(Files& files, bool keep, bool fold, bool c_strings) {
  auto inside = [](int c) { return c != kEnd && !is_space(c); };
  auto peek = [&](Reader& file) {
    if (c_strings && file.peek() == '\0') file.skip_token();
    return file.peek();
  };
  TokenPair pair;
  for (;;) {
    int a = peek(files.output), b = peek(files.answer);
    if (!inside(a) && !inside(b)) return pair;
    pair.same = pair.same && (a == b || (fold && lower(a) == lower(b)));
    if (!pair.same && (!keep || pair.too_long)) return pair;
    if (inside(a)) files.output.skip();
    if (inside(b)) files.answer.skip();
    if (!keep || pair.too_long) continue;
    if (inside(a)) pair.output += static_cast<char>(a);
    if (inside(b)) pair.answer += static_cast<char>(b);
    pair.too_long = std::max(pair.output.size(), pair.answer.size()) > kLongestNumber;
  }
}

inline bool near(const TokenPair& pair, const Spec& spec) {
  if (spec.rule == Rule::DefaultValidator) return near(pair.output, pair.answer, spec.flags);
  Decimal got, expected;
  if (pair.too_long || !parse_decimal(pair.output, got) || !parse_decimal(pair.answer, expected)) return false;
  if (got.integer && expected.integer) return got.negative == expected.negative && got.digits == expected.digits;
  Decimal apart = distance(got, expected);
  if (at_most(apart, spec.absolute)) return true;
  Decimal allowed;
  allowed.digits = magnitude_product(expected.digits, spec.relative.digits);
  allowed.exponent = expected.exponent + spec.relative.exponent;
  return at_most(apart, allowed);
}

// Whether the same white space begins here. It is skipped.
inline bool same_spaces(Files& files) {
  auto begin = files.offsets();
  while (is_space(files.output.peek()) || is_space(files.answer.peek())) {
    if (files.output.next() == files.answer.next()) continue;
    files.seek(begin);
    return false;
  }
  return true;
}

inline bool compare_tokens(Files& files, const Spec& spec) {
  bool validator = spec.rule == Rule::DefaultValidator, fold = validator && !spec.flags.case_sensitive;
  bool numbers = spec.rule == Rule::Float || (validator && spec.flags.numeric());
  for (;;) {
    if (!spec.flags.space_sensitive) {
      files.skip_spaces();
    } else if (!same_spaces(files)) {
      return false;
    }
    auto begin = files.offsets();
    if (files.output.peek() == kEnd || files.answer.peek() == kEnd) return files.output.peek() == files.answer.peek();
    TokenPair pair = read_tokens(files, numbers, fold, validator);
    if (pair.same || (numbers && near(pair, spec))) continue;
    files.seek(begin);
    return false;
  }
}

// The lines of a file that are not blank, without blanks at their ends, in any order.
class LineBag {
 public:
  explicit LineBag(Reader& file) : file_(file) {
    each_byte([this](int c) {
      bytes_++;
      lines_ += c == '\n';
    });
  }

  uint64_t lines() const { return lines_; }
  uint64_t bytes() const { return bytes_; }

  // Reads the lines into memory (`bytes()` plus a number for each) and sorts them by their bytes.
  void collect() {
    text_.reserve(bytes_);
    starts_.reserve(lines_);
    file_.seek(0);
    bool fresh = true;
    each_byte([&](int c) {
      if (fresh) starts_.push_back(text_.size());
      fresh = c == '\n';
      text_ += static_cast<char>(c);
    });
    std::sort(starts_.begin(), starts_.end(), [this](size_t a, size_t b) { return order(*this, a, *this, b) < 0; });
  }

  // Whether both have the same lines, each equally often. The numbers of lines are equal already.
  static bool same(const LineBag& output, const LineBag& answer, std::string& difference) {
    for (size_t i = 0; i < output.starts_.size(); i++) {
      int sign = order(output, output.starts_[i], answer, answer.starts_[i]);
      if (sign == 0) continue;
      difference = sign < 0 ? "a line that is not expected, or not so often: " + output.quoted(output.starts_[i])
                       : "a line is missing: " + answer.quoted(answer.starts_[i]);
      return false;
    }
    return true;
  }

 private:
  // Passes on every byte of every line, and a newline for its end. Blanks at the end of a line are left out.
  template <class Take>
  void each_byte(Take take) {
    bool inside = false;
    for (;;) {
      uint64_t here = file_.offset();
      file_.skip_blanks();
      int c = file_.peek();
      if (c == '\n' || c == kEnd) {
        if (inside) take('\n');
        inside = false;
        if (c == kEnd) return;
        file_.skip();
        continue;
      }
      file_.seek(here);
      while (is_blank(c = file_.next())) take(c);
      take(c);
      inside = true;
    }
  }

  static int order(const LineBag& a, size_t i, const LineBag& b, size_t j) {
    for (;; i++, j++) {
      int left = static_cast<unsigned char>(a.text_[i]), right = static_cast<unsigned char>(b.text_[j]);
      if (left != right) return left == '\n' ? -1 : right == '\n' ? 1 : left - right;
      if (left == '\n') return 0;
    }
  }

  std::string quoted(size_t at) const {
    std::string text = "\"";
    size_t end = text_.find('\n', at);
    for (; at < end && text.size() < kShown; at++) append_printable(text, static_cast<unsigned char>(text_[at]));
    return text + (at < end ? "...\"" : "\"");
  }

  Reader& file_;
  uint64_t lines_ = 0, bytes_ = 0;
  std::string text_;
  std::vector<size_t> starts_;
};

inline bool compare_unordered(Files& files, std::string& difference) {
  LineBag theirs(files.answer), ours(files.output);
  if (ours.lines() != theirs.lines()) {
    difference = "expected " + std::to_string(theirs.lines()) + " lines, found " + std::to_string(ours.lines());
    return false;
  }
  if (ours.bytes() != theirs.bytes()) {
    difference = "the lines have " + std::to_string(ours.bytes()) + " bytes, not " + std::to_string(theirs.bytes());
    return false;
  }
  ours.collect();
  theirs.collect();
  return LineBag::same(ours, theirs, difference);
}

// Whether the output is right by a rule. If it is not, `difference` may say why; else the readers are at the difference.
inline bool is_right(Files& files, const Spec& spec, std::string& difference) {
  switch (spec.rule) {
    case Rule::Exact: return compare_exact(files);
    case Rule::Lines:
    case Rule::CaseInsensitive: return compare_lines(files, spec.rule == Rule::CaseInsensitive);
    case Rule::Tokens:
    case Rule::Float:
    case Rule::DefaultValidator: return compare_tokens(files, spec);
    case Rule::WhiteDiff: return white_diff(files);
    case Rule::UnorderedLines: return compare_unordered(files, difference);
  }
  __builtin_unreachable();
}

// Compares two files from their beginnings, by pread; their offsets do not change.
inline Comparison compare(const Spec& spec, int output_fd, int answer_fd) {
  Files files{Reader(output_fd), Reader(answer_fd)};
  Comparison result;
  result.right = is_right(files, spec, result.difference);
  if (!result.right && result.difference.empty()) result.difference = difference(files);
  result.error = files.output.error() ? files.output.error() : files.answer.error();
  result.right = result.right && !result.error;
  return result;
}

}  // namespace comparators
