// The outcome of a test, and its line.
#pragma once

#include "contestants.h"
#include "descriptors.h"
#include "json.h"
#include "lines.h"
#include "plan.h"
#include "system.h"
#include "verdicts.h"

namespace runner {

struct Outcome {
  Verdict verdict = Verdict::JE;
  std::string score, message;
  std::string in_time;          // of a TLE not stopped for its time: its score if it had been in time; empty if unknown
  bool may_be_in_time = false;  // whether the client may measure its time again
  Limit limit = Limit::None;
  int code = 0, signal = 0;
  int64_t cpu_us = 0, wall_us = 0, idle_us = 0, memory_bytes = 0, judge_cpu_us = 0, judge_wall_us = 0;
  Attempts attempted;
  std::string errors, report;
  Fd output;                            // its first bytes are returned
  JudgeFault fault = JudgeFault::None;  // of a JE, with the program at fault and an explanation
  TrustedProgram program = TrustedProgram::Runner;
  std::string explanation;

  // Whether the client may run the test again.
  bool is_in_doubt() const { return may_be_in_time || (fault != JudgeFault::None && program == TrustedProgram::Runner); }

  bool is_zero() const { return !score.empty() && strtod(score.c_str(), nullptr) == 0.0; }
};

// Makes the outcome of a program that was late a TLE. If the program was not stopped for its time, the score that it would
// have in time is kept, and the client may run it once more to measure its time. If a failure hides that score, the verdict stays
// JE.
inline void make_late(Outcome& o, bool ended_by_itself, Limit limit) {
  if (o.fault != JudgeFault::None) return;
  if (ended_by_itself) o.in_time = o.score;
  o.may_be_in_time = ended_by_itself && !o.is_zero();
  o.verdict = Verdict::TLE;
  o.limit = limit;
  o.score = "0";
  o.message.clear();
}

inline void print_line(Lines& lines, const Plan& plan, const Test& test, const Outcome& o) {
  Json line;
  line.open('{').member("test", test.id).member("verdict", name_of(o.verdict));
  line.member("score", o.score.empty() ? nullptr : o.score.c_str()).member("message", o.message);
  if (!o.in_time.empty()) line.member("in_time", o.in_time);
  line.member("cpu_us", o.cpu_us).member("wall_us", o.wall_us).member("idle_us", o.idle_us).member("memory_bytes", o.memory_bytes);
  line.member("code", o.code).member("signal", o.signal).member("limit", name_of(o.limit));
  line.key("attempted").open('{');
  for (const auto& [name, count] : o.attempted) line.member(name.c_str(), count);
  line.close('}').member("stderr", o.errors);
  line.key("judge").open('{').member("cpu_us", o.judge_cpu_us).member("wall_us", o.judge_wall_us).close('}');
  if (o.verdict == Verdict::JE) {
    line.member("fault", name_of(o.fault)).member("program", name_of(o.program)).member("explanation", o.explanation);
  }
  if (!plan.interpreter.empty()) line.member("report", o.report);
  if (plan.return_bytes > 0 || plan.left_to_client()) {
    int64_t bytes = o.output ? file_size(o.output.get()) : 0;
    lines.print(line.member("output_bytes", bytes).key("output").open_text().take());
    if (bytes > 0) print_base64(lines, o.output.get(), std::min(bytes, plan.return_bytes));
    line.close_text();
  }
  lines.end_line(line.close('}'));
}

}  // namespace runner
