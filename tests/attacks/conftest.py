"""Fixtures of the campaigns: each isolation level, started by each user that is possible here."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.model import Isolation
from tests.attacks.campaign import Campaign
from tests.attacks.catalogue import LEVELS, Attack, attacked_problems
from tests.attacks.compile_attacks import CompileAttack
from tests.attacks.failures import summary
from tests.attacks.levels import why_not
from tests.attacks.python_attack import PythonAttack
from tests.attacks.users import USER_UID, User, users
from tests.selecting import deselect
from tests.shared_work import copy_cache

Way = tuple[Isolation, User, bool]
"""A campaign: isolation level, the user who starts the sandbox, and whether a worker judges."""

ALL: list[Way] = [(level, user, False) for user in users() for level in LEVELS] + [(Isolation.FULL, users()[0], True)]
"""The embedded sandbox, started by each user at each level; and a worker with the problems' packages, over HTTP.

The first user's campaigns come first, because they store the programs that they compile for the other user.
"""

WEAKEST = (Isolation.REDUCED, users()[-1], False)
"""The campaign with the least separation: one user for all boxes, without namespaces. It is the one of
`test_survival.py` without `--full`."""

SAME_AS_WORKER = ALL[0]
"""The campaign of the embedded sandbox with the level and user of the worker's."""

WITH_SOURCES = (WEAKEST, ALL[-1])
"""The campaigns with attacks on the compiler and by Python programs, without `--full`; only the worker's has the slow
ones. For these, the campaigns differ little; each level, each user and each kind of sandbox occurs, as the worker is an
embedded sandbox in full isolation. Python programs attack the harness in their own process, and the box around it is
that of compiled programs, whose attacks run in all campaigns."""

ON_A_WORKER = frozenset({"secret", "stored", "filed", "naive"})
"""The problems that are attacked in the worker's campaign without `--full`; all others in `SAME_AS_WORKER`. The worker
is an embedded sandbox: only the files of a test and the compilation differ there."""


def problems_of(way: Way, *, full: bool) -> Collection[str]:
    """The problems that C++ programs attack in a campaign."""
    if full or way not in (SAME_AS_WORKER, ALL[-1]):
        return attacked_problems()
    return ON_A_WORKER if way == ALL[-1] else attacked_problems() - ON_A_WORKER


@pytest.fixture(scope="session")
def caches(cache_with_runner: Path) -> Iterator[Callable[[User], Path]]:
    """A cache directory for each user. Its mode is 755, the most open one that is accepted.

    It is outside of pytest's own directory: pytest makes that unreadable for other users at each start.
    """
    with contextlib.ExitStack() as stack:
        made: dict[str, Path] = {}

        def cache_of(user: User) -> Path:
            if user.name not in made:
                path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attack-cache-")))
                path.chmod(0o755)
                (path / "programs").mkdir(mode=0o755)  # other users can only read what its owner stores there
                copy_cache(cache_with_runner, path, owner=USER_UID if user.gives_up_root else None)
                made[user.name] = path
            return made[user.name]

        yield cache_of


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that only `--full` runs."""
    full = bool(config.getoption("--full"))
    deselect(config, items, lambda item: not _is_selected(item, full=full))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which campaigns failed, in how many tests, and for which reasons."""
    reports = [*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")]
    failed = [(report.nodeid, _reason_of(report)) for report in reports if report.nodeid.startswith("tests/attacks/")]
    if failed:
        terminalreporter.section("attacks that failed")
        for line in summary(failed, [name_of(*way) for way in ALL]):
            terminalreporter.line(line)


def _reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The first line of the exception's message, or of a failure without a traceback."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return (crash.message if crash else report.longreprtext).strip().partition("\n")[0]


def _is_selected(item: pytest.Item, *, full: bool) -> bool:
    if not (isinstance(item, pytest.Function) and hasattr(item, "callspec") and "campaign" in item.callspec.params):
        return True
    values: Mapping[str, Any] = item.callspec.params
    way, attack = values["campaign"], values.get("attack")
    served = bool(way[2])
    if item.path.stem == "test_survival":
        return not served and (full or way == WEAKEST)
    if item.originalname == "test_a_worker_has_the_test_data":
        return served
    if isinstance(attack, Attack):
        return attack.problem in problems_of(way, full=full)
    return full or not isinstance(attack, CompileAttack | PythonAttack) or is_in_campaign(way, attack)


def is_in_campaign(way: Way, attack: CompileAttack | PythonAttack) -> bool:
    """Whether an attack on the compiler or by Python belongs to a campaign without `--full`."""
    is_slow = isinstance(attack, CompileAttack) and attack.slow
    return way == ALL[-1] if is_slow else way in WITH_SOURCES


def name_of(level: Isolation, user: User, served: bool) -> str:
    """The campaign's name, for example `full-root` or `full-root-served`."""
    return f"{level.value}-{user.name}{'-served' if served else ''}"


@pytest.fixture(scope="session", params=ALL, ids=[name_of(*one) for one in ALL])
def campaign(request: pytest.FixtureRequest, caches: Callable[[User], Path]) -> Campaign:
    """One campaign with all its attacks."""
    level, user, served = request.param
    full = bool(request.config.getoption("--full"))
    reason = why_not(level)
    if reason:
        pytest.skip(reason)
    return Campaign(
        level,
        user,
        caches(user),
        caches(users()[0]),
        served=served,
        problems=problems_of(request.param, full=full),
        builds=full and request.param == WEAKEST,
        compiler=full or request.param in WITH_SOURCES,
        python=full or request.param in WITH_SOURCES,
        slow=full or request.param == ALL[-1],
        one_by_one=full,
    )
