"""Which boards a movement is played with: another run of numbers, or several runs, in place of 1 to N.

A club's second session goes on with boards 17 to 32; a set of boards that was made for two sections is boards 1-8 and
21-28. The movement stays the same: its first board becomes the first number of the list, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement.model import Movement

MAX_BOARD = 999
MAX_TEXT = 400


def parse_boards(text: str) -> tuple[int, ...]:
    """``17-32`` or ``1-8, 21-28`` as numbers, in the order given. Raises EntryError naming the part that can't be."""
    if len(text) > MAX_TEXT:
        raise _bad(f"A list of boards has at most {MAX_TEXT} letters.")
    found: list[int] = []
    for part in text.replace(";", ",").split(","):
        match = re.fullmatch(r"\s*([0-9]{1,3})\s*(?:-\s*([0-9]{1,3})\s*)?", part, re.ASCII)
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= low <= high:
            raise _bad(
                f"{part.strip()[:20]!r} is no board and no run of boards.", "Write them like 17-32 or 1-8,21-28."
            )
        found += range(low, high + 1)
    if len(set(found)) != len(found):
        twice = next(number for at, number in enumerate(found) if number in found[:at])
        raise _bad(f"Board {twice} is in the list twice.")
    return tuple(found)


def with_boards(movement: Movement, numbers: Sequence[int]) -> Movement:
    """The movement on these boards: its boards, lowest first, become ``numbers`` in the order given.

    More numbers than boards leave the last ones unused. Raises EntryError when they are too few, listed twice, or none
    of 1 to 999.
    """
    own = movement.board_numbers
    if len(set(numbers)) != len(numbers) or not all(1 <= number <= MAX_BOARD for number in numbers):
        raise _bad(f"Boards are different numbers from 1 to {MAX_BOARD}.")
    if len(numbers) < len(own):
        raise _bad(f"{movement.name} plays {len(own)} boards, the list has {len(numbers)}.", "Give more boards.")
    new = dict(zip(own, numbers, strict=False))

    def changed(boards: Iterable[int]) -> tuple[int, ...]:
        return tuple(new[board] for board in boards if board in new)

    return replace(
        movement,
        seatings=tuple(replace(s, boards=changed(s.boards)) for s in movement.seatings),
        sit_outs=tuple(replace(s, boards=changed(s.boards)) for s in movement.sit_outs),
        shares=tuple(replace(s, boards=tuple(sorted(changed(s.boards)))) for s in movement.shares),
    )


def runs(boards: Iterable[int]) -> str:
    """Boards for people, ascending: ``1-8, 21-28``."""
    out: list[list[int]] = []
    for board in sorted(set(boards)):
        if out and board == out[-1][-1] + 1:
            out[-1].append(board)
        else:
            out.append([board])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in out)


def _bad(what: str, next_step: str = "") -> EntryError:
    return EntryError(what, next_step=next_step, code="bad-boards", exit_status=ExitStatus.USAGE)
