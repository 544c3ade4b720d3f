"""Hostile and broken deal files: only our own error leaves a reader, in bounded time, and never with a card in it."""

import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dealer.formats.api import FORMATS, read_deals, write_deals
from dealer.generate import SeededBytes, generate
from firmware_bridge.errors import DealError

BOARDS = generate(range(1, 5), SeededBytes("fuzz"))
SAMPLES = {name: write_deals(BOARDS, name) for name, info in FORMATS.items() if info.writes}
SAMPLES["hrf"] = b"".join(
    (
        f"{board.number:3d} "
        + " ".join("".join("SHDC"[s] + board.deal.holding(seat, s) for s in range(4)) for seat in range(4))
    )
    .encode()
    .ljust(128)
    for board in BOARDS
)
shared = os.environ.get("FIRMWARE_BRIDGE_TEST_DATA")
REAL = [path for path in sorted(Path(shared).glob("*/*")) if path.is_file()] if shared else []
relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read_or_refuse(data, name=None, file_name=""):
    try:
        result = read_deals(data, format_name=name, name=file_name)
    except DealError:
        return None
    for finding in (*result.repairs, *result.problems):
        assert finding.message
        assert finding.line is None or finding.line >= 0
    assert len(result.boards) <= result.found
    return result


def mutate(data, seed, other=b""):
    """A few cuts, copies and changed bytes."""
    rng = random.Random(seed)
    body = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if not body:
            break
        at = rng.randrange(len(body))
        size = rng.choice((1, 1, 2, 5, 40, 200))
        kind = rng.randrange(7)
        if kind == 0:
            body[at] = rng.randrange(256)
        elif kind == 1:
            del body[at : at + size]
        elif kind == 2:
            body[at:at] = body[max(0, at - size) : at]
        elif kind == 3:
            body[at:at] = rng.choice(
                (b"[", b"]", b'"', b"{", b"}", b";", b"%", b"|", b"\n", b"\r", b"\x00", b"#", b"\\")
            )
        elif kind == 4 and other:
            start = rng.randrange(len(other))
            body[at:at] = other[start : start + size]
        elif kind == 5:
            body[at : at + 1] = rng.choice((b"9" * 50, b"-1", b"\xff\xfe", b"\xef\xbb\xbf", "♠".encode(), b"T", b"10"))
        else:
            body = body[:at] if rng.random() < 0.3 else body[at:] + body[:at]
    return bytes(body)


@pytest.mark.parametrize("name", SAMPLES)
@relaxed
@given(seed=st.integers(0, 2**32), other=st.sampled_from(sorted(SAMPLES)))
def test_mutated_files(name, seed, other):
    data = mutate(SAMPLES[name], seed, SAMPLES[other])
    read_or_refuse(data, name)
    read_or_refuse(data)


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=40, deadline=None)
@given(data=st.binary(max_size=600))
def test_random_bytes(name, data):
    read_or_refuse(data, name)
    read_or_refuse(data, file_name=f"x{FORMATS[name].extensions[0]}")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ['[Board "1"]', '[Deal "', '[Deal "N:- - - -"]', "{", "}", ";", "\n", "\n\n", "%", '"', "]", "[",
             '[Board "#"]', '[Event "##"]', "1NT", '[Auction "N"]', "\\", " ", "\t", "\r", '[X ""]',
             '[Deal "N:AKQ... x y z"]', "é"]
        ),
        max_size=60,
    )
)  # fmt: skip
def test_pbn_from_its_own_pieces(pieces):
    read_or_refuse("".join(pieces).encode(), "pbn")


@pytest.mark.skipif(not REAL, reason="FIRMWARE_BRIDGE_TEST_DATA names no folder with further files")
@settings(max_examples=400, deadline=None)
@given(st.sampled_from(REAL or [Path()]), st.integers(0, 2**32))
def test_mutated_real_files(path, seed):
    data = mutate(path.read_bytes(), seed)
    read_or_refuse(data, file_name=path.name)


MIB = 1024 * 1024
HOSTILE = {
    "one line of 50 MB": ("x.pbn", lambda: b'[Event "' + b"a" * (50 * MIB) + b'"]\n'),
    "a million tags": ("x.pbn", lambda: b"".join(b'[T%d "x"]\n' % i for i in range(1_000_000))),
    "the same tag many times": ("x.pbn", lambda: b'[Event "x"]\n' * 300_000),
    "nested comments": ("x.pbn", lambda: b"% PBN\n" + b"{;\n" * (4 * MIB)),
    "comments in open tags": ("x.pbn", lambda: b"% \n" + b"[a {}{}{}{}{}{}\n" * 100_000),
    "open brackets": ("x.pbn", lambda: b"% \n" + b'[a "\n' * 200_000),
    "blanks in open brackets": ("x.pbn", lambda: b"% \n" + (b"[" + b"\n" * 5000) * 500),
    "empty lines": ("x.pbn", lambda: b'[Event "a"]\n' + b"\n \n" * (6 * MIB)),
    "backslashes": ("x.pbn", lambda: b'[Event "' + b"\\" * 900_000 + b"\n"),
    "quotation marks": ("x.pbn", lambda: b'[Event "a"]\n' + b'"' * 900_001),
    "deals in no tag": ("x.pbn", lambda: b'[Event "a"]\n' + b"N:A.K.Q.J A.K" * 70_000 + b"\n" + b"N:" * 450_000),
    "open marks in text": ("x.pbn", lambda: b'[Event "a"]\n' + b'a"[{\n' * 300_000),
    "hands in explanations": ("x.lin", lambda: b"md|" + (b"|an|" + b"SAHADA" * 700) * 3_000),
    "bars": ("x.lin", lambda: b"md|" + b"|" * (6 * MIB)),
    "one md of 50 MB": ("x.lin", lambda: b"md|" + b"S" * (50 * MIB)),
    "a million brackets": ("x.json", lambda: b'{"boards": ' + b"[" * 1_000_000),
    "rows that are no boards": ("x.json", lambda: b'{"boards": [' + b"1," * 500_000 + b"1]}"),
    "a number of ten million digits": ("x.json", lambda: b'{"boards": [' + b"1" * 10_000_000 + b"]}"),
    "an open quotation mark": ("x.csv", lambda: b'"' * (10 * MIB)),
    "too many records": ("x.cds", lambda: b"\x01" * (14 * 260_000)),
    "deals next to the filler": ("x.goe", lambda: b"".join(b"%d\n" % number for number in range(20_000))),
    "long numbers": ("x.goe", lambda: (b"9" * 40 + b"\n") * 100_000),
    "keys": ("x.dlm", lambda: b"[Document]\n" + b"".join(b"k%d=a\n" % i for i in range(300_000))),
    "letters": ("x.hrf", lambda: (b"1S" + b"A" * 126) * 50_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_soon(name):
    file_name, make = HOSTILE[name]
    data = make()
    started = time.process_time()
    read_or_refuse(data, file_name=file_name)
    assert time.process_time() - started < 15
