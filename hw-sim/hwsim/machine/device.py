"""The simulated dealing machine as one device: world, moving parts, firmware, link session, and the person beside it.

Sans-IO: ``receive(data, now)``, ``tick(now)``, ``next_deadline()``, ``take_output()``. Everything that survives is in
the ``Media`` handed in; a new object on the same media is the machine after a power cut.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

from hwsim.agenda import Agenda
from hwsim.evidence import Evidence, NoEvidence
from hwsim.machine.faults import Fault, FaultPlan, detectable
from hwsim.machine.firmware import ACCEPTS, Firmware
from hwsim.machine.mechanics import Mechanics
from hwsim.machine.nonvolatile import NonVolatile
from hwsim.machine.operator import Operator
from hwsim.machine.parts import Panel, Sensors
from hwsim.machine.profile import PROFILES, Profile
from hwsim.machine.world import BoardKey, World
from hwsim.memory import Media
from hwsim.numbers import Hopper
from hwsim.session import Message, Session, SessionUp
from hwsim.speeds import SPEEDS, Speed

BACKLOG_WHEN_INSTANT = 12


def device_id(seed: int, what: str) -> int:
    """The id burnt into a device: 64 bits, the same for the same seed."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{what}".encode()).digest()[:8], "little")


class Machine:
    """seed: fixes shuffles, noise and timings by event count. chance: draws what has to differ at every start."""

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
    ) -> None:
        self._media = media
        self._sorted_pack = sorted_pack
        self._seed = f"{seed}:machine"
        self._device_id = device_id(seed, "machine")
        self._speed = speed
        self._true_profile = profile
        self.profile = profile.at_speed(speed)
        self.evidence = evidence or NoEvidence()
        self._chance = chance or random.SystemRandom()
        self._byte_time = byte_time
        self._start = now
        self.agenda = Agenda(now)
        self.world = World(media.log("world"))
        self._faults = FaultPlan(list(faults), self.world.used_faults)
        self._unplug: float | None = None
        self._with_operator = operator
        self.panel = Panel()
        self.session: Session | None = None
        self.firmware: Firmware | None = None
        self._power_on()

    # -- power --------------------------------------------------------------------------------------------------------

    def _power_on(self) -> None:
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
            hopper=lambda: Hopper.LOADED if world.hopper else Hopper.EMPTY,
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
        self.operator = Operator(world, self.panel, self, self.agenda, self._speed, self._seed)

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
        self.agenda.run(now)
        if self.session is not None:
            self.session.receive(data, now)
        self._work(now)

    def tick(self, now: float) -> None:
        self.agenda.run(now)
        if self.session is not None:
            self.session.tick(now)
        self._work(now)

    def next_deadline(self) -> float | None:
        times = [self.agenda.next_time(), self.session.next_deadline() if self.session is not None else None]
        return min((t for t in times if t is not None), default=None)

    def take_output(self, room: int = 1 << 30) -> bytes:
        return self.session.take_output(room) if self.session is not None else b""

    def line_down(self, now: float) -> None:
        """The line itself says that nobody is there any more (a TCP connection was closed)."""
        self.agenda.run(now)
        if self.session is not None:
            self.session.line_down()
        self._work(now)

    def bye(self, reason: int) -> None:
        if self.session is not None:
            self.session.bye(reason)

    def take_unplug(self) -> float | None:
        """Seconds for which the line has to be unplugged now, once, or None."""
        seconds, self._unplug = self._unplug, None
        return seconds

    def _work(self, now: float) -> None:
        for _ in range(1000):
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
                return
            self.agenda.run(now)

    # -- faults and evidence ------------------------------------------------------------------------------------------

    def _at(self) -> float:
        return round(self.agenda.now - self._start, 3)

    def _report_fault(self, fault: Fault) -> None:
        number, copy = self.world.slot or (0, 0)
        seen = detectable(fault.kind, self.profile)
        line = {"kind": fault.kind, "board": number, "copy": copy, "detectable": seen, "at": self._at()}
        self.evidence.write("faults", line)

    def _after_card(self, total: int) -> None:
        due = self._faults.due(total, "unplug", "power-cut", "cover", "pull")
        if due is None:
            return
        number, fault = due
        self._faults.mark(number)
        self.world.do("fault", number)
        self._report_fault(fault)
        if fault.kind == "unplug":
            self._unplug = fault.option("for", 1.0)
        elif fault.kind == "power-cut":
            # Not from inside the moving parts: they are about to book what this cut prevents.
            self.agenda.after(0.0, lambda: self.power_cut(fault.option("for", 0.3)))
        elif fault.kind == "cover":
            self.agenda.after(0.0, lambda: self.cover(False))
        else:
            self.agenda.after(0.0, self.pull)

    def close(self) -> None:
        """The end of the run: the truth about every board, once more."""
        for key in sorted(self.world.boards):
            self.evidence.write("truth", self.world.truth(key, self._at()))
        self.evidence.close()

    def statistics(self) -> dict[str, object]:
        return {"cards_fed": self.world.fed, "boards": len(self.world.boards), "packs": self.world.packs}

    # -- hands --------------------------------------------------------------------------------------------------------

    def insert(self, key: BoardKey, orientation: int = 0) -> None:
        self.world.do("insert", *key, orientation)
        if self.firmware is not None:
            self.firmware.on_board()

    def pull(self) -> None:
        key = self.world.slot
        if key is None:
            return
        self.evidence.write("truth", self.world.truth(key, self._at()))
        self.world.do("pull")
        if self.firmware is not None:
            self.firmware.on_board()

    def load(self, cards: list[int]) -> None:
        """A pack, shuffled unless a sorted one is wanted for a test deal, into the hopper."""
        order = sorted(cards)
        if not self._sorted_pack:
            random.Random(f"{self._seed}:shuffle:{self.world.shuffles}").shuffle(order)
        self.world.do("load", order)
        if self.firmware is not None:
            self.firmware.on_hopper()

    def clear_belt(self) -> None:
        """Cards that lie on the belt go back on top of the hopper."""
        for card in reversed(self.world.belt):
            self.world.do("back", card)
        if self.firmware is not None:
            self.firmware.on_hopper()

    def gather(self) -> None:
        self.world.do("gather")
        if self.firmware is not None:
            self.firmware.on_hopper()

    def cover(self, closed: bool) -> None:
        self.world.do("cover", closed)
        if self.firmware is not None:
            self.firmware.on_cover()

    def press_key(self) -> None:
        if self.firmware is not None:
            self.firmware.on_key()
