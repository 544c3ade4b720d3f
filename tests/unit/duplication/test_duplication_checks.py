"""Each safety check, alone: what it catches, and that without it the wrong board would have been called good."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import pytest
from duplication_fakes import FULL, FakeMachine, Run, owners_of

from dealer.duplication.checks import ALL_CHECKS, BoardWatch, Checks, Placement
from dealer.duplication.plan import BoardCopy
from dealer.duplication.verdict import BoardState, Reason, Verdict
from dealer.generate import SeededBytes, generate
from drivers.api import (
    Action,
    Armed,
    BoardConfirmed,
    BoardInserted,
    BoardPulled,
    Capability,
    Connected,
    Disconnected,
    Fault,
    JobDone,
    MachineFault,
    Segment,
)

BOARD = generate([7], SeededBytes(11))[0]
ITEM = BoardCopy(7, 1, BOARD.deal, BOARD.digest)
JOB = 4711
INSERTED = BoardInserted(7, 0)


def watch_run(
    script: Callable[[Run], None],
    checks: Checks = ALL_CHECKS,
    capabilities: Capability = FULL,
    before: tuple = (INSERTED,),
) -> tuple[Verdict, Run, BoardWatch]:
    """Let a machine deal the board as the script has it, watched with these checks."""

    async def go() -> tuple[Verdict, Run, BoardWatch]:
        machine = FakeMachine(capabilities)
        identity = await machine.connect(1)
        run = machine.plan_run(Armed(JOB, 7, 1, ITEM.routing, ITEM.digest))
        script(run)
        placement = Placement(ITEM, capabilities, checks)
        watch = BoardWatch(ITEM, JOB, identity, placement, checks)
        for event in before:
            if isinstance(event, BoardInserted):
                placement.insert(event)
            else:
                watch.feed(event)
        for event in run.events:
            watch.feed(event)
        return watch.verdict(), run, watch

    return asyncio.run(go())


def lies_right(run: Run) -> bool:
    """The cards truly lie as planned."""
    return [sorted(cards) for cards in run.pockets] == [list(hand) for hand in BOARD.deal.hands]


def other_pocket(card: int) -> int:
    return (owners_of(ITEM.routing)[card] + 1) % 4


def swap_truth(run: Run, first: int, second: int) -> None:
    """Two cards of different pockets truly lie in each other's place."""
    owners = owners_of(ITEM.routing)
    run.move(first, owners[second])
    run.move(second, owners[first])


def two_apart() -> tuple[int, int]:
    owners = owners_of(ITEM.routing)
    return 0, next(card for card in range(1, 52) if owners[card] != owners[0])


def at(run: Run, card: int) -> int:
    """Position of a card's event."""
    return next(i for i in run.cards() if run.events[i].best == card)


def test_a_board_dealt_as_planned_is_good() -> None:
    verdict, run, watch = watch_run(lambda run: None)
    assert lies_right(run)
    assert verdict == Verdict(BoardState.GOOD)
    assert watch.counts == (13, 13, 13, 13)


# --- hazards: each is caught by one check and, without it, by nothing ---------------------------------------------


@dataclass(frozen=True)
class Hazard:
    check: str
    reason: Reason
    script: Callable[[Run], None]
    capabilities: Capability = FULL
    before: tuple = (INSERTED,)


def machine_misroutes(run: Run) -> None:
    """Firmware sends two cards into each other's pocket, says so in the events, and echoes the digest of ARM."""
    first, second = two_apart()
    owners = owners_of(ITEM.routing)
    swap_truth(run, first, second)
    for card, pocket in ((first, owners[second]), (second, owners[first])):
        run.change(at(run, card), wanted=pocket, confirmed=pocket)


def two_packs_mixed(run: Run) -> None:
    """One card is there twice, another of the same pocket is missing; the machine is content with that."""
    owners = owners_of(ITEM.routing)
    twin = next(card for card in range(1, 52) if owners[card] == owners[0])
    run.change(at(run, twin), best=0)
    run.pockets[owners[0]].remove(twin)
    run.pockets[owners[0]].append(0)


def hidden_card(run: Run) -> None:
    """A fifty-third card slipped through; only the counters of the pockets have seen it."""
    run.pockets[2].append(99)
    run.change_done(counts=(13, 13, 14, 13))


def event_lost(run: Run) -> None:
    """A card more than was reported: one event did not arrive."""
    run.pockets[2].append(99)
    run.events[30:52] = [replace(event, index=event.index + 1) for event in run.events[30:52]]


def digest_differs(run: Run) -> None:
    """The events are those of another machine's memory: the truth is what the digest says."""
    swap_truth(run, *two_apart())
    run.change_done(digest=b"\x01" * 8)


def doubtful_pair(run: Run) -> None:
    """Two dirty cards are each taken for the other, with little margin."""
    swap_truth(run, *two_apart())
    for card in two_apart():
        run.change(at(run, card), margin=3)


def gate_fails(run: Run) -> None:
    """A deflector does not lift, twice in the way that keeps all counts; the exit sensor sees it."""
    owners = owners_of(ITEM.routing)
    first, second = two_apart()
    swap_truth(run, first, second)
    run.change(at(run, first), confirmed=owners[second])
    run.change(at(run, second), confirmed=owners[first])


def two_at_once(run: Run) -> None:
    """A card of another pack hangs on a card; only the beam is longer."""
    run.change(20, beam_ms=70.0)
    run.pockets[run.events[20].wanted].append(99)


def two_at_once_early(run: Run) -> None:
    """The same with the second card, when there is nothing to compare with yet."""
    run.change(1, beam_ms=70.0)
    run.pockets[run.events[1].wanted].append(99)


def wrong_board(run: Run) -> None:
    run.pockets[:] = [[], [], [], []]  # the cards of board 7 are in a board with another number


def turned_board(run: Run) -> None:
    run.pockets[:] = run.pockets[1:] + run.pockets[:1]


def swapped_in_between(run: Run) -> None:
    run.events[40:40] = [BoardPulled(), BoardInserted(7, 0)]
    run.pockets[0].pop()


def line_flaps(run: Run) -> None:
    run.events[40:40] = [Disconnected("gone")]
    swap_truth(run, *two_apart())


def restarts(run: Run) -> None:
    machine = FakeMachine()
    run.events[40:40] = [Connected(machine._identify(), restarted=True)]
    swap_truth(run, *two_apart())


def ignored_fault(run: Run) -> None:
    run.events[40:40] = [MachineFault(JOB, Fault.GATE, Segment.GATES, 1, False, Action.COLLECT_CARDS)]
    swap_truth(run, *two_apart())


def stale_done(run: Run) -> None:
    """What is reported belongs to an earlier attempt; the present one has another number and went wrong."""
    run.events[:] = [replace(event, job_id=JOB + 1) for event in run.events]
    swap_truth(run, *two_apart())


KEY_ONLY = FULL & ~(Capability.LABEL | Capability.ORIENTATION)

HAZARDS = [
    Hazard("picture", Reason.WRONG_POCKET, machine_misroutes),
    Hazard("pack", Reason.DUPLICATE_CARD, two_packs_mixed),
    Hazard("counts", Reason.POCKET_COUNTS, hidden_card),
    Hazard("sequence", Reason.OUT_OF_SEQUENCE, event_lost),
    Hazard("digest", Reason.DIGEST_DIFFERS, digest_differs),
    Hazard("margin", Reason.LOW_MARGIN, doubtful_pair),
    Hazard("exit_sensor", Reason.EXIT_DISAGREES, gate_fails),
    Hazard("beam", Reason.LONG_BEAM, two_at_once),
    Hazard("beam", Reason.LONG_BEAM, two_at_once_early),
    Hazard("label", Reason.WRONG_BOARD, wrong_board, before=(BoardInserted(8, 0), BoardConfirmed(7, 1))),
    Hazard("orientation", Reason.TURNED, turned_board, before=(BoardInserted(7, 2),)),
    Hazard("orientation", Reason.NOT_ORIENTED, turned_board, before=(BoardInserted(7, 255),)),
    Hazard("confirmation", Reason.NOT_CONFIRMED, wrong_board, KEY_ONLY, (BoardInserted(0, 255),)),
    Hazard("present", Reason.PULLED, swapped_in_between),
    Hazard("continuity", Reason.LINK_LOST, line_flaps),
    Hazard("continuity", Reason.RESTARTED, restarts),
    Hazard("faults", Reason.MACHINE_FAULT, ignored_fault),
]


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda h: h.script.__name__)
def test_hazard_is_caught_and_only_by_its_check(hazard: Hazard) -> None:
    verdict, run, _ = watch_run(hazard.script, capabilities=hazard.capabilities, before=hazard.before)
    assert not lies_right(run), "a hazard that leaves the board right proves nothing"
    assert not verdict.good
    assert hazard.reason in verdict.reasons
    blind, run, _ = watch_run(hazard.script, Checks.without(hazard.check), hazard.capabilities, hazard.before)
    assert not lies_right(run)
    assert blind.good, f"something else than {hazard.check} caught it: {blind.reasons}"


def test_events_of_another_attempt_count_for_nothing() -> None:
    verdict, run, watch = watch_run(stale_done)
    assert not lies_right(run)
    assert not watch.over
    assert watch.cards == 0
    assert verdict.state is BoardState.UNKNOWN
    blind, _, _ = watch_run(stale_done, Checks.without("job"))
    assert blind.good


def test_every_check_has_a_hazard() -> None:
    elsewhere = {"job", "pack_colour", "hands", "resume"}  # resume: test_duplication_crash.py
    covered = {hazard.check for hazard in HAZARDS} | elsewhere
    assert covered == {field.name for field in fields(Checks)}


def test_a_check_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no such check"):
        Checks.without("luck")


# --- single verdicts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"best": 255}, Reason.UNREADABLE),
        ({"best": 254}, Reason.JOKER),
        ({"best": 60}, Reason.FOREIGN_CARD),
        ({"margin": 39}, Reason.LOW_MARGIN),
        ({"confirmed": 255}, Reason.EXIT_SILENT),
        ({"beam_ms": 60.0}, Reason.LONG_BEAM),
        ({"index": 12}, Reason.OUT_OF_SEQUENCE),
    ],
    ids=lambda value: str(value),
)
def test_one_odd_card_stops_the_machine_at_once(change: dict, reason: Reason) -> None:
    stopped_at: list[int] = []

    async def go() -> BoardWatch:
        machine = FakeMachine()
        identity = await machine.connect(1)
        run = machine.plan_run(Armed(JOB, 7, 1, ITEM.routing, ITEM.digest))
        run.change(25, **change)
        placement = Placement(ITEM, FULL)
        placement.insert(INSERTED)
        watch = BoardWatch(ITEM, JOB, identity, placement)
        for number, event in enumerate(run.events):
            watch.feed(event)
            if watch.stopped:
                stopped_at.append(number)
                break
        return watch

    watch = asyncio.run(go())
    assert stopped_at == [25]
    assert reason in watch.reasons
    assert watch.verdict().state is BoardState.SUSPECT


def test_the_fourteenth_card_stops_the_machine() -> None:
    def overfull(run: Run) -> None:
        owners = owners_of(ITEM.routing)
        stranger = next(i for i in run.cards() if owners[run.events[i].best] != 0)
        run.events[-2], run.events[stranger] = run.events[stranger], run.events[-2]
        run.events[:] = [
            replace(event, index=i) if not isinstance(event, JobDone) else event for i, event in enumerate(run.events)
        ]
        run.change(51, wanted=0, confirmed=0)

    verdict, _, watch = watch_run(overfull)
    assert watch.counts[0] == 14
    assert Reason.POCKET_FULL in verdict.reasons


def test_a_machine_that_cannot_say_what_it_placed_gives_unconfirmed_boards() -> None:
    verdict, _, _ = watch_run(lambda run: run.change_done(digest=bytes(8)))
    assert verdict == Verdict(BoardState.UNCONFIRMED, (Reason.NO_DIGEST,))


def test_done_for_another_board_is_not_believed() -> None:
    verdict, _, _ = watch_run(lambda run: run.change_done(board=8))
    assert verdict.state is BoardState.SUSPECT
    assert Reason.OTHER_JOB in verdict.reasons


def test_done_before_the_last_card_is_not_believed() -> None:
    verdict, _, _ = watch_run(lambda run: run.events.pop(51))
    assert {Reason.CARD_COUNT, Reason.MISSING_CARDS} <= set(verdict.reasons)


def test_a_card_after_done_is_not_believed() -> None:
    def extra(run: Run) -> None:
        run.events.append(replace(run.events[0], index=52))

    verdict, _, _ = watch_run(extra)
    assert Reason.OUT_OF_SEQUENCE in verdict.reasons


def test_without_any_end_the_board_is_unknown() -> None:
    verdict, _, watch = watch_run(lambda run: run.events.pop())
    assert not watch.over
    assert verdict.state is BoardState.UNKNOWN


def test_a_confirmation_counts_only_for_this_board_while_it_is_in() -> None:
    for before in [
        (BoardInserted(0, 255), BoardConfirmed(8, 1)),
        (BoardInserted(0, 255), BoardConfirmed(7, 2)),
        (BoardInserted(0, 255), BoardConfirmed(7, 1), BoardInserted(0, 255)),
    ]:
        verdict, _, _ = watch_run(lambda run: None, capabilities=KEY_ONLY, before=before)
        assert Reason.NOT_CONFIRMED in verdict.reasons
    verdict, _, _ = watch_run(
        lambda run: None, capabilities=KEY_ONLY, before=(BoardInserted(0, 255), BoardConfirmed(7, 1))
    )
    assert verdict.good


def test_an_unread_label_needs_a_confirmation_even_with_a_label_reader() -> None:
    verdict, _, _ = watch_run(lambda run: None, before=(BoardInserted(0, 0),))
    assert verdict == Verdict(BoardState.UNCONFIRMED, (Reason.NOT_CONFIRMED,))


def test_no_card_shows_in_what_is_likely_to_be_logged() -> None:
    _, _, watch = watch_run(lambda run: None)
    for thing in (ITEM, watch.picture, watch.picture.seen[0], watch.verdict()):
        text = repr(thing)
        assert "owners" not in text
        assert "best" not in text
        assert "pocket_of" not in text
        assert "card=" not in text
