"""What the store keeps of an evening: records as they came, result events, and what follows from them. Frozen values.

A *record* is what a terminal sent, byte for byte. A *result event* is what it means (or what a director did), appended
and never changed. A *play* is one board played by two contestants; its current result is worked out from its events.
Nothing here has a clock; numbers given by the store at commit are the only order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from terminals.result import BoardState


class RecordState(StrEnum):
    """What became of a record."""

    STORED = "stored"
    QUARANTINED = "quarantined"  # authentic, but makes no sense; kept and acknowledged
    CONFLICT = "conflict"  # same key as another record, other body; kept, never acknowledged


class EventKind(StrEnum):
    """What a result event says. The first five come from tables, the others from the director's desk."""

    ENTERED = "entered"
    CONFIRMED = "confirmed"  # the same result again, now accepted by the other side
    CORRECTED = "corrected"
    ERASED = "erased"
    LEFT = "left"  # a correction at the table moved this entry to another play
    RULED = "ruled"  # the director gave this play a result, a ruling or the state "not played"
    REMOVED = "removed"  # the director took the result away
    MOVED_AWAY = "moved-away"  # the director moved the result to another play
    MOVED_HERE = "moved-here"
    UNDONE = "undone"  # an earlier action of the director no longer counts
    CHECKED = "checked"  # the director looked at what needs attention and leaves the result as it is


TABLE_KINDS = frozenset({EventKind.ENTERED, EventKind.CONFIRMED, EventKind.CORRECTED, EventKind.ERASED, EventKind.LEFT})


class PlayStatus(StrEnum):
    """How far the result of a play has come."""

    NONE = "none"  # no current result
    ENTERED = "entered"
    CONFIRMED = "confirmed"
    AMENDED = "amended"  # by the director
    FINAL = "final"  # the correction period is over (Law 79C)


@dataclass(frozen=True, slots=True, order=True)
class PlayKey:
    """Which play: section letter, board, the two contestants' numbers, and the play instance from 1 (Law 15)."""

    section: str
    board: int
    ns: int
    ew: int
    play: int = 1

    def __str__(self) -> str:
        again = f", play {self.play}" if self.play != 1 else ""
        return f"section {self.section}, board {self.board}, {self.ns} against {self.ew}{again}"


@dataclass(frozen=True, slots=True, order=True)
class RecordKey:
    """Who sent a record: device (64 bits), journal (32 bits), seq from 1. Unique for ever."""

    device: int
    journal: int
    seq: int

    @property
    def device_hex(self) -> str:
        return device_hex(self.device)

    @property
    def journal_hex(self) -> str:
        return f"{self.journal:08x}"


def device_hex(device: int) -> str:
    """A device id as people and files see it: 16 hexadecimal digits."""
    return f"{device:016x}"


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as it came: body 14 bytes, crc as sent, auth 6 bytes (zeros without a key).

    The body names a card, so it is left out of the repr.
    """

    key: RecordKey
    body: bytes = field(repr=False)
    crc: int
    auth: bytes = field(default=bytes(6), repr=False)


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """One thing that happened to one play.

    number: given by the store at commit, 0 before. key: the raw record behind it, None for the desk. root: seq of the
    first record of the same entry in that journal. content: the result, None where there is none. action: groups the
    events of one act of the director. target: the action that UNDONE takes back. warnings: codes for the desk. wall:
    the time of day for people, never used for order.
    """

    kind: EventKind
    play: PlayKey
    content: BoardState | None = None
    round: int = 0
    table: int = 0
    key: RecordKey | None = None
    root: int = 0
    confirmed: int = 0
    warnings: tuple[str, ...] = ()
    action: str = ""
    target: str = ""
    actor: str = ""
    second: str = ""
    note: str = ""
    wall: str = ""
    number: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """What one entry at one terminal says about a play now: ``content`` None when it was erased there.

    root, seq: the first and the last record of the entry. first, number: their events.
    """

    device: int
    journal: int
    root: int
    seq: int
    content: BoardState | None
    confirmed: int
    number: int
    first: int
    round: int
    table: int


@dataclass(frozen=True, slots=True)
class PlayState:
    """The current state of a play, worked out from its events.

    content: the current result, None when there is none. claims: what the tables say, oldest first. attention: codes
    of what the director should look at (``contested``, ``erased-elsewhere``, ``after-ruling``). ruled: a decision of
    the director stands. changes: how many events there are (the version for optimistic changes). number: of the last.
    actions: those of the director that stand, oldest first.
    """

    play: PlayKey
    content: BoardState | None
    status: PlayStatus
    claims: tuple[Claim, ...] = ()
    attention: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ruled: bool = False
    round: int = 0
    table: int = 0
    changes: int = 0
    number: int = 0
    actions: tuple[str, ...] = ()

    @property
    def current(self) -> int:
        """How many current results the play has: 0 or 1."""
        return 0 if self.content is None else 1
