"""One board of one field: every line's score in both directions, by any pairs method.

Matchpoints by forms of a fouled board (Law 87), artificial scores at their flat value (Law 12C2; the session-percentage
rule needs the whole session and is applied in ``session``). Pure functions, exact.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.result import Average, FixedPercent
from terminals.scoring.imps import butler, butler_datum, cross_imps
from terminals.scoring.lines import ResultLine
from terminals.scoring.matchpoints import Unequal, Weighted, factor, raw_matchpoints
from terminals.scoring.profile import CrossImpMode, Profile, SingleScore, SmallGroups
from terminals.scoring.rounding import round_around
from terminals.scoring.sides import SideValue, line_sides


class Method(StrEnum):
    """How boards of a pairs or individual event are scored."""

    MATCHPOINTS = "matchpoints"
    BUTLER = "butler"
    CROSS_IMPS = "cross_imps"
    AGGREGATE = "aggregate"


@dataclass(frozen=True, slots=True)
class SideScore:
    """One side's score on one board.

    points: exact; matchpoints on the scale 2/1/0, else IMPs or total points. top: 2(E-1) for matchpoints, 0 for other
    methods. artificial: set when the score is artificial, with its flat value in ``points``.
    """

    points: Fraction
    top: int
    artificial: Average | FixedPercent | None = None

    @property
    def percent(self) -> Fraction | None:
        return self.points * 100 / self.top if self.top else None


@dataclass(frozen=True, slots=True)
class LineScore:
    """A line and what each side gets for it; None where the line gives that side no score."""

    line: ResultLine
    ns: SideScore | None
    ew: SideScore | None


def artificial_percent(value: Average | FixedPercent, profile: Profile) -> Fraction:
    """Flat percentage of an artificial score (Law 12C2(a))."""
    if isinstance(value, FixedPercent):
        return value.percent
    return {
        Average.PLUS: profile.average_plus,
        Average.EVEN: profile.average,
        Average.MINUS: profile.average_minus,
    }[value]


def artificial_imps(value: Average | FixedPercent, profile: Profile) -> Fraction:
    """Flat IMPs of an artificial score (Law 12C2(b), 86A).

    A percentage has an equivalent when the ruling gives one, or when it is that of an average. Raises EntryError.
    """
    if isinstance(value, FixedPercent):
        if value.imps is not None:
            return value.imps
        averages = {
            profile.average_plus: Average.PLUS,
            profile.average: Average.EVEN,
            profile.average_minus: Average.MINUS,
        }
        found = averages.get(value.percent)
        if found is None:
            raise EntryError(
                f"An artificial score of {float(value.percent):g}% has no fixed value in IMPs.",
                next_step="Say in the ruling how many IMPs it is worth: 55% +1 IMP/45% -1 IMP.",
                code="no-imp-equivalent",
            )
        value = found
    return {
        Average.PLUS: profile.average_plus_imps,
        Average.EVEN: Fraction(0),
        Average.MINUS: profile.average_minus_imps,
    }[value]


def score_lines(lines: Sequence[ResultLine], expected: int, profile: Profile, method: Method) -> list[LineScore]:
    """All lines of one board of one field by ``method``, in the order of ``lines``. Raises EntryError."""
    if method is Method.MATCHPOINTS:
        return matchpoint_board(lines, expected, profile)
    if len(lines) > expected:
        _refuse_too_many(lines, expected)
    sides = [line_sides(line) for line in lines]
    forms = [line.form for line in lines]
    if method is Method.AGGREGATE:
        ns, ew = ([_aggregate(side[number]) for side in sides] for number in (0, 1))
    else:
        ns, ew = (_imp_direction([side[n] for side in sides], forms, expected, profile, method) for n in (0, 1))
    return list(map(LineScore, lines, ns, ew))


def _refuse_too_many(lines: Sequence[ResultLine], expected: int) -> None:
    """Refuse more genuine scores than expected, with the words that matchpoints use. Raises EntryError."""
    for number in (0, 1):
        factor(
            [Fraction(0) if isinstance(line_sides(line)[number], tuple) else None for line in lines],
            expected,
        )


def _aggregate(value: SideValue) -> SideScore | None:
    if value is None:
        return None
    if not isinstance(value, tuple):
        raise EntryError(
            "An artificial score has no value in total points.",
            next_step="Assign a score in points (Law 12C1), or mark the board as not played.",
            code="no-points-equivalent",
        )
    return SideScore(sum((weight * score for score, weight in value), Fraction(0)), 0)


def _imp_direction(
    values: list[SideValue], forms: list[str], expected: int, profile: Profile, method: Method
) -> list[SideScore | None]:
    """Butler or cross-IMPs of one direction; a form of a fouled board is a group of its own (Law 87B)."""
    factor_to = max(1, expected - 1) if method is Method.CROSS_IMPS and _is_total(profile) else 1
    out: list[SideScore | None] = [None] * len(values)
    for name in sorted(set(forms)):
        members = [index for index, form in enumerate(forms) if form == name]
        group: list[Weighted | None] = []
        for index in members:
            value = values[index]
            group.append(value if isinstance(value, tuple) else None)
        alone = len(set(forms)) > 1 and sum(value is not None for value in group) == 1
        if alone and profile.single_score is not SingleScore.FACTORED:
            average = Average.PLUS if profile.single_score is SingleScore.AVERAGE_PLUS else Average.EVEN
            for index, value in zip(members, group, strict=True):
                if value is not None:
                    out[index] = SideScore(artificial_imps(average, profile) * factor_to, 0, average)
            continue
        if method is Method.BUTLER:
            datum = butler_datum(
                group,
                datum=profile.butler_datum,
                drop=profile.butler_drop,
                drop_min=profile.butler_drop_min,
                unit=profile.butler_unit,
            )
            points = butler(group, datum)
        else:
            points = cross_imps(group)
        for index, point in zip(members, points, strict=True):
            if point is not None:
                out[index] = SideScore(point * factor_to, 0)
    for index, value in enumerate(values):
        if isinstance(value, (Average, FixedPercent)):
            out[index] = SideScore(artificial_imps(value, profile) * factor_to, 0, value)
    return out


def _is_total(profile: Profile) -> bool:
    return profile.cross_imp_mode is CrossImpMode.TOTAL


def matchpoint_board(lines: Sequence[ResultLine], expected: int, profile: Profile) -> list[LineScore]:
    """Matchpoints of a board, in the order of ``lines``; ``expected`` is E of the field. Raises EntryError."""
    sides = [line_sides(line) for line in lines]
    forms = [line.form for line in lines]
    ns = _direction([side[0] for side in sides], forms, expected, profile)
    ew = _direction([side[1] for side in sides], forms, expected, profile)
    return list(map(LineScore, lines, ns, ew))


def _direction(values: list[SideValue], forms: list[str], expected: int, profile: Profile) -> list[SideScore | None]:
    genuine: list[Weighted | None] = [value if isinstance(value, tuple) else None for value in values]
    if profile.unequal is Unequal.OWN_TOP:
        expected = _own_count(genuine, expected)
    elif not profile.factor_artificial:
        expected = max(1, expected - sum(isinstance(value, (Average, FixedPercent)) for value in values))
    top = 2 * (expected - 1)
    out: list[SideScore | None] = [None] * len(values)
    names = set(forms)
    if len(names) <= 1:
        _score_group(genuine, range(len(values)), expected, profile, False, out)
    else:
        for name in names:
            members = [index for index, form in enumerate(forms) if form == name]
            _score_group([genuine[index] for index in members], members, expected, profile, True, out)
    for index, value in enumerate(values):
        if isinstance(value, (Average, FixedPercent)):
            out[index] = SideScore(artificial_percent(value, profile) * top / 100, top, value)
    return out


def _own_count(genuine: Sequence[Weighted | None], expected: int) -> int:
    """Number of genuine scores in place of E, refused like any other when it is above E."""
    factor([None if value is None else Fraction(0) for value in genuine], expected)
    return max(1, sum(1 for value in genuine if value is not None))


def _score_group(
    values: Sequence[Weighted | None],
    places: Sequence[int],
    expected: int,
    profile: Profile,
    fouled: bool,
    out: list[SideScore | None],
) -> None:
    """Score the lines of one form and put them at their ``places`` in ``out``."""
    raw = raw_matchpoints(values)
    scores = sum(1 for value in raw if value is not None)
    if profile.unequal is Unequal.OWN_TOP:
        expected = max(1, scores)
    top = 2 * (expected - 1)
    if fouled and scores == 1 and profile.single_score is not SingleScore.FACTORED:
        average = Average.PLUS if profile.single_score is SingleScore.AVERAGE_PLUS else Average.EVEN
        fixed = SideScore(artificial_percent(average, profile) * top / 100, top, average)
        for place, value in zip(places, raw, strict=True):
            if value is not None:
                out[place] = fixed
        return
    if (
        fouled
        and profile.small_groups is SmallGroups.FIXED_PERCENT
        and 2 <= scores <= profile.small_group_max
        and expected >= profile.small_group_field * scores
    ):
        points = [None if value is None else (value - (scores - 1) + 12) * (expected - 1) / 10 for value in raw]
    else:
        points = factor(raw, expected, profile.unequal)
        if profile.board_unit is not None and scores != expected:
            centre = Fraction(expected - 1)
            unit, away = profile.board_unit, profile.board_half_away
            points = [None if value is None else round_around(value, centre, unit, away=away) for value in points]
    shared: dict[int, SideScore] = {}
    for place, value in zip(places, points, strict=True):
        if value is not None:
            found = shared.get(id(value))
            if found is None:
                found = shared[id(value)] = SideScore(value, top)
            out[place] = found
