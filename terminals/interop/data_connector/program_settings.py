"""Settings of Bridgemate terminals as settings of our event. Pure.

Theirs are for each section, ours for the event: the first section's count. Most of theirs are about one maker's keys
and screens and mean nothing here; they are kept and given back unread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from terminals.interop.data_connector.shapes import Dto
from terminals.settings import EventSettings

_ASIDE = frozenset({"SessionGuid", "SectionLetters", "ValidationMessages"})


def merged(settings: EventSettings, bm2: Sequence[Dto], bm3: Sequence[Dto]) -> tuple[EventSettings, list[str]]:
    """The event's settings after what a program wants, and what the director's desk should hear about it.

    A PIN of 0000, or one that is no four digits, is replaced by the one that the event has already.
    """
    values: dict[str, Any] = {}
    notes: list[str] = []
    for rows, reader, pin in ((bm2, _bm2, "BM2PINcode"), (bm3, _bm3, "BM3PINcode")):
        if not rows:
            continue
        if any(_plain(one) != _plain(rows[0]) for one in rows[1:]):
            notes.append("The scoring program wants other settings in each section; those of the first one are used.")
        values |= reader(rows[0])
        wanted = (rows[0][pin] or "").strip()
        if len(wanted) == 4 and wanted.isascii() and wanted.isdigit() and wanted != "0000":
            values["director_pin"] = wanted
        else:
            own = (
                "the club's own stays"
                if settings.director_pin
                else "the director's menu stays closed until you set one"
            )
            notes.append(f"The scoring program sent the PIN that everybody knows; {own}.")
    return settings.changed(values), list(dict.fromkeys(notes))


def _plain(dto: Dto) -> Mapping[str, Any]:
    return {name: value for name, value in dto.items() if name not in _ASIDE}


def _bm2(dto: Dto) -> dict[str, Any]:
    return {
        "traveller": dto["ShowResults"],
        "percentages": dto["ShowPercentage"],
        "lead": dto["LeadCard"],
        "order": dto["BoardOrderVerification"],
        "ranking": dto["BM2Ranking"] > 0,
        "names": dto["BM2ShowPlayerNames"] > 0,
    }


def _bm3(dto: Dto) -> dict[str, Any]:
    return {
        "traveller": dto["BM3ViewResults"] > 0,
        "percentages": dto["BMViewPercentages"] > 0,
        "lead": dto["BM3LeadCardEntry"] > 0,
        "ranking": dto["BM3Ranking"] > 0,
    }
