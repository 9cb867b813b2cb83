"""Temporary directories for jobs, and the removal of those that killed processes have left.

Each is locked (`flock`) while it is in use, and the kernel releases the lock when the process ends. So a directory that
can be locked, and is not new, was left by a process that was killed. The next process that starts removes it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ioi_eval.errors import TransientError

_PREFIX = "ioi-eval-job-"
_NEW_S = 60.0
"""A directory that is newer than this may not be locked yet."""

_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
"""Errors of file systems without locks (Lustre, if it is mounted so)."""


@contextlib.contextmanager
def work_directory(uid: int | None = None) -> Iterator[Path]:
    """An empty directory of a user (`None` for this process's), removed afterwards. TransientError if there is no room
    for it, no descriptors are left, or its file system has no owners of files."""
    try:
        name = tempfile.mkdtemp(prefix=_PREFIX)
        try:
            if uid is not None:
                os.chown(name, uid, uid)
            lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            os.rmdir(name)
            raise
    except OSError as error:
        where = tempfile.gettempdir()
        raise TransientError(f"a job's directory cannot be made in {where}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _NO_LOCKS:  # where a file system has no locks, `sweep` removes nothing
                where = tempfile.gettempdir()
                raise TransientError(f"a job's directory cannot be locked in {where}: {error.strerror}") from error
        yield Path(name)
    finally:
        _remove(Path(name))
        os.close(lock)


def sweep() -> None:
    """Remove the directories that killed processes have left. Root removes those of all users."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:  # it may be gone already
            status = path.lstat()
            if time.time() - status.st_ctime < _NEW_S or os.geteuid() not in (0, status.st_uid):
                continue
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            stack.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)


def _remove(path: Path) -> None:
    """Remove a directory; by other programs if Python cannot, because it is unreadable or its tree is too deep. If they
    cannot be started, the next `sweep` removes it.

    Root needs no `chmod`. It would follow a link if another user replaces the directory by one meanwhile.
    """
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    chmod = [] if os.geteuid() == 0 else [("chmod", "-R", "u+rwX")]
    with contextlib.suppress(OSError):
        for command in (*chmod, ("rm", "-rf")):
            subprocess.run((*command, "--", str(path)), capture_output=True, check=False)
