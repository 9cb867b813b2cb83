"""JUnit XML, which every CI shows: a suite for each problem, a test case for each submission.

AC is a passed case; JE and submissions that could not be judged are errors; every other verdict is a failure with the
points, the test that gave the verdict and the compiler's message. Characters that XML forbids are escaped (`\\x1b`).

Source: `junit-10.xsd` of Jenkins' xunit plugin (at most three decimals in times, no properties of cases).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from ioi_eval.report.publication import MARK, ExportFormat, Material, Open, details, headline
from ioi_eval.report.result_values import share_of, verdict_of
from ioi_eval.report.texts import plain
from ioi_eval.selection import ResultRow
from ioi_eval.version import __version__


@dataclass(slots=True)
class _Suite:
    """The cases of a problem."""

    cases: list[str] = field(default_factory=list)
    failures: int = 0
    errors: int = 0
    time_s: float = 0.0

    def add(self, row: ResultRow, name: str, classname: str) -> None:
        verdict, time_s = verdict_of(row), _time(row)
        self.time_s += time_s
        what = "error" if share_of(row) is None else "failure" if verdict != "AC" else ""
        self.errors += what == "error"
        self.failures += what == "failure"
        head = f"<testcase name={_quoted(name)} classname={_quoted(classname)} time={_quoted(f'{time_s:.3f}')}"
        if not what:
            self.cases.append(f"{head}/>")
            return
        attributes = f"type={_quoted(verdict or 'not judged')} message={_quoted(headline(row))}"
        self.cases.append(f"{head}><{what} {attributes}>{escape(plain(details(row)))}</{what}></testcase>")

    @property
    def counts(self) -> str:
        return f'tests="{len(self.cases)}" failures="{self.failures}" errors="{self.errors}" time="{self.time_s:.3f}"'


def _write(material: Material, open_file: Open) -> None:
    """Write the file. All cases are kept in memory before, because a suite begins with its counts."""
    suites: dict[str, _Suite] = {}
    for row in material.rows():
        problem, submission = material.results.name_of(row)
        group = material.group_of(row).name
        classname = ".".join(part.replace(".", "_") for part in (group, problem) if part)
        suites.setdefault(problem, _Suite()).add(row, submission, classname)
    with open_file("") as file:
        file.writelines(part.encode("utf-8", "replace") for part in _document(suites, material))


def _document(suites: Mapping[str, _Suite], material: Material) -> Iterator[str]:
    together = _Suite(
        cases=[case for suite in suites.values() for case in suite.cases],
        failures=sum(suite.failures for suite in suites.values()),
        errors=sum(suite.errors for suite in suites.values()),
        time_s=sum(suite.time_s for suite in suites.values()),
    )
    name = material.setting("name", f"ioi-eval {material.results.directory.resolve().name}")
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {MARK.decode()}, ioi_eval {__version__} -->\n'
    yield f"<testsuites name={_quoted(name)} {together.counts}>\n"
    when = material.finished.isoformat(timespec="seconds").removesuffix("+00:00")
    for problem, suite in suites.items():
        yield f'<testsuite name={_quoted(problem)} {suite.counts} skipped="0" timestamp="{when}">\n'
        yield from (f"{case}\n" for case in suite.cases)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _time(row: ResultRow) -> float:
    """CPU seconds of all tests, each counted once."""
    if row.get("cpu_s") is not None:
        return float(row["cpu_s"])
    return float(sum(test.get("time_s") or 0.0 for test in row.get("test_results") or ()))


def _quoted(text: str) -> str:
    return quoteattr(plain(text))


FORMAT = ExportFormat(
    default_path="junit.xml",
    settings={"name": "of all suites together"},
    write=_write,
)
