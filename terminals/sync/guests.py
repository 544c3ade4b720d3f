"""A guest of earlier evenings turns out to be a member: the places where the guest sat become the member's.

Runs inside a transaction of the caller. Results belong to contestants and never change by it.
"""

from __future__ import annotations

from dataclasses import replace

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from terminals.players import Player, merge_guest, new_guest
from terminals.store import desk
from terminals.store.desk import Person


def merge_people(connection: Connection, guest: str, member: int) -> list[tuple[str, Person]]:
    """guest: the name or the number under which the guest sat. Gives (event, place) of every place, as it is now.

    Raises EntryError when nobody of that name or number sat anywhere, when the guest is on the club's list, when the
    member is not, and when both sat in the same event: then they are two people.
    """
    number, words = str(member), " ".join(guest.split())
    name = desk.member(connection, number)
    if not name:
        raise EntryError("The club's list has no such member.", where=f"number {member}", code="no-such-player")
    by_number = words.isascii() and words.isdigit()
    if by_number and desk.member(connection, words):
        raise EntryError("This is a member of the club, not a guest.", where=f"number {words}", code="no-guest")
    places = desk.places_of(connection, words if by_number else "", "" if by_number else words)
    if not places:
        raise EntryError("Nobody of that name or number sat here as a guest.", where=words[:40], code="no-such-guest")
    members = [Player(member, name)]
    stranger = new_guest(members, words)
    for event in dict.fromkeys(event for event, _ in places):
        seats = {_seat(one): stranger.number for of, one in places if of == event}
        seats |= {_seat(one): member for of, one in desk.places_of(connection, number, "") if of == event}
        merge_guest([*members, stranger], stranger.number, member, seats)
    moved = [(event, replace(one, number=number, name=name)) for event, one in places]
    for event, one in moved:
        desk.save_person(connection, event, one)
    return moved


def _seat(one: Person) -> str:
    return f"{one.section}/{one.pair}/{one.seat}"
