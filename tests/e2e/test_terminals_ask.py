"""Terminals ask and are answered, from the key of the terminal to the store and back to its screen."""

from __future__ import annotations

import asyncio
from pathlib import Path

from station_line import Evening, run_evening

from firmware_bridge.db import Connection
from hwsim.numbers import CallState, RecordKind
from terminals.entry import NEUTRAL
from terminals.result import NotPlayed
from terminals.store import desk, ledger
from terminals.sync.calls import call_list
from terminals.sync.contacts import Limits


def test_a_call_of_the_director_and_its_four_states(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[2]
        await evening.until(lambda: terminal.admitted)
        assert terminal.call is CallState.NONE
        terminal.call_director()
        await evening.until(lambda: "Director called" in evening.screen(2), 5.0)
        (call,) = evening.store.read(lambda connection: call_list(connection, evening.event))
        assert (call.section, call.table, call.state) == (1, 2, CallState.CALLED)
        await evening.log("call-answered", section="A", table=2, state=2)
        await evening.until(lambda: "The director is coming" in evening.screen(2), 5.0)
        assert "director" not in evening.screen(1).lower()
        await evening.log("call-answered", section="A", table=2, state=3)
        await evening.until(lambda: terminal.call is CallState.DONE, 5.0)
        assert evening.store.read(lambda connection: call_list(connection, evening.event)) == []

    run_evening(tmp_path, story)


def test_a_terminal_that_comes_back_knows_that_its_call_is_open(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        station = evening.room.station
        await evening.until(lambda: station.terminals[2].admitted)
        station.terminals[2].call_director()
        await evening.until(lambda: "Director called" in evening.screen(2), 5.0)
        station.power_off(2)
        station.power_on(2)
        evening.room.power_all()
        await evening.until(lambda: "Director called" in evening.screen(2), 30.0)

    run_evening(tmp_path, story)


def test_entries_are_checked_while_the_other_side_looks(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        for table in evening.room.station.tables.values():
            table.checks = True
        await evening.played()
        tables = evening.room.station.tables.values()
        assert all(t.checking.asked >= 6 and not t.checking.alone for t in evening.room.station.terminals.values())
        # Boards that all tables score alike but one: what the screens say names no cause, the desk's log does.
        assert all(advice.text == NEUTRAL for table in tables for advice in table.advised)
        causes = evening.desk_events("entry-check")
        assert bool(causes) == any(table.advised for table in tables)

    run_evening(tmp_path, story)


def test_nobody_waits_for_a_host_that_does_not_answer(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        for table in evening.room.station.tables.values():
            table.checks = True
        await evening.played()
        terminals = evening.room.station.terminals.values()
        assert all(terminal.checking.alone == terminal.checking.asked >= 6 for terminal in terminals)

    run_evening(tmp_path, story, limits=Limits(asks_open=0))


def _curious(evening: Evening) -> None:
    for terminal in evening.room.station.terminals.values():
        terminal.curious = True


def test_a_received_board_shows_its_traveller_and_a_finished_round_the_ranking(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        _curious(evening)
        terminals = evening.room.station.terminals
        await evening.until(lambda: bool(terminals[1].ranking))
        screen = evening.screen(1)
        told = terminals[1].feedback
        assert f"Board {told['board']}: NS " in screen
        assert f">{told['ns']}-{told['ew']} " in screen
        assert all(line["kind"] in (1, 2) for line in told["lines"])
        assert f"Pair {told['ns']}: " in screen
        assert [one["pair"] for one in terminals[1].ranking["pairs"]] == [told["ns"], told["ew"]]
        await evening.played()

    run_evening(tmp_path, story)


def test_nothing_is_shown_that_the_settings_withhold(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        _curious(evening)
        await evening.played()
        terminals = evening.room.station.terminals.values()
        assert all(not terminal.feedback and not terminal.ranking for terminal in terminals)

    run_evening(tmp_path, story, traveller=False, percentages=False, ranking=False)


def test_players_say_who_they_are_and_every_screen_shows_it(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        for table in evening.room.station.tables.values():
            table.sign_in = True
        await evening.played()
        people = evening.store.read(lambda connection: desk.people(connection, evening.event))
        assert [(one.pair, one.seat) for one in people] == [(pair, seat) for pair in range(1, 7) for seat in "12"]
        one, four = people[0], people[7]
        assert (one.number, one.name) == ("1001", "Ada Żak"), "the club's list knows the number"
        assert four.name == "Guest"
        last = evening.room.station.terminals[2]
        await evening.until(lambda: len(last.names) == 8, 60.0)
        records = evening.store.read(lambda connection: list(ledger.records(connection)))
        names = [record for record in records if len(record.raw.body) == 32]
        assert len(names) == 12
        assert len(records) == len({record.raw.key for record in records})
        shown = evening.evidence.lines["shown_received"]
        kept = {(r.raw.key.device_hex, r.raw.key.seq, r.raw.body.hex(), f"{r.raw.crc:08x}") for r in records}
        assert {(line["device"], line["seq"], line["body"], line["crc"]) for line in shown} == kept

    def club(connection: Connection, event: str) -> None:
        desk.save_players(connection, [("1001", "Ada Żak", "ada zak")])

    run_evening(tmp_path, story, club)


def test_a_name_is_found_whatever_the_accents(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[1]
        await evening.until(lambda: terminal.admitted)
        terminal.search_name("zak AD")
        await evening.until(lambda: "1001 Ada Żak" in evening.screen(1), 5.0)

    def club(connection: Connection, event: str) -> None:
        desk.save_players(connection, [("1001", "Ada Żak", "ada zak"), ("1002", "Jan Zaks", "jan zaks")])

    run_evening(tmp_path, story, club)


def _typed(evening: Evening, pin: str) -> None:
    evening.room.station.terminals[1].menu.ask(pin)


def test_the_director_erases_and_marks_at_the_table(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[1]
        await evening.until(lambda: len(terminal.memory.records) == 1 and not terminal.waiting())
        shown = terminal.rounds()[0]
        assert not terminal.direct(shown, 1, RecordKind.ERASED), "the menu is closed"
        _typed(evening, "2741")
        await evening.until(lambda: terminal.menu.is_open, 5.0)
        assert "Director: erase, not played" in evening.screen(1)
        assert terminal.direct(shown, shown["first_board"], RecordKind.ERASED)
        assert terminal.direct(shown, shown["first_board"] + 1, RecordKind.NOT_PLAYED)
        await evening.until(lambda: not terminal.waiting(), 5.0)
        await evening.played()
        (opened,) = evening.desk_events("director-menu")
        assert (opened.data["section"], opened.data["table"]) == (1, 1)
        rows = [row for row in evening.store.current(evening.setup.id) if row.table == 1 and row.round == 1]
        assert [isinstance(row.content, NotPlayed) for row in rows] == [False, True]
        assert all(row.content is not None and not row.attention for row in rows)
        assert not terminal.menu.is_open, "it closes by itself"

    run_evening(tmp_path, story, director_pin="2741")


def test_a_wrong_pin_opens_nothing_and_soon_has_to_wait(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[1]
        await evening.until(lambda: terminal.admitted)
        for _ in range(5):
            _typed(evening, "0000")
            await evening.until(lambda: "Wrong PIN" in evening.screen(1), 5.0)
        _typed(evening, "2741")
        await evening.until(lambda: "Wait before the next try" in evening.screen(1), 5.0)
        await asyncio.sleep(300.0)
        _typed(evening, "2741")
        await evening.until(lambda: terminal.menu.is_open, 5.0)
        assert [alarm.kind for alarm in evening.store.read(ledger.alarms)] == ["director-pin"]
        assert evening.store.read(ledger.alarms)[0].times == 1

    run_evening(tmp_path, story, director_pin="2741")


def test_without_a_pin_the_menu_stays_closed(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        await evening.until(lambda: evening.room.station.terminals[1].admitted)
        _typed(evening, "0000")
        await evening.until(lambda: "menu is closed" in evening.screen(1), 5.0)

    run_evening(tmp_path, story)
