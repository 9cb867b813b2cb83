// The second header of the problem, for attacks that need C++ strings.
#pragma once

#include <string>
#include <vector>

#include "attack.h"

namespace attack {

// Up to `most` bytes of a file; empty if it cannot be read.
inline std::string content(const char *path, size_t most = 4096) {
    std::string text(most, '\0');
    const int file = open(path, O_RDONLY);
    if (file < 0) return "";
    const ssize_t size = read(file, &text[0], most);
    close(file);
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return text;
}

}  // namespace attack

using attack::content;
