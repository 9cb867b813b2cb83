"""README and the pages name what users can choose, and what files have: nothing new is forgotten there."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import compat
from ioi_eval.cli.file_options import commands_of, settings_of
from ioi_eval.cli.main import root
from ioi_eval.config_file import VARIABLES
from ioi_eval.languages import rules_of
from ioi_eval.model import CheckerProtocol, Language, ScoreType, TaskType, Verdict
from ioi_eval.model.methods import ComparatorKind
from ioi_eval.report.publication import MODULES

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "ioi_eval" / "report" / "schemas"


def described(schema: str) -> Any:
    """A schema of a file that users read."""
    return json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8"))


def missing(names: Collection[str], *pages: str) -> list[str]:
    """The names that are on none of these pages."""
    text = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in pages)
    return [name for name in names if name not in text]


def absent(names: Iterable[str], text: str) -> list[str]:
    """The names that are not in a text by themselves: in a text with `C++` alone, `C` is absent."""
    return [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w+-])", text)]


@pytest.mark.parametrize(("page", "begins"), [("README.md", "| `language` |"), ("docs/formats.md", "**Languages.**")])
def test_languages(page: str, begins: str) -> None:
    """On both pages a line lists them."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    (listed,) = (line for line in lines if line.startswith(begins))
    assert not absent([rules_of(language).name for language in Language], listed)


def test_values() -> None:
    """Verdicts on the README; what rows, settings and `export` accept on the page of formats; comparators and other
    graders on the page of APPS, and in the help of their options.
    """
    assert not missing([f"`{verdict}`" for verdict in Verdict], "README.md")
    values = (*TaskType, *CheckerProtocol, *ScoreType, *MODULES)
    assert not missing([f"`{value}`" for value in values], "docs/formats.md")
    assert not missing([f"`{score_type}`" for score_type in ScoreType], "docs/verdicts.md")
    assert not missing(VARIABLES, "docs/formats.md")
    assert not missing([f"`{kind}" for kind in ComparatorKind], "docs/apps.md")
    assert not missing([f"`{name}`" for name in compat.NAMES], "docs/apps.md")
    assert f"`--compat {'|'.join(compat.NAMES)}`" in (ROOT / "README.md").read_text(encoding="utf-8")
    (score,) = (settings_of(command) for words, command in commands_of(root()) if words == ("apps", "score"))
    assert not absent(compat.NAMES, score["compat"].help or "")
    assert not absent(ComparatorKind, score["comparator"].help or "")


def test_commands() -> None:
    """Each is on the README or on a page for its users."""
    commands = [" ".join(words) for words, _ in commands_of(root())]
    pages = ("README.md", "docs/formats.md", "docs/sandboxes.md")
    assert not [name for name in commands if missing([f"ioi-eval {name}"], *pages) and missing([f"`{name}"], *pages)]


@pytest.mark.parametrize("schema", sorted(path.stem for path in SCHEMAS.glob("*.json")))
def test_keys_of_files(schema: str) -> None:
    """The keys of results, summaries and events; columns of APPS on its page, keys of its summary on either page."""
    names = [f"`{name}`" for name in described(schema)["properties"]]
    pages = {"apps-result": ["docs/apps.md"], "summary": ["docs/formats.md", "docs/apps.md"]}
    assert not missing(names, *pages.get(schema, ["docs/formats.md"]))


@pytest.mark.parametrize("schema", ["result", "apps-result"])
def test_every_row_has_every_column(schema: str) -> None:
    """The schema requires all columns that it describes."""
    assert sorted(described(schema)["required"]) == sorted(described(schema)["properties"])
