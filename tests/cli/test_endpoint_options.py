"""Which cluster a call uses: options, the environment, `.env`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.cli.endpoints import named_cluster, needed_cluster
from ioi_eval.errors import InputError

pytestmark = pytest.mark.usefixtures("without_servers")


def test_no_cluster_is_named() -> None:
    """Without option and environment there is no cluster. Commands that need one say how to name it."""
    assert named_cluster() is None
    with pytest.raises(InputError, match="PISTON_ENDPOINTS"):
        needed_cluster()


def test_order_of_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options come before the environment, and the environment before `.env`."""
    (tmp_path / ".env").write_text("PISTON_ENDPOINTS=w1:1\nPISTON_MAX_REQUESTS_PER_ENDPOINT='2'\n", encoding="utf-8")
    found = needed_cluster()
    assert (found.source, found.max_requests_per_endpoint) == (("http://w1:1/api/v2",), 2)
    monkeypatch.setenv("PISTON_ENDPOINTS", "w2:1")
    assert needed_cluster().source == ("http://w2:1/api/v2",)
    found = needed_cluster("w3:1", 7)
    assert (found.source, found.max_requests_per_endpoint) == (("http://w3:1/api/v2",), 7)


def test_one_request_at_a_time_by_default() -> None:
    """As in the reference."""
    assert needed_cluster("w1:1").max_requests_per_endpoint == 1


@pytest.mark.parametrize("text", ["two", "0", "-1", "1.5"])
def test_an_invalid_number(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """It is refused, and not replaced by the default."""
    monkeypatch.setenv("PISTON_MAX_REQUESTS_PER_ENDPOINT", text)
    with pytest.raises(InputError, match="PISTON_MAX_REQUESTS_PER_ENDPOINT"):
        needed_cluster("w1:1")


def test_an_empty_option_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--endpoints ""` (an unset shell variable) is refused; no other source is used instead."""
    monkeypatch.setenv("PISTON_ENDPOINTS", "w2:1")
    with pytest.raises(InputError, match="no Piston endpoint is named"):
        needed_cluster("")
