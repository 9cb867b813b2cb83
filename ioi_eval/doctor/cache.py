"""Tests whether the cache can be used: problems and tests are stored there before anything is judged."""

from __future__ import annotations

import secrets
from pathlib import Path

from ioi_eval.blobs import BlobStore
from ioi_eval.doctor.findings import Finding, bad, fine
from ioi_eval.errors import SetupError


def examine_cache(cache: Path) -> Finding:
    """Store test data in the cache as `score` does, and delete it.

    Args:
        cache: the cache directory; created if absent.
    """
    try:
        blob = BlobStore(cache).put(secrets.token_bytes(32))
        blob.path.unlink(missing_ok=True)
    except SetupError as error:
        return bad("cache", str(error))
    return fine("cache", str(cache))
