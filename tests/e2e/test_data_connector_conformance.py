"""A conformance run of our own: the official client's every method with every kind of data, a session like the vendor's
sample, and HTTP as odd programs speak it, against one ``serve`` process.

Nothing of the client or of its sample is copied; the sample's order of calls is told in docs/scoring-programs.md.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import fields, replace
from enum import IntEnum
from typing import Any

import pytest

pytest.importorskip("bridgemate_dataconnector", reason="needs bridgemate-dataconnector-client")
from bridgemate_dataconnector import DataConnectorClient, dto, validation
from dc_club import Club, a_section, ask_desk

KINDS = dto.DataConnectorResponseData
COMMANDS = dto.ScoringProgramDataConnectorCommands
POLLS = ("results", "player_data", "participations", "handrecords", "td_calls")
QUEUES = (KINDS.Results, KINDS.PlayerData, KINDS.Participations, KINDS.Handrecords, KINDS.TdCalls)


@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    made = Club(tmp_path_factory.mktemp("club"))
    made.start_service()
    yield made
    made.close()
    assert "Traceback" not in made.said, made.said


@pytest.fixture
def client(club: Club) -> DataConnectorClient:
    return DataConnectorClient("CLUB001", "LICENCE-KEY", club.url)


def guid(number: int) -> str:
    return f"{number:032X}"


def ok(response: dto.ScoringProgramResponse, kind: int = 1) -> Any:
    assert int(response.data_type) == kind, (response.error_type, response.serialized_data)
    return json.loads(response.serialized_data) if response.serialized_data else None


def refused(response: dto.ScoringProgramResponse, error: int) -> None:
    assert (int(response.data_type), int(response.error_type)) == (4, error), response
    assert isinstance(json.loads(response.serialized_data), str)


def an_event(number: int, *sections: dto.SectionDTO, method: int = 10, **changes: Any) -> dto.InitDTO:
    """An event with one session, whose guid follows the event's; every section in a group of its own."""
    session = guid(number + 1)
    groups = [
        dto.ScoringGroupDTO(
            session_guid=session, scoring_group_number=one.scoring_group_number, scoring_method=method, sections=[one]
        )
        for one in sections or (a_section("A", session, 1, 3, 2),)
    ]
    when = {"year": 2026, "month": 11, "day": 29, "hour": 19, "minute": 10}
    made = dto.SessionDTO(session_guid=session, event_guid=guid(number), name="S", scoring_groups=groups, **when)
    return dto.InitDTO(**{"commands": 7, "event_guid": guid(number), "sessions": [made], **changes})


def every_value(message: Any, skip: tuple[str, ...] = ()) -> Iterator[Any]:
    """The message with each field in turn at each of its values: switches, choices, and a few numbers."""
    for one in fields(message):
        value = getattr(message, one.name)
        if one.name in skip or one.name == "validation_messages":
            continue
        if isinstance(value, bool):
            yield replace(message, **{one.name: not value})
        elif isinstance(value, IntEnum):
            for choice in type(value):
                yield replace(message, **{one.name: choice})
        elif isinstance(value, int):
            for number in (0, 1, 2, 7, 15, 60, 127):
                yield replace(message, **{one.name: number})


# --- the vendor's sample, call by call ---------------------------------------------------------------------------


def test_a_session_like_the_vendor_s_sample(client: DataConnectorClient) -> None:
    event, session = 0x5A0, guid(0x5A1)
    ok(client.connect())
    ok(client.ping())
    tables = [
        [(1, 2, 1, 2), (1, 3, 3, 4), (1, 4, 5, 6)],
        [(3, 4, 1, 2), (4, 2, 3, 4), (2, 3, 5, 6)],
    ]
    section = a_section("A", session, 1, 2, 2)
    section.winners = 1
    for table, rows in zip(section.tables, tables, strict=True):
        blank = table.rounds[0]
        names = ("pair_ns", "pair_ew", "low_board_number", "high_board_number")
        table.rounds = [
            replace(blank, round_number=number, **dict(zip(names, row, strict=True)))
            for number, row in enumerate(rows, start=1)
        ]
    players = [
        dto.PlayerDataDTO(session_guid=session, player_number=str(990001 + at), first_name="Ann", last_name=f"P{at}")
        for at in range(8)
    ]
    seats = [
        dto.ParticipationDTO(
            session_guid=session,
            section_letters="A",
            table_number=at // 4 + 1,
            direction=dto.TableDirection(at % 4 + 1),
            round_number=1,
            player_number=one.player_number,
        )
        for at, one in enumerate(players)
    ]
    ok(client.initialize(an_event(event, section, player_data=players, participations=seats)))
    ok(client.send_player_data(session, players))
    result = dto.ResultDTO(session_guid=session, section_letters="A", table_number=1, round_number=1, board_number=1)
    result = replace(
        result,
        scoring_direction=3,
        pair_north_south=1,
        pair_east_west=2,
        declaring_pair=1,
        declarer_direction=1,
        level=1,
        denomination=1,
        total_tricks=7,
        lead_card_rank=14,
        lead_card_suit=1,
    )
    ok(client.send_results(session, [result]))
    assert client.poll_for_results(session) == []
    # what its menu offers besides
    ok(client.continue_event(dto.ContinueDTO(event_guid=guid(event), commands=5)))
    for all_ in (False, True):
        for kind, name in zip(QUEUES, POLLS, strict=True):
            assert getattr(client, f"poll_for_{name}")(session, all=all_) == []
            ok(client.accept_queue_data(session, kind))


# --- every method, every kind of data ----------------------------------------------------------------------------


def test_every_kind_of_event(client: DataConnectorClient) -> None:
    number = 0x1000
    for commands in (0, 1, 2, 4, 7, 8, 16, 32, 64, 128, 135, 255):
        number += 2
        ok(client.initialize(an_event(number, commands=commands, club_id="CLUB001")))
    for commands in (-1, 256):
        refused(client.initialize(an_event(number + 2, commands=commands)), 5)
    for method in (10, 20, 21, 22, 25, 26, 27, 30, 31, 35, 36, 40, 50, 51, 60, 70):
        number += 2
        ok(client.initialize(an_event(number, method=method)))
    sections = 0
    for game in (10, 20, 30):
        section = a_section("ZZZ", guid(number + 3), 7, 3, 1)
        section.game_type = game
        for one in every_value(section, ("scoring_group_number", "game_type")):
            number += 2
            moved = json.loads(json.dumps(one.to_dict()).replace(guid(number + 1 - 2), guid(number + 1)))
            moved = json.loads(json.dumps(moved).replace(str(section.session_guid), guid(number + 1)))
            init = an_event(number, dto.SectionDTO.from_dict(moved))
            answer = client.initialize(init)
            assert (int(answer.data_type) == 1) == validation.validate_init_dto(init), (one, answer.serialized_data)
            sections += int(answer.data_type) == 1
    assert sections > 25
    refused(client.initialize(dto.InitDTO(commands=7)), 5)


def test_every_setting(client: DataConnectorClient) -> None:
    session = guid(0x2001)
    bm2 = dto.Bridgemate2SettingsDTO(session, "A", bm2_pi_ncode="4711")
    bm3 = dto.Bridgemate3SettingsDTO(session, "A", bm3_pi_ncode="4711", bm3_screen_brightness=3)
    ok(client.initialize(an_event(0x2000, bridgemate2_settings=[bm2], bridgemate3_settings=[bm3])))
    taken = 0
    for one in every_value(bm2):
        answer = client.send_bridgemate2_settings(session, [one])
        assert (int(answer.data_type) == 1) == validation.validate_bridgemate2_settings_dto(one)
        taken += int(answer.data_type) == 1
    for one in every_value(bm3):
        answer = client.send_bridgemate3_settings(session, [one])
        assert (int(answer.data_type) == 1) == validation.validate_bridgemate3_settings_dto(one)
        taken += int(answer.data_type) == 1
    assert taken > 120
    refused(client.send_bridgemate2_settings(session, [replace(bm2, section_letters="B")]), 4)
    refused(client.send_bridgemate2_settings(session, []), 2)


def test_every_result(client: DataConnectorClient, club: Club) -> None:
    session = guid(0x3001)
    ok(client.initialize(an_event(0x3000)))
    plain = dto.ResultDTO(session_guid=session, section_letters="A", table_number=2, round_number=1, board_number=3)
    plain = replace(plain, scoring_direction=3, pair_north_south=2, pair_east_west=5, declaring_pair=2)
    count = 0
    for level in range(-10, 8):
        one = replace(plain, level=level)
        if level < 1:
            ok(client.send_results(session, [one]))
            count += 1
            continue
        for denomination in range(1, 6):
            for declarer in range(1, 5):
                made = replace(
                    one, denomination=denomination, declarer_direction=declarer, stake=(level + declarer) % 3
                )
                made = replace(
                    made, total_tricks=(2 * level + denomination) % 14, declaring_pair=2 if declarer % 2 else 5
                )
                made = replace(made, lead_card_rank=2 + (level + declarer) % 13, lead_card_suit=1 + denomination % 4)
                ok(client.send_results(session, [made]))
                count += 1
    assert count == 151
    played = replace(plain, level=1, denomination=1, declarer_direction=1)
    for wrong in ({"level": 8}, {"total_tricks": 14}, {"stake": 3}, {"declaring_pair": 9}, {"pair_east_west": 0}):
        refused(client.send_results(session, [replace(played, **wrong)]), 5)
    for off in ({"table_number": 9}, {"round_number": 9}, {"board_number": 1}, {"section_letters": "B"}):
        refused(client.send_results(session, [replace(plain, **off)]), 4)
    ok(client.send_results(session, [replace(plain, is_deleted=True)]))
    ok(client.send_results(session, [replace(plain, is_deleted=True)]))
    for direction, level in ((1, -8), (2, 0)):
        ok(client.send_results(session, [replace(plain, level=level, scoring_direction=direction)]))
    assert client.poll_for_results(session, all=True) == [], "a program never hears itself"
    cells = json.loads(ask_desk(club, "/desk"))["grid"]["cells"]
    assert [one["state"] for one in cells if (one["table"], one["board"]) == (2, 3)] == ["amended"]


def test_everybody_and_every_deal_and_call(client: DataConnectorClient) -> None:
    session = guid(0x4001)
    init = an_event(0x4000)
    init.sessions[0].scoring_groups[0].sections[0].has_explicit_participations = True
    ok(client.initialize(init))
    player = dto.PlayerDataDTO(session, "CLUB001", "7", "Ōé", "Żółć-O'Neill", "PL")
    ok(client.send_player_data(session, [player, replace(player, player_number="8", first_name=None)]))
    refused(client.send_player_data(session, [replace(player, last_name=" ")]), 5)
    seat = dto.ParticipationDTO(session_guid=session, section_letters="A", table_number=1, player_number="7")
    for direction in (1, 2, 3, 4):
        for round_number in (0, 1, 2, 3):
            ok(
                client.send_participations(
                    session, [replace(seat, direction=dto.TableDirection(direction), round_number=round_number)]
                )
            )
    north = replace(seat, direction=dto.TableDirection.North, round_number=2)
    ok(client.send_participations(session, [replace(north, player_number=None, first_name="A", last_name="Guest")]))
    ok(client.send_participations(session, [replace(north, player_number=None, is_removal=True)]))
    ok(client.send_participations(session, [replace(north, is_player_swap=True)]))
    refused(client.send_participations(session, [replace(north, player_number="unknown")]), 6)
    refused(client.send_participations(session, [replace(north, last_name="Both")]), 5)
    deal = dto.HandrecordDTO(session_guid=session, section_letters="A", scoring_group_number=1, board_number=1)
    for at, hand in enumerate(("north", "east", "south", "west")):
        for place, suit in enumerate(("clubs", "diamonds", "hearts", "spades")):
            setattr(deal, f"{hand}_{suit}", "AKQJT98765432" if at == place else "")
    for one in (
        deal,
        replace(deal, has_hand_evaluation_data=True, double_dummy_north_clubs=13),
        replace(deal, board_number=999),
    ):
        ok(client.send_handrecords(session, [one]))
    refused(client.send_handrecords(session, [replace(deal, north_clubs="AKQJT9876543")]), 5)
    for status in (1, 2, 4, 3):
        ok(client.send_td_calls(session, [dto.TdCallDTO(session, "A", 1, 1, 20, 15, status)]))
    refused(client.send_td_calls(session, [dto.TdCallDTO(session, "A", 77, 1, 20, 15, 1)]), 4)
    refused(client.send_td_calls(session, [dto.TdCallDTO(session, "A", 1, 1, 20, 15, 9)]), 5)
    for name in POLLS:
        assert getattr(client, f"poll_for_{name}")(session, all=True) == []


def an_update(section: dto.SectionDTO, **changes: Any) -> dto.SectionUpdateDTO:
    made = dto.SectionUpdateDTO(scoring_group_scoring_method=10)
    for name, value in {**vars(section), **changes}.items():
        setattr(made, name, value)
    return made


def test_every_change_of_an_event(client: DataConnectorClient) -> None:
    session, other = guid(0x5001), guid(0x5002)
    first = a_section("A", session, 1, 3, 2)
    ok(client.initialize(an_event(0x5000, first)))
    late = a_section("BB", session, 2, 3, 2)
    changed = ok(client.update_movement(an_update(late)), 14)
    assert [len(one["Rounds"]) for one in changed["Tables"]] == [3, 3, 3]
    assert ok(client.update_movement(an_update(late)), 14)["Tables"] == []
    gone = replace(late.tables[2], rounds=[])
    assert [one["Rounds"] for one in ok(client.update_movement(an_update(late, tables=[gone])), 14)["Tables"]] == [[]]
    ok(client.update_movement(an_update(late, is_deleted=True, tables=None)), 14)
    refused(client.update_movement(an_update(first, scoring_group_scoring_method=30)), 5)
    refused(client.update_movement(an_update(first, is_deleted=True, tables=None)), 4)
    second = a_section("B", session, 2, 3, 2)
    ok(client.update_movement(an_update(second)), 14)
    groups = [
        dto.ScoringGroupDTO(
            session_guid=session,
            scoring_group_number=1,
            scoring_method=20,
            sections=[first, replace(second, scoring_group_number=1)],
        ),
        dto.ScoringGroupDTO(session_guid=session, scoring_group_number=2, scoring_method=10, is_deleted=True),
    ]
    ok(client.update_scoring_groups(groups))
    added = an_event(0x6000, a_section("C", other, 9, 3, 2)).sessions[0]
    added.session_guid, added.event_guid = other, guid(0x5000)
    for group in added.scoring_groups:
        group.session_guid = other
    command(client, COMMANDS.AddSession, guid(0x5000), {"EventGuid": guid(0x5000), "Session": added.to_dict()})
    letters = [one["Letters"] for one in command(client, COMMANDS.GetAllMovements, session, "", 16)]
    assert letters == ["A", "B"]
    one = command(client, COMMANDS.GetMovement, other, {"SessionGuid": other, "Letters": "C"}, 14)
    assert (one["Letters"], len(one["Tables"])) == ("C", 3)
    told = command(client, COMMANDS.ManageBCS, "", {"Command": 2}, 17)
    assert [one["SessionGuid"] for one in told["SessionInformation"]] == [session, other]
    for asked, kind in ((1, 1), (4, 19), (6, 17), (8, 18), (16, 19), (18, 17), (20, 19), (22, 17)):
        command(client, COMMANDS.ManageBCS, "", {"Command": asked}, kind)
    for asked in (0, 3, 5, 31):
        refused(send(client, COMMANDS.ManageBCS, "", {"Command": asked}), 5)
    command(client, COMMANDS.ClearData, "", "")
    for missing in (COMMANDS.StopBCS, COMMANDS.PutTableGraph, COMMANDS.UpdateSession, COMMANDS.UpdateSection):
        refused(send(client, missing, session, ""), 8)
    for connected in (COMMANDS.Connect, COMMANDS.Disconnect):
        command(client, connected, "", "")
    refused(send(client, COMMANDS.ContinueEvent, "", {"EventGuid": guid(1), "Commands": 5}), 6)
    for flags, error in ((0, 0), (1, 0), (5, 0), (133, 0), (2, 5), (8, 5)):
        answer = client.continue_event(dto.ContinueDTO(event_guid=guid(0x5000), commands=flags))
        assert int(answer.error_type) == error


def send(client: DataConnectorClient, what: Any, session: str, payload: Any) -> dto.ScoringProgramResponse:
    request = dto.ScoringProgramRequest()
    request.command, request.session_guid = what, session
    request.serialized_data = payload if isinstance(payload, str) else json.dumps(payload)
    return client.send_request(request)


def command(client: DataConnectorClient, what: Any, session: str, payload: Any, kind: int = 1) -> Any:
    return ok(send(client, what, session, payload), kind)


# --- HTTP --------------------------------------------------------------------------------------------------------


def talk(club: Club, *parts: bytes) -> list[tuple[int, bytes]]:
    """Send bytes over one connection; gives status and body of as many answers as there are parts."""
    out = []
    with socket.create_connection(("127.0.0.1", club.port), 20) as line:
        stream = line.makefile("rb")
        for part in parts:
            line.sendall(part)
            status = int(stream.readline().split()[1])
            while status == 100:
                stream.readline()
                status = int(stream.readline().split()[1])
            size = 0
            while (header := stream.readline().strip()) != b"":
                name, _, value = header.partition(b":")
                size = int(value) if name.lower() == b"content-length" else size
            out.append((status, b"" if part.startswith(b"HEAD") else stream.read(size)))
    return out


PING = b'{"Command":4,"ClubId":"","LicenceKey":"","SessionGuid":"","SerializedData":"\\"tick\\""}'


def post(body: bytes = PING, path: str = "/dc-scoringprogram", version: str = "1.1", head: str = "") -> bytes:
    return f"POST {path} HTTP/{version}\r\nHost: x\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


CHUNKED = b"POST /dc-scoringprogram HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED += b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (PING[:5], PING[5:6], PING[6:])) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        post(),
        post(version="1.0"),
        post(path="/dc-scoringprogram/"),
        post(path="/DC-ScoringProgram"),
        post(path="//dc-scoringprogram?x=1"),
        post(path="http://localhost:5079/dc-scoringprogram"),
        post(head="Content-Type: text/plain\r\n"),
        post(
            head="Content-Type: application/json; charset=utf-8\r\nAccept-Encoding: identity\r\nConnection: close\r\n"
        ),
        post(head="Expect: 100-continue\r\n"),
        post(b"\xef\xbb\xbf" + PING),
        post(PING.decode().encode("utf-16")),
        post(PING.replace(b'"Command":4', b'"command":"4"').replace(b"SerializedData", b"serializedData")),
        post(b'{"Command":4,"ClubId":null,"SerializedData":"\\"tick\\"","Later":[1]}'),
        CHUNKED,
    ],
)
def test_http_as_odd_programs_speak_it(club: Club, request_: bytes) -> None:
    ((status, body),) = talk(club, request_)
    reply = json.loads(body)
    assert (status, reply["RequestCommand"], reply["DataType"], reply["SerializedData"]) == (200, 4, 1, '"tick"')


def test_one_connection_for_many_requests_and_the_words_of_liveness(club: Club) -> None:
    answers = talk(
        club, post(), b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", post(), b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", post()
    )
    assert [status for status, _ in answers] == [200] * 5
    assert b"Bridgemate dataconnector service version" in answers[1][1]
    ((status, body),) = talk(club, b"GET / HTTP/1.0\r\n\r\n")
    assert status == 200
    assert b"Bridgemate dataconnector service version" in body


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (post(b""), 200),
        (post(b"[]"), 200),
        (post(b"\x00\xff" * 50), 200),
        (post(b"[" * 50_000), 200),
        (post(b'{"Command":5,"SerializedData":"' + b"[" * 50_000 + b'"}'), 200),
        (post(b'{"Command":1e999}'), 200),
        (post(b'{"Command":4' + b"0" * 4000 + b"}"), 200),
        (post(b'{"Command":19,"SessionGuid":"' + b"A" * 100_000 + b'"}'), 200),
        (post(head="Origin: http://evil.example\r\n"), 403),
        (post(path="/other"), 404),
        (b"GET /dc-scoringprogram HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"PUT /dc-scoringprogram HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 405),
        (b"POST /dc-scoringprogram HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST /dc-scoringprogram HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400),
    ],
)
def test_what_is_hostile_is_answered_and_hurts_nobody(
    club: Club, client: DataConnectorClient, request_: bytes, expected: int
) -> None:
    ((status, body),) = talk(club, request_)
    assert status == expected
    if status == 200:
        reply = json.loads(body)
        assert reply["DataType"] == 4
        assert reply["ErrorType"] in (5, 6, 12)
        assert isinstance(json.loads(reply["SerializedData"]), str)
    ok(client.ping())
