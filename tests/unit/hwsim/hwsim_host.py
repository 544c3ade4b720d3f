"""A small host for tests of the simulated devices: their codec, an in-memory line, virtual time."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Any

from hwsim import codec, messages
from hwsim.codec import Frame
from hwsim.line import Device, Line
from hwsim.numbers import Kind, Role

Told = tuple[int, int, dict[str, Any]]  # kind, address, fields


class World:
    """Virtual time: a line with a device, and perhaps a host at its near end."""

    def __init__(self, line: Line, now: float = 0.0) -> None:
        self.line = line
        self.now = now
        self.host: Host | None = None
        self.limit = 200_000

    def step(self, until: float) -> None:
        """One step of time, not beyond ``until``."""
        deadline = self.line.next_deadline()
        host = self.host.next_deadline(self.now) if self.host else None
        times = [t for t in (deadline, host, until) if t is not None]
        self.now = max(self.now, min(times))
        self.line.advance(self.now)
        data = self.line.to_host(self.now)
        seconds = self.line.device.take_unplug()
        if seconds is not None:
            self.line.disconnect(self.now)
        if self.host is not None:
            out = self.host.turn(data, self.now)
            self.line.from_host(out, self.now)
            if out:
                self.line.advance(self.now)
        self.limit -= 1
        assert self.limit, "virtual time stands still"

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.step(end)

    def run_until(self, condition: Callable[[], bool], seconds: float = 60.0) -> None:
        end = self.now + seconds
        while not condition():
            assert self.now < end, "it did not happen in time"
            self.step(end)


class Host:
    """A correct host: HELLO until answered, window, acknowledgement at once, go-back-N after a fixed time."""

    RTO = 0.4

    def __init__(self, device_id: int = 7, window: int = 8, max_frame: int = 240, session: int = 1) -> None:
        self.device_id = device_id
        self.window = window
        self.max_frame = max_frame
        self.session = session
        self.hello: dict[str, Any] | None = None
        self.told: list[Told] = []
        self.controls: list[Told] = []
        self.on_message: Callable[[int, int, dict[str, Any]], None] = lambda kind, address, fields: None
        self.drop: Callable[[], bool] = lambda: False
        self.frames_seen = 0
        self._splitter = codec.Splitter()
        self._queue: deque[tuple[int, int, int, bytes]] = deque()
        self._flight: deque[tuple[int, Frame]] = deque()
        self._seq = self._expected = 0
        self._timer: float | None = None
        self._hello_at = 0.0
        self._heard = False
        self._last_out = 0.0
        self._ack_now = False
        self._pieces = bytearray()
        self.silent = False

    def send(self, kind: int, fields: dict[str, Any] | None = None, address: int = 0) -> None:
        self.send_raw(kind, messages.encode(kind, fields), address)

    def send_raw(self, kind: int, payload: bytes, address: int = 0) -> None:
        size = self.max_frame - codec.OVERHEAD
        pieces = [payload[i : i + size] for i in range(0, len(payload), size)] or [b""]
        for number, piece in enumerate(pieces):
            flags = codec.SEQUENCED
            flags |= codec.MORE if number < len(pieces) - 1 else 0
            flags |= codec.CONTINUED if number else 0
            self._queue.append((kind, address, flags, piece))

    def all(self, kind: int) -> list[dict[str, Any]]:
        return [fields for k, _, fields in self.told if k == kind]

    def last(self, kind: int) -> dict[str, Any]:
        return self.all(kind)[-1]

    def next_deadline(self, now: float) -> float | None:
        if self.silent:
            return None
        times = [self._last_out + 1.0]
        if self.hello is None:
            times.append(self._hello_at)
        elif self._queue and len(self._flight) < self.window:
            times.append(now)
        if self._timer is not None:
            times.append(self._timer)
        return min(times)

    def turn(self, data: bytes, now: float) -> bytes:
        for frame in self._splitter.feed(data):
            if not self.drop():
                self._on_frame(frame, now)
        if self.silent:
            return b""
        out = b""
        if self.hello is None:
            if now >= self._hello_at:
                self._hello_at = now + 0.5
                out += self._pack(Frame(Kind.HELLO, flags=0, payload=messages.encode(Kind.HELLO, self._own_hello())))
            self._last_out = now
            return out
        if self._timer is not None and now >= self._timer:
            self._timer = now + self.RTO
            for _, frame in self._flight:
                out += self._pack(frame)
        while self._queue and len(self._flight) < self.window:
            kind, address, flags, payload = self._queue.popleft()
            frame = Frame(kind, address, self._seq, 0, flags, payload)
            self._flight.append((self._seq, frame))
            self._seq = (self._seq + 1) & 255
            self._timer = self._timer or now + self.RTO
            out += self._pack(frame)
        if self._ack_now and not out:
            out += self._pack(Frame(Kind.ACK, flags=0))
        if not out and now >= self._last_out + 1.0:
            out += self._pack(Frame(Kind.PING, flags=0, payload=messages.encode(Kind.PING, {"uptime_ms": 1})))
        self._ack_now = False
        if out:
            self._last_out = now
        return out

    def _own_hello(self) -> dict[str, Any]:
        return {
            "proto_min": 0x10,
            "proto_max": 0x10,
            "role": Role.HOST,
            "window": self.window,
            "max_frame": self.max_frame,
            "device_id": self.device_id,
            "boot_id": 1,
            "boot_count": 1,
            "journal_id": 0,
            "oldest_unacked": 0,
            "next_seq": 0,
            "capabilities": 0,
            "session": self.session,
            "model": "test host",
            "firmware": "",
            "commands": [],
        }

    def _pack(self, frame: Frame) -> bytes:
        flags, ack = frame.flags, 0
        if self.hello is not None:
            flags, ack = flags | codec.ACK, self._expected
        return codec.encode_frame(Frame(frame.kind, frame.address, frame.seq, ack, flags, frame.payload))

    def _on_frame(self, frame: Frame, now: float) -> None:
        assert frame.flags & codec.FROM_DEVICE
        assert not frame.flags & codec.RESERVED
        self.frames_seen += 1
        if frame.kind == Kind.HELLO:
            fields = messages.decode(frame.kind, frame.payload)
            if fields["session"] == self.session and self.hello is None:
                self.hello = fields
            else:
                self.controls.append((frame.kind, frame.address, fields))
            return
        if not frame.flags & codec.SEQUENCED:
            self.controls.append((frame.kind, frame.address, messages.decode(frame.kind, frame.payload)))
        if self.hello is None:
            return
        if frame.flags & codec.ACK and self._flight:
            covered = (frame.ack - self._flight[0][0]) & 255
            if 0 < covered <= len(self._flight):
                for _ in range(covered):
                    self._flight.popleft()
                self._timer = now + self.RTO if self._flight else None
        if not frame.flags & codec.SEQUENCED:
            return
        self._ack_now = True
        if frame.seq != self._expected:
            return
        self._expected = (self._expected + 1) & 255
        if not frame.flags & codec.CONTINUED:
            self._pieces.clear()
        self._pieces += frame.payload
        if not frame.flags & codec.MORE:
            fields = messages.decode(frame.kind, bytes(self._pieces))
            self.told.append((frame.kind, frame.address, fields))
            self.on_message(frame.kind, frame.address, fields)


def connect(device: Device, baud: int | None = None, now: float = 0.0, **options: Any) -> tuple[World, Host]:
    """A device with a host that has just been accepted."""
    world = World(Line(device, baud), now)
    host = world.host = Host(**options)
    world.run_until(lambda: host.hello is not None, 5.0)
    return world, host


class Dealer:
    """The host's side of dealing, in its simplest correct form: one board after the other."""

    def __init__(self, world: World, host: Host, seed: int = 1) -> None:
        self.world = world
        self.host = host
        self._random = random.Random(seed)
        self.plans: dict[tuple[int, int], list[int]] = {}

    def id(self) -> int:
        return self._random.getrandbits(64)

    def plan(self, board: int, copy: int) -> list[int]:
        pockets = [seat for seat in range(4) for _ in range(13)]
        random.Random(board).shuffle(pockets)
        self.plans[board, copy] = pockets
        return pockets

    def display(self, action: int, board: int, copy: int) -> None:
        fields = {"action": action, "board": board, "copy": copy, "sound": 0, "text": "do it"}
        self.host.send(Kind.DISPLAY, fields)

    def command(self, kind: int, **fields: Any) -> dict[str, Any]:
        """Send a command and wait for its result."""
        command_id = fields.setdefault("command_id", self.id())
        before = len(self.host.told)
        self.host.send(kind, fields)

        def answer() -> dict[str, Any] | None:
            results = [f for k, _, f in self.host.told[before:] if k == Kind.COMMAND_RESULT]
            return next((f for f in results if f["command_id"] == command_id), None)

        self.world.run_until(lambda: answer() is not None, 30.0)
        result = answer()
        assert result is not None
        return result

    def wait(self, *kinds: int, seconds: float = 120.0) -> Told:
        """The next message of one of these kinds."""
        before = len(self.host.told)
        found: list[Told] = []

        def look() -> bool:
            found[:] = [told for told in self.host.told[before:] if told[0] in kinds]
            return bool(found)

        self.world.run_until(look, seconds)
        return found[0]

    def arm(self, board: int, copy: int, job: int) -> dict[str, Any]:
        routing = messages.pack_routing(self.plan(board, copy))
        digest = messages.deal_digest(board, routing)
        return self.command(Kind.ARM, job_id=job, board=board, copy=copy, routing=routing, digest=digest)

    def start(self, board: int, copy: int, job: int) -> dict[str, Any]:
        digest = messages.deal_digest(board, messages.pack_routing(self.plans[board, copy]))
        boot = self.host.hello["boot_id"] if self.host.hello else 0
        return self.command(Kind.START, job_id=job, board=board, copy=copy, boot_id=boot, digest=digest)
