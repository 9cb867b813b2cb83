"""Every Eval Ever: a JSON file for each model, at the path below `data/` that its datastore asks for.

A group without any score has no file, because the schema requires a number.

Source: `eval.schema.json` 0.3.0 of evaleval/every_eval_ever, and what its validator checks beyond that (a path of five
parts whose last is a UUID of version 4, a score within its bounds, texts in every `additional_details`). Its search for
duplicates refuses a source of the type `other` without a `source_id` (`every_eval_ever/dedup.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

from ioi_eval.errors import InputError
from ioi_eval.estimates import DRAWS, Estimate
from ioi_eval.report.publication import MARK, ExportFormat, Open
from ioi_eval.report.publication.material import SCORE, Material, ModelGroup
from ioi_eval.report.result_sets import Family
from ioi_eval.version import __version__

_SCHEMA = "0.3.0"
_RELATIONS = ("first_party", "third_party", "collaborative", "other")
_DEPLOYMENTS = ("self_deployed", "externally_managed", "unknown")
_OPTIONS = ("std", "isolation", "time_scale", "near_limit_repeats", "judged_by")
_AVAILABILITIES = ("open_weights", "closed_weights", "unknown")

Values = dict[str, Any]


def _files(material: Material) -> Sequence[str]:
    if not material.setting("organization"):
        raise InputError("Every Eval Ever needs the name of who evaluated: add --set organization=NAME")
    for key, allowed in (
        ("relationship", _RELATIONS),
        ("deployment", _DEPLOYMENTS),
        ("availability", _AVAILABILITIES),
    ):
        if material.setting(key, allowed[-1]) not in allowed:
            raise InputError(f"--set {key}={material.setting(key)}: it must be one of {', '.join(allowed)}")
    groups = [group for group in material.groups.values() if group.metrics]
    if not groups:
        raise InputError(f"{material.results.path} has no score, and Every Eval Ever needs one")
    for group in groups:
        if not material.model_of(group):
            raise InputError(
                "the results do not name their model: name its column with --by, or the model itself with "
                "--set model=OWNER/NAME"
            )
    return [_file_of(material, group) for group in groups]


def _write(material: Material, open_file: Open) -> None:
    for group in material.groups.values():
        if group.metrics:
            text = json.dumps(_log(material, group), indent=2, ensure_ascii=False, allow_nan=False)
            with open_file(_file_of(material, group)) as file:
                file.write(text.encode("utf-8", "replace") + b"\n")


def _file_of(material: Material, group: ModelGroup) -> str:
    """The path of a group's file. The same results always have the same path, so they are stored only once."""
    parts = (_part(_collection(material)), *map(_part, _owner_and_name(material.model_of(group))))
    digest = sha256(_evaluation(material, group).encode("utf-8", "replace")).digest()
    return "/".join(("data", *parts, f"{UUID(bytes=digest[:16], version=4)}.json"))


def _part(text: str) -> str:
    """A name that is valid on every file system, and printable. Source: `check_path_structure` of the validator."""
    allowed = "".join(c if c.isprintable() else "_" for c in text)
    plain = re.sub(r'[<>:"/\\|?*]+', "_", allowed).strip(". ")[:100]
    reserved = re.fullmatch(r"(?i)(con|prn|aux|nul|data|com[1-9]|lpt[1-9])", plain)
    return f"{plain or 'unknown'}_" if reserved or not plain else plain


def _collection(material: Material) -> str:
    return material.dataset or f"ioi_eval_{material.family_name}"


def _owner_and_name(model: str) -> tuple[str, str]:
    owner, slash, name = model.partition("/")
    return (owner, name) if slash and name else ("unknown", model)


def _evaluation(material: Material, group: ModelGroup) -> str:
    """The id of a group's evaluation. Several groups may have the same model."""
    model = material.model_of(group)
    names = (model,) if group.name in ("", model) else (model, group.name)
    return "/".join((_collection(material), *names, _epoch(material)))


def _epoch(material: Material) -> str:
    return str(int(material.finished.timestamp()))


def _log(material: Material, group: ModelGroup) -> Values:
    model, when = material.model_of(group), _epoch(material)
    owner, name = _owner_and_name(model)
    version = material.results.version or __version__
    options = {key: str(value) for key in _OPTIONS if (value := material.results.options.get(key)) is not None}
    return {
        "schema_version": _SCHEMA,
        "evaluation_id": _evaluation(material, group),
        "evaluation_timestamp": when,
        "retrieved_timestamp": when,
        "source_metadata": {
            "source_name": "ioi_eval",
            "source_type": "evaluation_run",
            "source_organization_name": material.setting("organization"),
            "evaluator_relationship": material.setting("relationship", "other"),
        },
        "eval_library": {
            "name": "ioi_eval",
            "version": version,
            "additional_details": {"written_by": MARK.decode(), **options},
        },
        "model_info": {
            "name": name,
            "id": model,
            "developer": owner,
            "additional_details": {
                **group.values,
                "deployment_type": material.setting("deployment", "unknown"),
                "model_availability": material.setting("availability", "unknown"),
            },
        },
        "evaluation_results": [_result(material, group, key, estimate) for key, estimate in group.metrics.items()],
    }


def _result(material: Material, group: ModelGroup, metric: str, estimate: Estimate) -> Values:
    what = "tests" if material.results.family is Family.APPS else "points"
    about = (
        f"share of the {what} that a submission gets, in the mean over problems"
        if metric == SCORE
        else "unbiased estimator of how likely one of k submissions has full marks, in the mean over problems"
    )
    config: Values = {
        "evaluation_description": about,
        "metric_id": f"ioi_eval.{SCORE}" if metric == SCORE else "pass_at_k",
        "metric_name": f"share of {what}" if metric == SCORE else metric,
        "metric_unit": "proportion",
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0,
    }
    if metric != SCORE:
        config["metric_parameters"] = {"k": int(metric.partition("@")[2])}
    counts = {"submissions": group.rows, "not_scored": group.unscored, "problems": len(group.shares)}
    details: Values = {
        "score": min(1.0, max(0.0, estimate.value)),
        "details": {key: str(value) for key, value in counts.items()},
    }
    if estimate.low is not None and estimate.high is not None:
        details["uncertainty"] = {
            "confidence_interval": {
                "lower": estimate.low,
                "upper": estimate.high,
                "confidence_level": 0.95,
                "method": "bootstrap over problems",
            },
            "num_samples": len(group.shares),
            "num_bootstrap_samples": DRAWS,
        }
    return {
        "evaluation_result_id": metric,
        "evaluation_name": f"{_collection(material)} {metric}",
        "source_data": _source(material, group),
        "metric_config": config,
        "score_details": details,
    }


def _source(material: Material, group: ModelGroup) -> Values:
    """The data set; one that is not on the Hub is identified by the names and full marks of the problems."""
    if not material.dataset:
        problems = sha256(json.dumps(sorted(group.full.items())).encode())
        details = {"source_id": f"sha256:{problems.hexdigest()}"}
        return {"dataset_name": material.family_name, "source_type": "other", "additional_details": details}
    return {
        "dataset_name": material.dataset.rpartition("/")[2],
        "source_type": "hf_dataset",
        "hf_repo": material.dataset,
        "samples_number": len(group.shares),
    }


FORMAT = ExportFormat(
    default_path="every_eval_ever/",
    settings={
        "organization": "who evaluated (needed)",
        "relationship": f"of the evaluator to the model's makers: {', '.join(_RELATIONS)}; other by default",
        "model": "OWNER/NAME of the model, if no column names it",
        "dataset": "the Hub id of the data set with the problems",
        "deployment": f"of the model: {', '.join(_DEPLOYMENTS)}; unknown by default",
        "availability": f"of the model: {', '.join(_AVAILABILITIES)}; unknown by default",
    },
    files=_files,
    write=_write,
)
