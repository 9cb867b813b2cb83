"""Hugging Face's `.eval_results/*.yaml`: a file for each model, for the model's repository on the Hub.

The model's page and the leaderboard of the benchmark show the value, in per cent.

Source: `eval_results.yaml` of huggingface/hub-docs; `huggingface_hub.parse_eval_result_entries` reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.report.publication import MARK, ExportFormat, Open
from ioi_eval.report.publication.material import SCORE, Material, ModelGroup
from ioi_eval.report.result_sets import Family
from ioi_eval.report.texts import counted, file_name
from ioi_eval.rows import is_hub_id
from ioi_eval.version import __version__


def _files(material: Material) -> Sequence[str]:
    if not is_hub_id(material.dataset):
        raise InputError(
            f"{material.dataset or 'what the run read its problems from'} is not a data set of the Hub: name the "
            "benchmark with --set dataset=OWNER/NAME"
        )
    if material.setting("source_name") and not material.setting("source_url"):
        raise InputError("--set source_name needs --set source_url too: the page that it names")
    metric, groups = _metric(material), material.groups.values()
    existing = dict.fromkeys(name for group in groups for name in group.metrics)
    if metric not in existing:
        raise InputError(
            f"no group has the metric {metric}; there are {', '.join(existing) or 'none, because nothing has a score'}."
            " A metric needs enough scored submissions to every problem"
        )
    return [_file_of(group) for group in groups if metric in group.metrics]


def _write(material: Material, open_file: Open) -> None:
    import yaml

    metric = _metric(material)
    for group in material.groups.values():
        estimate = group.metrics.get(metric)
        if estimate is None:
            continue
        text = yaml.safe_dump([_entry(material, group, metric, estimate.value)], sort_keys=False, allow_unicode=True)
        with open_file(_file_of(group)) as file:
            file.write(b"# %b, ioi_eval %b\n" % (MARK, __version__.encode()) + text.encode("utf-8", "replace"))


def _metric(material: Material) -> str:
    return material.setting("metric", "pass@1" if material.results.family is Family.APPS else SCORE)


def _file_of(group: ModelGroup) -> str:
    return f"{file_name(group.name or 'ioi_eval')}.yaml"


def _entry(material: Material, group: ModelGroup, metric: str, value: float) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "dataset": {"id": material.dataset, "task_id": material.setting("task_id", "default")},
        "value": round(100 * value, 4),
        "date": material.finished.isoformat(timespec="seconds").replace("+00:00", "Z"),
    }
    if url := material.setting("source_url"):
        entry["source"] = {"url": url}
        if name := material.setting("source_name"):
            entry["source"]["name"] = name
    notes = [material.setting("notes", f"{metric}, ioi_eval {material.results.version or __version__}")]
    if group.unscored:
        notes.append(f"without {group.unscored} of {counted(group.rows, 'submission')}, which could not be judged")
    if group.is_part:
        notes.append("the run is not complete")
    entry["notes"] = "; ".join(notes)
    return entry


FORMAT = ExportFormat(
    default_path=".eval_results/",
    settings={
        "dataset": "the Hub id of the benchmark (the data set on the Hub from which the run read its problems)",
        "task_id": "the task in the benchmark's eval.yaml, by default the one called default",
        "metric": "score or pass@K; by default score for contests, pass@1 for APPS",
        "source_url": "a page with more of these results",
        "source_name": "what that page is called",
        "notes": "how the answers were made",
    },
    files=_files,
    write=_write,
)
