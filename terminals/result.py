"""What is known of one board at one table: a result, a ruling, or one of the states that are no result.

Seven facts that must never be mixed up: played; passed out (a result of 0, Law 22A1); not played (with a reason);
an artificial adjusted score (Law 12C2); an assigned adjusted score, possibly split or weighted (Laws 12C1, 12C4);
not entered yet; a scheduled sit-out. North-South and East-West are two independent values wherever a ruling is
involved. Frozen values, no I/O.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.contract import Contract

MAX_WEIGHTS = 5
"""A weighted ruling has at most five outcomes a side."""


@dataclass(frozen=True, slots=True)
class Played:
    """A board that was played.

    tricks: 0-13 won by declarer's side; lead: the opening lead, card 0-51, or None when it was not recorded.
    Raises EntryError.
    """

    contract: Contract
    tricks: int
    lead: int | None = field(default=None, repr=False)  # other tables have yet to play the board

    def __post_init__(self) -> None:
        if isinstance(self.tricks, bool) or not isinstance(self.tricks, int) or not 0 <= self.tricks <= 13:
            raise EntryError(f"Declarer wins from 0 to 13 tricks, not {self.tricks!r}.", code="bad-tricks")
        if self.lead is not None and not 0 <= self.lead <= 51:
            raise EntryError("The opening lead is no card of the pack.", code="bad-lead")

    @property
    def relative(self) -> int:
        """Tricks above (or, negative, below) the contract."""
        return self.tricks - self.contract.required_tricks

    @property
    def relative_text(self) -> str:
        """``=``, ``+1``, ``-2``."""
        return "=" if self.relative == 0 else f"{self.relative:+d}"

    def __str__(self) -> str:
        return f"{self.contract}{self.relative_text}"


@dataclass(frozen=True, slots=True)
class PassedOut:
    """Four opening passes: a result of 0 for both sides, never a redeal (Law 22A1)."""

    def __str__(self) -> str:
        return "Pass"


class NotPlayedReason(StrEnum):
    """Why a scheduled board has no result and no score for either side."""

    CANCELLED = "cancelled"
    NO_TIME = "no-time"
    LATE_PAIR = "late-pair"
    WITHDRAWN = "withdrawn"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class NotPlayed:
    """A scheduled board that was not played: the pairs' denominators are smaller, nobody gets an average."""

    reason: NotPlayedReason = NotPlayedReason.OTHER
    note: str = ""

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "reason", NotPlayedReason(self.reason))
        except ValueError:
            known = ", ".join(NotPlayedReason)
            raise EntryError(
                f"{str(self.reason)[:20]!r} is no reason for a board not played; known: {known}.", code="bad-reason"
            ) from None

    def __str__(self) -> str:
        return "Not played"


class Average(StrEnum):
    """The three standard artificial scores of Law 12C2."""

    PLUS = "AVE+"
    EVEN = "AVE"
    MINUS = "AVE-"


@dataclass(frozen=True, slots=True)
class FixedPercent:
    """A percentage that the director typed: never uplifted by the session-percentage rule of Law 12C2(c).

    percent: 0-100, exact. imps: what the side gets in an IMP event, or None when the percentage has no equivalent.
    """

    percent: Fraction
    imps: Fraction | None = None

    def __post_init__(self) -> None:
        value = Fraction(self.percent)
        if not 0 <= value <= 100:
            raise EntryError(f"An artificial score is from 0 to 100 percent, not {float(value):g}.", code="bad-percent")
        object.__setattr__(self, "percent", value)
        if self.imps is not None:
            object.__setattr__(self, "imps", Fraction(self.imps))


ArtificialSide = Average | FixedPercent


@dataclass(frozen=True, slots=True)
class Artificial:
    """An artificial adjusted score (Law 12C2): one value for each side; they need not sum to 100 percent."""

    ns: ArtificialSide
    ew: ArtificialSide

    def __str__(self) -> str:
        return f"{_side_text(self.ns)}/{_side_text(self.ew)}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome of an assigned score: a table result or an exact score seen from North-South, and its weight.

    weight: above 0, at most 1, exact.
    """

    result: Played | PassedOut | int
    weight: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        value = Fraction(self.weight)
        if not 0 < value <= 1:
            raise EntryError(f"A weight is above 0 and at most 1, not {value} (Law 12C1(c)).", code="bad-weights")
        object.__setattr__(self, "weight", value)


AssignedSide = tuple[Outcome, ...] | Average | FixedPercent


@dataclass(frozen=True, slots=True)
class Assigned:
    """An assigned adjusted score (Law 12C1): for each side one to five weighted outcomes, or an artificial value.

    Two different sides make a split score (Law 12C1(f) of 2007). Raises EntryError unless the weights of a side sum
    to 1.
    """

    ns: AssignedSide
    ew: AssignedSide

    def __post_init__(self) -> None:
        for name, side in (("North-South", self.ns), ("East-West", self.ew)):
            if isinstance(side, (Average, FixedPercent)):
                continue
            if not 1 <= len(side) <= MAX_WEIGHTS:
                raise EntryError(
                    f"An assigned score has 1 to {MAX_WEIGHTS} outcomes, {name} got {len(side)} (Law 12C1(c)).",
                    code="bad-weights",
                )
            total = sum((outcome.weight for outcome in side), Fraction(0))
            if total != 1:
                raise EntryError(
                    f"The weights of the {name} score sum to {total}, not to 1 (Law 12C1(c)).",
                    next_step="Correct the weights; thirds may be written 1/3.",
                    code="bad-weights",
                )

    @property
    def is_split(self) -> bool:
        return self.ns != self.ew

    def __str__(self) -> str:
        return "Assigned (split)" if self.is_split else "Assigned"


@dataclass(frozen=True, slots=True)
class NotEntered:
    """Scheduled, and nobody has entered a result yet. Never a result."""

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class SitOut:
    """A scheduled sit-out: no opponents, no result, no average."""

    def __str__(self) -> str:
        return "Sit-out"


Result = Played | PassedOut | Artificial | Assigned
"""Values that carry a score for at least one side."""

BoardState = Played | PassedOut | Artificial | Assigned | NotPlayed | NotEntered | SitOut
"""Everything that can be known of one board at one table."""


def _side_text(side: ArtificialSide) -> str:
    if isinstance(side, Average):
        return side.value
    return f"{float(side.percent):g}%"
