"""Checks requests to `serve`, which has Piston's API v2, and refuses those that Piston refuses. Pure.

The checks, their order and their messages are the real server's (`api/src/api/v2.js`, and 438 recorded answers), even
if they look like mistakes: a null file is refused with `{}`, a name that leads out of the box with an empty 500, `args`
may be one string, unknown encodings are utf8, base64 is read as in Node.

Requests that no honest client sends, and that would cost much or break something later, are refused with messages of
ours: too many files, arguments with which no program can be started, half a surrogate pair in a name. So are those of
web pages of other sites, as the server has no login.
"""

from __future__ import annotations

import base64
import ipaddress
import math
import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ioi_eval.model import StageLimits
from ioi_eval.sandbox.piston.wire import Runtime, version_key

MAX_FILES = 512
"""Each is a descriptor in the server and an argument of bwrap. Source: ours; our largest job has 400: 128 tests, each
with a program of its own."""

_MAX_WORDS, _MAX_WORDS_BYTES = 1024, 64 * 1024  # a program's arguments; in the kernel one may have 128 KiB
_MAX_NAME = 128  # of a language or version, in a message
_MAX_PATH_BYTES = 1024
_ANY_NAME = "*"  # allows every name in the header `Host`
_MAX_MEMORY_BYTES = 1 << 50  # more than any machine has, and no counter overflows

_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2})*")
_ANY_PART = frozenset({"*", "x", "X", ""})  # of a version

_TIMEOUT_MS, _MAX_MS = 60_000, 3_600_000
"""The wall clock of a stage if the request sets none, and the most wall clock and CPU time that it may set. Source: the
reference's settings; the maximum is ours."""
_MAX_CPUS = 64  # if the request sets no CPU time (Piston's default is 3 s), only the wall clock should limit a stage
_OUTPUT_BYTES = 128 << 20  # of each stream that an answer returns


class Refusal(Exception):
    """The HTTP answer to a request that is not served; everything here may raise it.

    Args:
        answer: the JSON body; a text is its `message`. `None` for an empty body.
    """

    def __init__(self, status: int, answer: Mapping[str, Any] | str | None) -> None:
        super().__init__(status, answer)  # all, so that it can be pickled
        self.status = status
        self.answer = {"message": answer} if isinstance(answer, str) else answer

    def __str__(self) -> str:
        return "HTTP {}: {}".format(*self.args)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to execute something, checked. `main` is the first file that is text; of files with the same name the
    last one counts; `stdin` ends with a newline; `compile` and `run` are the limits of the stages."""

    runtime: Runtime
    main: str
    files: Mapping[str, bytes]
    args: tuple[str, ...]
    stdin: bytes
    compile: StageLimits
    run: StageLimits


def checked_request(asked: Any, runtimes: Sequence[Runtime]) -> Request:
    """Check a request in Piston's order."""
    body = asked if isinstance(asked, dict) else {}
    language, version = _text(body, "language"), _text(body, "version")
    files = body.get("files")
    if not isinstance(files, list):
        _refuse("files is required as an array")
    if len(files) > MAX_FILES:
        _refuse(f"files has {len(files)} entries, where {MAX_FILES} are allowed; pack them into one file")
    for number, file in enumerate(files):
        if file is None:
            raise Refusal(400, {})
        if not isinstance(file, dict) or not isinstance(file.get("content"), str):
            _refuse(f"files[{number}].content is required as a string")
    runtime = find(runtimes, language, version)
    if runtime is None:
        _refuse(f"{language[:_MAX_NAME]}-{version[:_MAX_NAME]} runtime is unknown")
    if not any((file.get("encoding") or "utf8") == "utf8" for file in files):
        _refuse("files must include at least one utf8 encoded file")
    limits = {(stage, what): _limit(body, stage, what) for what in _LIMITS for stage in _STAGES}
    stdin = body.get("stdin") or ""
    if not isinstance(stdin, str):
        raise Refusal(400, {})
    return Request(
        runtime=runtime,
        # the first file that is read as text; files with an unknown encoding are
        main=next(_name(file, number) for number, file in enumerate(files) if _decoder(file) is _encoded),
        files=_contents(files),
        args=_args(body.get("args")),
        stdin=_encoded(stdin if stdin.endswith("\n") else f"{stdin}\n"),
        **{
            stage: StageLimits(
                wall_ms=limits[stage, "timeout"] or _TIMEOUT_MS,
                cpu_ms=limits[stage, "cpu_time"] or _MAX_CPUS * _MAX_MS,
                memory_bytes=limits[stage, "memory_limit"],
                output_bytes=_OUTPUT_BYTES,
            )
            for stage in _STAGES
        },
    )


def find(runtimes: Sequence[Runtime], language: str, version: str) -> Runtime | None:
    """The latest runtime with this name and a wanted version."""
    fitting = [each for each in runtimes if each.answers_to(language) and satisfies(each.version, version)]
    return max(fitting, key=lambda each: version_key(each.version), default=None)


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version is wanted: it is stated wholly (`1.2.3`), by its first parts (`1.2`, `1.x`), or is any (`*`).

    Of npm's ranges, which Piston reads, these are in use.
    """
    parts = [part for part in wanted.split(".") if part not in _ANY_PART]
    return version.split(".")[: len(parts)] == parts


# ---------------------------------------------------------------------- who asks


def refuse_foreign_pages(host: str | None, origin: str | None, allowed: Collection[str]) -> None:
    """Refuse a request that a page of another site, open in a browser on this machine, may have sent.

    A request with another site's `Origin`, which browsers send, is refused. With DNS rebinding (the page's own name
    suddenly resolves to 127.0.0.1) there need be no `Origin`, but the browser sends that name as `Host`, without which
    no browser asks. So `Host` must be a name that no other site can choose: an IP address, `localhost`, this machine's
    name, or one that was allowed when the server was started. (`allowed` has the last two, in lower case.)
    """
    if _ANY_NAME in allowed:
        return
    if host is not None and not _is_ours(_host_name(host), allowed):
        reason = f"the name {_host_name(host)[:255]!a} in Host is not known to be this server's"
        advice = "ask by its IP address, or start it with --allow-host NAME"
        raise Refusal(403, f"{reason}; {advice}")
    if origin is not None and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
        reason = f"a page of {origin[:255]!a} (Origin) may not ask"
        raise Refusal(403, f"{reason}; if that is meant, start the server with --allow-host '*'")


def _host_name(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].removesuffix(".")


def _is_ours(name: str, allowed: Collection[str]) -> bool:
    if name == "localhost" or name in allowed:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------------- the fields

_LIMITS, _STAGES = ("memory_limit", "timeout", "cpu_time"), ("compile", "run")


def _refuse(message: str) -> NoReturn:
    raise Refusal(400, message)


def _text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        _refuse(f"{key} is required as a string")
    return value


def _limit(body: Mapping[str, Any], stage: str, what: str) -> int | None:
    """One of the six limits; `None` if absent, null or 0. For memory, which has no maximum here, also if negative."""
    name = f"{stage}_{what}"
    value = body.get(name)
    if value in (None, 0, ""):  # false in JavaScript
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -math.inf < value < math.inf:
        _refuse(f"If specified, {name} must be a number")
    if what == "memory_limit":
        return max(1, int(min(value, _MAX_MEMORY_BYTES))) if value > 0 else None
    if value > _MAX_MS:
        _refuse(f"{name} cannot exceed the configured limit of {_MAX_MS}")
    if value < 0:
        _refuse(f"{name} must be non-negative")
    return max(1, int(value))


def _args(value: Any) -> tuple[str, ...]:
    """`args`, spread as in JavaScript: null is empty, a string is its characters."""
    if value is None:
        return ()
    if not isinstance(value, list | str):
        raise Refusal(500, None)
    if any(isinstance(word, list | dict) for word in value):
        _refuse("args must be an array of strings")
    args = tuple(_word(word) for word in value[: _MAX_WORDS + 1])
    if len(args) > _MAX_WORDS or sum(len(word.encode()) for word in args) > _MAX_WORDS_BYTES:
        _refuse(f"args has more than {_MAX_WORDS} entries or {_MAX_WORDS_BYTES} bytes; send them as a file or as stdin")
    if any("\0" in word for word in args):
        raise Refusal(500, None)
    return args


def _word(value: Any) -> str:
    """An entry of `args`: booleans and whole numbers below 2^53 as in JavaScript. Lone surrogates become U+FFFD."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return _encoded(str(value)).decode()


# ---------------------------------------------------------------------- the files


def _name(file: Mapping[str, Any], number: int) -> str:
    name = file.get("name") or f"file{number}.code"
    if not isinstance(name, str):
        raise Refusal(500, None)
    try:
        name.encode()
    except UnicodeEncodeError:
        _refuse(f"files[{number}].name holds half a surrogate pair, which is not text; name it in whole characters")
    return name


def _contents(files: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for number, file in enumerate(files):
        contents[_path_in_box(_name(file, number))] = _decoder(file)(file["content"])
    directories = {name[:at] for name in contents for at, sign in enumerate(name) if sign == "/"}
    if directories & contents.keys():
        raise Refusal(500, None)
    return contents


def _path_in_box(name: str) -> str:
    """The path below the box's directory, as by Node's `path.join`; 500 if Node or the file system would refuse it."""
    path = posixpath.normpath(f"./{name}")
    parts = path.split("/")
    out = parts[0].startswith("..") or path == "." or name.endswith("/") or "\0" in name
    if out or len(path.encode()) > _MAX_PATH_BYTES or any(len(part.encode()) > 255 for part in parts):
        raise Refusal(500, None)
    return path


def _decoder(file: Mapping[str, Any]) -> Callable[[str], bytes]:
    encoding = file.get("encoding")
    return {"base64": _from_base64, "hex": _from_hex}.get(str(encoding), _encoded)


def _encoded(text: str) -> bytes:
    """UTF-8; half a surrogate pair becomes U+FFFD, as in Node."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        pass
    digits = _NOT_BASE64.sub("", text.partition("=")[0].replace("-", "+").replace("_", "/"))
    whole = digits[: len(digits) - (len(digits) % 4 == 1)]
    return base64.b64decode(whole + "=" * (-len(whole) % 4))


def _from_hex(text: str) -> bytes:
    digits = _HEX.match(text)
    return bytes.fromhex(digits[0]) if digits else b""
