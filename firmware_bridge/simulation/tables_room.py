"""Base stations with their terminals and tables inside this process, in virtual time, for soaks.

The stations are hwsim's, as they also run behind a pty; here batteries, lines and power fail at random. The host's end
is an ordinary carrier, so that production driver, link and sync service run unchanged.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from firmware_bridge.errors import DeviceError
from firmware_bridge.simulation.room_stream import RoomStream
from hwsim import messages
from hwsim.evidence import Evidence
from hwsim.line import Line
from hwsim.machine.device import device_id
from hwsim.memory import Media, Medium, PowerCut
from hwsim.numbers import Kind
from hwsim.speeds import SPEEDS
from hwsim.station.device import Station


@dataclass(frozen=True, slots=True)
class Rates:
    """Per hour and terminal, or as said. byte_error and piece_loss, piece_swap: per byte and piece on a line.

    battery: out and in again, memory kept. memory: wiped, a new journal. cut: the supply goes in the middle of a write.
    back: out and in again, and the memory is as it was some time ago. nonsense: the terminal's program writes a record
    that means nothing. forged: somebody else sends a record in the terminal's name, if it has a key. hub: the base
    station starts anew, per hour and station. unplug: per hour and station. host: the program is killed, per hour.
    radio: per record, a bit flips between terminal and base station, which no frame's CRC can see.
    """

    battery: float = 0.0
    memory: float = 0.0
    cut: float = 0.0
    back: float = 0.0
    nonsense: float = 0.0
    forged: float = 0.0
    hub: float = 0.0
    unplug: float = 0.0
    host: float = 0.0
    radio: float = 0.0
    byte_error: float = 0.0
    piece_loss: float = 0.0
    piece_swap: float = 0.0

    def times(self, factor: float) -> Rates:
        return replace(self, **{f.name: getattr(self, f.name) * factor for f in fields(self)})


REALISTIC = Rates(
    battery=0.02,
    memory=0.002,
    cut=0.002,
    back=0.001,
    nonsense=0.001,
    hub=0.05,
    unplug=0.05,
    host=0.1,
    radio=1e-4,
    byte_error=1e-6,
    piece_loss=1e-3,
    piece_swap=1e-4,
)
HARSH = Rates(
    battery=1.0,
    memory=0.15,
    cut=0.3,
    back=0.1,
    nonsense=0.1,
    forged=0.2,
    hub=2.0,
    unplug=3.0,
    host=6.0,
    radio=0.05,
    byte_error=1e-4,
    piece_loss=0.05,
    piece_swap=0.01,
)
PROFILES: dict[str, Rates] = {"none": Rates(), "realistic": REALISTIC, "harsh": HARSH}


def _name(address: int) -> str:
    """Of a terminal's memory."""
    return f"terminal-{address:05}"


class RoomMedia(Media):
    """Memories that can be wiped, and whose supply can go away in the middle of a write."""

    def wipe(self, name: str) -> None:
        for slot in (0, 1):
            self._open[f"{name}-{slot}"] = Medium()

    def cut_after(self, name: str, count: int | None) -> None:
        for slot in (0, 1):
            self.medium(f"{name}-{slot}").cut_after = count

    def image(self, name: str) -> tuple[bytes, ...]:
        return tuple(self.medium(f"{name}-{slot}").read() for slot in (0, 1))

    def put_back(self, name: str, image: tuple[bytes, ...]) -> None:
        for slot in (0, 1):
            self._open[f"{name}-{slot}"] = Medium(image[slot])


class Hall(Station):
    """The station, and the air between it and its terminals. ``flip``: asked for each record; the bit that flips, or
    None. ``sent``: every record that a terminal ever sent: device, journal, number, body."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.flip: Callable[[int], int | None] = lambda bits: None
        self.sent: set[tuple[str, str, int, str]] = set()
        super().__init__(*args, **options)

    def send(self, address: int, kind: int, fields: dict[str, Any]) -> bool:
        if kind == Kind.RECORD:
            body: bytes = fields["body"]
            device = self.terminals[address].memory.device_id
            self.sent.add((f"{device:016x}", f"{fields['journal_id']:08x}", fields["seq"], body.hex()))
            bit = self.flip(8 * len(body))
            if bit is not None:
                wrong = int.from_bytes(body, "big") ^ 1 << bit
                fields = {**fields, "body": wrong.to_bytes(len(body), "big")}
        return super().send(address, kind, fields)


class StationRoom:
    """One station with its tables and its line. ``struck``: what went wrong so far. A StreamOpener for the driver."""

    bytes_per_second: float | None = None

    def __init__(self, number: int, terminals: int, rates: Rates, seed: int, evidence: Evidence, baud: int) -> None:
        self.url = f"soak://station-{number}"
        self.seed = seed * 1000 + number
        self.struck: Counter[str] = Counter()
        self.rates = rates
        self._terminals = terminals
        self._dice = random.Random(f"{self.seed}:faults")
        self._loop = asyncio.get_running_loop()
        self._media = RoomMedia()
        self.station = Hall(
            self._media,
            self._loop.time(),
            terminals=terminals,
            seed=self.seed,
            speed=SPEEDS["real"],
            evidence=evidence,
            chance=random.Random(f"{self.seed}:chance"),
            corrections=0.06,
            key=self._key_of,
            byte_time=10 / baud,
        )
        self.station.flip = self._flip
        self._images = {address: self._media.image(_name(address)) for address in self.station.terminals}
        self._line = Line(self.station, baud)
        self._stream: RoomStream | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._plug_at: float | None = None
        self._late: bytes | None = None
        self._faults = [self._loop.call_later(self._pause(), self._strike)]

    def device(self, address: int) -> int:
        """Device id of a terminal."""
        return device_id(self.seed, f"terminal:{address}")

    @property
    def sent(self) -> set[tuple[str, str, int, str]]:
        """Every record that a terminal ever sent: device, journal, number, body."""
        return self.station.sent

    def key(self, address: int) -> bytes | None:
        """The key with which a terminal signs: every second one has one."""
        return self._key_of(self.device(address)) if address % 2 else None

    def _key_of(self, device: int) -> bytes | None:
        odd = {self.device(address) for address in range(1, self._terminals + 1, 2)}
        return hashlib.sha256(f"{self.seed}:{device}".encode()).digest()[:16] if device in odd else None

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
            self._media.cut_after(_name(address), None)

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

    def _weights(self) -> dict[str, float]:
        """Per hour, of each kind."""
        rates, terminals = self.rates, self._terminals
        return {
            "battery": rates.battery * terminals,
            "memory": rates.memory * terminals,
            "cut": rates.cut * terminals,
            "back": rates.back * terminals,
            "nonsense": rates.nonsense * terminals,
            "forged": rates.forged * terminals,
            "hub": rates.hub,
            "unplug": rates.unplug,
        }

    def _pause(self) -> float:
        rate = sum(self._weights().values())
        return self._dice.expovariate(rate / 3600) if rate else 1e9

    def _strike(self) -> None:
        weights = self._weights()
        if any(weights.values()):
            kind = self._dice.choices(list(weights), list(weights.values()))[0]
            address = self._dice.randrange(1, self._terminals + 1)
            self.struck[kind] += 1
            if kind == "hub":
                self.station.restart_hub()
            elif kind == "unplug":
                self._unplug(self._dice.uniform(1, 60))
            elif kind == "cut":
                self._media.cut_after(_name(address), self._dice.randrange(0, 90))
            elif kind == "nonsense":
                self._write_nonsense(address)
            elif kind == "forged":
                self._forge(address)
            elif self.station.terminals[address].on:
                self._battery(address, kind)
        self._soon(0.0)
        self._faults = [timer for timer in self._faults if not timer.cancelled() and timer.when() > self._loop.time()]
        self._faults.append(self._loop.call_later(self._pause(), self._strike))

    def _flip(self, bits: int) -> int | None:
        if not self.rates.radio or self._dice.random() >= self.rates.radio:
            return None
        self.struck["radio"] += 1
        return self._dice.randrange(bits)

    def _write_nonsense(self, address: int) -> None:
        """A fault of the terminal's program: a record of a table that there is not."""
        terminal = self.station.terminals[address]
        if terminal.on and terminal.event:
            body = messages.pack_body(
                kind=1, confirmed_by=0, section=1, table=200, round=99, board=999, ns=1, ew=2, level=1, strain=1
            )
            try:
                terminal.memory.add(body, terminal.event)
            except PowerCut:
                self._cut_happened()
            else:
                terminal.upload.pump()

    def _forge(self, address: int) -> None:
        """Another radio says something in the name of a terminal, whose key it does not have."""
        memory = self.station.terminals[address].memory
        played = [record for record in memory.records.values() if not record.name and record.event]
        if not played or self.key(address) is None or not self.station.session.up:
            return
        body = bytearray(played[-1].body)
        body[5] ^= 0x10  # a trick more or less
        key = (memory.device_id, memory.journal, memory.next_seq)
        crc = messages.record_crc(*key, bytes(body))
        fields = {"journal_id": key[1], "seq": key[2], "body": bytes(body), "crc": crc}
        self.station.session.send(Kind.RECORD, {**fields, "auth": self._dice.randbytes(6)}, address)

    def _unplug(self, seconds: float) -> None:
        now = self._loop.time()
        self._line.disconnect(now)
        self.station.line_down(now)
        self._plug_at = now + seconds
        if self._stream is not None:
            self._stream.cut()

    def _battery(self, address: int, kind: str = "battery") -> None:
        memory = self.station.terminals[address].memory
        self.station.power_off(address)
        name = _name(address)
        if kind == "back":
            self._media.put_back(name, self._images[address])
        else:
            self._images[address] = self._media.image(name)
        if kind == "memory":
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
            name = _name(address)
            if terminal.on and any(self._media.medium(f"{name}-{slot}").cut_after == 0 for slot in (0, 1)):
                self._media.cut_after(name, None)
                self._battery(address)

    def _power_on(self, address: int) -> None:
        if self.station.terminals[address].on:
            return
        try:
            self.station.power_on(address)
        except PowerCut:  # the supply went again while it was starting
            self._media.cut_after(_name(address), None)
            self._faults.append(self._loop.call_later(1.0, self._power_on, address))
        self._soon(0.0)

    def power_all(self) -> None:
        """Every terminal that is off gets its battery back."""
        for address in self.station.terminals:
            self._power_on(address)
        self._soon(0.0)
