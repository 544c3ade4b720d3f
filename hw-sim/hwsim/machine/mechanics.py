"""The moving parts: feeder, belt, reader, deflectors, exit sensors. They act on the world and tell the firmware.

A card is fed from the hopper, passes the reader, and then the pockets in the profile's order. The firmware may have
one deflector lifted for it; without that the card runs to the fixed last pocket.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from hwsim.agenda import Agenda, Booking
from hwsim.machine.faults import Fault, FaultPlan
from hwsim.machine.pack import NOT_READ, STOP_CARD, Reading
from hwsim.machine.profile import Profile
from hwsim.machine.sight import Light
from hwsim.machine.world import World

OWN_RETRIES = 3


@dataclass(slots=True)
class Transit:
    """One pass of the beam, as the sensors saw it: times in seconds, beam in tenths of a millisecond."""

    fed_at: float
    reading: Reading = NOT_READ
    read_at: float = 0.0
    beam: int = 0
    wanted: int = 255
    exit_at: float = 0.0
    seen: int = 255
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """What truly happened to cards that passed together. stuck: the deflector that was to lift did not."""

    cards: tuple[int, ...]
    taken: int  # the card that the machine took the first of them for
    wanted: int
    pocket: int
    stuck: bool


class Listener(Protocol):
    """What the sensors tell the firmware."""

    def may_feed(self) -> bool: ...

    def on_fed(self, transit: Transit) -> None: ...

    def on_read(self, transit: Transit) -> int:
        """Called when the card is under the reader. Returns the pocket whose deflector is to lift, 255 for none."""
        ...

    def on_exit(self, transit: Transit) -> None: ...

    def on_jam(self, transit: Transit) -> None: ...

    def on_no_card(self, slipped: bool) -> None: ...

    def on_hopper(self) -> None: ...

    def on_read_back(self, transit: Transit) -> None: ...

    def on_read_back_end(self) -> None: ...


class Mechanics:
    """``after_card(total)`` is called when a card has been fed: the place where faults from outside strike."""

    def __init__(
        self,
        world: World,
        profile: Profile,
        true_profile: Profile,
        agenda: Agenda,
        seed: str,
        faults: FaultPlan,
        report: Callable[[Fault], None],
        after_card: Callable[[int], None],
    ) -> None:
        self.world = world
        self.profile = profile
        self.true_card_time = true_profile.card_time  # the beam's length stays true at every speed
        self._agenda = agenda
        self._seed = seed
        self._faults = faults
        self._report = report
        self._after_card = after_card
        self.listener: Listener | None = None
        self._running = False
        self._held_back = False
        self._bookings: list[Booking] = []
        self._feeding: Booking | None = None
        self._stuck_for = 0
        self._slips = 0
        self.light = Light(world, profile, faults, self._strike)
        self.witness: Callable[[Passage], None] | None = None

    # -- what the firmware can switch ---------------------------------------------------------------------------------

    def start(self) -> None:
        self._running = True
        self._feed_after(0.0)

    def stop(self) -> None:
        """The feeder stops; the belt runs on until it is empty."""
        self._running = self._held_back = False
        if self._feeding is not None:
            self._feeding.cancel()
            self._feeding = None

    def freeze(self) -> None:
        """Everything stops where it is: power gone, or cover open."""
        self.stop()
        for booking in self._bookings:
            booking.cancel()
        self._bookings.clear()

    def poke(self) -> None:
        """Perhaps the firmware can take a further card now."""
        if self._held_back and self.listener is not None and self.listener.may_feed():
            self._held_back = False
            self._feed_after(0.0)

    def read_back(self) -> None:
        """Every card in the board's pockets passes the reader and goes back to its pocket."""
        world = self.world
        cards: list[tuple[int, int]] = []
        if world.slot is not None:
            for pocket in range(4):
                cards += [(pocket, card) for card in world.boards[world.slot][world.printed_seat(pocket)]]
        self._running = True
        self._later(self.profile.card_time, lambda: self._read_next(cards, 0))

    # -- feeding ------------------------------------------------------------------------------------------------------

    def _later(self, delay: float, callback: Callable[[], None]) -> None:
        self._bookings = [b for b in self._bookings if b.callback is not None]
        self._bookings.append(self._agenda.after(delay, callback))

    def _feed_after(self, delay: float) -> None:
        self._feeding = self._agenda.after(delay, self._feed)

    def _noise(self, name: str) -> random.Random:
        return random.Random(f"{self._seed}:{name}:{self.world.fed}")

    def _strike(self, card: int, *kinds: str) -> Fault | None:
        due = self._faults.due(card, *kinds)
        if due is None:
            return None
        number, fault = due
        self._faults.mark(number)
        self.world.do("fault", number)
        self._report(fault)
        return fault

    def _feed(self) -> None:
        assert self.listener is not None
        self._feeding = None
        if not self.listener.may_feed():
            self._held_back = True
            return
        world, profile = self.world, self.profile
        if not world.hopper or world.hopper[0] == STOP_CARD:
            self.stop()
            self._later(profile.card_time, lambda: self._no_card(False))
            return
        number = world.fed + 1
        slower = self._slower()
        pace = profile.card_time * slower
        if fault := self._strike(number, "misfeed"):
            self._slips = int(fault.option("for", 1))
        if self._slips:
            tries = min(self._slips, OWN_RETRIES + 1)
            slipped = self._slips > OWN_RETRIES
            self._slips = 0
            if slipped:
                self.stop()
                self._later(pace * tries, lambda: self._no_card(True))
            else:
                self._feed_after(pace * tries)
            return
        double = self._strike(number, "double-feed") is not None and len(world.hopper) > 1
        double = double and world.hopper[1] != STOP_CARD
        noise = self._noise("card")
        cards = world.hopper[: 2 if double else 1]
        world.do("feed", len(cards))
        transit = Transit(self._agenda.now)
        self.listener.on_fed(transit)
        self.listener.on_hopper()
        beam = 4000 * self.true_card_time * slower * noise.gauss(1.0, 0.02)
        transit.beam = max(1, min(0xFFFF, round(beam * (1.8 if double else 1.0))))
        if self._strike(number, "jam"):
            self.stop()
            self._later(4 * profile.card_time, lambda: self._jam(transit))
        else:
            self._later(profile.read_time, lambda: self._read(transit, cards, number, noise))
            interval = pace + noise.uniform(-profile.card_spread, profile.card_spread)
            if self._running:
                self._feed_after(interval)
        self._after_card(world.fed)

    def _no_card(self, slipped: bool) -> None:
        assert self.listener is not None
        self.listener.on_no_card(slipped)

    def _jam(self, transit: Transit) -> None:
        assert self.listener is not None
        self.listener.on_jam(transit)

    # -- reading and sorting ------------------------------------------------------------------------------------------

    def _slower(self) -> float:
        """A dirty roller slips: half a percent for every thousand cards, fifty times that in a harsh world."""
        world = self.world
        return 1.0 + 0.005 * self._faults.dirt * (world.fed - world.cleaned_at) / 1000

    def _look(self, card: int, number: int, noise: random.Random) -> Reading:
        return self.light.read(self.light.sight(card, number, noise), noise)

    def _read(self, transit: Transit, cards: list[int], number: int, noise: random.Random) -> None:
        assert self.listener is not None
        transit.read_at = self._agenda.now
        transit.reading = self._look(cards[0], number, noise)
        transit.wanted = self.listener.on_read(transit)
        order = self.profile.pocket_order
        lifted = order.index(transit.wanted) if transit.wanted in order[:3] else None
        stuck = False
        if lifted is not None:
            if fault := self._strike(number, "gate-stuck"):
                self._stuck_for = int(fault.option("for", 1))
            if self._stuck_for:
                self._stuck_for -= 1
                lifted, stuck = None, True
        place = 3 if lifted is None else lifted
        travel = self.profile.pitch * (place + 1) * max(0.5, noise.gauss(1.0, self.profile.pitch_sigma))
        passage = Passage(tuple(cards), transit.reading.best, transit.wanted, order[place], stuck)
        self._later(travel, lambda: self._leave(transit, passage, number, noise))

    def _leave(self, transit: Transit, passage: Passage, number: int, noise: random.Random) -> None:
        if self.witness is not None:
            self.witness(passage)
        transit.seen = self.light.exit(passage.pocket, number, noise)
        self._exit(transit, list(passage.cards), passage.pocket)

    def _exit(self, transit: Transit, cards: list[int], pocket: int) -> None:
        assert self.listener is not None
        for card in cards:
            self.world.do("drop", card, self.world.printed_seat(pocket))
        transit.exit_at = self._agenda.now
        transit.gone = True
        self.listener.on_exit(transit)

    def _read_next(self, cards: list[tuple[int, int]], index: int) -> None:
        assert self.listener is not None
        if not self._running:
            return
        if index == len(cards):
            self._running = False
            self.listener.on_read_back_end()
            return
        pocket, card = cards[index]
        now = self._agenda.now
        noise = random.Random(f"{self._seed}:back:{self.world.fed}:{index}")
        beam = max(1, min(0xFFFF, round(4000 * self.true_card_time * noise.gauss(1.0, 0.02))))
        reading = self.light.read(self.light.standing(card, noise), noise)
        self.listener.on_read_back(Transit(now, reading, now, beam, pocket, now, pocket, True))
        self._later(self.profile.card_time, lambda: self._read_next(cards, index + 1))
