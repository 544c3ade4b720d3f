"""A dealing machine with its operator and its line inside this process, in virtual time, for soaks.

The machine is hwsim's, as it also runs behind a pty; here mistakes of people and wear of cards are added to its world,
and a line that loses bits. The host end is an ordinary carrier, so that the production driver and link run unchanged.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from firmware_bridge.errors import DeviceError
from firmware_bridge.simulation.dealing_faults import WORN_FACTOR, WORN_SHARE, RandomFaults, Rates
from firmware_bridge.simulation.room_stream import RoomStream
from hwsim.evidence import Evidence
from hwsim.line import Line
from hwsim.machine.device import Machine
from hwsim.machine.faults import Fault
from hwsim.machine.firmware import Firmware
from hwsim.machine.operator import Operator
from hwsim.machine.pack import JOKER_FACE, Reading, pack_of
from hwsim.machine.profile import Profile
from hwsim.machine.world import BoardKey
from hwsim.memory import Log, Media, Medium
from hwsim.numbers import Action
from hwsim.speeds import SPEEDS


class _RoomLog(Log):
    """A log that is never rewritten: a room of thousands of boards would be written out at every card."""

    @property
    def size(self) -> int:
        return 0


class _RoomMedia(Media):
    def log(self, name: str) -> Log:
        return _RoomLog(Medium(), Medium())


FirmwareFlaw = Callable[["SoakMachine", Firmware], None]
"""Spoils the machine's own program, to show what a check of the host is good for."""


class SoakMachine(Machine):
    """hwsim's machine with mistakes of people and worn cards. ``struck``: what has gone wrong so far, by kind."""

    def __init__(
        self,
        profile: Profile,
        rates: Rates,
        seed: int,
        evidence: Evidence,
        *,
        baud: int,
        boards: int,
        flaw: FirmwareFlaw | None = None,
    ) -> None:
        self._rates = rates
        self._dice_seed = seed
        self._plan = RandomFaults(rates, seed)
        self._flaw = flaw
        self._boards = boards
        self._inserts = 0
        self._presses = 0
        self._foreign = 0
        self.on_unplug: Callable[[], None] | None = None
        self.spoilt: set[BoardKey] = set()  # boards that were dealt into once more by mistake
        self.struck: Counter[str] = Counter()
        self.on_attempt: Counter[str] = Counter()
        super().__init__(
            _RoomMedia(),
            0.0,
            seed=seed,
            speed=SPEEDS["real"],
            profile=profile,
            evidence=evidence,
            chance=random.Random(seed + 1),
            byte_time=10 / baud,
        )

    def _power_on(self) -> None:
        self._faults = self._plan
        super()._power_on()
        if self._flaw is not None and self.firmware is not None:
            self._flaw(self, self.firmware)
        look = self.mechanics._look

        def worn_look(card: int, number: int, noise: random.Random) -> Reading:
            reading = look(card, number, noise)
            wear = random.Random(f"{self._dice_seed}:worn:{card}")
            if wear.random() < WORN_SHARE and noise.random() < self._rates.smudge * WORN_FACTOR:
                self._strike("worn")
                return Reading(reading.raw, reading.best, reading.runner_up, min(reading.margin, 30))
            return reading

        if self._rates.smudge:
            self.mechanics._look = worn_look  # type: ignore[method-assign]
        self.operator = _HurriedOperator(self, self._rates.blind_key)
        feed = self.mechanics._feed

        def sticky_feed() -> None:
            due = self._plan.due(self.world.fed + 1, "sticky") if self.world.hopper else None
            if due is not None:
                self._plan.mark(due[0])
                self._strike("sticky")
                self.world.hopper.insert(1, self._foreign_card(self.world.hopper[0]))
                self._plan.force("double-feed", self.world.fed + 1)
            feed()

        if self._rates.sticky:
            self.mechanics._feed = sticky_feed  # type: ignore[method-assign]

    def _strike(self, kind: str) -> None:
        self.struck[kind] += 1
        self.on_attempt[kind] += 1

    def _report_fault(self, fault: Fault) -> None:
        self._strike(fault.kind)
        if fault.kind == "unplug" and self.on_unplug is not None:
            self.on_unplug()
        number, copy = self.world.slot or (0, 0)
        line = {"kind": fault.kind, "board": number, "copy": copy, "detectable": fault.kind != "misread"}
        self.evidence.write("faults", {**line, "at": self._at()})

    def _foreign_card(self, like: int) -> int:
        """A card of a pack that is not in the room otherwise, with the same face."""
        self._foreign += 1
        return 5000 + self._foreign << 6 | like & 63

    def _dice(self, name: str, number: int) -> random.Random:
        return random.Random(f"{self._dice_seed}:{name}:{number}")

    # -- people -------------------------------------------------------------------------------------------------------

    def insert(self, key: BoardKey, orientation: int = 0) -> None:
        self._inserts += 1
        dice = self._dice("insert", self._inserts)
        if self._boards > 1 and dice.random() < self._rates.wrong_board:
            self._strike("wrong-board")
            key = (key[0] % self._boards + 1, key[1])
        if dice.random() < self._rates.turned:
            self._strike("turned")
            orientation = dice.randrange(1, 4)
        if dice.random() < self._rates.leftover:
            self._strike("leftover")
            self.world.boards.setdefault(key, [[], [], [], []])[dice.randrange(4)].append(self._foreign_card(0))
        super().insert(key, orientation)

    def press_key(self) -> None:
        self._presses += 1
        if self._dice("key", self._presses).random() < self._rates.no_key:
            self._strike("no-key")
            return
        super().press_key()

    def load(self, cards: list[int]) -> None:
        dice = self._dice("load", self.world.shuffles)
        cards = list(cards)
        if dice.random() < self._rates.pack_short:
            self._strike("pack-short")
            cards.pop(dice.randrange(len(cards)))
        if dice.random() < self._rates.pack_mixed and cards:
            self._strike("pack-mixed")
            # A card of another pack took the place of one of this pack, which stays on the table.
            place = dice.randrange(len(cards))
            twin = cards[(place + 1 + dice.randrange(len(cards) - 1)) % len(cards)]
            cards[place] = self._foreign_card(twin)
        if dice.random() < self._rates.pack_joker:
            self._strike("pack-joker")
            cards[dice.randrange(len(cards))] = pack_of(cards[0]) << 6 | JOKER_FACE
        super().load(cards)


class _HurriedOperator(Operator):
    """Sometimes presses the key without looking at the number of the board."""

    def __init__(self, machine: SoakMachine, blind: float) -> None:
        super().__init__(machine.world, machine.panel, machine, machine.agenda, machine._speed, machine._seed)
        self._machine = machine
        self._blind = blind

    def _steps(self, action: Action, key: BoardKey) -> bool | None:
        slot = self._machine.world.slot
        if action == Action.CONFIRM_BOARD and slot is not None and slot != key:
            self._machine._presses += 1
            if self._machine._dice("blind", self._machine._presses).random() < self._blind:
                self._machine._strike("blind-key")
                Machine.press_key(self._machine)
                return False
        return super()._steps(action, key)


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


class RoomLine:
    """Carries bytes between a machine and one host stream, moved on by timers of the running loop."""

    def __init__(self, machine: Machine, baud: int | None, byte_error: float, seed: int) -> None:
        self.machine = machine
        self._line = Line(machine, baud)
        self._loop = asyncio.get_running_loop()
        self._stream: RoomStream | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._plug_at: float | None = None
        self._noise = _Noise(byte_error, random.Random(f"{seed}:line"))
        self._opened = 0

    url = "soak://machine"
    bytes_per_second: float | None = None

    async def __call__(self) -> RoomStream:
        """As ``drivers.api.StreamOpener``. Raises DeviceError while the cable is unplugged."""
        if self._plug_at is not None:
            raise DeviceError("the port does not exist.", where=self.url, code="port-missing")
        if self._stream is not None:
            self._stream.cut()
        self._opened += 1
        self._stream = RoomStream(self, self.url)
        self._pump()
        return self._stream

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
            self._line.connect()
        self._line.advance(now)
        out = self._line.to_host(now)
        if out and self._stream is not None and not self._stream.ended:
            self._stream.feed(self._noise.spoil(out))
        seconds = self.machine.take_unplug()
        if seconds is not None:
            self._line.disconnect(now)
            self._plug_at = now + seconds
            if self._stream is not None:
                self._stream.cut()
        times = [t for t in (self._line.next_deadline(), self._plug_at) if t is not None]
        if times:
            self._soon(max(0.0, min(times) - now))
