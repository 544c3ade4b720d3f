"""One table terminal: its battery and clock, and its part of the protocol (0x60 to 0x87).

A record is in non-volatile memory before it is sent, and its board says "received" only after a RECORD_ACK has covered
it and that too is in memory. What people key in is in ``keying``, what they see in ``screen``.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from hwsim import codec, messages
from hwsim.agenda import Agenda, Booking
from hwsim.evidence import Evidence
from hwsim.memory import Media
from hwsim.messages import Fields, unpack_body
from hwsim.numbers import Ask, CallState, Kind, Role, Setting
from hwsim.speeds import Speed
from hwsim.station.checking import Checking
from hwsim.station.keying import Keying, nothing
from hwsim.station.nvlog import Stored
from hwsim.station.screen import screen
from hwsim.station.showing import boards_of, recap_lines
from hwsim.station.upload import Radio

STATUS_EVERY = 60.0
FIRMWARE = "hwsim 1.1"


class Terminal(Keying):
    """``changed`` is called after everything that a player at the table may want to react to."""

    def __init__(
        self,
        address: int,
        device_id: int,
        media: Media,
        radio: Radio,
        agenda: Agenda,
        speed: Speed,
        evidence: Evidence,
        chance: random.Random,
        key: bytes | None,
        start: float,
    ) -> None:
        super().__init__(address, device_id, media, radio, agenda, chance, key)
        self._speed = speed
        self._evidence = evidence
        self._start = start
        self.boot_id = chance.getrandbits(32)
        self.on = True
        self.checking = Checking(address, radio, agenda)
        self.call = CallState.NONE  # as the host last said
        self.calling = False  # the key was pressed, and the host has not said that it knows
        self._calling_off = False  # the key was pressed again: the call is taken back
        self.curious = False  # the club wants travellers and rankings on the screen
        self.feedback: Fields = {}
        self.names: dict[tuple[int, int], str] = {}  # pair, seat: as the host says
        self.ranking: Fields = {}
        self.session: Fields = {}  # a pair's whole session
        self.standings: dict[int, Fields] = {}  # whole rankings by number
        self.changed: Callable[[], None] = nothing
        self._status_booking: Booking | None = None
        self._status_sent = -1e9
        self._told: tuple[int, int] = (0, 0)  # event and journal as TERM_EVENTS last said
        self.upload.introduce = self.session_up
        agenda.after(STATUS_EVERY, self._every_minute)

    # -- the screen ---------------------------------------------------------------------------------------------------

    def host_listens(self) -> bool:
        return self._radio.is_up()

    def show_round(self, index: int | None) -> None:
        if index != self.round_index:
            self.round_index = index
            self.feedback = self.ranking = self.session = {}
            self.standings = {}
            self.touch_status()

    def screen(self) -> list[str]:
        """The lines that people at the table see."""
        return screen(self)

    def recap(self, round_: int | None = None) -> list[str]:
        """The key that shows what was keyed in here in a round, or in all of them, as far as memory holds it."""
        records = self.memory.records.values()
        kept = [r.body for r in records if r.event == self.event and not r.extra and not r.moved]
        rounds = sorted({unpack_body(body)["round"] for body in kept}) if round_ is None else [round_]
        return [line for one in rounds for line in recap_lines(kept, one)]

    def log_in(self, section: int, table: int) -> None:
        """Somebody picks section and table at this terminal."""
        self.memory.choose(section, table)
        self._send_status()

    # -- the director's call ------------------------------------------------------------------------------------------

    def call_director(self) -> None:
        """The key that calls; it is sent again with every new contact until the host says that it knows."""
        self.calling, self._calling_off = True, False
        self._send_call()

    def take_back_call(self) -> None:
        """The same key again: the table has helped itself."""
        if self.calling or self.call in (CallState.CALLED, CallState.COMING):
            self.calling, self._calling_off = False, True
            self._send_call()

    def answer_call(self, state: CallState) -> None:
        """The director's key in the open menu: he is here (coming), or done."""
        if self.menu.is_open:
            self.menu.touch()
            self._tell_call(state)

    def _send_call(self) -> None:
        if (self.calling or self._calling_off) and self.admitted:
            self._tell_call(CallState.CALLED if self.calling else CallState.NONE)

    def _tell_call(self, state: CallState) -> None:
        shown = self.shown_round()
        fields = {"section": self.section, "table": self.table, "round": shown["round"] if shown else 0}
        self._radio.send(self.address, Kind.CALL, {**fields, "state": state})

    # -- sending ------------------------------------------------------------------------------------------------------

    def session_up(self) -> None:
        """A host listens: say hello, and send what it may not have."""
        if not self.on:
            return
        self.upload.reset()
        memory = self.memory
        here = [r.seq for r in memory.waiting() if r.journal == memory.journal]
        hello = {
            "proto_min": codec.VERSION,
            "proto_max": codec.VERSION,
            "role": Role.TERMINAL,
            "window": 1,
            "max_frame": codec.MAX_FRAME,
            "device_id": memory.device_id,
            "boot_id": self.boot_id,
            "boot_count": memory.boots,
            "journal_id": memory.journal,
            "oldest_unacked": min(here, default=0),
            "next_seq": memory.next_seq,
            "capabilities": 0,
            "session": 0,
            "model": "hwsim terminal",
            "firmware": FIRMWARE,
            "commands": [],
        }
        if self._radio.send(self.address, Kind.TERM_HELLO, hello):
            self._send_events()
            self._send_status()
            self.upload.held_back = not self.admitted
            self.upload.pump()
            self.changed()

    def _send_events(self) -> None:
        """Which records belong to which event, before any that the host has not seen."""
        parts = self.memory.event_parts(self.event)
        if not self.event or not parts:
            return
        self._told = (self.event, self.memory.journal)
        told = [{"journal_id": journal, "first_seq": first, "event_id": event} for journal, first, event in parts]
        auth = messages.events_auth(self._key, self.memory.device_id, told)
        self._radio.send(self.address, Kind.TERM_EVENTS, {"auth": auth, "parts": told})

    def session_down(self) -> None:
        self.upload.reset()
        self.menu.close()
        self.changed()

    def touch_status(self) -> None:
        if self._status_booking is None and self.on:
            due = max(self._agenda.now, self._status_sent + self._speed.status)
            self._status_booking = self._agenda.at(due, self._send_status)

    def _send_status(self) -> None:
        if self._status_booking is not None:
            self._status_booking.cancel()
            self._status_booking = None
        if not self.on:
            return
        shown = self.shown_round()
        status = {
            "section": self.section if self.table else 0,
            "table": self.table,
            "round": shown["round"] if shown else 0,
            "battery": self.battery(),
            "signal": 100 - self.address % 40,
            "waiting": min(0xFFFF, self.waiting()),
            "clock": self.clock(),
            "plan_version": self.memory.plan.get("version", 0),
        }
        self._status_sent = self._agenda.now
        self._radio.send(self.address, Kind.TERM_STATUS, status)

    def _every_minute(self) -> None:
        if self.on:
            if self._agenda.now >= self._status_sent + STATUS_EVERY:
                self._send_status()
            self._agenda.at(max(self._status_sent, self._start) + STATUS_EVERY, self._every_minute)

    def battery(self) -> int:
        """Percent: a set lasts about 50 hours."""
        return max(1, 100 - int((self._agenda.now - self._start) / 1800))

    # -- receiving ----------------------------------------------------------------------------------------------------

    def message(self, kind: int, fields: Fields) -> None:
        if not self.on or fields.get("device_id", self.memory.device_id) != self.memory.device_id:
            return
        match kind:
            case Kind.ADMIT:
                self._on_admit(fields)
            case Kind.TABLE_PLAN:
                self._on_plan(fields)
            case Kind.TABLE_SETTINGS:
                self._on_settings(fields["settings"])
            case Kind.RECORD_ACK:
                self._on_ack(fields)
            case Kind.RECORD_NAK:
                self._on_nak(fields)
            case Kind.RESEND:
                self.upload.send_again(fields["journal_id"], fields["from_seq"])
            case Kind.CREDIT:
                self.upload.credit = fields["credit"]
            case Kind.CALL_STATE:
                self._on_call_state(fields["state"])
            case Kind.NAMES:
                self.names = {(one["pair"], one["seat"]): one["name"] for one in fields["names"]}
            case Kind.CODES:
                self.memory.hold_codes({one["pair"]: one["verifier"] for one in fields["codes"]})
            case Kind.NAME_FOUND:
                if fields["search"] == self._searches:
                    self.found = fields
            case Kind.FEEDBACK:
                self.feedback = fields
            case Kind.RANKING:
                self.ranking = fields
            case Kind.RECAP:
                self.session = fields
            case Kind.STANDINGS:
                if fields["number"] == 1:
                    self.standings = {}
                self.standings[fields["number"]] = fields
            case Kind.DIRECTOR_NONCE | Kind.DIRECTOR_OPEN:
                self.menu.message(kind, fields)
            case Kind.ENTRY_CHECKED:
                self.checking.answered(fields)
            case Kind.TEXT:
                self.message_line = fields["text"]
                if not fields["urgent"]:
                    self._agenda.after(10.0, self.press_key)
        if self._told != (self.event, self.memory.journal):
            self._send_events()  # another event has begun, or another journal: said before any record of it
        self.upload.pump()
        self.changed()

    def _on_admit(self, fields: Fields) -> None:
        before, table = self.event, self.table
        self.memory.admit({k: v for k, v in fields.items() if k != "device_id"})
        self.upload.held_back = not self.admitted
        if self.event != before or self.table != table:
            self._begin()
        self.touch_status()
        self._send_call()
        if self.admitted and self.table:
            self.ask_names()

    def _on_call_state(self, state: int) -> None:
        self.calling = self._calling_off = False
        self.call = CallState(state) if state in tuple(CallState) else CallState.NONE

    def _on_settings(self, settings: int) -> None:
        self.memory.hold_settings(settings)
        if self.allows(Setting.CONFIRM_CODE):
            self.ask(Ask.CODES)

    def _begin(self) -> None:
        """Another event, or another table: nothing of the one before stays on the screen."""
        self.round_index = None
        self.last_line = ""
        self.names = {}
        self.menu.close()

    def _on_plan(self, fields: Fields) -> None:
        held = self.memory.plan
        if held.get("event_id") == fields["event_id"] and fields["version"] < held.get("version", 0):
            return
        if held.get("event_id") != fields["event_id"]:
            self._begin()
        self.memory.hold_plan(fields)
        self.touch_status()

    def _on_ack(self, fields: Fields) -> None:
        fresh = self.upload.acknowledged(fields["journal_id"], fields["upto"], fields["credit"])
        for record in fresh:
            self._evidence.write("shown_received", self._shown(record))
            if record.name:
                self.last_line = "Names received"
            elif not record.table:
                told = unpack_body(record.body)
                self.last_line = f"Board {told['board']} received"
                self._ask_about(told)
        if fresh:
            self.touch_status()

    def _ask_about(self, told: Fields) -> None:
        """The board is received: what may the table see now?"""
        if not self.curious:
            return
        self.ask(Ask.TRAVELLER, told["round"], told["board"])
        shown = next((one for one in self.rounds() if one["round"] == told["round"]), None)
        boards = boards_of(shown) if shown else ()
        if boards and all(self.keyed(told["round"], board) for board in boards):
            self.ask(Ask.RANKING, told["round"])

    def _on_nak(self, fields: Fields) -> None:
        self.upload.refused(fields["journal_id"], fields["seq"], fields["reason"])
        if self.upload.held_back:
            self.message_line = "Not admitted. Call the director."
        self.touch_status()

    def _shown(self, record: Stored) -> dict[str, object]:
        device = self.memory.device_id
        body = record.body
        if record.extra:  # a name, or cards, stay out of the evidence, as they stay out of the host's ledger
            body = messages.name_hash(device, record.journal, record.seq, body)
        crc = messages.record_crc(device, record.journal, record.seq, body)
        return {
            "device": f"{device:016x}",
            "journal": f"{record.journal:08x}",
            "seq": record.seq,
            "crc": f"{crc:08x}",
            "body": body.hex(),
            "at": round(self._agenda.now - self._start, 3),
        }

    # -- power --------------------------------------------------------------------------------------------------------

    def power_off(self) -> None:
        """The battery is taken out: everything but the memory is gone. A new object is the terminal after that."""
        self.on = False
        self.upload.stop()
        self.checking.cancel()
        self.menu.close()
        if self._status_booking is not None:
            self._status_booking.cancel()
        self.changed = self.keyed_in = nothing
