"""What tables record beside results: from a TABLE_RECORD to an event, from events to auctions, plays and hands, and to
who has accepted. What looks wrong is a code for the desk; none of them names a card.

Hands that a table keys in are not verified: they are given to nobody before the result of the board is confirmed there,
and entries are never compared with them.
"""

from __future__ import annotations

import hmac
from collections.abc import Container, Iterable
from dataclasses import dataclass
from types import MappingProxyType

from dealer.board import dealer_of
from dealer.cards import Seat
from dealer.deal import Deal
from firmware_bridge.db import Connection
from firmware_bridge.wire.messages import TableRecord, encode
from firmware_bridge.wire.numbers import CallStanding, ConfirmedBy, Positions, TableRecordKind
from firmware_bridge.wire.table_data import (
    NOT_SAID,
    VERIFIER_SIZE,
    AcceptedData,
    AuctionData,
    PlayData,
    acceptance_proof,
    unpack_hands,
)
from firmware_bridge.wire.wire_error import WireError
from terminals.auction import (
    DOUBLE,
    PASS,
    REDOUBLE,
    Auction,
    Call,
    CallEvent,
    Standing,
    bid,
    check_auction,
)
from terminals.contract import Contract, Strain
from terminals.play import PlayedCard, check_play
from terminals.result import BoardState, PassedOut, Played
from terminals.store import desk, ledger, results, table_events
from terminals.store.table_events import TableEvent, TableEventKind
from terminals.store.values import PlayKey, PlayStatus, RecordKey
from terminals.sync.sense import Senseless, movement_numbers
from terminals.sync.setup import EventSetup, section_letter, section_number
from terminals.table_record import Recorded, RecordedPlay

VERIFIER, FORGOTTEN = "pair-verifier", "pair-code-forgotten"
"""Desk events about the codes with which pairs accept."""

KINDS = MappingProxyType({kind: TableEventKind(kind.name.lower()) for kind in TableRecordKind})
_ALLOWED = MappingProxyType(
    {
        TableRecordKind.AUCTION: "auction",
        TableRecordKind.PLAY: "play",
        TableRecordKind.HANDS: "hand_entry",
        TableRecordKind.POSITIONS: "positions",
        TableRecordKind.ACCEPTED: "confirm_code",
        TableRecordKind.CODE: "confirm_code",
    }
)
"""Which setting of the event allows what."""
_STANDING = MappingProxyType(
    {
        CallStanding.MADE: Standing.MADE,
        CallStanding.ACCEPTED: Standing.ACCEPTED,
        CallStanding.WITHDRAWN: Standing.WITHDRAWN,
        CallStanding.CANCELLED: Standing.CANCELLED,
    }
)


def table_body(record: TableRecord) -> bytes:
    """The bytes that CRC and authenticator of a table record cover, after its key (docs/protocol.md, 0x77)."""
    return encode(record)[18:]


def interpret_table(record: TableRecord, key: RecordKey, setup: EventSetup, wall: str = "") -> TableEvent:
    """What the record says in this event. Raises Senseless, without a card."""
    try:
        what = TableRecordKind(record.what)
        confirmed = ConfirmedBy(record.by)
    except ValueError:
        raise Senseless("the kind of table record is not known") from None
    setting = _ALLOWED[what]
    if not getattr(setup.settings_of(record.section), setting):
        raise Senseless(f"the event's setting {setting} does not allow it")
    section = setup.section(record.section)
    if section is None:
        raise Senseless("the event has no such section")
    if not record.table or not record.round:
        raise Senseless("table or round is 0")
    about_board = what not in (TableRecordKind.POSITIONS, TableRecordKind.CODE)
    if about_board != bool(record.board):
        raise Senseless("it names a board and is about none, or the other way round")
    pairs = (record.ns,) if what is TableRecordKind.CODE else (record.ns, record.ew)
    if not all(pairs) or (len(pairs) == 2 and record.ns == record.ew):
        raise Senseless("a pair is 0, or both are the same")
    if section.movement is not None:
        known = movement_numbers(section.movement)
        if record.table > section.movement.tables:
            raise Senseless("the section has no such table")
        if about_board and record.board not in known.boards:
            raise Senseless("the section has no such board")
        if not known.pairs.issuperset(pairs):
            raise Senseless("the section has no such pair")
    try:
        _read(what, record.data)
    except WireError as error:
        raise Senseless(error.what) from None
    return TableEvent(
        kind=KINDS[what],
        section=section_letter(record.section),
        board=record.board,
        ns=record.ns,
        ew=record.ew,
        round=record.round,
        table=record.table,
        key=key,
        confirmed=int(confirmed),
        data=record.data,
        wall=wall,
    )


def _read(what: TableRecordKind, data: bytes) -> None:
    """Raises WireError unless the data are of that kind."""
    if what is TableRecordKind.AUCTION:
        AuctionData.unpack(data)
    elif what is TableRecordKind.PLAY:
        cards = [card for _, card in PlayData.unpack(data).cards]
        if len(set(cards)) != len(cards):
            raise WireError("A play has a card twice.", code="malformed")
    elif what is TableRecordKind.HANDS:
        unpack_hands(data)
    elif what is TableRecordKind.ACCEPTED:
        AcceptedData.unpack(data)
    elif what is TableRecordKind.CODE:
        if len(data) != VERIFIER_SIZE:
            raise WireError("A pair's code has another size.", code="malformed")
    elif len(data) != 1 or data[0] not in tuple(Positions):
        raise WireError("How the pairs sit is not known.", code="malformed")


# --- from events to values ---------------------------------------------------------------------------------------


def auction_of(item: TableEvent) -> Auction:
    """The auction in an event of the kind ``auction``."""
    told = AuctionData.unpack(item.data)
    events = tuple(
        CallEvent(Seat(one.seat), call_of(one.call), _STANDING[CallStanding(one.standing)], one.alerted)
        for one in told.calls
    )
    return Auction(Seat(told.dealer), events)


def call_of(number: int) -> Call:
    """The call of a number on the wire."""
    if number == 0:
        return PASS
    if number <= 35:
        level, strain = divmod(number - 1, 5)
        return bid(level + 1, Strain(strain + 1))
    return DOUBLE if number == 36 else REDOUBLE


def play_of(item: TableEvent) -> RecordedPlay:
    """The play in an event of the kind ``play``."""
    told = PlayData.unpack(item.data)
    agreed = None if told.agreed == NOT_SAID else told.agreed
    return RecordedPlay(agreed, tuple(PlayedCard(Seat(seat), card) for seat, card in told.cards))


def recorded(items: Iterable[TableEvent]) -> dict[PlayKey, Recorded]:
    """Auctions and plays by what was played; ``items`` in the order of the store."""
    auctions: dict[PlayKey, Auction] = {}
    plays: dict[PlayKey, RecordedPlay] = {}
    for item in items:
        if item.kind is TableEventKind.AUCTION:
            auctions[item.play] = auction_of(item)
        elif item.kind is TableEventKind.PLAY:
            plays[item.play] = play_of(item)
    return {play: Recorded(auctions.get(play), plays.get(play)) for play in dict.fromkeys([*auctions, *plays])}


# --- what looks wrong --------------------------------------------------------------------------------------------


def auction_causes(auction: Auction, board: int) -> tuple[str, ...]:
    """What is wrong with a recorded auction by itself (Laws 17 to 39)."""
    found = []
    if auction.dealer != dealer_of(board):
        found.append("auction-not-by-dealer")
    if any(True for _ in check_auction(auction)):
        found.append("auction-irregular")
    if not auction.is_over:
        found.append("auction-unfinished")
    return tuple(found)


def result_causes(result: BoardState | None, told: Recorded, deal: Deal | None = None) -> tuple[str, ...]:
    """How a result and what its table recorded differ. They may: a ruling stands although the cards say otherwise."""
    found = []
    reached = None if told.auction is None else told.auction.contract
    if isinstance(result, Played):
        if reached is not None and reached != result.contract:
            found.append("contract-not-of-auction")
        if told.play is not None:
            found += _play_causes(result, told.play, deal)
    elif isinstance(result, PassedOut):
        if isinstance(reached, Contract):
            found.append("contract-not-of-auction")
        if told.play is not None and told.play.cards:
            found.append("play-other-tricks")
    return tuple(found)


def _play_causes(result: Played, play: RecordedPlay, deal: Deal | None) -> list[str]:
    hands = None if deal is None else {seat: deal.hand(seat) for seat in Seat}
    state = check_play(result.contract, play.cards, hands)
    found = []
    if state.findings:
        found.append("play-irregular")
    counted = state.declarer_tricks if len(state.winners) == 13 and not state.findings else None
    least, most = state.declarer_tricks, 13 - state.defenders_tricks
    possible = state.findings or least <= result.tricks <= most
    if play.agreed not in (None, result.tricks) or counted not in (None, result.tricks) or not possible:
        found.append("play-other-tricks")
    if result.lead is not None and play.cards and play.cards[0].card != result.lead:
        found.append("play-other-lead")
    return found


def hands_causes(item: TableEvent, others: Iterable[TableEvent], dealt: Deal | None) -> tuple[str, ...]:
    """How the hands that a table keyed in differ from those of other tables, and from those that were dealt."""
    found = []
    if any(other.data != item.data for other in others if (other.table, other.round) != (item.table, item.round)):
        found.append("hands-differ")
    if dealt is not None and dealt != Deal.from_routing(item.data):
        found.append("hands-not-as-dealt")
    return tuple(found)


# --- out of the store --------------------------------------------------------------------------------------------


def of_play(connection: Connection, event: str, play: PlayKey) -> Recorded:
    """What was recorded of one play."""
    kinds = (TableEventKind.AUCTION, TableEventKind.PLAY)
    items = table_events.of_board(connection, event, play.section, play.board, *kinds)
    return recorded(item for item in items if item.play == play).get(play, Recorded())


@dataclass(frozen=True, slots=True)
class EnteredDeal:
    """Hands that tables keyed in; nobody has verified them. tables: how many did; agreed: all of them the same."""

    deal: Deal
    tables: int
    agreed: bool


def entered_deals(
    connection: Connection, setup: EventSetup, skip: Container[tuple[str, int]] = ()
) -> dict[tuple[str, int], EnteredDeal]:
    """(section letter, board) -> hands that were keyed in after play; only of tables where the board's result is
    confirmed and nobody questions it. With a setting of one field for all sections they stay apart all the same.
    skip: those that nobody wants."""
    event = desk.event_hex(setup.id)
    newest: dict[tuple[str, int], dict[tuple[int, int], TableEvent]] = {}
    for item in table_events.all_events(connection, event, TableEventKind.HANDS):
        if (item.section, item.board) not in skip and _confirmed(connection, setup, event, item.play):
            newest.setdefault((item.section, item.board), {})[item.table, item.round] = item
    out = {}
    for place, items in newest.items():
        data = [item.data for item in items.values()]
        out[place] = EnteredDeal(Deal.from_routing(data[0]), len(data), len(set(data)) == 1)
    return out


def _confirmed(connection: Connection, setup: EventSetup, event: str, play: PlayKey) -> bool:
    settings = setup.settings_of(section_number(play.section))
    for row in results.current(connection, event, play):
        accepted = row.status is not PlayStatus.ENTERED or not settings.confirm
        if row.content is not None and accepted and not row.attention:
            return True
    return False


def verifiers(connection: Connection, event: str, section: str) -> dict[int, bytes]:
    """By what the codes of a section's pairs are known."""
    found: dict[int, bytes] = {}
    for item in desk.desk_events(connection, event, VERIFIER, FORGOTTEN):
        data = item.data
        if data.get("section") != section:
            continue
        if item.kind == FORGOTTEN or not data.get("verifier"):
            found.pop(int(data["pair"]), None)
        else:
            found[int(data["pair"])] = bytes.fromhex(str(data["verifier"]))
    return found


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Who has accepted a result, and when. pair; seat: "1", "2" or "" when it was not said; wall: when it arrived here;
    proved: with the pair's own code, for exactly this result."""

    pair: int
    seat: str
    wall: str
    proved: bool
    number: int


def acceptances(connection: Connection, setup: EventSetup, play: PlayKey) -> list[Acceptance]:
    """Who has accepted the results of a play, in the order of the store."""
    event = desk.event_hex(setup.id)
    items = table_events.of_board(connection, event, play.section, play.board, TableEventKind.ACCEPTED)
    out = []
    for item in items:
        if item.play == play:
            told = AcceptedData.unpack(item.data)
            seat = str(told.seat) if told.seat in (1, 2) else ""
            out.append(Acceptance(told.pair, seat, item.wall, proved(connection, setup.id, item), item.number))
    return out


def proved(connection: Connection, event: int, item: TableEvent) -> bool:
    """Whether an acceptance carries the proof of its pair's code for the result before it in the same journal."""
    told = AcceptedData.unpack(item.data)
    ident = desk.event_hex(event)
    verifier = verifiers(connection, ident, item.section).get(told.pair)
    if verifier is None or told.pair not in (item.ns, item.ew):
        return False
    key = results.newest_before(connection, ident, item.key, item.play)
    body = None if key is None else ledger.body_of(connection, key)
    return body is not None and hmac.compare_digest(told.proof, acceptance_proof(verifier, event, body))
