// Task types: which processes talk to each other, and how. Source: https://cms.readthedocs.io, "Task types".
//
// Two types differ in the fields of this table, and in cases of `switch`es without `default` in the code that runs a test. If a
// type is forgotten in one of these places, the code does not compile (the tests compile it with -Werror=switch).
#pragma once

namespace runner {

enum class TaskType {
  Batch,          // one process; its input is the test's, its output is judged. (A test may come with an output instead.)
  TwoSteps,       // the second process reads what the first writes to a FIFO; the second's output is judged
  Communication,  // a manager talks to one or more processes
  Interactive,    // a manager that is an interactor: its stdin and stdout are those of one process
};

struct TaskRules {
  bool has_manager;   // a manager talks to the processes
  bool interactive;   // it is an interactor, with the arguments of a checker
  bool limits_each;   // each process has the whole CPU limit; else all of them together
  bool passes_paths;  // processes get paths of FIFOs as arguments, whatever the plan's `io`
};

constexpr TaskRules rules_of(TaskType type) {
  switch (type) {
    case TaskType::Batch: return {false, false, false, false};
    case TaskType::TwoSteps: return {false, false, true, true};
    case TaskType::Communication: return {true, false, false, false};
    case TaskType::Interactive: return {true, true, false, false};
  }
  __builtin_unreachable();
}

// How a process gets the FIFOs to and from its manager: opened as stdin and stdout, or as paths.
enum class FifoUse { Standard, Paths };

}  // namespace runner
