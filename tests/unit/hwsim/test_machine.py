"""The simulated dealing machine: what it answers, and that its physical truth is what its messages claim."""

from __future__ import annotations

import random

import pytest
from hwsim_host import Dealer, Host, World, connect

from hwsim import messages
from hwsim.evidence import Evidence
from hwsim.machine.device import Machine
from hwsim.machine.faults import parse_fault
from hwsim.machine.pack import CODE, read_code
from hwsim.machine.profile import PROFILES
from hwsim.memory import Media
from hwsim.numbers import Action, Capability, FaultCode, Hopper, Kind, Outcome, Reason, State
from hwsim.speeds import SPEEDS


def machine(media: Media | None = None, *, speed: str = "demo", now: float = 0.0, **options: object) -> Machine:
    options.setdefault("chance", random.Random(5))
    return Machine(media or Media(), now, seed=3, speed=SPEEDS[speed], **options)  # type: ignore[arg-type]


def deal(dealer: Dealer, board: int, copy: int, job: int) -> dict[str, object]:
    """One board from insert to removal; the fields of DONE."""
    dealer.display(Action.INSERT_BOARD, board, copy)
    dealer.world.run_until(lambda: any(f["seated"] and f["label"] == board for f in dealer.host.all(Kind.BOARD)[-1:]))
    assert dealer.arm(board, copy, job)["outcome"] == Outcome.DONE
    assert dealer.start(board, copy, job)["outcome"] == Outcome.DONE
    done = dealer.wait(Kind.DONE, Kind.FAULT)
    assert done[0] == Kind.DONE, done
    dealer.display(Action.REMOVE_BOARD, board, copy)
    dealer.wait(Kind.BOARD)
    return done[2]


def begin(device: Machine, board: int = 4, baud: int | None = None) -> Dealer:
    """Insert, arm and start one board."""
    world, host = connect(device, baud)
    dealer = Dealer(world, host)
    dealer.display(Action.INSERT_BOARD, board, 1)
    dealer.wait(Kind.BOARD)
    dealer.arm(board, 1, 77)
    assert dealer.start(board, 1, 77)["outcome"] == Outcome.DONE
    return dealer


@pytest.mark.parametrize("speed", ["demo", "line", "max", "real"])
def test_boards_are_what_was_ordered(speed: str) -> None:
    evidence = Evidence()
    device = machine(speed=speed, evidence=evidence)
    world, host = connect(device, 115200 if SPEEDS[speed].paced else None)
    dealer = Dealer(world, host)
    boards = [(1, 1), (2, 1), (2, 2)]
    for job, (board, copy) in enumerate(boards, 1):
        done = deal(dealer, board, copy, job)
        routing = messages.pack_routing(dealer.plans[board, copy])
        assert done["digest"] == messages.deal_digest(board, routing)
        assert done["counts"] == bytes([13] * 4)
    truths = {(t["board"], t["copy"]): t["pockets"] for t in evidence.lines["truth"]}
    assert set(truths) == set(boards)
    for key, pockets in truths.items():
        plan = dealer.plans[key]
        assert pockets == {s: [c for c in range(52) if plan[c] == i] for i, s in enumerate("NESW")}
    assert [f["index"] for f in host.all(Kind.CARD)] == [*range(52)] * 3
    assert all(f["wanted"] == f["confirmed"] for f in host.all(Kind.CARD))


def test_info_snapshot_and_report() -> None:
    device = machine()
    dealer = begin(device)
    dealer.wait(Kind.DONE)
    host = dealer.host
    assert host.last(Kind.MACHINE_INFO)["pocket_order"] == bytes([0, 1, 3, 2])
    host.send(Kind.SNAPSHOT)
    _, _, state = dealer.wait(Kind.MACHINE_STATE)
    assert (state["state"], state["board_in"], state["label"], state["job_id"]) == (State.FINISHED, 1, 4, 77)
    assert state["hopper"] == Hopper.EMPTY
    assert state["counts"] == bytes([13] * 4)
    host.send(Kind.REPORT, {"job_id": 77})
    _, _, report = dealer.wait(Kind.REPORT_DATA)
    assert report["known"] == 1
    assert report["placed"] == [f["best"] | f["confirmed"] << 8 for f in host.all(Kind.CARD)]
    host.send(Kind.REPORT, {"job_id": 78})
    assert dealer.wait(Kind.REPORT_DATA)[2] == {"job_id": 78, "known": 0, "state": 0, "placed": []}


def test_commands_are_done_once() -> None:
    device = machine(operator=False)
    world, host = connect(device)
    dealer = Dealer(world, host)
    routing = messages.pack_routing(dealer.plan(1, 1))
    arm = {
        "command_id": 99,
        "job_id": 5,
        "board": 1,
        "copy": 1,
        "routing": routing,
        "digest": messages.deal_digest(1, routing),
    }
    assert dealer.command(Kind.ARM, **arm) == {"command_id": 99, "outcome": 1, "reason": 0, "replayed": 0}
    assert dealer.command(Kind.ARM, **arm)["replayed"] == 1
    other = dealer.command(Kind.ARM, **{**arm, "job_id": 6})
    assert (other["outcome"], other["reason"]) == (Outcome.REFUSED, Reason.ID_REUSED)
    assert (dealer.command(Kind.ABORT, command_id=99, job_id=5))["reason"] == Reason.ID_REUSED
    bad = dealer.command(Kind.ARM, **{**arm, "command_id": 100, "digest": bytes(8)})
    assert bad["reason"] == Reason.WRONG_DIGEST
    for _ in range(8):
        dealer.command(Kind.ABORT, job_id=0)
    # Only the last eight are remembered.
    assert dealer.command(Kind.ARM, **arm)["replayed"] == 0


def test_refusals_of_start() -> None:
    device = machine(operator=False)
    world, host = connect(device)
    dealer = Dealer(world, host)
    dealer.plan(7, 1)
    assert dealer.start(7, 1, 5)["reason"] == Reason.WRONG_STATE
    dealer.arm(7, 1, 5)
    assert dealer.start(7, 1, 5)["reason"] == Reason.NO_BOARD
    assert dealer.start(7, 1, 6)["reason"] == Reason.WRONG_JOB
    device.insert((8, 1))
    assert dealer.start(7, 1, 5)["reason"] == Reason.WRONG_BOARD
    device.pull()
    assert dealer.start(7, 1, 5)["reason"] == Reason.WRONG_STATE  # pulling the board has disarmed
    device.insert((7, 1), 2)
    dealer.arm(7, 1, 5)
    assert dealer.start(7, 1, 5)["reason"] == Reason.TURNED
    device.pull()
    device.insert((7, 1))
    dealer.arm(7, 1, 5)
    assert dealer.start(7, 1, 5)["reason"] == Reason.HOPPER_EMPTY
    device.world.do("new_pack")
    device.load(device.world.table)
    device.cover(False)
    assert dealer.start(7, 1, 5)["reason"] == Reason.COVER_OPEN
    device.cover(True)
    assert host.hello is not None
    host.hello = {**host.hello, "boot_id": 0}
    assert dealer.start(7, 1, 5)["reason"] == Reason.WRONG_BOOT


def test_without_a_label_reader_the_key_is_pressed() -> None:
    device = machine(profile=PROFILES["fast"].without(Capability.LABEL | Capability.ORIENTATION))
    world, host = connect(device)
    dealer = Dealer(world, host)
    dealer.display(Action.INSERT_BOARD, 9, 2)
    assert dealer.wait(Kind.BOARD)[2] == {"seated": 1, "label": 0, "orientation": 255}
    dealer.display(Action.CONFIRM_BOARD, 9, 2)
    assert dealer.wait(Kind.CONFIRMED)[2] == {"board": 9, "copy": 2}
    dealer.display(Action.CONFIRM_BOARD, 10, 2)
    world.run(5.0)
    assert len(host.all(Kind.CONFIRMED)) < 4  # nobody confirms a number that is not on the board
    assert all(f["board"] == 9 for f in host.all(Kind.CONFIRMED))


def test_pause_and_resume() -> None:
    dealer = begin(machine(), baud=115200)
    host, world = dealer.host, dealer.world
    world.run_until(lambda: len(host.all(Kind.CARD)) > 10)
    assert dealer.command(Kind.PAUSE, job_id=77)["outcome"] == Outcome.DONE
    world.run(0.5)
    dealt = len(host.all(Kind.CARD))
    assert dealt < 52
    assert dealer.command(Kind.RESUME, job_id=77, next_index=dealt + 1)["outcome"] == Outcome.REFUSED
    assert dealer.command(Kind.RESUME, job_id=77, next_index=dealt)["outcome"] == Outcome.DONE
    assert dealer.wait(Kind.DONE)[2]["cards"] == 52


def test_abort_in_mid_board_leaves_an_idle_machine() -> None:
    dealer = begin(machine())
    dealer.world.run_until(lambda: len(dealer.host.all(Kind.CARD)) > 10)
    dealer.command(Kind.ABORT, job_id=77)
    dealer.world.run(1.0)
    dealer.host.send(Kind.SNAPSHOT)
    state = dealer.wait(Kind.MACHINE_STATE)[2]
    assert (state["state"], state["job_id"]) == (State.IDLE, 0)
    assert sum(state["counts"]) > 10
    assert dealer.arm(5, 1, 78)["reason"] == Reason.POCKETS_NOT_EMPTY


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("gate-stuck@20", FaultCode.GATE),
        ("smudge@20", FaultCode.UNREADABLE),
        ("unreadable@20", FaultCode.UNREADABLE),
        ("misread@20", FaultCode.DUPLICATE_CARD),
        ("jam@20", FaultCode.JAM),
        ("double-feed@20", FaultCode.DOUBLE_FEED),
        ("misfeed@20,for=9", FaultCode.MISFEED),
        ("cover@20", FaultCode.COVER_OPEN),
        ("pull@20", FaultCode.BOARD_PULLED),
    ],
)
@pytest.mark.parametrize("speed", ["demo", "max"])
def test_faults_stop_the_machine(fault: str, code: int, speed: str) -> None:
    evidence = Evidence()
    device = machine(speed=speed, evidence=evidence, faults=[parse_fault(fault)])
    dealer = begin(device)
    kind, _, fields = dealer.wait(Kind.FAULT, Kind.DONE)
    assert (kind, fields["fault"]) == (Kind.FAULT, code)
    assert [f["kind"] for f in evidence.lines["faults"]] == [fault.split("@")[0]]
    dealer.host.send(Kind.SNAPSHOT)
    assert dealer.wait(Kind.MACHINE_STATE)[2]["state"] == State.STOPPED
    # All 52 cards of the pack are somewhere, and come back into the hopper when they are collected.
    dealer.display(Action.CLOSE_COVER, 4, 1)
    dealer.world.run(0.5)
    dealer.display(Action.COLLECT_CARDS, 4, 1)
    dealer.world.run(3.0)
    assert len(device.world.hopper) == 52
    assert device.world.slot is None
    assert deal(dealer, 4, 1, 78)["digest"] != bytes(8)


def test_a_jam_can_be_cleared_and_the_board_finished() -> None:
    device = machine(faults=[parse_fault("jam@30")])
    dealer = begin(device)
    fault = dealer.wait(Kind.FAULT)[2]
    assert (fault["recoverable"], fault["in_flight"], fault["action"]) == (1, 1, Action.CLEAR_JAM)
    dealer.display(Action.CLEAR_JAM, 4, 1)
    dealer.world.run(1.0)
    index = len(dealer.host.all(Kind.CARD))
    assert index == 29
    assert dealer.command(Kind.RESUME, job_id=77, next_index=index)["outcome"] == Outcome.DONE
    done = dealer.wait(Kind.DONE)[2]
    assert done["digest"] == messages.deal_digest(4, messages.pack_routing(dealer.plans[4, 1]))


def test_power_cut_in_mid_board() -> None:
    media = Media()
    device = machine(media, faults=[parse_fault("power-cut@25")])
    dealer = begin(device)
    host, world = dealer.host, dealer.world
    old = host.hello
    world.run_until(lambda: any(f.get("boot_count") == 2 for _, _, f in host.controls))
    assert old is not None
    fresh = world.host = Host(session=2)
    world.run_until(lambda: fresh.hello is not None)
    assert fresh.hello is not None
    assert fresh.hello["boot_id"] != old["boot_id"]
    assert fresh.hello["boot_count"] == old["boot_count"] + 1
    assert fresh.hello["device_id"] == old["device_id"]
    again = Dealer(world, fresh, seed=2)
    fresh.send(Kind.SNAPSHOT)
    assert again.wait(Kind.MACHINE_STATE)[2]["state"] == State.IDLE
    fresh.send(Kind.REPORT, {"job_id": 77})
    report = again.wait(Kind.REPORT_DATA)[2]
    assert (report["known"], report["state"]) == (1, State.STOPPED)
    assert 20 <= len(report["placed"]) <= 25
    again.display(Action.COLLECT_CARDS, 4, 1)
    world.run(3.0)
    assert len(device.world.hopper) == 52
    assert deal(again, 4, 1, 79)["cards"] == 52


def test_truth_survives_the_death_of_the_process() -> None:
    media = Media()
    device = machine(media)
    dealer = begin(device)
    dealer.world.run_until(lambda: device.world.fed == 30)
    before = device.world
    again = machine(media, now=9.0).world  # nothing was closed or flushed
    for name in ("hopper", "belt", "table", "boards", "slot", "orientation", "fed", "packs", "shuffles"):
        assert getattr(again, name) == getattr(before, name)
    cards = again.hopper + again.belt + again.table + [c for p in again.boards[4, 1] for c in p]
    assert sorted(cards) == list(range(64, 64 + 52))  # board 4 takes a pack with blue backs


def test_the_line_unplugged_stops_the_machine_after_the_card_in_flight() -> None:
    device = machine(speed="real", faults=[parse_fault("unplug@10,for=1")])
    dealer = begin(device)
    world = dealer.world
    world.run_until(lambda: not world.line.connected)
    world.run(8.0)
    assert 10 < device.world.fed < 10 + 5.5 / 0.096
    assert not device.world.belt
    world.line.connect()
    host = world.host = Host(session=2)
    world.run_until(lambda: bool(host.all(Kind.FAULT)))
    assert host.last(Kind.FAULT)["fault"] == FaultCode.HOST_LOST


def test_read_board_tells_what_is_there() -> None:
    device = machine()
    dealer = begin(device)
    dealer.wait(Kind.DONE)
    assert dealer.command(Kind.READ_BOARD, job_id=80, board=4, copy=1)["outcome"] == Outcome.DONE
    done = dealer.wait(Kind.DONE)[2]
    assert done["digest"] == messages.deal_digest(4, messages.pack_routing(dealer.plans[4, 1]))
    read = {f["best"]: f["confirmed"] for f in dealer.host.all(Kind.CARD) if f["job_id"] == 80}
    assert [read[c] for c in range(52)] == dealer.plans[4, 1]
    # A card moved by hand is seen.
    pockets = device.world.boards[4, 1]
    pockets[0][0], pockets[1][0] = pockets[1][0], pockets[0][0]
    dealer.command(Kind.READ_BOARD, job_id=81, board=4, copy=1)
    assert dealer.wait(Kind.DONE)[2]["digest"] != done["digest"]
    assert dealer.command(Kind.READ_BOARD, job_id=82, board=5, copy=1)["reason"] == Reason.WRONG_BOARD


def test_a_turned_board_gets_the_cards_in_other_printed_pockets() -> None:
    evidence = Evidence()
    profile = PROFILES["fast"].without(Capability.LABEL | Capability.ORIENTATION)
    device = machine(profile=profile, operator=False, evidence=evidence)
    world, host = connect(device)
    dealer = Dealer(world, host)
    device.world.do("new_pack")
    device.load(device.world.table)
    device.insert((1, 1), 1)
    dealer.arm(1, 1, 5)
    dealer.start(1, 1, 5)
    dealer.wait(Kind.DONE)
    device.pull()
    truth = evidence.lines["truth"][-1]
    plan = dealer.plans[1, 1]
    # Turned a quarter clockwise, the board's north lies where the machine has its east.
    assert truth["pockets"]["N"] == [c for c in range(52) if plan[c] == 1]
    assert truth["orientation"] == 90


def test_code_has_distance_three_and_one_damaged_module_is_doubtful() -> None:
    assert len(set(CODE)) == 53
    for card in range(52):
        exact = read_code(CODE[card])
        assert (exact.best, exact.margin >= 150) == (card, True)
        for module in range(10):
            damaged = read_code(CODE[card] ^ 1 << module, 12)
            assert damaged.margin < PROFILES["fast"].margin_min
            assert damaged.best in (card, 255)


def test_same_seed_same_bytes() -> None:
    def run() -> bytes:
        device = machine(speed="demo")
        trace = bytearray()
        world = World(device_line := connect(device, 115200)[0].line)
        host = world.host = Host(session=2)
        take = device_line.to_host
        device_line.to_host = lambda now: trace_add(trace, take(now))  # type: ignore[method-assign]
        world.run_until(lambda: host.hello is not None)
        dealer = Dealer(world, host)
        deal(dealer, 3, 1, 1)
        return bytes(trace)

    def trace_add(trace: bytearray, data: bytes) -> bytes:
        trace += data
        return data

    assert run() == run()
