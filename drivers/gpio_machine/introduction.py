"""What a home-built machine says of itself when a host comes: who it is, what it can do, how it is built. Pure."""

from __future__ import annotations

from drivers.gpio_machine.journal import Memory
from drivers.gpio_machine.settings import MachineSettings
from firmware_bridge.wire.messages import Hello, MachineInfo
from firmware_bridge.wire.numbers import Capability, Reader, Role

FIRMWARE = "gpio 1.0"


def capabilities_of(settings: MachineSettings) -> Capability:
    """What the machine can do with the pins that its file names."""
    found = Capability.ROUTES | Capability.DISPLAY | Capability.MARGIN
    if settings.sees_exits:
        found |= Capability.EXIT
    if "key" in settings.inputs:
        found |= Capability.KEY
    if settings.double_feed and settings.timings.beam:
        found |= Capability.BEAM
    return found


def hello_of(settings: MachineSettings, memory: Memory, boot_id: int, session: int, window: int, version: int) -> Hello:
    """The machine's HELLO; it keeps no records, and so has no journal of them."""
    return Hello(
        proto_min=version,
        proto_max=version,
        role=Role.MACHINE,
        window=window,
        max_frame=240,
        device_id=memory.device_id,
        boot_id=boot_id,
        boot_count=memory.boot_count & 0xFFFFFFFF,
        journal_id=0,
        oldest_unacked=0,
        next_seq=0,
        capabilities=int(capabilities_of(settings)),
        session=session,
        model=settings.model[:32],
        firmware=FIRMWARE,
        commands=tuple(command.command_id for command in memory.commands),
    )


def info_of(settings: MachineSettings) -> MachineInfo:
    """MACHINE_INFO: pockets in the order of the transport, reader, pace."""
    card_ms = min(65535, max(1, int(settings.timings.card * 1000 + 0.5)))
    return MachineInfo(bytes(settings.pocket_order), Reader.OTHER, card_ms, settings.margin_min)
