"""The public names, as type checkers and editors see them."""

from __future__ import annotations

import ast
import typing
from pathlib import Path
from types import ModuleType

import pytest

import ioi_eval
import ioi_eval.apps


@pytest.mark.parametrize("module", [ioi_eval, ioi_eval.apps], ids=lambda module: module.__name__)
def test_a_type_checker_knows_what_a_star_imports(module: ModuleType) -> None:
    """`__all__` is written out, since a type checker computes no list; and each name of it is imported for checkers."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    written = next(
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    names = ast.literal_eval(written)
    imported = {name.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}
    assert len(names) == len(set(names))
    assert set(names) - {"__version__"} == imported - {None} == set(module._HOMES) | ({"sample"} & set(names))
    assert all(hasattr(module, name) for name in names)


def test_the_functions_of_eval_protocol_have_types() -> None:
    """A misspelt field of a result is an error for a type checker."""
    apps = ioi_eval.apps
    assert typing.get_type_hints(apps.evaluate_apps_solution)["return"] is apps.EvaluateResult
    assert typing.get_type_hints(apps.apps_dataset_to_evaluation_row)["return"] == list[apps.EvaluationRow]
