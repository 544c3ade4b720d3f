"""How fast the Data Connector answers scoring programs: beginning a large event, polling many results, many programs.

    python benchmarks/data_connector.py [--results 10000] [--programs 20] [--seconds 10]

Three questions, each over HTTP to a ``serve`` in a process of its own: InitializeEvent of 60 tables with players,
seats, deals and settings; polls of a session that has so many results; so many programs that poll all queues each
second. Figures are of the machine named above the table; nothing is asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firmware_bridge.wire.record import RecordBody, record_crc
from terminals.interop.data_connector.connector import Caller, Connector
from terminals.interop.data_connector.envelope import Request
from terminals.interop.data_connector.shapes import (
    BM2,
    DEAL,
    GROUP,
    INIT,
    PLAYER,
    ROUND,
    SEAT,
    SEATS,
    SECTION,
    SESSION,
    SUITS,
    TABLE,
    blank,
)
from terminals.store.values import RawRecord, RecordKey
from terminals.sync.event_store import FILE_NAME, EventStore
from terminals.sync.ingest import ingest
from terminals.sync.jobs import TakeRecord

EVENT, GUID = "E" * 32, "A" * 32
TABLES = 60
POLLS = (19, 20, 21, 22, 36)


def machine() -> str:
    """Processor, cores, system and Python, as far as the system tells."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [row.partition(":")[2].strip() for row in info.read_text().splitlines() if row.startswith("model name")]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def place(table: int, number: int, boards: int) -> tuple[int, int, int]:
    """North-South pair, East-West pair and first board of a table in a round."""
    return table, TABLES + (table - number) % TABLES + 1, (table + number - 2) % TABLES * boards + 1


def an_event(rounds: int, boards: int) -> dict[str, Any]:
    """An InitDTO of 60 tables with 240 players in their seats, a deal for each board of the first 36, settings."""
    here = {"SessionGuid": GUID, "SectionLetters": "A"}
    tables = []
    for table in range(1, TABLES + 1):
        made = []
        for number in range(1, rounds + 1):
            ns, ew, low = place(table, number, boards)
            made.append(
                blank(ROUND, **here, TableNumber=table, RoundNumber=number, PairNS=ns, PairEW=ew)
                | {"LowBoardNumber": low, "HighBoardNumber": low + boards - 1}
            )
        tables.append(blank(TABLE, **here, TableNumber=table, Rounds=made))
    section = blank(SECTION, SessionGuid=GUID, ScoringGroupNumber=1, Letters="A", Winners=2, GameType=10, Tables=tables)
    group = blank(GROUP, SessionGuid=GUID, ScoringGroupNumber=1, ScoringMethod=10, Sections=[section])
    session = blank(SESSION, ScoringGroups=[group], EventGuid=EVENT, SessionGuid=GUID, Name="Congress", Year=2026)
    session |= {"Month": 11, "Day": 29, "Hour": 19}
    people = [(table, seat) for table in range(1, TABLES + 1) for seat in (1, 2, 3, 4)]
    players = [
        blank(PLAYER, SessionGuid=GUID, PlayerNumber=f"P{4 * t + s}", FirstName="Ann", LastName=f"Player {4 * t + s}")
        for t, s in people
    ]
    seats = [
        blank(SEAT, **here, TableNumber=t, Direction=s, RoundNumber=1, PlayerNumber=f"P{4 * t + s}") for t, s in people
    ]
    deals = []
    for board in range(1, 37):
        cards = {
            seat + suit: "AKQJT98765432" if (index + board) % 4 == number else ""
            for index, seat in enumerate(SEATS)
            for number, suit in enumerate(SUITS)
        }
        deals.append(blank(DEAL, **here, ScoringGroupNumber=1, BoardNumber=board, **cards))
    return blank(
        INIT,
        Commands=7,
        EventGuid=EVENT,
        Sessions=[session],
        PlayerData=players,
        Participations=seats,
        Handrecords=deals,
        Bridgemate2Settings=[blank(BM2, **here, BM2PINcode="4711")],
    )


def fill(folder: Path, results: int) -> int:
    """A store in which tables have keyed in at least so many results; gives how many."""
    boards = 6
    rounds = -(-results // (TABLES * boards))
    store = EventStore.open(folder / FILE_NAME, threaded=False, synchronous="OFF")
    request = Request(5, data=json.dumps(an_event(rounds, boards)))
    connector = Connector()
    asyncio.run(store.submit(lambda c: connector.handle(c, request, Caller())))
    setup = store.load_setup()
    assert setup is not None
    jobs = []
    for table in range(1, TABLES + 1):
        seq = 0
        for number in range(1, rounds + 1):
            ns, ew, low = place(table, number, boards)
            for board in range(low, low + boards):
                seq += 1
                usual = {
                    "kind": 1,
                    "confirmed_by": 1,
                    "section": 1,
                    "declarer": 0,
                    "tricks": 9,
                    "level": 3,
                    "strain": 5,
                }
                body = RecordBody(
                    **usual,
                    table=table,
                    round=number,
                    board=board,
                    ns=ns,
                    ew=ew,
                    doubling=0,
                    lead=255,
                    replaces=0,
                    stamp=7,
                ).pack()
                jobs.append(TakeRecord(RawRecord(RecordKey(table, 1, seq), body, record_crc(table, 1, seq, body))))
    for start in range(0, len(jobs), 512):
        part = jobs[start : start + 512]
        asyncio.run(store.submit(lambda c, part=part: ingest(c, setup, part)))  # type: ignore[misc]
    store.close()
    return len(jobs)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[int, int]]:
    """A service on this data directory; gives port and process id."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    words = ["serve", "--data", str(folder), "--port", "0", "--data-connector", f"127.0.0.1:{port}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "firmware_bridge.cli", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(30)


def ask(port: int, command: int, payload: Any = None, session: str = GUID) -> tuple[float, dict[str, Any], int]:
    """Seconds, reply and its bytes; a connection for each request, as the official client does."""
    body = {"Command": command, "ClubId": "", "LicenceKey": "", "SessionGuid": session}
    body["SerializedData"] = "" if payload is None else json.dumps(payload)
    sent = json.dumps(body).encode()
    begin = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=100)
    connection.request("POST", "/dc-scoringprogram", sent, {"Content-Type": "application/json", "Connection": "close"})
    found = connection.getresponse().read()
    connection.close()
    spent = time.perf_counter() - begin
    reply = json.loads(found)
    if reply["DataType"] == 4:
        raise SystemExit(f"command {command} was refused: {reply['SerializedData'][:200]}")
    return spent, reply, len(found)


def ask_only(port: int, command: int) -> float:
    """The same without reading what came: a program's own work is not the service's."""
    body = json.dumps({"Command": command, "SessionGuid": GUID, "SerializedData": ""}).encode()
    begin = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=100)
    connection.request("POST", "/dc-scoringprogram", body, {"Content-Type": "application/json", "Connection": "close"})
    connection.getresponse().read()
    connection.close()
    return time.perf_counter() - begin


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far; 0 where the system does not tell."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def crowd(port: int, pid: int, programs: int, seconds: float) -> None:
    """So many programs, each polling every queue once a second."""
    spent: list[float] = []
    end = time.monotonic() + seconds

    def program(index: int) -> None:
        time.sleep(index / programs)
        while time.monotonic() < end:
            due = time.monotonic() + 1
            for command in POLLS:
                spent.append(ask_only(port, command))
            time.sleep(max(0.0, due - time.monotonic()))

    before = cpu_seconds(pid)
    threads = [threading.Thread(target=program, args=(index,)) for index in range(programs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used = cpu_seconds(pid) - before
    spent.sort()
    worst = spent[min(len(spent) - 1, len(spent) * 99 // 100)]
    print(f"{programs} programs, each polling {len(POLLS)} queues a second, {len(spent)} polls in {seconds:.0f} s")
    print(f"  median {1000 * statistics.median(spent):8.1f} ms    99 % within {1000 * worst:8.1f} ms")
    print(f"  processor time of the service: {100 * used / seconds:.0f} % of one core")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--results", type=int, default=10_000)
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        with serving(Path(name) / "new") as (port, _):
            init = an_event(13, 2)
            spent, _, _ = ask(port, 5, init, "")
            size = len(json.dumps(json.dumps(init)))
            print(f"InitializeEvent of {TABLES} tables, {size / 1000:.0f} kB: {1000 * spent:.0f} ms")
            spent, _, _ = ask(port, 5, init, "")
            print(f"the same again (nothing to do): {1000 * spent:.0f} ms")
        folder = Path(name) / "full"
        folder.mkdir()
        count = fill(folder, args.results)
        with serving(folder) as (port, pid):
            for words, command in (
                ("first poll, everything is new", 19),
                ("the same poll again", 19),
                ("poll of all", 23),
            ):
                spent, reply, size = ask(port, command)
                rows = len(json.loads(reply["SerializedData"]))
                print(f"{words}: {rows} of {count} results, {size / 1e6:.1f} MB, {1000 * spent:.0f} ms")
                last = reply["LastQueueItemId"]
            print(f"none of the {count} results accepted, each program gets all of them every second:")
            crowd(port, pid, args.programs, args.seconds)
            spent, _, _ = ask(port, 27, last)
            print(f"accept: {1000 * spent:.1f} ms")
            print("everything accepted:")
            crowd(port, pid, args.programs, args.seconds)


if __name__ == "__main__":
    main()
