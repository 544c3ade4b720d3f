"""A home-built machine inside this process: its own production program on simulated pins, in virtual time, for soaks.

What would be a process on the Raspberry Pi is called here when its time has come: the controller, its journal in two
slots, debouncing, the strobe reader. Cards, motors, contacts and people are hwsim's.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from pathlib import Path

from drivers.gpio_machine.device import HomeBuiltMachine, bank_for
from drivers.gpio_machine.settings import MachineSettings, parse_settings
from drivers.gpio_machine.strobe_reader import make
from firmware_bridge.simulation.dealing_faults import Rates
from firmware_bridge.simulation.dealing_people import HurriedOperator, Mishaps
from firmware_bridge.simulation.dealing_room import RoomMedia
from firmware_bridge.wire.numbers import MachineStateCode
from hwsim.evidence import Evidence
from hwsim.machine.faults import Fault
from hwsim.machine.operator import Operator
from hwsim.machine.pack import STRONG
from hwsim.machine.parts import Panel
from hwsim.machine.pins import BOUNCING, WIRING, PinMachine
from hwsim.machine.profile import Profile
from hwsim.memory import Medium, PowerCut
from hwsim.speeds import SPEEDS

SEATS = "NESW"


def settings_for(profile: Profile, *, edges: bool) -> MachineSettings:
    """The machine's file, as it would lie on the Raspberry Pi: 865 ms a card, 120 ms of it in the beam."""
    bounce = {name: ", bounce_ms = 5" if name in BOUNCING else "" for name in WIRING.inputs}
    order = "".join(SEATS[seat] for seat in profile.pocket_order)
    text = f"""
[machine]
model = "soak on pins"
sorter = "gates"
pocket_order = "{order}"
state = "memory"
margin_min = {profile.margin_min}
edges = {str(edges).lower()}
[timings]
card = 865
settle = 100
aim = 70
beam = 120
beam_limit = 600
poll = 12
idle_poll = 100
[outputs]
{chr(10).join(f"{name} = {number}" for name, number in WIRING.outputs.items())}
[inputs]
{chr(10).join(f'{n} = {{pin = {p}, active = "low", pull = "up"{bounce[n]}}}' for n, p in WIRING.inputs.items())}
[reader]
call = "drivers.gpio_machine.strobe_reader:make"
strobe = {WIRING.strobe}
detectors = {list(WIRING.detectors)}
looks = 5
codes = {list(STRONG.words)}
"""
    return parse_settings(tomllib.loads(text), Path("soak/machine.toml"))


class TearableSlots:
    """The two slots of the machine's journal; ``tear`` lets the supply fail in the middle of a write."""

    def __init__(self) -> None:
        self._media = (Medium(), Medium())

    def tear(self, after: int | None) -> None:
        for medium in self._media:
            medium.cut_after = after

    def read(self, slot: int) -> bytes:
        return self._media[slot].read()

    def write(self, slot: int, data: bytes) -> None:
        self._media[slot].write(0, data)


class SoakPinMachine(Mishaps, PinMachine):
    """A device for ``RoomLine``: bytes and time in, bytes and deadlines out. edges: else the pins are polled."""

    role = "machine"

    def __init__(
        self,
        profile: Profile,
        rates: Rates,
        seed: int,
        evidence: Evidence,
        *,
        boards: int,
        edges: bool,
        certain: Sequence[Fault] = (),
    ) -> None:
        self._expect(rates, seed, boards, certain)
        self._chance = random.Random(seed + 1)
        self._slots = TearableSlots()
        self._settings = settings_for(profile, edges=edges)
        self._with_edges = edges
        self._taken = 255
        self._program: HomeBuiltMachine | None = None
        super().__init__(
            RoomMedia(),
            0.0,
            seed=seed,
            speed=SPEEDS["real"],
            profile=profile,
            evidence=evidence,
            faults=self.plan,
            edges=edges,
        )
        self._power_on()

    def _operator(self) -> Operator:
        return HurriedOperator(self.world, self.panel, self, self.agenda, self._speed, self._seed, self.two_packs)

    def believed(self) -> tuple[int, int]:
        return self._taken, 255

    # -- power --------------------------------------------------------------------------------------------------------

    def _power_on(self) -> None:
        self._slots.tear(None)
        self.panel = Panel()
        bank = bank_for(self._settings, self.pins)
        if bank.watch(lambda: None, lambda: self.agenda.now) is not self._with_edges:
            raise AssertionError("edges are detected or not, as the pins were made")
        self._reader = make(self.pins, dict(self._settings.reader_options), sleep=lambda _: None)
        self._program = HomeBuiltMachine(
            self._settings,
            bank,
            self._slots,
            boot_id=self._chance.getrandbits(32),
            fresh_id=0x6F1A,
            now=self.agenda.now,
        )
        self.operator = self._operator()

    def power_cut(self, seconds: float) -> None:
        self._program = None
        self.dark()
        self.agenda.clear()
        self.agenda.after(seconds, self._power_on)

    def restart(self) -> None:
        self.power_cut(0.0)

    def _tear(self, after: int | None) -> None:
        self._slots.tear(after)

    # -- sans-IO ------------------------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> None:
        self._turn(now, data)

    def tick(self, now: float) -> None:
        self._turn(now, b"")

    def _turn(self, now: float, data: bytes) -> None:
        try:
            self.advance(now)
            program = self._program
            if program is None:
                return
            if data:
                program.receive(data, now)
            else:
                program.tick(now)
            while program.wants_reading:
                reading = self._reader()
                self._taken = reading.best
                program.card_read(reading, now)
            self._show(program)
        except PowerCut:
            self.power_cut(self._dark_for)
            return
        self.operator.look()

    def _show(self, program: HomeBuiltMachine) -> None:
        """Display and lamps."""
        panel, state = self.panel, program.controller.state
        while (shown := program.next_display()) is not None:
            panel.action, panel.board, panel.copy = shown.action, shown.board, shown.copy
            panel.text, panel.sound = shown.text, shown.sound
            panel.changes += 1
        running = state is MachineStateCode.DEALING
        panel.runs += running and not panel.running
        panel.running = running
        panel.armed = state is MachineStateCode.ARMED
        panel.hopper_empty = not self.world.hopper

    def next_deadline(self) -> float | None:
        times = [self.agenda.next_time()]
        if self._program is not None:
            times.append(self._program.next_deadline())
        if self._with_edges:
            times.append(self.next_change())
        return min((when for when in times if when is not None), default=None)

    def take_output(self, room: int = 1 << 30) -> bytes:
        return self._program.take_output(self.agenda.now) if self._program is not None else b""

    def line_down(self, now: float) -> None:
        if self._program is not None:
            self._program.line_down(now)

    def bye(self, reason: int) -> None:
        if self._program is not None:
            self._program.stop()
