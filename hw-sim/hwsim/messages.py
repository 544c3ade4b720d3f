"""Payloads of the protocol's messages to and from plain values (docs/protocol.md, sections 4 and 5), with ``struct``.

A message is a kind and a dict of its fields under the names of the specification. ``bytes[n]`` fields are ``bytes``,
``str8`` is ``str``, a ``list8`` is a list of ints, or of dicts. A payload that does not fit its
table exactly raises ``Malformed``.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import zlib
from collections.abc import Mapping
from typing import Any

from hwsim.numbers import Kind, RecordKind

Fields = dict[str, Any]

BLOB_LIMIT = 1024
_SCALARS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q"}
_HELLO = """proto_min:u8 proto_max:u8 role:u8 window:u8 max_frame:u16 device_id:u64 boot_id:u32 boot_count:u32
    journal_id:u32 oldest_unacked:u32 next_seq:u32 capabilities:u32 session:u32 model:str8 firmware:str8
    commands:list8.u64"""

_TABLES: dict[int, str] = {
    Kind.HELLO: _HELLO,
    Kind.ACK: "",
    Kind.PING: "uptime_ms:u32",
    Kind.NAK: "reason:u8 kind:u8 seq:u8",
    Kind.REFUSE: "reason:u8 proto_min:u8 proto_max:u8 text:str8",
    Kind.BYE: "reason:u8",
    Kind.ARM: "command_id:u64 job_id:u32 board:u16 copy:u8 routing:13s digest:8s",
    Kind.START: "command_id:u64 job_id:u32 board:u16 copy:u8 boot_id:u32 digest:8s",
    Kind.PAUSE: "command_id:u64 job_id:u32",
    Kind.RESUME: "command_id:u64 job_id:u32 next_index:u8",
    Kind.ABORT: "command_id:u64 job_id:u32",
    Kind.READ_BOARD: "command_id:u64 job_id:u32 board:u16 copy:u8",
    Kind.REPORT: "job_id:u32",
    Kind.SNAPSHOT: "",
    Kind.DISPLAY: "action:u8 board:u16 copy:u8 sound:u8 text:str8",
    Kind.COMMAND_RESULT: "command_id:u64 outcome:u8 reason:u8 replayed:u8",
    Kind.MACHINE_INFO: "pocket_order:4s reader:u8 card_ms:u16 margin_min:u8",
    Kind.MACHINE_STATE: """state:u8 board_in:u8 cover_closed:u8 hopper:u8 label:u16 orientation:u8 counts:4s job_id:u32
        boot_id:u32""",
    Kind.BOARD: "seated:u8 label:u16 orientation:u8",
    Kind.CONFIRMED: "board:u16 copy:u8",
    Kind.CARD: """job_id:u32 index:u8 raw:u16 best:u8 runner_up:u8 margin:u8 wanted:u8 confirmed:u8 beam_ms:u16
        at_ms:u32 read_ms:u16 exit_ms:u16""",
    Kind.DONE: "job_id:u32 board:u16 copy:u8 cards:u8 counts:4s digest:8s",
    Kind.FAULT: "job_id:u32 fault:u8 segment:u8 in_flight:u8 recoverable:u8 action:u8",
    Kind.REPORT_DATA: "job_id:u32 known:u8 state:u8 placed:list8.u16",
    Kind.HOPPER: "hopper:u8",
    Kind.PACK: "colour:u8",
    Kind.TERM_HELLO: _HELLO,
    Kind.ADMIT: "device_id:u64 admitted:u8 event_id:u64 section:u8 table:u8 text:str8",
    Kind.TERM_STATUS: """section:u8 table:u8 round:u8 battery:u8 signal:u8 waiting:u16 clock:u16 plan_version:u16""",
    Kind.TABLE_PLAN: "event_id:u64 version:u16 section:u8 table:u8 rounds:list8.plan_round",
    Kind.TERM_GONE: "reason:u8",
    Kind.STATION_STATUS: "terminals:u16 battery:u8",
    Kind.TEXT: "urgent:u8 text:str8",
    Kind.CALL: "section:u8 table:u8 round:u8 state:u8",
    Kind.CALL_STATE: "state:u8",
    Kind.RECORD: "journal_id:u32 seq:u32 body:14s crc:u32 auth:6s",
    Kind.RECORD_ACK: "device_id:u64 journal_id:u32 upto:u32 credit:u8",
    Kind.RECORD_NAK: "device_id:u64 journal_id:u32 seq:u32 reason:u8",
    Kind.RESEND: "device_id:u64 journal_id:u32 from_seq:u32",
    Kind.CREDIT: "credit:u8",
    Kind.NAME_RECORD: """journal_id:u32 seq:u32 crc:u32 auth:6s section:u8 table:u8 round:u8 pair:u16 seat:u8 how:u8
        text:str8""",
    Kind.TERM_EVENTS: "auth:6s parts:list8.event_part",
    Kind.TABLE_SETTINGS: "settings:u32",
    Kind.TABLE_RECORD: """journal_id:u32 seq:u32 crc:u32 auth:6s section:u8 table:u8 round:u8 board:u16 ns:u16 ew:u16
        what:u8 by:u8 data:blob16""",
    Kind.TAKE_OVER: "section:u8 table:u8 proof:8s",
    Kind.CODES: "codes:list8.pair_code",
    Kind.RECAP: "pair:u16 lines:list8.recap_line",
    Kind.STANDINGS: "number:u8 of:u8 name:str8 pairs:list8.standing",
    Kind.NAMES: "names:list8.seat_name",
    Kind.NAME_SEARCH: "search:u8 text:str8",
    Kind.NAME_FOUND: "search:u8 more:u8 players:list8.found_player",
    Kind.DIRECTOR_ASK: "",
    Kind.DIRECTOR_NONCE: "nonce:8s",
    Kind.DIRECTOR_AUTH: "proof:8s",
    Kind.DIRECTOR_OPEN: "answer:u8",
    Kind.ASK: "what:u8 round:u8 board:u16",
    Kind.FEEDBACK: "round:u8 board:u16 ns:u16 ew:u16 percent:u16 lines:list8.traveller_line",
    Kind.RANKING: "round:u8 pairs:list8.ranking_pair",
    Kind.ENTRY_CHECK: "check:u8 body:14s",
    Kind.ENTRY_CHECKED: "check:u8 code:u8 text:str8",
}
_ITEMS = {
    "plan_round": """round:u8 ns:u16 ew:u16 first_board:u16 board_count:u8 shared:u8 next_ns:u8 next_ew:u8
        next_swap:u8""",
    "traveller_line": "ns:u16 ew:u16 kind:u8 contract:u8 declarer:u8 tricks:u8 score:u16 percent:u16",
    "seat_name": "pair:u16 seat:u8 name:str8",
    "found_player": "number:str8 name:str8",
    "event_part": "journal_id:u32 first_seq:u32 event_id:u64",
    "pair_code": "pair:u16 verifier:8s",
    "recap_line": """board:u16 round:u8 opponents:u16 direction:u8 kind:u8 contract:u8 declarer:u8 tricks:u8 score:u16
        percent:u16""",
    "standing": "section:u8 pair:u16 place:u16 percent:u16 boards:u8 name:str8",
    "ranking_pair": "pair:u16 place:u16 of:u16 percent:u16 boards:u8",
}


class Malformed(ValueError):
    """A payload that does not fit its table."""


class _Layout:
    """One table: a fixed part, then fields of variable length."""

    def __init__(self, text: str) -> None:
        fields = [part.split(":") for part in text.split()]
        fixed = [f for f in fields if "8." not in f[1] and f[1] not in ("str8", "blob16")]
        self.fixed = struct.Struct("<" + "".join(_SCALARS.get(code, code) for _, code in fixed))
        self.names = tuple(name for name, _ in fixed)
        self.tail = tuple((name, code) for name, code in fields[len(fixed) :])

    def encode(self, values: Mapping[str, Any]) -> bytes:
        out = self.fixed.pack(*(values[name] for name in self.names))
        for name, code in self.tail:
            value = values[name]
            if code == "blob16":
                if len(value) > BLOB_LIMIT:
                    raise ValueError("a blob is too long")
                out += len(value).to_bytes(2, "little") + value
                continue
            data = value.encode() if code == "str8" else b"".join(_pack_item(code, item) for item in value)
            out += bytes([len(data) if code == "str8" else len(value)]) + data
        return out

    def decode(self, payload: bytes) -> Fields:
        values, at = self.decode_at(payload, 0)
        if at != len(payload):
            raise Malformed("length")
        return values

    def decode_at(self, payload: bytes, at: int) -> tuple[Fields, int]:
        """The values that begin at an offset, and the offset behind them."""
        size = self.fixed.size
        if len(payload) < at + size:
            raise Malformed("length")
        values: Fields = dict(zip(self.names, self.fixed.unpack_from(payload, at), strict=True))
        at += size
        for name, code in self.tail:
            if code == "blob16":
                values[name], at = _unpack_blob(payload, at)
                continue
            if at >= len(payload):
                raise Malformed("length")
            count = payload[at]
            at += 1
            if code == "str8":
                data = payload[at : at + count]
                at += count
                if len(data) != count:
                    raise Malformed("length")
                try:
                    values[name] = data.decode()
                except UnicodeDecodeError:
                    raise Malformed("text") from None
            else:
                values[name] = []
                for _ in range(count):
                    item, at = _unpack_item(code[6:], payload, at)
                    values[name].append(item)
        return values, at


def _unpack_blob(payload: bytes, at: int) -> tuple[bytes, int]:
    size = int.from_bytes(payload[at : at + 2], "little")
    at += 2
    if size > BLOB_LIMIT or at + size > len(payload):
        raise Malformed("length")
    return payload[at : at + size], at + size


def _pack_item(code: str, item: Any) -> bytes:
    if code[6:] in _ITEM_LAYOUTS:
        return _ITEM_LAYOUTS[code[6:]].encode(item)
    return struct.pack("<" + _SCALARS[code[6:]], item)


def _unpack_item(code: str, payload: bytes, at: int) -> tuple[Any, int]:
    if code in _ITEM_LAYOUTS:
        return _ITEM_LAYOUTS[code].decode_at(payload, at)
    size = struct.calcsize("<" + _SCALARS[code])
    if len(payload) < at + size:
        raise Malformed("length")
    return struct.unpack_from("<" + _SCALARS[code], payload, at)[0], at + size


_ITEM_LAYOUTS = {name: _Layout(text) for name, text in _ITEMS.items()}
_LAYOUTS = {int(kind): _Layout(text) for kind, text in _TABLES.items()}
KINDS = frozenset(_LAYOUTS)


def encode(kind: int, values: Mapping[str, Any] | None = None) -> bytes:
    """The payload of a message. Raises ValueError or struct.error if a value does not fit its field."""
    values = values or {}
    if kind in (Kind.HELLO, Kind.TERM_HELLO):
        _check_hello(values)
    return _LAYOUTS[kind].encode(values)


def decode(kind: int, payload: bytes) -> Fields:
    """The fields of a payload. Raises KeyError for an unknown kind, Malformed for a payload that does not fit."""
    values = _LAYOUTS[kind].decode(payload)
    if kind in (Kind.HELLO, Kind.TERM_HELLO):
        _check_hello(values)
    return values


def _check_hello(values: Mapping[str, Any]) -> None:
    if len(values["model"].encode()) > 32 or len(values["firmware"].encode()) > 32 or len(values["commands"]) > 8:
        raise Malformed("hello")
    if not 1 <= values["window"] <= 64 or not 64 <= values["max_frame"] <= 240:
        raise Malformed("hello")


# Section 5: the body of a record

_BODY = struct.Struct("<BBBBH3sBBBH")


def pack_body(
    *,
    kind: int,
    confirmed_by: int,
    section: int,
    table: int,
    round: int,
    board: int,
    ns: int,
    ew: int,
    declarer: int = 0,
    tricks: int = 0,
    level: int = 0,
    strain: int = 0,
    doubling: int = 0,
    lead: int = 255,
    replaces: int = 0,
    stamp: int = 0,
) -> bytes:
    """The 14 bytes of a record's body."""
    if kind != RecordKind.PLAYED:
        declarer = tricks = level = strain = doubling = 0
        lead = 255
    return _BODY.pack(
        kind | confirmed_by << 4,
        section,
        table,
        round,
        board | declarer << 10 | tricks << 12,
        (ns | ew << 12).to_bytes(3, "little"),
        level | strain << 3 | doubling << 6,
        lead,
        replaces,
        stamp,
    )


def unpack_body(body: bytes) -> dict[str, int]:
    """The inverse of ``pack_body``."""
    first, section, table, round_, packed, pair_bytes, contract, lead, replaces, stamp = _BODY.unpack(body)
    pairs = int.from_bytes(pair_bytes, "little")
    return {
        "kind": first & 15,
        "confirmed_by": first >> 4,
        "section": section,
        "table": table,
        "round": round_,
        "board": packed & 1023,
        "declarer": packed >> 10 & 3,
        "tricks": packed >> 12,
        "ns": pairs & 4095,
        "ew": pairs >> 12,
        "level": contract & 7,
        "strain": contract >> 3 & 7,
        "doubling": contract >> 6,
        "lead": lead,
        "replaces": replaces,
        "stamp": stamp,
    }


_NAME = struct.Struct("<BBBHBB")


def pack_name(*, section: int, table: int, round: int, pair: int, seat: int, how: int, text: str) -> bytes:
    """The bytes of a NAME_RECORD from the field section on: what its CRC covers after the key."""
    data = text.encode()
    return _NAME.pack(section, table, round, pair, seat, how) + bytes([len(data)]) + data


def unpack_name(body: bytes) -> Fields:
    """The inverse of ``pack_name``."""
    names = ("section", "table", "round", "pair", "seat", "how")
    return {**dict(zip(names, _NAME.unpack_from(body), strict=True)), "text": body[_NAME.size + 1 :].decode()}


_TABLE = struct.Struct("<BBBHHHBBH")


def pack_table(
    *, section: int, table: int, round: int, board: int, ns: int, ew: int, what: int, by: int, data: bytes
) -> bytes:
    """The bytes of a TABLE_RECORD from the field section on: what its CRC covers after the key."""
    return _TABLE.pack(section, table, round, board, ns, ew, what, by, len(data)) + data


def unpack_table(body: bytes) -> Fields:
    """The inverse of ``pack_table``."""
    names = ("section", "table", "round", "board", "ns", "ew", "what", "by")
    *values, _ = _TABLE.unpack_from(body)
    return {**dict(zip(names, values, strict=True)), "data": body[_TABLE.size :]}


def name_hash(device_id: int, journal: int, seq: int, body: bytes) -> bytes:
    """What stands for a name in evidence: SHA-256 over key and body."""
    return hashlib.sha256(struct.pack("<QII", device_id, journal, seq) + body).digest()


def record_crc(device_id: int, journal: int, seq: int, body: bytes) -> int:
    """CRC-32 over device id, journal id, seq and body."""
    return zlib.crc32(struct.pack("<QII", device_id, journal, seq) + body)


def record_auth(key: bytes | None, device_id: int, journal: int, seq: int, body: bytes) -> bytes:
    """First 6 bytes of HMAC-SHA-256 over the same bytes; zeros without a key."""
    if key is None:
        return bytes(6)
    return hmac.digest(key, struct.pack("<QII", device_id, journal, seq) + body, "sha256")[:6]


def events_auth(key: bytes | None, device_id: int, parts: list[Fields]) -> bytes:
    """What TERM_EVENTS carries: first 6 bytes of HMAC-SHA-256 over device id and parts; zeros without a key."""
    if key is None:
        return bytes(6)
    told = b"".join(_ITEM_LAYOUTS["event_part"].encode(part) for part in parts)
    covered = struct.pack("<QB", device_id, len(parts)) + told
    return hmac.digest(key, covered, "sha256")[:6]


def director_proof(pin: str, nonce: bytes, device_id: int) -> bytes:
    """What DIRECTOR_AUTH carries instead of the PIN."""
    return hmac.digest(pin.encode("ascii"), nonce + struct.pack("<Q", device_id), "sha256")[:8]


def deal_digest(board: int, routing: bytes) -> bytes:
    """Section 6."""
    return hashlib.sha256(struct.pack("<H", board) + routing).digest()[:8]


def pack_routing(pockets: list[int]) -> bytes:
    """13 bytes from the pocket (0-3) of each of the 52 cards."""
    out = bytearray(13)
    for card, pocket in enumerate(pockets):
        out[card // 4] |= pocket << 2 * (card % 4)
    return bytes(out)


def unpack_routing(routing: bytes) -> list[int]:
    return [routing[card // 4] >> 2 * (card % 4) & 3 for card in range(52)]


# Section 8: what a TABLE_RECORD carries


def pack_auction(dealer: int, calls: list[tuple[int, int, int, bool]]) -> bytes:
    """calls: (seat, call, standing, alerted); call 0 is pass, 1-35 a bid, 36 double, 37 redouble."""
    packed = [call | seat << 6 | standing << 8 | alerted << 10 for seat, call, standing, alerted in calls]
    return bytes([dealer]) + b"".join(struct.pack("<H", one) for one in packed)


def pack_play(agreed: int, cards: list[tuple[int, int]]) -> bytes:
    """agreed: tricks of declarer's side, 255 not said. cards: (seat, card 0-51) in the order of play."""
    return bytes([agreed, *(card | seat << 6 for seat, card in cards)])


def pack_accepted(pair: int, seat: int, stamp: int, proof: bytes) -> bytes:
    return struct.pack("<HBH8s", pair, seat, stamp, proof)


def code_verifier(code: str, event: int, section: int, pair: int) -> bytes:
    """By what a pair's code is known without being told."""
    return hmac.digest(code.encode("ascii"), struct.pack("<QBH", event, section, pair), "sha256")[:8]


def acceptance_proof(verifier: bytes, event: int, body: bytes) -> bytes:
    """That whoever knows the code has accepted the result in this body of a record."""
    told = body[:11] + b"\0" + body[12:]
    return hmac.digest(verifier, struct.pack("<Q", event) + told, "sha256")[:8]
