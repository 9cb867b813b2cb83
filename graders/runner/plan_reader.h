// The plan, read and checked line by line.
#pragma once

#include "comparators.h"
#include "descriptors.h"
#include "job_files.h"
#include "lines.h"
#include "plan.h"
#include "protocols.h"
#include "rules.h"
#include "verdicts.h"

namespace runner {

// One line of a plan. The reader asks for every key that it knows; a key that it did not ask for is unknown.
class PlanLine {
 public:
  PlanLine(int number, const std::string& text) : number_(number) {
    std::vector<std::string> words = split(text, ' ');
    name = words[0];
    for (size_t i = 1; i < words.size(); i++) {
      size_t equals = words[i].find('=');
      if (equals == std::string::npos) {
        bare_.push_back(decode(words[i]));
      } else {
        pairs_.push_back({words[i].substr(0, equals), decode(words[i].substr(equals + 1)), false});
      }
    }
  }

  std::string name;

  bool has(const char* key) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const Pair& p) { return p.key == key; });
  }

  std::vector<std::string> all(const char* key) {
    std::vector<std::string> values;
    for (Pair& pair : pairs_) {
      if (pair.key != key) continue;
      pair.used = true;
      values.push_back(pair.value);
    }
    return values;
  }

  std::string text(const char* key) {
    std::vector<std::string> values = all(key);
    if (values.size() != 1) bad(format("needs `%s` once", key));
    return values[0];
  }

  int64_t number(const char* key, int64_t least, int64_t most) {
    return to_number(text(key), least, most, key);
  }

  int64_t to_number(const std::string& digits, int64_t least, int64_t most, const char* what) const {
    bool plain = !digits.empty() && digits.size() <= 18 && digits.find_first_not_of("0123456789") == std::string::npos;
    int64_t value = plain ? strtoll(digits.c_str(), nullptr, 10) : -1;
    if (!plain || value < least || value > most) bad(format("`%s` is out of range: %s", what, digits.c_str()));
    return value;
  }

  template <typename Value>
  Value choice(const char* key, std::initializer_list<std::pair<const char*, Value>> choices) {
    std::string word = text(key);
    for (const auto& [name_of_choice, value] : choices) {
      if (word == name_of_choice) return value;
    }
    bad(format("`%s` is unknown: %s", key, word.c_str()));
  }

  // The one of these values that has the name in the line.
  template <typename Value, size_t N>
  Value choice(const char* key, const Value (&values)[N]) {
    std::string word = text(key);
    for (Value value : values) {
      if (word == name_of(value)) return value;
    }
    bad(format("`%s` is unknown: %s", key, word.c_str()));
  }

  std::string bare() {
    if (bare_.size() != 1) bad("needs one word");
    return std::exchange(bare_, {})[0];
  }

  void finish() const {
    if (!bare_.empty()) bad("has a word too many: " + bare_[0]);
    for (const Pair& pair : pairs_) {
      if (!pair.used) bad("has an unknown key: " + pair.key);
    }
  }

  [[noreturn]] void bad(const std::string& error) const {
    plan_fault("line %d (%s) %s", number_, name.c_str(), error.c_str());
  }

 private:
  struct Pair {
    std::string key, value;
    bool used;
  };
  int number_;
  std::vector<std::string> bare_;
  std::vector<Pair> pairs_;
};

inline std::vector<std::string> arguments(PlanLine& line) {
  std::vector<std::string> args;
  if (!line.has("args")) return args;
  for (const std::string& word : split(line.text("args"), ',')) args.push_back(decode(word));
  return args;
}

// What the lines of checker and manager have in common.
inline void read_judge_limits(PlanLine& line, JudgeSpec& spec) {
  spec.cpu_ms = line.number("cpu_ms", 1, kMaxMs);
  spec.wall_ms = line.number("wall_ms", 1, kMaxMs);
  spec.memory_bytes = line.number("memory_bytes", 1, kMaxBytes);
  spec.args = arguments(line);
}

inline std::string path_below(PlanLine& line, const char* key) {
  std::string path = line.text(key);
  bool leaves = path.empty() || path[0] == '/' || ("/" + path + "/").find("/../") != std::string::npos;
  if (leaves) line.bad("leaves the work directory: " + path);
  return path;
}

// A path that is shown to programs, or executed.
inline std::string seen_path(PlanLine& line, const std::string& path) {
  bool absolute = !path.empty() && path[0] == '/' && (path + "/").find("/../") == std::string::npos;
  if (!absolute) line.bad("has a path that is not absolute: " + path);
  return path;
}

// The name of a file, without a directory; empty if the key is not there.
inline std::string plain_name(PlanLine& line, const char* key) {
  if (!line.has(key)) return "";
  std::string name = line.text(key);
  bool plain = !name.empty() && name != "." && name != ".." && name.size() <= NAME_MAX &&
               name.find_first_of(std::string("/\0", 2)) == std::string::npos;
  if (!plain) line.bad(format("`%s` is not the name of a file: %s", key, name.c_str()));
  return name;
}

inline void read_compile_line(PlanLine& line, JobFiles& files, CompilePlan& plan) {
  using Kind = CompileAction::Kind;
  if (line.name == "limits") {
    plan.cpu_ms = line.number("cpu_ms", 1, kMaxMs);
    plan.wall_ms = line.number("wall_ms", 1, kMaxMs);
    plan.memory_bytes = line.number("memory_bytes", 1, kMaxBytes);
    plan.processes = line.number("processes", 1, 1'000'000);
    plan.output_bytes = line.number("output_bytes", 0, 1 << 30);
    plan.file_bytes = line.number("file_bytes", 1, kMaxBytes);
  } else if (line.name == "put") {
    std::string file = line.text("file"), path = path_below(line, "as");
    files.get(file);
    plan.actions.push_back({Kind::Put, path, file});
  } else if (line.name == "sees") {
    plan.sees.push_back(seen_path(line, line.text("path")));
  } else if (line.name == "system") {
    plan.sees_system = true;
  } else if (line.name == "precompiled") {
    plan.precompiled = plain_name(line, "std");
    plan.precompiled_as = plain_name(line, "as");
    if (plan.precompiled.empty() || plan.precompiled_as.empty()) line.bad("needs `std` and `as`");
  } else if (line.name == "step") {
    std::vector<std::string> argv = line.all("argv");
    if (argv.empty() || argv[0].empty()) line.bad("needs `argv`");
    plan.actions.push_back({Kind::Step, {}, {}, {}, argv});
  } else if (line.name == "artifact") {
    std::string path = path_below(line, "path");
    std::string name = line.has("as") ? line.text("as") : path;
    plan.actions.push_back({Kind::Artifact, path, line.has("into") ? line.text("into") : "", name});
  } else {
    line.bad("is unknown in compile mode");
  }
}

inline std::vector<std::pair<int, int>> read_positions(PlanLine& line) {
  std::vector<std::pair<int, int>> positions;
  if (!line.has("at")) return positions;
  for (const std::string& position : split(line.text("at"), ',')) {
    std::vector<std::string> pair = split(position, ':');
    if (pair.size() != 2) line.bad("has a position that is not group:position: " + position);
    positions.emplace_back(static_cast<int>(line.to_number(pair[0], 0, INT_MAX, "at")),
                           static_cast<int>(line.to_number(pair[1], 0, INT_MAX, "at")));
  }
  return positions;
}

inline std::vector<std::pair<int64_t, int64_t>> read_table(PlanLine& line, int64_t full) {
  std::vector<std::pair<int64_t, int64_t>> table;
  for (const std::string& entry : split(line.text("table"), ',')) {
    std::vector<std::string> pair = split(entry, ':');
    if (pair.size() != 2) line.bad("has an entry of its table that is not score:points: " + entry);
    int64_t least = table.empty() ? 0 : table.back().first + 1;
    table.emplace_back(line.to_number(pair[0], least, kMostPoints, "table"), line.to_number(pair[1], 0, full, "table"));
  }
  return table;
}

inline void read_test_line(PlanLine& line, JobFiles& files, RunPlan& plan) {
  Test test;
  test.id = line.number("id", 0, INT_MAX);
  test.input = files.get(line.text("input"));
  if (line.has("answer")) test.answer = files.get(line.text("answer"));
  if (line.has("program")) test.program = files.get(line.text("program"));
  if (line.has("output")) test.output = files.get(line.text("output"));
  test.args = arguments(line);
  if (line.has("full")) test.scale.full = line.number("full", 0, kMostPoints);
  if (line.has("table")) test.scale.table = read_table(line, test.scale.full);
  if (line.has("steps")) test.steps = line.number("steps", 1, kMostPoints);
  if (line.has("rounding")) {
    test.rounding = line.choice<Rounding>(
        "rounding", {{"leniently", Rounding::Leniently}, {"nearest", Rounding::Nearest}, {"nearest-even", Rounding::NearestEven}});
  }
  test.at = read_positions(line);
  plan.tests.push_back(std::move(test));
}

inline void read_program_line(PlanLine& line, JobFiles& files, RunPlan& plan) {
  plan.program = line.text("file");
  if (!plan.compiles_program()) files.get(plan.program);
  for (const std::string& path : line.all("sees")) plan.sees.push_back(seen_path(line, path));
  if (!line.has("interpreter")) {
    if (line.has("static")) plan.is_static = line.number("static", 0, 1) == 1;
    if (!plan.is_static && plan.sees.empty()) line.bad("needs `sees`: a program that is linked dynamically finds no libraries");
    return;
  }
  if (plan.compiles_program()) line.bad("names an interpreter, whose programs are not compiled");
  plan.is_static = false;
  plan.interpreter = seen_path(line, line.text("interpreter"));
  plan.interpreter_args = line.all("argv");
  plan.environment = line.all("env");
  if (line.has("start")) plan.warm = line.choice<bool>("start", {{"cold", false}, {"warm", true}});
  if (line.has("with")) {
    plan.interpreter_file = line.text("with");
    files.get(plan.interpreter_file);
  }
}

inline void read_rule(PlanLine& line, RunPlan& plan) {
  std::string rule = line.text("rule");
  if (!comparators::parse_spec(rule, plan.rule)) line.bad("has an unknown rule: " + rule);
}

inline void read_checker_line(PlanLine& line, JobFiles& files, RunPlan& plan) {
  plan.has_checker = true;
  Protocol protocol = plan.checker.protocol = line.choice("protocol", kProtocols);
  if (line.has("return_bytes")) plan.return_bytes = line.number("return_bytes", 0, kMaxBytes);
  switch (protocol) {
    case Protocol::None: return;
    case Protocol::Compare: return read_rule(line, plan);
    case Protocol::WhiteDiff: plan.rule.rule = comparators::Rule::WhiteDiff; break;
    case Protocol::DefaultValidator: plan.rule.rule = comparators::Rule::DefaultValidator; break;
    case Protocol::Cms:
    case Protocol::Testlib:
    case Protocol::Kattis: break;
  }
  read_judge_limits(line, plan.checker);
  if (!plan.compares()) plan.checker.program = executable(files, line.text("file"));
  if (line.has("passes")) {
    plan.passes = line.number("passes", 1, 1000);
    if (!rules_of(protocol).may_have_passes) line.bad(format("has `passes`, which are not for the protocol %s", name_of(protocol)));
  }
  if (protocol == Protocol::WhiteDiff && !plan.checker.args.empty()) line.bad("takes no `args`");
}

// (The task type Interactive comes from the protocol in the manager's line, in `finish_run_plan`.)
inline void read_task_line(PlanLine& line, RunPlan& plan) {
  plan.task = line.choice<TaskType>("kind", {{"batch", TaskType::Batch},
                                             {"communication", TaskType::Communication},
                                             {"two-steps", TaskType::TwoSteps}});
  switch (plan.task) {
    case TaskType::Batch:
      plan.input_file = plain_name(line, "input_file");
      plan.output_file = plain_name(line, "output_file");
      if (!plan.input_file.empty() && plan.input_file == plan.output_file) line.bad("has one name for input and output");
      return;
    case TaskType::Communication:
    case TaskType::Interactive:
      plan.fifo_use = line.choice<FifoUse>("io", {{"std_io", FifoUse::Standard}, {"fifo_io", FifoUse::Paths}});
      return;
    case TaskType::TwoSteps: return;
  }
}

// What a task of the plan's type needs, and what it cannot have.
inline void check_task(const RunPlan& plan) {
  switch (plan.task) {
    case TaskType::Batch:
      if (plan.processes != 1) plan_fault("a batch task has one process");
      if (plan.passes > 1 && plan.names_files()) plan_fault("passes are for programs that read stdin and print to stdout");
      return;
    case TaskType::TwoSteps:
      if (plan.processes != 2) plan_fault("a two-step task has two processes");
      break;
    case TaskType::Interactive:
      if (plan.processes != 1 || plan.fifo_use == FifoUse::Paths) plan_fault("an interactor talks to one process, by std_io");
      if (plan.has_checker && !rules_of(plan.manager.protocol).before_checker) {
        plan_fault("a %s interactor cannot be followed by a checker", name_of(plan.manager.protocol));
      }
      break;
    case TaskType::Communication: break;
  }
  if (rules_of(plan.checker.protocol).batch_only) plan_fault("the protocol %s is for batch tasks only", name_of(plan.checker.protocol));
  if (plan.passes > 1) plan_fault("passes are for batch tasks");
  if (plan.warm) plan_fault("a warm interpreter is for batch tasks");
  for (const Test& test : plan.tests) {
    if (test.output >= 0) plan_fault("test %ld has an output, which is for batch tasks", test.id);
  }
}

inline void read_run_line(PlanLine& line, JobFiles& files, RunPlan& plan) {
  if (line.name == "compile") {
    if (!plan.program.empty()) line.bad("stands after `program`");
    plan.build.plan = line.text("plan");
    plan.build.max_ms = line.number("max_ms", 1, kMaxMs);
  } else if (line.name == "rest") {
    plan.build.has_rest = true;
    plan.build.rest = read_positions(line);
  } else if (line.name == "program") {
    read_program_line(line, files, plan);
  } else if (line.name == "limits") {
    plan.cpu_ms = line.number("cpu_ms", 1, kMaxMs);
    plan.memory_bytes = line.number("memory_bytes", 1, kMaxBytes);
    plan.output_bytes = line.number("output_bytes", 0, kMaxBytes);
    plan.stderr_bytes = line.number("stderr_bytes", 0, kMaxBytes);
    plan.processes = line.number("processes", 1, kMaxProcesses);
    plan.threads = line.number("threads", 1, 100'000);
    if (line.has("prefault_bytes")) plan.prefault_bytes = line.number("prefault_bytes", 0, kMaxBytes);
    if (line.has("job_wall_ms")) plan.job_wall_ms = line.number("job_wall_ms", 0, kMaxMs);
  } else if (line.name == "task") {
    read_task_line(line, plan);
  } else if (line.name == "manager") {
    read_judge_limits(line, plan.manager);
    plan.manager.program = executable(files, line.text("file"));
    if (line.has("protocol")) {
      plan.manager.protocol = line.choice("protocol", kProtocols);
      bool has_program = rules_of(plan.manager.protocol).judged_by == JudgedBy::Program;
      if (!has_program) line.bad(format("has a protocol without a program: %s", name_of(plan.manager.protocol)));
    }
  } else if (line.name == "checker") {
    read_checker_line(line, files, plan);
  } else if (line.name == "order") {
    plan.needed_only = line.choice<bool>("run", {{"all", false}, {"needed", true}});
    if (line.has("enough_ms")) plan.enough_ms = line.number("enough_ms", 1, kMaxMs);
  } else if (line.name == "test") {
    read_test_line(line, files, plan);
  } else {
    line.bad("is unknown in run mode");
  }
}

constexpr const char* kRepeated[] = {"test", "put", "step", "artifact", "sees"};  // lines that may occur more than once

// Notes the name of a line after the opening ones.
inline void add_name(const PlanLine& line, std::set<std::string>& names) {
  bool repeats = std::find(std::begin(kRepeated), std::end(kRepeated), line.name) != std::end(kRepeated);
  if (!names.insert(line.name).second && !repeats) line.bad("occurs twice");
}

inline void require_line(const std::set<std::string>& names, const char* name) {
  if (names.count(name) == 0) plan_fault("the plan has no line `%s`", name);
}

// The text of a plan between the title and the line `end`.
inline std::string plan_body(JobFiles& files, const std::string& file) {
  std::string text = head(files.get_plan(file), 64 << 20);
  if (text.empty() || text.back() != '\n') plan_fault("the plan is cut off");
  text.pop_back();
  std::string title = "ioi-eval-runner " + std::to_string(kVersion) + "\n";
  if (text.compare(0, title.size(), title) != 0) {
    plan_fault("the plan is not of version %d: %s", kVersion, text.substr(0, text.find('\n')).c_str());
  }
  if (text.size() < 4 || text.compare(text.size() - 4, 4, "\nend") != 0) plan_fault("the plan is cut off");
  text.resize(text.size() - 3);
  return text.substr(title.size());
}

// `position`: 0, 1 or 2.
inline void read_opening_line(PlanLine& line, size_t position, Plan& plan, std::string& nonce) {
  static const char* const names[] = {"nonce", "isolation", "mode"};
  if (line.name != names[position]) line.bad(format("stands where `%s` must stand", names[position]));
  if (position == 0) {
    std::string digits = line.bare();
    if (digits.size() != 32 || digits.find_first_not_of("0123456789abcdef") != std::string::npos) line.bad("is malformed");
    nonce = digits;
  } else if (position == 1) {
    plan.least = line.choice("least", kIsolations);
  } else {
    std::string mode = line.bare();
    if (mode != "compile" && mode != "run") line.bad("is unknown: " + mode);
    mode == "compile" ? void(plan.compile.emplace()) : void(plan.run.emplace());
  }
}

// Completes a run plan, and checks what its lines need of each other.
inline void finish_run_plan(RunPlan& plan, const std::set<std::string>& names, JobFiles& files) {
  for (Test& test : plan.tests) {
    if (test.program < 0 && !plan.interpreter.empty()) test.program = files.get(plan.program);
  }
  bool runs = std::any_of(plan.tests.begin(), plan.tests.end(), [](const Test& test) { return test.output < 0; });
  if (runs || plan.tests.empty()) require_line(names, "program");
  for (const char* name : {"task", "order"}) require_line(names, name);
  require_line(names, plan.has_manager() ? "manager" : "checker");
  if (!plan.has_manager() && names.count("manager") > 0) plan_fault("a task of this type has no manager");
  if (!plan.compiles_program() && plan.build.has_rest) plan_fault("the line `rest` is for programs that the job compiles");
  if (plan.has_manager() && rules_of(plan.manager.protocol).can_interact) plan.task = TaskType::Interactive;
  check_task(plan);
  for (const Test& test : plan.tests) {
    if (test.program >= 0 && plan.interpreter.empty()) plan_fault("test %ld has a program without an interpreter", test.id);
    if (plan.compares() && test.answer < 0) plan_fault("test %ld has no answer to compare with", test.id);
  }
}

// Reads the plan in a file strictly: a plan with anything unknown is not run. `nonce` is set first, because the message about a
// faulty plan contains it.
inline Plan read_plan_of(JobFiles& files, const std::string& file, std::string& nonce) {
  Plan plan;
  std::set<std::string> names;
  std::vector<std::string> lines = split(plan_body(files, file), '\n');
  lines.pop_back();  // after the last line's end
  for (size_t i = 0; i < lines.size(); i++) {
    PlanLine line(static_cast<int>(i) + 2, lines[i]);  // the title is line 1
    if (i < 3) {
      read_opening_line(line, i, plan, nonce);
    } else {
      add_name(line, names);
      plan.run ? read_run_line(line, files, *plan.run) : read_compile_line(line, files, *plan.compile);
    }
    line.finish();
  }
  require_line(names, "limits");
  if (plan.run) finish_run_plan(*plan.run, names, files);
  return plan;
}

// The job's plan, with the compile plan that it names.
inline Plan read_plan(JobFiles& files, std::string& nonce) {
  Plan plan = read_plan_of(files, "plan", nonce);
  if (!plan.run || !plan.run->compiles_program()) return plan;
  const char* file = plan.run->build.plan.c_str();
  std::string nonce_of_steps;
  Plan steps = read_plan_of(files, file, nonce_of_steps);
  if (nonce_of_steps != nonce) plan_fault("%s has another nonce", file);
  const CompileAction* artifact = steps.compile ? steps.compile->only_artifact() : nullptr;
  if (artifact == nullptr || steps.compile->sees_system || artifact->file != plan.run->program) {
    plan_fault("%s is not a compile plan without `system` whose only artifact is the program", file);
  }
  if (steps.least != plan.least) plan_fault("%s accepts another isolation", file);
  plan.compile = std::move(steps.compile);
  return plan;
}

}  // namespace runner
