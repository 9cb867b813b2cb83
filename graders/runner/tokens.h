// Tokens: two outputs compared word by word, with tolerance for numbers.
#pragma once

#include <stddef.h>
#include <stdlib.h>

#include <cmath>
#include <string>
#include <vector>

#include "bytes.h"

namespace runner {

constexpr size_t kLongestNumber = 65536;  // this much of a token is kept, to be read as a number

// How tokens are compared. Source: the Kattis problem format's default validator, and DOMjudge's, which is the same except
// for numbers that are not finite: there NaN equals NaN, and infinities of the same sign are equal, as here.
struct TokenRules {
  bool case_sensitive = false, space_sensitive = false;
  long double absolute = -1, relative = -1;  // negative: not tolerated

  bool numeric() const { return absolute >= 0 || relative >= 0; }
};

inline bool is_token_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// A number as scanf reads it, and nothing else: decimal or hexadecimal, an infinity, NaN.
inline bool read_number(const std::string& token, long double& value) {
  if (token.empty() || token.size() >= kLongestNumber || token.find('(') != std::string::npos) return false;
  char* end = nullptr;
  value = strtold(token.c_str(), &end);
  return end == token.c_str() + token.size();
}

// Reads the arguments of the checker line. Returns an error, or nothing.
inline std::string read_token_rules(const std::vector<std::string>& args, TokenRules& rules) {
  for (size_t i = 0; i < args.size(); i++) {
    const std::string& flag = args[i];
    if (flag == "case_sensitive" || flag == "space_change_sensitive") {
      (flag == "case_sensitive" ? rules.case_sensitive : rules.space_sensitive) = true;
      continue;
    }
    bool absolute = flag == "float_absolute_tolerance", relative = flag == "float_relative_tolerance";
    if (!absolute && !relative && flag != "float_tolerance") return "an unknown flag: " + flag;
    long double value = -1;
    if (++i == args.size() || !read_number(args[i], value) || !(value >= 0)) return flag + " needs a number from 0 on";
    if (!relative) rules.absolute = value;
    if (!absolute) rules.relative = value;
  }
  return "";
}

inline bool near(long double ours, long double theirs, const TokenRules& rules) {
  if (std::isnan(theirs) || std::isnan(ours)) return std::isnan(theirs) && std::isnan(ours);
  if (std::isinf(theirs) || std::isinf(ours)) return ours == theirs;
  long double difference = std::fabs(ours - theirs);
  return difference <= rules.absolute || difference <= rules.relative * std::fabs(theirs);
}

inline bool in_token(Bytes& bytes) { return bytes.peek() != Bytes::End && !is_token_space(bytes.peek()); }

// Reads a token of each file; a token may be longer than memory.
inline bool same_token(Bytes& ours, Bytes& theirs, const TokenRules& rules) {
  std::string our_text, their_text;
  bool same = true;
  while (in_token(ours) || in_token(theirs)) {
    int a = in_token(ours) ? ours.next() : Bytes::End, b = in_token(theirs) ? theirs.next() : Bytes::End;
    if (a != Bytes::End && our_text.size() < kLongestNumber) our_text += static_cast<char>(a);
    if (b != Bytes::End && their_text.size() < kLongestNumber) their_text += static_cast<char>(b);
    same &= rules.case_sensitive ? a == b : (a >= 'A' && a <= 'Z' ? a + 32 : a) == (b >= 'A' && b <= 'Z' ? b + 32 : b);
  }
  long double our_value = 0, their_value = 0;
  if (!rules.numeric() || !read_number(their_text, their_value)) return same;
  return read_number(our_text, our_value) && near(our_value, their_value, rules);
}

// Whether an output is right; `where` is set if not.
inline bool same_tokens(int output, int answer, const TokenRules& rules, Difference& where) {
  Bytes ours(output), theirs(answer);
  for (;;) {
    where = {ours.offset(), theirs.offset()};
    while (theirs.peek() != Bytes::End && is_token_space(theirs.peek())) {
      int c = theirs.next();
      if (rules.space_sensitive && ours.next() != c) return false;
    }
    while (ours.peek() != Bytes::End && is_token_space(ours.peek())) {
      if (rules.space_sensitive) return false;
      ours.next();
    }
    if (!rules.space_sensitive) where = {ours.offset(), theirs.offset()};
    if (theirs.peek() == Bytes::End || ours.peek() == Bytes::End) return theirs.peek() == ours.peek();
    if (!same_token(ours, theirs, rules)) return false;
  }
}

}  // namespace runner
