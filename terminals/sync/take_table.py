"""What one table record does to the store, inside the batch's transaction: the event, and what the desk is told of it.

What looks wrong goes to the desk as ``entry-check``, like the causes of a table's checks; no table hears of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from dealer.deal import Deal
from firmware_bridge.db import Connection
from firmware_bridge.wire.messages import TableRecord
from firmware_bridge.wire.numbers import ConfirmedBy, Positions
from terminals.store import desk, ledger, results, table_events
from terminals.store.table_events import TableEvent, TableEventKind
from terminals.store.values import RecordKey, ResultEvent
from terminals.sync.recorded import (
    VERIFIER,
    auction_causes,
    auction_of,
    hands_causes,
    of_play,
    proved,
    result_causes,
    table_body,
    verifiers,
)
from terminals.sync.setup import EventSetup, section_number


def keep(connection: Connection, setup: EventSetup, item: TableEvent, deal: Deal | None = None) -> None:
    """Add the event, and tell the desk what is wrong with it. deal: of its board, None when it is not known."""
    event = desk.event_hex(setup.id)
    table_events.append(connection, event, item)
    if item.kind is TableEventKind.POSITIONS:
        _positions(connection, setup, item)
    elif item.kind is TableEventKind.CODE:
        _code(connection, event, item)
    elif item.kind is TableEventKind.ACCEPTED:
        if not proved(connection, setup.id, item):
            _suspect(connection, event, item, ("acceptance-not-proved",))
    elif item.kind is TableEventKind.HANDS:
        others = table_events.of_board(connection, event, item.section, item.board, TableEventKind.HANDS)
        _suspect(connection, event, item, hands_causes(item, others, deal))
    else:
        causes = auction_causes(auction_of(item), item.board) if item.kind is TableEventKind.AUCTION else ()
        rows = results.current(connection, event, item.play)
        if rows:
            causes += result_causes(rows[0].content, of_play(connection, event, item.play), deal)
        _suspect(connection, event, item, causes)


def compare(connection: Connection, setup: EventSetup, item: ResultEvent) -> None:
    """Compare a result with what its table recorded of the same play, when the event records anything."""
    settings = setup.settings_of(section_number(item.play.section))
    if not settings.auction and not settings.play:
        return
    event = desk.event_hex(setup.id)
    causes = result_causes(item.content, of_play(connection, event, item.play))
    if causes:
        place = {"section": item.play.section, "table": item.table, "board": item.play.board}
        _log(connection, event, "entry-check", {**place, "causes": list(causes)}, item.wall)


def set_aside(connection: Connection, event: str, record: TableRecord, key: RecordKey, wall: str) -> None:
    """Keep what a record said that makes no sense; the ledger has its hash only."""
    kept = TableEvent(
        kind=TableEventKind.SET_ASIDE,
        section="",
        board=0,
        ns=0,
        ew=0,
        round=record.round,
        table=record.table,
        key=key,
        data=table_body(record),
        wall=wall,
    )
    table_events.append(connection, event, kept)


def _suspect(connection: Connection, event: str, item: TableEvent, causes: tuple[str, ...]) -> None:
    if causes:
        place = {"section": item.section, "table": item.table, "board": item.board}
        _log(connection, event, "entry-check", {**place, "causes": list(causes)}, item.wall)


def _log(connection: Connection, event: str, kind: str, data: Mapping[str, object], wall: str) -> None:
    desk.append_desk(connection, event, desk.DeskEvent(kind, data, wall=wall))


def _positions(connection: Connection, setup: EventSetup, item: TableEvent) -> None:
    how = Positions(item.data[0])
    section = setup.section_called(item.section)
    movement = None if section is None else section.movement
    seating = None if movement is None else movement.at(item.round, item.table)
    planned = seating is None or (seating.ns, seating.ew) == (item.ns, item.ew)
    place = {"section": item.section, "table": item.table, "round": item.round, "ns": item.ns, "ew": item.ew}
    event = desk.event_hex(setup.id)
    _log(connection, event, "positions", {**place, "how": how.name.lower(), "planned": planned}, item.wall)
    where = f"Table {item.section}{item.table}, round {item.round}"
    if how is Positions.CHANGED:
        text = f"{where}: the pairs sat the other way round and have changed seats before the first board."
    elif not planned:
        text = f"{where}: pair {item.ns} sits North-South and pair {item.ew} East-West, not as planned."
    else:
        return
    ledger.raise_alarm(connection, "positions", f"{item.section}{item.table} {item.round}", text)


def _code(connection: Connection, event: str, item: TableEvent) -> None:
    """The first code of a pair counts; only the director changes it."""
    known = verifiers(connection, event, item.section).get(item.ns)
    verifier = item.data if any(item.data) else b""
    if known == (verifier or None):
        return
    if known is not None and item.confirmed != ConfirmedBy.DIRECTOR:
        where, pair = f"{item.section}{item.table}", f"{item.section}{item.ns}"
        text = f"Table {where} wants another code for pair {pair}, which has one. The first one stays."
        ledger.raise_alarm(connection, "pair-code", pair, text)
        return
    told = {"section": item.section, "pair": item.ns, "verifier": verifier.hex()}
    _log(connection, event, VERIFIER, told, item.wall)
