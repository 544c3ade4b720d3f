"""A serial line of a given baud rate in simulated time, with a device at its far end. Sans-IO.

A pty carries any number of bytes in no time, and so does TCP; this puts the time back, in both directions, and counts
bytes and the seconds in which at least one direction was transmitting.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol


class Device(Protocol):
    role: str

    def receive(self, data: bytes, now: float) -> None: ...

    def tick(self, now: float) -> None: ...

    def next_deadline(self) -> float | None: ...

    def take_output(self, room: int = ...) -> bytes: ...

    def line_down(self, now: float) -> None: ...

    def bye(self, reason: int) -> None: ...

    def take_unplug(self) -> float | None: ...

    def close(self) -> None: ...

    def statistics(self) -> dict[str, object]: ...


class _Wire:
    """One direction: bytes that were put on it and when the last of them will have arrived."""

    def __init__(self, byte_time: float) -> None:
        self._byte_time = byte_time
        self._chunks: deque[tuple[float, bytes]] = deque()  # time of arrival of the first byte, bytes
        self.free_at = 0.0
        self.held = 0
        self.bytes = 0

    def put(self, data: bytes, now: float) -> tuple[float, float]:
        """Returns when transmission of ``data`` begins and ends."""
        begin = max(now, self.free_at)
        end = begin + len(data) * self._byte_time
        self._chunks.append((begin + self._byte_time, data))
        self.free_at = end
        self.held += len(data)
        self.bytes += len(data)
        return begin, end

    def take(self, now: float) -> bytes:
        """Bytes that have arrived."""
        out = bytearray()
        slack = now + 1e-9
        while self._chunks:
            first, data = self._chunks[0]
            if self._byte_time == 0.0:
                count = len(data) if first <= slack else 0
            else:
                count = min(len(data), int((slack - first) / self._byte_time) + 1) if first <= slack else 0
            if count <= 0:
                break
            out += data[:count]
            self._chunks.popleft()
            if count < len(data):
                self._chunks.appendleft((first + count * self._byte_time, data[count:]))
                break
        self.held -= len(out)
        return bytes(out)

    def next_time(self) -> float | None:
        """When the next frame will have arrived, or all that is under way."""
        if not self._chunks:
            return None
        first, data = self._chunks[0]
        at = data.find(b"\x00")
        if at == 0 and len(data) > 1:
            at = data.find(b"\x00", 1)
        return first + (at if at >= 0 else len(data) - 1) * self._byte_time

    def clear(self, now: float) -> None:
        self._chunks.clear()
        self.held = 0
        self.free_at = now


class Line:
    """baud None: nothing is paced. ``from_host`` and ``to_host`` are the two sockets; ``advance`` moves time on."""

    def __init__(self, device: Device, baud: int | None) -> None:
        self.device = device
        self.byte_time = 10 / baud if baud else 0.0
        self._in = _Wire(self.byte_time)
        self._out = _Wire(self.byte_time)
        # The transmitter takes a new frame when less than this is still to be sent, as a UART with a small FIFO does.
        self._low_water = max(0.004, 24 * self.byte_time)
        self.connected = True
        self.busy_seconds = 0.0
        self._busy_until = 0.0
        self.first_byte: float | None = None
        self.last_byte: float | None = None

    @property
    def bytes_in(self) -> int:
        return self._in.bytes

    @property
    def bytes_out(self) -> int:
        return self._out.bytes

    def inbound_held(self) -> int:
        """Bytes from the host that have not yet arrived at the device."""
        return self._in.held

    def outbound_held(self) -> int:
        """Bytes from the device that have not yet arrived at the host."""
        return self._out.held

    def from_host(self, data: bytes, now: float) -> None:
        if self.connected and data:
            self._count(*self._in.put(data, now))

    def to_host(self, now: float) -> bytes:
        """Bytes that have arrived at the host by now."""
        return self._out.take(now)

    def _count(self, begin: float, end: float) -> None:
        self.busy_seconds += max(0.0, end - max(begin, self._busy_until))
        self._busy_until = max(self._busy_until, end)
        if self.first_byte is None:
            self.first_byte = begin
        self.last_byte = end

    def advance(self, now: float) -> None:
        """Deliver what has arrived, let the device work, and put what it has to say on the line."""
        data = self._in.take(now)
        if data:
            self.device.receive(data, now)
        else:
            self.device.tick(now)
        self._fill(now)

    def _fill(self, now: float) -> None:
        while self.byte_time == 0.0 or self._out.free_at - now < self._low_water:
            data = self.device.take_output(1 if self.byte_time else 1 << 30)
            if not data:
                break
            if self.connected:
                self._count(*self._out.put(data, now))
            if self.byte_time == 0.0:
                break

    def next_deadline(self) -> float | None:
        """When ``advance`` and ``to_host`` should be called next, or None."""
        deadline = self.device.next_deadline()
        if deadline is not None and self.byte_time and self._out.free_at - deadline >= self._low_water:
            # The device wants to send but the line is full; nothing is lost by waiting that little.
            deadline = self._out.free_at - self._low_water * 0.9
        times = [deadline, self._in.next_time(), self._out.next_time()]
        return min((t for t in times if t is not None), default=None)

    def disconnect(self, now: float) -> None:
        """The plug is pulled: what was under way is lost, both ways."""
        self.connected = False
        self._in.clear(now)
        self._out.clear(now)

    def connect(self) -> None:
        self.connected = True

    def statistics(self) -> dict[str, object]:
        return {
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "busy_seconds": round(self.busy_seconds, 6),
            "first_byte": self.first_byte,
            "last_byte": self.last_byte,
        }
