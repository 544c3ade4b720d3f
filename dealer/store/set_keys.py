"""The secrets of committed sets: one JSON file a set, in a directory and with permissions for its owner only.

The file can be turned into cards, so nothing but the dealing of a committed set and ``deal reveal`` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dealer.audit import BoardKey, PartCommitment, PartSecret, commit_part
from dealer.commitment import KEY_BYTES, NO_PART
from dealer.deal import N_DEALS
from dealer.generate import MAX_BOARD_NUMBER
from dealer.store.secret_file import part_as_dict, secret_path, write_secret
from firmware_bridge.errors import StoreError

MAX_BYTES = 64 * 1024 * 1024


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
    except OSError as error:
        raise StoreError(
            f"The secret of this set can't be read ({error.strerror}).",
            where=str(path),
            next_step="Check who owns the file and the directory.",
            code="secret-unreadable",
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise StoreError(
            "The secret of this set can't be read.",
            where=str(path),
            next_step="Restore the file from a backup; without it the set can't be revealed.",
            code="secret-damaged",
        ) from None


def save_secret(directory: Path, set_id: str, parts: Sequence[PartSecret]) -> Path:
    """Write all parts of a set; the file is readable by its owner only from its first byte on."""
    rows = [
        part_as_dict([(key.board, key.key, key.index) for key in part.keys], part.entropy_source, part.entropy)
        for part in parts
    ]
    return write_secret(directory, set_id, rows)


def commitments(set_id: str, parts: Sequence[PartSecret]) -> list[PartCommitment]:
    """The public half of a set's secret: its parts, each chained to the one before."""
    result: list[PartCommitment] = []
    previous = NO_PART
    for number, part in enumerate(parts):
        result.append(commit_part(set_id, number, previous, part))
        previous = result[-1].commitment
    return result


def _part(content: dict[str, Any]) -> PartSecret:
    entropy, source = content["entropy"], str(content["entropy_source"])
    (source + str(entropy)).encode()  # ValueError for half a character
    return PartSecret(
        tuple(_key(row) for row in content["boards"]),
        source,
        None if entropy is None else str(entropy),
    )


def _key(row: dict[str, Any]) -> BoardKey:
    board, key = int(row["board"]), bytes.fromhex(row["key"])
    index = None if row["index"] is None else int(row["index"])
    if not 1 <= board <= MAX_BOARD_NUMBER or len(key) != KEY_BYTES or not 0 <= (index or 0) < N_DEALS:
        raise ValueError("key")
    return BoardKey(board, key, index)
