"""Auctions and plays that tables recorded, as PBN and as JSON: one game for each play of a board.

Source: PBN 2.1, sections 3.5 (Auction), 3.6 (Play), 3.9 (irregularities). Only calls that count are written; an
accepted insufficient bid is marked ``^I``. A play out of turn can't be told by the columns: such a record has no Play
section, and the JSON has everything as it was recorded. A deal is written only when the caller gives it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dealer.board import dealer_of, vulnerability_of
from dealer.cards import Seat, card_name
from dealer.deal import Deal
from terminals.auction import Auction, CallKind, Irregularity, Standing
from terminals.contract import Contract
from terminals.play import PlayedCard, PlayFault, check_play
from terminals.result import BoardState, PassedOut, Played
from terminals.store.values import PlayKey
from terminals.sync.recorded import Acceptance, Recorded

FORMAT = "firmware-bridge-recorded"
VERSION = 1
CALLS_A_LINE = 4


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """One play with its result and what its table recorded. names: by seat letter, as far as they are known."""

    play: PlayKey
    round: int
    table: int
    result: BoardState | None
    told: Recorded = field(repr=False)
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    accepted: tuple[Acceptance, ...] = ()


def write_pbn_recorded(
    title: str, date: str, games: Iterable[RecordedGame], deals: Mapping[tuple[str, int], Deal] | None = None
) -> bytes:
    """PBN in export format, CRLF, UTF-8. deals: by section letter and board."""
    out = ["% PBN 2.1", "% EXPORT", "%Content-type: text/x-pbn; charset=UTF-8", ""]
    for game in games:
        out += [*_game(title, date, game, (deals or {}).get((game.play.section, game.play.board))), ""]
    return "\r\n".join(out).encode("utf-8", "replace")


def _game(title: str, date: str, game: RecordedGame, deal: Deal | None) -> list[str]:
    board, result = game.play.board, game.result
    dealer = dealer_of(board)
    contract = declarer = tricks = ""
    if isinstance(result, Played):
        contract, declarer = result.contract.text, result.contract.declarer.letter
        tricks = str(result.tricks)
    elif isinstance(result, PassedOut):
        contract = "Pass"
    tags = [
        ("Event", title or "?"),
        ("Site", "?"),
        ("Date", date.replace("-", ".") or "?"),
        ("Board", str(board)),
        *((seat, game.names.get(seat[0], "")) for seat in ("West", "North", "East", "South")),
        ("Dealer", dealer.letter),
        ("Vulnerable", vulnerability_of(board).pbn),
        ("Deal", "" if deal is None else deal.to_pbn(dealer)),
        ("Scoring", ""),
        ("Declarer", declarer),
        ("Contract", contract),
        ("Result", tricks),
        ("Round", str(game.round)),
        ("Table", f"{game.play.section}{game.table}"),
        ("PairNS", f"{game.play.section}{game.play.ns}"),
        ("PairEW", f"{game.play.section}{game.play.ew}"),
    ]
    out = [_tag(name, value) for name, value in tags]
    if game.told.auction is not None:
        out += _auction(game.told.auction)
    if game.told.play is not None and isinstance(result, Played):
        out += _play(result.contract, game.told.play.cards)
    return out


def _tag(name: str, value: str) -> str:
    text = " ".join(value.split())[:200].replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{text}"]'


def _auction(auction: Auction) -> list[str]:
    """Calls in columns from the dealer; who was skipped by an accepted call out of turn has ``^S``."""
    tokens: list[str] = []
    alerts = False
    so_far = Auction(auction.dealer)
    seat = auction.dealer
    for event in auction.calls:
        while event.seat != seat:
            tokens.append("^S")
            seat = seat.left
        word = event.call.text
        insufficient = Irregularity.INSUFFICIENT in so_far.irregularities(event.seat, event.call)
        if event.standing is Standing.ACCEPTED and insufficient and event.call.kind is CallKind.BID:
            word = f"^I {word}"
        if event.alerted:
            alerts = True
            word += " =1="
        tokens.append(word)
        so_far = so_far.record(event)
        seat = event.seat.left
    if not auction.is_over:
        tokens.append("*")
    rows = [" ".join(tokens[at : at + CALLS_A_LINE]) for at in range(0, len(tokens), CALLS_A_LINE)]
    note = ['[Note "1:alerted"]'] if alerts else []
    return [f'[Auction "{auction.dealer.letter}"]', *rows, *note]


def _play(contract: Contract, cards: tuple[PlayedCard, ...]) -> list[str]:
    state = check_play(contract, cards)
    if any(one.fault in (PlayFault.OUT_OF_TURN, PlayFault.PLAYED_TWICE) for one in state.findings):
        return []
    columns = [Seat((contract.leader + step) % 4) for step in range(4)]
    rows = []
    for at in range(0, len(cards), 4):
        trick = {one.seat: card_name(one.card) for one in cards[at : at + 4]}
        rows.append(" ".join(trick.get(seat, "-") for seat in columns))
    return [f'[Play "{contract.leader.letter}"]', *rows, "*"]


def write_recorded_json(
    title: str, date: str, games: Iterable[RecordedGame], deals: Mapping[tuple[str, int], Deal] | None = None
) -> bytes:
    """Everything as it was recorded, withdrawn and cancelled calls too; one JSON object, UTF-8."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "title": title,
        "date": date,
        "games": [_as_dict(game, (deals or {}).get((game.play.section, game.play.board))) for game in games],
    }
    return (json.dumps(data, ensure_ascii=False, indent=1) + "\n").encode()


def _as_dict(game: RecordedGame, deal: Deal | None) -> dict[str, Any]:
    play, told = game.play, game.told
    out: dict[str, Any] = {
        "section": play.section,
        "board": play.board,
        "ns": play.ns,
        "ew": play.ew,
        "play": play.play,
        "round": game.round,
        "table": game.table,
        "result": None if game.result is None else str(game.result),
        "auction": None,
        "cards": None,
        "accepted": [{"pair": one.pair, "at": one.wall, "proved": one.proved} for one in game.accepted],
    }
    if deal is not None:
        out["deal"] = deal.to_pbn(dealer_of(play.board))
    if told.auction is not None:
        out["auction"] = {
            "dealer": told.auction.dealer.letter,
            "calls": [
                {
                    "seat": event.seat.letter,
                    "call": event.call.text,
                    "standing": event.standing.value,
                    "alerted": event.alerted,
                }
                for event in told.auction.events
            ],
        }
    if told.play is not None:
        out["cards"] = {
            "agreed": told.play.agreed,
            "played": [[one.seat.letter, card_name(one.card)] for one in told.play.cards],
        }
    return out
