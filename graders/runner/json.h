// Writes JSON, for the lines. `graders/schema/lines.json` defines the lines.
#pragma once

#include "system.h"

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

}  // namespace runner
