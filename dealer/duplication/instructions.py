"""What the operator reads: one instruction at a time, in plain words, with the one next step and no card in it.

A stop says what happened, at which board and copy, where the cards are, and one next step; what then goes on by itself
is a note. Each instruction also carries the action code that the machine's display shows, so that a simulated operator
can obey.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dealer.cards import PACK_SIZE, card_name
from dealer.duplication.picture import Picture
from dealer.duplication.plan import BoardKey
from dealer.duplication.verdict import Reason, Verdict
from dealer.duplication.words import points_at_pack, what_happened, why_refused
from drivers.api import Action, CommandReason, Fault, MachineFault, Sound

__all__ = ["Instruction", "points_at_pack", "what_happened", "why_refused"]

MAX_TEXT = 240
"""Bytes of UTF-8 that go on a machine's display."""

NOT_MOVED = "No card has moved."


@dataclass(frozen=True, slots=True)
class Instruction:
    """What to do next.

    step: the one thing to do. what: what happened, at which board and copy. cards: where the cards are. note: what goes
    on by itself afterwards. ``board``, ``copy``: 0 when none is meant. following: the board wanted after this one, when
    that is known. detail: names cards, for --show-cards only; never on the machine's display.
    """

    step: str
    action: Action
    sound: Sound = Sound.NONE
    board: int = 0
    copy: int = 0
    what: str = ""
    cards: str = ""
    note: str = ""
    following: BoardKey | None = None
    detail: str = ""

    @property
    def text(self) -> str:
        """All of it in one line, as it goes on a display: never a card."""
        return " ".join(part for part in (self.what, self.cards, self.step, self.note) if part)


def short(text: str) -> str:
    """The text cut to what fits on a machine's display, never within a character."""
    return text.encode()[:MAX_TEXT].decode(errors="ignore")


def place(key: BoardKey, copies: int) -> str:
    """Board and, where there are several, copy; begins with a capital."""
    return f"Board {key.board}, copy {key.copy}" if copies > 1 else f"Board {key.board}"


def where_cards_are(cards: int, *, in_flight: int = 0, sure: bool = True, board_in: bool = True) -> str:
    """Where the 52 cards of an attempt lie after a stop, as far as that is known.

    cards: counted into the board. in_flight: on their way. sure: False when the count may be off. board_in: False when
    the board has been taken out.
    """
    if cards == 0 and in_flight == 0 and sure:
        return NOT_MOVED
    board = "the board" if board_in else "the board that was taken out"
    if not sure:
        return f"Cards: about {cards} in {board}, the others in machine and hopper."
    if cards >= PACK_SIZE:
        return f"Cards: all in {board}."
    way = f"{in_flight} in the machine, " if in_flight else ""
    return f"Cards: {cards} in {board}, {way}the others in the hopper."


# --- the normal rhythm -------------------------------------------------------------------------------------------


def insert(key: BoardKey, copies: int) -> Instruction:
    text = f"{place(key, copies)}: put the empty board into the machine."
    return Instruction(text, Action.INSERT_BOARD, Sound.NONE, key.board, key.copy)


def _following(key: BoardKey | None, copies: int) -> str:
    return f"Next: {place(key, copies).lower()}." if key is not None else ""


def remove_done(key: BoardKey, copies: int, following: BoardKey | None = None) -> Instruction:
    return Instruction(
        "Take it out.",
        Action.REMOVE_BOARD,
        Sound.DONE,
        key.board,
        key.copy,
        what=f"{place(key, copies)} is good.",
        note=_following(following, copies),
        following=following,
    )


def remove_unconfirmed(
    key: BoardKey, copies: int, reasons: tuple[Reason, ...], following: BoardKey | None = None
) -> Instruction:
    doubt = what_happened(reasons, None)
    return Instruction(
        "Take it out and mark it as not confirmed.",
        Action.REMOVE_BOARD,
        Sound.DONE,
        key.board,
        key.copy,
        what=f"{place(key, copies)} is dealt, but {doubt}.",
        note=_following(following, copies),
        following=following,
    )


def remove_first(key: BoardKey, copies: int) -> Instruction:
    """A board is in the machine that may be a good one: it is neither emptied nor dealt into."""
    return Instruction(
        "Take the board out of the machine.",
        Action.REMOVE_BOARD,
        Sound.NONE,
        key.board,
        key.copy,
        note=f"Next: {place(key, copies).lower()}, empty.",
        following=key,
    )


def load_pack(key: BoardKey, copies: int) -> Instruction:
    text = f"Put a pack into the hopper for {place(key, copies).lower()}."
    return Instruction(text, Action.LOAD_PACK, Sound.NONE, key.board, key.copy)


def take_stop_card(key: BoardKey, copies: int) -> Instruction:
    text = f"Take the stop card off the hopper. The pack below it is for {place(key, copies).lower()}."
    return Instruction(text, Action.LOAD_PACK, Sound.NONE, key.board, key.copy)


def confirm(key: BoardKey, copies: int) -> Instruction:
    text = f"Is this {place(key, copies).lower()}? Press the key if it is."
    return Instruction(text, Action.CONFIRM_BOARD, Sound.NONE, key.board, key.copy)


def dealing(key: BoardKey, copies: int) -> Instruction:
    text = f"{place(key, copies)} is being dealt. Leave it in."
    return Instruction(text, Action.WAIT, Sound.NONE, key.board, key.copy)


def reading(key: BoardKey, copies: int) -> Instruction:
    text = f"{place(key, copies)} is being read. Leave it in."
    return Instruction(text, Action.WAIT, Sound.NONE, key.board, key.copy)


def finished(good: int, planned: int, *, board_in: bool = False) -> Instruction:
    last = "Take the last one out." if board_in else ""
    if good == planned:
        what = "The board is made and good." if planned == 1 else f"All {planned} boards are made and good."
        return Instruction(last, Action.FINISHED, Sound.DONE, what=what)
    what = f"{good} of {planned} boards are good. The others are named below."
    return Instruction(last, Action.FINISHED, Sound.STOP, what=what)


# --- before the start --------------------------------------------------------------------------------------------


def wrong_board(key: BoardKey, copies: int, label: int) -> Instruction:
    return Instruction(
        f"Take it out and put in {place(key, copies).lower()}, empty.",
        Action.SWAP_BOARD,
        Sound.STOP,
        key.board,
        key.copy,
        what=f"{place(key, copies)} is wanted, this is board {label}.",
        cards=NOT_MOVED,
    )


def not_confirmed(key: BoardKey, copies: int) -> Instruction:
    return Instruction(
        f"Take it out, look at its number, and put in {place(key, copies).lower()}, empty.",
        Action.SWAP_BOARD,
        Sound.STOP,
        key.board,
        key.copy,
        what=f"{place(key, copies)} is wanted, nobody has confirmed that this is it.",
        cards=NOT_MOVED,
    )


def turned(key: BoardKey, copies: int) -> Instruction:
    return Instruction(
        "Take it out and put it back with North where the arrow points.",
        Action.TURN_BOARD,
        Sound.STOP,
        key.board,
        key.copy,
        what=f"{place(key, copies)} lies turned.",
        cards=NOT_MOVED,
    )


def not_oriented(key: BoardKey, copies: int) -> Instruction:
    return Instruction(
        "Take it out and put it back with North where the arrow points.",
        Action.TURN_BOARD,
        Sound.STOP,
        key.board,
        key.copy,
        what=f"{place(key, copies)}: the machine can't see how it lies.",
        cards=NOT_MOVED,
    )


def refused(key: BoardKey, copies: int, reason: int) -> Instruction:
    """What to do when the machine will not start, by its reason."""
    where = place(key, copies)
    if reason == CommandReason.COVER_OPEN:
        return _stop(key, "Close the cover.", Action.CLOSE_COVER, f"{where}: the cover is open.", NOT_MOVED)
    if reason == CommandReason.HOPPER_EMPTY:
        return load_pack(key, copies)
    if reason == CommandReason.POCKETS_NOT_EMPTY:
        what = f"{where}: there are cards in the board or on the way to it."
        return _stop(key, "Take the board out, empty it, put it back.", Action.COLLECT_CARDS, what, NOT_MOVED)
    if reason == CommandReason.WRONG_BOARD:
        what = f"{where} is wanted, the machine reads another number."
        return _stop(key, f"Take it out and put in {where.lower()}, empty.", Action.SWAP_BOARD, what, NOT_MOVED)
    if reason == CommandReason.TURNED:
        return turned(key, copies)
    return insert(key, copies)


# --- stops -------------------------------------------------------------------------------------------------------


def _stop(key: BoardKey, step: str, action: Action, what: str, cards: str, note: str = "") -> Instruction:
    return Instruction(step, action, Sound.STOP, key.board, key.copy, what=what, cards=cards, note=note)


_CURES: dict[int, tuple[str, Action]] = {
    Fault.JAM: ("Clear the jam and put that card back on top of the hopper.", Action.CLEAR_JAM),
    Fault.MISFEED: ("Straighten the pack in the hopper.", Action.LOAD_PACK),
    Fault.COVER_OPEN: ("Close the cover.", Action.CLOSE_COVER),
}

GOES_ON = "Dealing then goes on by itself."
AGAIN = "Then it is dealt again."


def cure(key: BoardKey, copies: int, fault: MachineFault, cards: str) -> Instruction:
    """After a stop from which the machine can go on: what to do; then it goes on by itself."""
    step, action = _CURES.get(fault.fault, ("Do what the machine shows.", Action(fault.action)))
    return _stop(key, step, action, f"{place(key, copies)}: {what_happened((), fault)}.", cards, GOES_ON)


def collect(
    key: BoardKey,
    copies: int,
    verdict: Verdict,
    fault: MachineFault | None,
    cards: str,
    *,
    replace_pack: bool = False,
    blame_reader: bool = False,
) -> Instruction:
    """After a stop in mid-board: all cards back into one pack, then the same board again.

    blame_reader: another pack was hard to read as well, so the pack is not what is wrong.
    """
    what = f"{place(key, copies)}: {what_happened(verdict.reasons, fault)}"
    if blame_reader:
        step = "Keep sunlight off, clean the reader, put all 52 cards back in."
        action = Action.REPLACE_PACK if replace_pack else Action.COLLECT_CARDS
        return _stop(key, step, action, f"{what}, another pack too.", cards, AGAIN)
    if replace_pack:
        step = "Take all the cards out and put another pack into the hopper."
        return _stop(key, step, Action.REPLACE_PACK, f"{what}, again.", cards, AGAIN)
    step = "Put all 52 cards back into the hopper."
    if fault is not None and fault.fault == Fault.JAM:
        step = "Clear the jam and put all 52 cards back into the hopper."
    elif fault is not None and fault.fault == Fault.COVER_OPEN:
        step = "Put all 52 cards back into the hopper and close the cover."
    elif fault is not None and fault.fault in (Fault.HOPPER_EMPTY, Fault.EXTRA_CARD, Fault.FOREIGN_CARD):
        step = "Take all the cards out and put a counted pack of 52 in."
    return _stop(key, step, Action.COLLECT_CARDS, f"{what}.", cards, AGAIN)


def return_board(key: BoardKey, copies: int, verdict: Verdict) -> Instruction:
    """The board may hold all its cards: before anything is taken out of it, it is looked into."""
    what = f"{place(key, copies)}: {what_happened(verdict.reasons, None)}."
    return _stop(
        key, "Put the board back: I'll read it.", Action.RETURN_BOARD, what, "Cards: in the board, perhaps all of them."
    )


def wrong_to_read(key: BoardKey, copies: int, label: int) -> Instruction:
    """Another board has been put in than the one that is to be read: nobody is told to empty either."""
    what = f"{place(key, copies)} is wanted, this is board {label}."
    step = f"Take it out and put {place(key, copies).lower()} back: I'll read it."
    return _stop(key, step, Action.RETURN_BOARD, what, "Cards: leave them in the boards.")


def board_still_in(key: BoardKey, copies: int) -> Instruction:
    """The cards are said to be collected, but the board from which they come has never left the machine."""
    what = f"{place(key, copies)}: the board is still in the machine."
    step = "Take the board out; no card may be left in it."
    return Instruction(step, Action.COLLECT_CARDS, Sound.STOP, key.board, key.copy, what=what, note=AGAIN)


def withdrawn(key: BoardKey, copies: int, reason: Reason, *, board_in: bool) -> Instruction:
    """A board that was called good, or dealt, is not: the machine has said something that speaks against it since."""
    why = "the machine went on after DONE" if reason is Reason.OUT_OF_SEQUENCE else what_happened((reason,), None)
    what = f"{place(key, copies)} is not good after all: {why}."
    step = "Take it out and put it aside." if board_in else "Put that board aside."
    action = Action.REMOVE_BOARD if board_in else Action.WAIT
    return _stop(key, step, action, what, "Cards: leave them in the board.", "It is read or dealt again later.")


def left_behind(key: BoardKey, copies: int, reasons: tuple[Reason, ...] = (Reason.INTERRUPTED,)) -> Instruction:
    """Nothing can say any more where the cards are: an earlier run ended in mid-board, or a verdict was taken back."""
    what = f"{place(key, copies)}: {what_happened(reasons, None)}."
    if Reason.INTERRUPTED not in reasons:
        step = "Take all its cards out and put a counted pack of 52 into the hopper."
        return _stop(key, step, Action.COLLECT_CARDS, what, "Cards: in this board, perhaps more than 52.", AGAIN)
    where = "Cards: some in this board, the others in machine and hopper."
    return _stop(key, "Put all 52 cards back into the hopper.", Action.COLLECT_CARDS, what, where, AGAIN)


def given_up(key: BoardKey, copies: int, attempts: int, cards: str) -> Instruction:
    what = f"{place(key, copies)} failed {attempts} times; pack and machine have to be looked at."
    step = "Take all the cards out and put the board aside."
    return _stop(key, step, Action.COLLECT_CARDS, what, cards)


def link_down(key: BoardKey | None, copies: int, limit_s: float, cards: str = "") -> Instruction:
    what = "The machine does not answer." if key is None else f"{place(key, copies)}: the machine does not answer."
    return Instruction(
        "Check cable and power.",
        Action.WAIT,
        Sound.STOP,
        key.board if key else 0,
        key.copy if key else 0,
        what=what,
        cards=cards or "Cards: leave them where they are.",
        note=f"I wait {limit_s:.0f} seconds for it.",
    )


def read_otherwise(key: BoardKey, copies: int, found: str) -> Instruction:
    """The board was read and does not hold its cards; ``found``: one sentence that names no card."""
    what = f"{place(key, copies)} was read. {found}"
    step = "Put all 52 cards back into the hopper."
    return _stop(key, step, Action.COLLECT_CARDS, what, "Cards: those that were read are in the board.", AGAIN)


def packs_mixed(key: BoardKey, copies: int, other: int, cards: str) -> Instruction:
    """Two boards in a row each had a card twice, and not the same one: each pack has a card of the other."""
    what = f"{place(key, copies)}: a card came twice, another in board {other}: the packs are probably mixed."
    step = "Take all the cards out and put a whole pack in."
    return _stop(key, step, Action.REPLACE_PACK, what, cards, AGAIN)


def with_detail(instruction: Instruction, picture: Picture, reasons: tuple[Reason, ...]) -> Instruction:
    """The same instruction with the cards in question, for --show-cards: never on the machine's display."""
    if not picture.seen:
        return instruction
    last = picture.seen[-1]
    words = [f"last card: {name_cards([last.card])}, or {name_cards([last.runner_up])}"]
    if Reason.MISSING_CARDS in reasons:
        words.append(f"missing: {name_cards(picture.missing)}")
    return replace(instruction, detail="; ".join(words))


def named(instruction: Instruction, detail: str) -> Instruction:
    """The same instruction with words that name cards, for --show-cards."""
    return replace(instruction, detail=detail)


def name_cards(cards: Iterable[int]) -> str:
    """Cards by name, for ``detail`` under --show-cards only."""
    return ", ".join(card_name(card) if 0 <= card < PACK_SIZE else "?" for card in cards)
