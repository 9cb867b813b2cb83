"""Python 3."""

from __future__ import annotations

import re

from ioi_eval.extract.fences import Extracted
from ioi_eval.extract.python import extract_python
from ioi_eval.languages.rules import LanguageRules
from ioi_eval.model import Language


class Python(LanguageRules):
    """Python, run by the interpreter that the policy names (`jobs/harness.py`)."""

    language = Language.PYTHON
    name = "Python 3"
    takes_graders = True  # a grader is the program that is started; it imports the submission
    needs_own_tool = True
    names = re.compile(
        r"(?!c?python(?:-64)? \((?:c?python |pypy )?2\b)"  # `Python (2.7.6)`; after `PyPy` the number is PyPy's own
        r"(?:c?python|py(?:py)?)(?:[ -]?3(?:\.\d+)*)?(?:-64)?(?: \([^()]*\)| / (?:cpython|pypy))?",
        re.IGNORECASE,
    )

    def extract(self, generation: str) -> Extracted:
        """The last complete block tagged Python, else the last untagged one that is Python."""
        return extract_python(generation)
