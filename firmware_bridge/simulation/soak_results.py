"""T1, the soak of results: tables play for hours in virtual time, everything fails, no result is lost or doubled.

Production driver, link, collector and store run as they are; only time, lines, batteries and the program's life are
simulated. Same seed and options, same ``trace``. The controls leave out one mechanism each and must lose something.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from drivers.api import BaseStation
from drivers.base_station import FramedBaseStation
from drivers.host import HostIdentity
from firmware_bridge.db import Connection
from firmware_bridge.errors import ConfigError
from firmware_bridge.simulation.soak_controls import (
    CONTROLS,
    Credulous,
    ForgetfulStore,
    NeverAsking,
    StoringAgain,
    without_conflict,
    without_journal,
    without_quarantine,
)
from firmware_bridge.simulation.tables_room import PROFILES, Rates, StationRoom
from firmware_bridge.simulation.virtual_time import LoopClock, run_virtual
from hwsim.evidence import Evidence, FileEvidence
from terminals.movement.mitchell import mitchell
from terminals.settings import EventSettings
from terminals.store import desk, ledger
from terminals.store.desk import Device, DeviceState
from terminals.sync.event_store import EventStore
from terminals.sync.evidence import play_lines
from terminals.sync.ingest import ingest
from terminals.sync.service import Ingest, SyncService
from terminals.sync.setup import EventSetup, new_event
from terminals.sync.tables import missing

PER_STATION = 25
STATIONS = 26  # one section each
MAX_TERMINALS = 100 * STATIONS
BOARDS_PER_ROUND = 3
ROUND_S = 27 * 60
BAUD = 115200
HEAL_S = 6 * 3600.0
CONTROL_HEAL_S = 1200.0
"""What can't be repaired need not be waited for."""


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """terminals: 2 or more. hours: of play. faults: none, realistic, harsh, or rates. without: one of CONTROLS.

    restore: in mid-evening the store is replaced by a backup made earlier that evening. Memories are not wiped and do
    not go back then: nobody could give those results back.
    """

    terminals: int = 100
    hours: float = 4.0
    faults: str | Rates = "realistic"
    seed: int = 1
    evidence: Path | None = None
    without: str = ""
    restore: bool = False

    @property
    def rates(self) -> Rates:
        rates = self.faults if isinstance(self.faults, Rates) else PROFILES[self.faults]
        return replace(rates, memory=0.0, back=0.0) if self.restore else rates

    def sections(self) -> list[int]:
        """Terminals of each station, one section each, at least 2."""
        count = min(STATIONS, -(-self.terminals // PER_STATION))
        return [self.terminals // count + (number < self.terminals % count) for number in range(count)]


@dataclass(slots=True)
class SoakResult:
    """received: keys that a screen showed as received. stored: keys kept. invented: kept, and no terminal ever sent it.
    missing: boards that never got a result."""

    received: int = 0
    stored: int = 0
    lost: int = 0
    duplicated: int = 0
    invented: int = 0
    quarantined: int = 0
    conflicts: int = 0
    alarms: int = 0
    expected: int = 0
    missing: int = 0
    waiting: int = 0
    host_lives: int = 0
    hours: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)
    trace: str = ""

    @property
    def passed(self) -> bool:
        return not (self.lost or self.duplicated or self.invented or self.missing or self.waiting)

    def as_dict(self) -> dict[str, Any]:
        return {
            "received": self.received,
            "stored": self.stored,
            "lost": self.lost,
            "duplicated": self.duplicated,
            "invented": self.invented,
            "quarantined": self.quarantined,
            "conflicts": self.conflicts,
            "alarms": self.alarms,
            "expected": self.expected,
            "missing": self.missing,
            "waiting": self.waiting,
            "host_lives": self.host_lives,
            "simulated_hours": round(self.hours, 3),
            "faults": self.faults,
            "trace": self.trace,
        }


def soak(options: SoakOptions) -> SoakResult:
    """Run one soak to its end. Raises ConfigError for options that can't be."""
    if not 2 <= options.terminals <= MAX_TERMINALS or min(options.sections()) < 2:
        raise ConfigError(f"a soak has 2 to {MAX_TERMINALS} terminals, not {options.terminals}.")
    if not 0 < options.hours <= 48:
        raise ConfigError("a soak plays for at most 48 hours.")
    if options.without not in ("", *CONTROLS):
        raise ConfigError(f"there is no control {options.without!r}; known: {', '.join(CONTROLS)}.")
    # What a crash does to the file is tested elsewhere; here the disk would only take time.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="soak-", dir=memory) as directory:
        return run_virtual(_soak(options, Path(directory)))


def _setup(options: SoakOptions) -> EventSetup:
    movements = {}
    for number, tables in enumerate(options.sections(), 1):
        rounds = max(1, min(tables - 1, int(options.hours * 3600 / ROUND_S)))
        movements[number] = mitchell(tables, BOARDS_PER_ROUND, rounds=rounds)
    return new_event(0x50AC + options.seed, "Soak", dict(movements), EventSettings())


async def _soak(options: SoakOptions, directory: Path) -> SoakResult:
    loop = asyncio.get_running_loop()
    evidence = _Kept(options.evidence) if options.evidence is not None else Evidence()
    setup = _setup(options)
    sizes = options.sections()
    rooms = [
        StationRoom(number, size, options.rates, options.seed, evidence, BAUD) for number, size in enumerate(sizes, 1)
    ]
    path = directory / "events.db"
    await _first_evening(path, setup, rooms, keys=options.without != "key")
    world = _World(options, setup, rooms, path, loop)
    try:
        await world.play()
        return world.judge(evidence)
    finally:
        for room in rooms:
            room.stop()
            room.station.close()


class _Kept(FileEvidence):
    """Written to files, and kept for the judge."""

    def write(self, name: str, line: dict[str, Any]) -> None:
        super().write(name, line)
        Evidence.write(self, name, line)


async def _first_evening(path: Path, setup: EventSetup, rooms: Sequence[StationRoom], *, keys: bool) -> None:
    """The director has put every terminal on its table. keys: those that have a key were paired with it."""
    store = EventStore.open(path, threaded=False)
    await store.save_setup(setup)

    def admit(connection: Connection) -> None:
        for section, room in enumerate(rooms, 1):
            for address in room.station.terminals:
                key = (room.key(address) or b"") if keys else b""
                device = Device(room.device(address), DeviceState.ADMITTED, section, address, key=key)
                desk.save_device(connection, device)

    await store.submit(admit)
    store.close()


class _World:
    def __init__(
        self,
        options: SoakOptions,
        setup: EventSetup,
        rooms: list[StationRoom],
        path: Path,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._options = options
        self._setup = setup
        self._rooms = rooms
        self._path = path
        self._loop = loop
        self._dice = random.Random(f"{options.seed}:host")
        self._trace = hashlib.sha256()
        self._again = StoringAgain()
        self.lives = 0
        self.hours = 0.0

    async def play(self) -> None:
        """Lives of the program, one after the other, until the evening is over and everything has arrived."""
        end = self._options.hours * 3600
        heal = CONTROL_HEAL_S if self._options.without else HEAL_S
        healed = False
        backup = self._path.with_name("backup.db")
        stops = [(0.3 * end, lambda: self._back_up(backup)), (0.6 * end, lambda: self._restore(backup))]
        stops = stops if self._options.restore else []
        while True:
            if not healed and self._loop.time() >= end:
                healed = True
                for room in self._rooms:
                    room.heal()
                    room.power_all()
            rate = 0.0 if healed else self._options.rates.host
            life = self._dice.expovariate(rate / 3600) if rate else heal
            while stops and self._loop.time() >= stops[0][0]:
                stops.pop(0)[1]()
            left = heal if healed else min([end, *(at for at, _ in stops[:1])]) - self._loop.time()
            complete = await self._one_life(min(life, left))
            if (complete and not stops) or self._loop.time() > end + heal:
                break
            if not healed:
                await asyncio.sleep(self._dice.uniform(1, 90))
        self.hours = self._loop.time() / 3600

    def _back_up(self, target: Path) -> None:
        store = EventStore.open(self._path, threaded=False)
        store.backup(target)
        store.close()

    def _restore(self, source: Path) -> None:
        """What an operator does after the disk has failed: yesterday's file is put where the store was."""
        for old in self._path.parent.glob(self._path.name + "*"):
            old.unlink()
        shutil.copy(source, self._path)

    async def _one_life(self, seconds: float) -> bool:
        """One start of the program, killed after ``seconds``; True when the evening was complete."""
        self.lives += 1
        rng = random.Random(f"{self._options.seed}:life:{self.lives}")
        host = HostIdentity(0xF1B7, boot_id=rng.getrandbits(32), boot_count=self.lives, firmware="soak")
        # A clock without a battery: somewhere else at every start. Nothing may depend on it.
        wall = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=rng.randrange(4000))
        clock = LoopClock(self._loop, wall)
        store = ForgetfulStore.open(self._path, threaded=False)
        assert isinstance(store, ForgetfulStore)
        store.forgetful = self._options.without == "commit"
        stations = {room.url: FramedBaseStation(room, host, clock, rng=rng) for room in self._rooms}
        service = SyncService(store, self._setup, self._around(stations), clock, take=self._take())
        running: list[asyncio.Task[Any]] = [asyncio.create_task(service.run())]
        running += [asyncio.create_task(_keep_connecting(station)) for station in stations.values()]
        until = self._loop.time() + seconds
        complete = False
        while self._loop.time() < until and not complete:
            await asyncio.sleep(min(20.0, until - self._loop.time()))
            complete = self._complete(store)
        # As kill -9 does: what is under way is gone.
        for room in self._rooms:
            room.host_dies()
        for task in running:
            task.cancel()
        await asyncio.wait(running)
        for station in stations.values():
            await station.close()
        self._note(f"life {self.lives} {self._loop.time():.6f} {store.writer.commits}")
        store.die()
        if not complete:
            await asyncio.sleep(6.0)  # the stations must notice that their host is gone
        return complete

    def _take(self) -> Ingest:
        """How a batch is stored; a control leaves a check out."""
        controls: dict[str, Ingest] = {
            "journal": without_journal,
            "repeat": self._again,
            "conflict": without_conflict,
            "quarantine": without_quarantine,
        }
        return controls.get(self._options.without, ingest)

    def _around(self, stations: dict[str, FramedBaseStation]) -> dict[str, BaseStation]:
        """The stations as the service sees them; a control changes something on the way."""
        without = self._options.without
        rooms = {room.url: room for room in self._rooms}
        out: dict[str, BaseStation] = {}
        for url, station in stations.items():
            out[url] = station
            if without == "crc":
                out[url] = Credulous(station, rooms[url].device)
            elif without == "resend":
                out[url] = NeverAsking(station)
        return out

    def _complete(self, store: EventStore) -> bool:
        if any(terminal.waiting() for room in self._rooms for terminal in room.station.terminals.values()):
            return False
        return not missing(self._setup, store.current(self._setup.id))

    def judge(self, evidence: Evidence) -> SoakResult:
        store = EventStore.open(self._path, threaded=False)
        received = evidence.lines.get("shown_received", [])
        shown = {(row["device"], self._journal(row["journal"]), row["seq"], row["body"]) for row in received}
        result = SoakResult(expected=self._setup.expected_results(), host_lives=self.lives)
        result.received = len({one[:3] for one in shown})
        sent: set[tuple[str, str, int, str]] = set()
        for room in self._rooms:
            sent.update((device, self._journal(journal), seq, body) for device, journal, seq, body in room.sent)
        kept: dict[tuple[str, str, int], list[str]] = {}
        for record in store.read(lambda connection: list(ledger.records(connection))):
            self._note(f"{record.number} {record.state} {record.raw.key} {record.raw.body.hex()}")
            if record.state != "conflict":
                key = self._again.known.get(record.raw.key, record.raw.key)
                name = (key.device_hex, self._journal(key.journal_hex), key.seq)
                body = record.raw.body.hex()
                kept.setdefault(name, []).append(body)
                result.invented += (*name, body) not in sent
        plays = store.read(lambda connection: list(play_lines(connection, self._setup.id)))
        counted = store.read(ledger.counts)
        result.stored = len(kept)
        result.lost = sum(body not in kept.get((device, journal, seq), []) for device, journal, seq, body in shown)
        result.duplicated = sum(len(bodies) > 1 for bodies in kept.values())
        result.duplicated += sum(int(str(play["current"])) > 1 for play in plays)
        result.quarantined, result.conflicts = counted["quarantined"], counted["conflict"]
        result.alarms = len(store.read(ledger.alarms))
        result.missing = len(missing(self._setup, store.current(self._setup.id)))
        result.waiting = sum(t.waiting() for room in self._rooms for t in room.station.terminals.values())
        struck: Counter[str] = Counter()
        for room in self._rooms:
            struck.update(room.struck)
        result.faults = dict(sorted(struck.items()))
        result.hours = self.hours
        if self._options.evidence is not None:
            store.write_evidence(self._setup.id, self._options.evidence)
        store.close()
        self._note(f"{sorted(shown)} {result.faults}")
        result.trace = self._trace.hexdigest()[:16]
        return result

    def _journal(self, journal: str) -> str:
        return "" if self._options.without == "journal" else journal

    def _note(self, line: str) -> None:
        self._trace.update(line.encode())


async def _keep_connecting(station: FramedBaseStation) -> None:
    """As a supervisor does: the first connection may fail while a cable is out."""
    from firmware_bridge.errors import FirmwareBridgeError

    while True:
        try:
            await station.connect(10.0)
        except FirmwareBridgeError:
            await asyncio.sleep(5.0)
        else:
            return
