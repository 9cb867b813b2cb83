"""The formats of packages of problems, which `ioi-eval import` turns into rows."""

from __future__ import annotations

from collections.abc import Mapping

FORMATS: Mapping[str, Mapping[str, str]] = {
    "problem.json": {"a CMS export package": "cms", "TPS task directory": "tps"},
    "problem.yaml": {"a problem package in the Kattis format": "kattis"},
    "info.toml": {"a problem of Library Checker": "library-checker"},
    "task.yaml": {"a task in the Italian YAML format": "italian-yaml"},
    "domjudge-problem.ini": {"a problem package of DOMjudge": "kattis"},
    "problem.xml": {"a package of Polygon": "polygon"},
}
"""For each root file, the kinds of packages that have it, each with the command that reads it."""
