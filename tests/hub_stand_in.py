"""A program that implements the part of the Hub's HTTP API that `huggingface_hub` and `datasets` use for data sets.

    python hub_stand_in.py FOLDER

FOLDER/<owner>/<name>/ is a data set with its files. If it contains a file `.private`, the data set is visible only to
clients that send the token. If it contains a file `.together`, its first two commits wait for each other. Large files
(`.parquet`) are uploaded by the LFS protocol, others inside the commit.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_standin"
_PRIVATE, _TOGETHER = ".private", ".together"


class Repos:
    """The data sets in a directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.objects: dict[str, bytes] = {}
        self.two = threading.Barrier(2)
        self.lock = threading.Lock()

    def find(self, name: str, token: str) -> Path | None:
        """The directory of a data set; `None` if it does not exist or is hidden from this token."""
        path = self.root / name
        return path if path.is_dir() and (token == TOKEN or not (path / _PRIVATE).exists()) else None

    def files(self, repo: Path) -> dict[str, bytes]:
        """Its files by their paths."""
        found = sorted(path for path in repo.rglob("*") if path.is_file() and path.name not in (_PRIVATE, _TOGETHER))
        return {str(path.relative_to(repo)): path.read_bytes() for path in found}

    def sha(self, repo: Path) -> str:
        """The commit hash of the present contents."""
        parts = [f"{name} {hashlib.sha1(content).hexdigest()}" for name, content in self.files(repo).items()]
        return hashlib.sha1("\n".join([str(repo), *parts]).encode()).hexdigest()

    def info(self, repo: Path) -> dict[str, Any]:
        """The API's description of a data set."""
        name = str(repo.relative_to(self.root))
        return {
            "_id": hashlib.sha1(name.encode()).hexdigest()[:24],
            "id": name,
            "author": repo.parent.name,
            "sha": self.sha(repo),
            "private": (repo / _PRIVATE).exists(),
            "lastModified": "2026-01-01T00:00:00.000Z",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "gated": False,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "siblings": [{"rfilename": path} for path in self.files(repo)],
        }

    def tree(self, repo: Path, below: str, recursive: bool) -> list[dict[str, Any]]:
        """Files and directories below a path."""
        entries: dict[str, dict[str, Any]] = {}
        prefix = f"{below}/" if below else ""
        for path, content in self.files(repo).items():
            if not path.startswith(prefix):
                continue
            parts = path[len(prefix) :].split("/")
            for depth in range(1, len(parts)):
                folder = prefix + "/".join(parts[:depth])
                if recursive or depth == 1:
                    oid = hashlib.sha1(folder.encode()).hexdigest()
                    entries[folder] = {"type": "directory", "path": folder, "oid": oid, "size": 0}
            if recursive or len(parts) == 1:
                entries[path] = self.entry(path, content)
        return list(entries.values())

    def entry(self, path: str, content: bytes) -> dict[str, Any]:
        """A file, as the API lists it."""
        return {"type": "file", "path": path, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}

    def commit(self, repo: Path, lines: Sequence[Mapping[str, Any]]) -> bool:
        """Carry out the operations of a commit. Returns false if its parent is not the present commit."""
        if (repo / _TOGETHER).exists():
            self.two.wait(120)
            (repo / _TOGETHER).unlink(missing_ok=True)
        with self.lock:
            head = lines[0]["value"]
            if head.get("parentCommit") not in (None, self.sha(repo)):
                return False
            self.carry_out(repo, lines)
        return True

    def carry_out(self, repo: Path, lines: Sequence[Mapping[str, Any]]) -> None:
        """Carry out the operations of a commit."""
        for line in lines:
            value = line["value"]
            path = repo / value.get("path", "")
            if line["key"] in ("file", "lfsFile"):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(
                    base64.b64decode(value["content"]) if line["key"] == "file" else self.objects[value["oid"]]
                )
            elif line["key"] == "deletedFile":
                path.unlink()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    repos: Repos

    def log_message(self, *args: object) -> None:
        """Log nothing."""

    @property
    def token(self) -> str:
        """The token that the client sends."""
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def answer(self, status: int, value: object = None, headers: Mapping[str, str] | None = None) -> None:
        """Send JSON, or bytes as they are."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status: int, code: str, words: str) -> None:
        """Send an error in the Hub's format."""
        self.answer(status, {"error": words}, {"X-Error-Code": code, "X-Error-Message": words})

    def do_GET(self) -> None:
        """Answer a request that reads."""
        url = urlsplit(self.path)
        path, query = unquote(url.path), parse_qs(url.query)
        if path == "/api/datasets":
            owner = self.repos.root / query["author"][0]
            found = sorted(owner.iterdir()) if owner.is_dir() else []
            visible = [one for one in found if self.repos.find(f"{owner.name}/{one.name}", self.token)]
            self.answer(200, [self.repos.info(one) for one in visible])
        elif path == "/api/whoami-v2":
            self.answer(200, {"type": "user", "name": "tester", "orgs": []})
        elif match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(?:/revision/[^/]+|/revision/refs/.*)?", path):
            if (repo := self.found(match[1])) is not None:
                self.answer(200, self.repos.info(repo))
        elif match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/tree/([^/]+)(?:/(.*))?", path):
            if (repo := self.found(match[1])) is not None:
                recursive = query.get("recursive", ["false"])[0].lower() in ("true", "1")
                entries = self.repos.tree(repo, match[3] or "", recursive)
                if match[3] and not entries:
                    self.refuse(404, "EntryNotFound", f"{match[3]} is not there")
                else:
                    self.answer(200, entries)
        elif match := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.*)", path):
            self.resolve(match[1], match[3])
        else:
            self.refuse(404, "NotFound", f"{path} is not served here")

    do_HEAD = do_GET

    def resolve(self, name: str, path: str) -> None:
        """Send a file."""
        repo = self.found(name)
        if repo is None:
            return
        content = self.repos.files(repo).get(path)
        if content is None:
            self.refuse(404, "EntryNotFound", f"{path} is not there")
            return
        etag = f'"{hashlib.sha1(content).hexdigest()}"'
        self.answer(200, content, {"ETag": etag, "X-Repo-Commit": self.repos.sha(repo)})

    def do_POST(self) -> None:
        """Answer a request that changes something, or a query with a body."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = unquote(urlsplit(self.path).path)
        if path == "/api/validate-yaml":
            self.answer(200, {"errors": [], "warnings": []})
        elif path == "/api/repos/create":
            self.create(json.loads(body))
        elif match := re.fullmatch(r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", path):
            objects = [
                {**one, "actions": {"upload": {"href": f"http://{self.headers['Host']}/objects/{one['oid']}"}}}
                for one in json.loads(body)["objects"]
            ]
            self.answer(200, {"transfer": "basic", "objects": objects})
        elif match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/(preupload|commit|paths-info)/([^/]+)", path):
            if (repo := self.found(match[1])) is not None:
                self.change(repo, match[2], body)
        else:
            self.refuse(404, "NotFound", f"{path} is not served here")

    def create(self, wanted: Mapping[str, Any]) -> None:
        """Create a data set."""
        repo = self.repos.root / (wanted.get("organization") or "tester") / wanted["name"]
        url = f"http://{self.headers['Host']}/datasets/{repo.relative_to(self.repos.root)}"
        if self.token != TOKEN:
            self.refuse(401, "", "Invalid username or password.")
        elif repo.is_dir():
            self.answer(409, {"error": "You already created this dataset repo", "url": url})
        else:
            repo.mkdir(parents=True)
            if wanted.get("private") or wanted.get("visibility") == "private":
                (repo / _PRIVATE).touch()
            self.answer(200, {"url": url, "name": str(repo.relative_to(self.repos.root)), "id": "0" * 24})

    def change(self, repo: Path, what: str, body: bytes) -> None:
        """Answer a commit, or a request that prepares one."""
        if what == "paths-info":
            wanted = set(self.paths(body))
            self.answer(200, [entry for entry in self.repos.tree(repo, "", True) if entry["path"] in wanted])
        elif self.token != TOKEN:
            self.refuse(403, "", "Forbidden: you need the right to write")
        elif what == "preupload":
            wanted = json.loads(body)["files"]
            modes = {one["path"]: "lfs" if one["path"].endswith(".parquet") else "regular" for one in wanted}
            files = [{"path": path, "uploadMode": mode, "shouldIgnore": False} for path, mode in modes.items()]
            self.answer(200, {"files": files})
        else:
            if not self.repos.commit(repo, [json.loads(line) for line in body.splitlines() if line]):
                self.refuse(412, "", "A commit has happened since. Please refresh and try again.")
                return
            sha = self.repos.sha(repo)
            url = f"http://{self.headers['Host']}/datasets/{repo.relative_to(self.repos.root)}/commit/{sha}"
            self.answer(200, {"success": True, "commitUrl": url, "commitOid": sha})

    def paths(self, body: bytes) -> list[str]:
        """The paths that a request names in JSON or in a form."""
        if "json" in (self.headers.get("Content-Type") or ""):
            return list(json.loads(body)["paths"])
        return parse_qs(body.decode()).get("paths", [])

    def do_PUT(self) -> None:
        """Receive a large file."""
        self.repos.objects[self.path.rpartition("/")[2]] = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, {})

    def found(self, name: str) -> Path | None:
        """A data set's directory. If it does not exist, an error is sent."""
        repo = self.repos.find(name, self.token)
        if repo is None:
            self.refuse(401 if not self.token else 404, "RepoNotFound", "Repository not found")
        return repo


class Hub(NamedTuple):
    """A running stand-in.

    Args:
        root: the folder of its data sets.
        environment: the environment with which clients find it.
    """

    root: Path
    environment: Mapping[str, str]


@contextmanager
def standing_in(root: Path) -> Iterator[dict[str, str]]:
    """Start the program. Gives the environment with which clients find it; their caches are beside `root`."""
    process = subprocess.Popen([sys.executable, __file__, str(root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        yield {
            **os.environ,
            "HF_ENDPOINT": url,
            "HF_TOKEN": TOKEN,
            "HF_HOME": str(root.parent / "hf"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "NO_PROXY": "127.0.0.1",
        }
    finally:
        process.terminate()
        process.communicate()


def put_rows(root: Path, name: str, rows: Sequence[Mapping[str, Any]], file: str = "train.jsonl") -> Path:
    """Create a data set with these rows in one file. Returns its directory."""
    repo = root / name
    path = repo / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return repo


def main() -> None:
    """Serve until the process is ended."""
    Handler.repos = Repos(Path(sys.argv[1]))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    thread.join()


if __name__ == "__main__":
    main()
