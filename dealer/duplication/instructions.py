"""What the operator is told: one plain instruction at a time, with an action for the machine.

Every stop says what happened, at which board and copy, where the cards are, and one next step. No card is named
unless ``show_cards`` was asked for, and then only in ``detail``, never on the machine's display.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dealer.cards import PACK_SIZE, card_name
from dealer.duplication.picture import Picture
from dealer.duplication.plan import BoardKey
from dealer.duplication.verdict import READER_TROUBLE, Reason, Verdict
from drivers.api import Action, CommandReason, Fault, MachineFault, Segment, Sound

MAX_TEXT = 240
"""Bytes of UTF-8 that go on a machine's display."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """What to do next. ``board``, ``copy``: 0 when none is meant. ``detail`` names cards, for --show-cards only."""

    text: str
    action: Action
    sound: Sound = Sound.NONE
    board: int = 0
    copy: int = 0
    detail: str = ""


def short(text: str) -> str:
    """The text cut to what fits on a machine's display, never within a character."""
    return text.encode()[:MAX_TEXT].decode(errors="ignore")


def _place(key: BoardKey, copies: int) -> str:
    return f"Board {key.board}, copy {key.copy}" if copies > 1 else f"Board {key.board}"


# --- the normal rhythm -------------------------------------------------------------------------------------------


def insert(key: BoardKey, copies: int, *, after: BoardKey | None = None) -> Instruction:
    first = f"Board {after.board} is good. " if after is not None else ""
    text = f"{first}{_place(key, copies)}: put the empty board into the machine."
    return Instruction(text, Action.INSERT_BOARD, Sound.NONE, key.board, key.copy)


def remove_done(key: BoardKey, copies: int) -> Instruction:
    text = f"{_place(key, copies)} is good. Take it out."
    return Instruction(text, Action.REMOVE_BOARD, Sound.DONE, key.board, key.copy)


def remove_unconfirmed(key: BoardKey, copies: int, reasons: tuple[Reason, ...]) -> Instruction:
    if Reason.NOT_ORIENTED in reasons:
        doubt = "the machine did not see how the board lay"
    elif Reason.NO_DIGEST in reasons:
        doubt = "the machine can't say what it placed"
    else:
        doubt = "nobody confirmed the number"
    text = f"{_place(key, copies)} is dealt, but {doubt}. Take it out and mark it as not confirmed."
    return Instruction(text, Action.REMOVE_BOARD, Sound.DONE, key.board, key.copy)


def remove_first(key: BoardKey, copies: int) -> Instruction:
    text = f"Take the board out of the machine. Then put in {_place(key, copies).lower()}, empty."
    return Instruction(text, Action.REMOVE_BOARD, Sound.NONE, key.board, key.copy)


def load_pack(key: BoardKey, copies: int) -> Instruction:
    text = f"Put a pack into the hopper for {_place(key, copies).lower()}."
    return Instruction(text, Action.LOAD_PACK, Sound.NONE, key.board, key.copy)


def take_stop_card(key: BoardKey, copies: int) -> Instruction:
    text = f"Take the stop card off the hopper. The pack below it is for {_place(key, copies).lower()}."
    return Instruction(text, Action.LOAD_PACK, Sound.NONE, key.board, key.copy)


def confirm(key: BoardKey, copies: int) -> Instruction:
    text = f"Is this {_place(key, copies).lower()}? Press the key if it is."
    return Instruction(text, Action.CONFIRM_BOARD, Sound.NONE, key.board, key.copy)


def dealing(key: BoardKey, copies: int) -> Instruction:
    return Instruction(
        f"{_place(key, copies)} is being dealt. Leave it in.", Action.WAIT, Sound.NONE, key.board, key.copy
    )


def reading(key: BoardKey, copies: int) -> Instruction:
    text = f"{_place(key, copies)} is being read. Leave it in."
    return Instruction(text, Action.WAIT, Sound.NONE, key.board, key.copy)


def finished(good: int, planned: int, *, board_in: bool = False) -> Instruction:
    last = " Take the last one out." if board_in else ""
    if good == planned:
        what = "The board is made and good." if planned == 1 else f"All {planned} boards are made and good."
        return Instruction(what + last, Action.FINISHED, Sound.DONE)
    text = f"{good} of {planned} boards are good. See the list for the others.{last}"
    return Instruction(text, Action.FINISHED, Sound.STOP)


# --- before the start --------------------------------------------------------------------------------------------


def wrong_board(key: BoardKey, copies: int, label: int) -> Instruction:
    text = f"This is board {label}, wanted is {_place(key, copies).lower()}. Take it out and put in board {key.board}."
    return Instruction(text, Action.SWAP_BOARD, Sound.STOP, key.board, key.copy)


def not_confirmed(key: BoardKey, copies: int) -> Instruction:
    where = _place(key, copies).lower()
    text = f"Nobody confirmed the number. Take the board out, look at its number, and put in {where}, empty."
    return Instruction(text, Action.SWAP_BOARD, Sound.STOP, key.board, key.copy)


def turned(key: BoardKey, copies: int) -> Instruction:
    text = f"{_place(key, copies)} lies turned. Take it out and put it back with North where the arrow points."
    return Instruction(text, Action.TURN_BOARD, Sound.STOP, key.board, key.copy)


def not_oriented(key: BoardKey, copies: int) -> Instruction:
    where = _place(key, copies).lower()
    text = f"The machine can't see how {where} lies. Take it out and put it back, North at the arrow."
    return Instruction(text, Action.TURN_BOARD, Sound.NONE, key.board, key.copy)


_REFUSALS: dict[int, str] = {
    CommandReason.ID_REUSED: "it takes the command for an old one",
    CommandReason.WRONG_STATE: "it is still busy with something",
    CommandReason.NO_BOARD: "it sees no board",
    CommandReason.WRONG_BOARD: "it reads another board number",
    CommandReason.TURNED: "it sees the board turned",
    CommandReason.WRONG_JOB: "it has another job in mind",
    CommandReason.WRONG_BOOT: "it has started anew",
    CommandReason.WRONG_DIGEST: "the deal arrived damaged",
    CommandReason.COVER_OPEN: "its cover is open",
    CommandReason.HOPPER_EMPTY: "its hopper is empty",
    CommandReason.POCKETS_NOT_EMPTY: "there are cards in its pockets",
    CommandReason.UNSUPPORTED: "it can't do that",
}


def why_refused(reason: int) -> str:
    """The machine's reason in a few words, for an error."""
    return _REFUSALS.get(reason, f"for reason {int(reason)}")


def refused(key: BoardKey, copies: int, reason: int) -> Instruction:
    """What to do when the machine will not start, by its reason."""
    where = _place(key, copies)
    if reason == CommandReason.COVER_OPEN:
        return Instruction(f"{where}: close the cover.", Action.CLOSE_COVER, Sound.STOP, key.board, key.copy)
    if reason == CommandReason.HOPPER_EMPTY:
        return load_pack(key, copies)
    if reason == CommandReason.POCKETS_NOT_EMPTY:
        text = f"{where}: there are cards in the board. Take it out, empty it, put it back."
        return Instruction(text, Action.COLLECT_CARDS, Sound.STOP, key.board, key.copy)
    if reason == CommandReason.WRONG_BOARD:
        text = f"The machine reads another number than {key.board}. Put in {where.lower()}."
        return Instruction(text, Action.SWAP_BOARD, Sound.STOP, key.board, key.copy)
    if reason == CommandReason.TURNED:
        return turned(key, copies)
    return insert(key, copies)


# --- stops -------------------------------------------------------------------------------------------------------

_WHAT: dict[Reason, str] = {
    Reason.UNREADABLE: "a card could not be read",
    Reason.JOKER: "there is a joker in the pack",
    Reason.FOREIGN_CARD: "a card does not belong to the pack",
    Reason.LOW_MARGIN: "a card was hard to read",
    Reason.DUPLICATE_CARD: "the same card came twice, or one was misread",
    Reason.MISSING_CARDS: "a card is missing",
    Reason.WRONG_POCKET: "a card went into the wrong pocket",
    Reason.EXIT_DISAGREES: "a card fell into another pocket than it was sent to",
    Reason.EXIT_SILENT: "a card was not seen falling into its pocket",
    Reason.LONG_BEAM: "two cards may have gone through at once",
    Reason.OUT_OF_SEQUENCE: "the machine's messages do not fit together",
    Reason.CARD_COUNT: "not 52 cards came through",
    Reason.POCKET_FULL: "a pocket got a fourteenth card",
    Reason.POCKET_COUNTS: "the pockets do not have 13 cards each",
    Reason.DIGEST_DIFFERS: "the machine placed the cards otherwise than wanted",
    Reason.PULLED: "the board was taken out too early",
    Reason.LINK_LOST: "the line to the machine was lost",
    Reason.RESTARTED: "the machine has started anew",
    Reason.INTERRUPTED: "dealing was interrupted",
    Reason.OTHER_JOB: "the machine reports another board",
    Reason.SILENT: "the machine says nothing any more",
    Reason.WRONG_BOARD: "another board was in the machine",
    Reason.TURNED: "the board lay turned",
    Reason.READ_BACK_DIFFERS: "the cards in it are not those wanted",
}

_FAULTS: dict[int, str] = {
    Fault.JAM: "a card is stuck",
    Fault.MISFEED: "no card comes out of the hopper",
    Fault.DOUBLE_FEED: "two cards went through at once",
    Fault.UNREADABLE: "a card could not be read",
    Fault.DUPLICATE_CARD: "the same card came twice, or one was misread",
    Fault.FOREIGN_CARD: "a card does not belong to the pack",
    Fault.GATE: "a gate failed and a card fell into another pocket",
    Fault.POCKET_FULL: "a pocket got a fourteenth card",
    Fault.BOARD_PULLED: "the board was taken out too early",
    Fault.COVER_OPEN: "the cover was opened",
    Fault.HOPPER_EMPTY: "the pack had fewer than 52 cards",
    Fault.EXTRA_CARD: "the pack had more than 52 cards",
    Fault.HOST_LOST: "the line to the machine was lost",
    Fault.SENSOR: "a sensor gives no sense; keep sunlight away from the machine",
    Fault.STOPPED_BY_KEY: "the stop key was pressed",
}

_SEGMENTS: dict[int, str] = {
    Segment.HOPPER: "at the hopper",
    Segment.READER: "at the reader",
    Segment.GATES: "at the gates",
    Segment.POCKET: "at a pocket",
}


def what_happened(reasons: tuple[Reason, ...], fault: MachineFault | None) -> str:
    """The first thing that went wrong, in a few words."""
    if fault is not None:
        words = _FAULTS.get(fault.fault, f"the machine reports fault {int(fault.fault)}")
        place = _SEGMENTS.get(fault.segment, "")
        return f"{words} {place}".strip() if fault.fault in (Fault.JAM, Fault.SENSOR) else words
    return next((_WHAT[reason] for reason in reasons if reason in _WHAT), "something went wrong")


_CURES: dict[int, tuple[str, Action]] = {
    Fault.JAM: ("Clear the jam, put that card back on top of the hopper", Action.CLEAR_JAM),
    Fault.MISFEED: ("Straighten the pack in the hopper", Action.LOAD_PACK),
    Fault.COVER_OPEN: ("Close the cover", Action.CLOSE_COVER),
}


def cure(key: BoardKey, copies: int, fault: MachineFault) -> Instruction:
    """After a stop from which the machine can go on: what to do; then it goes on by itself."""
    step, action = _CURES.get(fault.fault, ("Do what the machine shows", Action(fault.action)))
    text = f"{_place(key, copies)}: {what_happened((), fault)}. {step}; dealing then goes on by itself."
    return Instruction(text, action, Sound.STOP, key.board, key.copy)


def collect(
    key: BoardKey, copies: int, verdict: Verdict, fault: MachineFault | None, *, replace_pack: bool = False
) -> Instruction:
    """After a stop in mid-board: all cards back into one pack, then the same board again."""
    what = what_happened(verdict.reasons, fault)
    where = "The cards are in the board, the machine and the hopper."
    if replace_pack:
        text = f"{_place(key, copies)}: {what}, again. {where} Take them all out, put another pack into the hopper."
        return Instruction(text, Action.REPLACE_PACK, Sound.STOP, key.board, key.copy)
    jam = "Clear the jam, then collect" if fault is not None and fault.fault == Fault.JAM else "Collect"
    text = f"{_place(key, copies)}: {what}. {where} {jam} all 52, put the pack into the hopper; deal this board again."
    return Instruction(text, Action.COLLECT_CARDS, Sound.STOP, key.board, key.copy)


def return_board(key: BoardKey, copies: int, verdict: Verdict) -> Instruction:
    what = what_happened(verdict.reasons, None)
    text = f"{_place(key, copies)}: {what}. The cards are in the board. Put it back, I'll read it."
    return Instruction(text, Action.RETURN_BOARD, Sound.STOP, key.board, key.copy)


def given_up(key: BoardKey, copies: int, attempts: int) -> Instruction:
    text = (
        f"{_place(key, copies)} failed {attempts} times. Take the cards out and put the board aside; "
        "have pack and machine looked at."
    )
    return Instruction(text, Action.COLLECT_CARDS, Sound.STOP, key.board, key.copy)


def link_down(key: BoardKey | None, copies: int, limit_s: float) -> Instruction:
    place = f"{_place(key, copies)}: t" if key is not None else "T"
    text = f"{place}he machine is gone. Check cable and power; waiting {limit_s:.0f} seconds for it."
    return Instruction(text, Action.WAIT, Sound.STOP, key.board if key else 0, key.copy if key else 0)


def points_at_pack(reasons: Iterable[Reason], fault: MachineFault | None) -> bool:
    """The trouble lies with the cards rather than with the machine."""
    if fault is not None and fault.fault in (
        Fault.UNREADABLE,
        Fault.DUPLICATE_CARD,
        Fault.FOREIGN_CARD,
        Fault.HOPPER_EMPTY,
        Fault.EXTRA_CARD,
    ):
        return True
    return not READER_TROUBLE.isdisjoint(reasons)


def read_otherwise(key: BoardKey, copies: int, found: str) -> Instruction:
    """The board was read and does not hold its cards; ``found``: one sentence that names no card."""
    text = f"{_place(key, copies)} was read. {found} Put all 52 cards into the hopper; this board is dealt again."
    return Instruction(text, Action.COLLECT_CARDS, Sound.STOP, key.board, key.copy)


def packs_mixed(key: BoardKey, copies: int, other: int) -> Instruction:
    """Two boards in a row each had a card twice, and not the same one: each pack has a card of the other."""
    text = (
        f"{_place(key, copies)}: a card came twice, another one in board {other}: the two packs are probably mixed. "
        "Take all cards out, put another pack into the hopper, sort both packs."
    )
    return Instruction(text, Action.REPLACE_PACK, Sound.STOP, key.board, key.copy)


def with_detail(instruction: Instruction, picture: Picture, reasons: tuple[Reason, ...]) -> Instruction:
    """The same instruction with the cards in question, for --show-cards: never on the machine's display."""
    if not picture.seen:
        return instruction
    last = picture.seen[-1]
    words = [f"last card: {name_cards([last.card])}, or {name_cards([last.runner_up])}"]
    if Reason.MISSING_CARDS in reasons:
        words.append(f"missing: {name_cards(picture.missing)}")
    return replace(instruction, detail="; ".join(words))


def name_cards(cards: Iterable[int]) -> str:
    """Cards by name, for ``detail`` under --show-cards only."""
    return ", ".join(card_name(card) if 0 <= card < PACK_SIZE else "?" for card in cards)
