"""Results on the Hub: a data set with one configuration for each data set that was scored, and the reports.

    <name>/train-00000-of-00001.parquet   its rows, with all tests
    README.md                             which configuration has which files
    reports/…                             the pages

Each push is one commit, so that no reader sees an incomplete push. Its parent is the commit that was read before. If
there is a newer commit, the Hub refuses the push, and everything is read again. So two pushes at the same time do not
undo each other.
Source: the layout that `push_to_hub` of `datasets` makes. The reference also uses it, so `load_dataset(RESULTS, name)`
works as it does there.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ioi_eval.errors import ODD_DATA, InputError
from ioi_eval.model.apps import without_prefix
from ioi_eval.problems.apps_submissions import PROBLEM_COLUMNS
from ioi_eval.report.markdown_pages import INDEX as CARD
from ioi_eval.report.result_files import result_rows
from ioi_eval.report.result_sets import FAMILY_COLUMNS, Family, family_of, first_row
from ioi_eval.report.result_values import name_columns, problem_name_of, submission_of
from ioi_eval.report.texts import printable
from ioi_eval.rows import is_hub_id, open_source
from ioi_eval.rows.hub import HUB_ADVICE, hub_error_text, hub_errors
from ioi_eval.selection import ResultRow

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_TYPE = "dataset"
_FILE = "train-00000-of-00001.parquet"
_ATTEMPTS = 10
"""How often a push is tried if others push to the same data set. Chosen: of ten pushes at once all succeed."""

_OUTDATED = 412
"""The status with which the Hub refuses a commit whose parent is not the newest one."""


def check_name(name: str, *, advice: str = "") -> None:
    """Refuse a text that is not the name of a data set on the Hub; `advice` says what to do instead."""
    if not is_hub_id(name):
        raise InputError(f"{name} is not the name of a data set to push results to: it has the form owner/name{advice}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubResults:
    """A data set on the Hub (`owner/name`) to which results are pushed, and the client of the Hub."""

    name: str
    api: HfApi

    @classmethod
    def open(cls, name: str, *, public: bool) -> Self:
        """Open the data set, or create it. Called before judging, because we may lack the permission, and because one
        that is public is refused if `public` is false."""
        from huggingface_hub import HfApi

        check_name(name)
        api = HfApi()
        try:
            api.create_repo(name, repo_type=_TYPE, private=not public, exist_ok=True)
            is_public = not api.dataset_info(name).private
        except hub_errors() as error:
            raise InputError(
                f"the results cannot be pushed to {name}: {hub_error_text(error)}. {HUB_ADVICE}"
            ) from error
        if is_public and not public:
            raise InputError(
                f"the data set {name} is public, so everybody would see the results: add --public if that is "
                "intended, or name another data set"
            )
        return cls(name=name, api=api)

    def push(self, config: str, results: Path, pages: Mapping[str, Path], *, id_column: str, replace: bool) -> int:
        """Push the results of one data set, and the reports by their paths on the Hub (`pages`).

        Rows on the Hub for other submissions (of a larger dump, or from another machine) are kept, unless `replace` is
        true. Returns how many were kept.
        """
        from huggingface_hub.errors import HfHubHTTPError

        attempts = _ATTEMPTS
        try:
            while True:
                attempts -= 1
                try:
                    return self._push(config, results, pages, id_column=id_column, replace=replace)
                except HfHubHTTPError as error:
                    if error.response.status_code != _OUTDATED or not attempts:
                        raise
        except hub_errors() as error:
            reason = hub_error_text(error)
            raise InputError(f"{config} cannot be pushed to {self.name}: {reason}. {HUB_ADVICE}") from error

    def _push(self, config: str, results: Path, pages: Mapping[str, Path], *, id_column: str, replace: bool) -> int:
        """Try `push` once, on the newest commit."""
        from huggingface_hub import CommitOperationAdd, CommitOperationCopy, CommitOperationDelete

        newest = self.api.dataset_info(self.name).sha
        files = self.api.list_repo_files(self.name, repo_type=_TYPE, revision=newest)
        old = [path for path in files if path.startswith(f"{config}/") and path.endswith(".parquet")]
        card = self._download(CARD, newest).read_text(encoding="utf-8") if CARD in files else ""
        with tempfile.TemporaryDirectory() as scratch:
            table = Path(scratch, _FILE)
            kept_files = {} if replace else {path: self._download(path, newest) for path in old}
            others = self._write(table, results, kept_files, id_column)
            operations: list[CommitOperationAdd | CommitOperationCopy | CommitOperationDelete] = [
                CommitOperationAdd(f"{config}/{_FILE}", str(table)),
                CommitOperationAdd(CARD, card_with(card, config).encode()),
                *(CommitOperationAdd(path, str(page)) for path, page in pages.items()),
                *(CommitOperationDelete(path) for path in old if path != f"{config}/{_FILE}"),
            ]
            message = f"Results of {config}"
            self.api.create_commit(self.name, operations, commit_message=message, repo_type=_TYPE, parent_commit=newest)
        return others

    def _download(self, path: str, revision: str | None) -> Path:
        return Path(self.api.hf_hub_download(self.name, path, repo_type=_TYPE, revision=revision))

    def _write(self, table: Path, results: Path, old: Mapping[str, Path], id_column: str) -> int:
        """Write the new rows, then the old rows that are kept; returns how many are kept."""
        from ioi_eval.report.parquet import write_parquet

        first = first_row(results)
        family = Family.CONTEST if first is None else family_of(first, results)
        for name, path in old.items():
            self._check_family(name, path, family)
        columns = (*name_columns(id_column), *PROBLEM_COLUMNS, "submission")
        new = {_name_of(row, id_column, family) for row in result_rows(results, columns=columns, tests=False)}
        replaced = new | {None}  # a row without a name may be the same as a new one

        def kept_rows() -> Iterator[ResultRow]:
            for row in (row.values for path in old.values() for row in open_source(path).rows(None)):
                if _name_of(row, id_column, family) not in replaced:
                    yield row

        def rows() -> Iterator[ResultRow]:
            yield from result_rows(results)
            yield from kept_rows()

        write_parquet(table, rows)
        return sum(1 for _ in kept_rows())

    def _check_family(self, name: str, path: Path, family: Family) -> None:
        """Refuse to replace a file whose rows are not results of this family: they could not be kept."""
        import pyarrow.parquet as pq

        try:
            columns = pq.read_schema(path).names
        except (OSError, ValueError) as error:
            reason = printable(str(error)).rstrip(".")
            raise InputError(
                f"{name} of the data set {self.name} is not a Parquet file: {reason}; {_ELSEWHERE}"
            ) from error
        if FAMILY_COLUMNS[family] not in columns:
            raise InputError(
                f"{name} of the data set {self.name} has rows that are not results of {family}, which these would"
                f" replace (its columns: {printable(', '.join(columns))}); {_ELSEWHERE}"
            )


_ELSEWHERE = "name another data set, or remove the file on the Hub"


def _name_of(row: ResultRow, id_column: str, family: Family) -> tuple[str, str, str] | None:
    """Year and problem of a result row, and the id of the dump's row, or of its program; `None` if it has neither."""
    name = submission_of(row, id_column, otherwise=str(row.get("submission") or ""))
    if not name:
        return None
    if family is not Family.APPS:
        return (*problem_name_of(row), name)
    named = next((value for column in PROBLEM_COLUMNS if (value := row.get(column)) is not None), "")
    year, problem = problem_name_of({"problem_id": named})
    return year, without_prefix(problem), name


def card_with(card: str, config: str) -> str:
    """A data set's card (`README.md`; empty if there is none) with an entry for a configuration; the rest is kept.

    The description of that configuration's columns and rows is removed, because it is outdated.
    """
    import yaml

    match = _HEAD.match(card)
    head, body = ("", card) if match is None else (match["head"], card[match.end() :])
    try:
        values = yaml.safe_load(head) or {}
        entries = values.get("configs") or []
        others = [entry for entry in entries if entry["config_name"] != config]
        described = values.get("dataset_info") or []
        described = described if isinstance(described, list) else [described]
        new = {"config_name": config, "data_files": [{"split": "train", "path": f"{config}/train-*"}]}
        values["configs"] = sorted([*others, new], key=lambda entry: str(entry["config_name"]))
        values["dataset_info"] = [entry for entry in described if entry.get("config_name", config) != config]
    except (yaml.YAMLError, *ODD_DATA) as error:  # such as ValueError for the date 2024-99-99
        raise InputError(f"the head of the data set's {CARD} cannot be read: {error}; correct it on the Hub") from error
    if not values["dataset_info"]:
        del values["dataset_info"]
    new_head = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    return f"---\n{new_head}---\n{body if card.strip() else _FIRST_BODY}"


_HEAD = re.compile(r"\s*---\n(?P<head>(?:.*\n)*?)---(?:\n|\Z)")
"""The YAML at the beginning of a card, between two lines of dashes. Source: `REGEX_YAML_BLOCK` of `huggingface_hub`."""

_FIRST_BODY = "\n# Results\n\nWritten by `ioi-eval`; the reports are in [reports](reports).\n"
