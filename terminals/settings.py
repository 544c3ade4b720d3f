"""The settings of one event: what terminals show and allow, how terminals are admitted, the correction period.

They are stored with the event. ``config.toml`` holds only what belongs to this machine. Pure values, no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from firmware_bridge.errors import EntryError

MAX_MINUTES = 60 * 24 * 14
MAX_FIELDS = 78
_KINDS = {bool: "yes or no", int: "a whole number", str: "a text"}
SECTION_SETTINGS = (
    "confirm",
    "confirm_code",
    "order",
    "lead",
    "checks",
    "traveller",
    "percentages",
    "ranking",
    "names",
    "auction",
    "play",
    "hand_entry",
    "positions",
    "director_pin",
)
"""What may be different in each section of an event: what its terminals show and ask."""


@dataclass(frozen=True, slots=True)
class EventSettings:
    """All settings of an event; every default is what a club evening usually wants.

    admit_all: a terminal that names a free table of the event is admitted without the director.
    need_key: only terminals with a key of their own are admitted. confirm: the other side must accept each result.
    confirm_code: the other side uses a code of its own. order: boards out of order ask before they are taken.
    lead: the opening lead is asked for. checks: entries are compared with deal and field. checks_per_round: how often
    one table may see that warning in a round, so that nobody probes a deal with it. traveller, percentages, ranking:
    what a table may see once the board is confirmed. names: players' names on the screens. auction, play: terminals
    record the bidding and the cards. hand_entry: tables key in the four hands of a board that they have played.
    positions: pairs confirm where they sit before the first board. correction_minutes: Law 79C.
    director_pin: four digits, never 0000; empty: the director's menu is closed. playing_director: contestants (section
    letter and number, "A7") who direct and play. profile: name of the scoring profile. across: several sections are
    one field, compared and ranked together; it may be changed after play. fields: the same for some of them, each a
    text like "A+B"; a section that none of them names is a field of its own. It counts where ``across`` is off.
    """

    admit_all: bool = False
    need_key: bool = False
    confirm: bool = True
    confirm_code: bool = False
    order: bool = True
    lead: bool = True
    checks: bool = True
    checks_per_round: int = 3
    traveller: bool = True
    percentages: bool = True
    ranking: bool = True
    names: bool = True
    auction: bool = False
    play: bool = False
    hand_entry: bool = False
    positions: bool = False
    correction_minutes: int = 30
    director_pin: str = ""
    playing_director: tuple[str, ...] = ()
    profile: str = "plain"
    across: bool = False
    fields: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.director_pin and not (
            len(self.director_pin) == 4 and self.director_pin.isascii() and self.director_pin.isdigit()
        ):
            raise EntryError("the director's PIN has four digits.", code="bad-setting")
        if self.director_pin == "0000":
            raise EntryError(
                "0000 is no PIN: everybody tries it first.", next_step="Choose other digits.", code="bad-setting"
            )
        if not 0 <= self.correction_minutes <= MAX_MINUTES:
            raise EntryError(
                f"the correction period is from 0 to {MAX_MINUTES} minutes, not {self.correction_minutes}.",
                code="bad-setting",
            )
        named = [letter for field in self.fields for letter in field.split("+")]
        if len(set(named)) != len(named) or not all(named):
            raise EntryError("a section is in one field at most, and fields look like A+B.", code="bad-setting")
        if not 1 <= self.checks_per_round <= 20:
            raise EntryError("checks_per_round is from 1 to 20.", code="bad-setting")

    def field_of(self, letter: str, letters: Sequence[str]) -> tuple[str, ...]:
        """The sections among ``letters`` whose results are compared with those of the section ``letter``."""
        if self.across:
            return tuple(letters)
        for field in self.fields:
            if letter in (named := field.split("+")):
                return tuple(one for one in letters if one in named)
        return (letter,)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values, every setting."""
        out = {field.name: getattr(self, field.name) for field in fields(self)}
        out["playing_director"], out["fields"] = list(self.playing_director), list(self.fields)
        return out

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> EventSettings:
        """Inverse of ``as_dict``; missing settings keep their defaults. Raises EntryError for unknown or wrong ones."""
        return DEFAULT.changed(values)

    def changed(self, values: Mapping[str, Any]) -> EventSettings:
        """A copy with some settings changed. Raises EntryError naming the setting that can't be."""
        known = {field.name: field for field in fields(self)}
        new: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                raise EntryError(f"there is no setting {name[:40]!r}.", code="unknown-setting")
            if name == "playing_director":
                if not isinstance(value, (list, tuple)) or len(value) > 8:
                    raise EntryError("playing_director is a list of at most 8 contestants.", code="bad-setting")
                new[name] = tuple(str(item)[:8] for item in value)
                continue
            if name == "fields":
                if not isinstance(value, (list, tuple)) or len(value) > MAX_FIELDS:
                    raise EntryError("fields is a list of texts like A+B.", code="bad-setting")
                new[name] = tuple(str(item)[:400].upper().replace(" ", "") for item in value)
                continue
            wanted = type(getattr(DEFAULT, name))
            if type(value) is not wanted:
                raise EntryError(f"the setting {name} wants {_KINDS.get(wanted, wanted.__name__)}.", code="bad-setting")
            if isinstance(value, str) and len(value) > 64:
                raise EntryError(f"the setting {name} is too long.", code="bad-setting")
            new[name] = value
        return replace(self, **new)


DEFAULT = EventSettings()
