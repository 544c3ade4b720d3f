"""``restore``: show the director where each card of a board belongs, once he has said that he wants to see it."""

from __future__ import annotations

from pathlib import Path

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.config import data_directory, ensure_directory
from firmware_bridge.errors import ConfigError


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--board", type=click.IntRange(1, 999), required=True, help="The board to put right.")
@click.option("--yes", is_flag=True, help="Confirm that the cards may be shown, without being asked.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory, where the reveal is put on record.")
@command("restore")
def restore(file: Path, board: int, yes: bool, data: Path | None) -> Outcome:
    """Show the four hands of one board of FILE, so that its cards can be put back.

    Whoever has yet to play the board must not look. The reveal is put on record before anything is shown.
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
    found = reveal_board(ensure_directory(data_directory(data)), boards, board, str(file))
    lines = [f"Board {board}"]
    for seat in Seat:
        suits = "  ".join(f"{suit.symbol} {found.deal.holding(seat, suit) or '-'}" for suit in Suit)
        lines.append(f"{seat.name.title():<6} {suits}")
    hands = {seat.letter: list(found.deal.hand(seat)) for seat in Seat}
    return Outcome({"board": board, "hands": hands}, "\n".join(lines))
