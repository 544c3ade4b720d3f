"""The state folder of a simulated device: one process at a time, and one seed for life."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import BinaryIO

from hwsim.memory import Media

LOCK_WAIT = 10.0


class StateError(ValueError):
    """The folder can't be used; the text is one sentence for a person."""


class StateFolder:
    """Locked from ``open`` to ``close`` or the death of the process. ``seed``: what everything in it was made with."""

    def __init__(self, folder: Path, lock: BinaryIO, media: Media, seed: int) -> None:
        self.folder = folder
        self.media = media
        self.seed = seed
        self._lock = lock

    @classmethod
    def open(cls, folder: Path, seed: int | None, fresh_seed: int) -> StateFolder:
        """seed: as the user wants it, None for the folder's own, or ``fresh_seed`` for a new folder.

        Waits some seconds for a predecessor that is just ending. Raises StateError, OSError.
        """
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("ab")
        deadline = time.monotonic() + LOCK_WAIT
        while not _try_lock(lock):
            if time.monotonic() >= deadline:
                lock.close()
                raise StateError(f"another simulated device is using {folder}")
            time.sleep(0.02)
        media = Media(folder)
        memory = media.memory("seed")
        stored = memory.load()
        if stored is None:
            seed = fresh_seed if seed is None else seed
            memory.save(str(seed).encode())
        elif seed is not None and seed != int(stored):
            media.close()
            lock.close()
            raise StateError(f"{folder} belongs to seed {int(stored)}, not {seed}")
        else:
            seed = int(stored)
        return cls(folder, lock, media, seed)

    def close(self) -> None:
        self.media.close()
        self._lock.close()


def _try_lock(file: BinaryIO) -> bool:
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True
