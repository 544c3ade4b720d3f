"""One table terminal: its memory, its battery and clock, its screen, and its part of the protocol (0x60 to 0x75).

A record is in non-volatile memory before it is sent, and its board says "received" only after a RECORD_ACK has covered
it and that too is in memory.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from hwsim import codec, messages
from hwsim.agenda import Agenda, Booking
from hwsim.evidence import Evidence
from hwsim.memory import Media
from hwsim.messages import Fields, pack_body, unpack_body
from hwsim.numbers import (
    CONFIRMED_BY_DIRECTOR,
    CONFIRMED_BY_OPPONENTS,
    Admission,
    Ask,
    CallState,
    Kind,
    RecordKind,
    Role,
)
from hwsim.speeds import Speed
from hwsim.station.checking import Checking
from hwsim.station.menu import DirectorMenu
from hwsim.station.nvlog import Stored, TerminalMemory
from hwsim.station.player import Play
from hwsim.station.showing import boards_of, feedback_lines, next_lines, ranking_lines, recap_lines
from hwsim.station.upload import Radio, Upload

STATUS_EVERY = 60.0
CLOCK_STEP = 4.0
FIRMWARE = "hwsim 1.0"
CALLS = {
    CallState.CALLED: "Director called",
    CallState.COMING: "The director is coming",
    CallState.DONE: "",
    CallState.NONE: "",
}
BY_DIRECTOR = (RecordKind.NOT_PLAYED, RecordKind.ERASED)
STRAINS = ("", "♣", "♦", "♥", "♠", "NT")


class Terminal:
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
        self.address = address
        self._radio = radio
        self._agenda = agenda
        self._speed = speed
        self._evidence = evidence
        self._start = start
        self._clock_error = random.Random(device_id).uniform(0.0, 65536 * CLOCK_STEP)
        self.memory = TerminalMemory(media.log(f"terminal-{address:05}"))
        self.memory.boot(device_id)
        if not self.memory.journal:
            self.memory.new_journal(chance.getrandbits(32) or 1)
        self.boot_id = chance.getrandbits(32)
        self.on = True
        self.records_written = 0  # since power-on
        self.upload = Upload(address, self.memory, radio, agenda, chance, key)
        self.checking = Checking(address, radio, agenda)
        self.menu = DirectorMenu(address, lambda: self.memory.device_id, radio, agenda)
        self.call = CallState.NONE  # as the host last said
        self.calling = False  # the key was pressed, and the host has not said that it knows
        self.curious = False  # the club wants travellers and rankings on the screen
        self.feedback: Fields = {}
        self.names: dict[tuple[int, int], str] = {}  # pair, seat: as the host says
        self.found: Fields = {}  # the last answer to a search
        self._searches = 0
        self.ranking: Fields = {}
        self.round_index: int | None = None  # what is on the screen
        self.last_line = ""
        self.message_line = ""
        self.changed: Callable[[], None] = _nothing
        self.keyed_in: Callable[[], None] = _nothing
        self._status_booking: Booking | None = None
        self._status_sent = -1e9
        agenda.after(STATUS_EVERY, self._every_minute)

    # -- the screen ---------------------------------------------------------------------------------------------------

    @property
    def event(self) -> int:
        return int(self.memory.plan.get("event_id", 0))

    @property
    def section(self) -> int:
        # A club sets each terminal to its table once and leaves it there: section A, table by the terminal's number.
        return int(self.memory.plan.get("section") or self.memory.admission.get("section") or 1)

    @property
    def table(self) -> int:
        return int(self.memory.plan.get("table") or self.memory.admission.get("table") or self.address)

    @property
    def admitted(self) -> bool:
        return bool(self.memory.admission.get("admitted") == Admission.ADMITTED)

    def rounds(self) -> list[Fields]:
        return list(self.memory.plan.get("rounds", ()))

    def host_listens(self) -> bool:
        return self._radio.is_up()

    def waiting(self) -> int:
        return len(self.memory.waiting())

    def keyed(self, round_: int, board: int, correction: bool = False) -> bool:
        return (self.event, round_, board, int(correction)) in self.memory.keyed

    def show_round(self, index: int | None) -> None:
        if index != self.round_index:
            self.round_index = index
            self.feedback = self.ranking = {}
            if self.names:
                self.ask_names()  # those who come may have said who they are meanwhile
            self._touch_status()

    def shown_round(self) -> Fields | None:
        rounds = self.rounds()
        if self.round_index is None or self.round_index >= len(rounds):
            return None
        return rounds[self.round_index]

    def screen(self) -> list[str]:
        """The lines that people at the table see."""
        if not self.on:
            return []
        if not self.admitted:
            return ["Not admitted yet. Call the director.", str(self.memory.admission.get("text", ""))]
        lines = [f"Section {_letters(self.section)}  Table {self.table}"]
        shown = self.shown_round()
        if shown is not None:
            lines.append(f"Round {shown['round']}")
            if shown["ns"] and shown["ew"] and shown["first_board"]:
                last = shown["first_board"] + shown["board_count"] - 1
                lines.append(f"NS {shown['ns']}  EW {shown['ew']}  Boards {shown['first_board']}-{last}")
                if self.names:
                    lines += [self._pair_text("NS", shown["ns"]), self._pair_text("EW", shown["ew"])]
            else:
                lines.append("Sit-out")
            left = [board for board in boards_of(shown) if not self.keyed(shown["round"], board)]
            lines += [f"To play: {' '.join(map(str, left))}"] if left else next_lines(shown)
        elif self.round_index is not None:
            lines.append("End of session")
        if self.last_line:
            lines.append(self.last_line)
        waiting = self.waiting()
        if waiting:
            lines.append(f"On this terminal, {waiting} waiting")
        lines += [f"{one['number']} {one['name']}".strip() for one in self.found.get("players", ())]
        lines += feedback_lines(self.feedback) + ranking_lines(self.ranking)
        if self.calling:
            lines.append("Calling the director" if self.host_listens() else "No contact. Fetch the director.")
        elif CALLS[self.call]:
            lines.append(CALLS[self.call])
        if self.menu.line:
            lines.append(self.menu.line)
        if self.message_line:
            lines.append(self.message_line)
        return lines

    def recap(self, round_: int) -> list[str]:
        """The key that shows what was keyed in here in a round, as far as memory holds it."""
        records = self.memory.records.values()
        kept = [r.body for r in records if r.event == self.event and not r.name and not r.moved]
        return recap_lines(kept, round_)

    def press_key(self) -> None:
        """Takes an urgent message off the screen."""
        self.message_line = ""

    def call_director(self) -> None:
        """The key that calls; it is sent again with every new contact until the host says that it knows."""
        self.calling = True
        self._send_call()

    def _send_call(self) -> None:
        if self.calling and self.admitted:
            shown = self.shown_round()
            fields = {"section": self.section, "table": self.table, "round": shown["round"] if shown else 0}
            self._radio.send(self.address, Kind.CALL, {**fields, "state": CallState.CALLED})

    # -- keying in ----------------------------------------------------------------------------------------------------

    def clock(self) -> int:
        return int((self._agenda.now + self._clock_error) / CLOCK_STEP) & 0xFFFF

    def key_in(self, shown: Fields, board: int, play: Play, replaces: Stored | None = None) -> None:
        """Both sides have agreed: into the memory, then on its way."""
        distance = self.memory.next_seq - replaces.seq if replaces is not None else 0
        self.memory.add(self.body_of(shown, board, play, distance, self.clock()), self.event)
        self.records_written += 1
        self.last_line = f"Board {board} {_words(play)}: on this terminal"
        self.upload.pump()
        self._touch_status()
        self.keyed_in()

    def direct(self, shown: Fields, board: int, kind: int) -> bool:
        """The director's menu: a board was not played, or what was keyed in is erased. False if it can't be."""
        standing = self.original_of(shown["round"], board)
        if not self.menu.is_open or (kind == RecordKind.ERASED and standing is None):
            return False
        self.menu.touch()
        self.key_in(shown, board, Play(kind), standing)
        return True

    def body_of(self, shown: Fields, board: int, play: Play, distance: int = 0, stamp: int = 0) -> bytes:
        """The body of the record of this entry."""
        return pack_body(
            kind=play.kind,
            confirmed_by=CONFIRMED_BY_DIRECTOR if play.kind in BY_DIRECTOR else CONFIRMED_BY_OPPONENTS,
            section=self.section,
            table=self.table,
            round=shown["round"],
            board=board,
            ns=shown["ns"],
            ew=shown["ew"],
            declarer=play.declarer,
            tricks=play.tricks,
            level=play.level,
            strain=play.strain,
            doubling=play.doubling,
            lead=play.lead,
            replaces=distance,
            stamp=stamp,
        )

    def key_in_name(self, round_: int, pair: int, seat: int, how: int, text: str = "") -> None:
        """A player says who he is: a number, a name, or guest in one key."""
        place = {"section": self.section, "table": self.table, "round": round_, "pair": pair, "seat": seat}
        self.memory.add_name(messages.pack_name(**place, how=how, text=text), self.event)
        self.records_written += 1
        self.upload.pump()
        self._touch_status()

    def search_name(self, text: str) -> None:
        self._searches = (self._searches + 1) & 0xFF
        self.found = {}
        self._radio.send(self.address, Kind.NAME_SEARCH, {"search": self._searches, "text": text})

    def ask_names(self) -> None:
        shown = self.shown_round()
        fields = {"what": Ask.NAMES, "round": shown["round"] if shown else 0, "board": 0}
        self._radio.send(self.address, Kind.ASK, fields)

    def _pair_text(self, direction: str, pair: int) -> str:
        who = " - ".join(name for seat in (1, 2) if (name := self.names.get((pair, seat))))
        return f"{direction} {pair} {who}".rstrip()

    def original_of(self, round_: int, board: int) -> Stored | None:
        """The record of this journal that a correction of that board can name; None if it was erased."""
        found = None
        for record in self.memory.records.values():
            here = record.journal == self.memory.journal and record.event == self.event
            if not here or record.moved or record.name:
                continue
            told = unpack_body(record.body)
            if (told["round"], told["board"]) != (round_, board):
                continue
            if told["kind"] == RecordKind.ERASED:
                found = None
            elif not told["replaces"]:
                found = record if self.memory.next_seq - record.seq <= 255 else None
        return found

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
            self._send_status()
            self.upload.held_back = not self.admitted
            self.upload.pump()
            self.changed()

    def session_down(self) -> None:
        self.upload.reset()
        self.menu.close()
        self.changed()

    def _touch_status(self) -> None:
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
            "section": self.section,
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
                self.memory.admit({k: v for k, v in fields.items() if k != "device_id"})
                self.upload.held_back = not self.admitted
                self._touch_status()
                self._send_call()
            case Kind.TABLE_PLAN:
                self._on_plan(fields)
            case Kind.RECORD_ACK:
                self._on_ack(fields)
            case Kind.RECORD_NAK:
                self._on_nak(fields)
            case Kind.RESEND:
                self.upload.send_again(fields["journal_id"], fields["from_seq"])
            case Kind.CREDIT:
                self.upload.credit = fields["credit"]
            case Kind.CALL_STATE:
                self.calling = False
                self.call = CallState(fields["state"]) if fields["state"] in tuple(CallState) else CallState.NONE
            case Kind.NAMES:
                self.names = {(one["pair"], one["seat"]): one["name"] for one in fields["names"]}
            case Kind.NAME_FOUND:
                if fields["search"] == self._searches:
                    self.found = fields
            case Kind.FEEDBACK:
                self.feedback = fields
            case Kind.RANKING:
                self.ranking = fields
            case Kind.DIRECTOR_NONCE | Kind.DIRECTOR_OPEN:
                self.menu.message(kind, fields)
            case Kind.ENTRY_CHECKED:
                self.checking.answered(fields)
            case Kind.TEXT:
                self.message_line = fields["text"]
                if not fields["urgent"]:
                    self._agenda.after(10.0, self.press_key)
        self.upload.pump()
        self.changed()

    def _on_plan(self, fields: Fields) -> None:
        held = self.memory.plan
        if held.get("event_id") == fields["event_id"] and fields["version"] < held.get("version", 0):
            return
        if held.get("event_id") != fields["event_id"]:
            self.round_index = None
            self.last_line = ""
        self.memory.hold_plan(fields)
        self._touch_status()

    def _on_ack(self, fields: Fields) -> None:
        fresh = self.upload.acknowledged(fields["journal_id"], fields["upto"], fields["credit"])
        for record in fresh:
            self._evidence.write("shown_received", self._shown(record))
            if record.name:
                self.last_line = "Names received"
                self.ask_names()
                continue
            told = unpack_body(record.body)
            self.last_line = f"Board {told['board']} received"
            self._ask_about(told)
        if fresh:
            self._touch_status()

    def _ask_about(self, told: Fields) -> None:
        """The board is received: what may the table see now?"""
        if not self.curious:
            return
        asked = {"round": told["round"], "board": told["board"]}
        self._radio.send(self.address, Kind.ASK, {"what": Ask.TRAVELLER, **asked})
        shown = next((one for one in self.rounds() if one["round"] == told["round"]), None)
        boards = range(shown["first_board"], shown["first_board"] + shown["board_count"]) if shown else ()
        if boards and all(self.keyed(told["round"], board) for board in boards):
            self._radio.send(self.address, Kind.ASK, {"what": Ask.RANKING, "round": told["round"], "board": 0})

    def _on_nak(self, fields: Fields) -> None:
        self.upload.refused(fields["journal_id"], fields["seq"], fields["reason"])
        if self.upload.held_back:
            self.message_line = "Not admitted. Call the director."
        self._touch_status()

    def _shown(self, record: Stored) -> dict[str, object]:
        device = self.memory.device_id
        body = record.body
        if record.name:  # a name stays out of the evidence, as it stays out of the host's ledger
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
        self.changed = self.keyed_in = _nothing


def _nothing() -> None:
    return None


def _letters(section: int) -> str:
    """A to Z, then AA to ZZ, then AAA to ZZZ; the number if it is none of them."""
    if not 0 < section < 79:
        return str(section)
    times, letter = divmod(section - 1, 26)
    return chr(65 + letter) * (times + 1)


def _words(play: Play) -> str:
    if play.kind == RecordKind.PASSED_OUT:
        return "passed out"
    if play.kind in BY_DIRECTOR:
        return "erased" if play.kind == RecordKind.ERASED else "not played"
    over = play.tricks - play.level - 6
    contract = f"{play.level}{STRAINS[play.strain]}{'x' * play.doubling} {'NESW'[play.declarer]}"
    return f"{contract} {over:+d}" if over else f"{contract} ="
