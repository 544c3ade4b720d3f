"""An auction as it happened: calls, accepted irregularities, withdrawn calls; and what follows from it.

A terminal that records a real auction represents irregularities, it does not forbid them; one that is the bidding
device refuses them with ``irregularities`` before it records anything. Laws 17-39 (2007). Frozen values, no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from dealer.cards import Seat
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.result import PassedOut

MAX_CALLS = 319
"""The longest legal auction: three passes, then 35 bids with every double and redouble as late as possible."""

MAX_EVENTS = 1000


class CallKind(StrEnum):
    PASS = "pass"
    BID = "bid"
    DOUBLE = "double"
    REDOUBLE = "redouble"


@dataclass(frozen=True, slots=True)
class Call:
    """Pass, double, redouble, or a bid of level and strain. A level above 7 is no value here: Law 38 cancels it."""

    kind: CallKind
    level: int = 0
    strain: Strain | None = None

    def __post_init__(self) -> None:
        if self.kind is CallKind.BID:
            if isinstance(self.level, bool) or not 1 <= self.level <= 7 or self.strain is None:
                raise EntryError("A bid has a level from 1 to 7 and a strain (Laws 18, 38).", code="bad-call")
        elif self.level or self.strain is not None:
            raise EntryError("Only a bid has a level and a strain (Law 18).", code="bad-call")

    @property
    def rank(self) -> int:
        """Bids in order, 1 for 1C to 35 for 7NT (Law 18E); 0 for other calls."""
        return 0 if self.strain is None else (self.level - 1) * 5 + int(self.strain)

    @property
    def text(self) -> str:
        """``1NT``, ``Pass``, ``X``, ``XX``."""
        if self.strain is not None:
            return f"{self.level}{self.strain.text}"
        return {CallKind.PASS: "Pass", CallKind.DOUBLE: "X", CallKind.REDOUBLE: "XX"}[self.kind]

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> Call:
        """``1NT``, ``1N``, ``2H``, ``P``, ``Pass``, ``X``, ``D``, ``XX``, ``R``. Raises EntryError."""
        word = text.strip().upper()
        if word in ("P", "PASS", "--"):
            return PASS
        if word in ("X", "D", "DBL", "DOUBLE"):
            return DOUBLE
        if word in ("XX", "R", "RDBL", "REDOUBLE"):
            return REDOUBLE
        if len(word) in (2, 3) and word[0] in "1234567":
            return bid(int(word[0]), Strain.from_text(word[1:]))
        raise EntryError(f"{text.strip()[:12]!r} is no call.", code="bad-call")


PASS = Call(CallKind.PASS)
DOUBLE = Call(CallKind.DOUBLE)
REDOUBLE = Call(CallKind.REDOUBLE)


def bid(level: int, strain: Strain) -> Call:
    """A bid. Raises EntryError for a level outside 1-7 (Law 38)."""
    return Call(CallKind.BID, level, strain)


class Standing(StrEnum):
    """Whether a call counts."""

    MADE = "made"  # in turn and legal, or not looked at
    ACCEPTED = "accepted"  # irregular, and accepted by an opponent (Laws 27A, 29A)
    WITHDRAWN = "withdrawn"  # replaced by its maker (Laws 21B, 25, 27B)
    CANCELLED = "cancelled"  # by the director or the Law (Laws 17E2, 36, 38, 39)


COUNTING = frozenset({Standing.MADE, Standing.ACCEPTED})


@dataclass(frozen=True, slots=True)
class CallEvent:
    """One call as it was made. law: why it is accepted, withdrawn or cancelled, "" for an ordinary call."""

    seat: Seat
    call: Call
    standing: Standing = Standing.MADE
    alerted: bool = False
    law: str = ""


class Irregularity(StrEnum):
    """What is wrong with a call, by its Law."""

    OUT_OF_TURN = "out-of-turn"  # Law 28
    INSUFFICIENT = "insufficient"  # Law 18D, 27
    INADMISSIBLE_DOUBLE = "inadmissible-double"  # Law 19A, 36
    INADMISSIBLE_REDOUBLE = "inadmissible-redouble"  # Law 19B, 36
    AFTER_THE_END = "after-the-end"  # Law 39


@dataclass(frozen=True, slots=True)
class Auction:
    """Dealer and every call that was made, in order, with what became of it."""

    dealer: Seat
    events: tuple[CallEvent, ...] = ()

    def __post_init__(self) -> None:
        if len(self.events) > MAX_EVENTS:
            raise EntryError(f"An auction has at most {MAX_EVENTS} calls.", code="bad-auction")

    @property
    def calls(self) -> tuple[CallEvent, ...]:
        """The calls that count, in order."""
        return tuple(event for event in self.events if event.standing in COUNTING)

    @property
    def last_bid(self) -> CallEvent | None:
        return next((event for event in reversed(self.calls) if event.call.kind is CallKind.BID), None)

    @property
    def doubling(self) -> Doubling:
        """Doubling of the last bid: any new bid clears it (Law 19C)."""
        for event in reversed(self.calls):
            if event.call.kind is CallKind.BID:
                break
            if event.call.kind is CallKind.REDOUBLE:
                return Doubling.REDOUBLED
            if event.call.kind is CallKind.DOUBLE:
                return Doubling.DOUBLED
        return Doubling.NONE

    @property
    def turn(self) -> Seat | None:
        """Whose turn it is: dealer, then clockwise (Law 17B-C); None when the auction is over.

        After three passes of which one out of turn took away somebody's turn, it is that player's turn (Law 17E2).
        """
        if self.is_over:
            return None
        calls = self.calls
        if not calls:
            return self.dealer
        missing = self._who_missed_a_turn()
        return missing if missing is not None else calls[-1].seat.left

    def _passed_since(self) -> tuple[Seat | None, list[Seat]]:
        """Maker of the last call that is no pass, and who has passed since."""
        passed: list[Seat] = []
        for event in reversed(self.calls):
            if event.call.kind is not CallKind.PASS:
                return event.seat, passed
            passed.append(event.seat)
        return None, passed

    def _who_missed_a_turn(self) -> Seat | None:
        maker, passed = self._passed_since()
        needed = 4 if maker is None else 3
        if len(passed) < needed:
            return None
        first = self.dealer if maker is None else maker.left
        return next((seat for seat in _clockwise(first, needed) if seat not in passed), None)

    @property
    def is_over(self) -> bool:
        """Four opening passes, or three after any other call, each by a player in his own turn (Laws 22A, 17E2)."""
        maker, passed = self._passed_since()
        if maker is None:
            return len(set(passed)) == 4
        return set(_clockwise(maker.left, 3)) <= set(passed)

    def irregularities(self, seat: Seat, call: Call) -> list[Irregularity]:
        """What would be irregular about ``call`` by ``seat`` now, most general first; empty for a legal call.

        After an accepted insufficient bid, sufficiency is judged against that lower bid (Law 27A1).
        """
        if self.is_over:
            return [Irregularity.AFTER_THE_END]
        found = []
        if seat != self.turn:
            found.append(Irregularity.OUT_OF_TURN)
        last = self.last_bid
        opposing = last is not None and last.seat not in (seat, seat.partner)
        if call.kind is CallKind.BID and last is not None and call.rank <= last.call.rank:
            found.append(Irregularity.INSUFFICIENT)
        if call.kind is CallKind.DOUBLE and not (opposing and self.doubling is Doubling.NONE):
            found.append(Irregularity.INADMISSIBLE_DOUBLE)
        if call.kind is CallKind.REDOUBLE and not (
            last is not None and not opposing and self.doubling is Doubling.DOUBLED
        ):
            found.append(Irregularity.INADMISSIBLE_REDOUBLE)
        return found

    def make(self, call: Call, seat: Seat | None = None, *, alerted: bool = False) -> Auction:
        """The auction with a legal call, by the player whose turn it is or the one named. Raises EntryError."""
        who = self.turn if seat is None else seat
        if who is None:
            raise EntryError("The auction is over (Law 22).", code="irregular-call")
        wrong = self.irregularities(who, call)
        if wrong:
            raise EntryError(
                f"{call.text} by {who.letter} is irregular: {', '.join(wrong)} (Laws 18, 19, 28, 39).",
                next_step="Call the director, or make another call.",
                code="irregular-call",
            )
        return replace(self, events=(*self.events, CallEvent(who, call, alerted=alerted)))

    def record(self, event: CallEvent) -> Auction:
        """The auction with a call as it happened, irregular or not. Raises EntryError only for the number of calls."""
        return replace(self, events=(*self.events, event))

    def settle(self, index: int, standing: Standing, law: str) -> Auction:
        """The auction after a decision about call ``index`` of ``events``. Raises EntryError."""
        if not 0 <= index < len(self.events):
            raise EntryError(f"The auction has no call number {index + 1}.", code="bad-auction")
        changed = replace(self.events[index], standing=standing, law=law)
        return replace(self, events=(*self.events[:index], changed, *self.events[index + 1 :]))

    def cancel_from(self, index: int, law: str) -> Auction:
        """Call ``index`` and every later one cancelled, as after an inadmissible double (Law 36) or Law 17E2."""
        if not 0 <= index < len(self.events):
            raise EntryError(f"The auction has no call number {index + 1}.", code="bad-auction")
        later = tuple(
            replace(event, standing=Standing.CANCELLED, law=law) if event.standing in COUNTING else event
            for event in self.events[index:]
        )
        return replace(self, events=(*self.events[:index], *later))

    @property
    def contract(self) -> Contract | PassedOut | None:
        """What was reached: a contract, a passed-out board (Law 22A1), or None as long as the auction goes on."""
        if not self.is_over:
            return None
        last = self.last_bid
        if last is None:
            return PassedOut()
        strain = last.call.strain
        assert strain is not None
        side = (last.seat, last.seat.partner)
        declarer = next(e.seat for e in self.calls if e.call.strain is strain and e.seat in side)
        return Contract(last.call.level, strain, self.doubling, declarer)

    def review(self) -> tuple[CallEvent, ...]:
        """The whole auction for a review: all calls that count, with their alerts, never a part of it (Law 20B)."""
        return self.calls


@dataclass(frozen=True, slots=True)
class AuctionFinding:
    """What is wrong with call ``number`` (from 1, cancelled ones counted) of a recorded auction."""

    number: int
    seat: Seat
    fault: Irregularity

    def __str__(self) -> str:
        return f"call {self.number}, {self.seat.name.title()}: {self.fault}"


def check_auction(auction: Auction) -> Iterator[AuctionFinding]:
    """Irregular calls of a recorded auction that were neither accepted nor taken back: each call as made, in its turn.

    An accepted call (Laws 27A, 29A) is no finding; one that was withdrawn or cancelled no longer counts.
    """
    so_far = Auction(auction.dealer)
    for number, event in enumerate(auction.events, start=1):
        if event.standing is Standing.MADE:
            for fault in so_far.irregularities(event.seat, event.call):
                yield AuctionFinding(number, event.seat, fault)
        so_far = so_far.record(event)


def _clockwise(first: Seat, count: int) -> list[Seat]:
    return [Seat((first + step) % 4) for step in range(count)]


def read_auction(dealer: Seat, words: Iterable[str]) -> Auction:
    """A legal auction from words like ``1NT P 3NT P P P``. Raises EntryError that names the call's number."""
    auction = Auction(dealer)
    for number, word in enumerate(words, start=1):
        try:
            auction = auction.make(Call.parse(word))
        except EntryError as error:
            raise EntryError(error.what, where=f"call {number}", code=error.code) from None
    return auction


def may_review(auction: Auction, seat: Seat, *, must_pass: bool = False, has_played: bool = False) -> bool:
    """Whether ``seat`` may ask for the auction to be reviewed now.

    During the auction: at his turn, unless he must pass (Law 20B). After the final pass: declarer or a defender until
    he has played his first card; dummy never (Law 20C2, 41B).
    """
    if not auction.is_over:
        return seat == auction.turn and not must_pass
    contract = auction.contract
    if not isinstance(contract, Contract):
        return False
    return seat != contract.declarer.partner and not has_played
