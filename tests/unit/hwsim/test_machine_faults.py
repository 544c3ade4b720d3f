"""The simulated machine under many faults: no card is lost or doubled, no wrong board passes a checking host."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hwsim_host import Dealer, Host, World, connect

from hwsim import messages
from hwsim.evidence import Evidence
from hwsim.machine.device import Machine
from hwsim.machine.faults import KINDS, FaultError, FaultPlan, detectable, parse_fault
from hwsim.machine.pack import JOKER_FACE
from hwsim.machine.profile import PROFILES
from hwsim.memory import Media
from hwsim.numbers import Action, Capability, FaultCode, Kind, Outcome
from hwsim.speeds import SPEEDS


def cards_of(device: Machine) -> list[int]:
    world = device.world
    return [*world.hopper, *world.belt, *world.table, *(c for b in world.boards.values() for p in b for c in p)]


class CarefulDealer(Dealer):
    """Tries a board until it is right, restarting the session whenever the machine or the line has gone."""

    def __init__(self, world: World, host: Host, device: Machine) -> None:
        super().__init__(world, host)
        self.device = device
        self.session = 100
        self.stops: Counter[int] = Counter()

    def reconnect(self) -> None:
        self.world.line.connect()
        self.session += 1
        host = self.host = self.world.host = Host(session=self.session)
        self.world.run_until(lambda: host.hello is not None, 20.0)

    def make(self, board: int) -> None:
        for attempt in range(14):
            try:
                if self.attempt(board, board * 100 + attempt):
                    return
            except AssertionError:
                self.reconnect()
            self.clear(board, Action.REPLACE_PACK if attempt % 3 == 2 else Action.COLLECT_CARDS)
        raise RuntimeError(f"board {board} can't be made")

    def attempt(self, board: int, job: int) -> bool:
        self.display(Action.INSERT_BOARD, board, 1)
        self.world.run_until(
            lambda: any(f["seated"] and f["label"] == board for f in self.host.all(Kind.BOARD)[-1:]), 8.0
        )
        if self.arm(board, 1, job)["outcome"] != Outcome.DONE or self.start(board, 1, job)["outcome"] != Outcome.DONE:
            return False
        kind, _, fields = self.wait(Kind.DONE, Kind.FAULT, seconds=8.0)
        if kind == Kind.FAULT:
            self.stops[fields["fault"]] += 1
            return False
        plan = self.plans[board, 1]
        cards = [f for f in self.host.all(Kind.CARD) if f["job_id"] == job]
        right = [f["confirmed"] for f in sorted(cards, key=lambda f: f["best"])] == plan
        if not right or fields["digest"] != messages.deal_digest(board, messages.pack_routing(plan)):
            return False
        self.display(Action.REMOVE_BOARD, board, 1)
        self.wait(Kind.BOARD, seconds=8.0)
        return True

    def clear(self, board: int, collect: int) -> None:
        for action in (Action.CLOSE_COVER, collect):
            self.display(action, board, 1)
            self.world.run(1.0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("speed", ["demo", "max"])
def test_many_faults(seed: int, speed: str) -> None:
    chance = random.Random(seed)
    kinds = [kind for kind in KINDS if kind != "power-cut"] + ["power-cut"]
    faults = [parse_fault(f"{chance.choice(kinds)}@{chance.randrange(1, 400)}") for _ in range(12)]
    evidence = Evidence()
    profile = chance.choice([PROFILES["fast"], PROFILES["camera"]])
    device = Machine(
        Media(), 0.0, seed=seed, speed=SPEEDS[speed], profile=profile, evidence=evidence, faults=faults, chance=chance
    )
    world, host = connect(device)
    world.limit = 5_000_000
    dealer = CarefulDealer(world, host, device)
    for board in range(1, 9):
        dealer.make(board)
        cards = cards_of(device)
        assert len(cards) == len(set(cards))
        assert set(Counter(card >> 6 for card in cards).values()) <= {52}
    device.close()
    truth = {t["board"]: t["pockets"] for t in evidence.lines["truth"]}
    for (board, _), plan in dealer.plans.items():
        assert truth[board] == {s: [c for c in range(52) if plan[c] == i] for i, s in enumerate("NESW")}
    assert 5 <= len(evidence.lines["faults"]) <= 12
    assert dealer.stops


def test_without_an_exit_sensor_a_stuck_deflector_is_not_seen() -> None:
    """The control: the fault is in the world: a machine that can't see it deals a wrong board and calls it right."""
    evidence = Evidence()
    profile = PROFILES["fast"].without(Capability.EXIT)
    device = Machine(
        Media(),
        0.0,
        seed=1,
        speed=SPEEDS["demo"],
        profile=profile,
        evidence=evidence,
        faults=[parse_fault("gate-stuck@9,for=2")],
        chance=random.Random(1),
    )
    world, host = connect(device)
    dealer = Dealer(world, host)
    dealer.display(Action.INSERT_BOARD, 1, 1)
    dealer.wait(Kind.BOARD)
    dealer.arm(1, 1, 1)
    dealer.start(1, 1, 1)
    done = dealer.wait(Kind.DONE)[2]
    plan = dealer.plans[1, 1]
    assert done["digest"] == messages.deal_digest(1, messages.pack_routing(plan))
    device.pull()
    pockets = evidence.lines["truth"][-1]["pockets"]
    assert sorted(map(len, pockets.values())) != [13] * 4
    assert [f["detectable"] for f in evidence.lines["faults"]] == [False]


def test_a_slipping_roller_is_tried_again_before_anybody_is_called() -> None:
    device = Machine(
        Media(), 0.0, speed=SPEEDS["demo"], faults=[parse_fault("misfeed@9,for=3")], chance=random.Random(1)
    )
    world, host = connect(device)
    dealer = Dealer(world, host)
    dealer.display(Action.INSERT_BOARD, 1, 1)
    dealer.wait(Kind.BOARD)
    dealer.arm(1, 1, 1)
    dealer.start(1, 1, 1)
    assert dealer.wait(Kind.DONE, Kind.FAULT)[0] == Kind.DONE
    at = [f["at_ms"] for f in host.all(Kind.CARD)]
    assert at[8] - at[7] > 2.5 * (at[7] - at[6])


def test_cards_left_or_missing_are_noticed() -> None:
    for cards, code in ((53, FaultCode.EXTRA_CARD), (51, FaultCode.HOPPER_EMPTY)):
        device = Machine(Media(), 0.0, speed=SPEEDS["demo"], chance=random.Random(1), operator=False)
        world, host = connect(device)
        dealer = Dealer(world, host)
        device.world.do("new_pack")
        device.world.do("new_pack")
        device.load(device.world.table[:52])
        if cards == 53:
            device.world.do("load", [*device.world.hopper[:0], device.world.table[0]])
        else:
            device.world.do("discard", [device.world.hopper[20]])
        device.insert((1, 1))
        dealer.arm(1, 1, 1)
        dealer.start(1, 1, 1)
        kind, _, fields = dealer.wait(Kind.DONE, Kind.FAULT)
        assert (kind, fields["fault"]) == (Kind.FAULT, code)


@pytest.mark.parametrize(
    "text", ["jam", "jam@", "jam@0", "jam@x", "gremlin@3", "jam@3,for=x", "jam@3,often=2", "@3", ""]
)
def test_a_fault_written_wrongly_is_refused(text: str) -> None:
    with pytest.raises(FaultError):
        parse_fault(text)


def test_a_fault_strikes_once_across_restarts() -> None:
    fault = parse_fault("jam@card=5")
    plan = FaultPlan([fault], [])
    assert plan.due(4, "jam") is None
    assert plan.due(6, "smudge") is None
    assert plan.due(6, "jam") == (0, fault)
    plan.mark(0)
    assert plan.due(7, "jam") is None
    assert FaultPlan([fault], [0]).due(9, "jam") is None
    assert detectable("jam", PROFILES["diy"])


@pytest.mark.parametrize("kind", ["turned", "wrong-board", "pack-short", "pack-joker"])
def test_hands_make_each_mistake_once_and_the_machine_shows_what_it_sees(kind: str) -> None:
    evidence = Evidence()
    device = Machine(
        Media(),
        0.0,
        speed=SPEEDS["demo"],
        evidence=evidence,
        faults=[parse_fault(f"{kind}@1")],
        chance=random.Random(1),
    )
    world, host = connect(device)
    dealer = Dealer(world, host)
    dealer.display(Action.INSERT_BOARD, 1, 1)
    seen = dealer.wait(Kind.BOARD)[2]
    assert (seen["label"] != 1) == (kind == "wrong-board")
    assert (seen["orientation"] != 0) == (kind == "turned")
    assert len(device.world.hopper) == (51 if kind == "pack-short" else 52)
    assert (JOKER_FACE in {card & 63 for card in device.world.hopper}) == (kind == "pack-joker")
    assert [line["kind"] for line in evidence.lines["faults"]] == [kind]
    dealer.display(Action.SWAP_BOARD, 1, 1)
    world.run(2.0)
    assert host.all(Kind.BOARD)[-1]["label"] == 1
    assert host.all(Kind.BOARD)[-1]["orientation"] == 0
    assert len(evidence.lines["faults"]) == 1
    assert detectable(kind, PROFILES["fast"])
    assert detectable("turned", PROFILES["fast"].without(Capability.ORIENTATION)) is False
