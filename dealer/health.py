"""The machine's health from what it reports while it deals: rollers, optics, packs and line. Pure.

A dirty roller feeds more slowly, dirty optics read with less margin, long before either stops a board; so both are
compared with how this machine was when it was last cleaned. Nothing here knows a deal: a figure belongs to a machine,
a face of a card, or a board, never to a card in a hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from statistics import median

from dealer.cards import PACK_SIZE
from dealer.duplication.picture import SeenCard
from dealer.duplication.verdict import Reason

WINDOW = 8
"""Boards whose median counts as "now" or as "when clean"."""

FEED_DRIFT = 0.03
"""Slow-down at which the rollers should be cleaned; 0.5 % per 1,000 cards reaches it after about 115 boards."""

MARGIN_DRIFT = 0.15
"""Loss of margin at which the optics should be cleaned."""

MISREADS_PER_100_PACKS = 1.0
"""More false reads than this is a case for the workshop."""

RETRY_FACTORS = (1.6, 15.0)
"""A card that comes so many times later than usual was fed at the second try or later; beyond that somebody helped."""

RETRIES_PER_100_PACKS = 25.0
"""Five times what a clean feeder and dry cards need."""

JAMS_WINDOW, JAMS = 100, 3
"""So many jams within so many boards: one in a thousand is usual."""

BARS = "▁▂▃▄▅▆▇█"


class Trouble(StrEnum):
    """What a board's attempt stopped over, for the statistics."""

    JAM = "jam"
    MISFEED = "misfeed"
    DOUBLE_FEED = "double-feed"
    READ = "read"
    GATE = "gate"
    LINE = "line"
    OPERATOR = "operator"
    OTHER = "other"


TROUBLE_NAMES = {
    Trouble.JAM: "jams",
    Trouble.MISFEED: "hopper gave no card",
    Trouble.DOUBLE_FEED: "double feeds",
    Trouble.READ: "stopped over a card",
    Trouble.GATE: "wrong pocket",
    Trouble.LINE: "line or power lost",
    Trouble.OPERATOR: "cover, board or key",
    Trouble.OTHER: "other stops",
}

_TROUBLE_OF_FAULT = {1: Trouble.JAM, 2: Trouble.MISFEED, 3: Trouble.DOUBLE_FEED, 4: Trouble.READ, 5: Trouble.READ}
_TROUBLE_OF_FAULT |= {6: Trouble.READ, 7: Trouble.GATE, 9: Trouble.OPERATOR, 10: Trouble.OPERATOR, 13: Trouble.LINE}
_TROUBLE_OF_FAULT |= {15: Trouble.OPERATOR}

_TROUBLE_OF_REASON = {
    Reason.UNREADABLE: Trouble.READ,
    Reason.LOW_MARGIN: Trouble.READ,
    Reason.DUPLICATE_CARD: Trouble.READ,
    Reason.LONG_BEAM: Trouble.DOUBLE_FEED,
    Reason.EXIT_DISAGREES: Trouble.GATE,
    Reason.EXIT_SILENT: Trouble.GATE,
    Reason.LINK_LOST: Trouble.LINE,
    Reason.RESTARTED: Trouble.LINE,
    Reason.PULLED: Trouble.OPERATOR,
}


@dataclass(frozen=True, slots=True)
class BoardHealth:
    """Figures of one attempt. Times in milliseconds; margins 0-255; 0 where nothing was measured.

    feed_ms: median time from card to card. margin, margin_low: median, and the lowest of the attempt. beam_ms: median.
    board: whose parity is the pack's colour where red packs make the odd boards. doubtful: face 0-51 of the card over
    which it stopped, or None. retries: cards that the feeder got only at a further try. An entry without cards stands
    for a line that was lost between boards.
    """

    machine_id: str
    board: int
    cards: int
    feed_ms: float
    margin: float
    margin_low: int
    beam_ms: float
    trouble: Trouble | None = None
    doubtful: int | None = field(default=None, repr=False)
    retries: int = 0


def measure(
    machine_id: str, board: int, seen: Sequence[SeenCard], reasons: Iterable[Reason] = (), fault: int = 0
) -> BoardHealth:
    """The figures of one attempt, from the cards that the machine reported."""
    steps = [later.at_ms - earlier.at_ms for earlier, later in pairwise(seen)]
    forward = [step for step in steps if step > 0]
    margins = [card.margin for card in seen]
    reasons = tuple(reasons)
    trouble = _trouble(reasons, fault)
    last = seen[-1].card if seen and trouble is Trouble.READ else None
    return BoardHealth(
        machine_id=machine_id,
        board=board,
        cards=len(seen),
        feed_ms=float(median(forward)) if forward else 0.0,
        margin=float(median(margins)) if margins else 0.0,
        margin_low=min(margins, default=0),
        beam_ms=float(median(card.beam_ms for card in seen)) if seen else 0.0,
        trouble=trouble,
        doubtful=last if last is not None and 0 <= last < PACK_SIZE else None,
        retries=_retries(forward),
    )


def line_lost(machine_id: str) -> BoardHealth:
    """The line was lost while no board was being dealt."""
    return BoardHealth(machine_id, 0, 0, 0.0, 0.0, 0, 0.0, Trouble.LINE)


def _retries(steps: Sequence[float]) -> int:
    if len(steps) < WINDOW:
        return 0
    usual = median(steps)
    return sum(RETRY_FACTORS[0] * usual < step < RETRY_FACTORS[1] * usual for step in steps)


def _trouble(reasons: tuple[Reason, ...], fault: int) -> Trouble | None:
    if fault:
        return _TROUBLE_OF_FAULT.get(fault, Trouble.OTHER)
    for reason in reasons:
        if reason in _TROUBLE_OF_REASON:
            return _TROUBLE_OF_REASON[reason]
    return Trouble.OTHER if reasons else None


@dataclass(frozen=True, slots=True)
class HealthWarning:
    """A fault that is announcing itself.

    ``code``: rollers, optics, reader, feeder, jams, line, pack-odd, pack-even, card.
    """

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The state of one machine. Drifts are shares: 0.03 is 3 % slower, -0.1 is 10 % less margin."""

    machine_id: str
    attempts: int
    cards: int
    feed_ms: float
    feed_drift: float
    margin: float
    margin_drift: float
    troubles: dict[str, int]
    per_100_packs: float
    retries_per_100_packs: float
    reads_odd: int
    reads_even: int
    plot_feed: str
    plot_margin: str
    warnings: tuple[HealthWarning, ...]

    def rows(self) -> list[tuple[str, str]]:
        """The table that ``machine health`` prints."""
        margin = f"{self.margin:.0f} ({self.margin_drift:+.1%} since cleaning)"
        found = [
            ("boards dealt", str(self.attempts)),
            ("cards dealt", str(self.cards)),
            ("card to card", f"{self.feed_ms:.1f} ms ({self.feed_drift:+.1%} since cleaning)"),
            ("read margin", margin if self.plot_margin or not self.attempts else "not measured by this machine"),
            ("false reads", f"{self.per_100_packs:.2f} per 100 packs"),
            ("  by pack", f"{self.reads_odd} in odd boards (red), {self.reads_even} in even boards (blue)"),
            ("feeder's retries", f"{self.retries_per_100_packs:.1f} per 100 packs"),
        ]
        return found + [(TROUBLE_NAMES[Trouble(name)], str(count)) for name, count in sorted(self.troubles.items())]


def assess(history: Sequence[BoardHealth], cards_in_trouble: Counter[int] | None = None) -> HealthReport:
    """The report on one machine from its attempts, oldest first, since it was last cleaned.

    cards_in_trouble: how often each face was hard to read, over all packs; faces that stand out point at worn cards.
    """
    whole = [item for item in history if item.cards >= PACK_SIZE // 2 and item.feed_ms > 0]
    feed_then, feed_now = _ends([item.feed_ms for item in whole])
    margin_then, margin_now = _ends([item.margin for item in whole if item.margin > 0])
    feed_drift = feed_now / feed_then - 1 if feed_then else 0.0
    margin_drift = margin_now / margin_then - 1 if margin_then else 0.0
    troubles = Counter(item.trouble.value for item in history if item.trouble is not None)
    packs = sum(item.cards for item in history) / PACK_SIZE
    reads = troubles[Trouble.READ.value]
    rate = 100 * reads / packs if packs else 0.0
    retries = 100 * sum(item.retries for item in history) / packs if packs else 0.0
    reads_odd = sum(item.trouble is Trouble.READ and item.board % 2 == 1 for item in history)
    return HealthReport(
        machine_id=history[-1].machine_id if history else "",
        attempts=sum(item.cards > 0 for item in history),
        cards=sum(item.cards for item in history),
        feed_ms=feed_now,
        feed_drift=feed_drift,
        margin=margin_now,
        margin_drift=margin_drift,
        troubles=dict(troubles),
        per_100_packs=rate,
        retries_per_100_packs=retries,
        reads_odd=reads_odd,
        reads_even=reads - reads_odd,
        plot_feed=plot([item.feed_ms for item in whole]),
        plot_margin=plot([item.margin for item in whole]) if any(item.margin for item in whole) else "",
        warnings=tuple(_warnings(history, feed_drift, margin_drift, troubles, packs, rate, cards_in_trouble)),
    )


def _warnings(
    history: Sequence[BoardHealth],
    feed_drift: float,
    margin_drift: float,
    troubles: Counter[str],
    packs: float,
    rate: float,
    cards_in_trouble: Counter[int] | None,
) -> Iterable[HealthWarning]:
    if feed_drift >= FEED_DRIFT:
        yield HealthWarning(
            "rollers", f"Cards are fed {feed_drift:.0%} more slowly than when clean: clean the rollers."
        )
    if margin_drift <= -MARGIN_DRIFT:
        yield HealthWarning(
            "optics", f"Cards are read with {-margin_drift:.0%} less margin: clean the optics, keep sunlight away."
        )
    if packs >= 20 and rate > MISREADS_PER_100_PACKS:
        yield HealthWarning("reader", f"{rate:.1f} false reads per 100 packs: look at packs and reader.")
    recent = [item for item in history if item.cards][-JAMS_WINDOW:]
    retries = sum(item.retries for item in recent)
    recent_packs = sum(item.cards for item in recent) / PACK_SIZE
    if recent_packs >= WINDOW and 100 * retries / recent_packs > RETRIES_PER_100_PACKS:
        yield HealthWarning(
            "feeder",
            f"The feeder needed a further try {retries} times lately: riffle the packs, clean the feed roller.",
        )
    jams = sum(item.trouble is Trouble.JAM for item in recent)
    if jams >= JAMS:
        yield HealthWarning("jams", f"{jams} jams in the last {len(recent)} boards: look at gates and belts.")
    if troubles[Trouble.LINE.value] >= 3:
        yield HealthWarning("line", f"The line was lost {troubles[Trouble.LINE.value]} times: change cable or socket.")
    for parity, name in ((1, "odd"), (0, "even")):
        mine = [item for item in history if item.board % 2 == parity]
        bad = sum(item.trouble is Trouble.READ for item in mine)
        other = reads_of(history) - bad
        if bad >= 4 and bad >= 3 * max(1, other):
            yield HealthWarning(
                f"pack-{name}", f"Nearly all false reads are in the packs of the {name} boards: retire them."
            )
    worn = [face for face, count in (cards_in_trouble or Counter()).items() if count >= 3]
    if worn:
        yield HealthWarning(
            "card", f"{len(worn)} card(s) were hard to read three times or more: look for worn corners."
        )


def reads_of(history: Sequence[BoardHealth]) -> int:
    """Attempts that stopped over a read."""
    return sum(item.trouble is Trouble.READ for item in history)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Median of the first and of the last boards; the same when there are few."""
    if not values:
        return 0.0, 0.0
    if len(values) < 2 * WINDOW:
        middle = float(median(values))
        return middle, middle
    return float(median(values[:WINDOW])), float(median(values[-WINDOW:]))


def plot(values: Sequence[float], width: int = 40) -> str:
    """A small plot of one line, oldest left: each column is the median of its boards, scaled between the extremes."""
    if not values:
        return ""
    columns = min(width, len(values))
    medians = [median(values[i * len(values) // columns : (i + 1) * len(values) // columns]) for i in range(columns)]
    low, high = min(medians), max(medians)
    if high - low < 1e-9:
        return BARS[0] * columns
    return "".join(BARS[min(len(BARS) - 1, int((value - low) / (high - low) * len(BARS)))] for value in medians)
