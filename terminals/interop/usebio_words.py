"""The words of USEBIO files: which kind of event it is, how it was scored, which tags hold the points."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from terminals.interop.exchange import EventKind, Published
from terminals.interop.xml_file import text_of
from terminals.result import Artificial, BoardState, FixedPercent
from terminals.scoring.boards import Method
from terminals.scoring.teams import TeamMethod

_METHODS = {
    "MATCH_POINTS": Method.MATCHPOINTS,
    "MP_PAIRS": Method.MATCHPOINTS,
    "MP": Method.MATCHPOINTS,
    "CROSS_IMPS": Method.CROSS_IMPS,
    "CROSS_IMP": Method.CROSS_IMPS,
    "BUTLER_IMPS": Method.BUTLER,
    "BUTLER_PAIRS": Method.BUTLER,
    "BUTLER": Method.BUTLER,
    "AGGREGATE": Method.AGGREGATE,
}
TEAM_METHODS = {
    "IMPS": TeamMethod.IMPS,
    "PAB": TeamMethod.BOARD_A_MATCH,
    "BAM": TeamMethod.BOARD_A_MATCH,
    "AGGREGATE": TeamMethod.AGGREGATE,
}
POINT_TAGS = (
    ("MATCH_POINTS", Method.MATCHPOINTS),
    ("CROSS_IMP_POINTS", Method.CROSS_IMPS),
    ("BUTLER_POINTS", Method.BUTLER),
    ("AGGREGATE_POINTS", Method.AGGREGATE),
)


def event_kind(event: Element) -> EventKind:
    """Pairs, individual or teams: by the seats of the lines, the participants, or the event's type."""
    name = (event.get("EVENT_TYPE") or "").upper()
    if event.find(".//TRAVELLER_LINE/N_PLAYER_NUMBER") is not None or "INDIVIDUAL" in name:
        return EventKind.INDIVIDUAL
    if event.find(".//PARTICIPANTS/TEAM") is not None or "TEAM" in name:
        return EventKind.TEAMS
    return EventKind.PAIRS


def event_method(event: Element, kind: EventKind) -> Method:
    """How boards are scored: by the tag, else by the event's type, else by the points that the lines carry."""
    names = (text_of(event, "BOARD_SCORING_METHOD"), text_of(event, "PAIRWISE_SCORING_METHOD"))
    if kind is EventKind.TEAMS:
        names = names[::-1]
    for name in (*names, event.get("EVENT_TYPE") or ""):
        if name.upper() in _METHODS:
            return _METHODS[name.upper()]
    for tag, method in POINT_TAGS:
        if event.find(f".//TRAVELLER_LINE/NS_{tag}") is not None:
            return method
    return Method.MATCHPOINTS


def with_imps(state: BoardState, ns: Published | None, ew: Published | None) -> BoardState:
    """A typed percentage has no fixed value in IMPs: what the file pays for it is the value."""
    if not isinstance(state, Artificial):
        return state
    sides = []
    for side, points in ((state.ns, ns), (state.ew, ew)):
        if isinstance(side, FixedPercent) and side.imps is None and points is not None:
            side = FixedPercent(side.percent, points.value)
        sides.append(side)
    return Artificial(sides[0], sides[1])


_DATE = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})", re.ASCII)


def iso_date(text: str) -> str:
    """``26/11/2026``, or what is ISO already, as ISO; "" for anything else."""
    match = _DATE.fullmatch(text)
    if match is None:
        return text if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII) else ""
    day, month, year = (int(part) for part in match.groups())
    return f"{year:04d}-{month:02d}-{day:02d}" if 1 <= month <= 12 and 1 <= day <= 31 else ""
