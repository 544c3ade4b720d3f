"""For any faults of machine, pack and operator: a board whose cards lie wrong is never called good, unless the only
causes are on the closed list of faults that a machine with these sensors can't see.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from duplication_fakes import FULL, FakeMachine
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dealer.duplication.checks import ALL_CHECKS, BoardWatch, Checks, Placement
from dealer.duplication.plan import BoardCopy
from dealer.duplication.verdict import Verdict
from dealer.generate import SeededBytes, generate
from drivers.api import BoardInserted, Capability, CardPassed, JobDone, MachineEvent, MachineIdentity

BOARD = generate([3], SeededBytes(5))[0]
ITEM = BoardCopy(3, 1, BOARD.deal, BOARD.digest)
OWNERS = BOARD.deal.owners
MARGIN_MIN = 40
LAST_POCKET = 2
UNKNOWN = 255
JOKER = 52
"""Physical cards: 0-51 by face, 52 a joker; a face may be there twice."""


@dataclass
class Faults:
    """What is wrong, physically. Positions count cards as they are fed."""

    swapped_faces: list[tuple[int, int]] = field(default_factory=list)  # (position, the face that lies there instead)
    extra: int | None = None  # a 53rd card at this position
    missing: int | None = None  # the card at this position is not in the pack
    misread: dict[int, tuple[int, int]] = field(default_factory=dict)  # position: (seen as, margin)
    stuck_gate: set[int] = field(default_factory=set)  # the card runs on to the last pocket
    blind_exit: dict[int, int] = field(default_factory=dict)  # position: pocket that the exit sensor reports instead
    doubles: dict[int, bool] = field(default_factory=dict)  # position: does the beam show that two cards go at once
    lost_events: set[int] = field(default_factory=set)  # positions whose event never arrives
    doubled_events: set[int] = field(default_factory=set)


@st.composite
def faults(draw: st.DrawFn) -> Faults:
    position = st.integers(0, 51)
    face = st.integers(0, JOKER)
    margin = st.sampled_from([0, 39, 40, 200])
    few = {"max_size": 2}
    made = Faults(
        swapped_faces=draw(st.lists(st.tuples(position, face), **few)),
        extra=draw(st.none() | position),
        missing=draw(st.none() | position),
        misread=draw(st.dictionaries(position, st.tuples(st.integers(0, 51), margin), **few)),
        stuck_gate=draw(st.sets(position, **few)),
        blind_exit=draw(st.dictionaries(position, st.integers(0, 3), **few)),
        doubles=draw(st.dictionaries(position, st.booleans(), **few)),
        lost_events=draw(st.sets(position, max_size=1)),
        doubled_events=draw(st.sets(position, max_size=1)),
    )
    if draw(st.booleans()):  # the nasty case on purpose: two cards read as each other
        first, second = draw(st.tuples(position, position))
        grade = draw(margin)
        made.misread |= {first: (second, grade), second: (first, grade)}
    return made


def physical_deal(
    faults: Faults, order: list[int], capabilities: Capability
) -> tuple[list[MachineEvent], list[list[int]], bool]:
    """Deal for real. Returns what is reported, where the cards lie, and whether a closed-list fault took part."""
    pack = list(order)
    for position, face in faults.swapped_faces:
        pack[position] = face
    if faults.missing is not None:
        pack.pop(faults.missing)
    if faults.extra is not None:
        pack.insert(faults.extra, pack[0])
    pockets: list[list[int]] = [[], [], [], []]
    events: list[MachineEvent] = []
    excused = 0
    placed: dict[int, int] = {}
    counted = [0, 0, 0, 0]
    position = index = 0
    while position < len(pack) and index < 52:
        card = pack[position]
        seen, margin = (254, 200) if card == JOKER else (card, 200)
        if position in faults.misread:
            # The drawn positions name cards of the original order, so that pairs read as each other are likely.
            wrong, margin = faults.misread[position]
            seen = order[wrong]
        if seen != card and card != JOKER and margin >= MARGIN_MIN:
            excused |= 1
        wanted = OWNERS[seen] if seen < 52 else LAST_POCKET
        pocket = LAST_POCKET if position in faults.stuck_gate else wanted
        sensed = faults.blind_exit.get(position, pocket)
        if pocket != wanted and (Capability.EXIT not in capabilities or sensed == wanted):
            excused |= 1
        pockets[pocket].append(card)
        beam = 40.0
        if position in faults.doubles and position + 1 < len(pack):
            position += 1
            pockets[pocket].append(pack[position])
            if faults.doubles[position - 1] and Capability.BEAM in capabilities:
                beam = 65.0
            else:
                excused |= 1
        confirmed = sensed if Capability.EXIT in capabilities else UNKNOWN
        placed.setdefault(seen, wanted)
        counted[sensed if Capability.EXIT in capabilities else wanted] += 1
        event = CardPassed(
            9,
            index,
            0,
            seen,
            0,
            margin if Capability.MARGIN in capabilities else 0,
            wanted,
            confirmed,
            beam if Capability.BEAM in capabilities else 0.0,
            0,
            0,
            0,
        )
        if Capability.MARGIN not in capabilities and seen != card and card != JOKER:
            excused |= 1
        if position not in faults.lost_events:
            events.append(event)
        if position in faults.doubled_events:
            events.append(event)
        index += 1
        position += 1
    north, east, south, west = counted
    routing = [placed.get(card, OWNERS[card]) for card in range(52)]  # a machine that trusts its own memory
    digest = FakeMachine.digest_of(3, [[c for c in range(52) if routing[c] == pocket] for pocket in range(4)])
    events.append(JobDone(9, 3, 1, index, (north, east, south, west), digest))
    return events, pockets, bool(excused)


def watch(events: list[MachineEvent], capabilities: Capability, checks: Checks = ALL_CHECKS) -> Verdict:
    identity = MachineIdentity(1, "m", "1", 1, capabilities, (0, 1, 3, 2), 100, MARGIN_MIN)
    placement = Placement(ITEM, capabilities, checks)
    placement.insert(BoardInserted(3, 0))
    watching = BoardWatch(ITEM, 9, identity, placement, checks)
    for event in events:
        watching.feed(event)
    return watching.verdict()


CAPABILITIES = st.sampled_from(
    [FULL, FULL & ~Capability.EXIT, FULL & ~Capability.BEAM, FULL & ~(Capability.EXIT | Capability.MARGIN)]
)


@given(faults(), st.permutations(range(52)), CAPABILITIES)
@settings(max_examples=400, deadline=None)
@example(Faults(), list(range(52)), FULL)
@example(Faults(misread={3: (4, 200), 4: (3, 200)}), list(range(52)), FULL)
@example(Faults(misread={0: (40, 39), 40: (0, 39)}), list(range(52)), FULL)
def test_a_wrong_board_is_never_good(faults: Faults, order: list[int], capabilities: Capability) -> None:
    events, pockets, excused = physical_deal(faults, order, capabilities)
    right = [sorted(cards) for cards in pockets] == [list(hand) for hand in BOARD.deal.hands]
    verdict = watch(events, capabilities)
    if verdict.good:
        assert right or excused
    if faults == Faults():
        assert right
        assert verdict.good


@given(st.lists(st.integers(0, 51), min_size=52, max_size=52), st.permutations(range(52)))
@settings(max_examples=60, deadline=None)
def test_no_stream_of_cards_but_the_plan_is_good(pocket_seeds: list[int], order: list[int]) -> None:
    """Whatever pockets a machine reports, with the digest echoed: good means that they are those of the plan."""
    pockets = [seed % 4 if seed % 13 == 0 else OWNERS[card] for card, seed in enumerate(pocket_seeds)]
    counts = tuple(pockets.count(pocket) for pocket in range(4))
    events: list[MachineEvent] = [
        CardPassed(9, i, 0, card, 0, 200, pockets[card], pockets[card], 40.0, 0, 0, 0) for i, card in enumerate(order)
    ]
    events.append(JobDone(9, 3, 1, 52, counts, ITEM.digest))
    assert watch(events, FULL).good == (pockets == list(OWNERS))


def test_the_property_can_fail() -> None:
    """The same harness with checks removed finds wrong boards that are called good."""

    def wrong_good(made: Faults, checks: Checks, capabilities: Capability = FULL) -> bool:
        events, pockets, excused = physical_deal(made, list(range(52)), capabilities)
        right = [sorted(cards) for cards in pockets] == [list(hand) for hand in BOARD.deal.hands]
        return watch(events, capabilities, checks).good and not right and not excused

    far = next(card for card in range(1, 52) if OWNERS[card] != OWNERS[0])
    low = Faults(misread={0: (far, 10), far: (0, 10)})
    assert not wrong_good(low, Checks())
    assert wrong_good(low, Checks.without("margin"))
    stuck = Faults(stuck_gate={next(card for card in range(52) if OWNERS[card] != LAST_POCKET)})
    assert not wrong_good(stuck, Checks())
    assert wrong_good(stuck, Checks.without("exit_sensor", "counts"))


def test_closed_list_is_really_closed_to_the_host() -> None:
    """What is on the list is on it because no event shows it."""
    far = next(card for card in range(1, 52) if OWNERS[card] != OWNERS[0])
    made = Faults(misread={0: (far, 200), far: (0, 200)})
    events, pockets, excused = physical_deal(made, list(range(52)), FULL)
    assert excused
    assert [sorted(cards) for cards in pockets] != [list(hand) for hand in BOARD.deal.hands]
    assert watch(events, FULL).good
