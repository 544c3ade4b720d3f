"""The TOML file of a home-built machine: which pin does what, how long things take, how cards are read.

docs/home-built-machine.md explains every line and shows a complete file. Unknown names are refused: a typing error in
a pin map moves the wrong motor.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from firmware_bridge.errors import ConfigError

SEATS = "NESW"
FILE_LIMIT = 256 * 1024

GATES = ("gate_1", "gate_2", "gate_3")
EXITS = ("exit_north", "exit_east", "exit_south", "exit_west")
OUTPUTS = ("feeder", "transport", "rotor", *GATES, "lamp_done", "lamp_stop", "buzzer")
INPUTS = ("reader_beam", *EXITS, "rotor_index", "rotor_home", "board", "cover", "hopper", "stop_button", "key")


@dataclass(frozen=True, slots=True)
class Pin:
    """number: BCM. active_low: the signal is true at low level. pull: "up", "down" or "off", for inputs.

    bounce: seconds for which a change must last before it counts.
    """

    number: int
    active_low: bool = False
    pull: str = "off"
    bounce: float = 0.0


@dataclass(frozen=True, slots=True)
class Timings:
    """All in seconds here, in milliseconds in the file."""

    card: float = 0.865
    settle: float = 0.100
    aim: float = 0.070
    rotor_step: float = 1.0
    feed_limit: float = 1.0
    read_limit: float = 2.0
    beam: float = 0.120
    beam_limit: float = 0.600
    exit_limit: float = 1.0
    travel: float = 0.300
    poll: float = 0.002
    idle_poll: float = 0.020
    watchdog: float = 0.5


@dataclass(frozen=True, slots=True)
class MachineSettings:
    """outputs, inputs: name -> Pin; only what the machine has. sorter: "gates" or "rotor".

    pocket_order: seats in the order in which a card passes the pockets. margin_min: smaller margins are doubtful.
    feed_retries, read_retries: what the machine tries by itself before it stops. double_feed: a beam longer than the
    normal one by this factor is two cards; 0 if cards are too uneven to tell.
    """

    path: Path
    model: str
    sorter: str
    pocket_order: tuple[int, int, int, int]
    outputs: Mapping[str, Pin]
    inputs: Mapping[str, Pin]
    timings: Timings
    state: Path
    pins: str = "RPi.GPIO"
    edges: bool = True
    reader: str = ""
    reader_options: Mapping[str, Any] = field(default_factory=dict)
    display: str = ""
    margin_min: int = 64
    feed_retries: int = 3
    read_retries: int = 2
    double_feed: float = 1.4

    @property
    def sees_exits(self) -> bool:
        return all(name in self.inputs for name in EXITS)


def read_settings(path: Path) -> MachineSettings:
    """Raises ConfigError that names the file and the line or name that is wrong."""
    try:
        with path.open("rb") as file:
            raw = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise _wrong(path, f"The machine's file can't be read ({error.strerror}).") from error
    if len(raw) > FILE_LIMIT:
        raise _wrong(path, "This is not a machine's file: it is too large.")
    try:
        content = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _wrong(path, f"This is no TOML: {error}.") from error
    return parse_settings(content, path)


def parse_settings(content: Mapping[str, Any], path: Path) -> MachineSettings:
    """The same from values already read. Raises ConfigError."""
    table = _Table(path, "", content)
    machine = table.sub("machine")
    timings = table.sub("timings")
    reader = table.sub("reader")
    settings = MachineSettings(
        path=path,
        model=machine.text("model", "home-built machine"),
        sorter=machine.choice("sorter", ("gates", "rotor")),
        pocket_order=_order(machine),
        state=path.parent / machine.text("state", "machine-state"),
        pins=machine.text("pins", "RPi.GPIO"),
        edges=machine.flag("edges", True),
        display=machine.text("display", ""),
        margin_min=machine.whole("margin_min", 64, 0, 255),
        feed_retries=machine.whole("feed_retries", 3, 0, 20),
        read_retries=machine.whole("read_retries", 2, 0, 20),
        double_feed=machine.number("double_feed", 1.4, 0.0, 10.0),
        outputs=_pins(table.sub("outputs"), OUTPUTS),
        inputs=_pins(table.sub("inputs"), INPUTS),
        timings=Timings(
            **{f.name: timings.number(f.name, f.default * 1000, 0.0, 60000.0) / 1000 for f in fields(Timings)}  # type: ignore[operator]
        ),
        reader=reader.text("call", ""),
        reader_options=reader.take_rest(),
    )
    for part in (table, machine, timings):
        part.refuse_rest()
    _check(settings)
    return settings


def _order(machine: _Table) -> tuple[int, int, int, int]:
    text = machine.text("pocket_order", "NESW").upper()
    if sorted(text) != sorted(SEATS):
        raise machine.wrong("pocket_order", "must name each of N, E, S, W once, in the order of the transport")
    north, east, south, west = (SEATS.index(letter) for letter in text)
    return north, east, south, west


def _check(settings: MachineSettings) -> None:
    needed_out = ("feeder", *(GATES if settings.sorter == "gates" else ("rotor",)))
    needed_in = (
        "reader_beam",
        "board",
        "cover",
        *(() if settings.sorter == "gates" else ("rotor_index", "rotor_home")),
    )
    for names, pins, what in ((needed_out, settings.outputs, "outputs"), (needed_in, settings.inputs, "inputs")):
        missing = [name for name in names if name not in pins]
        if missing:
            raise _wrong(settings.path, f"[{what}] lacks {', '.join(missing)}.")
    partly = [name for name in EXITS if name in settings.inputs]
    if partly and not settings.sees_exits:
        raise _wrong(settings.path, "[inputs] names some exit sensors but not all four.")
    numbers: dict[int, str] = {}
    for name, pin in (*settings.outputs.items(), *settings.inputs.items()):
        if pin.number in numbers:
            raise _wrong(settings.path, f"Pin {pin.number} is given to both {numbers[pin.number]} and {name}.")
        numbers[pin.number] = name
    if not settings.reader:
        raise _wrong(settings.path, '[reader] lacks call: the function that looks at a card, like "my_reader:look".')
    if min(settings.timings.poll, settings.timings.idle_poll, settings.timings.watchdog) <= 0:
        raise _wrong(settings.path, "[timings] poll, idle_poll and watchdog must be more than 0.")


def _pins(table: _Table, names: tuple[str, ...]) -> dict[str, Pin]:
    pins = {}
    for name in names:
        value = table.take(name)
        if value is None:
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            value = {"pin": value}
        if not isinstance(value, Mapping):
            raise table.wrong(name, 'must be a pin number or a table like {pin = 17, active = "low"}')
        part = _Table(table.path, f"{table.name}.{name}", value)
        number = part.whole("pin", -1, 0, 1000)
        if number < 0:
            raise table.wrong(name, "lacks pin")
        pins[name] = Pin(
            number=number,
            active_low=part.choice("active", ("high", "low")) == "low",
            pull=part.choice("pull", ("off", "up", "down")),
            bounce=part.number("bounce_ms", 0.0, 0.0, 1000.0) / 1000,
        )
        part.refuse_rest()
    table.refuse_rest()
    return pins


def _wrong(path: Path, what: str) -> ConfigError:
    return ConfigError(
        what, where=str(path), next_step="docs/home-built-machine.md explains the file.", code="machine-file"
    )


class _Table:
    """One table of the file, from which values are taken by name; what is left over is a typing error."""

    def __init__(self, path: Path, name: str, content: Mapping[str, Any]) -> None:
        self.path = path
        self.name = name
        self._content = dict(content)

    def wrong(self, name: str, what: str) -> ConfigError:
        return _wrong(self.path, f"[{self.name}] {name} {what}.")

    def take(self, name: str) -> Any:
        return self._content.pop(name, None)

    def sub(self, name: str) -> _Table:
        value = self.take(name)
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise _wrong(self.path, f"{name} must be a table: write [{name}].")
        return _Table(self.path, name, value)

    def text(self, name: str, default: str) -> str:
        value = self._content.pop(name, default)
        if not isinstance(value, str) or len(value) > 500:
            raise self.wrong(name, "must be a text in quotes")
        return value

    def choice(self, name: str, values: tuple[str, ...]) -> str:
        value = self._content.pop(name, values[0])
        if value not in values:
            raise self.wrong(name, f"must be one of {', '.join(values)}")
        return str(value)

    def flag(self, name: str, default: bool) -> bool:
        value = self._content.pop(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, "must be true or false")
        return value

    def number(self, name: str, default: float, low: float, high: float) -> float:
        value = self._content.pop(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.wrong(name, f"must be a number from {low:g} to {high:g}")
        return float(value)

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        value = self._content.pop(name, default)
        if value != default and (isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high):
            raise self.wrong(name, f"must be a whole number from {low} to {high}")
        return int(value)

    def take_rest(self) -> dict[str, Any]:
        rest, self._content = self._content, {}
        return rest

    def refuse_rest(self) -> None:
        if self._content:
            names = ", ".join(sorted(self._content))
            where = f"[{self.name}]" if self.name else "The file"
            raise _wrong(self.path, f"{where} holds names that mean nothing here: {names}.")
