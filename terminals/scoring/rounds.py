"""Pairs that play short matches: what a round is worth in victory points, from the boards as the field scored them.

By matchpoints a pair's percentage of the round goes by the published bounds, each pair by itself. By cross-IMPs a
board counts the sum over all comparisons divided by the root of their number, ``sqrt(r (r - 1) / 2)`` for r results
(EBU White Book 3.1.3, as quoted), so that the swings are those of a match of two teams; Butler IMPs are taken as they
are. The sum is rounded to whole IMPs once, an exact half away from zero, and goes by a scale of team matches. The
session-percentage rule of Law 12C2(c) looks at the match.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt

from firmware_bridge.errors import EntryError
from terminals.scoring.boards import LineScore, Method, SideScore, artificial_imps
from terminals.scoring.lines import Contestant, ResultLine
from terminals.scoring.profile import CrossImpMode, Profile, VpScale
from terminals.scoring.session import Totals, session_total
from terminals.scoring.swiss import RoundScore
from terminals.scoring.vp import VpTable, percent_vp, victory_points


@dataclass(slots=True)
class _Round:
    totals: Totals = field(default_factory=Totals)
    margin: dict[int, Fraction] = field(default_factory=dict)  # number of results -> sum of averages over comparisons
    flat: Fraction = Fraction(0)  # IMPs that count as they are
    opponents: set[Contestant] = field(default_factory=set)


def round_scores(
    boards: Iterable[Iterable[LineScore]],
    round_of: Callable[[ResultLine], int],
    lengths: Mapping[tuple[str, int], int],
    method: Method,
    scale: VpScale | VpTable | str,
    profile: Profile,
) -> list[RoundScore]:
    """Victory points of every contestant and round. boards: the scores of each board of each field.

    round_of: a line's round, 0 for one that belongs to none (such a line counts for nobody). lengths: (section, round)
    -> boards of a match in it. Raises EntryError for a length without a published scale.
    """
    found: dict[tuple[Contestant, int], _Round] = {}
    sections: dict[tuple[Contestant, int], str] = {}
    for scores in boards:
        held = list(scores)
        counts = _genuine(held)
        for score in held:
            number = round_of(score.line)
            if not number:
                continue
            line = score.line
            for at, (side, own, theirs) in enumerate(
                ((score.ns, line.credited_ns, line.ew), (score.ew, line.credited_ew, line.ns))
            ):
                if side is None:
                    continue
                for contestant in own:
                    one = found.setdefault((contestant, number), _Round())
                    sections[contestant, number] = line.section
                    one.opponents.add(theirs)
                    _add(one, side, counts.get((at, line.form), 0), method, profile)
    out = []
    for (contestant, number), one in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        length = lengths.get((sections[contestant, number], number), one.totals.boards)
        opponent = next(iter(one.opponents)) if len(one.opponents) == 1 else None
        vp = _vp(one, length, method, scale, profile)
        if vp is not None:
            out.append(RoundScore(contestant, number, vp, opponent, boards=one.totals.boards))
    return out


def _genuine(scores: Iterable[LineScore]) -> dict[tuple[int, str], int]:
    """(direction, form of the board) -> how many results were compared with each other in it."""
    out: dict[tuple[int, str], int] = {}
    for one in scores:
        for at, side in enumerate((one.ns, one.ew)):
            if side is not None and side.artificial is None:
                out[at, one.line.form] = out.get((at, one.line.form), 0) + 1
    return out


def _add(one: _Round, side: SideScore, results: int, method: Method, profile: Profile) -> None:
    one.totals.add(side)
    if method is not Method.CROSS_IMPS:
        return
    if side.artificial is not None:
        one.flat += artificial_imps(side.artificial, profile)
        return
    if results < 2:
        return
    if profile.cross_imp_mode is CrossImpMode.TOTAL:
        raise EntryError(
            "Victory points need cross-IMPs on the average.",
            next_step="Take a profile with imps.cross_imp_mode average.",
            code="bad-scheme",
        )
    one.margin[results] = one.margin.get(results, Fraction(0)) + side.points


def _vp(one: _Round, length: int, method: Method, scale: VpScale | VpTable | str, profile: Profile) -> Fraction | None:
    points, top = session_total(one.totals, profile)
    if method is Method.MATCHPOINTS:
        return percent_vp(points * 100 / top, length) if top else None
    if isinstance(scale, str) and not isinstance(scale, VpScale):
        raise EntryError("IMPs have no percentage.", code="bad-scheme")
    if method is Method.CROSS_IMPS:
        margin: Fraction | int = whole_imps(one.margin, one.flat + points - one.totals.points - _artificial(one))
    else:
        margin = points
    return victory_points(margin, length, scale)


def _artificial(one: _Round) -> Fraction:
    """Flat IMPs among the totals' points, which ``flat`` holds already; what is left is the rise of AVE+ (12C2(c))."""
    return sum((score.points for score in one.totals.artificial), Fraction(0))


def whole_imps(averages: Mapping[int, Fraction], flat: Fraction = Fraction(0)) -> int:
    """A round's IMPs by cross-IMPs, in whole IMPs, an exact half away from zero.

    averages: number of results r of a board -> sum over such boards of the average per comparison. Such an average is
    ``S / (r - 1)``; the board counts ``S / sqrt(r (r - 1) / 2)``, which is the average times ``sqrt(2 (r - 1) / r)``.
    """
    rational, parts = flat, []
    for results, total in averages.items():
        factor = Fraction(2 * (results - 1), results)
        roots = isqrt(factor.numerator), isqrt(factor.denominator)
        if roots[0] ** 2 == factor.numerator and roots[1] ** 2 == factor.denominator:
            rational += total * Fraction(*roots)
        elif total:
            parts.append((total, factor))
    if not parts:
        return _away(rational)
    with localcontext() as context:
        context.prec = 80
        value = Decimal(rational.numerator) / Decimal(rational.denominator)
        for total, factor in parts:
            root = (Decimal(factor.numerator) / Decimal(factor.denominator)).sqrt()
            value += Decimal(total.numerator) / Decimal(total.denominator) * root
        # A root that is no fraction never gives an exact half, so 80 digits decide on which side of it the sum lies.
        return _away(Fraction(value))


def _away(value: Fraction) -> int:
    whole = (abs(value) * 2 + 1) // 2
    return int(whole) if value >= 0 else -int(whole)
