"""From our own scoring to an ``ExchangeEvent`` that every writer and printer understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from terminals.interop.adjusted_note import line_note, plain_score
from terminals.interop.exchange import Entrant, EventKind, ExchangeEvent, ExchangeLine, ExchangePlayer, Published
from terminals.result import NotEntered, NotPlayed, SitOut
from terminals.scoring.boards import LineScore, Method, SideScore
from terminals.scoring.lines import Contestant, LineKey, ResultLine
from terminals.scoring.profile import Profile
from terminals.scoring.ranking import RankRow
from terminals.scoring.rounding import Rounding, decimal_text
from terminals.scoring.session import SessionScore
from terminals.table_record import Recorded

PROGRAM = "Firmware Bridge"


@dataclass(frozen=True, slots=True)
class EventInfo:
    """What the scoring does not know. date: ISO. players: contestant -> its people.

    directions: contestant -> "NS" or "EW" where there are two winners and the numbers alone do not say so. recorded:
    what tables recorded beside their results, by the keys of the lines that are scored.
    """

    title: str
    date: str
    club: str = ""
    club_id: str = ""
    version: str = ""
    players: Mapping[Contestant, tuple[ExchangePlayer, ...]] = field(default_factory=dict)
    kind: EventKind = EventKind.PAIRS
    directions: Mapping[Contestant, str] = field(default_factory=dict)
    recorded: Mapping[LineKey, Recorded] = field(default_factory=dict, repr=False)


def publish_session(
    info: EventInfo,
    score: SessionScore,
    profile: Profile,
    method: Method = Method.MATCHPOINTS,
    master_points: Mapping[Contestant, Fraction] | None = None,
) -> ExchangeEvent:
    """The event as it is published: ranked entrants in order, one line for every actual play."""
    entrants: list[Entrant] = []
    for ranking in score.rankings:
        entrants.extend(_entrant(row, info, profile, method, master_points or {}) for row in ranking)
    for contestant in score.unranked:
        entrants.append(_bare(contestant, info))
    lines: list[ExchangeLine] = []
    for (_, board), scores in sorted(score.boards.items()):
        lines.extend(
            replace(_line(one, board, profile, method), recorded=info.recorded.get(one.line.key))
            for one in scores
            if not isinstance(one.line.result, (NotPlayed, NotEntered, SitOut))
        )
    lines.sort(key=lambda one: (one.line.board, one.line.section, one.line.ns, one.line.ew))
    return ExchangeEvent(
        title=info.title,
        date=info.date,
        club=info.club,
        club_id=info.club_id,
        program=PROGRAM,
        program_version=info.version,
        kind=info.kind,
        method=method,
        winners=max(1, len([ranking for ranking in score.rankings if ranking])),
        entrants=tuple(entrants),
        lines=tuple(lines),
    )


def _entrant(
    row: RankRow, info: EventInfo, profile: Profile, method: Method, master_points: Mapping[Contestant, Fraction]
) -> Entrant:
    decimals = profile.percent_decimals if method is Method.MATCHPOINTS else profile.imp_decimals
    adjustment = None
    if row.adjustment:
        change = row.adjustment * 100 / row.top if row.top else row.adjustment
        adjustment = published(change, 2, profile.rounding)
    awarded = master_points.get(row.contestant)
    return Entrant(
        row.contestant,
        str(row.contestant.number),
        info.players.get(row.contestant, ()),
        direction=row.contestant.direction or info.directions.get(row.contestant, ""),
        section=row.contestant.section,
        total=published(row.value, decimals, profile.rounding),
        place=row.place_text,
        boards=row.boards,
        adjustment=adjustment,
        master_points=None if awarded is None else published(awarded, 2),
    )


def _bare(contestant: Contestant, info: EventInfo) -> Entrant:
    return Entrant(
        contestant,
        str(contestant.number),
        info.players.get(contestant, ()),
        direction=contestant.direction or info.directions.get(contestant, ""),
        section=contestant.section,
        boards=0,
    )


def published(value: Fraction, decimals: int, rounding: Rounding = Rounding.HALF_UP) -> Published:
    """An exact number as it is printed with ``decimals``."""
    text = decimal_text(value, decimals, rounding)
    return Published(Fraction(text), decimals, text)


def _points(side: SideScore | None, profile: Profile, method: Method) -> Published | None:
    """Board points: whole numbers without decimals, others with two; matchpoints on the profile's scale."""
    if side is None:
        return None
    value = side.points * profile.matchpoint_scale / 2 if method is Method.MATCHPOINTS else side.points
    # Cross-IMPs and factored boards sum to their invariant only when halves go away from zero on both sides.
    return published(value, 0 if value.denominator == 1 else 2, Rounding.HALF_AWAY)


def _line(one: LineScore, board: int, profile: Profile, method: Method) -> ExchangeLine:
    result = one.line.result
    score = plain_score(result, board, one.line.vulnerability)
    line = credited(one.line)
    points = (_points(one.ns, profile, method), _points(one.ew, profile, method))
    return ExchangeLine(line, score, *points, note=line_note(line))


def credited(line: ResultLine) -> ResultLine:
    """The line under the contestants that are ranked: teams whose pairs played, or the last number of a pair."""
    if len(line.ns_players) != 1 or len(line.ew_players) != 1:
        return line
    return replace(line, ns=line.ns_players[0], ew=line.ew_players[0], ns_players=(), ew_players=())


def ranked(entrants: Sequence[Entrant]) -> list[list[Entrant]]:
    """Entrants by winner group: North-South and East-West apart when directions are given, else together.

    Those without a direction, a section with one winner beside one with two, are a group of their own.
    """
    found = {one.direction for one in entrants}
    if not {"NS", "EW"} <= found:
        return [list(entrants)]
    return [
        [one for one in entrants if one.direction == direction] for direction in ("NS", "EW", "") if direction in found
    ]


_SIDES = {"NS": "North-South", "EW": "East-West"}


def rankings(entrants: Sequence[Entrant]) -> list[tuple[str, list[Entrant]]]:
    """Every ranking with its title, "" where it is the only one; sections that were ranked apart are told by their
    places: each has a first one of its own."""
    out = []
    for group in ranked(entrants):
        sections: dict[str, list[Entrant]] = {}
        for one in group:
            sections.setdefault(one.of_section, []).append(one)
        side = _SIDES.get(group[0].direction, "") if group else ""
        if len(sections) > 1 and all(map(_led, sections.values())):
            out += [(f"Section {name} {side}".strip(), own) for name, own in sorted(sections.items())]
        else:
            many = sections.keys() != {one.of_section for one in entrants}
            out.append((side or (f"Section {', '.join(sorted(sections))}" if many else ""), group))
    return out if len(out) > 1 else [("", group) for _, group in out]


def _led(section: Sequence[Entrant]) -> bool:
    """Somebody is first here, and shares that place with nobody of another section."""
    first = [one for one in section if one.place.strip(" =") == "1"]
    return len(first) > 1 or (len(first) == 1 and "=" not in first[0].place)
