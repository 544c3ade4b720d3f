"""A scoring profile: every rule that regulations, not the Laws, decide. Named, versioned, stored with the event.

The values here are the defaults of the profile ``plain``; ``profile_file`` reads others from TOML.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from terminals.scoring.matchpoints import Unequal
from terminals.scoring.rounding import Rounding


class SmallGroups(StrEnum):
    """How a form of a fouled board with two or three scores is scored (Law 87B leaves it to regulations)."""

    FACTORED = "factored"  # like any other group
    FIXED_PERCENT = "fixed_percent"  # 65/55 or 70/60/50 when the field is large enough


class SingleScore(StrEnum):
    """What the only score of a form of a fouled board becomes."""

    AVERAGE_PLUS = "average_plus"
    AVERAGE = "average"
    FACTORED = "factored"


class ButlerDatum(StrEnum):
    MEAN = "mean"
    MEDIAN = "median"


class CrossImpMode(StrEnum):
    AVERAGE = "average"
    TOTAL = "total"


class ImpRanking(StrEnum):
    """By what contestants with unequal numbers of boards are ranked in an IMP pairs event."""

    TOTAL = "total"
    MEAN = "mean"
    FACTORED = "factored"  # the mean times the largest number of boards of the group


class VpScale(StrEnum):
    CONTINUOUS = "continuous"
    DISCRETE = "discrete"


class Window(StrEnum):
    """Which boards the session-percentage rule of Law 12C2(c) looks at."""

    SESSION = "session"
    MATCH = "match"
    STAGE = "stage"


class Ties(StrEnum):
    """When two contestants share a place."""

    EXACT = "exact"
    DISPLAY = "display"


CLUBS_CHOICE = "club's choice"


@dataclass(frozen=True, slots=True)
class Profile:
    """All settings of one profile; percentages, IMPs and VPs as exact fractions.

    sources: (setting, where it comes from) pairs; a setting without one is the club's choice.
    """

    name: str = "plain"
    version: int = 1
    title: str = "Plain rules"
    # matchpoints
    matchpoint_scale: int = 2  # 2: printed as 2/1/0; 1: printed as 1/½/0
    unequal: Unequal = Unequal.NEUBERG
    board_unit: Fraction | None = None  # factored board scores are rounded to this; None: exact
    board_half_away: bool = True  # an exact half goes away from average
    # fouled boards
    single_score: SingleScore = SingleScore.AVERAGE_PLUS
    small_groups: SmallGroups = SmallGroups.FACTORED
    small_group_max: int = 3
    small_group_field: int = 3  # fixed percentages when E >= this times A
    # artificial scores
    average_plus: Fraction = Fraction(60)
    average: Fraction = Fraction(50)
    average_minus: Fraction = Fraction(40)
    average_plus_imps: Fraction = Fraction(3)
    average_minus_imps: Fraction = Fraction(-3)
    session_percentage: bool = True  # Law 12C2(c)
    percentage_window: Window = Window.SESSION
    factor_artificial: bool = True  # E keeps the artificial line, so that the others are factored up
    # IMPs
    butler_datum: ButlerDatum = ButlerDatum.MEAN
    butler_drop: int = 1  # scores left out at each end
    butler_drop_min: int = 4  # only with at least so many scores
    butler_unit: int = 10
    cross_imp_mode: CrossImpMode = CrossImpMode.AVERAGE
    imp_ranking: ImpRanking = ImpRanking.FACTORED
    imp_decimals: int = 2
    weighted_imp_unit: Fraction | None = None  # weighted IMPs of a team board are rounded to this; None: exact
    # victory points
    vp_scale: VpScale = VpScale.CONTINUOUS
    bye_vp: Fraction = Fraction(12)
    # ranking
    percent_decimals: int = 2
    rounding: Rounding = Rounding.HALF_UP
    ties: Ties = Ties.EXACT
    # director
    penalty_top_fraction: Fraction = Fraction(1, 4)
    penalty_vp: Fraction = Fraction(1)
    correction_minutes: int = 30
    appeal_minutes: int = 30
    ruleset: str = "laws-2007"
    sources: tuple[tuple[str, str], ...] = ()

    def source(self, setting: str) -> str:
        """Where the value of a setting comes from: a Law, a regulation, or ``club's choice``."""
        return dict(self.sources).get(setting, CLUBS_CHOICE)


PLAIN = Profile()
