"""A host without HTTP: the connector over a store, the official client in front of it, tables behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import client_events as events
from bridgemate_dataconnector import DataConnectorClient
from bridgemate_dataconnector.http_transport import HttpTransport
from bridgemate_dataconnector.transport_exception import TransportException

from firmware_bridge.db import Database
from firmware_bridge.wire.record import RecordBody, record_crc
from terminals.interop.data_connector.connector import Caller, Connector
from terminals.interop.data_connector.context import Answer
from terminals.interop.data_connector.envelope import GREETING, Refusal, Reply, read_request, refused, write_reply
from terminals.result import BoardState
from terminals.store import desk, ledger, results
from terminals.store.results import CurrentResult
from terminals.store.schema import MIGRATIONS
from terminals.store.values import PlayKey, RawRecord, RecordKey
from terminals.sync.director import By, Director
from terminals.sync.ingest import ingest
from terminals.sync.jobs import TakeDesk, TakeRecord
from terminals.sync.setup import EventSetup, setup_from_json, setup_to_json

PLAYED, PASSED, NOT_PLAYED, ERASED = 1, 2, 3, 4


class Host:
    """Open it on the same path again for a restart."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = Database.open(path, MIGRATIONS, synchronous="OFF")
        self.connector = Connector(lambda: "2026-11-29T20:15:00+01:00")
        self.answers: list[Answer] = []
        self.seqs: dict[int, int] = {}

    def post(self, body: bytes, caller: Caller = Caller()) -> bytes:  # noqa: B008 - frozen
        request = read_request(body)
        quick = self.connector.quick(self.database._connection, request, caller)
        if quick is not None:
            return write_reply(request, quick)
        try:
            with self.database.transaction() as connection:
                answer = self.connector.handle(connection, request, caller)
        except Refusal as refusal:
            return write_reply(request, refused(refusal.error, *refusal.lines))
        self.answers.append(answer)
        return write_reply(request, answer.reply)

    def restart(self) -> Host:
        self.database.close()
        again = Host(self.path)
        again.seqs = self.seqs
        return again

    @property
    def has_event(self) -> bool:
        return desk.load_event(self.database._connection) is not None

    @property
    def setup(self) -> EventSetup:
        row = desk.load_event(self.database._connection)
        assert row is not None
        return setup_from_json(row.id, row.name, row.plan_version, row.setup)

    @property
    def event(self) -> str:
        return desk.event_hex(self.setup.id)

    def current(self) -> list[CurrentResult]:
        return results.current(self.database._connection, self.event)

    def result(self, board: int, ns: int, ew: int, section: str = "A") -> BoardState | None:
        found = results.current(self.database._connection, self.event, PlayKey(section, board, ns, ew))
        return found[0].content if found else None

    def people(self) -> dict[tuple[str, int, str], tuple[str, str]]:
        found = desk.people(self.database._connection, self.event)
        return {(p.section, p.pair, p.seat): (p.number, p.name) for p in found}

    def alarms(self) -> list[str]:
        return [alarm.text for alarm in ledger.alarms(self.database._connection)]

    def save(self, setup: EventSetup) -> None:
        """The desk has changed the event."""
        row = desk.EventRow(setup.id, setup.name, setup_to_json(setup), setup.plan_version, "")
        with self.database.transaction() as connection:
            desk.save_event(connection, row)

    # --- the tables ---

    def key_in(
        self, table: int, round: int, board: int, ns: int, ew: int, may_fail: bool = False, **changes: int
    ) -> int:
        """A result keyed in at a table; gives its number in the journal, for ``replaces``.

        may_fail: it may be one that makes no sense in the event.
        """
        body = {"kind": PLAYED, "confirmed_by": 1, "section": 1, "table": table, "round": round, "board": board}
        body |= {"ns": ns, "ew": ew, "declarer": 0, "tricks": 9, "level": 3, "strain": 5, "doubling": 0, "lead": 255}
        body |= {"replaces": 0, "stamp": 7}
        if changes.get("kind", PLAYED) != PLAYED:
            body |= {"tricks": 0, "level": 0, "strain": 0}
        body |= changes
        device = 100 * body["section"] + table
        seq = self.seqs[device] = self.seqs.get(device, 0) + 1
        packed = RecordBody(**body).pack()
        raw = RawRecord(RecordKey(device, 1, seq), packed, record_crc(device, 1, seq, packed))
        with self.database.transaction() as connection:
            done = ingest(connection, self.setup, [TakeRecord(raw, None, "2026-11-29T20:15:00+01:00")])
        assert done[0].verdict is not None
        assert may_fail or done[0].verdict.value == "stored", done
        return seq

    def call(self, table: int, state: int, round: int = 1, section: int = 1) -> None:
        data = {"section": section, "table": table, "round": round, "state": state, "device": "1"}
        job = TakeDesk("call", data, wall="2026-11-29T20:15:00+01:00")
        with self.database.transaction() as connection:
            ingest(connection, self.setup, [job])

    def log(self, kind: str, data: dict[str, Any]) -> None:
        """Something else happens at the desk."""
        with self.database.transaction() as connection:
            desk.append_desk(connection, self.event, desk.DeskEvent(kind, data, "Ann"))

    def direct(self, act: Any, actor: str = "Ann") -> Any:
        with self.database.transaction() as connection:
            return act(Director(connection, self.setup, By(actor)))

    def seat(self, section: str, pair: int, seat: str, number: str, name: str) -> None:
        with self.database.transaction() as connection:
            desk.save_person(connection, self.event, desk.Person(section, pair, seat, number, name))


class Line(HttpTransport):
    """The client's transport straight into a host. lose: how many replies get lost after the host has acted."""

    def __init__(self, host: Host, caller: Caller | None = None) -> None:
        self.host = host
        self.caller = caller or Caller()
        self.lose = 0
        self.posts = 0

    def get(self, url: str) -> str:
        return GREETING

    def post(self, url: str, body: str) -> str:
        self.posts += 1
        reply = self.host.post(body.encode(), self.caller).decode()
        if self.lose:
            self.lose -= 1
            raise TransportException("the reply was lost")
        return reply


def a_client(host: Host, caller: Caller | None = None, club: str = "CLUB") -> DataConnectorClient:
    return DataConnectorClient(club, "KEY", "http://127.0.0.1:5079", transport=Line(host, caller))


def ok(response: Any) -> Any:
    """A response that is no error."""
    assert int(response.data_type) != 4, (response.error_type, response.serialized_data)
    return response


__all__ = ["Host", "Line", "Reply", "a_client", "events", "ok"]
