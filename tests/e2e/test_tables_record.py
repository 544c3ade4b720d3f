"""What tables record beside results, from the terminal's keys to the store: by simulated players, in virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from station_line import Evening, run_evening

from dealer.cards import Seat
from dealer.deal import Deal
from firmware_bridge.db import Connection
from firmware_bridge.simulation.tables_room import Rates
from hwsim import messages
from hwsim.numbers import CallState, Kind, Positions, TableRecord
from hwsim.station import recording
from hwsim.station.player import code_of, play_board
from terminals.auction import check_auction
from terminals.play import check_play
from terminals.result import PassedOut, Played
from terminals.store import desk, ledger, table_events
from terminals.store.desk import DeviceState, Person
from terminals.store.table_events import TableEventKind
from terminals.sync.calls import call_list
from terminals.sync.recorded import acceptances, entered_deals, recorded

EVERYTHING = {"auction": True, "play": True, "hand_entry": True, "positions": True, "confirm_code": True}


def events(evening: Evening, *kinds: TableEventKind) -> list[table_events.TableEvent]:
    return evening.store.read(lambda connection: list(table_events.all_events(connection, evening.event, *kinds)))


def seed(evening: Evening) -> int:
    """Of the simulated players."""
    return evening.room.station._seed


def alarms(evening: Evening) -> list[str]:
    return [alarm.kind for alarm in evening.store.read(ledger.alarms)]


def test_an_evening_that_records_everything(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        for table in evening.room.station.tables.values():
            table.checks = True
        await evening.played()
        counted = Counter(item.kind for item in events(evening))
        current = evening.store.current(evening.setup.id)
        played = sum(isinstance(row.content, Played) for row in current)
        assert counted[TableEventKind.AUCTION] == counted[TableEventKind.ACCEPTED] == len(current) == 18
        assert counted[TableEventKind.HANDS] == 18
        assert counted[TableEventKind.PLAY] == played
        assert counted[TableEventKind.POSITIONS] == 3
        assert counted[TableEventKind.CODE] == 6
        assert counted[TableEventKind.SET_ASIDE] == 0
        told = recorded(events(evening))
        for row in current:
            one = told[row.play]
            assert one.auction is not None
            assert not list(check_auction(one.auction))
            if isinstance(row.content, PassedOut):
                assert isinstance(one.auction.contract, PassedOut)
                continue
            assert isinstance(row.content, Played)
            assert one.auction.contract == row.content.contract
            assert one.play is not None
            assert one.play.agreed == row.content.tricks
            assert one.play.cards[0].card == row.content.lead
            owners = recording.hands(seed(evening), 1, row.play.board)
            hands = {seat: [card for card in range(52) if owners[card] == seat] for seat in Seat}
            assert check_play(row.content.contract, one.play.cards, hands).findings == ()
        codes = evening.store.read(
            lambda connection: [acceptances(connection, evening.setup, row.play) for row in current]
        )
        assert all(
            [(one.pair, one.proved) for one in both] == [(row.play.ew, True)]
            for row, both in zip(current, codes, strict=True)
        )
        deals = evening.store.read(lambda connection: entered_deals(connection, evening.setup))
        assert {(place, one.tables, one.agreed) for place, one in deals.items()} == {
            (("A", board), 3, True) for board in range(1, 7)
        }
        assert deals["A", 2].deal == Deal(bytes(recording.hands(seed(evening), 1, 2)))
        # No check of a record speaks: everything fits. (Outliers of the field may.)
        causes = {cause for item in evening.desk_events("entry-check") for cause in item.data["causes"]}
        assert causes <= {"sign-opposite-to-field", "both-sides-in-one-suit"}
        shown = {(line["device"], line["seq"], line["body"]) for line in evening.evidence.lines["shown_received"]}
        kept = evening.store.read(lambda connection: list(ledger.records(connection)))
        assert shown == {(one.raw.key.device_hex, one.raw.key.seq, one.raw.body.hex()) for one in kept}

    run_evening(tmp_path, story, **EVERYTHING)


def test_whatever_was_shown_as_received_is_stored_once_also_beside_results(tmp_path: Path) -> None:
    """Everything is recorded while lines garble, batteries fall out at any byte, and the base station starts anew."""

    async def story(evening: Evening) -> None:
        await evening.played()
        evening.room.heal()
        evening.room.power_all()
        terminals = evening.room.station.terminals
        await evening.until(lambda: not any(terminal.waiting() for terminal in terminals.values()), step=1.0)
        kept = evening.store.read(lambda connection: list(ledger.records(connection)))
        stored = {
            (one.raw.key.device_hex, one.raw.key.journal_hex, one.raw.key.seq): one.raw.body.hex() for one in kept
        }
        assert len(stored) == len(kept)
        shown = evening.evidence.lines["shown_received"]
        assert len(shown) > 60
        assert all(stored[one["device"], one["journal"], one["seq"]] == one["body"] for one in shown)
        assert len(evening.evidence.lines.get("faults", ())) + evening.room.station.session.retransmissions > 5
        kinds = Counter(item.kind for item in events(evening))
        assert kinds[TableEventKind.SET_ASIDE] == 0
        assert kinds[TableEventKind.AUCTION] >= 18
        told = recorded(events(evening))
        rows = [row for row in evening.store.current(evening.setup.id) if isinstance(row.content, Played)]
        assert all(told[row.play].play is not None for row in rows)

    # Boards take minutes: a terminal that loses its battery more often than that never comes to the end of one.
    rates = Rates(battery=1.0, cut=1.0, hub=2.0, unplug=4.0, byte_error=0.0005, piece_loss=0.002, piece_swap=0.002)
    run_evening(tmp_path, story, rates=rates, **EVERYTHING)


def test_nothing_is_recorded_that_the_event_does_not_ask_for(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        await evening.played()
        assert events(evening) == []

    run_evening(tmp_path, story)


def test_a_wrong_code_accepts_nothing(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[1]
        await evening.until(lambda: len(terminal.memory.codes) >= 2 and terminal.round_index is not None, 60.0)
        shown = terminal.rounds()[0]
        play = play_board(seed(evening), 1, shown["first_board"], shown["ns"], shown["ew"], 1)
        right = code_of(seed(evening), shown["ew"])
        wrong = f"{(int(right) + 1) % 10_000:04}"
        before = len(terminal.memory.records)
        assert not terminal.accept(shown, shown["first_board"], play, wrong)
        assert len(terminal.memory.records) == before
        assert "Wrong code" in evening.screen(1)
        for _ in range(2):
            assert not terminal.accept(shown, shown["first_board"], play, wrong)
        assert "Wrong code. Call the director." in evening.screen(1)

    run_evening(tmp_path, story, confirm_code=True)


def test_a_code_follows_its_pair_to_the_next_table(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        await evening.until(lambda: len(evening.desk_events("pair-verifier")) == 6)
        # Everybody who comes to table 2 in any round was told of there, though half of them chose it elsewhere.
        second = evening.room.station.terminals[2].memory
        await evening.until(lambda: len(second.codes) == 4, 60.0)
        assert set(second.codes) == {2, 4, 5, 6}
        await evening.log("pair-code-forgotten", section="A", pair=4)
        await evening.played()
        taken = {
            one.pair
            for item in events(evening, TableEventKind.ACCEPTED)
            for one in evening.store.read(lambda c, play=item.play: acceptances(c, evening.setup, play))
            if one.proved
        }
        assert 4 not in taken

    run_evening(tmp_path, story, confirm_code=True)


def test_pairs_that_sit_wrong_are_known_to_the_director(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[1]
        await evening.until(lambda: len(evening.desk_events("positions")) == 3, 60.0)
        shown = terminal.rounds()[0]
        assert not [kind for kind in alarms(evening) if kind != "positions"]
        before = len(alarms(evening))
        terminal.confirm_positions(shown, Positions.STAY)
        assert "The director is told how you sit" in evening.screen(1)
        await evening.until(lambda: len(evening.desk_events("positions")) == 4, 60.0)
        last = evening.desk_events("positions")[-1].data
        assert (last["ns"], last["ew"], last["how"], last["planned"]) == (shown["ew"], shown["ns"], "stay", False)
        assert len(alarms(evening)) == before + 1
        assert f"NS {shown['ew']}  EW {shown['ns']}" in evening.screen(1)
        await evening.until(lambda: len(evening.store.current(evening.setup.id)) >= 6)
        here = [row for row in evening.store.current(evening.setup.id) if (row.table, row.round) == (1, 1)]
        assert {(row.play.ns, row.play.ew) for row in here} == {(shown["ew"], shown["ns"])}
        # They have changed seats after all: the next board counts as planned.
        terminal.confirm_positions(shown, Positions.CHANGED)
        assert terminal.seated(shown) == (shown["ns"], shown["ew"])

    run_evening(tmp_path, story, positions=True)


def test_a_name_that_changes_is_told_unasked(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminals = evening.room.station.terminals
        await evening.until(lambda: all(terminal.admitted for terminal in terminals.values()))
        await asyncio.sleep(5.0)
        asked = [0]

        def write(connection: Connection) -> None:
            desk.save_person(connection, evening.event, Person("A", 4, "1", "77", "Łukasz Żak"))

        for terminal in terminals.values():
            terminal.ask = lambda *args, **more: asked.__setitem__(0, asked[0] + 1)  # type: ignore[method-assign]
        await evening.store.submit(write)
        # Pair 4 begins at table 1 and moves up: every table sees it in some round.
        await evening.until(lambda: all(t.names.get((4, 1)) == "Łukasz Żak" for t in terminals.values()), 5.0)
        assert "EW 4 Łukasz Żak" in evening.screen(1)

    run_evening(tmp_path, story)


def test_a_call_is_taken_back_and_the_director_answers_it_at_the_table(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[2]
        await evening.until(lambda: terminal.admitted)
        terminal.call_director()
        await evening.until(lambda: terminal.call is CallState.CALLED, 5.0)
        terminal.take_back_call()
        await evening.until(lambda: terminal.call is CallState.NONE, 5.0)
        assert evening.store.read(lambda connection: call_list(connection, evening.event)) == []
        terminal.call_director()
        await evening.until(lambda: terminal.call is CallState.CALLED, 5.0)
        terminal.answer_call(CallState.DONE)
        await asyncio.sleep(3.0)
        assert terminal.call is CallState.CALLED, "without the menu nobody answers for the director"
        terminal.menu.ask("2741")
        await evening.until(lambda: terminal.menu.is_open, 5.0)
        terminal.answer_call(CallState.COMING)
        await evening.until(lambda: terminal.call is CallState.COMING, 5.0)
        terminal.answer_call(CallState.DONE)
        await evening.until(lambda: terminal.call is CallState.DONE, 5.0)
        assert evening.store.read(lambda connection: call_list(connection, evening.event)) == []

    run_evening(tmp_path, story, director_pin="2741")


def test_a_second_terminal_takes_a_table_over_with_the_pin_and_nothing_is_lost(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        station = evening.room.station
        first = station.terminals[2]
        await evening.until(lambda: first.memory.next_seq > 1 and not first.waiting())
        spare = station.power_on(4)
        spare.log_in(1, 2)
        await evening.until(lambda: "has a terminal" in evening.screen(4), 5.0)
        spare.take_over("0000")
        await evening.until(lambda: "Wrong PIN" in evening.screen(4), 5.0)
        assert not spare.admitted
        # Something was keyed in at the first one that has not been sent when it is put aside.
        first.upload.held_back = True
        shown = first.shown_round()
        assert shown is not None
        left = next(board for board in (shown["first_board"], shown["first_board"] + 1) if not first.keyed(1, board))
        first.key_in(shown, left, play_board(seed(evening), 1, left, shown["ns"], shown["ew"], 1))
        spare.take_over("2741")
        await evening.until(lambda: spare.admitted and spare.table == 2, 5.0)
        await evening.until(lambda: not first.waiting(), 60.0)
        assert (first.admitted, first.table) == (True, 0)
        assert "This terminal is at no table. What waits here is still sent." in evening.screen(2)
        (taken,) = evening.desk_events("take-over")
        assert (taken.data["section"], taken.data["table"]) == (1, 2)
        roster = evening.store.roster()
        assert roster[spare.memory.device_id].table == 2
        assert roster[first.memory.device_id].state is DeviceState.ADMITTED
        await evening.played()
        rows = evening.store.current(evening.setup.id)
        # The same boards at both: merged, since they say the same.
        assert not [row for row in rows if row.attention]
        records = evening.store.read(lambda connection: list(ledger.records(connection)))
        assert {record.raw.key.device for record in records} >= {first.memory.device_id, spare.memory.device_id}

    run_evening(tmp_path, story, director_pin="2741")


def test_nobody_takes_a_table_over_without_a_pin_of_the_event(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        await evening.until(lambda: evening.room.station.terminals[2].admitted)
        spare = evening.room.station.power_on(4)
        spare.log_in(1, 2)
        await evening.until(lambda: "has a terminal" in evening.screen(4), 5.0)
        spare.take_over("0000")
        await evening.until(lambda: "menu is closed" in evening.screen(4), 5.0)
        assert not spare.admitted

    run_evening(tmp_path, story)


def test_the_whole_session_is_shown_when_it_is_over_and_not_before(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[1]
        for one in evening.room.station.terminals.values():
            one.curious = True
        await evening.until(lambda: bool(terminal.feedback))
        terminal.ask_recap(1)
        terminal.ask_standings()
        await asyncio.sleep(30.0)
        assert not terminal.session
        assert not terminal.standings
        await evening.played()
        await evening.until(lambda: bool(terminal.session) and len(terminal.standings) == 2, 120.0)
        screen = evening.screen(1)
        assert terminal.session["pair"] == 1
        assert [line["board"] for line in terminal.session["lines"]] == [1, 2, 3, 4, 5, 6]
        assert "Pair 1, all boards" in screen
        north_south, east_west = terminal.standings[1], terminal.standings[2]
        assert {one["pair"] for one in north_south["pairs"]} == {1, 2, 3}
        assert {one["pair"] for one in east_west["pairs"]} == {4, 5, 6}
        own = next(one for one in north_south["pairs"] if one["pair"] == 1)
        share = sum(line["percent"] for line in terminal.session["lines"]) / 6
        assert abs(own["percent"] - share) <= 1
        assert len(terminal.recap()) == 6, "what was keyed in here, in all rounds"
        terminal.ask_recap(99)

    run_evening(tmp_path, story)


def test_a_board_entered_under_another_number_is_put_right_by_one_key(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[1]
        await evening.until(lambda: terminal.memory.next_seq == 2 and not terminal.waiting())
        shown = terminal.rounds()[0]
        first, second = shown["first_board"], shown["first_board"] + 1
        assert terminal.keyed(1, first)
        before = evening.store.current(evening.setup.id)
        assert terminal.that_was(shown, first, second)
        assert not terminal.keyed(1, first)
        assert terminal.keyed(1, second)
        await evening.until(lambda: not terminal.waiting(), 5.0)
        (was,) = [row for row in before if row.table == 1]
        rows = {row.play.board: row for row in evening.store.current(evening.setup.id) if row.play.ns == was.play.ns}
        assert rows[first].content is None
        assert rows[second].content == was.content
        assert not terminal.that_was(shown, first, second), "nothing stands there any more"
        await evening.played()

    run_evening(tmp_path, story)


@pytest.mark.parametrize("kind", [Kind.TERM_EVENTS, Kind.TABLE_SETTINGS])
def test_a_terminal_of_an_older_program_plays_as_before(tmp_path: Path, kind: int) -> None:
    """One that says nothing of events, and one that can't read the settings."""

    async def story(evening: Evening) -> None:
        for terminal in evening.room.station.terminals.values():
            if kind == Kind.TERM_EVENTS:
                terminal._send_events = lambda: None  # type: ignore[method-assign]
            else:
                terminal._on_settings = lambda settings: None  # type: ignore[method-assign]
                terminal.memory.settings = None
        await evening.played()
        assert len(evening.store.current(evening.setup.id)) == 18

    run_evening(tmp_path, story, **(EVERYTHING if kind == Kind.TABLE_SETTINGS else {}))


def test_what_makes_no_sense_is_set_aside_and_kept(tmp_path: Path) -> None:
    async def story(evening: Evening) -> None:
        terminal = evening.room.station.terminals[1]
        await evening.until(lambda: terminal.round_index is not None and terminal.admitted)
        shown = terminal.rounds()[0]
        terminal.note(shown, TableRecord.AUCTION, b"\x00\xff\xff", shown["first_board"])
        await evening.until(lambda: bool(events(evening, TableEventKind.SET_ASIDE)), 60.0)
        (kept,) = events(evening, TableEventKind.SET_ASIDE)
        assert messages.unpack_table(kept.data)["data"] == b"\x00\xff\xff"
        assert alarms(evening) == ["quarantine"]
        await evening.played()

    run_evening(tmp_path, story, auction=True)
