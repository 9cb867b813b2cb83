#include "keepers.h"

int median(int keeper, std::vector<int> heights) {
    // your code here; call exchange(number)
}
