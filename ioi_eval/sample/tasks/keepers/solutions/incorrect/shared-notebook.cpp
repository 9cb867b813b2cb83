// Both keepers write into one global notebook. But they are two processes, and each has a notebook of his own.

#include "keepers.h"

#include <algorithm>

namespace {

std::vector<int> notebook;

}  // namespace

int median(int, std::vector<int> heights) {
    notebook.insert(notebook.end(), heights.begin(), heights.end());
    exchange(1);  // both have written now
    std::sort(notebook.begin(), notebook.end());
    return notebook[heights.size() - 1];
}
