"""Rules about messages that bring data: players, seats, deals, results, calls, settings, and ContinueDTO.

The same verdict as the validators of the official client 1.2.1, like ``validate``. Pure.
"""

from __future__ import annotations

import re

from terminals.interop.data_connector.checks import guid, is_blank, letters, text
from terminals.interop.data_connector.numbers import InitFlag
from terminals.interop.data_connector.shapes import SEATS, SUITS, Dto

_PIN = re.compile(r"[+-]?[0-9]+")
_RANKS = frozenset("AKQJT98765432")
_INIT_ONLY = int(InitFlag.RESET | InitFlag.SHOW_IN_APP)
_BM3_RANGES = (
    ("BM3ScreenDimMode", 0, 15),
    ("BM3ScreenBrightness", 1, 7),
    ("BM3SleepMode", 0, 120),
    ("BM3AudioVolume", 0, 7),
)


def player(dto: Dto) -> list[str]:
    """PlayerDataDTO."""
    out = guid(dto)
    if is_blank(dto["PlayerNumber"]):
        out.append("PlayerNumber is empty.")
    if is_blank(dto["LastName"]):
        out.append("LastName is empty.")
    return out


def seat(dto: Dto) -> list[str]:
    """ParticipationDTO: exactly one of number and name, or neither if the seat is emptied."""
    out = [] if len(dto["SessionGuid"] or "") == 32 else ["SessionGuid has not 32 characters."]
    out += letters(dto["SectionLetters"])
    if not 1 <= dto["Direction"] <= 4:
        out.append("Direction is not 1 (N), 2 (E), 3 (S) or 4 (W).")
    if dto["TableNumber"] < 1:
        out.append("TableNumber is below 1.")
    if dto["RoundNumber"] < 0:
        out.append("RoundNumber is negative.")
    number, name = not is_blank(dto["PlayerNumber"]), not is_blank(dto["LastName"])
    if dto["IsRemoval"]:
        if number or name or not is_blank(dto["FirstName"]) or not is_blank(dto["CountryCode"]):
            out.append("A removal names a player.")
        if dto["IsPlayerSwap"]:
            out.append("A removal can't be a swap as well.")
    elif number == name:
        out.append("Give a PlayerNumber or a LastName, one of the two.")
    return out


def deal(dto: Dto) -> list[str]:
    """HandrecordDTO: 52 different cards, 13 in each hand. No card is named in the answer."""
    out = guid(dto) + letters(dto["SectionLetters"])
    if dto["ScoringGroupNumber"] < 1:
        out.append("ScoringGroupNumber is below 1.")
    if dto["BoardNumber"] < 1:
        out.append("BoardNumber is below 1.")
    for one in SEATS:
        if any(dto[one + suit] is None or not _RANKS.issuperset(dto[one + suit]) for suit in SUITS):
            return [*out, f"A suit of {one} is null or has a letter that is no card."]
    for suit in SUITS:
        cards = "".join(dto[one + suit] for one in SEATS)
        if len(cards) != 13 or len(set(cards)) != 13:
            out.append(f"{suit} are not 13 different cards.")
    for one in SEATS:
        count = sum(len(dto[one + suit]) for suit in SUITS)
        if count != 13:
            out.append(f"{one} has {count} cards.")
    return out


def result(dto: Dto) -> list[str]:
    """ResultDTO."""
    out = [] if len(dto["SessionGuid"] or "") == 32 else ["SessionGuid has not 32 characters."]
    out += letters(dto["SectionLetters"])
    out += [f"{name} is below 1." for name in ("TableNumber", "RoundNumber", "BoardNumber") if dto[name] < 1]
    if dto["IsDeleted"]:
        return out
    pairs = (dto["PairNorthSouth"], dto["PairEastWest"])
    if min(pairs) < 1:
        out.append("A pair number is below 1.")
    if dto["DeclaringPair"] not in pairs:
        out.append("DeclaringPair is neither of the pairs.")
    if not -10 <= dto["Level"] <= 7:
        out.append("Level is not from -10 to 7.")
    if dto["Level"] >= 1:
        for name, high in (("DeclarerDirection", 4), ("ScoringDirection", 3), ("Denomination", 5)):
            if not 1 <= dto[name] <= high:
                out.append(f"{name} is not from 1 to {high}.")
    if not 0 <= dto["Stake"] <= 2:
        out.append("Stake is not 0, 1 or 2.")
    if not 0 <= dto["TotalTricks"] <= 13:
        out.append("TotalTricks is not from 0 to 13.")
    if dto["LeadCardRank"] and not (2 <= dto["LeadCardRank"] <= 14 and 1 <= dto["LeadCardSuit"] <= 4):
        out.append("The lead is no card.")
    return out


def call(dto: Dto) -> list[str]:
    """TdCallDTO."""
    out = guid(dto) + letters(dto["SectionLetters"])
    out += [f"{name} is below 1." for name in ("TableNumber", "RoundNumber") if dto[name] < 1]
    if not 1 <= dto["Status"] <= 4:
        out.append("Status is not from 1 to 4.")
    return out


def continue_(dto: Dto) -> list[str]:
    """ContinueDTO: the two flags that would make a new event are not for it."""
    # Bits above the eight known ones are not looked at, as in the client.
    return ["Commands has a flag that only InitDTO may have."] if dto["Commands"] & _INIT_ONLY else []


def bm2(dto: Dto) -> list[str]:
    """Bridgemate2SettingsDTO."""
    return guid(dto) + letters(dto["SectionLetters"]) + _pin(dto["BM2PINcode"])


def bm3(dto: Dto) -> list[str]:
    """Bridgemate3SettingsDTO."""
    out = guid(dto) + letters(dto["SectionLetters"]) + _pin(dto["BM3PINcode"])
    for name, low, high in _BM3_RANGES:
        if not low <= dto[name] <= high:
            out.append(f"{name} is not from {low} to {high}.")
    return out


def _pin(text: str | None) -> list[str]:
    good = text is not None and len(text) == 4 and _PIN.fullmatch(text.strip()) is not None
    return [] if good else ["The PIN is not four digits."]


def seat_name(dto: Dto) -> str:
    direction = dto["Direction"]
    letter = "NESW"[direction - 1] if 1 <= direction <= 4 else "?"
    return f"seat {text(dto['SectionLetters'])}{dto['TableNumber']} {letter} round {dto['RoundNumber']}"
