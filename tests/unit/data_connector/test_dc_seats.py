"""Sections whose seats are told for every round: who sits where follows the program, and goes back to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import client_events as events
import pytest
from bridgemate_dataconnector import dto
from dc_host import Host, a_client, ok

from terminals.store import data_connector as store
from terminals.store import desk
from terminals.sync import seats
from terminals.sync.people import names_of_table

ROUNDS = {1: {1: (1, 2), 2: (3, 4)}, 2: {1: (1, 3), 2: (4, 2)}, 3: {1: (1, 4), 2: (2, 3)}}
"""Round -> table -> pairs of ``howell_two``."""


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path / "events.db")
    yield made
    made.database.close()


def everybody(changes: dict[tuple[int, int, str], str]) -> list[dto.ParticipationDTO]:
    """Seats of all rounds. changes: (round, pair, seat "1" or "2") -> another player from that round on."""
    who = {(pair, seat): f"{pair}{seat}" for pair in range(1, 5) for seat in "12"}
    out = []
    for number, tables in ROUNDS.items():
        who |= {(pair, seat): player for (at, pair, seat), player in changes.items() if at == number}
        for table, (ns, ew) in tables.items():
            for direction, (pair, seat) in enumerate(((ns, "1"), (ew, "1"), (ns, "2"), (ew, "2")), start=1):
                out.append(events.a_seat(table, direction, who[pair, seat], round_number=number))
    return out


def explicit_event(changes: dict[tuple[int, int, str], str]) -> dto.InitDTO:
    section = events.a_section(events.howell_two())
    section.has_explicit_participations = True
    numbers = sorted({one.player_number for one in everybody(changes)})
    players = [events.a_player(number, first="", last=f"P{number}") for number in numbers]
    return events.an_event(events.a_session([section]), player_data=players, participations=everybody(changes))


def sitting(host: Host, pair: int, round: int) -> tuple[str, ...]:
    people = seats.by_place(desk.people(host.database._connection, host.event))
    return tuple("" if one is None else one.number for one in seats.sitting(people, "A", pair, round))


def names(host: Host, table: int, round: int) -> dict[int, list[str]]:
    told = names_of_table(host.database._connection, host.setup, (1, table), round)
    assert told is not None
    out: dict[int, list[str]] = {}
    for one in told.names:
        out.setdefault(one.pair, []).append(one.name)
    return out


def test_other_players_in_later_rounds(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(explicit_event({(2, 3, "2"): "X", (3, 1, "1"): "Y", (3, 3, "2"): "32"})))
    assert [sitting(host, 1, number) for number in (1, 2, 3)] == [("11", "12"), ("11", "12"), ("Y", "12")]
    assert [sitting(host, 3, number) for number in (1, 2, 3)] == [("31", "32"), ("31", "X"), ("31", "32")]
    # pair 3 comes to table 1 in round 2, pair 1 stays there
    assert names(host, 1, 1)[3] == ["P31", "PX"]
    assert names(host, 1, 2)[1] == ["P11", "P12"]
    assert names(host, 1, 3)[1] == ["PY", "P12"]
    assert names(host, 2, 3)[3] == ["P31", "P32"]
    assert client.poll_for_participations(events.SESSION) == [], "the program hears its own seats"


def test_a_name_keyed_in_later_goes_to_the_program_with_its_round(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(explicit_event({(2, 3, "2"): "X"})))
    people = seats.by_place(desk.people(host.database._connection, host.event))
    host.seat("A", 3, seats.seat_at(people, "A", 3, "2", 2), "", "Somebody Else")
    (one,) = client.poll_for_participations(events.SESSION)
    place = (one.section_letters, one.table_number, one.round_number, int(one.direction))
    assert place == ("A", 1, 2, 4)
    assert (one.first_name, one.last_name) == ("Somebody", "Else")
    assert sitting(host, 3, 1) == ("31", "32")
    ok(client.accept_queue_data(events.SESSION, dto.DataConnectorResponseData.Participations))
    assert client.poll_for_participations(events.SESSION) == []


def test_seats_of_a_later_round_can_change_and_go_back(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(explicit_event({(2, 3, "2"): "X"})))
    ok(client.send_player_data(events.SESSION, [events.a_player("Z")]))
    ok(client.send_participations(events.SESSION, [events.a_seat(1, 4, "Z", round_number=2)]))
    assert [sitting(host, 3, number)[1] for number in (1, 2, 3)] == ["32", "Z", "X"]
    back = [events.a_seat(1, 4, "32", round_number=2), events.a_seat(2, 4, "32", round_number=3)]
    ok(client.send_participations(events.SESSION, back))
    assert {sitting(host, 3, number)[1] for number in (1, 2, 3)} == {"32"}
    gone = events.a_seat(2, 4, None, round_number=3, is_removal=True)
    ok(client.send_participations(events.SESSION, [gone]))
    assert [sitting(host, 3, number)[1] for number in (2, 3)] == ["32", ""]
    wrong = client.send_participations(events.SESSION, [events.a_seat(1, 1, "nobody", round_number=2)])
    assert int(wrong.error_type) == 6


def test_later_seats_need_an_explicit_section(host: Host) -> None:
    client = a_client(host)
    init = explicit_event({})
    init.sessions[0].scoring_groups[0].sections[0].has_explicit_participations = False
    assert int(client.initialize(init).error_type) == 5


def test_explicit_seats_move_with_a_changed_movement(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(explicit_event({})))
    section = events.a_section(events.howell_two())
    section.has_explicit_participations = True
    update = dto.SectionUpdateDTO(scoring_group_scoring_method=10)
    for name, value in vars(section).items():
        setattr(update, name, value)
    for table in update.tables:
        table.rounds[2].low_board_number += 6
        table.rounds[2].high_board_number += 6
    update.participations = everybody({(3, 2, "1"): "N"})
    update.added_players = [events.a_player("N")]
    ok(client.update_movement(update))
    assert [sitting(host, 2, number)[0] for number in (1, 2, 3)] == ["21", "21", "N"]


def test_all_four_players_of_an_individual_have_names(host: Host) -> None:
    client = a_client(host)
    section = events.a_section([[(1, 2, 1, 2)]], game=20)
    players = [events.a_player(str(n), first="", last=f"P{n}") for n in range(1, 5)]
    told = [events.a_seat(1, n, str(n)) for n in range(1, 5)]
    ok(client.initialize(events.an_event(events.a_session([section]), player_data=players, participations=told)))
    found = names(host, 1, 1)
    assert sorted(name for here in found.values() for name in here) == ["P1", "P2", "P3", "P4"]


def test_seats_told_for_some_tables_only_come_back_as_no_news(host: Host) -> None:
    """A pair that is told first in a later round sat with nobody known before."""
    client = a_client(host)
    init = explicit_event({})
    init.participations = [one for one in everybody({}) if one.table_number == 1]
    ok(client.initialize(init))
    assert [sitting(host, 4, number) for number in (1, 3)] == [("", ""), ("41", "42")]
    assert client.poll_for_participations(events.SESSION) == []


def told_seats(host: Host) -> dict[str, str]:
    found = store.states(host.database._connection, host.event, events.SESSION, "seat")
    return {key: json.loads(body)["PlayerNumber"] or "" for key, body in found.items()}


def test_whoever_gets_a_seat_of_a_round_leaves_another(host: Host) -> None:
    """The vendor's guide: a part of the seats may be sent; the player's seat of before in that round is empty then."""
    client = a_client(host)
    ok(client.initialize(explicit_event({})))
    moved = events.a_seat(2, 1, "11", round_number=2)  # sat at table 1; 42 sat here as pair 4's first
    ok(client.send_participations(events.SESSION, [moved]))
    seats_now = told_seats(host)
    assert seats_now["A/2/2/1"] == "11"
    assert seats_now["A/1/2/1"] == ""
    assert (seats_now["A/1/1/1"], seats_now["A/1/3/1"]) == ("11", "11"), "other rounds stay as they are"
    assert sitting(host, 1, 2) == ("", "12")
    assert sitting(host, 4, 2) == ("11", "42")
    assert client.poll_for_participations(events.SESSION) == [], "the program knows that"
    # two change places in one message, one of them back to where it was emptied
    swap = [events.a_seat(1, 2, "32", round_number=1), events.a_seat(2, 3, "21", round_number=1)]
    ok(client.send_participations(events.SESSION, swap))
    seats_now = told_seats(host)
    assert (seats_now["A/1/1/2"], seats_now["A/2/1/3"]) == ("32", "21")
    for again in (everybody({}), everybody({})):
        ok(client.send_participations(events.SESSION, again))
        assert [sitting(host, pair, 2) for pair in (1, 4)] == [("11", "12"), ("41", "42")]
    assert client.poll_for_participations(events.SESSION) == []


def test_a_section_without_seats_of_every_round_keeps_who_sits(host: Host) -> None:
    client = a_client(host)
    players = [events.a_player(number) for number in ("7", "8")]
    seats_told = [events.a_seat(1, 1, "7"), events.a_seat(1, 3, "8")]
    ok(client.initialize(events.an_event(player_data=players, participations=seats_told)))
    ok(client.send_participations(events.SESSION, [events.a_seat(2, 1, "7")]))
    assert (told_seats(host)["A/1/1/1"], told_seats(host)["A/2/1/1"]) == ("7", "7")
