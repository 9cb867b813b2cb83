"""Tasks in the Italian YAML format: the rows they become, and the messages for incomplete ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.italian_yaml import import_package
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import Batch, Communication, ProcessIO, ScoreType, TaskType, WhiteDiff
from tests.importers.packages import loaded, write_package
from tests.small_problems import checker_of, manager_of

GEN = """# a comment
#ST: 0
#COPY: att/input0.txt
#ST: 40
1 10   # small
2 20

#ST: 60
3 300
"""
TASK: dict[str, str | None] = {
    "task.yaml": "name: somma\ntitle: La somma\ntime_limit: 1.5\nmemory_limit: 256\n",
    "gen/GEN": GEN,
    **{f"input/input{n}.txt": f"{n}\n" for n in range(4)},
    **{f"output/output{n}.txt": f"{n}\n" for n in range(4)},
    "sol/grader.cpp": '#include "somma.h"\nint main() {}\n',
    "sol/grader.py": "import somma\n",
    "sol/grader.pas": "program grader;",
    "sol/somma.h": "int somma();",
    "sol/template.cpp": "int somma();",
    "sol/soluzione.cpp": '#include "somma.h"\nint somma() { return 0; }\n',
    "sol/slow/all_pairs.cpp": "int somma() { for (;;); }\n",
    "cor/correttore.cpp": '#include "testlib.h"\nint main() {}\n',
    "cor/correttore": "\x7fELF",
    "cor/testlib.h": "// testlib\n",
}
MANAGED: dict[str, str | None] = {
    **dict.fromkeys(("sol/grader.cpp", "sol/grader.py", "cor/correttore.cpp", "cor/correttore"), None),
    "check/manager.py": "#!/usr/bin/python3\n",
}


def read(tmp_path: Path, **changes: str | None) -> ImportedTask:
    """Import a task with changes. `None` leaves a file out."""
    return import_package(write_package(tmp_path / "somma", {**TASK, **changes}), year=2026)


CHECKED = {
    "gen/GEN": GEN.replace("#ST: 40\n", "#ST: 40\n#STNAME: small # few\n").replace("60\n", "60\n#STNAME:large\n"),
    "sol/soluzione.cpp": "/* @check-accepted: small large */\nint main() {}\n",
    "sol/greedy.py": "# @check-accepted: sm*\n# @check-partial-score: lar?e\n",
    "sol/slow.cpp": "// @check-accepted: small\n// @check-time-limit-exceeded: large other\n",
    "sol/unknown.cpp": "// @check-best: small\n",
}


def test_solutions_state_their_results_in_comments(tmp_path: Path) -> None:
    """By the names of subtasks; of failures only that there are no points, as they need not be in the first test."""
    task = read(tmp_path, **CHECKED)
    stated = {row["label"]: row["expected_subtasks"] for row in task.solution_rows}
    assert stated["soluzione.cpp"] == {"01": "AC", "02": "AC"}
    assert stated["greedy.py"] == {"01": "AC", "02": "PA"}
    assert stated["slow.cpp"] == {"01": "AC", "02": "WA,TLE,RE,MLE,SV,OLE"}
    assert stated["unknown.cpp"] is None
    why = "what it states is not compared, as no such subtask or result is known"
    assert [note for note in task.notes if "is not compared" in note] == [
        f"sol/slow.cpp: {why}: time-limit-exceeded of other",
        f"sol/unknown.cpp: {why}: best of small",
    ]
    named = {"gen/GEN": None, "gen/gen.toml": "[subtask.small]\nscore = 40\n[subtask.large]\nscore = 60\n"}
    stated_groups = {"task.yaml": parameters("GroupMin", "[[40, 3], [60, 1]]")}
    rows = read(tmp_path / "toml", **{**CHECKED, **named, **stated_groups}).solution_rows
    assert {row["label"]: row["expected_subtasks"] for row in rows}["greedy.py"] == {"00": "AC", "01": "PA"}


def test_programs_of_a_task_that_takes_outputs_are_noted(tmp_path: Path) -> None:
    """They are no solutions there, and neither are outputs with other names."""
    task = read(
        tmp_path,
        **{"task.yaml": f"{TASK['task.yaml']}output_only: true\n", "sol/author/output_000.txt": "0\n"},
        **{"sol/other/output0.txt": "0\n", "sol/readme.txt": "the outputs\n"},
    )
    assert [row["label"] for row in task.solution_rows] == ["author"]
    assert "left out, as outputs are called output_000.txt: sol/other/output0.txt" in task.notes
    assert "left out, as the task takes outputs only: sol/slow/all_pairs.cpp, sol/soluzione.cpp" in task.notes


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {"task.yaml": "name: a\ndescription: A\nmax_score: 6\n", "managers/generator.py": ""},
            "a task of Terry, where",
        ),
        (
            {"task.yaml": "extends: ../base.yaml\nchecker: !cppcompile a.cpp\n"},
            "in the format of the Austrian olympiad",
        ),
        ({**TASK, "check/controller.cpp": "int main() {}"}, "of task-maker-rust's type Interactive"),
        ({**TASK, "cor/controller.py": "pass"}, "of task-maker-rust's type Interactive"),
        ({"task.yaml.orig": "title: A\n"}, "its task.yaml.orig is for task-maker-rust, which makes task.yaml"),
        (
            {"task.toml": "title = 'A'\n", "gen/gen.toml": ""},
            "run that on the task, then use `ioi-eval import italian-yaml`",
        ),
    ],
)
def test_tasks_of_other_formats_are_refused_by_name(tmp_path: Path, files: dict[str, str], words: str) -> None:
    """Although some of them have a task.yaml too."""
    with pytest.raises(InputError) as caught:
        import_package(write_package(tmp_path / "somma", files), year=2026)
    assert words in str(caught.value)
    assert "[read as" not in str(caught.value)


def test_a_batch_task(tmp_path: Path) -> None:
    """Subtasks are read from gen/GEN. Input and output are files by default. Each known language has its grader."""
    task = read(tmp_path)
    problem = loaded(tmp_path, task)
    assert (problem.name, problem.time_limit_s, problem.memory_limit_bytes) == ("La somma", 1.5, 256 << 20)
    assert (problem.score_type, problem.score_precision) == (ScoreType.GROUP_MIN, 0)
    assert [(one.name, one.points, one.tests) for one in problem.subtasks] == [
        ("00", 0, ("000",)),
        ("01", 40, ("001", "002")),
        ("02", 60, ("003",)),
    ]
    checker = checker_of(problem)
    assert problem.method == Batch(check=checker, input_file="input.txt", output_file="output.txt")
    assert [file.path for file in problem.linked] == ["graders/grader.cpp", "graders/grader.py"]
    assert [file.path for file in problem.headers] == ["graders/somma.h"]
    assert [file.path for file in (checker.source, *checker.files)] == ["checker/checker.cpp", "checker/testlib.h"]
    assert [(row["label"], row["expected"]) for row in task.solution_rows] == [
        ("slow/all_pairs.cpp", None),
        ("soluzione.cpp", "model_solution"),
    ]


def test_links_in_the_directory_of_generators(tmp_path: Path) -> None:
    """Only three files of it are read. Links to libraries that lead out of the package are noted."""
    where = write_package(tmp_path / "somma", TASK)
    (where / "gen/lib").symlink_to("/")
    assert any("gen/lib" in note for note in import_package(where, year=2025).notes)
    (where / "gen").rename(tmp_path / "gen")
    (where / "gen").symlink_to(tmp_path / "gen")
    with pytest.raises(InputError, match="gen is a link that leads out of the package"):
        import_package(where, year=2025)


def test_a_comment_from_windows_is_one_line(tmp_path: Path) -> None:
    """Its "…" is U+0085 in Latin-1, and not the end of a line with a test after it."""
    gen = GEN.replace("small", "small… or not").encode("cp1252")
    package = write_package(tmp_path / "somma", {**TASK, "gen/GEN": gen})
    assert [row["test_names"] for row in import_package(package, year=2026).problem_rows] == [
        ["000"],
        ["001", "002"],
        ["003"],
    ]


def test_a_task_without_limits(tmp_path: Path) -> None:
    """In CMS they are optional. The caller gives the time limit, also in place of that of the task."""
    without = {"task.yaml": "name: somma\ntitle: La somma\n"}
    with pytest.raises(InputError, match=r"time_limit is missing in task\.yaml; give it in seconds with --time-limit"):
        read(tmp_path, **without)
    task = import_package(tmp_path / "somma", year=2026, time_limit_s=3)
    problem = loaded(tmp_path, task)
    assert (problem.time_limit_s, problem.memory_limit_bytes) == (3, 2 << 30)
    assert "task.yaml states no memory limit, so CMS sets none; here it is 2048 MiB" in task.notes
    read(tmp_path / "stated")
    task = import_package(tmp_path / "stated/somma", year=2026, time_limit_s=3)
    assert [row["time_limit"] for row in task.problem_rows] == [3, 3, 3]
    with pytest.raises(InputError, match=r"somma: time_limit is 0; it must be") as caught:
        import_package(tmp_path / "stated/somma", year=2026, time_limit_s=0)
    assert "task.yaml" not in str(caught.value)


@pytest.mark.parametrize(("total", "points"), [("total_value: '50'\n", 50), ("", 100)])
def test_a_task_without_subtasks_is_a_sum(tmp_path: Path, total: str, points: float) -> None:
    """Without a checker, white-diff is used. With empty file names, standard streams are used."""
    alone = {name: None for name in TASK if name.startswith(("sol/grader", "cor/"))}
    yaml = f"nome_breve: somma\nnome: S\ntimeout: 1\nmemlimit: 64\ninfile: ''\noutfile: ''\n{total}n_input: 4\n"
    problem = loaded(tmp_path, read(tmp_path, **{**alone, "gen/GEN": None, "task.yaml": yaml}))
    assert (problem.score_type, [(one.points, len(one.tests)) for one in problem.subtasks]) == (
        ScoreType.SUM,
        [(points, 4)],
    )
    assert (problem.method, problem.linked) == (Batch(check=WhiteDiff()), ())


def test_what_belongs_to_no_subtask_or_test_is_noted(tmp_path: Path) -> None:
    """A subtask without tests that is worth nothing, and inputs that are no test's. Nothing else is left out."""
    task = read(tmp_path, **{"gen/GEN": GEN.replace("#ST: 60", "#ST: 0\n#ST: 60"), "input/input4.txt": ""})
    assert [(row["score"], row["test_names"]) for row in task.problem_rows] == [
        (0, ["000"]),
        (40, ["001", "002"]),
        (60, ["003"]),
    ]
    assert [note for note in task.notes if "left out" in note] == [
        "subtasks without tests in gen/GEN, which are worth nothing, are left out",
        "left out, because they belong to no test: input/input4.txt",
    ]
    assert not [note for note in read(tmp_path / "complete").notes if "left out" in note]


@pytest.mark.parametrize(("stub", "io"), [(None, ProcessIO.STD_IO), ("import somma\n", ProcessIO.FIFO_IO)])
def test_a_task_with_a_manager(tmp_path: Path, stub: str | None, io: ProcessIO) -> None:
    """A stub gets its FIFOs as arguments unless the task says otherwise. A program without a stub gets them as its
    streams.
    """
    yaml = f"{TASK['task.yaml']}num_processes: 2\n"
    problem = loaded(tmp_path, read(tmp_path, **{**MANAGED, "sol/stub.py": stub, "task.yaml": yaml}))
    manager = manager_of(problem)
    assert problem.method == Communication(manager=manager, processes=2, process_io=io)
    assert manager.source.path == "manager/manager.py"
    assert [file.path for file in problem.linked] == ([] if stub is None else ["graders/stub.py"])


def test_a_task_with_a_manager_needs_no_outputs(tmp_path: Path) -> None:
    """task-maker-rust makes none. If there are some, none may be missing."""
    without = {f"output/output{n}.txt": None for n in range(4)}
    task = read(tmp_path, **{**MANAGED, **without})
    assert [row["test_output"] for row in task.tests()] == [""] * 4
    assert any("there is no output/" in note for note in task.notes)
    with pytest.raises(InputError, match=r"no output/output0\.txt, though there should be 4 tests \(1 of 8 files"):
        read(tmp_path / "one", **{**MANAGED, "output/output0.txt": None})
    with pytest.raises(InputError, match=r"no output/output0\.txt.*4 of 8 files"):
        read(tmp_path / "batch", **without)


@pytest.mark.parametrize(
    ("files", "linked"),
    [
        ({**MANAGED, "sol/grader.cpp": "int main() {}\n", "sol/stub.py": "import somma\n"}, ["graders/stub.py"]),
        ({"sol/grader.cpp": None, "sol/stub.cpp": "int main() {}\n"}, ["graders/grader.py"]),
    ],
)
def test_a_grader_is_no_stub(tmp_path: Path, files: dict[str, str | None], linked: list[str]) -> None:
    """As in CMS, submissions in a language without the one that the task needs get nothing in its place."""
    problem = loaded(tmp_path, read(tmp_path, **files))
    assert [file.path for file in problem.linked] == linked


def test_programs_in_python_2(tmp_path: Path) -> None:
    """A grader is for submissions in Python only; a checker or manager judges all."""
    old = 'import sys\nprint "-1"\n'
    assert any("graders/grader.py: Python 2" in note for note in read(tmp_path, **{"sol/grader.py": old}).notes)
    assert not any("Python 2" in note for note in read(tmp_path / "new").notes)
    checker = {"cor/correttore.cpp": None, "cor/correttore": None, "cor/correttore.py": old}
    with pytest.raises(UnsupportedError, match=r"checker\.py is Python 2, which is not supported"):
        read(tmp_path / "checker", **checker)
    with pytest.raises(UnsupportedError, match=r"manager\.py is Python 2, which is not supported"):
        read(tmp_path / "manager", **{**MANAGED, "check/manager.py": f"#!/usr/bin/python2\n{old}"})


REVERSED = {
    "check/manager.py": None,
    "check/manager.cpp": 'int main(int argc, char **argv) { fopen(argv[1], "w"); fopen( argv [2] , "rb"); }\n',
    "sol/stub.cpp": 'int main(int argc, char **argv) { FILE *to = fopen(argv[1], "w"), *f = fopen(argv[2], "r"); }\n',
    "sol/stub.h": "int somma();\n",
    "sol/stub.c": 'int main(int c, char **argv) { fopen(argv[2], "r"); fopen(argv[1], "w"); puts(argv[0]); }\n',
}


def test_fifos_in_reversed_order_are_swapped(tmp_path: Path) -> None:
    """In all programs of the task, so that they still fit together."""
    task = read(tmp_path, **{**MANAGED, **REVERSED})
    texts = dict(task.problem_rows[0]["grader_files"])
    assert 'fopen(argv[2], "w"); fopen( argv [1] , "rb")' in texts["manager/manager.cpp"]
    assert 'fopen(argv[2], "w"), *f = fopen(argv[1], "r")' in texts["graders/stub.cpp"]
    assert 'fopen(argv[1], "r"); fopen(argv[2], "w"); puts(argv[0])' in texts["graders/stub.c"]
    assert any("argv[1] and argv[2] are swapped" in note for note in task.notes)


@pytest.mark.parametrize(
    "changes",
    [
        {"check/manager.cpp": 'int main(int argc, char **argv) { fopen(argv[1], "r"); fopen(argv[2], "w"); }\n'},
        {"sol/stub.c": 'int main(int argc, char **argv) { fopen(argv[1], "r"); fopen(argv[2], "w"); }\n'},
        {"check/manager.cpp": "int main() {}\n"},
        {"task.yaml": f"{TASK['task.yaml']}num_processes: 2\n"},
    ],
)
def test_fifos_are_not_swapped_if_one_source_has_the_order_of_cms(
    tmp_path: Path, changes: dict[str, str | None]
) -> None:
    """Also if one source cannot be read. No source is changed."""
    files = {**MANAGED, **REVERSED, **changes}
    texts = dict(read(tmp_path, **files).problem_rows[0]["grader_files"])
    assert texts["manager/manager.cpp"] == files["check/manager.cpp"]
    assert texts["graders/stub.cpp"] == files["sol/stub.cpp"]


def test_a_checker_in_python(tmp_path: Path) -> None:
    """Tools start it by `python3`, also without a first line `#!`. As it runs as one file, it cannot have modules."""
    files = {"cor/correttore.cpp": None, "cor/correttore": None, "check/helper.py": "pass\n"}
    script = (
        '"""From\nfrom helper comes nothing."""\nimport os, random\nfrom math import pi\n'
        "try: import helper\nexcept ImportError: pass\n"
    )
    files["check/random.py"] = "pass\n"
    checker = checker_of(loaded(tmp_path, read(tmp_path, **files, **{"check/checker.py": script})))
    assert checker.source.content.decode() == f"#!/usr/bin/env python3\n{script}"
    for line in ("import os, helper as h", "from helper.a import b"):
        with pytest.raises(InputError, match=r"checker/checker\.py imports checker/helper\.py.*; put both in one"):
            read(tmp_path / "modules", **files, **{"check/checker.py": f"{line}\n"})


def test_a_judge_program_has_the_sources_that_it_includes(tmp_path: Path) -> None:
    """Whatever their endings are, and those that these include; no others."""
    included = {
        "cor/correttore.cpp": '#include "io/read.cpp"\n',
        "cor/io/read.cpp": '#include "rest.cpp"\n#include "missing"\n#include "../../sol/soluzione.cpp"\n',
        "cor/io/rest.cpp": '#include "numbers.cpp"\n',
        "cor/io/numbers.cpp": "int numbers;\n",
        "cor/io/table.inc": '#include "read.cpp"\n',
        "cor/other.cpp": "int main() {}\n",
    }
    checker = checker_of(loaded(tmp_path, read(tmp_path, **included)))
    assert {file.path for file in checker.files} == {
        "checker/io/numbers.cpp",
        "checker/io/read.cpp",
        "checker/io/rest.cpp",
        "checker/io/table.inc",
        "checker/testlib.h",
    }


@pytest.mark.parametrize("ending", [".cxx", ".c++", ".C"])
def test_endings_of_checkers(tmp_path: Path, ending: str) -> None:
    """All that CMS takes for C++."""
    files = {"cor/correttore.cpp": None, "cor/correttore": None, f"check/checker{ending}": "int main() {}\n"}
    assert checker_of(loaded(tmp_path, read(tmp_path, **files))).source.path == "checker/checker.cpp"


def test_a_checker_beside_a_manager(tmp_path: Path) -> None:
    """CMS does not use it: the score is what the manager prints."""
    task = read(tmp_path, **{**MANAGED, "check/checker.cpp": "int main() {}\n"})
    problem = loaded(tmp_path, task)
    assert (problem.task_type, problem.method.check) == (TaskType.COMMUNICATION, None)
    assert "check/checker.cpp (the manager is check/manager.py)" in "".join(task.notes)


def test_a_checker_with_another_name(tmp_path: Path) -> None:
    """CMS only uses `check/checker` and `cor/correttore`. Another name is noted, and outputs are compared."""
    task = read(tmp_path, **{"cor/correttore.cpp": None, "cor/correttore": None, "cor/checker.cpp": "int main() {}\n"})
    assert loaded(tmp_path, task).method.check == WhiteDiff()
    assert "cor/checker.cpp (outputs are compared without a checker)" in "".join(task.notes)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("check/check.cpp", "check/checker.cpp"), ("cor/cor.py", "cor/correttore.py")],
)
def test_a_program_that_may_be_the_checker(tmp_path: Path, name: str, wanted: str) -> None:
    """CMS reads a compiled checker, whose source may have any name. Beside a checker another program is left alone."""
    without = {"cor/correttore.cpp": None, "cor/correttore": None}
    with pytest.raises(InputError) as caught:
        read(tmp_path, **{**without, name: "int main() {}\n"})
    assert f"{name} is not read" in str(caught.value)
    assert f"call it {wanted};" in str(caught.value)
    assert checker_of(loaded(tmp_path, read(tmp_path / "both", **{name: "int main() {}\n"})))
    below = read(tmp_path / "below", **without, **{f"{name.partition('/')[0]}/lib/tool.cpp": "int main() {}\n"})
    assert loaded(tmp_path / "below", below).method.check == WhiteDiff()


def test_settings_beside_the_directory(tmp_path: Path) -> None:
    """CMS still reads them there. The message says where they are."""
    (tmp_path / "somma.yaml").write_text(str(TASK["task.yaml"]))
    assert read(tmp_path / "both").key == read(tmp_path).key, "those in the directory count"
    (tmp_path / "somma/task.yaml").unlink()
    with pytest.raises(InputError) as caught:
        read(tmp_path, **{"task.yaml": None})
    assert f"{tmp_path / 'somma.yaml'} seems to have the settings" in str(caught.value)


@pytest.mark.parametrize("name", ["sol/grader.h", "sol/grader.txt", "sol/slow/grader.cpp"])
def test_files_that_are_no_grader(tmp_path: Path, name: str) -> None:
    """Submissions stand alone, as in CMS, if no file has the extension of a language."""
    none = {"sol/grader.cpp": None, "sol/grader.py": None, "sol/grader.pas": None, "sol/soluzione.cpp": None}
    problem = loaded(tmp_path, read(tmp_path, **{**none, "sol/somma.h": None, name: "// no grader\n"}))
    assert problem.linked == ()
    beside = read(tmp_path / "b", **{"sol/slow/grader.cpp": "// another\n", "sol/slow/somma.h": "// another\n"})
    assert [file.path for file in loaded(tmp_path / "b", beside).headers] == ["graders/somma.h"]


def parameters(score_type: str, text: str) -> str:
    """A task.yaml with this score type."""
    return f"{TASK['task.yaml']}n_input: 4\nscore_type: {score_type}\nscore_type_parameters: {text}\n"


@pytest.mark.parametrize(
    ("score_type", "text", "subtasks"),
    [
        ("GroupMin", "[[30, 1], [70, 3]]", [(30, 1, None), (70, 3, None)]),
        ("GroupMul", "[[30, '00[01]'], [70, '']]", [(30, 2, None), (70, 4, None)]),
        ("GroupThreshold", "[[100, ['003'], 0.5]]", [(100, 1, 0.5)]),
        ("GroupMin", "[{max_score: 9.5, testcases: 4, always_show_testcases: true}]", [(9.5, 4, None)]),
        ("Sum", "2.5", [(10, 4, None)]),
        ("Sum", "[[10, '00[01]'], [90, '002|003']]", [(10, 2, None), (90, 2, None)]),
    ],
)
def test_score_type_parameters(
    tmp_path: Path, score_type: str, text: str, subtasks: list[tuple[float, int, float | None]]
) -> None:
    """Tests by number, by regular expression or by name; as lists or as objects."""
    problem = loaded(tmp_path, read(tmp_path, **{"task.yaml": parameters(score_type, text)}))
    assert problem.score_type == score_type
    assert [(one.points, len(one.tests), one.threshold) for one in problem.subtasks] == subtasks


def test_score_type_parameters_without_the_number_of_tests(tmp_path: Path) -> None:
    """They count in CMS's releases, also beside a gen/GEN with other subtasks, which only gives the number of tests."""
    stated = parameters("GroupMin", "[[0, '000'], [30, '000|001|002'], [70, '00']]").replace("n_input: 4\n", "")
    task = read(tmp_path, **{"task.yaml": stated, "gen/GEN": f"{GEN}#STDEP: *\n", "gen/cases.gen": ""})
    assert [(row["score"], row["test_names"]) for row in task.problem_rows] == [
        (0, ["000"]),
        (30, ["000", "001", "002"]),
        (70, ["000", "001", "002", "003"]),
    ]
    assert any("are those of score_type_parameters in task.yaml, as in CMS 1.4 and 1.5" in note for note in task.notes)
    task = read(tmp_path / "one", **{"task.yaml": f"{TASK['task.yaml']}score_type: GroupMul\n"})
    assert [row["score"] for row in task.problem_rows] == [0, 40, 60]
    assert any(note.startswith("score_type in task.yaml is ignored: CMS too needs both") for note in task.notes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"task.yaml": None}, "holds no task.yaml: it is not a task in the Italian YAML format"),
        ({"task.yaml": "name: [\n"}, "task.yaml is not YAML"),
        ({"task.yaml": "title: x\n"}, "name is missing in task.yaml"),
        ({"task.yaml": "name: x\ntime_limit: soon\n"}, "time_limit is 'soon' in task.yaml"),
        ({"task.yaml": f"name: x\ntime_limit: 1{'0' * 400}\n"}, "time_limit is 1000"),
        (
            {"gen/GEN": None, "task.yaml": f"{TASK['task.yaml']}n_input: 4\ntotal_value: all\n"},
            "total_value is 'all'; it must be a number",
        ),
        ({"output/output2.txt": None}, "there is no output/output2.txt, though there should be 4 tests"),
        (
            {"output/output2.txt": None, "output/output2.ans": ""},
            "; output/ holds output/output2.ans, which CMS does not read; generate them first (`cmsMake`",
        ),
        (
            {"task.yaml": parameters("GroupMin", "[{max_score: 100, testcases: 4, minimum: 3}]")},
            "group 0 of score_type_parameters has 'minimum', which may change its score",
        ),
        ({"gen/GEN": GEN + "#ST: 60\n4 5\n"}, "are worth 160 points together, not 100; correct its #ST: lines"),
        ({"gen/GEN": "#ST: 60\n1\n2\n3\n4\n#ST: 40\n"}, "a subtask that is worth 40 points and has no tests"),
        ({"gen/GEN": "# nothing\n"}, "has no tests: neither gen/GEN nor n_input names any"),
        ({"gen/GEN": "1 2\n#ST: 100\n3 4\n"}, "gen/GEN, line 2 begins the first subtask, but there are tests"),
        ({"gen/GEN": "#ST: all\n"}, "gen/GEN, line 1: the subtask is worth 'all'"),
        ({"gen/GEN": f"#ST: {'9' * 5000}\n"}, "gen/GEN, line 1: the subtask is worth '999"),
        ({"gen/GEN": "1 2 #COPY: x\n"}, "gen/GEN, line 1 has both a test and a command"),
        ({"gen/GEN": None}, "neither gen/GEN nor n_input in task.yaml says how many tests there are"),
        ({"gen/GEN": None, "task.yaml": f"{TASK['task.yaml']}n_input: many\n"}, "n_input is 'many' in task.yaml"),
        (
            {"gen/GEN": None, "task.yaml": f"{TASK['task.yaml']}n_input: 100001\n"},
            "n_input is 100001 in task.yaml; it must be a whole number from 1 to 100,000",
        ),
        ({"task.yaml": f"{TASK['task.yaml']}n_input: '{'9' * 5000}'\n"}, "n_input is '999"),
        (
            {"task.yaml": f"{TASK['task.yaml']}output_only_testcases: 0,{'9' * 5000}\n"},
            "output_only_testcases in task.yaml holds '999",
        ),
        (
            {**MANAGED, "task.yaml": f"{TASK['task.yaml']}num_processes: 2026-07-01\n"},
            "task_type_parameters_Communication_num_processes in graders/grader_config.json is '2026-07-01'",
        ),
        (
            {**MANAGED, "task.yaml": f"{TASK['task.yaml']}user_io: {{2026-07-01: 1}}\n"},
            "task_type_parameters_Communication_user_io in graders/grader_config.json is {}",
        ),
        (
            {"task.yaml": f"{TASK['task.yaml']}n_input: 5\n"},
            "gen/GEN has 4 tests, but n_input in task.yaml is 5; correct one",
        ),
        ({"gen/GEN": GEN + "#STNAME: last\n #STDEP: *\n"}, "gen/GEN, line 11 lets a subtask depend on others"),
        ({"gen/cases.gen": ":GEN x\n : STDEP *\n"}, "cases.gen, line 2 lets a subtask depend on others, which is not"),
        ({"gen/cases.gen": ":STDEP *\n"}, "; rename task.yaml to task.yaml.orig and run task-maker-rust, which then"),
        ({"gen/GEN": None, "gen/cases.gen": ""}, "run task-maker-rust on the task first, which makes gen/GEN from it"),
        ({"gen/GEN": None, "gen/gen.toml": ""}, "task-maker-rust on the task first, which writes them to task.yaml"),
        (
            {"gen/GEN": None, "gen/cases.gen": ": SUBTASK 100\n", "task.yaml": f"{TASK['task.yaml']}n_input: 4\n"},
            "gen/cases.gen states the subtasks",
        ),
        (
            {"cor/correttore.cpp": None, "cor/correttore.pas": ""},
            "cor/correttore.pas is a checker in a language that is not",
        ),
        (
            {**MANAGED, "check/manager.py": None, "check/manager.pas": ""},
            "check/manager.pas is a manager in a language",
        ),
        ({"cor/correttore.cpp": None}, "cor/correttore is a program without its source; add cor/correttore.cpp"),
        ({"task.yaml": parameters("GroupMin", "[]")}, "score_type_parameters is []; it must be a list of groups"),
        ({"task.yaml": parameters("GroupMin", "[[100, 5]]")}, "take 5 tests, but there are 4"),
        ({"task.yaml": parameters("GroupMin", "[[100, '9']]")}, "no test's name matches '9'"),
        ({"task.yaml": parameters("GroupMin", "[[50, 1], [50, '00']]")}, "name their tests in different ways"),
        ({"task.yaml": parameters("GroupMin", "[[100, -4]]")}, "has the tests -4; they must be a number of tests"),
        ({"task.yaml": parameters("GroupMin", "[[100, true]]")}, "has the tests True; they must be a number of tests"),
        ({"task.yaml": parameters("GroupMin", "[[50]]")}, "group 0 of score_type_parameters is [50], not"),
        ({"task.yaml": parameters("GroupMin", "[[50, ['7']]]")}, "names the test '7'; tests are 000, 001, 002"),
        ({"task.yaml": parameters("GroupThreshold", "[[50, 1]]")}, "subtask 00 has no threshold"),
        ({"task.yaml": parameters("Sum", "[1]")}, "group 0 of score_type_parameters is 1, not [points, tests]"),
        ({"task.yaml": parameters("Sum", "all")}, "score_type_parameters is 'all'; it must be a number"),
        ({"task.yaml": parameters("Sum", "1" + "0" * 400)}, "it must be a number"),
        ({"task.yaml": parameters("GroupSum", "[[1, 1]]")}, "score type 'GroupSum' is not supported"),
    ],
)
def test_invalid_tasks(tmp_path: Path, changes: dict[str, str | None], words: str) -> None:
    """The message has the package, the file and the fault."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, **changes)
    assert words in str(caught.value)
    assert "somma" in str(caught.value)


def test_a_link_that_leads_to_itself_is_no_package(tmp_path: Path) -> None:
    """As for the other formats."""
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match=r"there is no package .*loop"):
        import_package(tmp_path / "loop", year=2024)
