"""What went wrong, in a few words for the operator: the kind of trouble, never a card. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from dealer.duplication.verdict import READER_TROUBLE, Reason
from drivers.api import CommandReason, Fault, MachineFault, Segment

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
    Reason.NO_DIGEST: "the machine can't say what it placed",
    Reason.NOT_CONFIRMED: "nobody confirmed the number",
    Reason.NOT_ORIENTED: "the machine did not see how the board lay",
    Reason.WRONG_PACK: "the pack has the wrong backs",
    Reason.PACK_UNSEEN: "the machine did not see the backs of the pack",
    Reason.HANDS_INSIDE: "somebody reached among the cards",
    Reason.PULLED: "the board was taken out too early",
    Reason.LINK_LOST: "the line to the machine was lost",
    Reason.RESTARTED: "the machine lost its power and has started anew",
    Reason.INTERRUPTED: "the program ended while it was in work",
    Reason.OTHER_JOB: "the machine reports another board",
    Reason.SILENT: "the machine says nothing any more",
    Reason.WRONG_BOARD: "another board was in the machine",
    Reason.TURNED: "the board lay turned",
    Reason.READ_BACK_DIFFERS: "the cards in it are not those wanted",
    Reason.WRONG_PACK: "a card with the wrong back came",
    Reason.PACK_UNSEEN: "the machine did not see the backs of the cards",
    Reason.HANDS_INSIDE: "somebody reached into the machine while it dealt",
    Reason.MACHINE_FAULT: "the machine stopped",
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
    Fault.HOPPER_EMPTY: "the pack had fewer than 52 cards, or two went through at once",
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


def what_happened(reasons: Iterable[Reason], fault: MachineFault | None) -> str:
    """The first thing that went wrong, in a few words; the machine's own word comes first."""
    if fault is not None:
        words = _FAULTS.get(fault.fault, f"the machine reports fault {int(fault.fault)}")
        place = _SEGMENTS.get(fault.segment, "")
        return f"{words} {place}".strip() if fault.fault in (Fault.JAM, Fault.SENSOR) else words
    found = tuple(reasons)
    if Reason.RESTARTED in found:
        return _WHAT[Reason.RESTARTED]  # the line is lost with the power: the power is what has to be looked at
    return next((_WHAT[reason] for reason in found if reason in _WHAT), "something went wrong")


def in_words(reason: Reason) -> str:
    """One reason in a few words."""
    return _WHAT.get(reason, reason.value.replace("-", " "))


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
