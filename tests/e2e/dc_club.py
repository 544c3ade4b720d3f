"""A club with a scoring program: the service in a process of its own, simulated keypads, the official client."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from evening_runs import command, environment
from spare_port import spare_port

pytest.importorskip("bridgemate_dataconnector", reason="needs bridgemate-dataconnector-client")
from bridgemate_dataconnector import DataConnectorClient, dto
from bridgemate_dataconnector.http_transport import HttpTransport

EVENT, FIRST, SECOND = "E" * 32, "A" * 32, "B" * 32
KINDS = dto.DataConnectorResponseData
LIMIT = 60.0


class Club:
    """A service, a base station with players, and the addresses at which they are found again after a restart."""

    def __init__(self, folder: Path) -> None:
        self.data, self.folder = folder / "data", folder
        self.port, self.desk_port = spare_port(), spare_port()
        self.service: subprocess.Popen[bytes] | None = None
        self.hall: subprocess.Popen[bytes] | None = None
        self.station = ""
        self.restarts = 0

    def start_hall(self, tables: int, *words: str, seed: int = 3) -> None:
        line = ["--line", "tcp://127.0.0.1:0", "--state", str(self.folder / "hall"), "--seed", str(seed)]
        line += ["--speed", "max", "--terminals", str(tables), "--evidence", str(self.folder / "evidence")]
        self.hall = subprocess.Popen(
            [sys.executable, "-m", "hwsim", "station", *line, "--with-parent", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.hall.stdout is not None
        self.station = json.loads(self.hall.stdout.readline())["url"]

    def start_service(self, *more: str) -> None:
        words = ["serve", "--data", str(self.data), "--port", str(self.desk_port)]
        words += ["--data-connector", f"127.0.0.1:{self.port}", *more]
        words += ["--station", self.station] if self.station else []
        with (self.folder / "service.txt").open("ab") as said:
            self.service = subprocess.Popen(command(*words), stdout=said, stderr=said, env=environment())
        client = DataConnectorClient("CLUB", "", self.url)
        until(lambda: int(client.connect().data_type) == 1)

    def kill_service(self) -> None:
        """As if the power were cut; what is not on disk is gone."""
        assert self.service is not None
        self.service.kill()
        self.service.wait()

    def restart_service(self) -> None:
        self.kill_service()
        self.restarts += 1
        self.start_service()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def said(self) -> str:
        return (self.folder / "service.txt").read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        for process in (self.service, self.hall):
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            for stream in (process.stdin, process.stdout) if process is not None else ():
                if stream is not None:
                    stream.close()


def until(true: Callable[[], Any], limit: float = LIMIT) -> Any:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def a_section(letters: str, session: str, group: int, tables: int, boards: int) -> dto.SectionDTO:
    """A Mitchell of an odd number of tables: every East-West pair moves up a table, boards move down."""
    made = []
    for table in range(1, tables + 1):
        rounds = []
        for number in range(1, tables + 1):
            low = (table + number - 2) % tables * boards + 1
            one = dto.RoundDTO(session_guid=session, section_letters=letters, table_number=table, round_number=number)
            one.pair_ns, one.pair_ew = table, tables + (table - number) % tables + 1
            one.low_board_number, one.high_board_number = low, low + boards - 1
            rounds.append(one)
        made.append(dto.TableDTO(session_guid=session, section_letters=letters, table_number=table, rounds=rounds))
    return dto.SectionDTO(
        session_guid=session,
        scoring_group_number=group,
        letters=letters,
        name="Sekcja Łódź",
        winners=2,
        game_type=10,
        tables=made,
    )


def a_session(guid: str, letters: str, group: int, tables: int, boards: int) -> dto.SessionDTO:
    section = a_section(letters, guid, group, tables, boards)
    one = dto.ScoringGroupDTO(
        session_guid=guid, scoring_group_number=group, scoring_method=10, name="G", sections=[section]
    )
    return dto.SessionDTO(
        session_guid=guid,
        event_guid=EVENT,
        name="Wtorek, Żółć & Ñandú",
        year=2026,
        month=11,
        day=29,
        hour=19,
        minute=10,
        scoring_groups=[one],
    )


def an_event(*sessions: dto.SessionDTO, commands: int = 7) -> dto.InitDTO:
    made = dto.InitDTO(commands=commands, event_guid=EVENT, sessions=list(sessions))
    made.player_data, made.participations = [], []
    for session in sessions:
        section = session.scoring_groups[0].sections[0]
        for table in range(1, len(section.tables) + 1):
            for direction in (1, 2, 3, 4):
                number = f"{section.letters}{table}{direction}"
                player = dto.PlayerDataDTO(session_guid=session.session_guid, player_number=number)
                player.first_name, player.last_name = "Zoë", f"Ōé-{number}"
                made.player_data.append(player)
                seat = dto.ParticipationDTO(session_guid=session.session_guid, section_letters=section.letters)
                seat.table_number, seat.direction, seat.round_number = table, dto.TableDirection(direction), 1
                seat.player_number = number
                made.participations.append(seat)
    return made


Key = tuple[str, int, int, int]


class Program:
    """A scoring program: it stores what it polls, accepts it, and notes what came again after it was accepted."""

    def __init__(self, url: str, transport: HttpTransport | None = None) -> None:
        self.client = DataConnectorClient("CLUB", "", url, transport=transport)
        self.results: dict[Key, dto.ResultDTO] = {}
        self.history: list[tuple[Key, str]] = []
        self.deletions = 0

    def poll(self, session: str) -> int:
        found = self.client.poll_for_results(session)
        for one in found:
            key = (one.section_letters, one.table_number, one.round_number, one.board_number)
            self.results[key] = one
        self._last = found
        return len(found)

    def accept(self, session: str) -> None:
        answer = self.client.accept_queue_data(session, KINDS.Results)
        assert int(answer.data_type) == 1, answer
        for one in self._last:
            self.history.append(
                ((one.section_letters, one.table_number, one.round_number, one.board_number), repr(one))
            )
            self.deletions += one.is_deleted

    def standing(self) -> dict[Key, tuple[int, ...]]:
        return {
            key: (one.level, one.denomination, one.stake, one.declarer_direction, one.total_tricks)
            for key, one in self.results.items()
            if not one.is_deleted
        }


def played_at_the_tables(club: Club) -> dict[Key, tuple[int, ...]]:
    """What terminals showed as received, worked out from the simulator's own evidence; corrections count."""
    out: dict[Key, tuple[int, ...]] = {}
    records = []
    for line in (club.folder / "evidence" / "shown_received.jsonl").read_text().splitlines():
        row = json.loads(line)
        records.append((row["device"], row["journal"], row["seq"], bytes.fromhex(row["body"])))
    for _, _, _, body in sorted(records):
        key, value = unpack(body)
        out[key] = value
    return out


def unpack(body: bytes) -> tuple[Key, tuple[int, ...]]:
    from firmware_bridge.wire.record import RecordBody

    record = RecordBody.unpack(body)
    key = (chr(64 + record.section), record.table, record.round, record.board)
    if record.kind == 2:
        return key, (0, 0, 0, 0, 0)
    return key, (record.level, record.strain, record.doubling, record.declarer + 1, record.tricks)


def ask_desk(club: Club, path: str, body: dict[str, Any] | None = None) -> str:
    """What the service's own interface says to the director; with a body it is an act."""
    known = json.loads((club.data / "service.json").read_text())
    head = {"Authorization": f"Bearer {known['token']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{known['url']}/api/v1{path}", data, headers=head)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return str(reply.read().decode())
