"""Programs that are in a dump several times: each is judged once, and each row has a result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.config import Policy
from ioi_eval.fingerprint import Fingerprints
from ioi_eval.journal import Journal
from ioi_eval.model import Isolation, Problem, Profile, Submission
from ioi_eval.pipeline import window
from ioi_eval.pipeline.contest import ContestFamily
from ioi_eval.pipeline.result_store import ResultStore
from ioi_eval.pipeline.window import CODE_BYTES, FOLLOWERS, Leaders
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain
from tests.pipeline.scripted import Contest, ScriptedScorer, programs
from tests.pipeline.test_window import Program, candidate


def test_identical_programs_are_judged_once(contest: Contest, scorer: ScriptedScorer) -> None:
    """Copies have the result with their own id, and name the row that was judged."""
    contest.write(*programs("0.5", "1", "0.5", "0.5", "1"), {**programs("0.5", problem="tree")[0], "uuid": "t"})
    outcome = contest.run(scorer)
    assert sorted(scorer.judged) == ["t", "u0", "u1"]
    results = contest.results()
    assert [row["duplicate_of"] for row in results] == [None, None, "u0", "u0", "u1", None]
    assert [row["total_score"] for row in results] == [50, 100, 50, 50, 100, 50]
    assert outcome.summary["submissions"]["copies"] == 3
    assert outcome.summary["problems"][0]["verdicts"] == {"AC": 2, "PA": 3}


class Hashing(ScriptedScorer):
    """A scorer with the fingerprints of a real one."""

    def fingerprints(self, problem: Problem, submission: Submission) -> tuple[str, ...]:
        """One fingerprint, as there is one target."""
        toolchain = Toolchain(command="g++", version="12", machine="x86_64", static=True)
        target = Target(name="local", profile=Profile.BUNDLED, toolchain=toolchain, slots=1, isolation=Isolation.FULL)
        return (Fingerprints(Policy()).of(problem, submission, target),)


def test_a_program_in_a_column_or_a_text_is_the_same(contest: Contest) -> None:
    """It is judged once in two runs, and is not a copy of itself."""
    found = {"code": "1 0 1 // int main() {}\n"}, {"generation": "So:\n```cpp\n1 0 1 // int main() {}\n```\n"}
    ids = {"year": 2024, "problem_id": "nile"}

    def judged(*uuids: str) -> list[str]:
        contest.write(*({**ids, "uuid": uuid, **one} for uuid, one in zip(uuids, found, strict=True)))
        scorer = Hashing()
        assert contest.run(scorer).exit_code == 0
        return scorer.judged

    assert judged("a", "b") == ["a"]
    first, second = contest.results()
    assert (first["duplicate_of"], second["duplicate_of"], second["verdict"]) == (None, "a", first["verdict"])
    assert first["extraction"] != second["extraction"]
    assert judged("a", "b") == []
    assert contest.results() == [first, second]
    assert judged("b", "a") == []
    assert [(row["uuid"], row["duplicate_of"]) for row in contest.results()] == [("b", None), ("a", "b")]


def test_a_copy_names_a_row_of_the_dump(contest: Contest, scorer: ScriptedScorer) -> None:
    """The results are of another dump, whose submissions have other ids, or another order."""
    contest.write(*programs("1", "1", "0.5"))
    contest.run(scorer)
    contest.write(*({**row, "uuid": f"new{number}"} for number, row in enumerate(programs("1", "1", "0.5"))))
    summary = contest.run(scorer).summary
    assert [row["duplicate_of"] for row in contest.results()] == [None, "new0", None]
    assert (summary["submissions"]["copies"], summary["isolation"]) == (1, {"full": 2})
    assert min(summary["cpu_s"].values()) > 0
    contest.write(*reversed(programs("1", "1", "0.5")))
    contest.run(scorer)
    assert [(row["uuid"], row["duplicate_of"]) for row in contest.results()] == [
        ("u2", None),
        ("u1", None),
        ("u0", "u1"),
    ]
    assert scorer.judged == ["u0", "u2"]


def test_a_copy_names_no_row_that_is_refused(
    contest: Contest, scorer: ScriptedScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here the result of the first row cannot be written."""
    add_result = ContestFamily.add_result

    def refuse_first(self: ContestFamily, entry: Any, *rest: Any) -> Any:
        if entry.candidate.id == "u0":
            raise ValueError("odd")
        return add_result(self, entry, *rest)

    monkeypatch.setattr(ContestFamily, "add_result", refuse_first)
    contest.write(*programs("1", "1", "1"))
    contest.run(scorer)
    assert [row["duplicate_of"] for row in contest.results()] == [None, None, "u1"]


def test_later_copies_find_their_leader(contest: Contest, scorer: ScriptedScorer) -> None:
    """The leader may have been judged much earlier, or by an earlier run."""
    contest.write(*programs(*(f"1 // {n % 100}" for n in range(1000))))
    contest.run(scorer)
    assert len(scorer.judged) == 100
    contest.write(*programs(*(f"1 // {n % 100}" for n in range(1500))))
    contest.run(scorer)
    assert len(scorer.judged) == 100
    assert {row["duplicate_of"] for row in contest.results()[100:]} == {f"u{n}" for n in range(100)}


def test_only_waiting_copies_are_limited(contest: Contest) -> None:
    """The number of copies that wait for their leaders at one time is limited. The number of copies in a
    dump is not.
    """
    half = FOLLOWERS * 3 // 4
    contest.write(*programs(*["1"] * half, *["0.5"] * half))
    scorer = ScriptedScorer(held={"u0": f"u{half - 1}", f"u{half}": f"u{2 * half - 1}"})
    assert contest.run(scorer).exit_code == 0
    assert scorer.judged == ["u0", f"u{half}"]


def test_code_of_waiting_copies_is_limited(tmp_path: Path) -> None:
    """By its bytes, until the leader is judged: thousands of long programs need a gigabyte."""
    with Journal(tmp_path, options={}) as journal:
        waiting: Leaders[Program] = Leaders(journal, enabled=True)
        leader = candidate("a")
        assert waiting.lead(leader)
        for name, is_full in (("b", False), ("c", True)):
            assert not waiting.lead(replace(leader, id=name, size=CODE_BYTES // 2))
            assert waiting.full is is_full
        assert [follower.id for follower in waiting.finish(leader, "", None)] == ["b", "c"]
        assert not waiting.full


@pytest.mark.parametrize("text", ["1", "JE", "odd"])
def test_a_run_in_which_only_one_copy_may_wait(
    contest: Contest, scorer: ScriptedScorer, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Reading goes on when the leader is judged, also if a copy of it leads then."""
    monkeypatch.setattr(window, "CODE_BYTES", 1)
    contest.write(*programs(*[text, "0.5"] * 20))
    contest.run(scorer)
    assert len(contest.results()) == 40


def test_without_dedupe_all_are_judged(contest: Contest, scorer: ScriptedScorer) -> None:
    """For users who measure time, or who want to check the result."""
    contest.write(*programs("1", "1", "1"))
    contest.run(scorer, dedupe=False)
    assert scorer.judged == ["u0", "u1", "u2"]
    assert {row["duplicate_of"] for row in contest.results()} == {None}


def test_rows_without_code_are_no_copies_of_each_other(contest: Contest, scorer: ScriptedScorer) -> None:
    """They have no program that could be the same."""
    rows = [{**row, "generation": "I do not know."} for row in programs(None, None)]
    contest.write(*rows)
    outcome = contest.run(scorer)
    results = contest.results()
    assert [(row["verdict"], row["total_score"], row["duplicate_of"]) for row in results] == [("NC", 0, None)] * 2
    assert [(row["code"], row["code_compiles"], row["extraction"]) for row in results] == [(None, False, "none")] * 2
    assert outcome.exit_code == 0


def test_rows_without_code_are_judged_once_per_problem(contest: Contest, scorer: ScriptedScorer) -> None:
    """They have the same result and count as judged. With --no-dedupe each is judged, and the results are the same."""
    rows = [
        {**row, "generation": "I do not know.", "uuid": f"{row['problem_id']}-{n}"}
        for n, row in enumerate([*programs(*[None] * 70), *programs(*[None] * 3, problem="tree")])
    ]
    contest.write(*rows)
    outcome = contest.run(scorer)
    assert scorer.judged == ["nile-0", "tree-70"]
    run = outcome.summary["this_run"]
    assert (run["judged"], run["copies"], outcome.summary["submissions"]["copies"]) == (73, 0, 0)
    assert contest.progress.verdicts == ["NC"] * 73
    first = contest.results()
    assert [row["uuid"] for row in first] == [row["uuid"] for row in rows]
    assert contest.run(scorer).summary["this_run"]["resumed"] == 73
    contest.run(scorer, dedupe=False, resume=False)
    assert len(scorer.judged) == 2 + 73
    assert contest.results() == first


def test_rows_without_code_count_if_their_copies_were_stored(
    contest: Contest, scorer: ScriptedScorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not stored if the journal was changed from outside. Then the rows are judged by the next run."""
    contest.write(*programs(None, None, None))
    with monkeypatch.context() as patch:
        patch.setattr(ResultStore, "record_copies", lambda *_: [])
        summary = contest.run(scorer).summary
    assert (summary["this_run"]["judged"], summary["submissions"]["pending"]) == (1, 2)
    assert contest.run(scorer).summary["this_run"]["judged"] == 2


def test_a_judge_error_is_never_copied(contest: Contest, scorer: ScriptedScorer) -> None:
    """Each of the identical programs is judged."""
    contest.write(*programs("JE", "JE", "JE", "1 1 final", "1 1 final"))
    outcome = contest.run(scorer)
    assert sorted(scorer.judged) == ["u0", "u1", "u2", "u3", "u4"]
    assert {row["duplicate_of"] for row in contest.results()} == {None}
    assert outcome.summary["submissions"]["undecided"] == 5
