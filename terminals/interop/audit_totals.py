"""Totals of a published session as one explanation of it makes them, exact, for the audit to compare. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction

from terminals.interop.audit_explain import Explanation
from terminals.interop.exchange import ExchangeEvent
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant
from terminals.scoring.profile import ImpRanking
from terminals.scoring.session import Totals, session_total


def session_totals(
    event: ExchangeEvent,
    one: Explanation,
    sums: Mapping[Contestant, Totals],
    total_in: str,
    teams: Collection[Contestant],
) -> dict[Contestant, Fraction]:
    """Exact totals of everybody but teams, whose totals come from matches; without adjustments.

    total_in: "percent", "points" or "factored_points", for matchpoints.
    """
    method = event.method
    ranked = {entrant.contestant: (entrant.of_section, entrant.direction) for entrant in event.entrants if one.apart}
    full: dict[tuple[str, str] | None, int] = {}
    for contestant, own in sums.items():
        group = ranked.get(contestant)
        full[group] = max(full.get(group, 0), own.boards)
    scale = Fraction(one.profile.matchpoint_scale, 2)
    computed: dict[Contestant, Fraction] = {}
    for contestant, own in sums.items():
        if contestant in teams:
            continue
        points, top = session_total(own, one.profile)
        boards = full[ranked.get(contestant)]
        if method is Method.MATCHPOINTS:
            if not top:
                continue
            value = points * 100 / top
            if total_in == "points":
                value = points * scale
            elif total_in == "factored_points":
                value = points * scale * boards / own.boards
        elif method is Method.AGGREGATE or one.profile.imp_ranking is ImpRanking.TOTAL:
            value = points
        else:
            value = points / own.boards
            if one.profile.imp_ranking is ImpRanking.FACTORED:
                value *= boards
        computed[contestant] = value
    return computed
