"""The reference's client with our server: it scores the sample contest without changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ioi_eval import sample
from tests.sandbox.served import Served

PROBLEMS = [json.loads(line) for line in sample.problems().open(encoding="utf-8")]

TESTS = [json.loads(line) for line in sample.tests().open(encoding="utf-8")]

SOLUTIONS = [json.loads(line) for line in sample.solutions().open(encoding="utf-8")]


def sample_of(problem_id: str, label: str, test: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The rows of a problem and of one of its tests, and the source of a solution."""
    problem = next(row for row in PROBLEMS if row["id"] == problem_id)
    case = next(row for row in TESTS if (row["problem_id"], row["test_name"]) == (problem_id, test))
    code = next(row["code"] for row in SOLUTIONS if (row["problem_id"], row["label"]) == (problem_id, label))
    return problem, case, code


def classic_request(problem: dict[str, Any], case: dict[str, Any], code: str) -> dict[str, Any]:
    """The request to judge a program on one test."""
    files = {f"graders/{problem['id']}.cpp": code, "input.txt": case["test_input"]}
    files |= {"correct_output.txt": case["test_output"], **dict(problem["grader_files"])}
    sent = [{"name": name, "content": content} for name, content in files.items() if content]
    return {"language": "cms_ioi", "files": sent}


class ReferenceClient:
    """Sends the same requests as the reference's client and reads the answers like it; written independently."""

    def __init__(self, served: Served) -> None:
        self.client = served.client

    def run_submission(
        self,
        problem: dict[str, Any],
        test_input: str,
        submission: str,
        test_output: str | None,
        *,
        language: str = "cms_ioi",
    ) -> tuple[str, str]:
        """Judge one test: sends submission, input, the expected output if any, and grader files that are not empty."""
        files = [
            {"name": f"graders/{problem['id'].lower()}.cpp", "content": submission},
            {"name": "input.txt", "content": test_input},
        ]
        if test_output:
            files.append({"name": "correct_output.txt", "content": test_output})
        files += [{"name": name, "content": content} for name, content in problem["grader_files"] if content]
        data = {
            "files": files,
            "run_timeout": round((problem["time_limit"] + 3) * 1000),
            "run_memory_limit": problem["memory_limit"],
            "language": language,
            "version": "*",
        }
        response = self.client.post("/execute", json=data, headers={"Content-Type": "application/json"})
        assert response.status_code == 200, response.text
        return self.read(response.json())

    @staticmethod
    def read(response: dict[str, Any]) -> tuple[str, str]:
        """Score and feedback of an answer."""
        assert "message" not in response
        if "compile" in response and response["compile"]["code"] != 0:
            code, stderr = response["compile"]["code"], response["compile"]["stderr"]
            return "0", f"Compilation error exit code {code}\n{stderr}"
        if response["run"]["code"] == 1 and "MemoryError" in response["run"]["stderr"]:
            return "0", "Memory limit exceeded"
        if response["run"]["stdout"]:
            return response["run"]["stdout"], response["run"]["stderr"]
        if response["run"]["signal"] == "SIGKILL":
            return "0", "Time limit exceeded"
        assert response["run"]["code"] != 0, "the reference would raise"
        return "error", response["run"]["stderr"]

    @staticmethod
    def status(score: float, feedback: str) -> str:
        """The client's name for an outcome."""
        if score == 1.0:
            return "AC"
        if score > 0:
            return "PA"
        signs = {
            "Compilation error": "CE",
            "Memory limit exceeded": "MLE",
            "Time limit exceeded": "TLE",
            "Output isn't correct": "WA",
        }
        return next((name for sign, name in signs.items() if sign in feedback), "RE")


@pytest.mark.parametrize(
    ("problem_id", "label", "test", "score", "status"),
    [
        ("berths", "partially_correct/one-each.cpp", "0-01", 0.7, "PA"),
        ("berths", "time_limit/exhaustive.cpp", "2-01", 0.0, "TLE"),
        ("buoys", "compile_error/undeclared.cpp", "0-01", 0.0, "CE"),
        ("buoys", "correct/ragged-blanks.cpp", "0-01", 1.0, "AC"),
        ("buoys", "incorrect/one-line.cpp", "0-01", 0.0, "WA"),
        ("buoys", "memory_limit/second-by-second.cpp", "2-01", 0.0, "MLE"),
        ("buoys", "runtime_error/gives-up.cpp", "0-01", 0.0, "RE"),
        ("lamps", "model_solution/halving.cpp", "0-01", 1.0, "AC"),
        ("keepers", "model_solution/halving.cpp", "0-01", 1.0, "AC"),
    ],
)
def test_the_reference_s_client(  # noqa: PLR0917 (parametrised)
    served: Served, problem_id: str, label: str, test: str, score: float, status: str
) -> None:
    """It gets the expected scores for solutions of the sample contest."""
    problem, case, code = sample_of(problem_id, label, test)
    client = ReferenceClient(served)
    words, feedback = client.run_submission(problem, case["test_input"], code, case["test_output"])
    assert (float(words), client.status(float(words), feedback)) == (score, status), feedback


def test_an_answer_to_cms_ioi_names_cms(served: Served) -> None:
    """The answer has the language `cms`, as in the real package. A judge error is an error for the client, not 0."""
    problem = {
        "id": "Sum",
        "time_limit": 1.0,
        "memory_limit": 1 << 26,
        "grader_files": [
            [
                "graders/grader_config.json",
                '{"task_type": "Batch", "code": "sum", "time_limit": 1, "memory_limit": 67108864}',
            ],
            ["checker/checker.cpp", "int main() { return 1; }"],
            ["checker/testlib.h", ""],
        ],
    }
    assert ReferenceClient(served).run_submission(problem, "1\n", "int main() {}", "1\n")[0] == "error"
    response = served.execute(language="cms_ioi", files=[{"name": "graders/x.cpp", "content": "int main() {}"}])
    assert (response.json()["language"], response.json()["version"]) == ("cms", "1.0.0")
    assert (response.json()["compile"]["code"], response.json()["run"]["code"]) == (0, 3)
    assert "graders/grader_config.json" in response.json()["run"]["stderr"]


def test_a_short_wall_clock_limit_of_a_request_has_no_effect(served: Served) -> None:
    """The client sends limit + 3 s, which may be too short on a busy machine: the server does not use it."""
    problem, case, code = sample_of("buoys", "model_solution/bisection.cpp", "0-01")
    answer = served.execute(**classic_request(problem, case, code), run_timeout=1, compile_timeout=1)
    assert ReferenceClient.read(answer.json()) == ("1\n", "Output is correct\n")


ENDLESS = "static int endless = [] { for (volatile int i = 0;; i = i + 1) {} return 0; }();\n"


@pytest.mark.parametrize(("stage", "cpu_ms"), [("compile", 1), ("run", 1001)])
def test_a_stopped_stage_is_an_http_error(served: Served, stage: str, cpu_ms: int) -> None:
    """A stopped stage is an HTTP 500: without an exit code, the client would take it as a compile error or as TLE.

    The program may use 1.35 s before our runner stops it.
    """
    problem, case, code = sample_of("buoys", "model_solution/bisection.cpp", "0-01")
    answer = served.execute(**classic_request(problem, case, code + ENDLESS), **{f"{stage}_cpu_time": cpu_ms})
    assert answer.status_code == 500
    assert f"the {stage} stage was stopped by SIGKILL" in answer.json()["message"]


def test_a_request_that_allows_too_little_cpu_time(served: Served) -> None:
    """The kernel would kill a correct program, so the runner refuses the job. To the client it is no score."""
    problem, case, code = sample_of("buoys", "model_solution/bisection.cpp", "0-01")
    answer = served.execute(**classic_request(problem, case, code), run_cpu_time=1).json()
    assert (answer["run"]["code"], answer["run"]["signal"], answer["run"]["stdout"]) == (2, None, "")
    assert "the limit on CPU time is 2, below 3" in answer["run"]["stderr"]


def test_a_classic_job_without_scripts(served: Served) -> None:
    """As with our package on Piston, `ioi_eval` uses its own scripts for a classic job without scripts."""
    problem, case, code = sample_of("buoys", "model_solution/bisection.cpp", "0-01")
    found = ReferenceClient(served).run_submission(
        problem, case["test_input"], code, case["test_output"], language="ioi_eval"
    )
    assert found == ("1\n", "Output is correct\n")


def test_without_an_expected_output_the_program_prints_the_score(served: Served) -> None:
    """Without an expected output, the score is what the program prints. A program that crashes gets 0."""
    problem, case, code = sample_of("buoys", "model_solution/bisection.cpp", "0-01")
    client = ReferenceClient(served)
    for absent in (None, ""):
        printed, feedback = client.run_submission(problem, case["test_input"], code, absent)
        assert (printed.split(), feedback) == (case["test_output"].split(), "")
    problem, case, code = sample_of("buoys", "runtime_error/gives-up.cpp", "0-01")
    score, feedback = client.run_submission(problem, case["test_input"], code, None)
    assert (float(score), client.status(float(score), feedback)) == (0.0, "RE")
