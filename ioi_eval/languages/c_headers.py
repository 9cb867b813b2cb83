"""The headers of C that programs usually include, in C and in C++."""

from __future__ import annotations

INCLUDES = "".join(
    f"#include <{name}.h>\n"
    for name in (
        *("errno", "limits", "math", "pthread", "signal", "stdio"),
        *("stdlib", "string", "sys/time", "time", "unistd"),
    )
)
