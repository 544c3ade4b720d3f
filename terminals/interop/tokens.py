"""The small words of result files in all their spellings: contracts, cards, artificial scores, numbers, pair labels.

What is clearly meant is read; anything else raises EntryError or gives None, as each function says.
"""

from __future__ import annotations

import re
from fractions import Fraction

from dealer.cards import RANKS, Seat
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.interop.exchange import Published
from terminals.result import Artificial, ArtificialSide, Average, FixedPercent

_CONTRACT = re.compile(
    r"([0-9])\s*(NT|SA|[CDHSN♣♦♥♠])\s*(\*{1,2}|X{1,2}|DBLE?|REDBLE?|D|R)?\s*(?:BY\s+)?([NESW])?", re.IGNORECASE
)
_PASS = {"PASS", "PASSED", "PASSED OUT", "PASSOUT", "PO", "ALL PASS", "P", "AP", "0"}
_ARTIFICIAL = re.compile(r"A\s*(\d{1,2}|100)\s*[/-]?\s*(\d{2}|100)", re.IGNORECASE)
_AVERAGES = {"AVE+": Average.PLUS, "AVE": Average.EVEN, "AVE=": Average.EVEN, "AVE-": Average.MINUS}
_AVERAGES |= {"AV+": Average.PLUS, "AV": Average.EVEN, "AV-": Average.MINUS, "A+": Average.PLUS, "A-": Average.MINUS}
_AVERAGES |= {"A=": Average.EVEN, "A": Average.EVEN}
IMPOSSIBLE = "impossible-result"
_NUMBER = re.compile(r"[+-]?(?:\d{1,12}(?:[.,]\d{0,12})?|[.,]\d{1,12})(?:\s*½)?|[+-]?½", re.ASCII)
_LABEL = re.compile(r"([A-Za-z]{0,3})\s*(\d{1,6})\s*(NS|EW|N/S|E/W|N|E)?", re.ASCII | re.IGNORECASE)


def is_pass(text: str) -> bool:
    """True for every way of writing a passed-out board."""
    return text.strip().upper() in _PASS


def read_contract(text: str, declarer: str) -> Contract:
    """``3NT``, ``3Nx``, ``3SX``, ``3SH**`` and the like, with the declarer beside it or in it. Raises EntryError.

    A second strain letter after the first (``3SH**``) is what one program writes behind a corrected contract: the
    first one counts.
    """
    cleaned = text.strip().upper().replace("NTS", "NT")
    doubled = re.fullmatch(r"([1-7])([CDHSN])[CDHS](\*{1,2}|X{1,2})?", cleaned)
    if doubled:
        cleaned = doubled.group(1) + doubled.group(2) + (doubled.group(3) or "")
    match = _CONTRACT.fullmatch(cleaned) if len(cleaned) <= 24 else None
    if match is None:
        raise EntryError(f"{text.strip()[:16]!r} is no contract.", code="bad-contract")
    level, strain, doubling, inside = match.groups()
    if level not in "1234567":
        raise EntryError(f"{text.strip()[:16]!r} can't be: bids are from one to seven (Law 18).", code=IMPOSSIBLE)
    seat = read_seat(inside or declarer)
    if seat is None:
        if (inside or declarer).strip().isalpha():
            raise EntryError(f"{declarer.strip()[:12]!r} is no seat for a declarer.", code=IMPOSSIBLE)
        raise EntryError(f"The contract {text.strip()[:16]!r} has no declarer.", code="bad-contract")
    mark = (doubling or "").replace("*", "X").upper()
    if mark in ("D", "DBL", "DBLE"):
        mark = "X"
    elif mark in ("R", "REDBL", "REDBLE"):
        mark = "XX"
    name = "NT" if strain in ("SA", "N", "NT") else strain
    return Contract(int(level), Strain.from_text(name), Doubling(len(mark)), seat)


def read_seat(text: str) -> Seat | None:
    """``N``, ``North``, ``n`` ... or None."""
    letter = text.strip()[:1].upper()
    return Seat("NESW".index(letter)) if letter and letter in "NESW" else None


def read_card(text: str) -> int | None:
    """A card 0-51 from ``S10``, ``DJ``, ``KD``, ``TS``, ``♥A``; None when it is none."""
    cleaned = text.strip().upper().replace("10", "T")
    for symbol, letter in (("♠", "S"), ("♥", "H"), ("♦", "D"), ("♣", "C")):
        cleaned = cleaned.replace(symbol, letter)
    if len(cleaned) != 2:
        return None
    for suit, rank in ((cleaned[0], cleaned[1]), (cleaned[1], cleaned[0])):
        if suit in "SHDC" and rank in RANKS:
            return "SHDC".index(suit) * 13 + RANKS.index(rank)
    return None


def read_artificial(text: str) -> Artificial | None:
    """``A5050``, ``A6040``, ``A60-40``, ``AVE+``, ``AVE+/AVE-``; None for anything else.

    60, 50 and 40 percent are the averages of Law 12C2, which the session percentage may raise or lower.
    """
    cleaned = text.strip().upper()
    match = _ARTIFICIAL.fullmatch(cleaned)
    if match:
        ns, ew = int(match.group(1)), int(match.group(2))
        return Artificial(_percent_side(ns), _percent_side(ew)) if ns <= 100 and ew <= 100 else None
    if cleaned in _AVERAGES:
        one = _AVERAGES[cleaned]
        other = {Average.PLUS: Average.MINUS, Average.MINUS: Average.PLUS}.get(one, Average.EVEN)
        return Artificial(one, other)
    left, slash, right = cleaned.partition("/")
    if slash and left.strip() in _AVERAGES and right.strip() in _AVERAGES:
        return Artificial(_AVERAGES[left.strip()], _AVERAGES[right.strip()])
    return None


def _percent_side(percent: int) -> ArtificialSide:
    averages = {60: Average.PLUS, 50: Average.EVEN, 40: Average.MINUS}
    return averages.get(percent) or FixedPercent(Fraction(percent))


def read_number(text: str) -> Published | None:
    """A decimal number with a point or a comma, or with ½; None when it is none."""
    cleaned = text.strip().replace("−", "-")
    if not cleaned or len(cleaned) > 30 or not _NUMBER.fullmatch(cleaned):
        return None
    half = Fraction(0)
    body = cleaned
    if body.endswith("½"):
        body = body[:-1].strip()
        half = Fraction(1, 2)
    sign = -1 if body.startswith("-") else 1
    body = body.lstrip("+-").replace(",", ".")
    whole, _, decimals = body.partition(".")
    value = Fraction(int(whole or 0)) + half
    if decimals:
        value += Fraction(int(decimals), 10 ** len(decimals))
    return Published(sign * value, 1 if half else len(decimals), cleaned)


def read_int(text: str) -> int | None:
    """A whole number of at most nine digits, or None."""
    cleaned = text.strip()
    return int(cleaned) if re.fullmatch(r"[+-]?\d{1,9}", cleaned, re.ASCII) else None


def read_label(text: str) -> tuple[str, int, str] | None:
    """A pair label as (section letters, number, direction): ``1``, ``A1``, ``1NS``, ``12 EW``; None for others."""
    match = _LABEL.fullmatch(text.strip())
    if match is None:
        return None
    direction = (match.group(3) or "").upper().replace("/", "")
    return match.group(1).upper(), int(match.group(2)), {"N": "NS", "E": "EW"}.get(direction, direction)


def read_tricks(text: str, contract: Contract) -> int | None:
    """Tricks of declarer: ``10``, or against the contract ``+1``, ``=``, ``-2``; None for anything else.

    Raises EntryError for numbers that thirteen cards can't give.
    """
    cleaned = text.strip().replace("−", "-")
    if cleaned in ("=", "+0"):
        return contract.required_tricks
    if not re.fullmatch(r"[+-]?\d{1,2}", cleaned, re.ASCII):
        return None
    tricks = int(cleaned) if cleaned[0] not in "+-" else contract.required_tricks + int(cleaned)
    if not 0 <= tricks <= 13:
        raise EntryError(f"{tricks} tricks can't be: declarer wins from 0 to 13.", code=IMPOSSIBLE)
    return tricks
