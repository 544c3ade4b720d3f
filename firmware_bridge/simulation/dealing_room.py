"""A dealing machine with its operator and its line inside this process, in virtual time, for soaks.

The machine is hwsim's, as it also runs behind a pty; here mistakes of people and wear of cards are added to its world,
and a line that loses bits. The host end is an ordinary carrier, so that the production driver and link run unchanged.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from drivers.api import StreamOpener
from firmware_bridge.errors import DeviceError
from firmware_bridge.simulation.dealing_faults import Rates
from firmware_bridge.simulation.dealing_people import HurriedOperator, Mishaps
from firmware_bridge.simulation.room_stream import RoomStream
from hwsim.evidence import Evidence
from hwsim.line import Device, Line
from hwsim.machine.device import Machine
from hwsim.machine.faults import Fault, FaultPlan
from hwsim.machine.firmware import Firmware
from hwsim.machine.operator import Operator
from hwsim.machine.pack import STOP_CARD
from hwsim.machine.profile import Profile
from hwsim.memory import Log, Media, Medium
from hwsim.speeds import SPEEDS


class _RoomLog(Log):
    """The log of a world that lives no longer than the soak: nothing is kept."""

    def append(self, entry: bytes) -> None:
        return

    @property
    def size(self) -> int:
        return 0


class RoomMedia(Media):
    """The machine's own memory outlasts its power cuts; the log of the physical world need not outlast the soak."""

    def log(self, name: str) -> Log:
        return _RoomLog(Medium(), Medium()) if name == "world" else super().log(name)


FirmwareFlaw = Callable[["SoakMachine", Firmware], None]
"""Spoils the machine's own program, to show what a check of the host is good for."""


class SoakMachine(Mishaps, Machine):
    """hwsim's machine among people who make mistakes. flaw: spoils its program at every start."""

    def __init__(
        self,
        profile: Profile,
        rates: Rates,
        seed: int,
        evidence: Evidence,
        *,
        baud: int | None,
        boards: int,
        certain: Sequence[Fault] = (),
        flaw: FirmwareFlaw | None = None,
    ) -> None:
        self._expect(rates, seed, boards, certain)
        self._flaw = flaw
        super().__init__(
            RoomMedia(),
            0.0,
            seed=seed,
            speed=SPEEDS["real"],
            profile=profile,
            evidence=evidence,
            chance=random.Random(seed + 1),
            byte_time=10 / baud if baud else 0.0,
            two_packs=True,
        )

    def _planned(self, faults: Sequence[Fault]) -> FaultPlan:
        return self.plan

    def _operator(self) -> Operator:
        return HurriedOperator(self.world, self.panel, self, self.agenda, self._speed, self._seed, self.two_packs)

    def _power_on(self) -> None:
        super()._power_on()
        self.mechanics.witness = self.witness
        if self._flaw is not None and self.firmware is not None:
            self._flaw(self, self.firmware)
        feed = self.mechanics._feed

        def sticky_feed() -> None:
            hopper = self.world.hopper
            due = self.plan.due(self.world.fed + 1, "sticky") if hopper and hopper[0] != STOP_CARD else None
            if due is not None:
                self.plan.mark(due[0])
                self._strike("sticky")
                hopper.insert(1, self._foreign_card(hopper[0]))
                self.plan.force("double-feed", self.world.fed + 1)
            feed()

        if self._rates.sticky:
            self.mechanics._feed = sticky_feed  # type: ignore[method-assign]


@dataclass(slots=True)
class _Noise:
    rate: float
    dice: random.Random

    def spoil(self, data: bytes) -> bytes:
        """The same bytes, some with one bit turned."""
        if self.rate == 0.0 or self.dice.random() >= self.rate * len(data):
            return data
        spoiled = bytearray(data)
        spoiled[self.dice.randrange(len(spoiled))] ^= 1 << self.dice.randrange(8)
        return bytes(spoiled)


class RoomMachine(Device, Protocol):
    """What a soak needs of a machine, whatever it is made of."""

    def power_cut(self, seconds: float) -> None: ...


class HostEnd(Protocol):
    """The end of the line that the host's driver holds."""

    ended: bool

    def feed(self, data: bytes) -> None: ...

    def cut(self) -> None: ...


class RoomLine:
    """Carries bytes between a machine and one host stream, moved on by timers of the running loop."""

    def __init__(self, machine: RoomMachine, baud: int | None, byte_error: float, seed: int) -> None:
        self.machine = machine
        self._line = Line(machine, baud)
        self._loop = asyncio.get_running_loop()
        self._stream: HostEnd | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._plug_at: float | None = None
        self._noise = _Noise(byte_error, random.Random(f"{seed}:line"))

    url = "soak://machine"
    bytes_per_second: float | None = None

    @property
    def opener(self) -> StreamOpener:
        return self

    async def __call__(self) -> RoomStream:
        """As ``drivers.api.StreamOpener``. Raises DeviceError while the cable is unplugged."""
        if self._plug_at is not None:
            raise DeviceError("the port does not exist.", where=self.url, code="port-missing")
        if self._stream is not None:
            self._stream.cut()
        stream = RoomStream(self, self.url)
        self._stream = stream
        self._pump()
        return stream

    def _plugged(self) -> None:
        """The cable is in again."""
        self._line.connect()

    def _to_host(self, data: bytes) -> None:
        if self._stream is not None and not self._stream.ended:
            self._stream.feed(self._noise.spoil(data))

    def from_host(self, data: bytes) -> None:
        self._line.from_host(self._noise.spoil(data), self._loop.time())
        self._soon(0.0)

    def host_dies(self) -> None:
        """The program is killed: nothing that it still says reaches the machine."""
        if self._stream is not None:
            self._stream.cut()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _soon(self, delay: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(delay, self._pump)

    def _pump(self) -> None:
        now = self._loop.time()
        if self._plug_at is not None and now >= self._plug_at:
            self._plug_at = None
            self._plugged()
        self._line.advance(now)
        out = self._line.to_host(now)
        if out:
            self._to_host(out)
        seconds = self.machine.take_unplug()
        if seconds is not None:
            self._line.disconnect(now)
            self._plug_at = now + seconds
            if self._stream is not None:
                self._stream.cut()
        times = [t for t in (self._line.next_deadline(), self._plug_at) if t is not None]
        if times:
            self._soon(max(0.0, min(times) - now))
