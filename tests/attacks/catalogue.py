"""Lists the attacks. It reads the comments above them in `programs/`, which state the expected verdicts.

    // attack: reopen_descriptors
    // tries: to reopen its descriptors through /proc, for writing
    // expect: WA
    // expect reduced: WA SV
    // attempted: socket

`expect` lists the accepted verdicts. A JE has the judge program that failed (`JE:checker`), and must be final. If TLE
is not accepted, the attack gets a long time limit, which is not reached on a slow machine either. `attempted` names
calls that must be reported as refused. The head of the file has `group` and `problem`; `bundle: 64` puts all tests of
the file into one box (default: 16 tests in a box).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from ioi_eval.model import Isolation

PROGRAMS = Path(__file__).resolve().parent / "programs"
LEVELS = (Isolation.FULL, Isolation.REDUCED)

_LINE = re.compile(r"^// (\w+)(?: (full|reduced))?: (.+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attack.

    Args:
        name: its name, which is the first word of the test's input.
        group: its purpose (`forging`, `reading`, …).
        tries: what it does, for the table in docs/attacks.md.
        problem: the problem that it is submitted for.
        program: its source file, relative to `programs/`.
        expect: the accepted verdicts, for each isolation level.
        attempted: calls that the result must list as refused.
    """

    name: str
    group: str
    tries: str
    problem: str
    program: str
    expect: Mapping[Isolation, frozenset[str]]
    attempted: tuple[str, ...] = ()

    @property
    def long_limit(self) -> bool:
        """Whether it gets the long time limit, because TLE is not accepted."""
        return all("TLE" not in verdicts for verdicts in self.expect.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A source file with those of its attacks for which TLE is accepted, or with the others.

    Args:
        name: its name in `programs/`.
        code: its text.
        problem: the problem that it is submitted for.
        attacks: the attacks, in the order of the file.
        bundle: how many tests share a box.
        solves_honest: whether it also solves honest tests (its `main` is that of `attack.h`).
        long_limit: whether the time limit is the long one: TLE is not accepted.
    """

    name: str
    code: str
    problem: str
    attacks: tuple[Attack, ...]
    bundle: int
    solves_honest: bool
    long_limit: bool = False


@dataclass(slots=True)
class _Draft:
    name: str
    tries: str = ""
    expect: dict[str, frozenset[str]] = field(default_factory=dict)
    attempted: tuple[str, ...] = ()


@cache
def programs() -> tuple[Program, ...]:
    """All programs, by name. A file with attacks of both kinds gives two programs."""
    return tuple(part for program in _files() for part in _parts(program))


@cache
def attacked_problems() -> frozenset[str]:
    """The names of all problems that programs attack."""
    return frozenset(program.problem for program in programs())


@cache
def attacks() -> tuple[Attack, ...]:
    """All attacks of all programs, in the order of the files. Their names are unique."""
    found = tuple(attack for program in _files() for attack in program.attacks)
    names = [attack.name for attack in found]
    assert len(set(names)) == len(names), sorted({name for name in names if names.count(name) > 1})
    return found


@cache
def _files() -> tuple[Program, ...]:
    return tuple(_read(path) for path in sorted(PROGRAMS.glob("*.cpp")))


def _parts(program: Program) -> Iterator[Program]:
    for long_limit in (False, True):
        chosen = tuple(attack for attack in program.attacks if attack.long_limit is long_limit)
        if chosen:
            yield replace(program, attacks=chosen, long_limit=long_limit)


def _read(path: Path) -> Program:
    code = path.read_text()
    head: dict[str, str] = {}
    drafts: list[_Draft] = []
    for line in code.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        key, level, value = found.groups()
        if key == "attack":
            drafts.append(_Draft(value))
        elif key in ("group", "problem", "bundle"):
            head[key] = value
        elif drafts and key == "tries":
            drafts[-1].tries = value
        elif drafts and key == "expect":
            drafts[-1].expect[level or "all"] = frozenset(value.split())
        elif drafts and key == "attempted":
            drafts[-1].attempted = tuple(value.split())
    own_main = "#define OWN_MAIN" in code or not re.search(r'"(attack|text)\.h"', code)
    return Program(
        name=path.name,
        code=code,
        problem=head["problem"],
        attacks=tuple(_attack(draft, head, path.name) for draft in drafts),
        bundle=int(head.get("bundle", "16")),
        solves_honest=not own_main,
    )


def _attack(draft: _Draft, head: Mapping[str, str], program: str) -> Attack:
    everywhere = draft.expect.get("all", frozenset())
    expect = {level: draft.expect.get(level.value, everywhere) for level in LEVELS}
    assert draft.tries, f"{program}: {draft.name} lacks `tries`"
    assert all(expect.values()), f"{program}: {draft.name} lacks `expect`"
    return Attack(
        name=draft.name,
        group=head["group"],
        tries=draft.tries,
        problem=head["problem"],
        program=program,
        expect=expect,
        attempted=draft.attempted,
    )
