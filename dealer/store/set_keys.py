"""The secrets of committed sets: one JSON file a set, in a directory and with permissions for its owner only.

The file can be turned into cards, so nothing but the dealing of a committed set and ``deal reveal`` reads it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dealer.audit import NO_PART, BoardKey, PartCommitment, PartSecret, commit_part
from dealer.files import write_file
from firmware_bridge.errors import DealError, StoreError

MAX_BYTES = 64 * 1024 * 1024


def secret_path(directory: Path, set_id: str) -> Path:
    """Where the secret of a set lies below the data directory. Raises DealError for what is no set id."""
    if not set_id or len(set_id) != 16 or set_id.strip("0123456789abcdef"):
        raise DealError("A set id is 16 hex digits.", code="set-id")
    return directory / "secrets" / f"{set_id}.json"


def load_secret(directory: Path, set_id: str) -> list[PartSecret]:
    """The parts of a set; an empty list when it was never committed here. Raises StoreError for a damaged file."""
    path = secret_path(directory, set_id)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("size")
        content = json.loads(path.read_bytes())
        return [_part(part) for part in content["parts"]]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StoreError(
            "The secret of this set can't be read.",
            where=str(path),
            next_step="Restore the file from a backup; without it the set can't be revealed.",
            code="secret-damaged",
        ) from None


def save_secret(directory: Path, set_id: str, parts: Sequence[PartSecret]) -> Path:
    """Write all parts of a set; the file is readable by its owner only from its first byte on."""
    path = secret_path(directory, set_id)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if os.name == "posix" and stat.S_IMODE(path.parent.stat().st_mode) & 0o077:
        path.parent.chmod(0o700)
    content = {"set": set_id, "parts": [_as_dict(part) for part in parts]}
    write_file(path, json.dumps(content).encode(), private=True)
    return path


def commitments(set_id: str, parts: Sequence[PartSecret]) -> list[PartCommitment]:
    """The public half of a set's secret: its parts, each chained to the one before."""
    result: list[PartCommitment] = []
    previous = NO_PART
    for number, part in enumerate(parts):
        result.append(commit_part(set_id, number, previous, part))
        previous = result[-1].commitment
    return result


def _as_dict(part: PartSecret) -> dict[str, Any]:
    keys = [
        {"board": key.board, "key": key.key.hex(), "index": None if key.index is None else str(key.index)}
        for key in part.keys
    ]
    return {"entropy_source": part.entropy_source, "entropy": part.entropy, "boards": keys}


def _part(content: dict[str, Any]) -> PartSecret:
    entropy = content["entropy"]
    return PartSecret(
        tuple(
            BoardKey(
                int(row["board"]),
                bytes.fromhex(row["key"]),
                None if row["index"] is None else int(row["index"]),
            )
            for row in content["boards"]
        ),
        str(content["entropy_source"]),
        None if entropy is None else str(entropy),
    )
