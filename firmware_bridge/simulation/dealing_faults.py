"""What goes wrong at a simulated dealing machine, and how often: the profiles ``none``, ``realistic`` and ``harsh``.

``realistic`` has the rates that owners and makers report, and estimates where nobody reports any; ``harsh`` is fifty
times that. Faults act on the physical world: on cards, boards, deflectors, the line and the supply, never on messages.
Every draw depends on the seed and on a count (of cards, boards, packs), so that the same seed gives the same faults.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

from hwsim.machine.faults import Fault, FaultPlan


@dataclass(frozen=True, slots=True)
class Rates:
    """Probabilities per card that is fed down to ``torn_write``, then per board put in, pack loaded, hand that reaches
    into the machine, board or byte. ``dirt`` is none: margin lost per 1000 cards.
    """

    smudge: float = 0.0  # one module of the code can't be told: a doubtful read
    unreadable: float = 0.0
    misread: float = 0.0  # another card's code, without any doubt
    double_feed: float = 0.0
    misfeed: float = 0.0
    jam: float = 0.0
    scuff: float = 0.0  # one module of two cards is damaged for good; with the weak code they may change places
    dirty_optics: float = 0.0  # a fingerprint on the glass, until somebody cleans it
    sunlight: float = 0.0  # for forty cards
    exit_noise: float = 0.0  # an exit sensor sees nothing, or what is not there
    gate_stuck: float = 0.0
    cover: float = 0.0
    pull: float = 0.0
    unplug: float = 0.0
    power_cut: float = 0.0  # at any moment
    firmware_restart: float = 0.0
    torn_write: float = 0.0  # the supply fails while the machine writes to its memory
    turned: float = 0.0  # a board is put in the wrong way round
    wrong_board: float = 0.0  # the operator takes another board
    another_copy: float = 0.0  # the operator takes a full copy of the board instead of the empty one
    pack_short: float = 0.0  # 51 cards
    pack_mixed: float = 0.0  # one card is of another pack: two of it, another missing
    packs_exchanged: float = 0.0  # two packs in the hopper have a card of each other
    wrong_pack: float = 0.0  # the operator takes a pack with the other backs
    no_stop_card: float = 0.0  # the operator forgets it between two packs
    pack_joker: float = 0.0
    no_key: float = 0.0  # the operator forgets to press the key
    blind_key: float = 0.0  # the operator presses the key without looking at the number
    wrong_pocket: float = 0.0  # a hand in the machine puts a card into a wrong pocket of the board
    moved_after: float = 0.0  # a card is moved by hand after the board is done
    leftover: float = 0.0  # a card was left in a pocket of the board that is put in
    sticky: float = 0.0  # a card of another pack sticks to one that is fed
    host_restart: float = 0.0  # the program is ended in mid-board and started again
    byte_error: float = 0.0  # per byte on the line
    dirt: float = 0.0  # margin that dirt takes per 1000 cards since the last cleaning; rollers slip with it

    def times(self, factor: float) -> Rates:
        """All rates multiplied, no probability above one half."""
        spoiled = {f.name: min(0.5, getattr(self, f.name) * factor) for f in fields(self)}
        return replace(self, **{**spoiled, "dirt": self.dirt * factor})


REALISTIC = Rates(
    smudge=1.5e-4,
    unreadable=4e-5,
    misread=2e-6,
    double_feed=1e-5,
    misfeed=1e-3,
    jam=2e-5,
    scuff=4e-7,
    dirty_optics=2e-6,
    sunlight=5e-6,
    exit_noise=4e-6,
    gate_stuck=2e-6,
    cover=1e-5,
    pull=1e-5,
    unplug=4e-5,
    power_cut=6e-6,
    firmware_restart=4e-6,
    torn_write=4e-6,
    turned=1e-3,
    wrong_board=2e-3,
    pack_short=5e-4,
    pack_mixed=5e-4,
    packs_exchanged=2e-4,
    wrong_pack=2e-3,
    no_stop_card=5e-4,
    pack_joker=2.5e-4,
    no_key=1e-3,
    blind_key=2e-4,
    wrong_pocket=5e-3,
    moved_after=1e-6,
    host_restart=1e-3,
    byte_error=1e-7,
    dirt=1.0,
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
    ("scuff", "scuff"),
    ("dirty-optics", "dirty_optics"),
    ("sunlight", "sunlight"),
    ("exit-noise", "exit_noise"),
    ("gate-stuck", "gate_stuck"),
    ("unplug", "unplug"),
    ("power-cut", "power_cut"),
    ("firmware-restart", "firmware_restart"),
    ("torn-write", "torn_write"),
    ("cover", "cover"),
    ("pull", "pull"),
)

WORN_SHARE = 0.01
"""Share of cards that are worn; a worn card stays worn, and is fifty times as likely to be hard to read."""

WORN_FACTOR = 50.0


_CERTAIN = -(1 << 60)


class RandomFaults(FaultPlan):
    """Draws faults card by card in place of a list made beforehand. A fault strikes once, as one of a list does.

    certain: faults that strike at their card besides, whatever the dice say.
    """

    def __init__(self, rates: Rates, seed: int, certain: Sequence[Fault] = ()) -> None:
        super().__init__([], [])
        self.dirt = rates.dirt
        self._rates = rates
        self._seed = seed
        self._card = -1
        self._worn: dict[int, bool] = {}
        self.told: Callable[[str], None] = lambda kind: None
        self._drawn: dict[str, tuple[int, Fault]] = {}
        self._certain = {_CERTAIN - number: fault for number, fault in enumerate(certain)}

    def due(self, card: int, *kinds: str) -> tuple[int, Fault] | None:
        if card != self._card:
            self._draw(card)
        for kind in kinds:
            found = self._drawn.get(kind)
            if found is not None:
                return found
        return None

    def mark(self, number: int) -> None:
        self._certain.pop(number, None)
        for kind, (drawn, _) in list(self._drawn.items()):
            if drawn == number:
                del self._drawn[kind]

    def worn(self, card: int, noise: random.Random) -> bool:
        if not self._rates.smudge:
            return False
        if card not in self._worn:
            self._worn[card] = random.Random(self._seed << 40 ^ card << 8).random() < WORN_SHARE
        suffers = self._worn[card] and noise.random() < self._rates.smudge * WORN_FACTOR
        if suffers:
            self.told("worn")
        return suffers

    def force(self, kind: str, card: int) -> None:
        """This kind strikes at this card, whatever the dice say."""
        if card != self._card:
            self._draw(card)
        self._drawn[kind] = (-card * len(_PER_CARD), Fault(kind, card))

    def _draw(self, card: int) -> None:
        self._card = card
        self._drawn = {}
        for number, fault in self._certain.items():
            if fault.card <= card:
                self._drawn.setdefault(fault.kind, (number, fault))
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
        return {"for": dice.choice([0.3, 3.0]), "after": dice.choice([0.0, 0.2, 3.0, 20.0]) * dice.random()}
    if kind == "torn-write":
        return {"for": dice.choice([0.3, 3.0]), "after": float(dice.randrange(40))}
    if kind == "gate-stuck":
        return {"for": dice.choice([1.0, 1.0, 3.0])}
    return {}
