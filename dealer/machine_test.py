"""The test of a machine with a sorted pack: every card is known, so every false read and every false pocket shows.

A new pack in order is dealt, card by card in turn to N, E, S, W; nothing is a secret here. What the reader made of each
card goes into a confusion matrix over several packs: which card was taken for which, and how far ahead the right one
was. The same pack may be run face order or reversed; which way it lay is found out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from dealer.cards import PACK_SIZE, card_name
from dealer.deal import Deal
from dealer.duplication import instructions as tell
from dealer.duplication.checks import JOKER, Checks, Placement
from dealer.duplication.contact import Contact
from dealer.duplication.instructions import Instruction
from dealer.duplication.options import JobOptions
from dealer.duplication.plan import MAX_BOARD, BoardCopy, BoardKey
from dealer.duplication.progress import CardCounted, OnProgress
from dealer.duplication.slot import LineBroken, Starter
from dealer.duplication.verdict import Reason
from dealer.duplication.words import what_happened
from drivers.api import (
    UNKNOWN,
    Action,
    Armed,
    BoardInserted,
    BoardPulled,
    Capability,
    CardPassed,
    Connected,
    DealingMachine,
    Disconnected,
    Fault,
    JobDone,
    MachineFault,
    Segment,
    Sound,
)
from firmware_bridge.clock import Clock
from firmware_bridge.errors import DeviceError, LinkLost

TEST_BOARD = 999
"""Number under which a board without a label is dealt; any board may be put in."""

ROUND = Deal(bytes(card % 4 for card in range(PACK_SIZE)))
"""Where the cards of the sorted pack go: in turn to North, East, South and West."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One card of one test: which it was, what the reader made of it, where it was sent and seen (``UNKNOWN``: not)."""

    expected: int
    read: int
    runner_up: int
    margin: int
    wanted: int
    confirmed: int


@dataclass(frozen=True, slots=True)
class PackTest:
    """One pack. ``stopped``: the machine's fault number when it did not get through, else 0."""

    passes: tuple[Pass, ...]
    reversed: bool
    stopped: int = 0


@dataclass(frozen=True, slots=True)
class Confusion:
    """What all packs together say.

    taken_for: (card, what it was read as) and how often, wrong ones only. weakest: the cards with the lowest median
    margin, lowest first, none where the machine measures no margin. wrong_pockets: cards seen in another pocket than
    they were sent to. neighbours: (card, runner-up) of the commonest second choices. stops: why packs were stopped, in
    words, and how often.
    """

    packs: int
    cards: int
    right: int
    unread: int
    taken_for: dict[tuple[int, int], int]
    wrong_pockets: int
    stopped: int
    weakest: tuple[tuple[int, float], ...]
    neighbours: dict[tuple[int, int], int] = field(default_factory=dict)
    stops: dict[str, int] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.cards > 0 and self.right == self.cards and not self.wrong_pockets and not self.stopped

    def matrix(self) -> list[list[str]]:
        """Rows of a table: a head line, then for each card that was confused how often it was read as what.

        Only the cards that were confused, and what they were read as: everything else would be empty.
        """
        came = sorted({card for card, _ in self.taken_for})
        read = sorted({card for _, card in self.taken_for})
        head = ["", *(_name(card) for card in read)]
        body = [[card_name(c), *(str(self.taken_for.get((c, r), 0) or "") for r in read)] for c in came]
        return [head, *body] if body else []

    def rows(self) -> list[tuple[str, str, int]]:
        """The matrix as a list: card, read as, times; cards that were not read under "-"."""
        found = [(card_name(card), _name(read), times) for (card, read), times in self.taken_for.items()]
        return sorted(found, key=lambda row: (-row[2], row[0]))


def _name(card: int) -> str:
    if 0 <= card < PACK_SIZE:
        return card_name(card)
    return {UNKNOWN: "-", JOKER: "joker"}.get(card, "?")


def _why(stopped: int) -> str:
    if stopped == UNKNOWN:
        return "the board was taken out, or the machine fell silent"
    return what_happened((), MachineFault(0, Fault(stopped), Segment.NONE, 0, False, Action.NONE))


def order_of(reads: Sequence[int]) -> tuple[list[int], bool]:
    """The expected cards of a sorted pack that read like this, and whether it lay the other way round.

    The pack may have been cut: of all places to begin, the one that explains the most reads is taken.
    """
    best, found, turned = -1, list(range(PACK_SIZE)), False
    for backwards in (False, True):
        step = -1 if backwards else 1
        for first in range(PACK_SIZE):
            # An uncut pack is tried first, so that nothing read at all means nothing was cut.
            start = (PACK_SIZE - 1 - first) if backwards else first
            order = [(start + step * index) % PACK_SIZE for index in range(PACK_SIZE)]
            score = sum(read == card for read, card in zip(reads, order, strict=False))
            if score > best:
                best, found, turned = score, order, backwards
    return found, turned


def evaluate(tests: Iterable[PackTest]) -> Confusion:
    """The confusion matrix over all packs."""
    done = list(tests)
    passes = [item for test in done for item in test.passes]
    wrong = Counter((item.expected, item.read) for item in passes if item.read != item.expected)
    margins: dict[int, list[int]] = {}
    for item in passes:
        if item.read == item.expected:
            margins.setdefault(item.expected, []).append(item.margin)
    weakest = sorted(((card, float(median(values))) for card, values in margins.items()), key=lambda pair: pair[1])
    near = Counter((item.expected, item.runner_up) for item in passes if item.runner_up < PACK_SIZE)
    return Confusion(
        packs=len(done),
        cards=len(passes),
        right=sum(item.read == item.expected for item in passes),
        unread=sum(item.read == UNKNOWN for item in passes),
        taken_for=dict(wrong),
        wrong_pockets=sum(item.confirmed not in (UNKNOWN, item.wanted) for item in passes),
        stopped=sum(test.stopped != 0 for test in done),
        weakest=tuple(weakest[:5]) if any(item.margin for item in passes) else (),
        neighbours=dict(near.most_common(10)),
        stops=dict(Counter(_why(test.stopped) for test in done if test.stopped)),
    )


class MachineTester:
    """Deals sorted packs. One at a time per machine."""

    def __init__(
        self,
        machine: DealingMachine,
        clock: Clock,
        *,
        on_progress: OnProgress | None = None,
        options: JobOptions | None = None,
    ) -> None:
        self._machine = machine
        self._options = options or JobOptions(confirm_rounds=0)
        self._desk = Contact(machine, clock, self._options, 1, on_progress)
        self._number = 1
        self._stopped = 0

    async def run(self, packs: int = 1) -> list[PackTest]:
        """Deal that many packs. Raises DeviceError when the machine is missing, refuses for good or is lost."""
        if self._machine.identity is None:
            await self._machine.connect(self._options.connect_s)
        self._desk.require_routing()
        tests: list[PackTest] = []
        try:
            self._desk.slot.look(await self._machine.snapshot())
            await self._machine.abort(0)
            while len(tests) < packs:
                self._number = len(tests) + 1
                tests.append(await self._one())
                self._stopped = tests[-1].stopped
                self._desk.slot.must_go = self._desk.slot.board_in
            last = "Take the board out." if self._desk.slot.board_in else ""
            what = "The test is done." if packs == 1 else f"All {packs} packs are dealt."
            await self._tell(Instruction(last, Action.FINISHED, Sound.DONE, what=what))
        except (LinkLost, LineBroken) as error:
            raise DeviceError(
                "The machine was lost during the test.",
                where=self._machine.url,
                next_step="Check cable and power, then test again.",
                code="machine-lost",
            ) from error
        finally:
            self._desk.mail.close()
        return tests

    async def _tell(self, instruction: Instruction, stop: tuple[Reason, ...] = ()) -> None:
        """The words of the job, made fit for a test: any board will do, and the pack has to be in order."""
        step = {
            Action.INSERT_BOARD: "Put any empty board into the machine.",
            Action.LOAD_PACK: "Put the pack into the hopper, in order: spades, hearts, diamonds, clubs, aces first.",
        }.get(instruction.action, instruction.step)
        await self._desk.tell(replace(instruction, step=step, board=0, copy=0), stop)

    async def _board_in(self) -> int:
        """Ask for any board; its number once it is in.

        A machine that reads labels refuses to deal another board than the one it was armed for, so the board that
        comes says what the test is called.
        """
        slot, label = self._desk.slot, Capability.LABEL in self._desk.identity().capabilities
        if slot.must_go:
            what = f"Pack {self._number - 1}: {_why(stopped)}." if (stopped := self._stopped) else ""
            step = "Take the board out, empty it, and put the cards in order again."
            sound = Sound.STOP if stopped else Sound.DONE
            await self._tell(Instruction(step, Action.REMOVE_BOARD, sound, what=what))
        while slot.must_go or (label and not slot.board_in):
            if not slot.must_go:
                await self._tell(tell.insert(BoardKey(TEST_BOARD, 1), 1))
            event = await self._desk.mail.get(None)
            assert event is not None
            slot.note(event)
            _raise_if_lost(event)
        return slot.label if label and 1 <= slot.label <= MAX_BOARD else TEST_BOARD

    async def _one(self) -> PackTest:
        board = await self._board_in()
        item = BoardCopy(board, 1, ROUND, ROUND.digest(board))
        order = Armed(self._options.new_job_id(), item.board, item.copy, item.routing, item.digest)
        identity = self._desk.identity()
        # Whatever board is put in: nothing that is dealt here is ever played.
        checks = Checks.without("label", "orientation", "pack_colour")
        placement = Placement(item, identity.capabilities & ~Capability.KEY, checks)
        starter = Starter(self._machine, self._desk.mail, self._desk.slot, self._options, self._tell, 1)
        await starter.start(order, item, placement, _Record())
        await self._tell(Instruction("Leave the board in.", Action.WAIT, what=f"Pack {self._number} is being dealt."))
        seen: list[CardPassed] = []
        stopped = 0
        while True:
            event = await self._desk.mail.get(self._options.silence_s)
            if event is None:
                stopped = stopped or UNKNOWN
                break
            self._desk.slot.note(event)
            _raise_if_lost(event)
            if isinstance(event, CardPassed) and event.job_id == order.job_id:
                seen.append(event)
                counts = [sum(card.wanted == pocket for card in seen) for pocket in range(4)]
                north, east, south, west = counts
                self._desk.report(CardCounted(0, 0, len(seen), (north, east, south, west)))
            elif isinstance(event, MachineFault) and event.job_id in (0, order.job_id):
                stopped = int(event.fault)
                break
            elif isinstance(event, BoardPulled | BoardInserted):
                stopped = UNKNOWN
                break
            elif isinstance(event, JobDone) and event.job_id == order.job_id:
                break
        if stopped:
            await self._machine.abort(0)
        expected, backwards = order_of([card.best for card in seen])
        passes = tuple(
            Pass(card, event.best, event.runner_up, event.margin, event.wanted, event.confirmed)
            for card, event in zip(expected, seen, strict=False)
        )
        return PackTest(passes, backwards, stopped)


class _Record:
    started = False


def _raise_if_lost(event: object) -> None:
    if isinstance(event, Disconnected) or (isinstance(event, Connected) and event.restarted):
        raise LineBroken(started=True)
