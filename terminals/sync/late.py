"""Records of an event that is over, delivered by a page of its card after another event has begun.

They go the way of all records (``terminals.sync.ingest``): the same keys, quarantine, conflicts, and nothing is
acknowledged before the commit. A keypad's late records come through the collector; a page's can't, because it is not
admitted to the event that is played now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from firmware_bridge.wire.messages import Message, Record, RecordAck, RecordNak, TableRecord
from firmware_bridge.wire.numbers import RecordReason
from firmware_bridge.wire.record import name_crc, name_hash, record_crc
from terminals.store import desk, ledger
from terminals.store.desk import DeviceState
from terminals.store.values import RawRecord, RecordKey, device_hex
from terminals.sync.ingest import ingest
from terminals.sync.jobs import TAKEN, TakeParts, TakeRecord, Verdict
from terminals.sync.period import is_final
from terminals.sync.recorded import table_body
from terminals.sync.setup import EventSetup, section_letter

ALARM = "late"
CREDIT = 8


@dataclass(frozen=True, slots=True)
class LatePost:
    """What a page delivers. model: of devices that may. seat: section number and table of its card. oldest: number of
    the oldest record that it holds unacknowledged. records: of one journal, by number. wall: for people to read."""

    device: int
    model: str
    seat: tuple[int, int]
    oldest: int
    records: Sequence[Record | TableRecord]
    wall: str = ""


def take_late(connection: Connection, setup: EventSetup, post: LatePost) -> list[Message]:
    """Store what a page delivers to ``setup``, an event that is over; gives RECORD_ACK and RECORD_NAK, to be told after
    the commit. Runs inside a transaction of the caller.

    Raises EntryError ("not-admitted") for a device that was never admitted to that event, or is not used any more, and
    ("other-event") for a journal that holds records of another event.
    """
    event = desk.event_hex(setup.id)
    known = desk.devices(connection).get(post.device)
    if (
        known is None
        or known.model != post.model
        or known.state is DeviceState.REFUSED
        or not desk.was_admitted(connection, post.device, event)
    ):
        raise EntryError("this phone did not score in that event.", next_step="Ask the director.", code="not-admitted")
    if not post.records:
        return []
    journal = post.records[0].journal_id
    if ledger.events_of(connection, post.device, journal) - {event}:
        raise EntryError("this phone's log is of another event.", next_step="Ask the director.", code="other-event")
    # A page's journal belongs to the event of its card, whatever an estimate has said of it meanwhile.
    ingest(connection, setup, [TakeParts(post.device, ((journal, 1, setup.id),))])
    wanted = min(post.oldest, post.records[0].seq) if post.oldest else post.records[0].seq
    told: list[Message] = []
    results = beside = 0
    for record in post.records:
        reason, number = None, record.seq
        raw = _raw(post.device, record)
        if raw is None:
            reason = RecordReason.CRC
        elif record.seq > wanted:
            reason, number = RecordReason.GAP, wanted
        else:
            table = record if isinstance(record, TableRecord) else None
            (done,) = ingest(connection, setup, [TakeRecord(raw, post.seat, post.wall, table=table)])
            if done.verdict in TAKEN:
                wanted = max(wanted, record.seq + 1)
                if done.verdict is not Verdict.KNOWN:
                    results, beside = (results + 1, beside) if table is None else (results, beside + 1)
                continue
            if done.verdict is Verdict.CONFLICT:
                reason = RecordReason.CONFLICT
            else:
                reason, number = RecordReason.GAP, done.upto + 1
        told.append(RecordNak(post.device, journal, number, int(reason)))
        break
    if results or beside:
        subject = f"{event} {device_hex(post.device)} {journal:08x} {wanted - 1}"
        ledger.raise_alarm(connection, ALARM, subject, _words(connection, setup, post.seat, results, beside))
    if wanted > post.records[0].seq:
        told.insert(0, RecordAck(post.device, journal, wanted - 1, CREDIT))
    return told


def _raw(device: int, record: Record | TableRecord) -> RawRecord | None:
    """As the ledger keeps it; None when its number is 0 or its CRC is wrong."""
    journal, seq = record.journal_id, record.seq
    key = RecordKey(device, journal, seq)
    if isinstance(record, Record):
        good = record.crc == record_crc(device, journal, seq, record.body)
        kept, crc = record.body, record.crc
    else:
        body = table_body(record)
        good = record.crc == name_crc(device, journal, seq, body)
        kept = name_hash(device, journal, seq, body)
        crc = name_crc(device, journal, seq, kept)
    return RawRecord(key, kept, crc, record.auth) if good and seq else None


def _words(connection: Connection, setup: EventSetup, seat: tuple[int, int], results: int, beside: int) -> str:
    """What the desk is told, and what is to be done."""
    event, place = desk.event_hex(setup.id), f"{section_letter(seat[0])}{seat[1]}"
    try:
        day = f" of {datetime.fromisoformat(desk.first_wall(connection, event)):%d.%m.%Y}"
    except ValueError:
        day = ""
    who = f'Table {place} of "{setup.name}"{day}'
    if not results:
        return f"{who} delivered {beside} record{'s' if beside > 1 else ''} beside its results late. No result changes."
    what = f"{who} delivered {results} result{'s' if results > 1 else ''} late."
    if is_final(connection, event):
        return f"{what} That event is final: what came is kept and does not count by itself. Compare it with the slips."
    again = f"firmware-bridge td export KIND --event {event} --out FILE"
    return f"{what} The ranking of that event changes: export it again with {again}"
