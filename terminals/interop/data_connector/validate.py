"""Whether a message about an event may be taken: the same verdict as the validators of the official client 1.2.1.

Each function gives what is wrong, in words for the maker of a scoring program; an empty list is a yes. Only the rule
about ``AlternativeDataFolder`` is left out: it asks whether a folder exists on the client's own machine. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from terminals.interop.data_connector.checks import (
    guid,
    inside,
    is_blank,
    is_guid,
    is_letters,
    letters,
    same,
    text,
    twice,
)
from terminals.interop.data_connector.numbers import SCORING_METHODS, GameType
from terminals.interop.data_connector.shapes import Dto
from terminals.interop.data_connector.validate_data import bm2, bm3, deal, player, seat, seat_name


def round_(dto: Dto) -> list[str]:
    """RoundDTO."""
    out = guid(dto) + letters(dto["SectionLetters"])
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
    out = guid(dto) + letters(dto["SectionLetters"])
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
        out += same(dto, one, "SessionGuid", "SectionLetters", "TableNumber", who=f"round {one['RoundNumber']}")
        out += inside(f"round {one['RoundNumber']}", round_(one))
    return out


def section(dto: Dto) -> list[str]:
    """SectionDTO with its tables."""
    out = guid(dto) + letters(dto["Letters"])
    if dto["ScoringGroupNumber"] < 1:
        out.append("ScoringGroupNumber is below 1.")
    return out + _section_rules(dto)


def section_update(dto: Dto) -> list[str]:
    """SectionUpdateDTO."""
    out = guid(dto) + letters(dto["Letters"])
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
        who = seat_name(one)
        out += inside(who, seat(one))
        out += same(dto, one, "SessionGuid", who=who)
        if one["SectionLetters"] != dto["Letters"]:
            out.append(f"{who} has other SectionLetters.")
        if one["RoundNumber"] > 1 and not explicit:
            out.append(f"{who} names a later round of a section without explicit participations.")
    return out


def group(dto: Dto) -> list[str]:
    """ScoringGroupDTO with its sections."""
    out = guid(dto)
    if dto["ScoringGroupNumber"] < 1:
        out.append("ScoringGroupNumber is below 1.")
    if dto["ScoringMethod"] not in SCORING_METHODS:
        out.append("ScoringMethod is not known.")
    sections = dto["Sections"] or ()
    if dto["IsDeleted"]:
        return [*out, "A scoring group that is deleted has sections."] if sections else out
    if not sections:
        return [*out, "A scoring group has no section."]
    out += [f"Section {name} is there twice." for name in twice(one["Letters"] for one in sections)]
    for one in sections:
        who = f"section {text(one['Letters'])}"
        out += same(dto, one, "SessionGuid", "ScoringGroupNumber", who=who)
        out += inside(who, section(one))
    return out


def session(dto: Dto, adding: bool = False) -> list[str]:
    """SessionDTO. adding: it comes with AddSession, so it has to name its event."""
    out = guid(dto)
    if adding and not dto["EventGuid"]:
        out.append("EventGuid is empty.")
    if dto["EventGuid"] is not None and not is_guid(dto["EventGuid"]):
        out.append("EventGuid is not 32 digits and capitals A to F.")
    groups = dto["ScoringGroups"] or ()
    if not groups:
        return [*out, "The session has no scoring group."]
    out += [f"Scoring group {number} is there twice." for number in twice(one["ScoringGroupNumber"] for one in groups)]
    for one in groups:
        who = f"scoring group {one['ScoringGroupNumber']}"
        out += same(dto, one, "SessionGuid", who=who)
        out += inside(who, group(one))
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
        out += inside(f"session {text(one['SessionGuid'])}", session(one))
    return out + loads(dto, sessions)


def loads(dto: Dto, sessions: Sequence[Dto]) -> list[str]:
    """What InitDTO and AddSessionDTO bring beside their sessions, against those."""
    sections = [one for each in sessions for one in sections_of(each)]
    groups = [one["ScoringGroupNumber"] for each in sessions for one in each["ScoringGroups"] or ()]
    out = [f"Section {name} is there twice." for name in twice(one["Letters"] for one in sections)]
    out += [f"Scoring group {number} is there twice." for number in twice(groups)]
    guids = {one["SessionGuid"] for one in sessions}
    players = dto["PlayerData"]
    for one in players or ():
        out += inside(f"player {text(one['PlayerNumber'])}", player(one))
        if one["SessionGuid"] not in guids:
            out.append(f"player {text(one['PlayerNumber'])} belongs to no session.")
    out += [f"Player {number} is there twice." for number in twice(one["PlayerNumber"] or "" for one in players or ())]
    out += _seats(dto["Participations"] or (), players, sections)
    for one in dto["Handrecords"] or ():
        out += inside(f"deal of board {one['BoardNumber']}", deal(one))
    settings = dto["Bridgemate2Settings"] or ()
    wrong = [line for one in settings for line in inside(f"settings {text(one['SectionLetters'])}", bm2(one))]
    out += wrong or [f"Settings of {name} are there twice." for name in twice(s["SectionLetters"] for s in settings)]
    for one in dto["Bridgemate3Settings"] or ():
        out += inside(f"settings {text(one['SectionLetters'])}", bm3(one))
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
        out += same(dto, one, "SessionGuid", who=who)
        if one["SectionLetters"] != dto["Letters"]:
            out.append(f"{who} has other SectionLetters.")
        out += inside(who, table(one))
    return out + [f"Table {number} is there twice." for number in twice(one["TableNumber"] for one in tables)]


def _combined(sections: Sequence[Dto]) -> list[str]:
    known = {one["Letters"] for one in sections}
    out = []
    for one in sections:
        if one["IsCombiSection"]:
            sources = {one["NorthSouthPairSectionLetters"], one["EastWestPairSectionLetters"]}
            if len(sources) != 2 or not sources <= known:
                out.append(f"Section {text(one['Letters'])} does not come from two other sections of its session.")
    return out


def _seats(seats: Sequence[Dto], players: Sequence[Dto] | None, sections: Sequence[Dto]) -> list[str]:
    out = []
    if seats and players is None:
        out.append("There are participations but no players.")
    # Guid and number are joined, as in the client; only malformed guids could ever make a difference.
    known = {text(one["SessionGuid"]) + text(one["PlayerNumber"]) for one in players or ()}
    explicit = {
        (text(one["SessionGuid"]), text(one["Letters"])) for one in sections if one["HasExplicitParticipations"]
    }
    for one in seats:
        who = seat_name(one)
        out += inside(who, seat(one))
        if one["PlayerNumber"] and text(one["SessionGuid"]) + one["PlayerNumber"] not in known:
            out.append(f"{who} names a player who is not among the players.")
        place = (text(one["SessionGuid"]), text(one["SectionLetters"]))
        if one["RoundNumber"] > 1 and place not in explicit:
            out.append(f"{who} names a later round of a section without explicit participations.")
    return out
