"""Never dealt before: how a deal is known in the club's history, and what a repeat means for each kind of set.

The history keeps a digest of each deal, not the deal: whoever reads it learns nothing about a board that is still to
be played. The board's number is left out of it, so a deal is known again under any number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dealer.board import Board
from dealer.generate import Origin
from dealer.verify import Finding

DIGEST_BYTES = 16
HISTORY_TAG = b"firmware-bridge deal history\x00"


def history_digest(routing: bytes) -> bytes:
    """16 bytes: SHA-256 of a fixed tag and the 13 routing bytes of a deal, cut short.

    With a million deals on record the chance that a fresh deal is called a repeat though it is none is below 1e-22
    by the deals themselves and below 1e-32 by the digest.
    """
    return hashlib.sha256(HISTORY_TAG + routing).digest()[:DIGEST_BYTES]


def history_digests(boards: Iterable[Board]) -> list[bytes]:
    """The digest of each board's deal, in order."""
    return [history_digest(board.deal.routing) for board in boards]


@dataclass(frozen=True, slots=True)
class Earlier:
    """A deal that is on record: which board of the asked set it is, and where and when it was dealt before."""

    board: int
    earlier_board: int
    set_id: str
    dealt_on: str


def repeat_is_a_fault(origin: Origin) -> bool:
    """An own random set may hold no deal again; a federation's set, a replay (Law 6D2) or a teaching set may."""
    return origin is Origin.OWN


def repeats_as_findings(repeats: Sequence[Earlier]) -> list[Finding]:
    """The repeats in words, code "dealt-before"."""
    return [
        Finding(
            "dealt-before",
            f"The deal was board {repeat.earlier_board} of set {repeat.set_id}, dealt on {repeat.dealt_on}.",
            board=repeat.board,
        )
        for repeat in repeats
    ]
