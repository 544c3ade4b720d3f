"""Keys and fingerprints of sets as they are dealt: what ``deal generate`` leaves for ``commit`` and ``reveal``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dealer.board import Board
from dealer.commitment import KEY_BYTES, NO_PART, board_hash, fingerprint_of, part_hash
from dealer.generate import DealSet
from dealer.store.secret_file import part_as_dict, secret_path, write_secret
from firmware_bridge.config import data_directory, ensure_directory
from firmware_bridge.errors import DealError


def with_fingerprint(
    deals: DealSet, fresh: Sequence[Board], data: str | None
) -> tuple[DealSet, Callable[[], Path] | None]:
    """The set with the fingerprint of its newest part, and what must be called to keep the keys.

    The second value is None, and the fingerprint empty, when earlier boards of the set were not committed here: the
    chain would not hold. Raises DealError for a board that the set has already.
    """
    directory = ensure_directory(data_directory(data))
    if len(fresh) == len(deals.boards) and not secret_path(directory, deals.id).exists():
        # A new set needs nothing but a few hashes; this is the way of every evening, and it must not wait for more.
        keys: list[tuple[int, bytes, int | None]] = [
            (board.number, os.urandom(KEY_BYTES), board.deal.index) for board in fresh
        ]
        rows = [(board, board_hash(deals.id, board, key, index)) for board, key, index in keys]
        fingerprint = fingerprint_of(part_hash(deals.id, 0, NO_PART, "", rows))
        part = part_as_dict(keys)
        return replace(deals, fingerprint=fingerprint), lambda: write_secret(directory, deals.id, [part])
    return _extended(deals, fresh, directory)


def _extended(deals: DealSet, fresh: Sequence[Board], directory: Path) -> tuple[DealSet, Callable[[], Path] | None]:
    """Raises DealError for a board that the set has already, in another file: there would be two of that number."""
    from dealer.audit import PartSecret, keys_for
    from dealer.store.set_keys import commitments, load_secret, save_secret

    parts = load_secret(directory, deals.id)
    known = {key.board for part in parts for key in part.keys}
    added = {board.number for board in fresh}
    if known & added:
        number = min(known & added)
        raise DealError(
            f"Board {number} of this set was dealt already; it is in another file.",
            next_step=f"Extend that file, or write the board again: deal generate --set {deals.id} --boards {number}.",
            code="board-repeated",
        )
    if not {board.number for board in deals.boards} - added <= known:
        return replace(deals, fingerprint=""), None
    parts.append(PartSecret(keys_for(fresh)))
    fingerprint = commitments(deals.id, parts)[-1].fingerprint
    return replace(deals, fingerprint=fingerprint), lambda: save_secret(directory, deals.id, parts)
