"""Commit and reveal: proof that the boards played were fixed before play, and where they came from.

Every board has a key of 32 random bytes. The board's commitment is a hash that covers the set, the board and the key;
for a deal that exists already it covers the index too ("direct"), else the index is derived from the key and a public
entropy that nobody could know at the time of the commitment ("derived"). A part of a set (the set as it was first
committed, or one extension) has a commitment over all its boards, the part before it, and the words that say where the
entropy will come from. Everything is SHA-256; docs/fair-deals.md says what it proves and what not.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dealer.board import Board
from dealer.commitment import KEY_BYTES, NO_PART, board_hash, fingerprint_of, part_hash
from dealer.deal import INDEX_BYTES, N_DEALS, Deal
from dealer.generate import RandBytes
from dealer.verify import Finding
from firmware_bridge.errors import DealError

_INDEX_TAG = b"firmware-bridge deal index 1\x00"


@dataclass(frozen=True, slots=True)
class BoardKey:
    """The secret of one board. index: the deal's index for a direct commitment, None for a derived one."""

    board: int
    key: bytes = field(repr=False)
    index: int | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class PartSecret:
    """The secret of one part of a set. entropy_source: where the public entropy will come from, "" for direct parts.
    entropy: the entropy itself once it is known; it can be given once only.
    """

    keys: tuple[BoardKey, ...] = field(repr=False)
    entropy_source: str = ""
    entropy: str | None = None


@dataclass(frozen=True, slots=True)
class PartCommitment:
    """What is published of one part: the commitment of each board, and of the part."""

    set_id: str
    part: int
    previous: bytes
    entropy_source: str
    boards: tuple[tuple[int, bytes], ...]

    @property
    def commitment(self) -> bytes:
        """SHA-256 over set, part number, the part before, the entropy's source and every board's commitment."""
        return part_hash(self.set_id, self.part, self.previous, self.entropy_source, self.boards)

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.commitment)


def new_keys(numbers: Iterable[int], randbytes: RandBytes = os.urandom) -> tuple[BoardKey, ...]:
    """A fresh key per board, for deals that will be derived from a public entropy."""
    return tuple(BoardKey(number, randbytes(KEY_BYTES)) for number in numbers)


def keys_for(boards: Iterable[Board], randbytes: RandBytes = os.urandom) -> tuple[BoardKey, ...]:
    """A fresh key per board, for deals that exist."""
    return tuple(BoardKey(board.number, randbytes(KEY_BYTES), board.deal.index) for board in boards)


def board_commitment(set_id: str, key: BoardKey) -> bytes:
    """SHA-256 of set, board and key, and of the index when the commitment is direct."""
    return board_hash(set_id, key.board, key.key, key.index)


def commit_part(set_id: str, part: int, previous: bytes, secret: PartSecret) -> PartCommitment:
    """The public half of a part's secret."""
    boards = tuple((key.board, board_commitment(set_id, key)) for key in secret.keys)
    return PartCommitment(set_id, part, previous, secret.entropy_source, boards)


def derived_index(key: bytes, entropy: str, board: int) -> int:
    """Index from a board's key and the public entropy: the first 12 bytes of SHA-256(tag, key, SHA-256(entropy), board,
    counter) for counter 0, 1, ... until they are below the number of deals. Spaces around the entropy do not count.
    """
    seed = _INDEX_TAG + key + hashlib.sha256(entropy.strip().encode()).digest() + board.to_bytes(4, "big")
    counter = 0
    while True:
        drawn = hashlib.sha256(seed + counter.to_bytes(4, "big")).digest()[:INDEX_BYTES]
        index = int.from_bytes(drawn, "big")
        if index < N_DEALS:
            return index
        counter += 1


def index_of(key: BoardKey, entropy: str | None) -> int:
    """The deal index that a key stands for. Raises DealError when its entropy is not known yet."""
    if key.index is not None:
        return key.index
    if entropy is None:
        raise DealError(
            "The public entropy of this set is not known yet.",
            next_step="Give it once it is published.",
            code="entropy",
        )
    return derived_index(key.key, entropy, key.board)


def boards_of(secret: PartSecret) -> list[Board]:
    """The boards of a part. Raises DealError when the entropy is not known yet."""
    return [Board(key.board, Deal.from_index(index_of(key, secret.entropy))) for key in secret.keys]


def check_chain(parts: Sequence[PartCommitment], stated: Sequence[bytes]) -> list[Finding]:
    """Whether published parts hang together: each stated commitment is the one computed, each names the one before."""
    problems: list[Finding] = []
    previous = NO_PART
    for place, (part, claim) in enumerate(zip(parts, stated, strict=True)):
        if part.part != place or part.previous != previous or part.set_id != parts[0].set_id:
            problems.append(Finding("chain-broken", f"Part {place + 1} does not follow the part before it."))
        if part.commitment != claim:
            problems.append(
                Finding("commitment-wrong", f"Part {place + 1} was changed: its commitment is another one.")
            )
        previous = part.commitment
    seen: set[int] = set()
    for part in parts:
        for number, _ in part.boards:
            if number in seen:
                problems.append(Finding("board-repeated", f"Board {number} is committed twice.", board=number))
            seen.add(number)
    return problems


def audit_boards(
    parts: Sequence[PartCommitment],
    revealed: Mapping[int, BoardKey],
    entropies: Mapping[int, str | None],
    played: Sequence[Board] | None,
    *,
    stated_indices: Mapping[int, int] | None = None,
) -> tuple[int, list[Finding]]:
    """Compare what was committed with what was revealed and, when given, with the boards that were played.

    revealed: keys by board number; entropies: by part number. stated_indices: indices as the reveal states them, for
    derived boards too. Returns how many boards match in every way, and everything that does not: a board that was
    revealed and left out of play is a change too, for whoever may leave out boards can choose among them.
    """
    problems: list[Finding] = []
    committed = {number: (part, value) for part in parts for number, value in part.boards}
    true_index: dict[int, int] = {}
    for number, key in sorted(revealed.items()):
        if number not in committed:
            problems.append(Finding("not-committed", "The board is revealed and was never committed.", board=number))
            continue
        part, value = committed[number]
        if board_commitment(part.set_id, key) != value:
            message = "The key that was revealed does not open the commitment."
            problems.append(Finding("key-wrong", message, board=number))
            continue
        try:
            true_index[number] = index_of(key, entropies.get(part.part))
        except DealError:
            problems.append(Finding("entropy-missing", "The public entropy was not revealed.", board=number))
            continue
        if stated_indices and stated_indices.get(number, true_index[number]) != true_index[number]:
            del true_index[number]
            problems.append(Finding("index-wrong", "The index does not follow from key and entropy.", board=number))
    matching = set(true_index)
    if played is not None:
        in_file = {board.number: board.deal for board in played}
        for number, deal in sorted(in_file.items()):
            if number not in committed:
                problems.append(Finding("not-committed", "The board was played and never committed.", board=number))
            elif number not in revealed:
                problems.append(Finding("not-revealed", "The board was played and is not revealed.", board=number))
            elif number in true_index and deal.index != true_index[number]:
                matching.discard(number)
                message = "The deal that was played is not the deal that was committed."
                problems.append(Finding("deal-differs", message, board=number))
        for number in sorted(true_index.keys() - in_file.keys()):
            problems.append(Finding("not-played", "The board was committed and is not in the file.", board=number))
        matching &= set(in_file)
    return len(matching), problems
