"""The home-built machine's controller in virtual time: every fault stops it, and nothing wrong is called done."""

import asyncio
import random
import sys
import tomllib
from pathlib import Path

import pytest
from home_built import SimulatedPins, World, machine_file
from machine_bench import bench, deal, order_for

from drivers.gpio_machine.device import HomeBuiltMachine, bank_for
from drivers.gpio_machine.settings import parse_settings
from drivers.gpio_machine.strobe_reader import make
from firmware_bridge.link.events import Established, MessageReceived, NoAnswer, Refused, Unsupported
from firmware_bridge.link.greeting import host_hello
from firmware_bridge.link.session import Session
from firmware_bridge.wire.messages import (
    Abort,
    Arm,
    BoardEvent,
    CardEvent,
    CommandResult,
    Confirmed,
    Display,
    Done,
    FaultEvent,
    HopperEvent,
    MachineInfo,
    MachineState,
    Pause,
    ReadBoard,
    Report,
    ReportData,
    Resume,
    Snapshot,
    Start,
)
from firmware_bridge.wire.numbers import CommandReason, Fault, MachineStateCode, Outcome, Role

STEP = 0.0005
MOTORS = ("feeder", "transport", "gate_1", "gate_2", "gate_3")


class MemorySlots:
    """``watch`` is called before each write, which on a real card may take a tenth of a second."""

    def __init__(self, watch=lambda: None):
        self.content = [b"", b""]
        self.watch = watch

    def read(self, slot):
        return self.content[slot]

    def write(self, slot, data):
        self.watch()
        self.content[slot] = data


class Rig:
    """World, pins, machine and a host's session in one virtual time; ``edges`` False is a computer without them."""

    def __init__(self, edges=True, faults=None, change=None):
        self.now = 100.0
        content = tomllib.loads(machine_file(edges))
        if change is not None:
            change(content)
        self.settings = parse_settings(content, Path("/nowhere/machine.toml"))
        self.world = World(faults or {})
        self.pins = SimulatedPins(self.world, edges, lambda: self.now)
        self.slots = MemorySlots()
        self.edges = edges
        self.boots = 0
        self.ids = 0
        self.got = []
        self.reader_fails = False
        self.linked = True
        self.session = Session(host_hello(0x51, 1, 1, "test"), Role.MACHINE, random.Random(1))
        self.session.start(self.now)
        self.switch_on()

    def switch_on(self):
        self.boots += 1
        self.bank = bank_for(self.settings, self.pins)
        if self.edges:
            assert self.bank.watch(lambda: None, lambda: self.now)
        else:
            assert not self.bank.watch(lambda: None, lambda: self.now)
        self.reader = make(self.pins, dict(self.settings.reader_options), sleep=lambda _: None)
        self.machine = HomeBuiltMachine(
            self.settings, self.bank, self.slots, boot_id=1000 + self.boots, fresh_id=77, now=self.now
        )

    def power_cut(self):
        """All at once: the motors stop because nothing drives them any more."""
        for name in MOTORS:
            self.pins.output(self.settings.outputs[name].number, 0)
        self.switch_on()

    def on(self, name):
        return bool(self.pins.levels.get(self.settings.outputs[name].number))

    def motors_on(self):
        return [name for name in MOTORS if self.on(name)]

    # --- time ----------------------------------------------------------------------------------------------------

    def step(self):
        self.now += STEP
        with self.pins.lock:
            self.pins._step()
        self.pins.call_back()
        machine = self.machine
        machine.tick(self.now)
        if machine.wants_reading and not self.reader_fails:
            machine.card_read(self.reader(), self.now)
        while machine.next_display() is not None:
            pass
        if self.linked:
            self.take(self.session.receive(machine.take_output(self.now), self.now))
            self.take(self.session.tick(self.now))
            machine.receive(self.session.take_output(self.now), self.now)

    def take(self, events):
        for event in events:
            self.got.append(event.message if isinstance(event, MessageReceived) else event)

    def run(self, seconds):
        end = self.now + seconds
        while self.now < end:
            self.step()

    def until(self, kind, seconds=20):
        """Run until a message of that class has come; it and all before it are taken."""
        end = self.now + seconds
        while self.now < end:
            for place, item in enumerate(self.got):
                if isinstance(item, kind):
                    del self.got[: place + 1]
                    return item
            self.step()
        raise AssertionError(f"no {kind.__name__} within {seconds} s; there are {self.got}")

    # --- the host ------------------------------------------------------------------------------------------------

    def connect(self):
        self.until(Established)
        return self.until(MachineInfo)

    def send(self, message):
        self.session.send(message, 0, self.now)

    def number(self):
        self.ids += 1
        return self.ids

    def ask(self, message, answer=CommandResult):
        self.send(message)
        return self.until(answer)

    def arm(self, board=7):
        order, self.pockets = order_for(board, seed=5)
        self.order = order
        self.armed = Arm(self.number(), order.job_id, board, 1, order.routing, order.digest)
        return self.ask(self.armed)

    def insert(self):
        self.send(Display(1, 7, 1, 0, "insert"))
        self.run(0.05)
        self.world.shown = (7, 1)
        if not self.world.hopper:
            self.world.new_pack()
        self.world.board = True
        told = self.until(BoardEvent)
        self.run(0.02)
        return told

    def start(self):
        order = self.order
        boot = 1000 + self.boots
        return self.ask(Start(self.number(), order.job_id, order.board, 1, boot, order.digest))

    def snapshot(self):
        return self.ask(Snapshot(), MachineState)

    def report(self):
        return self.ask(Report(self.order.job_id), ReportData)

    def dealing(self):
        """Connected, armed, board in, started."""
        self.connect()
        assert self.arm().outcome == Outcome.DONE
        assert self.insert().seated
        assert self.start().outcome == Outcome.DONE


@pytest.fixture(params=[True, False], ids=["edges", "polled"])
def edges(request):
    return request.param


def test_a_board_is_dealt_to_its_last_card_and_lies_as_ordered(edges):
    rig = Rig(edges)
    info = rig.connect()
    assert info.pocket_order == bytes([0, 1, 2, 3])
    assert rig.arm().outcome == Outcome.DONE
    rig.insert()
    assert rig.start().outcome == Outcome.DONE
    cards = [rig.until(CardEvent) for _ in range(52)]
    done = rig.until(Done)
    assert done.digest == rig.order.digest
    assert done.counts == bytes([13] * 4)
    assert [card.index for card in cards] == list(range(52))
    assert all(card.confirmed == card.wanted == rig.pockets[card.best] for card in cards)
    truth = {card: "NESW".index(seat) for seat, lying in rig.world.pockets.items() for card in lying}
    assert truth == dict(enumerate(rig.pockets))
    assert not rig.motors_on()
    assert rig.snapshot().state == MachineStateCode.FINISHED
    assert len(rig.report().placed) == 52


FAULTS = [
    ({"jam": 9}, Fault.JAM),
    ({"hang": 9}, Fault.JAM),
    ({"stuck": 9}, Fault.DOUBLE_FEED),
    ({"gate": 9}, Fault.GATE),
    ({"double": 9}, Fault.DOUBLE_FEED),
    ({"misfeed": 9}, None),
    ({"cover": 9}, Fault.COVER_OPEN),
    ({"pull": 9}, Fault.BOARD_PULLED),
    ({"button": 9}, Fault.STOPPED_BY_KEY),
    ({"joker": 1}, Fault.FOREIGN_CARD),
    ({"short": 1}, Fault.HOPPER_EMPTY),
    ({"extra": 1}, Fault.EXTRA_CARD),
    ({"twice": 1}, Fault.DUPLICATE_CARD),
]


@pytest.mark.parametrize(("faults", "fault"), FAULTS, ids=[next(iter(faults)) for faults, _ in FAULTS])
def test_every_fault_stops_the_machine_and_none_is_called_done(faults, fault, edges):
    rig = Rig(edges, faults)
    rig.dealing()
    if fault is None:
        assert rig.until(Done).digest == rig.order.digest, "one slip is cured by the machine's own second try"
        return
    told = rig.until(FaultEvent)
    assert told.fault == fault
    assert told.job_id == rig.order.job_id
    assert not rig.motors_on()
    rig.run(1.0)
    assert not rig.motors_on()
    assert not any(isinstance(item, Done) for item in rig.got)
    assert rig.snapshot().state == MachineStateCode.STOPPED
    placed = rig.report().placed
    lying = sum(len(cards) for cards in rig.world.pockets.values())
    assert len(placed) == lying or fault in (Fault.BOARD_PULLED, Fault.DOUBLE_FEED)


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes of POSIX")
def test_what_the_process_calls_done_lies_in_the_board_as_ordered(tmp_path):
    async def scenario():
        async with bench("gpio", tmp_path) as (simulated, machine):
            order, pockets = order_for(7)
            _, done = await deal(machine, order)
            assert done.digest == order.digest
            assert simulated.truth(7) == dict(enumerate(pockets))

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_an_exit_beam_tells_when_a_gate_did_not_move():
    rig = Rig(faults={"gate": 5})
    rig.dealing()
    seen = []
    while not seen or seen[-1].confirmed == seen[-1].wanted:
        seen.append(rig.until(CardEvent))
    assert rig.until(FaultEvent).fault == Fault.GATE
    assert rig.report().placed[-1] >> 8 == seen[-1].confirmed, (
        "the report tells where the card is, not where it belongs"
    )


def test_the_cover_stops_the_motors_within_one_look(edges):
    rig = Rig(edges)
    rig.dealing()
    rig.until(CardEvent)
    while not rig.motors_on():
        rig.step()
    rig.world.covered = False
    rig.step()
    rig.step()
    assert not rig.motors_on()
    assert rig.until(FaultEvent).fault == Fault.COVER_OPEN
    assert rig.ask(Resume(rig.number(), rig.order.job_id, 1)).outcome == Outcome.REFUSED


@pytest.mark.parametrize("faults", [{}, {"cover": 9}, {"pull": 9}, {"jam": 9}, {"gate": 9}, {"twice": 1}])
def test_no_motor_runs_while_the_memory_is_written(faults):
    rig = Rig(faults=faults)
    rig.dealing()
    running = []
    rig.slots.watch = lambda: running.extend(rig.motors_on())
    rig.until(FaultEvent if faults else Done)
    assert not running


@pytest.mark.parametrize("what", ["cover", "board"])
def test_what_stops_running_motors_stops_them_before_the_memory_is_written(what):
    rig = Rig()
    rig.dealing()
    rig.until(CardEvent)
    while not rig.on("transport"):
        rig.step()
    running = []
    rig.slots.watch = lambda: running.extend(rig.motors_on())
    if what == "cover":
        rig.world.covered = False
    else:
        rig.world.board = False
    told = rig.until(FaultEvent)
    assert told.fault == (Fault.COVER_OPEN if what == "cover" else Fault.BOARD_PULLED)
    assert told.in_flight == 1
    assert not running


def test_pause_and_resume_after_the_card_in_flight():
    rig = Rig()
    rig.dealing()
    for _ in range(5):
        rig.until(CardEvent)
    assert rig.ask(Pause(rig.number(), rig.order.job_id)).outcome == Outcome.DONE
    rig.run(0.3)
    state = rig.snapshot()
    assert state.state == MachineStateCode.PAUSED
    assert not rig.motors_on()
    placed = sum(state.counts)
    wrong = rig.ask(Resume(rig.number(), rig.order.job_id, placed + 1))
    assert wrong.reason == CommandReason.WRONG_STATE
    assert rig.ask(Resume(rig.number(), rig.order.job_id, placed)).outcome == Outcome.DONE
    assert rig.until(Done).digest == rig.order.digest


def test_a_lost_host_stops_the_machine_after_the_card_in_flight_and_it_can_go_on():
    rig = Rig()
    rig.dealing()
    rig.until(CardEvent)
    rig.linked = False
    rig.machine.line_down(rig.now)
    rig.run(0.5)
    assert not rig.motors_on()
    lying = sum(len(cards) for cards in rig.world.pockets.values())
    assert 1 <= lying < 10
    rig.session.close(rig.now)
    rig.session.take_output(rig.now)
    rig.session.start(rig.now)
    rig.linked = True
    rig.connect()
    assert rig.until(FaultEvent).fault == Fault.HOST_LOST
    assert len(rig.report().placed) == lying
    assert rig.ask(Resume(rig.number(), rig.order.job_id, lying)).outcome == Outcome.DONE
    assert rig.until(Done).digest == rig.order.digest


def test_a_silent_host_counts_as_lost_after_five_seconds():
    rig = Rig(change=lambda content: content["timings"].update(card=300))
    rig.dealing()
    rig.until(CardEvent)
    rig.linked = False
    rig.run(7)
    assert not rig.motors_on()
    assert rig.machine.controller.state == MachineStateCode.STOPPED


def test_a_reader_that_never_answers_stops_the_machine():
    rig = Rig()
    rig.dealing()
    rig.until(CardEvent)
    rig.reader_fails = True
    told = rig.until(FaultEvent)
    assert told.fault == Fault.SENSOR
    assert not rig.motors_on()


def test_no_card_from_a_dead_feeder_stops_after_the_machines_own_tries():
    rig = Rig()
    rig.connect()
    rig.arm()
    rig.insert()
    rig.world.fed = -1e9
    assert rig.start().outcome == Outcome.DONE
    told = rig.until(FaultEvent)
    assert told.fault == Fault.MISFEED
    assert told.recoverable
    assert not rig.motors_on()
    rig.world.fed = 0.0
    assert rig.ask(Resume(rig.number(), rig.order.job_id, 0)).outcome == Outcome.DONE
    assert rig.until(Done).digest == rig.order.digest


def test_commands_are_done_once_and_an_id_with_another_body_is_refused():
    rig = Rig()
    rig.connect()
    first = rig.arm()
    assert not first.replayed
    again = rig.ask(rig.armed)
    assert (again.outcome, again.replayed) == (Outcome.DONE, 1)
    other = Arm(rig.armed.command_id, 99, 8, 1, rig.armed.routing, rig.armed.digest)
    assert rig.ask(other).reason == CommandReason.ID_REUSED
    assert rig.snapshot().job_id == rig.order.job_id


def test_a_power_cut_forgets_the_armed_job_but_neither_the_cards_nor_the_commands():
    rig = Rig()
    rig.dealing()
    for _ in range(8):
        rig.until(CardEvent)
    device_id = rig.session.peer.device_id
    rig.power_cut()
    rig.run(1.0)
    lying = sum(len(cards) for cards in rig.world.pockets.values())
    rig.connect()
    assert rig.session.peer.boot_id == 1002
    assert rig.session.peer.boot_count == 2
    assert rig.session.peer.device_id == device_id
    report = rig.report()
    assert report.known
    assert lying - 1 <= len(report.placed) <= lying
    assert rig.snapshot().state == MachineStateCode.IDLE
    replayed = rig.ask(rig.armed)
    assert replayed.replayed
    assert rig.start().outcome == Outcome.REFUSED
    assert not rig.motors_on()


def test_what_the_machine_can_not_do_is_refused():
    rig = Rig()
    rig.connect()
    assert rig.ask(ReadBoard(rig.number(), 5, 7, 1)).reason == CommandReason.UNSUPPORTED
    assert rig.arm().outcome == Outcome.DONE
    assert rig.start().reason == CommandReason.NO_BOARD
    rig.insert()
    rig.world.covered = False
    rig.run(0.05)
    assert rig.start().reason == CommandReason.COVER_OPEN
    rig.world.covered = True
    rig.run(0.05)
    order = rig.order
    stale = Start(rig.number(), order.job_id, order.board, 1, 1, order.digest)
    assert rig.ask(stale).reason == CommandReason.WRONG_BOOT
    assert rig.ask(Abort(rig.number(), 0)).outcome == Outcome.DONE
    assert rig.snapshot().state == MachineStateCode.IDLE
    assert rig.start().outcome == Outcome.REFUSED
    assert not rig.motors_on()


def test_pulling_the_board_disarms():
    rig = Rig()
    rig.connect()
    rig.arm()
    rig.insert()
    rig.world.pull()
    assert not rig.until(BoardEvent).seated
    assert rig.snapshot().state == MachineStateCode.IDLE
    assert rig.start().outcome == Outcome.REFUSED


def test_the_key_confirms_what_the_display_shows_and_bounces_do_not_count():
    rig = Rig()
    rig.connect()
    rig.send(Display(4, 12, 2, 1, "press"))
    rig.run(0.05)
    assert rig.on("buzzer")
    rig.world.pressed["key"] = True
    assert rig.until(Confirmed) == Confirmed(12, 2)
    rig.world.pressed["key"] = False
    rig.run(1.0)
    assert not any(isinstance(item, Confirmed) for item in rig.got)
    assert not rig.on("buzzer")
    rig.world.new_pack()
    assert rig.until(HopperEvent).hopper == 1


def test_a_second_host_is_refused_while_the_first_lives():
    rig = Rig()
    rig.connect()
    second = Session(host_hello(0x52, 1, 1, "test"), Role.MACHINE, random.Random(2))
    second.start(rig.now)
    rig.machine.receive(second.take_output(rig.now), rig.now)
    events = second.receive(rig.machine.take_output(rig.now), rig.now)
    assert any(isinstance(event, Refused) and event.reason == 2 for event in events)


def test_messages_that_the_machine_does_not_know_are_answered_so():
    from firmware_bridge.wire.messages import Credit

    rig = Rig()
    rig.connect()
    rig.send(Credit(1))
    assert rig.until(Unsupported).nak.kind == 0x75


def test_an_emergency_switches_everything_off_in_any_phase():
    rig = Rig()
    rig.dealing()
    for _ in range(60):
        for _ in range(7):
            rig.step()
        if not rig.motors_on():
            continue
        rig.machine.stop()
        assert not rig.motors_on()
        return
    raise AssertionError("no motor was ever on")


@pytest.mark.parametrize("loss", [0.1, 0.3])
def test_a_bad_line_changes_nothing_but_the_time(loss):
    rig = Rig()
    chance = random.Random(9)
    send = rig.machine.take_output
    receive = rig.machine.receive

    def damaged(data):
        if data and chance.random() < loss:
            place = chance.randrange(len(data))
            return data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        return data

    rig.machine.take_output = lambda now: damaged(send(now))
    rig.machine.receive = lambda data, now: receive(damaged(data), now)
    rig.dealing()
    cards = [rig.until(CardEvent, 60) for _ in range(52)]
    assert [card.index for card in cards] == list(range(52))
    assert rig.until(Done, 60).digest == rig.order.digest
    assert not any(isinstance(item, NoAnswer) for item in rig.got)
