"""How a published file may have been scored: a profile, what differs from it, and how the file shows its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from terminals.scoring.boards import Method
from terminals.scoring.matchpoints import Unequal
from terminals.scoring.profile import CrossImpMode, ImpRanking, Profile

_PROFILE_CHOICES = (
    "matchpoint_scale",
    "unequal",
    "session_percentage",
    "factor_artificial",
    "butler_drop",
    "butler_drop_min",
    "butler_unit",
    "butler_datum",
    "cross_imp_mode",
    "imp_ranking",
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A way of scoring: a profile and how the file shows its numbers.

    raw_points: the lines show matchpoints before they are factored. within: sections are compared only with themselves.
    rounded_boards: totals are sums of the board scores as printed. total_in: "percent", "points" or "factored_points".
    scheduled: E is what the two sides of a board share out, more than the lines of any board: results are missing
    everywhere, because play still went on or the director took boards out. apart: a full number of boards is the most
    that anybody of the same ranking played, not anybody of the event.
    """

    profile: Profile
    raw_points: bool = False
    within: bool = False
    rounded_boards: bool = False
    total_in: str = "percent"
    scheduled: bool = False
    apart: bool = False

    def changes(self, base: Profile) -> dict[str, str]:
        """What is different from ``base``, as words for the report."""
        out: dict[str, str] = {}
        for name in _PROFILE_CHOICES:
            value = getattr(self.profile, name)
            if value != getattr(base, name):
                out[name] = str(value)
        if self.raw_points:
            out["points_shown"] = "before factoring"
        if self.within:
            out["fields"] = "each section apart"
        if self.scheduled:
            out["results_expected"] = "by the published points"
        if self.apart:
            out["full_boards"] = "of each ranking"
        if self.rounded_boards:
            out["totals"] = "sums of the printed board scores"
        if self.total_in in ("points", "factored_points"):
            out["total_in"] = self.total_in
        return out

    def neighbours(self, method: Method, sections: int, *, free: bool) -> Iterator[Explanation]:
        """Explanations that differ in one choice. Not ``free``: only in how the file shows its numbers."""
        profile = self.profile
        if sections > 1:
            yield replace(self, within=not self.within)
        yield replace(self, rounded_boards=not self.rounded_boards)
        yield replace(self, apart=not self.apart)
        if method is Method.MATCHPOINTS:
            yield replace(self, raw_points=not self.raw_points)
            for total_in in ("percent", "points", "factored_points"):
                if total_in != self.total_in:
                    yield replace(self, total_in=total_in)
        if not free:
            return
        options: dict[str, Sequence[object]] = {}
        if method is Method.MATCHPOINTS:
            options = {
                "matchpoint_scale": (1, 2),
                "unequal": (Unequal.NEUBERG, Unequal.OWN_TOP, Unequal.RAW_PERCENT, Unequal.ASCHERMAN),
                "session_percentage": (True, False),
                "factor_artificial": (True, False),
            }
        elif method is Method.CROSS_IMPS:
            options = {
                "cross_imp_mode": tuple(CrossImpMode),
                "imp_ranking": tuple(ImpRanking),
                "session_percentage": (True, False),
            }
        elif method is Method.BUTLER:
            options = {
                "butler_drop": (0, 1, 2),
                "butler_drop_min": (1, 3, 4, 5, 6, 8, 10, 12),
                "butler_unit": (10, 0),
                "imp_ranking": tuple(ImpRanking),
                "session_percentage": (True, False),
            }
        for name, values in options.items():
            for value in values:
                if getattr(profile, name) != value:
                    yield replace(self, profile=replace(profile, **{name: value}))  # type: ignore[arg-type]
