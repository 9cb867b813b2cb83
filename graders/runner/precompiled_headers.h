// The precompiled header <bits/stdc++.h> of a worker: our package's script `precompile` makes it when Piston installs the package.
//
// GCC does not notice that a header has changed since. So the script lists the files and directories on which the precompiled
// header depends, with their sizes and times, and the runner uses it only if all of them are still the same.
#pragma once

#include "descriptors.h"
#include "plan_lines.h"
#include "system.h"

namespace runner {

// Whether a line of the list is still true: `<size> <seconds>.<nanoseconds> <path>`, or `absent <path>`. The size of a directory
// is not listed, because it depends on the file system.
inline bool is_unchanged(const std::string& line) {
  struct stat status;
  if (line.compare(0, 7, "absent ") == 0) return stat(line.c_str() + 7, &status) != 0;
  long long size = 0, seconds = 0;
  long nanoseconds = 0;
  int at = 0;
  if (sscanf(line.c_str(), "%lld %lld.%9ld %n", &size, &seconds, &nanoseconds, &at) != 3 || at == 0) return false;
  if (stat(line.c_str() + at, &status) != 0) return false;
  return (S_ISDIR(status.st_mode) || status.st_size == size) && status.st_mtim.tv_sec == seconds && status.st_mtim.tv_nsec == nanoseconds;
}

// The precompiled header for a C++ standard; empty if this worker has none, or it is out of date.
inline std::string precompiled_header(const std::string& std) {
  const char* judge = getenv("IOI_EVAL_JUDGE");  // a directory of the package; its script `run` sets it
  if (judge == nullptr || std.empty()) return "";
  Fd list(open((std::string(judge) + "/../precompiled/" + std + ".files").c_str(), O_RDONLY | O_CLOEXEC));
  if (!list) return "";
  std::vector<std::string> lines = split(head(list.get(), 16 << 20), '\n');
  lines.pop_back();  // after the last line's end
  if (!std::all_of(lines.begin(), lines.end(), is_unchanged)) return "";
  std::string last = lines.empty() ? "" : lines.back();
  return last.size() > 4 && last.compare(last.size() - 4, 4, ".gch") == 0 ? last.substr(last.find('/')) : "";
}

}  // namespace runner
