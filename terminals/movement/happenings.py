"""What happens in an evening, as events: frozen values that the store keeps and that can be undone.

``plan.apply`` says what each does to the plan. Rounds count from 1; "from round r" means that rounds before r stay as
they were played. Nothing here is a result: results follow the play (board, pairs), whatever the plan says.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.model import Direction


class State(StrEnum):
    """What stands in place of a board that was not started."""

    NOT_PLAYED = "not-played"
    ARTIFICIAL = "artificial"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the director gives for boards that are not played: nothing at all, or percentages (Law 12C2).

    ns, ew: percentages for the two sides, ARTIFICIAL only. provisional: waits for a pair that may still come.
    """

    state: State = State.NOT_PLAYED
    ns: int | None = None
    ew: int | None = None
    provisional: bool = False

    def __post_init__(self) -> None:
        artificial = self.state is State.ARTIFICIAL
        given = [value for value in (self.ns, self.ew) if value is not None]
        if artificial != (len(given) == 2) or not all(0 <= value <= 100 for value in given):
            raise EntryError(
                "An artificial score needs a percentage from 0 to 100 for each side, a board not played none.",
                exit_status=ExitStatus.USAGE,
            )


class Place(StrEnum):
    """Where a late pair goes."""

    AUTO = "auto"
    PHANTOM = "phantom"
    ROVER = "rover"
    APPENDIX = "appendix"


class Then(StrEnum):
    """How a round that was moved wrongly goes on: back to the plan, or everybody from where he sits now."""

    RETURN = "return"
    FOLLOW = "follow"


@dataclass(frozen=True, slots=True)
class LatePair:
    """A pair comes late. missed: boards of ``round`` that it can't play any more. pair: its number, 0 = the next free.

    verdict: for the missed boards. side: two winners only, the ranking of a rover.
    """

    round: int
    place: Place = Place.AUTO
    pair: int = 0
    missed: tuple[int, ...] = ()
    verdict: Verdict = Verdict()
    side: Direction = Direction.NS


@dataclass(frozen=True, slots=True)
class Unstarted:
    """Boards of a table that will not be played: time ran out, or a pair of the plan has not come yet."""

    round: int
    table: int
    boards: tuple[int, ...]
    verdict: Verdict = Verdict()


@dataclass(frozen=True, slots=True)
class Curtailed:
    """The session ends after ``after_round``. Later rounds vanish: nothing in them is "not played"."""

    after_round: int


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A pair leaves, from ``round`` on. standing: whether it is still ranked. cancelled: its results count for nobody,
    as if they had not been played; else they stand for its opponents.
    """

    pair: int
    round: int
    standing: bool = False
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class StandBy:
    """Another pair takes over the seats of ``instead_of`` from ``round`` on, as a contestant of its own."""

    pair: int
    instead_of: int
    round: int


@dataclass(frozen=True, slots=True)
class Substituted:
    """Law 3: a substitute approved by the director plays for ``player`` of a pair, to_round 0 = to the end."""

    pair: int
    player: str
    substitute: str
    round: int
    to_round: int = 0


@dataclass(frozen=True, slots=True)
class Renumbered:
    """The pair shows another number from ``round`` on; who it is, and what it has played, does not change."""

    pair: int
    number: int
    round: int


@dataclass(frozen=True, slots=True)
class SeatedAs:
    """One table as it was really played. boards: () = those of the plan. players: in an individual, N, E, S, W in
    place of the pairs."""

    table: int
    ns: int = 0
    ew: int = 0
    boards: tuple[int, ...] = ()
    players: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.players) == bool(self.ns and self.ew):
            raise EntryError(
                f"At table {self.table} two pairs are wanted, or in an individual four players.",
                exit_status=ExitStatus.USAGE,
            )


@dataclass(frozen=True, slots=True)
class PlayedAs:
    """Round ``round`` was not played as planned: wrong pairs sat down, or pairs or boards were moved wrongly.

    tables: those that differ from the plan (Law 15: scores of pairs that had not played the board stand). verdict: for
    boards that can't be played later because somebody has played them.
    """

    round: int
    tables: tuple[SeatedAs, ...]
    then: Then = Then.RETURN
    verdict: Verdict = Verdict()


@dataclass(frozen=True, slots=True)
class Drawn:
    """Round ``round`` of a Swiss event was drawn: ``couples``, the leaders first, and who has the bye (0 = nobody).

    absent: contestants that do not play in it. first_board: of the round, 0 = the boards after those played.
    """

    round: int
    couples: tuple[tuple[int, int], ...]
    bye: int = 0
    absent: tuple[int, ...] = ()
    first_board: int = 0


@dataclass(frozen=True, slots=True)
class Joined:
    """A pair or team is new in a Swiss event, from the next draw on."""

    contestant: int


@dataclass(frozen=True, slots=True)
class Replanned:
    """Another movement takes the place of the plan, what happened before included. movement: in the form of its file.

    Results stay with the boards and pairs that they name.
    """

    movement: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Undone:
    """The event with this position (from 0) in the list is taken back; an Undone can be undone too."""

    event: int


Happening = (
    LatePair | Unstarted | Curtailed | Withdrawn | StandBy | Substituted | Renumbered | PlayedAs | Drawn | Joined
    | Replanned | Undone
)  # fmt: skip

KINDS: Mapping[str, type[Happening]] = {
    "late-pair": LatePair,
    "unstarted": Unstarted,
    "curtailed": Curtailed,
    "withdrawn": Withdrawn,
    "stand-by": StandBy,
    "substituted": Substituted,
    "renumbered": Renumbered,
    "played-as": PlayedAs,
    "drawn": Drawn,
    "joined": Joined,
    "replanned": Replanned,
    "undone": Undone,
}
_NESTED: Mapping[str, type] = {"verdict": Verdict, "place": Place, "then": Then, "side": Direction, "state": State}
_MAX_ITEMS = 500


def to_dict(event: Happening) -> dict[str, Any]:
    """The event as JSON values, with its ``kind``."""
    kind = next(name for name, cls in KINDS.items() if cls is type(event))
    if isinstance(event, Replanned):
        return {"kind": kind, "movement": dict(event.movement)}
    return {"kind": kind, **asdict(event)}


def from_dict(data: Mapping[str, Any]) -> Happening:
    """The event from JSON values. Raises EntryError naming the key that is unknown, missing or of the wrong kind."""
    kind = data.get("kind")
    cls = KINDS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise EntryError(f"There is no event {kind!r}.", where="kind", exit_status=ExitStatus.USAGE)
    event: Happening = _build(cls, {k: v for k, v in data.items() if k != "kind"}, str(kind))
    return event


def _build(cls: Any, data: Any, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise EntryError("A set of keys and values is needed here.", where=where, exit_status=ExitStatus.USAGE)
    known = {f.name: f for f in fields(cls)}
    for key in data:
        if key not in known:
            raise EntryError(f"Unknown key {str(key)[:40]!r}.", where=where, exit_status=ExitStatus.USAGE)
    values = {key: _value(key, value, known[key].type, f"{where}.{key}") for key, value in data.items()}
    try:
        return cls(**values)
    except TypeError:
        missing = [name for name in known if name not in data]
        raise EntryError(
            f"A key is missing; keys not given: {', '.join(missing)}.", where=where, exit_status=ExitStatus.USAGE
        ) from None


def _value(key: str, value: Any, kind: Any, where: str) -> Any:
    if key == "tables":
        return tuple(_build(SeatedAs, item, where) for item in _items(value, where))
    if key == "couples":
        return tuple(_couple(item, where) for item in _items(value, where))
    if key == "movement":
        if not isinstance(value, Mapping):
            raise EntryError("A movement in the form of its file is needed.", where=where, exit_status=ExitStatus.USAGE)
        return value
    if key in _NESTED:
        target = _NESTED[key]
        if issubclass(target, StrEnum):
            if value not in [str(member) for member in target]:
                words = ", ".join(str(member) for member in target)
                raise EntryError(f"Choose one of {words}.", where=where, exit_status=ExitStatus.USAGE)
            return target(value)
        return _build(target, value, where)
    expected = {"int": int, "str": str, "bool": bool}.get(str(kind))
    if "tuple" in str(kind):
        return tuple(_number(item, where) for item in _items(value, where))
    if value is None and "None" in str(kind):
        return None
    if expected in (None, int):
        return _number(value, where)
    if not isinstance(value, expected or object) or (isinstance(value, str) and len(value) > 200):
        raise EntryError(f"Not a {kind}.", where=where, exit_status=ExitStatus.USAGE)
    return value


def _items(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list | tuple) or len(value) > _MAX_ITEMS:
        raise EntryError(f"A list of at most {_MAX_ITEMS} is needed.", where=where, exit_status=ExitStatus.USAGE)
    return list(value)


def _couple(value: Any, where: str) -> tuple[int, int]:
    both = [_number(item, where) for item in _items(value, where)]
    if len(both) != 2:
        raise EntryError("Two numbers are needed.", where=where, exit_status=ExitStatus.USAGE)
    return both[0], both[1]


def _number(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -1 < value < 100_000:
        raise EntryError("A number from 0 to 99999 is needed.", where=where, exit_status=ExitStatus.USAGE)
    return value
