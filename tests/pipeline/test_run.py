"""From a dump to results: order, copies, resumption, failures of every kind."""

from __future__ import annotations

import asyncio
import re
import threading
from functools import partial

import orjson
import pytest

from ioi_eval.config import Policy
from ioi_eval.errors import InputError
from ioi_eval.fingerprint import Fingerprints
from ioi_eval.journal import Journal, Keys, RecordKind
from ioi_eval.model import Isolation, Problem, Submission, SubmissionResult
from ioi_eval.pipeline import RowSelection
from ioi_eval.pipeline.run import FOLLOWERS, GIVE_UP_AFTER
from ioi_eval.report.rows import OUR_COLUMNS, REFERENCE_COLUMNS, Unscored
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain
from tests.pipeline.scripted import NILE, Contest, ScriptedJudge, programs


def test_every_row_gets_its_result_in_the_dumps_order(contest: Contest, judge: ScriptedJudge) -> None:
    """Whatever the order of judging, row n of the results is row n of the dump, with all columns."""
    contest.write(*programs(*(f"{n % 3 / 2} // {n}" for n in range(50))))
    outcome = contest.run(judge)
    results = contest.results()
    assert [row["uuid"] for row in results] == [f"u{n}" for n in range(50)]
    assert [row["prompt"] for row in results] == [f"prompt {n}" for n in range(50)]
    assert [row["all_subtasks_points"] for row in results] == [n % 3 * 50 for n in range(50)]
    assert all({*REFERENCE_COLUMNS, *OUR_COLUMNS} <= row.keys() for row in results)
    assert outcome.exit_code == 0
    assert outcome.summary["complete"]


def test_no_more_are_judged_at_once_than_there_are_workers(contest: Contest, judge: ScriptedJudge) -> None:
    """All workers work, and there are no others."""
    contest.write(*programs(*(f"1 // {n}" for n in range(40))))
    contest.run(judge, workers=4)
    assert judge.most_at_once == 4


def test_identical_programs_are_judged_once(contest: Contest, judge: ScriptedJudge) -> None:
    """Copies have the result under their own name, and name their leader."""
    contest.write(*programs("0.5", "1", "0.5", "0.5", "1"), {**programs("0.5", problem="tree")[0], "uuid": "t"})
    outcome = contest.run(judge)
    assert sorted(judge.judged) == ["t", "u0", "u1"]
    results = contest.results()
    assert [row["duplicate_of"] for row in results] == [None, None, "u0", "u0", "u1", None]
    assert [row["total_score"] for row in results] == [50, 100, 50, 50, 100, 50]
    assert outcome.summary["submissions"]["copies"] == 3
    assert outcome.summary["problems"][0]["verdicts"] == {"AC": 2, "PA": 3}


class Hashing(ScriptedJudge):
    """With the fingerprints of a real judge."""

    def fingerprints(self, problem: Problem, submission: Submission) -> tuple[str, ...]:
        """One, as there is one way of judging."""
        toolchain = Toolchain(command="g++", version="12", machine="x86_64", static=True)
        target = Target(name="local", profile="bundled", toolchain=toolchain, slots=1, isolation=Isolation.FULL)
        return (Fingerprints(Policy()).of(problem, submission, target),)


def test_a_program_is_the_same_wherever_it_was_found(contest: Contest) -> None:
    """In a column or in a text: it is judged once, in a run and in the next one, and is no duplicate of itself."""
    found = {"code": "1 0 1 // int main() {}\n"}, {"generation": "So:\n```cpp\n1 0 1 // int main() {}\n```\n"}
    ids = {"year": 2024, "problem_id": "nile"}

    def judged(*uuids: str) -> list[str]:
        contest.write(*({**ids, "uuid": uuid, **one} for uuid, one in zip(uuids, found, strict=True)))
        judge = Hashing()
        assert contest.run(judge).exit_code == 0
        return judge.judged

    assert judged("a", "b") == ["a"]
    first, second = contest.results()
    assert (first["duplicate_of"], second["duplicate_of"], second["verdict"]) == (None, "a", first["verdict"])
    assert first["extraction"] != second["extraction"]
    assert judged("a", "b") == []
    assert contest.results() == [first, second]
    assert judged("b", "a") == []
    assert [(row["uuid"], row["duplicate_of"]) for row in contest.results()] == [("b", "a"), ("a", None)]


def test_copies_that_come_much_later_find_their_leader(contest: Contest, judge: ScriptedJudge) -> None:
    """The leader may have been judged long before, or by an earlier run."""
    contest.write(*programs(*(f"1 // {n % 100}" for n in range(1000))))
    contest.run(judge)
    assert len(judge.judged) == 100
    contest.write(*programs(*(f"1 // {n % 100}" for n in range(1500))))
    contest.run(judge)
    assert len(judge.judged) == 100
    assert {row["duplicate_of"] for row in contest.results()[100:]} == {f"u{n}" for n in range(100)}


def test_copies_that_are_done_wait_no_more(contest: Contest) -> None:
    """How many may wait for leaders at a time is bounded; how many there are in a dump is not."""
    half = FOLLOWERS * 3 // 4
    contest.write(*programs(*["1"] * half, *["0.5"] * half))
    judge = ScriptedJudge(held={"u0": f"u{half - 1}", f"u{half}": f"u{2 * half - 1}"})
    assert contest.run(judge).exit_code == 0
    assert judge.judged == ["u0", f"u{half}"]


def test_without_dedupe_all_are_judged(contest: Contest, judge: ScriptedJudge) -> None:
    """For who measures time, or does not trust us."""
    contest.write(*programs("1", "1", "1"))
    contest.run(judge, dedupe=False)
    assert judge.judged == ["u0", "u1", "u2"]
    assert {row["duplicate_of"] for row in contest.results()} == {None}


def test_rows_without_code_are_no_copies_of_each_other(contest: Contest, judge: ScriptedJudge) -> None:
    """There is no program that could be the same."""
    rows = [{**row, "generation": "I do not know."} for row in programs(None, None)]
    contest.write(*rows)
    outcome = contest.run(judge)
    results = contest.results()
    assert [(row["verdict"], row["total_score"], row["duplicate_of"]) for row in results] == [("NC", 0, None)] * 2
    assert [(row["code"], row["code_compiles"], row["extraction"]) for row in results] == [(None, False, "none")] * 2
    assert outcome.exit_code == 0


def test_rows_without_code_are_judged_once_a_problem(contest: Contest, judge: ScriptedJudge) -> None:
    """They come to the same, and count as judged; with --no-dedupe each is judged, and the results are the same."""
    rows = [
        {**row, "generation": "I do not know.", "uuid": f"{row['problem_id']}-{n}"}
        for n, row in enumerate([*programs(*[None] * 70), *programs(*[None] * 3, problem="tree")])
    ]
    contest.write(*rows)
    outcome = contest.run(judge)
    assert judge.judged == ["nile-0", "tree-70"]
    run = outcome.summary["this_run"]
    assert (run["judged"], run["copies"], outcome.summary["submissions"]["copies"]) == (73, 0, 0)
    assert contest.progress.verdicts == ["NC"] * 73
    first = contest.results()
    assert [row["uuid"] for row in first] == [row["uuid"] for row in rows]
    assert contest.run(judge).summary["this_run"]["resumed"] == 73
    contest.run(judge, dedupe=False, resume=False)
    assert len(judge.judged) == 2 + 73
    assert contest.results() == first


def test_a_second_run_judges_nothing_and_writes_the_same(contest: Contest, judge: ScriptedJudge) -> None:
    """What is in the journal is done."""
    contest.write(*programs("0.5", "1", "0.5", "CE", None))
    contest.run(judge)
    first = (contest.out / "results.jsonl").read_bytes()
    judged = list(judge.judged)
    outcome = contest.run(judge)
    assert judge.judged == judged
    assert (contest.out / "results.jsonl").read_bytes() == first
    assert outcome.summary["this_run"]["resumed"] == 5
    assert contest.progress.verdicts == ["resumed"] * 5


def test_another_way_of_judging_judges_again(contest: Contest) -> None:
    """A fingerprint that changed makes another submission of it."""
    contest.write(*programs("0.5", "1"))
    contest.run(ScriptedJudge("1"))
    judge = ScriptedJudge("2")
    contest.run(judge)
    assert sorted(judge.judged) == ["u0", "u1"]
    assert len(contest.results()) == 2


def test_starting_over_judges_again(contest: Contest, judge: ScriptedJudge) -> None:
    """`--no-resume`."""
    contest.write(*programs("1"))
    contest.run(judge)
    contest.run(judge, resume=False)
    assert judge.judged == ["u0", "u0"]


def test_our_failure_is_no_score_and_is_judged_again(contest: Contest, judge: ScriptedJudge) -> None:
    """JE: in the results of this run, in its exit code, and never in the journal."""
    contest.write(*programs("1", "JE"))
    outcome = contest.run(judge)
    assert outcome.exit_code == 1
    failed = contest.results()[1]
    assert (failed["verdict"], failed["total_score"], failed["code_compiles"]) == ("JE", None, None)
    assert failed["error"] == "the answer was cut off"
    assert [s["score"] for s in failed["all_subtasks_results"]] == [None] * 3
    assert outcome.summary["submissions"] == {
        "rows": 2, "scored": 1, "undecided": 1, "refused": 0, "pending": 0, "copies": 0,
    }  # fmt: skip
    assert outcome.summary["undecided"] == [
        {"submission": "u1", "problem": "2024/nile", "error": "the answer was cut off"}
    ]
    assert b"cut off" not in (contest.out / "journal").read_bytes()
    contest.run(judge)
    assert judge.judged == ["u0", "u1", "u1"]


def test_a_judge_error_is_never_copied(contest: Contest, judge: ScriptedJudge) -> None:
    """Every one of the identical programs is tried itself."""
    contest.write(*programs("JE", "JE", "JE", "1 1 final", "1 1 final"))
    outcome = contest.run(judge)
    assert sorted(judge.judged) == ["u0", "u1", "u2", "u3", "u4"]
    assert {row["duplicate_of"] for row in contest.results()} == {None}
    assert outcome.summary["submissions"]["undecided"] == 5


def test_a_judge_programs_failure_is_final_until_asked_for(contest: Contest, judge: ScriptedJudge) -> None:
    """It would only happen again: `--retry-failed` tries it nevertheless."""
    contest.write(*programs("1 1 final", "1"))
    assert contest.run(judge).exit_code == 1
    row = contest.results()[0]
    assert (row["verdict"], row["total_score"]) == ("JE", None)
    assert row["error"] == "test 2-01: checker crashed"
    assert [s["score"] for s in row["all_subtasks_results"]] == [1, 1, None]
    assert contest.run(judge).exit_code == 1
    assert judge.judged == ["u0", "u1"]
    contest.run(judge, retry_failed=True)
    assert judge.judged == ["u0", "u1", "u0"]


def test_unknown_scores_can_be_written_as_zero(contest: Contest, judge: ScriptedJudge) -> None:
    """For training loops that take numbers only; the verdict still says JE, and so does the exit code."""
    contest.write(*programs("1 1 final"))
    assert contest.run(judge, unscored=Unscored.ZERO).exit_code == 1
    row = contest.results()[0]
    assert (row["verdict"], row["total_score"], row["all_subtasks_points"]) == ("JE", 40, 40)
    assert [s["weighted_score"] for s in row["all_subtasks_results"]] == [0, 40, 0]


def test_what_cannot_be_judged_is_listed_and_the_rest_is_scored(contest: Contest, judge: ScriptedJudge) -> None:
    """Each reason is named with its rows; each row is in the results, without a score."""
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
    outcome = contest.run(judge)
    assert outcome.exit_code == 1
    assert judge.judged == ["u0"]
    refused = {one["reason"]: one for one in outcome.summary["refused"]}
    reasons = "\n".join(refused)
    for words in (
        "unknown problem 2024/nil: it is not in --problems",
        "unknown problem 1999/nile: it is not in --problems",
        "the same uuid and problem as an earlier row",
        "uuid is missing; the row has: year, problem_id, code, id. Name another with --id-column",
        "problem_id is missing (a text is needed); the row has: year, code, uuid",
        "there is none of code, generation, messages; the row has: year, problem_id, uuid",
        "its language is pascal",
    ):
        assert words in reasons
    same = refused["the same uuid and problem as an earlier row"]
    assert same["examples"][0].startswith(
        f"{contest.dump}, row 4: uuid 'u0' of problem 2024/nile stands in row 1 already"
    )
    results = contest.results()
    assert len(results) == 8
    assert [row["total_score"] for row in results] == [100] + [None] * 7
    assert all(row["error"] for row in results[1:])
    assert outcome.summary["submissions"]["refused"] == 7


def test_a_row_with_several_programs_has_a_result_for_each(contest: Contest, judge: ScriptedJudge) -> None:
    """Named after the row, counted each, and found again when the run goes on."""
    row = {"year": 2024, "problem_id": "nile", "uuid": "u", "model": "m"}
    texts = ["```cpp\n1\n```", "```cpp\n0.5\n```"]
    contest.write({**row, "generation": texts}, {**row, "uuid": "v", "code": ["1", "1", None]})
    outcome = contest.run(judge)
    assert outcome.exit_code == 0
    assert [(r["uuid"], r["model"], r["total_score"]) for r in contest.results()] == [
        ("u/0", "m", 100), ("u/1", "m", 50), ("v/0", "m", 100), ("v/1", "m", 100), ("v/2", "m", 0),
    ]  # fmt: skip
    assert [r.get("generation") for r in contest.results()[:2]] == texts
    assert outcome.summary["submissions"]["rows"] == 5
    again = contest.run(other := ScriptedJudge())
    assert (again.exit_code, other.judged) == (0, [])


def test_lists_that_do_not_fit_are_one_refused_row(contest: Contest, judge: ScriptedJudge) -> None:
    """The others are judged."""
    bad = {"year": 2024, "problem_id": "nile", "uuid": "u", "code": ["1"], "generation": ["1", "2"]}
    contest.write(bad, *programs("1"))
    outcome = contest.run(judge)
    assert outcome.exit_code == 1
    assert [r["total_score"] for r in contest.results()] == [None, 100]
    assert "differ in length: code 1, generation 2" in contest.results()[0]["error"]


def test_the_same_id_for_two_problems_is_two_submissions(contest: Contest, judge: ScriptedJudge) -> None:
    """Ids need be unique only within a problem."""
    contest.write(*programs("1"), *programs("0.5", problem="tree"))
    assert contest.run(judge).exit_code == 0
    assert [row["total_score"] for row in contest.results()] == [100, 50]


def test_only_the_selected_rows_are_judged_and_written(contest: Contest, judge: ScriptedJudge) -> None:
    """`--year`, `--problem`, `--limit`: the limit counts rows of those."""
    contest.write(*programs("1 //a", problem="tree"), *programs("1", "1 //b", "1 //c"))
    contest.run(judge, selection=RowSelection(years=frozenset({2024}), problems=frozenset({"nile"}), limit=2))
    assert [row["uuid"] for row in contest.results()] == ["u0", "u1"]
    assert {row["problem_id"] for row in contest.results()} == {"nile"}


def test_a_dead_cluster_ends_the_run_and_it_goes_on_later(contest: Contest, judge: ScriptedJudge) -> None:
    """No endpoint left: everything else is left for the next run."""
    contest.write(*programs("1", "gone", *(f"1 // {n}" for n in range(500))))
    outcome = contest.run(judge, workers=1)
    assert outcome.exit_code == 1
    assert outcome.stopped_by == "no endpoint left for 60 s"
    assert outcome.summary["interrupted"]
    assert outcome.summary["submissions"]["pending"] > 200
    contest.write(*programs("1", "1 // again", *(f"1 // {n}" for n in range(500))))
    assert contest.run(judge).exit_code == 0
    assert len(contest.results()) == 502


def test_a_sandbox_that_always_fails_ends_the_run(contest: Contest, judge: ScriptedJudge) -> None:
    """A million rows need not all say the same."""
    contest.write(*programs(*(f"JE // {n}" for n in range(1000))))
    outcome = contest.run(judge)
    assert outcome.exit_code == 1
    assert 100 <= len(judge.judged) <= 105
    assert "100 submissions in a row" in str(outcome.stopped_by)


def test_rows_without_a_program_do_not_say_that_the_sandbox_works(contest: Contest, judge: ScriptedJudge) -> None:
    """They need none, so they do not put off the end of a run in which all else fails."""
    texts = [f"JE // {number}" if number % 5 == 0 else None for number in range(3000)]  # 51 in a batch
    contest.write(*programs(*texts))
    outcome = contest.run(judge, workers=1, dedupe=False)
    assert "100 submissions in a row" in str(outcome.stopped_by)


def test_failures_with_results_between_them_do_not_end_the_run(contest: Contest, judge: ScriptedJudge) -> None:
    """A sandbox that judges one in sixty is slow to be of use, and not broken."""
    failing = [f"JE // {number}" for number in range(120)]
    contest.write(*programs(*failing[:60], "1", *failing[60:], "0.5"))
    outcome = contest.run(judge, workers=1)
    assert (outcome.stopped_by, outcome.exit_code) == (None, 1)
    assert len(judge.judged) == 122


def test_problems_that_cannot_be_judged_here_do_not_end_the_run(contest: Contest, judge: ScriptedJudge) -> None:
    """A thousand refusals of one problem say nothing of the sandbox, and others are judged behind them."""
    contest.write(*programs(*(f"unfit // {n}" for n in range(150)), "1"))
    outcome = contest.run(judge, workers=1)
    assert (outcome.stopped_by, outcome.exit_code) == (None, 1)
    assert len(judge.judged) == 151
    assert outcome.summary["submissions"]["scored"] == 1


class Patient(ScriptedJudge):
    """Judges its second submission when the journal has the first one on the disk itself."""

    def __init__(self) -> None:
        super().__init__()
        self.synced = threading.Event()

    async def score(self, problem: Problem, submission: Submission, *, exhaustive: bool = False) -> SubmissionResult:
        """Wait, if it is the second."""
        if self.judged:
            assert await asyncio.to_thread(self.synced.wait, 60)
        return await super().score(problem, submission, exhaustive=exhaustive)


def test_results_reach_the_disk_while_nothing_new_comes(contest: Contest) -> None:
    """A power cut during a long submission does not cost those before it."""
    contest.write(*programs("1", "0.5"))
    judge = Patient()

    class Watched(Journal):
        def sync(self) -> None:
            super().sync()
            judge.synced.set()

    assert contest.run(judge, workers=1, journal=partial(Watched, sync_s=0.5)).exit_code == 0


def test_a_bug_of_ours_ends_the_run_loudly(contest: Contest, judge: ScriptedJudge) -> None:
    """It is never a verdict; what was judged before it stays."""
    contest.write(*programs("1", "bug"))
    with pytest.raises(ExceptionGroup) as caught:
        contest.run(judge, workers=1)
    assert caught.group_contains(AssertionError)
    contest.write(*programs("1", "0.5"))
    contest.run(judge)
    assert judge.judged == ["u0", "u1", "u1"]


def test_a_fault_of_ours_over_one_row_is_that_rows(contest: Contest, judge: ScriptedJudge) -> None:
    """It has no score, says where we failed, and is judged again; the others go on, however many of them there are."""
    contest.write(*programs("1", *(f"odd // {n}" for n in range(GIVE_UP_AFTER + 10)), "0.5"))
    outcome = contest.run(judge, workers=1)
    assert outcome.exit_code == 1
    found = contest.results()
    assert [found[place]["total_score"] for place in (0, 1, -2, -1)] == [100, None, None, 50]
    assert found[1]["verdict"] == "JE"
    words = (
        r"judging this row failed in ioi-eval itself( \(\w+\.py, line \d+\))?: ValueError: an odd row; please report"
    )
    assert re.match(words, found[1]["error"])
    judge.judged.clear()
    contest.run(judge, workers=1)
    assert len(judge.judged) == GIVE_UP_AFTER + 10


def test_what_cannot_be_written_down_costs_its_row_only(contest: Contest, judge: ScriptedJudge) -> None:
    """A result that no journal can hold is that row's failure."""
    contest.write(*programs("1", "0.5 // huge", "0.5"))

    class Picky(Journal):
        def append(self, kind: RecordKind, keys: Keys, body: bytes) -> int:
            if b'"u1"' in body:
                raise TypeError("integer exceeds 64 bits")
            return super().append(kind, keys, body)

    assert contest.run(judge, journal=Picky).exit_code == 1
    found = contest.results()
    assert [row["total_score"] for row in found] == [100, None, 50]
    assert "recording this row failed in ioi-eval itself" in found[1]["error"]


def test_a_dump_that_breaks_off_is_an_error_with_its_line(contest: Contest, judge: ScriptedJudge) -> None:
    """Also if it happens only after the run has begun."""
    contest.write(*programs("1", "1 //b"))
    with contest.dump.open("ab") as file:
        file.write(b'{"uuid": "torn", "ye')
    with pytest.raises(InputError, match="row 3: is not JSON"):
        contest.run(judge)


def test_columns_that_have_our_names_are_kept(contest: Contest, judge: ScriptedJudge) -> None:
    """A dump's own `verdict` goes on as `dump_verdict`; results that are judged again do not pile up columns."""
    contest.write({**programs("0.5")[0], "verdict": "looks good", "target_subtask_score": 0.25, "subtask": "02-full"})
    contest.run(judge)
    row = contest.results()[0]
    assert (row["dump_verdict"], row["verdict"]) == ("looks good", "PA")
    assert (row["target_subtask"], row["target_subtask_score"], row["target_subtask_status"]) == ("02-full", 0.5, "PA")
    contest.write(row)
    contest.run(judge)
    assert contest.results()[0].keys() == row.keys()


def test_results_of_the_tests_are_there(contest: Contest, judge: ScriptedJudge) -> None:
    """Time, memory, the checker's words, what was attempted: in the reference's columns and ours."""
    contest.write({**programs("1 0 socket")[0], "subtask": "01-easy"})
    contest.run(judge)
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


def test_the_summary_adds_up(contest: Contest, judge: ScriptedJudge) -> None:
    """Best scores per subtask, the sum over them, CPU, isolation, notes; practice problems are no part of a contest."""
    contest.write(*programs("1 1 0", "0.5 0.5 0.5", "CE"), *programs("1", problem="tree"))
    summary = contest.run(judge).summary
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
