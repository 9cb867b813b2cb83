// Checker protocols: who judges an output, and how a judge program reports its score.
//
// Two protocols differ in the fields of this table, in cases of `switch`es without `default`, and in what their line of a plan may
// have (plan_reader.h). If a protocol is forgotten here or in a `switch`, the code does not compile (the tests compile it with
// -Werror=switch).
#pragma once

#include "lines.h"
#include "system.h"

namespace runner {

enum class Protocol { Cms, Testlib, Kattis, WhiteDiff, DefaultValidator, Compare, None };
constexpr Protocol kProtocols[] = {Protocol::Cms,       Protocol::Testlib,          Protocol::Kattis,
                                   Protocol::WhiteDiff, Protocol::DefaultValidator, Protocol::Compare, Protocol::None};
static_assert(std::size(kProtocols) == static_cast<size_t>(Protocol::None) + 1, "a protocol that no plan can name");

// Who decides the score of an output.
enum class JudgedBy {
  Program,  // a checker
  Runner,   // the runner, which compares with the test's answer
  Client,   // the client of the job, which gets the output
};

struct ProtocolRules {
  const char* name;  // in a plan
  JudgedBy judged_by = JudgedBy::Runner;
  // Of a program: the exit codes that report a judgement; all others are failures.
  std::initializer_list<int> accepts = {}, rejects = {};
  std::initializer_list<const char*> args = {};  // before its own
  bool has_feedback_directory = false;   // it may write files for people there, and the score
  bool reads_output_from_stdin = false;  // else stdin is empty
  bool may_have_passes = false;          // it may ask for the program to be run again
  bool can_interact = false;             // such a program can be an interactor, with the same arguments
  bool before_checker = false;           // a checker may judge what such an interactor writes
  bool batch_only = false;               // judges outputs of batch tasks only
};

// CMS: https://cms.readthedocs.io, "Task types". testlib.h as it is published: 0 ok, 7 points; 1 wrong answer, 2 presentation
// error, 4 dirt, 8 unexpected end of file (3 is the checker's own failure). Kattis: its problem format, "Output validators".
constexpr ProtocolRules kCms = {"cms", JudgedBy::Program, {0}, {}, {"input.txt", "correct_output.txt", "output.txt"}};
constexpr ProtocolRules kTestlib = {"testlib", JudgedBy::Program, {0, 7}, {1, 2, 4, 8},
                                    {"input.txt", "output.txt", "correct_output.txt"},
                                    /*has_feedback_directory=*/false, /*reads_output_from_stdin=*/false,
                                    /*may_have_passes=*/false, /*can_interact=*/true, /*before_checker=*/true};
constexpr ProtocolRules kKattis = {"kattis", JudgedBy::Program, {42}, {43},
                                   {"input.txt", "correct_output.txt", "feedback/"},
                                   /*has_feedback_directory=*/true, /*reads_output_from_stdin=*/true,
                                   /*may_have_passes=*/true, /*can_interact=*/true};
constexpr ProtocolRules kWhiteDiff = {"white-diff"};
constexpr ProtocolRules kDefaultValidator = {"tokens"};  // Kattis's
constexpr ProtocolRules kCompare = {
    "compare", JudgedBy::Runner, /*accepts=*/{}, /*rejects=*/{}, /*args=*/{}, /*has_feedback_directory=*/false,
    /*reads_output_from_stdin=*/false, /*may_have_passes=*/false, /*can_interact=*/false, /*before_checker=*/false, /*batch_only=*/true};
constexpr ProtocolRules kNone = {
    "none", JudgedBy::Client, /*accepts=*/{}, /*rejects=*/{}, /*args=*/{}, /*has_feedback_directory=*/false,
    /*reads_output_from_stdin=*/false, /*may_have_passes=*/false, /*can_interact=*/false, /*before_checker=*/false, /*batch_only=*/true};

inline const ProtocolRules& rules_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::Cms: return kCms;
    case Protocol::Testlib: return kTestlib;
    case Protocol::Kattis: return kKattis;
    case Protocol::WhiteDiff: return kWhiteDiff;
    case Protocol::DefaultValidator: return kDefaultValidator;
    case Protocol::Compare: return kCompare;
    case Protocol::None: return kNone;
  }
  plan_fault("a protocol without rules");
}

inline const char* name_of(Protocol protocol) { return rules_of(protocol).name; }

inline bool has(std::initializer_list<int> codes, int code) { return std::find(codes.begin(), codes.end(), code) != codes.end(); }

}  // namespace runner
