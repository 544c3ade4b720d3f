"""What a table may enter, and what looks wrong about it. Pure: an entry and what is known in, notices out.

Two kinds of checks are kept apart. Checks against the *movement* say plainly what is wrong: everybody may know who
plays what. Checks against the *deal* or the *field* know cards or other tables' results; at the table they all give the
same neutral text, at most a few times a round and only for the first entry of a board, so that nobody can ask questions
of a deal by typing. Their cause goes to the director's desk only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from dealer.board import vulnerability_of
from dealer.cards import Seat
from dealer.deal import Deal
from terminals.contract import Contract, Strain
from terminals.movement.model import Movement, Seating
from terminals.result import BoardState, PassedOut, Played
from terminals.scoring.contract_score import score_ns

NEUTRAL = "Check board, declarer, contract, result"
CALL_DIRECTOR = "Call the director"
IT_IS_RIGHT = "It is right"
THAT_WAS = "That was board …"
"""The earlier entry is moved to another board: a correction with that board's number, so two events with one record."""

FIELD_FROM = 3
"""Results that the field must have before its sign means anything."""
BOTH_SIDES_LIMIT = 15
"""Tricks that two sides can make between them, each as declarer in the same suit, before it looks wrong."""
DOUBLE_DUMMY_LIMIT = 4
"""Tricks away from double dummy before a result looks impossible."""


class Answer(StrEnum):
    """What the table may do about a notice."""

    CONFIRM = "confirm"  # one key: it is right
    DIRECTOR = "director"  # only the director can let it pass


@dataclass(frozen=True, slots=True)
class Notice:
    """Words for the screen of a table. code: stable word; key: the text of the key that goes on; second: of another
    one, "" when there is none."""

    code: str
    text: str
    answer: Answer
    key: str
    second: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a table is about to enter; ``result`` is None while only the board is chosen."""

    round: int
    table: int
    board: int
    ns: int
    ew: int
    result: Played | PassedOut | None = None

    @property
    def play(self) -> tuple[int, int, int]:
        """Board and pairs."""
        return self.board, self.ns, self.ew


@dataclass(frozen=True, slots=True)
class Known:
    """What the terminal knows without the host.

    entered: boards that have a result at this table, with the round in which they got it. played: (board, pair) that
    have a result anywhere, as far as it is known here.
    """

    movement: Movement | None = None
    entered: Mapping[int, int] = field(default_factory=dict)
    played: frozenset[tuple[int, int]] = frozenset()
    check_order: bool = True


@dataclass(frozen=True, slots=True)
class Behind:
    """What only the host knows. deal: None for shuffle and play. double_dummy: tricks by (declarer, strain)."""

    deal: Deal | None = field(default=None, repr=False)
    double_dummy: Mapping[tuple[Seat, Strain], int] | None = field(default=None, repr=False)
    field_results: Sequence[BoardState] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """How often this table has been warned: ``warned`` in this round, and boards whose first entry was looked at."""

    round: int = 0
    warned: int = 0
    looked_at: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Verdict:
    """notices: for the table, in order. causes: for the desk only, codes. budget: to be handed in the next time."""

    notices: tuple[Notice, ...]
    causes: tuple[str, ...]
    budget: Budget

    @property
    def free(self) -> bool:
        """True when nothing stands in the way."""
        return not self.notices


def check(entry: Entry, known: Known, behind: Behind, budget: Budget, warnings_per_round: int = 3) -> Verdict:
    """Everything that is wrong with an entry. The budget of another round is begun anew."""
    if budget.round != entry.round:
        budget = Budget(entry.round)
    notices = movement_notices(entry, known)
    if entry.result is None:
        return Verdict(notices, (), budget)
    causes = causes_behind(entry, behind)
    first = entry.board not in budget.looked_at
    budget = replace(budget, looked_at=budget.looked_at | {entry.board})
    if causes and first and budget.warned < warnings_per_round:
        budget = replace(budget, warned=budget.warned + 1)
        notices += (Notice("check", NEUTRAL, Answer.CONFIRM, IT_IS_RIGHT),)
    return Verdict(notices, causes, budget)


# --- against the movement ----------------------------------------------------------------------------------------


def movement_notices(entry: Entry, known: Known) -> tuple[Notice, ...]:
    """Board not in this round, entered before, out of order, played before by one of the pairs (Law 15)."""
    if known.movement is None:
        return _again(entry, known)
    seating = known.movement.at(entry.round, entry.table)
    if seating is None:
        text = f"Nobody plays at table {entry.table} in round {entry.round}."
        return (Notice("sit-out", text, Answer.DIRECTOR, CALL_DIRECTOR),)
    if (entry.ns, entry.ew) != (seating.ns, seating.ew):
        return (_wrong_pairs(entry, seating),)
    if entry.board not in seating.boards:
        boards = _run(seating.boards)
        text = f"Board {entry.board} is not in this round. This table plays {boards}."
        return (Notice("not-in-round", text, Answer.DIRECTOR, CALL_DIRECTOR),)
    return _again(entry, known) or _order(entry, seating, known)


def _wrong_pairs(entry: Entry, seating: Seating) -> Notice:
    text = (
        f"In round {entry.round} table {entry.table} has pair {seating.ns} North-South and pair {seating.ew} East-West,"
        f" not {entry.ns} and {entry.ew}."
    )
    return Notice("wrong-pairs", text, Answer.DIRECTOR, CALL_DIRECTOR)


def _again(entry: Entry, known: Known) -> tuple[Notice, ...]:
    if entry.board in known.entered:
        when = known.entered[entry.board]
        place = "in this round" if when == entry.round else f"in round {when}"
        text = f"Board {entry.board} was entered here {place}. Which board was that, and which is this?"
        return (Notice("entered-before", text, Answer.DIRECTOR, CALL_DIRECTOR, THAT_WAS),)
    who = [pair for pair in (entry.ns, entry.ew) if (entry.board, pair) in known.played]
    if who:
        pairs = " and ".join(f"pair {pair}" for pair in who)
        verb = "have" if len(who) > 1 else "has"
        text = f"{pairs.capitalize()} {verb} played board {entry.board} before (Law 15)."
        return (Notice("played-before", text, Answer.DIRECTOR, CALL_DIRECTOR),)
    return ()


def _order(entry: Entry, seating: Seating, known: Known) -> tuple[Notice, ...]:
    left = [board for board in sorted(seating.boards) if known.entered.get(board) != entry.round]
    if not known.check_order or not left or entry.board == left[0]:
        return ()
    text = f"Board {left[0]} comes before board {entry.board}. Is this board {entry.board}?"
    return (Notice("out-of-order", text, Answer.CONFIRM, IT_IS_RIGHT),)


def remaining(known: Known, round: int, table: int) -> tuple[int, ...]:
    """Boards of this round that this table has not entered, in order."""
    seating = None if known.movement is None else known.movement.at(round, table)
    if seating is None:
        return ()
    return tuple(board for board in sorted(seating.boards) if known.entered.get(board) != round)


def _run(boards: Sequence[int]) -> str:
    ordered = sorted(boards)
    if len(ordered) == 1:
        return f"board {ordered[0]}"
    if ordered == list(range(ordered[0], ordered[-1] + 1)):
        return f"boards {ordered[0]} to {ordered[-1]}"
    return "boards " + ", ".join(map(str, ordered))


# --- against deal and field --------------------------------------------------------------------------------------

WRONG_LEAD = "lead-not-with-leader"
BOTH_SIDES = "both-sides-in-one-suit"
OPPOSITE_SIGN = "sign-opposite-to-field"
NOT_POSSIBLE = "far-from-double-dummy"

CAUSES = {
    WRONG_LEAD: "the opening lead was not dealt to declarer's left-hand opponent: wrong declarer, board or cards",
    BOTH_SIDES: "both sides declared this suit, with too many tricks between them",
    OPPOSITE_SIGN: "every other table scored the other way",
    NOT_POSSIBLE: "the tricks are far from double dummy",
    "auction-not-by-dealer": "the recorded auction has another dealer: the board was turned, or it is another one",
    "auction-irregular": "the recorded auction has irregular calls that nobody accepted",
    "auction-unfinished": "the recorded auction does not end",
    "contract-not-of-auction": "the result's contract is not the one that the recorded auction reached",
    "play-irregular": "the recorded play has a revoke, or a card out of turn or from no hand",
    "play-other-tricks": "the recorded play and the result have different tricks",
    "play-other-lead": "the recorded play begins with another lead than the result",
    "hands-differ": "two tables have keyed in different hands for this board (Law 87)",
    "hands-not-as-dealt": "the hands that the table keyed in are not those that were dealt (Law 87)",
    "acceptance-not-proved": "the other side's code does not belong to the result that it should have accepted",
}
"""Code -> words for the desk. None of them names a card."""


def causes_behind(entry: Entry, behind: Behind) -> tuple[str, ...]:
    """Why an entry looks wrong against the deal and the other tables; for the desk only."""
    found = []
    result = entry.result
    if isinstance(result, Played):
        if _wrong_lead(result, behind.deal):
            found.append(WRONG_LEAD)
        if any(_both_sides(result, other) for other in behind.field_results):
            found.append(BOTH_SIDES)
        if _not_possible(result, behind.double_dummy):
            found.append(NOT_POSSIBLE)
    if result is not None and _opposite(entry.board, result, behind.field_results):
        found.append(OPPOSITE_SIGN)
    return tuple(found)


def _wrong_lead(result: Played, deal: Deal | None) -> bool:
    if deal is None or result.lead is None:
        return False
    return result.lead not in deal.hand(result.contract.leader)


def _both_sides(result: Played, other: BoardState) -> bool:
    if not isinstance(other, Played):
        return False
    mine, theirs = result.contract, other.contract
    if mine.strain is not theirs.strain or mine.strain is Strain.NOTRUMP:
        return False
    return mine.by_north_south != theirs.by_north_south and result.tricks + other.tricks > BOTH_SIDES_LIMIT


def _opposite(board: int, result: Played | PassedOut, others: Sequence[BoardState]) -> bool:
    scores = [score for score in (score_ns(other, board) for other in others) if score is not None]
    own = score_ns(result, board, vulnerability_of(board))
    if len(scores) < FIELD_FROM or not own:
        return False
    return all(score > 0 for score in scores) if own < 0 else all(score < 0 for score in scores)


def _not_possible(result: Played, table: Mapping[tuple[Seat, Strain], int] | None) -> bool:
    if table is None:
        return False
    contract: Contract = result.contract
    best = table.get((contract.declarer, contract.strain))
    return best is not None and abs(result.tricks - best) >= DOUBLE_DUMMY_LIMIT
