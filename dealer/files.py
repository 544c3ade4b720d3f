"""Writing a file so that nobody ever sees half of it: a temporary name first, then one rename."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import UnsupportedOperation
from pathlib import Path
from typing import BinaryIO

from firmware_bridge.errors import ExitStatus, StoreError
from firmware_bridge.filecheck import not_regular


@contextmanager
def replacing(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """A binary file that takes the place of ``path`` when the block ends well, and leaves no trace when it doesn't.

    private: readable by its owner only, from its first byte on. Raises StoreError when it can't be written (exit
    status 2 when the directory does not exist or may not be written to).
    """
    target = Path(os.path.realpath(path))  # what a link points at is replaced, not the link
    temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    try:
        wrong = not_regular(target)
        if wrong:
            raise StoreError(
                f"This is {wrong}, not a file.",
                where=os.fspath(path),
                next_step="Name a file.",
                code="not-a-file",
                exit_status=ExitStatus.USAGE,
            )
        handle = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600 if private else 0o666
        )
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                settle(file)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise StoreError(
            f"The file can't be written ({error.strerror}).",
            where=str(target),
            next_step="Check the directory.",
            code="not-writable",
            exit_status=ExitStatus.USAGE,
        ) from error
    except OSError as error:
        raise write_failed(target, error) from error


def settle(file: BinaryIO) -> None:
    """Everything written so far is on the disk when this returns; what lives in memory only is left alone.

    Raises OSError.
    """
    file.flush()
    try:
        handle = file.fileno()
    except UnsupportedOperation:
        return
    os.fsync(handle)


def write_failed(path: str | os.PathLike[str], error: OSError) -> StoreError:
    """The error of a file that could not be written to its end."""
    return StoreError(
        f"The file could not be written ({error.strerror or error}); nothing was left behind.",
        where=os.fspath(path),
        next_step="Free some space, or choose another place, then try again."
        if error.errno in (errno.ENOSPC, errno.EDQUOT)
        else "Choose another place, then try again.",
        code="write-failed",
    )


def write_file(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """``data`` as the whole content of ``path``; see ``replacing``."""
    with replacing(path, private=private) as file:
        file.write(data)
