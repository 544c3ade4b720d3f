"""The official scoring-program client, unmodified, against ``serve`` with simulated terminals playing a session."""

from __future__ import annotations

import http.server
import json
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evening_runs import command, environment

pytest.importorskip("bridgemate_dataconnector", reason="needs bridgemate-dataconnector-client")
from bridgemate_dataconnector import DataConnectorClient, dto
from bridgemate_dataconnector.http_transport import HttpTransport
from bridgemate_dataconnector.transport_exception import TransportException
from bridgemate_dataconnector.urllib_transport import UrllibTransport
from dc_club import (
    EVENT,
    FIRST,
    KINDS,
    SECOND,
    Club,
    Program,
    a_session,
    an_event,
    ask_desk,
    played_at_the_tables,
    until,
)


@pytest.fixture
def club(tmp_path: Path) -> Iterator[Club]:
    made = Club(tmp_path)
    yield made
    made.close()
    assert "Traceback" not in made.said, made.said


def test_a_whole_session_reaches_the_program_once(club: Club) -> None:
    club.start_hall(5, "--corrections", "0.2")
    club.start_service()
    program = Program(club.url)
    assert int(program.client.ping().data_type) == 1
    answer = program.client.initialize(an_event(a_session(FIRST, "A", 1, 5, 2)))
    assert int(answer.data_type) == 1, answer
    expected = 5 * 5 * 2

    def collected() -> bool:
        if program.poll(FIRST):
            program.accept(FIRST)
        return len(program.standing()) == expected

    until(collected)
    # corrections may still be under way when the last board is there
    until(lambda: program.poll(FIRST) == 0 and program.standing() == played_at_the_tables(club))
    assert len(program.history) == len(set(program.history)), "an item came again after it was accepted"
    assert len(program.history) > expected, "no correction was keyed in, the run proves less than it should"
    everything = program.client.poll_for_results(FIRST, all=True)
    assert len(everything) >= len(program.history)
    wrong = next(iter(everything))
    wrong.level, wrong.denomination, wrong.declarer_direction, wrong.total_tricks, wrong.stake = 1, 1, 1, 7, 0
    wrong.declaring_pair = wrong.pair_north_south
    wrong.lead_card_rank = wrong.lead_card_suit = 0
    assert int(program.client.send_results(FIRST, [wrong]).data_type) == 1
    assert program.poll(FIRST) == 0, "the program hears its own correction"
    cells = json.loads(ask_desk(club, "/desk"))["grid"]["cells"]
    place = (wrong.section_letters, wrong.table_number, wrong.round_number, wrong.board_number)
    (cell,) = [one for one in cells if (one["section"], one["table"], one["round"], one["board"]) == place]
    assert "1C" in json.dumps(cell)
    assert cell["state"] == "amended"


class Unlucky(HttpTransport):
    """By turns the reply is lost after the service has acted, and the service dies before or after a call."""

    def __init__(self, club: Club) -> None:
        self.club = club
        self.inner = UrllibTransport()
        self.posts = self.lost = 0

    def get(self, url: str) -> str:
        return str(self.inner.get(url))

    def post(self, url: str, body: str) -> str:
        self.posts += 1
        turn = self.posts % 8
        if turn == 3 and self.club.restarts < 5:
            self.club.restart_service()
        reply = str(self.inner.post(url, body))
        if turn in (1, 4, 5):
            self.lost += 1
            raise TransportException("the reply was lost")
        if turn == 7 and self.club.restarts < 5:
            self.club.restart_service()
        return reply


def test_lost_replies_and_a_dying_service_lose_and_double_nothing(club: Club) -> None:
    club.start_hall(3, "--corrections", "0.2")
    club.start_service()
    transport = Unlucky(club)
    program = Program(club.url, transport)
    init = an_event(a_session(FIRST, "A", 1, 3, 3))
    assert int(program.client.initialize(init).data_type) == 1

    def collected() -> bool:
        if program.poll(FIRST):
            program.accept(FIRST)
        program.client.initialize(init)
        return len(program.standing()) == 27 and club.restarts == 5

    until(collected, 90)
    until(lambda: program.poll(FIRST) == 0 and program.standing() == played_at_the_tables(club), 40)
    assert len(program.history) == len(set(program.history))
    assert transport.lost > 2


def test_killed_between_poll_and_accept(club: Club) -> None:
    club.start_hall(3)
    club.start_service()
    program = Program(club.url)
    assert int(program.client.initialize(an_event(a_session(FIRST, "A", 1, 3, 1))).data_type) == 1
    until(lambda: program.poll(FIRST) == 9)
    club.restart_service()
    assert program.poll(FIRST) == 9
    club.restart_service()
    program.accept(FIRST)
    club.restart_service()
    assert program.poll(FIRST) == 0
    assert len(program.client.poll_for_results(FIRST, all=True)) == 9
    program.client.continue_event(dto.ContinueDTO(event_guid=EVENT, commands=5))
    assert program.standing() == played_at_the_tables(club)


def test_two_sessions_polled_in_turn(club: Club) -> None:
    """The client keeps one last id for a type; an accept for one session must not swallow the other's news."""
    club.start_hall(6)
    club.start_service()
    program = Program(club.url)
    sessions = (a_session(FIRST, "A", 1, 3, 2), a_session(SECOND, "B", 2, 3, 2))
    assert int(program.client.initialize(an_event(*sessions)).data_type) == 1

    def waiting() -> list[str]:
        return [one["device"] for one in json.loads(ask_desk(club, "/terminals")) if one["state"] == "waiting"]

    # Tables 4 to 6 of the hall find no table of theirs; the director sends them to the second section.
    until(lambda: len(waiting()) == 3)
    for table, device in enumerate(waiting(), start=1):
        ask_desk(club, "/actions/admit", {"device": device, "section": "B", "table": table})

    def collected() -> bool:
        for one in (FIRST, SECOND):
            program.poll(one)
        for one in (FIRST, SECOND):
            assert int(program.client.accept_queue_data(one, KINDS.Results).data_type) == 1
        return len(program.standing()) == 36

    until(collected)
    assert program.standing() == played_at_the_tables(club)
    assert {key[0] for key in program.standing()} == {"A", "B"}


def test_every_call_of_the_client(club: Club) -> None:
    """What the workflow above leaves out: the other data, both ways, and changes of the movement."""
    club.start_hall(3)
    club.start_service()
    client = DataConnectorClient("CLUB", "", club.url)
    init = an_event(a_session(FIRST, "A", 1, 3, 1))
    section = init.sessions[0].scoring_groups[0].sections[0]

    def good(response: Any, kind: int = 1) -> Any:
        assert int(response.data_type) == kind, response
        return response

    good(client.initialize(init))
    good(client.continue_event(dto.ContinueDTO(event_guid=EVENT, commands=5)))
    good(client.send_player_data(FIRST, [dto.PlayerDataDTO(FIRST, None, "N1", "Ann", "Ōe")]))
    seat = dto.ParticipationDTO(FIRST, "A", 1, dto.TableDirection.North, 1, "N1")
    good(client.send_participations(FIRST, [seat]))
    people = json.loads(ask_desk(club, "/people"))
    assert "Ann Ōe" in json.dumps(people, ensure_ascii=False)
    good(client.send_bridgemate2_settings(FIRST, [dto.Bridgemate2SettingsDTO(FIRST, "A", bm2_pi_ncode="0000")]))
    bm3 = dto.Bridgemate3SettingsDTO(FIRST, "A", bm3_pi_ncode="0000", bm3_screen_brightness=3)
    good(client.send_bridgemate3_settings(FIRST, [bm3]))
    assert "PIN" in ask_desk(club, "/desk")
    call = dto.TdCallDTO(FIRST, "A", 2, 1, 20, 15, 1)
    good(client.send_td_calls(FIRST, [call]))
    assert client.poll_for_td_calls(FIRST) == []
    good(client.update_scoring_groups(init.sessions[0].scoring_groups))
    for kind in (KINDS.PlayerData, KINDS.Participations, KINDS.Handrecords, KINDS.TdCalls, KINDS.Results):
        good(client.accept_queue_data(FIRST, kind))
    assert client.poll_for_player_data(FIRST, all=True) == []
    assert client.poll_for_participations(FIRST, all=True) == []
    assert client.poll_for_handrecords(FIRST, all=True) == []
    program = Program(club.url)
    until(lambda: program.poll(FIRST) == 9)
    for table in section.tables:  # one round more, the same pairs with other boards
        again = dto.RoundDTO(**vars(table.rounds[0]))
        again.round_number = 4
        again.low_board_number = again.high_board_number = again.low_board_number + 3
        table.rounds.append(again)
    update = dto.SectionUpdateDTO(scoring_group_scoring_method=10)
    for name, value in vars(section).items():
        setattr(update, name, value)
    good(client.update_movement(update), 14)
    until(lambda: program.poll(FIRST) == 12)
    assert sorted(key[2] for key in program.standing()) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]


class BusyDisk:
    """Stands before the service and answers the first two requests with 503, as the service does with a full disk."""

    def __init__(self, url: str) -> None:
        outer = self
        self.refused = 0

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if outer.refused < 2:
                    outer.refused += 1
                    self.send_error(503)
                    return
                head = {"Content-Type": self.headers["Content-Type"]}
                with urllib.request.urlopen(urllib.request.Request(url + self.path, body, head), timeout=60) as reply:
                    found = reply.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(found)))
                self.end_headers()
                self.wfile.write(found)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def test_a_large_event_and_a_busy_disk(club: Club) -> None:
    """An Init of more than two megabytes; and 503 is asked again by the client until the answer is 200."""
    club.start_service()

    busy = BusyDisk(club.url)
    program = Program(busy.url)
    init = an_event(a_session(FIRST, "A", 1, 41, 2))
    init.handrecords = []
    for board in range(1, 83):
        deal = dto.HandrecordDTO(session_guid=FIRST, section_letters="A", scoring_group_number=1, board_number=board)
        for index, seat in enumerate(("north", "east", "south", "west")):
            for place, suit in enumerate(("clubs", "diamonds", "hearts", "spades")):
                setattr(deal, f"{seat}_{suit}", "AKQJT98765432" if (index + board) % 4 == place else "")
        init.handrecords.append(deal)
    for _ in range(2000):
        number = f"X{len(init.player_data)}"
        init.player_data.append(
            dto.PlayerDataDTO(session_guid=FIRST, player_number=number, first_name="Ł" * 80, last_name="é" * 100)
        )
    assert 2_000_000 < len(json.dumps(json.dumps(init.to_dict()))) < 4_000_000
    answer = program.client.initialize(init)
    assert int(answer.data_type) == 1, answer.serialized_data[:300]
    assert busy.refused == 2
    got = program.client.poll_for_player_data(FIRST, all=True)
    assert got == []
    assert "AKQJT98765432" not in club.said
    busy.close()


def test_a_program_may_close_the_service_where_that_is_allowed(club: Club) -> None:
    club.start_service("--data-connector-shutdown")
    client = DataConnectorClient("CLUB", "", club.url)
    assert int(client.initialize(an_event(a_session(FIRST, "A", 1, 3, 1))).data_type) == 1
    request = dto.ScoringProgramRequest()
    request.command, request.session_guid = dto.ScoringProgramDataConnectorCommands.ManageBCS, ""
    request.serialized_data = json.dumps({"Command": 1})
    answer = client.send_request(request)
    assert (int(answer.data_type), int(answer.error_type)) == (1, 0)
    assert club.service is not None
    assert club.service.wait(60) == 0
    club.start_service()
    assert int(client.send_request(request).data_type) == 1
    assert int(client.ping().data_type) == 1, "without the flag the service goes on"


def test_browsers_keys_and_addresses(club: Club, tmp_path: Path) -> None:
    club.start_service()
    request = urllib.request.Request(f"{club.url}/dc-scoringprogram", b"{}", headers={"Origin": "http://evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    assert refused.value.code == 403
    refused.value.close()
    open_to_all = ["serve", "--data", str(tmp_path / "other"), "--port", "0", "--data-connector", "0.0.0.0:0"]
    done = subprocess.run(command(*open_to_all), capture_output=True, timeout=60, env=environment(), check=False)
    assert done.returncode != 0
    assert b"licence key" in done.stderr
