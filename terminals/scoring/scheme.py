"""How an event is scored, as a whole: decided when it begins, and changeable after play without touching a result.

The Laws know matchpoints, IMPs and total points (Law 78A-C) and leave everything else, victory points too, to the
conditions of contest (Law 78D). Values and their JSON form; no I/O.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from firmware_bridge.errors import EntryError
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant
from terminals.scoring.profile import Profile, VpScale
from terminals.scoring.teams import TeamMethod
from terminals.scoring.vp import VpTable

METHODS: tuple[str, ...] = (*(one.value for one in Method), TeamMethod.IMPS.value, TeamMethod.BOARD_A_MATCH.value)
"""Words for how boards are scored; ``aggregate`` is total points for pairs and teams alike."""
SCALES: tuple[str, ...] = ("profile", *(one.value for one in VpScale), "percent", "none", "table")
"""profile: victory points where they are usual (matches of teams, Swiss pairs), by the profile's scale. percent: a
pair's percentage of a round by the published bounds. table: a scale of one's own."""
MAX_CARRIED = 400


@dataclass(frozen=True, slots=True)
class Scheme:
    """word: one of METHODS, "" for what is usual for the movement. scale: one of SCALES. knockout: a board with unequal
    scores counts the mean of what the two teams would score (Law 12C4). carried: from an earlier stage, in the unit of
    the ranking. Raises EntryError for what can't be.
    """

    word: str = ""
    scale: str = "profile"
    table: VpTable | None = None
    knockout: bool = False
    carried: Mapping[Contestant, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.word and self.word not in METHODS:
            raise EntryError(f"method is one of {', '.join(METHODS)}.", code="bad-value")
        if self.scale not in SCALES or (self.scale == "table") != (self.table is not None):
            raise EntryError(f"scale is one of {', '.join(SCALES)}, the last with its rows.", code="bad-value")
        if len(self.carried) > MAX_CARRIED:
            raise EntryError(f"At most {MAX_CARRIED} contestants carry something over.", code="bad-value")

    @property
    def method(self) -> Method:
        """How boards are compared where a whole field is. IMPs are cross-IMPs there."""
        if self.word in (TeamMethod.IMPS.value, TeamMethod.BOARD_A_MATCH.value):
            return Method.CROSS_IMPS
        return Method(self.word) if self.word else Method.MATCHPOINTS

    @property
    def team_method(self) -> TeamMethod | None:
        """How matches of two teams are scored; None when both pairs of a team are compared with the field instead."""
        if not self.word:
            return TeamMethod.IMPS
        return TeamMethod(self.word) if self.word in list(TeamMethod) else None

    def match_scale(self, profile: Profile) -> VpScale | VpTable | None:
        """Victory points of team matches, None when what the boards give is added up."""
        if self.team_method is not TeamMethod.IMPS or self.scale in ("none", "percent"):
            return None
        if self.scale == "profile":
            return None if self.knockout else profile.vp_scale
        return self.table if self.table is not None else VpScale(self.scale)

    def round_scale(self, profile: Profile, *, swiss: bool) -> VpScale | VpTable | str | None:
        """Victory points of a pair's round: a scale of IMPs, "percent", or None when boards are simply added up.

        Raises EntryError for total points, which no scale knows.
        """
        if self.scale == "none" or (self.scale == "profile" and not swiss):
            return None
        if self.method is Method.AGGREGATE:
            raise EntryError("No scale makes victory points of total points.", code="bad-scheme")
        if self.method is Method.MATCHPOINTS:
            if self.scale in ("profile", "percent"):
                return "percent"
            raise EntryError(
                "Matchpoints become victory points by their percentage only.",
                next_step="Take the scale percent, or score the boards by IMPs.",
                code="bad-scheme",
            )
        if self.scale == "percent":
            raise EntryError("IMPs have no percentage.", next_step="Take another scale.", code="bad-scheme")
        if self.scale == "profile":
            return profile.vp_scale
        return self.table if self.table is not None else VpScale(self.scale)

    def changed(self, values: Mapping[str, Any]) -> Scheme:
        """A copy with what ``values`` name (the keys of ``scheme_as_dict``) changed. Raises EntryError."""
        try:
            given = scheme_from_dict({**scheme_as_dict(self), **values})
        except EntryError:
            raise
        except (KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
            raise EntryError(f"This is no way of scoring: {type(error).__name__}.", code="bad-value") from None
        return given if given.table is not None or given.scale != "table" else replace(given, scale="none")


def scheme_as_dict(scheme: Scheme) -> dict[str, Any]:
    """JSON values, fractions as text; contestants as ``A7``."""
    out: dict[str, Any] = {"method": scheme.word, "scale": scheme.scale, "knockout": scheme.knockout}
    out["carried"] = {f"{one.section}{one.number}": str(value) for one, value in sorted(scheme.carried.items())}
    if scheme.table is not None:
        out["table"] = {
            "name": scheme.table.name,
            "rows": [[low, high, str(won), str(lost)] for low, high, won, lost in scheme.table.rows],
        }
    return out


def scheme_from_dict(values: Mapping[str, Any]) -> Scheme:
    """Inverse of ``scheme_as_dict``; what is left out is as usual. Raises EntryError."""
    scale, table = str(values.get("scale", "profile")), None
    if scale == "table":
        given = values["table"]
        rows = [
            (int(low), None if high is None else int(high), Fraction(won), Fraction(lost))
            for low, high, won, lost in given["rows"]
        ]
        if not 1 <= len(rows) <= 1000:
            raise EntryError("A scale has from 1 to 1000 rows.", code="bad-scale")
        table = VpTable(str(given["name"])[:80], tuple(rows))
    knockout = values.get("knockout", False)
    if not isinstance(knockout, bool):
        raise EntryError("knockout is true or false.", code="bad-value")
    carried = {carrier(name): amount(text) for name, text in dict(values.get("carried", {})).items()}
    return Scheme(str(values.get("method", "")), scale, table, knockout, carried)


def carrier(name: str) -> Contestant:
    """``A7`` as a contestant. Raises EntryError."""
    found = re.fullmatch(r"([A-Z]{1,3})([1-9]\d{0,3})", name.upper(), re.ASCII)
    if found is None:
        raise EntryError(f"{name[:12]!r} is no contestant; write it like A7.", code="bad-contestant")
    return Contestant(found[1], int(found[2]))


def amount(text: Any) -> Fraction:
    """An exact number from its text, such as ``12.5`` or ``-1/4``. Raises EntryError."""
    try:
        value = Fraction(text if isinstance(text, int) and not isinstance(text, bool) else str(text)[:24])
    except (ValueError, ZeroDivisionError):
        raise EntryError(f"{str(text)[:24]!r} is no number; write it like 12.5 or -1/4.", code="bad-value") from None
    if abs(value) > 10_000 or value.denominator > 10_000:
        raise EntryError(f"{str(text)[:24]!r} can't be.", code="bad-value")
    return value
