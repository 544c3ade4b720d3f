"""What a TABLE_RECORD carries (docs/protocol.md section 8): auction, play, hands, positions, acceptance, a pair's code.

Pure numbers, like ``wire.record``: whether an auction or a play keeps the Laws is the business of the tables.
Nothing here puts a card into an error or a repr.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from firmware_bridge.wire.record import BODY_SIZE
from firmware_bridge.wire.wire_error import WireError

MAX_CALLS = 400
"""More than the longest auction of 319 calls, so that irregular calls have room."""
MAX_CARDS = 52
HANDS_SIZE = 13
VERIFIER_SIZE = 8
PROOF_SIZE = 8
NOT_SAID = 255
LAST_CALL = 37
"""Calls are 0 pass, 1-35 the bids 1C to 7NT in order of rank, 36 double, 37 redouble."""

_ACCEPTED = struct.Struct("<HBH8s")
_WHO = struct.Struct("<QBH")
_EVENT = struct.Struct("<Q")
_REPLACES_AT = 11


@dataclass(frozen=True, slots=True)
class CallData:
    """seat 0-3; call 0-37; standing: ``CallStanding``."""

    seat: int
    call: int
    standing: int = 0
    alerted: bool = False


@dataclass(frozen=True, slots=True)
class AuctionData:
    """An auction as it is packed: dealer 0-3 from North clockwise, calls in order, each with its seat."""

    dealer: int
    calls: tuple[CallData, ...]

    def pack(self) -> bytes:
        """Raises WireError for what has no room."""
        out = bytearray([self.dealer & 3])
        if len(self.calls) > MAX_CALLS:
            raise WireError(f"An auction has at most {MAX_CALLS} calls.")
        for one in self.calls:
            if not (0 <= one.seat <= 3 and 0 <= one.call <= LAST_CALL and 0 <= one.standing <= 3):
                raise WireError("A call has no room on the wire.")
            out += struct.pack("<H", one.call | one.seat << 6 | one.standing << 8 | int(one.alerted) << 10)
        return bytes(out)

    @classmethod
    def unpack(cls, data: bytes) -> AuctionData:
        """Raises WireError for what is no auction."""
        if not data or len(data) % 2 == 0 or len(data) > 1 + 2 * MAX_CALLS or data[0] > 3:
            raise WireError("The data of an auction do not fit.", code="malformed")
        calls = []
        for (word,) in struct.iter_unpack("<H", data[1:]):
            if word >> 11 or word & 63 > LAST_CALL:
                raise WireError("An auction has a call that there is not.", code="malformed")
            calls.append(CallData(word >> 6 & 3, word & 63, word >> 8 & 3, bool(word >> 10)))
        return cls(data[0], tuple(calls))


@dataclass(frozen=True, slots=True)
class PlayData:
    """agreed: tricks of declarer's side, 255 not said. cards: (seat, card 0-51) in the order of play."""

    agreed: int
    cards: tuple[tuple[int, int], ...] = field(repr=False)

    def pack(self) -> bytes:
        """Raises WireError for what has no room."""
        agreed_fits = self.agreed == NOT_SAID or 0 <= self.agreed <= 13
        if len(self.cards) > MAX_CARDS or not agreed_fits:
            raise WireError("A play has no room on the wire.")
        if any(not (0 <= seat <= 3 and 0 <= card <= 51) for seat, card in self.cards):
            raise WireError("A card of a play has no room on the wire.")
        return bytes([self.agreed, *(card | seat << 6 for seat, card in self.cards)])

    @classmethod
    def unpack(cls, data: bytes) -> PlayData:
        """Raises WireError for what is no play."""
        if not 1 <= len(data) <= 1 + MAX_CARDS or (data[0] > 13 and data[0] != NOT_SAID):
            raise WireError("The data of a play do not fit.", code="malformed")
        if any(byte & 63 > 51 for byte in data[1:]):
            raise WireError("A play has a card that there is not.", code="malformed")
        return cls(data[0], tuple((byte >> 6, byte & 63) for byte in data[1:]))


@dataclass(frozen=True, slots=True)
class AcceptedData:
    """Who has accepted a result: pair, seat 1 or 2 as in NAME_RECORD (0 not said), the terminal's clock, proof."""

    pair: int
    seat: int
    stamp: int
    proof: bytes = field(repr=False)

    def pack(self) -> bytes:
        """Raises WireError for what has no room."""
        try:
            return _ACCEPTED.pack(self.pair, self.seat, self.stamp, self.proof)
        except struct.error:
            raise WireError("An acceptance has no room on the wire.") from None

    @classmethod
    def unpack(cls, data: bytes) -> AcceptedData:
        """Raises WireError for another size."""
        if len(data) != _ACCEPTED.size:
            raise WireError("The data of an acceptance do not fit.", code="malformed")
        return cls(*_ACCEPTED.unpack(data))


def pack_hands(owners: Sequence[int]) -> bytes:
    """13 bytes from the seat 0-3 of each of the 52 cards. Raises WireError."""
    if len(owners) != 52 or any(not 0 <= owner <= 3 for owner in owners):
        raise WireError("Four hands are 52 cards.")
    out = bytearray(HANDS_SIZE)
    for card, owner in enumerate(owners):
        out[card // 4] |= owner << 2 * (card % 4)
    return bytes(out)


def unpack_hands(data: bytes) -> tuple[int, ...]:
    """The seat of each of the 52 cards. Raises WireError unless everybody has 13."""
    if len(data) != HANDS_SIZE:
        raise WireError("The data of four hands do not fit.", code="malformed")
    owners = tuple(data[card // 4] >> 2 * (card % 4) & 3 for card in range(52))
    if any(owners.count(seat) != 13 for seat in range(4)):
        raise WireError("Each of the four hands has 13 cards.", code="malformed")
    return owners


def code_verifier(code: str, event: int, section: int, pair: int) -> bytes:
    """By what a pair's code is known: 8 bytes of HMAC-SHA-256 over event id, section, pair, under its digits."""
    return hmac.digest(code.encode(), _WHO.pack(event, section, pair), hashlib.sha256)[:VERIFIER_SIZE]


def acceptance_proof(verifier: bytes, event: int, body: bytes) -> bytes:
    """What shows that the owner of the code has accepted a result: 8 bytes of HMAC-SHA-256 over event id and the body
    with ``replaces`` as 0, under the verifier. Raises WireError unless the body has 14 bytes."""
    if len(body) != BODY_SIZE:
        raise WireError(f"The body of a record has {BODY_SIZE} bytes, not {len(body)}.", code="malformed")
    told = body[:_REPLACES_AT] + b"\0" + body[_REPLACES_AT + 1 :]
    return hmac.digest(verifier, _EVENT.pack(event) + told, hashlib.sha256)[:PROOF_SIZE]
