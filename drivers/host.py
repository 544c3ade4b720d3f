"""Who this program is to the devices: what its HELLO says, and how it draws its random numbers."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from firmware_bridge.link.greeting import host_hello
from firmware_bridge.link.session import RandomBits
from firmware_bridge.wire.messages import Hello

SYSTEM_RANDOM: RandomBits = secrets.SystemRandom()


def _program_version() -> str:
    try:
        return version("firmware-bridge")
    except PackageNotFoundError:
        return "unknown"


@dataclass(frozen=True, slots=True)
class HostIdentity:
    """device_id: 64 bits, fixed for the life of a data directory; devices know their host by it.

    boot_id: 32 bits, random at every start of the program. boot_count: starts so far. firmware: the program's version.
    """

    device_id: int
    boot_id: int = field(default_factory=lambda: SYSTEM_RANDOM.getrandbits(32))
    boot_count: int = 1
    firmware: str = field(default_factory=_program_version)

    def hello(self) -> Hello:
        return host_hello(self.device_id, self.boot_id, self.boot_count, self.firmware)
