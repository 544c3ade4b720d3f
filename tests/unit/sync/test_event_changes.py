"""An event that begins, or changes, while terminals are in contact: what they key in then belongs to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sync_fakes import FakeHost, FakeTerminal, an_event, body

from terminals.store import desk
from terminals.store.desk import DeviceState, EventRow
from terminals.store.values import RecordState
from terminals.sync.setup import EventSetup, setup_to_json

NOTHING = EventSetup(0xFFFF_0000_0000_0001, "", ())
"""As a service has it that waits for its event."""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    host = FakeHost(tmp_path / "events.db")
    yield host
    host.close()


def play(host: FakeHost, event: EventSetup) -> None:
    """The desk makes ``event`` the one that is played, and admits every terminal to its table."""
    row = EventRow(event.id, event.name, setup_to_json(event), event.plan_version, "")
    with host.database.transaction() as connection:
        desk.save_event(connection, row)
    for send in host.collector.set_setup(event, host.now):
        host.sends.append(send)
    for terminal in host.terminals.values():
        known = host.collector.roster[terminal.device]
        admitted = replace(known, state=DeviceState.ADMITTED, section=terminal.section, table=terminal.table)
        with host.database.transaction() as connection:
            desk.save_device(connection, admitted)
        for send in host.collector.set_device(admitted, host.now):
            for message in terminal.receive(send.message):
                host.give(terminal, message)
    host.run()


def stored(host: FakeHost) -> list[tuple[str, RecordState]]:
    return [(record.event, record.state) for record in host.records()]


def key_in(host: FakeHost, terminal: FakeTerminal, board: int) -> None:
    terminal.enter(body(board=board))
    for message in terminal.to_send():
        host.give(terminal, message)
    host.run()


def test_terminals_that_were_there_before_the_event_play_it(host: FakeHost) -> None:
    host.collector.set_setup(NOTHING, 0.0)
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    event = an_event()
    play(host, event)
    key_in(host, terminal, 1)
    assert stored(host) == [(desk.event_hex(event.id), RecordState.STORED)]


def test_a_journal_may_come_back_to_an_event(host: FakeHost) -> None:
    first = an_event()
    second = replace(first, id=first.id + 1)
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    for board, event in ((1, first), (1, second), (2, first)):
        play(host, event)
        key_in(host, terminal, board)
    expected = [desk.event_hex(event.id) for event in (first, second, first)]
    assert stored(host) == [(event, RecordState.STORED) for event in expected]


def test_of_two_events_without_a_record_between_them_the_later_counts(host: FakeHost) -> None:
    first = an_event()
    for second in (replace(first, id=first.id + 1), replace(first, id=first.id - 1)):
        terminal = host.introduce(FakeTerminal(0xA0 + second.id % 16, 1))
        play(host, first)
        play(host, second)
        key_in(host, terminal, 1)
        assert stored(host)[-1] == (desk.event_hex(second.id), RecordState.STORED)


def test_what_waits_at_a_terminal_belongs_to_the_evening_on_which_it_was_keyed_in(host: FakeHost) -> None:
    first = an_event()
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    play(host, first)
    terminal.enter(body(board=1))
    host.give(terminal, terminal.status())
    host.run()
    second = replace(first, id=first.id + 1)
    play(host, second)
    terminal.enter(body(board=1))
    for _ in range(3):
        for message in terminal.to_send():
            host.give(terminal, message)
        host.run()
    assert [event for event, _ in stored(host)] == [desk.event_hex(first.id), desk.event_hex(second.id)]
