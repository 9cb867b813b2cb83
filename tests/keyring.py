"""A key in the keyring that the kernel keeps for a login, which clients of `serve` must not reach."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

NAME = "ioi-eval-test"
LOGIN_KEYRING = -3  # Source: Linux, linux/keyctl.h, KEY_SPEC_SESSION_KEYRING
ADD_KEY, KEYCTL = 248, 250
UNLINK, SEARCH_KEY = 9, 10


@contextmanager
def login_key() -> Iterator[None]:
    """Add a key, and remove it at the end. The test is skipped where that is not possible."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = libc.syscall(ADD_KEY, b"user", NAME.encode(), b"secret", 6, LOGIN_KEYRING)
    if key < 0:
        pytest.skip(f"no keys here: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        libc.syscall(KEYCTL, UNLINK, key, LOGIN_KEYRING)
