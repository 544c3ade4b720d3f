"""Promises about a second terminal at a table: only with the PIN, never a record lost, and few tries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sync_fakes import FakeHost, FakeTerminal, an_event, body

from drivers.api import StationMessage
from firmware_bridge.wire.messages import (
    Admit,
    DirectorAsk,
    DirectorNonce,
    DirectorOpen,
    Nak,
    TableSettings,
    TakeOver,
)
from firmware_bridge.wire.numbers import Admission, DirectorAnswer, NakReason, TableSetting
from firmware_bridge.wire.record import director_proof
from terminals.store import desk
from terminals.store.desk import DeviceState

PIN = "2741"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    made = FakeHost(tmp_path / "events.db", an_event(director_pin=PIN))
    yield made
    made.close()


def wants(host: FakeHost, device: int = 0xB1, address: int = 9, table: int = 1) -> FakeTerminal:
    """A spare terminal that names a table which has one."""
    spare = host.introduce(FakeTerminal(device, address, table=table))
    assert not spare.admitted
    return spare


def nonce(host: FakeHost, terminal: FakeTerminal) -> bytes | None:
    seen = len(terminal.seen)
    host.give(terminal, DirectorAsk())
    host.run()
    found = [one for one in terminal.seen[seen:] if isinstance(one, DirectorNonce)]
    return found[0].nonce if found else None


def take(host: FakeHost, terminal: FakeTerminal, pin: str, section: int = 1, table: int = 1) -> list[int]:
    """The answers other than ADMIT."""
    given = nonce(host, terminal)
    seen = len(terminal.seen)
    proof = bytes(8) if given is None else director_proof(pin, given, terminal.device)
    host.give(terminal, TakeOver(section, table, proof))
    host.run()
    return [one.answer for one in terminal.seen[seen:] if isinstance(one, DirectorOpen)]


def test_with_the_pin_the_table_changes_hands_and_what_waited_still_arrives(host: FakeHost) -> None:
    first = host.introduce(FakeTerminal(0xA1, 1))
    spare = wants(host)
    first.credit = 0
    first.enter(body(board=1))
    assert take(host, spare, PIN) == []
    assert (spare.admitted, spare.table) == (True, 1)
    admits = [one for one in first.seen if isinstance(one, Admit)]
    assert (admits[-1].admitted, admits[-1].table) == (Admission.ADMITTED, 0)
    assert admits[-1].text == "This terminal is at no table. What waits here is still sent."
    spare.enter(body(board=2))
    first.credit = 1
    host.run()
    assert (first.waiting(), spare.waiting()) == ([], [])
    assert {row.play.board for row in host.current()} == {1, 2}
    logged = host.ask(lambda connection: desk.desk_events(connection, host.event, "take-over"))
    assert (logged[0].data["old"], logged[0].data["new"]) == ("00000000000000a1", "00000000000000b1")


def test_the_terminal_that_was_put_aside_asks_for_its_table_without_an_alarm(host: FakeHost) -> None:
    first = host.introduce(FakeTerminal(0xA1, 1))
    spare = wants(host)
    take(host, spare, PIN)
    before = [(alarm.kind, alarm.times) for alarm in host.alarms()]
    for _ in range(3):
        host.give(first, first.status())
        host.run()
    assert [(alarm.kind, alarm.times) for alarm in host.alarms()] == before
    assert spare.admitted
    # It may come back in the same way.
    assert take(host, first, PIN) == []
    host.give(first, first.status())
    host.run()
    assert host.collector.roster[0xA1].table == 1
    assert host.collector.roster[0xB1].table == 0


@pytest.mark.parametrize("pin", ["0000", "2742", "", "27410"])
def test_another_pin_changes_nothing(host: FakeHost, pin: str) -> None:
    host.introduce(FakeTerminal(0xA1, 1))
    spare = wants(host)
    assert take(host, spare, pin) == [DirectorAnswer.WRONG]
    assert not spare.admitted
    assert host.collector.roster[0xA1].table == 1


def test_tries_are_counted_for_the_table_whoever_makes_them(host: FakeHost) -> None:
    host.introduce(FakeTerminal(0xA1, 1))
    for number in range(5):
        assert take(host, wants(host, 0xB0 + number, 9 + number), "1111") == [DirectorAnswer.WRONG]
    spare = wants(host, 0xC1, 20)
    assert nonce(host, spare) is None
    assert take(host, spare, PIN) == [DirectorAnswer.WAIT]
    assert "director-pin" in [alarm.kind for alarm in host.alarms()]
    host.now += 301.0
    assert take(host, spare, PIN) == []
    assert spare.admitted


def test_a_proof_counts_once_and_for_its_own_terminal(host: FakeHost) -> None:
    host.introduce(FakeTerminal(0xA1, 1))
    spare, other = wants(host), wants(host, 0xB2, 10)
    given = nonce(host, spare)
    assert given is not None
    host.give(other, TakeOver(1, 1, director_proof(PIN, given, other.device)))
    host.run()
    assert not other.admitted
    host.give(spare, TakeOver(1, 1, director_proof(PIN, given, spare.device)))
    host.run()
    assert spare.admitted
    host.give(spare, TakeOver(1, 2, director_proof(PIN, given, spare.device)))
    host.run()
    assert host.collector.roster[spare.device].table == 1


def test_no_table_no_pin_no_key_no_take_over(tmp_path: Path) -> None:
    for number, settings in enumerate(({}, {"director_pin": PIN, "need_key": True, "admit_all": False})):
        host = FakeHost(tmp_path / f"{number}.db", an_event(**settings))
        spare = host.introduce(FakeTerminal(0xB1, 9))
        if number == 0:
            host.introduce(FakeTerminal(0xA1, 1, table=2))
            spare = wants(host, 0xB2, 10, 2)
            assert take(host, spare, PIN, table=2) == [DirectorAnswer.CLOSED]
        else:
            take(host, spare, PIN)
            assert "has no key" in [one for one in spare.seen if isinstance(one, Admit)][-1].text
            assert take(host, spare, PIN, table=77) == []
        assert not spare.admitted
        host.close()


def test_a_refused_terminal_takes_nothing_over(host: FakeHost) -> None:
    host.introduce(FakeTerminal(0xA1, 1))
    spare = wants(host)
    refused = desk.Device(0xB1, DeviceState.REFUSED)
    host.ask(lambda connection: desk.save_device(connection, refused))
    host.collector.set_device(refused, host.now)
    assert take(host, spare, PIN) == []
    assert host.collector.roster[0xA1].table == 1


def test_a_free_table_can_be_taken_as_well(tmp_path: Path) -> None:
    """Nobody admits terminals tonight: the director does it at the table."""
    host = FakeHost(tmp_path / "events.db", an_event(director_pin=PIN, admit_all=False))
    spare = host.introduce(FakeTerminal(0xB1, 9))
    assert not spare.admitted
    assert take(host, spare, PIN) == []
    assert spare.admitted
    host.close()


# --- what terminals are told of the settings ---------------------------------------------------------------------


def told(terminal: FakeTerminal) -> list[int]:
    return [one.settings for one in terminal.seen if isinstance(one, TableSettings)]


def test_settings_come_with_the_admission_and_with_every_change(host: FakeHost) -> None:
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    usual = TableSetting(told(terminal)[-1])
    assert TableSetting.CONFIRM in usual
    assert TableSetting.DIRECTOR_PIN in usual
    assert TableSetting.AUCTION not in usual
    changed = host.setup.with_changed_settings({"auction": True, "director_pin": ""})
    host._deliver(host.collector.set_setup(changed, host.now))
    assert told(terminal)[-1] == usual ^ TableSetting.AUCTION ^ TableSetting.DIRECTOR_PIN
    count = len(told(terminal))
    host._deliver(host.collector.set_setup(changed, host.now))
    assert len(told(terminal)) == count, "nothing has changed"


def test_a_terminal_of_an_older_program_is_asked_once_and_then_left_alone(host: FakeHost) -> None:
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    host.give(terminal, Nak(NakReason.UNSUPPORTED, 0x6A, 0))
    host.run()
    count = len(told(terminal))
    host.introduce(terminal)
    host._deliver(host.collector.set_setup(host.setup.with_changed_settings({"auction": True}), host.now))
    assert len(told(terminal)) == count
    terminal.enter(body())
    host.run()
    assert terminal.waiting() == []
    host.give(terminal, replace(terminal.hello(), firmware="2"))
    host.run()
    assert len(told(terminal)) == count + 1, "it has another program now"


def test_two_terminals_with_one_id_both_get_through_and_the_director_is_told(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event())
    first, second = FakeTerminal(0xA1, 1, journal=1), FakeTerminal(0xA1, 2, journal=2)
    first.boots, second.boots = 10, 20
    host.introduce(first)
    first.enter(body(board=1))
    host.run()
    host.introduce(second)
    second.enter(body(board=2))
    host.run()
    assert host.alarms() == [], "a terminal that starts anew is no alarm"
    first.enter(body(board=3, round=2, ew=5))
    host.run()
    assert first.waiting(), "the host takes the second one for it"
    # No answer: it introduces itself again, as the protocol says.
    for message in (first.hello(), first.status()):
        host.give(first, message)
    first.repeat()
    host.run()
    assert not first.waiting()
    assert not second.waiting()
    assert len(host.current()) == 3
    (alarm,) = host.alarms()
    assert alarm.kind == "same-id"
    assert "00000000000000a1" in alarm.text
    host.close()


def test_a_terminal_that_is_carried_between_two_base_stations_is_no_alarm(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event())
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    for address in (2, 1, 2, 1):
        host.collector.receive("base", StationMessage(address, terminal.hello()), 0.0)
    host.run()
    assert host.alarms() == []
    host.close()


def test_many_strangers_at_one_table_are_one_alarm(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event())
    for number in range(1, 20):
        host.introduce(FakeTerminal(0xA0 + number, number))
    (alarm,) = host.alarms()
    assert (alarm.kind, alarm.subject, alarm.times) == ("take-over", "A1", 18)
    host.close()
