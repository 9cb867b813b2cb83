"""The meaning of a worker's limits: one table for all callers."""

from __future__ import annotations

import re
from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval import boxfiles
from ioi_eval.config import MIB
from ioi_eval.sandbox.findings import Severity
from ioi_eval.sandbox.least_limits import LEAST_FILE_BYTES, LEAST_STACK_BYTES
from ioi_eval.sandbox.piston import conditions as module
from ioi_eval.sandbox.piston.conditions import conditions_of, fatal, in_one_line
from ioi_eval.sandbox.piston.probing import ProbeReport
from ioi_eval.sandbox.piston.wire import Ceilings, InstalledStarter, Starter

limits = st.none() | st.integers(min_value=0, max_value=1 << 42)


def installed(starter: Starter, **known: int | None) -> InstalledStarter:
    """A package on a server with these limits."""
    return InstalledStarter(starter=starter, version="1.0.0", ceilings=Ceilings(**known))


@given(
    known=st.fixed_dictionaries({each.name: limits for each in fields(Ceilings)}),
    starter=st.sampled_from(Starter),
    is_bundled=st.booleans(),
    output=st.none() | st.sampled_from([0, 64 << 10, 1 << 20, 4 << 20]),
    body=st.none() | st.sampled_from([102_400, 1 << 20, 48 << 20]),
)
def test_fatal_conditions_name_the_setting(
    known: dict[str, int | None], starter: Starter, is_bundled: bool, output: int | None, body: int | None
) -> None:
    """For all limits: each condition is listed once, and a fatal one has the setting of the server."""
    found = conditions_of(installed(starter, **known), is_bundled=is_bundled, output_bytes=output, body_bytes=body)
    assert len({each.what for each in found}) == len(found)
    for each in found:
        assert each.advice or each.severity is not Severity.BAD
        assert (in_one_line(each) in fatal(found)) == (each.severity is Severity.BAD)


def test_a_server_set_up_by_start_worker_has_no_fault() -> None:
    """All conditions are fine, for both generations. The server's memory limit is -1 (none), so no refusal names it."""
    times = {"run_timeout": 600_000, "run_cpu_time": 600_000, "compile_timeout": 300_000, "compile_cpu_time": 300_000}
    for known in (times, {name: most for name, most in times.items() if name.endswith("timeout")}):
        ours = installed(Starter.IOI_EVAL, **known)
        found = conditions_of(ours, is_bundled=True, output_bytes=4 << 20, body_bytes=48 << 20)
        assert {each.severity for each in found} == {Severity.OK}


def test_a_server_that_refuses_no_time_limit() -> None:
    """Its settings may be 0 (none)."""
    found = conditions_of(installed(Starter.BASH), is_bundled=True, output_bytes=4 << 20, body_bytes=48 << 20)
    assert in_one_line(found[0]) == "time limits: none"


def test_time_limits_for_the_scripts_of_cms_ioi() -> None:
    """The scripts of `cms_ioi` need 3 s more than a test's limit, our runner 10 s. So 10 s are fatal only for ours."""
    for starter, expected in ((Starter.IOI_EVAL, Severity.BAD), (Starter.CMS_IOI, Severity.WARNING)):
        of_server = installed(starter, run_timeout=10_000)
        (found, *_) = conditions_of(of_server, is_bundled=False, output_bytes=1 << 20, body_bytes=48 << 20)
        assert (found.what, found.severity) == ("run_timeout", expected)


def test_short_time_limits_for_compiling_exclude_no_worker() -> None:
    """Submissions compile in less than a checker may need."""
    of_server = installed(Starter.IOI_EVAL, compile_timeout=5_000, compile_cpu_time=5_000)
    found = conditions_of(of_server, is_bundled=True, output_bytes=4 << 20, body_bytes=48 << 20)
    assert [(each.what, each.severity) for each in found[:2]] == [
        ("compile_timeout", Severity.WARNING),
        ("compile_cpu_time", Severity.WARNING),
    ]


def test_the_runner_checks_the_same_limits() -> None:
    """A worker that the client has accepted must not be refused by the runner, for the same limits."""
    numbers = boxfiles.read("runner/numbers.h").decode()
    least = {name: int(number) for name, number in re.findall(r"kLeast(\w+) = (\d+)", numbers)}
    found = {"Fds": module._LEAST_OPEN_FILES, "Processes": module._LEAST_PROCESSES}
    sizes = {"FileBytes": LEAST_FILE_BYTES // MIB, "StackBytes": LEAST_STACK_BYTES // MIB}
    assert least == found | sizes
    assert all(f"kLeast{name} = {mib} << 20;" in numbers for name, mib in sizes.items())


def test_limits_that_a_worker_inherits() -> None:
    """Slurm passes those of a login node on to jobs. With less than 4 GiB of addresses or 62 s a worker is not used."""

    def found(kib: int, cpu_s: int) -> set[tuple[str, Severity, str]]:
        limits = ProbeReport(compilers=(), kernel="", processors=1, clock_s=0, address_kib=kib, data_kib=kib)
        ours = installed(Starter.IOI_EVAL)
        every = conditions_of(
            ours, is_bundled=True, output_bytes=4 << 20, body_bytes=48 << 20, report=replace(limits, cpu_s=cpu_s)
        )
        return {(each.what, each.severity, each.advice[:10]) for each in every if each.severity is not Severity.OK}

    assert found(kib=4 << 20, cpu_s=62) == set()
    assert found(kib=(4 << 20) - 1, cpu_s=61) == {
        ("address space", Severity.BAD, "ulimit -Hv"),
        ("data segment", Severity.BAD, "ulimit -Hd"),
        ("CPU time", Severity.BAD, "ulimit -Ht"),
    }
