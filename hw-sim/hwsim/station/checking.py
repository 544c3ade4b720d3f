"""A terminal asks the host whether an entry is plausible (0x78, 0x79), and never waits long for the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hwsim.agenda import Agenda, Booking
from hwsim.messages import Fields
from hwsim.numbers import CheckCode, Kind
from hwsim.station.upload import Radio

PATIENCE = 2.0  # seconds without an answer after which the terminal goes on alone


@dataclass(frozen=True, slots=True)
class Advice:
    """What the screen says before the other side accepts; text "" if all is fine."""

    code: int = CheckCode.FINE
    text: str = ""

    @property
    def needs_director(self) -> bool:
        return self.code >= CheckCode.SIT_OUT


class Checking:
    """One question at a time; a late answer to an older one is ignored."""

    def __init__(self, address: int, radio: Radio, agenda: Agenda) -> None:
        self._address = address
        self._radio = radio
        self._agenda = agenda
        self._number = 0
        self._then: Callable[[Advice], None] | None = None
        self._booking: Booking | None = None
        self.asked = 0
        self.alone = 0  # how often the terminal went on without an answer

    def ask(self, body: bytes, then: Callable[[Advice], None]) -> None:
        """Calls ``then`` with the answer, or after a moment without one."""
        self.cancel()
        self._number = (self._number + 1) & 0xFF
        self._then = then
        if self._radio.send(self._address, Kind.ENTRY_CHECK, {"check": self._number, "body": body}):
            self.asked += 1
            self._booking = self._agenda.after(PATIENCE, self._give_up)
        else:
            self._booking = self._agenda.after(0.0, self._give_up)

    def answered(self, fields: Fields) -> None:
        """ENTRY_CHECKED."""
        if fields["check"] == self._number and self._then is not None:
            self._go_on(Advice(fields["code"], fields["text"]))

    def cancel(self) -> None:
        if self._booking is not None:
            self._booking.cancel()
        self._booking = self._then = None

    def _give_up(self) -> None:
        self.alone += 1
        self._go_on(Advice())

    def _go_on(self, advice: Advice) -> None:
        then = self._then
        self.cancel()
        if then is not None:
            then(advice)
