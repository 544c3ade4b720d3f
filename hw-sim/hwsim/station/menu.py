"""The director's menu at a terminal: opened by a proof of the PIN, closed by key, by time, and with the session."""

from __future__ import annotations

from collections.abc import Callable

from hwsim.agenda import Agenda, Booking
from hwsim.messages import Fields, director_proof
from hwsim.numbers import DirectorAnswer, Kind
from hwsim.station.upload import Radio

OPEN_FOR = 60.0  # seconds without a key
WORDS = {
    DirectorAnswer.OPEN: "Director: erase, not played",
    DirectorAnswer.WRONG: "Wrong PIN",
    DirectorAnswer.CLOSED: "The director's menu is closed",
    DirectorAnswer.WAIT: "Wait before the next try",
}


class DirectorMenu:
    """The PIN is forgotten as soon as its proof is made."""

    def __init__(self, address: int, device_id: Callable[[], int], radio: Radio, agenda: Agenda) -> None:
        self._address = address
        self._device_id = device_id
        self._radio = radio
        self._agenda = agenda
        self._pin = ""
        self._take: tuple[int, int] | None = None
        self._closing: Booking | None = None
        self.is_open = False
        self.line = ""

    def ask(self, pin: str, take: tuple[int, int] | None = None) -> None:
        """Somebody has pressed the menu's key and typed four digits. take: section and table to take over, no menu."""
        self.close()
        self._pin, self._take = pin, take
        if not self._radio.send(self._address, Kind.DIRECTOR_ASK, {}):
            self._pin, self.line = "", "No contact: the menu can't be opened"

    def message(self, kind: int, fields: Fields) -> None:
        if kind == Kind.DIRECTOR_NONCE and self._pin:
            proof = director_proof(self._pin, fields["nonce"], self._device_id())
            self._pin = ""
            if self._take is not None:
                section, table = self._take
                self._radio.send(self._address, Kind.TAKE_OVER, {"section": section, "table": table, "proof": proof})
            else:
                self._radio.send(self._address, Kind.DIRECTOR_AUTH, {"proof": proof})
        elif kind == Kind.DIRECTOR_OPEN:
            self._pin = ""
            known = fields["answer"] in tuple(DirectorAnswer)
            self.line = WORDS[DirectorAnswer(fields["answer"])] if known else ""
            self.is_open = fields["answer"] == DirectorAnswer.OPEN
            self.touch()

    def touch(self) -> None:
        """A key was pressed in the menu."""
        if self._closing is not None:
            self._closing.cancel()
        self._closing = self._agenda.after(OPEN_FOR, self.close)

    def close(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
        self._closing, self._pin, self.line, self.is_open = None, "", "", False
