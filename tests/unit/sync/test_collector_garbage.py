"""Whatever terminals say, in whatever order: no exception, bounded memory, no acknowledgement without the record."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sync_fakes import EVENT, FakeHost, FakeTerminal, an_event, body

from drivers.api import StationMessage
from firmware_bridge.wire.messages import (
    Ask,
    Call,
    DirectorAsk,
    DirectorAuth,
    EntryCheck,
    EventPart,
    Message,
    Nak,
    NameRecord,
    NameSearch,
    Record,
    RecordAck,
    StationStatus,
    TableRecord,
    TakeOver,
    TermEvents,
    TermGone,
    TermHello,
    TermStatus,
    encode,
)
from firmware_bridge.wire.record import name_crc, record_crc
from terminals.store.values import RecordState
from terminals.sync.contacts import Limits
from terminals.sync.people import name_body
from terminals.sync.recorded import table_body

RECORDING = {"auction": True, "play": True, "hand_entry": True, "positions": True, "confirm_code": True}
RECORDING |= {"director_pin": "2741"}
LIMITS = Limits(queue=12, batch=4, per_terminal=4, devices=3)
DEVICES = [0xA1, 0xA2, 0xA1, 0xA2, 0xA1, 0xA2, 0, 0xFFFF_FFFF_FFFF_FFFF]


KINDS = ["record", "hello", "status", "gone", "call", "other", "name", "question", "table"]


def a_name(dice: random.Random, address: int) -> NameRecord:
    """Numbers as of results, so that both want the same place in a journal."""
    journal, seq, device = dice.choice([1, 1, 2]), dice.choice([1, 2, 3, 4, 5, 6, 0]), 0xA0 + address
    place = {"section": dice.choice([1, 1, 9]), "table": address, "round": 1, "pair": dice.randrange(8)}
    said = {
        **place,
        "seat": dice.randrange(4),
        "how": dice.randrange(5),
        "text": dice.choice(["", "Ann", "12", "\x00é"]),
    }
    bare = NameRecord(journal_id=journal, seq=seq, crc=0, auth=bytes(6), **said)
    crc = name_crc(device, journal, seq, name_body(bare)) if dice.randrange(8) else dice.getrandbits(32)
    return NameRecord(journal_id=journal, seq=seq, crc=crc, auth=dice.randbytes(6), **said)


def a_table_record(dice: random.Random, address: int) -> Message:
    """What a table records beside results, and what it says of its events."""
    journal, seq, device = dice.choice([1, 1, 2]), dice.choice([1, 2, 3, 4, 5, 6, 0]), 0xA0 + address
    if not dice.randrange(4):
        ids = [EVENT, EVENT, EVENT, EVENT + 1, 0, dice.getrandbits(64)]
        parts = [
            EventPart(dice.choice([1, 2, 0]), dice.randrange(8), dice.choice(ids)) for _ in range(dice.randrange(5))
        ]
        return TermEvents(dice.randbytes(6), tuple(parts))
    said = {
        "section": dice.choice([1, 1, 9]),
        "table": address,
        "round": dice.choice([1, 1, 0]),
        "board": dice.choice([1, 2, 0, 65535]),
        "ns": address,
        "ew": dice.choice([4, 0, 5]),
        "what": dice.randrange(8),
        "by": dice.randrange(5),
        "data": dice.choice([b"", bytes(8), b"\x01", b"\x00\x0f\x00", dice.randbytes(13)]),
    }
    bare = TableRecord(journal_id=journal, seq=seq, crc=0, auth=bytes(6), **said)
    crc = name_crc(device, journal, seq, table_body(bare)) if dice.randrange(8) else dice.getrandbits(32)
    return TableRecord(journal_id=journal, seq=seq, crc=crc, auth=dice.randbytes(6), **said)


def a_question(dice: random.Random) -> Message:
    byte, near = dice.randrange(256), dice.randrange(5)
    content = body(board=dice.randrange(1, 7)) if dice.randrange(3) else dice.randbytes(14)
    return dice.choice(
        [
            EntryCheck(byte, content),
            Ask(dice.randrange(8), near, dice.choice([0, 1, 2, 999, 65535])),
            NameSearch(byte, dice.choice(["", "a", "1", "%", "é" * 99])),
            DirectorAsk(),
            DirectorAuth(dice.randbytes(8)),
            TakeOver(dice.choice([1, 1, 9]), near, dice.randbytes(8)),
        ]
    )


def some_message(dice: random.Random, address: int) -> Message:
    """Mostly records that could be right; also everything else, with any numbers."""
    kind = dice.choices(KINDS, [50, 8, 10, 2, 4, 4, 8, 12, 12])[0]
    byte, near = dice.randrange(256), dice.randrange(5)
    if kind == "record":
        journal, seq = dice.choice([1, 1, 1, 1, 2, 0]), dice.choice([1, 2, 3, 4, 5, 6, 0, 1 << 31])
        content = body(board=dice.randrange(1, 7), tricks=dice.randrange(14))
        if not dice.randrange(6):
            content = dice.randbytes(14)
        device = 0xA0 + address if dice.randrange(8) else dice.choice(DEVICES)
        crc = record_crc(device, journal, seq, content) if dice.randrange(8) else dice.getrandbits(32)
        return Record(journal, seq, content, crc, dice.randbytes(6))
    if kind == "name":
        return a_name(dice, address)
    if kind == "table":
        return a_table_record(dice, address)
    if kind == "question":
        return a_question(dice)
    if kind == "hello":
        device = 0xA0 + address if dice.randrange(4) else dice.choice(DEVICES)
        base = FakeTerminal(device, 1, journal=dice.choice([1, 1, 2, 0])).hello()
        fields = {name: getattr(base, name) for name in base.__dataclass_fields__}
        fields |= {"oldest_unacked": dice.choice([0, 1, near, 1 << 31]), "next_seq": dice.choice([1, near, 1 << 31])}
        return TermHello(**(fields | {"role": dice.choice([3, 3, 3, 2])}))
    if kind == "status":
        place = dice.choice([(1, address), (1, near), (near, byte)])
        return TermStatus(*place, byte, byte, byte, near, byte, dice.getrandbits(16))
    if kind == "gone":
        return TermGone(byte)
    return Call(near, near, byte, byte) if kind == "call" else dice.choice([StationStatus(near, byte), Nak(1, byte, 2)])


def some_steps(seed: int) -> list[tuple[int, Message, str]]:
    dice = random.Random(seed)
    out = []
    for _ in range(dice.randrange(1, 120)):
        address = dice.choice([1, 1, 1, 2, 2, 2, 0, 3])
        then = dice.choices(["", "commit", "fail", "tick"], [4, 4, 1, 1])[0]
        out.append((address, some_message(dice, address), then))
    return out


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 32))
def test_nothing_that_a_terminal_says_breaks_a_promise(seed: int) -> None:
    steps = some_steps(seed)
    with tempfile.TemporaryDirectory() as folder:
        host = FakeHost(Path(folder) / "events.db", an_event(**RECORDING), limits=LIMITS)
        try:
            for address in (1, 2):
                host.introduce(FakeTerminal(0xA0 + address, address, table=address))
            host.terminals.clear()
            host.sends.clear()
            for address, message, then in steps:
                host.now += 1.0
                host._deliver(host.collector.receive("base", StationMessage(address, message), host.now))
                if then == "commit":
                    host.pump()
                elif then == "fail":
                    host.broken = "the disk is full"
                    host.pump()
                    host.broken = ""
                    host._deliver(host.collector.recovered())
                elif then == "tick":
                    host._deliver(host.collector.tick(host.now))
                assert host.collector.queued <= 3 * LIMITS.queue
                assert len(host.collector.terminals) <= LIMITS.devices
                check_acknowledgements(host)
                check_acknowledgements(host)
            while host.pump():
                check_acknowledgements(host)
        finally:
            host.close()


def check_acknowledgements(host: FakeHost) -> None:
    sends, host.sends = host.sends, []
    if not any(isinstance(send.message, RecordAck) for send in sends):
        for send in sends:
            encode(send.message)
        return
    kept = {record.raw.key for record in host.records() if record.state is not RecordState.CONFLICT}
    for send in sends:
        encode(send.message)
        if isinstance(send.message, RecordAck):
            ack = send.message
            mine = {key.seq for key in kept if (key.device, key.journal) == (ack.device_id, ack.journal_id)}
            # What it never told us it may have had acknowledged before, by a host whose store is gone.
            assert ack.upto in mine or any(h[2] <= ack.upto <= h[3] for h in host.ask(_holes))


def _holes(connection: object) -> list[tuple[int, int, int, int]]:
    from terminals.store import ledger

    return ledger.holes(connection)  # type: ignore[arg-type]
