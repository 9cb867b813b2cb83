"""Fifty submissions are chosen as a contestant could choose them, without knowing their scores."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.selection import (
    ResultRow,
    random_scores,
    select,
    select_as_reference,
    select_by_oracle,
    select_first,
    selected_score,
)

SUBTASKS = ("00-samples", "01-small", "02-large")
POINTS = (0, 40, 60)


def make_row(target: str | None, scores: tuple[float | None, ...] = (1.0, 0.0, 0.0), **columns: Any) -> ResultRow:
    """A result row with a score for each subtask; further columns replace the usual ones, `...` removes one."""
    results = [
        {
            "subtask": name,
            "points": points,
            "score": score,
            "weighted_score": None if score is None else round(score * points, 2),
            "status": "JE" if score is None else "AC" if score == 1.0 else "PA" if score else "WA",
        }
        for name, points, score in zip(SUBTASKS, POINTS, scores, strict=True)
    ]
    row = {
        "target_subtask": target,
        "code": "int main() {}",
        "code_compiles": True,
        "all_subtasks_results": results,
        "metadata": {"usage": {"completion_tokens": 100}},
        **columns,
    }
    return {name: value for name, value in row.items() if value is not ...}


def test_turns_go_from_the_last_subtask_to_the_first() -> None:
    """The subtasks take turns, the last one first; each hands in one of its generations. Those for the samples only
    fill up.
    """
    rows = [
        make_row(target) for target in (SUBTASKS[0], SUBTASKS[1], SUBTASKS[1], SUBTASKS[2], SUBTASKS[2], SUBTASKS[2])
    ]
    assert select(rows) == (3, 1, 4, 2, 5, 0)


def test_order_of_submissions_within_a_subtask() -> None:
    """The score on the samples counts first, then the length of the reasoning. Equal rows are in dump order."""

    def row(samples: float, tokens: int) -> ResultRow:
        return make_row(SUBTASKS[1], (samples, 0.0, 0.0), metadata={"usage": {"completion_tokens": tokens}})

    rows = [row(0.0, 900), row(1.0, 100), row(1.0, 300), row(0.5, 999), row(1.0, 300)]
    assert select(rows) == (2, 4, 1, 3, 0)


def test_solved_subtasks_get_no_more_turns() -> None:
    """If any submission solved a subtask, that subtask gets no more turns. The others get its share."""
    solves_large = make_row(SUBTASKS[2], (1.0, 0.0, 1.0))
    rows = [solves_large, *[make_row(SUBTASKS[2])] * 60, *[make_row(SUBTASKS[1])] * 59]
    rows.append(make_row(SUBTASKS[1], (0.0, 1.0, 0.0), metadata={"usage": {"completion_tokens": 1}}))
    chosen = select(rows, limit=61)
    assert chosen[0] == 0
    assert chosen[1:] == tuple(range(61, 121))
    assert selected_score(rows, chosen) == 100.0
    assert selected_score(rows, select(rows, limit=60)) == 60.0


def test_a_submission_may_solve_a_subtask_that_was_not_its_target() -> None:
    """A subtask is solved whichever submission solved it."""
    rows = [make_row(SUBTASKS[2], (1.0, 1.0, 0.5)), make_row(SUBTASKS[1]), make_row(SUBTASKS[2])]
    assert select(rows) == (0, 2, 1)


def test_solved_needs_the_verdict_ac() -> None:
    """The reference's scores are rounded: 0.9999 is shown as 1.0, and its verdict is PA."""
    nearly = make_row(SUBTASKS[2], (1.0, 0.0, 1.0))
    nearly["all_subtasks_results"][2]["status"] = "PA"
    half = make_row(SUBTASKS[2], (1.0, 0.0, 0.5))
    for result in half["all_subtasks_results"]:
        result["status"] = None
    for first in (nearly, half):
        rows = [first, make_row(SUBTASKS[1]), make_row(SUBTASKS[2]), make_row(SUBTASKS[1])]
        assert select(rows) == (0, 1, 2, 3)


def test_the_rest_is_filled_up_from_all_subtasks() -> None:
    """If no subtask has a turn left, the remaining rows follow by samples and length. Among equal rows later subtasks
    come first.
    """
    solves_all = make_row(SUBTASKS[2], (1.0, 1.0, 1.0), metadata={"usage": {"completion_tokens": 9999}})
    rows = [
        make_row(SUBTASKS[1]),
        make_row(SUBTASKS[2]),
        make_row(None),
        make_row(SUBTASKS[0], metadata={"usage": {"completion_tokens": 5000}}),
        solves_all,
        make_row("no such subtask"),
        make_row(SUBTASKS[1]),
    ]
    assert select(rows) == (4, 3, 1, 0, 6, 2, 5)
    assert select(rows, limit=4) == (4, 3, 1, 0)


@pytest.mark.parametrize(
    "columns",
    [
        {"code_compiles": False},
        {"code_compiles": ..., "code": None},
        {"code_compiles": ..., "code": ""},
        {"code_compiles": None, "all_subtasks_results": [{"subtask": name, "status": "CE"} for name in SUBTASKS]},
        {"code_compiles": ..., "code": ..., "all_subtasks_results": [{"subtask": "00-samples", "status": "NC"}]},
        {"code_compiles": ..., "all_subtasks_results": None},
        {"code_compiles": ..., "all_subtasks_results": []},
    ],
)
def test_a_program_that_does_not_compile_is_never_chosen(columns: dict[str, Any]) -> None:
    """A contestant sees a compile error before handing in. Rows of older versions show it in other columns."""
    rows = [make_row(SUBTASKS[2], **columns), make_row(SUBTASKS[1])]
    assert select(rows) == (1,)


@pytest.mark.parametrize(
    "columns",
    [
        {"code_compiles": ...},
        {"code_compiles": ..., "code": ...},
        {"code_compiles": None, "code": None, "all_subtasks_results": [{"subtask": "00-samples", "status": "JE"}]},
    ],
)
def test_rows_without_the_column_are_recognised_by_their_results(columns: dict[str, Any]) -> None:
    """A row that was judged, and is neither CE nor NC, has a program."""
    assert select([make_row(SUBTASKS[2], **columns)]) == (0,)


@pytest.mark.parametrize(
    ("columns", "length"),
    [
        ({"metadata": {"usage": {"output_tokens": 7, "completion_tokens": 9}}}, 7),
        ({"metadata": {"usage": {"output_tokens": None, "completion_tokens": 9}}}, 9),
        ({"metadata": {"completion_tokens": 9}}, 9),
        ({"metadata": {"output_tokens": 9}}, 9),
        ({"metadata": {"usage": None, "completion_tokens": 9}}, 9),
        ({"metadata": {"usage": {"completion_tokens": math.nan}, "output_tokens": 9}}, 9),
        ({"metadata": {"usage": {"completion_tokens": 10**400}, "output_tokens": 9}}, 9),
        ({"metadata": {"completion_tokens": -(10**400)}, "generation": "123456789"}, 9),
        ({"metadata": {"completion_tokens": math.inf}, "generation": "123456789"}, 9),
        ({"metadata": {"completion_tokens": "many"}, "generation": "123456789"}, 9),
        ({"metadata": {"usage": {}}, "generation": "123456789"}, 9),
        ({"metadata": None, "generation": "123456789"}, 9),
        ({"metadata": ..., "generation": "123456789"}, 9),
        ({"metadata": "a text", "generation": None}, 0),
        ({"metadata": ...}, 0),
    ],
)
def test_length_of_the_reasoning_in_different_columns(columns: dict[str, Any], length: int) -> None:
    """It is found in nested and flat metadata. Without it, the length of the text counts."""
    longer = make_row(SUBTASKS[1], metadata={"usage": {"completion_tokens": length + 1}})
    shorter = make_row(SUBTASKS[1], metadata={"usage": {"completion_tokens": length - 1}})
    equal = make_row(SUBTASKS[1], metadata={"usage": {"completion_tokens": length}})
    rows = [shorter, make_row(SUBTASKS[1], **columns), equal, longer]
    assert select(rows) == (3, 1, 2, 0)


def test_a_first_subtask_with_points_is_not_taken_for_samples() -> None:
    """A contestant does not know the score of a subtask with points, so it does not count. The subtask has turns like
    any other.
    """

    def row(target: str, score: float, length: int) -> ResultRow:
        results = [{"subtask": name, "points": 50, "score": score, "status": "PA"} for name in ("01", "02")]
        return {"target_subtask": target, "all_subtasks_results": results, "generation": "x" * length, "code": "x"}

    rows = [row("01", 0.9, 1), row("01", 0.1, 2), row("02", 0.5, 3)]
    assert select(rows) == (2, 1, 0)
    assert select(rows, limit=2) == (2, 1)


def test_a_target_may_be_the_number_of_a_subtask() -> None:
    """Results of others may have numbers: 0 is a target too."""

    def row(target: object, length: int) -> ResultRow:
        results = [{"subtask": number, "score": 0.0, "points": 50.0, "status": "WA"} for number in (0, 1)]
        return {"target_subtask": target, "all_subtasks_results": results, "generation": "x" * length, "code": "x"}

    assert select([row(None, 9), row(0, 1), row(1, 1)], 2) == (2, 1)


def test_rows_that_could_not_be_judged_take_part_and_score_nothing() -> None:
    """A row with JE has no score: it solves nothing, adds no points and raises no error."""
    rows = [make_row(SUBTASKS[2], (None, None, None)), make_row(SUBTASKS[2], (1.0, 0.25, None))]
    assert select(rows) == (1, 0)
    assert selected_score(rows) == 10.0


def test_selected_score_is_the_sum_of_the_best() -> None:
    """Each subtask counts with its best selected row. The sum has no rounding errors."""
    rows = [make_row(None, (1.0, 0.333, 0.1)), make_row(None, (1.0, 0.1, 0.667)), make_row(None, (1.0, 1.0, 1.0))]
    assert selected_score(rows, [0, 1]) == 53.34
    assert selected_score(rows) == 100.0
    assert selected_score([]) == 0.0
    assert selected_score(rows, []) == 0.0


def test_points_are_rounded_once() -> None:
    """7.333 + 7.333 is 14.67, as in the submission's total. Rows of the reference have only rounded points."""
    results = [
        {"subtask": name, "points": 22, "score": 1 / 3, "weighted_score": 7.33, "score_precision": 2} for name in "ab"
    ]
    theirs = [{**result, "score": 0.33} for result in results]
    assert selected_score([{"all_subtasks_results": results}]) == 14.67
    assert selected_score([{"all_subtasks_results": theirs}]) == 14.66
    assert random_scores([{"all_subtasks_results": results, "code_compiles": True}], seeds=1) == (14.67,)
    whole = [{**result, "weighted_score": 7.0, "score_precision": 0} for result in results]
    assert selected_score([{"all_subtasks_results": whole}]) == 15.0


def test_the_best_result_is_that_with_the_best_score() -> None:
    """Under Sum a lower score may have more points, which were rounded up: 5.5 and 1 are 6 points, not 7."""
    rows = [
        {
            "all_subtasks_results": [
                {"subtask": "a", "points": 10, "score": score, "weighted_score": 6.0, "score_precision": 0},
                {"subtask": "b", "points": 10, "score": 0.1, "weighted_score": 1.0, "score_precision": 0},
            ]
        }
        for score in (0.5499999999999999, 0.55)  # the means of 0.15 and 0.95, and of 0.1 and 1
    ]
    assert selected_score(rows) == 6.0


def test_limits() -> None:
    """The default limit is 50, as in the contest. `None` means all. A negative limit is refused."""
    rows = [make_row(SUBTASKS[1])] * 70
    assert select(rows) == tuple(range(50))
    assert select(rows, limit=None) == tuple(range(70))
    assert select(rows, limit=0) == ()
    assert select([]) == ()
    with pytest.raises(InputError, match="-1"):
        select(rows, limit=-1)


scores = st.sampled_from([0.0, 0.5, 0.9, 1.0, None])
drawn_rows = st.lists(
    st.builds(
        make_row,
        st.sampled_from([None, *SUBTASKS]),
        st.tuples(scores, scores, scores),
        code_compiles=st.sampled_from([True, True, False]),
        metadata=st.builds(lambda tokens: {"completion_tokens": tokens}, st.integers(0, 3)),
    ),
    max_size=12,
)


def turns_model(rows: list[ResultRow]) -> list[int]:
    """The order in which a contestant hands in all rows, by a plain model with one submission at a time."""

    def preference(index: int) -> tuple[float, int]:
        return rows[index]["all_subtasks_results"][0]["score"] or 0.0, rows[index]["metadata"]["completion_tokens"]

    left = [index for index, row in enumerate(rows) if row["code_compiles"]]
    order: list[int] = []
    solved: set[str] = set()
    turn = 0
    waiting = True
    while waiting:
        waiting = False
        for _ in range(2):
            target = SUBTASKS[2 - turn % 2]
            turn += 1
            aimed = [index for index in left if rows[index]["target_subtask"] == target]
            if aimed and target not in solved:
                waiting = True
                index = max(aimed, key=lambda i: (preference(i), -i))
                left.remove(index)
                order.append(index)
                solved |= {r["subtask"] for r in rows[index]["all_subtasks_results"] if r["score"] == 1.0}
    places = {name: place for place, name in enumerate(SUBTASKS)}
    while left:
        index = max(left, key=lambda i: (preference(i), places.get(rows[i]["target_subtask"], 0), -i))
        left.remove(index)
        order.append(index)
    return order


@given(drawn_rows, st.integers(0, 13))
def test_selection_agrees_with_the_model(rows: list[ResultRow], limit: int) -> None:
    """The chosen rows are the first ones in the order of the model."""
    assert list(select(rows, limit)) == turns_model(rows)[:limit]


@given(drawn_rows, st.integers(0, 12))
def test_more_submissions_never_score_less(rows: list[ResultRow], limit: int) -> None:
    """A higher limit adds submissions and removes none."""
    fewer, more = select(rows, limit), select(rows, limit + 1)
    assert more[: len(fewer)] == fewer
    assert selected_score(rows, fewer) <= selected_score(rows, more) <= selected_score(rows)


def test_the_reference_s_selection_is_reproduced_with_its_fault() -> None:
    """In the reference, a solved subtask can end the turns of the others early. The rest is filled up by samples and
    length.
    """
    rows = [make_row(SUBTASKS[2], (1.0, 0.0, 1.0)), *[make_row(SUBTASKS[2])] * 60, *[make_row(SUBTASKS[1])] * 48]
    rows.append(make_row(SUBTASKS[1], (0.0, 1.0, 0.0), metadata={"usage": {"completion_tokens": 1}}))
    assert selected_score(rows, select(rows)) == 100.0
    theirs = select_as_reference(rows)
    assert (theirs[:2], len(theirs)) == ((0, 1), 50)
    assert selected_score(rows, theirs) == 60.0
    assert select_as_reference([]) == ()
    assert select_as_reference([make_row(None), make_row(SUBTASKS[2])]) == (1, 0)


def test_the_reference_s_turns() -> None:
    """The subtasks take turns, the last one first; each hands in its row with the longest reasoning. After 50 rows the
    turns end.
    """
    rows = [make_row(SUBTASKS[2], metadata={"usage": {"completion_tokens": tokens}}) for tokens in (1, 9)]
    rows += [make_row(SUBTASKS[1]), make_row(SUBTASKS[2], code=None)]
    assert select_as_reference(rows) == (1, 2, 0)
    rows = [*[make_row(SUBTASKS[2])] * 40, *[make_row(SUBTASKS[1])] * 40]
    assert sorted(select_as_reference(rows)) == [*range(25), *range(40, 65)]


def test_select_first_takes_programs_that_compile() -> None:
    """In dump order."""
    rows = [make_row(None, code_compiles=False), *[make_row(None)] * 3]
    assert select_first(rows, 2) == (1, 2)


def test_the_oracle_takes_the_best_row_of_each_subtask() -> None:
    """The row that adds most points, 60 of 100, is not among the best two."""
    rows = [make_row(None, (1.0, 0.6, 0.6)), make_row(None, (0.0, 1.0, 0.0)), make_row(None, (0.0, 0.0, 0.9))]
    assert select_by_oracle(rows, 1) == (0,)
    assert select_by_oracle(rows, 2) == (1, 2)


def test_the_oracle_takes_the_rows_that_add_most_points() -> None:
    """It takes no row that adds nothing."""
    rows = [make_row(None, (1.0, 0.5, 0.0)), make_row(None, (1.0, 0.0, 1.0)), make_row(None, (1.0, 1.0, 0.0))]
    assert select_by_oracle(rows, 1) == (1,)
    assert select_by_oracle(rows) == (1, 2)


def test_the_oracle_is_not_worse_than_other_methods() -> None:
    """With fewer submissions than subtasks it would take the last row, which adds most points, and have 2.3 of 3."""
    rows = [
        {
            "code_compiles": True,
            "all_subtasks_results": [
                {"subtask": name, "points": 1, "score": score, "weighted_score": score}
                for name, score in zip("abc", scores, strict=True)
            ],
        }
        for scores in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.5), (0.8, 0.8, 0.0))
    ]
    assert selected_score(rows, select_by_oracle(rows, 2)) == selected_score(rows, select_first(rows, 2)) == 2.5


def test_draws_are_the_same_for_the_same_seeds() -> None:
    """Each draw has `limit` rows that compile, or all such rows if there are fewer."""
    rows = [make_row(None, (1.0, float(n == 3), 0.0), code_compiles=n != 4) for n in range(6)]
    drawn = random_scores(rows, 2, seeds=50)
    assert drawn == random_scores(rows, 2, seeds=50)
    assert set(drawn) == {0.0, 40.0}
    assert set(random_scores(rows, 5, seeds=5)) == {40.0}
    assert random_scores([], 5, seeds=2) == (0.0, 0.0)


def test_problems_are_drawn_independently() -> None:
    """Rows of each problem are often in the same order, for example by temperature. If rows at the same positions were
    drawn for all problems, the sum of their points would vary more than that of independent draws.
    """
    rows = [make_row(None, (1.0, float(n < 10), 0.0)) for n in range(20)]
    sums = [sum(drawn) for drawn in zip(*(random_scores(rows, 1, problem=name) for name in "abcdef"), strict=True)]
    assert sum(0 < points < 6 * 40 for points in sums) > len(sums) / 2


@given(drawn_rows, st.integers(1, 12))
def test_no_selection_scores_more_than_all_rows(rows: list[ResultRow], limit: int) -> None:
    """The oracle scores at least as much as any single row, as the other methods, and as all rows together if the
    limit allows a row for each subtask. No selection, and not the oracle, scores more than all rows together.
    """
    everything = selected_score(rows)
    oracle = selected_score(rows, select_by_oracle(rows, limit))
    assert oracle <= everything
    assert oracle == everything or limit < len(SUBTASKS) - 1  # the samples have no points
    single = max((selected_score(rows, [index]) for index in range(len(rows))), default=0.0)
    assert single <= oracle
    for chosen in (select(rows, limit), select_first(rows, limit)):
        assert len(set(chosen)) == len(chosen) <= limit
        assert selected_score(rows, chosen) <= oracle
    assert all(0 <= score <= everything for score in random_scores(rows, limit, seeds=3))


@given(drawn_rows)
def test_the_reference_s_selection_has_no_row_twice(rows: list[ResultRow]) -> None:
    """If there are few rows, it takes all that have a program."""
    chosen = select_as_reference(rows)
    assert sorted(chosen) == [n for n, row in enumerate(rows) if row["all_subtasks_results"][0]["status"] != "CE"]
