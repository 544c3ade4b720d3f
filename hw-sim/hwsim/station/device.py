"""The simulated base station with its terminals, tables and players, as one device behind one line.

The hub forwards between the link session and the terminals by address and keeps nothing. Sans-IO like the machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from hwsim import codec
from hwsim.agenda import Agenda
from hwsim.evidence import Evidence, NoEvidence
from hwsim.machine.device import device_id
from hwsim.machine.faults import Fault
from hwsim.memory import Media
from hwsim.messages import Fields
from hwsim.numbers import GoneReason, Kind, Role
from hwsim.session import Message, Session, SessionUp
from hwsim.speeds import SPEEDS, Speed
from hwsim.station.faults import StationFaults
from hwsim.station.nvlog import TerminalMemory
from hwsim.station.room import Room
from hwsim.station.table import Table
from hwsim.station.terminal import FIRMWARE, Terminal

WINDOW = 16
QUEUE_LIMIT = 1024
HELLO_SPREAD = 0.004  # seconds between the hellos of two terminals, so that they do not all shout at once
ACCEPTS = frozenset(
    {
        Kind.ADMIT,
        Kind.TABLE_PLAN,
        Kind.TEXT,
        Kind.CALL_STATE,
        Kind.RECORD_ACK,
        Kind.RECORD_NAK,
        Kind.RESEND,
        Kind.CREDIT,
        Kind.ENTRY_CHECKED,
        Kind.FEEDBACK,
        Kind.RANKING,
        Kind.NAMES,
        Kind.NAME_FOUND,
        Kind.DIRECTOR_NONCE,
        Kind.DIRECTOR_OPEN,
        Kind.TABLE_SETTINGS,
        Kind.CODES,
        Kind.RECAP,
        Kind.STANDINGS,
    }
)


class Station:
    """checks: terminals ask the host about each entry. curious: they ask what they may show. sign_in: players say who
    they are.

    seed: fixes results and timings. chance: draws what must differ at every start. key: of a terminal's id.
    """

    role = "station"

    def __init__(
        self,
        media: Media,
        now: float,
        *,
        terminals: int = 1,
        seed: int = 0,
        speed: Speed = SPEEDS["max"],
        evidence: Evidence | None = None,
        chance: random.Random | None = None,
        wait_for_all: bool = True,
        corrections: float = 0.0,
        checks: bool = False,
        curious: bool = False,
        sign_in: bool = False,
        faults: Sequence[Fault] = (),
        key: Callable[[int], bytes | None] = lambda _: None,
        byte_time: float = 0.0,
    ) -> None:
        self._media = media
        self._seed = seed
        self._speed = speed
        self.evidence = evidence or NoEvidence()
        self._chance = chance or random.SystemRandom()
        self._byte_time = byte_time
        self._corrections = corrections
        self._checks = checks
        self._curious = curious
        self._sign_in = sign_in
        self._key = key
        self._start = now
        self.agenda = Agenda(now)
        self.room = Room(wait_for_all)
        self._greeted: set[int] = set()
        self._faults = StationFaults(list(faults), media)
        self._unplug: float | None = None
        self._keyed = 0
        self._hub_memory = TerminalMemory(media.log("station"))
        self.session = self._boot_hub()
        self.terminals: dict[int, Terminal] = {}
        self.tables: dict[int, Table] = {}
        for address in range(1, terminals + 1):
            self.power_on(address)
        self._keyed = sum(len(terminal.memory.keyed) for terminal in self.terminals.values())

    # -- power --------------------------------------------------------------------------------------------------------

    def _boot_hub(self) -> Session:
        self._hub_memory.boot(device_id(self._seed, "station"))
        boot_id = self._chance.getrandbits(32)
        return Session(
            lambda number: self._hello(number, boot_id),
            ACCEPTS,
            self.agenda.now,
            window=WINDOW,
            byte_time=self._byte_time,
        )

    def _hello(self, session: int, boot_id: int) -> Fields:
        return {
            "proto_min": codec.VERSION,
            "proto_max": codec.VERSION,
            "role": Role.STATION,
            "window": WINDOW,
            "max_frame": codec.MAX_FRAME,
            "device_id": self._hub_memory.device_id,
            "boot_id": boot_id,
            "boot_count": self._hub_memory.boots,
            "journal_id": 0,
            "oldest_unacked": 0,
            "next_seq": 0,
            "capabilities": 0,
            "session": session,
            "model": "hwsim base station",
            "firmware": FIRMWARE,
            "commands": [],
        }

    def power_on(self, address: int) -> Terminal:
        """A terminal with its old memory and a new boot id."""
        self._greeted.discard(address)
        identity = device_id(self._seed, f"terminal:{address}")
        terminal = Terminal(
            address,
            identity,
            self._media,
            self,
            self.agenda,
            self._speed,
            self.evidence,
            self._chance,
            self._key(identity),
            self._start,
        )
        terminal.curious = self._curious
        terminal.keyed_in = lambda: self._after_record(address)
        self.terminals[address] = terminal
        self.tables[address] = Table(
            terminal, self.room, self.agenda, self._speed, self._seed, self._corrections, self._checks, self._sign_in
        )
        self.tables[address].consider()
        if self.session.up:
            self._tell_contact()
            terminal.session_up()
        return terminal

    def power_off(self, address: int) -> None:
        """A terminal loses its battery; the hub notices."""
        self.terminals[address].power_off()
        if self.session.up:
            self.session.send(Kind.TERM_GONE, {"reason": GoneReason.SILENT}, address)
            self._tell_contact()

    def restart_hub(self) -> None:
        """The base station alone starts anew; the terminals go on."""
        was_up = self.session.up
        self.session = self._boot_hub()
        if was_up:
            self._each(lambda terminal: terminal.session_down())

    # -- radio --------------------------------------------------------------------------------------------------------

    def is_up(self) -> bool:
        return self.session.up

    def send(self, address: int, kind: int, fields: Fields) -> bool:
        if kind == Kind.TERM_HELLO:
            self._greeted.add(address)
        elif address not in self._greeted:
            return False  # a host hears nothing of a terminal before its hello
        if kind == Kind.TERM_STATUS and self.session.backlog() > QUEUE_LIMIT:
            return False
        return self.session.send(kind, fields, address)

    def _each(self, action: Callable[[Terminal], None]) -> None:
        for address in sorted(self.terminals):
            action(self.terminals[address])

    def _tell_contact(self) -> None:
        count = sum(terminal.on for terminal in self.terminals.values())
        self.session.send(Kind.STATION_STATUS, {"terminals": count, "battery": 255})

    def _on_up(self) -> None:
        self._greeted.clear()
        self._tell_contact()
        session = self.session
        for number, address in enumerate(sorted(self.terminals)):
            delay = 0.0 if self._speed.instant else number * HELLO_SPREAD
            self.agenda.after(delay, lambda a=address: self._greet(session, a))  # type: ignore[misc]

    def _greet(self, session: Session, address: int) -> None:
        if session is self.session and session.up:
            self.terminals[address].session_up()

    def _on_message(self, event: Message) -> None:
        if event.address == 0:
            if event.kind == Kind.CREDIT:
                self._each(lambda terminal: terminal.message(event.kind, event.fields))
            return
        terminal = self.terminals.get(event.address)
        if terminal is None or not terminal.on:
            self.session.send(Kind.TERM_GONE, {"reason": GoneReason.SILENT}, event.address)
        else:
            terminal.message(event.kind, event.fields)

    # -- sans-IO ------------------------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> None:
        self.agenda.run(now)
        self.session.receive(data, now)
        self._work(now)

    def tick(self, now: float) -> None:
        self.agenda.run(now)
        self.session.tick(now)
        self._work(now)

    def next_deadline(self) -> float | None:
        times = (self.agenda.next_time(), self.session.next_deadline())
        return min((t for t in times if t is not None), default=None)

    def take_output(self, room: int = 1 << 30) -> bytes:
        return self.session.take_output(room)

    def line_down(self, now: float) -> None:
        self.agenda.run(now)
        self.session.line_down()
        self._work(now)

    def bye(self, reason: int) -> None:
        self.session.bye(reason)

    def take_unplug(self) -> float | None:
        """Seconds for which the line has to be unplugged now, once, or None."""
        seconds, self._unplug = self._unplug, None
        return seconds

    def _after_record(self, address: int) -> None:
        self._keyed += 1
        fault = self._faults.strike(self._keyed)
        if fault is None:
            return
        at = round(self.agenda.now - self._start, 3)
        self.evidence.write("faults", {"kind": fault.kind, "board": 0, "copy": 0, "detectable": True, "at": at})
        seconds = fault.option("for", 1.0)
        if fault.kind == "unplug":
            self._unplug = seconds
        elif fault.kind == "hub":
            self.agenda.after(0.0, self.restart_hub)
        else:
            self.agenda.after(0.0, lambda: self.power_off(address))
            self.agenda.after(seconds, lambda: self._back(address))

    def _back(self, address: int) -> None:
        self.power_on(address)

    def _work(self, now: float) -> None:
        while True:
            while self.session.events:
                event = self.session.events.popleft()
                if isinstance(event, SessionUp):
                    self._on_up()
                elif isinstance(event, Message):
                    self._on_message(event)
                else:
                    self._each(lambda terminal: terminal.session_down())
            due = self.agenda.next_time()
            if due is None or due > now:
                return
            self.agenda.run(now)

    def close(self) -> None:
        self.evidence.close()

    def statistics(self) -> dict[str, object]:
        records = [record for t in self.terminals.values() for record in t.memory.records.values()]
        return {
            "terminals": len(self.terminals),
            "records_written": sum(t.records_written for t in self.terminals.values()),
            "results_keyed": sum(len(t.memory.keyed) for t in self.terminals.values()),
            "records_waiting": sum(not (r.acked or r.moved) for r in records),
            "retransmissions": self.session.retransmissions,
        }
