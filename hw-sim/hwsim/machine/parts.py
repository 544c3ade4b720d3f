"""What the machine's firmware is connected to and works on: sensors, display and lamps, the job in hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hwsim.numbers import Action


@dataclass(slots=True)
class Sensors:
    """Seated board, its label and how it lies, cover, hopper, the back on top of it, and the beam over the belt."""

    seated: Callable[[], bool]
    label: Callable[[], int]
    orientation: Callable[[], int]
    cover_closed: Callable[[], bool]
    hopper: Callable[[], int]
    back: Callable[[], int]
    on_belt: Callable[[], int]


@dataclass(slots=True)
class Panel:
    """The machine's own display and lamps: all that an operator can see of it."""

    action: int = Action.NONE
    board: int = 0
    copy: int = 0
    text: str = ""
    sound: int = 0
    changes: int = 0
    hopper_empty: bool = True
    armed: bool = False
    running: bool = False
    runs: int = 0  # how often the motors have started under this display


@dataclass(slots=True)
class Job:
    id: int
    board: int
    copy: int
    routing: list[int]
    digest: bytes
    fed: int = 0
    reported: int = 0
    seen: set[int] = field(default_factory=set)
    routed: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    placed: list[tuple[int, int]] = field(default_factory=list)
    resumable: bool = False
