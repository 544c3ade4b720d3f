"""One running program owns a data directory's events: an operating-system lock that a crash releases by itself."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from firmware_bridge.errors import ConfigError


@contextlib.contextmanager
def owned(directory: Path) -> Iterator[None]:
    """Hold the directory's lock while the block runs. Raises ConfigError when another program holds it.

    The lock file stays; deleting it would let two programs lock two different files of the same name.
    """
    path = directory / "events.lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _try_lock(handle):
            raise ConfigError(
                "another evening or service is running with this data directory.",
                where=str(directory),
                next_step="Stop it first, or choose another directory with --data.",
                code="data-in-use",
            )
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
