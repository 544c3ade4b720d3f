"""The body of a record: golden bytes, every bit in its place, its CRC and authenticator."""

from __future__ import annotations

import hashlib
import hmac
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_samples import MESSAGES, RECORDS

from firmware_bridge.wire.record import BIT_FIELDS, BODY_SIZE, RecordBody, check_auth, record_auth, record_crc
from firmware_bridge.wire.wire_error import WireError

BITS = {name: bits for name, _, _, bits in BIT_FIELDS}
BITS |= {"section": 8, "table": 8, "round": 8, "lead": 8, "replaces": 8, "stamp": 16}
bodies = st.builds(RecordBody, **{name: st.integers(0, 2**bits - 1) for name, bits in BITS.items()})


@pytest.mark.parametrize("vector", RECORDS, ids=[vector["name"] for vector in RECORDS])
def test_golden_records_both_ways(vector):
    data = bytes.fromhex(vector["body_hex"])
    body = RecordBody.unpack(data)
    assert {name: getattr(body, name) for name in RecordBody.__slots__} == vector["fields"]
    assert RecordBody(**vector["fields"]).pack() == data
    key = vector["device_id"], vector["journal_id"], vector["seq"]
    assert record_crc(*key, data) == vector["crc"]
    assert record_auth(bytes.fromhex(vector["key_hex"]), *key, data).hex() == vector["auth_hex"]


def test_the_records_inside_golden_messages_are_golden_records():
    by_body = {vector["body_hex"]: vector for vector in RECORDS}
    messages = [vector["fields"] for vector in MESSAGES if vector["kind"] == 0x70]
    assert len(messages) == 2
    for fields in messages:
        record = by_body[fields["body"]]
        assert fields["crc"] == record["crc"]


def by_hand(body: RecordBody) -> bytes:
    """The body as one number of 112 bits, laid out by the page."""
    value = 0
    at = 0
    for name, bits in (
        ("kind", 4),
        ("confirmed_by", 4),
        ("section", 8),
        ("table", 8),
        ("round", 8),
        ("board", 10),
        ("declarer", 2),
        ("tricks", 4),
        ("ns", 12),
        ("ew", 12),
        ("level", 3),
        ("strain", 3),
        ("doubling", 2),
        ("lead", 8),
        ("replaces", 8),
        ("stamp", 16),
    ):
        value |= getattr(body, name) << at
        at += bits
    assert at == 8 * BODY_SIZE
    return value.to_bytes(BODY_SIZE, "little")


@given(bodies)
def test_any_body_comes_back_and_lies_as_the_page_says(body):
    data = body.pack()
    assert data == by_hand(body)
    assert RecordBody.unpack(data) == body


@given(st.binary(min_size=14, max_size=14))
def test_any_fourteen_bytes_are_one_body(data):
    assert RecordBody.unpack(data).pack() == data


@pytest.mark.parametrize("size", [0, 13, 15])
def test_another_length_is_malformed(size):
    for use in (
        RecordBody.unpack,
        lambda data: record_crc(1, 2, 3, data),
        lambda data: record_auth(b"k", 1, 2, 3, data),
    ):
        with pytest.raises(WireError, match="14 bytes"):
            use(bytes(size))


@pytest.mark.parametrize("name", sorted(BITS))
@pytest.mark.parametrize("over", [True, False])
def test_a_value_without_room_is_refused(name, over):
    fields = dict(RECORDS[0]["fields"]) | {name: 1 << BITS[name] if over else -1}
    with pytest.raises(WireError):
        RecordBody(**fields).pack()


ids = st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)


@given(*ids, bodies, st.binary(max_size=80))
def test_crc_and_authenticator_cover_the_key_and_the_body(device, journal, seq, body, key):
    covered = device.to_bytes(8, "little") + journal.to_bytes(4, "little") + seq.to_bytes(4, "little") + by_hand(body)
    data = body.pack()
    assert record_crc(device, journal, seq, data) == zlib.crc32(covered)
    expected = hmac.new(key, covered, hashlib.sha256).digest()[:6] if key else bytes(6)
    auth = record_auth(key, device, journal, seq, data)
    assert auth == expected
    assert check_auth(auth, key, device, journal, seq, data)
    assert not check_auth(bytes([auth[0] ^ 1]) + auth[1:], key, device, journal, seq, data)


def test_a_key_out_of_range_is_refused():
    for key in ((2**64, 1, 1), (1, 2**32, 1), (1, 1, -1)):
        with pytest.raises(WireError):
            record_crc(*key, bytes(14))


def test_every_changed_bit_changes_the_crc():
    vector = RECORDS[0]
    data = bytes.fromhex(vector["body_hex"])
    key = vector["device_id"], vector["journal_id"], vector["seq"]
    for bit in range(8 * BODY_SIZE):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        assert record_crc(*key, bytes(changed)) != vector["crc"]
    assert len({record_crc(key[0] ^ 1 << bit, key[1], key[2], data) for bit in range(64)} | {vector["crc"]}) == 65


def test_the_repr_leaves_the_lead_out():
    assert "lead" not in repr(RecordBody(**RECORDS[0]["fields"]))
