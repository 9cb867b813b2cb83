"""Rows at the start of a dump that an earlier run has judged: they are written while the run looks them up."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.catalog import load_catalog
from ioi_eval.apps.dump_reader import AppsDumpReader
from ioi_eval.apps.family import AppsFamily
from ioi_eval.apps.result import AppsResult
from ioi_eval.apps.summary import AppsSummary
from ioi_eval.errors import SetupError, TransportError
from ioi_eval.journal import Journal
from ioi_eval.model import Submission, TestOutcome, Verdict
from ioi_eval.model.apps import AppsProblem
from ioi_eval.pipeline import Settings, score_dump
from ioi_eval.pipeline.contest import RowSelection
from ioi_eval.pipeline.result_files import ResultFiles
from ioi_eval.problems.apps_selection import ProblemSelection
from ioi_eval.rows import open_source
from tests.apps_rows import ROWS, write_rows
from tests.pipeline.scripted import Contest, ScriptedScorer, Silent, programs

RUN_FACTS = ("started", "finished", "this_run", "cpu_s", "wall_s")
ALWAYS_JUDGED = 3  # every earlier run has judged at least this number of rows at the start
CONTEST_CODES = (
    "1",
    "0.5",
    "0 // other",
    "CE",
    "final",
    "JE",
    "JE // other",
    "odd",
    None,
    "1 // a",
    "1 // b",
    "0.5 // c",
)
APPS_CODES: tuple[Any, ...] = ("AC", "WA", "JE", "final", "", "AC # 2", "WA # 2", ["AC", "WA"], ["JE", "AC # 3"], [])


def contest_rows(chance: random.Random) -> list[dict[str, Any]]:
    """Rows of all kinds: judged, failed, refused, with several programs, with a repeated id."""
    rows = programs(*chance.choices(CONTEST_CODES[:4], k=ALWAYS_JUDGED), *chance.choices(CONTEST_CODES, k=30))
    for row in rows[ALWAYS_JUDGED:]:
        row["problem_id"] = chance.choice(("nile", "nile", "tree", "tree", "unknown"))
        if chance.random() < 0.2:
            row["code"] = chance.choices(CONTEST_CODES, k=2)
        if chance.random() < 0.1:
            row["uuid"] = "u3"
        if chance.random() < 0.1:
            row["year"] = 2023
    return rows


def contest_run(directory: Path, rows: Sequence[dict[str, Any]], limit: int | None, **settings: Any) -> None:
    """Score rows for contest problems."""
    contest = Contest(directory)
    contest.write(*rows)
    selection = RowSelection(years=frozenset({2024}), limit=limit)
    contest.run(ScriptedScorer(), selection=selection, jobs_at_once=1, **settings)


class Executor:
    """Follows words in the programs."""

    async def score(self, problem: AppsProblem, code: str) -> AppsResult:  # noqa: ARG002
        """`AC`, `WA`, `JE` (our failure), or `final` (the checker's)."""
        word = code.split(maxsplit=1)[0]
        if word == "JE":
            raise TransportError("the answer was cut off")
        verdict = Verdict.JE if word == "final" else Verdict(word)
        score = None if word == "final" else float(word == "AC")
        test = TestOutcome(test="0", verdict=verdict, score=score, message="", final=word == "final")
        return AppsResult(verdict=verdict, passed=int(word == "AC"), total=1, tests=(test,))


def apps_rows(chance: random.Random) -> list[dict[str, Any]]:
    """Rows of all kinds, also for problems that were not selected, and without an id."""
    rows: list[dict[str, Any]] = [
        {"problem_id": 0, "code": chance.choice(APPS_CODES[:2])} for _ in range(ALWAYS_JUDGED)
    ]
    for number in range(30):
        row = {
            "uuid": f"u{number}",
            "problem_id": chance.choice((0, 0, 1, 2, 3, 99)),
            "code": chance.choice(APPS_CODES),
        }
        if chance.random() < 0.3:
            del row["uuid"]
        rows.append(row)
    return rows


def apps_run(directory: Path, rows: Sequence[dict[str, Any]], limit: int | None, **settings: Any) -> None:
    """Score rows for APPS."""
    shown = rows[:limit]
    selection = ProblemSelection(ids=("0", "1", "3"))
    catalog = load_catalog(open_source(write_rows(directory / "apps.jsonl", ROWS)), selection=selection)
    dump = open_source(write_rows(directory / "dump.jsonl", shown))
    reader = AppsDumpReader(dump, catalog, fingerprints=lambda problem, one: (f"{problem}:{one.code}",))
    family = AppsFamily(reader, Executor(), "tokens", AppsSummary())
    out = directory / "out"
    with Journal(out, options={}) as journal:
        own = Settings(jobs_at_once=1, spare=0, **settings)
        asyncio.run(score_dump(out, family, journal=journal, settings=own, progress=Silent()))
    catalog.close()


FAMILIES = {"contest": (contest_rows, contest_run), "apps": (apps_rows, apps_run)}
Run = Callable[..., None]


def files_of(directory: Path) -> dict[str, Any]:
    """The files of a run, without the facts about the run."""
    files: dict[str, Any] = {path.name: path.read_bytes() for path in sorted((directory / "out").glob("*.jsonl"))}
    summary = json.loads((directory / "out" / "summary.json").read_bytes())
    return {**files, "summary": {name: value for name, value in summary.items() if name not in RUN_FACTS}}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("family", FAMILIES)
def test_files_are_equal_if_all_is_written_after_judging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, seed: int
) -> None:
    """For any rows, any number judged before, and with or without judging failed rows again."""
    chance = random.Random(seed)
    make, run = FAMILIES[family]
    rows = make(chance)
    known = chance.randrange(len(rows) // 2, len(rows))
    here, earlier = tmp_path / "here", tmp_path / "earlier"
    here.mkdir()
    run(here, [row for number, row in enumerate(rows) if number < known or chance.random() < 0.5], None)
    shutil.copytree(here, earlier)
    limit = chance.choice((None, 20))
    settings = {"dedupe": chance.random() < 0.7, "retry_failed": chance.random() < 0.3}
    written: list[int] = []
    count = ResultFiles.finish

    def finish(self: Any, progress: Any) -> None:
        written.append(self._written)
        count(self, progress)

    monkeypatch.setattr(ResultFiles, "finish", finish)
    run(here, rows, limit, **settings)
    found = files_of(here)
    shutil.rmtree(here)
    earlier.rename(here)
    monkeypatch.setattr(ResultFiles, "_write_judged_before", lambda _: iter(()))
    run(here, rows, limit, **settings)
    assert found == files_of(here)
    assert written[0] >= ALWAYS_JUDGED
    assert written[1] == 0


def test_a_run_without_earlier_results_writes_only_at_the_end(contest: Contest) -> None:
    """No result file is opened before."""
    contest.write(*programs("1", "0.5"))
    written: list[bool] = []
    scorer = ScriptedScorer(before=lambda _: written.append(bool(list(contest.out.glob(".*.new")))))
    contest.run(scorer)
    assert written == [False, False]


class Interrupting(ScriptedScorer):
    """Interrupts the run when it reads the submission `u25`."""

    def fingerprints(self, problem: Any, submission: Submission) -> tuple[str, ...]:
        """The usual fingerprints."""
        if submission.id == "u25" and not self.interrupted:
            self.interrupted = True
            os.kill(os.getpid(), signal.SIGINT)
        return super().fingerprints(problem, submission)

    interrupted = False


def test_a_run_interrupted_while_it_writes_old_rows(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other rows are written afterwards, each once. The next run judges the remaining ones."""
    contest.write(*programs(*(f"1 // {n}" for n in range(200))))
    contest.run(ScriptedScorer())
    before = (contest.out / "results.jsonl").read_bytes()
    contest.write(*programs(*(f"1 // {n}" for n in range(201))))
    monkeypatch.setattr("ioi_eval.pipeline.dump_judge.BATCH_ROWS", 10)
    outcome = contest.run(Interrupting())
    assert outcome.interrupted
    assert 30 <= outcome.summary["this_run"]["resumed"] < 200, "the batch in which it was interrupted was written"
    assert (contest.out / "results.jsonl").read_bytes() == before
    scorer = ScriptedScorer()
    contest.run(scorer)
    assert scorer.judged == ["u200"]
    assert [row["uuid"] for row in contest.results()] == [f"u{n}" for n in range(201)]


def test_a_full_disk_ends_the_run_before_judging(contest: Contest) -> None:
    """The message names the file. The old results stay, and there is no other file."""
    rows = [{**row, "prompt": "x" * 3_000_000} for row in programs("1", "0.5", "0")]
    contest.write(*rows[:2])
    contest.run(ScriptedScorer())
    before = sorted((path.name, path.stat().st_size) for path in contest.out.glob("*.jsonl"))
    contest.write(*rows)
    (contest.out / ".results.jsonl.new").symlink_to("/dev/full")
    scorer = ScriptedScorer()
    with pytest.raises(
        SetupError, match=r"results\.jsonl cannot be written: No space left .* The results are in .*journal"
    ):
        contest.run(scorer)
    assert scorer.judged == []
    assert sorted((path.name, path.stat().st_size) for path in contest.out.glob("*.jsonl")) == before
    assert not list(contest.out.glob(".*.new"))
    contest.run(scorer)
    assert len(contest.results()) == 3
