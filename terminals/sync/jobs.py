"""What the collector wants the store to do, and what became of it: plain values between the two.

Applied by ``terminals.sync.ingest``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from dealer.deal import Deal
from firmware_bridge.wire.messages import Message, NameRecord, TableRecord
from terminals.entry import Budget
from terminals.store.desk import Device
from terminals.store.values import RawRecord
from terminals.sync.questions import TakeQuestion


class Verdict(Enum):
    """What became of one record of a batch."""

    STORED = "stored"
    QUARANTINED = "quarantined"
    KNOWN = "known"  # the same record again
    CONFLICT = "conflict"  # the key is taken by another body
    GAP = "gap"  # records before it are missing


TAKEN = frozenset({Verdict.STORED, Verdict.QUARANTINED, Verdict.KNOWN})
"""Verdicts after which a record may be acknowledged."""


@dataclass(frozen=True, slots=True)
class TakeRecord:
    """Store a record. seat: section number and table at which the terminal was admitted. wall: for people to read.

    name, table: when it is a NAME_RECORD or a TABLE_RECORD; the body in ``raw`` is then its hash. deal: of the board
    that a table record is about, None when it is not known.
    """

    raw: RawRecord
    seat: tuple[int, int] | None = None
    wall: str = ""
    name: NameRecord | None = field(default=None, repr=False)
    table: TableRecord | None = field(default=None, repr=False)
    deal: Deal | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class TakeParts:
    """A terminal says which of its records belong to which event: (journal, first seq, event id), in its order."""

    device: int
    parts: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class TakeTable:
    """The director lets a terminal take over a table, at the table."""

    device: int
    section: int
    table: int
    wall: str = ""


@dataclass(frozen=True, slots=True)
class TakeJournal:
    """A terminal shows itself: what it keys in from ``next_seq`` on belongs to this event."""

    device: int
    journal: int
    next_seq: int


@dataclass(frozen=True, slots=True)
class TakeDevice:
    """Keep what is known of a device: a new one that waits, one that was admitted."""

    device: Device


@dataclass(frozen=True, slots=True)
class TakeAlarm:
    kind: str
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class TakeDesk:
    """A desk event, for example a call of the director."""

    kind: str
    data: Mapping[str, object]
    actor: str = ""
    wall: str = ""


@dataclass(frozen=True, slots=True)
class TakeHole:
    """Records ``first`` to ``last`` of a journal can't be had any more (the host's store is older than the journal)."""

    device: int
    journal: int
    first: int
    last: int


Job = TakeRecord | TakeParts | TakeTable | TakeJournal | TakeDevice | TakeAlarm | TakeDesk | TakeHole | TakeQuestion


@dataclass(frozen=True, slots=True)
class Done:
    """verdict: of a record, None for other jobs. upto: highest number of its journal (or that of a hole) without a gap.

    refused: why a device could not be kept as asked (its table was taken meanwhile), else "". answers: to a question;
    budget: of warnings that its table has left, None as before. devices: of the roster, as they are now.
    """

    verdict: Verdict | None = None
    upto: int = 0
    refused: str = ""
    answers: tuple[Message, ...] = ()
    budget: Budget | None = None
    devices: tuple[Device, ...] = ()
