// Passes: a Kattis validator that accepts an output may request another run of the program, on an input that it wrote.
#pragma once

#include "descriptors.h"
#include "job.h"
#include "judges.h"
#include "lines.h"
#include "plan.h"
#include "process_directories.h"
#include "protocols.h"
#include "system.h"

namespace runner {

// Keeps the files that one pass of a test leaves for the next: an input, and the validator's feedback directory.
class Passes {
 public:
  explicit Passes(const Job& job) : job_(job) {}
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;
  ~Passes() {
    if (!feedback_.empty()) remove_tree(AT_FDCWD, feedback_.c_str());
  }

  // The input of this pass: the test's own on the first. (Source: problemtools and DOMjudge, whose validators get it too.)
  int input(const Test& test) const { return input_ ? input_.get() : test.input; }

  bool wants_another() const { return wants_another_; }

  // A pass begins. It asks for another one only if its own output is judged and accepted.
  void begin() { wants_another_ = false; }

  // Gives the validator the feedback directory of the pass before.
  void begin_judging(Judge& validator) {
    done_++;
    validator.kept_feedback = std::move(feedback_);
    feedback_.clear();
  }

  // Called after the validator has ended with an exit code of its protocol. Returns an error if it broke a rule, else nothing.
  // Source: Kattis problem package format 2025-09, "Multi-pass validation".
  std::string conclude(const Judge& validator) {
    std::string feedback = validator.directory + "/feedback", error;
    Fd input = open_left(feedback, "nextpass.in", error);
    if (!input || !error.empty()) return error;
    bool accepted = has(rules_of(job_.plan.checker.protocol).accepts, validator.process.code());
    if (!accepted) return "it asks for another pass of an output that it rejects";
    if (done_ >= job_.plan.passes) return format("it asks for more than %ld passes", job_.plan.passes);
    std::string kept = job_.machine.base + "/" + random_name();
    if (unlink((feedback + "/nextpass.in").c_str()) != 0 || rename(feedback.c_str(), kept.c_str()) != 0) {
      if (errno != EACCES) system_fault("keep a feedback directory");
      return "it forbids to change its feedback directory";
    }
    feedback_ = kept;
    input_ = std::move(input);
    wants_another_ = true;
    return "";
  }

 private:
  const Job& job_;
  Fd input_;
  std::string feedback_;
  long done_ = 0;
  bool wants_another_ = false;
};

}  // namespace runner
