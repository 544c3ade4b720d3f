"""What a table recorded beside the result of a play: its auction and its cards. Frozen values, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field

from terminals.auction import Auction
from terminals.play import PlayedCard


@dataclass(frozen=True, slots=True)
class RecordedPlay:
    """agreed: tricks of declarer's side on which both sides agreed (Law 79A), None when they said nothing."""

    agreed: int | None
    cards: tuple[PlayedCard, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a table recorded of one play, the newest of each kind."""

    auction: Auction | None = None
    play: RecordedPlay | None = field(default=None, repr=False)
