"""Links that are not followed: in archives, and out of a directory. Tasks would be judged without their files."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ioi_eval.errors import InputError
from ioi_eval.importers import cms, italian_yaml, kattis, tps
from ioi_eval.importers.task import ImportedTask
from tests.importers import test_cms, test_italian_yaml, test_tps
from tests.importers.kattis_packages import SCORING
from tests.importers.packages import write_package

Reader = Callable[..., ImportedTask]


def archived(tmp_path: Path, files: Mapping[str, object], *links: str) -> Path:
    """An archive of the files, some of which are hard links, with paths as `tar cf p.tar ./p` makes them."""
    directory = write_package(tmp_path / "p", files)

    def linked(member: tarfile.TarInfo) -> tarfile.TarInfo:
        if member.name.removeprefix("./p/") in links:
            member.type, member.linkname, member.size = tarfile.LNKTYPE, "./elsewhere", 0
        return member

    with tarfile.open(tmp_path / "p.tar", "w") as archive:
        archive.add(directory, arcname="./p", filter=linked)
        for member in archive.getmembers():
            member.name = f"./{member.name}"
    return tmp_path / "p.tar"


@pytest.mark.parametrize(
    ("read", "files", "links"),
    [
        (cms.import_package, test_cms.PACKAGE, ["checker/checker.cpp"]),
        (cms.import_package, test_cms.PACKAGE, ["subtasks/02-full.json"]),
        (tps.import_package, test_tps.FOLDER, ["grader/cpp/sum.h"]),
        (italian_yaml.import_package, test_italian_yaml.TASK, ["gen/GEN"]),
        (italian_yaml.import_package, test_italian_yaml.TASK, ["cor/correttore.cpp", "cor/correttore"]),
        (italian_yaml.import_package, test_italian_yaml.TASK, ["sol/grader.cpp"]),
        (kattis.import_package, SCORING, ["data/secret/one/1.in", "data/secret/one/1.ans"]),
        (kattis.import_package, {**SCORING, "include/cpp/more.h": ""}, ["include/cpp/more.h"]),
    ],
)
def test_links_in_an_archive(tmp_path: Path, read: Reader, files: Mapping[str, object], links: list[str]) -> None:
    """Subtasks and tests were lost, outputs compared without the checker, and points given for each test."""
    with pytest.raises(InputError, match=rf"{min(links)} is a link; unpack the archive"):
        read(archived(tmp_path, files, *links), year=2026)


def test_a_checker_in_a_directory_outside_of_the_task(tmp_path: Path) -> None:
    """Tasks of a contest may share one. Outputs were compared without it."""
    files = {name: text for name, text in test_italian_yaml.TASK.items() if not name.startswith("cor/")}
    write_package(tmp_path / "p", files)
    write_package(tmp_path / "shared", {"checker.cpp": "int main() {}\n"})
    (tmp_path / "p" / "check").symlink_to("../shared")
    with pytest.raises(InputError, match="check is a link that leads out of the package"):
        italian_yaml.import_package(tmp_path / "p", year=2026)


def test_links_beside_the_package_are_not_its_own(tmp_path: Path) -> None:
    """The package may be in a directory with others. It was refused, because `tests` there is a link."""
    write_package(tmp_path / "tasks" / "sum", test_cms.PACKAGE)
    (tmp_path / "tasks" / "tests").symlink_to("/usr")
    task = cms.import_package(tmp_path / "tasks", year=2026)
    assert not any("not followed" in note for note in task.notes)


def test_a_linked_header_of_a_solution_is_named(tmp_path: Path) -> None:
    """It is in the archive, so the advice to add it would not help."""
    own = {"main.cpp": '#include "own.h"\nint main() {}\n', "own.h": ""}
    files = {**test_cms.PACKAGE, **{f"solutions/model_solution/{name}": text for name, text in own.items()}}
    with pytest.raises(InputError, match=r"own\.h is a link.*\(solutions/model_solution/main\.cpp includes it\)"):
        cms.import_package(archived(tmp_path, files, "solutions/model_solution/own.h"), year=2026)


def test_other_links_are_noted(tmp_path: Path) -> None:
    """Solutions are missing, but the others are judged correctly."""
    task = cms.import_package(archived(tmp_path, test_cms.PACKAGE, "solutions/model_solution/main.cpp"), year=2026)
    assert "links that are not followed: solutions/model_solution/main.cpp" in task.notes
