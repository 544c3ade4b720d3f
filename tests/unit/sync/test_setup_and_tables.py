"""Promises of events and their views: plans that let a table go on alone, cells, missing boards, lines for scoring."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sync_fakes import CLUB, EVENT, SMALL, FakeHost, FakeTerminal, an_event, body

from dealer.cards import Seat
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.movement import happenings as h
from terminals.movement.howell import howell
from terminals.movement.individual import individual
from terminals.movement.mitchell import arrow_switch, mitchell
from terminals.movement.model import Direction, Movement, Seating, SitOut
from terminals.movement.plan import fold
from terminals.movement.teams import multiple_teams, round_robin
from terminals.result import Artificial, Average, Played
from terminals.scoring.session import score_session
from terminals.settings import EventSettings
from terminals.store import results
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey, PlayStatus
from terminals.sync.evidence import write_evidence
from terminals.sync.rebuild import rebuild
from terminals.sync.setup import (
    END,
    EventSetup,
    Section,
    movement_from_dict,
    movement_to_dict,
    new_event,
    section_letter,
    section_number,
    setup_from_json,
    setup_to_json,
)
from terminals.sync.tables import CellState, cells, missing, plan_warnings, scoring_input, unplanned, veil_for

SOME_MOVEMENTS = [SMALL, CLUB, howell(4, 3), arrow_switch(mitchell(4, 3), (4,)), howell(3, 2, missing=True)]
ABSENT = replace(SMALL, seatings=SMALL.seatings[1:], sit_outs=(
    SitOut(1, SMALL.seatings[0].ns, 1, Direction.NS, SMALL.seatings[0].boards, absent=True),
    SitOut(1, SMALL.seatings[0].ew, 1, Direction.EW, SMALL.seatings[0].boards),
))  # fmt: skip


@pytest.mark.parametrize(
    "movement",
    [*SOME_MOVEMENTS, individual(12, 3), individual(13, 2), round_robin(5, 4), ABSENT],
    ids=lambda movement: movement.name,
)
def test_a_movement_survives_the_store(movement: Movement) -> None:
    assert movement_from_dict(json.loads(json.dumps(movement_to_dict(movement)))) == movement
    setup = an_event(movement, correction_minutes=45)
    assert setup_from_json(setup.id, setup.name, setup.plan_version, setup_to_json(setup)) == setup


@pytest.mark.parametrize("movement", SOME_MOVEMENTS, ids=lambda movement: movement.name)
def test_following_the_plans_leads_every_pair_through_its_evening(movement: Movement) -> None:
    """The second way: walk from screen to screen as players do, and compare with the movement itself."""
    setup = an_event(movement)
    plans = {table: setup.table_plan(1, table) for table in range(1, movement.tables + 1)}
    for pair in movement.pairs:
        start = movement.next_seat(pair, 0)
        table = start.table if start is not None else 0
        side = start.direction_of(pair) if isinstance(start, Seating) else getattr(start, "direction", None)
        for number in range(1, movement.rounds + 1):
            seat = movement.seat(pair, number)
            plan = plans.get(table)
            if plan is None or not isinstance(seat, Seating):
                following = movement.next_seat(pair, number)
                table = 0 if following is None else following.table
                side = following.direction_of(pair) if isinstance(following, Seating) else None
                continue
            line = plan.rounds[number - 1]
            assert (line.ns if side is Direction.NS else line.ew) == pair
            assert list(range(line.first_board, line.first_board + line.board_count)) == sorted(seat.boards)
            table = line.next_ns if side is Direction.NS else line.next_ew
            swap = bool(line.next_swap & (1 if side is Direction.NS else 2))
            side = side.other if swap and side is not None else side
            if number == movement.rounds:
                assert table == END


def test_a_sit_out_has_no_boards_and_shows_who_sits_there() -> None:
    plan = an_event(CLUB).table_plan(1, 1)
    assert plan is not None
    waiting = [line for line in plan.rounds if not line.first_board]
    assert len(waiting) == 1
    assert (waiting[0].ns, waiting[0].ew, waiting[0].board_count) == (1, 0, 0)


def test_shared_boards_are_said_to_be_shared() -> None:
    plan = an_event(mitchell(4, 3)).table_plan(1, 1)
    assert plan is not None
    assert all(line.shared for line in plan.rounds)


def test_plan_versions_rise_and_differ_between_events() -> None:
    first, second = new_event(1, "a", {1: SMALL}), new_event(2, "b", {1: SMALL})
    assert first.plan_version != second.plan_version
    assert first.with_movement(1, CLUB).plan_version == first.plan_version + 1
    last = EventSetup(9, "c", (Section(1, SMALL),), plan_version=0xFFFF)
    assert last.with_movement(1, CLUB).plan_version == 1


def test_what_terminals_can_not_be_told_is_refused_with_place() -> None:
    odd = Movement("odd", "odd", 1, 1, 2, (Seating(1, 1, 1, 2, (3, 7)),), ())
    with pytest.raises(EntryError, match="follow each other") as caught:
        an_event(odd)
    assert caught.value.where == "section A, table 1, round 1"
    with pytest.raises(EntryError):
        EventSetup(0, "x", ())
    with pytest.raises(EntryError):
        movement_from_dict({"name": "x"})


def test_section_letters() -> None:
    assert [section_letter(n) for n in (1, 26, 27, 52, 53, 78)] == ["A", "Z", "AA", "ZZ", "AAA", "ZZZ"]
    assert section_number("c") == 3
    assert [section_number(section_letter(n)) for n in range(1, 79)] == list(range(1, 79))
    for wrong in (0, 79):
        with pytest.raises(EntryError):
            section_letter(wrong)
    for odd in ("", "AB", "AAAA", "Ł", "1"):
        with pytest.raises(EntryError):
            section_number(odd)


# --- settings ---


def test_settings_survive_and_refuse_what_is_unknown() -> None:
    settings = EventSettings(director_pin="1234", playing_director=("A7",), correction_minutes=0)
    assert EventSettings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings
    for wrong in (
        {"colour": 1},
        {"confirm": 1},
        {"director_pin": "0000"},
        {"director_pin": "12x4"},
        {"correction_minutes": -1},
    ):
        with pytest.raises(EntryError):
            EventSettings().changed(wrong)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["confirm", "lead", "checks_per_round", "profile"]), st.integers() | st.text() | st.booleans()
    )
)
def test_any_settings_are_taken_whole_or_refused(values: dict[str, object]) -> None:
    try:
        changed = EventSettings().changed(values)
    except EntryError:
        return
    assert {name: getattr(changed, name) for name in values} == values


# --- views ---


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    host = FakeHost(tmp_path / "events.db")
    yield host
    host.close()


def play_all(host: FakeHost, rounds: int = 3) -> None:
    for table in (1, 2, 3):
        terminal = host.introduce(FakeTerminal(0xA0 + table, table, table=table))
        for number in range(1, rounds + 1):
            seating = SMALL.at(number, table)
            assert seating is not None
            for board in seating.boards:
                tricks = 6 + (seating.ns + seating.ew + board) % 5
                entry = body(table=table, round=number, ns=seating.ns, ew=seating.ew, board=board, tricks=tricks)
                terminal.enter(entry)
        host.run()


def test_a_complete_evening_has_no_missing_board_and_can_be_ranked(host: FakeHost) -> None:
    play_all(host)
    rows = host.current()
    assert missing(host.setup, rows) == []
    assert {cell.state for cell in cells(host.setup, rows)} == {CellState.CONFIRMED}
    assert {cell.state for cell in cells(host.setup, rows, final=True)} == {CellState.FINAL}
    told = scoring_input(host.setup, rows)
    assert len(told.lines) == SMALL.expected_results() == 18
    score = score_session(told.lines, fields=told.fields, groups=told.groups)
    assert [len(ranking) for ranking in score.rankings] == [3, 3]
    for ranking in score.rankings:
        assert sum(row.value for row in ranking) == 150


def row_of(play: PlayKey, tricks: int, seating: Seating) -> CurrentResult:
    """A confirmed 3NT by North."""
    return CurrentResult(
        play=play,
        content=Played(Contract(3, Strain.NOTRUMP, Doubling.NONE, Seat.NORTH), tricks),
        status=PlayStatus.CONFIRMED,
        attention=(),
        warnings=(),
        ruled=False,
        claims=1,
        round=seating.round,
        table=seating.table,
        changes=0,
        number=1,
    )


def test_a_board_that_fewer_play_is_factored_up_to_the_top_of_the_field(tmp_path: Path) -> None:
    """Two rounds fewer than planned: some boards are scheduled twice, the others three times."""
    host = FakeHost(tmp_path / "x.db", an_event(mitchell(4, 2, rounds=3)))
    try:
        scheduled = mitchell(4, 2, rounds=3).expected_per_board()
        assert set(scheduled.values()) == {2, 3, 4}
        (field,) = scoring_input(host.setup, host.current()).fields
        assert dict(field.expected) == dict.fromkeys(scheduled, 4)
    finally:
        host.close()


def test_two_sections_of_different_size_are_scored_apart_or_across_the_field() -> None:
    """Changed after play by a setting; the same results, another field."""
    movements = {1: mitchell(3, 2), 2: mitchell(5, 2, rounds=3)}
    apart = new_event(EVENT, "Two sections", movements)
    across = replace(apart, settings=apart.settings.changed({"across": True}))
    rows = [
        row_of(PlayKey(letter, board, seating.ns, seating.ew), (seating.ns * 3 + seating.ew + board) % 14, seating)
        for letter, movement in zip("AB", movements.values(), strict=True)
        for seating in movement.seatings
        for board in seating.boards
    ]
    told = scoring_input(apart, rows)
    assert [(set(one.sections), set(one.expected.values())) for one in told.fields] == [({"A"}, {3}), ({"B"}, {3})]
    assert [group.name for group in told.groups] == ["A NS", "A EW", "B NS", "B EW"]
    told = scoring_input(across, rows)
    (field,) = told.fields
    assert field.sections == {"A", "B"}
    assert set(field.expected.values()) == {6}
    assert [(group.name, len(group.contestants)) for group in told.groups] == [("NS", 8), ("EW", 8)]
    score = score_session(told.lines, fields=told.fields, groups=told.groups)
    assert [len(ranking) for ranking in score.rankings] == [8, 8]
    for scores in score.boards.values():
        for one in scores:
            assert one.ns is not None
            assert one.ns.top == 10


@pytest.mark.parametrize("movement", [round_robin(4, 4), multiple_teams(5, 2)], ids=lambda movement: movement.name)
def test_both_pairs_of_a_team_score_for_it(movement: Movement) -> None:
    setup = new_event(EVENT, "Teams", {1: movement})
    rows = [
        row_of(PlayKey("A", board, s.ns, s.ew), (s.ns * 5 + s.ew * 3 + board) % 14, s)
        for s in movement.seatings
        for board in s.boards
    ]
    told = scoring_input(setup, rows)
    (ranking,) = score_session(told.lines, fields=told.fields, groups=told.groups).rankings
    assert sorted(row.contestant.number for row in ranking) == list(movement.contestants)
    assert {row.boards for row in ranking} == {2 * len(movement.plays(1)) * movement.boards_per_round}
    assert sum(row.value for row in ranking) == 50 * len(ranking)


def test_boards_taken_out_with_a_score_count_and_who_has_left_is_not_ranked() -> None:
    """Table 1 did not start its last board of round 1; pair 5 goes home after round 2 and is not ranked."""
    movement = SMALL
    late = movement.at(1, 1)
    assert late is not None
    board = late.boards[-1]
    events = (
        h.Unstarted(1, 1, (board,), h.Verdict(h.State.ARTIFICIAL, 60, 40)),
        h.Withdrawn(5, 3),
    )
    plan = fold(movement, events)
    setup = new_event(EVENT, "x", {1: plan.actual})
    rows = [
        row_of(PlayKey("A", one, s.ns, s.ew), (s.ns + s.ew + one) % 14, s)
        for s in plan.actual.seatings
        for one in s.boards
    ]
    told = scoring_input(setup, rows, {"A": plan})
    (line,) = [one for one in told.lines if isinstance(one.result, Artificial)]
    assert (line.board, line.ns.number, line.ew.number) == (board, late.ns, late.ew)
    assert line.result == Artificial(Average.PLUS, Average.MINUS)
    assert 5 not in {one.number for group in told.groups for one in group.contestants}
    score = score_session(told.lines, fields=told.fields, groups=told.groups)
    boards = {row.contestant.number: row.boards for ranking in score.rankings for row in ranking}
    assert boards[late.ns] == len(plan.actual.boards_of(late.ns)) + 1
    again = scoring_input(setup, [*rows, row_of(PlayKey("A", board, late.ns, late.ew), 9, late)], {"A": plan})
    assert not [one for one in again.lines if isinstance(one.result, Artificial)]


def test_missing_boards_are_named_by_round_and_table(host: FakeHost) -> None:
    play_all(host, rounds=2)
    rows = host.current()
    left = missing(host.setup, rows)
    assert {(cell.round, cell.table) for cell in left} == {(3, 1), (3, 2), (3, 3)}
    assert missing(host.setup, rows, round=2) == []
    assert {cell.state for cell in cells(host.setup, rows) if cell.round == 3} == {CellState.MISSING}


def test_results_held_without_a_movement_are_bound_when_there_is_one(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "x.db", an_event(None))
    play_all(host)
    rows = host.current()
    assert len(unplanned(host.setup, rows)) == 18
    setup = host.setup.with_movement(1, SMALL)
    assert unplanned(setup, rows) == []
    assert missing(setup, rows) == []
    assert {plan_warnings(setup, row) for row in rows} == {()}
    assert len(scoring_input(setup, rows).lines) == 18
    host.close()


def test_a_pairing_outside_the_movement_is_scored_and_named(host: FakeHost) -> None:
    play_all(host)
    terminal = host.terminals[1]
    terminal.enter(body(board=1, ns=1, ew=5))
    host.run()
    rows = host.current()
    assert [row.play for row in unplanned(host.setup, rows)] == [PlayKey("A", 1, 1, 5)]
    told = scoring_input(host.setup, rows)
    score_session(told.lines, fields=told.fields, groups=told.groups)


def test_a_playing_director_is_shown_nothing_of_boards_he_has_yet_to_play(host: FakeHost) -> None:
    play_all(host, rounds=1)
    seating = SMALL.plays(1)[0]
    veil = veil_for(host.setup, host.current(), ["A1"])
    hidden = {board for section, board in veil.boards}
    assert hidden == set(SMALL.boards_of(1)) - set(seating.boards)
    assert veil.hides(PlayKey("A", max(hidden), 2, 5))
    assert not veil.hides(PlayKey("A", seating.boards[0], 2, 5))
    assert veil_for(host.setup, host.current(), ["", "Q1", "Ax"]).boards == frozenset()


def test_what_has_changed_can_be_asked_for(host: FakeHost) -> None:
    play_all(host, rounds=1)
    newest = max(row.number for row in host.current())
    host.terminals[1].enter(body(tricks=13, replaces=1, board=2))
    host.run()
    changed = host.ask(lambda connection: results.current(connection, host.event, after=newest))
    assert [row.play.board for row in changed] == [2]


# --- rebuild and evidence ---


def test_a_rebuilt_projection_is_the_same(host: FakeHost) -> None:
    play_all(host)
    host.terminals[1].enter(body(tricks=12, replaces=1, board=host_last_board(host)))
    host.run()
    before = host.current()
    assert host.ask(lambda connection: rebuild(connection, EVENT)) == 0
    assert host.current() == before
    with host.database.transaction() as connection:
        connection.execute("UPDATE current_result SET status = 'final', content = NULL WHERE board = 2")
        connection.execute("DELETE FROM current_result WHERE board = 3")
    assert host.ask(lambda connection: rebuild(connection, EVENT)) == 6
    assert host.current() == before


def host_last_board(host: FakeHost) -> int:
    return host.records()[5].raw.body[4]


def test_evidence_is_what_the_store_holds(host: FakeHost, tmp_path: Path) -> None:
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    for entry in (body(), body(tricks=14), body(board=2), body(board=2, kind=4, replaces=1)):
        terminal.enter(entry)
    host.run()
    terminal.acked[1], terminal.log[1][4] = 3, body(board=2, tricks=3, replaces=1)
    host.introduce(terminal)
    host.ask(lambda connection: write_evidence(connection, EVENT, tmp_path / "evidence"))
    ledger = [json.loads(line) for line in (tmp_path / "evidence" / "ledger.jsonl").read_text().splitlines()]
    assert [(row["seq"], row["state"]) for row in ledger if row["journal"] == "00000001"] == [
        (1, "stored"),
        (2, "quarantined"),
        (3, "stored"),
        (4, "stored"),
        (4, "conflict"),
    ]
    assert ledger[0] == {
        "device": "00000000000000a1",
        "journal": "00000001",
        "seq": 1,
        "crc": f"{host.records()[0].raw.crc:08x}",
        "body": body().hex(),
        "state": "stored",
    }
    plays = [json.loads(line) for line in (tmp_path / "evidence" / "plays.jsonl").read_text().splitlines()]
    assert plays[0] == {"section": "A", "board": 1, "ns": 1, "ew": 4, "play": 1, "current": 1}
    assert {row["current"] for row in plays} <= {0, 1}
