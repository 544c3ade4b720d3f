"""The test deal: a sorted pack through the machine, so that every card that comes is known beforehand. Pure.

Compares what was read with what must have come and counts the confusions, face by face. The pack is no deal of anybody:
its cards may be named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from dealer.cards import PACK_SIZE, card_name
from dealer.deal import Deal
from drivers.api import CardPassed

ORDER = tuple(range(PACK_SIZE))
"""The pack as it is to be loaded: the spade ace is fed first, the two of clubs last."""

DEAL = Deal(bytes(card // 13 for card in ORDER))
"""Where the cards go: spades to North, hearts to East, diamonds to South, clubs to West. Anybody can check it."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """A face that was read as another one (or not at all: ``read`` 255), and how often."""

    came: int
    read: int
    times: int

    def text(self) -> str:
        seen = f"read as {card_name(self.read)}" if 0 <= self.read < PACK_SIZE else "not read"
        return f"{card_name(self.came)} {seen}: {self.times}"


@dataclass(slots=True)
class ConfusionMatrix:
    """Counts over all packs that were dealt. ``right``: cards read as what they are."""

    packs: int = 0
    cards: int = 0
    right: int = 0
    lowest_margin: int = 255
    wrong: Counter[tuple[int, int]] = field(default_factory=Counter)
    misplaced: int = 0

    def add(self, passed: Sequence[CardPassed]) -> None:
        """One pack: the cards as they came. A pack that stopped early counts as far as it came."""
        self.packs += 1
        for came, event in zip(ORDER, passed, strict=False):
            self.cards += 1
            self.lowest_margin = min(self.lowest_margin, event.margin)
            if event.best == came:
                self.right += 1
            else:
                self.wrong[came, event.best] += 1
            if event.confirmed not in (255, event.wanted):
                self.misplaced += 1

    def confusions(self) -> list[Confusion]:
        """The worst first."""
        return [Confusion(came, read, times) for (came, read), times in self.wrong.most_common()]

    def shifted(self) -> bool:
        """True when most cards differ: the pack was not sorted as asked, or a card is missing near its top."""
        return self.cards > 0 and self.right * 2 < self.cards

    def rows(self) -> list[str]:
        """The matrix for a screen: a row a suit that came, a column a suit that was read, then each confusion."""
        table = [[0] * 5 for _ in range(4)]
        for (came, read), times in self.wrong.items():
            table[came // 13][read // 13 if 0 <= read < PACK_SIZE else 4] += times
        right = [0] * 4
        for came in ORDER:
            right[came // 13] += self.packs
        lines = ["came \\ read      ♠      ♥      ♦      ♣   none"]
        for suit in range(4):
            wrong = sum(table[suit])
            cells = [table[suit][other] + (right[suit] - wrong if other == suit else 0) for other in range(5)]
            lines.append(f"{'♠♥♦♣'[suit]:<11} " + " ".join(f"{cell:>6}" for cell in cells))
        return lines + [one.text() for one in self.confusions()]
