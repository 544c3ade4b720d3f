"""Swiss pairs by matchpoints, cross-IMPs or Butler: the results of a file, round by round, in victory points.

Which round a result belongs to is told by the movement. The window of an artificial score is the match.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.interop.exchange import EventKind, ExchangeEvent
from terminals.movement.model import Movement
from terminals.movement.swiss import SWISS_PAIRS
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant, ResultLine, WinnerGroup, field_expected
from terminals.scoring.profile import CrossImpMode, Profile
from terminals.scoring.ranking import RankRow
from terminals.scoring.rounds import round_scores
from terminals.scoring.session import score_session
from terminals.scoring.stage import PairRound, SessionLines, swiss_pairs_round
from terminals.scoring.swiss import RoundKind, RoundScore, standings


@dataclass(frozen=True, slots=True)
class SwissStanding:
    """ranking: by victory points, best first. rounds: round -> what each pair made in it, byes left out."""

    ranking: tuple[RankRow, ...]
    rounds: Mapping[int, tuple[PairRound, ...]]


def swiss_standing(
    movement: Movement, event: ExchangeEvent, profile: Profile, carried: Mapping[int, Fraction] | None = None
) -> SwissStanding:
    """Ranking of a Swiss pairs event. carried: victory points from an earlier stage, by pair.

    Raises EntryError for another movement, results that it does not have, total points, and a match length without a
    published scale.
    """
    if movement.kind != SWISS_PAIRS or event.method is Method.AGGREGATE or event.kind is EventKind.TEAMS:
        raise EntryError("This needs a swiss-pairs movement and results by matchpoints or IMPs.", code="not-supported")
    where = {(board, s.ns, s.ew): s.round for s in movement.seatings for board in s.boards}
    lines: dict[int, list[ResultLine]] = {}
    sections = {one.line.section for one in event.lines}
    for one in event.lines:
        line = one.line
        number = where.get((line.board, line.ns.number, line.ew.number))
        if number is None:
            raise EntryError(
                f"{line.ns.number} against {line.ew.number} is not in this movement.",
                where=f"board {line.board}",
                code="other-movement",
            )
        lines.setdefault(number, []).append(line)
    section = min(sections, default="A")
    if len(sections) > 1:
        raise EntryError("A Swiss event has one section.", code="not-supported")
    scores: list[RoundScore] = []
    rounds: dict[int, tuple[PairRound, ...]] = {}
    for number in sorted(lines):
        boards = [board for s in movement.seatings if s.round == number for board in s.boards]
        expected = field_expected({board: boards.count(board) for board in set(boards)})
        session = SessionLines(lines[number], expected)
        length = movement.boards_per_round
        if event.method is Method.MATCHPOINTS:
            made = rounds[number] = tuple(swiss_pairs_round(session, length, profile))
        else:
            made = rounds[number] = tuple(_by_imps(session, length, profile, event.method))
        scores += [RoundScore(one.contestant, number, one.vp, boards=one.boards) for one in made]
        scores += [
            RoundScore(Contestant(section, one.pair), number, None, kind=RoundKind.BYE)
            for one in movement.sit_outs
            if one.round == number and not one.absent
        ]
    everybody = tuple(Contestant(section, one) for one in movement.contestants)
    before = {Contestant(section, pair): points for pair, points in (carried or {}).items()}
    strangers = sorted(before.keys() - set(everybody))
    if strangers:
        raise EntryError(f"Pair {strangers[0].number} is not in this event.", where="--carry", code="no-contestant")
    (ranking,) = standings(scores, [WinnerGroup("", everybody)], profile, carried=before)
    return SwissStanding(tuple(ranking), rounds)


def _by_imps(session: SessionLines, length: int, profile: Profile, method: Method) -> list[PairRound]:
    """A round in victory points by the profile's scale of IMPs."""
    profile = replace(profile, cross_imp_mode=CrossImpMode.AVERAGE)
    score = score_session(session.lines, expected=session.expected, groups=[], profile=profile, method=method)
    sections = {line.section for line in session.lines}
    lengths = {(section, 1): length for section in sections}
    made = round_scores(score.boards.values(), lambda line: 1, lengths, method, profile.vp_scale, profile)
    return [PairRound(one.contestant, None, one.boards, one.vp) for one in made if one.vp is not None]
