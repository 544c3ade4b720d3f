"""Names at the tables: who sits in the rounds of a table, a player found by any spelling, a name keyed in.

Names are kept in ``person``, outside the ledger: the ledger has the key of a name record and a hash, so that a record
that comes twice is known and a person can be erased.
"""

from __future__ import annotations

from firmware_bridge.db import Connection
from firmware_bridge.wire.messages import (
    FoundPlayer,
    NameFound,
    NameRecord,
    Names,
    NameSearch,
    SeatName,
    encode,
    fit_text,
)
from firmware_bridge.wire.numbers import NameHow
from terminals.players import fold
from terminals.store import desk, results
from terminals.store.desk import Person
from terminals.sync import seats
from terminals.sync.sense import Senseless
from terminals.sync.setup import EventSetup

MAX_FOUND = 8
MAX_NAMES = 255
NAME_BYTES = 40
MAX_NUMBER = 12
GUEST = "Guest"


def names_of_table(connection: Connection, setup: EventSetup, seat: tuple[int, int], round: int = 0) -> Names | None:
    """The names of everybody who comes to a table, or None when names are not shown.

    round: on the table's screen, 0 when it is not known; of a pair that other people join later those are told who are
    there when it comes to this table.
    """
    section = setup.section(seat[0])
    if section is None or not setup.settings_of(section.number).names:
        return None
    event, movement = desk.event_hex(setup.id), section.movement
    people = seats.by_place(one for one in desk.people(connection, event) if one.section == section.letter)
    pairs = {pair for _, pair, _ in people}
    if movement is not None:
        pairs &= {pair for one in movement.seatings if one.table == seat[1] for pair in one.contestants}
    if not round:
        rows = results.of_table_and_board(connection, event, section.letter, seat[1], 0)
        round = max((row.round for row in rows), default=1)
    told = [
        SeatName(pair, number, fit_text(one.name or one.number, NAME_BYTES))
        for pair in sorted(pairs)
        for number, one in enumerate(
            seats.sitting(people, section.letter, pair, seats.round_here(movement, pair, seat[1], round)), start=1
        )
        if one is not None and (one.name or one.number)
    ]
    return Names(tuple(told[:MAX_NAMES]))


def find_players(connection: Connection, asked: NameSearch) -> NameFound:
    """Players whose number begins like the text, or whose name has every word at the start of one of its own."""
    words = fold(asked.text).split()
    if not words:
        return NameFound(asked.search, 0, ())
    found = dict.fromkeys(desk.players_beginning(connection, words, MAX_FOUND + 1))
    for number, name in desk.people_known(connection):
        if len(found) > MAX_FOUND:
            break
        parts = fold(name).split()
        starts = len(words) == 1 and number.startswith(words[0])
        if starts or all(any(part.startswith(word) for part in parts) for word in words):
            found[number, name] = None
    players = [FoundPlayer(fit_text(number, MAX_NUMBER), fit_text(name, NAME_BYTES)) for number, name in found]
    return NameFound(asked.search, int(len(players) > MAX_FOUND), tuple(players[:MAX_FOUND]))


def name_body(record: NameRecord) -> bytes:
    """The bytes that CRC and authenticator of a name record cover, after its key (docs/protocol.md, 0x76)."""
    return encode(record)[18:]


def person_of(connection: Connection, setup: EventSetup, record: NameRecord) -> Person:
    """Whom a name record puts where. Raises Senseless, without the name."""
    section = setup.section(record.section)
    if section is None:
        raise Senseless("the event has no such section")
    if not record.pair or record.seat not in (1, 2):
        raise Senseless("it names nobody's seat")
    if section.movement is not None and record.pair not in section.movement.pairs:
        raise Senseless("the section has no such pair")
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in record.text).split())
    number = name = ""
    if record.how == NameHow.NUMBER:
        if not text or len(text) > MAX_NUMBER:
            raise Senseless("it has no player's number")
        number, name = text, desk.name_of_number(connection, text)
    elif record.how == NameHow.NAME:
        if not fold(text):
            raise Senseless("it has no name")
        name = text[:80]
    elif record.how == NameHow.GUEST:
        name = text[:80] or GUEST
    else:
        raise Senseless("the kind of name is not known")
    people = seats.by_place(desk.people(connection, desk.event_hex(setup.id)))
    place = seats.seat_at(people, section.letter, record.pair, str(record.seat), record.round or 1)
    return Person(section.letter, record.pair, place, number, name)
