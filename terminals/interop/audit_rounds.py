"""Audit of pairs that play short matches: victory points of every round, and the totals that they sum to.

The boards of a round are scored against the whole field; a pair's round goes by the percentage or by a scale of IMPs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.interop.audit_values import Mismatch, Tolerance, decimals_of
from terminals.interop.exchange import ExchangeEvent, ExchangeMatch, Published
from terminals.scoring.boards import LineScore, Method
from terminals.scoring.lines import Contestant, LineKey, ResultLine
from terminals.scoring.profile import CrossImpMode, Profile, VpScale
from terminals.scoring.rounds import round_scores

Label = Callable[[Contestant], str]
Rounds = dict[tuple[Contestant, int], Fraction]
ROUNDS_UNKNOWN = "totals are victory points of rounds, which the file does not tell apart; they were not checked"
UNKNOWN = "the victory points of the matches follow no scale known here; they were not checked"


@dataclass(slots=True)
class RoundFindings:
    totals: list[Mismatch] = field(default_factory=list)
    checked: int = 0
    changes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def average(profile: Profile) -> Profile:
    """The profile with what victory points of cross-IMPs are made of."""
    return replace(profile, cross_imp_mode=CrossImpMode.AVERAGE)


def without_rounds(event: ExchangeEvent) -> ExchangeEvent:
    """Without the totals of pairs by victory points of rounds, where no field says what a line's round was."""
    if event.matches or not any(one.in_vps for one in event.entrants):
        return event
    entrants = (replace(one, total=None, place="") if one.in_vps else one for one in event.entrants)
    return replace(event, entrants=tuple(entrants))


def audit_rounds(
    event: ExchangeEvent, boards: Sequence[Sequence[LineScore]], profile: Profile, label: Label, *, free: bool
) -> RoundFindings:
    """Compare what the matches of pairs were worth, and the totals of those with a match in every round or with an
    adjustment that says the rest. boards: each board of each field, scored by ``average(profile)``.

    free: any scale may explain the matches.
    """
    out = RoundFindings()
    published = [
        (match, who, number)
        for match in event.matches
        for who, number in ((match.team, match.team_score), (match.opponent, match.opposing_score))
        if number is not None
    ]
    if not published:
        return out
    tolerance = Tolerance(max(2, decimals_of(number for _, _, number in published)))
    tries: list[tuple[str, Rounds, list[Mismatch]]] = []
    for scale in _scales(event.method, profile, free=free):
        try:
            made = _made(event, boards, scale, profile)
        except EntryError:
            continue
        tries.append((str(scale), made, _wrong(published, made, tolerance, label)))
    best = min(tries, key=lambda one: len(one[2])) if tries else None
    if best is None or 2 * len(best[2]) > len(published):
        out.notes.append(UNKNOWN)
        return out
    name, made, wrong = best
    if name != "percent" and name != profile.vp_scale.value:
        out.changes["match_scoring"] = name
    out.checked += len(published)
    out.totals += wrong
    _totals(event, made, label, out)
    return out


def _scales(method: Method, profile: Profile, *, free: bool) -> list[VpScale | str]:
    if method is Method.MATCHPOINTS:
        return ["percent"]
    if method is Method.AGGREGATE:
        return []
    others = [one for one in VpScale if one is not profile.vp_scale] if free else []
    return [profile.vp_scale, *others]


def _made(
    event: ExchangeEvent, boards: Sequence[Sequence[LineScore]], scale: VpScale | str, profile: Profile
) -> Rounds:
    """(pair, round) -> victory points by our own count. Raises EntryError for a length that the scale does not have."""
    numbers: dict[LineKey, int] = {}
    lengths: dict[tuple[str, int], int] = {}
    for match in event.matches:
        for board in match.boards:
            if board.north_south is not None:
                line = board.north_south.line
                numbers[line.key] = match.round
                key = (line.section, match.round)
                lengths[key] = max(lengths.get(key, 0), len(match.boards))

    def round_of(line: ResultLine) -> int:
        return numbers.get(line.key, 0)

    found = round_scores(boards, round_of, lengths, event.method, scale, average(profile))
    return {(one.contestant, one.round): one.vp for one in found if one.vp is not None}


def _wrong(
    published: Sequence[tuple[ExchangeMatch, Contestant, Published]], made: Rounds, tolerance: Tolerance, label: Label
) -> list[Mismatch]:
    out = []
    for match, who, number in published:
        computed = made.get((who, match.round))
        if computed is None or not tolerance.equal(number.value, computed):
            out.append(
                Mismatch(number.value, computed, contestant=label(who), decimals=tolerance.decimals, round=match.round)
            )
    return out


def _totals(event: ExchangeEvent, made: Rounds, label: Label, out: RoundFindings) -> None:
    """Byes are in no file: a pair without a match in some round is checked only where an adjustment says the rest."""
    rounds = {match.round for match in event.matches}
    numbers = [one for one in event.entrants if one.in_vps and one.total is not None]
    tolerance = Tolerance(decimals_of(one.total for one in numbers if one.total is not None))
    for entrant in numbers:
        own = [vp for (who, _), vp in made.items() if who == entrant.contestant]
        if not own or (len(own) != len(rounds) and entrant.adjustment is None):
            continue
        assert entrant.total is not None
        out.checked += 1
        computed = sum(own, Fraction(0))
        if not tolerance.equal_total(entrant.total, computed, entrant.adjustment):
            beside = Fraction(0) if entrant.adjustment is None else entrant.adjustment.value
            out.totals.append(
                Mismatch(
                    entrant.total.value,
                    computed + beside,
                    contestant=label(entrant.contestant),
                    decimals=tolerance.decimals,
                )
            )
