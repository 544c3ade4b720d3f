"""The person at the dealing machine, who reads only its display and its lamps, and acts with two hands.

The display's machine-readable action says what to do next; the text is for real people. If a display stands still
although it has been obeyed, and the machine is not running, the operator does it again after a while, as people do.

A pack with red backs goes into odd boards, one with blue backs into even ones, as clubs do it. Whether a pack is whole
is judged by counting: nobody looks at the faces. With another pack asked for, rollers and optics are cleaned as well.
"""

from __future__ import annotations

from typing import Protocol

from hwsim.agenda import Agenda, Booking
from hwsim.machine.pack import STOP_CARD
from hwsim.machine.parts import Panel
from hwsim.machine.world import BoardKey, World
from hwsim.numbers import Action
from hwsim.speeds import Speed


class Hands(Protocol):
    """What hands can do at the machine; its sensors notice."""

    def insert(self, key: BoardKey, orientation: int = 0) -> None: ...

    def pull(self) -> None: ...

    def load(self, cards: list[int]) -> None: ...

    def add_stop_card(self) -> None: ...

    def take_stop_card(self) -> None: ...

    def unload(self) -> None: ...

    def clear_belt(self) -> None: ...

    def gather(self) -> None: ...

    def cover(self, closed: bool) -> None: ...

    def press_key(self) -> None: ...


CLEAN_AFTER = 3700
"""Cards after which rollers and optics are cleaned in any case: about two sets of boards."""


class Operator:
    """two_packs: two packs at a time go into the hopper, with a stop card between."""

    def __init__(
        self,
        world: World,
        panel: Panel,
        hands: Hands,
        agenda: Agenda,
        speed: Speed,
        seed: str,
        two_packs: bool = False,
    ) -> None:
        self._two_packs = two_packs
        self._world = world
        self._panel = panel
        self._hands = hands
        self._agenda = agenda
        self._speed = speed
        self._seed = seed
        self._patience = max(5.0, 5 * speed.hand)
        self._booking: Booking | None = None
        self._seen = panel.changes
        self._runs = panel.runs
        self._done: tuple[int, int, int] | None = None

    def look(self) -> None:
        """Called when something on the panel may have changed."""
        if self._panel.changes == self._seen:
            return
        self._seen = self._panel.changes
        self._runs = self._panel.runs
        shown = (self._panel.action, self._panel.board, self._panel.copy)
        again = shown == self._done
        self._done = self._done if again else None
        self._book(self._patience if again else self._speed.hand)

    def _book(self, delay: float) -> None:
        if self._booking is not None:
            self._booking.cancel()
        self._booking = self._agenda.after(delay, self._act)

    def _act(self) -> None:
        panel = self._panel
        if panel.running and panel.action != Action.CLOSE_COVER:
            self._book(self._patience)
            return
        if self._done is not None and panel.armed and panel.action in (Action.INSERT_BOARD, Action.REMOVE_BOARD):
            self._book(self._patience)  # the lamp says that it is about to start: nobody pulls the board out now
            return
        if self._done is not None and panel.runs != self._runs:
            self._booking = None  # the machine has run since: it knows what it has, and its display will change
            return
        key = (panel.board, panel.copy)
        steps = self._steps(Action(panel.action) if panel.action in list(Action) else Action.NONE, key)
        if steps is None:
            self._booking = None
            return
        if steps:
            self._book(self._speed.hand)
            return
        self._done = (panel.action, panel.board, panel.copy)
        self._book(self._patience)

    def _steps(self, action: Action, key: BoardKey) -> bool | None:
        """Do one thing. True if something remains to be done, False if that was the last, None if there is nothing."""
        world, hands = self._world, self._hands
        match action:
            case Action.INSERT_BOARD | Action.SWAP_BOARD:
                if self._panel.hopper_empty and not world.hopper and action == Action.INSERT_BOARD:
                    self._load(key)
                    return True
                if world.hopper[:1] == [STOP_CARD]:
                    hands.take_stop_card()
                    return True
                if world.slot is not None:
                    hands.pull()
                    return True
                if world.holds(key):
                    world.do("empty", *key)
                hands.insert(key)
            case Action.RETURN_BOARD:
                if world.slot is not None:
                    if world.slot == key:
                        return False
                    hands.pull()
                    return True
                hands.insert(key)
            case Action.TURN_BOARD:
                if world.slot is None:
                    hands.insert(key)
                else:
                    key = world.slot
                    hands.pull()
                    hands.insert(key)
            case Action.REMOVE_BOARD:
                if world.slot is None:
                    return None
                hands.pull()
            case Action.LOAD_PACK:
                if world.hopper[:1] == [STOP_CARD]:
                    hands.take_stop_card()
                elif world.hopper:
                    return None
                else:
                    self._load(key)
            case Action.CHANGE_PACK:
                hands.unload()
                self._load(key)
            case Action.CONFIRM_BOARD:
                if world.slot != key:
                    return None  # the number on the board is another one: not confirmed
                hands.press_key()
            case Action.COLLECT_CARDS | Action.REPLACE_PACK:
                self._collect(key, action == Action.REPLACE_PACK)
                return None
            case Action.CLEAR_JAM:
                hands.clear_belt()
            case Action.CLOSE_COVER:
                hands.cover(True)
            case _:
                return None
        return False

    def colour_for(self, key: BoardKey) -> int | None:
        """The backs that belong into a board: 0 red, 1 blue; None when no board is named."""
        return None if key[0] == 0 else (key[0] + 1) & 1

    def _load(self, key: BoardKey) -> None:
        """A pack for this board into the hopper, and below a stop card one for the next, if the machine knows those."""
        world = self._world
        if world.fed - world.cleaned_at >= CLEAN_AFTER:
            world.do("clean")
        colour = self.colour_for(key)
        self._load_pack(colour)
        if self._two_packs and colour is not None:
            self._hands.add_stop_card()
            self._load_pack(1 - colour)

    def _load_pack(self, colour: int | None) -> None:
        """Shuffle a pack of 52 from the table top, or a new one, and put it into the hopper."""

        def fits() -> list[list[int]]:
            heaps = sorted(self._world.heaps().items())
            return [cards for pack, cards in heaps if len(cards) == 52 and colour in (None, pack & 1)]

        whole = fits()
        if not whole:
            self._world.do("new_pack", *(() if colour is None else (colour,)))
            whole = fits()
        self._hands.load(whole[0])

    def _collect(self, key: BoardKey, replace: bool) -> None:
        """All cards of the attempt out of board, belt and hopper; the pack, shuffled, back into the hopper."""
        world, hands = self._world, self._hands
        board = world.slot or key
        loose = set(world.belt)
        if world.slot is not None:
            hands.pull()
        if board in world.boards:
            loose.update(card for pocket in world.boards[board] for card in pocket)
            world.do("empty", *board)
        loose.update(world.hopper[: world.hopper.index(STOP_CARD)] if STOP_CARD in world.hopper else world.hopper)
        hands.gather()
        if replace:
            world.do("clean")
        heaps = world.heaps()
        used = {world.heap_of(card) for card in loose if card != STOP_CARD}
        for pack in sorted(used & set(heaps)):
            if len(heaps[pack]) != 52 or (replace and len(loose & set(heaps[pack])) > 1):
                world.do("discard", heaps[pack])
        self._load(key)
