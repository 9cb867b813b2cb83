// Checker protocols: by whom an output is judged, and how a program tells its score.
//
// All that differs between two protocols is a row of this table, or a case of a `switch` without `default`: a protocol
// that has been forgotten in one of these places does not compile (-Werror=switch, as the tests compile it).
#pragma once

#include <stddef.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "lines.h"

namespace runner {

enum class Protocol { Cms, Testlib, Kattis, WhiteDiff, Tokens, Compare, None };
constexpr Protocol kProtocols[] = {Protocol::Cms,    Protocol::Testlib, Protocol::Kattis, Protocol::WhiteDiff,
                                   Protocol::Tokens, Protocol::Compare, Protocol::None};
static_assert(std::size(kProtocols) == static_cast<size_t>(Protocol::None) + 1, "a protocol that no plan can name");

// Who says how much an output is worth.
enum class JudgedBy {
  Program,  // a checker
  Runner,   // this program, which compares with the test's answer
  Reader,   // whoever reads our lines: the output goes there
};

struct ProtocolRules {
  const char* name;  // in a plan
  JudgedBy judged_by = JudgedBy::Runner;
  // Of a program: the exit codes with which it has judged.
  std::vector<int> accepts = {}, rejects = {};
  std::vector<const char*> args = {};  // before its own
  bool has_feedback = false;           // a directory to write to; and the output comes on stdin
  bool can_interact = false;           // such a program can be an interactor, with the same arguments
};

// CMS: https://cms.readthedocs.io, "Task types". testlib.h as it is published: 0 ok, 7 points; 1 wrong answer,
// 2 presentation error, 4 dirt, 8 unexpected end of file. Kattis: its problem format, "Output validators".
inline const ProtocolRules& rules_of(Protocol protocol) {
  static const ProtocolRules cms = {
      "cms", JudgedBy::Program, {0}, {}, {"input.txt", "correct_output.txt", "output.txt"}};
  static const ProtocolRules testlib = {
      "testlib", JudgedBy::Program, {0, 7}, {1, 2, 4, 8}, {"input.txt", "output.txt", "correct_output.txt"}, false, true};
  static const ProtocolRules kattis = {
      "kattis", JudgedBy::Program, {42}, {43}, {"input.txt", "correct_output.txt", "feedback/"}, true, true};
  static const ProtocolRules white_diff = {"white-diff"}, tokens = {"tokens"}, compare = {"compare"};
  static const ProtocolRules none = {"none", JudgedBy::Reader};
  switch (protocol) {
    case Protocol::Cms: return cms;
    case Protocol::Testlib: return testlib;
    case Protocol::Kattis: return kattis;
    case Protocol::WhiteDiff: return white_diff;
    case Protocol::Tokens: return tokens;
    case Protocol::Compare: return compare;
    case Protocol::None: return none;
  }
  plan_fault("a protocol without rules");
}

inline bool has(const std::vector<int>& codes, int code) { return std::find(codes.begin(), codes.end(), code) != codes.end(); }

}  // namespace runner
