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
from terminals.store import desk
from terminals.store.desk import Person
from terminals.sync.sense import Senseless
from terminals.sync.setup import EventSetup

MAX_FOUND = 8
MAX_NAMES = 255
NAME_BYTES = 40
MAX_NUMBER = 12
GUEST = "Guest"


def names_of_table(connection: Connection, setup: EventSetup, seat: tuple[int, int]) -> Names | None:
    """The names of everybody who comes to a table, or None when names are not shown."""
    section = setup.section(seat[0])
    if section is None or not setup.settings_of(section.number).names:
        return None
    wanted: set[int] | None = None
    if section.movement is not None:
        seatings = [one for one in section.movement.seatings if one.table == seat[1]]
        wanted = {pair for one in seatings for pair in (one.ns, one.ew)}
    told = [
        SeatName(one.pair, int(one.seat), fit_text(one.name or one.number, NAME_BYTES))
        for one in desk.people(connection, desk.event_hex(setup.id))
        if one.section == section.letter and one.seat in ("1", "2") and (one.name or one.number)
        if wanted is None or one.pair in wanted
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
    return Person(section.letter, record.pair, str(record.seat), number, name)
