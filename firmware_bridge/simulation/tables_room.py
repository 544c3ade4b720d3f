"""Base stations with their terminals and tables inside this process, in virtual time, for soaks.

The stations are hwsim's, as they also run behind a pty; here batteries, lines and power fail at random. The host's end
is an ordinary carrier, so that production driver, link and sync service run unchanged.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, fields, replace

from firmware_bridge.errors import DeviceError
from firmware_bridge.simulation.room_stream import RoomStream
from hwsim.evidence import Evidence
from hwsim.line import Line
from hwsim.machine.device import device_id
from hwsim.memory import Media, Medium, PowerCut
from hwsim.speeds import SPEEDS
from hwsim.station.device import Station


@dataclass(frozen=True, slots=True)
class Rates:
    """Per hour and terminal, or as said. byte_error and piece_loss, piece_swap: per byte and piece on a line.

    battery: out and in again, memory kept. memory: wiped, a new journal. cut: the supply goes in the middle of a write.
    hub: the base station starts anew, per hour and station. unplug: per hour and station. host: the program is killed,
    per hour.
    """

    battery: float = 0.0
    memory: float = 0.0
    cut: float = 0.0
    hub: float = 0.0
    unplug: float = 0.0
    host: float = 0.0
    byte_error: float = 0.0
    piece_loss: float = 0.0
    piece_swap: float = 0.0

    def times(self, factor: float) -> Rates:
        return replace(self, **{f.name: getattr(self, f.name) * factor for f in fields(self)})


REALISTIC = Rates(
    battery=0.02,
    memory=0.002,
    cut=0.002,
    hub=0.05,
    unplug=0.05,
    host=0.1,
    byte_error=1e-6,
    piece_loss=1e-3,
    piece_swap=1e-4,
)
HARSH = Rates(
    battery=1.0,
    memory=0.15,
    cut=0.3,
    hub=2.0,
    unplug=3.0,
    host=6.0,
    byte_error=1e-4,
    piece_loss=0.05,
    piece_swap=0.01,
)
PROFILES: dict[str, Rates] = {"none": Rates(), "realistic": REALISTIC, "harsh": HARSH}


class RoomMedia(Media):
    """Memories that can be wiped, and whose supply can go away in the middle of a write."""

    def wipe(self, name: str) -> None:
        for slot in (0, 1):
            self._open[f"{name}-{slot}"] = Medium()

    def cut_after(self, name: str, count: int | None) -> None:
        for slot in (0, 1):
            self.medium(f"{name}-{slot}").cut_after = count


class StationRoom:
    """One station with its tables and its line. ``struck``: what went wrong so far. A StreamOpener for the driver."""

    bytes_per_second: float | None = None

    def __init__(self, number: int, terminals: int, rates: Rates, seed: int, evidence: Evidence, baud: int) -> None:
        self.url = f"soak://station-{number}"
        self.seed = seed * 1000 + number
        self.struck: Counter[str] = Counter()
        self.rates = rates
        self._dice = random.Random(f"{self.seed}:faults")
        self._loop = asyncio.get_running_loop()
        self._media = RoomMedia()
        self.station = Station(
            self._media,
            self._loop.time(),
            terminals=terminals,
            seed=self.seed,
            speed=SPEEDS["real"],
            evidence=evidence,
            chance=random.Random(f"{self.seed}:chance"),
            corrections=0.06,
            byte_time=10 / baud,
        )
        self._line = Line(self.station, baud)
        self._stream: RoomStream | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._plug_at: float | None = None
        self._late: bytes | None = None
        self._faults = [self._loop.call_later(self._pause(), self._strike)]

    def device(self, address: int) -> int:
        """Device id of a terminal."""
        return device_id(self.seed, f"terminal:{address}")

    # --- the line ---

    async def __call__(self) -> RoomStream:
        """Raises DeviceError while the cable is unplugged."""
        if self._plug_at is not None:
            raise DeviceError("the port does not exist.", where=self.url, code="port-missing")
        if self._stream is not None:
            self._stream.cut()
        self._stream = RoomStream(self, self.url)
        self._pump()
        return self._stream

    def from_host(self, data: bytes) -> None:
        for piece in self._spoil(data):
            self._line.from_host(piece, self._loop.time())
        self._soon(0.0)

    def host_dies(self) -> None:
        """Nothing that the killed program still says reaches the station."""
        if self._stream is not None:
            self._stream.cut()

    def stop(self) -> None:
        for timer in [*self._faults, *([self._timer] if self._timer is not None else [])]:
            timer.cancel()

    def heal(self) -> None:
        """From now on nothing goes wrong any more."""
        self.rates = Rates()
        for timer in self._faults:
            timer.cancel()
        for address in self.station.terminals:
            self._media.cut_after(f"terminal-{address:05}", None)

    def _spoil(self, data: bytes) -> list[bytes]:
        dice, rates = self._dice, self.rates
        if rates.piece_loss and dice.random() < rates.piece_loss:
            self.struck["lost"] += 1
            return []
        if rates.byte_error and dice.random() < rates.byte_error * len(data):
            spoiled = bytearray(data)
            spoiled[dice.randrange(len(spoiled))] ^= 1 << dice.randrange(8)
            data = bytes(spoiled)
            self.struck["flipped"] += 1
        if self._late is not None:
            late, self._late = self._late, None
            return [data, late]
        if rates.piece_swap and dice.random() < rates.piece_swap:
            self._late = data
            self.struck["swapped"] += 1
            return []
        return [data]

    def _soon(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(delay, self._pump)

    def _pump(self) -> None:
        now = self._loop.time()
        if self._plug_at is not None and now >= self._plug_at:
            self._plug_at = None
            self._line.connect()
        try:
            self._line.advance(now)
        except PowerCut:
            self._cut_happened()
        out = self._line.to_host(now)
        if out and self._stream is not None and not self._stream.ended:
            for piece in self._spoil(out):
                self._stream.feed(piece)
        times = [t for t in (self._line.next_deadline(), self._plug_at) if t is not None]
        if times:
            self._soon(max(0.0, min(times) - now))

    # --- what goes wrong ---

    def _total(self) -> float:
        rates, terminals = self.rates, len(self.station.terminals)
        return (rates.battery + rates.memory + rates.cut) * terminals + rates.hub + rates.unplug

    def _pause(self) -> float:
        rate = self._total() if hasattr(self, "station") else 1.0
        return self._dice.expovariate(rate / 3600) if rate else 1e9

    def _strike(self) -> None:
        rates, terminals = self.rates, len(self.station.terminals)
        kinds = ["battery", "memory", "cut", "hub", "unplug"]
        weights = [rates.battery * terminals, rates.memory * terminals, rates.cut * terminals, rates.hub, rates.unplug]
        if any(weights):
            kind = self._dice.choices(kinds, weights)[0]
            address = self._dice.randrange(1, terminals + 1)
            self.struck[kind] += 1
            if kind == "hub":
                self.station.restart_hub()
            elif kind == "unplug":
                self._unplug(self._dice.uniform(1, 60))
            elif kind == "cut":
                self._media.cut_after(f"terminal-{address:05}", self._dice.randrange(0, 90))
            elif self.station.terminals[address].on:
                self._battery(address, wipe=kind == "memory")
        self._soon(0.0)
        self._faults = [timer for timer in self._faults if not timer.cancelled() and timer.when() > self._loop.time()]
        self._faults.append(self._loop.call_later(self._pause(), self._strike))

    def _unplug(self, seconds: float) -> None:
        now = self._loop.time()
        self._line.disconnect(now)
        self.station.line_down(now)
        self._plug_at = now + seconds
        if self._stream is not None:
            self._stream.cut()

    def _battery(self, address: int, *, wipe: bool = False) -> None:
        memory = self.station.terminals[address].memory
        self.station.power_off(address)
        name = f"terminal-{address:05}"
        if wipe:
            # What was shown as received need not be keyed in again; the rest the players know they must.
            done = {self._place(record.body, record.event) for record in memory.records.values() if not record.acked}
            keyed = sorted(key for key in memory.keyed if key[:3] not in done)
            self._media.wipe(name)
            log = self._media.log(name)
            log.load()
            for key in keyed:
                log.append(json.dumps(["keyed", *key]).encode())
        self._faults.append(self._loop.call_later(self._dice.uniform(2, 120), self._power_on, address))

    @staticmethod
    def _place(body: bytes, event: int) -> tuple[int, int, int]:
        return event, body[3], int.from_bytes(body[4:6], "little") & 0x3FF

    def _cut_happened(self) -> None:
        for address, terminal in self.station.terminals.items():
            name = f"terminal-{address:05}"
            if terminal.on and any(self._media.medium(f"{name}-{slot}").cut_after == 0 for slot in (0, 1)):
                self._media.cut_after(name, None)
                self._battery(address)

    def _power_on(self, address: int) -> None:
        if self.station.terminals[address].on:
            return
        try:
            self.station.power_on(address)
        except PowerCut:  # the supply went again while it was starting
            self._media.cut_after(f"terminal-{address:05}", None)
            self._faults.append(self._loop.call_later(1.0, self._power_on, address))
        self._soon(0.0)

    def power_all(self) -> None:
        """Every terminal that is off gets its battery back."""
        for address in self.station.terminals:
            self._power_on(address)
        self._soon(0.0)
