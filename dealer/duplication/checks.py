"""Watches one attempt at one board and decides whether it may be called good. Pure: events in, reasons out.

A board is ``good`` only when nothing speaks against it: the host's picture of the pockets, the machine's own digest
and the plan agree card by card; each pocket has 13 and all 52 differ; no read was doubtful; the exit sensor agreed
where there is one; the board's number was read or confirmed, and it lies right where that is seen; board, line and
power stayed there from insertion to the end. Each check can be left out through ``Checks``, so that tests can show
that without it a wrong board would be called good.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from dealer.cards import HAND_SIZE, PACK_SIZE
from dealer.duplication.options import PackRule
from dealer.duplication.picture import BeamRule, Picture, SeenCard, found_in
from dealer.duplication.plan import BoardCopy
from dealer.duplication.verdict import BROKEN, Reason, Verdict, judge
from drivers.api import (
    UNKNOWN,
    BackColour,
    BoardConfirmed,
    BoardInserted,
    BoardPulled,
    Capability,
    CardPassed,
    Connected,
    Disconnected,
    Fault,
    HopperChanged,
    JobDone,
    MachineEvent,
    MachineFault,
    MachineIdentity,
    Orientation,
    PackSeen,
)

JOKER = 254
NO_DIGEST = bytes(8)


@dataclass(frozen=True, slots=True)
class Checks:
    """Which safety checks are made: all of them. For tests only; no command and no file can switch one off."""

    picture: bool = True  # each card is in the pocket that the plan wants, by the host's own picture
    pack: bool = True  # 52 known, different cards
    counts: bool = True  # 13 in each pocket, by the picture and by the machine's counters
    sequence: bool = True  # no card event lost or doubled, 52 cards in all
    digest: bool = True  # the machine's digest of what it placed
    margin: bool = True  # no doubtful read
    exit_sensor: bool = True  # the pocket was seen where the machine can see it
    beam: bool = True  # no two cards at once
    label: bool = True  # the number on the board where the machine reads it
    orientation: bool = True  # how the board lies where the machine sees it
    pack_colour: bool = True  # the backs of the pack where the machine sees them
    confirmation: bool = True  # somebody said that it is this board where no label was read
    present: bool = True  # the board stayed in from the start to the end
    continuity: bool = True  # line and power stayed there from the start to the end
    faults: bool = True  # the machine reported no fault
    hands: bool = True  # nobody reached into the machine without the board being read afterwards
    job: bool = True  # the events belong to this attempt
    resume: bool = True  # a board that was in work when the program ended is not assumed to be made

    @classmethod
    def without(cls, *names: str) -> Checks:
        """All checks but these. Raises ValueError for a name that is no check."""
        unknown = set(names) - {f.name for f in fields(cls)}
        if unknown:
            raise ValueError(f"no such check: {', '.join(sorted(unknown))}")
        return cls(**dict.fromkeys(names, False))


ALL_CHECKS = Checks()


_ENDS_READING = BROKEN | {Reason.PULLED, Reason.MACHINE_FAULT, Reason.SILENT, Reason.OUT_OF_SEQUENCE}


REACHED_INTO = frozenset({Fault.JAM, Fault.COVER_OPEN})
"""Stops whose cure brings a hand among the cards that are dealt already."""


class Placement:
    """What is known about the board in the slot: which one it is, how it lies, and which pack is to go into it."""

    def __init__(self, item: BoardCopy, capabilities: Capability, checks: Checks = ALL_CHECKS) -> None:
        self._item = item
        self._capabilities = capabilities
        self._checks = checks
        self.seated = False
        self.label = 0
        self.orientation: int = Orientation.UNKNOWN
        self.confirmed = False
        self.pack: int | None = None  # backs on top of the hopper, None as long as the machine has not told
        self.wanted_pack: BackColour | None = None  # None if any will do, or nobody can see it
        self.pack_doubted = False  # the machine could not tell the backs at the start

    def expect_pack(self, rule: PackRule, seen: int | None) -> None:
        """Which backs are wanted, and which were seen last."""
        self.pack = seen
        sees = Capability.PACK_COLOUR in self._capabilities and self._checks.pack_colour
        if sees and rule is PackRule.RED_BLUE:
            self.wanted_pack = BackColour.RED if self._item.board % 2 else BackColour.BLUE

    @property
    def two_packs(self) -> bool:
        """A stop card tells the machine where one pack ends, so that the next one may lie below it."""
        return Capability.STOP_CARD in self._capabilities

    @property
    def wrong_pack(self) -> bool:
        """A pack with other backs is about to be dealt."""
        known = self.pack not in (None, BackColour.NONE, BackColour.UNKNOWN)
        return self.wanted_pack is not None and known and self.pack != self.wanted_pack

    @property
    def pack_unseen(self) -> bool:
        """The machine should see the backs, but has not told them yet, or can't tell."""
        return self.wanted_pack is not None and self.pack in (None, BackColour.UNKNOWN)

    def insert(self, event: BoardInserted) -> None:
        """Another board, or the same once more: what was known is forgotten."""
        self.seated = True
        self.label = event.label
        self.orientation = event.orientation
        self.confirmed = False

    def pull(self) -> None:
        self.seated = False
        self.confirmed = False

    def confirm(self, event: BoardConfirmed) -> None:
        """Counts only when it names this board and copy while a board is in."""
        if self.seated and (event.board, event.copy) == (self._item.board, self._item.copy):
            self.confirmed = True

    @property
    def wrong_board(self) -> bool:
        return self._checks.label and self.label not in (0, self._item.board)

    @property
    def turned(self) -> bool:
        return self._checks.orientation and self.orientation not in (Orientation.NORTH, Orientation.UNKNOWN)

    @property
    def number_known(self) -> bool:
        """The machine has read the number, or somebody has confirmed it."""
        fits = self.label == self._item.board or (self.label != 0 and not self._checks.label)
        return (Capability.LABEL in self._capabilities and fits) or self.confirmed

    @property
    def needs_key(self) -> bool:
        """No label was read and the machine has a key with which the number can be confirmed."""
        return not self.number_known and Capability.KEY in self._capabilities

    @property
    def orientation_unseen(self) -> bool:
        """The machine could see how the board lies, but did not."""
        return Capability.ORIENTATION in self._capabilities and self.orientation == Orientation.UNKNOWN

    def reasons(self) -> list[Reason]:
        found = []
        if self.wrong_board:
            found.append(Reason.WRONG_BOARD)
        if self.turned:
            found.append(Reason.TURNED)
        if self._checks.confirmation and not self.number_known:
            found.append(Reason.NOT_CONFIRMED)
        if self._checks.orientation and self.orientation_unseen:
            found.append(Reason.NOT_ORIENTED)
        if self.pack_doubted:
            found.append(Reason.PACK_UNSEEN)
        return found


class BoardWatch:
    """One attempt, from START to the end. Feed every machine event to ``feed``; ask ``verdict`` when ``over``.

    ``reading``: the cards are read back from the pockets instead of dealt; the same checks hold.
    """

    def __init__(
        self,
        item: BoardCopy,
        job_id: int,
        identity: MachineIdentity,
        placement: Placement,
        checks: Checks = ALL_CHECKS,
        *,
        reading: bool = False,
    ) -> None:
        self.item = item
        self.job_id = job_id
        self.placement = placement
        self.picture = Picture()
        self.reasons: list[Reason] = []
        self.fault: MachineFault | None = None
        self.halted: MachineFault | None = None
        self.done: JobDone | None = None
        self.over = False
        self.cards = 0
        self._touched = False
        self._identity = identity
        self._checks = checks
        self._reading = reading
        self._beam = BeamRule()

    @property
    def stopped(self) -> bool:
        """Something is wrong: the machine must be stopped now.

        Reading goes on over cards that should not be there: all of them together tell what happened to the board.
        """
        return bool(self.reasons) and (not self._reading or not _ENDS_READING.isdisjoint(self.reasons))

    def resumed(self) -> None:
        """The cause of the halt is removed and the machine goes on with the next card."""
        self.halted = self.fault = None

    def give_up(self) -> None:
        """The machine is not going to go on: the halt becomes a reason."""
        if self.halted is not None:
            self.halted = None
            self._object(True, Reason.MACHINE_FAULT)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        north, east, south, west = self.picture.counts
        return north, east, south, west

    def feed(self, event: MachineEvent) -> None:
        """Take in one event of the machine."""
        match event:
            case CardPassed():
                self._card(event)
            case JobDone():
                self._done(event)
            case MachineFault():
                self._fault(event)
            case BoardPulled():
                self.placement.pull()
                self._object(self._checks.present and not self.over, Reason.PULLED)
            case BoardInserted():
                known = self.placement.seated
                self.placement.insert(event)
                self._object(self._checks.present and not self.over and known, Reason.PULLED)
            case BoardConfirmed():
                self.placement.confirm(event)
            case Disconnected():
                self._object(self._checks.continuity, Reason.LINK_LOST)
            case Connected():
                # Without a restart it is the greeting of this session, or follows a loss that has been noted already.
                self._object(self._checks.continuity and event.restarted, Reason.RESTARTED)
            case PackSeen():
                self.placement.pack = event.colour
                self._look_at_pack()
            case HopperChanged():
                pass

    def interrupt(self, reason: Reason) -> None:
        """The attempt ends without the machine's word: link lost, cancelled, silent."""
        self._object(True, reason)

    def verdict(self) -> Verdict:
        """What may be said of the board now. Before DONE it is never good."""
        self.give_up()
        reasons = list(self.reasons)
        if self.done is None and not reasons:
            reasons.append(Reason.INTERRUPTED)
        if self.done is not None and self._touched:
            reasons.append(Reason.HANDS_INSIDE)
        if self.done is not None:
            reasons += [reason for reason in self.placement.reasons() if reason not in reasons]
        return judge(tuple(reasons))

    # --- single events -------------------------------------------------------------------------------------------

    def _object(self, wrong: bool, reason: Reason) -> None:
        if wrong and reason not in self.reasons:
            self.reasons.append(reason)

    def _look_at_pack(self) -> None:
        """The card that comes next is seen before it is fed; one of another pack is as wrong as a whole pack."""
        dealing = not self.over and not self._reading
        self._object(dealing and self.placement.wrong_pack, Reason.WRONG_PACK)
        if dealing and self.placement.pack_unseen:
            self.placement.pack_doubted = True

    def _card(self, event: CardPassed) -> None:
        if event.job_id != self.job_id and self._checks.job:
            return
        if self.cards == 0:
            self._look_at_pack()
        checks = self._checks
        self._object(checks.sequence and (event.index != self.cards or self.done is not None), Reason.OUT_OF_SEQUENCE)
        self.cards += 1
        seen = SeenCard(
            index=event.index,
            card=event.best,
            runner_up=event.runner_up,
            margin=event.margin,
            raw=event.raw,
            pocket=self._pocket(event),
            beam_ms=event.beam_ms,
            at_ms=event.at_ms,
        )
        if checks.pack:
            self._object(seen.card == UNKNOWN, Reason.UNREADABLE)
            self._object(seen.card == JOKER, Reason.JOKER)
            self._object(PACK_SIZE <= seen.card < JOKER, Reason.FOREIGN_CARD)
            self._object(self.picture.has(seen.card), Reason.DUPLICATE_CARD)
        if Capability.MARGIN in self._identity.capabilities and seen.card != UNKNOWN:
            self._object(checks.margin and seen.margin < self._identity.margin_min, Reason.LOW_MARGIN)
        if checks.exit_sensor and Capability.EXIT in self._identity.capabilities and not self._reading:
            self._object(event.confirmed == UNKNOWN, Reason.EXIT_SILENT)
            sent = event.wanted != UNKNOWN  # a card that was not read is sent nowhere
            self._object(sent and event.confirmed not in (UNKNOWN, event.wanted), Reason.EXIT_DISAGREES)
        if 0 <= seen.card < PACK_SIZE:
            self._object(checks.picture and seen.pocket != self.item.pocket_of(seen.card), Reason.WRONG_POCKET)
        if Capability.BEAM in self._identity.capabilities:
            self._object(self._beam.add(seen.beam_ms) and checks.beam, Reason.LONG_BEAM)
        self.picture.add(seen)
        self._object(checks.counts and max(self.picture.counts) > HAND_SIZE, Reason.POCKET_FULL)

    def _pocket(self, event: CardPassed) -> int:
        """The pocket by the exit sensor where the machine has one that is believed, else the one it was sent to."""
        if self._reading:
            return found_in(event)
        sensed = self._checks.exit_sensor and Capability.EXIT in self._identity.capabilities
        return event.confirmed if sensed else event.wanted

    def _done(self, event: JobDone) -> None:
        if event.job_id != self.job_id and self._checks.job:
            return
        checks = self._checks
        self.done = event
        self.over = True
        other = (event.board, event.copy) != (self.item.board, self.item.copy)
        self._object(checks.job and other, Reason.OTHER_JOB)
        self._object(checks.sequence and not event.cards == self.cards == PACK_SIZE, Reason.CARD_COUNT)
        self._object(checks.pack and not self.picture.complete, Reason.MISSING_CARDS)
        uneven = event.counts != (HAND_SIZE,) * 4 or not self.picture.even
        self._object(checks.counts and uneven, Reason.POCKET_COUNTS)
        if checks.beam and Capability.BEAM in self._identity.capabilities:
            self._object(bool(self._beam.late_suspects()), Reason.LONG_BEAM)
        if checks.picture and self.picture.complete:
            self._object(self.picture.digest(self.item.board) != self.item.digest, Reason.WRONG_POCKET)
        if checks.digest:
            if event.digest == NO_DIGEST:
                self._object(True, Reason.NO_DIGEST)
            else:
                self._object(event.digest != self.item.digest, Reason.DIGEST_DIFFERS)
        if checks.present and not self.placement.seated:
            self._object(True, Reason.PULLED)

    def _fault(self, event: MachineFault) -> None:
        if event.job_id not in (0, self.job_id) and self._checks.job:
            return
        if event.fault == Fault.NONE:
            return
        if self._checks.faults:
            self.fault = event
            inside = self._checks.hands and event.fault in REACHED_INTO
            hopeless = inside and Capability.READ_BACK not in self._identity.capabilities
            curable = event.recoverable and event.fault != Fault.HOST_LOST and not hopeless
            if curable and not self._reading and not self.reasons:
                self._touched = self._touched or inside
                self.halted = event  # every card so far is accounted for; RESUME counts them once more
                return
            self._object(True, Reason.MACHINE_FAULT)
            self._object(event.fault == Fault.BOARD_PULLED, Reason.PULLED)
