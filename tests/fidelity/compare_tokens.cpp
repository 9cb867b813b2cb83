// Runs the runner's comparison of tokens on many pairs of texts, and prints one character for each pair.
//
// stdin: for each pair the number of flags, the flags, the output, the answer. Numbers have 32 bits; each text follows
// its length.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "../../graders/runner/comparators.h"
#include "../../graders/runner/descriptors.h"

using namespace runner;

namespace {

bool read_exactly(void* to, size_t size) { return fread(to, 1, size, stdin) == size; }

std::string read_string() {
  uint32_t size = 0;
  if (!read_exactly(&size, sizeof size)) exit(2);
  std::string text(size, '\0');
  if (size > 0 && !read_exactly(&text[0], size)) exit(2);
  return text;
}

Fd file_of(const std::string& text) {
  Fd fd = memory_file("text");
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) exit(2);
  return fd;
}

}  // namespace

int main() {
  for (uint32_t count = 0; read_exactly(&count, sizeof count);) {
    std::vector<std::string> flags;
    for (uint32_t i = 0; i < count; i++) flags.push_back(read_string());
    comparators::Spec spec;
    spec.rule = comparators::Rule::DefaultValidator;
    if (!comparators::read_flags(flags, spec.flags).empty()) {
      putchar('?');
      read_string();
      read_string();
      continue;
    }
    Fd output = file_of(read_string()), answer = file_of(read_string());
    putchar(comparators::compare(spec, output.get(), answer.get()).right ? '1' : '0');
  }
}
