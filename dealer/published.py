"""The two files that a committed set publishes: the commitment before play, and the reveal after it. JSON, bounded."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from typing import Any

from dealer.audit import BoardKey, PartCommitment, PartSecret, index_of
from dealer.commitment import KEY_BYTES
from dealer.deal import N_DEALS
from dealer.formats.api import read_bytes
from dealer.generate import MAX_BOARD_NUMBER
from firmware_bridge.errors import DealError, ExitStatus

COMMITMENT_SCHEMA = "firmware-bridge/commitment/1"
REVEAL_SCHEMA = "firmware-bridge/reveal/1"
Revealed = tuple[dict[int, BoardKey], dict[int, str | None], dict[int, int], str]
"""Keys by board, entropy by part, stated indices by board, set id."""


def write_commitment(parts: Sequence[PartCommitment]) -> bytes:
    """The commitment file of a set; it says nothing about a card."""
    content = {
        "schema": COMMITMENT_SCHEMA,
        "set": parts[0].set_id,
        "fingerprint": parts[-1].fingerprint,
        "parts": [
            {
                "part": part.part,
                "previous": part.previous.hex(),
                "entropy_from": part.entropy_source,
                "commitment": part.commitment.hex(),
                "fingerprint": part.fingerprint,
                "boards": [{"board": number, "commitment": value.hex()} for number, value in part.boards],
            }
            for part in parts
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n"


def read_commitment(path: str | os.PathLike[str]) -> tuple[list[PartCommitment], list[bytes]]:
    """Parts, and the commitment that the file states for each. Raises DealError (exit status 2) for another file."""
    content = _load(path, COMMITMENT_SCHEMA)
    try:
        parts, stated = [], []
        for part in content["parts"]:
            boards = tuple((_board(row["board"]), _hash(row["commitment"])) for row in part["boards"])
            number = part["part"]
            if not isinstance(number, int) or not 0 <= number < 1000:
                raise ValueError("part")
            source = part["entropy_from"]
            if not isinstance(source, str) or not isinstance(content["set"], str):
                raise ValueError("text")
            parts.append(PartCommitment(content["set"], number, _hash(part["previous"]), source, boards))
            stated.append(_hash(part["commitment"]))
        if not parts:
            raise ValueError("parts")
        _ = [part.commitment for part in parts]  # a set id or words that can't be hashed are found here
    except (ValueError, KeyError, TypeError, AttributeError, DealError, OverflowError):
        raise _not_ours(path, "a commitment") from None
    return parts, stated


def write_reveal(set_id: str, parts: Sequence[PartSecret], wanted: Collection[int] | None) -> bytes:
    """The reveal file: key and index of the wanted boards, all when None. Raises DealError while entropy is unknown."""
    content: dict[str, Any] = {"schema": REVEAL_SCHEMA, "set": set_id, "parts": []}
    for number, part in enumerate(parts):
        boards = [
            {
                "board": key.board,
                "key": key.key.hex(),
                "kind": "derived" if key.index is None else "direct",
                "index": str(index_of(key, part.entropy)),
            }
            for key in part.keys
            if wanted is None or key.board in wanted
        ]
        content["parts"].append(
            {"part": number, "entropy_from": part.entropy_source, "entropy": part.entropy, "boards": boards}
        )
    return json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n"


def read_reveal(path: str | os.PathLike[str]) -> Revealed:
    """What a reveal file opens. Raises DealError (exit status 2) for another file."""
    content = _load(path, REVEAL_SCHEMA)
    keys: dict[int, BoardKey] = {}
    entropies: dict[int, str | None] = {}
    indices: dict[int, int] = {}
    try:
        for part in content["parts"]:
            entropy = part["entropy"]
            if not isinstance(entropy, str | None):
                raise ValueError("entropy")
            (entropy or "").encode()  # ValueError for half a character
            entropies[part["part"]] = entropy
            for row in part["boards"]:
                board = _board(row["board"])
                index = row["index"]
                if board in keys or not isinstance(index, str) or len(index) > 40 or not index.isascii():
                    raise ValueError("index")
                indices[board] = int(index)
                if not index.isdigit() or indices[board] >= N_DEALS:
                    raise ValueError("index")
                key = bytes.fromhex(row["key"])
                if len(key) != KEY_BYTES or row["kind"] not in ("direct", "derived"):
                    raise ValueError("key")
                keys[board] = BoardKey(board, key, indices[board] if row["kind"] == "direct" else None)
        return keys, entropies, indices, str(content["set"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _not_ours(path, "a reveal") from None


def _load(path: str | os.PathLike[str], schema: str) -> dict[str, Any]:
    what = "a commitment" if schema == COMMITMENT_SCHEMA else "a reveal"
    try:
        content = json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        raise _not_ours(path, what) from None
    if not isinstance(content, dict) or content.get("schema") != schema:
        raise _not_ours(path, what)
    return content


def _not_ours(path: str | os.PathLike[str], what: str) -> DealError:
    return DealError(
        f"The file is not {what} of this program, or is damaged.",
        where=os.fspath(path),
        next_step="Check that it is the right file.",
        code="unparsable",
        exit_status=ExitStatus.USAGE,
    )


def _hash(text: Any) -> bytes:
    value = bytes.fromhex(text)
    if len(value) != 32:
        raise ValueError("hash")
    return value


def _board(number: Any) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MAX_BOARD_NUMBER:
        raise ValueError("board")
    return number
