"""Logs of inspect-ai, a `.eval` file for each model, which `inspect view` shows.

In a log, a problem is a sample, and each submission to it is an epoch. The scorer `score` gives the share of the points
(or of the tests), `solved` gives 1 for AC. What we failed to judge is unscored (NaN); inspect leaves it out of means.
Each sample of each log has a `uuid` of its own: of samples with the same one, `samples_df` keeps only the first.

Source: `EvalLog` version 2 and the recorder of `.eval` files in inspect_ai 0.3.285: a zip of `header.json`, one
`samples/<id>_epoch_<n>.json` for each sample, and `summaries.json`; `read_eval_log` takes any compression of zip.
"""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import blake2b
from tempfile import TemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from ioi_eval.report.publication import MARK, ExportFormat, Open
from ioi_eval.report.publication.material import SCORE, Material, ModelGroup, details, headline
from ioi_eval.report.result_values import full_marks_of, points_of_subtask, share_of, total_of, verdict_of
from ioi_eval.report.run_summary import time_of
from ioi_eval.report.texts import escaped_text, file_name
from ioi_eval.selection import ResultRow
from ioi_eval.version import __version__

_VERSION = 2
_SOLVED = "solved"
_UNKNOWN = "unknown/unknown"
_SHOWN = 1000  # characters of a text in a summary. Source: thin_text, which cuts there

Values = dict[str, Any]


@dataclass(slots=True)
class _Log:
    """A log that is being written (`id` is its own): how many submissions to each problem it has (`epochs`), and their
    summaries, which wait on disk: a member of a zip is written as a whole."""

    file: ZipFile
    id: str
    model: str
    lines: IO[bytes]  # the summaries of all logs
    epochs: Counter[str] = field(default_factory=Counter)
    begins: array[int] = field(default_factory=lambda: array("q"))  # of the lines of this log

    def add(self, row: ResultRow, problem: str, submission: str) -> None:
        """Write a submission. Different problems have different ids: only the slash after the year becomes a dash."""
        name = file_name(problem.replace("/", "-", 1) if "all_subtasks_results" in row else problem)
        self.epochs[name] += 1
        sample = _sample(row, problem, submission, self.model)
        uuid = _digest(self.id, name, str(self.epochs[name]), submission)
        head = {"id": name, "epoch": self.epochs[name], "uuid": uuid}
        self.put(f"samples/{name}_epoch_{self.epochs[name]}.json", {**head, **sample})
        short = {key: sample[key] for key in ("input", "target", "metadata")}
        scores = {key: {**score, "answer": _cut(score["answer"])} for key, score in sample["scores"].items()}
        self.begins.append(self.lines.tell())
        self.lines.write(_json({**head, **short, "scores": scores, "completed": True, "message_count": 2}) + b"\n")

    def put(self, name: str, values: object) -> None:
        """Write a member of the zip."""
        self.file.writestr(name, _json(values))

    def put_summaries(self) -> None:
        """Write the member with all summaries."""
        with self.file.open("summaries.json", "w", force_zip64=True) as member:
            for number, begin in enumerate(self.begins):
                self.lines.seek(begin)
                member.write((b", " if number else b"[") + self.lines.readline().removesuffix(b"\n"))
            member.write(b"]")


def _json(values: object) -> bytes:
    """A value as JSON. NaN is written as `NaN`, as in JavaScript; readers of logs accept that."""
    return json.dumps(values, default=str).encode()


def _files(material: Material) -> Sequence[str]:
    return [_file_of(group) for group in material.groups.values()]


def _write(material: Material, open_file: Open) -> None:
    with ExitStack() as stack:
        logs: dict[str, _Log] = {}
        lines = stack.enter_context(TemporaryFile())
        for group in material.groups.values():
            file = stack.enter_context(open_file(_file_of(group)))
            packed = stack.enter_context(ZipFile(file, "w", ZIP_DEFLATED))
            packed.comment = MARK
            model = material.model_of(group) or group.name or _UNKNOWN
            logs[group.name] = _Log(packed, _id_of(material, group), model, lines)
        for row in material.rows():
            logs[material.group_of(row).name].add(row, *material.results.name_of(row))
        for group in material.groups.values():
            log = logs[group.name]
            log.put_summaries()
            log.put("header.json", _header(material, group, log))


def _id_of(material: Material, group: ModelGroup) -> str:
    """The same for the same results. Several runs may have finished in the same second."""
    size = material.results.path.stat().st_size
    return _digest(material.finished.isoformat(timespec="seconds"), str(size), group.name)


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=11).hexdigest()


def _file_of(group: ModelGroup) -> str:
    return f"{file_name(group.name or 'all')}.eval"


def _sample(row: ResultRow, problem: str, submission: str, model: str) -> Values:
    asked = row.get("prompt")
    asked = asked if isinstance(asked, str) and asked else f"Problem {problem}"
    text = next((row[name] for name in ("generation", "code") if isinstance(row.get(name), str) and row[name]), "")
    answer = {"role": "assistant", "content": text, "source": "generate", "model": model}
    return {
        "input": asked,
        "target": "",
        "messages": [{"role": "user", "content": asked, "source": "input"}, answer],
        "output": {"model": model, "choices": [{"message": answer, "stop_reason": "stop"}]},
        "scores": _scores(row),
        "metadata": {"submission": submission, "problem": problem, **_facts(row)},
    }


def _facts(row: ResultRow) -> Values:
    names = ("verdict", "target_subtask", "near_limit", "isolation", "target", "time_scale", "judged_by", "difficulty")
    facts = {name: row[name] for name in names if row.get(name) is not None}
    if "all_subtasks_results" in row:
        facts["points"], facts["full_marks"] = total_of(row), full_marks_of(row)
        facts["subtasks"] = {
            str(subtask["subtask"]): points_of_subtask(subtask) for subtask in row["all_subtasks_results"] or ()
        }
    else:
        facts |= {name: row.get(name) for name in ("passed", "total")}
    return facts


def _scores(row: ResultRow) -> Values:
    share, code = share_of(row), row.get("code")
    shared: Values = {
        "answer": code if isinstance(code, str) else None,
        "explanation": escaped_text("\n".join(part for part in (headline(row), details(row)) if part)),
    }
    if share is None:
        unscored = {"value": math.nan, "reason": "judge_error" if verdict_of(row) else "not_judged", **shared}
        return {SCORE: unscored, _SOLVED: unscored}
    solved = float(verdict_of(row) == "AC")
    return {SCORE: {"value": share, **shared}, _SOLVED: {"value": solved, **shared}}


def _header(material: Material, group: ModelGroup, log: _Log) -> Values:
    when = material.finished.isoformat(timespec="seconds")
    metrics = {key: _metric(key, estimate.value) for key, estimate in group.metrics.items()}
    mean = {"mean": _metric("mean", metrics[SCORE]["value"])} if SCORE in metrics else {}
    at_k = {key: metric for key, metric in metrics.items() if key != SCORE}
    counts = {"scored_samples": group.rows - group.unscored, "unscored_samples": group.unscored}
    return {
        "version": _VERSION,
        "status": "cancelled" if group.is_part else "success",
        "eval": {
            **dict.fromkeys(("eval_id", "run_id", "task_id"), log.id),
            "created": when,
            "task": material.setting("task", f"ioi_eval_{material.family_name}"),
            "dataset": {
                "name": material.dataset or material.family_name,
                "samples": len(log.epochs),
                "sample_ids": list(log.epochs),
            },
            "model": log.model,
            "config": {"epochs": max(log.epochs.values(), default=1)},
            "packages": {"ioi_eval": material.results.version or __version__},
            "metadata": {"written_by": MARK.decode(), **group.values},
        },
        "plan": {"name": "plan", "steps": []},
        "results": {
            "total_samples": group.rows,
            "completed_samples": group.rows,
            "scores": [
                {"name": SCORE, "scorer": SCORE, "metrics": mean, **counts},
                {"name": _SOLVED, "scorer": _SOLVED, "metrics": at_k, **counts},
            ],
        },
        "stats": {"started_at": time_of(material.results.summary, "started") or when, "completed_at": when},
    }


def _metric(name: str, value: float) -> Values:
    return {"name": name, "value": round(value, 6)}  # rounded as in the summary


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= _SHOWN else text[:_SHOWN] + "..."


FORMAT = ExportFormat(
    default_path="inspect/",
    settings={
        "model": "the model that wrote the submissions, if no column names it",
        "dataset": "the Hub id of the data set with the problems",
        "task": "what the evaluation is called",
    },
    files=_files,
    write=_write,
)
