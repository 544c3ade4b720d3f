"""The kinds of dealing machine that can be simulated: timings, pocket order, what they can sense."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hwsim.numbers import READER_BARCODE, READER_CAMERA, Capability
from hwsim.speeds import Speed

_BASE = (
    Capability.ROUTES
    | Capability.EXIT
    | Capability.DISPLAY
    | Capability.KEY
    | Capability.MARGIN
    | Capability.STOP_CARD
    | Capability.READ_BACK
)


@dataclass(frozen=True, slots=True)
class Profile:
    """Times in seconds. ``pocket_order``: seats (0 N, 1 E, 2 S, 3 W) in the order in which a card passes them."""

    name: str
    model: str
    card_time: float
    card_spread: float  # how much the time from card to card varies, plus or minus
    read_time: float  # from the feeder to the reader
    pitch: float  # from the reader to the first pocket, and from pocket to pocket
    pitch_sigma: float
    reader: int
    margin_min: int
    capabilities: int
    pocket_order: tuple[int, int, int, int] = (0, 1, 3, 2)
    code: str = "strong"  # printed on the cards, see pack.py

    def can(self, capability: int) -> bool:
        return bool(self.capabilities & capability)

    def at_speed(self, speed: Speed) -> Profile:
        """The same machine with its times stretched or shrunk so that a card takes ``speed.card``."""
        if speed.card is None:
            return self
        factor = speed.card / self.card_time
        return replace(
            self,
            card_time=speed.card,
            card_spread=self.card_spread * factor,
            read_time=self.read_time * factor,
            pitch=self.pitch * factor,
        )

    def without(self, capabilities: int) -> Profile:
        return replace(self, capabilities=self.capabilities & ~capabilities)


PROFILES = {
    "fast": Profile(
        "fast",
        "hwsim fast barcode",
        0.1055,
        0.0095,
        0.045,
        0.040,
        0.05,
        READER_BARCODE,
        150,
        _BASE | Capability.LABEL | Capability.ORIENTATION | Capability.BEAM | Capability.PACK_COLOUR,
    ),
    "camera": Profile(
        "camera",
        "hwsim camera",
        0.385,
        0.02,
        0.120,
        0.040,
        0.05,
        READER_CAMERA,
        150,
        _BASE | Capability.LABEL | Capability.ORIENTATION,
    ),
    "diy": Profile(
        "diy",
        "hwsim home-built",
        0.865,
        0.03,
        0.300,
        0.100,
        0.05,
        READER_CAMERA,
        150,
        _BASE & ~(Capability.READ_BACK | Capability.STOP_CARD),
    ),
}
