"""Corners of the Data Connector that the workflow does not pass through."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import client_events as events
import pytest
from bridgemate_dataconnector import dto
from dc_host import Host, a_client, ok
from test_dc_workflow import an_update, full_event

from terminals.interop.data_connector import shapes
from terminals.interop.data_connector.connector import Caller
from terminals.interop.data_connector.envelope import read_request
from terminals.interop.data_connector.movements import build
from terminals.result import Average, FixedPercent, PassedOut
from terminals.store import desk
from terminals.store.values import PlayKey
from terminals.sync.setup import movement_from_dict, movement_to_dict

KINDS = dto.DataConnectorResponseData


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path / "events.db")
    yield made
    made.database.close()


def test_a_result_that_is_there_already_makes_no_event(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2, lead=3)
    client._transport.lose = 2  # type: ignore[attr-defined]
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2)]))
    assert [row.changes for row in host.current()] == [1]
    assert len(client.poll_for_results(events.SESSION)) == 1
    client._transport.lose = 2  # type: ignore[attr-defined]
    ok(client.send_results(events.SESSION, [events.a_result(1, 1, 1, 1, 2, total_tricks=7)]))
    assert [row.changes for row in host.current()] == [2]


def test_the_desk_sees_a_call_that_the_program_makes_and_answers(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    call = dto.TdCallDTO(events.SESSION, "A", 2, 1, 20, 15, 1)
    for status in (1, 2, 4, 3):
        call.status = status
        for _ in range(2):
            ok(client.send_td_calls(events.SESSION, [call]))
    found = [
        (item.kind, item.data["state"], item.data["table"])
        for item in desk.desk_events(host.database._connection, host.event)
        if "state" in item.data
    ]
    assert found == [("call", 1, 2), ("call-answered", 2, 2), ("call-answered", 1, 2), ("call-answered", 3, 2)]
    assert client.poll_for_td_calls(events.SESSION, all=True) == []


def test_sections_keep_their_numbers_when_the_event_is_sent_again(host: Host) -> None:
    client = a_client(host)
    both = [events.a_section(events.mitchell(3, 2, overlap=True), winners=2)]
    ok(client.initialize(events.an_event(events.a_session(both))))
    host.key_in(1, 1, 1, 1, 101)
    other = events.a_session([events.a_section(events.mitchell(3, 2), winners=2)])
    ok(client.initialize(events.an_event(other, commands=5)))
    movement = host.setup.sections[0].movement
    assert movement is not None
    assert movement.groups[1].contestants == (104, 105, 106)
    tables = events.mitchell(3, 2)
    tables[0][2] = (1, 5, 11, 12)
    ok(client.update_movement(an_update(events.a_section(tables, winners=2))))
    movement = host.setup.sections[0].movement
    assert movement is not None
    assert movement.groups[1].contestants == (104, 105, 106)


def test_a_new_event_with_clear_data_hides_what_was_seen_of_the_old_one(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(1, 1, 1, 1, 2)
    client.poll_for_results(events.SESSION)
    second = events.a_session(
        [events.a_section(events.howell_two(), session=events.OTHER)], events.OTHER, events.guid(7)
    )
    ok(client.initialize(events.an_event(second, event=events.guid(7), commands=135)))
    assert client.poll_for_results(events.SESSION, all=True) == []


def movement_of(tables: list[list[tuple[int, ...]]], **changes: object):  # type: ignore[no-untyped-def]
    made = events.a_section(tables)
    for name, value in changes.items():
        setattr(made, name, value)
    return build(shapes.read(shapes.SECTION, made.to_dict())).movement


def test_two_tables_share_boards_and_more_have_copies() -> None:
    two = movement_of([[(1, 2, 1, 2)], [(3, 4, 1, 2)]])
    assert [share.tables for share in two.shares] == [(1, 2)]
    three = movement_of([[(1, 2, 1, 2)], [(3, 4, 1, 2)], [(5, 6, 1, 2)]])
    assert three.shares == ()


def test_a_pair_without_a_place_in_a_round_waits_for_the_next() -> None:
    made = movement_of([[(1, 2, 1, 2), (1, 3, 3, 4), (1, 2, 5, 6)]])
    assert {(one.round, one.pair, one.table) for one in made.sit_outs} == {(1, 3, 0), (2, 2, 0), (3, 3, 0)}


def test_large_numbers_on_both_sides_get_a_larger_offset() -> None:
    made = movement_of([[(120, 120, 1, 2)]], winners=2)
    assert made.groups[1].contestants == (1120,)


@pytest.mark.parametrize(
    ("tables", "changes", "played", "words"),
    [
        ([[(1, 2, 1, 2)], [(1, 3, 1, 2)]], {"winners": 2}, {1: (1, 2), 2: (1, 2)}, "pair 1 sits at two tables"),
        ([[(1, 2, 1, 2)], [(3, 4, 5, 1)]], {}, {1: (1, 2)}, "boards 5 to 1"),
        ([[(1, 2, 1, 2)], [(3, 4, 0, 4)]], {}, {1: (1, 2)}, "boards 0 to 4"),
        ([[(1, 2, 1, 2)], [(3, 4, -4, -2)]], {}, {1: (1, 2)}, "nothing is played"),
        ([[(1, 2, 1, 500)]], {}, {1: tuple(range(1, 100))}, "1 to 99 are played"),
        ([[(1, 2, 998, 1001)]], {}, {1: (998, 999)}, "998 to 999 are played"),
        ([[(1, 2, 1, 2)], [(3, 4096, 1, 2)]], {}, {1: (1, 2)}, "pair number"),
        ([[(1, 2, 1, 2)], [(-1, 4, 1, 2)]], {}, {1: (1, 2)}, "nobody sits there"),
        ([[(3, 3, 1, 2)]], {}, {1: (1, 2)}, ""),
        ([[(1, 2, 1, 2)] * 260], {}, {1: (1, 2)}, "255 rounds"),
    ],
)
def test_what_terminals_can_not_be_told_is_left_out_and_the_desk_hears_it(
    tables: list[list[tuple[int, ...]]], changes: dict[str, object], played: dict[int, tuple[int, ...]], words: str
) -> None:
    made = events.a_section(tables)
    for name, value in changes.items():
        setattr(made, name, value)
    built = build(shapes.read(shapes.SECTION, made.to_dict()))
    assert built.movement is not None
    assert {one.table: one.boards for one in built.movement.in_round(1)} == played
    assert all(note.startswith("Section A: ") for note in built.notes)
    assert words in "\n".join(built.notes)
    assert bool(words) == bool(built.notes)
    assert movement_from_dict(json.loads(json.dumps(movement_to_dict(built.movement)))) == built.movement


def test_the_desk_hears_what_is_odd_about_a_movement(host: Host) -> None:
    client = a_client(host)
    tables = [[(1, 2, 1, 2)] for _ in range(200)] + [[(1, 2, 1, 2)]]
    ok(client.initialize(events.an_event(events.a_session([events.a_section(tables)]))))
    assert host.setup.has_table(1, 200)
    assert not host.setup.has_table(1, 201)
    assert any("table 201" in text for text in host.alarms())
    assert len(host.alarms()) <= 22
    ok(client.update_movement(an_update(events.a_section([[(7, 8, 3, 1)]], "B", group=2))))
    assert any("boards 3 to 1" in text for text in host.alarms())


def test_the_service_closes_only_where_it_may_and_nothing_is_held(host: Host) -> None:
    def ask(caller: Caller) -> dto.ScoringProgramResponse:
        request = dto.ScoringProgramRequest()
        request.command, request.session_guid = dto.ScoringProgramDataConnectorCommands.ManageBCS, ""
        request.serialized_data = json.dumps({"Command": 1})
        return a_client(host, caller).send_request(request)

    ok(ask(Caller()))
    assert not host.answers[-1].stop
    assert any("goes on" in text for text in host.alarms())
    assert int(ask(Caller(may_stop=True, held=2)).error_type) == 1
    ok(ask(Caller(may_stop=True)))
    assert host.answers[-1].stop
    assert int(ask(Caller("CLUB", local=False, may_stop=True)).error_type) == 5


def test_a_slip_in_a_movement_of_one_winner_does_not_number_everybody_anew() -> None:
    tables = events.howell_two()
    tables[1][1] = (1, 2, 3, 4)
    made = movement_of(tables)
    assert made.contestants == (1, 2, 3, 4)
    teams = [[(1, 1, 1, 2), (1, 2, 3, 4)], [(2, 2, 1, 2), (2, 1, 3, 4)]]
    assert movement_of(teams).contestants == (1, 2, 101, 102)


def test_tables_that_an_update_does_not_name_stay(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.key_in(2, 1, 1, 3, 4)
    section = events.a_section(events.howell_two())
    section.tables = section.tables[:1]
    section.tables[0].rounds[0].high_board_number = 1
    ok(client.update_movement(an_update(section)))
    movement = host.setup.sections[0].movement
    assert movement is not None
    assert (movement.tables, movement.at(1, 1).boards, movement.at(1, 2).boards) == (2, (1,), (1, 2))
    assert len([row for row in host.current() if row.content is not None]) == 1
    gone = events.a_section(events.howell_two())
    gone.tables = gone.tables[1:]
    gone.tables[0].rounds = []
    ok(client.update_movement(an_update(gone)))
    movement = host.setup.sections[0].movement
    assert movement is not None
    assert movement.tables == 1
    assert [row.content for row in host.current()] == [None]


@pytest.mark.parametrize("overlap", [False, True])
def test_a_table_that_is_left_out_goes_when_its_pairs_sit_elsewhere(host: Host, overlap: bool) -> None:
    """As the vendor's own emulator takes out two pairs: it sends the smaller movement and does not name the table."""
    client = a_client(host)
    for played in (0, 1, 2):
        first = events.a_section(events.mitchell(4, 2, overlap=overlap), winners=2)
        again = events.an_event(events.a_session([first]), commands=7, alternative_data_folder=None)
        again.sessions[0].name = f"Evening {played}"
        ok(client.initialize(again))
        for number in range(1, played + 1):
            seating = host.setup.sections[0].movement.at(number, 4)  # type: ignore[union-attr]
            assert seating is not None
            host.key_in(4, number, seating.boards[0], seating.ns, seating.ew)
        smaller = events.a_section(events.mitchell(3, 2, overlap=overlap), winners=2)
        if not overlap:
            for table in smaller.tables or ():
                for one in table.rounds or ():
                    one.pair_ew += 1  # East-West pairs keep their numbers from 5 on
        reply = ok(client.update_movement(an_update(smaller)))
        changed = dto.SectionDTO.from_dict(json.loads(reply.serialized_data))
        movement = host.setup.sections[0].movement
        assert movement is not None
        last = [movement.at(number, 4) is not None for number in (1, 2, 3, 4)]
        twice = any("sits at two tables" in text for text in host.alarms())
        assert sum(row.content is not None for row in host.current()) == played
        if played < 2:
            assert last == [True, False, False, False], "pairs 4 and 8 may meet in the round that nobody else needs"
            assert [one.table_number for one in changed.tables or ()][-1] == 4
            assert not twice
        else:
            assert last == [True] * 4
            assert twice


def test_a_ruling_at_no_table_is_not_told_and_one_that_can_not_be_said_is_alarmed(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.direct(lambda d: d.rule(PlayKey("A", 1, 1, 3), PassedOut()))
    assert client.poll_for_results(events.SESSION) == []
    assert any("meet at no table (section A, board 1, pairs 1 and 3)" in text for text in host.alarms())
    host.direct(lambda d: d.rule(PlayKey("A", 2, 1, 2, play=2), PassedOut()))
    assert client.poll_for_results(events.SESSION) == []
    assert any("second play" in text for text in host.alarms())
    host.direct(lambda d: d.artificial(PlayKey("A", 1, 1, 2), FixedPercent(Fraction(55)), Average.EVEN))
    assert [one.level for one in client.poll_for_results(events.SESSION)] == [-10]
    assert any("by hand" in text for text in host.alarms())


def test_penalties_and_fouled_boards_are_told_to_the_desk_as_unsayable(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    penalty = {"section": "A", "pair": 7, "amount": "-1/4", "unit": "top", "reason": "late", "law": "90"}
    host.log("penalty", penalty)
    host.log(
        "ruling", {"law": "87", "board": 3, "forms": [["A", 3, 1, 2, 1, "B"]], "penalty": ["A", 2, "-1/10", "top"]}
    )
    assert client.poll_for_results(events.SESSION) == []
    told = "\n".join(host.alarms())
    assert "bonus for A7" in told
    assert "bonus for A2" in told
    assert "board 3 was fouled" in told
    host.log("happening", {"section": "A", "event": {"is": "late-pair"}})
    assert client.poll_for_results(events.SESSION) == []
    assert any("change of plan in section A" in text for text in host.alarms())


def test_a_known_name_without_a_number_is_no_news(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(full_event()))
    host.seat("A", 1, "1", "", "Ana Żółć1")
    assert client.poll_for_participations(events.SESSION) == []


def test_a_byte_order_mark_and_a_payload_encoded_once_are_understood() -> None:
    found = read_request(b"\xef\xbb\xbf" + json.dumps({"Command": 27, "SerializedData": 5}).encode())
    assert (found.command, found.payload) == (27, 5)
