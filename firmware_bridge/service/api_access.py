"""Who may do what over HTTP: codes for the desk, one token for each table. Kept in ``access.json``, mode 0600.

Tokens travel in the ``Authorization`` header only, never in a cookie, so that no other site can make a browser use
them. They are looked up by a keyed digest: how long that takes says nothing about how much of a guess was right.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any

from firmware_bridge.errors import StoreError
from firmware_bridge.service.past_cards import FILE_NAME as PAST_FILE
from firmware_bridge.service.past_cards import PastCards
from terminals.sync.setup import MAX_TABLE, EventSetup

FILE_NAME = "access.json"
ROLES = ("viewer", "assistant", "director")
"""Of the desk, each with all rights of those before it."""
TABLE = "table"
LATE = "late"
"""Of the card of an event that is over: it delivers what waited on its phone, and may do nothing else."""
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that looks like something else on paper
MAX_TOKEN = 64


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. role: one of ROLES, or TABLE or LATE with section number and table. event: of LATE, which event's."""

    role: str
    section: int = 0
    table: int = 0
    event: int = 0

    def may(self, role: str) -> bool:
        """True when the caller has the rights of ``role``; a table has none of the desk's and the desk none of it."""
        if {role, self.role} & {TABLE, LATE}:
            return role == self.role
        return ROLES.index(self.role) >= ROLES.index(role)


class Access:
    """Codes and tokens of a data directory. ``codes``: role -> code for people."""

    def __init__(self, path: Path, secret: bytes, codes: dict[str, str], renewed: dict[str, int]) -> None:
        self._path = path
        self._secret = secret
        self.codes = codes
        self._renewed = renewed
        self.on_renewed: Callable[[], None] = lambda: None
        self._known: dict[bytes, Caller] = {}
        self._late: dict[bytes, Caller] = {}
        self._past: PastCards | None = None
        self._setup: EventSetup | None = None

    def __repr__(self) -> str:
        return f"Access({str(self._path)!r})"

    @classmethod
    def open(cls, directory: Path) -> Access:
        """Read or make ``access.json``. Raises StoreError when it can't be understood or written."""
        path = directory / FILE_NAME
        if not path.exists():
            codes = {role: _code() for role in ROLES}
            access = cls(path, secrets.token_bytes(32), codes, {})
            access._save()
        else:
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
                codes = {role: str(found["codes"][role]) for role in ROLES}
                secret = bytes.fromhex(found["secret"])
                renewed = {str(name): int(times) for name, times in found["renewed"].items()}
                if len(secret) < 16 or any(len(code) < 10 for code in codes.values()):
                    raise ValueError("too short")
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise StoreError(
                    "the file with the desk's codes can't be understood.",
                    where=str(path),
                    next_step="Move it away; new codes and table cards are made then.",
                    code="access-damaged",
                ) from error
            access = cls(path, secret, codes, renewed)
        access._index()
        return access

    def set_setup(self, setup: EventSetup | None) -> None:
        """Tokens are those of this event's tables from now on; those of events before it deliver what is late."""
        self._setup = setup
        if self._past is not None and self._past.begin(setup):
            self._index_late(self._past)
        self._index()

    def remember_past(self, now: Callable[[], float | None]) -> None:
        """Keep which events are over. now: seconds since the epoch, None while the clock can't be right."""
        path = self._path.with_name(PAST_FILE)
        self._past = PastCards(now, lambda value: write_private(path, value))
        self._past.read(path)
        self._index_late(self._past)

    def caller(self, token: str) -> Caller | None:
        """Whose token this is."""
        if not 0 < len(token) <= MAX_TOKEN:
            return None
        digest = self._digest(token)
        late = self._late.get(digest)
        if late is not None and self._past is not None and self._past.takes(late.event):
            return late
        return self._known.get(digest)

    def table_token(self, section: int, table: int) -> str:
        """The token of a table of the event: 16 letters and digits."""
        return self._token(self._setup.id if self._setup is not None else 0, section, table)

    def _token(self, event: int, section: int, table: int) -> str:
        times = self._renewed.get(f"{event:016x}/{section}/{table}", 0)
        made = hmac.digest(self._secret, f"table/{event:016x}/{section}/{table}/{times}".encode(), hashlib.sha256)
        return base64.b32encode(made[:10]).decode().lower()

    def renew_table(self, section: int, table: int) -> str:
        """The old card of a table is worth nothing any more; gives the new token."""
        event = self._setup.id if self._setup is not None else 0
        name = f"{event:016x}/{section}/{table}"
        self._renewed[name] = self._renewed.get(name, 0) + 1
        self._save()
        self._index()
        return self.table_token(section, table)

    def pair_digest(self, event: str, section: str, pair: int, code: str) -> str:
        """What is kept of a pair's own code, with which it accepts results: worth nothing without our secret."""
        text = f"pair/{event}/{section}/{pair}/{code.strip()}"
        return hmac.digest(self._secret, text.encode(), hashlib.sha256).hex()[:32]

    def device_key(self, device: int) -> bytes:
        """The key of a browser, 16 bytes. It never leaves the service: whoever posts with the table's token has proved
        that he may, and the service signs for him."""
        return hmac.digest(self._secret, f"device/{device:016x}".encode(), hashlib.sha256)[:16]

    def renew_code(self, role: str) -> str:
        """A new code for a role; whoever has the old one is out. Raises StoreError when it can't be written."""
        before = self.codes
        self.codes = {**before, role: _code()}
        try:
            self._save()
        except BaseException:
            self.codes = before
            raise
        self._index()
        self.on_renewed()
        return self.codes[role]

    def _digest(self, token: str) -> bytes:
        return hmac.digest(self._secret, b"token/" + token.strip().lower().encode(), hashlib.sha256)

    def _index(self) -> None:
        known = {self._digest(code): Caller(role) for role, code in self.codes.items()}
        for section in self._setup.sections if self._setup is not None else ():
            last = MAX_TABLE if section.movement is None else section.movement.tables
            for table in range(1, last + 1):
                known[self._digest(self.table_token(section.number, table))] = Caller(TABLE, section.number, table)
        self._known = known

    def _index_late(self, past: PastCards) -> None:
        self._late = {self._digest(self._token(*one)): Caller(LATE, one[1], one[2], one[0]) for one in past.tables()}

    def _save(self) -> None:
        value = {"secret": self._secret.hex(), "codes": self.codes, "renewed": self._renewed}
        write_private(self._path, value)


def write_private(path: Path, value: Any) -> None:
    """Write JSON that only the owner may read, under a temporary name first. Raises StoreError."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(value, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o600)
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"{error.strerror}.", where=str(path), next_step="Check the data directory.") from error


def _code() -> str:
    """60 bits in three groups that can be read out over a noisy room."""
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(3))


def origin_of(address: str) -> str:
    """What counts as one caller: an IPv4 address, of an IPv6 address the network, which a caller has for himself."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        if not found.is_loopback:
            return str(ip_network((found, 64), strict=False))
    return str(found)


class Failures:
    """Wrong tokens by address: after ``limit`` of them within ``window`` seconds an address waits.

    Memory is bounded: the address whose last failure is oldest is forgotten first.
    """

    def __init__(
        self, now: Callable[[], float], *, limit: int = 20, window: float = 60.0, addresses: int = 4096
    ) -> None:
        self._now = now
        self._limit, self._window, self._addresses = limit, window, addresses
        self._seen: OrderedDict[str, list[float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """Seconds that this address has to wait, 0 when it need not."""
        times = self._recent(address)
        return max(0.0, times[-self._limit] + self._window - self._now()) if len(times) >= self._limit else 0.0

    def add(self, address: str) -> None:
        times = [*self._recent(address), self._now()][-self._limit :]
        self._seen[address] = times
        self._seen.move_to_end(address)
        while len(self._seen) > self._addresses:
            self._seen.popitem(last=False)

    def _recent(self, address: str) -> list[float]:
        since = self._now() - self._window
        return [at for at in self._seen.get(address, ()) if at > since]
