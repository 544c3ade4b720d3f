"""A small scripted device for driver tests: speaks the protocol over a lossless line and does what a test tells it.

It takes every frame as good, never repeats one, and keeps no memory but what a test gives it. The simulator in
``hw-sim`` is the one that behaves like hardware; this one can misbehave on request.
"""

import asyncio

from drivers.host import HostIdentity
from drivers.memory_port import MemoryOpener, stream_pair
from firmware_bridge.errors import DeviceError, LinkLost
from firmware_bridge.wire.frames import Flag, Frame, FrameDecoder, encode_frame
from firmware_bridge.wire.messages import (
    BY_CLASS,
    Ack,
    Arm,
    CommandResult,
    Hello,
    MachineInfo,
    MachineState,
    Ping,
    Report,
    ReportData,
    Snapshot,
    decode,
    encode,
)
from firmware_bridge.wire.numbers import Capability, Role

HOST = HostIdentity(device_id=0x1111, boot_id=7, boot_count=1)


async def no_task_left_behind(coroutine):
    """Run a scenario; whatever the code under test started must be gone at its end."""
    async with asyncio.timeout(60):
        await coroutine
    left = [
        task
        for task in asyncio.all_tasks()
        if task is not asyncio.current_task() and not task.get_name().startswith("fake")
    ]
    assert not left, f"tasks left behind: {left}"


def hello(**changes):
    fields = {
        "proto_min": 0x10,
        "proto_max": 0x10,
        "role": Role.MACHINE,
        "window": 8,
        "max_frame": 240,
        "device_id": 0xABCD,
        "boot_id": 100,
        "boot_count": 1,
        "journal_id": 0,
        "oldest_unacked": 0,
        "next_seq": 0,
        "capabilities": int(Capability.ROUTES | Capability.DISPLAY),
        "session": 0,
        "model": "Fake",
        "firmware": "0.1",
        "commands": (),
    }
    return Hello(**(fields | changes))


class FakeDevice:
    """Answers greetings, ARM and the like with DONE, REPORT and SNAPSHOT from ``state``.

    mute: kinds (message classes) that it takes in without an answer. seen: every message it got, in order.
    """

    def __init__(self, **changes):
        self.changes = changes
        self.info = MachineInfo(pocket_order=bytes([0, 2, 1, 3]), reader=1, card_ms=100, margin_min=20)
        self.mute = set()
        self.seen = []
        self.remembered = {}
        self.greetings = 0
        self.vanished = False
        self.mute_acks = False
        self.line = None
        self._tasks = set()
        self._next_out = 0
        self._expected = 0
        self._pieces = b""

    # --- the line -----------------------------------------------------------------------------------------------

    async def accept(self):
        if self.vanished:
            raise DeviceError("the serial port does not exist.", where="fake", code="port-missing")
        host, self.line = stream_pair("fake")
        task = asyncio.create_task(self._serve(self.line), name="fake")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return host

    def opener(self):
        return MemoryOpener("fake://device", self.accept)

    def unplug(self):
        if self.line is not None:
            self.line.cut()

    async def _serve(self, line):
        decoder = FrameDecoder()
        try:
            while True:
                for frame in decoder.feed(await line.read()):
                    await self._on_frame(frame)
        except LinkLost:
            return

    async def _on_frame(self, frame):
        self._pieces += frame.payload
        if frame.flags & Flag.MORE:
            self._expected = (self._expected + 1) % 256
            await self._raw(Ack())
            return
        payload, self._pieces = self._pieces, b""
        message = decode(frame.kind, payload)
        if isinstance(message, Hello):
            self.greetings += 1
            self.seen.append(message)
            if Hello in self.mute:
                return
            await self._raw(hello(**(self.changes | {"session": message.session})))
            self._next_out, self._expected = 0, 0
            if self.changes.get("role", Role.MACHINE) == Role.MACHINE and MachineInfo not in self.mute:
                await self.say(self.info)
            return
        if frame.flags & Flag.SEQUENCED:
            if frame.seq != self._expected:
                return
            self._expected = (self._expected + 1) % 256
        if not isinstance(message, Ack | Ping):
            self.seen.append(message)
            await self._answer(message)
        if frame.flags & Flag.SEQUENCED or isinstance(message, Ping):
            await self._raw(Ack())

    async def _answer(self, message):
        if type(message) in self.mute:
            return
        if isinstance(message, Report):
            await self.say(ReportData(message.job_id, 1, 3, (0x0105, 0x0206)))
        elif isinstance(message, Snapshot):
            boot = self.changes.get("boot_id", 100)
            await self.say(MachineState(0, 1, 1, 1, 7, 0, bytes([1, 2, 3, 4]), 0, boot))
        elif BY_CLASS[type(message)].command:
            replayed = message.command_id in self.remembered
            self.remembered[message.command_id] = message
            await self.say(CommandResult(message.command_id, 1, 0, int(replayed)))

    async def say(self, message, address=0):
        """Send one sequenced message."""
        flags = Flag.SEQUENCED | Flag.ACK | Flag.FROM_DEVICE
        seq, self._next_out = self._next_out, (self._next_out + 1) % 256
        kind = BY_CLASS[type(message)].kind
        await self.line.write(
            encode_frame(Frame(0x10, kind, address, seq, self._expected, int(flags), encode(message)))
        )

    async def _raw(self, message):
        if self.mute_acks and isinstance(message, Ack):
            return
        flags = Flag.ACK | Flag.FROM_DEVICE
        kind = BY_CLASS[type(message)].kind
        await self.line.write(encode_frame(Frame(0x10, kind, 0, 0, self._expected, int(flags), encode(message))))

    def commands(self, kind=Arm):
        return [message for message in self.seen if isinstance(message, kind)]
