"""A dealing machine as people see it: the world around it, its display and keys, and hands that act on both.

What is inside is left to the classes built on it: one with firmware of its own behind a line, one of bare pins.
"""

from __future__ import annotations

import random

from hwsim.agenda import Agenda
from hwsim.evidence import Evidence, NoEvidence
from hwsim.machine.faults import Fault, FaultPlan, detectable
from hwsim.machine.operator import Operator
from hwsim.machine.pack import JOKER_FACE, STOP_CARD, pack_of
from hwsim.machine.parts import Panel
from hwsim.machine.profile import Profile
from hwsim.machine.world import BoardKey, World
from hwsim.memory import Media
from hwsim.numbers import Capability, Hopper
from hwsim.speeds import Speed


class Bench:
    """seed: fixes shuffles, noise and timings by event count.

    two_packs: the operator puts two packs into the hopper, with a stop card between, if the machine knows stop cards.
    """

    def __init__(
        self,
        media: Media,
        now: float,
        *,
        seed: int,
        speed: Speed,
        profile: Profile,
        evidence: Evidence | None,
        faults: FaultPlan | None = None,
        sorted_pack: bool = False,
        two_packs: bool = False,
    ) -> None:
        self._media = media
        self._start = now
        self._seed = f"{seed}:machine"
        self._speed = speed
        self._sorted_pack = sorted_pack
        self.two_packs = two_packs and profile.can(Capability.STOP_CARD)
        self.profile = profile.at_speed(speed)
        self.evidence = evidence or NoEvidence()
        self.agenda = Agenda(now)
        self.world = World(media.log("world"))
        self._faults = faults or FaultPlan([], [])
        self._unplug: float | None = None
        self.panel = Panel()

    def _operator(self) -> Operator:
        """A person who begins to look at the display now."""
        return Operator(self.world, self.panel, self, self.agenda, self._speed, self._seed, self.two_packs)

    def _changed(self, what: str) -> None:
        """The switch ``board``, ``cover`` or ``hopper`` may have changed, or the ``key`` is pressed."""

    # -- power --------------------------------------------------------------------------------------------------------

    def power_cut(self, seconds: float) -> None:
        """The supply fails now and comes back after ``seconds``. What is on the belt stays there."""
        raise NotImplementedError

    def restart(self) -> None:
        """The machine's program starts anew by itself: the motors stop, what is on the belt stays there."""
        raise NotImplementedError

    def _tear(self, after: int | None) -> None:
        """The supply fails after so many bytes more have been stored, None: it does not."""
        raise NotImplementedError

    # -- faults and evidence ------------------------------------------------------------------------------------------

    def _at(self) -> float:
        return round(self.agenda.now - self._start, 3)

    def _report_fault(self, fault: Fault) -> None:
        number, copy = self.world.slot or (0, 0)
        seen = detectable(fault.kind, self.profile)
        line = {"kind": fault.kind, "board": number, "copy": copy, "detectable": seen, "at": self._at()}
        self.evidence.write("faults", line)

    def _after_card(self, total: int) -> None:
        """A card has been fed, the ``total``-th of all: faults from outside strike."""
        due = self._faults.due(total, "unplug", "power-cut", "torn-write", "firmware-restart", "cover", "pull")
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
            self.agenda.after(fault.option("after", 0.0), lambda: self.power_cut(fault.option("for", 0.3)))
        elif fault.kind == "torn-write":
            self._dark_for = fault.option("for", 0.3)
            self._tear(int(fault.option("after", 9)))
        elif fault.kind == "firmware-restart":
            self.agenda.after(0.0, self.restart)
        elif fault.kind == "cover":
            self.agenda.after(0.0, lambda: self.cover(False))
        else:
            self.agenda.after(0.0, self.pull)

    _dark_for = 0.3

    def take_unplug(self) -> float | None:
        """Seconds for which the line has to be unplugged now, once, or None."""
        seconds, self._unplug = self._unplug, None
        return seconds

    def close(self) -> None:
        """The end of the run: the truth about every board, once more."""
        for key in sorted(self.world.boards):
            self.evidence.write("truth", self.world.truth(key, self._at()))
        self.evidence.close()

    def statistics(self) -> dict[str, object]:
        return {"cards_fed": self.world.fed, "boards": len(self.world.boards), "packs": self.world.packs}

    # -- hands --------------------------------------------------------------------------------------------------------

    def _slip(self, *kinds: str) -> str | None:
        """The mistake of these kinds that the hands make now: one whose card is the next to be fed, or was before."""
        due = self._faults.due(self.world.fed + 1, *kinds)
        if due is None:
            return None
        number, fault = due
        self._faults.mark(number)
        self.world.do("fault", number)
        self._report_fault(fault)
        return fault.kind

    def insert(self, key: BoardKey, orientation: int = 0) -> None:
        slip = self._slip("turned", "wrong-board")
        if slip == "turned":
            orientation = 2
        elif slip == "wrong-board":
            key = (key[0] + 1, key[1])
        self.world.do("insert", *key, orientation)
        self._changed("board")

    def pull(self) -> None:
        key = self.world.slot
        if key is None:
            return
        self.evidence.write("truth", self.world.truth(key, self._at()))
        self.world.do("pull")
        self._changed("board")

    def load(self, cards: list[int]) -> None:
        """A pack, shuffled unless a sorted one is wanted for a test deal, into the hopper."""
        order = sorted(cards)
        if not self._sorted_pack:
            random.Random(f"{self._seed}:shuffle:{self.world.shuffles}").shuffle(order)
        slip = self._slip("pack-short", "pack-joker")
        if slip == "pack-short":
            order.pop(len(order) // 2)
        elif slip == "pack-joker":
            order[len(order) // 2] = pack_of(order[0]) << 6 | JOKER_FACE
        self.world.do("load", order)
        self._changed("hopper")

    def add_stop_card(self) -> None:
        """Behind the pack that is in the hopper."""
        self.world.do("stop_card")

    def take_stop_card(self) -> None:
        self.world.do("take_stop_card")
        self._changed("hopper")

    def unload(self) -> None:
        """Everything out of the hopper, onto the table top."""
        self.world.do("unload")
        self._changed("hopper")

    def clear_belt(self) -> None:
        """Cards that lie on the belt go back on top of the hopper."""
        for card in reversed(self.world.belt):
            self.world.do("back", card)
        self._changed("hopper")

    def gather(self) -> None:
        self.world.do("gather")
        self._changed("hopper")

    def cover(self, closed: bool) -> None:
        self.world.do("cover", closed)
        self._changed("cover")

    def press_key(self) -> None:
        self._changed("key")

    def hopper(self) -> Hopper:
        """What lies on top of the hopper."""
        if not self.world.hopper:
            return Hopper.EMPTY
        return Hopper.STOP_CARD if self.world.hopper[0] == STOP_CARD else Hopper.LOADED
