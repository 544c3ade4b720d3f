"""Messages: golden bytes, strict lengths, nothing of a card in any error, repr or trace."""

from __future__ import annotations

import ast
import random
import traceback
from pathlib import Path

import construct
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_samples import MESSAGES, any_message, as_plain

import firmware_bridge
from firmware_bridge.errors import LinkError
from firmware_bridge.wire import layout
from firmware_bridge.wire.frames import Frame, FrameDecoder, crc16, frame_body
from firmware_bridge.wire.messages import (
    BY_CLASS,
    BY_KIND,
    MESSAGE_TYPES,
    Arm,
    CardEvent,
    Hello,
    PlanRound,
    Record,
    ReportData,
    Resume,
    TablePlan,
    Text,
    decode,
    encode,
    fit_text,
    kind_of,
)
from firmware_bridge.wire.redact import may_show, redacted
from firmware_bridge.wire.wire_error import WireError

NAMES = [vector["name"] for vector in MESSAGES]
kinds = st.sampled_from(MESSAGE_TYPES)


def message_of(vector):
    fields = {}
    for name, kind in BY_KIND[vector["kind"]].layout:
        value = vector["fields"][name]
        if kind.name.startswith(("bytes", "blob")):
            value = bytes.fromhex(value)
        elif kind.item is not None:
            raw = {name for name, of in layout.layout_of(kind.item) if of.name.startswith("bytes")}
            value = tuple(
                kind.item(**{name: bytes.fromhex(one) if name in raw else one for name, one in item.items()})
                for item in value
            )
        elif kind.name.startswith("list8"):
            value = tuple(value)
        fields[name] = value
    return BY_KIND[vector["kind"]].cls(**fields)


def test_every_message_has_a_golden_vector():
    assert {vector["kind"] for vector in MESSAGES} == set(BY_KIND)
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("vector", MESSAGES, ids=NAMES)
def test_golden_messages_both_ways(vector):
    payload = bytes.fromhex(vector["payload_hex"])
    message = decode(vector["kind"], payload)
    assert {name: as_plain(getattr(message, name)) for name in vector["fields"]} == vector["fields"]
    assert message == message_of(vector)
    assert encode(message) == payload
    assert kind_of(message) == vector["kind"]
    assert [name for name, _ in BY_KIND[vector["kind"]].layout] == [name for name, _ in vector["fields_hex"]]
    assert bytes.fromhex("".join(part for _, part in vector["fields_hex"])) == payload


@pytest.mark.parametrize("vector", MESSAGES, ids=NAMES)
def test_every_shorter_and_longer_payload_is_malformed(vector):
    payload = bytes.fromhex(vector["payload_hex"])
    for bad in [payload[:size] for size in range(len(payload))] + [payload + b"\0", payload + payload[:1]]:
        if bad == payload:
            continue
        with pytest.raises(WireError) as caught:
            decode(vector["kind"], bad)
        assert caught.value.code == "malformed"
    assert decode(vector["kind"], payload) == message_of(vector)


@pytest.mark.parametrize("vector", MESSAGES, ids=NAMES)
def test_every_changed_bit_is_malformed_or_another_message(vector):
    payload = bytes.fromhex(vector["payload_hex"])
    for at in range(len(payload)):
        for bit in range(8):
            bad = payload[:at] + bytes([payload[at] ^ 1 << bit]) + payload[at + 1 :]
            try:
                message = decode(vector["kind"], bad)
            except WireError:
                continue
            assert message != message_of(vector)
            assert encode(message) == bad


@given(any_message)
def test_any_message_comes_back(message):
    assert decode(kind_of(message), encode(message)) == message


@given(kinds, st.binary(max_size=300))
def test_any_bytes_are_malformed_or_exactly_one_message(message_type, payload):
    try:
        message = decode(message_type.kind, payload)
    except WireError:
        return
    assert encode(message) == payload


@given(any_message, st.randoms(use_true_random=False))
def test_damaged_payloads_raise_nothing_but_wire_errors(message, rng):
    payload = bytearray(encode(message))
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(payload))
        payload[at : at + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 2))
    try:
        again = decode(kind_of(message), bytes(payload))
    except WireError:
        return
    assert encode(again) == payload


def test_an_unknown_kind_is_unsupported():
    for kind in set(range(256)) - set(BY_KIND):
        with pytest.raises(WireError) as caught:
            decode(kind, b"")
        assert caught.value.code == "unsupported"
        assert isinstance(caught.value, LinkError)


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"a\xe2\x82"])
def test_text_that_is_not_utf8_is_malformed(bad):
    with pytest.raises(WireError) as caught:
        decode(kind_of(Text(0, "")), bytes([0, len(bad)]) + bad)
    assert caught.value.code == "malformed"


def hello(**changes):
    values = {name: 0 for name, _ in BY_CLASS[Hello].layout} | {"model": "", "firmware": "", "commands": ()}
    return Hello(**(values | changes))


def test_limits_of_hello():
    longest = hello(model="M" * 32, firmware="é" * 16, commands=tuple(range(8)))
    assert len(encode(longest)) == 173
    assert decode(1, encode(longest)) == longest
    for changes in ({"model": "M" * 33}, {"firmware": "é" * 17}, {"commands": tuple(range(9))}):
        with pytest.raises(WireError):
            encode(hello(**changes))
    short = encode(hello())
    for bad in (
        short[:42] + b"\x21" + b"M" * 33 + short[43:],
        short[:-1] + b"\x09" + bytes(72),
    ):
        with pytest.raises(WireError):
            decode(1, bad)


def test_numbers_out_of_their_range_come_through():
    payload = encode(CardEvent(1, 200, 3, 60, 61, 4, 9, 8, 1, 2, 3, 4))
    message = decode(0x34, payload)
    assert isinstance(message, CardEvent)
    assert (message.best, message.wanted, message.index) == (60, 9, 200)


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (Resume(1, 2, 256), "next_index"),
        (Resume(-1, 2, 3), "command_id"),
        (Arm(1, 2, 3, 4, bytes(12), bytes(8)), "routing"),
        (Text(0, "x" * 256), "text"),
        (Text(0, "\ud800"), "text"),
        (TablePlan(1, 2, 3, 4, (PlanRound(1, 70000, 0, 0, 0, 0, 0, 0, 0),)), "ns"),
        (TablePlan(1, 2, 3, 4, (PlanRound(1, 2, 0, 0, 0, 0, 0, 0, 0),) * 256), "rounds"),
        (ReportData(1, 1, 1, (1,) * 256), "placed"),
    ],
)
def test_a_value_without_room_is_refused_by_name(message, field):
    with pytest.raises(WireError, match=field):
        encode(message)


CARD_VALUE = 0xB7C3
CARD_TEXTS = ("47043", "b7c3", "c3b7", "183", "195", "\\xb7", "\\xc3")


def test_no_card_in_reprs_or_errors():
    placed = (CARD_VALUE,) * 3
    routing = bytes([0xB7, 0xC3] * 6 + [0xB7])
    shown = [
        repr(Arm(1, 2, 3, 4, routing, bytes(8))),
        repr(CardEvent(1, 2, CARD_VALUE, 0xB7, 0xC3, 5, 0xB7, 0xC3, 0, 0, 0, 0)),
        repr(ReportData(1, 1, 1, placed)),
        repr(Record(1, 2, bytes([0xB7] * 14), 0, bytes(6))),
    ]
    for message in (
        CardEvent(1, 2, 47043 << 8, 183, 195, 5, 3, 3, 0, 0, 0, 0),
        Arm(1, 2, 3, 4, routing[:-1], bytes(8)),
        ReportData(1, 1, 1, (47043 << 8,)),
    ):
        with pytest.raises(WireError) as caught:
            encode(message)
        shown.append("".join(traceback.format_exception(caught.value)).split("raise WireError")[-1])
        assert caught.value.__suppress_context__
    with pytest.raises(WireError) as caught:
        decode(0x20, encode(Arm(1, 2, 3, 4, routing, bytes(8)))[:-1])
    shown.append(str(caught.value))
    for text in shown:
        assert not any(card in text for card in CARD_TEXTS), text


HIDDEN = {"ARM", "CARD", "REPORT_DATA", "RECORD", "TEXT", "ENTRY_CHECK", "ENTRY_CHECKED", "FEEDBACK"}
HIDDEN |= {"NAME_RECORD", "NAMES", "NAME_SEARCH", "NAME_FOUND", "DIRECTOR_NONCE", "DIRECTOR_AUTH"}
HIDDEN |= {"TABLE_RECORD", "TAKE_OVER", "CODES", "RECAP", "STANDINGS"}


@pytest.mark.parametrize("vector", MESSAGES, ids=NAMES)
def test_traces_show_payloads_only_without_cards(vector):
    (frame,) = FrameDecoder().feed(bytes.fromhex(vector["frame_hex"]))
    line = redacted(frame)
    name = BY_KIND[frame.kind].name
    assert f"{frame.kind:02x} {name} address {frame.address} seq {frame.seq} ack {frame.ack} " in line
    assert f" {len(frame.payload)} bytes crc {crc16(frame_body(frame)):04x} " in line
    assert line.endswith(" hidden") == (name in HIDDEN)
    if name in HIDDEN:
        assert frame.payload.hex() not in line
    elif frame.payload:
        assert line.endswith(frame.payload.hex())


@given(st.integers(0, 255), st.binary(min_size=8, max_size=231))
def test_unknown_kinds_and_foreign_versions_are_hidden(kind, payload):
    assert may_show(Frame(0x10, kind, 0, 0, 0, 0, payload)) == (kind in BY_KIND and BY_KIND[kind].name not in HIDDEN)
    assert not may_show(Frame(0x20, kind, 0, 0, 0, 0, payload))
    assert payload.hex() not in redacted(Frame(0x20, kind, 0, 0, 0, 0, payload))


def sources(*rooms):
    root = Path(firmware_bridge.__file__).parent
    files = [path for room in rooms for path in sorted((root / room).glob("*.py"))]
    assert files
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_construct_is_interpreted_only():
    for path, tree in sources("wire", "link").items():
        compiled = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and node.attr in ("compile", "benchmark")
            and not (isinstance(node.value, ast.Name) and node.value.id == "re")
        ]
        named = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in ("Compiled", "Checksum", "RawCopy")]
        assert not compiled + named, path
    for message_type in MESSAGE_TYPES:
        assert not isinstance(message_type._struct, construct.Compiled)
    # Why: the generated parser of the same layout takes a text that is shorter than it says.
    struct = construct.Struct("text" / construct.Prefixed(construct.Int8ul, construct.GreedyBytes))
    assert struct.compile().parse(b"\x05ab").text == b"ab"
    with pytest.raises(construct.ConstructError):
        struct.parse(b"\x05ab")


def test_the_wire_imports_nothing_that_does_io():
    allowed = {"__future__", "ast", "binascii", "cobs", "collections", "construct", "dataclasses", "enum", "hashlib"}
    allowed |= {"hmac", "io", "re", "struct", "types", "typing", "zlib", "firmware_bridge"}
    for path, tree in sources("wire").items():
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in allowed, path
                if name.startswith("firmware_bridge"):
                    assert name == "firmware_bridge.errors" or name.startswith("firmware_bridge.wire."), path


def test_a_dataclass_without_wire_types_is_no_message():
    class Plain:
        pass

    with pytest.raises(TypeError):
        layout.layout_of(Plain)


@given(st.text(), st.integers(0, 60))
def test_text_is_cut_at_a_character(text, limit):
    cut = fit_text(text, limit)
    assert len(cut.encode("utf-8")) <= limit
    clean = text.encode("utf-8", "replace").decode("utf-8")
    assert clean.startswith(cut)
    assert cut == clean or len(clean[: len(cut) + 1].encode("utf-8")) > limit


def test_random_garbage_is_only_ever_a_wire_error():
    rng = random.Random(5)
    for _ in range(5000):
        kind = rng.choice(MESSAGE_TYPES).kind
        try:
            decode(kind, rng.randbytes(rng.randint(0, 60)))
        except WireError:
            pass
