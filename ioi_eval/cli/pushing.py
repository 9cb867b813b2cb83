"""Pushing the results of a run to the Hub: `--push-to-hub` of `score` and `apps score`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ioi_eval.cli.exits import FAILED
from ioi_eval.cli.sandboxes import tell
from ioi_eval.errors import InputError
from ioi_eval.pipeline import Outcome
from ioi_eval.report.hub import HubResults
from ioi_eval.rows import result_names

_REPORTS = ("report.md", "report.html", "summary.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """Where a run's results are pushed at its end.

    Args:
        hub: the data set of the Hub.
        config: the configuration of that data set that gets the rows; each dump has one.
        id_column: the column that names a submission.
    """

    hub: HubResults
    config: str
    id_column: str

    @classmethod
    def wanted(cls, name: str | None, dumps: Sequence[str], *, public: bool, id_column: str) -> Self | None:
        """Where to push, by the options; `None` for nowhere. Call it before anything is judged.

        Args:
            name: `owner/name` of the data set; it is made if it does not exist.
            dumps: the dumps that are scored; the name of the configuration is made from their names.
            public: whether everybody may see it.
            id_column: the column that names a submission.

        Raises:
            InputError: the data set cannot be made, or it is public and `public` is false.
        """
        if name is None:
            if public:
                raise InputError("--public needs --push-to-hub; add it, or leave --public out")
            return None
        config = "--".join(result_names(dumps, {}).values())
        return cls(hub=HubResults.opened(name, public=public), config=config, id_column=id_column)

    def push(self, results: Path, outcome: Outcome) -> int:
        """Push what a run has written, unless it was interrupted.

        Args:
            results: the run's directory.
            outcome: the result of the run.

        Returns:
            The exit code: the run's, or 1 if it was 0 and the results could not be pushed.
        """
        if outcome.interrupted:
            tell(f"interrupted: the results are not pushed to {self.hub.name}; the same command continues")
            return outcome.exit_code
        pages = {f"reports/{self.config}/{name}": results / name for name in _REPORTS if (results / name).is_file()}
        try:
            kept = self.hub.push(self.config, results, pages, id_column=self.id_column, replace=False)
        except InputError as error:
            tell(f"{error}; the results are in {results}, and the same command pushes them without judging again")
            return outcome.exit_code or FAILED
        more = f"; {kept} rows there that are not in this dump were kept" if kept else ""
        print(f"Pushed:  {self.hub.name}, configuration {self.config}{more}", flush=True)
        return outcome.exit_code
