"""Players and seats between a scoring program and our table of persons. SQL through ``terminals.store`` only.

What the program tells is kept as it came and written to the persons that pages and terminals show. What the tables
change there (a name, a swap, somebody who left) is found by comparing, and queued for the program.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from firmware_bridge.db import Connection
from terminals.interop.data_connector.movements import places_of
from terminals.interop.data_connector.result_rows import Section
from terminals.interop.data_connector.shapes import PLAYER, SEAT, Dto, blank, dumps
from terminals.interop.data_connector.structure import Structure
from terminals.movement.model import Format
from terminals.store import data_connector as store
from terminals.store import desk
from terminals.store.desk import Person
from terminals.sync.seats import from_round, later_seat

MAX_NAME = 80


def full_name(dto: Dto) -> str:
    return " ".join(f"{dto['FirstName'] or ''} {dto['LastName'] or ''}".split())[:MAX_NAME]


def put_players(connection: Connection, structure: Structure, session: str, rows: Sequence[Dto]) -> None:
    """Add or change players; who sits already gets the new name."""
    names = {}
    told = store.keys(connection, structure.event, session, "player")
    for dto in rows:
        number = dto["PlayerNumber"].strip()
        names[number] = full_name(dto)
        store.put_own(connection, structure.event, session, "player", number, dumps(dto), told)
    ours = {section.letter for section in structure.sections(session)}
    for person in desk.people(connection, structure.event):
        name = names.get(person.number)
        if name is not None and person.section in ours and name != person.name:
            changed = Person(person.section, person.pair, person.seat, person.number, name)
            desk.save_person(connection, structure.event, changed)


def unknown_numbers(connection: Connection, structure: Structure, session: str, rows: Sequence[Dto]) -> list[str]:
    """Numbers in participations that no player has."""
    known = store.states(connection, structure.event, session, "player")
    numbers = [(dto["PlayerNumber"] or "").strip() for dto in rows]
    return sorted({number for number in numbers if number and number not in known})


def put_seats(connection: Connection, structure: Structure, session: str, rows: Sequence[Dto]) -> None:
    """Who sits where; players must have been told before."""
    known = store.states(connection, structure.event, session, "player")
    told = store.keys(connection, structure.event, session, "seat")
    places: dict[str, dict[tuple[int, int, int], tuple[int, str]]] = {}
    explicit: dict[str, Section] = {}
    for dto in rows:
        section = structure.section(dto["SectionLetters"])
        if section is None:
            continue
        key = seat_key(section.letters, dto["TableNumber"], dto["RoundNumber"], dto["Direction"])
        store.put_own(connection, structure.event, session, "seat", key, dumps(dto), told)
        if section.movement is None:
            continue
        if dto["RoundNumber"] > 1 and section.movement.format is not Format.INDIVIDUAL:
            explicit[section.letters] = section
        if section.letters not in places:
            places[section.letters] = {(r, t, d): (who, seat) for who, seat, r, t, d in places_of(section.movement)}
        found = places[section.letters].get((max(1, dto["RoundNumber"]), dto["TableNumber"], dto["Direction"]))
        if found is not None:
            desk.save_person(connection, structure.event, Person(section.letter, *found, *_who(dto, known)))
    for section in explicit.values():
        _seat_later_rounds(connection, structure, session, section, known)


class LeftSeats:
    """Where a section tells the seats of every round, nobody sits twice in one: whoever gets a seat leaves another.

    Programs send only who sits down; ``rows`` adds the removals that follow from it.
    """

    def __init__(self, connection: Connection, structure: Structure, session: str) -> None:
        self._structure = structure
        self._seat_of: dict[tuple[int, str], tuple[str, int, int]] = {}
        self._sits: dict[tuple[int, tuple[str, int, int]], str] = {}
        for body in store.states(connection, structure.event, session, "seat").values():
            self._left_by(json.loads(body))

    def rows(self, told: Sequence[Dto]) -> list[Dto]:
        """What was told, with the removal of a player from the seat that is left before each."""
        return [row for dto in told for row in (*self._left_by(dto), dto)]

    def _left_by(self, dto: Dto) -> list[Dto]:
        section = self._structure.section(dto["SectionLetters"])
        if section is None or not section.dto["HasExplicitParticipations"]:
            return []
        number, at = (dto["PlayerNumber"] or "").strip(), max(1, dto["RoundNumber"])
        place = section.letters, dto["TableNumber"], dto["Direction"]
        before = self._seat_of.get((at, number), place) if number else place
        left = before != place and self._sits.get((at, before)) == number
        self._sits[at, place] = number
        if number:
            self._seat_of[at, number] = place
        if not left:
            return []
        self._sits[at, before] = ""
        names = dict(zip(("SectionLetters", "TableNumber", "Direction"), before, strict=True))
        return [blank(SEAT, SessionGuid=dto["SessionGuid"], RoundNumber=at, IsRemoval=True, **names)]


def _who(dto: Dto, known: Mapping[str, str]) -> tuple[str, str]:
    """Number and name that a participation says."""
    number = (dto["PlayerNumber"] or "").strip()
    return number, full_name(json.loads(known[number]) if number in known else dto)


def _seat_later_rounds(
    connection: Connection, structure: Structure, session: str, section: Section, known: Mapping[str, str]
) -> None:
    """Of a section whose seats are told for every round: who sits elsewhere than in the round before."""
    event, movement = structure.event, section.movement
    assert movement is not None
    told = store.states(connection, event, session, "seat")
    store.forget_later_seats(connection, event, section.letter)
    now: dict[tuple[int, str], tuple[str, str]] = {}
    for seating in movement.seatings:
        for direction, pair in enumerate((seating.ns, seating.ew, seating.ns, seating.ew), start=1):
            body = told.get(seat_key(section.letters, seating.table, seating.round, direction))
            if body is None:
                continue
            seat, who = "1" if direction <= 2 else "2", _who(json.loads(body), known)
            before = now.get((pair, seat))
            now[pair, seat] = who
            if before != who:
                place = seat if seating.round == 1 else later_seat(seat, seating.round)
                desk.save_person(connection, event, Person(section.letter, pair, place, *who))


def seat_key(letters: str, table: int, round: int, direction: int) -> str:
    return f"{letters}/{table}/{max(1, round)}/{direction}"


def queue_people(connection: Connection, structure: Structure, session: str) -> None:
    """Queue what the tables changed of players and seats."""
    event = structure.event
    people = {(p.section, p.pair, p.seat): p for p in desk.people(connection, event)}
    players = store.states(connection, event, session, "player")
    seats = store.states(connection, event, session, "seat")
    for section in structure.sections(session):
        if section.movement is None:
            continue
        places = [*places_of(section.movement), *_later_places(section, people)]
        told = {
            (contestant, seat): seats.get(seat_key(section.letters, table, round, direction))
            for contestant, seat, round, table, direction in places
        }
        for contestant, seat, round, table, direction in places:
            person = people.get((section.letter, contestant, seat))
            before = seats.get(seat_key(section.letters, table, round, direction))
            if person is None or _same(person, before, players):
                continue
            partner = told.get((contestant, ("2" if seat[0] == "1" else "1") + seat[1:]))
            pairs = section.movement.format is not Format.INDIVIDUAL
            swapped = pairs and before is not None and partner is not None and _same(person, partner, players)
            dto = blank(
                SEAT,
                SessionGuid=session,
                SectionLetters=section.letters,
                TableNumber=table,
                Direction=direction,
                RoundNumber=round,
                IsPlayerSwap=swapped,
            )
            first, _, last = person.name.rpartition(" ")
            if person.number:
                dto["PlayerNumber"] = person.number
            elif person.name:
                dto |= {"FirstName": first or None, "LastName": last}
            else:
                dto["IsRemoval"] = True
            if person.number and person.number not in players:
                name = {"FirstName": first or None, "LastName": last or person.number}
                player = dumps(blank(PLAYER, SessionGuid=session, PlayerNumber=person.number, **name))
                store.add_item(connection, event, session, "player", person.number, player)
                players[person.number] = player
            key = seat_key(section.letters, table, round, direction)
            store.add_item(connection, event, session, "seat", key, dumps(dto))


def _later_places(
    section: Section, people: Mapping[tuple[str, int, str], Person]
) -> list[tuple[int, str, int, int, int]]:
    """As ``places_of``, of whoever takes a seat later than at the start."""
    out = []
    for letter, pair, seat in people:
        base, round = from_round(seat)
        if letter != section.letter or round == 1 or section.movement is None:
            continue
        seating = next((one for one in section.movement.in_round(round) if pair in (one.ns, one.ew)), None)
        if seating is not None:
            out.append((pair, seat, round, seating.table, (1 if pair == seating.ns else 2) + 2 * (base == "2")))
    return out


def _same(person: Person, told: str | None, players: dict[str, str]) -> bool:
    """Whether a person is who the program knows in this seat (None: it knows nobody)."""
    if told is None:
        return not person.number and not person.name
    dto = json.loads(told)
    number = (dto["PlayerNumber"] or "").strip()
    if number:
        known = players.get(number)
        unnamed = not person.number and known is not None and person.name == full_name(json.loads(known))
        return person.number == number or unnamed
    return not person.number and person.name == full_name(dto)


def erase_person(connection: Connection, number: str, name: str) -> int:
    """Take a person out of all that programs told or were told; gives how many texts changed.

    Results stay, they belong to contestants. The persons of the event itself: ``terminals.store.desk.erase_person``.
    """
    wanted = (number.strip(), " ".join(name.split()))
    bodies: dict[str, str] = {}
    for text in {one for one in (wanted[0], *wanted[1].split()) if one}:
        for body in store.bodies_with(connection, dumps(text)[1:-1]):
            changed = _without(json.loads(body), wanted)
            if changed is not None:
                bodies[body] = dumps(changed)
    count = store.erase_bodies(connection, bodies)
    if wanted[0]:
        store.forget_key(connection, "player", wanted[0])
    for row in store.all_events(connection):
        document = json.loads(row.data)
        changed = _without(document, wanted)
        if changed is not None:
            store.change_event(connection, row.event, dumps(changed))
            count += 1
    return count


def _without(value: Any, wanted: tuple[str, str]) -> Any:
    """The JSON value without the person; None when the person is not in it."""
    if isinstance(value, list):
        parts = [_without(one, wanted) for one in value]
        if all(part is None for part in parts):
            return None
        return [one if part is None else part for one, part in zip(value, parts, strict=True)]
    if isinstance(value, str):
        number, name = wanted
        return "-" if value and value in (f"#{number}" if number else "", name) else None
    if not isinstance(value, dict):
        return None
    out = dict(value)
    if "LastName" in value and "PlayerNumber" in value:
        same_number = bool(wanted[0]) and (value["PlayerNumber"] or "").strip() == wanted[0]
        if same_number or (bool(wanted[1]) and full_name(value) == wanted[1]):
            # A number alone would still be the person; the seat stays taken by somebody without a name.
            out |= {"FirstName": None, "LastName": "-", "PlayerNumber": None, "CountryCode": None}
        return out if out != value else None
    changed = False
    for key, one in value.items():
        part = _without(one, wanted) if isinstance(one, (list, dict)) else None
        if part is not None:
            out[key], changed = part, True
    return out if changed else None
