"""``restore``: show the director where each card of a board belongs, once he has said that he wants to see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dealer.cards import PACK_SIZE, card_name
from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.config import data_directory, ensure_directory
from firmware_bridge.errors import ConfigError


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--board", type=click.IntRange(1, 999), required=True, help="The board to put right.")
@click.option("--machine", "url", help="Read the board on this machine, and show only the cards that have to move.")
@click.option("--yes", is_flag=True, help="Confirm that the cards may be shown, without being asked.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory, where the reveal is put on record.")
@command("restore")
def restore(file: Path, board: int, url: str | None, yes: bool, data: Path | None) -> Outcome:
    """Show the four hands of one board of FILE, so that its cards can be put back.

    With --machine the board is read first, and only what has to move is shown. Whoever has yet to play the board must
    not look. The reveal is put on record before anything is shown.
    """
    from dealer.cards import Seat, Suit
    from firmware_bridge.cli.deal_seal import open_deals
    from firmware_bridge.service.reading import no_such_board, reveal_board

    boards = open_deals(file).require_good(str(file))
    if board not in {one.number for one in boards}:
        raise no_such_board(board, str(file))
    if not yes:
        question = f"Show all cards of board {board}? This is put on record"
        if not click.confirm(question, err=True):
            raise ConfigError(
                "not confirmed; nothing was shown.", next_step="Ask somebody who does not play the board."
            )
    directory = ensure_directory(data_directory(data))
    found = reveal_board(directory, boards, board, str(file))
    if url is not None:
        return _moves(url, directory, boards, board)
    lines = [f"Board {board}"]
    for seat in Seat:
        suits = "  ".join(f"{suit.symbol} {found.deal.holding(seat, suit) or '-'}" for suit in Suit)
        lines.append(f"{seat.name.title():<6} {suits}")
    hands = {seat.letter: list(found.deal.hand(seat)) for seat in Seat}
    return Outcome({"board": board, "hands": hands}, "\n".join(lines))


def _moves(url: str, directory: Path, boards: Any, number: int) -> Outcome:
    """What has to be put elsewhere, card by card, by what the machine finds in the board."""
    from firmware_bridge.cli.evening_view import choose_view
    from firmware_bridge.cli.running import run_async
    from firmware_bridge.service.host import host_identity
    from firmware_bridge.service.reading import verify_boards

    view = choose_view()
    host = host_identity(directory)
    try:
        (result,) = run_async(verify_boards(url, host, boards, [number], on_progress=view, on_board=lambda _: None))
    finally:
        view.close()
    moves = [
        {
            "card": card_name(move.card) if move.card < PACK_SIZE else None,
            "from": move.source.letter if move.source is not None else None,
            "to": move.target.letter if move.target is not None else None,
        }
        for move in result.moves
    ]
    lines = [one.text() for one in result.differences] + [f"  {move.text()}" for move in result.moves]
    text = "\n".join([f"Board {number}", *(lines or ["Every card is where it belongs."])])
    return Outcome({"board": number, "moves": moves}, text)
