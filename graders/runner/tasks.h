// Task types: which processes talk to each other, and how. Source: https://cms.readthedocs.io, "Task types".
//
// Every difference between two types is a case of a `switch` without `default`, here or in the code that runs a test. If a type
// is forgotten, the code does not compile (the tests compile it with -Werror=switch).
#pragma once

namespace runner {

enum class TaskType {
  Batch,          // one process; its input is the test's, its output is judged. (A test may come with an output instead.)
  TwoSteps,       // the second process reads what the first writes to a FIFO; the second's output is judged
  Communication,  // a manager talks to one or more processes
  Interactive,    // a manager that is an interactor: its stdin and stdout are those of one process
};

constexpr bool has_manager(TaskType type) {
  switch (type) {
    case TaskType::Batch:
    case TaskType::TwoSteps: return false;
    case TaskType::Communication:
    case TaskType::Interactive: return true;
  }
  return false;
}

// How a process gets the FIFOs to and from its manager: opened as stdin and stdout, or as paths.
enum class FifoUse { Standard, Paths };

}  // namespace runner
