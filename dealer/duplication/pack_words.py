"""What the operator is told about packs: which backs a board wants, and what to do when others are in the hopper."""

from __future__ import annotations

from dealer.duplication import instructions as say
from dealer.duplication.checks import Placement
from dealer.duplication.instructions import Instruction
from dealer.duplication.plan import BoardKey
from drivers.api import Action, BackColour, Sound

_NAMES = {BackColour.RED: "red", BackColour.BLUE: "blue"}


def load_pack(key: BoardKey, copies: int, placement: Placement) -> Instruction:
    """Asks for a pack, and for its colour where that matters."""
    if placement.wanted_pack is None:
        return say.load_pack(key, copies)
    text = f"Put a {_NAMES[placement.wanted_pack]} pack into the hopper for {_place(key, copies)}."
    other = next(name for colour, name in _NAMES.items() if colour != placement.wanted_pack)
    note = f"Below it may lie a stop card and a {other} pack." if placement.two_packs else ""
    return Instruction(text, Action.LOAD_PACK, Sound.NONE, key.board, key.copy, note=note)


def wrong_pack(key: BoardKey, copies: int, placement: Placement) -> Instruction:
    """The pack that is about to be dealt has other backs than this board wants."""
    seen = next((name for colour, name in _NAMES.items() if placement.pack == colour), "other")
    wanted = _NAMES[placement.wanted_pack] if placement.wanted_pack is not None else "other"
    what = f"The pack in the hopper has {seen} backs; {_place(key, copies)} wants {wanted} ones."
    step = f"Take it out and put a {wanted} pack in."
    return Instruction(step, Action.CHANGE_PACK, Sound.STOP, key.board, key.copy, what=what, cards=say.NOT_MOVED)


def pack_unseen(key: BoardKey, copies: int) -> Instruction:
    """The machine can't tell the backs."""
    what = f"The machine can't see the backs of the pack for {_place(key, copies)}."
    step = "Take the pack out, and put it in again with its backs up."
    return Instruction(step, Action.CHANGE_PACK, Sound.STOP, key.board, key.copy, what=what, cards=say.NOT_MOVED)


def _place(key: BoardKey, copies: int) -> str:
    return f"board {key.board}, copy {key.copy}" if copies > 1 else f"board {key.board}"
