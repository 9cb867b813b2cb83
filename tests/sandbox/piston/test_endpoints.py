"""The forms in which a user can name a cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ioi_eval.errors import InputError, SetupError
from ioi_eval.sandbox.piston.endpoints import endpoint_source, endpoints_now, without_login, without_logins

W1, W2 = "http://w1:2000/api/v2", "http://w2:2000/api/v2"


def endpoints_of(text: str) -> tuple[str, ...]:
    """The present endpoints of a source."""
    return asyncio.run(endpoints_now(endpoint_source(text)))


@pytest.mark.parametrize("text", ["w1:2000,w2:2000", " http://w1:2000/ ,\nw2:2000/api/v2,,w1:2000", "w1:2000\nw2:2000"])
def test_urls(text: str) -> None:
    """URLs in several spellings give each endpoint once, in order. Blanks and empty entries are ignored."""
    assert endpoints_of(text) == (W1, W2)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("HTTP://W1:2000,w1:02000", W1),
        ("http://w1:80,w1,W1:80/", "http://w1/api/v2"),
        ("https://w1:443,https://w1", "https://w1/api/v2"),
        ("http://w1/a/../%7Episton,w1/~piston", "http://w1/~piston"),
        ("[::1]:2000,http://[0:0:0:0:0:0:0:1]:2000", "http://[::1]:2000/api/v2"),
    ],
)
def test_spellings_of_one_url(text: str, url: str) -> None:
    """All spellings of a URL give the same endpoint, so a worker is not counted twice."""
    from yarl import URL

    assert endpoints_of(text) == (url,)
    assert str(URL(url)) == url


def test_logins_are_left_out() -> None:
    """User names and passwords are removed from text that is printed or stored."""
    text = "http://me:a@b@w1:2000,me:word@w2:2000, https://me@w3/x@y,file:a@b.txt,slurm,w4:2000"
    assert without_logins(text) == "http://w1:2000,w2:2000,https://w3/x@y,file:a@b.txt,slurm,w4:2000"
    assert without_login("http://me:a%40b@w1:2000/api/v2") == W1
    assert without_login(W1) == W1


def test_fixed_urls_are_a_sequence() -> None:
    """A source of fixed URLs is a sequence, not a function."""
    assert endpoint_source("w1:2000,w2:2000") == (W1, W2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " , ",
        "w1:2000,ftp://w2",
        "http://",
        "w1:2000 w2:2000",
        "http:/w1:2000",
        "w1:0",
        "[::1",
        "http://w\x7f1:2000",
        "w..1",
        f"{64 * 'w'}:1",
    ],
)
def test_invalid_endpoints_are_refused(text: str) -> None:
    """An invalid text is an InputError, before any request."""
    with pytest.raises(InputError):
        endpoint_source(text)


@pytest.mark.parametrize(
    "text", ["http://me:secret@w1:99999", "me:sec#ret@w1", "http://me:sec/ret@w1", "me:secret@[::1"]
)
def test_a_login_is_not_shown_if_its_endpoint_is_refused(text: str) -> None:
    """The message has what comes after the login, and says how a password is written."""
    with pytest.raises(InputError, match=r"endpoint '…@(w1|\[::1).* %23 for #") as refused:
        endpoint_source(text)
    assert "sec" not in str(refused.value)


def test_how_several_endpoints_are_named() -> None:
    """The message about blanks between them says how they are separated."""
    with pytest.raises(InputError, match=r"write http://host:port \(several with commas between them\)$"):
        endpoint_source("w1:2000 w2:2000")


def test_a_file_is_read_each_time(tmp_path: Path) -> None:
    """A file may have comments, commas and a byte order mark, and may be combined with URLs. Changes are found."""
    path = tmp_path / "workers.txt"
    path.write_text("# ours\n\nw2:2000  # the new one\n", encoding="utf-8-sig")
    source = endpoint_source(f"w1:2000,file:{path}")
    assert asyncio.run(endpoints_now(source)) == (W1, W2)
    path.write_text("w3:1,w4:2\n", encoding="utf-8")
    assert asyncio.run(endpoints_now(source)) == (W1, "http://w3:1/api/v2", "http://w4:2/api/v2")


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    """The error for a wrong line has the file and the line number."""
    path = tmp_path / "workers.txt"
    path.write_text("w1:2000\nw2:port\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"workers\.txt, line 2: endpoint 'w2:port'"):
        endpoints_of(f"file:{path}")


def test_a_file_that_is_absent_or_empty(tmp_path: Path) -> None:
    """An absent file is an InputError. An empty one is a SetupError: a cluster without workers."""
    with pytest.raises(InputError, match=r"endpoints in .*absent \(a URL on each line\): No such file or directory$"):
        endpoints_of(f"file:{tmp_path / 'absent'}")
    (tmp_path / "latin").write_bytes(b"# caf\xe9\n")
    with pytest.raises(InputError, match="it is not UTF-8"):
        endpoints_of(f"file:{tmp_path / 'latin'}")
    (tmp_path / "empty").touch()
    with pytest.raises(SetupError, match="names none"):
        endpoints_of(f"file:{tmp_path / 'empty'}")


def test_a_file_in_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell replaces `~` in none of `--endpoints file:~/…`, `.env` and `ioi-eval.toml`."""
    (tmp_path / "workers.txt").write_text("w1:2000\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert endpoints_of("file:~/workers.txt") == (W1,)
