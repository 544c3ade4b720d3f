"""Durable results per second, and the time from key press to RECORD_ACK: terminals in one process, the host in another.

    python benchmarks/sync.py [--terminals 1 50 1000] [--seconds 6] [--rate 200] [--events 100000] [--data DIR]

The terminals stand behind loopback TCP base stations and are driven by the simulator's own link session; the host runs
the production driver, link, sync service and store (WAL, FULL). Figures are of the machine named above the table;
nothing is asserted. Put --data on the disk that the club will use: the time of its fsync is part of every figure.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import platform
import random
import resource
import statistics
import sys
import tempfile
import time
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

from drivers.host import HostIdentity
from drivers.registry import open_station
from firmware_bridge.clock import SystemClock
from firmware_bridge.wire.record import RecordBody, record_crc
from hwsim import codec, messages
from hwsim.numbers import Kind, Role
from hwsim.session import Message, Session, SessionUp
from hwsim.station.device import ACCEPTS
from terminals.settings import EventSettings
from terminals.store.values import RawRecord, RecordKey
from terminals.sync.collector import Collector
from terminals.sync.contacts import Limits
from terminals.sync.event_store import EventStore
from terminals.sync.ingest import ingest
from terminals.sync.jobs import TakeRecord
from terminals.sync.service import SyncService
from terminals.sync.setup import new_event

PER_STATION = 125

# --- the generator's process -------------------------------------------------------------------------------------


class Station:
    """One TCP base station with terminals that key in as fast as credit allows, or when they are told to."""

    def __init__(self, number: int, terminals: int, paced: bool) -> None:
        self.number = number
        self.paced = paced
        self.seqs = [0] * (terminals + 1)
        self.acked = [0] * (terminals + 1)
        self.credit = [1] * (terminals + 1)
        self.admitted = [False] * (terminals + 1)
        self.wanted = [0] * (terminals + 1)
        self.pressed: dict[tuple[int, int], float] = {}
        self.times: list[float] = []
        self.done = 0
        self.going = False
        self.session = Session(self._hello, ACCEPTS, time.monotonic(), window=64)
        self.wake = asyncio.Event()

    def device(self, address: int) -> int:
        return self.number << 32 | address

    def _hello(self, session: int) -> dict[str, Any]:
        return self._fields(Role.STATION, self.number << 48 | 1, session, 0)

    def _fields(self, role: int, device: int, session: int, journal: int) -> dict[str, Any]:
        return {
            "proto_min": codec.VERSION,
            "proto_max": codec.VERSION,
            "role": role,
            "window": 64,
            "max_frame": codec.MAX_FRAME,
            "device_id": device,
            "boot_id": 1,
            "boot_count": 1,
            "journal_id": journal,
            "oldest_unacked": 0,
            "next_seq": 1,
            "capabilities": 0,
            "session": session,
            "model": "benchmark",
            "firmware": "1",
            "commands": [],
        }

    def introduce(self) -> None:
        for address in range(1, len(self.seqs)):
            self.session.send(Kind.TERM_HELLO, self._fields(Role.TERMINAL, self.device(address), 0, 7), address)
            status = {"section": self.number, "table": address, "round": 1, "battery": 90, "signal": 90}
            status |= {"waiting": 0, "clock": 0, "plan_version": 0}
            self.session.send(Kind.TERM_STATUS, status, address)

    def on(self, event: object) -> None:
        if isinstance(event, SessionUp):
            self.introduce()
        elif isinstance(event, Message):
            fields, address = event.fields, event.address
            if event.kind == Kind.ADMIT:
                self.admitted[address] = fields["admitted"] == 1
            elif event.kind == Kind.CREDIT:
                for one in [address] if address else range(1, len(self.credit)):
                    self.credit[one] = fields["credit"]
                    self.press(one)
                return
            elif event.kind == Kind.RECORD_ACK:
                now = time.perf_counter()
                for seq in range(self.acked[address] + 1, fields["upto"] + 1):
                    self.times.append(now - self.pressed.pop((address, seq)))
                    self.done += 1
                self.acked[address], self.credit[address] = fields["upto"], fields["credit"]
            self.press(address)

    def press(self, address: int) -> None:
        """Key in what may go out now."""
        while self.going and self.admitted[address] and self.seqs[address] - self.acked[address] < self.credit[address]:
            if self.paced:
                if not self.wanted[address]:
                    return
                self.wanted[address] -= 1
            seq = self.seqs[address] = self.seqs[address] + 1
            if not self.paced:
                self.pressed[address, seq] = time.perf_counter()
            body = messages.pack_body(
                kind=1,
                confirmed_by=1,
                section=self.number,
                table=address,
                round=1,
                board=seq % 999 + 1,
                ns=seq // 999 + 1,
                ew=1000 + address,
                declarer=0,
                tricks=9,
                level=3,
                strain=5,
                doubling=0,
                lead=3,
                replaces=0,
                stamp=0,
            )
            record = {"journal_id": 7, "seq": seq, "body": body, "auth": bytes(6)}
            record["crc"] = messages.record_crc(self.device(address), 7, seq, body)
            self.session.send(Kind.RECORD, record, address)
            self.wake.set()

    def press_once(self, address: int) -> None:
        """A player presses ACCEPT now."""
        waiting = self.seqs[address] + self.wanted[address] + 1
        self.pressed[address, waiting] = time.perf_counter()
        self.wanted[address] += 1
        self.press(address)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def write() -> None:
            while True:
                now = time.monotonic()
                self.session.tick(now)
                data = self.session.take_output()
                if data:
                    writer.write(data)
                    await writer.drain()
                    continue
                deadline = self.session.next_deadline()
                self.wake.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.wake.wait(), 0.05 if deadline is None else max(0.0, deadline - now))

        sending = asyncio.create_task(write())
        try:
            while data := await _read(reader):
                self.session.receive(data, time.monotonic())
                while self.session.events:
                    self.on(self.session.events.popleft())
                self.wake.set()
        finally:
            sending.cancel()


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(65536)
    except (asyncio.CancelledError, ConnectionError):
        return b""  # the benchmark is over


async def generate(pipe: Pipe, sizes: list[int], rate: float) -> None:
    stations = [Station(number, size, bool(rate)) for number, size in enumerate(sizes, 1)]
    servers = [await asyncio.start_server(station.serve, "127.0.0.1", 0) for station in stations]
    pipe.send([server.sockets[0].getsockname()[1] for server in servers])
    loop = asyncio.get_running_loop()
    dice = random.Random(1)
    places = [(station, address) for station in stations for address in range(1, len(station.seqs))]

    async def press_evenly() -> None:
        start, count = loop.time(), 0
        while True:
            count += 1
            await asyncio.sleep(max(0.0, start + count / rate - loop.time()))
            station, address = dice.choice(places)
            station.press_once(address)

    pressing: asyncio.Task[None] | None = None
    while True:
        command = await loop.run_in_executor(None, pipe.recv)
        if command == "admitted?":
            pipe.send(sum(sum(station.admitted) for station in stations))
        elif command == "go":
            for station in stations:
                station.going = True
                for address in range(1, len(station.seqs)):
                    station.press(address)
            if rate:
                pressing = asyncio.create_task(press_evenly())
        elif command == "read":
            pipe.send([sum(station.done for station in stations), [t for s in stations for t in s.times]])
            for station in stations:
                station.times.clear()
        elif command == "stop":
            if pressing is not None:
                pressing.cancel()
            for server in servers:
                server.close()
            return


def generator(pipe: Pipe, sizes: list[int], rate: float) -> None:
    asyncio.run(generate(pipe, sizes, rate))


# --- the host ----------------------------------------------------------------------------------------------------


async def measure(folder: Path, terminals: int, seconds: float, rate: float) -> dict[str, float]:
    """Results per second, and median and 99th percentile of press to ack in ms."""
    count = -(-terminals // PER_STATION)
    sizes = [terminals // count + (n < terminals % count) for n in range(count)]
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=generator, args=(theirs, sizes, rate), daemon=True)
    process.start()
    loop = asyncio.get_running_loop()

    async def ask(command: str) -> Any:
        ours.send(command)
        return await loop.run_in_executor(None, ours.recv)

    ports = await loop.run_in_executor(None, ours.recv)
    store = EventStore.open(folder / f"events-{terminals}-{rate:g}.db")
    setup = new_event(1, "Benchmark", dict.fromkeys(range(1, count + 1)), EventSettings(admit_all=True))
    await store.save_setup(setup)
    host = HostIdentity(device_id=5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    stations = {f"tcp://127.0.0.1:{port}": open_station(f"tcp://127.0.0.1:{port}", host) for port in ports}
    limits = Limits(per_second=1e6, burst=1e6)  # a player presses a key a few times an hour; these do without end
    service = SyncService(store, setup, stations, SystemClock(), limits=limits)
    running = asyncio.create_task(service.run())
    await asyncio.gather(*(station.connect(10) for station in stations.values()))
    began = time.perf_counter()
    while await ask("admitted?") < terminals and time.perf_counter() - began < 60:
        await asyncio.sleep(0.1)
    ready = time.perf_counter() - began
    ours.send("go")
    await asyncio.sleep(1.0)
    first, _ = await ask("read")
    commits, start, used = store.writer.commits, time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds)
    last, times = await ask("read")
    took = time.perf_counter() - start
    cpu = (time.process_time() - used) / took
    ours.send("stop")
    running.cancel()
    await asyncio.wait([running])
    for station in stations.values():
        await station.close()
    process.join(5)
    done = last - first
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    out = {
        "terminals": terminals,
        "asked_per_s": rate,
        "results_per_s": done / took,
        "per_commit": done / max(1, store.writer.commits - commits),
        "median_ms": 1000 * statistics.median(times) if times else 0.0,
        "p99_ms": 1000 * statistics.quantiles(times, n=100)[98] if len(times) > 100 else 0.0,
        "host_cpu": cpu,
        "admitted_s": ready,
        "kb_per_terminal": grown / terminals,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    store.close()
    return out


def restart(folder: Path, events: int) -> dict[str, float]:
    """Seconds from opening a store of that many events until the collector is ready."""
    path = folder / "restart.db"
    store = EventStore.open(path, threaded=False)
    setup = new_event(1, "Benchmark", {1: None}, EventSettings(admit_all=True))
    asyncio.run(store.save_setup(setup))
    made = 0
    while made < events:
        jobs = []
        for _ in range(min(1000, events - made)):
            made += 1
            device, seq = made % 100 + 1, made // 100 + 1
            body = RecordBody(1, 1, 1, device, 1, seq % 999 + 1, 0, 9, seq // 999 + 1, 1000 + device, 3, 5, 0, 3, 0, 0)
            raw = body.pack()
            key = RecordKey(device, 1, seq)
            jobs.append(TakeRecord(RawRecord(key, raw, record_crc(device, 1, seq, raw)), (1, device)))
        with store.database.transaction() as connection:
            ingest(connection, setup, jobs)
    store.close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    store = EventStore.open(path, threaded=False)
    found = store.load_setup()
    assert found is not None
    Collector(found, store.roster(), store.journals())
    ready = time.perf_counter() - start
    rows = len(store.current(1))
    seconds = time.perf_counter() - start
    store.close()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"events": events, "ready_s": ready, "with_results_s": seconds, "rows": rows, "grown_mb": grown}


def fsync_ms(folder: Path) -> float:
    """What this disk needs for one small fsync, median of 50."""
    times = []
    with (folder / "fsync").open("wb") as file:
        for _ in range(50):
            file.write(b"x" * 4096)
            start = time.perf_counter()
            file.flush()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terminals", type=int, nargs="*", default=[1, 50, 1000])
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sync-", dir=options.data) as name:
        folder = Path(name)
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()},", end=" ")
        print(f"load {os.getloadavg()[0]:.1f}, fsync {fsync_ms(folder):.2f} ms", file=sys.stdout)
        rows = [asyncio.run(measure(folder, count, options.seconds, 0.0)) for count in options.terminals]
        paced = max(options.terminals, default=0)
        if paced:
            rows.append(asyncio.run(measure(folder, paced, options.seconds, options.rate)))
        for row in rows:
            how = f"at {row['asked_per_s']:g} a second" if row["asked_per_s"] else "as fast as they can"
            print(
                f"{row['terminals']:5.0f} terminals {how:>20}: {row['results_per_s']:7.0f} durable results/s,"
                f" {row['per_commit']:5.1f} a commit, press to ack median {row['median_ms']:6.1f} ms,"
                f" 99th {row['p99_ms']:6.1f} ms, host CPU {row['host_cpu']:4.0%},"
                f" admitted in {row['admitted_s']:.1f} s,"
                f" {row['kb_per_terminal']:.1f} kB/terminal, {row['rss_mb']:.0f} MB"
            )
        again = restart(folder, options.events) if options.events else None
        if again is not None:
            print(
                f"{again['events']:.0f} events: ready in {again['ready_s']:.2f} s, with all results read in"
                f" {again['with_results_s']:.2f} s, {again['grown_mb']:.0f} MB more"
            )
        if options.json:
            print(json.dumps({"rows": rows, "restart": again}))


if __name__ == "__main__":
    main()
