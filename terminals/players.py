"""The club's players: read from CSV, found by any spelling of a name, guests merged into members later.

Frozen values and pure functions; where the list is kept is the store's business. Names are personal data: nothing here
puts one into an error message.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.interop.csv_text import read_csv

MAX_PLAYERS = 100_000

# Column names that clubs' lists have, without accents and capitals.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "number": ("number", "no", "id", "player", "player id", "player number", "member", "member number", "nr", "numer"),
    "national_id": (
        *("national id", "national number", "national_id", "national_id_number", "federation", "federation number"),
        *("ebu", "ebu number", "ebu no", "acbl", "acbl number", "pzbs", "pid", "nbo", "nbo number", "licence"),
    ),
    "first": ("first name", "firstname", "first", "forename", "given name", "imie", "prenom", "vorname"),
    "last": ("last name", "lastname", "last", "surname", "family name", "nazwisko", "nom", "nachname"),
    "name": ("name", "full name", "player name", "player_name"),
    "club": ("club", "club name", "klub"),
}
_LETTERS = str.maketrans(
    {"ł": "l", "đ": "d", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "ħ": "h"}
)


def fold(text: str) -> str:
    """A name as it is searched: small letters, no accents, no punctuation, single spaces.

    ``Łukasz O'Żółć-Müller`` -> ``lukasz ozolc muller``.
    """
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    letters = []
    for letter in plain:
        if unicodedata.combining(letter) or letter in "'’`´.":
            continue
        letters.append(letter if letter.isalnum() else " ")
    return " ".join("".join(letters).split())


@dataclass(frozen=True, slots=True)
class Player:
    """A person. number: the club's own number, unique, keyed in at terminals. guest: entered on the evening."""

    number: int
    name: str
    national_id: str = ""
    club: str = ""
    guest: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.number <= 99_999_999:
            raise EntryError("A player's number is from 1 to 99999999.", code="bad-player")
        if not fold(self.name):
            raise EntryError(f"Player {self.number} has no name.", code="bad-player")

    @property
    def folded(self) -> str:
        return fold(self.name)


def read_players(data: bytes, where: str = "") -> list[Player]:
    """Players from a CSV with a header row, in any order of columns.

    A number and a name (or first and last name) are needed; national id and club are read when there. A player without
    a number of his own gets his national id as number when that is one. Raises EntryError that names the line: exit
    status 2 for a file without the columns, 1 for a row that can't be.
    """
    rows = read_csv(data, where)
    if not rows:
        raise EntryError("The file is empty.", where=where, code="empty", exit_status=ExitStatus.USAGE)
    columns = _columns(rows[0][1], where)
    players: list[Player] = []
    seen: dict[int, int] = {}
    for line, cells in rows[1:]:
        values = {field: cells[index] if index < len(cells) else "" for field, index in columns.items()}
        name = values.get("name", "") or f"{values.get('first', '')} {values.get('last', '')}".strip()
        if "," in name and not values.get("first"):
            last, _, first = name.partition(",")
            name = f"{first.strip()} {last.strip()}".strip()
        text = values.get("number", "") or values.get("national_id", "")
        at = f"{where}, line {line}"
        if not (text.isascii() and text.isdigit() and len(text) <= 8 and int(text)):
            raise EntryError("A player has no number of 1 to 8 digits.", where=at, code="bad-player")
        number = int(text)
        if number in seen:
            raise EntryError(
                f"Number {number} is also on line {seen[number]}.",
                where=at,
                next_step="Give every player a number of his own.",
                code="doubled-player",
            )
        if len(players) >= MAX_PLAYERS:
            raise EntryError(f"The list has more than {MAX_PLAYERS} players.", where=at, code="too-large")
        seen[number] = line
        try:
            players.append(Player(number, name, values.get("national_id", ""), values.get("club", "")))
        except EntryError as error:
            raise EntryError(error.what, where=at, code=error.code) from None
    return players


def _columns(head: Sequence[str], where: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for index, cell in enumerate(head):
        name = fold(cell.replace("_", " "))
        for field, names in _COLUMNS.items():
            if name in {fold(one.replace("_", " ")) for one in names}:
                found.setdefault(field, index)
    named = "name" in found or ("first" in found and "last" in found)
    if not named or not {"number", "national_id"} & found.keys():
        raise EntryError(
            "The first row must name the columns: a number, and a name or first and last name.",
            where=where,
            code="unparsable",
            exit_status=ExitStatus.USAGE,
        )
    return found


def search_players(players: Iterable[Player], text: str, limit: int = 20) -> list[Player]:
    """Players whose name has every word of ``text`` at the start of one of its words, accents ignored; best first.

    Digits are matched against the start of the number and the national id. Exact names come first, then those that
    start with the words in their order, members before guests, then by name.
    """
    if limit < 1:
        return []
    words = fold(text).split()
    if not words:
        return []
    if len(words) == 1 and words[0].isdigit():
        digits = words[0]
        hits = [one for one in players if str(one.number).startswith(digits) or one.national_id.startswith(digits)]
        hits.sort(key=lambda one: (str(one.number) != digits, one.guest, one.folded, one.number))
        return hits[:limit]
    wanted = " ".join(words)
    ranked: list[tuple[tuple[bool, bool, bool, str, int], Player]] = []
    for one in players:
        folded = one.folded
        parts = folded.split()
        if all(any(part.startswith(word) for part in parts) for word in words):
            order = (folded != wanted, not folded.startswith(wanted), one.guest, folded, one.number)
            ranked.append((order, one))
    ranked.sort(key=lambda pair: pair[0])
    return [one for _, one in ranked[:limit]]


def new_guest(players: Iterable[Player], name: str, first: int = 90_000_001) -> Player:
    """A guest with the next free number from ``first`` on. Raises EntryError without a name."""
    taken = {one.number for one in players}
    number = first
    while number in taken:
        number += 1
    return Player(number, " ".join(name.split()), guest=True)


def merge_guest(
    players: Sequence[Player], guest: int, member: int, seats: Mapping[str, int]
) -> tuple[list[Player], dict[str, int]]:
    """A guest turns out to be a member: the list without the guest, and ``seats`` (anything -> number) with the member.

    Results do not change, they belong to contestants. Raises EntryError when the guest is no guest, the member is not
    on the list, or both sat down as different people at once in the same seats' event (same value twice).
    """
    by_number = {one.number: one for one in players}
    if guest not in by_number or not by_number[guest].guest:
        raise EntryError(f"Number {guest} is no guest.", code="no-guest")
    if member not in by_number or member == guest:
        raise EntryError(f"Number {member} is not on the list of players.", code="no-player")
    if guest in seats.values() and member in seats.values():
        raise EntryError(
            f"Numbers {guest} and {member} sat at different places, so they are not the same person.",
            code="contradictory-merge",
        )
    moved = {seat: member if number == guest else number for seat, number in seats.items()}
    kept = by_number[member]
    if not kept.national_id and by_number[guest].national_id:
        kept = replace(kept, national_id=by_number[guest].national_id)
    return [kept if one.number == member else one for one in players if one.number != guest], moved
