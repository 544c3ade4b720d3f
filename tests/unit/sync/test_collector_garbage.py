"""Whatever terminals say, in whatever order: no exception, bounded memory, no acknowledgement without the record."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sync_fakes import FakeHost, FakeTerminal, body

from drivers.api import StationMessage
from firmware_bridge.wire.messages import (
    Call,
    Message,
    Nak,
    Record,
    RecordAck,
    StationStatus,
    TermGone,
    TermHello,
    TermStatus,
    encode,
)
from firmware_bridge.wire.record import record_crc
from terminals.store.values import RecordState
from terminals.sync.contacts import Limits

U8, U16, U32 = st.integers(0, 255), st.integers(0, 0xFFFF), st.integers(0, 0xFFFF_FFFF)
SMALL = st.integers(0, 4)
DEVICES = st.sampled_from([0xA1, 0xA2, 0xA1, 0xA2, 0, 0xFFFF_FFFF_FFFF_FFFF])
LIMITS = Limits(queue=12, batch=4, per_terminal=4, devices=3)


@st.composite
def hello(draw: st.DrawFn) -> TermHello:
    base = FakeTerminal(draw(DEVICES), 1, journal=draw(SMALL)).hello()
    fields = {name: getattr(base, name) for name in base.__dataclass_fields__}
    fields |= {"oldest_unacked": draw(SMALL | U32), "next_seq": draw(SMALL | U32), "role": draw(st.integers(2, 3))}
    return TermHello(**fields)


@st.composite
def record(draw: st.DrawFn) -> Record:
    journal, seq = draw(st.sampled_from([1, 1, 1, 2, 0])), draw(st.sampled_from([1, 1, 1, 2, 2, 3, 4, 0, 1 << 31]))
    content = draw(
        st.binary(min_size=14, max_size=14)
        | st.builds(lambda b, t: body(board=b, tricks=t), st.integers(1, 6), st.integers(0, 13))
    )
    device = draw(st.sampled_from([0xA1, 0xA2]) | DEVICES)
    crc = record_crc(device, journal, seq, content) if draw(st.integers(0, 5)) else draw(U32)
    return Record(journal, seq, content, crc, draw(st.binary(min_size=6, max_size=6)))


STATUS = st.builds(TermStatus, SMALL, SMALL, U8, U8, U8, U16, U16, U16)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    hello(),
    *[record()] * 12,
    STATUS,
    st.builds(TermStatus, st.just(1), st.integers(1, 3), U8, U8, U8, U16, U16, U16),
    st.builds(TermGone, U8),
    st.builds(Call, U8, U8, U8, U8),
    st.builds(StationStatus, U16, U8),
    st.builds(Nak, U8, U8, U8),
)
THEN = st.sampled_from(["", "commit", "commit", "commit", "fail", "tick"])
STEPS = st.lists(st.tuples(st.sampled_from([1, 1, 2, 2, 0, 3]), MESSAGES, THEN), max_size=40)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_nothing_that_a_terminal_says_breaks_a_promise(steps: list[tuple[int, Message, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        host = FakeHost(Path(folder) / "events.db", limits=LIMITS)
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
