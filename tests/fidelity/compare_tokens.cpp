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

#include "../../graders/runner/bytes.h"
#include "../../graders/runner/descriptors.h"
#include "../../graders/runner/tokens.h"

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
  lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

}  // namespace

int main() {
  for (uint32_t count = 0; read_exactly(&count, sizeof count);) {
    std::vector<std::string> flags;
    for (uint32_t i = 0; i < count; i++) flags.push_back(read_string());
    TokenRules rules;
    if (!read_token_rules(flags, rules).empty()) {
      putchar('?');
      read_string();
      read_string();
      continue;
    }
    Fd output = file_of(read_string()), answer = file_of(read_string());
    Difference where;
    putchar(same_tokens(output.get(), answer.get(), rules, where) ? '1' : '0');
  }
}
