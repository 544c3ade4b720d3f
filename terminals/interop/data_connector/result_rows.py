"""Results between our ledger's words and ResultDTO, both ways. Pure.

ResultDTO knows contracts, passes, boards not played and the nine pairs of averages. A split ruling is told by its
North-South side, as the vendor's program takes it; what can't be told at all is sent as "not played", and ``Told.lost``
says so for the director's desk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dealer.cards import Seat
from terminals.contract import Contract, Doubling, Strain
from terminals.interop.data_connector.shapes import RESULT, Dto, blank
from terminals.movement.model import Format, Movement
from terminals.result import (
    Artificial,
    ArtificialSide,
    Assigned,
    AssignedSide,
    Average,
    BoardState,
    FixedPercent,
    NotPlayed,
    Outcome,
    PassedOut,
    Played,
)
from terminals.store.values import PlayKey
from terminals.sync.sense import movement_numbers

NOT_PLAYED = -10
_AVERAGES = (Average.MINUS, Average.EVEN, Average.PLUS)
_PERCENTS = {Fraction(40): Average.MINUS, Fraction(50): Average.EVEN, Fraction(60): Average.PLUS}


@dataclass(frozen=True, slots=True)
class Section:
    """A section for the translation. dto: as the program sent it. letter: ours. movement, offset: as they were built.

    rounds: (round, table) -> RoundDTO.
    """

    dto: Dto
    letter: str
    movement: Movement | None
    offset: int
    rounds: Mapping[tuple[int, int], Dto]

    @property
    def letters(self) -> str:
        return (self.dto["Letters"] or "").strip()


@dataclass(frozen=True, slots=True)
class Place:
    """Where the program has a play. turned: the pairs sat in each other's direction there."""

    round: int
    table: int
    board: int
    turned: bool = False

    def key(self, letters: str) -> str:
        return f"{letters}/{self.table}/{self.round}/{self.board}"


@dataclass(frozen=True, slots=True)
class Told:
    """A ResultDTO, and what of the result it can't say ("" when it says all)."""

    dto: Dto
    lost: str = ""


def place_of(section: Section, play: PlayKey, round: int, table: int) -> Place:
    """Where a play is for the program. round, table: where it was keyed in, of use when the movement lacks it."""
    if section.movement is not None:
        meetings = movement_numbers(section.movement).meetings
        found = meetings.get((play.board, play.ns, play.ew))
        if found is not None:
            return Place(*found, play.board)
        found = meetings.get((play.board, play.ew, play.ns))
        if found is not None:
            return Place(*found, play.board, True)
    return Place(round, table, play.board)


def is_planned(section: Section, play: PlayKey) -> bool:
    """Whether the movement has these pairs on this board, in either direction."""
    if section.movement is None:
        return False
    meetings = movement_numbers(section.movement).meetings
    return (play.board, play.ns, play.ew) in meetings or (play.board, play.ew, play.ns) in meetings


def is_known(section: Section, play: PlayKey) -> bool:
    """Whether these are two pairs of the section, and the board is one of its boards."""
    if section.movement is None:
        return False
    known = movement_numbers(section.movement)
    return play.ns != play.ew and {play.ns, play.ew} <= known.pairs and play.board in known.boards


def to_dto(section: Section, session: str, play: PlayKey, content: BoardState | None, place: Place) -> Told:
    """What the program is told of a play; None is a deletion."""
    ns, ew = _program_pairs(section, play, place)
    dto = blank(
        RESULT,
        SessionGuid=session,
        SectionLetters=section.letters,
        TableNumber=place.table,
        RoundNumber=place.round,
        BoardNumber=play.board,
        ScoringDirection=3,
        PairNorthSouth=ns,
        PairEastWest=ew,
        DeclaringPair=ns,
    )
    if content is None:
        dto["IsDeleted"] = True
        return Told(dto)
    plain, lost = _plain(content)
    if isinstance(plain, Played):
        made = plain.contract
        by_ns = made.by_north_south != place.turned
        dto |= {
            "DeclaringPair": ns if by_ns else ew,
            "DeclarerDirection": int(made.declarer) + 1,
            "Level": made.level,
            "Denomination": int(made.strain),
            "Stake": int(made.doubling),
            "TotalTricks": plain.tricks,
        }
        if plain.lead is not None:
            dto |= {"LeadCardRank": 14 - plain.lead % 13, "LeadCardSuit": 4 - plain.lead // 13}
    elif isinstance(plain, PassedOut):
        dto["Level"] = 0
    elif isinstance(plain, tuple):
        first, second = reversed(plain) if place.turned else plain
        dto["Level"] = -(3 * _AVERAGES.index(first) + _AVERAGES.index(second) + 1)
    else:
        dto["Level"] = NOT_PLAYED
    return Told(dto, lost)


def _program_pairs(section: Section, play: PlayKey, place: Place) -> tuple[int, int]:
    planned = section.rounds.get((place.round, place.table))
    movement = section.movement
    known = movement is not None and (
        place.turned or (play.board, play.ns, play.ew) in movement_numbers(movement).meetings
    )
    if planned is not None and (known or (movement is not None and movement.format is Format.INDIVIDUAL)):
        return planned["PairNS"] or 1, planned["PairEW"] or 1
    return tuple(n - section.offset if 0 < section.offset < n else n for n in (play.ns, play.ew))  # type: ignore[return-value]


def _plain(content: BoardState) -> tuple[Played | PassedOut | tuple[Average, Average] | None, str]:
    """A contract, a pass, two averages, or None for "not played"; and what was lost."""
    if isinstance(content, (Played, PassedOut)):
        return content, ""
    if isinstance(content, NotPlayed):
        return None, ""
    if isinstance(content, Artificial):
        sides = _average(content.ns), _average(content.ew)
        if sides[0] is None or sides[1] is None:
            return None, "an artificial score other than 40, 50 or 60 percent"
        return (sides[0], sides[1]), ""
    if isinstance(content, Assigned):
        return _assigned(content)
    return None, ""


def _assigned(content: Assigned) -> tuple[Played | PassedOut | tuple[Average, Average] | None, str]:
    lost = "a split score; the program has North-South's" if content.is_split else ""
    if isinstance(content.ns, (Average, FixedPercent)):
        first = _average(content.ns)
        second = _average(content.ew) if isinstance(content.ew, (Average, FixedPercent)) else None
        if first is None:
            return None, "an artificial score other than 40, 50 or 60 percent"
        # The other side of a split has a contract here; no code says that, so it is told the plain average.
        return (first, second or Average.EVEN), "" if second is not None else lost
    if len(content.ns) > 1:
        return None, "a weighted score"
    only = content.ns[0].result
    return (None, "a score without a contract") if isinstance(only, int) else (only, lost)


def _average(side: ArtificialSide) -> Average | None:
    return side if isinstance(side, Average) else _PERCENTS.get(side.percent)


def is_told(section: Section, play: PlayKey, content: BoardState, rows: Sequence[Dto], place: Place) -> bool:
    """Whether a program's rows of one board say what it is told of this play.

    It may know less than we do: no lead, not why a board was not played, nothing of a weighted score.
    """
    dto = rows[-1]
    if dto["IsDeleted"] or any(row["ScoringDirection"] != 3 for row in rows if not row["IsDeleted"]):
        return False
    told = to_dto(section, dto["SessionGuid"], play, content, place).dto
    names = ["PairNorthSouth", "PairEastWest", "Level"]
    if told["Level"] >= 1:
        names += ["DeclaringPair", "DeclarerDirection", "Denomination", "Stake", "TotalTricks"]
    if told["Level"] >= 1 and dto["LeadCardRank"]:
        names += ["LeadCardRank", "LeadCardSuit"]
    return all(dto[name] == told[name] for name in names)


# --- from the program --------------------------------------------------------------------------------------------


def play_of(section: Section, dto: Dto) -> PlayKey | None:
    """The play that a ResultDTO names; None when the movement has no such table, round and board.

    A declarer whose seat does not fit DeclaringPair says that the pairs sat in each other's direction.
    """
    movement = section.movement
    seating = None if movement is None else movement.at(dto["RoundNumber"], dto["TableNumber"])
    if seating is None or dto["BoardNumber"] not in seating.boards:
        return None
    if (movement is not None and movement.format is Format.INDIVIDUAL) or dto["IsDeleted"]:
        ns, ew = seating.ns, seating.ew
    else:
        ns, ew = dto["PairNorthSouth"], dto["PairEastWest"]
        planned = (seating.ns, seating.ew - section.offset)
        if (ns, ew) != planned and (ew, ns) == planned:
            ns, ew = seating.ew, seating.ns
        else:
            ew += section.offset
    if not dto["IsDeleted"] and dto["Level"] >= 1:
        by_ns = dto["DeclarerDirection"] in (1, 3)
        if dto["PairNorthSouth"] != dto["PairEastWest"] and by_ns != (dto["DeclaringPair"] == dto["PairNorthSouth"]):
            ns, ew = ew, ns
    return PlayKey(section.letter, dto["BoardNumber"], ns, ew)


def from_dtos(rows: Sequence[Dto]) -> BoardState:
    """The result that the program's rows of one board say: one row, or one for each side of a split score.

    Rows must be valid and none a deletion. Raises EntryError for a contract or lead that can't be.
    """
    by_side = {dto["ScoringDirection"]: _content(dto) for dto in rows}
    ns, ew = by_side.get(1), by_side.get(2)
    if 3 not in by_side and ns is not None and ew is not None and ns != ew:
        sides = _side(ns, True), _side(ew, False)
        if sides[0] is not None and sides[1] is not None:
            return Assigned(sides[0], sides[1])
    return _content(rows[-1]) if 3 in by_side or ns is None else ns


def _side(content: BoardState, north_south: bool) -> AssignedSide | None:
    if isinstance(content, (Played, PassedOut)):
        return (Outcome(content),)
    if isinstance(content, Artificial):
        return content.ns if north_south else content.ew
    return None


def _content(dto: Dto) -> BoardState:
    level = dto["Level"]
    if level == NOT_PLAYED:
        return NotPlayed()
    if level < 0:
        first, second = divmod(-level - 1, 3)
        sides = _AVERAGES[first], _AVERAGES[second]
        return Artificial(*(reversed(sides) if dto["ScoringDirection"] == 2 else sides))
    if level == 0:
        return PassedOut()
    contract = Contract(
        level, Strain(dto["Denomination"]), Doubling(dto["Stake"]), Seat((dto["DeclarerDirection"] - 1) % 4)
    )
    lead = 13 * (4 - dto["LeadCardSuit"]) + 14 - dto["LeadCardRank"] if dto["LeadCardRank"] else None
    return Played(contract, dto["TotalTricks"], lead)
