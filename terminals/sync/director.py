"""What a director does to results: every act is one or more new events, and can be undone by another one.

Each function runs inside a transaction of the caller and gives the states that follow. Nothing is overwritten; what was
before stays in the ledger. Raises EntryError in words for the director when an act can't be done.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from terminals.result import (
    Artificial,
    ArtificialSide,
    Average,
    BoardState,
    FixedPercent,
    NotPlayed,
    NotPlayedReason,
)
from terminals.scoring.contract_score import score_ns
from terminals.store import desk, results
from terminals.store.desk import DeskEvent
from terminals.store.values import EventKind, PlayKey, PlayState, ResultEvent
from terminals.sync.period import is_final
from terminals.sync.projection import resolve, undone_actions
from terminals.sync.scheduled import unscheduled
from terminals.sync.sense import UNPLANNED, movement_numbers
from terminals.sync.setup import EventSetup
from terminals.sync.tables import missing

MAX_NAME = 40
MAX_NOTE = 500


@dataclass(frozen=True, slots=True)
class By:
    """Who acts. second: another name, needed once results are final (Law 79C). wall: time of day, for people."""

    actor: str
    second: str = ""
    note: str = ""
    wall: str = ""

    def __post_init__(self) -> None:
        if not self.actor.strip():
            raise EntryError("whoever changes a result gives a name.", code="no-name")
        if len(self.actor) > MAX_NAME or len(self.second) > MAX_NAME or len(self.note) > MAX_NOTE:
            raise EntryError(f"names have at most {MAX_NAME} letters, notes {MAX_NOTE}.", code="too-long")

    @property
    def names(self) -> int:
        """How many different people answer for the act."""
        return len({name.strip().casefold() for name in (self.actor, self.second) if name.strip()})


@dataclass(frozen=True, slots=True)
class Act:
    """What an act did: its id (for undo) and the plays as they are now."""

    action: str
    states: tuple[PlayState, ...]


def new_action() -> str:
    """A random id, 16 hexadecimal digits."""
    return os.urandom(8).hex()


class Director:
    """Acts on one event. final: the correction period is over; asked of the store when it is not given."""

    def __init__(
        self,
        connection: Connection,
        setup: EventSetup,
        by: By,
        *,
        final: bool | None = None,
        action: Callable[[], str] = new_action,
    ) -> None:
        self._connection = connection
        self._setup = setup
        self._event = desk.event_hex(setup.id)
        self._by = by
        self._action = action
        self._final = is_final(connection, self._event) if final is None else final

    # --- results ---

    def rule(self, play: PlayKey, content: BoardState, seen: int | None = None, place: tuple[int, int] = (0, 0)) -> Act:
        """Give a play this result, whatever the tables said. seen: ``changes`` of the play when the director looked.
        place: round and table, of a play that neither the movement nor a table has named."""
        self._known(play)
        state = self._look(play, seen)
        if not state.round and not state.table:
            state = replace(state, round=place[0], table=place[1])
        return self._append([self._event_of(EventKind.RULED, play, content, state)])

    def choose(self, play: PlayKey, claim: int, seen: int | None = None) -> Act:
        """Of several entries the one with this place in ``PlayState.claims`` is right."""
        state = self._look(play, seen)
        if not 0 <= claim < len(state.claims):
            raise EntryError("there is no such entry.", where=str(play), code="no-such-entry")
        content = state.claims[claim].content
        if content is None:
            return self.erase(play, seen)
        return self._append([self._event_of(EventKind.RULED, play, content, state)])

    def leave(self, play: PlayKey, seen: int | None = None) -> Act:
        """Looked at, and right as it is: nothing asks for attention any more."""
        state = self._look(play, seen)
        return self._append([self._event_of(EventKind.CHECKED, play, None, state)])

    def erase(self, play: PlayKey, seen: int | None = None) -> Act:
        """Take the result away; the board is missing again."""
        state = self._look(play, seen)
        if state.content is None:
            raise EntryError("there is no result to erase.", where=str(play), code="no-result")
        return self._append([self._event_of(EventKind.REMOVED, play, None, state)])

    def not_played(self, play: PlayKey, reason: NotPlayedReason, note: str = "", seen: int | None = None) -> Act:
        """The board was not played and nobody gets a score for it. A scheduled sit-out never needs this."""
        return self.rule(play, NotPlayed(reason, note[:MAX_NOTE]), seen)

    def artificial(self, play: PlayKey, ns: ArtificialSide, ew: ArtificialSide, seen: int | None = None) -> Act:
        """An artificial adjusted score (Law 12C2)."""
        return self.rule(play, Artificial(ns, ew), seen)

    def move(self, play: PlayKey, to: PlayKey, seen: int | None = None) -> Act:
        """The result belongs to another play, usually another board: one act of two events."""
        self._known(to)
        if to == play:
            raise EntryError("it is there already.", where=str(play), code="same-play")
        state = self._look(play, seen)
        target = self._look(to, None)
        if state.content is None:
            raise EntryError("there is no result to move.", where=str(play), code="no-result")
        if target.content is not None:
            raise EntryError(
                "there is a result already.",
                where=str(to),
                next_step="Erase or move that one first.",
                code="occupied",
            )
        away = self._event_of(EventKind.MOVED_AWAY, play, None, state, note=f"to {to}")
        here = self._event_of(EventKind.MOVED_HERE, to, state.content, state, note=f"from {play}")
        return self._append([away, here])

    def swap(self, play: PlayKey, seen: int | None = None) -> Act:
        """North-South and East-West sat the other way round: the contestants change, the declarer's seat stays."""
        return self.move(play, replace(play, ns=play.ew, ew=play.ns), seen)

    def undo(self, action: str) -> Act:
        """Take an act back (also an undo). What tables sent meanwhile counts again."""
        events = results.of_action(self._connection, self._event, action)
        if not events:
            raise EntryError("there is no such act.", code="no-such-act")
        plays = list(dict.fromkeys(event.play for event in events))
        states = [self._look(play, None) for play in plays]
        for play in plays:
            if action in undone_actions(results.of_play(self._connection, self._event, play)):
                raise EntryError("this act was undone already.", where=str(play), code="undone-already")
        return self._append(
            [
                replace(self._event_of(EventKind.UNDONE, play, None, state), target=action)
                for play, state in zip(plays, states, strict=True)
            ]
        )

    def take_back(self, play: PlayKey, actions: Sequence[str]) -> Act:
        """Several acts on one play no longer count; one act, which can be undone as a whole."""
        state = self._look(play, None)
        gone = undone_actions(results.of_play(self._connection, self._event, play))
        taken = self._event_of(EventKind.UNDONE, play, None, state)
        return self._append([replace(taken, target=action) for action in actions if action not in gone])

    # --- the session ---

    def log(self, kind: str, **data: object) -> int:
        """Keep something that is no result: a locked table, a closed round, a revealed board, a penalty."""
        item = DeskEvent(
            kind, {**data, "note": self._by.note} if self._by.note else data, self._by.actor, self._by.wall
        )
        return desk.append_desk(self._connection, self._event, item)

    def lock(self, section: str, table: int, *, locked: bool = True) -> int:
        """What a locked table sends is kept, and asks for attention."""
        found = self._setup.section_called(section)
        if found is None or not self._setup.has_table(found.number, table):
            raise EntryError("the event has no such table.", where=f"table {section}{table}", code="no-such-table")
        return self.log("lock" if locked else "unlock", section=found.letter, table=table)

    def close_round(self, section: str, number: int, *, anyway: bool = False) -> list[tuple[int, int]]:
        """A round is over: the (table, board) that still have no result, empty when it is complete.

        With something missing it is refused, naming the boards, unless ``anyway``; no result is ever invented.
        """
        found = self._setup.section_called(section)
        movement = None if found is None else found.movement
        if found is None or movement is None or not 1 <= number <= movement.rounds:
            raise EntryError(
                "the event has no such round.", where=f"section {section}, round {number}", code="no-round"
            )
        rows = results.current(self._connection, self._event)
        cells = [cell for cell in missing(self._setup, rows, number) if cell.section == found.letter]
        if cells and not anyway:
            names = ", ".join(f"board {cell.board} at table {cell.table}" for cell in cells[:8])
            more = f" and {len(cells) - 8} more" if len(cells) > 8 else ""
            raise EntryError(
                f"{len(cells)} result{'s are' if len(cells) > 1 else ' is'} missing: {names}{more}.",
                where=f"section {found.letter}, round {number}",
                next_step="Ask the tables, or say for each board why it was not played.",
                code="round-incomplete",
            )
        left = [(cell.table, cell.board) for cell in cells]
        self.log("round-closed", section=found.letter, round=number, missing=left)
        return left

    def reveal(self, section: str, board: int) -> int:
        """A playing director looks at a board that he has yet to play; that is on record."""
        return self.log("reveal", section=section, board=board)

    # --- inside ---

    def _look(self, play: PlayKey, seen: int | None) -> PlayState:
        if self._final and self._by.names < 2:
            raise EntryError(
                "the results are final; a change needs two names (Law 79C).",
                where=str(play),
                next_step="Give the name of a second person who agrees.",
                code="needs-two-names",
            )
        state = resolve(play, results.of_play(self._connection, self._event, play))
        if seen is not None and seen != state.changes:
            raise EntryError(
                "this result has changed since you looked at it.",
                where=str(play),
                next_step="Look again, then decide.",
                code="changed-meanwhile",
            )
        return state

    def _known(self, play: PlayKey) -> None:
        section = self._setup.section_called(play.section)
        if section is None:
            raise EntryError("the event has no such section.", where=str(play), code="no-such-section")
        if play.ns == play.ew or play.play < 1 or not 1 <= play.board <= 999:
            raise EntryError("such a play can't be.", where=str(play), code="bad-play")
        if section.movement is None:
            return
        known = movement_numbers(section.movement)
        if play.ns not in known.pairs or play.ew not in known.pairs:
            raise EntryError("the section has no such pair.", where=str(play), code="no-such-pair")
        if play.board not in known.boards:
            raise EntryError("the section has no such board.", where=str(play), code="no-such-board")

    def _event_of(
        self, kind: EventKind, play: PlayKey, content: BoardState | None, state: PlayState, note: str = ""
    ) -> ResultEvent:
        notes = "; ".join(part for part in (note, self._by.note) if part)
        return ResultEvent(
            kind=kind,
            play=play,
            content=content,
            round=state.round,
            table=state.table,
            actor=self._by.actor,
            second=self._by.second,
            note=notes,
            wall=self._by.wall,
            warnings=(UNPLANNED,) if content is not None and unscheduled(self._setup, play) is not None else (),
        )

    def _append(self, events: Sequence[ResultEvent]) -> Act:
        action = self._action()
        for event in events:
            results.append(self._connection, self._event, replace(event, action=action))
        states = []
        for play in dict.fromkeys(event.play for event in events):
            state = resolve(play, results.of_play(self._connection, self._event, play))
            results.put_current(self._connection, self._event, state)
            states.append(state)
        return Act(action, tuple(states))


def artificial_side(text: str) -> ArtificialSide:
    """``AVE+ AVE AVE- 60+ 50 40-`` and any percentage, also as a fraction. Raises EntryError."""
    known = {"AVE+": Average.PLUS, "AVE": Average.EVEN, "AVE=": Average.EVEN, "AVE-": Average.MINUS}
    known |= {"60+": Average.PLUS, "50=": Average.EVEN, "40-": Average.MINUS, "A+": Average.PLUS, "A-": Average.MINUS}
    word = text.strip().upper().removesuffix("%")
    if word in known:
        return known[word]
    try:
        return FixedPercent(Fraction(word)) if len(word) <= 12 else _refuse(text)
    except (ValueError, ZeroDivisionError):
        return _refuse(text)


def _refuse(text: str) -> ArtificialSide:
    raise EntryError(
        f"{text[:16]!r} is no artificial score.", next_step="Write AVE+, AVE, AVE- or a percentage.", code="bad-percent"
    )


def score_text(content: BoardState | None, board: int) -> str:
    """The score seen from North-South, or "" for what has none."""
    score = None if content is None else score_ns(content, board)
    return "" if score is None else f"{score:+d}" if score else "0"
