// Types of tasks: who talks to whom, over what. Source: https://cms.readthedocs.io, "Task types".
//
// What differs between two types is a case of a `switch` without `default`, here or where a test is run: a type that has been
// forgotten does not compile (-Werror=switch, as the tests compile it).
#pragma once

namespace runner {

enum class TaskType {
  Batch,          // one process; its input is the test's, its output is judged. (A test may come with an output instead.)
  TwoSteps,       // what the first process says into a FIFO the second hears, whose output is judged
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
