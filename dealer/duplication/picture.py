"""The host's own picture of the four pockets, built card by card from what the machine reports. Pure.

The machine is the authority on what happened, the host on what was wanted; this picture is what the host concludes
from the machine's events alone, without looking at the plan or at the machine's own summary.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from statistics import median

from dealer.cards import HAND_SIZE, PACK_SIZE
from drivers.api import UNKNOWN, CardPassed


def found_in(event: CardPassed) -> int:
    """The pocket in which a card was found that is read back: where it was seen counts, not where it was wanted."""
    return event.confirmed if event.confirmed < 4 else event.wanted


@dataclass(frozen=True, slots=True)
class SeenCard:
    """One card as the machine reported it. ``pocket`` is the exit sensor's where there is one, else the routed one."""

    index: int
    card: int
    runner_up: int
    margin: int
    raw: int
    pocket: int
    beam_ms: float
    at_ms: int = 0

    def __repr__(self) -> str:
        return f"SeenCard(index={self.index}, margin={self.margin})"


@dataclass(slots=True)
class Picture:
    """Where the host believes every card to be. Grows by ``add``; its repr shows counts only."""

    seen: list[SeenCard] = field(default_factory=list, repr=False)
    pocket_of: dict[int, int] = field(default_factory=dict, repr=False)
    counts: list[int] = field(default_factory=lambda: [0, 0, 0, 0])

    def add(self, seen: SeenCard) -> None:
        """Take in one card. A card that is there already keeps its first place; the count still rises."""
        self.seen.append(seen)
        if 0 <= seen.card < PACK_SIZE:
            self.pocket_of.setdefault(seen.card, seen.pocket)
        if 0 <= seen.pocket < 4:
            self.counts[seen.pocket] += 1

    def has(self, card: int) -> bool:
        return card in self.pocket_of

    @property
    def complete(self) -> bool:
        """All 52 cards differ and have been seen."""
        return len(self.pocket_of) == PACK_SIZE

    @property
    def even(self) -> bool:
        """Thirteen cards in each pocket."""
        return self.counts == [HAND_SIZE] * 4

    @property
    def missing(self) -> tuple[int, ...]:
        """Cards not seen. Cards: for the verdict, never for a message."""
        return tuple(card for card in range(PACK_SIZE) if card not in self.pocket_of)

    def digest(self, board: int) -> bytes | None:
        """Deal digest of what was placed (protocol, section 6), None while a card or its pocket is not known."""
        if not self.complete or UNKNOWN in self.pocket_of.values():
            return None
        owners = bytes(self.pocket_of[card] for card in range(PACK_SIZE))
        routing = bytes(
            owners[i] | owners[i + 1] << 2 | owners[i + 2] << 4 | owners[i + 3] << 6 for i in range(0, PACK_SIZE, 4)
        )
        return hashlib.sha256(board.to_bytes(2, "little") + routing).digest()[:8]


class BeamRule:
    """Tells a card from two cards that hang together by the time in the beam: two overlapping cards take longer.

    The reference is the median of the cards of this board, so that a slow or dirty roller does not matter. The first
    cards have no reference yet; ``late_suspects`` looks at all of them once the board is complete.
    """

    FACTOR = 1.35
    """Two cards that overlap by less than two thirds are longer than this; the spread of one card's time is a few %."""

    SETTLED = 7
    """Cards after which the median is taken as a reference."""

    def __init__(self) -> None:
        self._times: list[float] = []

    def add(self, beam_ms: float) -> bool:
        """Take in one card's time; True when it is already clear that it was too long."""
        settled = len(self._times) >= self.SETTLED
        too_long = settled and beam_ms > self.FACTOR * median(self._times)
        self._times.append(beam_ms)
        return too_long

    def late_suspects(self) -> tuple[int, ...]:
        """Indices of all cards that were too long, judged by the whole board."""
        if not self._times:
            return ()
        limit = self.FACTOR * median(self._times)
        return tuple(index for index, beam_ms in enumerate(self._times) if beam_ms > limit)
