"""Lists the attacks: read from the comments above them in `programs/`, which contain code and expectation.

    // attack: reopen_descriptors
    // tries: to open its descriptors anew through /proc, for writing
    // expect: WA
    // expect reduced: WA SV
    // attempted: socket

`expect` lists the verdicts that are right, one of them must come; JE is written with the program at fault
(`JE:checker`), and is final. Attacks that may not end at their time limit get so much time that no slow machine ends
them there. `attempted` names calls that must be reported as refused. The file's head says `group` and `problem`;
`bundle: 64` puts all tests of the file into one box, where the default is 16 tests a box.
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
        name: the word that starts it.
        group: what it is after (`forging`, `reading`, …).
        tries: what it does, for people.
        problem: the problem that it is tried on.
        program: its source, relative to `programs/`.
        expect: the verdicts that are right, at each isolation level.
        attempted: calls that the result must name.
    """

    name: str
    group: str
    tries: str
    problem: str
    program: str
    expect: Mapping[Isolation, frozenset[str]]
    attempted: tuple[str, ...] = ()

    @property
    def unhurried(self) -> bool:
        """Whether the time limit is not among the right ways to end it."""
        return all("TLE" not in verdicts for verdicts in self.expect.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A source file with those of its attacks that may end at their time limit, or those that may not.

    Args:
        name: its name in `programs/`.
        code: its text.
        problem: the problem that it is sent in for.
        attacks: in the order of the file.
        bundle: how many tests share a box.
        solves_honest: whether it answers honest tests too (`attack.h` has its `main`).
        unhurried: whether they have much time, as they are to reach another limit or none.
    """

    name: str
    code: str
    problem: str
    attacks: tuple[Attack, ...]
    bundle: int
    solves_honest: bool
    unhurried: bool = False


@dataclass(slots=True)
class _Draft:
    name: str
    tries: str = ""
    expect: dict[str, frozenset[str]] = field(default_factory=dict)
    attempted: tuple[str, ...] = ()


@cache
def programs() -> tuple[Program, ...]:
    """All programs, by name: a file with attacks of both kinds is two."""
    return tuple(part for program in _files() for part in _parts(program))


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
    for unhurried in (False, True):
        chosen = tuple(attack for attack in program.attacks if attack.unhurried is unhurried)
        if chosen:
            yield replace(program, attacks=chosen, unhurried=unhurried)


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
    own_main = "#define OWN_MAIN" in code or "attack.h" not in code
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
