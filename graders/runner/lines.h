// Texts: JSON, the words of plans, the lines that are printed, and faults.
#pragma once

#include "system.h"
#include "verdicts.h"

namespace runner {

// Text as a JSON string: bytes that are not printable ASCII become \u00XX, byte for byte.
inline std::string quoted(const std::string& text) {
  static const char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c >= 0x20 && c < 0x7f) {
      out += static_cast<char>(c);
    } else {
      out += "\\u00";
      out += hex[c >> 4];
      out += hex[c & 15];
    }
  }
  return out + '"';
}

inline std::string base64(const unsigned char* bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < size; i += 3) {
    size_t left = size - i;
    unsigned bits = static_cast<unsigned>(bytes[i]) << 16;
    if (left > 1) bits |= static_cast<unsigned>(bytes[i + 1]) << 8;
    if (left > 2) bits |= bytes[i + 2];
    text += digits[bits >> 18];
    text += digits[bits >> 12 & 63];
    text += left > 1 ? digits[bits >> 6 & 63] : '=';
    text += left > 2 ? digits[bits & 63] : '=';
  }
  return text;
}

// Writes a JSON text from beginning to end, with the commas that are needed.
class Json {
 public:
  Json& open(char bracket) {
    begin_item();
    text_ += bracket;
    needs_comma_ = false;
    return *this;
  }

  Json& close(char bracket) {
    text_ += bracket;
    needs_comma_ = true;
    return *this;
  }

  Json& key(const char* name) {
    begin_item();
    text_ += quoted(name) + ':';
    needs_comma_ = false;
    return *this;
  }

  Json& value(const std::string& text) { return raw(quoted(text)); }
  Json& value(const char* text) { return raw(text != nullptr ? quoted(text) : "null"); }
  Json& value(bool is) { return raw(is ? "true" : "false"); }
  template <typename Number, typename = std::enable_if_t<std::is_integral_v<Number>>>
  Json& value(Number number) {
    return raw(std::to_string(number));
  }

  template <typename Value>
  Json& member(const char* name, const Value& what) {
    return key(name).value(what);
  }

  // What was written since the last call, for callers that print a long text in pieces: `open_text`, then its
  // characters, then `close_text`.
  std::string take() { return std::exchange(text_, {}); }
  Json& open_text() {
    begin_item();
    text_ += '"';
    return *this;
  }
  Json& close_text() {
    text_ += '"';
    return *this;
  }

 private:
  void begin_item() {
    if (needs_comma_) text_ += ',';
    needs_comma_ = true;
  }
  Json& raw(const std::string& text) {
    begin_item();
    text_ += text;
    return *this;
  }

  std::string text_;
  bool needs_comma_ = false;
};

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

inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// `kind`: of the fault if the word is not encoded as it must be.
inline std::string decode(const std::string& word, FaultKind kind = FaultKind::Plan) {
  std::string text;
  if (word == "%") return text;
  for (size_t i = 0; i < word.size(); i++) {
    if (word[i] != '%') {
      text += word[i];
      continue;
    }
    int high = i + 2 < word.size() ? hex_digit(word[i + 1]) : -1;
    int low = i + 2 < word.size() ? hex_digit(word[i + 2]) : -1;
    if (high < 0 || low < 0) fault(kind, "a word is not encoded as it must be: " + word);
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

inline std::vector<std::string> split(const std::string& text, char separator) {
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

}  // namespace runner
