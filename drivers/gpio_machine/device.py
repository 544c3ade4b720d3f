"""A home-built machine as one device: link, controller, sorter, pins and memory put together, still without a clock.

``receive``, ``tick``, ``next_deadline``, ``take_output``: the same four as any simulated device, so that it runs behind
a pipe in its own process as well as in virtual time. Whoever runs it calls the card reader when ``wants_reading``.
"""

from __future__ import annotations

from drivers.api import CardRead, Pins
from drivers.gpio_machine.controller import ACCEPTS, Controller
from drivers.gpio_machine.device_link import WINDOW, DeviceLink, LinkInput, SessionBegan, SessionOver
from drivers.gpio_machine.journal import Journal, Slots
from drivers.gpio_machine.settings import EXITS, MachineSettings
from drivers.gpio_machine.sorter import Sorter
from drivers.gpio_pins import PinBank
from firmware_bridge.wire.frames import PROTOCOL_MAX
from firmware_bridge.wire.messages import Display
from firmware_bridge.wire.numbers import ByeReason, Sound

SIGNAL_TIME = 0.6
"""Seconds that lamp and buzzer stay on."""

URGENT = {"cover": False, "board": False, "stop_button": True}

PULSES = frozenset({*EXITS, "rotor_index"})

SORTER_INPUTS = PULSES | {"reader_beam"}


def bank_for(settings: MachineSettings, pins: Pins) -> PinBank:
    """The machine's pins, all outputs off."""
    return PinBank(pins, settings.outputs, settings.inputs, urgent=URGENT, pulses=PULSES)


class HomeBuiltMachine:
    """The whole machine.

    bank: made by ``bank_for``. boot_id: drawn at random by whoever starts it. fresh_id: device id for a machine that
    has none in its memory.
    """

    def __init__(
        self, settings: MachineSettings, bank: PinBank, slots: Slots, *, boot_id: int, fresh_id: int, now: float
    ) -> None:
        self._settings = settings
        self._bank = bank
        self._now = now
        self._signal_until: float | None = None
        self._signals = {"lamp_done": False, "lamp_stop": False, "buzzer": False}
        self.sorter = Sorter(settings, bank.active, bank.drive)
        journal = Journal(slots, fresh_id)
        self.controller = Controller(settings, journal, self.sorter, bank.active, self._send, boot_id, now)
        self._link: DeviceLink | None = None
        self._link = DeviceLink(lambda session: self.controller.hello(session, WINDOW, PROTOCOL_MAX), ACCEPTS, now)

    def _send(self, message: object) -> bool:
        return self._link is not None and self._link.send(message)  # type: ignore[arg-type]

    @property
    def wants_reading(self) -> bool:
        """A card lies under the reader: call it, and hand the result to ``card_read``."""
        return self.controller.wants_reading

    def next_display(self) -> Display | None:
        return self.controller.next_display()

    # --- bytes, time, reads --------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> None:
        assert self._link is not None
        self._take(self._link.receive(data, now), now)
        self.tick(now)

    def tick(self, now: float) -> None:
        """Look at the pins, do what is due, set the motors."""
        assert self._link is not None
        self._now = now
        for change in self._bank.sample(now):
            if change.name in SORTER_INPUTS:
                self.sorter.changed(change.name, change.active, change.at)
            else:
                self.controller.on_input(change.name, change.active, now)
            self._tell_controller(now)
        self._take(self._link.tick(now), now)
        self.sorter.tick(now)
        self._tell_controller(now)

    def card_read(self, reading: CardRead, now: float) -> None:
        self.controller.on_reading(reading, now)
        self.tick(now)

    def take_output(self, now: float) -> bytes:
        assert self._link is not None
        return self._link.take_output(now)

    def next_deadline(self) -> float:
        """When ``tick`` is due: with motors on every ``poll``, else every ``idle_poll``, or sooner."""
        assert self._link is not None
        times = self._settings.timings
        pace = times.poll if self.sorter.running and not self._bank.edges else times.idle_poll
        due = [self._now + pace, self._link.next_deadline(), self.sorter.next_deadline(), self._bank.settling_until()]
        due.append(self._signal_until)
        return min(moment for moment in due if moment is not None)

    def line_down(self, now: float) -> None:
        """The host's end of the line is gone."""
        assert self._link is not None
        self._take(self._link.line_down(), now)
        self.tick(now)

    def stop(self) -> None:
        """The program ends: motors off, goodbye. ``take_output`` carries the goodbye."""
        assert self._link is not None
        self.controller.emergency()
        self._bank.all_off()
        self._link.bye(ByeReason.STOP)

    # --- inside --------------------------------------------------------------------------------------------------

    def _tell_controller(self, now: float) -> None:
        # Motors first: the controller writes to its memory, and a slow card must not keep them running.
        self._set_outputs(now)
        self.controller.on_sorter(now)
        self._set_outputs(now)

    def _take(self, inputs: list[LinkInput], now: float) -> None:
        for item in inputs:
            match item:
                case SessionBegan():
                    self.controller.host_came()
                case SessionOver():
                    self.controller.host_gone()
                case Display():
                    self.controller.on_message(item, now)
                    self._signal(item.sound, now)
                case _:
                    self.controller.on_message(item, now)

    def _signal(self, sound: int, now: float) -> None:
        if sound == Sound.NONE:
            return
        self._signals = {"lamp_done": sound == Sound.DONE, "lamp_stop": sound == Sound.STOP, "buzzer": True}
        self._signal_until = now + SIGNAL_TIME

    def _set_outputs(self, now: float) -> None:
        if self._signal_until is not None and now >= self._signal_until:
            self._signal_until = None
            self._signals = dict.fromkeys(self._signals, False)
        self._bank.drive({**self.sorter.outputs, **self._signals})
