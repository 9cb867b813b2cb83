// Checker protocols: who judges an output, and how a judge program reports its score.
//
// Two protocols differ in the fields of this table, in cases of `switch`es without `default`, and in what their line of a plan may
// have (plan_reader.h). If a protocol is forgotten here or in a `switch`, the code does not compile (the tests compile it with
// -Werror=switch).
#pragma once

#include "descriptors.h"
#include "lines.h"
#include "numbers.h"
#include "reader.h"

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
  bool batch_only = false;  // judges outputs of batch tasks only
  // Of a program: the exit codes that report a judgement; all others are failures.
  std::initializer_list<int> accepts = {}, rejects = {};
  std::initializer_list<const char*> args = {};  // before its own
  bool has_feedback_directory = false;   // it may write files for people there, and the score
  bool reads_output_from_stdin = false;  // else stdin is empty
  bool may_have_passes = false;          // it may ask for the program to be run again
  bool can_interact = false;             // such a program can be an interactor, with the same arguments
  bool before_checker = false;           // a checker may judge what such an interactor writes
};

// CMS: https://cms.readthedocs.io, "Task types". testlib.h as it is published: 0 ok, 7 points; 1 wrong answer, 2 presentation
// error, 4 dirt, 8 unexpected end of file (3 is the checker's own failure). Kattis: its problem format, "Output validators".
constexpr ProtocolRules kCms = {"cms", JudgedBy::Program, /*batch_only=*/false, {0}, {}, {"input.txt", "correct_output.txt", "output.txt"}};
constexpr ProtocolRules kTestlib = {"testlib", JudgedBy::Program, /*batch_only=*/false, {0, 7}, {1, 2, 4, 8},
                                    {"input.txt", "output.txt", "correct_output.txt"},
                                    /*has_feedback_directory=*/false, /*reads_output_from_stdin=*/false,
                                    /*may_have_passes=*/false, /*can_interact=*/true, /*before_checker=*/true};
constexpr ProtocolRules kKattis = {"kattis", JudgedBy::Program, /*batch_only=*/false, {42}, {43},
                                   {"input.txt", "correct_output.txt", "feedback/"},
                                   /*has_feedback_directory=*/true, /*reads_output_from_stdin=*/true,
                                   /*may_have_passes=*/true, /*can_interact=*/true};
constexpr ProtocolRules kWhiteDiff = {"white-diff"};
constexpr ProtocolRules kDefaultValidator = {"tokens"};  // Kattis's
constexpr ProtocolRules kCompare = {"compare", JudgedBy::Runner, /*batch_only=*/true};
constexpr ProtocolRules kNone = {"none", JudgedBy::Client, /*batch_only=*/true};

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

// ---------------------------------------------------------------------------------------------- scores

// The score and message of a checker or manager.
struct Judgement {
  bool valid = false;
  std::string score;    // as it was printed, or as `set` wrote it
  double value = 0;     // in [0, 1]
  double points = 0, full = 1;  // the same in points, of so many: exact, which `value` may not be
  std::string message;
  std::string error;    // why it is not valid

  void set(double new_value) {
    value = new_value;
    score = format("%.17g", value);
  }
};

// How scores are read. `full` is full marks, in the units of a score file; 0 if scores do not count. With a table a score is a whole
// number, and stands for the points of the first entry that is not below it.
struct Scale {
  int64_t full = 1;
  std::vector<std::pair<int64_t, int64_t>> table = {};  // (largest score, points), in the order of scores
};

inline std::string trimmed(const std::string& text) {
  size_t from = text.find_first_not_of(" \t\r\n\v\f"), to = text.find_last_not_of(" \t\r\n\v\f");
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

inline std::string first_line(const std::string& text) { return trimmed(text.substr(0, text.find('\n'))); }

// Calls `use` with each line of a file, at most kMessageBytes of it. Lines are read whole: a line of testlib may quote a long word
// of the program's output, and the end of that must not look like a line.
template <typename Use>
void for_each_line(int fd, const Use& use) {
  comparators::Reader file(fd);
  std::string line;
  for (int c = 0; c != comparators::kEnd;) {
    c = file.next();
    if (c == '\n' || c == comparators::kEnd) {
      use(line);
      line.clear();
    } else if (line.size() < kMessageBytes) {
      line += static_cast<char>(c);
    }
  }
}

inline bool begins_with(const std::string& line, const char* start) { return line.compare(0, strlen(start), start) == 0; }

// Reads a score, which must be a plain decimal number within [0, full], or in the table: no nan, no inf, no hexadecimal.
inline bool read_score(const std::string& text, Judgement& judgement, const Scale& scale = {}) {
  judgement.score = text;
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
    judgement.error = "not a score: " + (text.empty() ? "nothing was printed where it belongs" : text.substr(0, 100));
    return false;
  }
  double value = strtod(text.c_str(), nullptr);
  if (!scale.table.empty()) {
    auto entry = scale.table.begin();
    while (entry != scale.table.end() && static_cast<double>(entry->first) < value) entry++;
    if (value < 0 || value != floor(value) || entry == scale.table.end()) {
      judgement.error = "a score that is not in the test's table: " + text.substr(0, 100);
      return false;
    }
    value = static_cast<double>(entry->second);
  }
  judgement.valid = value >= 0.0 && value <= static_cast<double>(scale.full);
  if (!judgement.valid) judgement.error = format("a score outside of [0, %lld]: ", static_cast<long long>(scale.full)) + text.substr(0, 100);
  judgement.value = judgement.points = value;
  judgement.full = static_cast<double>(scale.full);
  if (scale.full != 1 || !scale.table.empty()) judgement.set(value / judgement.full);
  return judgement.valid;
}

// The text of a file with a score. A longer file is not a score, and is not cut to make it one.
inline bool read_score_of(int fd, bool first_line_only, Judgement& judgement, const Scale& scale = {}) {
  std::string text = head(fd, kScoreBytes);
  bool cut = file_size(fd) > static_cast<int64_t>(text.size());
  if (cut && !(first_line_only && text.find('\n') != std::string::npos)) {
    judgement.error = format("not a score: %s of more than %zu bytes", first_line_only ? "a line" : "a text", kScoreBytes);
    return false;
  }
  return read_score(first_line_only ? first_line(text) : trimmed(text), judgement, scale);
}

// The texts of CMS. Source: CMS, cms/grading/steps/evaluation.py.
const char* const kSuccess = "Output is correct";
const char* const kPartial = "Output is partially correct";
const char* const kWrong = "Output isn't correct";
const char* const kNoOutput = "Evaluation didn't produce file ";

// CMS: the score is the first line of stdout, the message the first line of stderr, which may name a standard text.
inline Judgement read_cms(int output, int errors) {
  Judgement judgement;
  std::string text = first_line(head(errors, kMessageBytes));
  if (text.compare(0, 10, "translate:") == 0) {
    std::string which = trimmed(text.substr(10));
    if (which == "success") text = kSuccess;
    if (which == "partial") text = kPartial;
    if (which == "wrong") text = kWrong;
  }
  judgement.message = text;
  read_score_of(output, true, judgement);
  return judgement;
}

// testlib: 0 accepts; 7 gives a score, the word after `points`, on the scale; with `full` 0 it only accepts.
// testlib writes this line last, but its message may quote lines of the program's output, and so may lines that the checker wrote
// before. So the lowest of several scores counts: no program raises its score by what it prints.
// The exit codes of testlib's "partially" begin at 0, so they look like others. It is recognised by its message, which is a failure
// of the checker. Beside testlib's name of a rejection, or a score, that message is a quote of the program's output, and does not
// count: otherwise a program could print it to turn its 0 into a failure of the checker.
// Source: testlib.h, `InStream::quit`.
inline Judgement read_testlib(int code, int errors, const Scale& scale) {
  Judgement judgement, lowest;
  bool gives_score = code == 7 && scale.full > 0, has_rejection = false;
  std::string partially;
  read_score("", lowest);
  for_each_line(errors, [&](const std::string& line) {
    if (begins_with(line, "partially correct (")) partially = trimmed(line);
    for (const char* name : {"wrong answer", "wrong output format", "unexpected eof"}) {
      has_rejection |= has(kTestlib.rejects, code) && begins_with(line, name);
    }
    if (!gives_score || !begins_with(line, "points ")) return;
    Judgement one;
    read_score(split(trimmed(line) + " ", ' ')[1], one, scale);
    if (!lowest.valid || (one.valid && one.value < lowest.value)) lowest = one;
  });
  if (!partially.empty() && !has_rejection && !lowest.valid) {
    judgement.error = "not a score: the checker says \"" + partially.substr(0, 100) + "\"";
  } else if (gives_score) {
    judgement = lowest;
  } else {
    read_score(has(kTestlib.accepts, code) ? "1" : "0", judgement);
  }
  judgement.message = first_line(head(errors, kMessageBytes));
  return judgement;
}

// Kattis: in the feedback directory `score.txt` has the score of an accepted output in points, or `score_multiplier.txt` a part of
// them, if `full` is above 0. With a table each accepted output needs a `score.txt`: only that says how many points it is worth.
// Source: Kattis problem package format 2025-09, "Scoring test cases".
inline Judgement read_kattis(int code, const std::string& feedback, const Scale& scale) {
  Judgement judgement;
  bool accepted = has(kKattis.accepts, code);
  Fd message = open_left(feedback, "judgemessage.txt", judgement.error), points, part;
  if (accepted && scale.full != 0) {
    part = open_left(feedback, "score_multiplier.txt", judgement.error);
    points = open_left(feedback, "score.txt", judgement.error);
    if (points && part) judgement.error = "it has written both score.txt and score_multiplier.txt";
  }
  if (!judgement.error.empty()) return judgement;
  if (message) judgement.message = trimmed(head(message.get(), kMessageBytes));
  if (points) {
    read_score_of(points.get(), false, judgement, scale);
  } else if (accepted && !scale.table.empty()) {
    judgement.error = "not a score: there is no score.txt, which the test's table needs";
  } else if (part) {
    read_score_of(part.get(), false, judgement);
  } else {
    read_score(accepted ? "1" : "0", judgement);
  }
  return judgement;
}

// The result of a judge program: its exit code, what it printed (descriptors), and its feedback directory.
struct JudgeResult {
  int code, output, errors;
  std::string feedback;
};

// Reads the score and message of a judge program that ended with an exit code of its protocol.
inline Judgement read_judgement(const JudgeResult& result, Protocol protocol, const Scale& scale) {
  switch (protocol) {
    case Protocol::Cms: return read_cms(result.output, result.errors);
    case Protocol::Testlib: return read_testlib(result.code, result.errors, scale);
    case Protocol::Kattis: return read_kattis(result.code, result.feedback, scale);
    case Protocol::WhiteDiff:
    case Protocol::DefaultValidator:
    case Protocol::Compare:
    case Protocol::None: break;
  }
  plan_fault("the protocol %s has no program", name_of(protocol));
}

}  // namespace runner
