"""``read``: look into boards with the machine's reader, to learn them or to compare them with their set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import data_directory, ensure_directory, load_config
from firmware_bridge.errors import ConfigError, DealError

if TYPE_CHECKING:
    from dealer.board import Board


@click.command()
@click.option("--machine", "url", help="Device URL of the dealing machine.")
@click.option(
    "--boards", help="Boards in the order in which they are put in, like 1-24. With --verify: all of the file."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="File that the boards are learnt into; its name says the format."
)
@click.option("--verify", "compare_with", type=click.Path(path_type=Path), help="Compare with the boards of this file.")
@click.option("--show-cards", is_flag=True, help="Name the cards that differ; this is put on record.")
@click.option(
    "--patience",
    type=click.FloatRange(1, 3600),
    default=60.0,
    show_default=True,
    help="Seconds to wait for a lost machine.",
)
@click.option("--data", type=click.Path(path_type=Path), help="Data directory.")
@command("read")
def read(
    url: str | None,
    boards: str | None,
    out: Path | None,
    compare_with: Path | None,
    show_cards: bool,
    patience: float,
    data: Path | None,
) -> Outcome:
    """Read boards with a machine that can look into them.

    With --out hand-dealt boards are learnt into a deal file. With --verify boards are compared, after play, with the
    set that was played: cards exchanged, hands swapped, a turned board, another board's cards, a missing card.
    """
    from firmware_bridge.cli.evening_view import choose_view
    from firmware_bridge.service.host import host_identity
    from firmware_bridge.service.logfile import close_log, open_log

    if (out is None) == (compare_with is None):
        raise ConfigError("say what to do with the boards.", next_step="Give either --out FILE or --verify FILE.")
    directory = data_directory(data)
    url = url or load_config(directory).machine
    if not url:
        raise ConfigError("no dealing machine is named.", next_step="Name it with --machine URL; see: devices.")
    ensure_directory(directory)
    host = host_identity(directory)
    view = choose_view()
    log = open_log(directory)
    try:
        if compare_with is not None:
            return _verify(url, host, boards, compare_with, show_cards, directory, patience, view)
        assert out is not None
        return _learn(url, host, boards, out, patience, view)
    finally:
        view.close()
        close_log(log)


def _learn(url: str, host: Any, boards: str | None, out: Path, patience: float, view: Any) -> Outcome:
    from dealer.duplication.options import JobOptions
    from dealer.files import replacing
    from dealer.formats.api import format_named, format_of
    from dealer.formats.options import WriteOptions
    from dealer.generate import Origin, parse_numbers
    from firmware_bridge.service.reading import learn_boards

    if boards is None:
        raise ConfigError("say which boards are put in.", next_step="Name them in order, like --boards 1-24.")
    info = format_of(out)
    if info is None:
        raise ConfigError(f"the name {out.name} says no deal format.", next_step="Call it something.pbn, for example.")
    numbers = parse_numbers(boards)
    learnt = _learnt_before(out, numbers)
    options = WriteOptions(origin=Origin.EXTERNAL)

    def keep(board: Board) -> None:
        # At once: what was read once should not have to be read again because the last board fails.
        learnt.append(board)
        data = format_named(info.name).load().write(sorted(learnt, key=lambda one: one.number), options)
        with replacing(str(out), private=True) as file:
            file.write(data)
        view.say(f"Board {board.number}: 13 cards in each hand, learnt.")

    known = len(learnt)
    try:
        run_async(
            learn_boards(url, host, numbers, on_progress=view, on_board=keep, options=JobOptions(reconnect_s=patience))
        )
    finally:
        new = len(learnt) - known
        if new < len(numbers):
            rest = numbers[new:]
            view.say(f"{out} has {len(learnt)} boards. Still to be read: {', '.join(map(str, rest[:12]))}.")
    added = f" It now has {len(learnt)}." if known else ""
    return Outcome({"boards": new, "out": str(out)}, f"{new} boards learnt into {out}.{added}")


def _learnt_before(out: Path, numbers: Sequence[int]) -> list[Board]:
    """Boards that the file has already; those that are read now come in addition. Raises ConfigError for one twice."""
    from dealer.formats.api import read_deal_file

    if not out.exists():
        return []
    boards = list(read_deal_file(out).require_good(str(out)))
    twice = sorted({board.number for board in boards} & set(numbers))
    if twice:
        raise ConfigError(
            f"the file has board {twice[0]} already; nothing is overwritten.",
            where=str(out),
            next_step="Name another file, or other boards.",
            code="board-repeated",
        )
    return boards


def _verify(
    url: str,
    host: Any,
    boards: str | None,
    source: Path,
    show_cards: bool,
    directory: Path,
    patience: float,
    view: Any,
) -> Outcome:
    from dealer.duplication.options import JobOptions
    from dealer.generate import parse_numbers
    from firmware_bridge.cli.deal_seal import open_deals
    from firmware_bridge.service.reading import reveal_board, verify_boards

    known = open_deals(source).require_good(str(source))
    numbers = [board.number for board in known] if boards is None else parse_numbers(boards)
    unknown = sorted(set(numbers) - {board.number for board in known})
    if unknown:
        raise ConfigError(
            f"the file has no board {unknown[0]}.", where=str(source), next_step="Name boards of the file."
        )
    if show_cards:
        for number in numbers:
            reveal_board(directory, known, number, str(source))

    def tell(result: Any) -> None:
        words = " ".join(one.text(show_cards=show_cards) for one in result.differences)
        view.say(f"Board {result.board}: {words or 'as it was dealt.'}")

    verifying = verify_boards(
        url, host, known, numbers, on_progress=view, on_board=tell, options=JobOptions(reconnect_s=patience)
    )
    results = run_async(verifying)
    different = [result for result in results if not result.same]
    fields = {
        "boards": len(results),
        "same": len(results) - len(different),
        "differences": [
            {
                "board": result.board,
                "kinds": [one.kind.value for one in result.differences],
                "seats": ["".join(seat.letter for seat in one.seats) for one in result.differences],
                "text": " ".join(one.text(show_cards=show_cards) for one in result.differences),
            }
            for result in different
        ],
    }
    text = f"{len(results) - len(different)} of {len(results)} boards are as they were dealt."
    if not different:
        return Outcome(fields, text)
    names = ", ".join(str(result.board) for result in different)
    error = DealError(
        f"boards that are not as they were dealt: {names}.",
        where=str(source),
        next_step="Show the director; `restore` shows where each card of a board belongs.",
        code="boards-differ",
    )
    return Outcome(fields, text, error=error)
