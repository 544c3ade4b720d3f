"""A session as a scoring program has it: begin, poll, accept, correct, change; and everything that comes twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import client_events as events
import pytest
from bridgemate_dataconnector import dto
from dc_host import ERASED, NOT_PLAYED, PASSED, Host, a_client, ok

from terminals.interop.data_connector import shapes
from terminals.interop.data_connector.connector import Caller
from terminals.interop.data_connector.movements import build
from terminals.movement.model import Format
from terminals.result import Artificial, Average, NotPlayed, PassedOut, Played
from terminals.store import desk
from terminals.store.desk import EventRow

KINDS = dto.DataConnectorResponseData
COMMANDS = dto.ScoringProgramDataConnectorCommands


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path / "events.db")
    yield made
    made.database.close()


def raw(client, command, session: str, payload: object) -> dto.ScoringProgramResponse:  # type: ignore[no-untyped-def]
    request = dto.ScoringProgramRequest()
    request.command, request.session_guid = command, session
    request.serialized_data = payload if isinstance(payload, str) else json.dumps(payload)
    return client.send_request(request)


def full_event() -> dto.InitDTO:
    return events.an_event(
        player_data=[events.a_player(str(n), last=f"Żółć{n}") for n in range(1, 9)],
        participations=[events.a_seat(t, d, str(4 * t + d - 4)) for t in (1, 2) for d in (1, 2, 3, 4)],
        handrecords=[events.a_deal(board) for board in range(1, 7)],
        bridgemate2_settings=[events.bm2(pin="0000", lead_card=True, show_results=True)],
    )


def test_an_event_becomes_one_of_ours(host: Host) -> None:
    client = a_client(host)
    assert int(client.ping().data_type) == 1
    ok(client.initialize(full_event()))
    setup = host.setup
    assert setup.name == "Tuesday Łódź"
    movement = setup.sections[0].movement
    assert movement is not None
    assert (movement.tables, movement.rounds, movement.expected_results()) == (2, 3, 12)
    assert setup.settings.admit_all
    assert setup.settings.lead
    assert setup.settings.director_pin == ""
    assert any("PIN" in text for text in host.alarms())
    plan = setup.table_plan(1, 2)
    assert plan is not None
    assert [(one.ns, one.ew, one.first_board, one.board_count) for one in plan.rounds] == [
        (3, 4, 1, 2),
        (4, 2, 3, 2),
        (2, 3, 5, 2),
    ]
    assert host.people()["A", 1, "1"] == ("1", "Ana Żółć1")
    assert host.people()["A", 4, "2"] == ("8", "Ana Żółć8")


def test_what_a_table_keys_in_is_told_until_it_is_accepted(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    assert client.poll_for_results(events.SESSION) == []
    host.key_in(1, 1, 1, 1, 2, lead=13)
    host.key_in(2, 1, 1, 3, 4, kind=PASSED)
    first = client.poll_for_results(events.SESSION)
    assert first == client.poll_for_results(events.SESSION)
    assert [(r.table_number, r.level, r.total_tricks, r.declarer_direction) for r in first] == [
        (1, 3, 9, 1),
        (2, 0, 0, 0),
    ]
    assert (first[0].lead_card_rank, first[0].lead_card_suit) == (14, 3)
    assert (first[0].pair_north_south, first[0].pair_east_west, first[0].declaring_pair) == (1, 2, 1)
    ok(client.accept_queue_data(events.SESSION, KINDS.Results))
    assert client.poll_for_results(events.SESSION) == []
    assert client.poll_for_results(events.SESSION, all=True) == first


def test_corrections_and_erasures_follow_in_order(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    first = host.key_in(1, 1, 1, 1, 2)
    host.key_in(1, 1, 1, 1, 2, replaces=1, tricks=10)
    host.key_in(1, 1, 1, 1, 2, replaces=2, kind=ERASED)
    host.key_in(1, 1, 1, 1, 2, tricks=8)
    assert first == 1
    found = client.poll_for_results(events.SESSION)
    assert [(r.is_deleted, r.total_tricks) for r in found] == [(False, 9), (False, 10), (True, 0), (False, 8)]
    host.direct(lambda d: d.artificial(host.current()[0].play, Average.PLUS, Average.MINUS))
    assert client.poll_for_results(events.SESSION)[-1].level == dto.ResultDTO.AvgPlusMin


def test_the_program_s_results_reach_the_store_and_are_not_echoed(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    client.poll_for_results(events.SESSION)
    ok(client.accept_queue_data(events.SESSION, KINDS.Results))
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2, total_tricks=11, level=5)]))
    found = host.result(1, 1, 2)
    assert isinstance(found, Played)
    assert (found.contract.level, found.tricks) == (5, 11)
    assert [m.text[:8] for m in host.answers[-1].messages] == ["Board 1:"]
    assert client.poll_for_results(events.SESSION) == []
    everything = client.poll_for_results(events.SESSION, all=True)
    assert [one.total_tricks for one in everything] == [9, 11], "whoever reads all again ends with what stands"
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2, is_deleted=True)]))
    assert host.result(1, 1, 2) is None
    host.direct(lambda d: d.rule(host.current()[0].play, PassedOut()))
    assert [r.level for r in client.poll_for_results(events.SESSION)] == [0]


@pytest.mark.parametrize(
    ("level", "expected"),
    [(-10, NotPlayed()), (0, PassedOut())]
    + [
        (
            -(3 * a + b + 1),
            Artificial((Average.MINUS, Average.EVEN, Average.PLUS)[a], (Average.MINUS, Average.EVEN, Average.PLUS)[b]),
        )
        for a in range(3)
        for b in range(3)
    ],
)
def test_every_level_goes_in_and_comes_out(host: Host, level: int, expected: object) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    sent = events.a_result(1, 1, 1, 1, 2, level=level, denomination=0, total_tricks=0, declarer_direction=0)
    ok(client.send_results(events.SESSION, [sent]))
    assert host.result(1, 1, 2) == expected
    host.direct(lambda d: d.erase(host.current()[0].play))
    host.direct(lambda d: d.rule(host.current()[0].play, expected))
    told = client.poll_for_results(events.SESSION)
    assert [(r.is_deleted, r.level) for r in told] == [(True, 0), (False, level)]


def test_a_board_played_in_the_wrong_direction_is_told_both_ways(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 2, 1, declarer=0)  # pair 2 sat North-South
    (told,) = client.poll_for_results(events.SESSION)
    assert (told.pair_north_south, told.pair_east_west, told.declaring_pair, told.declarer_direction) == (1, 2, 2, 1)
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2)]))
    assert host.result(1, 2, 1) is None
    assert isinstance(host.result(1, 1, 2), Played)
    ok(client.send_results(events.SESSION, [told]))
    assert host.result(1, 1, 2) is None
    assert isinstance(host.result(1, 2, 1), Played)


def test_not_played_and_calls_travel_both_ways(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 2, 1, 2, kind=NOT_PLAYED, confirmed_by=3)
    assert [r.level for r in client.poll_for_results(events.SESSION)] == [-10]
    host.call(1, 1)
    (call,) = client.poll_for_td_calls(events.SESSION)
    assert (call.section_letters, call.table_number, call.hour, call.minute, call.status) == ("A", 1, 20, 15, 1)
    ok(client.accept_queue_data(events.SESSION, KINDS.TdCalls))
    call.status = 2
    ok(client.send_td_calls(events.SESSION, [call]))
    assert [m.text for m in host.answers[-1].messages] == ["The director is coming."]
    assert client.poll_for_td_calls(events.SESSION) == []
    host.call(1, 3)
    assert [(c.status, c.hour) for c in client.poll_for_td_calls(events.SESSION)] == [(3, 20)]
    host.call(1, 1, round=2)
    assert [c.status for c in client.poll_for_td_calls(events.SESSION)] == [3, 1]


def test_a_repeated_init_changes_nothing(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    client.poll_for_results(events.SESSION)
    event, setup = host.event, host.setup
    client._transport.lose = 3  # type: ignore[attr-defined]
    ok(client.initialize(full_event()))
    assert (host.event, host.setup) == (event, setup)
    assert len(host.current()) == 1
    assert len(client.poll_for_results(events.SESSION)) == 1


def test_another_init_with_reset_begins_anew_and_keeps_the_old_results(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    client.poll_for_results(events.SESSION)
    old = host.event
    other = full_event()
    other.sessions[0].name = "Again"
    ok(client.initialize(other))
    assert host.event != old
    assert host.current() == []
    assert client.poll_for_results(events.SESSION, all=True) == []
    assert len(host.database.query("SELECT * FROM current_result WHERE event = ?", (old,))) == 1
    assert any("anew" in text for text in host.alarms())


def test_another_init_without_reset_changes_the_event_and_keeps_results(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    event = host.event
    other = full_event()
    other.commands = 5
    other.sessions[0].name = "Renamed"
    ok(client.initialize(other))
    assert (host.event, host.setup.name) == (event, "Renamed")
    assert len(host.current()) == 1
    assert len(client.poll_for_results(events.SESSION)) == 1


def test_one_number_for_two_sessions_accepts_only_what_was_delivered(host: Host) -> None:
    """The client remembers one last id for a type, whatever the session."""
    client = a_client(host)
    second = events.a_session([events.a_section(events.howell_two(), "B", events.OTHER, 2)], events.OTHER)
    first = events.a_session([events.a_section(events.howell_two())])
    ok(client.initialize(events.an_event(first, second)))
    host.key_in(1, 1, 1, 1, 2)
    assert len(client.poll_for_results(events.SESSION)) == 1
    host.key_in(1, 1, 2, 1, 2)
    host.key_in(1, 1, 1, 1, 2, section=2)
    assert [r.section_letters for r in client.poll_for_results(events.OTHER)] == ["B"]
    ok(client.accept_queue_data(events.SESSION, KINDS.Results))
    assert [r.board_number for r in client.poll_for_results(events.SESSION)] == [2]
    # The number that it remembers now is lower than that of the other session's item, which is told once more.
    ok(client.accept_queue_data(events.OTHER, KINDS.Results))
    assert len(client.poll_for_results(events.OTHER)) == 1
    ok(client.accept_queue_data(events.OTHER, KINDS.Results))
    assert client.poll_for_results(events.OTHER) == []


def test_accepting_nothing_too_much_or_nonsense(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    accept = COMMANDS.AcceptResultQueueItems
    ok(client.accept_queue_data(events.SESSION, KINDS.Results))
    ok(raw(client, accept, events.SESSION, 10**15))
    assert len(client.poll_for_results(events.SESSION)) == 1
    ok(raw(client, accept, events.SESSION, -5))
    for nonsense in ("x", [], {}, None, 1.5, True):
        assert int(raw(client, accept, events.SESSION, nonsense).error_type) == 12
    assert len(client.poll_for_results(events.SESSION)) == 1
    ok(raw(client, accept, events.SESSION, 10**15))
    assert client.poll_for_results(events.SESSION) == []


def test_a_restart_between_any_two_calls_loses_nothing(host: Host) -> None:
    client = a_client(host)

    def again() -> None:
        client._transport.host = client._transport.host.restart()  # type: ignore[attr-defined]

    def now() -> Host:
        return client._transport.host  # type: ignore[attr-defined,no-any-return]

    ok(client.initialize(full_event()))
    again()
    now().key_in(1, 1, 1, 1, 2)
    again()
    assert len(client.poll_for_results(events.SESSION)) == 1
    again()
    ok(client.accept_queue_data(events.SESSION, KINDS.Results))
    again()
    assert client.poll_for_results(events.SESSION) == []
    ok(client.continue_event(dto.ContinueDTO(event_guid=events.EVENT, commands=5)))
    again()
    assert len(client.poll_for_results(events.SESSION, all=True)) == 1
    now().database.close()


def test_unknown_sessions_events_and_commands_are_refused(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    wrong = [
        (client.send_results("F" * 32, []), 2),
        (
            raw(
                client, COMMANDS.PutResults, "F" * 32, [events.a_result(1, 1, 1, 1, 2, session_guid="F" * 32).to_dict()]
            ),
            6,
        ),
        (client.continue_event(dto.ContinueDTO(event_guid="F" * 32, commands=5)), 6),
        (raw(client, COMMANDS.PollQueueForNewResults, "F" * 32, ""), 6),
        (raw(client, COMMANDS.StopBCS, "", ""), 8),
        (raw(client, COMMANDS.TestData, "", ""), 8),
        (raw(client, COMMANDS.None_, "", ""), 5),
        (raw(client, COMMANDS.InitializeEvent, "", ""), 2),
        (raw(client, COMMANDS.InitializeEvent, "", "[1"), 12),
        (raw(client, COMMANDS.PutResults, events.SESSION, {}), 12),
        (client.send_results(events.SESSION, []), 2),
        (client.send_results(events.SESSION, [events.a_result(9, 1, 1, 1, 2)]), 4),
        (client.send_results(events.SESSION, [events.a_result(1, 1, 7, 1, 2)]), 4),
        (client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2, level=9)]), 5),
        (client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 77)]), 4),
        (client.send_participations(events.SESSION, [events.a_seat(1, 1, "999")]), 6),
    ]
    assert [int(response.error_type) for response, _ in wrong] == [expected for _, expected in wrong]
    assert host.current() == []
    for response, _ in wrong:
        assert json.loads(response.serialized_data)


def test_one_bad_row_keeps_the_whole_list_out(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    rows = [events.a_result(1, 1, 1, 1, 2), events.a_result(1, 9, 1, 1, 2)]
    assert int(client.send_results(events.SESSION, rows).error_type) == 4
    assert host.current() == []


def test_clear_data_hides_what_was_seen_only_and_can_be_undone(host: Host) -> None:
    from terminals.store import data_connector as store

    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    client.poll_for_results(events.SESSION)
    host.key_in(1, 1, 2, 1, 2)
    client.poll_for_td_calls(events.SESSION)  # the second result is in its queue now, and was not told yet
    ok(raw(client, COMMANDS.ClearData, "", ""))
    assert [r.board_number for r in client.poll_for_results(events.SESSION, all=True)] == [2]
    assert len(host.current()) == 2
    with host.database.transaction() as connection:
        assert store.restore_queues(connection, "CLUB") == 1
    assert [r.board_number for r in client.poll_for_results(events.SESSION, all=True)] == [1, 2]


def test_a_club_sees_its_own_events_only_where_keys_count(host: Host) -> None:
    ours = a_client(host, Caller("OURS", local=False), "OURS")
    theirs = a_client(host, Caller("THEIRS", local=False), "THEIRS")
    ok(ours.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    assert theirs.poll_for_results(events.SESSION) == []
    assert int(theirs.initialize(full_event()).error_type) == 5
    assert int(theirs.continue_event(dto.ContinueDTO(event_guid=events.EVENT, commands=5)).error_type) == 6
    assert len(ours.poll_for_results(events.SESSION)) == 1
    assert a_client(host).poll_for_results(events.SESSION)


def test_people_changed_at_the_tables_are_told_once(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    assert client.poll_for_participations(events.SESSION) == []
    assert client.poll_for_player_data(events.SESSION) == []
    host.seat("A", 1, "1", "77", "Eva Nováková")
    host.seat("A", 2, "1", "", "Guest Ó")
    seats = client.poll_for_participations(events.SESSION)
    assert [(s.table_number, int(s.direction), s.player_number, s.last_name) for s in seats] == [
        (1, 1, "77", None),
        (1, 2, None, "Ó"),
    ]
    assert [(p.player_number, p.first_name, p.last_name) for p in client.poll_for_player_data(events.SESSION)] == [
        ("77", "Eva", "Nováková")
    ]
    ok(client.accept_queue_data(events.SESSION, KINDS.Participations))
    assert client.poll_for_participations(events.SESSION) == []
    host.seat("A", 3, "1", "7", "x")
    host.seat("A", 3, "2", "5", "x")
    swapped = client.poll_for_participations(events.SESSION)
    assert [(s.table_number, s.is_player_swap, s.player_number) for s in swapped] == [(2, True, "7"), (2, True, "5")]
    host.seat("A", 3, "2", "", "")
    assert client.poll_for_participations(events.SESSION)[-1].is_removal
    ok(client.send_participations(events.SESSION, [events.a_seat(2, 3, "8")]))
    assert host.people()["A", 3, "2"][0] == "8"
    ok(client.send_player_data(events.SESSION, [events.a_player("8", last="New")]))
    assert host.people()["A", 3, "2"] == ("8", "Ana New")


def test_an_individual_has_its_players(host: Host) -> None:
    section = events.a_section([[(1, 2, 1, 2), (1, 2, 3, 4)]], game=20)
    section.has_explicit_participations = True
    players = [events.a_player(str(n)) for n in (11, 12, 13, 14)]
    seats = [events.a_seat(1, d, str(10 + d)) for d in (1, 2, 3, 4)]
    seats += [events.a_seat(1, d, str(n), round_number=2) for d, n in ((1, 11), (2, 13), (3, 14), (4, 12))]
    client = a_client(host)
    ok(client.initialize(events.an_event(events.a_session([section]), player_data=players, participations=seats)))
    movement = host.setup.sections[0].movement
    assert movement is not None
    assert movement.format is Format.INDIVIDUAL
    assert [s.players for s in movement.seatings] == [(1, 2, 3, 4), (1, 3, 4, 2)]
    assert host.people()["A", 3, "1"][0] == "13"
    host.key_in(1, 2, 3, 1, 3)
    (told,) = client.poll_for_results(events.SESSION)
    assert (told.round_number, told.pair_north_south, told.pair_east_west, told.declaring_pair) == (2, 1, 2, 1)
    assert client.poll_for_participations(events.SESSION) == []
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2)]))
    assert isinstance(host.result(1, 1, 2), Played)


def test_both_sides_numbered_from_one(host: Host) -> None:
    section = events.a_section(events.mitchell(3, 2, overlap=True), winners=2)
    client = a_client(host)
    ok(client.initialize(events.an_event(events.a_session([section]))))
    movement = host.setup.sections[0].movement
    assert movement is not None
    assert [group.contestants for group in movement.groups] == [(1, 2, 3), (101, 102, 103)]
    assert any("100" in text for text in host.alarms())
    host.key_in(1, 1, 1, 1, 101, declarer=1)
    (told,) = client.poll_for_results(events.SESSION)
    assert (told.pair_north_south, told.pair_east_west, told.declaring_pair) == (1, 1, 1)
    told.total_tricks = 7
    ok(client.send_results(events.SESSION, [told]))
    found = host.result(1, 1, 101)
    assert isinstance(found, Played)
    assert found.tricks == 7


def test_sit_outs_missing_pairs_and_teams(host: Host) -> None:
    sit_out = events.a_section(events.mitchell(3, 2, sit_out=True), winners=2)
    missing = events.a_section(events.mitchell(3, 2), "B", winners=2)
    missing.missing_pair = -6
    teams = events.a_section([[(1, 2, 1, 8)], [(3, 4, 1, 8)]], "CC", game=30)
    for table in teams.tables:
        table.rounds[0].team_ns, table.rounds[0].team_ew = (1, 2) if table.table_number == 1 else (2, 1)
    client = a_client(host)
    ok(client.initialize(events.an_event(events.a_session([sit_out, missing, teams]))))
    first, second, third = (section.movement for section in host.setup.sections)
    assert first is not None
    assert second is not None
    assert third is not None
    assert [s.letter for s in host.setup.sections] == ["A", "B", "CC"]
    assert first.expected_results() == second.expected_results() == 12
    assert {(s.round, s.pair, s.table) for s in first.sit_outs} == {(s.round, s.pair, s.table) for s in second.sit_outs}
    assert third.format is Format.TEAMS
    assert [(team.number, team.pairs) for team in third.teams] == [(1, (1, 4)), (2, (2, 3))]
    host.key_in(1, 1, 1, 1, 2, section=29)
    assert [r.section_letters for r in client.poll_for_results(events.SESSION)] == ["CC"]


def an_update(section: dto.SectionDTO, **changes: object) -> dto.SectionUpdateDTO:
    made = dto.SectionUpdateDTO(scoring_group_scoring_method=10)
    for name, value in {**vars(section), **changes}.items():
        setattr(made, name, value)
    return made


def test_a_movement_is_changed_from_a_round_on(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    for table, ns, ew in ((1, 1, 2), (2, 3, 4)):
        host.key_in(table, 1, 1, ns, ew)
    host.key_in(1, 2, 3, 1, 3)
    version = host.setup.plan_version
    client.poll_for_results(events.SESSION)
    tables = events.howell_two()
    tables[0][1], tables[1][1] = (1, 4, 3, 4), (2, 3, 3, 4)
    tables[0][2], tables[1][2] = (1, 3, 5, 6), (4, 2, 5, 6)
    client._transport.lose = 1  # type: ignore[attr-defined]
    section = events.a_section(tables)
    first = ok(client.update_movement(an_update(section)))
    assert int(first.data_type) == 14
    assert host.setup.plan_version == version + 1
    assert host.result(3, 1, 3) is None
    assert isinstance(host.result(1, 1, 2), Played)
    assert isinstance(host.setup.sections[0].movement.at(2, 1), object)
    assert host.setup.sections[0].movement.at(2, 1).ew == 4
    got = ok(raw(client, COMMANDS.GetMovement, events.SESSION, {"SessionGuid": events.SESSION, "Letters": "A"}))
    shown = dto.SectionDTO.from_dict(json.loads(got.serialized_data))
    assert [r.pair_ew for r in shown.tables[0].rounds] == [2, 4, 3]
    # a round more, as in a Swiss event
    for table, one in zip(tables, ((1, 2, 7, 8), (3, 4, 7, 8)), strict=True):
        table.append(one)
    reply = ok(client.update_movement(an_update(events.a_section(tables))))
    changed = dto.SectionDTO.from_dict(json.loads(reply.serialized_data))
    assert [[r.round_number for r in t.rounds] for t in changed.tables] == [[4], [4]]
    assert host.setup.sections[0].movement.rounds == 4
    # the program had not accepted the result that it made void, so it hears of that end too
    told = [(one.round_number, one.is_deleted) for one in client.poll_for_results(events.SESSION, all=True)]
    assert sorted(told) == [(1, False), (1, False), (2, False), (2, True)]


def test_sections_come_and_go(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    section = events.a_section(events.mitchell(3, 2), "B", group=2)
    ok(client.update_movement(an_update(section, scoring_group_scoring_method=30)))
    assert [s.letter for s in host.setup.sections] == ["A", "B"]
    wrong = client.update_movement(an_update(section, scoring_group_scoring_method=10))
    assert int(wrong.error_type) == 5
    groups = events.a_session([events.a_section(events.howell_two()), section]).scoring_groups
    for group in groups:
        group.scoring_method = 30
    client._transport.lose = 1  # type: ignore[attr-defined]
    assert int(client.update_scoring_groups(groups).data_type) == 1
    everything = ok(raw(client, COMMANDS.GetAllMovements, events.SESSION, ""))
    assert int(everything.data_type) == 16
    assert [one["Letters"] for one in json.loads(everything.serialized_data)] == ["A", "B"]
    gone = dto.SectionUpdateDTO(session_guid=events.SESSION, letters="B", is_deleted=True)
    ok(client.update_movement(gone))
    ok(client.update_movement(gone))
    assert [s.letter for s in host.setup.sections] == ["A"]


def test_a_session_is_added_once(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    session = events.a_session([events.a_section(events.howell_two(), "B", events.OTHER, 2)], events.OTHER)
    payload = {"EventGuid": events.EVENT, "ClubId": "CLUB", "Session": session.to_dict()}
    for _ in range(2):
        ok(raw(client, COMMANDS.AddSession, events.EVENT, payload))
    assert [s.letter for s in host.setup.sections] == ["A", "B"]
    assert len(host.current()) == 1
    host.key_in(1, 1, 1, 1, 2, section=2)
    assert [r.section_letters for r in client.poll_for_results(events.OTHER)] == ["B"]
    payload["Session"]["Name"] = "other"
    assert int(raw(client, COMMANDS.AddSession, events.EVENT, payload).error_type) == 3
    info = ok(raw(client, COMMANDS.ManageBCS, "", {"Command": 2}))
    assert int(info.data_type) == 17
    told = json.loads(info.serialized_data)
    assert told["IsRunning"]
    assert [one["SessionGuid"] for one in told["SessionInformation"]] == [events.SESSION, events.OTHER]
    assert int(ok(raw(client, COMMANDS.ManageBCS, "", {"Command": 8})).data_type) == 18
    assert int(ok(raw(client, COMMANDS.ManageBCS, "", {"Command": 4})).data_type) == 19


def test_deals_settings_and_pins(host: Host) -> None:
    from terminals.interop.data_connector.deals import deals_of

    client = a_client(host)
    ok(client.initialize(full_event()))
    deals = deals_of(host.database._connection, host.event)
    assert sorted(deals["A"]) == [1, 2, 3, 4, 5, 6]
    assert deals["A"][3].hand(0) == tuple(range(13))  # board 3: North has the spades
    ok(client.send_handrecords(events.SESSION, [events.a_deal(9)]))
    assert 9 in deals_of(host.database._connection, host.event)["A"]
    assert client.poll_for_handrecords(events.SESSION, all=True) == []
    ok(client.send_bridgemate2_settings(events.SESSION, [events.bm2(pin="4711", show_percentage=True)]))
    assert (host.setup.settings.director_pin, host.setup.settings.percentages) == ("4711", True)
    ok(client.send_bridgemate3_settings(events.SESSION, [events.bm3(pin="0000")]))
    assert host.setup.settings.director_pin == "4711"
    assert any("own" in text for text in host.alarms())


def test_terminals_that_waited_for_an_event_play_the_one_that_comes(host: Host) -> None:
    """A service without an event has one that is kept nowhere; whatever its number, nothing may fall to it."""
    from terminals.store import ledger

    for number, nowhere in enumerate(("0" * 15 + "1", "f" * 16)):
        with host.database.transaction() as connection:
            ledger.begin_in(connection, 101 + number, 1, nowhere, 1)
    ok(a_client(host, Caller(journals=((101, 1, 1), (102, 1, 1)))).initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    host.key_in(2, 1, 1, 3, 4)
    assert len(host.current()) == 2


def test_an_event_that_terminals_left_for_another_can_be_played_on(host: Host) -> None:
    client = a_client(host, Caller(journals=((101, 1, 1),)))
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    second = events.an_event(
        events.a_session([events.a_section(events.howell_two(), session=events.OTHER)], events.OTHER, events.guid(7)),
        event=events.guid(7),
    )
    client._transport.caller = Caller(journals=((101, 1, 2),))  # type: ignore[attr-defined]
    ok(client.initialize(second))
    host.key_in(1, 1, 1, 1, 2)
    client._transport.caller = Caller(journals=((101, 1, 3),))  # type: ignore[attr-defined]
    ok(client.continue_event(dto.ContinueDTO(event_guid=events.EVENT, commands=5)))
    host.key_in(1, 1, 2, 1, 2)
    assert len(client.poll_for_results(events.SESSION)) == 2
    assert len(client.poll_for_results(events.OTHER)) == 1


def test_a_person_can_be_taken_out_of_everything_that_was_told(host: Host) -> None:
    from terminals.interop.data_connector.people import erase_person

    section = events.a_section([[(1, 2, 1, 2)]], game=20)
    section.has_explicit_participations = True
    players = [events.a_player(str(n), last=f"Żółć{n}") for n in (11, 12, 13)]
    seats = [events.a_seat(1, d, str(10 + d)) for d in (1, 2, 3)]
    seats.append(events.a_seat(1, 4, None, first_name="Jo", last_name="O'Hé"))
    client = a_client(host)
    ok(client.initialize(events.an_event(events.a_session([section]), player_data=players, participations=seats)))
    host.seat("A", 1, "1", "78", "Eva Nováková")
    client.poll_for_participations(events.SESSION)
    with host.database.transaction() as connection:
        assert erase_person(connection, "12", "")
        assert erase_person(connection, "78", "Eva Nováková")
        assert erase_person(connection, "", "Jo O'Hé")
        assert not erase_person(connection, "999", "Nobody")
        desk_erase(connection)
    kept = "".join(
        str(row)
        for table in ("event", "item", "state")
        for row in host.database.query(f"SELECT * FROM program_{table}")
    )
    assert "'12'" not in kept
    assert "'78'" not in kept
    for word in ("Żółć12", '"12"', "Nováková", "O'Hé", "#12", '"78"'):
        assert word not in kept
    assert "Żółć11" in kept
    assert host.restart().setup.sections[0].movement is not None


def desk_erase(connection: object) -> None:
    desk.erase_person(connection, "12", "")  # type: ignore[arg-type]


def test_an_individual_may_say_later_who_sits_where(host: Host) -> None:
    section = events.a_section([[(1, 2, 1, 2), (1, 2, 3, 4)]], game=20)
    section.has_explicit_participations = True
    client = a_client(host)
    ok(client.initialize(events.an_event(events.a_session([section]))))
    movement = host.setup.sections[0].movement
    assert movement is not None
    assert movement.format is Format.PAIRS
    ok(client.send_player_data(events.SESSION, [events.a_player(str(n)) for n in (11, 12, 13, 14)]))
    ok(client.send_participations(events.SESSION, [events.a_seat(1, d, str(10 + d)) for d in (1, 2, 3, 4)]))
    second = [events.a_seat(1, d, str(n), round_number=2) for d, n in ((1, 11), (2, 13), (3, 14), (4, 12))]
    ok(client.send_participations(events.SESSION, second))
    movement = host.setup.sections[0].movement
    assert movement is not None
    assert [s.players for s in movement.seatings] == [(1, 2, 3, 4), (1, 3, 4, 2)]
    assert host.people()["A", 4, "1"][0] == "14"
    assert client.poll_for_participations(events.SESSION) == []
    host.key_in(1, 1, 1, 1, 2)
    ok(client.send_participations(events.SESSION, [events.a_seat(1, 1, "14", round_number=2)]))
    assert host.setup.sections[0].movement == movement


def test_what_the_desk_made_of_a_plan_stays_until_the_program_changes_that_section(host: Host) -> None:
    from terminals.sync.setup import setup_to_json

    client = a_client(host)
    both = [events.a_section(events.howell_two()), events.a_section(events.howell_two(), "B", group=2)]
    ok(client.initialize(events.an_event(events.a_session(both))))
    ok(client.update_movement(an_update(both[0])))
    assert not any("desk" in text for text in host.alarms())
    shorter = events.howell_two()
    for table in shorter:
        table.pop()
    own = build(shapes.read(shapes.SECTION, events.a_section(shorter).to_dict())).movement
    assert own is not None
    changed = host.setup.with_movement(1, own)
    with host.database.transaction() as connection:
        row = EventRow(changed.id, changed.name, setup_to_json(changed), changed.plan_version, "")
        desk.save_event(connection, row)
    for table in both[1].tables:
        table.rounds.pop()
    ok(client.update_movement(an_update(both[1])))
    rounds = [section.movement.rounds for section in host.setup.sections if section.movement is not None]
    assert rounds == [2, 2]
    assert not any("desk" in text for text in host.alarms())
    both[0].tables[0].rounds[2].high_board_number = 7
    ok(client.update_movement(an_update(both[0])))
    rounds = [section.movement.rounds for section in host.setup.sections if section.movement is not None]
    assert rounds == [3, 2]
    assert any("desk" in text for text in host.alarms())


def test_terminals_that_are_away_when_the_event_comes_play_it_too(host: Host) -> None:
    from terminals.store import ledger

    nowhere = "f" * 16
    with host.database.transaction() as connection:
        ledger.begin_in(connection, 101, 1, nowhere, 1)
    ok(a_client(host).initialize(full_event()))
    with host.database.transaction() as connection:  # it introduces itself again
        ledger.begin_in(connection, 101, 1, host.event, 1)
    host.key_in(1, 1, 1, 1, 2)
    assert len(host.current()) == 1


def test_of_two_results_at_one_place_the_other_is_left_when_one_goes(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2, tricks=8)
    host.key_in(1, 1, 1, 2, 1, tricks=10)  # keyed in once more, with the pairs the other way round
    host.key_in(1, 1, 1, 2, 1, kind=ERASED, replaces=1)
    told = client.poll_for_results(events.SESSION)
    assert [(r.is_deleted, r.total_tricks) for r in told] == [(False, 8), (False, 10), (False, 8)]
    host.key_in(1, 1, 1, 1, 2, kind=ERASED, replaces=3)
    assert client.poll_for_results(events.SESSION)[-1].is_deleted
