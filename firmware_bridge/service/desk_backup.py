"""The backup to a stick in the computer that runs the service: which sticks are there, and a copy onto one of them.

The copy is made while play goes on, is complete before it gets its name, and is opened and checked before the desk says
that it is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import string
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firmware_bridge.db import Database
from firmware_bridge.errors import EntryError, StoreError
from firmware_bridge.service.api_access import Caller
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_values import text_of
from terminals.store.schema import MIGRATIONS
from terminals.sync.event_store import FILE_NAME

MAX_PATH = 400
MARGIN = 1_000_000
"""Bytes that must stay free beside the copy."""
MOUNTS = Path("/proc/self/mounts")
REMOVABLE = ("/media/", "/run/media/", "/mnt/")
"""Where Linux desktops mount what is put in."""


@dataclass(frozen=True, slots=True)
class Stick:
    """A place to write to. free: bytes."""

    name: str
    path: str
    free: int


def mounted(table: str) -> list[str]:
    """Mount points of a mount table that are for removable media, in its order."""
    found = []
    for line in table.splitlines():
        words = line.split(" ")
        if len(words) < 4 or not words[1].startswith(REMOVABLE) or "ro" in words[3].split(","):
            continue
        point = words[1]
        for escaped, letter in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
            point = point.replace(escaped, letter)
        found.append(point)
    return list(dict.fromkeys(found))


def sticks(candidates: Iterable[str] | None = None) -> list[Stick]:
    """What is in this computer and can be written to now; empty where that can't be told."""
    found = []
    for path in _candidates() if candidates is None else candidates:
        with contextlib.suppress(OSError):
            if os.path.isdir(path) and os.access(path, os.W_OK):
                found.append(Stick(os.path.basename(path.rstrip("/\\")) or path, path, shutil.disk_usage(path).free))
    return found


def _candidates() -> list[str]:
    if sys.platform == "win32":
        import ctypes

        removable = 2
        return [
            f"{letter}:\\"
            for letter in string.ascii_uppercase
            if ctypes.windll.kernel32.GetDriveTypeW(f"{letter}:\\") == removable
        ]
    if sys.platform == "darwin":
        return [str(path) for path in sorted(Path("/Volumes").glob("*")) if not path.is_symlink()]
    try:
        return mounted(MOUNTS.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []


def save(desk: Desk, folder: str) -> Path:
    """Write a backup into ``folder``, which must exist, under a name that was not there before; gives its path.

    Raises EntryError in words for whoever stands before the computer: no such folder, no room, not to be written.
    """
    place = Path(folder).expanduser()
    if not place.is_absolute() or not place.is_dir():
        raise EntryError(
            "there is no such folder.", where=folder[:80], next_step="Is the stick in? Look again.", code="no-stick"
        )
    try:
        needed = (desk.directory / FILE_NAME).stat().st_size + MARGIN
        if shutil.disk_usage(place).free < needed:
            raise EntryError(
                f"there is not enough room; {needed // 1_000_000 + 1} MB are needed.",
                where=str(place),
                next_step="Delete something there, or take another stick.",
                code="stick-full",
            )
        target = _free_name(place, f"{desk.clock.wall():%Y-%m-%d-%H%M}")
        desk.store.backup(target)
        Database.open(target, MIGRATIONS).close()  # opens it as the program would, and checks it
    except OSError as error:
        raise _unwritable(place, error.strerror or str(error)) from error
    except StoreError as error:
        raise _unwritable(place, error.what) from error
    return target


def _free_name(place: Path, stamp: str) -> Path:
    for number in range(1000):
        target = place / f"firmware-bridge-{stamp}{f'-{number}' if number else ''}.db"
        if not target.exists():
            return target
    raise _unwritable(place, "too many backups have this name")


def _unwritable(place: Path, why: str) -> EntryError:
    return EntryError(
        f"nothing can be written there: {why.rstrip('.')}.",
        where=str(place),
        next_step="Take another stick or folder.",
        code="stick-unwritable",
    )


async def places(request: Request, desk: Desk, caller: Caller) -> Response:
    found = await asyncio.to_thread(sticks)
    return JSONResponse({"places": [{"name": one.name, "path": one.path, "free": one.free} for one in found]})


async def write(request: Request, desk: Desk, caller: Caller, body: Mapping[str, Any]) -> Response:
    folder = text_of(body, "folder", MAX_PATH)
    target = await asyncio.to_thread(save, desk, folder)
    await desk.log("exported", what="backup")
    return JSONResponse({"path": str(target), "bytes": target.stat().st_size})


def operations() -> list[Operation]:
    """The director's alone: a backup holds everything."""
    here = f"{ROOT}/backup"
    return [
        Operation("GET", f"{here}/places", "director", "Sticks in the computer that runs the service.", places),
        Operation(
            "POST",
            f"{here}/save",
            "director",
            "Write a backup into a folder of that computer and read it back.",
            write,
            {"folder": "a folder that is there"},
        ),
    ]
