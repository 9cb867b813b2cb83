// Comparators: when an output is right.
//
// Each rule compares two files, the program's output and the official answer, byte by byte and by its definition in
// docs/apps.md, which is binding. Both are read with pread through small buffers, so neither is mapped, shared offsets
// do not move, and a rule needs memory only where its definition forces it to:
//
//   exact, lines, tokens, case-insensitive    two buffers
//   float                                     two buffers and two numbers (at most kLongestNumber bytes each)
//   unordered-lines                           the lines of both, but never more than the answer's own size twice:
//                                             lines are counted first, and a wrong number of them ends it
//
// A *blank* is one of blank, tab, vertical tab, form feed, carriage return; a line ends with a newline or with the file.
// Nothing is decoded: invalid UTF-8 is compared as it is, and the blanks of Unicode are text.
//
// Numbers (rule `float`) are decimal and exact: a difference of exactly the tolerance is within it, whatever binary
// floating point makes of it, and integers are equal or not at any size.

#ifndef IOI_EVAL_COMPARATORS_H
#define IOI_EVAL_COMPARATORS_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace comparators {

constexpr size_t kLongestNumber = 1 << 20;  // a longer token is text
constexpr int kLargestExponent = 400;       // beyond it a token is text; doubles end at 308
constexpr size_t kShown = 60;               // bytes of each file that a message shows
constexpr size_t kBuffer = 1 << 16;

enum class Rule { Exact, Lines, Tokens, Float, CaseInsensitive, UnorderedLines };

// ---------------------------------------------------------------------------------------------------- numbers

// A decimal number: `digits` x 10^`exponent`, without leading zeros; no digits for zero.
struct Decimal {
  bool negative = false;
  bool integer = true;  // written without a point or an exponent
  std::string digits;
  int exponent = 0;
};

// Reads [+-]digits[.digits][e[+-]digits], where one of the two groups of digits may be missing, but not both.
inline bool parse_decimal(const std::string& text, Decimal& number) {
  size_t at = 0;
  auto digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  number = Decimal();
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) number.negative = text[at++] == '-';
  size_t start = at;
  while (digit()) at++;
  size_t point = at, end = at;
  number.digits.assign(text, start, at - start);
  if (at < text.size() && text[at] == '.') {
    number.integer = false;
    for (at++; digit();) at++;
    end = at;
    number.digits.append(text, point + 1, end - point - 1);
  }
  if (number.digits.empty()) return false;
  long long exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    number.integer = false;
    at++;
    bool minus = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) at++;
    if (!digit()) return false;
    while (digit()) exponent = std::min(exponent * 10 + (text[at++] - '0'), 1000000LL);
    if (exponent > kLargestExponent) return false;
    if (minus) exponent = -exponent;
  }
  if (at != text.size()) return false;
  if (!number.integer && end > point) exponent -= static_cast<long long>(end - point - 1);
  number.exponent = static_cast<int>(exponent);
  number.digits.erase(0, number.digits.find_first_not_of('0'));
  if (number.digits.empty()) {
    number.negative = false;
    number.exponent = 0;
  }
  return true;
}

// Magnitudes: strings of digits without leading zeros, of the same exponent.

inline bool magnitude_less(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

inline std::string magnitude_sum(const std::string& a, const std::string& b) {
  std::string sum(std::max(a.size(), b.size()) + 1, '0');
  int carry = 0;
  for (size_t i = 0; i < sum.size(); i++) {
    if (i < a.size()) carry += a[a.size() - 1 - i] - '0';
    if (i < b.size()) carry += b[b.size() - 1 - i] - '0';
    sum[sum.size() - 1 - i] = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  return sum.erase(0, sum.find_first_not_of('0'));
}

// a - b, where a is not less than b.
inline std::string magnitude_difference(const std::string& a, const std::string& b) {
  std::string rest(a);
  int borrow = 0;
  for (size_t i = 0; i < a.size(); i++) {
    int d = a[a.size() - 1 - i] - '0' - borrow - (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    borrow = d < 0;
    rest[a.size() - 1 - i] = static_cast<char>('0' + d + 10 * borrow);
  }
  return rest.erase(0, rest.find_first_not_of('0'));
}

inline std::string magnitude_product(const std::string& a, const std::string& b) {
  std::vector<uint32_t> cells(a.size() + b.size(), 0);  // least first; a cell stays below 2^32: b has at most 61 digits
  for (size_t i = 0; i < a.size(); i++) {
    for (size_t j = 0; j < b.size(); j++) {
      cells[i + j] += static_cast<uint32_t>((a[a.size() - 1 - i] - '0') * (b[b.size() - 1 - j] - '0'));
    }
  }
  std::string product(cells.size(), '0');
  uint32_t carry = 0;
  for (size_t i = 0; i < cells.size(); i++) {
    carry += cells[i];
    product[cells.size() - 1 - i] = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  return product.erase(0, product.find_first_not_of('0'));
}

// Whether a <= b for numbers that are not negative.
inline bool at_most(Decimal a, Decimal b) {
  if (a.digits.empty()) return true;
  if (b.digits.empty()) return false;
  int common = std::min(a.exponent, b.exponent);
  a.digits.append(static_cast<size_t>(a.exponent - common), '0');
  b.digits.append(static_cast<size_t>(b.exponent - common), '0');
  return !magnitude_less(b.digits, a.digits);
}

// |a - b|
inline Decimal distance(Decimal a, Decimal b) {
  Decimal result;
  result.exponent = std::min(a.exponent, b.exponent);
  if (!a.digits.empty()) a.digits.append(static_cast<size_t>(a.exponent - result.exponent), '0');
  if (!b.digits.empty()) b.digits.append(static_cast<size_t>(b.exponent - result.exponent), '0');
  if (a.negative != b.negative) {
    result.digits = magnitude_sum(a.digits, b.digits);
  } else {
    bool less = magnitude_less(a.digits, b.digits);
    result.digits = magnitude_difference(less ? b.digits : a.digits, less ? a.digits : b.digits);
  }
  return result;
}

// ---------------------------------------------------------------------------------------------------- what is asked

struct Spec {
  Rule rule = Rule::Lines;
  Decimal absolute, relative;  // of `float`
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

// What came out. `error` is an errno: a file could not be read, and nothing is known of the output.
struct Comparison {
  bool right = false;
  int error = 0;
  std::string words;  // for a wrong output: where it first differs, in printable ASCII
};

// ---------------------------------------------------------------------------------------------------- reading

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
  // Whether nothing but blanks and newlines is left. They are skipped.
  bool only_spaces_left() {
    skip_spaces();
    return peek() == kEnd;
  }

  // Skips what both files have in common here.
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

// ---------------------------------------------------------------------------------------------------- words

inline void append_printable(std::string& shown, int c) {
  static const char kHex[] = "0123456789abcdef";
  if (c == '\\' || c == '"') {
    shown += '\\';
    shown += static_cast<char>(c);
  } else if (c >= 0x20 && c < 0x7f) {
    shown += static_cast<char>(c);
  } else if (c == '\n' || c == '\t' || c == '\r') {
    shown += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
  } else {
    shown += "\\x";
    shown += kHex[c >> 4];
    shown += kHex[c & 15];
  }
}

// What stands at an offset, in quotes: from the beginning of its line where that is near. Counts the lines before it.
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
  std::string shown = from > line_start ? "\"..." : "\"";
  file.seek(from);
  for (size_t i = 0; i < kShown; i++) {
    int c = file.peek();
    if (c == kEnd || (c == '\n' && file.offset() >= here)) return shown + "\"";
    append_printable(shown, file.next());
  }
  return shown + "...\"";
}

// Where two files part, in words. The readers stand at the first byte that differs, or at a token's beginning.
inline std::string difference(Reader& output, Reader& answer) {
  uint64_t line, ignored;
  std::string found = around(output, output.offset(), line);
  std::string expected = around(answer, answer.offset(), ignored);
  return "line " + std::to_string(line) + ": expected " + expected + ", found " + found;
}

// ---------------------------------------------------------------------------------------------------- rules

// Whether nothing but blanks and newlines is left in both. If something is, the readers stay where they are, so that
// the message shows where the difference begins.
inline bool both_only_spaces(Reader& output, Reader& answer) {
  uint64_t a = output.offset(), b = answer.offset();
  if (output.only_spaces_left() && answer.only_spaces_left()) return true;
  output.seek(a);
  answer.seek(b);
  return false;
}

inline bool compare_exact(Reader& output, Reader& answer) {
  output.skip_spaces();
  answer.skip_spaces();
  Reader::skip_common(output, answer);
  return both_only_spaces(output, answer);
}

// With `fold`, ASCII letters of either case are the same.
inline bool compare_lines(Reader& output, Reader& answer, bool fold) {
  for (;;) {
    Reader::skip_common(output, answer);
    int a = output.peek(), b = answer.peek();
    if (a == b || (fold && lower(a) == lower(b))) {
      if (a == kEnd) return true;
      output.skip();
      answer.skip();
      continue;
    }
    uint64_t output_here = output.offset(), answer_here = answer.offset();
    output.skip_blanks();
    answer.skip_blanks();
    if (output.peek() == '\n' && answer.peek() == '\n') continue;
    output.seek(output_here);
    answer.seek(answer_here);
    return both_only_spaces(output, answer);
  }
}

// A token of each file: its bytes as far as a number may be long, and whether they are the same.
struct TokenPair {
  std::string output, answer;
  bool same = true, too_long = false;
};

// Reads the tokens that begin here. Without `keep` only whether they are the same, and no further than that.
inline void read_tokens(Reader& output, Reader& answer, bool keep, TokenPair& pair) {
  auto inside = [](int c) { return c != kEnd && !is_space(c); };
  pair.output.clear();
  pair.answer.clear();
  pair.same = true;
  pair.too_long = false;
  for (;;) {
    int a = output.peek(), b = answer.peek();
    if (!inside(a) && !inside(b)) return;
    pair.same = pair.same && a == b;
    if (!pair.same && (!keep || pair.too_long)) return;
    if (inside(a)) output.skip();
    if (inside(b)) answer.skip();
    if (!keep || pair.too_long) continue;
    if (inside(a)) pair.output += static_cast<char>(a);
    if (inside(b)) pair.answer += static_cast<char>(b);
    pair.too_long = std::max(pair.output.size(), pair.answer.size()) > kLongestNumber;
  }
}

inline bool near(const TokenPair& pair, const Spec& spec) {
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

inline bool compare_tokens(Reader& output, Reader& answer, const Spec& spec) {
  bool numbers = spec.rule == Rule::Float;
  TokenPair pair;
  for (;;) {
    output.skip_spaces();
    answer.skip_spaces();
    if (output.peek() == kEnd || answer.peek() == kEnd) return output.peek() == answer.peek();
    uint64_t output_here = output.offset(), answer_here = answer.offset();
    read_tokens(output, answer, numbers, pair);
    if (pair.same || (numbers && near(pair, spec))) continue;
    output.seek(output_here);
    answer.seek(answer_here);
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

  // Takes the lines into memory, `bytes()` and a number for each, in the order of their bytes.
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

  // Whether both hold the same lines, as often as each other. They hold the same number of them.
  static bool same(const LineBag& output, const LineBag& answer, std::string& words) {
    for (size_t i = 0; i < output.starts_.size(); i++) {
      int sign = order(output, output.starts_[i], answer, answer.starts_[i]);
      if (sign == 0) continue;
      words = sign < 0 ? "a line that is not expected, or not so often: " + output.shown(output.starts_[i])
                       : "a line is missing: " + answer.shown(answer.starts_[i]);
      return false;
    }
    return true;
  }

 private:
  // Gives every byte of every line, and a newline for its end. Blanks at the end of a line are not its bytes.
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

  std::string shown(size_t at) const {
    std::string words = "\"";
    size_t end = text_.find('\n', at);
    for (; at < end && words.size() < kShown; at++) append_printable(words, static_cast<unsigned char>(text_[at]));
    return words + (at < end ? "...\"" : "\"");
  }

  Reader& file_;
  uint64_t lines_ = 0, bytes_ = 0;
  std::string text_;
  std::vector<size_t> starts_;
};

inline bool compare_unordered(Reader& output, Reader& answer, std::string& words) {
  LineBag theirs(answer), ours(output);
  if (ours.lines() != theirs.lines()) {
    words = "expected " + std::to_string(theirs.lines()) + " lines, found " + std::to_string(ours.lines());
    return false;
  }
  if (ours.bytes() != theirs.bytes()) {
    words = "the lines have " + std::to_string(ours.bytes()) + " bytes, not " + std::to_string(theirs.bytes());
    return false;
  }
  ours.collect();
  theirs.collect();
  return LineBag::same(ours, theirs, words);
}

// Compares two files that can be read by pread, from their beginnings; their offsets are left alone.
inline Comparison compare(const Spec& spec, int output_fd, int answer_fd) {
  Reader output(output_fd), answer(answer_fd);
  Comparison result;
  switch (spec.rule) {
    case Rule::Exact:
      result.right = compare_exact(output, answer);
      break;
    case Rule::Lines:
    case Rule::CaseInsensitive:
      result.right = compare_lines(output, answer, spec.rule == Rule::CaseInsensitive);
      break;
    case Rule::Tokens:
    case Rule::Float:
      result.right = compare_tokens(output, answer, spec);
      break;
    case Rule::UnorderedLines:
      result.right = compare_unordered(output, answer, result.words);
      break;
  }
  if (!result.right && result.words.empty()) result.words = difference(output, answer);
  result.error = output.error() ? output.error() : answer.error();
  result.right = result.right && !result.error;
  return result;
}

}  // namespace comparators

#endif
