"""The score of a running event, kept up to date a result at a time: the board that changed, then totals and ranking.

It gives what ``ranking.score_event`` gives. Matches of teams, rounds in victory points and sections whose plan was
changed are worked out as a whole: they are small, or rare.
"""

from __future__ import annotations

from collections.abc import Mapping

from terminals.result import NotPlayed
from terminals.scoring.engine import SessionEngine
from terminals.scoring.lines import LineKey, ResultLine, ScoringField
from terminals.scoring.session import field_of
from terminals.store.results import CurrentResult
from terminals.store.values import PlayKey
from terminals.sync import ruling_log
from terminals.sync.conditions import Conditions
from terminals.sync.event_score import EventScore, by_rounds, lines_of, of_session, score_input, team_sections
from terminals.sync.setup import EventSetup
from terminals.sync.tables import result_line, scoring_input


class LiveScore:
    """Say what was ``touched``, then ask for the ``score``."""

    def __init__(self) -> None:
        self._engine: SessionEngine | None = None
        self._setup: EventSetup | None = None
        self._conditions: Conditions | None = None
        self._touched: set[PlayKey] = set()
        self._fields: list[ScoringField] = []
        self._usual: list[int] = []
        self._held: dict[tuple[int, int], set[LineKey]] = {}
        self._lines: dict[PlayKey, ResultLine] = {}
        self._forms: Mapping[LineKey, ruling_log.Form] = {}

    def touched(self, play: PlayKey | None = None) -> None:
        """A play has changed; None: anything may have."""
        if play is None:
            self._engine = None
        else:
            self._touched.add(play)

    def score(self, setup: EventSetup, rows: Mapping[PlayKey, CurrentResult], conditions: Conditions) -> EventScore:
        """The event as it stands. Raises EntryError."""
        same = self._engine is not None and setup is self._setup and conditions is self._conditions
        if same and not conditions.plans and self._taken(setup, rows):
            assert self._engine is not None
            return of_session(self._engine.score(), conditions)
        self._engine = None
        data = scoring_input(setup, rows.values(), dict(conditions.plans))
        if not data.fields or team_sections(setup, conditions.scheme) or by_rounds(setup, conditions):
            return score_input(setup, data, conditions)
        lines = lines_of(data, conditions)
        engine = SessionEngine(
            groups=data.groups,
            profile=conditions.profile,
            fields=data.fields,
            method=conditions.scheme.method,
            adjustments=conditions.adjustments,
            lines=lines,
        )
        score = of_session(engine.score(), conditions)
        self._setup, self._conditions, self._fields = setup, conditions, data.fields
        self._forms = ruling_log.forms(conditions.kept)
        self._usual = [max(field.expected.values(), default=0) for field in scoring_input(setup, ()).fields]
        self._held, self._lines = {}, {}
        for line in lines:
            self._keep(_play(line), line)
        self._touched.clear()
        self._engine = engine
        return score

    def _keep(self, play: PlayKey, line: ResultLine) -> None:
        self._lines[play] = line
        if not isinstance(line.result, NotPlayed):
            self._held.setdefault((field_of(line.section, self._fields), line.board), set()).add(line.key)

    def _taken(self, setup: EventSetup, rows: Mapping[PlayKey, CurrentResult]) -> bool:
        """Take in what was touched; False when the field itself changes by it, and everything must be done anew."""
        engine = self._engine
        assert engine is not None
        for play in tuple(self._touched):
            section = setup.section_called(play.section)
            if section is None or section.movement is None:
                return False
            place = (field_of(play.section, self._fields), play.board)
            expected = self._fields[place[0]].expected.get(play.board)
            if expected != self._usual[place[0]]:
                return False  # a board that is not of this field, or that was played more often than scheduled
            row, old = rows.get(play), self._lines.get(play)
            held = self._held.setdefault(place, set())
            if row is None or row.content is None:
                if old is not None:
                    engine.remove(old.key)
                    del self._lines[play]
                    held.discard(old.key)
            else:
                (line,) = ruling_log.with_forms([result_line(row, section)], self._forms)
                counted = held | {line.key} if not isinstance(line.result, NotPlayed) else held - {line.key}
                if len(counted) > expected:
                    return False
                engine.put(line)
                self._lines[play], self._held[place] = line, counted
            self._touched.discard(play)
        return True


def _play(line: ResultLine) -> PlayKey:
    return PlayKey(line.section, line.board, line.ns.number, line.ew.number, line.play)
