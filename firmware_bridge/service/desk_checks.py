"""Checks of entries and the search for players, for the pages of the tables: what only the service knows.

The table sees words that give nothing away; the causes go to the desk.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dealer.deal import Deal
from dealer.store.schema import DEALING_DB, MIGRATIONS
from dealer.store.sets import load_set
from firmware_bridge.db import Database
from firmware_bridge.errors import FirmwareBridgeError
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_view import place_of
from firmware_bridge.wire.messages import NameSearch
from terminals.entry import CAUSES, Behind, Budget, Entry, Known, check
from terminals.players import Player, read_players, search_players
from terminals.result import BoardState, PassedOut, Played
from terminals.sync.people import find_players
from terminals.sync.setup import section_letter

PLAYERS = "players.csv"
MAX_FOUND = 12

_PLAYERS: dict[Path, tuple[float, list[Player]]] = {}


async def check_entry(
    desk: Desk, section: int, table: int, *, round: int, board: int, ns: int, ew: int, result: BoardState
) -> list[dict[str, str]]:
    """Notices for the table: code, text, answer ("confirm" or "director"), key. Causes are logged for the desk."""
    letter = section_letter(section)
    found = desk.setup.section(section)
    movement = None if found is None else found.movement
    entered: dict[int, int] = {}
    played: set[tuple[int, int]] = set()
    others: list[BoardState] = []
    for row in desk.rows.values():
        if row.play.section != letter or row.content is None:
            continue
        number, place = place_of(desk, row)
        if place == table:
            entered[row.play.board] = number
        if row.play.board == board and {row.play.ns, row.play.ew} != {ns, ew}:
            played.update(((board, row.play.ns), (board, row.play.ew)))
            others.append(row.content)
    entered.pop(board, None)  # a correction of the same board is no second entry; the page knows its own
    settings = desk.setup.settings_of(section)
    known = Known(movement, entered, frozenset(played), check_order=settings.order)
    deal = deals_of(desk).get(board)
    solved = None if deal is None else desk.solved(deal)
    behind = Behind(deal, solved, others) if settings.checks else Behind()
    asker = (desk.setup.id, section, table)
    budget = desk.budgets.get(asker, Budget())
    entry = Entry(round, table, board, ns, ew, result if isinstance(result, (Played, PassedOut)) else None)
    verdict = check(entry, known, behind, budget, settings.checks_per_round)
    desk.budgets[asker] = verdict.budget
    if verdict.causes:
        words = [CAUSES.get(code, code) for code in verdict.causes]
        await desk.log("entry-check", section=letter, table=table, board=board, causes=words)
    return [
        {"code": n.code, "text": n.text, "answer": n.answer.value, "key": n.key, "second": n.second}
        for n in verdict.notices
    ]


def deals_of(desk: Desk) -> dict[int, Deal]:
    """Board number -> deal of the event's set of deals; empty when boards are shuffled at the tables."""
    set_id = desk.facts.deal_set
    if not set_id:
        return {}
    known = desk.deals.get(set_id)
    if known is None:
        try:
            database = Database.open(desk.directory / DEALING_DB, MIGRATIONS)
            try:
                found = load_set(database, set_id)
            finally:
                database.close()
        except FirmwareBridgeError:
            return {}
        known = {} if found is None else {one.number: one.deal for one in found.boards}
        desk.deals.clear()
        desk.deals[set_id] = known
    return known


async def search(desk: Desk, text: str) -> list[dict[str, Any]]:
    """Members, and people who played before, whose name or number begins like ``text``: number and name."""
    kept = desk.store.read(lambda connection: find_players(connection, NameSearch(0, text))).players
    found = {(one.number, one.name): None for one in kept}
    found |= {(str(one.number), one.name): None for one in search_players(players(desk.directory), text, MAX_FOUND)}
    return [{"number": number, "name": name} for number, name in list(found)[:MAX_FOUND]]


def players(directory: Path) -> list[Player]:
    """Players of a ``players.csv`` that somebody has put into the data directory; empty when there is none to read."""
    path = directory / PLAYERS
    try:
        changed = path.stat().st_mtime
        known = _PLAYERS.get(path)
        if known is not None and known[0] == changed:
            return known[1]
        found = read_players(path.read_bytes(), PLAYERS)
    except (OSError, FirmwareBridgeError):
        return []
    _PLAYERS[path] = (changed, found)
    return found
