"""Physical truth of a dealing machine and the table it stands on: where each card and each board is.

Every change goes through ``do``, which writes it to a log before it becomes true, so that the truth survives the death
of the process at any moment. Nothing here knows what the machine believes.
"""

from __future__ import annotations

import json
from typing import Any

from hwsim.machine.pack import STOP_CARD, face, new_pack, pack_of
from hwsim.memory import Log

BoardKey = tuple[int, int]  # number on the label, copy
SEATS = "NESW"
_PLAIN = (
    *("hopper", "belt", "table", "slot", "orientation", "cover_closed"),
    *("packs", "shuffles", "fed", "used_faults", "strayed", "scuffed", "cleaned_at", "smeared", "sun_until"),
)


class World:
    """Places: hopper (index 0 is fed next), belt, table top, and the pockets (printed N, E, S, W) of each board."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.hopper: list[int] = []
        self.belt: list[int] = []
        self.table: list[int] = []
        self.boards: dict[BoardKey, list[list[int]]] = {}
        self.lay: dict[BoardKey, int] = {}  # how each board lay when it was last in the machine, quarter turns
        self.slot: BoardKey | None = None
        self.orientation = 0  # quarter turns clockwise, 0-3, of the board in the slot
        self.cover_closed = True
        self.packs = 0
        self.shuffles = 0
        self._rewrite_at = Log.REWRITE_AT
        self.fed = 0
        self.used_faults: list[int] = []
        self.strayed: list[tuple[int, int]] = []  # cards that got among those of another pack, and that pack
        self.scuffed: list[tuple[int, int]] = []  # cards with a module that is scratched or dirty, and that module
        self.cleaned_at = 0  # cards fed when rollers and optics were cleaned last
        self.smeared = False  # a fingerprint on the glass
        self.sun_until = 0  # sunlight falls in until so many cards have been fed
        for entry in log.load():
            if entry.startswith(b"{"):
                self._restore(json.loads(entry))
            else:
                self._apply(json.loads(entry))

    # -- the log ------------------------------------------------------------------------------------------------------

    def do(self, *change: Any) -> None:
        """Make one change true. The first item names it, see ``_apply``."""
        self._log.append(json.dumps(change, separators=(",", ":")).encode())
        self._apply(list(change))
        if self._log.size > self._rewrite_at:
            self._log.rewrite(json.dumps(part).encode() for part in self._snapshot())
            # With many boards the snapshot alone is long; it must not be written again at every change.
            self._rewrite_at = max(Log.REWRITE_AT, 2 * self._log.size)

    def _snapshot(self) -> list[dict[str, Any]]:
        plain = {name: getattr(self, name) for name in _PLAIN}
        return [
            plain,
            *({"board": key, "pockets": pockets, "lay": self.lay.get(key, 0)} for key, pockets in self.boards.items()),
        ]

    def _restore(self, part: dict[str, Any]) -> None:
        if "board" in part:
            key = (part["board"][0], part["board"][1])
            self.boards[key], self.lay[key] = part["pockets"], part["lay"]
            return
        for name, value in part.items():
            if name in ("strayed", "scuffed"):
                value = [(first, second) for first, second in value]
            setattr(self, name, (value[0], value[1]) if name == "slot" and value else value)

    def _apply(self, change: list[Any]) -> None:
        match change:
            case ["load", shuffled]:  # a pack into the hopper, in this order; cards come from wherever they are
                self._take_away(set(shuffled))
                self.hopper += shuffled
                self.shuffles += 1
            case ["new_pack"]:  # from the cupboard to the table top
                self.table += new_pack(self.packs)
                self.packs += 1
            case ["new_pack", colour]:  # the same, with red (0) or blue (1) backs
                self.packs += (self.packs + colour) & 1
                self.table += new_pack(self.packs)
                self.packs += 1
            case ["stop_card"]:  # behind what is in the hopper
                self.hopper.append(STOP_CARD)
            case ["take_stop_card"]:
                if self.hopper[:1] == [STOP_CARD]:
                    del self.hopper[0]
            case ["feed", count]:
                self.belt += self.hopper[:count]
                del self.hopper[:count]
                self.fed += count
            case ["drop", card, seat]:  # from the belt into a pocket of the board in the slot
                self.belt.remove(card)
                if self.slot is None:
                    self.table.append(card)
                else:
                    self.boards[self.slot][seat].append(card)
            case ["back", card]:  # the operator puts a card from the belt on top of the hopper
                self.belt.remove(card)
                self.hopper.insert(0, card)
            case ["insert", number, copy, orientation]:
                self.slot = (number, copy)
                self.boards.setdefault(self.slot, [[], [], [], []])
                self.orientation = self.lay[self.slot] = orientation
            case ["pull"]:
                self.slot = None
                self.orientation = 0
            case ["empty", number, copy]:  # the cards of a board onto the table top
                pockets = self.boards.get((number, copy), [])
                for pocket in pockets:
                    self.table += pocket
                    pocket.clear()
            case ["gather"]:  # hopper and belt onto the table top
                self.table += [card for card in self.hopper + self.belt if card != STOP_CARD]
                self.hopper.clear()
                self.belt.clear()
            case ["unload"]:  # the hopper alone onto the table top
                self.table += [card for card in self.hopper if card != STOP_CARD]
                self.hopper.clear()
            case ["discard", cards]:  # a pack that can't be used leaves the room
                self._take_away(set(cards))
            case ["stray", card, pack]:  # it gets among the cards of another pack, and nobody looks
                self.strayed = [(c, p) for c, p in self.strayed if c != card]
                if pack != pack_of(card):
                    self.strayed.append((card, pack))
            case ["scuff", card, module]:
                self.scuffed.append((card, module))
            case ["clean"]:
                self.cleaned_at = self.fed
                self.smeared = False
            case ["smear"]:
                self.smeared = True
            case ["sun", until]:
                self.sun_until = until
            case ["by_hand", number, copy, seat, place, other]:  # a card of a board into another of its pockets
                pockets = self.boards[(number, copy)]
                pockets[other].append(pockets[seat].pop(place))
            case ["cover", closed]:
                self.cover_closed = closed
            case ["fault", number]:
                self.used_faults.append(number)
            case _:
                raise ValueError(f"no such change of the world: {change[0]}")

    def _take_away(self, cards: set[int]) -> None:
        for place in (self.hopper, self.belt, self.table, *(p for board in self.boards.values() for p in board)):
            if any(card in cards for card in place):
                place[:] = [card for card in place if card not in cards]

    # -- looking at it ------------------------------------------------------------------------------------------------

    def heap_of(self, card: int) -> int:
        """The pack among whose cards a card is found."""
        return next((pack for strayed, pack in self.strayed if strayed == card), pack_of(card))

    def heaps(self) -> dict[int, list[int]]:
        """The packs on the table top, as whoever counts cards takes them for packs."""
        strayed = dict(self.strayed)
        heaps: dict[int, list[int]] = {}
        for card in self.table:
            heaps.setdefault(strayed.get(card, pack_of(card)), []).append(card)
        return heaps

    def scuffs(self, card: int) -> int:
        """The damaged modules of a card, as a mask."""
        mask = 0
        if not self.scuffed:
            return mask
        for scuffed, module in self.scuffed:
            mask |= (scuffed == card) << module
        return mask

    def printed_seat(self, pocket: int) -> int:
        """The seat printed on the board over the machine's pocket ``pocket`` (0 N to 3 W), as the board lies."""
        return (pocket - self.orientation) % 4

    def holds(self, key: BoardKey) -> int:
        """How many cards are in a board."""
        return sum(len(pocket) for pocket in self.boards.get(key, []))

    def truth(self, key: BoardKey, at: float) -> dict[str, Any]:
        """The line of ``truth.jsonl`` for one board."""
        pockets = self.boards[key]
        return {
            "board": key[0],
            "copy": key[1],
            "pockets": {SEATS[seat]: sorted(face(card) for card in pockets[seat]) for seat in range(4)},
            "orientation": 90 * self.lay.get(key, 0),
            "at": round(at, 3),
        }
