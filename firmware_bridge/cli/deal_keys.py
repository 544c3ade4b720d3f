"""Keys and fingerprints of sets as they are dealt: what ``deal generate`` leaves for ``commit`` and ``reveal``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dealer.audit import PartSecret, keys_for
from dealer.board import Board
from dealer.generate import DealSet
from dealer.store.set_keys import commitments, load_secret, save_secret
from firmware_bridge.config import data_directory, ensure_directory


def with_fingerprint(
    deals: DealSet, fresh: Sequence[Board], data: str | None
) -> tuple[DealSet, Callable[[], Path] | None]:
    """The set with the fingerprint of its newest part, and what must be called to keep the keys.

    The second value is None, and the fingerprint empty, when earlier boards of the set were not committed here: the
    chain would not hold.
    """
    directory = ensure_directory(data_directory(data))
    parts = load_secret(directory, deals.id)
    known = {key.board for part in parts for key in part.keys}
    if known != {board.number for board in deals.boards} - {board.number for board in fresh}:
        return replace(deals, fingerprint=""), None
    parts.append(PartSecret(keys_for(fresh)))
    fingerprint = commitments(deals.id, parts)[-1].fingerprint
    return replace(deals, fingerprint=fingerprint), lambda: save_secret(directory, deals.id, parts)
