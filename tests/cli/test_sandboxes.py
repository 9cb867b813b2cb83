"""Where jobs are executed, depending on options and environment."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.cli.options import ContestRules
from ioi_eval.cli.sandboxes import (
    ProfileChoice,
    SandboxChoice,
    SandboxOptions,
    describe,
    require_usable,
    usable_targets,
)
from ioi_eval.cli.scoring import opened_scorer
from ioi_eval.cli.validate import ValidateCall
from ioi_eval.errors import InputError, IsolationError
from ioi_eval.model import Isolation, Profile
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain
from tests.sandbox.served import server

pytestmark = pytest.mark.usefixtures("without_servers")


def test_without_servers_auto_is_this_machine() -> None:
    """`auto` uses another machine only if a server is named."""
    options = SandboxOptions()
    assert options.cluster is None
    assert options.as_dict()["sandbox"] == "embedded"
    assert options.as_dict()["isolation"] is Isolation.REDUCED


def test_the_environment_names_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """`auto` uses them with the slots from the environment; `embedded` does not."""
    monkeypatch.setenv("PISTON_ENDPOINTS", "http://w1:2000,http://w2:2000")
    monkeypatch.setenv("PISTON_MAX_REQUESTS_PER_ENDPOINT", "4")
    options = SandboxOptions()
    assert options.cluster is not None
    assert options.cluster.max_requests_per_endpoint == 4
    assert len(options.cluster.source) == 2  # type: ignore[arg-type]
    assert SandboxOptions(sandbox=SandboxChoice.EMBEDDED).cluster is None


def test_a_dotenv_file_names_servers(tmp_path: Path) -> None:
    """`.env` gives values that the environment does not set."""
    (tmp_path / ".env").write_text('PISTON_ENDPOINTS="http://w1:2000"\n')
    assert SandboxOptions().cluster is not None


def test_options_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have precedence over the environment, and select the cluster."""
    monkeypatch.setenv("PISTON_ENDPOINTS", "http://w1:2000,http://w2:2000")
    options = SandboxOptions(endpoints="http://w3:2000", max_requests_per_endpoint=7, profile=ProfileChoice.CLASSIC)
    assert options.cluster is not None
    assert (options.cluster.text, options.cluster.max_requests_per_endpoint) == ("http://w3:2000", 7)
    assert options.only_profile is Profile.CLASSIC


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sandbox": SandboxChoice.EMBEDDED, "endpoints": "http://w1"}, "leave out one of them"),
        (
            {"sandbox": SandboxChoice.EMBEDDED, "max_requests_per_endpoint": 2},
            "--max-requests-per-endpoint is for Piston workers, and --sandbox embedded asks for this machine",
        ),
        ({"sandbox": SandboxChoice.PISTON}, "no worker is named"),
        ({"max_requests_per_endpoint": 2}, "none is named"),
        ({"endpoints": "http://"}, "not the URL of a server"),
        ({"endpoints": "http://a:1 http://b:2"}, r"not the URL .*\(several with commas between them\)"),
        ({"endpoints": " , "}, "no Piston endpoint is named"),
    ],
)
def test_contradictory_options_are_refused(options: dict[str, object], words: str) -> None:
    """Before anything is read. The message says what to do instead."""
    with pytest.raises(InputError, match=words):
        SandboxOptions(**options)  # type: ignore[arg-type]


def test_programs_of_workers_are_not_kept(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message says so if `--keep-programs` is given."""
    monkeypatch.setenv("IOI_EVAL_CACHE", str(tmp_path / "cache"))

    async def enter(base: str) -> None:
        sandbox = SandboxOptions(endpoints=base)
        async with opened_scorer(ValidateCall(problems="", tests="", sandbox=sandbox, keep_programs=1)):
            pass

    with server(cache) as served:
        asyncio.run(enter(served.base))
    assert "--keep-programs has no effect, because programs are compiled on other machines" in capsys.readouterr().err
    assert not (tmp_path / "cache" / "programs").exists()


def test_workers_with_too_little_isolation_are_not_used(capsys: pytest.CaptureFixture[str]) -> None:
    """They are named. If there are no others, nothing is judged."""
    gcc = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
    good = Target(name="ours", profile=Profile.BUNDLED, toolchain=gcc, slots=1, isolation=Isolation.REDUCED)
    stock = Target(
        name="stock", profile=Profile.CLASSIC, toolchain=gcc, slots=1, isolation=Isolation.NONE, has_own_scripts=True
    )
    require_usable([good, stock], Isolation.REDUCED)
    assert "not used: stock offers isolation none" in capsys.readouterr().err
    assert usable_targets([good, stock], Isolation.REDUCED) == [good]
    assert usable_targets([good, stock], Isolation.NONE) == [good, stock]
    with pytest.raises(IsolationError, match="install the ioi_eval package"):
        require_usable([stock], Isolation.REDUCED)


def test_description_of_a_kind_of_workers() -> None:
    """The lowest possible isolation if each job finds out its isolation; `none` for workers with scripts
    of their own.
    """
    gcc = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
    ours = Target(name="piston ours", profile=Profile.BUNDLED, toolchain=gcc, slots=2, isolation=Isolation.REDUCED)
    assert describe(ours) == "piston ours, static: bundled, 2 jobs at once, isolation at least reduced"
    stock = replace(ours, profile=Profile.CLASSIC, slots=1, isolation=Isolation.NONE, has_own_scripts=True)
    assert describe(stock) == "piston ours, static: classic, 1 job at once, isolation none"


def test_the_speed_of_workers_is_not_known() -> None:
    """`--time-scale auto` is measured on this machine. For a cluster it is refused."""
    with pytest.raises(InputError, match="does not hold for Piston workers; give a number"):
        ContestRules(time_scale="auto").with_stored_time_scale(is_here=False)
    assert ContestRules(time_scale="1.5").with_stored_time_scale(is_here=False).factor == 1.5
