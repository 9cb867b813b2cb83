"""Programs with an event loop can pass: they may use the socket pair that the loop needs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from ioi_eval.apps.execution import AppsResult
from ioi_eval.jobs.harness import preloaded
from tests.python_box import row

Score = Callable[..., AppsResult]

NEXT = row(["3\n", "-1\n"], ["4\n", "0\n"])

RIGHT = {
    "run": """
        async def main():
            print(int(input()) + 1)
        asyncio.run(main())
    """,
    "gather, tasks and turns": """
        async def one(n):
            await asyncio.sleep(0)
            return n
        async def main():
            task = asyncio.create_task(one(int(input())))
            print(await task + sum(await asyncio.gather(*(one(n) for n in (5, -4)))))
        asyncio.run(main())
    """,
    "a queue between two": """
        async def main():
            queue = asyncio.Queue(1)
            async def put():
                for n in (int(input()), 1, None):
                    await queue.put(n)
            task, total = asyncio.create_task(put()), 0
            while (n := await queue.get()) is not None:
                total += n
            print(total)
        asyncio.get_event_loop_policy().new_event_loop().run_until_complete(main())
    """,
    "sleep and timeouts": """
        async def main():
            n = int(input())
            await asyncio.sleep(0.01)
            try:
                await asyncio.wait_for(asyncio.Event().wait(), 0.01)
            except asyncio.TimeoutError:
                print(n + 1)
        asyncio.run(main())
    """,
    "threads that wake the loop": """
        import sys
        async def main():
            loop = asyncio.get_running_loop()
            n = int(await loop.run_in_executor(None, sys.stdin.readline))
            print(n + await asyncio.to_thread(lambda: 1))
        asyncio.run(main())
    """,
    "a pipe of its own": """
        import os
        async def main():
            loop, (near, far) = asyncio.get_running_loop(), os.pipe()
            os.write(far, input().encode() + b"\\n")
            reader = asyncio.StreamReader()
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(near, "rb"))
            print(int(await reader.readline()) + 1)
            os.close(far)
        asyncio.run(main())
    """,
    "streams over a pair": """
        import socket
        async def main():
            near, far = socket.socketpair()
            reader, writer = await asyncio.open_connection(sock=near)
            _, other = await asyncio.open_connection(sock=far)
            other.write(input().encode() + b"\\n")
            await other.drain()
            other.close()
            print(int(await reader.read()) + 1)
            writer.close()
        asyncio.run(main())
    """,
    "signals that the loop handles": """
        import os, signal
        async def main():
            loop, seen = asyncio.get_running_loop(), asyncio.Event()
            loop.add_signal_handler(signal.SIGUSR1, seen.set)
            os.kill(os.getpid(), signal.SIGUSR1)
            await seen.wait()
            print(int(input()) + 1)
        asyncio.run(main())
    """,
}


@pytest.mark.parametrize("name", RIGHT)
def test_programs_with_an_event_loop_pass(name: str, score: Score) -> None:
    """No call is refused."""
    result = score(NEXT, "import asyncio\n" + textwrap.dedent(RIGHT[name]))
    assert [(test.verdict, dict(test.attempted)) for test in result.tests] == [("AC", {})] * 2, result


def test_event_loops_work_in_cold_and_warm_interpreters(score: Score) -> None:
    """Whether asyncio was imported before the fork or not."""
    code = "import asyncio\nasync def f(): print(int(input()) + 1)\nasyncio.run(f())"
    assert preloaded(code, calls=False) == "asyncio"
    assert score(NEXT, code, warm=False).score == 1.0


REFUSED = """
import socket
near, far = socket.socketpair()
ways = dict(
    datagrams=lambda: socket.socketpair(type=socket.SOCK_DGRAM),
    raw=lambda: socket.socketpair(type=socket.SOCK_RAW),
    packets=lambda: socket.socketpair(type=socket.SOCK_SEQPACKET),
    family=lambda: socket.socketpair(socket.AF_INET),
    abstract=lambda: near.sendto(b"x", "\\0judge"),
    path=lambda: near.sendto(b"x", socket.MSG_DONTWAIT, "/tmp/judge"),
    who=lambda: near.recvfrom(1),
    urgent=lambda: near.send(b"x", socket.MSG_OOB),
    urgent_to_read=lambda: near.recv(1, socket.MSG_OOB),
    message=lambda: near.sendmsg([b"x"]),
    message_to_read=lambda: near.recvmsg(1),
    name=lambda: near.bind("\\0judge"),
    peer=lambda: near.connect("\\0judge"),
    listener=lambda: near.listen(),
    room=lambda: near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30),
    cookie=lambda: near.getsockopt(socket.SOL_SOCKET, 57),
)
done = []
for name, way in ways.items():
    try:
        way()
        done.append(name)
    except PermissionError:
        pass
    except Exception as error:
        done.append((name, error))
print(done or int(input()) + 1)
"""
"""What a program could make of a pair beyond a loop's use. (The last number is from a counter for all sockets.)"""


def test_calls_that_no_event_loop_needs_are_refused(score: Score) -> None:
    """They return an error number without reaching the kernel, and the program continues."""
    result = score(NEXT, REFUSED)
    assert [test.verdict for test in result.tests] == ["AC", "AC"], result
    assert {"socketpair", "sendto", "sendmsg", "recvmsg"} <= set(result.tests[0].attempted)
