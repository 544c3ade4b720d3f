"""What leaves the desk as a file: printed sheets and result files of other programs. A playing director gets none while
boards lie under his veil; hand records come with the publication.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dealer.board import Board
from dealer.deal import Deal
from dealer.records.content import RecordPage, record_boards
from dealer.records.double_dummy import tables_of
from dealer.records.par import Tricks
from dealer.records.pdf import record_pdf
from dealer.store.dd_cache import CACHE_DB, MIGRATIONS, load_tables, store_tables
from firmware_bridge.db import Database
from firmware_bridge.errors import EntryError, FirmwareBridgeError
from firmware_bridge.service import recorded_files
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_checks import deals_of
from firmware_bridge.service.desk_exchange import exchange_events
from firmware_bridge.service.recorded_files import known_deals
from terminals.interop.bridgewebs import write_bridgewebs
from terminals.interop.exchange import ExchangeEvent
from terminals.interop.pbn_results_write import write_pbn_results
from terminals.interop.print_results import ranking_pdf, scorecards_pdf, travellers_pdf
from terminals.interop.results_csv import ranking_csv, results_csv
from terminals.interop.results_json import write_results_json
from terminals.interop.several import Written, write_apart, write_listed, write_together
from terminals.interop.usebio_write import write_usebio

PDF = "application/pdf"
HANDS = "hands"
CONTENTS = "contents.txt"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same results are the same bytes, whenever they are fetched

Make = Callable[[Sequence[ExchangeEvent], str, Mapping[int, Deal]], Written]


@dataclass(frozen=True, slots=True)
class Kind:
    """name of the file, its media type, how it is made of the event's parts, and whether it shows cards."""

    file: str
    media: str
    make: Make
    cards: bool = False


def _together(write: Callable[..., bytes]) -> Make:
    return lambda events, file, deals: write_together(events, file, write)


def _listed(write: Callable[[ExchangeEvent], bytes]) -> Make:
    return lambda events, file, deals: write_listed(events, file, write)


def _pbn(events: Sequence[ExchangeEvent], file: str, deals: Mapping[int, Deal]) -> Written:
    return write_apart(events, file, lambda event: write_pbn_results(event, deals))


def _bridgewebs(events: Sequence[ExchangeEvent], file: str, deals: Mapping[int, Deal]) -> Written:
    return write_apart(events, file, write_bridgewebs)


KINDS: Mapping[str, Kind] = {
    "ranking": Kind("ranking.pdf", PDF, _together(ranking_pdf)),
    "travellers": Kind("travellers.pdf", PDF, _together(travellers_pdf)),
    "scorecards": Kind("scorecards.pdf", PDF, _together(scorecards_pdf)),
    "usebio": Kind("results.xml", "application/xml", _together(write_usebio)),
    "pbn": Kind("results.pbn", "application/x-pbn", _pbn, True),
    "json": Kind("results.json", "application/json", _together(write_results_json)),
    "csv": Kind("results.csv", "text/csv", _listed(results_csv)),
    "ranking-csv": Kind("ranking.csv", "text/csv", _listed(ranking_csv)),
    "bridgewebs": Kind("bridgewebs.csv", "text/csv", _bridgewebs),
}


def file_of(desk: Desk, name: str) -> tuple[str, str, bytes]:
    """(file name, media type, content) of any sheet or result file of the event: ``KINDS``, the recorded files, hands.

    Raises EntryError for one that there is not, or that may not be made yet.
    """
    if name == HANDS:
        return "hands.pdf", PDF, hands_pdf(desk)
    if name in recorded_files.FILES:
        return recorded_files.recorded_file(desk, name)
    return make(desk, name)


def make(desk: Desk, name: str) -> tuple[str, str, bytes]:
    """(file name, media type, content) of a file by its kind.

    Where the format needs several files, or has no place for some results, a ZIP of the files and of ``contents.txt``,
    which says what is in each and what in none. Raises EntryError for one that there is not, or that may not be made
    yet.
    """
    kind = KINDS.get(name)
    if kind is None:
        raise EntryError(f"there is no file of that kind; known: {', '.join(KINDS)}, hands.", code="no-such-file")
    unveiled(desk)
    deals = deals_of(desk) if kind.cards and desk.period.published_at is not None else {}
    made = kind.make(exchange_events(desk), kind.file, deals)
    if len(made.files) == 1 and not made.left_out:
        return made.files[0].name, kind.media, made.files[0].content
    contents = "\r\n".join([*(one.words for one in made.files), *made.left_out, ""]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        for file, content in [*((one.name, one.content) for one in made.files), (CONTENTS, contents)]:
            bundle.writestr(zipfile.ZipInfo(file, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return f"results-{name}.zip", "application/zip", out.getvalue()


def unveiled(desk: Desk) -> None:
    """Raises EntryError while boards lie under a playing director's veil."""
    if desk.veil.boards:
        raise EntryError(
            "there are boards that the playing director has yet to play.",
            next_step="Wait until they are played, or reveal them; that is on record.",
            code="veiled",
        )


# --- hands, after the session ------------------------------------------------------------------------------------


def tricks_of(desk: Desk, deals: list[Deal]) -> dict[Deal, Tricks]:
    """Double-dummy tables from the cache or the solver; those that can't be had are left out. Runs in a thread."""
    try:
        database = Database.open(desk.directory / CACHE_DB, MIGRATIONS)
    except FirmwareBridgeError:
        database = None
    try:
        if database is None:
            return tables_of(deals)
        kept = database
        return tables_of(deals, load=lambda d: load_tables(kept, d), store=lambda t: store_tables(kept, t))
    except FirmwareBridgeError:
        return {}
    finally:
        if database is not None:
            database.close()


def makes(tricks: Tricks) -> dict[str, dict[str, int]]:
    """Seat -> strain -> tricks."""
    return {
        seat: {strain: tricks[place][at] for strain, place in zip(("NT", *"SHDC"), (4, 0, 1, 2, 3), strict=True)}
        for at, seat in enumerate("NESW")
    }


def hands_pdf(desk: Desk) -> bytes:
    """The hand record with par and makeable contracts. Raises EntryError before the publication or without deals."""
    unveiled(desk)
    if desk.period.published_at is None:
        raise EntryError("hands are shown after the publication only.", code="withheld")
    deals, source = deals_of(desk), ""
    if not deals:
        deals = {board: deal for (_, board), deal in sorted(known_deals(desk).items(), reverse=True)}
        source = "keyed in at the tables, not verified"
    if not deals:
        raise EntryError("the deals of this event are not known here.", code="no-such-file")
    boards = [Board(number, deal) for number, deal in sorted(deals.items())]
    tables = tricks_of(desk, list(deals.values()))
    note = ", ".join(part for part in (source, "" if tables else "without double dummy") if part)
    page = RecordPage(event=desk.setup.name, date=desk.wall()[:10], note=note)
    return record_pdf(record_boards(boards, tables), page)


def deal_view(desk: Desk, number: int, tables: Mapping[Deal, Tricks]) -> dict[str, Any] | None:
    """The four hands of a board and what they make; for after the session."""
    from dealer.cards import Seat, Suit, rank_of, suit_of

    deal = deals_of(desk).get(number)
    if deal is None:
        return None
    hands = {
        seat.letter: ".".join(
            "".join(rank_of(card) for card in sorted(deal.hand(seat)) if suit_of(card) is suit) for suit in Suit
        )
        for seat in Seat
    }
    tricks = tables.get(deal)
    return {**hands, "makes": None if tricks is None else makes(tricks)}
