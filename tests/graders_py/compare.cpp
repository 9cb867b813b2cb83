// Runs comparators.h on cases from stdin. A case is a line `<spec> <bytes of output> <bytes of answer>`, followed by these
// bytes. It prints a line for each case: `right`, `wrong <message>` or `no such comparator`.

#include "../../graders/runner/comparators.h"

#include <stdio.h>
#include <sys/mman.h>

#include <iostream>

static int file_of(size_t size) {
  std::string bytes(size, '\0');
  std::cin.read(&bytes[0], static_cast<std::streamsize>(size));
  int fd = memfd_create("case", MFD_CLOEXEC);
  for (size_t done = 0; done < size;) {
    ssize_t n = write(fd, bytes.data() + done, size - done);
    if (n <= 0) _exit(3);
    done += static_cast<size_t>(n);
  }
  return fd;
}

int main() {
  std::ios::sync_with_stdio(false);
  std::string text;
  size_t output_size, answer_size;
  while (std::cin >> text >> output_size >> answer_size) {
    std::cin.get();
    int output = file_of(output_size), answer = file_of(answer_size);
    comparators::Spec spec;
    if (!comparators::parse_spec(text, spec)) {
      puts("no such comparator");
    } else {
      comparators::Comparison result = comparators::compare(spec, output, answer);
      if (result.error) return 4;
      printf(result.right ? "right\n" : "wrong %s\n", result.difference.c_str());
    }
    close(output);
    close(answer);
  }
}
