"""Scoring the results of a file anew: the fields, rankings and penalties that the file implies, and all its numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from terminals.interop.adjusted_note import without_made
from terminals.interop.audit import audit_event
from terminals.interop.audit_values import shared_by
from terminals.interop.exchange import ExchangeEvent
from terminals.interop.publish import EventInfo, publish_session, ranked
from terminals.scoring.boards import Method
from terminals.scoring.lines import PenaltyUnit, ScoringField, SessionAdjustment, WinnerGroup
from terminals.scoring.profile import Profile
from terminals.scoring.rulings import Ruling, SessionSetup

_UNITS = {
    Method.MATCHPOINTS: PenaltyUnit.PERCENT,
    Method.BUTLER: PenaltyUnit.IMPS,
    Method.CROSS_IMPS: PenaltyUnit.IMPS,
    Method.AGGREGATE: PenaltyUnit.POINTS,
}


def setup_of(event: ExchangeEvent, profile: Profile | None = None, *, apart: bool | None = None) -> SessionSetup:
    """How the event was scored. profile, apart (each section a field of its own): as the audit finds, unless given.

    E is the largest number of lines of any board of a field, or what the published points of the two sides share.
    """
    found = audit_event(event, profile).explanation
    within = found.within if apart is None else apart
    fields = []
    for sections in [[one] for one in event.sections] if within else [list(event.sections)]:
        lines = [one for one in event.lines if one.line.section in sections]
        counts = Counter(one.line.board for one in lines)
        expected = max(counts.values(), default=0)
        shared = Counter(share for one in lines if (share := shared_by(one, found.profile.matchpoint_scale)))
        if found.scheduled and shared:
            expected = max(expected, shared.most_common(1)[0][0])
        fields.append(ScoringField(dict.fromkeys(counts, expected), frozenset(sections)))
    listed = ranked(event.entrants) if event.winners > 1 else [list(event.entrants)]
    groups = [
        WinnerGroup(group[0].direction if len(listed) > 1 and group else "", tuple(one.contestant for one in group))
        for group in listed
    ]
    penalties = tuple(
        SessionAdjustment(one.contestant, Fraction(one.adjustment.value), _UNITS[event.method], "published")
        for one in event.entrants
        if one.adjustment is not None and one.adjustment.value
    )
    return SessionSetup(groups, None, fields, found.profile, event.method, penalties)


def rescored(event: ExchangeEvent, setup: SessionSetup, rulings: Sequence[Ruling] = ()) -> ExchangeEvent:
    """The event with its points, totals and places made anew, the counting ``rulings`` applied. Raises EntryError."""
    score = setup.score([one.line for one in event.lines], rulings)
    info = EventInfo(
        event.title,
        event.date,
        event.club,
        event.club_id,
        players={one.contestant: one.players for one in event.entrants},
        kind=event.kind,
        directions={one.contestant: one.direction for one in event.entrants if one.direction},
        recorded={one.line.key: one.recorded for one in event.lines if one.recorded is not None},
    )
    made = publish_session(info, score, setup.profile, setup.method)
    old = {one.contestant: one for one in event.entrants}
    entrants = tuple(
        replace(
            one, label=old[one.contestant].label, name=old[one.contestant].name, section=old[one.contestant].section
        )
        for one in made.entrants
    )
    kept = {one.line.key: without_made(one.note) for one in event.lines if one.note}
    lines = tuple(
        replace(one, note=" ".join(filter(None, (one.note, kept.get(one.line.key, ""))))) for one in made.lines
    )
    return replace(made, entrants=entrants, lines=lines, winners=event.winners)
