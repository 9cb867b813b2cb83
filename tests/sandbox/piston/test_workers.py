"""Which workers form one target, and how users can write an endpoint."""

from __future__ import annotations

from dataclasses import replace

import pytest
from yarl import URL

from ioi_eval.errors import InputError
from ioi_eval.model import Isolation, Profile
from ioi_eval.sandbox.piston.discovery import Worker
from ioi_eval.sandbox.piston.endpoints import endpoint_url
from ioi_eval.sandbox.piston.probing import ProbeReport
from ioi_eval.sandbox.piston.wire import Ceilings, InstalledStarter, Starter
from ioi_eval.sandbox.piston.workers import WorkerGroups
from ioi_eval.toolchain import Toolchain

GCC = Toolchain(command="g++", version="g++ 12.2.0", machine="x86_64-linux-gnu", static=True)
WORKER = Worker(
    url=URL("http://w1:2000/api/v2"),
    runtimes=(),
    profile=Profile.BUNDLED,
    installed=InstalledStarter(starter=Starter.IOI_EVAL, version="1.0.0", ceilings=Ceilings(run_timeout=60_000)),
    report=ProbeReport(compilers=(GCC,), kernel="6.1.0", processors=4, clock_s=0),
    max_output_bytes=4 << 20,
    max_body_bytes=48 << 20,
    clock_ahead_s=0.1,
)


def at(worker: Worker, host: str) -> Worker:
    """The same worker on another host."""
    return replace(worker, url=URL(f"http://{host}:2000/api/v2"))


def test_equal_workers_are_one_target() -> None:
    """Workers with the same package, compiler and limits make one target."""
    groups = WorkerGroups(3)
    endpoints = [groups.add(at(WORKER, host)) for host in ("a", "b")]
    (target,) = groups.targets()
    assert len(groups.groups[target.name].members) == 2
    assert (target.profile, target.isolation) == ("bundled", Isolation.REDUCED)
    assert (target.max_wall_ms, target.max_output_bytes, target.max_body_bytes) == (60_000, 4 << 20, 48 << 20)
    assert {(endpoint.group, endpoint.slots) for endpoint in endpoints} == {(target.name, 3)}
    assert [endpoint.machine for endpoint in endpoints] == ["a", "b"]


def test_an_unknown_body_limit_is_bounded() -> None:
    """If the body limit is unknown, 8 MiB are assumed: larger build jobs could be refused for each submission."""
    groups = WorkerGroups(1)
    groups.add(replace(WORKER, max_body_bytes=None))
    assert groups.targets()[0].max_body_bytes == 8 << 20


@pytest.mark.parametrize(
    "other",
    [
        replace(WORKER, installed=replace(WORKER.installed, starter=Starter.BASH)),
        replace(WORKER, installed=replace(WORKER.installed, version="1.1.0")),
        replace(WORKER, installed=replace(WORKER.installed, ceilings=Ceilings(run_timeout=3_000))),
        replace(WORKER, report=replace(WORKER.report, compilers=(replace(GCC, version="g++ 13.1.0"),))),
        # a program in Python may need a package that only some have
        replace(WORKER, report=replace(WORKER.report, python="3.11.2 0badcafe")),
        replace(WORKER, profile=Profile.CLASSIC),
        replace(WORKER, max_output_bytes=65_536),
    ],
)
def test_workers_that_differ_are_two_targets(other: Worker) -> None:
    """Workers that differ in something that a job depends on form two targets with different names."""
    groups = WorkerGroups(1)
    groups.add(at(WORKER, "a"))
    groups.add(at(WORKER, "b"))
    groups.add(at(other, "c"))
    targets = groups.targets()
    assert [len(groups.groups[target.name].members) for target in targets] == [2, 1]
    assert len({target.name for target in targets}) == 2


def test_a_target_says_whether_its_workers_have_python() -> None:
    """A worker whose probe found no `python3` is in a target that cannot start scripts in Python."""
    groups = WorkerGroups(1)
    groups.add(at(WORKER, "a"))
    groups.add(at(replace(WORKER, report=replace(WORKER.report, python="3.11.2 0badcafe")), "b"))
    assert [target.has_python for target in groups.targets()] == [False, True]


def test_a_changed_worker_belongs_to_another_target() -> None:
    """A worker that has changed belongs to another target. The old target stays, for the jobs that wait for it."""
    groups = WorkerGroups(1)
    groups.add(at(WORKER, "a"))
    groups.add(at(WORKER, "b"))
    old = groups.targets()[0]
    endpoint = groups.add(at(replace(WORKER, max_output_bytes=1 << 20), "a"))
    assert endpoint.group != old.name
    groups.remove("http://b:2000/api/v2")
    assert [target.name for target in groups.targets()] == [endpoint.group, old.name]
    assert {name: len(group.members) for name, group in groups.groups.items()} == {endpoint.group: 1, old.name: 0}
    assert set(groups.used) == {"http://a:2000/api/v2"}


def test_cms_ioi_has_no_isolation() -> None:
    """A target with the scripts of `cms_ioi` has no isolation. With our scripts, our runner confines programs."""
    groups = WorkerGroups(1)
    groups.add(replace(WORKER, profile=Profile.CLASSIC))
    groups.add(
        at(
            replace(
                WORKER, profile=Profile.CLASSIC, installed=InstalledStarter(starter=Starter.CMS_IOI, version="1.0.0")
            ),
            "b",
        )
    )
    offered = {target.has_own_scripts: target.isolation for target in groups.targets()}
    assert offered == {False: Isolation.REDUCED, True: Isolation.NONE}


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("worker:2000", "http://worker:2000/api/v2"),
        (" http://worker:2000/ ", "http://worker:2000/api/v2"),
        ("https://worker/piston/api/v2/", "https://worker/piston/api/v2"),
        ("http://10.0.0.1:2000/api/v2", "http://10.0.0.1:2000/api/v2"),
        ("http://[::1]:2000", "http://[::1]:2000/api/v2"),
    ],
)
def test_endpoints_as_users_write_them(text: str, url: str) -> None:
    """Endpoints can be written with or without scheme, slash and path."""
    assert endpoint_url(text) == url


@pytest.mark.parametrize(
    "text", ["", "http://", "ftp://worker:2000", "http://worker:99999", "a b:2000", "http://w/?x=1"]
)
def test_invalid_endpoints_are_refused(text: str) -> None:
    """An invalid endpoint is an InputError at once, not an unavailable worker."""
    with pytest.raises(InputError, match="not the URL of a server"):
        endpoint_url(text)
