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
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.scoring.boards import LineScore, Method, SideScore
from terminals.scoring.imps import cross_imps_for_vp
from terminals.scoring.lines import Contestant, ResultLine
from terminals.scoring.profile import CrossImpMode, Profile, VpScale
from terminals.scoring.session import Totals, session_total
from terminals.scoring.swiss import RoundScore
from terminals.scoring.vp import VpTable, percent_vp, victory_points


@dataclass(slots=True)
class _Round:
    totals: Totals = field(default_factory=Totals)
    sums: dict[int, Fraction] = field(default_factory=dict)  # number of results of a board -> sum over comparisons
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
    if side.artificial is not None or results < 2:
        return
    if profile.cross_imp_mode is CrossImpMode.TOTAL:
        raise EntryError(
            "Victory points need cross-IMPs on the average.",
            next_step="Take a profile with imps.cross_imp_mode average.",
            code="bad-scheme",
        )
    one.sums[results] = one.sums.get(results, Fraction(0)) + side.points * (results - 1)


def _vp(one: _Round, length: int, method: Method, scale: VpScale | VpTable | str, profile: Profile) -> Fraction | None:
    points, top = session_total(one.totals, profile)
    if method is Method.MATCHPOINTS:
        return percent_vp(points * 100 / top, length) if top else None
    if isinstance(scale, str) and not isinstance(scale, VpScale):
        raise EntryError("IMPs have no percentage.", code="bad-scheme")
    if method is Method.CROSS_IMPS:
        # Artificial scores count as they are: like a sum over the one comparison of two results.
        flat = points - one.totals.points
        sums = [(total, results) for results, total in sorted(one.sums.items())]
        margin: Fraction | int = cross_imps_for_vp([*sums, (flat, 2)])
    else:
        margin = points
    return victory_points(margin, length, scale)
