// The outcome of a test, and its line.
#pragma once

#include <signal.h>
#include <stdint.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "descriptors.h"
#include "lines.h"
#include "plan.h"
#include "verdicts.h"

namespace runner {

struct Outcome {
  Verdict verdict = Verdict::JE;
  std::string score, message;
  std::string in_time;  // of a TLE that ended by itself: the score that it would have had in time; empty if that is not known
  Limit limit = Limit::None;
  int code = 0, signal = 0;
  int64_t cpu_us = 0, wall_us = 0, idle_us = 0, memory_bytes = 0, judge_cpu_us = 0, judge_wall_us = 0;
  std::vector<std::pair<std::string, int>> attempted;
  std::string errors, report;
  Fd output;                          // what is returned of it
  JudgeFault fault = JudgeFault::None;  // of a JE, with:
  Culprit program = Culprit::Runner;
  std::string explanation;
  bool zero = false;
};

inline void print_line(Lines& lines, const Plan& plan, const Test& test, const Outcome& o) {
  std::string attempted;
  for (const auto& [name, count] : o.attempted) {
    attempted += (attempted.empty() ? "" : ",") + quoted(name) + ":" + std::to_string(count);
  }
  std::string line = format("{\"test\":%ld,\"verdict\":", test.id);
  line += quoted_or_null(name_of(o.verdict));
  line += ",\"score\":" + (o.score.empty() ? "null" : quoted(o.score));
  line += ",\"message\":" + quoted(o.message);
  if (!o.in_time.empty()) line += ",\"in_time\":" + quoted(o.in_time);
  line += format(",\"cpu_us\":%lld,\"wall_us\":%lld,\"idle_us\":%lld,\"memory_bytes\":%lld,\"code\":%d,\"signal\":%d",
                 static_cast<long long>(o.cpu_us), static_cast<long long>(o.wall_us), static_cast<long long>(o.idle_us),
                 static_cast<long long>(o.memory_bytes), o.code, o.signal);
  line += ",\"limit\":" + quoted_or_null(name_of(o.limit));
  line += ",\"attempted\":{" + attempted + "},\"stderr\":" + quoted(o.errors);
  line += format(",\"judge\":{\"cpu_us\":%lld,\"wall_us\":%lld}", static_cast<long long>(o.judge_cpu_us),
                 static_cast<long long>(o.judge_wall_us));
  if (o.verdict == Verdict::JE) {
    line += ",\"fault\":" + quoted(name_of(o.fault)) + ",\"program\":" + quoted(name_of(o.program)) + ",\"words\":" + quoted(o.explanation);
  }
  if (!plan.interpreter.empty()) line += ",\"report\":" + quoted(o.report);
  print(line);
  if (plan.return_bytes > 0 || plan.left_to_reader()) {
    int64_t bytes = o.output ? file_size(o.output.get()) : 0;
    print(format(",\"output_bytes\":%lld,\"output\":\"", static_cast<long long>(bytes)));
    if (bytes > 0) print_base64(o.output.get(), std::min(bytes, plan.return_bytes));
    print("\"");
  }
  print("}\n");
  lines.printed++;
}

}  // namespace runner
