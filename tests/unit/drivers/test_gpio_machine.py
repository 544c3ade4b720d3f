"""Parts of the home-built machine: its memory through power cuts, its file, its pins, its reader, its process."""

import asyncio
import errno
import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.api import CardRead
from drivers.gpio_machine.journal import FileSlots, JobRecord, Journal, Memory, Remembered
from drivers.gpio_machine.runner import Runner
from drivers.gpio_machine.settings import Pin, parse_settings, read_settings
from drivers.gpio_machine.strobe_reader import default_codes, judge, make
from drivers.gpio_pins import PinBank, load_pins
from drivers.host import HostIdentity
from drivers.registry import open_machine
from firmware_bridge.errors import ConfigError, DeviceError, StoreError
from firmware_bridge.wire.numbers import Fault

# --- the memory --------------------------------------------------------------------------------------------------


class TornSlots:
    """Two slots; a write may be cut after any byte."""

    def __init__(self, content=(b"", b"")):
        self.content = list(content)
        self.cut_after = None

    def read(self, slot):
        return self.content[slot]

    def write(self, slot, data):
        if self.cut_after is not None:
            old = self.content[slot]
            self.content[slot] = data[: self.cut_after] + old[self.cut_after :]
            raise OSError("power")
        self.content[slot] = data


def full_memory():
    memory = Memory(0xABCDEF, boot_count=3)
    for number in range(10):
        memory = memory.with_command(Remembered(2**63 + number, number, 1, 0))
    for number in range(3):
        memory = memory.with_job(JobRecord(number, 2, tuple((card, card % 4) for card in range(52))))
    return memory


def test_the_memory_comes_back_and_keeps_the_last_eight_commands_and_two_jobs():
    slots = TornSlots()
    journal = Journal(slots, fresh_id=5)
    assert journal.memory.device_id == 5
    journal.save(full_memory())
    again = Journal(slots, fresh_id=6).memory
    assert again == full_memory()
    assert [command.command_id - 2**63 for command in again.commands] == [9, 8, 7, 6, 5, 4, 3, 2]
    assert [job.job_id for job in again.jobs] == [2, 1]
    assert again.recall(2**63 + 4).crc == 4
    assert again.recall(1) is None


@pytest.mark.parametrize("history", [1, 2, 3])
def test_power_cut_at_any_byte_leaves_the_old_memory_or_the_new_one(history):
    first = TornSlots()
    journal = Journal(first, fresh_id=5)
    for count in range(history):
        journal.save(Memory(5, boot_count=count))
    old = journal.memory
    new = full_memory()
    length = len(_written(first, new))
    outcomes = set()
    for cut in range(length + 1):
        slots = TornSlots(first.content)
        slots.cut_after = cut
        with pytest.raises(OSError, match="power"):
            Journal(slots, fresh_id=9).save(new)
        after = Journal(slots, fresh_id=9).memory
        assert after in (old, new)
        outcomes.add(after == new)
    assert outcomes == {True, False}


def _written(slots, memory):
    copy = TornSlots(slots.content)
    before = list(copy.content)
    Journal(copy, fresh_id=9).save(memory)
    return next(new for old, new in zip(before, copy.content, strict=True) if new != old)


@given(st.binary(max_size=400), st.binary(max_size=400))
def test_a_memory_full_of_rubbish_is_an_empty_one(one, other):
    memory = Journal(TornSlots((one, other)), fresh_id=5).memory
    assert memory == Memory(5)


def test_files_keep_the_memory_and_serve_one_program_at_a_time(tmp_path):
    slots = FileSlots(tmp_path / "memory")
    Journal(slots, fresh_id=5).save(full_memory())
    with pytest.raises(DeviceError, match="Another program"):
        FileSlots(tmp_path / "memory")
    slots.close()
    again = FileSlots(tmp_path / "memory")
    assert Journal(again, fresh_id=6).memory == full_memory()
    again.close()
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="memory can't be used"):
        FileSlots(tmp_path / "file" / "memory")


# --- the file ----------------------------------------------------------------------------------------------------

GOOD = {
    "machine": {"sorter": "gates", "pocket_order": "NEWS"},
    "outputs": {"feeder": 17, "gate_1": 5, "gate_2": 6, "gate_3": {"pin": 13, "active": "low"}},
    "inputs": {"reader_beam": {"pin": 22, "pull": "up", "bounce_ms": 2}, "board": 7, "cover": 8},
    "reader": {"call": "my_reader:make", "camera": 0},
}


def changed(**tables):
    content = {name: dict(table) for name, table in GOOD.items()}
    for name, values in tables.items():
        content.setdefault(name, {}).update(values)
    return content


def test_the_file_of_a_machine():
    settings = parse_settings(GOOD, Path("/home/pi/m.toml"))
    assert settings.pocket_order == (0, 1, 3, 2)
    assert settings.outputs["gate_3"] == Pin(13, active_low=True)
    assert settings.inputs["reader_beam"] == Pin(22, pull="up", bounce=0.002)
    assert settings.timings.card == pytest.approx(0.865)
    assert settings.reader_options == {"camera": 0}
    assert settings.state == Path("/home/pi/machine-state")
    assert not settings.sees_exits


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ({}, "feeder"),
        (changed(outputs={"feedr": 3}), "feedr"),
        (changed(inputs={"board": 17}), "17"),
        (changed(inputs={"board": "seven"}), "board"),
        (changed(inputs={"board": {"pin": 7, "pul": "up"}}), "pul"),
        (changed(inputs={"board": {"active": "low"}}), "pin"),
        (changed(inputs={"board": {"pin": 7, "active": "sometimes"}}), "active"),
        (changed(inputs={"board": True}), "board"),
        (changed(inputs={"exit_north": 9}), "exit"),
        (changed(machine={"sorter": "rotor"}), "rotor"),
        (changed(machine={"sorter": "belt"}), "sorter"),
        (changed(machine={"pocket_order": "NNES"}), "pocket_order"),
        (changed(machine={"margin_min": 300}), "margin_min"),
        (changed(machine={"colour": "red"}), "colour"),
        (changed(timings={"card": -1}), "card"),
        (changed(timings={"card": "slow"}), "card"),
        (changed(timings={"poll": 0}), "poll"),
        (changed(timings={"pol": 1}), "pol"),
        (changed(reader={"call": ""}), "reader"),
        (changed(reader={"call": 3}), "call"),
        ({**GOOD, "inputs": 3}, "inputs"),
        ({**GOOD, "more": {}}, "more"),
    ],
)
def test_a_wrong_file_is_refused_by_name(content, word):
    with pytest.raises(ConfigError, match=word) as caught:
        parse_settings(content, Path("/home/pi/m.toml"))
    assert caught.value.where == "/home/pi/m.toml"
    assert "docs/home-built-machine.md" in caught.value.next_step


def test_files_that_are_missing_or_no_toml_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="can't be read"):
        read_settings(tmp_path / "missing.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="no TOML"):
        read_settings(tmp_path / "bad.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * 300_000)
    with pytest.raises(ConfigError, match="too large"):
        read_settings(tmp_path / "large.toml")


# --- the pins ----------------------------------------------------------------------------------------------------


class Board:
    """RPi.GPIO's names over a dictionary of levels."""

    BCM, IN, OUT, HIGH, LOW = 11, 1, 0, 1, 0
    PUD_UP, PUD_DOWN, RISING, FALLING, BOTH = 22, 21, 31, 32, 33

    def __init__(self, edges=True):
        self.levels = {}
        self.set_up = {}
        self.callbacks = {}
        self.edges = edges
        self.broken = set()
        self.cleaned = []

    def setmode(self, mode):
        self.mode = mode

    def setup(self, channel, direction, initial=None, pull_up_down=None):
        self.set_up[channel] = (direction, initial, pull_up_down)
        self.levels.setdefault(channel, 0 if initial is None else initial)

    def input(self, channel):
        return self.levels[channel]

    def output(self, channel, value):
        if channel in self.broken:
            raise OSError(errno.EIO, "pin")
        self.levels[channel] = value

    def add_event_detect(self, channel, edge, callback):
        if not self.edges:
            raise RuntimeError("Failed to add edge detection")
        self.callbacks[channel] = callback

    def remove_event_detect(self, channel):
        del self.callbacks[channel]

    def cleanup(self, channel):
        self.cleaned.append(channel)


OUT = {"feeder": Pin(1), "gate_1": Pin(2, active_low=True)}
IN = {"board": Pin(3, active_low=True, pull="up", bounce=0.02), "exit_north": Pin(4), "cover": Pin(5, bounce=0.02)}


def test_outputs_begin_off_and_are_switched_by_name_whatever_their_level():
    board = Board()
    bank = PinBank(board, OUT, {})
    assert board.set_up[1] == (board.OUT, 0, None)
    assert board.set_up[2] == (board.OUT, 1, None)
    bank.drive({"feeder": True, "gate_1": True, "buzzer": True})
    assert (board.levels[1], board.levels[2]) == (1, 0)
    bank.all_off()
    assert (board.levels[1], board.levels[2]) == (0, 1)


def test_one_broken_pin_does_not_keep_the_others_on():
    board = Board()
    bank = PinBank(board, OUT, {})
    bank.drive({"feeder": True, "gate_1": True})
    board.broken.add(1)
    with pytest.raises(OSError, match="pin"):
        bank.release()
    assert board.levels[2] == 1
    assert sorted(board.cleaned) == [1, 2]


def test_a_bounce_is_no_change_and_a_change_keeps_its_moment():
    board = Board()
    board.levels[3] = 1
    bank = PinBank(board, {}, IN)
    assert not bank.active("board")
    board.levels[3] = 0
    assert bank.sample(10.000) == []
    assert bank.settling_until() == pytest.approx(10.020)
    board.levels[3] = 1
    assert bank.sample(10.005) == []
    board.levels[3] = 0
    assert bank.sample(10.010) == []
    (change,) = bank.sample(10.031)
    assert (change.name, change.active, change.at) == ("board", True, 10.010)
    assert bank.active("board")
    assert not bank.active("not there")


def test_what_stops_motors_does_not_wait_for_the_contact_to_rest():
    board = Board()
    board.levels[5] = 1
    bank = PinBank(board, {}, IN, urgent={"cover": False})
    board.levels[5] = 0
    assert [change.name for change in bank.sample(10.0)] == ["cover"]
    board.levels[5] = 1
    assert bank.sample(10.001) == []
    assert len(bank.sample(10.05)) == 1


def test_a_card_that_passes_a_beam_between_two_looks_is_noticed_by_its_edges():
    board = Board()
    now = [10.0]
    woken = []
    bank = PinBank(board, {}, IN, pulses={"exit_north"})
    assert bank.watch(lambda: woken.append(1), lambda: now[0])
    for moment in (10.004, 10.009):
        now[0] = moment
        board.callbacks[4](4)
    changes = bank.sample(10.02)
    assert [(change.active, change.at) for change in changes] == [(True, 10.004), (False, 10.009)]
    assert len(woken) == 2
    now[0] = 10.1
    board.callbacks[4](4)
    assert bank.sample(10.11) == [], "one edge alone tells nothing yet"
    now[0] = 10.12
    board.callbacks[4](4)
    assert len(bank.sample(10.13)) == 2
    bank.release()
    assert not board.callbacks


def test_an_old_edge_does_not_shorten_the_wait_for_a_contact_to_rest():
    board = Board()
    board.levels[3] = 1
    bank = PinBank(board, {}, IN, urgent={"board": False})
    now = [10.0]
    assert bank.watch(lambda: None, lambda: now[0])
    board.callbacks[3](3)
    assert bank.sample(10.05) == []
    board.levels[3] = 0
    assert bank.sample(10.10) == [], "it has only just closed, whatever an edge said before"
    board.levels[3] = 1
    assert bank.sample(10.101) == []
    board.levels[3] = 0
    assert bank.sample(10.102) == []
    assert len(bank.sample(10.13)) == 1


def test_an_edge_gives_the_moment_of_a_change_that_was_seen_later():
    board = Board()
    now = [10.0]
    bank = PinBank(board, {}, IN)
    assert bank.watch(lambda: None, lambda: now[0])
    bank.sample(10.0)
    now[0] = 10.003
    board.levels[4] = 1
    board.callbacks[4](4)
    (change,) = bank.sample(10.010)
    assert change.at == 10.003


def test_a_computer_without_edge_detection_is_polled():
    board = Board(edges=False)
    bank = PinBank(board, OUT, IN)
    assert not bank.watch(lambda: None, time.monotonic)
    assert not bank.edges


def test_a_library_is_told_to_count_pins_as_the_file_does(tmp_path, monkeypatch):
    (tmp_path / "pins_of_a_test.py").write_text(
        "said = []\nBCM = 11\ndef setmode(mode): said.append(mode)\ndef setwarnings(on): said.append(on)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_pins("pins_of_a_test").said == [False, 11]


def test_a_missing_library_is_said_in_words(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="no module"):
        load_pins("no_such_pins:PINS")
    with pytest.raises(DeviceError) as caught:
        load_pins("RPi.GPIO")
    assert "gpio" in caught.value.next_step
    (tmp_path / "not_a_pi.py").write_text("raise RuntimeError('This module can only be run on a Raspberry Pi!')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(DeviceError, match="only be run on a Raspberry Pi"):
        load_pins("not_a_pi")
    with pytest.raises(ConfigError, match="has no 'PINS'"):
        load_pins("json:PINS")


# --- the reader --------------------------------------------------------------------------------------------------


def test_the_default_codes_are_three_apart():
    codes = default_codes()
    assert len(codes) == 53
    assert all((one ^ other).bit_count() >= 3 for one in codes for other in codes if one != other)


@given(st.integers(0, 51), st.integers(-1, 9))
def test_a_clean_code_is_read_for_sure_and_one_damaged_module_only_with_doubt(card, module):
    codes = default_codes()
    code = codes[card] ^ (1 << module if module >= 0 else 0)
    read = judge([code >> place & 1 for place in range(10)], codes)
    assert read.raw == code
    assert read.best == card
    assert read.margin >= 180 if module < 0 else read.margin <= 128


@given(st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_no_votes_whatever_give_something_that_is_no_card(votes):
    read = judge(votes, default_codes())
    assert read.best in (*range(52), 254, 255)
    assert 0 <= read.margin <= 255
    assert (read.best == 255) <= (read.margin == 0)


def test_the_detectors_are_sampled_while_the_strobe_lights_them():
    codes = default_codes()
    board = Board()
    options = {"strobe": 26, "detectors": list(range(10, 20)), "dark": "low", "looks": 3}
    lit = []

    def sleep(seconds):
        lit.append(board.levels[26])
        for place in range(10):
            board.levels[10 + place] = 0 if codes[17] >> place & 1 else 1

    read = make(board, options, sleep)()
    assert lit == [1, 1, 1]
    assert board.levels[26] == 0
    assert read == CardRead(codes[17], 17, read.runner_up, read.margin)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"strobe": 1},
        {"strobe": 1, "detectors": [2]},
        {"strobe": 1, "detectors": list(range(1, 11))},
        {"strobe": 1, "detectors": [2, 3, 4]},
        {"strobe": 1, "detectors": list(range(2, 12)), "codes": [1] * 52},
        {"strobe": 1, "detectors": list(range(2, 12)), "codes": list(range(60))},
        {"strobe": 1, "detectors": list(range(2, 12)), "looks": 0},
        {"strobe": 1, "detectors": list(range(2, 12)), "light": 3},
    ],
)
def test_a_reader_that_is_described_wrongly_is_refused(options):
    with pytest.raises(ConfigError, match=r"\[reader\]"):
        make(Board(), options)


# --- the process -------------------------------------------------------------------------------------------------


class NoLine:
    ends_with_host = True

    def files(self):
        return ()

    def read(self):
        return b""

    def write(self, data):
        return len(data)

    def close(self):
        self.closed = True


class StuckMachine:
    """A machine whose loop stands still, or fails, with a motor on."""

    wants_reading = False

    def __init__(self, bank, what):
        self.bank = bank
        self.what = what

    def tick(self, now):
        self.bank.drive({"feeder": True})
        self.what()


def test_the_watchdog_switches_everything_off_when_the_loop_stands_still():
    board = Board()
    bank = PinBank(board, OUT, {})
    free = threading.Event()
    ended = []

    def abandon(status):
        ended.append((status, board.levels[1]))
        free.set()

    def stand_still():
        assert free.wait(60)
        raise SystemExit

    runner = Runner(
        StuckMachine(bank, stand_still), bank, None, NoLine(), time.monotonic, watchdog=0.05, abandon=abandon
    )
    with pytest.raises(SystemExit):
        runner.run()
    assert ended == [(70, 0)]


def test_any_exception_switches_everything_off():
    board = Board()
    bank = PinBank(board, OUT, {})

    def fail():
        assert board.levels[1] == 1
        raise ZeroDivisionError

    line = NoLine()
    with pytest.raises(ZeroDivisionError):
        Runner(StuckMachine(bank, fail), bank, None, line, time.monotonic, watchdog=60).run()
    assert board.levels[1] == 0
    assert line.closed


def test_the_words_of_a_reader_that_fails_stay_out_of_the_log(caplog):
    class Reading(StuckMachine):
        wants_reading = True
        controller = SimpleNamespace(emergency=lambda fault: stopped.append(fault))

    stopped = []

    def reader():
        raise ValueError("this looks like the ace of spades")

    bank = PinBank(Board(), OUT, {})
    machine = Reading(bank, None)
    runner = Runner(machine, bank, reader, NoLine(), time.monotonic, watchdog=60)
    runner._asked.put(True)
    runner._asked.put(False)
    runner._read_cards()
    runner._card_reader(0.0)
    assert stopped == [Fault.SENSOR]
    assert re.search(r"the card reader failed: ValueError in test_gpio_machine.py line \d+", caplog.text)
    assert "spades" not in caplog.text


MACHINE = """
[machine]
sorter = "gates"
pins = "my_pins"
[outputs]
feeder = 17
gate_1 = 5
gate_2 = 6
gate_3 = 13
[inputs]
reader_beam = 22
board = 7
cover = 8
[reader]
call = "my_reader:make"
"""


def connecting(path):
    async def scenario():
        machine = open_machine(f"gpio://{path}", HostIdentity(device_id=1))
        try:
            with pytest.raises((DeviceError, ConfigError)) as caught:
                await machine.connect(60)
            return caught.value
        finally:
            await machine.close()

    return asyncio.run(scenario())


def test_why_a_machines_program_can_not_begin_reaches_the_operator(tmp_path):
    assert connecting(tmp_path / "missing.toml").code == "machine-file"
    path = tmp_path / "machine.toml"
    path.write_text(MACHINE)
    told = connecting(path)
    assert "no module 'my_pins'" in told.what
    (tmp_path / "my_pins.py").write_text("raise RuntimeError('This module can only be run on a Raspberry Pi!')")
    told = connecting(path)
    assert told.code == "gpio-library"
    assert "Raspberry Pi" in told.what


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("sys.exit(1)", "has ended."),
        (
            "print('ERROR ' + json.dumps(dict(code='store', what='Disk full.', where='', next='Make room.')), "
            "file=sys.stderr); sys.exit(1)",
            "has ended: Disk full.",
        ),
    ],
)
def test_a_program_that_ends_later_says_why(script, words):
    import sys

    from drivers.gpio_machine.opener import ProcessStream
    from firmware_bridge.errors import LinkLost

    async def scenario():
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            f"import json, sys; sys.stdout.write('x'); sys.stdout.flush(); {script}",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        stream = ProcessStream("rig", process)
        await stream.first_words()
        assert await stream.read() == b"x"
        with pytest.raises(LinkLost) as caught:
            await stream.read()
        assert words in caught.value.what
        await stream.close()

    asyncio.run(asyncio.wait_for(scenario(), 100))
