"""Who this host is: to devices a 64-bit number that stays with the data directory, in its network an address."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
from pathlib import Path

from drivers.host import HostIdentity
from firmware_bridge.errors import StoreError


def own_addresses() -> list[str]:
    """This machine's address in its network, as far as it can be told without sending anything."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # a documentation address; a datagram socket sends nothing on connect
        return [str(probe.getsockname()[0])]
    return []


def host_identity(directory: Path) -> HostIdentity:
    """Read or create ``host.json`` and count this start. Raises StoreError when it can't be written."""
    path = directory / "host.json"
    device_id, count = 0, 0
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        device_id, count = int(found["device_id"], 16), int(found["boot_count"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # first start, or a file that lost its content: a new identity harms nothing
    device_id = device_id & 0xFFFF_FFFF_FFFF_FFFF or secrets.randbits(64) | 1
    count = count + 1 & 0xFFFF_FFFF
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    value = {"device_id": f"{device_id:016x}", "boot_count": count}
    try:
        temporary.write_text(json.dumps(value) + "\n", encoding="utf-8")
        os.chmod(temporary, 0o600)
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"{error.strerror}.", where=str(path), next_step="Check the data directory.") from error
    return HostIdentity(device_id=device_id, boot_count=count)
