"""What goes wrong at a simulated dealing machine, and how often: the profiles ``none``, ``realistic`` and ``harsh``.

``realistic`` has the rates that owners and makers report, and estimates where nobody reports any; ``harsh`` is fifty
times that. Faults act on the physical world: on cards, boards, deflectors, the line and the supply, never on messages.
Every draw depends on the seed and on a count (of cards, boards, packs), so that the same seed gives the same faults.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, fields, replace

from hwsim.machine.faults import Fault, FaultPlan


@dataclass(frozen=True, slots=True)
class Rates:
    """Probabilities: the first eleven per card that is fed, the others per board put in, pack loaded, board or byte."""

    smudge: float = 0.0  # one module of the code can't be told: a doubtful read
    unreadable: float = 0.0
    misread: float = 0.0  # another card's code, without any doubt
    double_feed: float = 0.0
    misfeed: float = 0.0
    jam: float = 0.0
    gate_stuck: float = 0.0
    cover: float = 0.0
    pull: float = 0.0
    unplug: float = 0.0
    power_cut: float = 0.0
    turned: float = 0.0  # a board is put in the wrong way round
    wrong_board: float = 0.0  # the operator takes another board
    pack_short: float = 0.0  # 51 cards
    pack_mixed: float = 0.0  # one card is of another pack: two of it, another missing
    pack_joker: float = 0.0
    no_key: float = 0.0  # the operator forgets to press the key
    blind_key: float = 0.0  # the operator presses the key without looking at the number
    leftover: float = 0.0  # a card was left in a pocket of the board that is put in
    sticky: float = 0.0  # a card of another pack sticks to one that is fed
    host_restart: float = 0.0  # the program is ended in mid-board and started again
    byte_error: float = 0.0  # per byte on the line

    def times(self, factor: float) -> Rates:
        """All rates multiplied, none above one half."""
        return replace(self, **{f.name: min(0.5, getattr(self, f.name) * factor) for f in fields(self)})


REALISTIC = Rates(
    smudge=1.5e-4,
    unreadable=4e-5,
    misread=2e-6,
    double_feed=1e-5,
    misfeed=1e-3,
    jam=2e-5,
    gate_stuck=2e-6,
    cover=1e-5,
    pull=1e-5,
    unplug=4e-5,
    power_cut=1e-5,
    turned=1e-3,
    wrong_board=2e-3,
    pack_short=1e-3,
    pack_mixed=1e-3,
    pack_joker=5e-4,
    no_key=1e-3,
    blind_key=2e-4,
    host_restart=1e-3,
    byte_error=1e-7,
)

PROFILES: dict[str, Rates] = {"none": Rates(), "realistic": REALISTIC, "harsh": REALISTIC.times(50)}

_PER_CARD = (
    ("sticky", "sticky"),
    ("misfeed", "misfeed"),
    ("double-feed", "double_feed"),
    ("jam", "jam"),
    ("misread", "misread"),
    ("smudge", "smudge"),
    ("unreadable", "unreadable"),
    ("gate-stuck", "gate_stuck"),
    ("unplug", "unplug"),
    ("power-cut", "power_cut"),
    ("cover", "cover"),
    ("pull", "pull"),
)

WORN_SHARE = 0.01
"""Share of cards that are worn; a worn card stays worn, and is fifty times as likely to be hard to read."""

WORN_FACTOR = 50.0


class RandomFaults(FaultPlan):
    """Draws faults card by card in place of a list made beforehand. A fault strikes once, as one of a list does."""

    def __init__(self, rates: Rates, seed: int) -> None:
        super().__init__([], [])
        self._rates = rates
        self._seed = seed
        self._card = -1
        self._drawn: dict[str, tuple[int, Fault]] = {}

    def due(self, card: int, *kinds: str) -> tuple[int, Fault] | None:
        if card != self._card:
            self._draw(card)
        for kind in kinds:
            found = self._drawn.get(kind)
            if found is not None:
                return found
        return None

    def mark(self, number: int) -> None:
        for kind, (drawn, _) in list(self._drawn.items()):
            if drawn == number:
                del self._drawn[kind]

    def force(self, kind: str, card: int) -> None:
        """This kind strikes at this card, whatever the dice say."""
        if card != self._card:
            self._draw(card)
        self._drawn[kind] = (-card * len(_PER_CARD), Fault(kind, card))

    def _draw(self, card: int) -> None:
        self._card = card
        self._drawn = {}
        dice = random.Random(self._seed << 40 | card)
        for number, (kind, name) in enumerate(_PER_CARD):
            if dice.random() < getattr(self._rates, name):
                self._drawn[kind] = (card * len(_PER_CARD) + number, Fault(kind, card, _options(kind, dice)))


def _options(kind: str, dice: random.Random) -> dict[str, float]:
    if kind == "misfeed":
        return {"for": 1.0 if dice.random() < 0.9 else 5.0}  # the machine's own retries cure most
    if kind == "unplug":
        return {"for": dice.choice([0.3, 2.0, 8.0])}
    if kind == "power-cut":
        return {"for": dice.choice([0.3, 3.0])}
    if kind == "gate-stuck":
        return {"for": dice.choice([1.0, 1.0, 3.0])}
    return {}
