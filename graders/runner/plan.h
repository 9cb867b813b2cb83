// The plan: limits, programs, task and tests, as the runner uses them.
#pragma once

#include "comparators.h"
#include "descriptors.h"
#include "protocols.h"
#include "rules.h"
#include "verdicts.h"

namespace runner {

// Task types: which processes talk to each other, and how. Source: https://cms.readthedocs.io, "Task types".
//
// Two types differ in the fields of this table, and in cases of `switch`es without `default` in the code that runs a test. If a
// type is forgotten in one of these places, the code does not compile (the tests compile it with -Werror=switch).

enum class TaskType {
  Batch,          // one process; its input is the test's, its output is judged. (A test may come with an output instead.)
  TwoSteps,       // the second process reads what the first writes to a FIFO; the second's output is judged
  Communication,  // a manager talks to one or more processes
  Interactive,    // a manager that is an interactor: its stdin and stdout are those of one process
};

struct TaskRules {
  bool has_manager = false;   // a manager talks to the processes
  bool interactive = false;   // it is an interactor, with the arguments of a checker
  bool limits_each = false;   // each process has the whole CPU limit; else all of them together
  bool passes_paths = false;  // processes get paths of FIFOs as arguments, whatever the plan's `io`
};

constexpr TaskRules rules_of(TaskType type) {
  switch (type) {
    case TaskType::Batch: return {};
    case TaskType::TwoSteps: return {/*has_manager=*/false, /*interactive=*/false, /*limits_each=*/true, /*passes_paths=*/true};
    case TaskType::Communication: return {/*has_manager=*/true};
    case TaskType::Interactive: return {/*has_manager=*/true, /*interactive=*/true};
  }
  __builtin_unreachable();
}

// How a process gets the FIFOs to and from its manager: opened as stdin and stdout, or as paths.
enum class FifoUse { Standard, Paths };

// A judge program (checker or manager), and what it may use; or, without a program, who judges instead of a checker.
struct JudgeSpec {
  Fd program;
  int64_t cpu_ms = 0, wall_ms = 0, memory_bytes = 0;
  std::vector<std::string> args;
  Protocol protocol = Protocol::Cms;  // how it reports a score
};

// How a score is rounded to a step: down; down, but a score just below a step counts as that step; to the nearest step, a half up
// or to the even step.
enum class Rounding { Down, Leniently, Nearest, NearestEven };

struct Test {
  long id = 0;
  int input = -1, answer = -1, program = -1;  // descriptors
  int output = -1;                            // the output that was submitted instead of a program
  std::vector<std::pair<int, int>> at;        // (group, position)
  std::vector<std::string> args;              // come after those of the checker; without one, of the interactor
  Scale scale = {};                           // of a judge program's scores
  int64_t steps = 0;                          // a score is rounded to a multiple of 1 / steps
  Rounding rounding = Rounding::Down;         // how
};

// What a compile plan does.
struct CompileAction {
  enum class Kind { Put, Step, Artifact } kind;
  std::string path = {};               // of a Put or an Artifact, in the work directory
  std::string file = {};               // of a Put: of the job. Of an Artifact: the file that takes it, or empty.
  std::string name = {};               // of an Artifact, in its line
  std::vector<std::string> argv = {};  // of a Step
};

struct CompilePlan {
  int64_t cpu_ms = 0, wall_ms = 0, memory_bytes = 0, output_bytes = 0, file_bytes = 0;
  long processes = 1;
  std::vector<CompileAction> actions;
  std::vector<std::string> sees;  // of this machine
  bool sees_system = false;       // steps also see the system's programs and libraries
  std::string precompiled;        // the C++ standard whose header steps use, if the worker has precompiled it; empty: none
  std::string precompiled_as;     // the link to that header, in the work directory

  // The artifact of a plan that has one; null if it has none, or several.
  const CompileAction* only_artifact() const {
    const CompileAction* found = nullptr;
    for (const CompileAction& action : actions) {
      if (action.kind == CompileAction::Kind::Artifact && std::exchange(found, &action) != nullptr) return nullptr;
    }
    return found;
  }
};

// How a run plan's program is compiled in the same job, and the tests for which it is needed after the job.
struct Build {
  std::string plan;                       // the file with the compile plan; empty: the program is a file of the job
  int64_t max_ms = 0;                     // if it takes more wall clock than this, no test is run
  bool has_rest = false;                  // whether there are tests that other jobs may run
  std::vector<std::pair<int, int>> rest;  // for each of their groups, the first position; empty: they are needed always
};

struct RunPlan {
  int64_t cpu_ms = 0, memory_bytes = 0, output_bytes = 0, stderr_bytes = 0;
  long processes = 1, threads = 1;
  Build build;
  std::string program;
  bool is_static = true;
  std::string interpreter;  // executes the program's file; empty: the kernel does
  std::vector<std::string> interpreter_args, environment;
  std::vector<std::string> sees;  // of this machine
  std::string interpreter_file;   // a file for the interpreter
  bool warm = false;              // it forks for each test
  TaskType task = TaskType::Batch;
  FifoUse fifo_use = FifoUse::Standard;  // where there is a manager
  std::string input_file, output_file;  // files that the program reads and writes; empty: stdin, stdout
  bool has_checker = false;
  JudgeSpec manager, checker;
  comparators::Spec rule;      // by which the runner compares
  int64_t return_bytes = 0;    // of each output
  int64_t prefault_bytes = 0;  // memory that the runner touches first, so that a virtual machine gets it from its host
  int64_t job_wall_ms = -1;    // how much wall clock the sandbox allows for all tests; -1: no bound
  long passes = 1;             // most runs of a program on one test
  bool needed_only = false;
  int64_t enough_ms = 0;  // after this much wall clock no further test is started; 0: no bound
  std::vector<Test> tests;

  bool has_manager() const { return rules_of(task).has_manager; }

  // Whether processes get paths of FIFOs as arguments.
  bool shows_fifos() const { return rules_of(task).passes_paths || (has_manager() && fifo_use == FifoUse::Paths); }

  // Whether the client judges the output.
  bool left_to_client() const { return rules_of(checker.protocol).judged_by == JudgedBy::Client; }

  // Whether the runner itself compares the output with the test's answer.
  bool compares() const { return rules_of(checker.protocol).judged_by == JudgedBy::Runner; }

  // A process whose page faults are slow may use more CPU time than others before it is stopped. This is how much more at most: the
  // cost of as many pages as fit into its memory.
  int64_t page_margin_us() const {
    return std::min(memory_bytes / getpagesize() * kPageUs, max_for_pages_us(cpu_ms));
  }

  // How much memory the runner allocates and frees before the first test: no more than a program may have.
  int64_t bytes_to_prefault() const { return std::min(prefault_bytes, memory_bytes); }

  // After this much wall clock of a test, page faults give its program no further time: if a test took more than its share of
  // `job_wall_ms`, the job could reach the sandbox's limit, and no line would arrive.
  int64_t pages_stop_us() const {
    if (job_wall_ms < 0) return INT64_MAX;
    int64_t prefault_ms = bytes_to_prefault() / kPageBytes * kPageUs / 1000;
    return std::max<int64_t>(1, (job_wall_ms - prefault_ms) / std::max<int64_t>(1, static_cast<int64_t>(tests.size()))) * 1000;
  }

  bool names_files() const { return !input_file.empty() || !output_file.empty(); }

  // Whether the job compiles its program.
  bool compiles_program() const { return !build.plan.empty(); }

  // Tests whose output was submitted need no program.
  bool has_program() const { return !program.empty(); }
};

// The plan of a job: a compile plan, a run plan, or both if the job compiles the program that it runs.
struct Plan {
  Isolation least = Isolation::Full;
  std::optional<CompilePlan> compile;
  std::optional<RunPlan> run;
};

}  // namespace runner
