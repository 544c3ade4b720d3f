"""The simulated dealing machine as one device: world, moving parts, firmware, link session, and the person beside it.

Sans-IO: ``receive(data, now)``, ``tick(now)``, ``next_deadline()``, ``take_output()``. Everything that survives is in
the ``Media`` handed in; a new object on the same media is the machine after a power cut.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

from hwsim.evidence import Evidence
from hwsim.machine.bench import Bench
from hwsim.machine.faults import Fault, FaultPlan
from hwsim.machine.firmware import ACCEPTS, Firmware
from hwsim.machine.mechanics import Mechanics
from hwsim.machine.nonvolatile import NonVolatile
from hwsim.machine.pack import back_of
from hwsim.machine.parts import Panel, Sensors
from hwsim.machine.profile import PROFILES, Profile
from hwsim.memory import Media, PowerCut
from hwsim.numbers import BackColour
from hwsim.session import Message, Session, SessionUp
from hwsim.speeds import SPEEDS, Speed

BACKLOG_WHEN_INSTANT = 12


def device_id(seed: int, what: str) -> int:
    """The id burnt into a device: 64 bits, the same for the same seed."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{what}".encode()).digest()[:8], "little")


class Machine(Bench):
    """chance: draws what has to differ at every start."""

    role = "machine"

    def __init__(
        self,
        media: Media,
        now: float,
        *,
        seed: int = 0,
        speed: Speed = SPEEDS["max"],
        profile: Profile = PROFILES["fast"],
        evidence: Evidence | None = None,
        faults: Sequence[Fault] = (),
        chance: random.Random | None = None,
        operator: bool = True,
        byte_time: float = 0.0,
        sorted_pack: bool = False,
        two_packs: bool = False,
    ) -> None:
        super().__init__(
            media,
            now,
            seed=seed,
            speed=speed,
            profile=profile,
            evidence=evidence,
            sorted_pack=sorted_pack,
            two_packs=two_packs,
        )
        self._faults = self._planned(faults)
        self._device_id = device_id(seed, "machine")
        self._true_profile = profile
        self._chance = chance or random.SystemRandom()
        self._byte_time = byte_time
        self._with_operator = operator
        self.session: Session | None = None
        self.firmware: Firmware | None = None
        self._power_on()

    def _planned(self, faults: Sequence[Fault]) -> FaultPlan:
        return FaultPlan(list(faults), self.world.used_faults)

    # -- power --------------------------------------------------------------------------------------------------------

    def _power_on(self) -> None:
        self._tear(None)
        nv = NonVolatile(self._media, self._device_id)
        nv.count_boot()
        self.panel = Panel()
        self.mechanics = Mechanics(
            self.world,
            self.profile,
            self._true_profile,
            self.agenda,
            self._seed,
            self._faults,
            self._report_fault,
            self._after_card,
        )
        world = self.world
        sensors = Sensors(
            seated=lambda: world.slot is not None,
            label=lambda: world.slot[0] if world.slot else 0,
            orientation=lambda: world.orientation,
            cover_closed=lambda: world.cover_closed,
            hopper=self.hopper,
            back=lambda: back_of(world.hopper[0]) if world.hopper else BackColour.NONE,
            on_belt=lambda: len(world.belt),
        )
        firmware = Firmware(
            nv,
            self.profile,
            self.mechanics,
            sensors,
            self.panel,
            self.agenda,
            self._chance.getrandbits(32),
            lambda kind, fields: self.session is not None and self.session.send(kind, fields),
            self._may_feed,
        )
        self.firmware = firmware
        self.session = Session(
            lambda number: firmware.hello(number, 16), ACCEPTS, self.agenda.now, byte_time=self._byte_time
        )
        self.operator = self._operator()

    def _tear(self, after: int | None) -> None:
        """The supply fails after so many bytes have been stored, None: it does not."""
        for name in ("machine-0", "machine-1", "machine-jobs-0", "machine-jobs-1"):
            self._media.medium(name).cut_after = after

    def restart(self) -> None:
        """The machine's program starts anew by itself: the motors stop, what is on the belt stays there."""
        self.mechanics.freeze()
        self.agenda.clear()
        self._power_on()

    def power_cut(self, seconds: float) -> None:
        """The supply fails now and comes back after ``seconds``. What is on the belt stays there."""
        self.mechanics.freeze()
        self.session = self.firmware = None
        # The people at the machine keep what they are doing in mind only as long as the display tells them.
        self.agenda.clear()
        self.agenda.after(seconds, self._power_on)

    def _may_feed(self) -> bool:
        # With no time of its own the machine would deal a whole pack into the line's queue at once.
        if not self._speed.instant or self.session is None or not self.session.up:
            return True
        return self.session.backlog() < BACKLOG_WHEN_INSTANT

    # -- sans-IO ------------------------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> None:
        self._advance(now)
        if self.session is not None:
            self.session.receive(data, now)
        self._work(now)

    def tick(self, now: float) -> None:
        self._advance(now)
        if self.session is not None:
            self.session.tick(now)
        self._work(now)

    def _advance(self, now: float) -> None:
        while True:
            try:
                self.agenda.run(now)
                return
            except PowerCut:
                self.power_cut(self._dark_for)

    def next_deadline(self) -> float | None:
        times = [self.agenda.next_time(), self.session.next_deadline() if self.session is not None else None]
        return min((t for t in times if t is not None), default=None)

    def take_output(self, room: int = 1 << 30) -> bytes:
        return self.session.take_output(room) if self.session is not None else b""

    def line_down(self, now: float) -> None:
        """The line itself says that nobody is there any more (a TCP connection was closed)."""
        self._advance(now)
        if self.session is not None:
            self.session.line_down()
        self._work(now)

    def bye(self, reason: int) -> None:
        if self.session is not None:
            self.session.bye(reason)

    def _work(self, now: float) -> None:
        for _ in range(1000):
            try:
                if not self._turn(now):
                    return
            except PowerCut:
                self.power_cut(self._dark_for)

    def _turn(self, now: float) -> bool:
        """Do what is to be done at this moment; True when more may be due."""
        session, firmware = self.session, self.firmware
        while session is not None and firmware is not None and session.events:
            event = session.events.popleft()
            if isinstance(event, SessionUp):
                firmware.session_up()
            elif isinstance(event, Message):
                firmware.message(event.kind, event.fields)
            else:
                firmware.session_down()
        self.mechanics.poke()
        if self._with_operator and firmware is not None:
            self.operator.look()
        due = self.agenda.next_time()
        if due is None or due > now:
            return False
        self.agenda.run(now)
        return True

    def _changed(self, what: str) -> None:
        firmware = self.firmware
        if firmware is not None:
            {
                "board": firmware.on_board,
                "cover": firmware.on_cover,
                "hopper": firmware.on_hopper,
                "key": firmware.on_key,
            }[what]()
