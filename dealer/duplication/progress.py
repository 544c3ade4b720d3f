"""What the job tells the command or page that runs it: progress events and the summary. Counts only, never a card."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dealer.duplication.instructions import Instruction
from dealer.duplication.plan import BoardKey, Plan
from dealer.duplication.verdict import BoardState, Reason


@dataclass(frozen=True, slots=True)
class JobBegan:
    """``planned``: physical boards of the plan. ``made``: those that were good or unconfirmed before this run.

    interrupted: boards in which an earlier run may have left cards. copies: of each board.
    """

    planned: int
    made: int
    interrupted: int
    copies: int = 1


@dataclass(frozen=True, slots=True)
class BoardBegan:
    """The machine has started. ``attempt`` counts from 1 within this run."""

    board: int
    copy: int
    attempt: int


@dataclass(frozen=True, slots=True)
class CardCounted:
    """One more card of the board is in a pocket. ``counts``: cards in N, E, S, W as the host believes."""

    board: int
    copy: int
    cards: int
    counts: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class BoardEnded:
    """The verdict on an attempt is committed. ``withdrawn``: it takes back one that called the board made."""

    board: int
    copy: int
    state: BoardState
    reasons: tuple[Reason, ...]
    cards: int = 0
    withdrawn: bool = False

    @property
    def cards_moved(self) -> bool:
        """The machine has dealt at least one card into the board of this attempt."""
        return self.cards > 0


@dataclass(frozen=True, slots=True)
class Told:
    """The operator has been told something new."""

    instruction: Instruction


@dataclass(frozen=True, slots=True)
class Stopped:
    """Work stands still until the operator has acted."""

    instruction: Instruction
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class LineDown:
    reason: str


@dataclass(frozen=True, slots=True)
class LineUp:
    """``restarted``: the machine's boot id is another one than before."""

    restarted: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run achieved.

    boards_good: board numbers of which every planned copy is good. copies_good: physical boards that are good,
    earlier runs of the same set included. states: number of physical boards per state. not_good: each board that is
    not good, in the order of the plan. copies: of each board. attempts, stops, redeals: of this run. Seconds by the
    job's clock: in all, with the machine dealing or reading, waiting for the operator or the line, and the rest, which
    is the host's own.
    """

    planned: int
    boards_good: int
    copies_good: int
    states: Mapping[str, int] = field(default_factory=dict)
    not_good: tuple[tuple[BoardKey, BoardState], ...] = ()
    copies: int = 1
    attempts: int = 0
    stops: int = 0
    redeals: int = 0
    link_losses: int = 0
    seconds: float = 0.0
    dealing_s: float = 0.0
    waiting_s: float = 0.0

    @property
    def complete(self) -> bool:
        """Every physical board of the plan is good."""
        return self.copies_good == self.planned

    @property
    def host_s(self) -> float:
        return max(0.0, self.seconds - self.dealing_s - self.waiting_s)

    def as_dict(self) -> dict[str, object]:
        """For the ``--json`` line of a command."""
        return {
            "planned": self.planned,
            "boards_good": self.boards_good,
            "copies_good": self.copies_good,
            "states": dict(self.states),
            "not_good": [{"board": k.board, "copy": k.copy, "state": s.value} for k, s in self.not_good],
            "attempts": self.attempts,
            "stops": self.stops,
            "redeals": self.redeals,
            "link_losses": self.link_losses,
            "seconds": round(self.seconds, 3),
            "dealing_seconds": round(self.dealing_s, 3),
            "waiting_seconds": round(self.waiting_s, 3),
            "host_seconds": round(self.host_s, 3),
        }


@dataclass(frozen=True, slots=True)
class JobEnded:
    summary: Summary


ProgressEvent = JobBegan | BoardBegan | CardCounted | BoardEnded | Told | Stopped | LineDown | LineUp | JobEnded
OnProgress = Callable[[ProgressEvent], None]


def count_states(plan: Plan, states: Mapping[BoardKey, BoardState]) -> tuple[int, int, dict[str, int]]:
    """Good board numbers, good copies, and physical boards per state, of the boards of a plan."""
    keys = [item.key for item in plan.items]
    per_state: dict[str, int] = {}
    for key in keys:
        name = states[key].value
        per_state[name] = per_state.get(name, 0) + 1
    bad = {key.board for key in keys if states[key] is not BoardState.GOOD}
    good_boards = len({key.board for key in keys} - bad)
    return good_boards, per_state.get(BoardState.GOOD.value, 0), per_state


def not_good(plan: Plan, states: Mapping[BoardKey, BoardState]) -> tuple[tuple[BoardKey, BoardState], ...]:
    """The boards of a plan that are not good, in its order."""
    return tuple((item.key, states[item.key]) for item in plan.items if states[item.key] is not BoardState.GOOD)
