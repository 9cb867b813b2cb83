// What is printed: lines and faults.
#pragma once

#include "json.h"
#include "system.h"
#include "verdicts.h"

namespace runner {

inline int64_t now_us() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000LL + t.tv_nsec / 1000;
}

__attribute__((format(printf, 1, 0))) inline std::string vformat(const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  std::string text(vsnprintf(nullptr, 0, format, args) + 1, '\0');  // it writes a last zero too
  vsnprintf(&text[0], text.size(), format, again);
  va_end(again);
  text.pop_back();
  return text;
}

__attribute__((format(printf, 1, 2))) inline std::string format(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = vformat(format, args);
  va_end(args);
  return text;
}

using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

// What a byte adds to a CRC-32, by how many bytes follow it in a block of eight.
constexpr CrcTables crc_tables() {
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; bit++) rest = (rest >> 1) ^ ((rest & 1) * 0xedb88320u);
    tables[0][byte] = rest;
  }
  for (size_t after = 1; after < 8; after++) {
    for (size_t byte = 0; byte < 256; byte++) {
      uint32_t rest = tables[after - 1][byte];
      tables[after][byte] = tables[0][rest & 255] ^ (rest >> 8);
    }
  }
  return tables;
}

// A CRC-32, as zlib computes it: jobs and answers have megabytes, for which the checksums of TCP are too short.
class Checksum {
 public:
  void add(const char* data, size_t size) {
    static constexpr CrcTables kTables = crc_tables();
    for (; size >= 8; data += 8, size -= 8) {
      uint64_t block;
      memcpy(&block, data, 8);
      block ^= rest_;
      rest_ = 0;
      for (size_t i = 0; i < 8; i++) rest_ ^= kTables[7 - i][block >> (8 * i) & 255];
    }
    for (; size > 0; data++, size--) rest_ = kTables[0][(rest_ ^ static_cast<unsigned char>(*data)) & 255] ^ (rest_ >> 8);
  }
  std::string text() const { return format("%08x", ~rest_); }

 private:
  uint32_t rest_ = ~0u;
};

inline bool write_all(int fd, const char* data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// The reader has closed its end, so nothing can be reported. `main` catches it; destructors clean up, as after a fault.
struct ReaderGone {};

inline void print(const std::string& text) {
  if (!write_all(STDOUT_FILENO, text.data(), text.size())) throw ReaderGone();
}

// The lines of a job: the plan's secret number, which the last of them repeats, how many were printed, and their checksum.
struct Lines {
  std::string nonce;
  int printed = 0;
  Checksum sum;

  void print(const std::string& text) {
    sum.add(text.data(), text.size());
    runner::print(text);
  }

  // Prints what is left of a line.
  void end_line(Json& line) {
    print(line.take() + "\n");
    printed++;
  }
};

// Our failure: the job has no result. `main` catches it and prints it; destructors end the processes.
struct Fault {
  FaultKind kind;
  std::string explanation;
};

[[noreturn]] inline void fault(FaultKind kind, const std::string& explanation) { throw Fault{kind, explanation}; }

[[noreturn]] __attribute__((format(printf, 1, 2))) inline void plan_fault(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fault(FaultKind::Plan, vformat(format, args));
}

// The fault for a system call of ours that failed, though it cannot fail on a healthy machine.
[[noreturn]] __attribute__((format(printf, 1, 2))) inline void system_fault(const char* format, ...) {
  int error = errno;
  va_list args;
  va_start(args, format);
  fault(FaultKind::System, vformat(format, args) + ": " + strerror(error));
}

}  // namespace runner
