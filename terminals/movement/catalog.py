"""Every movement that this program can make, by a short text that a person can type and an event can keep.

``KIND:NUMBERxBOARDS[,option=value...]``, for example ``mitchell:7x4,missing=ew`` (seven tables, rounds of four boards,
no East-West pair fourteen) or ``web:16x2,sets=13,switch=best``. ``KINDS`` lists the kinds and what the number counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement import families, individual, swiss, teams
from terminals.movement.arrow import switched
from terminals.movement.howell import howell
from terminals.movement.mitchell import ODD, SHARE, SKIP, mitchell
from terminals.movement.model import Direction, Movement
from terminals.movement.three_quarter import three_quarter_howell, three_quarter_rounds

MAX_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Kind:
    """counts: what the first number is. options: those that it takes. words: for a list of kinds."""

    counts: str
    options: frozenset[str]
    words: str
    build: Callable[[int, int, dict[str, Any]], Movement]


def _three_quarter(tables: int, size: int, options: dict[str, Any]) -> Movement:
    rounds = options.pop("rounds", None) or next(iter(three_quarter_rounds(tables)), 0)
    return three_quarter_howell(tables, rounds, size, **options)


def _web(tables: int, size: int, options: dict[str, Any]) -> Movement:
    return families.web(tables, options.pop("sets", None) or 13, size, **options)


def _swiss(as_teams: bool) -> Callable[[int, int, dict[str, Any]], Movement]:
    """The first round, the upper half against the lower; each further round is drawn from the ranking."""

    def build(number: int, size: int, options: dict[str, Any]) -> Movement:
        if not 2 <= number <= swiss.MAX_CONTESTANTS:
            raise _bad(f"Swiss needs 2 to {swiss.MAX_CONTESTANTS} contestants, not {number}.")
        return swiss.swiss(number, size, swiss.draw(range(1, number + 1), halves=True), teams=as_teams, **options)

    return build


def _kind(counts: str, options: str, words: str, build: Callable[[int, int, dict[str, Any]], Movement]) -> Kind:
    return Kind(counts, frozenset(options.split()), words, build)


def _plain(function: Callable[..., Movement], **fixed: Any) -> Callable[[int, int, dict[str, Any]], Movement]:
    return lambda number, size, options: function(number, size, **fixed, **options)


KINDS: Mapping[str, Kind] = {
    "mitchell": _kind(
        "tables", "rounds missing first switch", "odd or share-and-relay Mitchell, two winners", _plain(mitchell)
    ),
    "odd": _kind("tables", "rounds missing first switch", "Mitchell, odd tables", _plain(mitchell, variant=ODD)),
    "share": _kind(
        "tables",
        "rounds missing first switch",
        "share-and-relay Mitchell, even tables",
        _plain(mitchell, variant=SHARE),
    ),
    "skip": _kind(
        "tables", "rounds missing first switch", "skip Mitchell, even tables", _plain(mitchell, variant=SKIP)
    ),
    "bye-stand": _kind(
        "tables", "rounds missing first switch", "even tables, two spare sets, no sharing", _plain(families.bye_stand)
    ),
    "hesitation": _kind(
        "tables", "half first", "odd tables, one round more than tables, one winner", _plain(families.hesitation)
    ),
    "rover": _kind("tables", "rounds first switch", "one pair more than seats", _plain(families.rover)),
    "web": _kind("tables", "sets rounds missing first switch", "many tables, several copies of the boards", _web),
    "scissors": _kind("tables", "first", "two sections that cross at half-time, one winner", _plain(families.scissors)),
    "howell": _kind("tables", "rounds half first", "everybody meets everybody, 2 to 10 tables", _plain(howell)),
    "three-quarter-howell": _kind("tables", "rounds half first", "fewer rounds, 5 to 11 tables", _three_quarter),
    "individual": _kind("players", "rounds copies", "every player a contestant", _plain(individual.individual)),
    "whist": _kind("players", "rounds copies", "individual, everybody partners everybody", _plain(individual.whist)),
    "rainbow": _kind("tables", "rounds first", "individual, boards stay", _plain(individual.rainbow)),
    "head-to-head": _kind("segments", "copies first", "one match of two teams", _plain(teams.head_to_head)),
    "round-robin": _kind("teams", "rounds copies first", "every team against every other", _plain(teams.round_robin)),
    "american-whist": _kind("teams", "first", "odd number of teams, one set of boards", _plain(teams.american_whist)),
    "swiss-pairs": _kind("pairs", "copies first", "first round; further ones: movement draw", _swiss(False)),
    "swiss-teams": _kind("teams", "copies first", "first round; further ones: movement draw", _swiss(True)),
    "multiple-teams": _kind("teams", "rounds first", "all teams in one Mitchell", _plain(teams.multiple_teams)),
}
_NUMBERS = {"rounds": "rounds", "first": "first_board", "copies": "copies", "sets": "sets"}


def build(spec: str) -> Movement:
    """The movement that ``spec`` describes. Raises EntryError (exit status USAGE) for what it does not understand."""
    match = re.fullmatch(r"([a-z0-9-]{1,30}):([0-9]{1,4})x([0-9]{1,3})((?:,[a-z]+=[a-z0-9]+)*)", spec.strip().lower())
    if len(spec) > MAX_LENGTH or match is None:
        raise _bad(
            f"{spec[:60]!r} is neither a file nor a movement.", "Write it like mitchell:7x4 or howell:4x3,half=yes."
        )
    kind = KINDS.get(match[1])
    if kind is None:
        raise _bad(f"There is no movement {match[1]!r}.", f"Known: {', '.join(KINDS)}.")
    options: dict[str, Any] = {}
    switch: str | None = None
    for part in match[4].split(",")[1:]:
        name, _, value = part.partition("=")
        if name not in kind.options or name in options:
            known = ", ".join(sorted(kind.options))
            raise _bad(f"{match[1]} takes no (second) option {name!r}.", f"Options: {known}.")
        if name in _NUMBERS:
            options[_NUMBERS[name]] = _number(name, value)
        elif name == "missing":
            if value not in ("ns", "ew"):
                raise _bad(f"missing is ns or ew, not {value!r}.")
            options["missing"] = Direction(value.upper())
        elif name == "half":
            if value not in ("yes", "no"):
                raise _bad(f"half is yes or no, not {value!r}.")
            options["missing"] = value == "yes"
        else:
            switch = value
    movement = kind.build(int(match[2]), int(match[3]), options)
    if switch is None:
        return movement
    return switched(movement, None if switch == "best" else _number("switch", switch))


def _number(name: str, value: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", value):
        raise _bad(f"{name} is a number, not {value!r}.")
    return int(value)


def _bad(what: str, next_step: str = "") -> EntryError:
    return EntryError(what, next_step=next_step, code="bad-movement", exit_status=ExitStatus.USAGE)
