"""What tables recorded beside results: files after the publication, the hands that they keyed in, who has accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dealer.deal import Deal
from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from firmware_bridge.service.desk import Desk
from terminals.interop.recorded_write import RecordedGame, write_pbn_recorded, write_recorded_json
from terminals.scoring.lines import LineKey
from terminals.store import table_events
from terminals.store.table_events import TableEventKind
from terminals.store.values import PlayKey
from terminals.sync.recorded import acceptances, entered_deals, recorded
from terminals.sync.ruling_log import line_key
from terminals.table_record import Recorded

Write = Callable[[str, str, list[RecordedGame], dict[tuple[str, int], Deal]], bytes]
FILES: dict[str, tuple[str, str, Write]] = {
    "recorded-pbn": ("recorded.pbn", "application/x-pbn", write_pbn_recorded),
    "recorded-json": ("recorded.json", "application/json", write_recorded_json),
}
"""Kind -> name of the file, media type, writer."""


def accepted_view(desk: Desk, play: PlayKey) -> list[dict[str, Any]]:
    """Who has accepted the results of a play, when it arrived here, and whether with the code of its own."""
    found = desk.store.read(lambda connection: acceptances(connection, desk.setup, play))
    return [{"pair": one.pair, "seat": one.seat, "wall": one.wall, "proved": one.proved} for one in found]


def known_deals(desk: Desk) -> dict[tuple[str, int], Deal]:
    """(section letter, board) -> deal: of the event's set; else what tables keyed in alike and have confirmed."""
    from firmware_bridge.service.desk_checks import deals_of

    dealt = deals_of(desk)
    entered = desk.store.read(lambda connection: entered_deals(connection, desk.setup))
    out = {place: one.deal for place, one in entered.items() if one.agreed}
    letters = [section.letter for section in desk.setup.sections]
    return out | {(letter, board): deal for letter in letters for board, deal in dealt.items()}


def given_out(desk: Desk) -> bool:
    """Auctions, plays and deals leave the desk: after the publication, and when no playing director has yet to play."""
    return desk.period.published_at is not None and not desk.veil.boards


def told_by_line(desk: Desk) -> dict[LineKey, Recorded]:
    """What tables recorded, for files with results, by the line that is scored: what the desk shows of the same play.
    Nothing before it may be given out."""
    if not given_out(desk):
        return {}

    def read(connection: Connection) -> dict[PlayKey, Recorded]:
        kinds = (TableEventKind.AUCTION, TableEventKind.PLAY)
        return recorded(table_events.all_events(connection, desk.event, *kinds))

    return {line_key(play): one for play, one in desk.store.read(read).items()}


def recorded_file(desk: Desk, name: str) -> tuple[str, str, bytes]:
    """(name, media type, content) of a file with every recorded auction and play. Raises EntryError before the
    publication, and while boards lie under a playing director's veil."""
    if not given_out(desk):
        raise EntryError(
            "auctions and plays are given out after the publication only.",
            next_step="Publish the results first.",
            code="withheld",
        )
    file, media, write = FILES[name]

    def read(connection: Connection) -> list[RecordedGame]:
        kinds = (TableEventKind.AUCTION, TableEventKind.PLAY)
        told = recorded(table_events.all_events(connection, desk.event, *kinds))
        games = []
        for play, one in sorted(told.items()):
            row = desk.rows.get(play)
            names = {
                "N": _name(desk, play.section, play.ns, "1"),
                "S": _name(desk, play.section, play.ns, "2"),
                "E": _name(desk, play.section, play.ew, "1"),
                "W": _name(desk, play.section, play.ew, "2"),
            }
            games.append(
                RecordedGame(
                    play,
                    0 if row is None else row.round,
                    0 if row is None else row.table,
                    None if row is None else row.content,
                    one,
                    names,
                    tuple(acceptances(connection, desk.setup, play)),
                )
            )
        return games

    games = desk.store.read(read)
    if not games:
        raise EntryError("the tables recorded no auctions and no plays.", code="no-such-file")
    return file, media, write(desk.setup.name, desk.wall()[:10], games, known_deals(desk))


def _name(desk: Desk, section: str, pair: int, seat: str) -> str:
    person = desk.people.get((section, pair, seat))
    return "" if person is None else person.name
