"""A home-built dealing machine without the wood: pins with RPi.GPIO's names, and the cards and motors behind them.

Physical truth first: cards lie in the hopper, on the belt or in a pocket, and move only while a motor runs. A thread
lets time pass, makes contacts bounce and calls back on edges, as the real library does. An operator stands beside it
and does what the display says. What lies where is written to ``truth.json`` beside the machine's file.
"""

import json
import os
import random
import threading
import time
from collections import deque
from pathlib import Path

from drivers.gpio_machine.strobe_reader import default_codes
from firmware_bridge.wire.numbers import Action

FOLDER = Path(os.environ.get("HOME_BUILT_FOLDER", "."))
FAULTS = json.loads(os.environ.get("HOME_BUILT_FAULTS", "{}"))

FEED, BEAM, PITCH, EXIT = 0.004, 0.006, 0.003, 0.010
HAND = 0.05
BOUNCE = 0.002

OUTPUTS = {"feeder": 17, "transport": 27, "gate_1": 5, "gate_2": 6, "gate_3": 13, "buzzer": 18, "lamp_stop": 15}
INPUTS = {
    "reader_beam": 22,
    "exit_north": 23,
    "exit_east": 24,
    "exit_south": 25,
    "exit_west": 8,
    "board": 7,
    "cover": 12,
    "hopper": 16,
    "stop_button": 20,
    "key": 21,
}
CODES = default_codes()
STROBE, DETECTORS = 26, [2, 3, 4, 9, 10, 11, 14, 19, 0, 1]
ORDER = "NESW"

BOUNCING = ("board", "key", "hopper")

HEAD = f"""
[machine]
model = "test rig"
sorter = "gates"
pocket_order = "{ORDER}"
pins = "home_built:PINS"
display = "home_built:show"
state = "memory"
margin_min = 100
"""

TAIL = f"""
[timings]
card = 10
settle = 1
aim = 1
feed_limit = 800
read_limit = 2000
beam = 10
beam_limit = 1500
exit_limit = 1500
poll = 1
idle_poll = 10
watchdog = 3000

[reader]
call = "drivers.gpio_machine.strobe_reader:make"
strobe = {STROBE}
detectors = {DETECTORS}
light_us = 50
looks = 3
"""


def machine_file(edges, double_feed=6.0):
    """The text of the machine's file."""
    lines = [HEAD, f"double_feed = {double_feed}", f"edges = {str(edges).lower()}", "[outputs]"]
    lines += [f"{name} = {number}" for name, number in OUTPUTS.items()]
    lines.append("[inputs]")
    for name, number in INPUTS.items():
        bounce = ", bounce_ms = 5" if name in BOUNCING else ""
        lines.append(f'{name} = {{pin = {number}, active = "low", pull = "up"{bounce}}}')
    return "\n".join([*lines, TAIL])


def write_machine_file(folder, *, edges=True):
    """The machine's file and, beside it, this module under the name that it uses."""
    path = folder / "machine.toml"
    # At the pace of the tests a busy computer measures beams too badly to tell two cards from one.
    path.write_text(machine_file(edges, double_feed=0.0))
    here = folder / "home_built.py"
    if not here.exists():
        here.symlink_to(Path(__file__))
    return path


class World:
    """Where things are. Only ``pass_time`` moves cards. faults: kind -> number of the card at which it strikes."""

    def __init__(self, faults):
        self.faults = dict(faults)
        self.hopper = []
        self.at_reader = []
        self.fed = 0.0
        self.moved = 0.0
        self.leaving = None
        self.pockets = {seat: [] for seat in "NESW"}
        self.board = False
        self.covered = True
        self.pressed = {"key": False, "stop_button": False}
        self.count = 0
        self.packs = 0
        self.exit_lit = None
        self.truth_of = {}
        self.shown = (0, 0)

    def strike(self, kind):
        """True once, when the fault's card has come."""
        if self.faults.get(kind, 0) and self.count >= self.faults[kind]:
            self.faults[kind] = 0
            return True
        return False

    def pass_time(self, seconds, on):
        if on["feeder"] and not self.at_reader and self.hopper:
            if self.strike("misfeed"):
                self.fed = -0.4
            self.fed += seconds
            if self.fed >= FEED:
                self.fed = 0.0
                self.count += 1
                number = 2 if self.strike("double") and len(self.hopper) > 1 else 1
                self.at_reader = [self.hopper.pop() for _ in range(number)]
                self.moved = 0.0
                if self.strike("cover"):
                    self.covered = False
                if self.strike("pull"):
                    self.pull()
                if self.strike("button"):
                    self.pressed["stop_button"] = True
        if on["transport"] and self.at_reader and self.leaving is None:
            if self.strike("stuck"):
                self.moved = -1e9
            self.moved += seconds
            if self.moved >= BEAM * (12 if len(self.at_reader) == 2 else 1):
                place = next((p for p, gate in enumerate(("gate_1", "gate_2", "gate_3")) if on[gate]), 3)
                if place < 3 and self.strike("gate"):
                    place = 3
                way = 1e9 if self.strike("jam") else PITCH * (place + 1)
                self.leaving = [self.at_reader, place, way, 1e9 if self.strike("hang") else EXIT]
                self.at_reader = []
        elif on["transport"] and self.leaving is not None:
            self._travel(seconds)

    def _travel(self, seconds):
        cards, place, way, dark = self.leaving
        if way > 0:
            self.leaving[2] = way - seconds
            if self.leaving[2] <= 0:
                self.exit_lit = ORDER[place]
        else:
            self.leaving[3] = dark - seconds
            if self.leaving[3] <= 0:
                self.exit_lit = self.leaving = None
                if self.board:
                    self.pockets[ORDER[place]] += cards
                    self.write_truth()

    def write_truth(self):
        self.truth_of[str(self.shown[0])] = self.pockets
        if Path(".") != FOLDER:
            (FOLDER / "truth.json").write_text(json.dumps(self.truth_of))

    def new_pack(self):
        self.hopper = list(range(52)) + ([52] if self.faults.get("joker") else [])
        random.Random(self.packs).shuffle(self.hopper)
        self.packs += 1
        if self.faults.pop("short", 0):
            self.hopper.pop()
        if self.faults.pop("extra", 0):
            self.hopper.append(self.hopper[0])
        if self.faults.pop("twice", 0):
            self.hopper[30] = self.hopper[31]

    def clear_belt(self):
        self.at_reader, self.leaving, self.exit_lit = [], None, None
        self.fed = self.moved = 0.0

    def pull(self):
        self.board = False
        self.pockets = {seat: [] for seat in "NESW"}

    def senses(self, name):
        exits = {f"exit_{word}": word[0].upper() for word in ("north", "east", "south", "west")}
        if name in exits:
            return self.exit_lit == exits[name]
        return {
            "reader_beam": bool(self.at_reader),
            "board": self.board,
            "cover": self.covered,
            "hopper": bool(self.hopper),
            **self.pressed,
        }[name]


class SimulatedPins:
    """RPi.GPIO's names. ``active low`` everywhere, as wired with pull-ups."""

    BCM, IN, OUT, HIGH, LOW = 11, 1, 0, 1, 0
    PUD_UP, PUD_DOWN, RISING, FALLING, BOTH = 22, 21, 31, 32, 33

    def __init__(self, world, edges=True, clock=time.monotonic):
        self.world = world
        self.mode = None
        self.clock = clock
        self.edges = edges
        self.levels = {}
        self.callbacks = {}
        self.bouncing = {}
        self.lock = threading.RLock()
        self.last = clock()
        self.seen = {}
        self.before = {}
        self.edges_seen = deque()
        self.by_number = {number: name for name, number in INPUTS.items()}

    def setmode(self, mode):
        assert mode == self.BCM
        self.mode = mode

    def setup(self, channel, direction, initial=0, pull_up_down=0):
        if self.mode is None:
            raise RuntimeError("Please set pin numbering mode using GPIO.setmode(GPIO.BOARD) or GPIO.setmode(GPIO.BCM)")
        self.levels[channel] = initial if direction == self.OUT else 1

    def output(self, channel, value):
        with self.lock:
            self._step()
            self.levels[channel] = value

    def input(self, channel):
        with self.lock:
            self._step()
            if channel in DETECTORS:
                lit = self.levels.get(STROBE)
                code = CODES[self.world.at_reader[0]] if lit and self.world.at_reader else 0
                return code >> DETECTORS.index(channel) & 1
            return self._level(self.by_number[channel])

    def _level(self, name):
        active = self.world.senses(name)
        if name in BOUNCING:
            if self.seen.setdefault(name, active) != active:
                self.seen[name] = active
                self.bouncing[name] = self.clock() + BOUNCE
            if self.clock() < self.bouncing.get(name, 0.0):
                return random.getrandbits(1)
        return 0 if active else 1

    def add_event_detect(self, channel, edge, callback=None, bouncetime=0):
        if not self.edges:
            raise RuntimeError("Failed to add edge detection")
        self.callbacks[channel] = callback

    def remove_event_detect(self, channel):
        self.callbacks.pop(channel, None)

    def cleanup(self, channel=None):
        self.levels.pop(channel, None)

    def _step(self):
        now = self.clock()
        on = {name: bool(self.levels.get(number)) for name, number in OUTPUTS.items()}
        passed = min(now - self.last, 0.5)
        self.last = now
        while passed > 1e-9:
            self.world.pass_time(min(passed, 0.0005), on)
            passed -= 0.0005
            for number in self.callbacks:
                level = self.world.senses(self.by_number[number])
                if self.before.get(number) != level:
                    self.before[number] = level
                    self.edges_seen.append(number)

    def run(self):
        """Time passes, and edges call back from here: another thread than the machine's."""
        while True:
            time.sleep(0.001)
            with self.lock:
                self._step()
            self.call_back()

    def call_back(self):
        while self.edges_seen:
            number = self.edges_seen.popleft()
            if number in self.callbacks:
                self.callbacks[number](number)


def show(action, board, copy, sound, text):
    """The display; the operator acts after a moment, in a thread of his own."""
    threading.Thread(target=_act, args=(action, board, copy), daemon=True).start()


def _act(action, board, copy):
    time.sleep(HAND)
    with PINS.lock:
        world = PINS.world
        world.shown = (board, copy)
        if action == Action.INSERT_BOARD:
            if not world.hopper:
                world.new_pack()
            world.pull()
            world.board = True
        elif action == Action.LOAD_PACK:
            if not world.hopper:
                world.new_pack()
        elif action in (Action.COLLECT_CARDS, Action.REPLACE_PACK, Action.CLEAR_JAM):
            world.pull()
            world.clear_belt()
            world.hopper = []
        elif action == Action.REMOVE_BOARD:
            world.pull()
        elif action == Action.CLOSE_COVER:
            world.covered = True
        elif action == Action.CONFIRM_BOARD:
            world.pressed["key"] = True
    if action in (Action.COLLECT_CARDS, Action.REPLACE_PACK, Action.CLEAR_JAM):
        time.sleep(HAND)
        with PINS.lock:
            world.new_pack()
    if action == Action.CONFIRM_BOARD:
        time.sleep(HAND)
        with PINS.lock:
            world.pressed["key"] = False


PINS = SimulatedPins(World(FAULTS))
if Path(".") != FOLDER:
    (FOLDER / "pid").write_text(str(os.getpid()))
    threading.Thread(target=PINS.run, daemon=True).start()
