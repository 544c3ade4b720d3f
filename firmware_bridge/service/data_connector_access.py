"""Who may ask the Data Connector, and how often: addresses, licence keys of clubs, a bucket for each address.

From this machine every club is let in. From elsewhere a club needs its licence key, of which ``data-connector.json``
(mode 0600) keeps a salted digest.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from firmware_bridge.errors import ConfigError, StoreError
from firmware_bridge.service.api_access import write_private

DEFAULT_ADDRESS = "127.0.0.1:5079"
FILE_NAME = "data-connector.json"
MAX_CLUB = 100
RATE, BURST = 50.0, 200.0
"""Requests a second, and at once, that one address on the network may send."""


def parse_address(text: str) -> tuple[str, int]:
    """``HOST:PORT``, ``HOST`` or ``:PORT``; [::1]:5079 for IPv6. Raises ConfigError."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, ""
    host = host.strip("[]") or "127.0.0.1"
    if port and not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise ConfigError(
            f"{text[:60]!r} is no address.", next_step=f"Write HOST:PORT, for example {DEFAULT_ADDRESS}.", code="usage"
        )
    return host, int(port) if port else 5079


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own."""
    if address == "localhost":
        return True
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def listens_at(host: str) -> tuple[str, str]:
    """The host to listen at, and one more or "": programs are told "localhost", and some try only IPv6 then, or wait
    two seconds at every call before they try IPv4."""
    if host == "localhost":
        host = "127.0.0.1"
    return host, "::1" if host in ("127.0.0.1", "0.0.0.0") else ""


class ClubKeys:
    """Licence keys of clubs, for programs that are not on this machine."""

    def __init__(self, path: Path, clubs: dict[str, tuple[bytes, bytes]]) -> None:
        self._path = path
        self._clubs = clubs

    def __repr__(self) -> str:
        return f"ClubKeys({len(self._clubs)} clubs)"

    @classmethod
    def open(cls, directory: Path) -> ClubKeys:
        """Read the file, if there is one. Raises StoreError when it can't be understood."""
        path = directory / FILE_NAME
        if not path.exists():
            return cls(path, {})
        try:
            found = json.loads(path.read_text(encoding="utf-8"))["clubs"]
            clubs = {str(club): (bytes.fromhex(one["salt"]), bytes.fromhex(one["hash"])) for club, one in found.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                "the file with the clubs' licence keys can't be understood.",
                where=str(path),
                next_step="Move it away and give each club a new key with --data-connector-club.",
                code="keys-damaged",
            ) from error
        return cls(path, clubs)

    @property
    def clubs(self) -> list[str]:
        return sorted(self._clubs)

    def add(self, club: str) -> str | None:
        """Give a club a key of 80 bits, told this once; None when it has one. Raises ConfigError, StoreError."""
        if not 0 < len(club.strip()) <= MAX_CLUB:
            raise ConfigError(f"a club id has 1 to {MAX_CLUB} letters.", code="usage")
        if club in self._clubs:
            return None
        key = base64.b32encode(secrets.token_bytes(10)).decode()
        salt = secrets.token_bytes(16)
        self._clubs[club] = (salt, _digest(salt, key))
        kept = {name: {"salt": one[0].hex(), "hash": one[1].hex()} for name, one in self._clubs.items()}
        write_private(self._path, {"clubs": kept})
        return key

    def right(self, club: str, key: str) -> bool:
        salt, kept = self._clubs.get(club, (b"", b""))
        # The work is the same for a club that nobody knows.
        return hmac.compare_digest(_digest(salt, key), kept) and bool(kept)


def _digest(salt: bytes, key: str) -> bytes:
    # Keys are random and long, so that one round is enough; nobody chooses them.
    return hashlib.sha256(salt + key.strip().upper().encode("utf-8", "replace")).digest()


class Rate:
    """A bucket of requests for each address; the one that was quiet longest is forgotten first."""

    def __init__(
        self, now: Callable[[], float], rate: float = RATE, burst: float = BURST, addresses: int = 4096
    ) -> None:
        self._now, self._rate, self._burst, self._addresses = now, rate, burst, addresses
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> bool:
        """True when the address may send one more request now."""
        now = self._now()
        left, at = self._left.get(address, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        self._left[address] = (max(0.0, left - 1), now)
        self._left.move_to_end(address)
        while len(self._left) > self._addresses:
            self._left.popitem(last=False)
        return left >= 1
