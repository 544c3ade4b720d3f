"""People who make mistakes at a simulated dealing machine, whatever its carrier: what their hands do to the world.

``Mishaps`` stands before a machine of hwsim in the order of classes and spoils what hands do. It also keeps what
truly happened to each card and board, from which the judge of a soak tells whether a wrong board could be seen.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from firmware_bridge.simulation.dealing_faults import RandomFaults, Rates
from hwsim.machine.faults import Fault
from hwsim.machine.mechanics import Passage
from hwsim.machine.operator import Operator
from hwsim.machine.pack import JOKER_FACE, STOP_CARD, pack_of
from hwsim.machine.world import BoardKey
from hwsim.numbers import Action

if TYPE_CHECKING:
    from hwsim.machine.bench import Bench as _Base
else:
    _Base = object


FULL = 52
"""Cards in a board that is made."""


class Mishaps(_Base):
    """``struck``: what has gone wrong so far, by kind. ``plan``: what goes wrong in the machine, card by card."""

    def _expect(self, rates: Rates, seed: int, boards: int, certain: Sequence[Fault] = ()) -> None:
        """Must be called before the machine itself is made."""
        self._rates = rates
        self._dice_seed = seed
        self._boards = boards
        self.plan = RandomFaults(rates, seed, certain)
        self.plan.told = self._strike
        self.struck: Counter[str] = Counter()
        self.on_unplug: Callable[[], None] | None = None
        self.spoilt: dict[BoardKey, set[int]] = {}  # boards dealt into in place of another, and its cards
        self.attempt: set[int] = set()  # cards that have passed since the last board began
        self.passed: dict[int, Passage] = {}  # how each card came to where it is
        self.left: set[int] = set()  # cards that were left in a board before dealing
        self.moved: dict[BoardKey, set[int]] = {}  # cards that were moved by hand after the board was done
        self.again: set[BoardKey] = set()  # full boards that were put in once more as another copy
        self.blind: set[tuple[BoardKey, BoardKey]] = set()  # boards confirmed without looking, and what was in
        self._counts: Counter[str] = Counter()
        self._foreign = 0

    # -- dice and books -----------------------------------------------------------------------------------------------

    def _dice(self, name: str) -> random.Random:
        self._counts[name] += 1
        return random.Random(f"{self._dice_seed}:{name}:{self._counts[name]}")

    def _happens(self, name: str, rate: float) -> random.Random | None:
        """The dice of an event that strikes now, or None."""
        dice = self._dice(name)
        if dice.random() >= rate:
            return None
        self._strike(name)
        return dice

    def _strike(self, kind: str) -> None:
        self.struck[kind] += 1

    def _report_fault(self, fault: Fault) -> None:
        self._strike(fault.kind)
        if fault.kind == "unplug" and self.on_unplug is not None:
            self.on_unplug()
        number, copy = self.world.slot or (0, 0)
        line = {"kind": fault.kind, "board": number, "copy": copy, "detectable": fault.kind != "misread"}
        self.evidence.write("faults", {**line, "at": self._at()})

    def witness(self, passage: Passage) -> None:
        for card in passage.cards:
            self.passed[card] = passage
            self.attempt.add(card)

    def _foreign_card(self, like: int) -> int:
        """A card of a pack that is not in the room otherwise, with the same face and the same back."""
        self._foreign += 1
        return (5000 + 2 * self._foreign | pack_of(like) & 1) << 6 | like & 63

    # -- boards -------------------------------------------------------------------------------------------------------

    def insert(self, key: BoardKey, orientation: int = 0) -> None:
        rates = self._rates
        copies = [other for other in self.world.boards if other[0] == key[0] and other != key]
        full = [other for other in copies if self.world.holds(other) >= FULL]
        if full and self._happens("another-copy", rates.another_copy):
            key = full[0]
            self.again.add(key)
        elif self._boards > 1 and self._happens("wrong-board", rates.wrong_board):
            key = (key[0] % self._boards + 1, key[1])
        if dice := self._happens("turned", rates.turned):
            orientation = dice.randrange(1, 4)
        if dice := self._happens("leftover", rates.leftover):
            card = self._foreign_card((key[0] + 1 & 1) << 6)
            self.left.add(card)
            self.world.boards.setdefault(key, [[], [], [], []])[dice.randrange(4)].append(card)
        super().insert(key, orientation)

    def pull(self) -> None:
        key, done = self.world.slot, self.panel.action == Action.REMOVE_BOARD
        super().pull()
        if key is not None and done and (dice := self._happens("moved-after", self._rates.moved_after)):
            self._put_wrong(key, dice, self.moved.setdefault(key, set()))

    def _put_wrong(self, key: BoardKey, dice: random.Random, book: set[int]) -> None:
        pockets = self.world.boards[key]
        full = [seat for seat in range(4) if pockets[seat]]
        if not full:
            return
        seat = dice.choice(full)
        place = dice.randrange(len(pockets[seat]))
        book.add(pockets[seat][place])
        self.world.do("by_hand", *key, seat, place, (seat + dice.randrange(1, 4)) % 4)

    def press_key(self) -> None:
        if self._happens("no-key", self._rates.no_key) is None:
            super().press_key()

    def press_blindly(self, shown: BoardKey) -> bool:
        """Another board is in than the display says; True if the key is pressed all the same."""
        slot = self.world.slot
        assert slot is not None
        if self._happens("blind-key", self._rates.blind_key) is None:
            return False
        self.blind.add((shown, slot))
        super().press_key()
        return True

    # -- hands inside the machine -------------------------------------------------------------------------------------

    def cover(self, closed: bool) -> None:
        """Whoever closes the cover may have touched what lies below it."""
        slot = self.world.slot
        opened = not self.world.cover_closed
        reaches_in = closed and opened and slot is not None and self.world.holds(slot)
        if reaches_in and slot is not None and (dice := self._happens("wrong-pocket", self._rates.wrong_pocket)):
            self._put_wrong(slot, dice, set())
        super().cover(closed)

    def clear_belt(self) -> None:
        """The card of a jam belongs on top of the hopper; it may get into a pocket, or another card with it."""
        slot = self.world.slot
        if slot is not None and self.world.belt and (dice := self._happens("wrong-pocket", self._rates.wrong_pocket)):
            if dice.random() < 0.5:
                self.world.do("drop", self.world.belt[0], dice.randrange(4))
            else:
                self._put_wrong(slot, dice, set())
        super().clear_belt()

    # -- packs --------------------------------------------------------------------------------------------------------

    def load(self, cards: list[int]) -> None:
        rates = self._rates
        cards = list(cards)
        if dice := self._happens("pack-short", rates.pack_short):
            cards.pop(dice.randrange(len(cards)))
        if dice := self._happens("pack-mixed", rates.pack_mixed):
            # A card of another pack took the place of one of this pack, which stays on the table.
            place = dice.randrange(len(cards))
            twin = cards[(place + 1 + dice.randrange(len(cards) - 1)) % len(cards)]
            stranger = self._foreign_card(twin)
            self._exchange(stranger, cards[place])
            cards[place] = stranger
        if dice := self._happens("pack-joker", rates.pack_joker):
            cards[dice.randrange(len(cards))] = pack_of(cards[0]) << 6 | JOKER_FACE
        hopper = self.world.hopper
        if STOP_CARD in hopper and (dice := self._happens("packs-exchanged", rates.packs_exchanged)):
            mine, place = dice.randrange(len(cards)), dice.randrange(hopper.index(STOP_CARD))
            self._exchange(cards[mine], hopper[place])
            cards[mine], hopper[place] = hopper[place], cards[mine]
        super().load(cards)

    def _exchange(self, one: int, other: int) -> None:
        """Each is among the cards of the other's pack from now on, and nobody looks."""
        mine, theirs = self.world.heap_of(one), self.world.heap_of(other)
        self.world.do("stray", one, theirs)
        self.world.do("stray", other, mine)

    def add_stop_card(self) -> None:
        if self._happens("no-stop-card", self._rates.no_stop_card) is None:
            super().add_stop_card()


class HurriedOperator(Operator):
    """Sometimes presses the key without looking at the number of the board, or takes a pack without looking."""

    _hands: Mishaps

    def colour_for(self, key: BoardKey) -> int | None:
        colour = super().colour_for(key)
        if colour is not None and self._hands._happens("wrong-pack", self._hands._rates.wrong_pack):
            return 1 - colour
        return colour

    def _steps(self, action: Action, key: BoardKey) -> bool | None:
        slot = self._world.slot
        if action == Action.CONFIRM_BOARD and slot is not None and slot != key:
            if slot[0] == key[0]:
                self._hands.press_key()  # the number is right, and copies carry no other mark
                return False
            if self._hands.press_blindly(key):
                return False
        return super()._steps(action, key)
