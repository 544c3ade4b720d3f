"""Deals between a scoring program and us: those that it tells, and those that it lacks and we know.

What players keyed in after a board goes to the program once that result is confirmed; a deal that the club dealt, once
no table has its board before it. Cards of boards that may be unplayed: nothing here is for a page or a log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from dealer.cards import Seat
from dealer.deal import Deal
from firmware_bridge.db import Connection
from terminals.interop.data_connector.result_rows import Section
from terminals.interop.data_connector.shapes import DEAL, SEATS, SUITS, Dto, blank, dumps
from terminals.interop.data_connector.structure import Structure
from terminals.store import data_connector as store
from terminals.store import results, table_events
from terminals.sync.recorded import entered_deals
from terminals.sync.setup import EventSetup

RANKS = "AKQJT98765432"


def deal_key(letters: str, board: int) -> str:
    return f"{letters}/{board}"


def keep_deals(connection: Connection, structure: Structure, rows: Sequence[Dto]) -> None:
    """The program tells deals; a later one of the same board takes its place."""
    event = structure.event
    known = {one: store.keys(connection, event, one, "deal") for one in {dto["SessionGuid"] for dto in rows}}
    for dto in rows:
        letters, session = (dto["SectionLetters"] or "").strip(), dto["SessionGuid"]
        key = deal_key(letters, dto["BoardNumber"])
        store.put_own(connection, event, session, "deal", key, dumps(dto), known[session])


def deals_of(connection: Connection, event: str) -> dict[str, dict[int, Deal]]:
    """The deals that a program told of an event: our section letter -> board -> deal.

    A deal told for one section of a scoring group counts for all of that group. Cards of boards that may be unplayed:
    not for any page or log.
    """
    row = store.event_by_id(connection, event)
    if row is None:
        return {}
    structure = Structure.load(row)
    by_group: dict[tuple[str, int], dict[int, Deal]] = {}
    own: dict[str, dict[int, Deal]] = {}
    for session in structure.guids:
        for body in store.states(connection, event, session, "deal").values():
            dto = json.loads(body)
            deal = _deal(dto)
            by_group.setdefault((session, dto["ScoringGroupNumber"]), {})[dto["BoardNumber"]] = deal
            own.setdefault(dto["SectionLetters"].strip(), {})[dto["BoardNumber"]] = deal
    out = {}
    for section in structure.sections():
        shared = by_group.get((structure.session_of(section), section.dto["ScoringGroupNumber"]), {})
        out[section.letter] = {**shared, **own.get(section.letters, {})}
    return out


def _deal(dto: Dto) -> Deal:
    # Their suits go up, ours down.
    pack = {(suit, rank): card for suit in SUITS for rank, card in _cards_of(suit)}
    hands = {
        seat: [pack[suit, rank] for suit in SUITS for rank in dto[name + suit]]
        for seat, name in zip(Seat, SEATS, strict=True)
    }
    return Deal.from_hands(hands)


def _cards_of(suit: str) -> list[tuple[str, int]]:
    first = 13 * (3 - SUITS.index(suit))
    return [(rank, first + index) for index, rank in enumerate(RANKS)]


def stamp(connection: Connection, event: str, dealt: Mapping[int, Deal]) -> tuple[int, int, int, int]:
    """Differs when there may be something new for ``queue_deals``; costs next to nothing."""
    hands = table_events.newest(connection, event, table_events.TableEventKind.HANDS)
    return hands, results.last_number(connection), len(dealt), store.version_of(connection, event)


def queue_deals(
    connection: Connection, structure: Structure, session: str, setup: EventSetup, dealt: Mapping[int, Deal]
) -> None:
    """Queue the deals that the program does not know. dealt: those of the event by board, as the club has them."""
    told = {
        (dto["ScoringGroupNumber"], dto["BoardNumber"])
        for body in store.states(connection, structure.event, session, "deal").values()
        for dto in (json.loads(body),)
    }
    sections = list(structure.sections(session))
    groups = {one.letter: int(one.dto["ScoringGroupNumber"]) for one in sections}
    skip = {(letter, board) for letter, group in groups.items() for of, board in told if of == group}
    entered = entered_deals(connection, setup, skip)
    played = _played_out(connection, structure) if dealt else frozenset()
    for section in sections:
        group = groups[section.letter]
        boards = () if section.movement is None else section.movement.board_numbers
        for board in boards:
            known = entered.get((section.letter, board))
            deal = known.deal if known is not None and known.agreed else None
            if deal is None and board in played:
                deal = dealt.get(board)
            if deal is None or (group, board) in told:
                continue
            told.add((group, board))
            body = dumps(_dto(section, session, group, board, deal))
            store.add_item(connection, structure.event, session, "deal", deal_key(section.letters, board), body)


def _played_out(connection: Connection, structure: Structure) -> frozenset[int]:
    """Boards that no table has before it any more."""
    done = {
        (row.play.section, row.play.board, frozenset((row.play.ns, row.play.ew)))
        for row in results.current(connection, structure.event)
        if row.content is not None
    }
    boards: set[int] = set()
    waiting: set[int] = set()
    for section in structure.sections():
        for seating in () if section.movement is None else section.movement.seatings:
            boards.update(seating.boards)
            pairs = frozenset((seating.ns, seating.ew))
            waiting.update(board for board in seating.boards if (section.letter, board, pairs) not in done)
    return frozenset(boards - waiting)


def _dto(section: Section, session: str, group: int, board: int, deal: Deal) -> Dto:
    told = blank(DEAL, SessionGuid=session, ScoringGroupNumber=group, SectionLetters=section.letters, BoardNumber=board)
    for seat, name in zip(Seat, SEATS, strict=True):
        for suit in SUITS:
            told[name + suit] = ""
        for card in sorted(deal.hand(seat)):
            told[name + SUITS[3 - card // 13]] += RANKS[card % 13]
    return told
