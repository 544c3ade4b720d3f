"""What an evening is going to be: pairs, movement, boards, deals; decided once, kept in ``evening.json``, then resumed.

A second start with the same data directory goes on with the same evening. A flag that asks for another one is refused:
an evening that changes its mind in mid-session would mix two sets of boards.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dealer.board import Board
from dealer.formats.api import read_deal_file
from dealer.generate import DealSet, Origin, new_set
from firmware_bridge.errors import ConfigError, DealError, EntryError, ExitStatus, StoreError
from terminals.movement.boards import parse_boards, runs, with_boards
from terminals.movement.choose import fitting, for_tables
from terminals.movement.model import Movement

DEFAULT_PAIRS = 13
DEFAULT_BOARDS = 28
FILE_NAME = "evening.json"
MAX_COPIES = 9


@dataclass(frozen=True, slots=True)
class EveningRequest:
    """What the flags say; None where nothing was said. deals: a deal file to play instead of new deals."""

    pairs: int | None = None
    tables: int | None = None
    boards: int | None = None
    copies: int | None = None
    seed: int | None = None
    deals: Path | None = None
    simulate: bool = False


@dataclass(frozen=True, slots=True)
class EveningPlan:
    """The decided evening. event_id: 64 bits; set_id: of the deals; seed: None unless simulated.

    first_board, boards: the run of board numbers in play; numbers: when it is not one run, the list ("1-8, 21-28").
    deals_from: file name that the deals came from, or "".
    """

    event_id: int
    set_id: str
    pairs: int
    tables: int
    first_board: int
    boards: int
    copies: int
    seed: int | None
    simulate: bool
    deals_from: str
    numbers: str = ""

    def movement(self) -> Movement:
        """The movement that these numbers stand for; always the same one."""
        movement = for_tables(self.tables, self.boards, self.pairs, first_board=self.first_board)
        return with_boards(movement, parse_boards(self.numbers)) if self.numbers else movement

    @property
    def board_numbers(self) -> Sequence[int]:
        if self.numbers:
            return parse_boards(self.numbers)
        return range(self.first_board, self.first_board + self.boards)


def decide(request: EveningRequest) -> tuple[EveningPlan, DealSet]:
    """A new evening from the flags. Raises ConfigError or EntryError (exit 2) naming the numbers that do not fit.

    Raises DealError for a deal file that can't be played.
    """
    seed = request.seed
    if request.simulate and seed is None:
        seed = secrets.randbelow(2**31)
    given = _deals_of_file(request.deals) if request.deals is not None else None
    movement = _movement(request, given)
    numbers = movement.board_numbers
    if given is None:
        deals = new_set(numbers, seed=seed)
    else:
        chosen = tuple(board for board in given if board.number in set(numbers))
        deals = DealSet(secrets.token_hex(8), Origin.EXTERNAL, chosen)
    copies = request.copies or movement.copies
    if not 1 <= copies <= MAX_COPIES:
        raise ConfigError(f"{copies} copies of each board can't be made.", next_step=f"Ask for 1 to {MAX_COPIES}.")
    plan = EveningPlan(
        event_id=secrets.randbits(64) or 1,
        set_id=deals.id,
        pairs=len(movement.pairs),
        tables=movement.tables,
        first_board=numbers[0],
        numbers="" if numbers[-1] - numbers[0] < len(numbers) else runs(numbers),
        boards=len(numbers),
        copies=copies,
        seed=seed,
        simulate=request.simulate,
        deals_from="" if request.deals is None else request.deals.name,
    )
    return plan, deals


def movement_of(request: EveningRequest) -> Movement:
    """The movement that the numbers of a request stand for. Raises EntryError (exit 2) when none fits."""
    return _movement(request, None)


def _movement(request: EveningRequest, given: tuple[Board, ...] | None) -> Movement:
    if given is not None:
        numbers = [board.number for board in given]
        movement = _by_number(request, given)
        if numbers[-1] - numbers[0] == len(numbers) - 1:
            return movement
        return _on(movement, numbers, request)
    return _by_number(request, None)


def _on(movement: Movement, numbers: list[int], request: EveningRequest) -> Movement:
    """The movement on boards with gaps between them: every set must be a run, because terminals are told runs."""
    played = with_boards(movement, numbers)
    divided = next((s.boards for s in played.seatings if max(s.boards) - min(s.boards) >= len(s.boards)), None)
    if divided is None:
        return played
    gaps = [n for n in range(min(divided), max(divided)) if n not in divided]
    missing = ", ".join(map(str, gaps[:6])) + (" and more" if len(gaps) > 6 else "")
    raise DealError(
        f"the boards {runs(divided)} would be played in one round, without {missing}.",
        where=str(request.deals),
        next_step=f"Take a file without gaps, or with gaps only between sets of {len(divided)} boards.",
        code="board-gap",
        exit_status=ExitStatus.USAGE,
    )


def _by_number(request: EveningRequest, given: tuple[Board, ...] | None) -> Movement:
    pairs, tables = request.pairs, request.tables
    if given is not None:
        first = given[0].number
        if request.boards is None:
            return fitting(len(given), tables, pairs, first_board=first)
        if request.boards > len(given):
            raise ConfigError(
                f"{request.boards} boards are asked for, the file has {len(given)}.",
                where=str(request.deals),
                next_step="Ask for fewer boards, or take another file.",
                code="too-few-boards",
            )
        if tables is None and pairs is None:
            return fitting(request.boards, first_board=first)
        return for_tables(tables or _tables(pairs), request.boards, pairs, first_board=first)
    if pairs is None and tables is None:
        pairs = DEFAULT_PAIRS
    if request.boards is None:
        return _usual(tables or _tables(pairs), pairs)
    return for_tables(tables or _tables(pairs), request.boards, pairs)


def _usual(tables: int, pairs: int | None) -> Movement:
    """The movement of a usual evening: near 28 boards, rather fewer than more, in rounds of two to five."""
    found = []
    for boards in range(12, 37):
        try:
            movement = for_tables(tables, boards, pairs)
        except EntryError:
            continue
        size = movement.boards_per_round
        odd_size = 8 if size == 1 else 6 * max(0, size - 5)
        away = 2 * (boards - DEFAULT_BOARDS) if boards > DEFAULT_BOARDS else DEFAULT_BOARDS - boards
        found.append((odd_size + away, boards, movement))
    if not found:
        return fitting(DEFAULT_BOARDS, tables, pairs)
    return min(found, key=lambda item: item[:2])[2]


def _tables(pairs: int | None) -> int:
    return ((pairs or DEFAULT_PAIRS) + 1) // 2


def _deals_of_file(path: Path) -> tuple[Board, ...]:
    """Boards of a file, ascending."""
    return tuple(sorted(read_deal_file(path).require_good(str(path)), key=lambda board: board.number))


# --- evening.json ------------------------------------------------------------------------------------------------


def save(plan: EveningPlan, directory: Path) -> None:
    """Write ``evening.json``. Raises StoreError."""
    path = directory / FILE_NAME
    temporary = path.with_name(path.name + ".part")
    value = {"format": 1, **asdict(plan), "event_id": f"{plan.event_id:016x}"}
    try:
        temporary.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
        os.chmod(temporary, 0o600)
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"{error.strerror}.", where=str(path), next_step="Check the data directory.") from error


def load(directory: Path) -> EveningPlan | None:
    """The evening that was begun in this directory, or None. Raises StoreError for a file that can't be understood."""
    path = directory / FILE_NAME
    if not path.exists():
        return None
    try:
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if value.pop("format") != 1:
            raise ValueError("another format")
        plan = EveningPlan(**{**value, "event_id": int(value["event_id"], 16)})
        plan.movement()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            "the evening that was begun here can't be understood.",
            where=str(path),
            next_step="Choose another data directory with --data.",
            code="evening-damaged",
        ) from error
    return plan


def check_same(plan: EveningPlan, request: EveningRequest) -> None:
    """Raises ConfigError (exit 2) when the flags ask for another evening than the one that was begun."""
    asked = {
        "pairs": (request.pairs, plan.pairs),
        "tables": (request.tables, plan.tables),
        "boards": (request.boards, plan.boards),
        "copies": (request.copies, plan.copies),
        "seed": (request.seed, plan.seed),
        "deals": (None if request.deals is None else request.deals.name, plan.deals_from),
        "simulate": (request.simulate, plan.simulate),
    }
    for name, (wanted, begun) in asked.items():
        if wanted is not None and wanted != begun:
            raise ConfigError(
                f"another evening was begun here: --{name} was {_word(begun)}, now it is {_word(wanted)}.",
                where=FILE_NAME,
                next_step="Leave the flag out to go on with it, or choose another data directory with --data.",
                code="other-evening",
            )


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not given" if value in (None, "") else str(value)
