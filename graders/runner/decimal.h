// Exact decimal numbers: a difference of exactly the tolerance is within it, which binary floating point could get wrong,
// and integers are compared exactly at any size.
#pragma once

#include "system.h"

namespace comparators {

constexpr size_t kLongestNumber = 1 << 20;  // a longer token is text
constexpr int kLargestExponent = 400;       // beyond it a token is text; doubles end at 308

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
  std::vector<uint32_t> cells(a.size() + b.size(), 0);  // least first; a cell stays below 2^32: b has at most 66 digits
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

// The digits of a number for a lower exponent.
inline std::string digits_at(const Decimal& number, int exponent) {
  if (number.digits.empty()) return "";
  return number.digits + std::string(static_cast<size_t>(number.exponent - exponent), '0');
}

// Whether a <= b for numbers that are not negative.
inline bool at_most(const Decimal& a, const Decimal& b) {
  if (b.digits.empty()) return a.digits.empty();
  int common = std::min(a.exponent, b.exponent);
  return !magnitude_less(digits_at(b, common), digits_at(a, common));
}

// |a - b|
inline Decimal distance(const Decimal& a, const Decimal& b) {
  Decimal result;
  result.exponent = std::min(a.exponent, b.exponent);
  std::string ours = digits_at(a, result.exponent), theirs = digits_at(b, result.exponent);
  if (a.negative != b.negative) {
    result.digits = magnitude_sum(ours, theirs);
  } else if (magnitude_less(ours, theirs)) {
    result.digits = magnitude_difference(theirs, ours);
  } else {
    result.digits = magnitude_difference(ours, theirs);
  }
  return result;
}

}  // namespace comparators
