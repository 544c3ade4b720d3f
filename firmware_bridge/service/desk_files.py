"""What leaves the desk as a file: printed sheets and result files of other programs. A playing director gets none while
boards lie under his veil; hand records come with the publication.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_checks import deals_of
from firmware_bridge.service.desk_exchange import exchange_event
from firmware_bridge.service.recorded_files import known_deals
from terminals.interop.bridgewebs import write_bridgewebs
from terminals.interop.exchange import ExchangeEvent
from terminals.interop.pbn_results_write import write_pbn_results
from terminals.interop.print_results import ranking_pdf, scorecards_pdf, travellers_pdf
from terminals.interop.results_csv import ranking_csv, results_csv
from terminals.interop.results_json import write_results_json
from terminals.interop.usebio_write import write_usebio

PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class Kind:
    """name of the file, its media type, how it is made, and whether it shows cards."""

    file: str
    media: str
    make: Callable[[ExchangeEvent, Mapping[int, Deal]], bytes]
    cards: bool = False


KINDS: Mapping[str, Kind] = {
    "ranking": Kind("ranking.pdf", PDF, lambda event, deals: ranking_pdf(event)),
    "travellers": Kind("travellers.pdf", PDF, lambda event, deals: travellers_pdf(event)),
    "scorecards": Kind("scorecards.pdf", PDF, lambda event, deals: scorecards_pdf(event)),
    "usebio": Kind("results.xml", "application/xml", lambda event, deals: write_usebio(event)),
    "pbn": Kind("results.pbn", "application/x-pbn", lambda event, deals: write_pbn_results(event, deals), True),
    "json": Kind("results.json", "application/json", lambda event, deals: write_results_json(event)),
    "csv": Kind("results.csv", "text/csv", lambda event, deals: results_csv(event)),
    "ranking-csv": Kind("ranking.csv", "text/csv", lambda event, deals: ranking_csv(event)),
    "bridgewebs": Kind("bridgewebs.csv", "text/csv", lambda event, deals: write_bridgewebs(event)),
}


def make(desk: Desk, name: str) -> tuple[Kind, bytes]:
    """A file by its kind. Raises EntryError for one that there is not, or that may not be made yet."""
    kind = KINDS.get(name)
    if kind is None:
        raise EntryError(f"there is no file of that kind; known: {', '.join(KINDS)}, hands.", code="no-such-file")
    unveiled(desk)
    deals = deals_of(desk) if kind.cards and desk.period.published_at is not None else {}
    return kind, kind.make(exchange_event(desk), deals)


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
