"""Whether a message may be taken: rules with the same verdict as the validators of the official client 1.2.1.

Each function gives what is wrong, in words for the maker of a scoring program; an empty list is a yes. Only the rule
about ``AlternativeDataFolder`` is left out: it asks whether a folder exists on the client's own machine. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any

from terminals.interop.data_connector.numbers import SCORING_METHODS, GameType, InitFlag
from terminals.interop.data_connector.shapes import SEATS, SUITS, Dto

_LETTERS = re.compile(r"([A-Z])\1{0,2}\n?")
_GUID = re.compile(r"[0-9A-F]{32}")
_PIN = re.compile(r"[+-]?[0-9]+")
_RANKS = frozenset("AKQJT98765432")


def is_guid(text: str | None) -> bool:
    """32 digits and capitals A to F, no dashes."""
    return text is not None and _GUID.fullmatch(text) is not None


def is_letters(text: str | None) -> bool:
    """A section's letters: one capital, once to three times."""
    return text is not None and _LETTERS.fullmatch(text) is not None


def is_blank(text: str | None) -> bool:
    return text is None or not text.strip()


def player(dto: Dto) -> list[str]:
    """PlayerDataDTO."""
    out = _guid(dto)
    if is_blank(dto["PlayerNumber"]):
        out.append("PlayerNumber is empty.")
    if is_blank(dto["LastName"]):
        out.append("LastName is empty.")
    return out


def seat(dto: Dto) -> list[str]:
    """ParticipationDTO: exactly one of number and name, or neither if the seat is emptied."""
    out = [] if len(dto["SessionGuid"] or "") == 32 else ["SessionGuid has not 32 characters."]
    out += _letters(dto["SectionLetters"])
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


def round_(dto: Dto) -> list[str]:
    """RoundDTO."""
    out = _guid(dto) + _letters(dto["SectionLetters"])
    if dto["TableNumber"] < 1:
        out.append("TableNumber is below 1.")
    if dto["RoundNumber"] < 1:
        out.append("RoundNumber is below 1.")
    absent = dto["PairNS"] == 0 or dto["PairEW"] == 0
    if absent and (dto["LowBoardNumber"] > 0 or dto["HighBoardNumber"] > 0):
        out.append("A round without a pair has boards.")
    return out


def table(dto: Dto) -> list[str]:
    """TableDTO with its rounds."""
    out = _guid(dto) + _letters(dto["SectionLetters"])
    if dto["TableNumber"] < 1:
        out.append("TableNumber is below 1.")
    rounds = dto["Rounds"] or ()
    numbers = sorted(one["RoundNumber"] for one in rounds)
    if numbers:
        if len(set(numbers)) != len(numbers) or numbers[-1] - numbers[0] != len(numbers) - 1:
            out.append("Round numbers do not count one by one.")
        if numbers[0] > 1:
            out.append("Rounds do not begin with 1.")
    for one in rounds:
        out += _same(dto, one, "SessionGuid", "SectionLetters", "TableNumber", who=f"round {one['RoundNumber']}")
        out += _inside(f"round {one['RoundNumber']}", round_(one))
    return out


def section(dto: Dto) -> list[str]:
    """SectionDTO with its tables."""
    out = _guid(dto) + _letters(dto["Letters"])
    if dto["ScoringGroupNumber"] < 1:
        out.append("ScoringGroupNumber is below 1.")
    return out + _section_rules(dto)


def section_update(dto: Dto) -> list[str]:
    """SectionUpdateDTO."""
    out = _guid(dto) + _letters(dto["Letters"])
    if dto["IsDeleted"]:
        return [*out, "A section that is deleted has tables."] if dto["Tables"] else out
    if dto["ScoringGroupNumber"] < 1:
        out.append("ScoringGroupNumber is below 1.")
    if dto["ScoringGroupScoringMethod"] not in SCORING_METHODS:
        out.append("ScoringGroupScoringMethod is not known.")
    out += _section_rules(dto)
    seats = dto["Participations"] or ()
    explicit = dto["HasExplicitParticipations"]
    if explicit and not seats:
        out.append("The section says who sits where in every round, but no participation is given.")
    for one in seats:
        who = _seat_name(one)
        out += _inside(who, seat(one))
        out += _same(dto, one, "SessionGuid", who=who)
        if one["SectionLetters"] != dto["Letters"]:
            out.append(f"{who} has other SectionLetters.")
        if one["RoundNumber"] > 1 and not explicit:
            out.append(f"{who} names a later round of a section without explicit participations.")
    return out


def group(dto: Dto) -> list[str]:
    """ScoringGroupDTO with its sections."""
    out = _guid(dto)
    if dto["ScoringGroupNumber"] < 1:
        out.append("ScoringGroupNumber is below 1.")
    if dto["ScoringMethod"] not in SCORING_METHODS:
        out.append("ScoringMethod is not known.")
    sections = dto["Sections"] or ()
    if dto["IsDeleted"]:
        return [*out, "A scoring group that is deleted has sections."] if sections else out
    if not sections:
        return [*out, "A scoring group has no section."]
    out += [f"Section {name} is there twice." for name in _twice(one["Letters"] for one in sections)]
    for one in sections:
        who = f"section {_text(one['Letters'])}"
        out += _same(dto, one, "SessionGuid", "ScoringGroupNumber", who=who)
        out += _inside(who, section(one))
    return out


def session(dto: Dto, adding: bool = False) -> list[str]:
    """SessionDTO. adding: it comes with AddSession, so it has to name its event."""
    out = _guid(dto)
    if adding and not dto["EventGuid"]:
        out.append("EventGuid is empty.")
    if dto["EventGuid"] is not None and not is_guid(dto["EventGuid"]):
        out.append("EventGuid is not 32 digits and capitals A to F.")
    groups = dto["ScoringGroups"] or ()
    if not groups:
        return [*out, "The session has no scoring group."]
    out += [f"Scoring group {number} is there twice." for number in _twice(one["ScoringGroupNumber"] for one in groups)]
    for one in groups:
        who = f"scoring group {one['ScoringGroupNumber']}"
        out += _same(dto, one, "SessionGuid", who=who)
        out += _inside(who, group(one))
    out += _combined([one for each in groups for one in each["Sections"] or ()])
    if not dto["Name"]:
        out.append("Name is empty.")
    if dto["Year"] < 2000:
        out.append("Year is before 2000.")
    if not 0 <= dto["Hour"] <= 23 or not 0 <= dto["Minute"] <= 59:
        out.append("Hour or minute is not one of a day.")
    try:
        date(dto["Year"], dto["Month"], dto["Day"])
    except (ValueError, OverflowError):
        out.append("Year, month and day are no date.")
    return out


def sections_of(session_dto: Dto) -> Iterator[Dto]:
    """The sections of all scoring groups of a session."""
    for one in session_dto["ScoringGroups"] or ():
        yield from one["Sections"] or ()


def init(dto: Dto) -> list[str]:
    """InitDTO: everything above, and what has to fit together over the event."""
    out = [] if 0 <= dto["Commands"] <= 255 else ["Commands is not from 0 to 255."]
    sessions: Sequence[Dto] = dto["Sessions"] or ()
    if not sessions:
        return [*out, "There is no session."]
    if len(sessions) > 1:
        if is_blank(dto["EventGuid"]):
            out.append("EventGuid is empty, and there are several sessions.")
        else:
            out += ["A session names another event." for one in sessions if one["EventGuid"] != dto["EventGuid"]]
    if dto["EventGuid"] is not None and not is_guid(dto["EventGuid"]):
        out.append("EventGuid is not 32 digits and capitals A to F.")
    for one in sessions:
        out += _inside(f"session {_text(one['SessionGuid'])}", session(one))
    return out + loads(dto, sessions)


def loads(dto: Dto, sessions: Sequence[Dto]) -> list[str]:
    """What InitDTO and AddSessionDTO bring beside their sessions, against those."""
    sections = [one for each in sessions for one in sections_of(each)]
    groups = [one["ScoringGroupNumber"] for each in sessions for one in each["ScoringGroups"] or ()]
    out = [f"Section {name} is there twice." for name in _twice(one["Letters"] for one in sections)]
    out += [f"Scoring group {number} is there twice." for number in _twice(groups)]
    guids = {one["SessionGuid"] for one in sessions}
    players = dto["PlayerData"]
    for one in players or ():
        out += _inside(f"player {_text(one['PlayerNumber'])}", player(one))
        if one["SessionGuid"] not in guids:
            out.append(f"player {_text(one['PlayerNumber'])} belongs to no session.")
    out += [f"Player {number} is there twice." for number in _twice(one["PlayerNumber"] or "" for one in players or ())]
    out += _seats(dto["Participations"] or (), players, sections)
    for one in dto["Handrecords"] or ():
        out += _inside(f"deal of board {one['BoardNumber']}", deal(one))
    settings = dto["Bridgemate2Settings"] or ()
    wrong = [line for one in settings for line in _inside(f"settings {_text(one['SectionLetters'])}", bm2(one))]
    out += wrong or [f"Settings of {name} are there twice." for name in _twice(s["SectionLetters"] for s in settings)]
    for one in dto["Bridgemate3Settings"] or ():
        out += _inside(f"settings {_text(one['SectionLetters'])}", bm3(one))
    return out


def add_session(dto: Dto) -> list[str]:
    """AddSessionDTO; the client has no validator of its own for it."""
    if dto["Session"] is None:
        return ["There is no session."]
    out = [] if is_guid(dto["EventGuid"]) else ["EventGuid is not 32 digits and capitals A to F."]
    out += session(dto["Session"], adding=True)
    if dto["Session"]["EventGuid"] != dto["EventGuid"]:
        out.append("The session names another event.")
    return out + loads(dto, [dto["Session"]])


def deal(dto: Dto) -> list[str]:
    """HandrecordDTO: 52 different cards, 13 in each hand. No card is named in the answer."""
    out = _guid(dto) + _letters(dto["SectionLetters"])
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
    out += _letters(dto["SectionLetters"])
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
    out = _guid(dto) + _letters(dto["SectionLetters"])
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
    return _guid(dto) + _letters(dto["SectionLetters"]) + _pin(dto["BM2PINcode"])


def bm3(dto: Dto) -> list[str]:
    """Bridgemate3SettingsDTO."""
    out = _guid(dto) + _letters(dto["SectionLetters"]) + _pin(dto["BM3PINcode"])
    for name, low, high in _BM3_RANGES:
        if not low <= dto[name] <= high:
            out.append(f"{name} is not from {low} to {high}.")
    return out


_INIT_ONLY = int(InitFlag.RESET | InitFlag.SHOW_IN_APP)
_BM3_RANGES = (
    ("BM3ScreenDimMode", 0, 15),
    ("BM3ScreenBrightness", 1, 7),
    ("BM3SleepMode", 0, 120),
    ("BM3AudioVolume", 0, 7),
)


# --- shared rules ------------------------------------------------------------------------------------------------


def _section_rules(dto: Dto) -> list[str]:
    out = []
    if dto["MissingPair"] < 0 and dto["Winners"] != 2:
        out.append("MissingPair is negative, which needs two winners.")
    if dto["Winners"] not in (1, 2):
        out.append("Winners is not 1 or 2.")
    if dto["GameType"] not in tuple(GameType):
        out.append("GameType is not 10, 20 or 30.")
    sources = (dto["NorthSouthPairSectionLetters"], dto["EastWestPairSectionLetters"])
    if dto["IsCombiSection"] and not all(is_letters(one) for one in sources):
        out.append("A combined section does not name the sections that its pairs come from.")
    tables = dto["Tables"] or ()
    if abs(dto["EWMoveBeforePlay"]) > len(tables):
        out.append("EWMoveBeforePlay is more than the number of tables.")
    for one in tables:
        who = f"table {one['TableNumber']}"
        out += _same(dto, one, "SessionGuid", who=who)
        if one["SectionLetters"] != dto["Letters"]:
            out.append(f"{who} has other SectionLetters.")
        out += _inside(who, table(one))
    return out + [f"Table {number} is there twice." for number in _twice(one["TableNumber"] for one in tables)]


def _combined(sections: Sequence[Dto]) -> list[str]:
    known = {one["Letters"] for one in sections}
    out = []
    for one in sections:
        if one["IsCombiSection"]:
            sources = {one["NorthSouthPairSectionLetters"], one["EastWestPairSectionLetters"]}
            if len(sources) != 2 or not sources <= known:
                out.append(f"Section {_text(one['Letters'])} does not come from two other sections of its session.")
    return out


def _seats(seats: Sequence[Dto], players: Sequence[Dto] | None, sections: Sequence[Dto]) -> list[str]:
    out = []
    if seats and players is None:
        out.append("There are participations but no players.")
    # Guid and number are joined, as in the client; only malformed guids could ever make a difference.
    known = {_text(one["SessionGuid"]) + _text(one["PlayerNumber"]) for one in players or ()}
    explicit = {
        (_text(one["SessionGuid"]), _text(one["Letters"])) for one in sections if one["HasExplicitParticipations"]
    }
    for one in seats:
        who = _seat_name(one)
        out += _inside(who, seat(one))
        if one["PlayerNumber"] and _text(one["SessionGuid"]) + one["PlayerNumber"] not in known:
            out.append(f"{who} names a player who is not among the players.")
        place = (_text(one["SessionGuid"]), _text(one["SectionLetters"]))
        if one["RoundNumber"] > 1 and place not in explicit:
            out.append(f"{who} names a later round of a section without explicit participations.")
    return out


def _guid(dto: Dto) -> list[str]:
    return [] if is_guid(dto["SessionGuid"]) else ["SessionGuid is not 32 digits and capitals A to F."]


def _letters(text: str | None) -> list[str]:
    return [] if is_letters(text) else ["The section's letters are not one capital, once to three times."]


def _pin(text: str | None) -> list[str]:
    good = text is not None and len(text) == 4 and _PIN.fullmatch(text.strip()) is not None
    return [] if good else ["The PIN is not four digits."]


def _same(outer: Dto, inner: Dto, *names: str, who: str) -> list[str]:
    return [f"{who} has another {name}." for name in names if inner[name] != outer[name]]


def _inside(who: str, messages: Iterable[str]) -> list[str]:
    return [f"{who}: {message}" for message in messages]


def _twice(values: Iterable[Any]) -> list[Any]:
    return [_text(value) for value, count in Counter(values).items() if count > 1]


def _text(value: Any) -> str:
    return "" if value is None else str(value)[:40]


def _seat_name(dto: Dto) -> str:
    direction = dto["Direction"]
    letter = "NESW"[direction - 1] if 1 <= direction <= 4 else "?"
    return f"seat {_text(dto['SectionLetters'])}{dto['TableNumber']} {letter} round {dto['RoundNumber']}"
