"""Raspberry Pi pins: the only module that imports RPi.GPIO. Outputs by name, inputs debounced, edges where they work.

The library is handed in as an object with RPi.GPIO's names, so that a simulation can stand in for it. Edge detection
fails on newer kernels and on a Pi 5 with the classic library; then, and as a safety net always, the pins are polled.
An edge wakes the owner and leaves its moment; what the pin is now is read from the pin.
"""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from drivers.api import Pins
from drivers.gpio_machine.settings import Pin
from firmware_bridge.errors import ConfigError, DeviceError

LATE_EDGE = 0.25
"""Seconds for which the second edge of a pulse may be late."""


@dataclass(frozen=True, slots=True)
class InputChange:
    """``at``: when the level changed, before it had lasted long enough to count."""

    name: str
    active: bool
    at: float


def load_pins(library: str) -> Pins:
    """The pins object named ``library``, with BCM numbering: a module ("RPi.GPIO"), or an object ("my_pins:PINS").

    Raises DeviceError when it can't be used on this computer, ConfigError when it does not exist.
    """
    module_name, _, attribute = library.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if module_name.split(".")[0] == "RPi":
            raise DeviceError(
                "The library for the Raspberry Pi's pins is not installed.",
                where=library,
                next_step="Install it: `pip install firmware-bridge[gpio]`.",
                code="gpio-library",
            ) from error
        raise ConfigError(f"There is no module {module_name!r}.", where=library, code="machine-file") from error
    except (RuntimeError, ImportError, OSError) as error:
        # RPi.GPIO raises RuntimeError on import when it does not know the computer.
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise DeviceError(
            f"The pins can't be used here ({reason.rstrip('.!')}).",
            where=library,
            next_step="This works on a Raspberry Pi only; a Pi 5 needs the extra `gpio`, not `gpio-classic`.",
            code="gpio-library",
        ) from error
    if attribute and not hasattr(module, attribute):
        raise ConfigError(f"{module_name} has no {attribute!r}.", where=library, code="machine-file")
    pins: Pins = getattr(module, attribute) if attribute else module
    quiet = getattr(pins, "setwarnings", None)
    if quiet is not None:
        # It warns of pins that a crash has left set up; all of them are set up anew in a moment.
        quiet(False)
    pins.setmode(pins.BCM)
    return pins


class _Input:
    """One debounced input. A change to ``urgent`` counts at once: what stops motors must not wait for a contact."""

    def __init__(self, name: str, pin: Pin, active: bool, urgent: bool | None, pulses: bool) -> None:
        self.name = name
        self._pulses = pulses
        self.pin = pin
        self.active = active
        self.since: float | None = None
        self.edges: deque[float] = deque(maxlen=16)
        self._urgent = urgent
        self._looked_at = 0.0

    def look(self, level: bool, now: float) -> list[InputChange]:
        """The changes that count now: none, one, or the two of a pulse that came and went between two looks."""
        looked_at, self._looked_at = self._looked_at, now
        if level == self.active:
            self.since = None
            return self._pulse(now)
        # Only an edge since the last look can be the one that made this level; a bouncing contact has no one moment.
        edges = [moment for moment in self._take_edges() if moment > looked_at and not self.pin.bounce]
        if self.since is None:
            self.since = edges[-1] if edges else now
        if self.pin.bounce and level is not self._urgent and now - self.since < self.pin.bounce - 1e-9:
            return []
        changed, self.since, self.active = self.since, None, level
        return [InputChange(self.name, level, changed)]

    def _pulse(self, now: float) -> list[InputChange]:
        """A beam that was broken and is free again: both edges have come, though no look saw it broken."""
        if len(self.edges) == 1 and now - self.edges[0] < LATE_EDGE:
            # The other edge may be on its way from the other thread; alone it tells nothing.
            return []
        edges = self._take_edges()
        if len(edges) < 2 or not self._pulses:
            return []
        passed = not self.active
        return [InputChange(self.name, passed, edges[0]), InputChange(self.name, not passed, edges[-1])]

    def _take_edges(self) -> list[float]:
        return [self.edges.popleft() for _ in range(len(self.edges))]


class PinBank:
    """The machine's pins by name.

    urgent: input -> the state that counts without waiting for bounce. pulses: inputs at which something may pass so
    fast that no look sees it; with edges it is noticed all the same.
    """

    def __init__(
        self,
        pins: Pins,
        outputs: Mapping[str, Pin],
        inputs: Mapping[str, Pin],
        *,
        urgent: Mapping[str, bool] | None = None,
        pulses: Collection[str] = (),
    ) -> None:
        self._pins = pins
        self._outputs = dict(outputs)
        self._levels: dict[str, bool] = {}
        self._inputs: dict[str, _Input] = {}
        self._watched: list[int] = []
        self.edges = False
        pins.setmode(pins.BCM)
        for name, pin in self._outputs.items():
            pins.setup(pin.number, pins.OUT, initial=self._raw(pin, False))
            self._levels[name] = False
        pulls = {"up": pins.PUD_UP, "down": pins.PUD_DOWN}
        for name, pin in inputs.items():
            options = {"pull_up_down": pulls[pin.pull]} if pin.pull in pulls else {}
            pins.setup(pin.number, pins.IN, **options)
            urgent_state = (urgent or {}).get(name)
            self._inputs[name] = _Input(name, pin, self._level(pin), urgent_state, name in pulses)

    def watch(self, wake: Callable[[], None], clock: Callable[[], float]) -> bool:
        """Have ``wake`` called, from another thread, at every edge. False if this computer can't: then poll.

        The moments of the edges are kept, so that a card that passes a beam between two looks is not missed.
        """

        def edge_of(channel: _Input) -> Callable[[int], None]:
            def on_edge(_number: int) -> None:
                channel.edges.append(clock())
                wake()

            return on_edge

        try:
            for channel in self._inputs.values():
                self._pins.add_event_detect(channel.pin.number, self._pins.BOTH, callback=edge_of(channel))
                self._watched.append(channel.pin.number)
        except (RuntimeError, OSError, ValueError, NotImplementedError):
            self._unwatch()
            return False
        self.edges = True
        return True

    def active(self, name: str) -> bool:
        """The debounced state of an input; False for one that the machine does not have."""
        channel = self._inputs.get(name)
        return channel is not None and channel.active

    def sample(self, now: float) -> list[InputChange]:
        """Look at every input; the changes that count now."""
        changes: list[InputChange] = []
        for channel in self._inputs.values():
            changes += channel.look(self._level(channel.pin), now)
        return sorted(changes, key=lambda change: change.at) if len(changes) > 1 else changes

    def settling_until(self) -> float | None:
        """When the earliest change under way will count, None if none is."""
        due = [channel.since + channel.pin.bounce for channel in self._inputs.values() if channel.since is not None]
        return min(due, default=None)

    def drive(self, wanted: Mapping[str, bool]) -> None:
        """Switch the outputs named; those already so are left alone."""
        for name, level in wanted.items():
            if self._levels.get(name) != level and name in self._outputs:
                pin = self._outputs[name]
                self._pins.output(pin.number, self._raw(pin, level))
                self._levels[name] = level

    def all_off(self) -> None:
        """Every output off, whatever is believed of it. Goes on when one fails, and raises the first failure."""
        first: Exception | None = None
        for name, pin in self._outputs.items():
            try:
                self._pins.output(pin.number, self._raw(pin, False))
                self._levels[name] = False
            except Exception as error:
                first = first or error
        if first is not None:
            raise first

    def release(self) -> None:
        """Everything off, then give the pins back."""
        try:
            self.all_off()
        finally:
            self._unwatch()
            numbers = [pin.number for pin in self._outputs.values()] + [c.pin.number for c in self._inputs.values()]
            self._cleanup(numbers)

    def _cleanup(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._pins.cleanup(number)

    def _unwatch(self) -> None:
        for number in self._watched:
            self._pins.remove_event_detect(number)
        self._watched.clear()
        self.edges = False

    def _raw(self, pin: Pin, active: bool) -> Any:
        return self._pins.HIGH if active is not pin.active_low else self._pins.LOW

    def _level(self, pin: Pin) -> bool:
        return bool(self._pins.input(pin.number)) is not pin.active_low
