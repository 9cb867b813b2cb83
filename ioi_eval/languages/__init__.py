"""Programming languages: the rules for each, one module per language. Pure.

A language is a member of `Language` (with the endings of its files) and a `LanguageRules` in a module here. Other
modules name a language only if their rule is about that one: the package `cms_ioi` and `--fix-includes` support C++
only, checkers and managers are in C++ or C or are scripts, and the harness is for Python. TPS packages have a directory
of graders for each language (`importers/tps.py`). `jobs/compile.py` knows the messages with which each compiler says
that the machine has failed.
"""

from __future__ import annotations

from typing import assert_never

from ioi_eval.languages.c import C
from ioi_eval.languages.cpp import Cpp
from ioi_eval.languages.python import Python
from ioi_eval.languages.rules import CompiledLanguage, LanguageRules, ObjectLanguage, OwnToolLanguage
from ioi_eval.languages.rust import Rust
from ioi_eval.model import Language

__all__ = [
    "CompiledLanguage",
    "LanguageRules",
    "ObjectLanguage",
    "OwnToolLanguage",
    "all_names",
    "compiled_rules",
    "language_called",
    "rules_of",
]


_CPP, _C, _PYTHON, _RUST = Cpp(), C(), Python(), Rust()


def rules_of(language: Language) -> LanguageRules:
    """The rules of a language."""
    match language:
        case Language.CPP:
            return _CPP
        case Language.C:
            return _C
        case Language.PYTHON:
            return _PYTHON
        case Language.RUST:
            return _RUST
        case _:
            assert_never(language)  # mypy fails if a language is forgotten


def compiled_rules(language: Language) -> CompiledLanguage:
    """The rules of a language that is compiled."""
    rules = rules_of(language)
    if not isinstance(rules, CompiledLanguage):
        raise TypeError(f"{rules.name} is not compiled")
    return rules


def language_called(name: str) -> Language | None:
    """The language with this name in data sets (`C++17`, `gnu c++`, `PyPy 3`); `None` if it is not supported."""
    return next((language for language in Language if rules_of(language).names.fullmatch(name)), None)


def stated_name(text: str | None, code: object) -> str:
    """The name in a row's column `language`; empty if it names none. `code` is the row's column of that name.

    Source: huggingface/ioi writes `unknown` and an empty `code` if it found no program, and does not read the column.
    """
    name = (text or "").strip()
    has_code = bool(code.strip()) if isinstance(code, str) else code is not None
    return "" if name == "unknown" and not has_code else name


def all_names() -> str:
    """The names of the supported languages, for messages: `C++, C, Python 3 and Rust`."""
    *names, last = (rules_of(language).name for language in Language)
    return f"{', '.join(names)} and {last}"
