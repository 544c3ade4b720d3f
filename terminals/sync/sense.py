"""Does a record make sense? From 14 bytes to a result of a play, with warnings; or a reason to keep it in quarantine.

Pure. A record makes sense when it can be understood and names a table, board and contestants that the event has. A
pairing that the movement does not have is taken with a warning, because it may have been played all the same (Law 15).
"""

from __future__ import annotations

from dataclasses import dataclass

from dealer.cards import Seat
from firmware_bridge.errors import EntryError
from firmware_bridge.wire.numbers import ConfirmedBy, RecordKind
from firmware_bridge.wire.record import RecordBody
from terminals.contract import Contract, Doubling, Strain
from terminals.movement.model import Movement
from terminals.result import BoardState, NotPlayed, PassedOut, Played
from terminals.store.values import PlayKey
from terminals.sync.setup import MAX_SECTIONS, EventSetup, section_letter

UNPLANNED = "not-in-movement"
OTHER_ROUND = "other-round"
OTHER_TABLE = "other-table"
UNBOUND = "no-movement-yet"
OTHER_SEAT = "not-this-terminal's-table"

WARNINGS = {
    UNPLANNED: "the movement does not have these contestants on this board (Law 15)",
    OTHER_ROUND: "the movement has this in another round",
    OTHER_TABLE: "the movement has this at another table",
    UNBOUND: "there is no movement yet to compare with",
    OTHER_SEAT: "the terminal belongs to another table",
    "locked-table": "the table was locked by the director",
    "after-final": "the results were final already (Law 79C)",
}
"""Code -> words for the desk."""


class Senseless(Exception):
    """A record that can't be a result. ``reason``: words for the desk, which stand within a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason.rstrip(".")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a record says. content: None for an erasure. replaces: places back in the same journal, 0 none."""

    kind: RecordKind
    play: PlayKey
    content: BoardState | None
    round: int
    table: int
    confirmed: int
    replaces: int
    warnings: tuple[str, ...]


def interpret(body: bytes, seq: int, setup: EventSetup, seat: tuple[int, int] | None = None) -> Meaning:
    """What the record with this body and sequence number says in this event.

    seat: section number and table at which the terminal was admitted. Raises Senseless.
    """
    record = RecordBody.unpack(body)
    try:
        kind = RecordKind(record.kind)
        confirmed = ConfirmedBy(record.confirmed_by)
    except ValueError:
        raise Senseless("the kind of record is not known") from None
    content = content_of(record, kind)
    if record.replaces >= seq:
        raise Senseless("it stands for a record before the first of its journal")
    if kind is RecordKind.ERASED and not record.replaces:
        raise Senseless("it erases nothing")
    if kind is RecordKind.NOT_PLAYED and confirmed is not ConfirmedBy.DIRECTOR:
        raise Senseless("only the director may say that a board was not played")
    if not record.table or not record.round:
        raise Senseless("table or round is 0")
    if not record.board or not record.ns or not record.ew:
        raise Senseless("board or pair is 0")
    if record.ns == record.ew:
        raise Senseless("both pairs have the same number")
    section = setup.section(record.section)
    if section is None:
        raise Senseless("the event has no such section")
    if section.movement is None:
        warnings = [UNBOUND]
    else:
        warnings = _compare(record, section.movement)
    if seat is not None and seat != (record.section, record.table):
        warnings.append(OTHER_SEAT)
    return Meaning(
        kind=kind,
        play=PlayKey(section_letter(record.section), record.board, record.ns, record.ew),
        content=content,
        round=record.round,
        table=record.table,
        confirmed=int(confirmed),
        replaces=record.replaces,
        warnings=tuple(warnings),
    )


def place_of(body: bytes) -> str:
    """Where a record says that it comes from, for people; never what was played."""
    record = RecordBody.unpack(body)
    known = 1 <= record.section <= MAX_SECTIONS
    section = section_letter(record.section) if known else f"section {record.section} "
    return f"table {section}{record.table}, round {record.round}, board {record.board}"


def content_of(record: RecordBody, kind: RecordKind) -> BoardState | None:
    """The result that a record names, None when it erases. Raises Senseless."""
    if kind is RecordKind.PLAYED:
        if record.lead != 255 and record.lead > 51:
            raise Senseless("the opening lead is no card")
        try:
            made = Contract(record.level, Strain(record.strain), Doubling(record.doubling), Seat(record.declarer))
            return Played(made, record.tricks, None if record.lead == 255 else record.lead)
        except ValueError:
            raise Senseless("there is no such strain or doubling") from None
        except EntryError as error:
            raise Senseless(error.what) from None
    contract = (record.level, record.strain, record.doubling, record.declarer)
    if any(contract) or record.tricks or record.lead != 255:
        raise Senseless("a contract is given for a board without one")
    if kind is RecordKind.PASSED_OUT:
        return PassedOut()
    return NotPlayed() if kind is RecordKind.NOT_PLAYED else None


def _compare(record: RecordBody, movement: Movement) -> list[str]:
    """Warnings against the movement. Raises Senseless for numbers that the section does not have at all."""
    if record.table > movement.tables:
        raise Senseless("the section has no such table")
    known = movement_numbers(movement)
    if record.board not in known.boards:
        raise Senseless("the section has no such board")
    if record.ns not in known.pairs or record.ew not in known.pairs:
        raise Senseless("the section has no such pair")
    seating = movement.at(record.round, record.table)
    if seating is not None and (seating.ns, seating.ew) == (record.ns, record.ew) and record.board in seating.boards:
        return []
    where = known.meetings.get((record.board, record.ns, record.ew))
    if where is None:
        return [UNPLANNED]
    warnings = []
    if where[0] != record.round:
        warnings.append(OTHER_ROUND)
    if where[1] != record.table:
        warnings.append(OTHER_TABLE)
    return warnings


@dataclass(frozen=True, slots=True)
class MovementNumbers:
    """Look-ups in a movement: its boards, its pairs, and (board, ns, ew) -> (round, table)."""

    boards: frozenset[int]
    pairs: frozenset[int]
    meetings: dict[tuple[int, int, int], tuple[int, int]]


_KNOWN: dict[int, tuple[Movement, MovementNumbers]] = {}


def movement_numbers(movement: Movement) -> MovementNumbers:
    """The look-ups of a movement, worked out once."""
    found = _KNOWN.get(id(movement))
    if found is not None and found[0] is movement:
        return found[1]
    meetings: dict[tuple[int, int, int], tuple[int, int]] = {}
    for seating in movement.seatings:
        for board in seating.boards:
            meetings.setdefault((board, seating.ns, seating.ew), (seating.round, seating.table))
    numbers = MovementNumbers(frozenset(movement.board_numbers), frozenset(movement.pairs), meetings)
    if len(_KNOWN) >= 64:
        _KNOWN.clear()
    _KNOWN[id(movement)] = (movement, numbers)
    return numbers
