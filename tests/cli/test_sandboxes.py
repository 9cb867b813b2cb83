"""Where jobs are executed: what the options and the environment say together."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.cli.contest_scorer import opened_scorer
from ioi_eval.cli.options import ContestRules
from ioi_eval.cli.sandboxes import ProfileChoice, SandboxChoice, describe, sandbox_options_of, usable_targets
from ioi_eval.errors import InputError, IsolationError
from ioi_eval.model import Isolation
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain
from tests.sandbox.served import server


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A directory without `.env`, and an environment without servers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PISTON_ENDPOINTS", raising=False)
    monkeypatch.delenv("PISTON_MAX_REQUESTS_PER_ENDPOINT", raising=False)


def test_without_servers_it_is_this_machine() -> None:
    """`auto` needs a server to be named before it leaves this machine."""
    options = sandbox_options_of()
    assert options.cluster is None
    assert options.as_dict()["sandbox"] == "embedded"
    assert options.as_dict()["isolation"] is Isolation.REDUCED


def test_the_environment_names_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` takes them, with the slots that are named beside them; `embedded` does not."""
    monkeypatch.setenv("PISTON_ENDPOINTS", "http://w1:2000,http://w2:2000")
    monkeypatch.setenv("PISTON_MAX_REQUESTS_PER_ENDPOINT", "4")
    options = sandbox_options_of()
    assert options.cluster is not None
    assert (options.endpoints_from, options.cluster.max_requests_per_endpoint) == ("PISTON_ENDPOINTS", 4)
    assert len(options.cluster.source) == 2  # type: ignore[arg-type]
    assert sandbox_options_of(sandbox=SandboxChoice.EMBEDDED).cluster is None


def test_a_dotenv_file_names_servers(tmp_path: Path) -> None:
    """`.env` stands in for what the environment does not set."""
    (tmp_path / ".env").write_text('PISTON_ENDPOINTS="http://w1:2000"\n')
    assert sandbox_options_of().cluster is not None


def test_options_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for on the command line beats the environment, and decides that it is a cluster."""
    monkeypatch.setenv("PISTON_ENDPOINTS", "http://w1:2000,http://w2:2000")
    options = sandbox_options_of(endpoints="http://w3:2000", max_requests_per_endpoint=7, profile=ProfileChoice.CLASSIC)
    assert options.cluster is not None
    assert (options.cluster.text, options.cluster.max_requests_per_endpoint) == ("http://w3:2000", 7)
    assert (options.endpoints_from, options.profile) == ("--endpoints", "classic")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sandbox": SandboxChoice.EMBEDDED, "endpoints": "http://w1"}, "leave out one of them"),
        ({"sandbox": SandboxChoice.PISTON}, "no server is named"),
        ({"max_requests_per_endpoint": 2}, "none is named"),
        ({"endpoints": "http://"}, "not the URL of a server"),
        ({"endpoints": " , "}, "no Piston endpoint is named"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], words: str) -> None:
    """With what to do instead, before anything is read."""
    with pytest.raises(InputError, match=words):
        sandbox_options_of(**options)  # type: ignore[arg-type]


def test_programs_of_workers_are_not_kept(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which is said, to who asks for it."""
    monkeypatch.setenv("IOI_EVAL_CACHE", str(tmp_path / "cache"))

    async def enter(base: str) -> None:
        async with opened_scorer(sandbox_options_of(endpoints=base), ContestRules(), keep_programs=1):
            pass

    with server(cache) as served:
        asyncio.run(enter(served.base))
    assert "--keep-programs has no effect, because programs are compiled on other machines" in capsys.readouterr().err
    assert not (tmp_path / "cache" / "programs").exists()


def test_workers_that_confine_too_little_are_not_used(capsys: pytest.CaptureFixture[str]) -> None:
    """They are named; where there are no others, nothing is judged at all."""
    gcc = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
    good = Target(name="ours", profile="bundled", toolchain=gcc, slots=1, isolation=Isolation.REDUCED)
    stock = Target(
        name="stock", profile="classic", toolchain=gcc, slots=1, isolation=Isolation.NONE, has_own_scripts=True
    )
    assert usable_targets([good, stock], Isolation.REDUCED) == [good]
    assert "not used: stock offers isolation none" in capsys.readouterr().err
    assert usable_targets([good, stock], Isolation.NONE) == [good, stock]
    with pytest.raises(IsolationError, match="install the ioi_eval package"):
        usable_targets([stock], Isolation.REDUCED)


def test_a_kind_of_workers_is_told_as_far_as_it_is_known() -> None:
    """The least isolation where each job finds out what there is; none where a pair confines nothing."""
    gcc = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
    ours = Target(name="piston ours", profile="bundled", toolchain=gcc, slots=2, isolation=Isolation.REDUCED)
    assert describe(ours) == "piston ours, static: bundled, 2 jobs at once, isolation reduced at least"
    stock = replace(ours, profile="classic", slots=1, isolation=Isolation.NONE, has_own_scripts=True)
    assert describe(stock) == "piston ours, static: classic, 1 job at once, isolation none"


def test_the_speed_of_workers_is_not_known() -> None:
    """`--time-scale auto` is about this machine; for a cluster it is refused rather than guessed."""
    with pytest.raises(InputError, match="does not hold for Piston servers; give a number"):
        ContestRules(time_scale="auto").measured(is_here=False)
    assert ContestRules(time_scale="1.5").measured(is_here=False).factor == 1.5
