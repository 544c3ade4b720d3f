"""The person at the dealing machine, who reads only its display and its lamps, and acts with two hands.

The display's machine-readable action says what to do next; the text is for real people. If a display stands still
although it has been obeyed, and the machine is not running, the operator does it again after a while, as people do.
"""

from __future__ import annotations

from typing import Protocol

from hwsim.agenda import Agenda, Booking
from hwsim.machine.pack import face, pack_of
from hwsim.machine.parts import Panel
from hwsim.machine.world import BoardKey, World
from hwsim.numbers import Action
from hwsim.speeds import Speed


class Hands(Protocol):
    """What hands can do at the machine; its sensors notice."""

    def insert(self, key: BoardKey, orientation: int = 0) -> None: ...

    def pull(self) -> None: ...

    def load(self, cards: list[int]) -> None: ...

    def clear_belt(self) -> None: ...

    def gather(self) -> None: ...

    def cover(self, closed: bool) -> None: ...

    def press_key(self) -> None: ...


class Operator:
    def __init__(self, world: World, panel: Panel, hands: Hands, agenda: Agenda, speed: Speed, seed: str) -> None:
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
        if self._done is not None and panel.armed:
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
                    self._load_pack()
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
                if world.hopper:
                    return None
                self._load_pack()
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

    def _load_pack(self) -> None:
        """Shuffle a whole pack from the table top, or a new one, and put it into the hopper."""
        packs: dict[int, list[int]] = {}
        for card in self._world.table:
            packs.setdefault(pack_of(card), []).append(card)
        whole = [cards for _, cards in sorted(packs.items()) if len({face(card) for card in cards}) == 52]
        if not whole:
            number = self._world.packs
            self._world.do("new_pack")
            whole = [[card for card in self._world.table if pack_of(card) == number]]
        self._hands.load(whole[0])

    def _collect(self, key: BoardKey, replace: bool) -> None:
        """All cards of the attempt out of board, belt and hopper; the pack, shuffled, back into the hopper."""
        world, hands = self._world, self._hands
        board = world.slot or key
        if world.slot is not None:
            hands.pull()
        if board in world.boards:
            world.do("empty", *board)
        hands.gather()
        packs: dict[int, list[int]] = {}
        for card in world.table:
            packs.setdefault(pack_of(card), []).append(card)
        if not packs:
            self._load_pack()
            return
        number = max(packs, key=lambda pack: (len(packs[pack]), pack))
        if replace or len(packs[number]) != 52:
            world.do("discard", packs[number])
            self._load_pack()
        else:
            hands.load(packs[number])
