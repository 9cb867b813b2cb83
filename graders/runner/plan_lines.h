// The lines of a plan: how their words are written, and read.
#pragma once

#include "lines.h"
#include "system.h"

namespace runner {

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

// One line of a plan. The reader asks for every key that it knows; a key that it did not ask for is unknown.
class PlanLine {
 public:
  PlanLine(int number, const std::string& text) : number_(number) {
    std::vector<std::string> words = split(text, ' ');
    name = words[0];
    for (size_t i = 1; i < words.size(); i++) {
      size_t equals = words[i].find('=');
      if (equals == std::string::npos) {
        bare_.push_back(decode(words[i]));
      } else {
        pairs_.push_back({words[i].substr(0, equals), decode(words[i].substr(equals + 1)), false});
      }
    }
  }

  std::string name;

  bool has(const char* key) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const Pair& p) { return p.key == key; });
  }

  std::vector<std::string> all(const char* key) {
    std::vector<std::string> values;
    for (Pair& pair : pairs_) {
      if (pair.key != key) continue;
      pair.used = true;
      values.push_back(pair.value);
    }
    return values;
  }

  std::string text(const char* key) {
    std::vector<std::string> values = all(key);
    if (values.size() != 1) bad(format("needs `%s` once", key));
    return values[0];
  }

  int64_t number(const char* key, int64_t least, int64_t most) {
    return to_number(text(key), least, most, key);
  }

  int64_t to_number(const std::string& digits, int64_t least, int64_t most, const char* what) const {
    bool plain = !digits.empty() && digits.size() <= 18 && digits.find_first_not_of("0123456789") == std::string::npos;
    int64_t value = plain ? strtoll(digits.c_str(), nullptr, 10) : -1;
    if (!plain || value < least || value > most) bad(format("`%s` is out of range: %s", what, digits.c_str()));
    return value;
  }

  template <typename Value>
  Value choice(const char* key, std::initializer_list<std::pair<const char*, Value>> choices) {
    std::string word = text(key);
    for (const auto& [name_of_choice, value] : choices) {
      if (word == name_of_choice) return value;
    }
    bad(format("`%s` is unknown: %s", key, word.c_str()));
  }

  // The one of these values that has the name in the line.
  template <typename Value, size_t N>
  Value choice(const char* key, const Value (&values)[N]) {
    std::string word = text(key);
    for (Value value : values) {
      if (word == name_of(value)) return value;
    }
    bad(format("`%s` is unknown: %s", key, word.c_str()));
  }

  std::string bare() {
    if (bare_.size() != 1) bad("needs one word");
    return std::exchange(bare_, {})[0];
  }

  void finish() const {
    if (!bare_.empty()) bad("has a word too many: " + bare_[0]);
    for (const Pair& pair : pairs_) {
      if (!pair.used) bad("has an unknown key: " + pair.key);
    }
  }

  [[noreturn]] void bad(const std::string& error) const {
    plan_fault("line %d (%s) %s", number_, name.c_str(), error.c_str());
  }

 private:
  struct Pair {
    std::string key, value;
    bool used;
  };
  int number_;
  std::vector<std::string> bare_;
  std::vector<Pair> pairs_;
};

}  // namespace runner
