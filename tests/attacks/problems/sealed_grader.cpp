// The grader of the task for compile-time attacks: it contains a secret, which the program must return.

#include <cstdio>
#include <cstring>

#include "sealed.h"

static const char secret[] = "SECRET";  // the tests replace it with a random one

int main() {
    const char *said = solve();
    std::printf("%s\n", said != nullptr ? said : "");
    return said != nullptr && std::strlen(said) == sizeof secret ? 1 : 0;
}
