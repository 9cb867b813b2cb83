"""Finds out what a worker can do: it lists the runtimes, then sends a few jobs (`probing.py` makes them).

To measure how long answers and requests may be takes megabytes. So workers of a kind are measured until one of them
returns, or accepts, the longest that is tried. The same is then assumed for others with the same runtimes, limits,
compilers and kernel. Less is never assumed, as it may be the limit of a proxy in front of one worker.

`/packages` is never requested: a server that cannot reach its repository crashes on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

from yarl import URL

from ioi_eval import shipped
from ioi_eval.concurrency import both
from ioi_eval.errors import OverloadError, RejectedError, SetupError, TransientError
from ioi_eval.model import Execution, Profile, Stage
from ioi_eval.sandbox import profile_named
from ioi_eval.sandbox.findings import Finding
from ioi_eval.sandbox.piston import answer, probing, wire
from ioi_eval.sandbox.piston.conditions import conditions_of, fatal
from ioi_eval.sandbox.piston.http_client import HttpClient, Reply, Sending
from ioi_eval.sandbox.piston.job_end import AnswerLostError, JobEnd
from ioi_eval.sandbox.piston.literals import literal
from ioi_eval.sandbox.piston.probing import ProbeReport
from ioi_eval.sandbox.piston.wire import Body, InstalledStarter, Runtime, Starter, without_problems
from ioi_eval.toolchain import Toolchain

A = TypeVar("A")

_Kind: TypeAlias = tuple[object, ...]
_OUTPUT, _BODY = "output", "body"  # names of sizes

CHECK_S = 3.0
"""A server answers a check in milliseconds; one that is unpacking a large request may take a second."""

_PROBE_S = 120.0  # a worker may be busy with the jobs of others

_MEASURED_AT_ONCE = 4  # of each kind: one that does not answer must not keep the others waiting
_ATTEMPTS = 4  # of each request: lost ones must not exclude a worker
_PAUSE_S = 0.3
_MAX_ANSWER_BYTES = 128 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """What was found out about one endpoint.

    Args:
        url: its base, with `/api/v2`.
        runtimes: what it has installed; if this changes, except by problems' packages, all else may have changed.
        installed: the package that will start jobs, and the limits it accepts.
        max_output_bytes: an answer may be at least this long.
        max_body_bytes: a request may be at least this long; `None` if that could not be found out.
        clock_ahead_s: how far its clock is ahead of ours.
    """

    url: URL
    runtimes: tuple[Runtime, ...]
    profile: Profile
    installed: InstalledStarter
    report: ProbeReport
    max_output_bytes: int
    max_body_bytes: int | None
    clock_ahead_s: float

    @property
    def toolchain(self) -> Toolchain:
        """The compiler that is used there."""
        return self.report.compilers[0]

    @property
    def conditions(self) -> tuple[Finding, ...]:
        """The conditions under which it judges."""
        return conditions_of(
            self.installed,
            is_bundled=self.profile is Profile.BUNDLED,
            output_bytes=self.max_output_bytes,
            body_bytes=self.max_body_bytes,
            report=self.report,
        )


class UnsuitableWorkerError(SetupError):
    """A worker answers, but with its settings nothing can be judged there; with the settings to change, and what else
    was found out about it, unless its answers are too short for that."""

    def __init__(self, message: str, conditions: tuple[Finding, ...], worker: Worker | None = None) -> None:
        super().__init__(message)
        self.conditions = conditions
        self.worker = worker


class Prober:
    """Explores workers, many at once, for a profile, or for the best that each worker supports."""

    def __init__(self, client: HttpClient, profile: str | None = None) -> None:
        self._client = client
        self._profile = None if profile is None else profile_named(profile)
        # for each size, by its name: kinds of workers that are assumed to have the largest, and workers that are
        # measured nevertheless
        self._assumed_kinds: set[tuple[str, _Kind]] = set()
        self._measured_workers: set[tuple[str, URL]] = set()
        self._measuring: dict[_Kind, asyncio.Semaphore] = {}

    def address(self, endpoint: str) -> URL:
        """An endpoint's URL; its user and password, if any, are kept by the client."""
        return self._client.take_login(URL(endpoint))

    async def runtimes(self, url: URL) -> tuple[Runtime, ...]:
        """What a worker has installed. Also used to check whether it is alive: every Piston server answers this."""
        reply = await self._client.get(url / "runtimes", within_s=CHECK_S)
        with answer.naming(url):
            return answer.runtimes(reply.status, reply.body)

    async def explore(self, url: URL) -> Worker:
        """Find out what a worker can do. SandboxError if it does not answer now; SetupError if it answers, but cannot
        serve, with what to change there; UnsuitableWorkerError if its limits are the reason."""
        runtimes = await _repeat(partial(self.runtimes, url), is_short=True)
        failed: list[tuple[InstalledStarter, SetupError | RejectedError]] = []
        for installed in probing.starters(runtimes, self._profile):
            try:
                worker = await self._explore_package(url, runtimes, installed)
            except (SetupError, RejectedError) as error:
                failed.append((installed, error))
                continue
            for better in (package for package, error in failed if isinstance(error, UnsuitableWorkerError)):
                with contextlib.suppress(SetupError, RejectedError):  # it may have been restarted with other limits
                    return await self._explore_package(url, runtimes, better)
            return worker
        reasons = [f"{package.starter.value}: {error}" for package, error in failed]
        # if the best package is unsuitable, the faults of the others need not be fixed
        if failed and isinstance(best := failed[0][1], UnsuitableWorkerError):
            raise UnsuitableWorkerError(f"{url}: {reasons[0]}", best.conditions, best.worker)
        wanted = ", ".join(starter.value for starter in probing.PREFERENCE[self._profile])
        raise SetupError(
            f"{url}: " + ("; ".join(reasons) or f"none of these packages is installed: {wanted}; {answer.INSTALL}")
        )

    def measure_again(self, url: URL) -> None:
        """Measure, with the next exploration of this worker, how long its answers and requests may be."""
        self._measured_workers |= {(_OUTPUT, url), (_BODY, url)}

    async def conditions(self, url: URL) -> tuple[Finding, ...]:
        """The conditions of a worker's best package, as far as they can be found out if it cannot serve."""
        installed = probing.starters(await self.runtimes(url), self._profile)
        if not installed:
            return ()
        best, _ = await self._run_probe(url, installed[0], secrets.token_hex(16), 0)
        return await self._conditions(url, best, None)

    async def _explore_package(self, url: URL, runtimes: tuple[Runtime, ...], installed: InstalledStarter) -> Worker:
        installed, report = await self._probe(url, installed)
        clock_ahead_s = report.clock_s - time.time()
        # workers of one kind are assumed to have the sizes of one of them
        kind = without_problems(runtimes), installed, report.compilers, report.kernel
        async with self._measuring.setdefault(kind, asyncio.Semaphore(_MEASURED_AT_ONCE)):
            output_bytes, body_bytes = await self._find_sizes(url, installed, kind)
        worker = Worker(
            url=url,
            runtimes=runtimes,
            profile=self._profile_of(installed),
            installed=installed,
            report=report,
            max_output_bytes=output_bytes,
            max_body_bytes=body_bytes,
            clock_ahead_s=clock_ahead_s,
        )
        if message := fatal(worker.conditions):
            raise UnsuitableWorkerError(message, worker.conditions, worker)
        return worker

    async def _find_sizes(self, url: URL, installed: InstalledStarter, kind: _Kind) -> tuple[int, int | None]:
        """The longest answer and the longest request, measured together: each may wait behind jobs of other clients."""
        output_size = partial(self._measure_output, url, installed)
        body_size = partial(self._measure_body, url, installed)
        return await both(
            self._size(_OUTPUT, url, kind, max(probing.OUTPUT_LADDER), output_size),
            self._size(_BODY, url, kind, max(probing.BODY_LADDER), body_size),
        )

    async def _size(self, name: str, url: URL, kind: _Kind, most: int, measure: Callable[[], Awaitable[A]]) -> A | int:
        """A worker's size of this name: the largest that is tried, if that may be assumed; else measured."""
        if (name, kind) in self._assumed_kinds and (name, url) not in self._measured_workers:
            return most
        size = await measure()
        if size == most:
            self._assumed_kinds.add((name, kind))
            self._measured_workers.discard((name, url))
        elif size is not None:  # else this worker may have failed only now
            self._measured_workers.add((name, url))
        return size

    def _profile_of(self, installed: InstalledStarter) -> Profile:
        return Profile.CLASSIC if installed.starter is Starter.CMS_IOI else self._profile or Profile.BUNDLED

    async def _conditions(self, url: URL, installed: InstalledStarter, output_bytes: int | None) -> tuple[Finding, ...]:
        is_bundled = self._profile_of(installed) is Profile.BUNDLED
        body_bytes = await self._measure_body(url, installed)
        return conditions_of(installed, is_bundled=is_bundled, output_bytes=output_bytes, body_bytes=body_bytes)

    async def _probe(self, url: URL, installed: InstalledStarter) -> tuple[InstalledStarter, ProbeReport]:
        nonce = secrets.token_hex(16)
        installed, report = await self._report(url, installed, nonce, probing.PADDING)
        if report is None:
            installed, execution = await self._run_probe(url, installed, nonce, 0)
            if probing.read_probe(execution, nonce, 0) is not None:
                conditions = await self._conditions(url, installed, 0)
                raise UnsuitableWorkerError(fatal(conditions), conditions)
            failed, output = _failed_stage(execution)
            raise SetupError(f"the probe failed there: exit code {failed.code}, {failed.signal}; {output!r}")
        if not report.compilers:
            raise SetupError("no C++ compiler can be found from its jobs; install g++ in the image, or the package gcc")
        if installed.starter is not Starter.CMS_IOI:
            shipped.require_machine("its compiler", report.compilers[0].machine)
        return installed, report

    async def _report(
        self, url: URL, installed: InstalledStarter, nonce: str, padding: int
    ) -> tuple[InstalledStarter, ProbeReport | None]:
        """The probe's report; `None` if its answer was incomplete twice.

        Once says nothing of a limit: the machine may have killed the probe, and newer servers can lose the end of an
        answer.
        """
        for _ in range(2):
            installed, execution = await self._run_probe(url, installed, nonce, padding)
            if (report := probing.read_probe(execution, nonce, padding)) is not None:
                break
        return installed, report

    async def _run_probe(
        self, url: URL, installed: InstalledStarter, nonce: str, padding: int
    ) -> tuple[InstalledStarter, Execution]:
        """The execution of the probe, and the starter with the ceilings that were found on the way."""
        while True:  # each time but the last, one of the six ceilings is found
            found = await _repeat(partial(self._send_probe, url, installed, nonce, padding))
            if isinstance(found, Execution):
                return installed, found
            installed = found

    async def _send_probe(
        self, url: URL, installed: InstalledStarter, nonce: str, padding: int
    ) -> Execution | InstalledStarter:
        """The execution of the probe; if the worker refuses its limits, the starter with the ceiling it names."""
        reply = await self._post(url, _probe_body(installed, nonce, padding))
        refused = answer.refused_ceiling(reply.status, reply.body)
        if refused and (following := probing.with_ceiling(installed, refused)):
            return following
        with answer.naming(url, TransientError):
            execution = answer.execution(reply.status, reply.body)
        if probing.is_for_another_request(execution, nonce):
            raise TransientError(f"{url}: this is the answer to another request: was it mixed up by a proxy?")
        failed, output = _failed_stage(execution)
        if failed.code is None and not padding:  # not because of its output: the machine may be too busy
            raise TransientError(f"{url}: the probe was killed there by {failed.signal}; {output!r}")
        return execution

    async def _measure_output(self, url: URL, installed: InstalledStarter) -> int:
        nonce = secrets.token_hex(16)
        for size in probing.OUTPUT_LADDER:
            _, report = await self._report(url, installed, nonce, size)
            if report is not None:
                return size
        return probing.PADDING

    async def _measure_body(self, url: URL, installed: InstalledStarter) -> int | None:
        body = _probe_body(installed, secrets.token_hex(16), 0)
        text = b"".join(segment for segment in body.segments if isinstance(segment, bytes))
        # the smallest first: a worker that refuses it cannot be used, and is measured again every 30 s
        *larger, least = probing.BODY_LADDER
        is_accepted = await self._accepts(url, text, least)
        if not is_accepted:
            return None if is_accepted is None else probing.STOCK_BODY_BYTES
        for size in larger:
            is_accepted = await self._accepts(url, text, size)
            if is_accepted is not False:
                return size if is_accepted else None
        return least

    async def _accepts(self, url: URL, text: bytes, size: int) -> bool | None:
        """Whether a worker accepts a request that is this long; `None` if that could not be found out."""
        if await self._client.is_too_large(url / "execute", size, within_s=CHECK_S):
            return False  # a proxy would see the size of the compressed request only
        packed = await asyncio.to_thread(probing.padded, text, size)
        body = Body(segments=(packed,), size=len(packed), max_run_s=0.0)
        try:
            reply = await _repeat(partial(self._post_padded, url, body))
        except (AnswerLostError, OverloadError):
            raise
        except TransientError:
            return None  # it, or a proxy, may fail for such a request only
        if reply.status != 200 and not answer.is_too_large(reply.status, reply.body):
            return None
        return reply.status == 200

    async def _post_padded(self, url: URL, body: Body) -> Reply:
        """The answer to a request whose size is tried; TransientError if the server has failed, perhaps only now."""
        reply = await self._post(url, body, gzipped=True)
        error = None if reply.status == 200 else answer.error_of(reply.status, reply.body)
        if isinstance(error, TransientError):
            raise type(error)(f"{url}: {error}")
        return reply

    async def _post(self, url: URL, body: Body, *, gzipped: bool = False) -> Reply:
        sending = Sending(body, _PROBE_S, self._client)
        reply = await self._client.post(url / "execute", sending, max_bytes=_MAX_ANSWER_BYTES, gzipped=gzipped)
        if reply.is_cut:
            raise AnswerLostError(f"{url}: the answer is too long to be Piston's", JobEnd.BROKEN)
        return reply


async def _repeat(request: Callable[[], Awaitable[A]], *, is_short: bool = False) -> A:
    """What a request returns; it is sent again if its answer is lost. If it was waited for up to the deadline,
    it is sent again only if that is short."""
    final = {JobEnd.NOT_SERVED} if is_short else {JobEnd.NOT_SERVED, JobEnd.TIMED_OUT}
    for _ in range(_ATTEMPTS - 1):
        try:
            return await request()
        except TransientError as error:
            if getattr(error, "end", None) in final:
                raise
        await asyncio.sleep(_PAUSE_S)
    return await request()


def _failed_stage(execution: Execution) -> tuple[Stage, str]:
    """The stage that failed, if one did (the compilation, or else the run), and the end of its output."""
    stage = execution.compile if execution.compile and execution.compile.code != 0 else execution.run
    return stage, (stage.stderr or stage.stdout).strip()[-300:]


def _probe_body(installed: InstalledStarter, nonce: str, padding: int) -> Body:
    job = probing.probe_job(installed, nonce, padding)
    files = wire.sent_files(job, installed.starter)
    literals = [literal(file.content) for file in files if isinstance(file.content, bytes)]
    return wire.body(job, installed, files, literals)
