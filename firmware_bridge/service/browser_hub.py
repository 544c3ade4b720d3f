"""A base station made of browsers: each page is a terminal with a device id, a journal and records like any keypad.

The page posts the same record bytes and gets the same messages; they wait in a numbered mailbox, from which a stream or
a poll takes them. The hub keeps nothing that matters: a page introduces itself again to a service that has restarted.
Several phones may open one table's page: one of them holds the table, the others may accept what it entered.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import secrets
import struct
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from drivers.api import StationConnected, StationEvent, StationIdentity, StationMessage
from firmware_bridge.errors import EntryError, LinkLost
from firmware_bridge.wire.messages import (
    BY_CLASS,
    Call,
    EventPart,
    Message,
    Record,
    RecordAck,
    TableRecord,
    TermEvents,
    TermGone,
    TermHello,
    TermStatus,
    decode,
)
from firmware_bridge.wire.numbers import GoneReason, Role
from firmware_bridge.wire.wire_error import WireError

URL = "browser://"
MODEL = "Browser"
RECORD_SIZE = 32
MAX_TABLE_RECORD = 1024
"""Bytes of a record of an auction, a play or hands; the longest auction has 836."""
TABLE_RECORD_PREFIX = "77."
"""Before the base64 of a TABLE_RECORD, whose kind this is; one with a single byte of data is as long as a RECORD."""
MAX_RECORDS = 16
"""Records in one post."""
KEPT_MESSAGES = 100
MAX_PHONES = 12
"""Pages that may be open on one table's token; the one that was silent longest gives way."""
SILENT_S = 45.0
_RECORD = struct.Struct("<II14sI6s")
_U64 = ("device_id", "event_id")


@dataclass(slots=True)
class Box:
    """The mailbox of one page. ``first``: number of the oldest message kept; numbers rise by one."""

    device: int
    address: int
    section: int
    table: int
    last_seen: float
    present: bool = True
    first: int = 1
    messages: deque[dict[str, Any]] = field(default_factory=deque)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def seat(self) -> tuple[int, int]:
        return self.section, self.table

    @property
    def last(self) -> int:
        return self.first + len(self.messages) - 1

    def put(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        while len(self.messages) > KEPT_MESSAGES:
            self.messages.popleft()
            self.first += 1
        # Everybody who waits gets this event; whoever comes later waits for the next one.
        arrived, self.arrived = self.arrived, asyncio.Event()
        arrived.set()

    def after(self, number: int) -> list[dict[str, Any]]:
        """Messages with a number above ``number``, with their numbers."""
        skip = max(0, number + 1 - self.first)
        return [{"n": self.first + at, **m} for at, m in enumerate(self.messages) if at >= skip]


@dataclass(frozen=True, slots=True)
class Journal:
    """What a page says of its journal when it introduces itself."""

    boot_id: int
    boot_count: int
    journal_id: int
    oldest_unacked: int
    next_seq: int


class BrowserHub:
    """Implements ``drivers.api.BaseStation``. One for each running service."""

    url = URL

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.crc_of: Callable[[int, int, int], int | None] = lambda device, journal, seq: None
        self.boot = secrets.token_hex(4)
        self._events: asyncio.Queue[StationEvent | None] = asyncio.Queue(4096)
        self._boxes: dict[int, Box] = {}
        self._by_address: dict[int, Box] = {}
        self._seats: dict[tuple[int, int], dict[int, Box]] = {}
        self._pending: dict[tuple[int, int], dict[str, Any]] = {}
        self._next_address = 1
        self._closed = False

    # --- as a base station ---

    async def connect(self, timeout: float) -> StationIdentity:
        identity = StationIdentity(device_id=1, model=MODEL, firmware="", boot_id=int(self.boot, 16))
        self._events.put_nowait(StationConnected(identity, restarted=False))
        return identity

    async def send(self, address: int, message: Message) -> None:
        if self._closed:
            raise LinkLost("The browser terminals are closed.", where=self.url)
        value = message_json(message)
        if isinstance(message, RecordAck):
            # Pages of a cloned phone share a mailbox: with the CRC each sees whether its own record is meant.
            crc = self.crc_of(message.device_id, message.journal_id, message.upto)
            value |= {} if crc is None else {"crc": crc}
        if address == 0:
            for box in self._boxes.values():
                box.put(value)
            return
        found = self._by_address.get(address)
        if found is not None:
            found.put(value)

    async def next_event(self) -> StationEvent:
        event = None if self._closed else await self._events.get()
        if event is None:
            raise LinkLost("The browser terminals are closed.", where=self.url)
        return event

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            while self._events.full():
                self._events.get_nowait()
            self._events.put_nowait(None)
            for box in self._boxes.values():
                box.arrived.set()

    @property
    def closed(self) -> bool:
        return self._closed

    # --- as seen by the pages ---

    def box(self, device: int, seat: tuple[int, int]) -> Box | None:
        """The mailbox of a page at this table, if it has introduced itself."""
        found = self._boxes.get(device)
        return found if found is not None and found.seat == seat else None

    def boxes_at(self, seat: tuple[int, int]) -> list[Box]:
        return list(self._seats.get(seat, {}).values())

    async def hello(self, device: int, seat: tuple[int, int], journal: Journal, firmware: str) -> Box:
        """A page introduces itself; gives its mailbox."""
        box = self._boxes.get(device)
        if box is None or box.seat != seat:
            if box is not None:
                self._drop(box)
            others = self._seats.setdefault(seat, {})
            if len(others) >= MAX_PHONES:
                self._drop(min(others.values(), key=lambda one: one.last_seen))
            box = Box(device, self._free_address(), *seat, last_seen=self._now())
            self._boxes[device] = self._by_address[box.address] = box
            self._seats.setdefault(seat, {})[device] = box
        box.last_seen, box.present = self._now(), True
        message = TermHello(
            proto_min=0x10,
            proto_max=0x10,
            role=int(Role.TERMINAL),
            window=8,
            max_frame=240,
            device_id=device,
            boot_id=journal.boot_id,
            boot_count=journal.boot_count,
            journal_id=journal.journal_id,
            oldest_unacked=journal.oldest_unacked,
            next_seq=journal.next_seq,
            capabilities=0,
            session=0,
            model=MODEL,
            firmware=firmware[:32],
            commands=(),
        )
        await self._put(box, message)
        return box

    async def events(self, box: Box, parts: Sequence[EventPart], auth: bytes) -> None:
        """Which of a page's records belong to which event. auth: under the page's key, zeros without one."""
        await self._put(box, TermEvents(auth, tuple(parts)))

    async def status(
        self, box: Box, *, names_table: bool, round: int, waiting: int, clock: int, plan_version: int, battery: int
    ) -> None:
        """How a page is. names_table: it wants this table; a page that only looks on wants none."""
        section, table = box.seat if names_table else (0, 0)
        await self._put(box, TermStatus(section, table, round, battery, 255, waiting, clock, plan_version))

    async def records(self, box: Box, records: Sequence[Record | TableRecord]) -> None:
        for record in records:
            await self._put(box, record)

    async def call(self, box: Box, round: int, state: int) -> None:
        await self._put(box, Call(*box.seat, round, state))

    async def sweep(self) -> None:
        """Report pages that have said nothing for a while."""
        limit = self._now() - SILENT_S
        for box in list(self._boxes.values()):
            if box.present and box.last_seen < limit:
                box.present = False
                self._withdraw(box)  # nobody could answer it any more
                await self._events.put(StationMessage(box.address, TermGone(int(GoneReason.SILENT))))

    def seen(self, box: Box) -> None:
        box.last_seen = self._now()

    # --- accepting on another phone ---

    def propose(self, box: Box, result: dict[str, Any] | None) -> None:
        """The holder of a table shows the other phones what it is about to store (None: no longer)."""
        before = self._pending.pop(box.seat, None)
        if result is not None:
            self._pending[box.seat] = {"id": result["id"], "device": box.device, "result": result}
        if result is not None or before is not None:
            self._tell_others(box, {"kind": "PENDING", "result": result})

    def pending(self, seat: tuple[int, int], holder: int | None) -> dict[str, Any] | None:
        """What the device that holds the table is about to store; None when nothing of its own waits."""
        found = self._pending.get(seat)
        return None if found is None or found["device"] != holder else found["result"]

    def answer(self, box: Box, ident: str, accept: bool) -> bool:
        """Another phone of the table accepts or refuses what is pending. False when it is pending no longer."""
        found = self._pending.get(box.seat)
        holder = None if found is None else self._boxes.get(found["device"])
        if found is None or holder is None or found["id"] != ident or holder is box:
            return False
        del self._pending[box.seat]
        holder.put({"kind": "ANSWER", "id": ident, "accept": accept})
        self._tell_others(holder, {"kind": "PENDING", "result": None})
        return True

    def tell_seat(self, seat: tuple[int, int], message: dict[str, Any]) -> None:
        """A message to every page of a table that is not a message of the protocol, such as "ask again"."""
        for box in self.boxes_at(seat):
            box.put(message)

    def tell_all(self, message: dict[str, Any]) -> None:
        """The same to every page of every table."""
        for box in self._boxes.values():
            box.put(message)

    def _withdraw(self, box: Box) -> None:
        found = self._pending.get(box.seat)
        if found is not None and found["device"] == box.device:
            self.propose(box, None)

    def _tell_others(self, sender: Box, message: dict[str, Any]) -> None:
        for box in self.boxes_at(sender.seat):
            if box is not sender:
                box.put(message)

    # --- inside ---

    async def _put(self, box: Box, message: Message) -> None:
        if self._closed:
            raise LinkLost("The browser terminals are closed.", where=self.url)
        self.seen(box)
        box.present = True
        await self._events.put(StationMessage(box.address, message))

    def _free_address(self) -> int:
        for _ in range(0xFFFF):
            address = self._next_address
            self._next_address = self._next_address % 0xFFFF + 1
            if address not in self._by_address:
                return address
        raise EntryError("There are too many phones.", code="too-many-phones")

    def _drop(self, box: Box) -> None:
        self._withdraw(box)
        self._boxes.pop(box.device, None)
        self._by_address.pop(box.address, None)
        self._seats.get(box.seat, {}).pop(box.device, None)


def decode_record(text: str) -> Record | TableRecord:
    """A result's record from base64 of its 32 bytes; after "77." the payload of a TABLE_RECORD. Raises EntryError."""
    prefixed = text.startswith(TABLE_RECORD_PREFIX)
    data = b""
    if len(text) <= 2 * MAX_TABLE_RECORD:
        with contextlib.suppress(binascii.Error, ValueError):
            data = base64.b64decode(text.removeprefix(TABLE_RECORD_PREFIX), validate=True)
    if not prefixed and len(data) == RECORD_SIZE:
        journal, seq, body, crc, auth = _RECORD.unpack(data)
        return Record(journal, seq, body, crc, auth)
    if prefixed and len(data) <= MAX_TABLE_RECORD:
        with contextlib.suppress(WireError):
            found = decode(BY_CLASS[TableRecord].kind, data)
            if isinstance(found, TableRecord):
                return found
    raise EntryError(f"a record is base64 of {RECORD_SIZE} bytes, or of a TABLE_RECORD after 77.", code="bad-record")


def message_json(message: Message) -> dict[str, Any]:
    """A message as pages get it: ``kind`` in capitals as in docs/protocol.md, its fields; 64-bit numbers are 16
    hexadecimal digits, bytes are base64."""
    return {"kind": _kind(type(message).__name__), **_plain(message)}


def _kind(name: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() and at else letter for at, letter in enumerate(name)).upper()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        out = {}
        for item in fields(value):
            found = getattr(value, item.name)
            out[item.name] = f"{found:016x}" if item.name in _U64 else _plain(found)
        return out
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value
