"""JUnit XML, which every CI shows: a suite for each problem, a test case for each submission.

AC is a passed case; JE and submissions that could not be judged are errors; every other verdict is a failure with the
points, the test that gave the verdict and the compiler's message. Characters that XML forbids are escaped (`\\x1b`).

Source: `junit-10.xsd` of Jenkins' xunit plugin (at most three decimals in times, no properties of cases).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter, defaultdict

from ioi_eval.report.groups import group_name
from ioi_eval.report.publication import MARK, ExportFormat, Open
from ioi_eval.report.publication.material import Material, details, headline
from ioi_eval.report.result_values import share_of, verdict_of
from ioi_eval.report.texts import escaped_text
from ioi_eval.selection import ResultRow
from ioi_eval.version import __version__


def _write(material: Material, open_file: Open) -> None:
    """Write the file. All cases are kept in memory before, because a suite begins with its counts."""
    name = material.setting("name", f"ioi-eval {material.results.directory.resolve().name}")
    together = ET.Element("testsuites", name=escaped_text(name))
    suites: dict[str, ET.Element] = {}
    seconds: dict[str, float] = defaultdict(float)
    for row in material.rows():
        problem, submission = material.results.name_of(row)
        if problem not in suites:
            suites[problem] = ET.SubElement(together, "testsuite", name=escaped_text(problem))
        group = group_name(material.grouping.columns, material.grouping.labels(row))
        classname = ".".join(part.replace(".", "_") for part in (group, problem) if part)
        time_s = _time(row)
        seconds[problem] += time_s
        names = {"name": escaped_text(submission), "classname": escaped_text(classname), "time": f"{time_s:.3f}"}
        _add_verdict(ET.SubElement(suites[problem], "testcase", names), row)
    when = material.finished.isoformat(timespec="seconds").removesuffix("+00:00")
    for problem, suite in suites.items():
        suite.attrib |= {**_counts(suite, seconds[problem]), "skipped": "0", "timestamp": when}
    together.attrib |= _counts(together, sum(seconds.values()))
    ET.indent(together, space="")
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {MARK.decode()}, ioi_eval {__version__} -->\n'
    with open_file("") as file:
        file.write(f"{head}{ET.tostring(together, encoding='unicode')}\n".encode())


def _add_verdict(case: ET.Element, row: ResultRow) -> None:
    verdict = verdict_of(row)
    if share_of(row) is not None and verdict == "AC":
        return
    what = "error" if share_of(row) is None else "failure"
    failed = ET.SubElement(case, what, type=escaped_text(verdict or "not judged"), message=escaped_text(headline(row)))
    failed.text = escaped_text(details(row))


def _counts(suite: ET.Element, seconds: float) -> dict[str, str]:
    kinds = Counter(element.tag for element in suite.iter())
    counts = {"tests": kinds["testcase"], "failures": kinds["failure"], "errors": kinds["error"]}
    return {**{name: str(count) for name, count in counts.items()}, "time": f"{seconds:.3f}"}


def _time(row: ResultRow) -> float:
    """CPU seconds of all tests, each counted once."""
    if row.get("cpu_s") is not None:
        return float(row["cpu_s"])
    return float(sum(test.get("time_s") or 0.0 for test in row.get("test_results") or ()))


FORMAT = ExportFormat(
    default_path="junit.xml",
    settings={"name": "of all suites together"},
    write=_write,
)
