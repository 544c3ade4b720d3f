"""From the current results of an event to its rankings, by the event's own conditions: pairs and individuals over a
field, matches of teams, rounds in victory points. Pure.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.movement.state import Plan
from terminals.movement.swiss import SWISS_PAIRS
from terminals.result import NotPlayed, NotPlayedReason
from terminals.scoring.boards import LineScore, Method
from terminals.scoring.lines import PenaltyUnit, ResultLine, SessionAdjustment, WinnerGroup
from terminals.scoring.profile import PLAIN, CrossImpMode
from terminals.scoring.ranking import RankRow
from terminals.scoring.rounds import round_scores
from terminals.scoring.scheme import Scheme
from terminals.scoring.session import SessionScore, score_session
from terminals.scoring.swiss import RoundScore, standings
from terminals.scoring.teams import TeamMethod
from terminals.scoring.vp import percent_vp
from terminals.store.results import CurrentResult
from terminals.sync import ruling_log
from terminals.sync.conditions import Conditions
from terminals.sync.matches import (
    TeamMatch,
    awarded,
    bye_rounds,
    has_matches,
    match_lines,
    match_rounds,
    team_matches,
)
from terminals.sync.sense import movement_numbers
from terminals.sync.setup import EventSetup
from terminals.sync.tables import ScoringInput, scoring_input

PERCENT, IMPS, POINTS, VPS = "percent", "imps", "points", "vps"
_UNITS = {Method.MATCHPOINTS: PERCENT, Method.AGGREGATE: POINTS}


@dataclass(frozen=True, slots=True)
class EventScore(SessionScore):
    """A scored event. units: of each ranking, in what its values are. matches: of team sections. rounds: what each
    contestant made in each match or round, where the ranking is by rounds (byes have a number below 0)."""

    units: tuple[str, ...] = ()
    matches: tuple[TeamMatch, ...] = ()
    rounds: tuple[RoundScore, ...] = ()


def score_event(setup: EventSetup, rows: Iterable[CurrentResult], conditions: Conditions) -> EventScore:
    """The event scored as it stands. Raises EntryError for what can't be scored, naming board or contestant."""
    return score_input(setup, scoring_input(setup, rows, dict(conditions.plans)), conditions)


def score_input(setup: EventSetup, data: ScoringInput, conditions: Conditions) -> EventScore:
    """The same from lines that are there already."""
    lines = lines_of(data, conditions)
    teams = team_sections(setup, conditions.scheme)
    if teams or by_rounds(setup, conditions):
        return _by_matches(setup, data, lines, teams, conditions)
    session = score_session(
        lines,
        fields=data.fields,
        groups=data.groups,
        profile=conditions.profile,
        method=conditions.scheme.method,
        adjustments=conditions.adjustments,
    )
    return of_session(session, conditions)


def lines_of(data: ScoringInput, conditions: Conditions) -> list[ResultLine]:
    """The lines that are scored: with their forms, and without those of sections that have no movement yet.

    Results of who withdrew so that they are cancelled count as not played.
    """
    planned = {one.section for one in data.lines if any(field.holds(one.section) for field in data.fields)}
    lines = [_cancelled(line, conditions.plans) for line in data.lines if line.section in planned]
    return ruling_log.with_forms(lines, ruling_log.forms(conditions.kept))


def _cancelled(line: ResultLine, plans: Mapping[str, Plan]) -> ResultLine:
    plan = plans.get(line.section)
    if plan is None or not plan.cancelled:
        return line
    numbers = {one if plan.actual.teams else plan.last_number(one) for one in plan.cancelled}
    teams = {pair: team.number for team in plan.actual.teams for pair in team.pairs}
    for one in (*line.credited_ns, *line.credited_ew):
        # multiple teams are credited by their own number, matches by that of the pair
        number = one.number if line.ns_players else teams.get(one.number, one.number)
        if number in numbers:
            return replace(line, result=NotPlayed(NotPlayedReason.WITHDRAWN))
    return line


def of_session(session: SessionScore, conditions: Conditions) -> EventScore:
    """The score of a field as that of an event."""
    if conditions.scheme.carried:
        raise EntryError(
            "Only victory points and matches can have something carried over.",
            next_step="Take a scale of victory points, or carry nothing over.",
            code="bad-scheme",
        )
    units = (_UNITS.get(conditions.scheme.method, IMPS),) * len(session.rankings)
    return EventScore(session.rankings, session.boards, session.unranked, units)


def team_sections(setup: EventSetup, scheme: Scheme) -> frozenset[str]:
    """Letters of the sections that are ranked by matches of two teams."""
    if scheme.team_method is None:
        return frozenset()
    return frozenset(one.letter for one in setup.sections if has_matches(one.movement))


def by_rounds(setup: EventSetup, conditions: Conditions) -> bool:
    """True when pairs are ranked by victory points of their rounds. Raises EntryError for a scale that does not fit."""
    return conditions.scheme.round_scale(conditions.profile, swiss=_swiss(setup)) is not None


def check_scale(setup: EventSetup, scheme: Scheme) -> None:
    """Refuse rounds of Swiss pairs whose length no scale of victory points by percentages covers, before anybody plays.

    Raises EntryError; the ranking could not be worked out once the first result is in.
    """
    swiss = _swiss_sections(setup)
    if swiss and scheme.round_scale(PLAIN, swiss=True) == "percent":
        for length in sorted({boards for (letter, _), boards in _lengths(setup).items() if letter in swiss}):
            percent_vp(Fraction(50), length)


def _swiss(setup: EventSetup) -> bool:
    return bool(_swiss_sections(setup))


def _swiss_sections(setup: EventSetup) -> frozenset[str]:
    return frozenset(
        one.letter for one in setup.sections if one.movement is not None and one.movement.kind == SWISS_PAIRS
    )


def _by_matches(
    setup: EventSetup,
    data: ScoringInput,
    lines: Sequence[ResultLine],
    teams: frozenset[str],
    conditions: Conditions,
) -> EventScore:
    scheme, profile = conditions.scheme, conditions.profile
    of_pairs = [group for group in data.groups if not _in(group, teams)]
    scale = scheme.round_scale(profile, swiss=_swiss(setup)) if of_pairs else None
    by_round = frozenset[str]()
    if scale is not None:  # the profile's scale is for Swiss pairs only; one that the director chose is for every pair
        everybody = frozenset(one.letter for one in setup.sections) - teams
        by_round = _swiss_sections(setup) if scheme.scale == "profile" else everybody
    whole = [group for group in of_pairs if not _in(group, by_round)]
    played = [line for line in lines if line.section not in teams]
    session = score_session(
        played,
        fields=data.fields,
        groups=whole,
        profile=profile,
        method=scheme.method,
        adjustments=[one for one in conditions.adjustments if any(one.contestant in g.contestants for g in whole)],
    )
    boards: dict[tuple[int, int], Sequence[LineScore]] = dict(session.boards)
    rounds: list[RoundScore] = []
    if scale is not None:
        average = replace(profile, cross_imp_mode=CrossImpMode.AVERAGE)  # what victory points of cross-IMPs are made of
        if profile != average:
            other = score_session(played, fields=data.fields, groups=[], profile=average, method=scheme.method).boards
            for place, scored in session.boards.items():
                pairs = zip(other[place], scored, strict=True)
                boards[place] = [one if one.line.section in by_round else total for one, total in pairs]
        where = round_of(setup, by_round)
        rounds += round_scores(boards.values(), where, _lengths(setup), scheme.method, scale, average)
    matches: list[TeamMatch] = []
    for at, section in enumerate(setup.sections):
        if section.movement is None:
            continue
        of_teams = section.letter in teams
        if of_teams:
            own = [line for line in lines if line.section == section.letter]
            made = team_matches(section.letter, section.movement, own, profile, scheme)
            matches += made
            rounds += match_rounds(made)
            boards |= {(len(data.fields) + at, board): scored for board, scored in match_lines(made).items()}
        if scheme.match_scale(profile) is not None if of_teams else section.letter in by_round:
            rounds += bye_rounds(section.letter, section.movement)
    rounds = awarded(rounds, ruling_log.awards(conditions.kept))
    rankings: list[list[RankRow]] = []
    units: list[str] = []
    plain = iter(session.rankings)
    for group in data.groups:
        if group in whole:
            rankings.append(next(plain))
            units.append(_UNITS.get(scheme.method, IMPS))
            continue
        unit = _unit(_in(group, teams), conditions)
        rankings.append(_standing(group, rounds, unit, conditions))
        units.append(unit)
    return EventScore(rankings, boards, session.unranked, tuple(units), tuple(matches), tuple(rounds))


def _in(group: WinnerGroup, letters: frozenset[str]) -> bool:
    return any(one.section in letters for one in group.contestants)


def _unit(teams: bool, conditions: Conditions) -> str:
    if not teams or conditions.scheme.match_scale(conditions.profile) is not None:
        return VPS
    return IMPS if conditions.scheme.team_method is TeamMethod.IMPS else POINTS


def _standing(group: WinnerGroup, rounds: Sequence[RoundScore], unit: str, conditions: Conditions) -> list[RankRow]:
    """One ranking by rounds. Penalties, awards and what is carried over are in its unit."""
    members = set(group.contestants)
    changes = []
    for one in conditions.adjustments:
        if one.contestant in members:
            if one.unit != PenaltyUnit(unit):
                raise EntryError(
                    f"A penalty in {one.unit} for {one.contestant} does not fit a ranking by {unit}.",
                    next_step="Give the penalty in the unit of the ranking (Law 90).",
                    code="bad-penalty",
                )
            changes.append(SessionAdjustment(one.contestant, one.amount, PenaltyUnit.VPS, one.reason, one.law))
    own = [one for one in rounds if one.contestant in members]
    carried = {one: value for one, value in conditions.scheme.carried.items() if one in members}
    (rows,) = standings(own, [group], conditions.profile, carried=carried, adjustments=changes)
    return rows


def round_of(setup: EventSetup, sections: Collection[str]) -> Callable[[ResultLine], int]:
    """A line's round in these sections; 0 in others, whose results are compared with them all the same."""
    places = {
        one.letter: movement_numbers(one.movement).meetings
        for one in setup.sections
        if one.movement is not None and one.letter in sections
    }

    def place(line: ResultLine) -> int:
        found = places.get(line.section, {}).get((line.board, line.ns.number, line.ew.number))
        return 0 if found is None else found[0]

    return place


def _lengths(setup: EventSetup) -> dict[tuple[str, int], int]:
    """(section, round) -> boards of a match in that round."""
    out: dict[tuple[str, int], int] = {}
    for section in setup.sections:
        for seating in section.movement.seatings if section.movement is not None else ():
            key = (section.letter, seating.round)
            out[key] = max(out.get(key, 0), len(seating.boards))
    return out
