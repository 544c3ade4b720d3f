"""Happenings in words, for the desk, its log and the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from terminals.movement import happenings as h
from terminals.movement.boards import runs


def verdict_words(verdict: h.Verdict) -> str:
    """What stands in place of boards that are not played: ``not played`` or ``60 % / 40 %``."""
    if verdict.state is h.State.NOT_PLAYED:
        return "not played"
    later = ", provisional" if verdict.provisional else ""
    return f"{verdict.ns} % / {verdict.ew} %{later}"


def _late(e: h.LatePair) -> str:
    missed = f"; boards {runs(e.missed)} {verdict_words(e.verdict)}" if e.missed else ""
    place = "" if e.place is h.Place.AUTO else f", {e.place}"
    return f"Late pair{f' {e.pair}' if e.pair else ''} from round {e.round}{place}{missed}"


def _unstarted(e: h.Unstarted) -> str:
    return f"Round {e.round}, table {e.table}: boards {runs(e.boards)} {verdict_words(e.verdict)}"


def _withdrawn(e: h.Withdrawn) -> str:
    how = "ranked" if e.standing else "not ranked"
    return f"{e.pair} leaves before round {e.round}, {'its results are cancelled' if e.cancelled else how}"


def _played_as(e: h.PlayedAs) -> str:
    tables = "; ".join(
        f"table {t.table}: {' - '.join(map(str, t.players or (t.ns, t.ew)))}"
        f"{f', boards {runs(t.boards)}' if t.boards else ''}"
        for t in e.tables
    )
    then = "then back to the plan" if e.then is h.Then.RETURN else "then on from there"
    return f"Round {e.round} was played as {tables}; {then}"


def _drawn(e: h.Drawn) -> str:
    bye = f"; {e.bye} sits out" if e.bye else ""
    return f"Round {e.round} drawn: {', '.join(f'{a} - {b}' for a, b in e.couples)}{bye}"


def _substituted(e: h.Substituted) -> str:
    until = f" to {e.to_round}" if e.to_round else " on"
    return f"{e.substitute} plays for {e.player} in pair {e.pair} from round {e.round}{until} (Law 3)"


_WORDS: Mapping[type, Callable[[Any], str]] = {
    h.LatePair: _late,
    h.Unstarted: _unstarted,
    h.Curtailed: lambda e: f"The session ends after round {e.after_round}",
    h.Withdrawn: _withdrawn,
    h.StandBy: lambda e: f"Pair {e.pair} takes over from {e.instead_of} from round {e.round} on",
    h.Substituted: _substituted,
    h.Renumbered: lambda e: f"Pair {e.pair} shows number {e.number} from round {e.round} on",
    h.PlayedAs: _played_as,
    h.Drawn: _drawn,
    h.Joined: lambda e: f"{e.contestant} joins with the next draw",
    h.Replanned: lambda e: f"Another movement: {str(e.movement.get('movement', ''))[:80]}",
    h.Undone: lambda e: f"Event {e.event} is taken back",
}


def words(event: h.Happening) -> str:
    """One line that says what happened."""
    return _WORDS[type(event)](event)
