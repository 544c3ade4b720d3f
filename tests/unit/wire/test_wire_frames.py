"""T4, frames: golden bytes, every damage to them at any offset, any chunking, any noise, bounded memory."""

from __future__ import annotations

import random
import tracemalloc
from itertools import pairwise

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st
from wire_samples import MESSAGES

from firmware_bridge.wire.frames import (
    MAX_ENCODED,
    MAX_PAYLOAD,
    Frame,
    FrameDecoder,
    crc16,
    encode_frame,
)
from firmware_bridge.wire.wire_error import WireError

GOLDEN = [bytes.fromhex(vector["frame_hex"]) for vector in MESSAGES]
NAMES = [vector["name"] for vector in MESSAGES]
MARK = Frame(0x10, 0x38, 9, 1, 2, 0x13, b"\x02")
MARK_BYTES = encode_frame(MARK)

frames = st.builds(
    Frame,
    version=st.integers(0x10, 0x1F),
    kind=st.integers(0, 255),
    address=st.integers(0, 0xFFFF),
    seq=st.integers(0, 255),
    ack=st.integers(0, 255),
    flags=st.integers(0, 0x1F),
    payload=st.binary(max_size=MAX_PAYLOAD) | st.sampled_from([bytes(MAX_PAYLOAD), b"\xff" * MAX_PAYLOAD]),
)


def golden_frame(vector):
    header = (vector[key] for key in ("kind", "address", "seq", "ack", "flags"))
    return Frame(0x10, *header, bytes.fromhex(vector["payload_hex"]))


def decode_all(data):
    decoder = FrameDecoder()
    return decoder.feed(data), decoder


def test_the_check_value_of_the_crc():
    assert crc16(b"123456789") == 0x29B1


@pytest.mark.parametrize("vector", MESSAGES, ids=NAMES)
def test_golden_frames_both_ways(vector):
    data = bytes.fromhex(vector["frame_hex"])
    assert decode_all(data)[0] == [golden_frame(vector)]
    assert encode_frame(golden_frame(vector)) == data


def damaged(data):
    """Every single bit flip, truncation, deletion of a byte, insertion of a byte, and doubling of a byte."""
    for at in range(len(data)):
        for bit in range(8):
            yield data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
        yield data[:at]
        yield data[at:] if at else b""
        yield data[:at] + data[at + 1 :]
        yield data[:at] + data[at : at + 1] + data[at:]
        yield data[:at] + b"\0" + data[at:]
        yield data[:at] + b"\x01" + data[at:]


@pytest.mark.parametrize("data", GOLDEN, ids=NAMES)
def test_a_damaged_frame_is_dropped_or_the_same_and_the_next_one_is_found(data):
    (whole,), _ = decode_all(data)
    for bad in damaged(data):
        found, _ = decode_all(bad + MARK_BYTES)
        assert found in ([MARK], [whole, MARK]), bad.hex()


def test_two_frames_glued_by_one_zero():
    for first, second in pairwise(GOLDEN):
        alone = decode_all(first)[0] + decode_all(second)[0]
        assert decode_all(first + second[1:])[0] == alone
        assert decode_all(first[1:-1] + second)[0] == alone


def test_two_frames_glued_without_a_zero_are_no_frame():
    for first, second in pairwise(GOLDEN):
        found, decoder = decode_all(first[:-1] + second[1:] + MARK_BYTES)
        assert found == [MARK]
        assert decoder.counters.dropped == 1


@given(st.lists(frames, max_size=4), st.data())
def test_chunks_do_not_matter(sent, data):
    noise = data.draw(st.binary(max_size=400))
    stream = noise + b"".join(encode_frame(frame) for frame in sent) + data.draw(st.binary(max_size=300))
    whole, reference = decode_all(stream)
    assert (whole[: len(whole)] and True) or not sent
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    decoder = FrameDecoder()
    pieces = [decoder.feed(stream[a:b]) for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert [frame for piece in pieces for frame in piece] == whole
    assert decoder.counters == reference.counters
    single = FrameDecoder()
    assert [frame for byte in stream for frame in single.feed(bytes([byte]))] == whole
    assert single.counters == reference.counters
    assert decoder.held == single.held == reference.held <= MAX_ENCODED


@given(st.lists(frames, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_every_frame_is_found_between_noise(sent, rng):
    stream = b""
    for frame in sent:
        stream += rng.randbytes(rng.choice([0, 1, 30, 1024])) + encode_frame(frame)
    found, decoder = decode_all(stream)
    assert [frame for frame in found if frame in sent] == sent
    # noise passes a CRC of 16 bits once in 65,536 pieces; nothing else may
    assert len(found) - len(sent) <= 1
    assert decoder.counters.good == len(found)


@given(frames)
def test_any_frame_comes_back(frame):
    data = encode_frame(frame)
    assert data[0] == data[-1] == 0
    assert 0 not in data[1:-1]
    assert len(data) <= MAX_ENCODED + 2
    assert decode_all(data)[0] == [frame]


@pytest.mark.parametrize(
    ("field", "value"), [("version", 256), ("kind", -1), ("address", 65536), ("seq", 256), ("ack", -1), ("flags", 256)]
)
def test_a_header_field_out_of_range_is_refused(field, value):
    header = {"version": 0x10, "kind": 1, "address": 0, "seq": 0, "ack": 0, "flags": 0, "payload": b"", field: value}
    with pytest.raises(WireError):
        encode_frame(Frame(**header))


def test_a_payload_too_long_is_refused():
    encode_frame(Frame(0x10, 1, 0, 0, 0, 0, bytes(MAX_PAYLOAD)))
    with pytest.raises(WireError, match="231"):
        encode_frame(Frame(0x10, 1, 0, 0, 0, 0, bytes(MAX_PAYLOAD + 1)))


@pytest.mark.parametrize("bit", [0x20, 0x40, 0x80])
def test_reserved_flags_drop_the_frame_in_our_major_version_only(bit):
    ours, decoder = decode_all(encode_frame(Frame(0x10, 1, 0, 0, 0, bit, b"")))
    assert ours == []
    assert decoder.counters.reserved_flags == 1
    foreign, _ = decode_all(encode_frame(Frame(0x20, 1, 0, 0, 0, bit, b"")))
    assert [frame.major for frame in foreign] == [2]


def test_each_counter_counts_its_own():
    good = encode_frame(MARK)
    decoder = FrameDecoder()
    decoder.feed(good + b"\0\0\0")
    decoder.feed(good[:3] + bytes([good[3] ^ 4]) + good[4:])
    decoder.feed(b"\0\x05\x01\0")  # the block is longer than the piece
    decoder.feed(b"\0\x03\x01\x02\0")
    decoder.feed(b"\0" + b"\x01" * (MAX_ENCODED + 1) + b"\0")
    counters = decoder.counters
    assert (counters.good, counters.crc_errors, counters.cobs_errors) == (1, 1, 1)
    assert (counters.short, counters.overlong) == (1, 1)
    assert counters.dropped == 4
    assert counters.bytes_seen == 2 * len(good) + 3 + 4 + 5 + MAX_ENCODED + 3


@pytest.mark.parametrize("size", range(9))
def test_a_frame_too_short_for_a_header_is_dropped_though_its_crc_is_right(size):
    body = bytes(range(1, size - 1))
    raw = (body + crc16(body).to_bytes(2, "little"))[:size]
    found, decoder = decode_all(b"\0" + cobs.encode(raw) + b"\0" + MARK_BYTES)
    assert found == [MARK]
    assert decoder.counters.short == 1


def test_the_longest_frame_is_taken_and_one_byte_more_is_dropped_at_once():
    data = encode_frame(Frame(0x10, 1, 0, 0, 0, 0, b"\1" * MAX_PAYLOAD))
    assert len(data) == MAX_ENCODED + 2
    assert len(decode_all(data)[0]) == 1
    decoder = FrameDecoder()
    decoder.feed(b"\1" * MAX_ENCODED)
    assert decoder.held == MAX_ENCODED
    decoder.feed(b"\1")
    assert decoder.held == 0
    assert decoder.counters.overlong == 1
    decoder.feed(b"\1" * 5000)
    assert decoder.held == 0
    assert decoder.feed(b"\0" + MARK_BYTES) == [MARK]
    assert decoder.counters.overlong == 1


@pytest.mark.parametrize("kind", ["random", "no zeros", "zeros", "almost frames"])
def test_memory_stays_bounded_under_ten_megabytes_of_noise(kind):
    rng = random.Random(1)
    chunk = {
        "random": rng.randbytes(65536),
        "no zeros": b"\x55" * 65536,
        "zeros": bytes(65536),
        "almost frames": (MARK_BYTES[:-2] + b"\x77\0") * (65536 // len(MARK_BYTES)),
    }[kind]
    decoder = FrameDecoder()
    decoder.feed(chunk)
    tracemalloc.start()
    for _ in range(160):  # 10 MB
        decoder.feed(chunk)
        assert decoder.held <= MAX_ENCODED
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert decoder.counters.bytes_seen > 10_000_000
    assert peak < 100_000
    assert decoder.feed(b"\0" + MARK_BYTES) == [MARK]


def test_the_repr_of_a_frame_shows_no_payload():
    assert "2a2b2c" not in repr(Frame(0x10, 0x20, 0, 0, 0, 0, b"\x2a\x2b\x2c")).replace(" ", "")
    assert "*+," not in repr(Frame(0x10, 0x20, 0, 0, 0, 0, b"*+,"))
