// The grader of a task that only compile-time attacks look at: it holds a secret, which the program is to return.

#include <cstdio>
#include <cstring>

#include "sealed.h"

static const char secret[] = "SECRET";  // the corpus puts a random one in its place

int main() {
    const char *said = solve();
    std::printf("%s\n", said != nullptr ? said : "");
    return said != nullptr && std::strlen(said) == sizeof secret ? 1 : 0;
}
