"""Fouled boards (Law 87): which results belong to which form of the board, as a proposal for the director.

Two ways: the director says from which play on the board was another one, or a read-back of the boards after play tells
how the cards lay at certain moments. Digests stand for the cards; no card is seen here.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from firmware_bridge.errors import EntryError
from terminals.scoring.lines import LineKey


@dataclass(frozen=True, slots=True)
class PlayOrder:
    """A play of the board: which physical copy, and the how-manieth play of that copy it was, from 1."""

    key: LineKey
    copy: int
    order: int


@dataclass(frozen=True, slots=True)
class Reading:
    """How a copy lay when it was read: after ``order`` plays (0: before the first)."""

    copy: int
    order: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class FormProposal:
    """forms: line key -> form, "" for the board as it was dealt. uncertain: plays that may belong to another form."""

    forms: dict[LineKey, str]
    uncertain: tuple[LineKey, ...] = ()

    @property
    def groups(self) -> dict[str, int]:
        """How many results each form has."""
        out: dict[str, int] = {}
        for form in self.forms.values():
            out[form] = out.get(form, 0) + 1
        return out


def forms_by_time(plays: Iterable[PlayOrder], changes: Sequence[tuple[int, int, str]]) -> FormProposal:
    """Groups that the director times: ``changes`` are (copy, from which play on, form). Raises EntryError."""
    held = list(plays)
    for copy, start, form in changes:
        if start < 1 or len(form) > 8:
            raise EntryError("A change has a play from 1 and a form of up to 8 letters.", code="bad-form")
        if copy not in {play.copy for play in held}:
            raise EntryError(f"Nobody has played copy {copy} of this board.", code="bad-form")
    forms: dict[LineKey, str] = {}
    for play in held:
        reached = [(start, form) for copy, start, form in changes if copy == play.copy and start <= play.order]
        forms[play.key] = max(reached)[1] if reached else ""
    return FormProposal(forms)


def forms_by_reading(plays: Iterable[PlayOrder], readings: Iterable[Reading], dealt: bytes) -> FormProposal:
    """Groups that readings prove or suggest; ``dealt`` is the digest of the board as it left the machine.

    A play between two equal readings has their form. Between two different ones the board changed hands wrongly at an
    unknown moment: such plays get the earlier form and are uncertain, except a single play, after which the cards must
    have gone into the wrong pockets. Plays after the last reading keep its form and are uncertain.
    """
    names = {dealt: ""}
    by_copy: dict[int, list[PlayOrder]] = {}
    for play in plays:
        by_copy.setdefault(play.copy, []).append(play)
    known: dict[int, list[Reading]] = {}
    for reading in readings:
        known.setdefault(reading.copy, []).append(reading)
    forms: dict[LineKey, str] = {}
    uncertain: list[LineKey] = []
    for copy, held in sorted(by_copy.items()):
        held.sort(key=lambda play: play.order)
        marks = sorted([Reading(copy, 0, dealt), *known.get(copy, ())], key=lambda reading: reading.order)
        for before, after in zip(marks, [*marks[1:], None], strict=True):
            for reading in (before, after):
                if reading is not None and reading.digest not in names:
                    names[reading.digest] = chr(ord("B") + len(names) - 1) if len(names) < 26 else f"F{len(names)}"
            between = [
                play for play in held if before.order < play.order and (after is None or play.order <= after.order)
            ]
            for play in between:
                forms[play.key] = names[before.digest]
                same = after is not None and after.digest == before.digest
                if not same and not (after is not None and len(between) == 1):
                    uncertain.append(play.key)
    return FormProposal(forms, tuple(uncertain))
