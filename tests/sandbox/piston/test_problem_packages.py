"""Packages of problems, made from a problem's data."""

from __future__ import annotations

import hashlib
import json
import tarfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import SetupError
from ioi_eval.model import TestCase as Case
from ioi_eval.sandbox import read_content
from ioi_eval.sandbox.piston.problem_packages import (
    data_of,
    list_packages,
    make_package,
    package_of,
    version_of,
)
from ioi_eval.sandbox.piston.stored_files import PACKAGE_LIMITS, digest
from tests.sandbox.packaged import LARGE, blobs, installed, made, some_problem, unpacked


def test_equal_contents_make_equal_packages(tmp_path: Path) -> None:
    """Equal test data gives equal packages, in memory or on disk, and in any order."""
    one, other = some_problem(b"a" * LARGE, b"b" * LARGE), some_problem(b"b" * LARGE, b"a" * LARGE)
    store = BlobStore(tmp_path / "cache")
    kept = {digest: store.put(content) for digest, content in data_of(other).items() if isinstance(content, bytes)}
    first = make_package(tmp_path / "one", package_of(one), data_of(one))
    second = make_package(tmp_path / "two", package_of(other), kept)
    assert first == second
    assert (tmp_path / "one" / first.file).read_bytes() == (tmp_path / "two" / second.file).read_bytes()


def test_a_package_has_the_checksum_of_each_of_its_files(tmp_path: Path) -> None:
    """So the runner sees that a file is damaged."""
    problem = some_problem(b"a" * LARGE, b"b" * LARGE)
    package = package_of(problem)
    data = {package.name_of(key): bytes(read_content(each)) for key, each in data_of(problem).items()}
    with tarfile.open(tmp_path / make_package(tmp_path, package, data_of(problem)).file) as archive:
        sums = archive.extractfile("sums")
        assert sums is not None
        assert sums.read().decode() == "".join(f"{zlib.crc32(data[name]):08x} {name}\n" for name in sorted(data))
    assert len(data) == 2


def test_a_test_without_an_answer() -> None:
    """Its input is in the package."""
    case = Case(name="1", input=b"a" * LARGE, answer=None)
    problem = replace(some_problem(b"b" * LARGE), tests={"1": case})
    assert data_of(problem) == {digest(b"a" * LARGE): b"a" * LARGE}


def test_other_data_is_another_package() -> None:
    """Other data or another problem gives another package. Other compiled programs give another version only."""
    problem = some_problem(b"a" * LARGE)
    others = [
        some_problem(b"c" * LARGE),
        some_problem(b"a" * LARGE, b"b" * LARGE),
        some_problem(b"a" * LARGE, name="X"),
    ]
    assert len({package_of(each).language for each in (problem, *others)}) == 4
    assert version_of(["00" * 32]) != version_of(["11" * 32])


def test_other_limits_are_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other limits give another version: otherwise a worker would keep the package with the old limits."""
    before = version_of(["00" * 32])
    monkeypatch.setitem(PACKAGE_LIMITS, "run_timeout", 1)
    assert version_of(["00" * 32]) != before


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_damaged_tarball_is_made_again(tmp_path: Path, is_listed: bool) -> None:
    """A tarball is made again if it differs from the index, or is not in the index."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    right = (tmp_path / package.file).read_bytes()
    (tmp_path / package.file).write_bytes(right[:-1])
    if not is_listed:
        (tmp_path / "index").unlink()
    assert made(tmp_path, some_problem(b"a" * LARGE)) == package
    assert (tmp_path / package.file).read_bytes() == right


def test_file_names_do_not_reveal_contents(tmp_path: Path) -> None:
    """With an answer and the name of the package, one cannot compute the name of its file."""
    problem = some_problem(b"a" * LARGE)
    installed(tmp_path, problem)
    paths = blobs(tmp_path / "packages")
    assert len(paths) == 2  # the text is its own reverse; and the runner
    known, package = digest(b"a" * LARGE), package_of(problem)
    assert package.name_of(known) in {path.name for path in paths}
    for key in (b"", package.language.encode(), bytes.fromhex(package.language[-24:])):
        guess = hashlib.blake2b(bytes.fromhex(known), key=key, digest_size=12).hexdigest()
        assert guess not in {path.name for path in paths}


def test_a_package_has_the_format_of_piston(tmp_path: Path) -> None:
    """The index has language, version, hash and URL. `pkg-info.json` has the limits of the package `ioi_eval`."""
    problem = some_problem(b"a" * LARGE)
    package = made(tmp_path, problem)
    tarball = (tmp_path / package.file).read_bytes()
    assert (tmp_path / "index").read_text() == (
        f"{package.language},{package.version},{hashlib.sha256(tarball).hexdigest()},http://nowhere/{package.file}\n"
    )
    metadata = json.loads(unpacked(tmp_path / package.file, tmp_path / "x").joinpath("pkg-info.json").read_text())
    assert (metadata["language"], metadata["version"]) == (package.language, package.version)
    own = Path(__file__).resolve().parents[3] / "piston/packages/ioi_eval/1.0.0/metadata.json"
    assert metadata["limit_overrides"] == PACKAGE_LIMITS == json.loads(own.read_text())["limit_overrides"]


def test_the_index_keeps_its_lines(tmp_path: Path) -> None:
    """Earlier lines of the index are kept, because servers can remove only packages that their repository lists."""
    earlier = b"ioi_eval,1.0.0,0123,http://here/\xe9/ioi_eval-1.0.0.pkg.tar.gz\n"
    (tmp_path / "index").write_bytes(earlier)
    made(tmp_path, some_problem(b"a" * LARGE))
    made(tmp_path, some_problem(b"a" * LARGE), b"b" * LARGE)
    made(tmp_path, some_problem(b"a" * LARGE))
    lines = (tmp_path / "index").read_bytes().splitlines(keepends=True)
    assert [lines[0], *(line.split(b",")[0][:9] for line in lines[1:])] == [earlier, *[b"ioi_eval_"] * 2]


def test_packages_listed_at_the_same_time_are_all_in_the_index(tmp_path: Path) -> None:
    """Several threads list packages in one repository: no line is lost."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    names = [f"ioi_eval_problem_{number:024x}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: list_packages(tmp_path, "http://x", [replace(package, language=name)]), names))
    assert {line.split(",")[0] for line in (tmp_path / "index").read_text().splitlines()} >= set(names)


def test_a_directory_that_cannot_be_written_is_named() -> None:
    """The error has the directory, the reason and the option to use."""
    with pytest.raises(SetupError, match=r"/proc/made-here cannot be written: .*--repository"):
        made(Path("/proc/made-here"), some_problem(b"a" * LARGE))
