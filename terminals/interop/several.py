"""Several events of one evening, a section of teams beside sections of pairs: which formats hold them in one file.

USEBIO and our own JSON hold several events in a file, a CSV one list of all results, a PDF one page after another. PBN
and the file for BridgeWebs are of one event each, so there is a file for each. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from firmware_bridge.errors import EntryError
from terminals.interop.exchange import EventKind, ExchangeEvent


@dataclass(frozen=True, slots=True)
class EventFile:
    """A file that was made. kinds: of the events in it; lines: how many results it holds."""

    name: str
    content: bytes
    kinds: tuple[EventKind, ...]
    lines: int

    @property
    def words(self) -> str:
        return f"{self.lines} results ({' and '.join(self.kinds)}) in {self.name}"


@dataclass(frozen=True, slots=True)
class Written:
    """The files of a format, and in words what has no place in it."""

    files: tuple[EventFile, ...]
    left_out: tuple[str, ...] = ()


def write_together(events: Sequence[ExchangeEvent], name: str, write: Callable[..., bytes]) -> Written:
    """One file with all the events. write: takes them all."""
    return Written(
        (EventFile(name, write(*events), tuple(one.kind for one in events), sum(len(one.lines) for one in events)),)
    )


def write_apart(events: Sequence[ExchangeEvent], name: str, write: Callable[[ExchangeEvent], bytes]) -> Written:
    """A file for each event that the format can hold; with several, its kind is put into the name: results-pairs.pbn.

    Raises EntryError where it can hold none of them.
    """
    files: list[EventFile] = []
    refused: list[EntryError] = []
    words: list[str] = []
    for event in events:
        if len(events) > 1 and not event.lines:
            words.append(f"The {event.kind} have no results yet.")
            continue
        try:
            content = write(event)
        except EntryError as error:
            refused.append(error)
            words.append(f"Not written, {len(event.lines)} results ({event.kind}): {error.what}")
            continue
        files.append(EventFile(_named(name, event, events), content, (event.kind,), len(event.lines)))
    if refused and not files:
        raise refused[0]
    return Written(tuple(files), tuple(words))


def _named(name: str, event: ExchangeEvent, events: Sequence[ExchangeEvent]) -> str:
    if len(events) == 1:
        return name
    same = [one for one in events if one.kind is event.kind]
    number = "" if len(same) == 1 else f"-{[one is event for one in same].index(True) + 1}"
    path = PurePath(name)
    return str(path.with_name(f"{path.stem}-{event.kind}{number}{path.suffix}"))


def write_listed(events: Sequence[ExchangeEvent], name: str, write: Callable[[ExchangeEvent], bytes]) -> Written:
    """One list of all entrants or lines, as in a CSV, where their sections tell those of the same number apart; else a
    file for each event."""
    sections = [{entrant.contestant.section for entrant in one.entrants} for one in events]
    if sum(map(len, sections)) != len(set().union(*sections)):
        return write_apart(events, name, write)
    entrants = tuple(entrant for one in events for entrant in one.entrants)
    lines = tuple(line for one in events for line in one.lines)
    return write_together(events, name, lambda first, *_: write(replace(first, entrants=entrants, lines=lines)))


def only_event(events: Sequence[ExchangeEvent], where: str = "") -> ExchangeEvent:
    """The event of a file that has one. Raises EntryError for a file with several."""
    if len(events) == 1:
        return events[0]
    counts = {kind: sum(one.kind == kind for one in events) for kind in dict.fromkeys(str(one.kind) for one in events)}
    kinds = ", ".join(kind if count == 1 else f"{kind} {count} times" for kind, count in counts.items())
    raise EntryError(
        f"The file has {len(events)} events: {kinds}.",
        where=where,
        next_step="Write them apart first: firmware-bridge results convert FILE --apart --out results.json",
        code="several-events",
    )
