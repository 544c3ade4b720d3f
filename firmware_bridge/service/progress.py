"""What a running evening tells whoever watches: the dealing job's events and the collection's. Never a card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dealer.duplication.progress import ProgressEvent


@dataclass(frozen=True, slots=True)
class EveningBegan:
    """movement: words for people; seed: None unless simulated; resumed: an earlier run began this evening."""

    movement: str
    boards: int
    copies: int
    rounds: int
    tables: int
    expected: int
    seed: int | None
    resumed: bool


@dataclass(frozen=True, slots=True)
class CollectionBegan:
    """``per_seat``: expected results for each (section letter, round, table); ``stored``: those that are there."""

    per_seat: dict[tuple[str, int, int], int]
    stored: dict[tuple[str, int, int], int]


@dataclass(frozen=True, slots=True)
class ResultStored:
    """One more current result, or a change of one; ``stored`` and ``expected`` count the whole evening."""

    section: str
    round: int
    table: int
    board: int
    here: int
    stored: int
    expected: int


@dataclass(frozen=True, slots=True)
class StationState:
    """A base station came or went. ``text``: one sentence for people."""

    url: str
    up: bool
    text: str


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that the director should look at: an alarm, a quarantined record, a terminal that waits."""

    text: str


EveningEvent = ProgressEvent | EveningBegan | CollectionBegan | ResultStored | StationState | Attention
OnEveningEvent = Callable[[EveningEvent], None]
