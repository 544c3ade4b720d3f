"""Promises of events.db: append-only, one row a key, one terminal a table, results as text and back, old files."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.cards import Seat
from firmware_bridge.db import Database
from firmware_bridge.errors import EntryError, StoreError
from terminals.contract import Contract, Doubling, Strain
from terminals.result import (
    Artificial,
    Assigned,
    Average,
    BoardState,
    FixedPercent,
    NotEntered,
    NotPlayed,
    NotPlayedReason,
    Outcome,
    PassedOut,
    Played,
    SitOut,
)
from terminals.store import content, data_connector, desk, ledger, results, table_events
from terminals.store.data_connector import Mark, ProgramEvent
from terminals.store.desk import DeskEvent, Device, DeviceState, EventRow, Person
from terminals.store.schema import MIGRATIONS
from terminals.store.table_events import TableEvent, TableEventKind
from terminals.store.values import (
    EventKind,
    PlayKey,
    PlayState,
    PlayStatus,
    RawRecord,
    RecordKey,
    RecordState,
    ResultEvent,
)
from terminals.sync.event_store import EventStore

EVENT = "00000000000000ee"
KEY = RecordKey(0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(tmp_path / "events.db", MIGRATIONS)
    yield opened
    opened.close()


def test_a_record_of_the_largest_numbers_comes_back_as_it_was(database: Database) -> None:
    raw = RawRecord(KEY, bytes(range(14)), 0xFFFF_FFFF, b"abcdef")
    with database.transaction() as connection:
        ledger.insert(connection, raw, EVENT, RecordState.STORED)
        assert ledger.body_of(connection, KEY) == raw.body
        (kept,) = ledger.records(connection)
    assert kept.raw == raw


def test_the_database_itself_refuses_a_second_row_under_a_key(database: Database) -> None:
    raw = RawRecord(KEY, bytes(14), 1)
    with database.transaction() as connection:
        ledger.insert(connection, raw, EVENT, RecordState.STORED)
    with pytest.raises(StoreError), database.transaction() as connection:
        ledger.insert(connection, RawRecord(KEY, bytes(13) + b"x", 1), EVENT, RecordState.STORED)


@pytest.mark.parametrize("table", ["record", "result_event", "desk_event", "conflict", "table_event"])
def test_history_can_not_be_changed_or_deleted(database: Database, table: str) -> None:
    raw = RawRecord(KEY, bytes(14), 1)
    with database.transaction() as connection:
        ledger.insert(connection, raw, EVENT, RecordState.STORED)
        assert ledger.insert_conflict(connection, raw, EVENT)
        assert not ledger.insert_conflict(connection, raw, EVENT)
        results.append(connection, EVENT, ResultEvent(EventKind.ENTERED, PlayKey("A", 1, 1, 2), PassedOut(), key=KEY))
        desk.append_desk(connection, EVENT, DeskEvent("call", {"table": 1}))
        table_events.append(connection, EVENT, TableEvent(TableEventKind.PLAY, "A", 1, 1, 2, 1, 1, RecordKey(1, 2, 9)))
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET event = 'x'"):
        with pytest.raises(StoreError, match="append-only"), database.transaction() as connection:
            connection.execute(statement)


def test_an_event_comes_back_as_it_was_with_its_outbox_row(database: Database) -> None:
    event = ResultEvent(
        kind=EventKind.RULED,
        play=PlayKey("B", 999, 4095, 1, 2),
        content=Assigned(
            (Outcome(Played(Contract.parse("6NTXX W"), 12), Fraction(2, 3)), Outcome(-50, Fraction(1, 3))), Average.PLUS
        ),
        action="x",
        actor="director",
        second="organiser",
        note="Zażółć 🂡",
        warnings=("not-in-movement",),
        wall="21:30",
    )
    with database.transaction() as connection:
        number = results.append(connection, EVENT, event)
        assert results.of_action(connection, EVENT, "x") == [replaced(event, number)]
        assert results.outbox_after(connection, EVENT, 0) == [(1, "result", number)]
        results.set_reader_position(connection, "pages", 1)
        results.set_reader_position(connection, "pages", 0)
        assert results.reader_position(connection, "pages") == 1


def replaced(event: ResultEvent, number: int) -> ResultEvent:
    from dataclasses import replace

    return replace(event, number=number)


def test_one_terminal_a_table(database: Database) -> None:
    with database.transaction() as connection:
        desk.save_device(connection, Device(1, DeviceState.ADMITTED, 1, 3))
        desk.save_device(connection, Device(1, DeviceState.ADMITTED, 1, 3, key=b"k"))
        desk.save_device(connection, Device(2, DeviceState.WAITING, 1, 3))
        with pytest.raises(StoreError, match="another terminal"):
            desk.save_device(connection, Device(2, DeviceState.ADMITTED, 1, 3))
        assert desk.holder(connection, 1, 3) == 1
        assert desk.holder(connection, 1, 0) is None


def test_a_person_is_erased_without_touching_results(database: Database) -> None:
    with database.transaction() as connection:
        for event in ("e1", "e2"):
            desk.save_person(connection, event, Person("A", 3, "N", "77", "Ada Łoś"))
        desk.save_person(connection, "e1", Person("A", 3, "S", "", "Guest"))
        assert desk.erase_person(connection, "77", "") == 2
        assert [person.name for person in desk.people(connection, "e1")] == ["", "Guest"]
        assert desk.erase_person(connection, "", "") == 0


def test_an_erased_person_is_gone_from_the_desks_log_too(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "x.db", MIGRATIONS)
    with database.transaction() as connection:
        desk.save_person(connection, "e1", Person("A", 3, "1", "77", "Ada Łoś"))
        for event in ("e1", "e2"):
            told = {"kind": "substituted", "pair": 3, "player": "Ada Łoś", "substitute": "Jan Żak", "round": 2}
            desk.append_desk(connection, event, DeskEvent("happening", told))
            desk.append_desk(
                connection, event, DeskEvent("message", {"text": 'Where is ada łoś? "Ada Łośińska" came.'})
            )
        assert desk.erase_person(connection, "77", "") == 1 + 2  # another event may have a namesake
        assert desk.erase_person(connection, "", "Jan Żak") == 2
    with database.transaction() as connection:
        said = [(item.data.get("player"), item.data.get("text")) for item in desk.desk_events(connection, "e1")]
        assert said == [("(erased)", None), (None, 'Where is (erased)? "Ada Łośińska" came.')]
        assert {item.data.get("substitute") for item in desk.desk_events(connection, "e2")} == {"(erased)", None}
        assert desk.desk_events(connection, "e2")[0].data["player"] == "Ada Łoś"
        with pytest.raises(sqlite3.Error, match="append-only"):
            connection.execute("UPDATE desk_event SET data = '{}'")
    database.close()


def test_alarms_count_and_come_back_when_they_happen_again(database: Database) -> None:
    with database.transaction() as connection:
        ledger.raise_alarm(connection, "auth", "a1", "first")
        ledger.mark_alarm_seen(connection, "auth", "a1")
        assert ledger.alarms(connection, unseen=True) == []
        ledger.raise_alarm(connection, "auth", "a1", "second")
        (alarm,) = ledger.alarms(connection, unseen=True)
    assert (alarm.text, alarm.times) == ("second", 2)


def test_one_event_is_active(database: Database) -> None:
    with database.transaction() as connection:
        desk.save_event(connection, EventRow(1, "Mon", "{}", 1, ""))
        desk.save_event(connection, EventRow(2, "Tue", "{}", 1, ""))
        desk.save_event(connection, EventRow(3, "Wed", "{}", 1, ""), activate=False)
        found = desk.load_event(connection)
        assert found is not None
        assert found.name == "Tue"
        assert [(name, active) for _, name, active in desk.event_list(connection)] == [
            ("Mon", False),
            ("Tue", True),
            ("Wed", False),
        ]


def test_a_read_only_question_can_not_write(tmp_path: Path) -> None:
    store = EventStore.open(tmp_path / "events.db", threaded=False)
    with pytest.raises(StoreError):
        store.read(lambda connection: desk.save_device(connection, Device(1, DeviceState.WAITING)))
    asyncio.run(store.submit(lambda connection: desk.save_device(connection, Device(1, DeviceState.WAITING))))
    assert set(store.roster()) == {1}
    store.close()


def test_a_file_with_something_in_every_table_is_found_undamaged(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    database = Database.open(path, MIGRATIONS)
    raw = RawRecord(RecordKey(1, 2, 3), bytes(14), 4)
    with database.transaction() as connection:
        desk.save_event(connection, EventRow(1, "Mon", "{}", 1, ""))
        desk.save_device(connection, Device(1, DeviceState.ADMITTED, 1, 1))
        ledger.begin_in(connection, 1, 2, EVENT, 1)
        ledger.declare_hole(connection, 1, 2, 1, 2)
        ledger.insert(connection, raw, EVENT, RecordState.STORED)
        ledger.insert_conflict(connection, raw, EVENT)
        ledger.raise_alarm(connection, "auth", "a1", "text")
        results.append(connection, EVENT, ResultEvent(EventKind.RULED, PlayKey("A", 1, 1, 2), PassedOut(), action="a"))
        results.put_current(connection, EVENT, PlayState(PlayKey("A", 1, 1, 2), PassedOut(), PlayStatus.AMENDED))
        results.set_reader_position(connection, "pages", 1)
        desk.append_desk(connection, EVENT, DeskEvent("call", {}))
        desk.save_person(connection, EVENT, Person("A", 1, "N"))
        table_events.append(connection, EVENT, TableEvent(TableEventKind.PLAY, "A", 1, 1, 2, 1, 1, RecordKey(1, 2, 9)))
        desk.save_players(connection, [("1", "Ada", "ada")])
        desk.probe(connection)
        data_connector.begin_event(connection, ProgramEvent(EVENT, "F" * 32, "", "", 1, "{}"), ["E" * 32])
        data_connector.add_item(connection, EVENT, "E" * 32, "result", "A/1/1/1", "{}")
        data_connector.set_mark(connection, EVENT, "E" * 32, "result", Mark(1, 1))
    tables = [row[0] for row in database.query("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        assert database.query(f"SELECT COUNT(*) FROM {table}") != [(0,)], table
    database.close()
    Database.open(path, MIGRATIONS).close()


FROZEN = Path(__file__).parent
VERSIONS = range(1, len(MIGRATIONS) + 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_released_schema_never_changes(version: int) -> None:
    """A released migration is frozen: files of that version are out there."""
    statements = "\n".join(f"{' '.join(statement.split())};" for statement in MIGRATIONS[version - 1].statements)
    frozen = (FROZEN / f"events_schema_{version}.sql").read_text(encoding="utf-8")
    assert statements + "\n" == frozen, "add a migration instead of changing this one"


def old_file(path: Path, version: int) -> None:
    """A database as the program of that version left it: an evening with a result, a name and a boundary."""
    connection = sqlite3.connect(path)
    for step in range(1, version + 1):
        connection.executescript((FROZEN / f"events_schema_{step}.sql").read_text(encoding="utf-8"))
    connection.execute(
        "INSERT INTO record (device, journal, seq, body, crc, auth, event, state)"
        " VALUES ('00000000000000a1', 1, 1, x'00', 5, x'', 'e', 'stored')"
    )
    connection.execute(
        "INSERT INTO journal_event VALUES ('00000000000000a1', 1, 'e', 1)"
        if version < 4
        else "INSERT INTO journal_event VALUES ('00000000000000a1', 1, 1, 'e')"
    )
    connection.execute(
        "INSERT INTO result_event (event, kind, section, board, ns, ew, play, content, round, place, device, journal,"
        " seq, root, confirmed, warnings, action, target, actor, second, note, wall) VALUES ('e', 'entered', 'A', 7, 1,"
        " 4, 1, ?, 1, 1, '00000000000000a1', 1, 1, 1, 1, '', '', '', '', '', '', '')",
        (content.dumps(PassedOut()),),
    )
    connection.execute("INSERT INTO person (event, section, pair, seat, name) VALUES ('e', 'A', 1, '1', 'Ada')")
    if version >= 3:
        connection.execute("INSERT INTO player VALUES ('7', 'Ada', 'ada')")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_file_of_every_older_version_opens_with_what_it_held(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    old_file(path, version)
    database = Database.open(path, MIGRATIONS)
    with database.transaction() as opened:
        assert [record.raw.key for record in ledger.records(opened)] == [RecordKey(0xA1, 1, 1)]
        assert ledger.boundaries(opened, 0xA1, 1) == [(1, "e")]
        assert [(item.play.board, item.content) for item in results.all_events(opened, "e")] == [(7, PassedOut())]
        assert [person.name for person in desk.people(opened, "e")] == ["Ada"]
        desk.save_person(opened, "e", Person("A", 1, "1", "", "Ada Łoś"))
        assert ("A", 1) in table_events.people_changed(opened, "e", 0)[1]
        assert list(table_events.all_events(opened, "e")) == []
        if version < 6:  # who had sent a record to an event was admitted to it
            assert desk.was_admitted(opened, 0xA1, "e")
        assert not desk.was_admitted(opened, 0xA2, "e")
    database.close()
    Database.open(path, MIGRATIONS).close()  # a file of the newest version opens like any other


def test_every_change_of_a_name_is_told_once(database: Database) -> None:
    with database.transaction() as connection:
        desk.save_person(connection, EVENT, Person("A", 3, "1", "77", "Ada"))
        desk.save_person(connection, EVENT, Person("B", 4, "2", "78", "Jan"))
        newest, changed = table_events.people_changed(connection, EVENT, 0)
        assert changed == [("A", 3), ("B", 4)]
        assert table_events.people_changed(connection, EVENT, newest) == (newest, [])
        desk.erase_person(connection, "78", "")
        newest, changed = table_events.people_changed(connection, EVENT, newest)
        assert changed == [("B", 4)]
        desk.save_person(connection, "other", Person("B", 4, "2", "78", "Jan"))
        assert table_events.people_changed(connection, EVENT, newest) == (newest, [])


# --- results as text ---

SEATS = st.sampled_from(list(Seat))
PLAYED = st.builds(
    Played,
    st.builds(Contract, st.integers(1, 7), st.sampled_from(list(Strain)), st.sampled_from(list(Doubling)), SEATS),
    st.integers(0, 13),
    st.none() | st.integers(0, 51),
)
FIXED = st.builds(
    FixedPercent, st.fractions(0, 100, max_denominator=1000), st.none() | st.fractions(-24, 24, max_denominator=60)
)
SIDE = st.sampled_from(list(Average)) | FIXED


@st.composite
def weighted(draw: st.DrawFn) -> tuple[Outcome, ...]:
    parts = draw(st.lists(st.integers(1, 20), min_size=1, max_size=5))
    value = PLAYED | st.just(PassedOut()) | st.integers(-7600, 7600)
    return tuple(Outcome(draw(value), Fraction(part, sum(parts))) for part in parts)


ANY: st.SearchStrategy[BoardState] = st.one_of(
    PLAYED,
    st.just(PassedOut()),
    st.builds(NotPlayed, st.sampled_from(list(NotPlayedReason)), st.text(max_size=20)),
    st.builds(Artificial, SIDE, SIDE),
    st.builds(Assigned, SIDE | weighted(), SIDE | weighted()),
)


@settings(deadline=None)
@given(ANY)
def test_every_result_comes_back_exactly(value: BoardState) -> None:
    assert content.loads(content.dumps(value)) == value
    assert content.from_json(json.loads(json.dumps(content.to_json(value)))) == value


def test_no_result_is_none_and_states_that_are_no_results_are_refused() -> None:
    assert content.loads(content.dumps(None)) is None
    for state in (NotEntered(), SitOut()):
        with pytest.raises(StoreError):
            content.dumps(state)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["is", "ns", "ew", "tricks", "by"]), inner)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(JSON, st.sampled_from(["played", "passed", "not-played", "artificial", "assigned", "x"]))
def test_anything_else_is_refused_in_words(value: object, kind: str) -> None:
    if isinstance(value, dict):
        value["is"] = kind
    try:
        found = content.from_json(value)
    except EntryError:
        return
    assert found is None or content.from_json(content.to_json(found)) == found


def test_text_that_is_no_json_or_too_long_is_refused() -> None:
    for text in ("{", "x" * 5000):
        with pytest.raises(EntryError):
            content.loads(text)
