"""Workers that are restarted during a run with other settings, which no refusal of a job shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ioi_eval.sandbox.piston.cluster import PistonCluster
from tests.faults.stub_jobs import QUICK_S, arm, echo, fails, proxied, run_all, until, with_cluster

pytestmark = pytest.mark.usefixtures("short_requests")


@pytest.mark.parametrize("setting", ["--ulimit=ulimit -f 10000", "--tools"])
def test_a_worker_comes_back_with_what_no_answer_shows(start: Any, tmp_path: Path, setting: str) -> None:
    """Files may be shorter there, or the compiler is another one: it is explored before it gets a job again."""
    stays, changes = start("stub_piston.py"), start("stub_piston.py")
    (tmp_path / "g++").write_text('#!/bin/sh\n[ "$1" != --version ] || exec echo "g++ 77.7"\nexec /usr/bin/g++ "$@"\n')
    (tmp_path / "g++").chmod(0o755)

    async def use(cluster: PistonCluster) -> None:
        target = cluster.targets()[0]
        await until(lambda: cluster.targets()[0].slots == 2)
        changes.kill()
        await run_all(cluster, [echo("x") for _ in range(4)], 2)
        options = [setting] if setting != "--tools" else [setting, str(tmp_path)]
        start("stub_piston.py", "--port", str(changes.ports[0]), *options)
        if setting == "--tools":
            await until(lambda: len(cluster.targets()) == 2)
            assert {each.toolchain.version for each in cluster.targets()} == {target.toolchain.version, "g++ 77.7"}
        else:
            await until(lambda: "PISTON_MAX_FILE_SIZE" in str(cluster.unusable))
        assert cluster.targets()[0].slots == 1

    with_cluster([*stays.urls, *changes.urls], use, patience_s=QUICK_S)


def test_a_worker_behind_a_proxy_comes_back_with_other_settings(start: Any) -> None:
    """While it is down the proxy answers 502. Afterwards it is explored before it gets a job."""
    stub, proxy = proxied(start, faults="html-502", first=3)

    async def use(cluster: PistonCluster) -> None:
        stub.kill()
        start("stub_piston.py", "--port", str(stub.ports[0]), "--ulimit=ulimit -f 10000")
        await arm(proxy)
        assert "PISTON_MAX_FILE_SIZE" in str(await fails(cluster, echo("x"))) + str(cluster.unusable)

    with_cluster(proxy.urls, use, patience_s=QUICK_S)
