"""What every ``deal`` command says of a set in the same words: its mark, and which boards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from dealer.formats.options import CONSTRAINED_MARK
from dealer.generate import Origin
from dealer.verify import Finding

NOT_FOR_PLAY = "NOT FOR PLAY: whoever knows the seed of this set knows the cards."
_MAX_RUNS = 20
CONSTRAINED = "This set is constrained: its deals were chosen to meet conditions."


def mark_lines(origin: Origin | None) -> list[str]:
    """What must be said of a set of this origin wherever it is named; nothing for the others."""
    if origin is Origin.SEEDED:
        return [NOT_FOR_PLAY]
    return [CONSTRAINED] if origin is Origin.CONSTRAINED else []


def mark_lost(origin: Origin | None, format_name: str) -> list[Finding]:
    """A report when a constrained set is written in a format that has no place for its mark."""
    if origin is not Origin.CONSTRAINED:
        return []
    from dealer.formats.api import format_named  # only here: a short command does without the list of formats

    if format_named(format_name).marks:
        return []
    message = f"{format_name.upper()} has no place for the mark {CONSTRAINED_MARK!r}; say it where the file goes."
    return [Finding("mark-lost", message)]


def boards_text(numbers: Sequence[int]) -> str:
    """Board numbers in words: "board 3" or "boards 1-8, 12"."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    text = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs[:_MAX_RUNS])
    text += ", ..." if len(runs) > _MAX_RUNS else ""
    return f"board{'s' if len(numbers) != 1 else ''} {text}"


def words(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Callback of options that take words: refuse what a terminal in another character set has made of them."""
    for text in value if isinstance(value, tuple) else (value,):
        try:
            (text or "").encode()
        except UnicodeEncodeError:
            raise click.BadParameter("the letters are not in UTF-8; set the terminal to it.") from None
    return value


def plain(text: str) -> str:
    """Words out of a stranger's file, on one line and without anything that a terminal would act on."""
    words = " ".join("".join(letter if letter.isprintable() else " " for letter in text[:1000]).split())
    return words if len(words) <= 200 else f"{words[:200]}..."
