"""The roster's side of the collector: who is in contact, who is admitted to which table, which plan it holds. Sans-IO.

Work for the store is queued here and in ``terminals.sync.collector``, which adds records and acknowledgements.
"""

from __future__ import annotations

import hmac
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

from firmware_bridge.wire.messages import (
    Admit,
    Call,
    CallStateTold,
    Credit,
    Message,
    TermEvents,
    TermHello,
    TermStatus,
    Text,
    encode,
    fit_text,
)
from firmware_bridge.wire.numbers import Admission, CallState, Role
from firmware_bridge.wire.record import AUTH_SIZE, events_auth
from terminals.store.desk import Device, DeviceState
from terminals.store.values import device_hex
from terminals.sync.jobs import Done, Job, TakeAlarm, TakeDesk, TakeDevice, TakeJournal, TakeParts
from terminals.sync.setup import EventSetup, section_letter, table_settings
from terminals.sync.terminal import Terminal, Track


@dataclass(frozen=True, slots=True)
class Limits:
    """queue: jobs that may wait for the disk. batch: jobs of one transaction. credit: records that a terminal may send
    unacknowledged. per_terminal: its records that may wait. per_second: its records a second in the long run, and
    burst: at once. asks_per_second, asks_burst, asks_open: the same for its questions, and how many of them may wait.
    devices: terminals known at all. ask_every: seconds between requests for missing records. ask_times, silent_times:
    how many of them are answered without the record, or not at all, before it is given up. plan_every: seconds before
    the same plan is sent again. probe_every: seconds between tries of a store that fails."""

    queue: int = 2048
    batch: int = 256
    credit: int = 4
    per_terminal: int = 16
    per_second: float = 50.0
    burst: float = 500.0
    asks_per_second: float = 2.0
    asks_burst: float = 20.0
    asks_open: int = 4
    devices: int = 4096
    ask_every: float = 2.0
    ask_times: int = 3
    silent_times: int = 30
    plan_every: float = 10.0
    probe_every: float = 2.0


@dataclass(frozen=True, slots=True)
class Send:
    """A message to a terminal. address 0: the station itself, or all its terminals."""

    station: str
    address: int
    message: Message


@dataclass(frozen=True, slots=True)
class Work:
    job: Job
    terminal: Terminal | None = None
    track: Track | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """What the store should do in one transaction."""

    work: tuple[Work, ...]

    @property
    def jobs(self) -> list[Job]:
        return [work.job for work in self.work]


DEFAULT_LIMITS = Limits()
NEEDS_KEY = "This terminal needs a key. Call the director."
ASIDE = "This terminal is at no table. What waits here is still sent."
MAX_PARTS = 32
"""Parts of a TERM_EVENTS that are read; no terminal remembers that many evenings."""


class Contacts:
    """Terminals in contact and their admission."""

    def __init__(self, setup: EventSetup, roster: Mapping[int, Device], limits: Limits) -> None:
        self._setup = setup
        self._roster = dict(roster)
        self._limits = limits
        self._terminals: dict[tuple[str, int], Terminal] = {}
        self._by_device: dict[int, Terminal] = {}
        self._queue: deque[Work] = deque()
        self._stations: set[str] = set()
        self._calls: dict[tuple[int, int], CallState] = {}
        self.open_lines: frozenset[str] = frozenset()
        """Stations that are reached over a network: their terminals must have keys, whatever the event's settings."""
        self.strangers = 0

    # --- what others may look at ---

    @property
    def setup(self) -> EventSetup:
        return self._setup

    @property
    def terminals(self) -> list[Terminal]:
        """Those that have shown themselves since the start, by device id."""
        return [self._by_device[device] for device in sorted(self._by_device)]

    @property
    def roster(self) -> Mapping[int, Device]:
        return self._roster

    @property
    def credit(self) -> int:
        """What terminals are allowed now."""
        return self._limits.credit

    def set_setup(self, setup: EventSetup, now: float) -> list[Send]:
        """The event has changed: terminals get their new plans at once, and what they key in belongs to it."""
        before, self._setup = self._setup, setup
        if setup.id != before.id:
            for terminal in self.terminals:
                self._begin_event(terminal)
        out: list[Send] = []
        for terminal in self.terminals:
            device = self._roster[terminal.device]
            kept = device.state is DeviceState.ADMITTED and self._may_play(device, terminal.station)
            if setup.id == before.id and terminal.present and terminal.admitted != kept:
                out += self._announce(terminal, now)  # a key is wanted from now on, or no longer
            elif terminal.admitted and terminal.present:
                told = table_settings(setup.settings_of(terminal.section))
                if terminal.takes_settings and told != table_settings(before.settings_of(terminal.section)):
                    out.append(self._to(terminal, told))
                out += self._plan(terminal, now)
        return out

    def _begin_event(self, terminal: Terminal) -> None:
        """Tell the store from which number on the terminal's journal belongs to the event that is played now."""
        track = terminal.current
        if track is None or terminal.tells_events:
            return  # it says itself when it begins the new event; what comes before that belongs to the old one
        following = max(track.expected, terminal.held_upto + 1, track.unacked)
        self._put(TakeJournal(terminal.device, track.journal, following))

    def set_device(self, device: Device, now: float) -> list[Send]:
        """The director has changed the roster, and the store has it already."""
        self._roster[device.id] = device
        terminal = self._by_device.get(device.id)
        return [] if terminal is None else self._announce(terminal, now)

    def text(self, text: str, section: int = 0, table: int = 0, *, urgent: bool = False) -> list[Send]:
        """A message of the director to a table, a section (table 0) or all (section 0)."""
        message = Text(int(urgent), fit_text(text))
        return [
            Send(t.station, t.address, message)
            for t in self.terminals
            if t.admitted and t.present and section in (0, t.section) and table in (0, t.table)
        ]

    def call_state(self, section: int, table: int, state: CallState) -> list[Send]:
        """Tell a table what became of its call, for example that the director is coming."""
        if state in (CallState.CALLED, CallState.COMING):
            self._calls[section, table] = state
        else:
            self._calls.pop((section, table), None)
        message = CallStateTold(int(state))
        return [self._to(t, message) for t in self.terminals if t.present and t.seat == (section, table)]

    # --- hello and admission ---

    def _hello(self, station: str, address: int, hello: TermHello, now: float) -> list[Send]:
        if hello.role != Role.TERMINAL or not address or not hello.device_id:
            self.strangers += 1
            return []
        device = hello.device_id
        terminal = self._by_device.get(device)
        if terminal is None:
            if len(self._by_device) >= self._limits.devices:
                self.strangers += 1
                return []
            terminal = self._by_device[device] = Terminal(station, address, device)
        if self._terminals.get((terminal.station, terminal.address)) is terminal:
            del self._terminals[terminal.station, terminal.address]
        before = self._terminals.get((station, address))
        if before is not None and before is not terminal:
            before.present = False
        self._same_id(terminal, hello.boot_id, station, address)
        terminal.station, terminal.address = station, address
        self._terminals[station, address] = terminal
        if terminal.firmware != hello.firmware:
            terminal.takes_settings = True
        terminal.model, terminal.firmware, terminal.boot_id = hello.model, hello.firmware, hello.boot_id
        terminal.present, terminal.last_seen = True, now
        terminal.plan_sent, terminal.told = None, ""
        terminal.tells_events, terminal.parts, terminal.menu_open = False, (), False
        known = self._roster.get(device)
        if known is None:
            known = Device(device, DeviceState.WAITING, model=hello.model, firmware=hello.firmware)
            self._roster[device] = known
            self._put(TakeDevice(known))
        return self._announce(terminal, now) + self._begin(terminal, hello, now)

    def _same_id(self, terminal: Terminal, boot_id: int, station: str, address: int) -> None:
        """A boot id that comes back after another one is a second terminal with the same id: no memory starts twice
        with one."""
        elsewhere = (terminal.station, terminal.address) != (station, address)
        if elsewhere and boot_id == terminal.former_boot_id and boot_id != terminal.boot_id:
            self._alarm(
                "same-id",
                device_hex(terminal.device),
                f"Two terminals say that they are {device_hex(terminal.device)}. Take one of them away, and compare"
                " the results of its table with the slips.",
            )
        if boot_id != terminal.boot_id:
            terminal.former_boot_id = terminal.boot_id

    def _begin(self, terminal: Terminal, hello: TermHello, now: float) -> list[Send]:
        """What else follows from an introduction."""
        return []

    def _announce(self, terminal: Terminal, now: float) -> list[Send]:
        """Tell a terminal what the roster says of it."""
        device = self._roster[terminal.device]
        before = terminal.seat
        terminal.admitted = device.state is DeviceState.ADMITTED and self._may_play(device, terminal.station)
        terminal.refused = device.state is DeviceState.REFUSED
        terminal.section, terminal.table = (device.section, device.table) if terminal.admitted else (0, 0)
        terminal.credit = self.credit
        if terminal.admitted:
            text = "" if terminal.table else ASIDE
            out = [self._admit(terminal, Admission.ADMITTED, text), self._to(terminal, Credit(self.credit))]
            if terminal.table and terminal.takes_settings:
                out.append(self._to(terminal, table_settings(self._setup.settings_of(terminal.section))))
            if terminal.parts:
                self._put(TakeParts(terminal.device, terminal.parts))
                terminal.parts = ()
            state = self._calls.get(self._seat_of(terminal))
            if state is not None:
                out.append(self._to(terminal, CallStateTold(int(state))))
            if before is not None and terminal.seat != before:
                # The versions of all tables' plans are the same: only a new plan tells that the table is another one.
                terminal.status = terminal.plan_sent = None
                return out + self._plan(terminal, now)
            return out if terminal.status is None else out + self._plan(terminal, now)
        if terminal.refused:
            return [self._admit(terminal, Admission.REFUSED, "This terminal is not used tonight.")]
        if not self._may_play(device, terminal.station):
            name = device_hex(device.id)
            what = f"Terminal {name} needs a key of its own. Pair it with: firmware-bridge td pair {name}"
            self._alarm("needs-key", name, what)
            return [self._admit(terminal, Admission.WAITING, NEEDS_KEY)]
        return [self._admit(terminal, Admission.WAITING, terminal.told or "Waiting for the director.")]

    def _may_play(self, device: Device, station: str) -> bool:
        """A key is needed where the event says so, and at a station whose line anybody in the network can use."""
        return bool(device.key) or not (self._setup.settings.need_key or station in self.open_lines)

    def _status(self, terminal: Terminal, status: TermStatus, now: float) -> list[Send]:
        wanted = (status.section, status.table) if status.table else (0, 0)
        if terminal.admitted and wanted in ((0, 0), terminal.seat):
            return self._plan(terminal, now)
        device = self._roster[terminal.device]
        if terminal.refused or wanted == (0, 0) or terminal.asking == wanted:
            return []
        if terminal.seat is not None and status.plan_version != self._setup.plan_version:
            return self._plan(terminal, now)  # it has not yet read where it belongs
        if not self._setup.has_table(*wanted):
            return self._tell(terminal, "The event has no such table.")
        holder = self._holder(*wanted)
        if holder is not None and holder != terminal.device:
            if terminal.admitted:
                return self._tell(terminal, ASIDE)  # it had that table, and may not know yet that it was replaced
            place = f"{section_letter(status.section)}{status.table}"
            self._alarm(
                "take-over",
                place,
                f"A second terminal wants table {place}. Replace the first one if it is broken.",
            )
            return self._tell(terminal, f"Table {place} has a terminal. Call the director.")
        if not self._setup.settings.admit_all or not self._may_play(device, terminal.station):
            return self._tell(terminal, "Waiting for the director.")
        terminal.asking = wanted
        self._put(TakeDevice(replace(device, state=DeviceState.ADMITTED, section=wanted[0], table=wanted[1])))
        return []

    def _holder(self, section: int, table: int) -> int | None:
        for terminal in self._by_device.values():
            if terminal.asking == (section, table):
                return terminal.device
        for device in self._roster.values():
            if device.state is DeviceState.ADMITTED and (device.section, device.table) == (section, table):
                return device.id
        return None

    def _tell(self, terminal: Terminal, text: str) -> list[Send]:
        if terminal.told == text:
            return []
        terminal.told = text
        state = Admission.ADMITTED if terminal.admitted else Admission.WAITING
        return [self._admit(terminal, state, text)]

    def _device_kept(self, device: Device, done: Done, now: float) -> list[Send]:
        terminal = self._by_device.get(device.id)
        if terminal is not None:
            terminal.asking = None
        if done.refused:
            return [] if terminal is None else self._tell(terminal, "This table has a terminal. Call the director.")
        if device.state is DeviceState.WAITING and self._roster[device.id].state is not DeviceState.WAITING:
            return []
        self._roster[device.id] = device
        if terminal is None or device.state is DeviceState.WAITING:
            return []
        return self._announce(terminal, now)

    def _admit(self, terminal: Terminal, state: Admission, text: str) -> Send:
        message = Admit(terminal.device, int(state), self._setup.id, terminal.section, terminal.table, text)
        return self._to(terminal, message)

    def _plan(self, terminal: Terminal, now: float) -> list[Send]:
        """The plan of its table, when the terminal holds another one: another version, or that of another table."""
        held = terminal.status
        version = self._setup.plan_version
        if not terminal.table:
            return []
        if held is not None and (held.plan_version, held.section, held.table) == (version, *self._seat_of(terminal)):
            return []
        if terminal.plan_sent is not None:
            sent, at = terminal.plan_sent
            if sent == (version, *self._seat_of(terminal)) and now - at < self._limits.plan_every:
                return []
        plan = self._setup.table_plan(terminal.section, terminal.table)
        if plan is None:
            return []
        terminal.plan_sent = ((version, *self._seat_of(terminal)), now)
        return [self._to(terminal, plan)]

    @staticmethod
    def _seat_of(terminal: Terminal) -> tuple[int, int]:
        return terminal.section, terminal.table

    def _call(self, terminal: Terminal, call: Call, now: float, wall: str) -> list[Send]:
        place = {"section": terminal.section, "table": terminal.table, "round": call.round, "state": call.state}
        if terminal.seat is None or not terminal.call_pace.take(
            now, self._limits.asks_per_second, self._limits.asks_burst
        ):
            return []  # no finger is that fast: a key that is stuck does not fill the desk's log
        if call.state in (CallState.COMING, CallState.DONE) and terminal.menu_open:
            told = {"section": section_letter(terminal.section), "table": terminal.table, "state": call.state}
            self._put(TakeDesk("call-answered", {**told, "device": device_hex(terminal.device)}, wall=wall))
            return []
        if call.state not in (CallState.NONE, CallState.CALLED):
            return []
        self._put(TakeDesk("call", {**place, "device": device_hex(terminal.device)}, wall=wall), terminal)
        if call.state == CallState.CALLED:
            return [self._to(terminal, Text(0, "The director is called."))]
        return []

    def _events(self, terminal: Terminal, message: TermEvents) -> None:
        """Which of its records belong to which event, in the terminal's own words; kept once it is admitted."""
        key = self._roster[terminal.device].key
        if key and not hmac.compare_digest(
            message.auth, events_auth(key, terminal.device, encode(message)[AUTH_SIZE:])
        ):
            self._alarm(
                "auth",
                device_hex(terminal.device),
                "A message came without the right key of its terminal. Pair the terminal anew if it was replaced.",
            )
            return
        found = [(one.journal_id, one.first_seq, one.event_id) for one in message.parts[-MAX_PARTS:]]
        parts = tuple(one for one in found if one[0] and one[2])
        terminal.tells_events = True
        if parts and terminal.admitted:
            self._put(TakeParts(terminal.device, parts))
        else:
            terminal.parts = parts

    def _lose(self, station: str) -> None:
        """The station has started anew: addresses mean nothing until terminals introduce themselves."""
        for name in [name for name in self._terminals if name[0] == station]:
            self._terminals.pop(name).present = False

    def _put(self, job: Job, terminal: Terminal | None = None, track: Track | None = None) -> None:
        # Roster, alarms and calls are few; a flood of them is cut off so that memory stays bounded.
        if len(self._queue) < 2 * self._limits.queue:
            self._queue.append(Work(job, terminal, track))

    def _alarm(self, kind: str, subject: str, text: str) -> None:
        waiting = any(
            isinstance(work.job, TakeAlarm) and (work.job.kind, work.job.subject) == (kind, subject)
            for work in self._queue
        )
        if not waiting:
            self._put(TakeAlarm(kind, subject, text))

    @staticmethod
    def _to(terminal: Terminal, message: Message) -> Send:
        return Send(terminal.station, terminal.address, message)
