"""Result files put together: the sections of one evening as one field, or the sessions of one event as one ranking.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from firmware_bridge.errors import EntryError
from terminals.interop.exchange import Entrant, EventKind, ExchangeEvent, ExchangeLine
from terminals.interop.publish import EventInfo, publish_session
from terminals.interop.rescore import setup_of
from terminals.scoring.lines import (
    Contestant,
    LineKey,
    PenaltyUnit,
    ResultLine,
    ScoringField,
    SessionAdjustment,
    WinnerGroup,
    field_expected,
)
from terminals.scoring.master_points import AwardTable, award_master_points
from terminals.scoring.profile import Profile
from terminals.scoring.rulings import SessionSetup
from terminals.scoring.session import SessionScore
from terminals.scoring.stage import SessionLines, score_stage
from terminals.table_record import Recorded


def combine_sections(
    events: Sequence[ExchangeEvent], profile: Profile | None = None, awards: AwardTable | None = None
) -> ExchangeEvent:
    """Sections that played the same boards, compared and ranked across the field.

    E of a board is the sum over the files. profile: in place of the one that explains the files. Raises EntryError for
    teams, for files of different scoring, and for a section that is in two of them.
    """
    setups = _setups(events, profile)
    sections = [section for event in events for section in event.sections]
    if len(set(sections)) != len(sections):
        raise EntryError(
            "Two of the files have a section of the same name.",
            next_step="Key them in with --section A, --section B; for sessions of one event use --sessions.",
            code="same-section",
        )
    scheduled: dict[int, int] = {}
    for setup in setups:
        for one in setup.fields or ():
            for board, count in one.expected.items():
                scheduled[board] = scheduled.get(board, 0) + count
    field = ScoringField(field_expected(scheduled), frozenset(sections))
    lines = [one.line for event in events for one in event.lines]
    told = {one.line.key: one.recorded for event in events for one in event.lines if one.recorded is not None}
    whole = replace(setups[0], fields=[field], groups=_groups(setups), adjustments=_adjustments(setups))
    return _published(events, whole, whole.score(lines), awards, told)


def combine_sessions(
    events: Sequence[ExchangeEvent], profile: Profile | None = None, awards: AwardTable | None = None
) -> ExchangeEvent:
    """Sessions of one event: the same contestants, boards scored in each session by itself, totals over all of them.

    The window of Law 12C2(c) is the session, or the whole stage when the profile says so. Lines of the second session
    have the section ``2/A``. Raises EntryError for teams and for files of different scoring.
    """
    setups = _setups(events, profile)
    fields: list[ScoringField] = []
    lines: list[ResultLine] = []
    sessions: list[SessionLines] = []
    told: dict[LineKey, Recorded] = {}
    for number, (event, setup) in enumerate(zip(events, setups, strict=True), start=1):
        own = [replace(one.line, section=f"{number}/{one.line.section}") for one in event.lines]
        for field in setup.fields or ():
            inside = frozenset(f"{number}/{section}" for section in field.sections)
            fields.append(ScoringField(field.expected, inside))
            sessions.append(SessionLines([line for line in own if line.section in inside], field.expected))
        lines += own
        pairs = zip(own, event.lines, strict=True)
        told |= {line.key: one.recorded for line, one in pairs if one.recorded is not None}
    whole = replace(setups[0], fields=fields, groups=_groups(setups), adjustments=_adjustments(setups, len(setups)))
    score = whole.score(lines)
    rankings, unranked = score_stage(sessions, whole.groups, whole.profile, whole.method, whole.adjustments)
    return _published(events, whole, SessionScore(rankings, score.boards, unranked), awards, told)


def _setups(events: Sequence[ExchangeEvent], profile: Profile | None) -> list[SessionSetup]:
    for event in events:
        if event.kind is EventKind.TEAMS or event.matches or any(one.in_vps for one in event.entrants):
            raise EntryError(
                "Team matches and rounds in victory points are not put together here.", code="not-supported"
            )
    if len({(event.method, event.kind) for event in events}) != 1:
        raise EntryError("The files are scored in different ways.", code="different-scoring")
    setups = [setup_of(event, profile) for event in events]
    if len({setup.profile for setup in setups}) != 1:
        raise EntryError(
            "The files were scored by different profiles.",
            next_step="Say which one counts with --profile.",
            code="different-scoring",
        )
    return setups


def _groups(setups: Sequence[SessionSetup]) -> list[WinnerGroup]:
    """Groups of the same name are one; files with one winner and files with two can't be ranked together."""
    names = [[group.name for group in setup.groups] for setup in setups]
    if any(one != names[0] for one in names):
        raise EntryError(
            "One file has one winner and another two: they can't be ranked together.", code="different-scoring"
        )
    out = []
    for at, name in enumerate(names[0]):
        everybody = (one for setup in setups for one in setup.groups[at].contestants)
        out.append(WinnerGroup(name, tuple(dict.fromkeys(everybody))))
    return out


def _adjustments(setups: Sequence[SessionSetup], share: int = 1) -> list[SessionAdjustment]:
    """Published penalties. share: of how many sessions a percentage of one file is only a part."""
    return [
        replace(one, amount=Fraction(one.amount) / share) if one.unit is PenaltyUnit.PERCENT else one
        for setup in setups
        for one in setup.adjustments
    ]


def _published(
    events: Sequence[ExchangeEvent],
    setup: SessionSetup,
    score: SessionScore,
    awards: AwardTable | None,
    told: Mapping[LineKey, Recorded],
) -> ExchangeEvent:
    first = events[0]
    people: dict[Contestant, Entrant] = {}
    for event in events:
        for one in event.entrants:
            people.setdefault(one.contestant, one)
    points: dict[Contestant, Fraction] = {}
    if awards is not None:
        for ranking in score.rankings:
            points |= award_master_points(ranking, awards)
    info = EventInfo(
        first.title,
        first.date,
        first.club,
        first.club_id,
        players={contestant: one.players for contestant, one in people.items()},
        kind=first.kind,
        directions={contestant: one.direction for contestant, one in people.items() if one.direction},
        recorded=told,
    )
    made = publish_session(info, score, setup.profile, setup.method, points)
    entrants = tuple(
        replace(one, label=people[one.contestant].label, name=people[one.contestant].name) for one in made.entrants
    )
    notes = {(one.line.board, one.line.ns, one.line.ew, one.score): one.note for event in events for one in event.lines}
    lines = tuple(one if one.note else replace(one, note=_note(one, notes)) for one in made.lines)
    return replace(made, entrants=entrants, lines=lines, winners=first.winners)


def _note(one: ExchangeLine, notes: dict[tuple[int, Contestant, Contestant, int | None], str]) -> str:
    return notes.get((one.line.board, one.line.ns, one.line.ew, one.score), "")
