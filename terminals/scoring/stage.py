"""Several sessions or matches in one event: percentages over a stage, and Swiss pairs by matchpoints.

The session-percentage rule (Law 12C2(c), 2007) speaks of "the session"; regulations widen or narrow its window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from terminals.result import Average
from terminals.scoring.boards import Method, SideScore
from terminals.scoring.lines import Contestant, ResultLine, SessionAdjustment, WinnerGroup
from terminals.scoring.profile import PLAIN, Profile, Window
from terminals.scoring.ranking import RankRow
from terminals.scoring.session import Totals, credits, rank, score_board, session_total
from terminals.scoring.vp import percent_vp


@dataclass(frozen=True, slots=True)
class SessionLines:
    """A session (or a match) of a stage: its lines, and E of each board."""

    lines: Sequence[ResultLine]
    expected: Mapping[int, int]


def session_totals(session: SessionLines, profile: Profile, method: Method) -> dict[Contestant, Totals]:
    """Sums of every contestant of one session. Raises EntryError."""
    boards: dict[int, list[ResultLine]] = {}
    for line in session.lines:
        boards.setdefault(line.board, []).append(line)
    totals: dict[Contestant, Totals] = {}
    for lines in boards.values():
        for score in score_board(lines, session.expected, profile, method):
            for contestant, side in credits(score):
                totals.setdefault(contestant, Totals()).add(side)
    return totals


def score_stage(
    sessions: Iterable[SessionLines],
    groups: Sequence[WinnerGroup],
    profile: Profile = PLAIN,
    method: Method = Method.MATCHPOINTS,
    adjustments: Sequence[SessionAdjustment] = (),
) -> tuple[list[list[RankRow]], tuple[Contestant, ...]]:
    """Rankings over all sessions of a stage, and who has no board.

    With the window ``stage`` the other boards of an artificial score are those of the whole stage; with ``session`` or
    ``match`` they are those of its own session or match.
    """
    combined: dict[Contestant, Totals] = {}
    for session in sessions:
        for contestant, totals in session_totals(session, profile, method).items():
            whole = combined.setdefault(contestant, Totals())
            whole.points += totals.points
            whole.top += totals.top
            whole.genuine += totals.genuine
            whole.artificial += (
                totals.artificial if profile.percentage_window is Window.STAGE else _settled(totals, profile)
            )
    return rank(combined, groups, profile, method, adjustments)


def _settled(totals: Totals, profile: Profile) -> list[SideScore]:
    """A session's artificial scores at what they pay in that session, so that nothing can raise them again."""
    out = []
    for score in totals.artificial:
        alone = Totals(totals.points, totals.top, totals.genuine, [score])
        paid = session_total(alone, profile)[0] - totals.points
        # AVE is never raised or lowered, which is what a settled score needs.
        out.append(SideScore(paid, score.top, Average.EVEN))
    return out


@dataclass(frozen=True, slots=True)
class PairRound:
    """A pair's match in a Swiss pairs event. percent: None when boards are scored by IMPs. vp: by the percentage, see
    ``percent_vp``, or by a scale of IMPs, see ``rounds``."""

    contestant: Contestant
    percent: Fraction | None
    boards: int
    vp: Fraction


def swiss_pairs_round(session: SessionLines, length: int, profile: Profile = PLAIN) -> list[PairRound]:
    """Percentages and victory points of all pairs of one round; ``length`` is the boards of a match.

    The window of an artificial score is the match. Raises EntryError for a length without a published scale.
    """
    out = []
    for contestant, totals in sorted(session_totals(session, profile, Method.MATCHPOINTS).items()):
        points, top = session_total(totals, profile)
        if top:
            percent = points * 100 / top
            out.append(PairRound(contestant, percent, totals.boards, percent_vp(percent, length)))
    return out
