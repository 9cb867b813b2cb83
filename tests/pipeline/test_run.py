"""From a dump to results: order, resumption, selection of rows, and columns of the results."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from functools import partial

import orjson

from ioi_eval.journal import Journal
from ioi_eval.model import Problem, Submission, SubmissionResult
from ioi_eval.pipeline.contest_dump import RowSelection
from ioi_eval.pipeline.dump_judge import BATCH_ROWS
from ioi_eval.problems.submissions import MAX_CODE_BYTES
from ioi_eval.report.rows import CONTEST_RESULT_COLUMNS
from tests.pipeline.scripted import NILE, Contest, ScriptedScorer, programs


def test_results_are_in_the_order_of_the_dump(contest: Contest, scorer: ScriptedScorer) -> None:
    """In any order of judging, row n of the results is for row n of the dump, with all its columns."""
    contest.write(*programs(*(f"{n % 3 / 2} // {n}" for n in range(50))))
    outcome = contest.run(scorer)
    results = contest.results()
    assert [row["uuid"] for row in results] == [f"u{n}" for n in range(50)]
    assert [row["prompt"] for row in results] == [f"prompt {n}" for n in range(50)]
    assert [row["all_subtasks_points"] for row in results] == [n % 3 * 50 for n in range(50)]
    assert all({*CONTEST_RESULT_COLUMNS} - {"tests_id"} <= row.keys() for row in results)
    assert outcome.exit_code == 0
    assert outcome.summary["complete"]


def test_the_display_counts_programs_that_are_not_compiled_as_done_only(
    contest: Contest, scorer: ScriptedScorer
) -> None:
    """They take no time. The time that is left is estimated from those that are run."""
    contest.write(*programs("0.5", "CE", None, *["1".ljust(MAX_CODE_BYTES + 1)] * 3))
    contest.run(scorer)
    assert Counter(contest.progress.verdicts) == {"PA": 1, "CE": 4, "NC": 1}
    assert (contest.progress.tally.queued, contest.progress.tally.judged) == (2, 2)


def test_no_more_are_judged_at_once_than_there_are_workers(contest: Contest, scorer: ScriptedScorer) -> None:
    """All workers are used, and never more."""
    contest.write(*programs(*(f"1 // {n}" for n in range(40))))
    contest.run(scorer, jobs_at_once=4)
    assert scorer.max_at_once == 4


def test_more_are_judged_at_once_when_workers_have_joined(contest: Contest, scorer: ScriptedScorer) -> None:
    """One worker at first, and five after three submissions; those that leave again do not end the run."""
    contest.write(*programs(*(f"1 // {n}" for n in range(40))))
    joined = [1, 1, 1, 5, 5, 5, 5, 5, 0]
    outcome = contest.run(scorer, jobs_at_once=1, jobs_now=lambda: joined[min(len(scorer.judged), 8)])
    assert outcome.exit_code == 0
    assert scorer.max_at_once == 5
    assert outcome.summary["this_run"]["workers"] == 5


def test_rows_without_a_program_do_not_make_a_problem_seem_short(contest: Contest) -> None:
    """How long a submission takes is estimated from programs that were judged; without any, it is the most it may take.

    While the first program of *tree* is judged, programs of *nile* and *tree* wait. That of *nile* is taken first.
    """
    empty = [{"uuid": f"e{number}", "problem_id": "nile", "code": ""} for number in range(2 * BATCH_ROWS - 3)]
    waiting = [("first", "tree"), ("short", "tree"), ("unknown", "nile")]
    contest.write(
        *empty[:BATCH_ROWS],
        *({"uuid": name, "problem_id": problem, "code": f"1 //{name}"} for name, problem in waiting),
        *empty[BATCH_ROWS:],
        {"uuid": "next", "problem_id": "tree", "code": ""},  # it is read when those that wait are in the window
    )
    scorer = ScriptedScorer(held={"first": "next"})
    contest.run(scorer, jobs_at_once=1)
    assert [name for name in scorer.judged if name in dict(waiting)] == ["first", "unknown", "short"]


def test_a_second_run_judges_nothing(contest: Contest, scorer: ScriptedScorer) -> None:
    """Stored results are used, and the files are the same."""
    contest.write(*programs("0.5", "1", "0.5", "CE", None))
    contest.run(scorer)
    first = (contest.out / "results.jsonl").read_bytes()
    judged = list(scorer.judged)
    outcome = contest.run(scorer)
    assert scorer.judged == judged
    assert (contest.out / "results.jsonl").read_bytes() == first
    assert outcome.summary["this_run"]["resumed"] == 5
    assert contest.progress.verdicts == ["resumed"] * 5


def test_another_fingerprint_judges_again(contest: Contest) -> None:
    """Stored results count only for the same fingerprint."""
    contest.write(*programs("0.5", "1"))
    contest.run(ScriptedScorer("1"))
    scorer = ScriptedScorer("2")
    contest.run(scorer)
    assert sorted(scorer.judged) == ["u0", "u1"]
    assert len(contest.results()) == 2


def test_no_resume_judges_again(contest: Contest, scorer: ScriptedScorer) -> None:
    """With `--no-resume`, stored results are not used."""
    contest.write(*programs("1"))
    contest.run(scorer)
    contest.run(scorer, resume=False)
    assert scorer.judged == ["u0", "u0"]


def test_rows_that_cannot_be_judged_are_listed(contest: Contest, scorer: ScriptedScorer) -> None:
    """Each reason is listed with its rows. Each row is in the results, without a score. The other rows are scored."""
    good = programs("1")[0]
    contest.write(
        good,
        {**good, "uuid": "a", "problem_id": "nil"},
        {**good, "uuid": "b", "year": 1999},
        {**good, "code": "0.5"},
        {"year": 2024, "problem_id": "nile", "code": "1", "id": 7},
        {"year": 2024, "code": "1", "uuid": "c"},
        {"year": 2024, "problem_id": "nile", "uuid": "d"},
        {**good, "uuid": "e", "language": "pascal"},
    )
    outcome = contest.run(scorer)
    assert outcome.exit_code == 1
    assert scorer.judged == ["u0"]
    refused = {one["reason"]: one for one in outcome.summary["refused"]}
    reasons = "\n".join(refused)
    for words in (
        "unknown problem 2024/nil: it is not in --problems",
        "unknown problem 1999/nile: it is not in --problems",
        "the same uuid and problem as an earlier row",
        "uuid is missing; the row has: year, problem_id, code, id. Name another with --id-column (id_column= in ",
        "problem_id is missing (a text is needed); the row has: year, code, uuid",
        "the row has no program: it needs one of the columns code, generation, messages, source_files or "
        "(submitted outputs) outputs or files; its columns are: year, problem_id, uuid",
        "its language is pascal",
    ):
        assert words in reasons
    same = refused["the same uuid and problem as an earlier row"]
    assert same["examples"][0].startswith(f"{contest.dump}, row 4: uuid 'u0' of problem 2024/nile is already in row 1")
    results = contest.results()
    assert len(results) == 8
    assert [row["total_score"] for row in results] == [100] + [None] * 7
    assert all(row["error"] for row in results[1:])
    assert outcome.summary["submissions"]["refused"] == 7


def test_a_row_with_several_programs_has_a_result_for_each(contest: Contest, scorer: ScriptedScorer) -> None:
    """Each result has an id made from the row's id, counts by itself, and is found again by the next run."""
    row = {"year": 2024, "problem_id": "nile", "uuid": "u", "model": "m"}
    texts = ["```cpp\n1\n```", "```cpp\n0.5\n```"]
    contest.write({**row, "generation": texts}, {**row, "uuid": "v", "code": ["1", "1", None]})
    outcome = contest.run(scorer)
    assert outcome.exit_code == 0
    assert [(r["uuid"], r["model"], r["total_score"]) for r in contest.results()] == [
        ("u/0", "m", 100), ("u/1", "m", 50), ("v/0", "m", 100), ("v/1", "m", 100), ("v/2", "m", 0),
    ]  # fmt: skip
    assert [r.get("generation") for r in contest.results()[:2]] == texts
    assert outcome.summary["submissions"]["rows"] == 5
    again = contest.run(other := ScriptedScorer())
    assert (again.exit_code, other.judged) == (0, [])


def test_lists_of_different_length_are_one_refused_row(contest: Contest, scorer: ScriptedScorer) -> None:
    """The other rows are judged."""
    bad = {"year": 2024, "problem_id": "nile", "uuid": "u", "code": ["1"], "generation": ["1", "2"]}
    contest.write(bad, *programs("1"))
    outcome = contest.run(scorer)
    assert outcome.exit_code == 1
    assert [r["total_score"] for r in contest.results()] == [None, 100]
    assert "differ in length: code 1, generation 2" in contest.results()[0]["error"]


def test_the_same_id_for_two_problems_is_two_submissions(contest: Contest, scorer: ScriptedScorer) -> None:
    """Ids must be unique only within a problem."""
    contest.write(*programs("1"), *programs("0.5", problem="tree"))
    assert contest.run(scorer).exit_code == 0
    assert [row["total_score"] for row in contest.results()] == [100, 50]


def test_only_the_selected_rows_are_judged_and_written(contest: Contest, scorer: ScriptedScorer) -> None:
    """`--year`, `--problem` and `--limit`. The limit counts selected rows."""
    contest.write(*programs("1 //a", problem="tree"), *programs("1", "1 //b", "1 //c"))
    contest.run(scorer, selection=RowSelection(years=frozenset({2024}), problems=frozenset({"nile"}), limit=2))
    assert [row["uuid"] for row in contest.results()] == ["u0", "u1"]
    assert {row["problem_id"] for row in contest.results()} == {"nile"}


class Patient(ScriptedScorer):
    """Judges its second submission only after the journal has been synced with the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.synced = threading.Event()

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """Wait if it is the second one."""
        if self.judged:
            assert await asyncio.to_thread(self.synced.wait, 60)
        return await super().score(problem, submission, exhaustive=exhaustive)


def test_results_are_synced_while_a_submission_takes_long(contest: Contest) -> None:
    """A power failure during a long submission does not lose the ones before it."""
    contest.write(*programs("1", "0.5"))
    scorer = Patient()

    class Watched(Journal):
        def sync(self) -> None:
            super().sync()
            scorer.synced.set()

    assert contest.run(scorer, jobs_at_once=1, journal=partial(Watched, sync_s=0.5)).exit_code == 0


def test_columns_with_our_names_are_renamed(contest: Contest, scorer: ScriptedScorer) -> None:
    """A dump's own `verdict` becomes `dump_verdict`. If results are judged again, no further columns are added."""
    contest.write({**programs("0.5")[0], "verdict": "looks good", "target_subtask_score": 0.25, "subtask": "02-full"})
    contest.run(scorer)
    row = contest.results()[0]
    assert (row["dump_verdict"], row["verdict"]) == ("looks good", "PA")
    assert (row["target_subtask"], row["target_subtask_score"], row["target_subtask_status"]) == ("02-full", 0.5, "PA")
    contest.write(row)
    contest.run(scorer)
    assert contest.results()[0].keys() == row.keys()


def test_results_contain_the_tests(contest: Contest, scorer: ScriptedScorer) -> None:
    """Time, memory, the checker's message and refused calls, in the reference's columns and in ours."""
    contest.write({**programs("1 0 socket")[0], "subtask": "01-easy"})
    contest.run(scorer)
    row = contest.results()[0]
    easy = row["all_subtasks_results"][1]
    assert {name: easy[name] for name in easy if name != "test_results"} == {
        "problem": "nile", "subtask": "01-easy", "score": 0, "weighted_score": 0, "points": 40,
        "score_precision": 2, "status": "WA",
    }  # fmt: skip
    assert easy["test_results"][1] == {
        "test_name": "1-01", "score": 0, "status": "WA", "feedback": "translate:wrong", "time_s": 0.0125,
        "wall_time_s": 0.02, "memory_bytes": 1_000_000, "exit_code": None, "signal": None, "near_limit": False,
        "limit": None, "reran": False, "attempted": [{"call": "socket", "count": 2}], "stderr": "",
    }  # fmt: skip
    assert row["attempted"] == [{"call": "socket", "count": 4}]
    assert (row["cpu_s"], row["isolation"], row["code_compiles"]) == (0.025, "full", True)
    assert row["all_subtasks_results"][2]["test_results"][2]["status"] == "SKIPPED"


def test_the_summary_adds_up(contest: Contest, scorer: ScriptedScorer) -> None:
    """Best scores per subtask, their sum, CPU time, isolation, notes. Practice problems count in no contest."""
    contest.write(*programs("1 1 0", "0.5 0.5 0.5", "CE"), *programs("1", problem="tree"))
    summary = contest.run(scorer).summary
    assert summary == orjson.loads((contest.out / "summary.json").read_bytes())
    nile, tree = summary["problems"]
    assert (nile["problem"], nile["best_score"], nile["best_submission"]) == ("nile", 50, "u1")
    assert nile["all_submissions_score"] == 70
    assert [(s["best_points"], s["best_submission"]) for s in nile["subtasks"]] == [(0, "u0"), (40, "u0"), (30, "u1")]
    assert (tree["best_score"], tree["solved"]) == (100, 1)
    assert [(c["problems"], c["all_submissions_score"], c["points"]) for c in summary["contests"]] == [(1, 70, 100)]
    assert summary["pass_at_k"] == {"1": 0.5}
    assert summary["isolation"] == {"full": 3}
    assert summary["verdicts"] == {"AC": 1, "PA": 1, "WA": 1, "CE": 1}
    assert summary["this_run"]["cpu_s"]["compile"] == 1.6
    assert summary["notes"] == [f"problem 2024/nile: {NILE.notes[0]}"]
    assert "# Results" in (contest.out / "report.md").read_text()
