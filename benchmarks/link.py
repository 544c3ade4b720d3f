"""How many frames per second the link takes: split, COBS, CRC, construct, session, each stage and the whole.

    python benchmarks/link.py [--frames 4000] [--repeat 5]

Prints one table for what comes in and one for what goes out. The ratio says how many lines of 115200 baud, full of such
frames, one core would keep up with. Figures are of the machine named above the table; nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import time
from binascii import crc_hqx
from collections.abc import Callable
from pathlib import Path

from cobs import cobs

from firmware_bridge.link.greeting import host_hello
from firmware_bridge.link.session import Session
from firmware_bridge.wire.frames import Flag, Frame, FrameDecoder, encode_frame
from firmware_bridge.wire.messages import (
    BY_KIND,
    CardEvent,
    Hello,
    Message,
    Record,
    RecordAck,
    TermStatus,
    Text,
    decode,
    encode,
    kind_of,
)
from firmware_bridge.wire.numbers import Role
from firmware_bridge.wire.redact import redacted

BYTES_PER_SECOND = 115200 / 10


def machine() -> str:
    """Processor, cores, system and Python, as far as the system tells."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, Python {platform.python_version()}"
    )


def incoming(count: int) -> list[Frame]:
    """What devices send on an evening: cards, records, states of terminals."""
    rng = random.Random(1)
    frames = []
    for number in range(count):
        message: Message
        if number % 4 < 2:
            message = CardEvent(7, number % 52, rng.randrange(65536), number % 52, 3, 200, 1, 1, 615, number, 40, 260)
        elif number % 4 == 2:
            message = Record(9, number + 1, rng.randbytes(14), rng.randrange(2**32), bytes(6))
        else:
            message = TermStatus(1, number % 20, 3, 88, 255, 2, 1000, 4)
        flags = Flag.SEQUENCED | Flag.ACK | Flag.FROM_DEVICE
        frames.append(Frame(0x10, kind_of(message), number % 20, number % 256, 0, int(flags), encode(message)))
    return frames


def outgoing(count: int) -> list[Message]:
    """What the host sends: acknowledgements of records, now and then a text."""
    return [Text(0, "Round 3") if number % 8 == 0 else RecordAck(5, 9, number, 4) for number in range(count)]


def established() -> Session:
    session = Session(host_hello(1, 2, 3, "benchmark"), None, random.Random(1))
    session.start(0.0)
    session.take_output(0.0)
    peer = Hello(0x10, 0x10, Role.STATION, 16, 240, 4, 5, 6, 0, 0, 0, 0, session.session_number, "", "", ())
    session.receive(encode_frame(Frame(0x10, 1, 0, 0, 0, int(Flag.FROM_DEVICE), encode(peer))), 0.0)
    return session


def best(run: Callable[[], object], repeat: int) -> float:
    """The shortest of several times, in seconds: what the code costs when nothing else runs."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def table(title: str, stages: list[tuple[str, float]], count: int, size: int) -> None:
    """One row per stage: frames per second, share of the last stage's time, saturated lines."""
    line = BYTES_PER_SECOND / (size / count)
    whole = stages[-1][1]
    print(f"\n{title}: {count} frames of {size / count:.1f} bytes on the line; 115200 baud carry {line:.0f} a second")
    print(f"  {'stage':<44} {'frames/s':>12} {'of the whole':>13} {'lines':>8}")
    for name, seconds in stages:
        rate = count / seconds
        print(f"  {name:<44} {rate:>12,.0f} {seconds / whole:>12.1%} {rate / line:>8,.1f}")


def receive_in_chunks(stream: bytes, chunk: int) -> int:
    session = established()
    got = 0
    for number, at in enumerate(range(0, len(stream), chunk)):
        got += len(session.receive(stream[at : at + chunk], number * 1e-4))
        session.take_output(number * 1e-4)
    return got


def send_all(messages: list[Message]) -> None:
    session = established()
    for number, message in enumerate(messages):
        session.send(message, number % 20, 0.0)
        session.take_output(0.0)
        if number % 8 == 7:
            ack = Frame(0x10, 2, 0, 0, (number + 1) % 256, int(Flag.ACK | Flag.FROM_DEVICE), b"")
            session.receive(encode_frame(ack), 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--frames", type=int, default=4000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    count, repeat = max(1, options.frames), max(1, options.repeat)

    frames = incoming(count)
    stream = b"".join(encode_frame(frame) for frame in frames)
    pieces = [piece for piece in stream.split(b"\0") if piece]
    raws = [cobs.decode(piece) for piece in pieces]
    payloads = [(frame.kind, frame.payload) for frame in frames]
    structs = [(BY_KIND[kind], payload) for kind, payload in payloads]
    assert receive_in_chunks(stream, 256) == count, "the session did not take every frame"

    print(machine())
    table(
        "In",
        [
            ("split at zero bytes", best(lambda: [piece for piece in stream.split(b"\0") if piece], repeat)),
            ("COBS", best(lambda: [cobs.decode(piece) for piece in pieces], repeat)),
            ("CRC", best(lambda: [crc_hqx(raw[:-2], 0xFFFF) for raw in raws], repeat)),
            ("split, COBS, CRC, header: FrameDecoder", best(lambda: FrameDecoder().feed(stream), repeat)),
            ("construct, interpreted, one layout known", best(lambda: [t.parse(p) for t, p in structs], repeat)),
            ("construct and choice of the layout: decode", best(lambda: [decode(k, p) for k, p in payloads], repeat)),
            ("frames to messages: FrameDecoder and decode", best(lambda: whole_wire(stream), repeat)),
            ("redacted line for the trace", best(lambda: [redacted(frame) for frame in frames], repeat)),
            ("whole: session in chunks of 256 bytes", best(lambda: receive_in_chunks(stream, 256), repeat)),
        ],
        count,
        len(stream),
    )

    messages = outgoing(count)
    sent = [Frame(0x10, kind_of(m), 0, n % 256, 0, 3, encode(m)) for n, m in enumerate(messages)]
    bodies = [frame.payload + bytes(9) for frame in sent]
    table(
        "Out",
        [
            ("construct, interpreted: encode", best(lambda: [encode(message) for message in messages], repeat)),
            ("CRC", best(lambda: [crc_hqx(body, 0xFFFF) for body in bodies], repeat)),
            ("COBS", best(lambda: [cobs.encode(body) for body in bodies], repeat)),
            ("header, CRC, COBS: encode_frame", best(lambda: [encode_frame(frame) for frame in sent], repeat)),
            ("whole: session, window 16", best(lambda: send_all(messages), repeat)),
        ],
        count,
        sum(len(encode_frame(frame)) for frame in sent),
    )


def whole_wire(stream: bytes) -> list[Message]:
    return [decode(frame.kind, frame.payload) for frame in FrameDecoder().feed(stream)]


if __name__ == "__main__":
    main()
