"""The server's answers: its routes and fields, compared with the answers of real servers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.served import Served


def test_runtimes_and_packages(served: Served) -> None:
    """There are four languages, with Piston's fields; `cms_ioi` is an alias of `cms`, as in the real package."""
    runtimes = served.client.get("/runtimes").json()
    assert runtimes[:2] == [
        {"language": "ioi_eval", "version": "1.0.0", "aliases": []},
        {"language": "cms", "version": "1.0.0", "aliases": ["cms_ioi"], "runtime": "cms_ioi"},
    ]
    assert (runtimes[2]["language"], runtimes[2]["aliases"]) == ("bash", ["sh"])
    assert runtimes[3:] == [{"language": "ioi_eval_run", "version": "1.0.0", "aliases": []}]
    packages = served.client.get("/packages").json()
    assert [(package["language"], package["installed"]) for package in packages] == [
        ("ioi_eval", True),
        ("cms_ioi", True),
        ("bash", True),
        ("ioi_eval_run", True),
    ]


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("POST", "Already installed"),
        ("DELETE", "cms_ioi-1.0.0 is part of ioi-eval serve and cannot be removed"),
    ],
)
def test_packages_cannot_be_changed(served: Served, method: str, message: str) -> None:
    """A built-in package is refused with 500 and a reason; an unknown one is 404, with Piston's message."""
    here = served.client.request(method, "/packages", json={"language": "cms_ioi", "version": "1.0.0"})
    assert here.status_code == 500
    assert here.json()["message"] == message
    for language, version in (("nopkg", "1.0.0"), ("cms_ioi", "9.0.0")):
        other = served.client.request(method, "/packages", json={"language": language, "version": version})
        message = f"Requested package {language}-{version} does not exist"
        assert (other.status_code, other.json()) == (404, {"message": message})
    empty = served.client.request(method, "/packages", json={})
    assert empty.json() == {"message": "Requested package undefined-undefined does not exist"}


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/execute"), ("GET", "/nope"), ("PUT", "/execute"), ("POST", "/x")]
)
def test_other_routes(served: Served, method: str, path: str) -> None:
    """Other routes and wrong methods are 404 with Piston's message."""
    response = served.client.request(method, path, json={} if method != "GET" else None)
    assert (response.status_code, response.json()) == (404, {"message": "Not Found"})
    assert response.headers["content-type"] == "application/json; charset=utf-8"


def test_paths_like_express(served: Served) -> None:
    """Paths may end with a slash, and letters may have any case. HEAD has the status and the headers of GET."""
    assert served.client.get("/runtimes/").status_code == 200
    assert served.client.get(f"{served.base}/API/v2/Runtimes").status_code == 200
    head, get = (served.client.request(method, "/runtimes") for method in ("HEAD", "GET"))
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]
    assert "ioi-eval" in served.client.get(served.base).json()["message"]


def test_all_fields_of_a_stage(served: Served) -> None:
    """A stage has the ten fields of generation 4; bash has no compile stage."""
    response = served.execute(files=[{"content": "echo out; echo err >&2; exit 3"}])
    answer = response.json()
    assert set(answer) == {"run", "language", "version"}
    run = answer["run"]
    measured = {run.pop(name) for name in ("cpu_time", "wall_time", "memory")}
    assert all(isinstance(number, int | float) and number > 0 for number in measured)
    assert run == {
        "signal": None,
        "stdout": "out\n",
        "stderr": "err\n",
        "code": 3,
        "output": "out\nerr\n",
        "message": "Exited with error status 3",
        "status": "RE",
    }


# Recorded answers of the real server that do not depend on its configuration.
# fmt: off
RECORDED = [
    "args", "args_not_array", "args_numbers", "background_child_holds_stdout", "bad_version_selector",
    "base64_invalid", "content_type_charset", "content_type_form", "content_type_text_plain", "empty_body",
    "empty_files", "encoding_unknown_is_utf8", "file_content_number", "file_no_content", "file_null",
    "files_not_array", "get_execute_wrong_method", "hex_file", "json_array", "json_invalid_utf8",
    "json_lone_surrogate", "missing_files", "missing_language", "missing_version", "not_found",
    "ok_alias_and_version", "ok_bash", "ok_no_file_name", "only_base64_files", "output_interleaving",
    "package_install_404", "package_uninstall_404", "packages_post_bad_version", "packages_post_empty",
    "path_absolute", "path_dir_conflict", "path_duplicate", "path_empty_name", "path_escape", "path_escape_first",
    "path_long_name", "path_nul_in_name", "path_space_unicode", "run_timeout_1500",
    "run_timeout_background_child", "run_timeout_ignores_sigterm", "run_timeout_sleep", "signal_exec_segv",
    "signal_run_script_kill", "signal_run_script_segv", "signal_run_script_term", "signal_run_script_xcpu",
    "signal_self_kill", "signal_self_term", "stdin_absent", "stdin_newline", "stdin_no_newline",
    "stdin_not_string", "stdin_unread_small", "stdout_ansi_controls", "stdout_invalid_utf8", "stdout_nul",
    "stdout_utf8", "unknown_fields_ignored", "unknown_language",
    "unknown_version", "zombie_tree",
]

# fmt: on

MEASURED = {"cpu_time", "wall_time", "memory", "version", "output"}


def without_measurements(answer: Any) -> Any:
    """An answer without measured values."""
    if not isinstance(answer, dict):
        return answer
    return {key: without_measurements(value) for key, value in answer.items() if key not in MEASURED}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_answers(served: Served, shared: Path, name: str) -> None:
    """A recorded request gets the same answer as from the real server of generation 4."""
    transcript = json.loads((shared / "piston-transcripts" / "v4" / f"{name}.json").read_text(encoding="utf-8"))
    sent, body = transcript["request"], transcript["request"].get("body")
    if body is not None and "<" in json.dumps(body) and "chars in all" in json.dumps(body):
        pytest.skip("the request was shortened when it was recorded")
    if "xxd" in str(body) and shutil.which("xxd") is None:
        pytest.skip("the request starts xxd, which is not installed (Debian, Ubuntu: apt install xxd)")
    content = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else json.dumps(body).encode()
    response = served.client.request(
        sent["method"],
        served.base + sent["path"],
        headers=sent.get("headers") or {"Content-Type": "application/json"},
        content=None if sent["method"] == "GET" else content,
    )
    assert response.status_code == transcript["http_status"]
    answer: Any = response.json() if response.content else ""
    if name == "signal_exec_segv" or name.startswith("signal_self"):  # bash names its own file and line
        for either in (answer, transcript["response"]):
            either["run"].pop("stderr")
    assert without_measurements(answer) == without_measurements(transcript["response"])
