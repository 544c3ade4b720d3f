"""Putting a backup in the place of a database, with what was there before kept beside it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from firmware_bridge.db import Database, Migration, in_words, sync_directory
from firmware_bridge.errors import StoreError


def put_back(source: Path, target: Path, migrations: Sequence[Migration]) -> Path | None:
    """Make the backup ``source`` the database at ``target``, which nobody has open; gives where the old one is kept.

    Its write-ahead log goes aside with it: SQLite would take it for that of the backup. Raises StoreError when
    ``source`` is missing, damaged or of a newer program; nothing is changed then.
    """
    if not source.is_file():
        raise StoreError("there is no such backup.", where=str(source), code="backup-missing")
    if target.exists() and source.samefile(target):
        raise StoreError("this is the database itself, no backup of it.", where=str(source), code="copy-place")
    fresh = target.with_name(target.name + ".restoring")
    with in_words(source):
        shutil.copyfile(source, fresh)
        os.chmod(fresh, 0o600)
    try:
        try:
            Database.open(fresh, migrations).close()
        except StoreError as error:
            what = error.what.replace("the database", "the backup")
            next_step = error.next_step if error.code == "store-newer" else "Choose another backup."
            raise StoreError(what, where=str(source), next_step=next_step, code=error.code) from error
        with in_words(target):
            kept = _set_aside(target)
            os.replace(fresh, target)
            sync_directory(target.parent)
    finally:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)
    return kept


def _set_aside(path: Path) -> Path | None:
    """Rename a database with what belongs to it; gives its new name, None when there is none."""
    if not path.exists():
        return None
    number = 1
    while (kept := path.with_name(f"{path.stem}.before-{number}{path.suffix}")).exists():
        number += 1
    for suffix in ("-wal", "-shm", ""):
        part = path.with_name(path.name + suffix)
        if part.exists():
            os.replace(part, kept.with_name(kept.name + suffix))
    return kept
