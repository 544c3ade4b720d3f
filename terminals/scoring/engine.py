"""A running session that is rescored a result at a time: only the board that changed, then totals and ranking.

Gives the same numbers as ``session.score_session`` and is several times faster for one new result, because the sums of
a contestant are whole numbers, one for each denominator that occurs (the number of scores of a board).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm

from firmware_bridge.errors import EntryError
from terminals.scoring.boards import LineScore, Method, SideScore
from terminals.scoring.lines import Contestant, LineKey, ResultLine, ScoringField, SessionAdjustment, WinnerGroup
from terminals.scoring.profile import PLAIN, Profile
from terminals.scoring.session import SessionScore, choose_fields, credits, field_of, rank, score_board


class RunningTotals:
    """Sums of one contestant that can also be taken back."""

    __slots__ = ("artificial", "genuine", "sums", "top")

    def __init__(self) -> None:
        self.sums: dict[int, int] = {}  # denominator: sum of numerators
        self.top = 0
        self.genuine = 0
        self.artificial: list[SideScore] = []

    def add(self, score: SideScore) -> None:
        if score.artificial is not None:
            self.artificial.append(score)
            return
        points = score.points
        denominator = points.denominator
        self.sums[denominator] = self.sums.get(denominator, 0) + points.numerator
        self.top += score.top
        self.genuine += 1

    def remove(self, score: SideScore) -> None:
        """Take back what ``add`` added."""
        if score.artificial is not None:
            self.artificial.remove(score)
            return
        points = score.points
        denominator = points.denominator
        # A sum of 0 is dropped, so that a denominator that no board has any more does not stay; it may come back.
        rest = self.sums.pop(denominator, 0) - points.numerator
        if rest:
            self.sums[denominator] = rest
        self.top -= score.top
        self.genuine -= 1

    @property
    def points(self) -> Fraction:
        sums = self.sums
        if len(sums) == 1:
            ((denominator, part),) = sums.items()
            return Fraction(part, denominator)
        common = lcm(*sums)
        return Fraction(sum([part * (common // denominator) for denominator, part in sums.items()]), common)

    @property
    def boards(self) -> int:
        return self.genuine + len(self.artificial)


class SessionEngine:
    """Holds the result lines of a session and keeps its score up to date.

    The arguments are those of ``score_session``. ``put``, ``remove`` and ``adjust`` change it; ``score`` gives the
    present score. A call that raises EntryError leaves the engine as it was.
    """

    def __init__(
        self,
        *,
        expected: Mapping[int, int] | None = None,
        groups: Sequence[WinnerGroup],
        profile: Profile = PLAIN,
        fields: Sequence[ScoringField] | None = None,
        method: Method = Method.MATCHPOINTS,
        adjustments: Sequence[SessionAdjustment] = (),
        lines: Iterable[ResultLine] = (),
    ) -> None:
        self._fields = choose_fields(expected, fields)
        self._groups = list(groups)
        self._profile = profile
        self._method = method
        self._adjustments = list(adjustments)
        self._lines: dict[tuple[int, int], dict[LineKey, ResultLine]] = {}
        self._boards: dict[tuple[int, int], Sequence[LineScore]] = {}
        self._totals: dict[Contestant, RunningTotals] = {}
        for line in lines:
            self._lines.setdefault(self._place(line), {})[line.key] = line
        for place, held in self._lines.items():
            self._replace(place, score_board(list(held.values()), self._expected(place), profile, method))

    def _place(self, line: ResultLine) -> tuple[int, int]:
        return field_of(line.section, self._fields), line.board

    def _expected(self, place: tuple[int, int]) -> Mapping[int, int]:
        return self._fields[place[0]].expected

    def _replace(self, place: tuple[int, int], scores: Sequence[LineScore]) -> None:
        """Exchange a board's scores; a side whose score stays the same costs nothing."""
        totals = self._totals
        before: dict[Contestant, list[SideScore]] = {}
        for score in self._boards.get(place, ()):
            for contestant, side in credits(score):
                before.setdefault(contestant, []).append(side)
        for score in scores:
            for contestant, side in credits(score):
                found = totals.get(contestant)
                if found is None:
                    found = totals[contestant] = RunningTotals()
                old = before.get(contestant)
                if old:
                    found.remove(old.pop())
                found.add(side)
        for contestant, rest in before.items():
            for side in rest:
                totals[contestant].remove(side)
        if scores:
            self._boards[place] = scores
        else:
            self._boards.pop(place, None)

    def put(self, line: ResultLine) -> None:
        """Enter a line, or replace the one with the same key. Raises EntryError."""
        place = self._place(line)
        held = {**self._lines.get(place, {}), line.key: line}
        scores = score_board(list(held.values()), self._expected(place), self._profile, self._method)
        self._lines[place] = held
        self._replace(place, scores)

    def remove(self, key: LineKey) -> None:
        """Take a line out. Raises EntryError when it is not there."""
        board, section = key[0], key[1]
        place = field_of(section, self._fields), board
        held = dict(self._lines.get(place, {}))
        if held.pop(key, None) is None:
            raise EntryError("There is no such result to remove.", where=f"board {board}", code="no-result")
        scores = score_board(list(held.values()), self._expected(place), self._profile, self._method) if held else []
        self._lines[place] = held
        self._replace(place, scores)

    def adjust(self, adjustments: Sequence[SessionAdjustment]) -> None:
        """Set the session adjustments (penalties)."""
        self._adjustments = list(adjustments)

    def regroup(self, groups: Sequence[WinnerGroup]) -> None:
        """Set who is ranked with whom."""
        self._groups = list(groups)

    @property
    def lines(self) -> list[ResultLine]:
        return [line for held in self._lines.values() for line in held.values()]

    def score(self) -> SessionScore:
        """The present score, equal to that of ``score_session`` over ``lines``."""
        rankings, unranked = rank(self._totals, self._groups, self._profile, self._method, self._adjustments)
        return SessionScore(rankings, dict(self._boards), unranked)
