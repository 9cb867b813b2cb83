"""Each recorded answer of real servers of both generations gives the expected execution or error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import SandboxError
from ioi_eval.jobs.scripts_answer import score_and_feedback
from ioi_eval.model import Execution, Stage
from ioi_eval.sandbox.piston import answer

# name of the transcript | expected result for v3 | expected result for v4, if it differs
#
# For an execution: `[compile stage then] run stage [= first line of the feedback]`, where a stage is its exit code or
# signal, with the server's status after a slash; without `=`, score and feedback are stdout and stderr.
# For a refusal: the error's type and message (`…`: the message continues).
# `lost`: there was no answer. `websocket`, `packages`: requests that we do not use.
TABLE = """
args | 0
args_not_array | 0
args_numbers | 0
background_child_holds_stdout | 0
bad_version_selector | UnknownRuntimeError: HTTP 400: bash-not a version runtime is unknown…
base64_executable | 0
base64_executable_no_chmod | 0
base64_file | 0
base64_file_first | 0
base64_invalid | 0
chunked_request | 0
client_disconnect | 0
cms_ac | 0 then 0
cms_ac_bits | 0 then 0
cms_ac_diff | 0 then 0
cms_ac_testlib | 0 then 0
cms_bad_checker | 1 then 1 = compile 1 | 1/RE then 1/RE = compile 1
cms_big_output_10MB_ml256 | 0 then 0
cms_big_output_10MB_ml64 | 0 then 0
cms_big_output_1MB_ml256 | 0 then 0
cms_big_output_1MB_ml64 | 0 then 0
cms_big_output_50MB_ml256 | 0 then 0
cms_big_output_50MB_ml64 | 0 then 2 = Unknown error | 0 then 2/RE = Unknown error
cms_ce | 1 then 1 = compile 1 | 1/RE then 1/RE = compile 1
cms_deep_recursion | 0 then 0
cms_empty_submission | 1 then 1 = compile 1 | 1/RE then 1/RE = compile 1
cms_exit0_no_output | 0 then 0
cms_hack_checker | 0 then 0
cms_hack_fd | 0 then SIGKILL = Time limit exceeded | 0 then SIGKILL/SG = Time limit exceeded
cms_hack_read_answer | 0 then 0
cms_missing_grader_config | 0 then 1 = Unknown error | 0 then 1/RE = Unknown error
cms_mle_malloc | 0 then 0
cms_mle_new | 0 then 0
cms_mle_static | 0 then 0
cms_mle_tiny_16MB | 0 then 0
cms_no_correct_output | 0 then 0
cms_pa | 0 then 0
cms_re_exit7 | 0 then 0
cms_re_segv | 0 then 0
cms_re_throw | 0 then 0
cms_tle | 0 then 0
cms_tle_ignores_sigterm | 0 then SIGKILL = Time limit exceeded | 0 then SIGKILL/TO = Time limit exceeded
cms_tle_sleep | 0 then 0
cms_wa | 0 then 0
cms_wa_diff | 0 then 0
comm_crash_fifo_io | 0 then 0
comm_crash_std_io | 0 then 0
comm_hang_fifo_io | 0 then 0
comm_hang_std_io | 0 then 0
comm_many_fifo_io | 0 then 0
comm_many_std_io | 0 then 0
comm_ok_fifo_io | 0 then 0
comm_ok_std_io | 0 then 0
comm_wa_fifo_io | 0 then 0
comm_wa_std_io | 0 then 0
compile_error_cpp | 1 then 1 = compile 1 | 1/RE then 1/RE = compile 1
compile_memory_limit | 1 then 1 = compile 1 | 1/RE then 1/RE = compile 1
compile_timeout | SIGKILL then SIGKILL = compile None | SIGKILL/TO then SIGKILL/TO = compile None
compile_timeout_too_large | RejectedError: HTTP 400: compile_timeout cannot exceed the configured limit of 60000
compile_warning_ok | 0 then 139 = Unknown error | 0 then 139/RE = Unknown error
concurrency_queue | 0
concurrency_queue_abandoned | 0
content_type_charset | 0
content_type_charset_latin1 | RejectedError: HTTP 400: UnsupportedMediaTypeError: unsupported charset "ISO-8859-1"
content_type_form | RejectedError: HTTP 415: requests must be of type application/json; is a proxy in between?
content_type_missing | RejectedError: HTTP 415: requests must be of type application/json; is a proxy in between?
content_type_text_plain | RejectedError: HTTP 415: requests must be of type application/json; is a proxy in between?
cpp_data_file_base64 | 0 then 0
cpp_data_file_utf8 | 1 then 1 = compile 1 | 1/RE then 1/RE = compile 1
cpp_two_files | 0 then 0
cpu_time_limit | 0 then SIGKILL | 0 then SIGKILL/TO
cpu_time_two_threads | SIGKILL = Time limit exceeded | SIGKILL/TO = Time limit exceeded
empty_body | RejectedError: HTTP 400: language is required as a string
empty_files | RejectedError: HTTP 400: files must include at least one utf8 encoded file
encoding_unknown_is_utf8 | 0
file_content_number | RejectedError: HTTP 400: files[0].content is required as a string
file_no_content | RejectedError: HTTP 400: files[0].content is required as a string
file_null | RejectedError: HTTP 400: no reason given (a null file?)
file_size_limit | 0
files_not_array | RejectedError: HTTP 400: files is required as an array
get_execute_wrong_method | UnservedError: HTTP 404: Not Found
get_packages | packages
get_root | Piston v3.1.1
get_runtimes | 17 runtimes
gzip_request_body | 0
hex_file | 0
json_array | RejectedError: HTTP 400: language is required as a string
json_invalid_utf8 | 0
json_lone_surrogate | 0
json_string | RejectedError: HTTP 400: SyntaxError: Unexpected token " in JSON at position 0
keepalive_idle | 0
large_stdin_wrapper_py | 0
limit_body_just_below | 0
limit_body_too_large | OversizedError: HTTP 400: PayloadTooLargeError: request entity too large; raise its body limit
limit_compile_errors | SIGKILL then SIGKILL = compile None | SIGKILL/EL then SIGKILL/EL = compile None
limit_file_size | 0
limit_memory_default_applies | 1 = Memory limit exceeded | 137/RE = Unknown error
limit_memory_minus1 | RejectedError: HTTP 400: run_memory_limit must be non-negative
limit_memory_too_large | RejectedError: HTTP 400: run_memory_limit cannot exceed the configured limit of 268435456
limit_run_timeout | SIGKILL = Time limit exceeded | SIGKILL/TO = Time limit exceeded
limit_run_timeout_3001 | RejectedError: HTTP 400: run_timeout cannot exceed the configured limit of 3000
limit_stderr_slow | SIGKILL = Time limit exceeded | SIGKILL/EL = Time limit exceeded
limit_stdout_1025 | SIGKILL = Time limit exceeded | SIGKILL/OL = Time limit exceeded
limit_stdout_burst | SIGKILL = Time limit exceeded | SIGKILL/OL = Time limit exceeded
limit_stdout_exact_1024 | 0
limit_stdout_multibyte | 0
limit_stdout_slow | SIGKILL | SIGKILL/OL
limit_stdout_then_exit0 | SIGKILL = Time limit exceeded | SIGKILL/OL = Time limit exceeded
malformed_json | RejectedError: HTTP 400: SyntaxError: Unexpected end of JSON input
mem_limit_1 | SIGSEGV = Unknown error | 0
mem_limit_1000 | SIGSEGV = Unknown error | SIGKILL/SG = Time limit exceeded
mem_limit_100000 | SIGSEGV = Unknown error | SIGKILL/SG = Time limit exceeded
mem_limit_4000000 | 2 = Unknown error | 0
mem_limit_exact_py | 1 = Memory limit exceeded | 137/RE = Unknown error
mem_page_cache | 0
missing_files | RejectedError: HTTP 400: files is required as an array
missing_language | RejectedError: HTTP 400: language is required as a string
missing_version | RejectedError: HTTP 400: version is required as a string
mle_bash_tiny_limit | 127 = Unknown error | 0
mle_cpp_malloc_unchecked | 0 then 139 = Unknown error | 0 then 137/RE = Unknown error
mle_cpp_new | 0 then 134 | 0 then 137/RE
mle_cpp_reserve_only | 0 then 0
mle_none_default | 0
mle_python | 1 = Memory limit exceeded | 137/RE
mle_python_tiny_limit | 127 = Unknown error | 137/RE = Unknown error
network | 0
not_found | UnservedError: HTTP 404: Not Found
nproc_limit | 254 = Unknown error | 254/RE = Unknown error
ok_alias_and_version | 0
ok_bash | 0
ok_cpp | 0 then 0
ok_cpp_stdin | 0 then 0
ok_no_file_name | 0
ok_python | 0
only_base64_files | RejectedError: HTTP 400: files must include at least one utf8 encoded file
open_files_limit | 0
output_interleaving | 0
package_install_404 | UnservedError: HTTP 404: Requested package nopkg-1.0.0 does not exist
package_install_already | RejectedError: HTTP 500: Already installed
package_install_bad_checksum | RejectedError: HTTP 500: Checksum miss-match …
package_install_ok | bash 5.1.0
package_uninstall_404 | UnservedError: HTTP 404: Requested package nopkg-1.0.0 does not exist
package_uninstall_not_installed | RejectedError: HTTP 500: bash-5.1.0 is not installed
package_uninstall_ok | bash 5.1.0
packages_post_bad_version | UnservedError: HTTP 404: Requested package bash-%% does not exist
packages_post_empty | UnservedError: HTTP 404: Requested package undefined-undefined does not exist
packages_repo_unreachable_get | lost
packages_repo_unreachable_install | lost
path_absolute | 0
path_dir_conflict | TransientError: HTTP 500: the server could not start a process or make a box (is its disk full?)
path_duplicate | 0
path_empty_name | 0
path_escape | TransientError: HTTP 500: the server could not start a process or make a box (is its disk full?)
path_escape_first | TransientError: HTTP 500: the server could not start a process or make a box (is its disk full?)
path_long_name | TransientError: HTTP 500: the server could not start a process or make a box (is its disk full?)
path_nested | 1 | 0
path_nul_in_name | TransientError: HTTP 500: the server could not start a process or make a box (is its disk full?)
path_space_unicode | 0
python_deep_recursion | 0
python_memoryerror_v3_style | 1 = Memory limit exceeded | 137/RE = Unknown error
python_stdin_eof | 0
python_stdout_not_flushed_on_kill | SIGKILL = Time limit exceeded | SIGKILL/TO = Time limit exceeded
run_cpu_time_too_large | 0 | RejectedError: HTTP 400: run_cpu_time cannot exceed the configured limit of 60000
run_memory_limit_0 | 0
run_memory_limit_minus1 | 0
run_memory_limit_string | RejectedError: HTTP 400: If specified, run_memory_limit must be a number
run_timeout_0 | 0
run_timeout_1500 | SIGKILL | SIGKILL/TO
run_timeout_background_child | SIGKILL | SIGKILL/TO
run_timeout_busy | 0 then SIGKILL | 0 then SIGKILL/TO
run_timeout_float | 0
run_timeout_ignores_sigterm | SIGKILL | SIGKILL/TO
run_timeout_negative | RejectedError: HTTP 400: run_timeout must be non-negative
run_timeout_sleep | SIGKILL | SIGKILL/TO
run_timeout_string | RejectedError: HTTP 400: If specified, run_timeout must be a number
run_timeout_too_large | RejectedError: HTTP 400: run_timeout cannot exceed the configured limit of 60000
runtime_error_cpp_exit | 0 then 42 = Unknown error | 0 then 42/RE = Unknown error
runtime_error_exit_code | 3 | 3/RE
runtime_error_python_exception | 1 | 1/RE
sees_host | 0
server_down | lost
server_sigkill_mid_request | lost
server_sigterm_mid_request | lost
sigabrt_cpp | 0 then 134 = Unknown error | 0 then 134/RE = Unknown error
sigfpe_cpp | 0 then 136 = Unknown error | 0 then 136/RE = Unknown error
signal_exec_segv | 139 = Unknown error | 139/RE = Unknown error
signal_python_segv | 139 = Unknown error | 139/RE = Unknown error
signal_run_script_kill | SIGKILL | SIGKILL/SG
signal_run_script_segv | SIGSEGV | SIGSEGV/SG
signal_run_script_term | SIGTERM | SIGTERM/SG
signal_run_script_xcpu | SIGXCPU | SIGXCPU/SG
signal_self_kill | 137 | 137/RE
signal_self_term | 143 = Unknown error | 143/RE = Unknown error
sigsegv_cpp | 0 then 139 | 0 then 139/RE
stack_overflow_cpp | 0 then 139 = Unknown error | 0 then SIGKILL/TO = Time limit exceeded
stdin_300k | 0
stdin_3M | 0
stdin_60k | 0
stdin_70k | 0
stdin_absent | 0
stdin_newline | 0
stdin_no_newline | 0
stdin_not_string | RejectedError: HTTP 400: no reason given (a null file?)
stdin_unread_3M | 0 = Unknown error
stdin_unread_small | 0 = Unknown error
stdout_10MB | 0
stdout_ansi_controls | 0
stdout_invalid_utf8 | 0
stdout_nul | 0
stdout_utf8 | 0
stdout_utf8_chunk_split | 0
timing_float | 0 = Unknown error
tmp_isolation_read | 1 = Unknown error | 1/RE = Unknown error
tmp_isolation_write | 0
unknown_fields_ignored | 0
unknown_language | UnknownRuntimeError: HTTP 400: nolang-* runtime is unknown…
unknown_version | UnknownRuntimeError: HTTP 400: bash-9.9.9 runtime is unknown…
ws_connect | websocket
zombie_tree | 0
"""

EXPECTED = {
    name: {"v3": columns[0], "v4": columns[-1]}
    for name, *columns in ([cell.strip() for cell in line.split(" | ")] for line in TABLE.strip().splitlines())
}


def load(shared: Path, generation: str, name: str) -> dict[str, Any]:
    """One transcript."""
    with (shared / "piston-transcripts" / generation / f"{name}.json").open(encoding="utf-8") as file:
        transcript: dict[str, Any] = json.load(file)
    return transcript


def body_of(transcript: dict[str, Any]) -> bytes:
    """The answer's bytes; an empty text stands for an empty body."""
    return b"" if transcript["response"] == "" else json.dumps(transcript["response"]).encode()


def stage_text(stage: Stage) -> str:
    """A stage in the table's form."""
    end = stage.signal if stage.code is None else str(stage.code)
    return f"{end}/{stage.status}" if stage.status else str(end)


def execution_text(execution: Execution) -> str:
    """An execution in the table's form."""
    score, feedback = score_and_feedback(execution)
    stages = " then ".join(stage_text(stage) for stage in (execution.compile, execution.run) if stage is not None)
    if (score, feedback) == (execution.run.stdout, execution.run.stderr):
        return stages
    assert score == "0"
    return f"{stages} = {feedback.splitlines()[0].replace('Compilation error exit code', 'compile')}"


def read(transcript: dict[str, Any]) -> str:
    """The result of reading a transcript, in the table's form."""
    if transcript["http_status"] is None:
        return "lost"
    if transcript["request"]["method"] == "WEBSOCKET":
        return "websocket"
    try:
        return read_answer(transcript, transcript["http_status"], body_of(transcript))
    except SandboxError as error:
        return f"{type(error).__name__}: {error}"


def read_answer(transcript: dict[str, Any], status: int, body: bytes) -> str:
    """The result of reading an answer, in the table's form."""
    match transcript["request"]["path"], transcript["request"]["method"]:
        case "/api/v2/runtimes", _:
            return f"{len(answer.runtimes(status, body))} runtimes"
        case "/api/v2/packages", "GET":
            return "packages"
        case "/api/v2/packages", _:
            return " ".join(answer.changed_package(status, body))
        case "/", _:
            return str(transcript["response"]["message"])
        case _:
            return execution_text(answer.execution(status, body))


def test_the_table_is_complete(shared: Path) -> None:
    """The table has exactly the recorded files."""
    for generation in ("v3", "v4"):
        recorded = {path.stem for path in (shared / "piston-transcripts" / generation).glob("*.json")}
        assert recorded == set(EXPECTED)


@pytest.mark.parametrize("generation", ["v3", "v4"])
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_recorded_answer(shared: Path, name: str, generation: str) -> None:
    """The answer gives the expected execution, score and feedback, or the expected error with the server's message."""
    expected, found = EXPECTED[name][generation], read(load(shared, generation, name))
    if expected.endswith("…"):
        expected, found = expected[:-1], found[: len(expected) - 1]
    assert found == expected


@pytest.mark.parametrize("generation", ["v3", "v4"])
def test_every_field_arrives(shared: Path, generation: str) -> None:
    """Texts and measurements of each recorded stage are returned unchanged."""
    stages = 0
    for name in EXPECTED:
        transcript = load(shared, generation, name)
        if transcript["http_status"] != 200 or transcript["request"]["path"] != "/api/v2/execute":
            continue
        execution = answer.execution(200, body_of(transcript))
        for key, stage in (("run", execution.run), ("compile", execution.compile)):
            sent = transcript["response"].get(key)
            assert (stage is None) == (sent is None)
            if stage is not None:
                stages += 1
                assert (stage.stdout, stage.stderr) == (sent["stdout"], sent["stderr"])
                assert (stage.code, stage.signal) == (sent["code"], sent["signal"])
                assert (stage.status, stage.message) == (sent.get("status"), sent.get("message"))
                assert (stage.cpu_ms, stage.wall_ms) == (sent.get("cpu_time"), sent.get("wall_time"))
                assert stage.memory_bytes == sent.get("memory")
    assert stages > 200


@pytest.mark.parametrize("generation", ["v3", "v4"])
def test_runtimes_by_every_name(shared: Path, generation: str) -> None:
    """A runtime is found by its language and by its aliases; `cms_ioi` is an alias of `cms`."""
    transcript = load(shared, generation, "get_runtimes")
    runtimes = answer.runtimes(200, body_of(transcript))
    (cms,) = [runtime for runtime in runtimes if runtime.answers_to("cms_ioi")]
    assert (cms.language, cms.version, cms.package) == ("cms", "1.0.0", "cms_ioi")
    (bash,) = [runtime for runtime in runtimes if runtime.answers_to("sh")]
    assert (bash.language, bash.version, bash.package) == ("bash", "5.2.0", None)


@pytest.mark.parametrize("generation", ["v3", "v4"])
@pytest.mark.parametrize(
    ("name", "ceiling"),
    [
        ("run_timeout_too_large", ("run_timeout", 60_000)),
        ("compile_timeout_too_large", ("compile_timeout", 60_000)),
        ("limit_memory_too_large", ("run_memory_limit", 268_435_456)),
        ("limit_run_timeout_3001", ("run_timeout", 3_000)),
        ("run_timeout_negative", None),
        ("unknown_language", None),
    ],
)
def test_refused_ceilings(shared: Path, name: str, generation: str, ceiling: tuple[str, int] | None) -> None:
    """The limit that a server states in a refusal is read from its message."""
    assert answer.refused_ceiling(400, body_of(load(shared, generation, name))) == ceiling
