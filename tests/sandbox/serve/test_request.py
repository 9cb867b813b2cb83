"""Reading requests as the real server does: messages of refusals, encodings, names, versions."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.sandbox.piston.wire import Runtime
from ioi_eval.sandbox.serve.request import MAX_FILES, Refusal, Request, checked_request, satisfies

RUNTIMES = (
    Runtime(language="bash", version="5.2.15", aliases=("sh",)),
    Runtime(language="bash", version="5.10.0", aliases=("sh",)),
    Runtime(language="cms", version="1.0.0", aliases=("cms_ioi",), package="cms_ioi"),
)
FILE = {"name": "main.sh", "content": "echo"}
FINE: dict[str, Any] = {"language": "bash", "version": "*", "files": [FILE]}


def read(changes: dict[str, Any]) -> Request:
    """Read a valid request with some changes; `...` removes a field."""
    fields = {key: value for key, value in (FINE | changes).items() if value is not ...}
    return checked_request(fields, RUNTIMES)


def refused(changes: dict[str, Any]) -> tuple[int, Any]:
    """Status and body of a refusal."""
    with pytest.raises(Refusal) as caught:
        read(changes)
    return caught.value.status, caught.value.answer


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"language": ...}, "language is required as a string"),
        ({"language": ""}, "language is required as a string"),
        ({"language": 5}, "language is required as a string"),
        ({"version": ...}, "version is required as a string"),
        ({"files": ...}, "files is required as an array"),
        ({"files": {}}, "files is required as an array"),
        ({"files": [{"name": "x"}]}, "files[0].content is required as a string"),
        ({"files": [FILE, 5]}, "files[1].content is required as a string"),
        ({"language": "perl"}, "perl-* runtime is unknown"),
        ({"version": "6"}, "bash-6 runtime is unknown"),
        ({"files": []}, "files must include at least one utf8 encoded file"),
        ({"files": [FILE | {"encoding": "base64"}]}, "files must include at least one utf8 encoded file"),
        ({"run_timeout": "5"}, "If specified, run_timeout must be a number"),
        ({"compile_cpu_time": True}, "If specified, compile_cpu_time must be a number"),
        ({"run_timeout": 3_600_001}, "run_timeout cannot exceed the configured limit of 3600000"),
        ({"compile_timeout": -1}, "compile_timeout must be non-negative"),
        ({"run_memory_limit": []}, "If specified, run_memory_limit must be a number"),
        ({"run_memory_limit": "1", "compile_timeout": -1}, "If specified, run_memory_limit must be a number"),
    ],
)
def test_refusals_with_a_message(changes: dict[str, Any], words: str) -> None:
    """The message for the first fault is that of the real server, which checks in the same order."""
    assert refused(changes) == (400, {"message": words})


@pytest.mark.parametrize("changes", [{"files": [None]}, {"files": [FILE, None]}, {"stdin": 5}, {"stdin": ["x"]}])
def test_refusals_without_a_message(changes: dict[str, Any]) -> None:
    """For some wrong types, the real server has an exception and answers 400 with an empty object."""
    assert refused(changes) == (400, {})


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "..", "..x", ".", "a/..", "dir/", "nul\0", "x" * 256, "a/" + "y" * 256, 5]
)
def test_invalid_file_names(name: Any) -> None:
    """A name outside of the box, or that no file can have, is a 500 without a body."""
    assert refused({"files": [FILE, {"name": name, "content": ""}]}) == (500, None)


def test_a_file_and_a_directory_of_one_name() -> None:
    """A file and a directory with the same name are a 500 without a body."""
    assert refused({"files": [FILE, {"name": "a", "content": ""}, {"name": "a/b", "content": ""}]}) == (500, None)


def test_valid_file_names() -> None:
    """Absolute names are placed in the box, empty ones get a number, the last of equal ones counts, dots vanish."""
    files = [
        {"content": "0"},
        {"name": "/etc/x", "content": "1"},
        {"name": "", "content": "2"},
        {"name": "a/./b/../c", "content": "3"},
        {"name": "dup", "content": "4"},
        {"name": "./dup", "content": "5"},
        {"name": "ünï cödé", "content": "6"},
    ]
    found = read({"files": files})
    assert found.main == "file0.code"
    assert found.files == {
        "file0.code": b"0",
        "etc/x": b"1",
        "file2.code": b"2",
        "a/c": b"3",
        "dup": b"5",
        "ünï cödé": b"6",
    }


@pytest.mark.parametrize(
    ("content", "encoding", "expected"),
    [
        ("aGk=", "base64", b"hi"),
        ("aGk", "base64", b"hi"),
        ("a-_k", "base64", b"\x6b\xef\xe4"),
        ("!!not base64!!", "base64", b"\x9e\x8b[j\xc7\xba"),
        ("aGk=\naGk=", "base64", b"hi"),
        ("a", "base64", b""),
        ("00ff10", "hex", b"\x00\xff\x10"),
        ("00fg10", "hex", b"\x00"),
        ("aGk=", "base32", b"aGk="),
        ("aGk=", 7, b"aGk="),
        ("\ud800", None, b"\xef\xbf\xbd"),
        ("\ud83d\ude00", None, "😀".encode()),
    ],
)
def test_encodings(content: str, encoding: Any, expected: bytes) -> None:
    """Contents are decoded as in Node."""
    file = {"name": "x", "content": content} | ({} if encoding is None else {"encoding": encoding})
    assert read({"files": [FILE, file]}).files["x"] == expected


def test_main_is_the_first_text() -> None:
    """The main file is the first text file. A file with an unknown encoding counts as text."""
    binary, odd = {"name": "b", "content": "", "encoding": "hex"}, {"name": "o", "content": "", "encoding": "base32"}
    assert read({"files": [binary, FILE]}).main == "main.sh"
    assert read({"files": [binary, odd, FILE]}).main == "o"


@pytest.mark.parametrize(
    ("sent", "args"),
    [
        (..., ()),
        (None, ()),
        ([], ()),
        ("xyz", ("x", "y", "z")),
        ([1, "b c", None], ("1", "b c", "null")),
        ([True, False, 1.0, 0.5], ("true", "false", "1", "0.5")),
    ],
)
def test_args(sent: Any, args: tuple[str, ...]) -> None:
    """Arguments are expanded as JavaScript's spread syntax does."""
    assert read({"args": sent}).args == args


@pytest.mark.parametrize(("sent", "stdin"), [(..., b"\n"), (None, b"\n"), ("", b"\n"), ("x", b"x\n"), ("x\n", b"x\n")])
def test_stdin_ends_with_a_newline(sent: Any, stdin: bytes) -> None:
    """A newline is added if it is missing, also to an absent stdin."""
    assert read({"stdin": sent}).stdin == stdin


def test_limits() -> None:
    """Absent limits, and 0, are the server's. This server has no memory limit, so -1 is none."""
    none = read({"run_timeout": 0, "run_cpu_time": None, "run_memory_limit": -1}).run
    assert (none.wall_ms, none.cpu_ms, none.memory_bytes) == (60_000, 64 * 3_600_000, None)
    some = read({"run_timeout": 1500.7, "run_cpu_time": 100, "run_memory_limit": 1 << 40}).run
    assert (some.wall_ms, some.cpu_ms, some.memory_bytes) == (1500, 100, 1 << 40)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"files": [FILE, {"name": "a\ud800", "content": ""}]}, "files[1].name holds half a surrogate pair"),
        ({"files": [FILE | {"name": "\udcff"}]}, "files[0].name holds half a surrogate pair"),
        ({"files": [FILE] * (MAX_FILES + 1)}, f"files has {MAX_FILES + 1} entries, where {MAX_FILES} are allowed"),
        ({"args": ["x"] * 2000}, "args has more than"),
        ({"args": ["x" * 200_000]}, "args has more than"),
        ({"args": "x" * 1_000_000}, "args has more than"),
        ({"args": [["x"]]}, "args must be an array of strings"),
        ({"args": [{}]}, "args must be an array of strings"),
        ({"version": "9" * 5000}, f"bash-{'9' * 128} runtime is unknown"),
        ({"version": "1 " * 5_000_000}, "bash-1 1 1 "),
        ({"language": "\ud800"}, "\ud800-* runtime is unknown"),
        ({"run_memory_limit": math.inf}, "If specified, run_memory_limit must be a number"),
        ({"run_timeout": math.inf}, "If specified, run_timeout must be a number"),
        ({"run_timeout": -math.inf}, "If specified, run_timeout must be a number"),
        ({"run_cpu_time": math.nan}, "If specified, run_cpu_time must be a number"),
        ({"compile_timeout": 10**400}, "compile_timeout cannot exceed"),
    ],
)
def test_values_that_would_cause_errors_later(changes: dict[str, Any], words: str) -> None:
    """Values that would cause errors or cost much later are refused with our own message."""
    status, answer = refused(changes)
    assert status == 400
    assert answer["message"].startswith(words)


def test_extreme_numbers() -> None:
    """A huge memory limit becomes 2^50 bytes, and a part of a byte becomes one byte."""
    assert read({"run_memory_limit": 1e300}).run.memory_bytes == 1 << 50
    assert read({"run_memory_limit": 10**400}).run.memory_bytes == 1 << 50
    assert read({"run_memory_limit": 0.25}).run.memory_bytes == 1


def test_half_a_surrogate_pair_in_an_argument() -> None:
    """It is replaced by U+FFFD, as in the content of a file, because arguments cannot contain it."""
    assert read({"args": ["a\ud800", "\udcff"]}).args == ("a\ufffd", "\ufffd")


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        *[(wanted, True) for wanted in ("*", "x", "", "1", "1.x", "1.2", "1.2.*", "1.2.3")],
        *[(wanted, False) for wanted in ("2", "1.3", "1.2.4", "1.2.30", "1.2.3-beta", "1.2.3.4", "latest", "^1.0.0")],
    ],
)
def test_versions(wanted: str, fits: bool) -> None:
    """A version is wanted as a whole, by its first parts, or any is."""
    assert satisfies("1.2.3", wanted) is fits


def test_the_latest_version_is_taken() -> None:
    """Versions are compared by numbers, not as text; for a language or an alias."""
    assert read({"language": "sh", "version": "5.x"}).runtime.version == "5.10.0"
    assert read({"version": "5.2.x"}).runtime.version == "5.2.15"
    assert read({"language": "cms_ioi"}).runtime.language == "cms"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=8,
)
FIELDS = ["language", "version", "files", "args", "stdin", "run_timeout", "run_memory_limit", "compile_cpu_time"]


def outcome(changes: dict[str, Any]) -> int:
    """200, or the status of the refusal."""
    try:
        assert read(changes).files
    except Refusal as refusal:
        return refusal.status
    return 200


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_any_json_is_a_request_or_a_refusal(changes: dict[str, Any]) -> None:
    """Any JSON in a field gives a request or a refusal, not another exception."""
    assert outcome(json.loads(json.dumps(changes))) in {200, 400, 500}


@given(JSON, st.sampled_from(["name", "content", "encoding"]))
def test_any_json_in_a_file_is_a_request_or_a_refusal(value: Any, field: str) -> None:
    """Any JSON in a field of a file gives a request or a refusal."""
    assert outcome({"files": [FILE, FILE | {field: value}]}) in {200, 400, 500}
