"""The Auction and Play sections of a PBN game: written from what a table recorded, and read from anybody's file.

Source: PBN 2.1, sections 3.5 (Auction), 3.6 (Play), 3.9 (irregularities). Only calls that count are written. A call
after ``^S`` or ``^I`` reads as accepted, any other as made; where a record says something else a note does so too. A
play out of turn can't be told by the columns: such a record has no Play section. What says nothing of a card is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from dealer.cards import Seat, card_name
from firmware_bridge.errors import EntryError
from terminals.auction import PASS, Auction, Call, CallEvent, CallKind, Irregularity, Standing
from terminals.contract import Contract
from terminals.interop.tokens import is_pass, read_card, read_contract
from terminals.play import PlayedCard, PlayFault, check_play, trick_winner
from terminals.result import BoardState, Played
from terminals.table_record import Recorded, RecordedPlay

SECTIONS = ("Auction", "Play")
CALLS_A_LINE = 4
MAX_CARDS = 52
_COMMENT = re.compile(r"\{[^}]*\}|;[^\n]*")
_TOKEN = re.compile(r"=\d{1,2}=|\$\d{1,3}|\^[A-Za-z]|[^\s=$^]+|\S")
_ALERTED = "alerted"
_STANDING = {Standing.ACCEPTED: "accepted", Standing.MADE: "not ruled on"}


# --- writing -----------------------------------------------------------------------------------------------------


def write_sections(told: Recorded, result: BoardState | None) -> list[str]:
    """Lines of both sections, without line ends; empty when there is nothing that PBN can say."""
    out = [] if told.auction is None else write_auction(told.auction)
    contracts = contracts_of(result, told.auction)
    return out if told.play is None else out + write_play(contracts, told.play.cards)


def contracts_of(result: BoardState | None, auction: Auction | None) -> list[Contract]:
    """By which contracts the cards may have been played: the result's, and the auction's when that was corrected."""
    reached = None if auction is None else auction.contract
    found = [result.contract] if isinstance(result, Played) else []
    return found + ([reached] if isinstance(reached, Contract) else [])


def write_auction(auction: Auction) -> list[str]:
    """Calls in columns from the dealer; who was skipped by a call out of turn has ``^S``."""
    tokens: list[str] = []
    notes: list[str] = []
    so_far = Auction(auction.dealer)
    seat = auction.dealer
    for event in auction.calls:
        expected = Standing.MADE
        while event.seat != seat:
            tokens.append("^S")
            expected = Standing.ACCEPTED
            seat = seat.left
        word = event.call.text
        insufficient = Irregularity.INSUFFICIENT in so_far.irregularities(event.seat, event.call)
        if event.standing is Standing.ACCEPTED and insufficient and event.call.kind is CallKind.BID:
            word = f"^I {word}"
            expected = Standing.ACCEPTED
        said = [_ALERTED] * event.alerted + [_STANDING[event.standing]] * (event.standing is not expected)
        if said:
            note = ", ".join(said)
            if note not in notes:
                notes.append(note)
            word += f" ={notes.index(note) + 1}="
        tokens.append(word)
        so_far = so_far.record(event)
        seat = event.seat.left
    if not auction.is_over:
        tokens.append("*")
    rows = [" ".join(tokens[at : at + CALLS_A_LINE]) for at in range(0, len(tokens), CALLS_A_LINE)]
    told = [f'[Note "{number}:{note}"]' for number, note in enumerate(notes, start=1)]
    return [f'[Auction "{auction.dealer.letter}"]', *rows, *told]


def write_play(contracts: Sequence[Contract], cards: tuple[PlayedCard, ...]) -> list[str]:
    """One row for each trick, columns from the opening leader; a reader finds the order again by the contract."""
    if cards:
        contracts = [one for one in contracts if one.leader is cards[0].seat]
    if not contracts:
        return []
    contract = contracts[0]
    state = check_play(contract, cards)
    if any(one.fault in (PlayFault.OUT_OF_TURN, PlayFault.PLAYED_TWICE) for one in state.findings):
        return []
    columns = _columns(contract.leader)
    rows = []
    for at in range(0, len(cards), 4):
        trick = {one.seat: card_name(one.card) for one in cards[at : at + 4]}
        rows.append(" ".join(trick.get(seat, "-") for seat in columns))
    return [f'[Play "{contract.leader.letter}"]', *rows, "*"]


def _columns(leader: Seat) -> list[Seat]:
    return [Seat((leader + step) % 4) for step in range(4)]


# --- reading -----------------------------------------------------------------------------------------------------


def read_sections(
    tags: Mapping[str, str], tables: Mapping[str, Sequence[str]], result: BoardState | None
) -> Recorded | None:
    """What a game tells of its auction and its cards, None when it tells neither. Raises EntryError."""
    auction = play = None
    if any(row.strip() for row in tables.get("Auction", ())):
        dealer = _seat(tags.get("Auction", "").strip() or tags.get("Dealer", "").strip(), "The auction")
        auction = read_auction_rows(dealer, tables["Auction"], tables.get("AuctionNote", ()))
    if any(row.strip() for row in tables.get("Play", ())):
        leader = _seat(tags.get("Play", "").strip(), "The play")
        contracts = contracts_of(result, auction)
        if not isinstance(result, Played):
            contracts += _tagged(tags)
        play = RecordedPlay(None, read_play_rows(leader, tables["Play"], contracts))
    return None if auction is None and play is None else Recorded(auction, play)


def _seat(letter: str, what: str) -> Seat:
    try:
        return Seat.from_letter(letter)
    except ValueError:
        raise EntryError(f"{what} does not say who was first.", code="bad-record") from None


def _tagged(tags: Mapping[str, str]) -> list[Contract]:
    text = tags.get("Contract", "")
    try:
        return [] if is_pass(text) else [read_contract(text, tags.get("Declarer", "").lstrip("^"))]
    except EntryError:
        return []


def _tokens(rows: Iterable[str]) -> list[str]:
    return _TOKEN.findall(_COMMENT.sub(" ", "\n".join(rows)))


def read_auction_rows(dealer: Seat, rows: Iterable[str], notes: Iterable[str] = ()) -> Auction:
    """The auction in the rows of a section. notes: values of its Note tags. Raises EntryError for what is no call."""
    words = {number: text.lower().split(", ") for number, _, text in (note.partition(":") for note in notes)}
    events: list[CallEvent] = []
    seat, irregular = dealer, False
    for token in _tokens(rows):
        if token in ("*", "+"):
            break
        if token.startswith("="):
            if events:
                events[-1] = _noted(events[-1], words.get(token.strip("="), []))
        elif token.startswith(("^", "$")) or not token.strip("!?"):
            irregular = irregular or token in ("^S", "^I")
            seat = seat.left if token == "^S" else seat
        elif token == "-":
            seat = seat.left
        elif token.upper() == "AP":
            auction = Auction(dealer, tuple(events))
            for _ in range(4):
                auction = auction if auction.is_over else auction.record(CallEvent(seat, PASS))
                seat = seat.left
            return auction
        else:
            standing = Standing.ACCEPTED if irregular else Standing.MADE
            events.append(CallEvent(seat, Call.parse(token.rstrip("!?")), standing))
            seat, irregular = seat.left, False
    return Auction(dealer, tuple(events))


def _noted(event: CallEvent, words: Sequence[str]) -> CallEvent:
    standing = next((one for one, word in _STANDING.items() if word in words), event.standing)
    return CallEvent(event.seat, event.call, standing, event.alerted or _ALERTED in words)


def read_play_rows(leader: Seat, rows: Iterable[str], contracts: Iterable[Contract]) -> tuple[PlayedCard, ...]:
    """The cards in the order in which they were played: the winner of each trick leads to the next one.

    contracts: the first one with this leader tells trumps. Raises EntryError, without a card.
    """
    contract = next((one for one in contracts if one.leader is leader), None)
    if contract is None:
        raise EntryError("The play was not begun by declarer's left-hand opponent.", code="bad-record")
    cells = _cells(rows)
    columns = _columns(leader)
    cards: list[PlayedCard] = []
    turn, over = leader, False
    for at in range(0, len(cells), 4):
        held = dict(zip(columns, cells[at : at + 4], strict=False))
        trick = []
        for step in range(4):
            seat = Seat((turn + step) % 4)
            card = held.get(seat)
            over = over or card is None
            if card is not None:
                if over:
                    raise EntryError(f"Trick {at // 4 + 1} of a play has a gap before a card.", code="bad-record")
                trick.append(PlayedCard(seat, card))
        cards += trick
        if len(trick) == 4:
            turn = trick_winner(trick, contract.strain.trump)
    if len({one.card for one in cards}) != len(cards):
        raise EntryError("A play has a card twice.", code="bad-record")
    return tuple(cards)


def _cells(rows: Iterable[str]) -> list[int | None]:
    """Cards by column, None for one that is not shown."""
    out: list[int | None] = []
    for token in _tokens(rows):
        if token in ("*", "+"):
            break
        if token.startswith(("=", "^", "$")) or not token.strip("!?"):
            continue
        card = None if token == "-" else read_card(token.rstrip("!?"))
        if token != "-" and card is None:
            raise EntryError(f"Place {len(out) + 1} of a play is no card.", code="bad-record")
        out.append(card)
        if len(out) > MAX_CARDS:
            raise EntryError(f"A play has more than {MAX_CARDS} cards.", code="bad-record")
    return out
