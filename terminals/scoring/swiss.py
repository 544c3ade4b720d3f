"""Events of several matches: victory points added up, byes, short matches, mismatches, carry-over.

Where a formula is a federation's regulation the docstring says so; all of them are Law 78D, none is a Law.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.scoring.lines import Contestant, PenaltyUnit, SessionAdjustment, WinnerGroup
from terminals.scoring.profile import Profile
from terminals.scoring.ranking import RankRow
from terminals.scoring.rounding import decimal_text
from terminals.scoring.session import place_rows


class RoundKind(StrEnum):
    PLAYED = "played"
    BYE = "bye"
    AWARDED = "awarded"  # victory points given by the director


@dataclass(frozen=True, slots=True)
class RoundScore:
    """What one contestant got in one round.

    vp: exact, None for a bye (it gets what the profile says). boards: boards of the match.
    """

    contestant: Contestant
    round: int
    vp: Fraction | None
    opponent: Contestant | None = None
    kind: RoundKind = RoundKind.PLAYED
    boards: int = 0


def standings(
    rounds: Sequence[RoundScore],
    groups: Sequence[WinnerGroup],
    profile: Profile,
    *,
    carried: Mapping[Contestant, Fraction] | None = None,
    adjustments: Sequence[SessionAdjustment] = (),
    decimals: int = 2,
) -> list[list[RankRow]]:
    """Rank by victory points: rounds, byes, carry-over and penalties (in ``vps``). Raises EntryError.

    A contestant with two scores in one round is refused. Everybody of a group is ranked, without a round with 0.
    """
    totals: dict[Contestant, Fraction] = dict(carried or {})
    boards: dict[Contestant, int] = {}
    seen: set[tuple[Contestant, int]] = set()
    for one in rounds:
        if (one.contestant, one.round) in seen:
            raise EntryError(
                f"{one.contestant} has two scores in round {one.round}.", where=f"round {one.round}", code="bad-round"
            )
        seen.add((one.contestant, one.round))
        if one.kind is RoundKind.BYE:
            points = profile.bye_vp
        elif one.vp is None:
            raise EntryError(f"{one.contestant} has no score in round {one.round}.", code="bad-round")
        else:
            points = one.vp
        totals[one.contestant] = totals.get(one.contestant, Fraction(0)) + points
        boards[one.contestant] = boards.get(one.contestant, 0) + one.boards
    changes: dict[Contestant, Fraction] = {}
    for adjustment in adjustments:
        if adjustment.unit is not PenaltyUnit.VPS:
            raise EntryError(
                f"A penalty in {adjustment.unit} does not fit an event ranked by victory points.", code="bad-penalty"
            )
        changes[adjustment.contestant] = changes.get(adjustment.contestant, Fraction(0)) + adjustment.amount
    out = []
    for group in groups:
        rows = []
        for contestant in group.contestants:
            points, change = totals.get(contestant, Fraction(0)), changes.get(contestant, Fraction(0))
            value = points + change
            text = decimal_text(value, decimals, profile.rounding)
            count = boards.get(contestant, 0)
            rows.append(RankRow(0, False, contestant, value, text, points, Fraction(0), count, change))
        out.append(place_rows(rows, profile, decimals))
    return out


def cancels(after: int, scheduled: int) -> bool:
    """Whether results of who leaves after round ``after`` of ``scheduled`` are cancelled (EBU White Book 2.4.2-4, as
    quoted): before half of the rounds they are, for both sides; later they stand. Raises EntryError.
    """
    if not 0 <= after <= scheduled or scheduled < 1:
        raise EntryError(f"Round {after} of {scheduled} can't be.", code="bad-round")
    return 2 * after < scheduled


def carry_over(
    scored: Fraction, *, length_before: int, maximum_before: Fraction, length_after: int, maximum_after: Fraction
) -> Fraction:
    """Carry-over from a qualifying stage, ``1/2 S (N_Q / M_Q) (M_F / N_F)`` (EBU White Book 3.8).

    scored: S, what the contestant scored in the stage. N: length of each stage, M: its maximum, as the regulation of
    the event counts them (both stages in the same unit). Raises EntryError for a stage without length or maximum.
    """
    if min(length_before, length_after) < 1 or min(maximum_before, maximum_after) <= 0:
        raise EntryError("Carry-over needs both stages with a length and a maximum above 0.", code="bad-carry-over")
    return scored * length_before * maximum_after / (2 * maximum_before * length_after)


class Fault(StrEnum):
    """A side's part in a match that could not be played in full (Law 12C2(a))."""

    NONE = "none"
    PARTLY = "partly"
    FULL = "full"


def short_match_margin(margin: Fraction, played: int, length: int, fault: Fault, profile: Profile) -> Fraction:
    """IMP margin of a side whose match lost boards, for the scale of the full length (EBU White Book 3.3.7-9).

    Less than half of the boards playable: the match is void, AVE+ or AVE- on half of the boards rounded up, AVE on the
    rest. At least half: AVE+, AVE or AVE- for each removed board on top of the margin made at the table.
    """
    if not 0 <= played <= length or length < 1:
        raise EntryError(f"{played} of {length} boards can't be.", code="bad-match")
    each = {
        Fault.NONE: profile.average_plus_imps,
        Fault.PARTLY: Fraction(0),
        Fault.FULL: profile.average_minus_imps,
    }[fault]
    if 2 * played < length:
        return each * ((length + 1) // 2)
    return margin + each * (length - played)


def mismatch_vp(actual: Fraction, difference: Fraction, at_fault: bool) -> Fraction:
    """Victory points after a wrongly drawn match (EBU White Book 3.5.2), on a scale of 20 with 10 for a draw.

    difference: how many victory points the opponent it met stood above (positive) or below (negative) the one it
    should have met. More than 5 above and not at fault: 5 + 3/4 of the actual score, if that is more. More than 5
    below and at fault: the actual score less a quarter of what it exceeds 5 by. Otherwise the score stands.
    Raises EntryError for a score that the scale does not have.
    """
    if not 0 <= actual <= 20:
        raise EntryError("Victory points of this rule are from 0 to 20.", where="VPS", code="bad-match")
    if difference > 5 and not at_fault:
        return max(actual, 5 + actual * 3 / 4)
    if difference < -5 and at_fault and actual > 5:
        return actual - (actual - 5) / 4
    return actual
