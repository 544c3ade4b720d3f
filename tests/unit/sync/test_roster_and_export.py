"""Promises of the roster's acts and of exports: a revived terminal loses nothing, and keys are never written out."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import EVENT, FakeHost, FakeTerminal, an_event, body

from firmware_bridge.errors import EntryError, ExitStatus, StoreError
from firmware_bridge.service.open_lines import open_lines
from terminals.settings import EventSettings
from terminals.store import desk, ledger, results
from terminals.store.desk import Device, DeviceState, EventRow, Person
from terminals.sync import export, roster
from terminals.sync.director import By, Director
from terminals.sync.rebuild import states_of
from terminals.sync.roster import Wish
from terminals.sync.setup import new_event, setup_to_json


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    host = FakeHost(tmp_path / "events.db", an_event(admit_all=False))
    yield host
    host.close()


def do(host: FakeHost, act: Any, *arguments: Any) -> Any:
    changed = host.ask(lambda connection: act(connection, *arguments))
    for device in changed[0] if isinstance(changed, tuple) else changed:
        host._deliver(host.collector.set_device(device, host.now))
    host.run()
    return changed


def terminals(host: FakeHost, count: int = 3) -> list[FakeTerminal]:
    return [host.introduce(FakeTerminal(0xA0 + n, n, table=n)) for n in range(1, count + 1)]


def test_admit_all_takes_everybody_whose_table_is_clear(host: FakeHost) -> None:
    found = terminals(host)
    double = host.introduce(FakeTerminal(0xB3, 9, table=3))
    lost = host.introduce(FakeTerminal(0xB4, 8, table=7))
    admitted, left = do(host, roster.admit_all, host.setup, roster.wishes(host.collector.terminals))
    assert [device.id for device in admitted] == [0xA1, 0xA2]
    assert left == [Wish(0xA3, 1, 3), Wish(0xB3, 1, 3), Wish(0xB4, 1, 7)]
    assert [terminal.admitted for terminal in [*found, double, lost]] == [True, True, False, False, False]


def test_admitting_to_a_taken_or_unknown_table_is_refused(host: FakeHost) -> None:
    terminals(host)
    do(host, roster.admit, host.setup, 0xA1, 1, 1)
    with pytest.raises(StoreError, match="another terminal"):
        do(host, roster.admit, host.setup, 0xA2, 1, 1)
    for device, section, table in ((0xA2, 1, 9), (0xA2, 4, 1), (0xEE, 1, 2)):
        with pytest.raises(EntryError):
            do(host, roster.admit, host.setup, device, section, table)


def test_a_replaced_terminal_that_revives_still_delivers(host: FakeHost) -> None:
    old = terminals(host, 1)[0]
    do(host, roster.admit, host.setup, 0xA1, 1, 1)
    old.enter(body(board=1))
    del host.terminals[old.address]  # its battery is empty; board 1 is still in it
    new = host.introduce(FakeTerminal(0xB1, 5, table=1))
    do(host, roster.replace_terminal, host.setup, 0xA1, 0xB1)
    assert new.admitted
    new.enter(body(board=2))
    host.run()
    assert [row.play.board for row in host.current()] == [2]
    host.introduce(old)
    assert [row.play.board for row in host.current()] == [1, 2]
    assert all(row.attention == () for row in host.current())
    assert not old.waiting()
    with pytest.raises(EntryError, match="at no table"):
        do(host, roster.replace_terminal, host.setup, 0xA1, 0xB1)


def test_a_refused_terminal_keeps_what_it_has(host: FakeHost) -> None:
    terminal = terminals(host, 1)[0]
    do(host, roster.admit, host.setup, 0xA1, 1, 1)
    do(host, roster.refuse, 0xA1)
    terminal.enter(body())
    host.give(terminal, terminal.record(1))
    host.run()
    assert (terminal.waiting(), host.records()) == ([1], [])


def test_pairing_gives_a_key_that_records_must_carry(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event(admit_all=True, need_key=True))
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    assert not terminal.admitted
    with pytest.raises(EntryError, match="no key"):
        do(host, roster.admit, host.setup, 0xA1, 1, 1)
    device, key = host.ask(functools.partial(roster.pair, device=0xA1))
    host._deliver(host.collector.set_device(device, 0.0))
    do(host, roster.admit, host.setup, 0xA1, 1, 1)
    terminal.key = key
    terminal.enter(body())
    host.run()
    assert len(terminal.shown) == 1
    with pytest.raises(EntryError):
        host.ask(functools.partial(roster.pair, device=0xA1, key=b"short"))
    host.close()


def test_who_comes_over_an_open_network_needs_a_key_whatever_the_event_says(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event(admit_all=True))
    host.collector.open_lines = frozenset({"base"})
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    assert not terminal.admitted
    do(host, roster.admit, host.setup, 0xA1, 1, 1)  # an old habit of the director does not help
    terminal.enter(body())
    host.give(terminal, terminal.record(1))
    host.run()
    assert not terminal.admitted
    assert (terminal.waiting(), host.records()) == ([1], [])
    (alarm,) = [one for one in host.alarms() if one.kind == "needs-key"]
    assert "td pair 00000000000000a1" in alarm.text
    device, terminal.key = host.ask(functools.partial(roster.pair, device=0xA1))
    host._deliver(host.collector.set_device(device, 0.0))
    host.run()
    assert terminal.admitted
    assert len(terminal.shown) == 1
    host.close()


def test_only_a_network_is_an_open_line() -> None:
    near = ["serial:///dev/ttyUSB0", "/dev/ttyUSB0", "COM3", "usb://1209:0001", "tcp://127.0.0.1:4000"]
    near += ["tcp://localhost:1", "tcp://[::1]:4000"]
    far = ["tcp://192.168.1.20:4000", "tcp://hall-pi:4000", "TCP://10.0.0.1:4000", "tcp://[fe80::1]:4000"]
    assert open_lines(near + far) == frozenset(far)


# --- export ---


def an_event_with_history(host: FakeHost) -> None:
    terminal = host.introduce(FakeTerminal(0xA1, 1, key=b"s" * 16))
    secret = Device(0xA1, DeviceState.ADMITTED, 1, 1, key=b"s" * 16)
    do(host, lambda connection: (desk.save_device(connection, secret), [secret])[1])
    for entry in (body(), body(tricks=10, replaces=1), body(board=2), body(tricks=14)):
        terminal.enter(entry)
    host.run()
    play = host.current()[0].play
    host.ask(lambda connection: Director(connection, host.setup, By("Ewa")).erase(play))
    host.ask(lambda connection: desk.save_person(connection, host.event, Person("A", 1, "N", "7", "Łucja")))


def test_an_export_of_everything_has_every_event_and_what_belongs_to_none(host: FakeHost, tmp_path: Path) -> None:
    an_event_with_history(host)
    other = new_event(0xBEEF, "Wednesday", {1: None}, EventSettings())
    row = EventRow(other.id, other.name, setup_to_json(other), other.plan_version, "")
    host.ask(lambda connection: desk.save_event(connection, row))
    host.ask(lambda connection: ledger.raise_alarm(connection, "conflict", "x", "Two records."))
    path = tmp_path / "all.jsonl"
    count = host.ask(lambda connection: export.write(connection, None, path))
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(found) == count
    *events, rest = [line["event"] for line in found if line["table"] == "export"]
    assert sorted(events) == sorted([host.event, f"{0xBEEF:016x}"])
    assert rest is None
    assert sum(line["table"] == "record" for line in found) == len(host.records())
    assert any(line["table"] == "alarm" and line["times"] == 1 for line in found)


def test_an_export_holds_everything_but_secrets(host: FakeHost, tmp_path: Path) -> None:
    an_event_with_history(host)
    path = tmp_path / "out.jsonl"
    count = host.ask(lambda connection: export.write(connection, EVENT, path))
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) == count
    assert path.stat().st_mode & 0o077 == 0
    tables = [json.loads(line)["table"] for line in text.splitlines()]
    assert {name: tables.count(name) for name in set(tables)} == {
        "export": 1,
        "event": 1,
        "device": 1,
        "record": 4,
        "result": 4,
        "person": 1,
    }
    assert (b"s" * 16).hex() not in text
    assert "Łucja" in text
    host.ask(lambda connection: export.write(connection, EVENT, path, people=False))
    assert "Łucja" not in path.read_text(encoding="utf-8")


def test_the_events_of_an_export_give_the_same_results(host: FakeHost, tmp_path: Path) -> None:
    an_event_with_history(host)
    lines = host.ask(lambda connection: [json.dumps(line) for line in export.lines(connection, EVENT)])
    events = export.read_events(lines)
    assert events == host.ask(lambda connection: list(results.all_events(connection, host.event)))
    states = states_of(events)
    assert {row.play: row.content for row in host.current()} == {play: one.content for play, one in states.items()}


@pytest.mark.parametrize("text", ["", "x", "[]", '{"table": "event"}', '{"table": "export", "format": 99}'])
def test_what_is_no_export_is_refused(text: str) -> None:
    with pytest.raises(EntryError) as caught:
        export.read_events(text.splitlines())
    assert caught.value.exit_status == ExitStatus.USAGE


def test_a_damaged_line_is_named() -> None:
    with pytest.raises(EntryError, match="line 2"):
        export.read_events(['{"table": "export", "format": 1}', '{"table": "result", "kind": "entered"}'], "x.jsonl")


def test_an_event_that_is_not_there_is_said(host: FakeHost) -> None:
    with pytest.raises(StoreError, match="no event"):
        host.ask(lambda connection: list(export.lines(connection, 5)))


def test_no_secret_is_in_an_export(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "events.db", an_event(director_pin="2741", confirm_code=True))
    with host.database.transaction() as connection:
        told = {"section": "A", "pair": 4, "verifier": "c0dec0dec0dec0de"}
        desk.append_desk(connection, host.event, desk.DeskEvent("pair-verifier", told))
        text = "\n".join(json.dumps(line) for line in export.lines(connection, host.setup.id))
    assert "2741" not in text
    assert "c0dec0de" not in text
    assert '"confirm_code": true' in text
    host.close()
