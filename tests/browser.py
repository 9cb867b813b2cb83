"""A headless Chromium, controlled through its DevTools protocol. It collects the page's messages and network requests.

It implements only what these tests need. `aiohttp` is already a dependency, and the protocol is JSON over a WebSocket.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ANSWER_S = 120.0  # for a machine that is very busy


def chromium() -> str | None:
    """The path of the browser; `None` if there is none."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


needs_chromium = pytest.mark.skipif(chromium() is None, reason="chromium is not installed (apt install chromium)")


class Tab:
    """One page of a browser, to be used outside of any event loop.

    Args:
        runner: runs the coroutines that communicate with the browser.
        socket: the connection to the browser.
    """

    def __init__(self, runner: asyncio.Runner, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._runner, self._socket = runner, socket
        self._ids = itertools.count(1)
        self.messages: list[str] = []
        self.requests: list[str] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol. Events that arrive meanwhile are recorded."""
        return self._runner.run(asyncio.wait_for(self._call(method, params), _ANSWER_S))

    async def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            message = await self._socket.receive_json()
            if message.get("id") == number:
                assert "error" not in message, f"{method}: {message['error']}"
                answer: dict[str, Any] = message["result"]
                return answer
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        method, params = message.get("method", ""), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(f"console: {[one.get('value', one.get('description')) for one in params['args']]}")
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.messages.append(f"exception: {details.get('exception', {}).get('description', details['text'])}")
        elif method == "Log.entryAdded":
            self.messages.append(f"log: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"][:200])
        elif method == "Page.javascriptDialogOpening":
            self.messages.append(f"dialog: {params['message']}")

    def open(self, path: Path, *, width: int = 1440, height: int = 900, dark: bool = False) -> None:
        """Open a report, and wait until its page is complete."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.value(_READY)

    def value(self, expression: str) -> Any:
        """The value of an expression in the page; the value of a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str, *, text: str = "") -> None:
        """Press a key."""
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        shared = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **shared)
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def picture(self, path: Path) -> None:
        """Write a screenshot of the whole page as PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        path.write_bytes(base64.b64decode(answer["data"]))


_READY = """new Promise((done) => {
  const look = () => document.documentElement?.dataset.ready || document.getElementById("loading")?.textContent
    ? requestAnimationFrame(() => requestAnimationFrame(() => done(true))) : setTimeout(look, 10);
  look();
})"""


@contextmanager
def browser_tab() -> Iterator[Tab]:
    """A page of a new browser, which is ended at exit."""
    executable = chromium()
    assert executable is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, asyncio.Runner() as runner:
        command = [executable, "--headless=new", "--disable-gpu", "--no-first-run", "--disable-extensions"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []
        command += ["--disable-background-networking", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            [*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            yield from _connected(runner, process, Path(profile))
        finally:
            process.terminate()
            process.wait()


def _connected(runner: asyncio.Runner, process: subprocess.Popen[bytes], profile: Path) -> Iterator[Tab]:
    async def connect() -> tuple[aiohttp.ClientSession, aiohttp.ClientWebSocketResponse]:
        port_file = profile / "DevToolsActivePort"
        while not (port_file.exists() and port_file.read_text().count("\n")):
            assert process.poll() is None, "the browser ended at once"
            await asyncio.sleep(0.05)
        port = port_file.read_text().split()[0]
        session = aiohttp.ClientSession()
        while True:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                pages = [one for one in await answer.json() if one["type"] == "page"]
            if pages:
                address = pages[0]["webSocketDebuggerUrl"]
                return session, await session.ws_connect(address, max_msg_size=0)
            await asyncio.sleep(0.05)

    session, socket = runner.run(asyncio.wait_for(connect(), _ANSWER_S))
    try:
        yield Tab(runner, socket)
    finally:
        runner.run(socket.close())
        runner.run(session.close())
