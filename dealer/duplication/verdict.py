"""The words of a verdict: the states a board can be in, and the reasons for not calling it good. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BoardState(StrEnum):
    """State of one physical board (set, board, copy) in the journal."""

    PLANNED = "planned"
    DEALING = "dealing"
    GOOD = "good"
    UNCONFIRMED = "unconfirmed"
    """The cards are right, but nobody and nothing has seen that it is this board, or that it lies right."""
    SUSPECT = "suspect"
    FAILED = "failed"
    """Given up after the last attempt."""
    UNKNOWN = "unknown"
    """Power, line or program was lost in mid-board; to be read back or dealt again."""


SETTLED = frozenset({BoardState.GOOD, BoardState.UNCONFIRMED})
"""States of a board that is made; a later run leaves it alone unless told otherwise."""


class Reason(StrEnum):
    """Why a board is not called good. Names the kind of doubt, never a card."""

    UNREADABLE = "unreadable"
    JOKER = "joker"
    FOREIGN_CARD = "foreign-card"
    LOW_MARGIN = "low-margin"
    DUPLICATE_CARD = "duplicate-card"
    MISSING_CARDS = "missing-cards"
    WRONG_POCKET = "wrong-pocket"
    EXIT_DISAGREES = "exit-disagrees"
    EXIT_SILENT = "exit-silent"
    LONG_BEAM = "long-beam"
    OUT_OF_SEQUENCE = "out-of-sequence"
    CARD_COUNT = "card-count"
    POCKET_FULL = "pocket-full"
    POCKET_COUNTS = "pocket-counts"
    DIGEST_DIFFERS = "digest-differs"
    NO_DIGEST = "no-digest"
    WRONG_BOARD = "wrong-board"
    TURNED = "turned"
    NOT_CONFIRMED = "not-confirmed"
    NOT_ORIENTED = "not-oriented"
    WRONG_PACK = "wrong-pack"
    PACK_UNSEEN = "pack-unseen"
    HANDS_INSIDE = "hands-inside"
    """Somebody reached into the machine in mid-board; the cards have to be read before the board is believed."""
    PULLED = "pulled"
    LINK_LOST = "link-lost"
    RESTARTED = "restarted"
    INTERRUPTED = "interrupted"
    MACHINE_FAULT = "machine-fault"
    OTHER_JOB = "other-job"
    SILENT = "silent"
    READ_BACK_DIFFERS = "read-back-differs"


MILD = frozenset({Reason.NOT_CONFIRMED, Reason.NOT_ORIENTED, Reason.NO_DIGEST, Reason.PACK_UNSEEN})
"""Nothing speaks against the cards, but something that should speak for them is silent: ``unconfirmed``."""

BROKEN = frozenset({Reason.LINK_LOST, Reason.RESTARTED, Reason.INTERRUPTED})
"""What happened meanwhile was not seen: ``unknown``."""

READER_TROUBLE = frozenset(
    {Reason.UNREADABLE, Reason.LOW_MARGIN, Reason.DUPLICATE_CARD, Reason.JOKER, Reason.FOREIGN_CARD}
)
"""Reasons that point at the pack: after repeated ones another pack is asked for."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """State of a board after an attempt, and every reason found, in the order in which they were found."""

    state: BoardState
    reasons: tuple[Reason, ...] = ()

    @property
    def good(self) -> bool:
        return self.state is BoardState.GOOD


def judge(reasons: tuple[Reason, ...]) -> Verdict:
    """The state that follows from the reasons: none at all is the only way to ``good``."""
    if not reasons:
        return Verdict(BoardState.GOOD)
    if BROKEN.intersection(reasons):
        return Verdict(BoardState.UNKNOWN, reasons)
    if MILD.issuperset(reasons):
        return Verdict(BoardState.UNCONFIRMED, reasons)
    return Verdict(BoardState.SUSPECT, reasons)
