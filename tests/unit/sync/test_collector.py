"""Promises of the collector: admission, key rules, acknowledgement only after COMMIT, credit, bounded memory."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import CLUB, ERASED, NOT_PLAYED, SMALL, FakeHost, FakeTerminal, an_event, body

from drivers.api import StationConnected, StationIdentity, StationMessage
from firmware_bridge.wire.messages import (
    Admit,
    Call,
    Credit,
    Message,
    Record,
    RecordAck,
    RecordNak,
    Resend,
    TablePlan,
    Text,
    encode,
)
from firmware_bridge.wire.numbers import RecordReason
from firmware_bridge.wire.record import RecordBody
from terminals.contract import Contract
from terminals.result import Played
from terminals.store import desk, ledger, results
from terminals.store.desk import Device, DeviceState
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, RecordKey, RecordState
from terminals.sync.contacts import Limits, Send
from terminals.sync.setup import new_event

ENDLESS = Limits(queue=10**6, per_terminal=10**6, credit=200)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    host = FakeHost(tmp_path / "events.db")
    yield host
    host.close()


def a_terminal(host: FakeHost, device: int = 0xA1, address: int = 1, table: int = 1, **more: Any) -> FakeTerminal:
    return host.introduce(FakeTerminal(device, address, table=table, **more))


def tricks(row: CurrentResult) -> int:
    assert isinstance(row.content, Played)
    return row.content.tricks


def said(terminal: FakeTerminal, kind: type) -> list[Any]:
    return [message for message in terminal.seen if isinstance(message, kind)]


# --- admission ---


def test_a_terminal_at_a_free_table_is_admitted_and_gets_the_whole_evening(host: FakeHost) -> None:
    terminal = a_terminal(host, table=2)
    assert terminal.admitted
    assert terminal.plan is not None
    assert (terminal.plan.event_id, terminal.plan.table, len(terminal.plan.rounds)) == (host.setup.id, 2, 3)
    assert terminal.plan.version == host.setup.plan_version
    assert len(said(terminal, TablePlan)) == 1, "the plan is not sent to a terminal that holds it"


def test_without_automatic_admission_a_device_waits_for_the_director(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event(admit_all=False))
    terminal = a_terminal(host)
    terminal.enter(body())
    host.run()
    assert not terminal.admitted
    assert host.ask(desk.devices)[0xA1].state is DeviceState.WAITING
    device = Device(0xA1, DeviceState.ADMITTED, 1, 1)
    host.ask(lambda connection: desk.save_device(connection, device))
    host._deliver(host.collector.set_device(device, 0.0))
    host.run()
    assert terminal.admitted
    assert len(host.current()) == 1, "what was keyed in while it waited is not lost"
    host.close()


def test_a_second_terminal_at_a_table_needs_the_director(host: FakeHost) -> None:
    first, second = a_terminal(host, 0xA1, 1), a_terminal(host, 0xA2, 2)
    assert (first.admitted, second.admitted) == (True, False)
    assert "has a terminal" in said(second, Admit)[-1].text
    assert [alarm.kind for alarm in host.alarms()] == ["take-over"]


def test_a_terminal_that_forgot_its_table_is_told_and_not_moved(host: FakeHost) -> None:
    terminal = a_terminal(host, table=2)
    terminal.swap_battery()
    terminal.plan, terminal.table = None, 1
    host.introduce(terminal)
    assert said(terminal, Admit)[-1].table == 2
    assert terminal.plan is not None
    assert terminal.plan.table == 2
    assert host.collector.terminals[0].seat == (1, 2)


def test_players_may_carry_a_terminal_to_another_free_table(host: FakeHost) -> None:
    terminal = a_terminal(host, table=2)
    terminal.table = 3
    host.give(terminal, terminal.status())
    host.run()
    assert (said(terminal, Admit)[-1].table, said(terminal, TablePlan)[-1].table) == (3, 3)


def test_a_terminal_of_a_table_that_the_event_lacks_is_told_so(host: FakeHost) -> None:
    terminal = a_terminal(host, table=9)
    assert not terminal.admitted
    assert said(terminal, Admit)[-1].text == "The event has no such table."


def test_a_record_of_a_terminal_that_waits_is_refused_not_dropped(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event(admit_all=False))
    terminal = a_terminal(host)
    terminal.enter(body())
    host.give(terminal, terminal.record(1))
    host.run()
    assert said(terminal, RecordNak)[-1].reason == RecordReason.NOT_ADMITTED
    assert host.records() == []
    host.close()


def test_another_event_has_everybody_admitted_anew(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db")
    a_terminal(host)
    host.close()
    again = FakeHost(tmp_path / "x.db", new_event(0xBEEF, "Wednesday", {1: CLUB}))
    assert again.collector.roster[0xA1].state is DeviceState.WAITING
    again.close()


def test_a_changed_movement_reaches_terminals_at_once(host: FakeHost) -> None:
    terminal = a_terminal(host)
    changed = host.setup.with_movement(1, CLUB)
    host._deliver(host.collector.set_setup(changed, 1.0))
    host.run()
    assert terminal.plan is not None
    assert (terminal.plan.version, len(terminal.plan.rounds)) == (changed.plan_version, 7)


# --- a record's way ---


def test_a_result_is_stored_interpreted_and_acknowledged(host: FakeHost) -> None:
    terminal = a_terminal(host)
    terminal.enter(body(lead=20))
    host.run()
    (row,) = host.current()
    assert row.play == PlayKey("A", 1, 1, 4)
    assert row.content == Played(Contract.parse("3NT N"), 9, 20)
    assert (row.status, row.round, row.table, row.attention, row.warnings) == ("confirmed", 1, 1, (), ())
    assert list(terminal.shown) == [(0xA1, 1, 1)]


def test_no_acknowledgement_precedes_its_commit(host: FakeHost) -> None:
    terminal = a_terminal(host)
    for board in (1, 2):
        terminal.enter(body(board=board))
    host.run()
    committed = 0
    for what, thing in host.log:
        if what == "commit":
            committed = len(host.records())
        if what == "out" and isinstance(thing, RecordAck):
            assert thing.upto <= committed


def test_a_crash_between_commit_and_acknowledgement_loses_and_doubles_nothing(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db")
    terminal = a_terminal(host)
    terminal.enter(body())
    for message in terminal.to_send():
        host.collector.receive("base", _from(terminal, message), 0.0)

    class Killed(Exception):
        pass

    def kill() -> None:
        raise Killed

    with pytest.raises(Killed):
        host.pump(after_commit=kill)
    host.close()
    assert terminal.shown == {}
    again = FakeHost(tmp_path / "x.db")
    again.introduce(terminal)
    assert list(terminal.shown) == [(0xA1, 1, 1)]
    assert len(again.records()) == 1
    assert len(again.current()) == 1
    again.close()


def _from(terminal: FakeTerminal, message: Message) -> StationMessage:
    return StationMessage(terminal.address, message)


def test_the_same_record_again_is_acknowledged_again(host: FakeHost) -> None:
    terminal = a_terminal(host)
    terminal.enter(body())
    host.run()
    host.give(terminal, terminal.record(1))
    host.run()
    assert [ack.upto for ack in said(terminal, RecordAck)] == [1, 1]
    assert len(host.records()) == 1


def test_same_key_other_body_is_kept_alarmed_and_never_acknowledged(host: FakeHost) -> None:
    terminal = a_terminal(host)
    for board in (1, 2):
        terminal.enter(body(board=board))
    host.run()
    # Its memory goes back in time: number 2 is given again, to another board.
    terminal.acked[1] = 1
    terminal.log[1] = {1: body(board=1), 2: body(board=5, round=3, ew=6)}
    terminal.shown.clear()
    host.introduce(terminal)
    assert terminal.journal == 2, "it was told to open a new journal"
    assert {key: value for key, value in terminal.shown.items() if key[1] == 1} == {}
    assert terminal.shown == {(0xA1, 2, 1): body(board=5, round=3, ew=6)}
    states = [record.state for record in host.records()]
    assert sorted(states) == sorted([RecordState.STORED] * 3 + [RecordState.CONFLICT])
    assert {alarm.kind for alarm in host.alarms()} == {"conflict"}
    assert {row.play.board for row in host.current()} == {1, 2, 5}


def test_a_number_given_again_is_not_covered_by_the_acknowledgement_of_a_later_one(host: FakeHost) -> None:
    terminal = a_terminal(host)
    for board in (1, 2, 3):
        terminal.enter(body(board=board, round=(board + 1) // 2))
    host.run()
    terminal.shown.clear()
    # Its memory goes back to number 1. Numbers 2 and 3, given again, are lost on the way; only number 4 arrives.
    terminal.acked[1] = 1
    terminal.log[1] = {1: body(board=1), 2: body(board=5, round=3, ew=6), 3: body(board=6, round=3, ew=6)}
    terminal.next_seq[1] = 4
    terminal.enter(body(board=4, round=2, ew=5))
    for message in terminal.boot():
        host._deliver(host.collector.receive("base", _from(terminal, message), 0.0))
    terminal.sent = 4
    host._deliver(host.collector.receive("base", _from(terminal, terminal.record(4)), 0.0))
    host.run()
    kept = {record.raw.key: record.raw.body for record in host.records() if record.state != "conflict"}
    for key, content in terminal.shown.items():
        assert kept[RecordKey(*key)] == content
    assert {row.play.board for row in host.current()} == {1, 2, 3, 4, 5, 6}


def test_repeating_an_old_record_does_not_cover_new_ones_with_known_numbers(host: FakeHost) -> None:
    terminal = a_terminal(host)
    for board in (1, 2):
        terminal.enter(body(board=board))
    host.run()
    terminal.shown.clear()
    terminal.acked[1] = 0
    terminal.log[1][2] = body(board=5, round=3, ew=6)
    host.introduce(terminal)
    assert terminal.shown == {(0xA1, 1, 1): body(board=1), (0xA1, 2, 1): body(board=5, round=3, ew=6)}


def test_a_gap_is_asked_for_and_nothing_behind_it_is_acknowledged(host: FakeHost) -> None:
    terminal = a_terminal(host)
    for board in (1, 2):
        terminal.enter(body(board=board))
    terminal.sent = 2
    host.give(terminal, terminal.record(2))
    host.run()
    nak = said(terminal, RecordNak)[0]
    assert (nak.reason, nak.seq) == (RecordReason.GAP, 1)
    assert sorted(terminal.shown) == [(0xA1, 1, 1), (0xA1, 1, 2)]


def test_a_damaged_record_is_refused(host: FakeHost) -> None:
    terminal = a_terminal(host)
    terminal.enter(body())
    good = terminal.record(1)
    terminal.sent = 1
    host.give(terminal, replace(good, body=body(tricks=10)))
    host.run()
    assert said(terminal, RecordNak)[-1].reason == RecordReason.CRC
    assert host.records() == []


def test_a_key_that_is_wanted_in_mid_event_is_wanted_at_once(host: FakeHost) -> None:
    terminal = a_terminal(host)
    strict = replace(host.setup, settings=host.setup.settings.changed({"need_key": True}))
    host._deliver(host.collector.set_setup(strict, host.now))
    host.run()
    assert not terminal.admitted
    assert "key" in said(terminal, Admit)[-1].text
    assert [alarm.kind for alarm in host.alarms()] == ["needs-key"]
    terminal.enter(body())
    host._deliver(host.collector.set_setup(host.setup, host.now))
    host.run()
    assert terminal.admitted
    assert terminal.shown, "what was keyed in meanwhile is not lost"


def test_a_record_without_the_devices_key_is_refused_and_reported(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db")
    device = Device(0xA1, DeviceState.ADMITTED, 1, 1, key=b"k" * 16)
    host.ask(lambda connection: desk.save_device(connection, device))
    host.collector.set_device(device, 0.0)
    stranger = a_terminal(host)
    stranger.enter(body())
    host.run()
    assert said(stranger, RecordNak)[-1].reason == RecordReason.AUTH
    assert (host.records(), [alarm.kind for alarm in host.alarms()]) == ([], ["auth"])
    stranger.key = b"k" * 16
    stranger.repeat()
    host.run()
    assert len(host.records()) == 1
    assert "k" * 4 not in repr(host.collector.roster)
    host.close()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (body(level=0), "level from 1 to 7"),
        (body(strain=6), "strain"),
        (body(tricks=14), "13 tricks"),
        (body(lead=60), "no card"),
        (body(kind=9), "kind"),
        (body(board=77), "no such board"),
        (body(ew=40), "no such pair"),
        (body(ew=1), "same number"),
        (body(table=9), "no such table"),
        (body(section=2), "no such section"),
        (body(replaces=1), "before the first"),
        (body(kind=ERASED), "erases nothing"),
        (body(kind=NOT_PLAYED), "only the director"),
        (body(kind=2, level=3), "without one"),
    ],
)
def test_a_senseless_record_is_set_aside_and_blocks_nothing(host: FakeHost, wrong: bytes, why: str) -> None:
    terminal = a_terminal(host)
    terminal.enter(wrong)
    terminal.enter(body())
    host.run()
    assert [record.state for record in host.records()] == [RecordState.QUARANTINED, RecordState.STORED]
    assert why in host.records()[0].reason
    assert len(terminal.shown) == 2
    assert [row.play.board for row in host.current()] == [1]
    (alarm,) = host.alarms()
    assert alarm.kind == "quarantine"
    assert f"{RecordBody.unpack(wrong).table}, round 1, board" in alarm.text
    assert why in alarm.text
    assert ".." not in alarm.text


def test_a_pairing_that_the_movement_lacks_is_taken_with_a_warning(host: FakeHost) -> None:
    terminal = a_terminal(host)
    terminal.enter(body(ew=5))
    host.run()
    (row,) = host.current()
    assert (row.play.ew, row.warnings) == (5, ("not-in-movement",))


def test_results_before_there_is_a_movement_are_held(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event(None))
    terminal = a_terminal(host)
    assert terminal.admitted
    assert terminal.plan is None
    terminal.enter(body())
    host.run()
    assert host.current()[0].warnings == ("no-movement-yet",)
    host.close()


# --- corrections ---


def test_corrections_and_erasures_follow_the_journal(host: FakeHost) -> None:
    terminal = a_terminal(host)
    terminal.enter(body(tricks=9))
    terminal.enter(body(tricks=10, replaces=1))
    host.run()
    assert host.current()[0].content == Played(Contract.parse("3NT N"), 10)
    terminal.enter(body(kind=ERASED, replaces=1))
    host.run()
    assert (host.current()[0].content, host.current()[0].status) == (None, "none")
    terminal.enter(body(tricks=8))
    host.run()
    (row,) = host.current()
    assert (row.content, row.attention) == (Played(Contract.parse("3NT N"), 8), ())


def test_a_correction_to_another_board_leaves_nothing_behind(host: FakeHost) -> None:
    terminal = a_terminal(host)
    terminal.enter(body(board=1))
    terminal.enter(body(board=2, replaces=1))
    host.run()
    assert {row.play.board: row.content is not None for row in host.current()} == {1: False, 2: True}
    terminal.enter(body(board=2, tricks=7, replaces=1))
    host.run()
    assert [tricks(row) for row in host.current() if row.content] == [7]


def test_a_correction_of_a_record_in_quarantine_is_a_first_entry(host: FakeHost) -> None:
    terminal = a_terminal(host)
    terminal.enter(body(tricks=14))
    terminal.enter(body(tricks=9, replaces=1))
    host.run()
    assert [row.attention for row in host.current()] == [()]


# --- two devices ---


def second_device(host: FakeHost, first: FakeTerminal, device: int = 0xA2) -> FakeTerminal:
    """The director replaces a broken terminal."""
    for changed in (
        Device(first.device, DeviceState.WAITING),
        Device(device, DeviceState.ADMITTED, first.section, first.table),
    ):
        host.ask(functools.partial(desk.save_device, device=changed))
        host._deliver(host.collector.set_device(changed, host.now))
    return a_terminal(host, device, first.address + 1, first.table)


def test_two_terminals_that_say_the_same_merge_silently(host: FakeHost) -> None:
    first = a_terminal(host)
    first.enter(body(lead=255))
    host.run()
    second = second_device(host, first)
    second.enter(body(lead=30))
    host.run()
    (row,) = host.current()
    assert (row.attention, row.claims) == ((), 2)


def test_two_terminals_that_differ_ask_the_director_and_the_newest_does_not_win(host: FakeHost) -> None:
    first = a_terminal(host)
    first.enter(body(tricks=9))
    host.run()
    second = second_device(host, first)
    second.enter(body(tricks=10))
    host.run()
    (row,) = host.current()
    assert (tricks(row), row.attention, row.claims) == (9, ("contested",), 2)
    second.enter(body(tricks=9, replaces=1))
    host.run()
    assert host.current()[0].attention == ()


# --- credit, limits, trouble ---


def test_a_failing_store_acknowledges_nothing_and_stops_credit_then_everything_arrives(host: FakeHost) -> None:
    terminal = a_terminal(host)
    host.broken = "the disk is full"
    terminal.enter(body(board=1))
    terminal.enter(body(board=2))
    host.run()
    assert (terminal.shown, terminal.credit) == ({}, 0)
    assert host.collector.trouble == "the disk is full"
    assert host.records() == []
    host.recover()
    assert host.collector.trouble == ""
    assert len(terminal.shown) == len(host.records()) == 2
    assert terminal.credit > 0


def test_admissions_survive_a_failing_store(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db")
    host.broken = "the disk is full"
    terminal = a_terminal(host)
    assert not terminal.admitted
    host.recover()
    assert terminal.admitted
    host.close()


def test_a_full_queue_stops_credit_and_gives_it_back(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event(CLUB), limits=Limits(queue=3, batch=2, credit=4))
    terminals = [a_terminal(host, 0xA0 + n, n, n) for n in range(1, 8)]
    for n, terminal in enumerate(terminals, 1):
        seating = CLUB.at(1, n)
        assert seating is not None or n == 7
        if seating is not None:
            for board in seating.boards:
                terminal.enter(body(table=n, ns=seating.ns, ew=seating.ew, board=board))
    messages = [(terminal, message) for terminal in terminals for message in terminal.to_send()]
    for terminal, message in messages:
        host._deliver(host.collector.receive("base", _from(terminal, message), 0.0))
        assert host.collector.queued <= 3
    assert all(terminal.credit == 0 for terminal in terminals)
    host.run()
    assert len(host.records()) == sum(len(t.shown) for t in terminals) == 24
    host.close()


def test_a_terminal_that_ignores_credit_takes_no_more_memory(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", limits=Limits(per_terminal=5))
    terminal = a_terminal(host)
    for _ in range(50):
        terminal.enter(body())
    for seq in range(1, 51):
        host.collector.receive("base", _from(terminal, terminal.record(seq)), 0.0)
        assert host.collector.queued <= 5
    host.run()
    host.wait(30)
    assert len(host.records()) == 50
    host.close()


def test_a_terminal_that_sends_without_end_is_slowed_down_and_loses_nothing(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", limits=Limits(per_second=2, burst=5, ask_every=1))
    terminal = a_terminal(host, ring=100)
    terminal.enter(body())
    host.run()
    for _ in range(100):
        host.collector.receive("base", _from(terminal, terminal.record(1)), host.now)
        host.pump()
    assert host.collector.terminals[0].over_limit >= 95
    for number in range(20):
        terminal.enter(body(board=number % 6 + 1, round=(number % 6) // 2 + 1))
    host.run()
    assert len(host.records()) == 1
    host.wait(30)
    assert len(terminal.shown) == len(host.records()) == 21
    assert host.ask(ledger.holes) == []
    host.close()


def test_messages_in_any_alphabet_fit_the_line(host: FakeHost) -> None:
    a_terminal(host)
    for text in ("ż" * 500, "🂡" * 200, "\ud800"):
        (send,) = host.collector.text(text)
        assert len(encode(send.message)) <= 260


def test_a_flood_of_strange_devices_is_bounded(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", limits=Limits(devices=10))
    for device in range(1, 200):
        host.collector.receive("base", _from(FakeTerminal(device, device), FakeTerminal(device, device).hello()), 0.0)
    assert len(host.collector.terminals) == 10
    host.close()


def test_records_from_an_address_that_never_introduced_itself_are_not_acknowledged(host: FakeHost) -> None:
    terminal = FakeTerminal(0xA1, 1)
    terminal.enter(body())
    assert host.collector.receive("base", _from(terminal, terminal.record(1)), 0.0) == []
    assert host.collector.strangers == 1


# --- an older store ---


def test_a_restored_backup_gets_records_back_from_the_ring(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db")
    terminal = a_terminal(host)
    terminal.enter(body(board=1))
    host.run()
    host.database.backup(tmp_path / "old.db")
    terminal.enter(body(board=2))
    host.run()
    assert len(terminal.shown) == 2
    host.close()
    again = FakeHost(tmp_path / "old.db")
    again.introduce(terminal)
    assert [record.raw.key.seq for record in again.records()] == [1, 2]
    assert again.alarms() == []
    again.close()


def test_what_the_ring_no_longer_holds_is_told_to_the_operator(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db")
    host.database.backup(tmp_path / "old.db")
    terminal = a_terminal(host, ring=2)
    for number in range(6):
        terminal.enter(body(board=number + 1, round=number // 2 + 1))
    host.run()
    assert len(terminal.shown) == 6
    host.close()
    again = FakeHost(tmp_path / "old.db")
    again.introduce(terminal)
    again.wait(30)
    assert [record.raw.key.seq for record in again.records()] == [5, 6]
    assert [(first, last) for _, _, first, last in again.ask(ledger.holes)] == [(1, 4)]
    (alarm,) = again.alarms()
    assert alarm.kind == "not-recoverable"
    assert alarm.text.startswith("4 records")
    terminal.enter(body(tricks=3, replaces=0, board=6, round=3, ew=5))
    again.run()
    assert len(again.records()) == 3, "the journal goes on"
    again.close()


def test_a_hello_that_crosses_its_acknowledgement_does_not_stop_a_terminal_without_a_ring(host: FakeHost) -> None:
    terminal = a_terminal(host, ring=0)
    terminal.enter(body(board=1))
    crossing = terminal.hello()
    host.run()
    assert crossing.oldest_unacked == 1
    assert terminal.log[1] == {}, "it keeps nothing that was acknowledged"
    for message in (crossing, terminal.status()):
        host.give(terminal, message)
    host.run()
    terminal.enter(body(board=2))
    host.run()
    host.wait(30)
    assert terminal.acked == {1: 2}
    assert len(host.records()) == 2
    assert host.alarms() == []


def _an_older_store(tmp_path: Path, boards: int = 4) -> tuple[FakeHost, FakeTerminal]:
    """A host whose store has nothing of what a terminal was told to have arrived."""
    host = FakeHost(tmp_path / "x.db")
    host.database.backup(tmp_path / "old.db")
    terminal = a_terminal(host)
    for board in range(1, boards + 1):
        terminal.enter(body(board=board, round=(board + 1) // 2))
    host.run()
    host.close()
    return FakeHost(tmp_path / "old.db"), terminal


def test_records_of_a_terminal_that_is_hard_to_reach_are_not_given_up(tmp_path: Path) -> None:
    """The line stands still just when the host asks: the terminal has everything, and is not heard for a while."""
    again, terminal = _an_older_store(tmp_path)
    again.add(terminal)
    for message in terminal.boot():
        again._deliver(again.collector.receive("base", _from(terminal, message), again.now))
    while again.pump():
        pass
    again.inbox.clear()  # what it answered is lost on the way
    end = again.now + 20.0
    while again.now < end:
        again.now += 0.5
        again.collector.tick(again.now)  # what is asked does not arrive either
        while again.pump():
            pass
    assert again.ask(ledger.holes) == []
    again.wait(10)
    assert [record.raw.key.seq for record in again.records()] == [1, 2, 3, 4]
    assert again.alarms() == []
    again.close()


def test_a_terminal_that_never_answers_for_its_old_records_is_told_to_the_operator(tmp_path: Path) -> None:
    again, terminal = _an_older_store(tmp_path)
    terminal.log = {1: {}}  # its ring holds nothing any more, so that it has nothing to answer with
    again.introduce(terminal)
    again.wait(120)
    assert [(first, last) for _, _, first, last in again.ask(ledger.holes)] == [(1, 4)]
    assert [alarm.kind for alarm in again.alarms()] == ["not-recoverable"]
    again.close()


def test_a_record_that_is_damaged_again_and_again_is_not_given_up(tmp_path: Path) -> None:
    again, terminal = _an_older_store(tmp_path)
    whole, damaged = FakeTerminal.record, [2] * 6

    def record(self: FakeTerminal, seq: int, journal: int | None = None) -> Record:
        found = whole(self, seq, journal)
        if seq not in damaged:
            return found
        damaged.remove(seq)
        return replace(found, crc=found.crc ^ 1)

    terminal.record = record.__get__(terminal)  # type: ignore[method-assign]
    again.introduce(terminal)
    again.wait(60)
    assert not damaged
    assert sorted(record.raw.key.seq for record in again.records()) == [1, 2, 3, 4]
    assert again.ask(ledger.holes) == []
    again.close()


def test_records_that_the_terminal_still_owes_are_never_given_up(host: FakeHost) -> None:
    terminal = a_terminal(host)
    for board in (1, 2):
        terminal.enter(body(board=board))
    terminal.sent = 2
    gone = terminal.log[1].pop(1)  # a terminal that breaks the rules: number 1 never comes
    host.give(terminal, terminal.record(2))
    host.run()
    host.wait(60)
    assert host.records() == []
    assert terminal.shown == {}
    terminal.log[1][1] = gone
    terminal.repeat()
    host.run()
    assert len(terminal.shown) == 2


# --- several evenings ---


def test_what_was_keyed_in_yesterday_and_not_sent_belongs_to_yesterday(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db")
    terminal = a_terminal(host)
    terminal.enter(body(board=1))
    host.run()
    terminal.enter(body(board=2))  # the host is switched off before this arrives
    host.close()
    tonight = FakeHost(tmp_path / "x.db", new_event(0xBEEF, "Wednesday", {1: SMALL}, host.setup.settings))
    tonight.introduce(terminal)
    terminal.enter(body(board=3, round=2, ew=6))
    tonight.run()
    assert len(terminal.shown) == 3
    assert [row.play.board for row in tonight.current()] == [3]
    yesterday = tonight.ask(lambda connection: results.current(connection, host.event))
    assert [row.play.board for row in yesterday] == [1, 2]
    assert tonight.alarms() == []
    tonight.close()


# --- the rest ---


def test_a_call_reaches_the_desk(host: FakeHost) -> None:
    terminal = a_terminal(host)
    host.give(terminal, Call(1, 1, 2, 1))
    host.run()
    (event,) = host.ask(lambda connection: desk.desk_events(connection, host.event, "call"))
    assert (event.data["section"], event.data["table"], event.data["round"]) == (1, 1, 2)
    assert said(terminal, Text)[-1].text == "The director is called."


def test_a_stuck_key_does_not_fill_the_desks_log(host: FakeHost) -> None:
    terminal = a_terminal(host)
    for number in range(500):
        host.give(terminal, Call(1, 1, 1, number % 2))
    host.run()
    logged = host.ask(lambda connection: desk.desk_events(connection, host.event, "call"))
    assert len(logged) == 20
    host.wait(5)
    host.give(terminal, Call(1, 1, 1, 1))
    host.run()
    logged = host.ask(lambda connection: desk.desk_events(connection, host.event, "call"))
    assert (len(logged), logged[-1].data["state"]) == (21, 1)


def test_messages_of_the_desk_go_to_those_they_are_for(host: FakeHost) -> None:
    for n in (1, 2, 3):
        a_terminal(host, 0xA0 + n, n, n)
    assert [send.address for send in host.collector.text("Boards up", 1, 2)] == [2]
    assert [send.address for send in host.collector.text("Boards up")] == [1, 2, 3]
    assert host.collector.resend(0xA2, 1, 4) == [Send("base", 2, Resend(0xA2, 1, 4))]


def test_credit_is_told_when_a_station_connects(host: FakeHost) -> None:
    sends = host.collector.receive("other", StationConnected(StationIdentity(2, "s", "1", 1), False), 0.0)
    assert [(send.station, send.address, type(send.message)) for send in sends] == [("other", 0, Credit)]


@pytest.mark.parametrize(("limits", "bounded"), [(Limits(queue=24, per_terminal=6), True), (ENDLESS, False)])
def test_credit_and_queue_bound_what_waits_and_without_them_it_grows(
    tmp_path: Path, limits: Limits, bounded: bool
) -> None:
    """I9 with its control: terminals that know no credit, and a disk that stands still."""
    host = FakeHost(tmp_path / "events.db", limits=limits)
    terminals = [host.introduce(FakeTerminal(0xA0 + table, table, table=table)) for table in (1, 2, 3)]
    most = 0
    for board in range(1, 100):
        for terminal in terminals:
            record = terminal.record(terminal.enter(body(table=terminal.table, board=board)))
            host.collector.receive("base", StationMessage(terminal.address, record), host.now)
            most = max(most, host.collector.queued)
    assert (most <= 24 + 3) == bounded
    assert all(terminal.shown == {} for terminal in terminals)
    host.run()
    for _ in range(60):  # the disk works again, and so does credit
        host.wait(2)
    assert not any(terminal.waiting() for terminal in terminals)
    host.close()
