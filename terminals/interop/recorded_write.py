"""Auctions and plays that tables recorded, as PBN and as JSON: one game for each play of a board.

The JSON has everything as it was recorded. A deal is written only when the caller gives it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dealer.board import dealer_of, vulnerability_of
from dealer.deal import Deal
from terminals.interop.pbn_sections import write_sections
from terminals.interop.recorded_json import recorded_as_dict
from terminals.result import BoardState, PassedOut, Played
from terminals.store.values import PlayKey
from terminals.sync.recorded import Acceptance
from terminals.table_record import Recorded

FORMAT = "firmware-bridge-recorded"
VERSION = 1


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
        ("PairEW", f"{game.play.section}{game.play.ew}"),
        ("PairNS", f"{game.play.section}{game.play.ns}"),
        ("Round", str(game.round)),
        ("Table", f"{game.play.section}{game.table}"),
    ]
    out = [_tag(name, value) for name, value in tags]
    return out + write_sections(game.told, result)


def _tag(name: str, value: str) -> str:
    text = " ".join(value.split())[:200].replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{text}"]'


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
    return out | recorded_as_dict(told)
