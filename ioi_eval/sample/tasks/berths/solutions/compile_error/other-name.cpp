// Compiles, but does not link: the grader calls another function.

#include "berths.h"

std::vector<int> assignBerths(std::vector<int> arrive, std::vector<int>) { return std::vector<int>(arrive.size(), 0); }
