"""What a TABLE_RECORD carries: golden bytes, any value comes back, any bytes are refused or exactly one value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_samples import MESSAGES, load

from firmware_bridge.wire.messages import EventPart, TableRecord, TermEvents, encode
from firmware_bridge.wire.record import events_auth, name_auth, name_crc, name_hash
from firmware_bridge.wire.table_data import (
    MAX_CALLS,
    AcceptedData,
    AuctionData,
    CallData,
    PlayData,
    acceptance_proof,
    code_verifier,
    pack_hands,
    unpack_hands,
)
from firmware_bridge.wire.wire_error import WireError

VECTORS = load("table_records")


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_golden_table_records(vector):
    data = bytes.fromhex(vector["fields"]["data"])
    key = bytes.fromhex(vector["key_hex"])
    body = bytes.fromhex(vector["body_hex"])
    where = (vector["device_id"], vector["journal_id"], vector["seq"], body)
    record = TableRecord(
        vector["journal_id"],
        vector["seq"],
        vector["crc"],
        bytes.fromhex(vector["auth_hex"]),
        **{**vector["fields"], "data": data},
    )
    assert encode(record)[18:] == body
    assert name_crc(*where) == vector["crc"]
    assert name_auth(key, *where).hex() == vector["auth_hex"]
    assert name_hash(*where).hex() == vector["hash_hex"]
    if "auction" in vector:
        calls = tuple(CallData(*call) for call in vector["auction"]["calls"])
        assert AuctionData.unpack(data) == AuctionData(vector["auction"]["dealer"], calls)
    if "play" in vector:
        cards = tuple(tuple(one) for one in vector["play"]["cards"])
        assert PlayData.unpack(data) == PlayData(vector["play"]["agreed"], cards)
    if "hands" in vector:
        assert list(unpack_hands(data)) == vector["hands"]
    if "code" in vector:
        told = {name: value for name, value in vector["code"].items() if name != "verifier_hex"}
        assert code_verifier(**told) == data
    if "accepted" in vector:
        told = vector["accepted"]
        verifier, result = bytes.fromhex(told["verifier_hex"]), bytes.fromhex(told["result_body_hex"])
        proof = acceptance_proof(verifier, told["event"], result)
        assert AcceptedData.unpack(data) == AcceptedData(told["pair"], told["seat"], told["stamp"], proof)
        other = result[:4] + bytes([result[4] ^ 1]) + result[5:]
        assert acceptance_proof(verifier, told["event"], other) != proof


@pytest.mark.parametrize("vector", load("events"), ids=lambda vector: vector["name"])
def test_golden_events(vector):
    fields = next(one for one in MESSAGES if one["name"] == vector["message"])["fields"]
    told = TermEvents(bytes(6), tuple(EventPart(**part) for part in fields["parts"]))
    auth = events_auth(bytes.fromhex(vector["key_hex"]), vector["device_id"], encode(told)[6:])
    assert auth.hex() == vector["auth_hex"]


seats = st.integers(0, 3)
calls = st.lists(st.builds(CallData, seats, st.integers(0, 37), st.integers(0, 3), st.booleans()), max_size=MAX_CALLS)
auctions = st.builds(AuctionData, seats, calls.map(tuple))
plays = st.builds(
    PlayData,
    st.integers(0, 13) | st.just(255),
    st.lists(st.tuples(seats, st.integers(0, 51)), max_size=52).map(tuple),
)
accepted = st.builds(
    AcceptedData,
    st.integers(0, 65535),
    st.integers(0, 255),
    st.integers(0, 65535),
    st.binary(min_size=8, max_size=8),
)


@given(auctions | plays | accepted)
def test_any_value_comes_back(value):
    assert type(value).unpack(value.pack()) == value


@given(st.permutations([seat for seat in range(4) for _ in range(13)]))
def test_any_four_hands_come_back(owners):
    assert list(unpack_hands(pack_hands(owners))) == owners


@given(st.sampled_from([AuctionData, PlayData, AcceptedData]), st.binary(max_size=900))
def test_any_bytes_are_refused_or_exactly_one_value(kind, data):
    try:
        value = kind.unpack(data)
    except WireError:
        return
    assert value.pack() == data


@given(st.binary(min_size=12, max_size=14))
def test_hands_of_other_sizes_are_refused(data):
    try:
        owners = unpack_hands(data)
    except WireError:
        return
    assert sorted(owners) == [0] * 13 + [1] * 13 + [2] * 13 + [3] * 13


def test_what_has_no_room_is_refused():
    for bad in (
        AuctionData(0, (CallData(0, 38),)),
        AuctionData(0, (CallData(0, 0),) * (MAX_CALLS + 1)),
        PlayData(14, ()),
        PlayData(9, ((0, 52),)),
        PlayData(9, ((0, 1),) * 53),
        AcceptedData(70000, 0, 0, bytes(8)),
    ):
        with pytest.raises(WireError):
            bad.pack()
    with pytest.raises(WireError):
        pack_hands([0] * 51)


def test_no_card_in_a_repr():
    assert "12" not in repr(PlayData(9, ((0, 12),)))
