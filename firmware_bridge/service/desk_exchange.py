"""The running event as files of other programs carry it: results with their rulings, rankings, matches of teams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from firmware_bridge.config import load_config
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.recorded_files import told_by_line
from terminals.interop.adjusted_note import line_note, plain_score
from terminals.interop.exchange import (
    Entrant,
    EventKind,
    ExchangeEvent,
    ExchangeLine,
    ExchangeMatch,
    ExchangePlayer,
    MatchBoard,
    Published,
)
from terminals.interop.pair_rounds import beside as left_over
from terminals.interop.pair_rounds import with_rounds
from terminals.interop.publish import PROGRAM, EventInfo, publish_session
from terminals.interop.rulings_file import noted
from terminals.interop.team_event import shown
from terminals.movement.model import Format
from terminals.scoring.lines import Contestant, LineKey, ResultLine
from terminals.scoring.ranking import RankRow
from terminals.scoring.rulings import Ruling
from terminals.scoring.teams import TeamMethod
from terminals.store.desk import Person
from terminals.sync.event_score import IMPS, VPS, EventScore, round_of
from terminals.sync.matches import TeamMatch
from terminals.sync.ruling_log import Kept, line_key
from terminals.table_record import Recorded

PLAYER_SEATS = ("1", "2")
"""Where a pair's players are kept; a team's own name and its reserves have other seats."""


def exchange_events(desk: Desk) -> tuple[ExchangeEvent, ...]:
    """The event with everything that was published of it, also what rulings say, in the notes of their lines.

    One value for each kind of section: matches of teams, pairs, individuals. Several say in their titles which they
    are, and name a section with every number. The club is the one that config.toml names. Raises ConfigError when that
    file can't be read.
    """
    score, kept = desk.score(), desk.facts.decided.kept
    kinds = _kinds(desk, score)
    found = sorted(set(kinds.values()), key=list(EventKind).index)
    events = []
    for kind in found or [EventKind.PAIRS]:
        letters = frozenset(letter for letter, one in kinds.items() if one is kind)
        part = score if len(found) < 2 else _part(score, letters)
        if kind is EventKind.TEAMS:
            event = _teams(desk, part, kept.values(), beside=len(found) > 1)
        else:
            event = _field(desk, part, kept.values(), kind)
        if len(found) > 1:
            sections = f"section{'s' if len(letters) > 1 else ''} {', '.join(sorted(letters))}"
            event = replace(event, title=f"{desk.setup.name} ({kind}, {sections})")
        events.append(event)
    club = load_config(desk.directory).club
    return tuple(replace(event, club=club) for event in events)


def _kinds(desk: Desk, score: EventScore) -> dict[str, EventKind]:
    """What plays in each section that has a movement."""
    matched = {match.section for match in score.matches}
    out = {}
    for one in desk.setup.sections:
        if one.letter in matched:
            out[one.letter] = EventKind.TEAMS
        elif one.movement is not None:
            individual = one.movement.format is Format.INDIVIDUAL
            out[one.letter] = EventKind.INDIVIDUAL if individual else EventKind.PAIRS
    return out


def _part(score: EventScore, letters: frozenset[str]) -> EventScore:
    """Some sections of a scored event."""
    rankings, units = [], []
    for rows, unit in zip(score.rankings, score.units, strict=True):
        own = [row for row in rows if row.contestant.section in letters]
        if own or not rows:
            rankings.append(own)
            units.append(unit)
    boards = {place: [one for one in lines if one.line.section in letters] for place, lines in score.boards.items()}
    return replace(
        score,
        rankings=rankings,
        units=tuple(units),
        boards={place: lines for place, lines in boards.items() if lines},
        unranked=tuple(one for one in score.unranked if one.section in letters),
        matches=tuple(match for match in score.matches if match.section in letters),
    )


def _field(desk: Desk, score: EventScore, kept: Iterable[Kept], kind: EventKind) -> ExchangeEvent:
    """One field or several: one line for every play."""
    players: dict[Contestant, tuple[ExchangePlayer, ...]] = {}
    for (section, pair, seat), person in sorted(desk.people.items()):
        if person.name and seat in PLAYER_SEATS:
            who = Contestant(section, pair)
            players[who] = (*players.get(who, ()), ExchangePlayer(person.name, person.number))
    directions = {
        Contestant(section.letter, pair): group.name
        for section in desk.setup.sections
        if section.movement is not None and section.movement.winners == 2
        for group in section.movement.groups
        for pair in group.contestants
        if group.name in ("NS", "EW")
    }
    told = told_by_line(desk)
    info = EventInfo(
        desk.setup.name, desk.wall()[:10], players=players, directions=directions, kind=kind, recorded=told
    )
    event = publish_session(info, score, desk.profile, desk.facts.method)
    event = noted(event, _rulings(kept))
    rows = [row for rows, unit in zip(score.rankings, score.units, strict=True) if unit == VPS for row in rows]
    if not rows:
        return event
    return with_rounds(event, score, rows, score.rounds, round_of(desk.setup, {row.contestant.section for row in rows}))


def _rulings(kept: Iterable[Kept]) -> list[Ruling]:
    """The rulings that count, one for each line that they are about."""
    out = []
    for one in kept:
        if one.counts and one.ruling.line is not None:
            out.append(one.ruling)
        if one.counts:
            out += [replace(one.ruling, line=line_key(play), form=form) for play, form in one.forms.items()]
    return out


def _teams(desk: Desk, score: EventScore, kept: Iterable[Kept], *, beside: bool) -> ExchangeEvent:
    """Matches with both rooms of every board. A line is of two teams; its play is the number of the match.

    beside: sections of another kind are in the same event.
    """
    notes: dict[LineKey, str] = {}
    told = told_by_line(desk)
    for one in _rulings(kept):
        words = f"Law {one.law}: {one.reason} ({one.ruled_by})."
        assert one.line is not None
        notes[one.line] = f"{notes.get(one.line, '')} {words}".strip()
    several = len({match.section for match in score.matches}) > 1
    many = several or beside
    matches, lines = [], []
    for match in score.matches:
        made, held = _match(match, notes, told, many)
        lines += held
        if made.boards:
            matches.append(made)
    units = set(score.units)
    method = desk.conditions.scheme.team_method or TeamMethod.IMPS
    rows = [row for rows in score.rankings for row in rows]
    rest = left_over(matches, {_who(row.contestant, many): row.value for row in rows})
    return ExchangeEvent(
        title=desk.setup.name,
        date=desk.wall()[:10],
        program=PROGRAM,
        kind=EventKind.TEAMS,
        team_method=method,
        match_scoring="VPS" if VPS in units else "IMPS" if IMPS in units else "",
        entrants=tuple(_team(desk, row, many, several, rest) for row in rows),
        lines=tuple(lines),
        matches=tuple(matches),
    )


def _who(one: Contestant, many: bool) -> Contestant:
    return one if many else Contestant("", one.number)


def _match(
    match: TeamMatch, notes: Mapping[LineKey, str], told: Mapping[LineKey, Recorded], many: bool
) -> tuple[ExchangeMatch, list[ExchangeLine]]:
    home, away = _who(match.home, many), _who(match.away, many)
    points = {board.board: board for board in match.boards}
    lines: list[ExchangeLine] = []
    boards = []
    for board, rooms in match.rooms.items():
        pair: list[ExchangeLine | None] = []
        for line, ns, ew in ((rooms[0], home, away), (rooms[1], away, home)):
            if line is None:
                pair.append(None)
                continue
            own = ResultLine(
                board, ns, ew, line.result, match.section if many else "", line.form, line.vulnerability, match.number
            )
            pair.append(
                ExchangeLine(
                    own,
                    plain_score(line.result, board, line.vulnerability),
                    note=_note(own, notes.get(line.key, "")),
                    recorded=told.get(line.key),
                )
            )
        lines += [one for one in pair if one is not None]
        scored = points.get(board)
        if scored is not None or pair != [None, None]:  # one room's result is a result, also before the other is in
            boards.append(MatchBoard(board, pair[0], pair[1], None if scored is None else shown(scored.home)))
    ours, theirs = _scores(match)
    return ExchangeMatch(match.number, home, away, tuple(boards), ours, theirs), lines


def _scores(match: TeamMatch) -> tuple[Published | None, Published | None]:
    score = match.score
    if score is None:
        return None, None
    pair = (score.home_vp, score.away_vp)
    home, away = (score.home if pair[0] is None else pair[0]), (score.away if pair[1] is None else pair[1])
    return shown(home), shown(away)


def _note(line: ResultLine, ruled: str) -> str:
    """What formats have no field for, and what was ruled."""
    return " ".join(filter(None, (line_note(line), ruled)))


def _team(desk: Desk, row: RankRow, many: bool, lettered: bool, rest: Mapping[Contestant, Fraction]) -> Entrant:
    """A ranked team. What its total has beside its matches, penalties, byes and the like, stands as its adjustment."""
    one = row.contestant
    left = rest[_who(one, many)]
    people: list[Person] = []
    section = desk.setup.section_called(one.section)
    movement = None if section is None else section.movement
    team = None if movement is None else next((t for t in movement.teams if t.number == one.number), None)
    for pair in team.pairs if team is not None else ():
        found = (desk.people.get((one.section, pair, seat)) for seat in ("1", "2"))
        people += [person for person in found if person is not None and person.name]
    return Entrant(
        _who(one, many),
        f"{one.section if lettered else ''}{one.number}",
        tuple(ExchangePlayer(person.name, person.number) for person in people),
        section=one.section if many else "",
        total=shown(row.value),
        place=row.place_text,
        boards=row.boards,
        adjustment=shown(left) if left else None,
        name=desk.contestant_names(one.section, one.number) or f"Team {one.number}",
    )
