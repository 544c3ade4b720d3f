"""Fouled boards at the desk (Law 87): which plays had which form of the board, as a proposal, then as a ruling.

The director says from when on a copy of the board was another one, or readings of the boards after play propose it.
Digests stand for the cards; no card is seen here.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dealer.board import Vulnerability
from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_checks import deals_of
from firmware_bridge.service.desk_rulings import kept_of
from firmware_bridge.service.desk_values import Body, play_of, text_of, whole_of
from firmware_bridge.service.desk_view import place_of
from terminals.result import NotPlayed
from terminals.scoring.fouled import FormProposal, PlayOrder, Reading, forms_by_reading, forms_by_time
from terminals.store.values import PlayKey
from terminals.sync.ruling_log import Kept, line_key
from terminals.sync.setup import section_number

MAX_CHANGES = 200


def plays_of(desk: Desk, board: int, section: str = "") -> list[tuple[PlayKey, int, PlayOrder]]:
    """(play, round, its order) of every result of a board. A copy is one of a section; its plays go by their rounds."""
    held: dict[tuple[str, int], list[tuple[int, int, PlayKey]]] = {}
    for row in desk.rows.values():
        play = row.play
        if play.board != board or row.content is None or isinstance(row.content, NotPlayed):
            continue
        if section and play.section != section:
            continue
        round, table = place_of(desk, row)
        found = desk.setup.section_called(play.section)
        seating = None if found is None or found.movement is None else found.movement.at(round, table)
        copy = 1 if seating is None else seating.copy
        held.setdefault((play.section, copy), []).append((round, table, play))
    out = []
    for (letter, copy), plays in sorted(held.items()):
        for order, (round, _, play) in enumerate(sorted(plays, key=lambda one: one[:2]), start=1):
            out.append((play, round, PlayOrder(line_key(play), _copy(letter, copy), order)))
    return out


def _copy(letter: str, copy: int) -> int:
    return section_number(letter) * 1000 + copy


def proposed(desk: Desk, body: Body) -> tuple[FormProposal, list[tuple[PlayKey, int, PlayOrder]]]:
    """Forms by ``changes`` that the director times, or by ``readings``. Raises EntryError.

    changes: a list of ``{"section", "copy", "from_round" or "from_play", "form"}``. readings: a list of ``{"section",
    "copy", "after_round" or "after_play", "same"}`` or, in place of same, ``digest`` of the deal as it was read.
    """
    board = whole_of(body, "board", 1, 999)
    if any((letter, board) in desk.veil.boards for letter in {one.letter for one in desk.setup.sections}):
        raise EntryError("you have yet to play this board.", where=f"board {board}", code="veiled")
    plays = plays_of(desk, board, text_of(body, "only", 3, "").upper())
    if not plays:
        raise EntryError("nobody has a result on this board.", where=f"board {board}", code="no-result")
    orders = [order for _, _, order in plays]
    changes, readings = _listed(body, "changes"), _listed(body, "readings")
    if bool(changes) == bool(readings):
        raise EntryError("Say when the board changed, or what was read.", where="changes", code="bad-value")
    if changes:
        timed = []
        for one in changes:
            copy = _copy_of(one)
            timed.append((copy, _order(one, "from", copy, plays), text_of(one, "form", 8, "B").upper()))
        return forms_by_time(orders, timed), plays
    dealt = _dealt(desk, board)
    read = []
    for one in readings:
        copy = _copy_of(one)
        read.append(Reading(copy, _order(one, "after", copy, plays), _read(one, dealt)))
    return forms_by_reading(orders, read, dealt), plays


def _listed(body: Body, name: str) -> list[Body]:
    value = body.get(name, [])
    if not isinstance(value, list) or len(value) > MAX_CHANGES or not all(isinstance(one, Mapping) for one in value):
        raise EntryError(f"{name} is a list of at most {MAX_CHANGES} entries.", where=name, code="bad-value")
    return value


def _copy_of(one: Body) -> int:
    return _copy(text_of(one, "section", 3, "A").upper(), whole_of(one, "copy", 1, 99, 1))


def _order(one: Body, word: str, copy: int, plays: Sequence[tuple[PlayKey, int, PlayOrder]]) -> int:
    """How many plays of a copy came before a round (plus one), or up to its end: from a round, or the play itself."""
    if f"{word}_play" in one:
        return whole_of(one, f"{word}_play", 0 if word == "after" else 1, 999)
    round = whole_of(one, f"{word}_round", 0 if word == "after" else 1, 255)
    own = [number for _, number, order in plays if order.copy == copy]
    if word == "after":
        return sum(number <= round for number in own)
    return sum(number < round for number in own) + 1


def _dealt(desk: Desk, board: int) -> bytes:
    deal = deals_of(desk).get(board)
    return b"as dealt" if deal is None else deal.digest(board)


def _read(one: Body, dealt: bytes) -> bytes:
    if "same" in one:
        if not isinstance(one["same"], bool):
            raise EntryError("same is true or false.", where="readings", code="bad-value")
        return dealt if one["same"] else b"not as dealt"
    text = text_of(one, "digest", 64)
    try:
        digest = bytes.fromhex(text)
    except ValueError:
        digest = b""
    if len(digest) < 8:
        raise EntryError("digest has 16 to 64 hexadecimal digits.", where="readings", code="bad-value")
    if dealt == b"as dealt":
        raise EntryError(
            "the deals of this event are not known here, so a reading can't be compared.",
            next_step="Say of each reading whether the board was as dealt (same).",
            code="no-deals",
        )
    return digest


def fouled_of(desk: Desk, body: Body) -> tuple[Kept, dict[str, Any]]:
    """The ruling that a body asks for, and the proposal that it rests on. Raises EntryError.

    ``forms`` in the body names the plays one by one, after the director has looked at a proposal.
    """
    board = whole_of(body, "board", 1, 999)
    if "forms" in body:
        marked = {play_of({**one, "board": board}): text_of(one, "form", 8) for one in _listed(body, "forms")}
        shown: dict[str, Any] = {"proposal": [], "groups": {}, "uncertain": 0}
    else:
        found, plays = proposed(desk, body)
        unsure = set(found.uncertain)
        marked = {play: found.forms[order.key] for play, _, order in plays}
        shown = {
            "proposal": [
                {"section": play.section, "ns": play.ns, "ew": play.ew, "play": play.play, "round": round}
                | {"form": found.forms[order.key], "uncertain": order.key in unsure}
                for play, round, order in plays
            ],
            "groups": found.groups,
            "uncertain": len(unsure),
        }
    forms = {play: form for play, form in marked.items() if form}
    if not forms:
        raise EntryError(
            "every play had the board as it was dealt.",
            where=f"board {board}",
            next_step="Nothing has to be ruled (Law 87A).",
            code="not-fouled",
        )
    asked = {key: value for key, value in body.items() if key not in ("board", "ns", "ew", "section", "play")}
    kept = kept_of(desk, {"law": "87", **asked})
    return replace(kept, board=board, forms=forms, marked=_marked(body)), shown


def _marked(body: Body) -> Vulnerability | None:
    """How the other form was marked, None when it was as its number says (Law 2). Raises EntryError."""
    if not body.get("vulnerable"):
        return None
    word = text_of(body, "vulnerable", 4).upper()
    known = {one.pbn.upper(): one for one in Vulnerability}
    if word not in known:
        raise EntryError("vulnerable is None, NS, EW or All.", where="vulnerable", code="bad-value")
    return known[word]
