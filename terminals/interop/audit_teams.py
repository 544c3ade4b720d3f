"""The team part of the audit: board points, match results and totals of published team matches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from terminals.interop.audit_values import Mismatch, Tolerance, decimals_of
from terminals.interop.exchange import ExchangeEvent, ExchangeLine, ExchangeMatch
from terminals.scoring.lines import Contestant, ResultLine
from terminals.scoring.profile import Profile, VpScale
from terminals.scoring.teams import MatchScore, TeamBoard, TeamMethod, match_score, team_board
from terminals.scoring.vp import victory_points

Label = Callable[[Contestant], str]


@dataclass(slots=True)
class TeamFindings:
    """What was compared and what differs."""

    points: list[Mismatch] = field(default_factory=list)
    totals: list[Mismatch] = field(default_factory=list)
    points_checked: int = 0
    totals_checked: int = 0
    changes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unknown_scale: bool = False

    @property
    def count(self) -> int:
        """Differences; a scale that is not known counts like one, so that a profile that knows it is preferred."""
        return len(self.points) + len(self.totals) + self.unknown_scale


def audit_matches(
    event: ExchangeEvent,
    states: Mapping[int, ResultLine],
    profile: Profile,
    label: Label,
    *,
    free: bool,
    only: int | None = None,
) -> TeamFindings:
    """Compare board points, match scores and team totals; ``only``: nothing but the points of that board.

    states: id of a line as read -> the line as scored. free: any victory-point scale may explain the match scores.
    """
    out = TeamFindings()
    scale = _board_scale(event)
    scored: list[tuple[ExchangeMatch, MatchScore]] = []
    for match in event.matches:
        held = [one for one in match.boards if only is None or one.board == only]
        boards = [_board(one.north_south, one.east_west, states, profile, event.team_method) for one in held]
        for one, board in zip(held, boards, strict=True):
            if one.points is None or board is None:
                continue
            out.points_checked += 1
            computed = board.home * scale
            if not Tolerance(one.points.decimals).equal(one.points.value, computed):
                out.points.append(
                    Mismatch(
                        one.points.value,
                        computed,
                        one.board,
                        label(match.team),
                        decimals=one.points.decimals,
                        round=match.round,
                    )
                )
        scored.append((match, match_score(boards)))
    if only is not None:
        return out
    results = _match_results(event, scored, profile, label, out, free=free, scale=scale)
    _totals(event, results, label, out)
    return out


def _board(
    first: ExchangeLine | None,
    second: ExchangeLine | None,
    states: Mapping[int, ResultLine],
    profile: Profile,
    method: TeamMethod,
) -> TeamBoard | None:
    if first is None or second is None:
        return None
    return team_board(states.get(id(first), first.line), states.get(id(second), second.line), profile, method)


def _board_scale(event: ExchangeEvent) -> Fraction:
    """Board-a-match points are published as 2/1/0 or as 1/0.5/0: no board above 1 means the latter."""
    if event.team_method is not TeamMethod.BOARD_A_MATCH:
        return Fraction(1)
    values = [one.points.value for match in event.matches for one in match.boards if one.points is not None]
    return Fraction(1, 2) if values and max(values) <= 1 else Fraction(1)


def _match_results(
    event: ExchangeEvent,
    scored: list[tuple[ExchangeMatch, MatchScore]],
    profile: Profile,
    label: Label,
    out: TeamFindings,
    *,
    free: bool,
    scale: Fraction,
) -> dict[tuple[Contestant, int], Fraction]:
    """Compare match scores; returns what each team gets for each round, by our own count where the unit is known."""
    published = [
        (match, score)
        for match, score in scored
        if match.team_score is not None and match.opposing_score is not None and score.boards
    ]
    if not published:
        return {}
    candidates: dict[str, Callable[[MatchScore], tuple[Fraction, Fraction]]] = {}
    unit = event.match_scoring or ("VPS" if event.team_method is TeamMethod.IMPS else "POINTS")
    if unit in ("VPS", "VP"):
        others = [one for one in VpScale if one is not profile.vp_scale] if free else []
        for one in (profile.vp_scale, *others):
            candidates[one.value] = _vp_by(one)
    candidates["sum"] = lambda score: (score.home * scale, score.away * scale)
    if event.team_method is TeamMethod.IMPS:
        candidates["imps_for_and_against"] = _gained
    both = [one for match, _ in published for one in (match.team_score, match.opposing_score)]
    # Scales give exact hundredths: a match score without decimals is whole, not rounded.
    tolerance = Tolerance(max(2, decimals_of(one for one in both if one is not None)))

    def wrong(way: Callable[[MatchScore], tuple[Fraction, Fraction]]) -> list[Mismatch]:
        found = []
        for match, score in published:
            values = way(score)
            pairs = ((match.team, match.team_score, values[0]), (match.opponent, match.opposing_score, values[1]))
            for team, number, computed in pairs:
                if number is not None and not tolerance.equal(number.value, computed):
                    found.append(
                        Mismatch(
                            number.value,
                            computed,
                            contestant=label(team),
                            decimals=tolerance.decimals,
                            round=match.round,
                        )
                    )
        return found

    tried = {name: wrong(way) for name, way in candidates.items()}
    best = min(tried, key=lambda name: len(tried[name]))
    count = 2 * len(published)
    if len(tried[best]) * 2 > count:
        _unknown_scale(published, label, out)
        return {
            key: number.value
            for match, _ in published
            for key, number in (
                ((match.team, match.round), match.team_score),
                ((match.opponent, match.round), match.opposing_score),
            )
            if number is not None
        }
    out.totals_checked += count
    out.totals.extend(tried[best])
    if best != next(iter(candidates)):
        out.changes["match_scoring"] = best
    results: dict[tuple[Contestant, int], Fraction] = {}
    for match, score in published:
        results[match.team, match.round], results[match.opponent, match.round] = candidates[best](score)
    return results


def _vp_by(scale: VpScale) -> Callable[[MatchScore], tuple[Fraction, Fraction]]:
    def convert(score: MatchScore) -> tuple[Fraction, Fraction]:
        size = len(score.boards)
        return victory_points(score.home, size, scale), victory_points(score.away, size, scale)

    return convert


def _gained(score: MatchScore) -> tuple[Fraction, Fraction]:
    """IMPs won on boards gained, for each team: some programs publish 34-12 in place of +22."""
    zero = Fraction(0)
    return (
        sum((board.home for board in score.boards if board.home > 0), zero),
        sum((board.away for board in score.boards if board.away > 0), zero),
    )


def _unknown_scale(published: list[tuple[ExchangeMatch, MatchScore]], label: Label, out: TeamFindings) -> None:
    """A scale that is none of ours: the same margin must still always give the same points, and more never fewer."""
    out.unknown_scale = True
    out.notes.append("the match scores follow no scale known here; only their consistency was checked")
    known: dict[Fraction, tuple[Fraction, ExchangeMatch]] = {}
    for match, score in published:
        assert match.team_score is not None
        assert match.opposing_score is not None
        sides = (
            (score.home, match.team_score.value, match.team),
            (score.away, match.opposing_score.value, match.opponent),
        )
        for margin, points, team in sides:
            out.totals_checked += 1
            first = known.setdefault(margin, (points, match))
            if first[0] != points:
                out.totals.append(
                    Mismatch(points, first[0], contestant=label(team), round=match.round, detail="same margin")
                )
    rows = sorted((margin, points) for margin, (points, _) in known.items())
    for (low, fewer), (high, more) in pairwise(rows):
        if more < fewer:
            out.notes.append(f"a margin of {high} IMPs earns less than a margin of {low}")


def _totals(
    event: ExchangeEvent, results: Mapping[tuple[Contestant, int], Fraction], label: Label, out: TeamFindings
) -> None:
    teams = {contestant for contestant, _ in results}
    numbers = [one for one in event.entrants if one.contestant in teams and one.total is not None]
    tolerance = Tolerance(decimals_of(one.total for one in numbers if one.total is not None))
    for entrant in numbers:
        assert entrant.total is not None
        own = [value for (contestant, _), value in results.items() if contestant == entrant.contestant]
        computed = sum(own, Fraction(0))
        out.totals_checked += 1
        if not tolerance.equal_total(entrant.total, computed, entrant.adjustment):
            out.totals.append(
                Mismatch(
                    entrant.total.value,
                    computed if entrant.adjustment is None else computed + entrant.adjustment.value,
                    contestant=label(entrant.contestant),
                    decimals=tolerance.decimals,
                )
            )
