"""The body of a record, 14 bytes (docs/protocol.md section 5), with its CRC-32 and authenticator (section 4, RECORD).

Pure numbers: whether a contract, a pair or a lead makes sense is the business of the ledger.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import zlib
from dataclasses import dataclass, field

from firmware_bridge.wire.wire_error import WireError

BODY_SIZE = 14
AUTH_SIZE = 6

BODY_FIELDS = (
    ("kind_confirm", "u8"),
    ("section", "u8"),
    ("table", "u8"),
    ("round", "u8"),
    ("board_declarer_tricks", "u16"),
    ("pairs", "u24"),
    ("contract", "u8"),
    ("lead", "u8"),
    ("replaces", "u8"),
    ("stamp", "u16"),
)
"""Fields of the body in order, with the types of the page."""

BIT_FIELDS = (
    ("kind", "kind_confirm", 0, 4),
    ("confirmed_by", "kind_confirm", 4, 4),
    ("board", "board_declarer_tricks", 0, 10),
    ("declarer", "board_declarer_tricks", 10, 2),
    ("tricks", "board_declarer_tricks", 12, 4),
    ("ns", "pairs", 0, 12),
    ("ew", "pairs", 12, 12),
    ("level", "contract", 0, 3),
    ("strain", "contract", 3, 3),
    ("doubling", "contract", 6, 2),
)
"""Name, field that holds it, lowest bit, number of bits."""

_BODY = struct.Struct("<BBBBHHBBBBH")  # the 24 bits of ``pairs`` are split 16 + 8
_KEY = struct.Struct("<QII")
_NO_AUTH = bytes(AUTH_SIZE)


@dataclass(frozen=True, slots=True)
class RecordBody:
    """What a record says.

    kind: ``RecordKind``; confirmed_by: ``ConfirmedBy``; section: 1 is A; table, round: 1-255; board: 1-1023;
    ns, ew: pair numbers 1-4095; declarer: seat 0-3; tricks: won by declarer's side, 0-13; level 1-7; strain:
    ``Strain``; doubling: ``Doubling``; lead: card code, 255 none; replaces: how many places earlier in the same journal
    the record stands that this one is for, 0 none; stamp: the terminal's clock in units of 4 s.
    For the kinds passed-out, not-played and erased declarer, tricks, level, strain, doubling are 0 and lead is 255.
    The lead is left out of the repr.
    """

    kind: int
    confirmed_by: int
    section: int
    table: int
    round: int
    board: int
    declarer: int
    tricks: int
    ns: int
    ew: int
    level: int
    strain: int
    doubling: int
    lead: int = field(repr=False)
    replaces: int
    stamp: int

    def pack(self) -> bytes:
        """The 14 bytes. Raises WireError, naming the field, if a value has no room in its bits."""
        for name, _, _, bits in BIT_FIELDS:
            if not 0 <= getattr(self, name) < 1 << bits:
                raise WireError(f"A record can't be written: {name} has no room in its {bits} bits.")
        pairs = self.ns | self.ew << 12
        try:
            return _BODY.pack(
                self.kind | self.confirmed_by << 4,
                self.section,
                self.table,
                self.round,
                self.board | self.declarer << 10 | self.tricks << 12,
                pairs & 0xFFFF,
                pairs >> 16,
                self.level | self.strain << 3 | self.doubling << 6,
                self.lead,
                self.replaces,
                self.stamp,
            )
        except struct.error:
            raise WireError("A record can't be written: a field is out of its range.") from None

    @classmethod
    def unpack(cls, data: bytes) -> RecordBody:
        """The body in 14 bytes. Raises WireError if it is not 14 bytes; every content is taken as it is."""
        if len(data) != BODY_SIZE:
            raise WireError(f"The body of a record has {BODY_SIZE} bytes, not {len(data)}.", code="malformed")
        kind, section, table, round_, board, low, high, contract, lead, replaces, stamp = _BODY.unpack(data)
        pairs = low | high << 16
        return cls(
            kind=kind & 15,
            confirmed_by=kind >> 4,
            section=section,
            table=table,
            round=round_,
            board=board & 0x3FF,
            declarer=board >> 10 & 3,
            tricks=board >> 12,
            ns=pairs & 0xFFF,
            ew=pairs >> 12,
            level=contract & 7,
            strain=contract >> 3 & 7,
            doubling=contract >> 6,
            lead=lead,
            replaces=replaces,
            stamp=stamp,
        )


def _covered(device_id: int, journal_id: int, seq: int, body: bytes) -> bytes:
    if len(body) != BODY_SIZE:
        raise WireError(f"The body of a record has {BODY_SIZE} bytes, not {len(body)}.", code="malformed")
    return _keyed(device_id, journal_id, seq, body)


def _keyed(device_id: int, journal_id: int, seq: int, body: bytes) -> bytes:
    try:
        return _KEY.pack(device_id, journal_id, seq) + body
    except struct.error:
        raise WireError("The key of a record is out of its range.") from None


def record_crc(device_id: int, journal_id: int, seq: int, body: bytes) -> int:
    """CRC-32 (that of zlib) over device id, journal id, seq and the 14 bytes of the body. Raises WireError."""
    return zlib.crc32(_covered(device_id, journal_id, seq, body))


def record_auth(key: bytes, device_id: int, journal_id: int, seq: int, body: bytes) -> bytes:
    """First 6 bytes of HMAC-SHA-256 over what the CRC covers; six zero bytes if ``key`` is empty. Raises WireError."""
    covered = _covered(device_id, journal_id, seq, body)
    return hmac.digest(key, covered, hashlib.sha256)[:AUTH_SIZE] if key else _NO_AUTH


def check_auth(auth: bytes, key: bytes, device_id: int, journal_id: int, seq: int, body: bytes) -> bool:
    """True if ``auth`` is what ``record_auth`` gives; takes the same time whatever differs. Raises WireError."""
    return hmac.compare_digest(auth, record_auth(key, device_id, journal_id, seq, body))


def name_crc(device_id: int, journal_id: int, seq: int, body: bytes) -> int:
    """``record_crc`` for a NAME_RECORD, whose body may have any length. Raises WireError."""
    return zlib.crc32(_keyed(device_id, journal_id, seq, body))


def name_auth(key: bytes, device_id: int, journal_id: int, seq: int, body: bytes) -> bytes:
    """``record_auth`` for a NAME_RECORD. Raises WireError."""
    covered = _keyed(device_id, journal_id, seq, body)
    return hmac.digest(key, covered, hashlib.sha256)[:AUTH_SIZE] if key else _NO_AUTH


def events_auth(key: bytes, device_id: int, parts: bytes) -> bytes:
    """What TERM_EVENTS carries: first 6 bytes of HMAC-SHA-256 over device id and its parts as they are on the wire; six
    zero bytes if ``key`` is empty."""
    covered = device_id.to_bytes(8, "little") + parts
    return hmac.digest(key, covered, hashlib.sha256)[:AUTH_SIZE] if key else _NO_AUTH


def name_hash(device_id: int, journal_id: int, seq: int, body: bytes) -> bytes:
    """What a ledger keeps instead of a name: SHA-256 over the record's key and the body. Raises WireError."""
    return hashlib.sha256(_keyed(device_id, journal_id, seq, body)).digest()


def director_proof(pin: str, nonce: bytes, device_id: int) -> bytes:
    """What a terminal shows instead of the director's PIN: first 8 bytes of HMAC-SHA-256 over nonce and device id."""
    return hmac.digest(pin.encode(), nonce + device_id.to_bytes(8, "little"), hashlib.sha256)[:8]
