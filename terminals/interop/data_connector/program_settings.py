"""Settings of Bridgemate terminals as settings of our event and its sections. Pure.

Most of theirs are about one maker's keys and screens and mean nothing here; they are kept and given back unread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from terminals.interop.data_connector.shapes import Dto
from terminals.settings import EventSettings
from terminals.sync.setup import EventSetup


def with_program_settings(
    setup: EventSetup, sections: Mapping[str, int], bm2: Sequence[Dto], bm3: Sequence[Dto]
) -> tuple[EventSetup, list[str]]:
    """The event with what a program wants for each section, and what the director's desk should hear about it.

    sections: letters of the program -> our number. A section that no row names keeps its settings.
    """
    wanted: dict[int, EventSettings] = {}
    notes: list[str] = []
    for dto in (*bm2, *bm3):
        number = sections.get((dto["SectionLetters"] or "").strip())
        if number is None or setup.section(number) is None:
            continue
        values, note = _values(dto, wanted.get(number, setup.settings_of(number)))
        wanted[number] = wanted.get(number, setup.settings_of(number)).changed(values)
        notes += note
    return (setup.with_settings(wanted) if wanted else setup), list(dict.fromkeys(notes))


def _values(dto: Dto, before: EventSettings) -> tuple[dict[str, Any], list[str]]:
    """A PIN of 0000 is replaced by the one that is there already."""
    values, pin = (_bm2(dto), dto["BM2PINcode"]) if "BM2PINcode" in dto else (_bm3(dto), dto["BM3PINcode"])
    wanted = (pin or "").strip()
    if len(wanted) == 4 and wanted.isascii() and wanted.isdigit() and wanted != "0000":
        return {**values, "director_pin": wanted}, []
    own = "the club's own stays" if before.director_pin else "the director's menu stays closed until you set one"
    return values, [f"The scoring program sent the PIN that everybody knows; {own}."]


def _bm2(dto: Dto) -> dict[str, Any]:
    return {
        "traveller": dto["ShowResults"],
        "percentages": dto["ShowPercentage"],
        "lead": dto["LeadCard"],
        "order": dto["BoardOrderVerification"],
        "ranking": dto["BM2Ranking"] > 0,
        "names": dto["BM2ShowPlayerNames"] > 0,
        "hand_entry": dto["BM2EnterHandRecord"] and dto["BM2EnterHandRecordWhen"] != 2,
    }


def _bm3(dto: Dto) -> dict[str, Any]:
    return {
        "traveller": dto["BM3ViewResults"] > 0,
        "percentages": dto["BMViewPercentages"] > 0,
        "lead": dto["BM3LeadCardEntry"] > 0,
        "ranking": dto["BM3Ranking"] > 0,
        "hand_entry": dto["BM3EnterHandrecord"] > 0,
        "positions": dto["BM3StartingPositions"] > 0,
    }
