// Solves the honest tests of every problem, and nothing else.
#include "attack.h"
