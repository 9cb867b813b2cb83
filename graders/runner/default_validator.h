// The flags and numbers of Kattis's default validator, which is the checker protocol `tokens`.
#pragma once

#include "system.h"

namespace comparators {

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

}  // namespace comparators
