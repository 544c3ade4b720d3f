"""An event that begins, or changes, while terminals are in contact: what they key in then belongs to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sync_fakes import FakeHost, FakeTerminal, an_event, body

from firmware_bridge.wire.messages import EventPart, TermEvents, encode
from firmware_bridge.wire.record import events_auth
from terminals.store import desk, ledger
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


# --- a terminal that says itself which of its records belong to which event ------------------------------------------


def events(terminal: FakeTerminal, parts: tuple[EventPart, ...]) -> TermEvents:
    bare = TermEvents(bytes(6), parts)
    return replace(bare, auth=events_auth(terminal.key, terminal.device, encode(bare)[6:]))


def says(host: FakeHost, terminal: FakeTerminal, *parts: tuple[int, EventSetup]) -> None:
    """TERM_EVENTS of its only journal: first number, event."""
    told = tuple(EventPart(terminal.journal, first, event.id) for first, event in parts)
    host.give(terminal, events(terminal, told))
    host.run()


def events_of(host: FakeHost, terminal: FakeTerminal) -> list[str]:
    key = terminal.device
    return [record.event for record in host.records() if record.raw.key.device == key]


def send_all(host: FakeHost, terminal: FakeTerminal) -> None:
    for _ in range(8):
        for message in terminal.to_send():
            host.give(terminal, message)
        host.run()


def test_the_boundary_is_exact_when_the_event_changes_under_records_that_wait(host: FakeHost) -> None:
    """The last TERM_STATUS knows nothing of what was keyed in after it; the terminal's own word does."""
    first = an_event()
    second = replace(first, id=first.id + 1)
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    play(host, first)
    says(host, terminal, (1, first))
    host.give(terminal, terminal.status())  # nothing waits yet
    host.run()
    for board in (1, 2):
        terminal.enter(body(board=board))  # the line is away: neither record nor status goes out
    play(host, second)  # the desk begins the next evening before they have arrived
    assert events_of(host, terminal) in ([], [desk.event_hex(first.id)] * len(events_of(host, terminal)))
    says(host, terminal, (1, first), (3, second))  # it has read the new plan
    terminal.enter(body(board=1))
    send_all(host, terminal)
    assert events_of(host, terminal) == [desk.event_hex(one.id) for one in (first, first, second)]


def test_records_between_the_desks_change_and_the_terminals_word_belong_to_the_old_event(host: FakeHost) -> None:
    first = an_event()
    second = replace(first, id=first.id + 1)
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    play(host, first)
    says(host, terminal, (1, first))
    play(host, second)
    key_in(host, terminal, 1)  # it has not read the new plan yet
    says(host, terminal, (1, first), (2, second))
    key_in(host, terminal, 1)
    assert events_of(host, terminal) == [desk.event_hex(first.id), desk.event_hex(second.id)]


def test_several_evenings_in_memory_come_to_a_host_that_lost_everything(tmp_path: Path) -> None:
    """Three evenings in one journal, sent again from number 1 to a host whose database is new."""
    host = FakeHost(tmp_path / "new.db")
    evenings = [replace(an_event(), id=an_event().id + n) for n in range(3)]
    terminal = host.add(FakeTerminal(0xA1, 1, ring=32))
    for number in range(6):
        terminal.enter(body(board=number % 2 + 1))
    parts = [(1, evenings[0]), (3, evenings[1]), (5, evenings[2])]
    for event in evenings:
        row = EventRow(event.id, event.name, setup_to_json(event), event.plan_version, "")
        with host.database.transaction() as connection:
            desk.save_event(connection, row)
    host.collector.set_setup(evenings[2], host.now)
    host.give(terminal, terminal.hello())
    says(host, terminal, *parts)  # before it is admitted: kept until then
    host.give(terminal, terminal.status())
    host.run()
    send_all(host, terminal)
    assert events_of(host, terminal) == [desk.event_hex(evenings[n // 2].id) for n in range(6)]
    assert all(state is RecordState.STORED for _, state in stored(host))
    host.close()


def test_a_terminal_that_says_nothing_is_estimated_as_before(host: FakeHost) -> None:
    first = an_event()
    second = replace(first, id=first.id + 1)
    silent, telling = host.introduce(FakeTerminal(0xA1, 1)), host.introduce(FakeTerminal(0xA2, 2, table=2))
    play(host, first)
    says(host, telling, (1, first))
    key_in(host, silent, 1)
    play(host, second)
    key_in(host, silent, 1)
    assert events_of(host, silent) == [desk.event_hex(first.id), desk.event_hex(second.id)]
    with host.database.transaction() as connection:
        assert ledger.boundaries(connection, telling.device, telling.journal) == [(1, desk.event_hex(first.id))]


def test_the_same_word_again_changes_nothing_and_nonsense_is_left_alone(host: FakeHost) -> None:
    event = an_event()
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    play(host, event)
    for _ in range(3):
        says(host, terminal, (1, event))
    host.give(terminal, events(terminal, ()))
    host.give(terminal, events(terminal, (EventPart(0, 1, event.id), EventPart(5, 1, 0))))
    host.give(terminal, events(terminal, tuple(EventPart(9, number, number) for number in range(1, 256))))
    host.run()
    with host.database.transaction() as connection:
        assert ledger.boundaries(connection, terminal.device, terminal.journal) == [(1, desk.event_hex(event.id))]
        assert len(ledger.boundaries(connection, terminal.device, 9)) == 32
    key_in(host, terminal, 1)
    assert stored(host) == [(desk.event_hex(event.id), RecordState.STORED)]


def test_a_record_of_an_event_that_nobody_knows_is_kept_aside(host: FakeHost) -> None:
    event = an_event()
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    play(host, event)
    says(host, terminal, (1, replace(event, id=event.id + 77)), (2, event))
    key_in(host, terminal, 1)
    key_in(host, terminal, 1)
    assert [state for _, state in stored(host)] == [RecordState.QUARANTINED, RecordState.STORED]


STEPS = st.lists(st.sampled_from(["key", "key", "desk", "read", "send", "boot", "status"]), min_size=4, max_size=24)


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_each_record_belongs_to_the_event_that_its_terminal_played(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    """Whenever the desk changes the event, the terminal reads it, boots, or gets its records away."""
    host = FakeHost(tmp_path_factory.mktemp("events") / "events.db")
    at_desk, at_terminal, number = an_event(), an_event(), 0
    terminal = host.introduce(FakeTerminal(0xA1, 1, ring=64))
    wanted: list[EventSetup] = []
    parts = [(1, at_terminal)]
    play(host, at_desk)
    says(host, terminal, *parts)
    for step in steps:
        if step == "key":
            terminal.enter(body(board=number % 2 + 1))
            wanted.append(at_terminal)
        elif step == "desk":
            number += 1
            at_desk = replace(at_desk, id=an_event().id + number)
            play(host, at_desk)
        elif step == "read" and at_terminal is not at_desk:
            at_terminal = at_desk
            parts.append((len(wanted) + 1, at_terminal))
            says(host, terminal, *parts)
        elif step == "send":
            send_all(host, terminal)
        elif step == "status":
            host.give(terminal, terminal.status())
        elif step == "boot":
            host.give(terminal, terminal.hello())
            says(host, terminal, *parts)
            host.give(terminal, terminal.status())
            host.run()
    send_all(host, terminal)
    host.wait(2.0)
    assert events_of(host, terminal) == [desk.event_hex(event.id) for event in wanted]
    host.close()


def test_nobody_else_says_to_which_event_the_records_of_a_terminal_with_a_key_belong(host: FakeHost) -> None:
    event = an_event()
    terminal = FakeTerminal(0xA1, 1, key=b"k" * 16)
    host.ask(lambda connection: desk.save_device(connection, desk.Device(0xA1, DeviceState.WAITING, key=b"k" * 16)))
    host.collector.set_device(desk.Device(0xA1, DeviceState.WAITING, key=b"k" * 16), host.now)
    host.introduce(terminal)
    play(host, event)
    says(host, terminal, (1, event))
    forged = events(FakeTerminal(0xA1, 1, key=b"x" * 16), (EventPart(terminal.journal, 1, event.id + 9),))
    for message in (forged, replace(forged, auth=bytes(6))):
        host.give(terminal, message)
        host.run()
    key_in(host, terminal, 1)
    assert stored(host) == [(desk.event_hex(event.id), RecordState.STORED)]
    assert [alarm.kind for alarm in host.alarms()] == ["auth"]
