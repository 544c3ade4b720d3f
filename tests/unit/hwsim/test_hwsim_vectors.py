"""The golden bytes, through the simulated devices' own encoder and decoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hwsim import codec, messages

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
MESSAGES = json.loads((VECTORS / "messages.json").read_text())
NAMES = json.loads((VECTORS / "names.json").read_text())
TABLE_RECORDS = json.loads((VECTORS / "table_records.json").read_text())
RECORDS = json.loads((VECTORS / "records.json").read_text())


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value.hex() if isinstance(value, bytes) else value


def _like(value: Any, told: Any) -> Any:
    """The vector's value with its hex strings as bytes, wherever the layout has raw bytes."""
    if isinstance(told, list):
        return [_like(*both) for both in zip(value, told, strict=True)]
    if isinstance(told, dict):
        return {name: _like(value[name], item) for name, item in told.items()}
    return bytes.fromhex(value) if isinstance(told, bytes) else value


def _raw(kind: int, fields: dict[str, Any], payload: bytes) -> dict[str, Any]:
    told = messages.decode(kind, payload)
    return {name: _like(v, told[name]) for name, v in fields.items()}


@pytest.mark.parametrize("vector", MESSAGES, ids=lambda v: v["name"])
def test_golden_message_decodes(vector: dict[str, Any]) -> None:
    frames = codec.Splitter().feed(bytes.fromhex(vector["frame_hex"]))
    assert len(frames) == 1
    frame = frames[0]
    header = [frame.kind, frame.address, frame.seq, frame.ack, frame.flags]
    assert header == [vector[name] for name in ("kind", "address", "seq", "ack", "flags")]
    assert frame.payload.hex() == vector["payload_hex"]
    fields = messages.decode(frame.kind, frame.payload)
    assert {name: _plain(value) for name, value in fields.items()} == vector["fields"]


@pytest.mark.parametrize("vector", MESSAGES, ids=lambda v: v["name"])
def test_golden_message_encodes(vector: dict[str, Any]) -> None:
    payload = bytes.fromhex(vector["payload_hex"])
    encoded = messages.encode(vector["kind"], _raw(vector["kind"], vector["fields"], payload))
    assert encoded.hex() == vector["payload_hex"]
    header = {name: vector[name] for name in ("kind", "address", "seq", "ack", "flags")}
    assert codec.encode_frame(codec.Frame(**header, payload=payload)).hex() == vector["frame_hex"]


@pytest.mark.parametrize("vector", MESSAGES, ids=lambda v: v["name"])
def test_a_flipped_bit_or_a_lost_byte_is_never_another_message(vector: dict[str, Any]) -> None:
    line = bytes.fromhex(vector["frame_hex"])
    whole = codec.Splitter().feed(line)
    for bit in range(len(line) * 8):
        bad = bytearray(line)
        bad[bit // 8] ^= 1 << bit % 8
        assert codec.Splitter().feed(bytes(bad) + b"\x00") in ([], whole)
    for cut in range(len(line)):
        assert codec.Splitter().feed(line[:cut] + line[cut + 1 :] + b"\x00") in ([], whole)
        assert codec.Splitter().feed(line[:cut]) == []
        # Whatever it was, the next whole frame is understood.
        assert codec.Splitter().feed(line[:cut] + b"\x00" + line)[-1:] == whole


@pytest.mark.parametrize("vector", RECORDS, ids=lambda v: v["name"])
def test_golden_record(vector: dict[str, Any]) -> None:
    body = bytes.fromhex(vector["body_hex"])
    assert messages.pack_body(**vector["fields"]) == body
    assert messages.unpack_body(body) == vector["fields"]
    key = bytes.fromhex(vector["key_hex"]) or None
    where = (vector["device_id"], vector["journal_id"], vector["seq"], body)
    assert messages.record_crc(*where) == vector["crc"]
    assert messages.record_auth(key, *where).hex() == vector["auth_hex"]


@pytest.mark.parametrize("vector", NAMES, ids=lambda v: v["name"])
def test_golden_name(vector: dict[str, Any]) -> None:
    body = bytes.fromhex(vector["body_hex"])
    assert messages.pack_name(**vector["fields"]) == body
    assert messages.unpack_name(body) == vector["fields"]
    key = bytes.fromhex(vector["key_hex"]) or None
    where = (vector["device_id"], vector["journal_id"], vector["seq"], body)
    assert messages.record_crc(*where) == vector["crc"]
    assert messages.record_auth(key, *where).hex() == vector["auth_hex"]
    assert messages.name_hash(*where).hex() == vector["hash_hex"]


@pytest.mark.parametrize("vector", TABLE_RECORDS, ids=lambda v: v["name"])
def test_golden_table_record(vector: dict[str, Any]) -> None:
    body, data = bytes.fromhex(vector["body_hex"]), bytes.fromhex(vector["fields"]["data"])
    fields = {**vector["fields"], "data": data}
    assert messages.pack_table(**fields) == body
    assert messages.unpack_table(body) == fields
    key = bytes.fromhex(vector["key_hex"]) or None
    where = (vector["device_id"], vector["journal_id"], vector["seq"], body)
    assert messages.record_crc(*where) == vector["crc"]
    assert messages.record_auth(key, *where).hex() == vector["auth_hex"]
    assert messages.name_hash(*where).hex() == vector["hash_hex"]
    if "auction" in vector:
        calls = [tuple(call) for call in vector["auction"]["calls"]]
        assert messages.pack_auction(vector["auction"]["dealer"], calls) == data
    if "play" in vector:
        assert messages.pack_play(vector["play"]["agreed"], [tuple(one) for one in vector["play"]["cards"]]) == data
    if "hands" in vector:
        assert messages.pack_routing(vector["hands"]) == data
    if "code" in vector:
        told = {name: value for name, value in vector["code"].items() if name != "verifier_hex"}
        assert messages.code_verifier(**told) == data == bytes.fromhex(vector["code"]["verifier_hex"])
    if "accepted" in vector:
        told = vector["accepted"]
        verifier, result = bytes.fromhex(told["verifier_hex"]), bytes.fromhex(told["result_body_hex"])
        proof = messages.acceptance_proof(verifier, told["event"], result)
        assert proof.hex() == told["proof_hex"]
        assert messages.pack_accepted(told["pair"], told["seat"], told["stamp"], proof) == data


@pytest.mark.parametrize("vector", json.loads((VECTORS / "events.json").read_text()), ids=lambda v: v["name"])
def test_golden_events(vector: dict[str, Any]) -> None:
    parts = next(one for one in MESSAGES if one["name"] == vector["message"])["fields"]["parts"]
    key = bytes.fromhex(vector["key_hex"]) or None
    assert messages.events_auth(key, vector["device_id"], parts).hex() == vector["auth_hex"]


@pytest.mark.parametrize("vector", json.loads((VECTORS / "director.json").read_text()), ids=lambda v: v["name"])
def test_golden_director(vector: dict[str, Any]) -> None:
    proof = messages.director_proof(vector["pin"], bytes.fromhex(vector["nonce_hex"]), vector["device_id"])
    assert proof.hex() == vector["proof_hex"]


def test_every_kind_of_the_devices_has_a_vector() -> None:
    assert {vector["kind"] for vector in MESSAGES} >= messages.KINDS
