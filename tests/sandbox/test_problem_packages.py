"""Problems' packages: what is made, installed and taken from them, by our server and by the script for Piston's."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import secrets
import socketserver
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import SetupError
from ioi_eval.jobs.stored import data_of, package_of
from ioi_eval.model import Blob, Content, Execution, Job, JobFile, JobKind, Problem, Stage, StageLimits, Subtask
from ioi_eval.model import TestCase as Case
from ioi_eval.sandbox import installed_packages, wire
from ioi_eval.sandbox.installed_packages import InstalledPackages, NotStored
from ioi_eval.sandbox.problem_packages import LIMITS, MadePackage, list_packages, make_package, version_of
from ioi_eval.sandbox.request import Refusal
from ioi_eval.sandbox.stored_files import LIST, refused, with_runner_there, with_stored
from ioi_eval.sandbox.wire import Runtime
from tests.small_problems import small_problem

RUNNER = rb"""#!/bin/bash
# Stands for the runner: prints what it was given, by name.
IFS=, read -ra table <<< "$2"
for entry in "${table[@]}"; do
    printf '%s=%s\n' "${entry%=*}" "$(sha256sum < "/proc/self/fd/${entry##*=}")"
done
ls
"""
LIMIT = StageLimits(wall_ms=1000, cpu_ms=1000)
LARGE = 300


def sha256(content: Content) -> str:
    """A content's hash."""
    return content.sha256 if isinstance(content, Blob) else hashlib.sha256(content).hexdigest()


def some_problem(*texts: bytes, name: str = "Nile") -> Problem:
    """A problem with a test for each text, which is the input and, turned round, the answer."""
    tests = {f"t{n}": Case(name=f"t{n}", input=text, answer=text[::-1]) for n, text in enumerate(texts)}
    return small_problem(name=name, subtasks=(Subtask(name="all", points=100.0, tests=tuple(tests)),), tests=tests)


def a_job(problem: Problem, *more: JobFile) -> Job:
    """A job that runs a program on a problem's tests."""
    files = [JobFile(name="plan", content=b"the plan"), JobFile(name="runner", content=RUNNER, executable=True)]
    files.append(JobFile(name="program", content=b"x" * LARGE, executable=True))
    for number, case in enumerate(problem.tests.values()):
        files.append(JobFile(name=f"t{number}.in", content=case.input))
        if case.answer is not None:
            files.append(JobFile(name=f"t{number}.ans", content=case.answer))
    return Job(kind=JobKind.RUNNER, files=(*files, *more), run_limits=LIMIT, package=package_of(problem))


def made(repository: Path, problem: Problem, *more: bytes) -> MadePackage:
    """Its package, with its runner and more, in a repository that lists it."""
    contents = data_of(problem) | {sha256(each): each for each in (RUNNER, *more)}
    package = make_package(repository, package_of(problem), contents)
    list_packages(repository, "http://nowhere", [package])
    return package


def installed(directory: Path, problem: Problem) -> InstalledPackages:
    """A server's packages, with that of a problem."""
    package = made(directory / "repository", problem)
    packages = InstalledPackages(directory / "packages", str(directory / "repository"))
    packages.install(package.language, package.version)
    return packages


def blobs(packages: Path) -> list[Path]:
    """The files of all packages that are installed."""
    return sorted(packages.glob("*/*/blobs/*"))


# ------------------------------------------------------------------ what is made


def test_equal_contents_make_equal_packages(tmp_path: Path) -> None:
    """Whether test data is in memory or on disk, and in whichever order it comes."""
    one, other = some_problem(b"a" * LARGE, b"b" * LARGE), some_problem(b"b" * LARGE, b"a" * LARGE)
    store = BlobStore(tmp_path / "cache")
    kept = {digest: store.put(content) for digest, content in data_of(other).items() if isinstance(content, bytes)}
    first = make_package(tmp_path / "one", package_of(one), data_of(one))
    second = make_package(tmp_path / "two", package_of(other), kept)
    assert first == second
    assert (tmp_path / "one" / first.file).read_bytes() == (tmp_path / "two" / second.file).read_bytes()


def test_other_data_is_another_package() -> None:
    """As is another problem with the same data; what is compiled makes another version only."""
    problem = some_problem(b"a" * LARGE)
    others = [
        some_problem(b"c" * LARGE),
        some_problem(b"a" * LARGE, b"b" * LARGE),
        some_problem(b"a" * LARGE, name="X"),
    ]
    assert len({package_of(each).language for each in (problem, *others)}) == 4
    assert version_of(["00" * 32]) != version_of(["11" * 32])


def test_other_limits_are_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a worker would keep the package that has the old ones."""
    before = version_of(["00" * 32])
    monkeypatch.setitem(LIMITS, "run_timeout", 1)
    assert version_of(["00" * 32]) != before


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_damaged_tarball_is_made_anew(tmp_path: Path, is_listed: bool) -> None:
    """One that is not what the index says, or of which the index says nothing."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    right = (tmp_path / package.file).read_bytes()
    (tmp_path / package.file).write_bytes(right[:-1])
    if not is_listed:
        (tmp_path / "index").unlink()
    assert made(tmp_path, some_problem(b"a" * LARGE)) == package
    assert (tmp_path / package.file).read_bytes() == right


def test_names_of_files_tell_nothing(tmp_path: Path) -> None:
    """Who knows an answer, and the package's name, cannot find out whether it is in there."""
    problem = some_problem(b"a" * LARGE)
    installed(tmp_path, problem)
    paths = blobs(tmp_path / "packages")
    assert len(paths) == 2  # the text is its own reverse; and the runner
    digest, package = sha256(b"a" * LARGE), package_of(problem)
    assert package.name_of(digest) in {path.name for path in paths}
    for key in (b"", package.language.encode(), bytes.fromhex(package.language[-24:])):
        guess = hashlib.blake2b(bytes.fromhex(digest), key=key, digest_size=12).hexdigest()
        assert guess not in {path.name for path in paths}


def test_a_package_is_what_piston_reads(tmp_path: Path) -> None:
    """The index has language, version, hash and address; `pkg-info.json` the limits of our other package."""
    problem = some_problem(b"a" * LARGE)
    package = made(tmp_path, problem)
    tarball = (tmp_path / package.file).read_bytes()
    assert (tmp_path / "index").read_text() == (
        f"{package.language},{package.version},{hashlib.sha256(tarball).hexdigest()},http://nowhere/{package.file}\n"
    )
    told = json.loads(unpacked(tmp_path / package.file, tmp_path / "x").joinpath("pkg-info.json").read_text())
    assert (told["language"], told["version"]) == (package.language, package.version)
    own = Path(__file__).resolve().parents[2] / "piston/packages/ioi_eval/1.0.0/metadata.json"
    assert told["limit_overrides"] == LIMITS == json.loads(own.read_text())["limit_overrides"]


def test_the_index_keeps_what_it_has(tmp_path: Path) -> None:
    """Servers can remove only what their repository lists."""
    (tmp_path / "index").write_text("ioi_eval,1.0.0,0123,http://here/ioi_eval-1.0.0.pkg.tar.gz\n")
    made(tmp_path, some_problem(b"a" * LARGE))
    made(tmp_path, some_problem(b"a" * LARGE), b"b" * LARGE)
    made(tmp_path, some_problem(b"a" * LARGE))
    assert [line.split(",")[0][:9] for line in (tmp_path / "index").read_text().splitlines()] == [
        "ioi_eval", *["ioi_eval_"] * 2
    ]  # fmt: skip


def test_all_that_list_packages_at_once_are_in_the_index(tmp_path: Path) -> None:
    """As when two people install problems into one repository."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    names = [f"ioi_eval_problem_{number:024x}" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: list_packages(tmp_path, "http://x", [replace(package, language=name)]), names))
    assert {line.split(",")[0] for line in (tmp_path / "index").read_text().splitlines()} >= set(names)


def test_a_directory_that_cannot_be_written_is_named() -> None:
    """As is any other reason why nothing can be written: with the directory, and what to do."""
    with pytest.raises(SetupError, match=r"/proc/made-here cannot be written: .*--repository"):
        made(Path("/proc/made-here"), some_problem(b"a" * LARGE))


# ------------------------------------------------------------------ what a server installs


def test_a_server_installs_and_removes(tmp_path: Path) -> None:
    """Once; and what is removed is gone."""
    problem = some_problem(b"a" * LARGE, b"b" * LARGE)
    packages = installed(tmp_path, problem)
    (runtime,) = packages.runtimes()
    with pytest.raises(Refusal, match="Already installed"):
        packages.install(runtime.language, "*")
    packages.uninstall(runtime.language, "*")
    assert packages.runtimes() == ()
    assert blobs(tmp_path / "packages") == []
    with pytest.raises(Refusal, match="is not installed"):
        packages.uninstall(runtime.language, "*")


@pytest.mark.parametrize("damage", ["cut", "other", "no tarball", "no index"])
def test_a_damaged_repository_installs_nothing(tmp_path: Path, damage: str) -> None:
    """And says why."""
    package = made(tmp_path / "repository", some_problem(b"a" * LARGE))
    tarball = tmp_path / "repository" / package.file
    if damage == "cut":
        tarball.write_bytes(tarball.read_bytes()[:-20])
    elif damage == "other":
        tarball.write_bytes(gzip.compress(b"other"))
    else:
        (tarball if damage == "no tarball" else tmp_path / "repository/index").unlink()
    packages = InstalledPackages(tmp_path / "packages", str(tmp_path / "repository"))
    with pytest.raises(Refusal, match=r"Checksum miss-match|cannot be read"):
        packages.install(package.language, "*")
    assert packages.runtimes() == ()
    assert list((tmp_path / "packages").iterdir()) == []


def test_a_server_that_cannot_write_says_where(tmp_path: Path) -> None:
    """As where its disk is full."""
    package = made(tmp_path / "repository", some_problem(b"a" * LARGE))
    packages = InstalledPackages(tmp_path / "packages", str(tmp_path / "repository"))
    (tmp_path / "packages").rmdir()
    with pytest.raises(Refusal, match=r"cannot be installed in \S+/packages: .*; free space there, or let the server"):
        packages.install(package.language, "*")


Serve = Callable[[Mapping[str, bytes]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serves answers by their paths, as they are on the wire."""
    servers: list[socketserver.TCPServer] = []

    def serve(answers: Mapping[str, bytes]) -> str:
        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                path = self.rfile.readline().split()[1].decode()
                while self.rfile.readline().strip():
                    pass
                self.wfile.write(answers[path])

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


BROKEN = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno length of a chunk\r\n"


def http(body: bytes) -> bytes:
    """An answer."""
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body


def test_a_served_repository_is_asked_directly(tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a proxy, as all that speaks with workers."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    answers = {f"/{package.file}": http((tmp_path / package.file).read_bytes())}
    url = serve(answers)
    answers["/index"] = http((tmp_path / "index").read_bytes().replace(b"http://nowhere", url.encode()))
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    packages = InstalledPackages(tmp_path / "packages", f"{url}/index")
    packages.install(package.language, "*")
    assert len(blobs(tmp_path / "packages")) == 2


@pytest.mark.parametrize("scheme", ["", "file://", "ftp://"])
def test_an_index_names_no_files_of_this_machine(tmp_path: Path, serve: Serve, scheme: str) -> None:
    """A served one: whether such a file exists, and its hash, are nobody's business."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    line = (tmp_path / "index").read_bytes().replace(b"http://nowhere", f"{scheme}{tmp_path}".encode())
    packages = InstalledPackages(tmp_path / "packages", f"{serve({'/index': http(line)})}/index")
    with pytest.raises(Refusal, match="this is no http or https address"):
        packages.install(package.language, "*")
    assert packages.runtimes() == ()


@pytest.mark.parametrize("broken", ["index", "its end", "tarball"])
def test_a_repository_that_breaks_off_is_named(tmp_path: Path, serve: Serve, broken: str) -> None:
    """As such: it is not this server's disk."""
    package = made(tmp_path, some_problem(b"a" * LARGE))
    answers = {"/index": BROKEN if broken == "its end" else b"nonsense\r\n\r\n"}
    url = serve(answers)
    if broken == "tarball":
        answers["/index"] = http((tmp_path / "index").read_bytes().replace(b"http://nowhere", url.encode()))
        answers[f"/{package.file}"] = BROKEN
    packages = InstalledPackages(tmp_path / "packages", f"{url}/index")
    with pytest.raises(Refusal, match="the package repository cannot be read") as refused_with:
        packages.install(package.language, "*")
    assert (package.file if broken == "tarball" else "/index") in str(refused_with.value)
    assert list((tmp_path / "packages").iterdir()) == []


def test_a_disk_is_not_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something is left for jobs."""
    package = made(tmp_path / "repository", some_problem(b"a" * LARGE))
    monkeypatch.setattr(installed_packages, "LEAST_FREE_BYTES", 1 << 62)
    packages = InstalledPackages(tmp_path / "packages", str(tmp_path / "repository"))
    with pytest.raises(Refusal, match=r"MiB are free in \S+/packages; free space there"):
        packages.install(package.language, "*")
    assert list((tmp_path / "packages").iterdir()) == []


def test_others_may_not_write_to_a_package(tmp_path: Path) -> None:
    """Whatever the server's umask, its directories can be written by their owner, and read by all."""
    for umask in (0o002, 0o077):
        before = os.umask(umask)
        try:
            installed(tmp_path / str(umask), some_problem(b"a" * LARGE))
        finally:
            os.umask(before)
        (directory,) = (tmp_path / str(umask) / "packages").glob("*/*/blobs")
        assert [path.stat().st_mode & 0o777 for path in (directory, directory.parent)] == [0o755] * 2


def test_what_a_killed_server_left_is_deleted(tmp_path: Path) -> None:
    """At the start of the next; but not what another may be at work on."""
    for name, age_s in ((".new-1", 2e5), (".old-1", 2e5), (".new-2", 60.0)):
        (tmp_path / "packages" / name / "package").mkdir(parents=True)
        os.utime(tmp_path / "packages" / name, (time.time() - age_s,) * 2)
    InstalledPackages(tmp_path / "packages")
    assert [path.name for path in (tmp_path / "packages").iterdir()] == [".new-2"]


def test_a_package_that_cannot_be_removed_is_told(tmp_path: Path) -> None:
    """With the directory."""
    packages = installed(tmp_path, some_problem(b"a" * LARGE))
    (runtime,) = packages.runtimes()
    place = tmp_path / "packages" / runtime.language / runtime.version
    done = subprocess.run(["mount", "--bind", place, place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(Refusal, match=r"cannot be removed from \S+/packages: .* busy"):
            packages.uninstall(runtime.language, "*")
    finally:
        subprocess.run(["umount", place], check=True)


def test_paths_of_a_package_do_not_leave_it(tmp_path: Path) -> None:
    """Of a tarball nothing but files with the names of blobs is unpacked; links are not."""
    repository = tmp_path / "repository"
    package = made(repository, some_problem(b"a" * LARGE))
    hostile = tmp_path / "hostile"
    (hostile / "blobs").mkdir(parents=True)
    (hostile / "blobs" / ("0" * 24)).symlink_to("/etc/passwd")
    (hostile / "evil").write_text("evil")
    subprocess.run(
        ["tar", "-czf", repository / package.file, "-C", hostile, "--transform", "s,^evil,../../evil,", "-P",
         "blobs", "evil"], check=True
    )  # fmt: skip
    digest = hashlib.sha256((repository / package.file).read_bytes()).hexdigest()
    (repository / "index").write_text(f"{package.language},{package.version},{digest},http://x/{package.file}\n")
    packages = InstalledPackages(tmp_path / "packages", str(repository))
    packages.install(package.language, "*")
    assert blobs(tmp_path / "packages") == []
    assert not [path for path in tmp_path.rglob("*evil*") if hostile not in path.parents]


# ------------------------------------------------------------------ what jobs take from one

Given = Callable[[Job], Mapping[str, str] | Execution]
"""What a runner was given for a job, each file's hash by its name; or that the job was refused."""


def by_server(packages: InstalledPackages, runtime: Runtime) -> Given:
    """As `ioi-eval serve` does it."""

    def given_by(job: Job) -> Mapping[str, str] | Execution:
        try:
            files = packages.files(runtime, {file.name: bytes(file.content) for file in job.files})  # type: ignore[arg-type]
        except NotStored as missing:
            return missing.execution()
        return {name: sha256(content) for name, content in files.items()}

    return given_by


def unpacked(tarball: Path, directory: Path) -> Path:
    """By tar, as Piston does."""
    directory.mkdir()
    subprocess.run(["tar", "-xzf", tarball, "--no-same-owner", "-C", directory], check=True)
    return directory


def by_script(package: Path, box: Path) -> Given:
    """As Piston has the package's own script do it."""

    def given_by(job: Job) -> Mapping[str, str] | Execution:
        directory = box / secrets.token_hex(4)
        directory.mkdir()
        for file in job.files:
            assert isinstance(file.content, bytes)
            (directory / file.name).write_bytes(file.content)
        done = subprocess.run(
            ["bash", package / "run", job.files[0].name],
            cwd=directory, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.stderr == ""
        if done.returncode:
            return Execution(run=Stage(stdout=done.stdout, stderr="", code=done.returncode))
        given = dict(line.rstrip(" -").split("=") for line in done.stdout.splitlines() if "=" in line)
        assert len(given) == len(done.stdout.splitlines()), "the job's files are no longer there"
        return given | {"runner": sha256(RUNNER)}

    return given_by


def taken(job: Job, given_by: Given) -> tuple[Mapping[str, str], list[int]]:
    """What a runner is given in the end, as a cluster asks for it, and how much each request sends of it."""
    absent: set[str] = set()
    sizes: list[int] = []
    while (asked := with_stored(job, absent)) is not None:
        sizes.append(sum(len(file.content) for file in asked.files if isinstance(file.content, bytes)))
        answer = given_by(asked)
        if not isinstance(answer, Execution):
            return answer, sizes
        found = refused(answer)
        assert found.keys() - absent, "each refusal says something new"
        absent |= found.keys()
    return {file.name: sha256(file.content) for file in job.files}, sizes


CHANGES = ("kept", "gone", "other", "longer", "empty")


def change(path: Path, how: str) -> None:
    """Damage a file of a package."""
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how != "kept":
        path.chmod(0o755)
        path.write_bytes({"other": content[:-1] + b"!", "longer": content + b"!", "empty": b""}[how])


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.binary(min_size=1, max_size=400), min_size=1, max_size=5),
    changes=st.lists(st.sampled_from(CHANGES), min_size=1, max_size=11),
    extra=st.binary(max_size=300),
)
def test_stored_or_sent_a_runner_is_given_the_same(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], changes: list[str], extra: bytes
) -> None:
    """Whatever became of the files of a package: a job gets those that it means, or they are sent."""
    directory = tmp_path_factory.mktemp("stored")
    problem = some_problem(*texts)
    packages = installed(directory, problem)
    for number, path in enumerate(blobs(directory / "packages")):
        change(path, changes[number % len(changes)])
    job = a_job(problem, JobFile(name="checker", content=extra, executable=True))
    found, _ = taken(job, by_server(packages, packages.runtimes()[0]))
    assert found == {file.name: sha256(file.content) for file in job.files}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("which", ["all", "one"])
def test_the_package_s_script_does_the_same(tmp_path: Path, how: str, which: str) -> None:
    """In at most three requests, of which the last is whole."""
    problem = some_problem(b"a b" * LARGE, bytes(range(256)) * 2, b"small")
    tarball = made(tmp_path / "repository", problem)
    package = unpacked(tmp_path / "repository" / tarball.file, tmp_path / "package")
    (tmp_path / "box").mkdir()
    paths = sorted((package / "blobs").iterdir())
    for path in paths if which == "all" else paths[:1]:
        change(path, how)
    job = a_job(problem)
    found, sizes = taken(job, by_script(package, tmp_path / "box"))
    assert found == {file.name: sha256(file.content) for file in job.files}
    assert len(sizes) <= 2, sizes
    if how == "kept":
        (size,) = sizes
        assert size < 1500, "a list, the program, the plan, and what is small"


def test_what_is_small_is_sent(tmp_path: Path) -> None:
    """Naming it takes as many bytes; and a job of which nothing is stored is the usual one."""
    problem = some_problem(b"small", b"a" * LARGE)
    asked = with_stored(a_job(problem), set())
    assert asked is not None
    assert [file.name for file in asked.files] == [LIST, "plan", "program", "t0.in", "t0.ans"]
    job = a_job(problem)
    assert with_stored(job, {sha256(file.content) for file in job.files}) is None
    assert with_stored(job, {"*"}) is None


def test_a_list_that_is_none_is_refused(tmp_path: Path) -> None:
    """A path is no name."""
    packages = installed(tmp_path, some_problem(b"a" * LARGE))
    for line in (b"stored x ../../etc/passwd y", f"stored x {'0' * 64} ../../../x".encode(), b"sent /etc/passwd", b"x"):
        with pytest.raises(Refusal, match="names no file"):
            packages.files(packages.runtimes()[0], {LIST: line})


# ------------------------------------------------------------------ the runner of our own package

ECHO = b'#!/bin/sh\necho "$@"\n'
PLAN = (JobFile(name="plan", content=b"the plan"),)


@pytest.mark.parametrize(("there", "is_found"), [(ECHO, True), (ECHO + b"#", False), (None, False)])
def test_the_runner_of_our_package_is_taken_if_it_is_the_same(
    tmp_path: Path, there: bytes | None, is_found: bool
) -> None:
    """Else the worker says so, and the client sends its own."""
    job = Job(kind=JobKind.RUNNER, files=(JobFile(name="runner", content=ECHO), *PLAN), run_limits=LIMIT)
    asked = with_runner_there(job)
    assert asked is not None
    box, judge = tmp_path / "box", tmp_path / "judge"
    for directory in (box, judge):
        directory.mkdir()
    if there is not None:
        (judge / "runner").write_bytes(there)
        (judge / "runner").chmod(0o755)
    for file in wire.sent_files(asked, wire.Starter.IOI_EVAL):
        assert file.name != "runner"
        assert isinstance(file.content, bytes)
        (box / file.name).write_bytes(file.content)
    done = subprocess.run(
        ["bash", "run"], cwd=box, env={"PATH": "/usr/bin:/bin", "IOI_EVAL_JUDGE": str(judge)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    answer = Execution(run=Stage(stdout=done.stdout, stderr=done.stderr, code=done.returncode))
    if is_found:
        assert (done.returncode, done.stdout, done.stderr) == (0, "--dir .\n", "")
    else:
        assert refused(answer) == {sha256(ECHO): "is missing"}
