// The plan: read, checked, and its files opened.
#pragma once

#include "comparators.h"
#include "descriptors.h"

namespace {

enum class Isolation { None, Reduced, Full };
enum class Protocol { Cms, Testlib, Kattis, WhiteDiff, Tokens, Compare, None };

const char* name_of(Isolation level) {
  return level == Isolation::Full ? "full" : level == Isolation::Reduced ? "reduced" : "none";
}

// A program of the judge: what it is, and what it may use.
struct JudgeSpec {
  Fd program;
  int64_t cpu_ms = 0, wall_ms = 0, memory_bytes = 0;
  std::vector<std::string> args;
  Protocol protocol = Protocol::Cms;  // by which it tells a score
};

struct Test {
  long id = 0;
  int input = -1, answer = -1, program = -1;   // descriptors
  std::vector<std::pair<int, int>> at;         // (group, position)
  std::vector<std::string> args;               // of the checker, after its own
  int64_t full = 1;                            // what full marks are in the units of a score file
  int64_t steps = 0;                           // a score is rounded down to a multiple of 1 / steps
};

struct CompileAction {
  enum class Kind { See, Step, Artifact } kind;
  std::vector<std::string> words;  // See: file, path. Step: argv. Artifact: path, name.
};

struct Plan {
  Isolation least = Isolation::Full;
  bool compile = false;
  // both modes, where they apply
  int64_t cpu_ms = 0, wall_ms = 0, memory_bytes = 0, output_bytes = 0, stderr_bytes = 0, file_bytes = 0;
  long processes = 1, threads = 1;
  std::vector<CompileAction> actions;
  std::string program;
  bool is_static = true;
  std::string interpreter;  // what executes the program's file, if not the kernel
  std::vector<std::string> interpreter_args, environment, sees;
  std::string with;         // a file for the interpreter
  bool warm = false;        // it forks for each test
  bool communication = false, fifo_io = false;
  bool has_manager = false, has_checker = false;
  JudgeSpec manager, checker;
  Protocol protocol = Protocol::Cms;
  comparators::Spec rule;
  int64_t return_bytes = 0;  // of each output
  bool needed_only = false;
  std::vector<Test> tests;

  // The manager is an interactor: its stdin and stdout are the program's.
  bool interactive() const { return communication && manager.protocol != Protocol::Cms; }

  // The runner itself compares, with the test's answer.
  bool compares() const { return protocol >= Protocol::WhiteDiff && protocol <= Protocol::Compare; }
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decode(const std::string& word) {
  std::string text;
  if (word == "%") return text;
  for (size_t i = 0; i < word.size(); i++) {
    if (word[i] != '%') {
      text += word[i];
      continue;
    }
    int high = i + 2 < word.size() ? hex_digit(word[i + 1]) : -1;
    int low = i + 2 < word.size() ? hex_digit(word[i + 2]) : -1;
    if (high < 0 || low < 0) plan_fault("a word is not encoded as it must be: %s", word.c_str());
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// One line of a plan. Every key is asked for; what was not asked for is unknown.
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

  [[noreturn]] void bad(const std::string& words) const {
    plan_fault("line %d (%s) %s", number_, name.c_str(), words.c_str());
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

// The job's files, by their names: descriptors that are inherited, or opened in the working directory and unlinked.
class JobFiles {
 public:
  // `plan=12,t0.in=13,…`: names are encoded as words, as in a plan.
  void inherit(const std::string& table) {
    for (const std::string& entry : split(table, ',')) {
      size_t equals = entry.rfind('=');
      if (equals == std::string::npos) plan_fault("--fds: not name=number: %s", entry.c_str());
      char* end = nullptr;
      long fd = strtol(entry.c_str() + equals + 1, &end, 10);
      if (*end != '\0' || fd < 3 || fd > INT_MAX || fcntl(static_cast<int>(fd), F_GETFD) < 0) {
        plan_fault("--fds: not an open descriptor: %s", entry.c_str());
      }
      // A memory file is on no path, so Landlock lets a contestant open it anew through /proc/self/fd: but not to write.
      if (fcntl(static_cast<int>(fd), 1034 /* F_GET_SEALS */) >= 0) fchmod(static_cast<int>(fd), 0555);
      entries_.emplace_back(decode(entry.substr(0, equals)), static_cast<int>(fd));
    }
  }

  void in_directory(const std::string& directory) {
    if (chdir(directory.c_str()) != 0) system_fault("--dir %s", directory.c_str());
    by_path_ = true;
  }

  void forget() { std::vector<std::pair<std::string, int>>().swap(entries_); }

  int get(const std::string& name) {
    for (const auto& [known, fd] : entries_) {
      if (known == name) return fd;
    }
    int fd = by_path_ ? open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd < 0) plan_fault("the job has no file %s", name.c_str());
    if (file_size(fd) < 0) plan_fault("%s is not a file", name.c_str());
    unlink(name.c_str());  // should this fail, then Landlock or the root directory still hides it from contestants
    entries_.emplace_back(name, fd);
    return fd;
  }

 private:
  std::vector<std::pair<std::string, int>> entries_;
  bool by_path_ = false;
};

JobFiles g_files;

// A file that may be executed: the job's own if it may, else a copy. Piston, for one, gives every file mode 644.
Fd executable(const std::string& name) {
  int original = g_files.get(name);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", original);
  if (access(path, X_OK) == 0) return Fd(reopen(original, O_RDONLY));
  Fd copy = memory_file(name.c_str());
  if (!copy_bytes(original, copy.get()) || fchmod(copy.get(), 0500) != 0) system_fault("copy %s", name.c_str());
  return Fd(reopen(copy.get(), O_RDONLY));
}

constexpr int64_t kMostMs = 86'400'000, kMostBytes = int64_t{1} << 46;

std::vector<std::string> arguments(PlanLine& line) {
  std::vector<std::string> args;
  if (!line.has("args")) return args;
  for (const std::string& word : split(line.text("args"), ',')) args.push_back(decode(word));
  return args;
}

JudgeSpec judge_spec(PlanLine& line, bool with_file) {
  JudgeSpec spec;
  if (with_file) spec.program = executable(line.text("file"));
  spec.cpu_ms = line.number("cpu_ms", 1, kMostMs);
  spec.wall_ms = line.number("wall_ms", 1, kMostMs);
  spec.memory_bytes = line.number("memory_bytes", 1, kMostBytes);
  spec.args = arguments(line);
  return spec;
}

std::string path_below(PlanLine& line, const char* key) {
  std::string path = line.text(key);
  bool leaves = path.empty() || path[0] == '/' || ("/" + path + "/").find("/../") != std::string::npos;
  if (leaves) line.bad("leaves the work directory: " + path);
  return path;
}

void read_compile_line(PlanLine& line, Plan& plan) {
  using Kind = CompileAction::Kind;
  if (line.name == "limits") {
    plan.cpu_ms = line.number("cpu_ms", 1, kMostMs);
    plan.wall_ms = line.number("wall_ms", 1, kMostMs);
    plan.memory_bytes = line.number("memory_bytes", 1, kMostBytes);
    plan.processes = line.number("processes", 1, 1'000'000);
    plan.output_bytes = line.number("output_bytes", 0, 1 << 30);
    plan.file_bytes = line.number("file_bytes", 1, kMostBytes);
  } else if (line.name == "see") {
    std::string file = line.text("file"), path = path_below(line, "as");
    g_files.get(file);
    plan.actions.push_back({Kind::See, {file, path}});
  } else if (line.name == "sees") {
    plan.sees.push_back(line.text("path"));
  } else if (line.name == "step") {
    std::vector<std::string> argv = line.all("argv");
    if (argv.empty() || argv[0].empty()) line.bad("needs `argv`");
    plan.actions.push_back({Kind::Step, argv});
  } else if (line.name == "artifact") {
    std::string path = path_below(line, "path");
    plan.actions.push_back({Kind::Artifact, {path, line.has("as") ? line.text("as") : path}});
  } else {
    line.bad("is unknown in compile mode");
  }
}

void read_test_line(PlanLine& line, Plan& plan) {
  Test test;
  test.id = line.number("id", 0, INT_MAX);
  test.input = g_files.get(line.text("input"));
  if (line.has("answer")) test.answer = g_files.get(line.text("answer"));
  if (line.has("program")) test.program = g_files.get(line.text("program"));
  test.args = arguments(line);
  if (line.has("full")) test.full = line.number("full", 1, 1'000'000'000);
  if (line.has("steps")) test.steps = line.number("steps", 1, 1'000'000'000);
  if (line.has("at")) {
    for (const std::string& place : split(line.text("at"), ',')) {
      std::vector<std::string> pair = split(place, ':');
      if (pair.size() != 2) line.bad("has a place that is not group:position: " + place);
      test.at.emplace_back(static_cast<int>(line.to_number(pair[0], 0, INT_MAX, "at")),
                           static_cast<int>(line.to_number(pair[1], 0, INT_MAX, "at")));
    }
  }
  plan.tests.push_back(std::move(test));
}

void read_program_line(PlanLine& line, Plan& plan) {
  plan.program = line.text("file");
  g_files.get(plan.program);
  if (!line.has("interpreter")) {
    if (line.has("static")) plan.is_static = line.number("static", 0, 1) == 1;
    return;
  }
  plan.is_static = false;
  plan.interpreter = line.text("interpreter");
  plan.interpreter_args = line.all("argv");
  plan.environment = line.all("env");
  plan.sees = line.all("sees");
  if (line.has("start")) plan.warm = line.choice<bool>("start", {{"cold", false}, {"warm", true}});
  if (line.has("with")) {
    plan.with = line.text("with");
    g_files.get(plan.with);
  }
  std::vector<std::string> paths = plan.sees;
  paths.push_back(plan.interpreter);
  for (const std::string& path : paths) {
    if (path[0] != '/' || (path + "/").find("/../") != std::string::npos) line.bad("has a path that is not absolute: " + path);
  }
}

void read_checker_line(PlanLine& line, Plan& plan) {
  plan.has_checker = true;
  plan.protocol = line.choice<Protocol>("protocol", {{"cms", Protocol::Cms},
                                                     {"testlib", Protocol::Testlib},
                                                     {"kattis", Protocol::Kattis},
                                                     {"white-diff", Protocol::WhiteDiff},
                                                     {"tokens", Protocol::Tokens},
                                                     {"compare", Protocol::Compare},
                                                     {"none", Protocol::None}});
  if (line.has("return_bytes")) plan.return_bytes = line.number("return_bytes", 0, kMostBytes);
  if (plan.protocol == Protocol::None) return;
  if (plan.protocol == Protocol::Compare) {
    std::string rule = line.text("rule");
    if (!comparators::parse_spec(rule, plan.rule)) line.bad("has an unknown rule: " + rule);
    return;
  }
  plan.checker = judge_spec(line, !plan.compares());
  plan.checker.protocol = plan.protocol;
  if (plan.protocol == Protocol::WhiteDiff && !plan.checker.args.empty()) line.bad("takes no `args`");
}

void read_run_line(PlanLine& line, Plan& plan) {
  if (line.name == "program") {
    read_program_line(line, plan);
  } else if (line.name == "limits") {
    plan.cpu_ms = line.number("cpu_ms", 1, kMostMs);
    plan.memory_bytes = line.number("memory_bytes", 1, kMostBytes);
    plan.output_bytes = line.number("output_bytes", 0, kMostBytes);
    plan.stderr_bytes = line.number("stderr_bytes", 0, kMostBytes);
    plan.processes = line.number("processes", 1, 64);
    plan.threads = line.number("threads", 1, 100'000);
  } else if (line.name == "task") {
    plan.communication = line.choice<bool>("kind", {{"batch", false}, {"communication", true}});
    if (plan.communication) plan.fifo_io = line.choice<bool>("io", {{"std_io", false}, {"fifo_io", true}});
  } else if (line.name == "manager") {
    plan.has_manager = true;
    plan.manager = judge_spec(line, true);
    if (line.has("protocol")) {
      plan.manager.protocol = line.choice<Protocol>(
          "protocol", {{"cms", Protocol::Cms}, {"testlib", Protocol::Testlib}, {"kattis", Protocol::Kattis}});
    }
  } else if (line.name == "checker") {
    read_checker_line(line, plan);
  } else if (line.name == "order") {
    plan.needed_only = line.choice<bool>("run", {{"all", false}, {"needed", true}});
  } else if (line.name == "test") {
    read_test_line(line, plan);
  } else {
    line.bad("is unknown in run mode");
  }
}

// Reads the plan strictly: whatever we do not understand, we do not run.
Plan read_plan() {
  Plan plan;
  int fd = g_files.get("plan");
  std::string text = head(fd, 64 << 20);
  if (text.empty() || text.back() != '\n') plan_fault("the plan is cut off");
  text.pop_back();
  std::string title = "ioi-eval-runner " + std::to_string(kVersion);
  if (text.compare(0, title.size() + 1, title + "\n") != 0) {
    plan_fault("the plan is not of version %d: %s", kVersion, text.substr(0, text.find('\n')).c_str());
  }
  if (text.size() < 4 || text.compare(text.size() - 4, 4, "\nend") != 0) plan_fault("the plan is cut off");
  text.resize(text.size() - 3);
  static const char* const opening[] = {"nonce", "isolation", "mode"};
  std::vector<std::string> seen;
  size_t start = title.size() + 1;
  for (int i = 1; start < text.size(); i++) {
    size_t end = text.find('\n', start);
    PlanLine line(i + 1, text.substr(start, end - start));
    start = end + 1;
    if (i <= 3 && line.name != opening[i - 1]) line.bad(format("stands where `%s` must stand", opening[i - 1]));
    if (i == 1) {
      std::string nonce = line.bare();
      if (nonce.size() != 32 || nonce.find_first_not_of("0123456789abcdef") != std::string::npos) line.bad("is malformed");
      g_nonce = nonce;
    } else if (i == 2) {
      plan.least = line.choice<Isolation>(
          "least", {{"full", Isolation::Full}, {"reduced", Isolation::Reduced}, {"none", Isolation::None}});
    } else if (i == 3) {
      std::string mode = line.bare();
      if (mode != "compile" && mode != "run") line.bad("is unknown: " + mode);
      plan.compile = mode == "compile";
    } else {
      bool repeats = line.name == "test" || line.name == "see" || line.name == "step" || line.name == "artifact" || line.name == "sees";
      if (!repeats && std::find(seen.begin(), seen.end(), line.name) != seen.end()) line.bad("stands twice");
      if (!repeats || seen.empty() || seen.back() != line.name) seen.push_back(line.name);
      plan.compile ? read_compile_line(line, plan) : read_run_line(line, plan);
    }
    line.finish();
  }
  auto needs = [&](const char* name) {
    if (std::find(seen.begin(), seen.end(), name) == seen.end()) plan_fault("the plan has no line `%s`", name);
  };
  needs("limits");
  if (plan.compile) return plan;
  for (const char* name : {"program", "task", "order"}) needs(name);
  needs(plan.communication ? "manager" : "checker");
  if (!plan.communication && plan.has_manager) plan_fault("a batch task has no manager");
  if (!plan.communication && plan.processes != 1) plan_fault("a batch task has one process");
  if (plan.interactive() && (plan.processes != 1 || plan.fifo_io)) plan_fault("an interactor talks to one process, by std_io");
  if (plan.interactive() && plan.has_checker && plan.manager.protocol != Protocol::Testlib) {
    plan_fault("after an interactor of kattis comes no checker");
  }
  bool own_protocol = plan.protocol == Protocol::Compare || plan.protocol == Protocol::None;
  if (plan.communication && own_protocol) plan_fault("such a checker is for batch tasks");
  if (plan.communication && !plan.interpreter.empty()) plan_fault("an interpreter is for batch tasks");
  for (const Test& test : plan.tests) {
    if (test.program >= 0 && plan.interpreter.empty()) plan_fault("test %ld has a program without an interpreter", test.id);
    bool needs_answer = plan.has_checker && plan.compares();
    if (needs_answer && test.answer < 0) plan_fault("test %ld has no answer to compare with", test.id);
  }
  return plan;
}

}  // namespace
