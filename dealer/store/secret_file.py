"""Where the secret of a committed set lies, and how it is written: for its owner's eyes only."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from dealer.files import write_file
from firmware_bridge.errors import DealError


def secret_path(directory: Path, set_id: str) -> Path:
    """Where the secret of a set lies below the data directory. Raises DealError for what is no set id."""
    if not set_id or len(set_id) != 16 or set_id.strip("0123456789abcdef"):
        raise DealError("A set id is 16 hex digits.", code="set-id")
    return directory / "secrets" / f"{set_id}.json"


def write_secret(directory: Path, set_id: str, parts: list[dict[str, Any]]) -> Path:
    """Write the parts of a set; the file is readable by its owner only from its first byte on."""
    path = secret_path(directory, set_id)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if os.name == "posix" and stat.S_IMODE(path.parent.stat().st_mode) & 0o077:
        path.parent.chmod(0o700)
    write_file(path, json.dumps({"set": set_id, "parts": parts}).encode(), private=True)
    return path


def part_as_dict(
    keys: list[tuple[int, bytes, int | None]], entropy_source: str = "", entropy: str | None = None
) -> dict[str, Any]:
    """A part as it is written: board, key and index (None where it is derived) of each board."""
    boards = [
        {"board": board, "key": key.hex(), "index": None if index is None else str(index)} for board, key, index in keys
    ]
    return {"entropy_source": entropy_source, "entropy": entropy, "boards": boards}
