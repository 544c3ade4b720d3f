"""What a director does with rulings in a running event: each function is one act, inside a transaction of the caller.

A ruling's result is written as an event of its play under the act of the ruling, so that tables, travellers and other
programs see it like every result; whatever else it says is in the log (``ruling_log``). After each act the whole log is
folded and looked through for contradictions: an act that would make one is refused, and the transaction with it.

Laws are cited by their edition of 2007.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from terminals.result import BoardState
from terminals.scoring.lines import Contestant
from terminals.scoring.profile import Profile
from terminals.scoring.rulings import Appeal, RulingState, check_ruling, lodge_appeal
from terminals.store import desk, results
from terminals.store.desk import DeskEvent
from terminals.store.values import PlayKey
from terminals.sync import ruling_log as log
from terminals.sync.director import Act, By, Director, new_action
from terminals.sync.period import is_final
from terminals.sync.projection import resolve
from terminals.sync.ruling_log import Kept
from terminals.sync.scheduled import unscheduled
from terminals.sync.setup import EventSetup


@dataclass(frozen=True, slots=True)
class RulingAct:
    """What an act did: its id (for undo), the ruling as it is now (None when it was taken back), what to know of it,
    and the plays whose result it changed."""

    action: str
    kept: Kept | None
    notes: tuple[str, ...] = ()
    plays: tuple[PlayKey, ...] = ()


class RulingActs:
    """Acts on the rulings of one event. final: results are final (Law 79C); asked of the store when it is not given."""

    def __init__(
        self,
        connection: Connection,
        setup: EventSetup,
        by: By,
        profile: Profile,
        *,
        final: bool | None = None,
        action: Callable[[], str] = new_action,
    ) -> None:
        self._connection = connection
        self._setup = setup
        self._by = by
        self._profile = profile
        self._event = desk.event_hex(setup.id)
        self._final = is_final(connection, self._event) if final is None else final
        self._action = action()
        self._plays: dict[PlayKey, None] = {}

    def kept(self) -> dict[int, Kept]:
        return log.fold(self._events())

    def make(self, made: Kept, seen: int | None = None) -> RulingAct:
        """Record a ruling, proposed or confirmed. seen: changes of its play when the director looked."""
        notes = self._checked(made)
        if made.counts:
            self._two_names()
        number = log.next_number(desk.desk_events(self._connection, self._event, log.RULING, log.PENALTY))
        made = replace(made, number=number, ruling=replace(made.ruling, id=str(number)))
        self._append(log.RULING, log.to_data(made, self._action))
        if made.counts:
            self._give(made, seen)
        return self._done(number, notes)

    def confirm(self, number: int, seen: int | None = None) -> RulingAct:
        """A proposed ruling counts from now on; an appeal that is withdrawn leaves the ruling confirmed."""
        kept = self._find(number)
        notes = self._checked(kept) if not kept.counts else []
        self._step(kept, RulingState.CONFIRMED)
        if not kept.counts:
            self._two_names()
            self._give(kept, seen)
        return self._done(number, notes)

    def withdraw(self, number: int) -> RulingAct:
        """The ruling no longer counts, nor does what it replaced: the result of the table stands again."""
        kept = self._find(number)
        self._step(kept, RulingState.WITHDRAWN)
        if kept.counts:
            self._two_names()
            if kept.play is not None and kept.decides_result:
                self._changed(self._director().take_back(kept.play, self._chain(kept)))
        return self._done(number)

    def appeal(self, number: int, by: Contestant, agreed: bool, minutes: Fraction | int | None) -> RulingAct:
        """A contestant asks for a review (Law 92). minutes: since the results are available, None before that."""
        kept = self._find(number)
        self._of_the_table(kept, by)
        appealed = lodge_appeal(Appeal(kept.ruling.id, by, agreed, minutes), kept.ruling, self._profile)
        asked = {"section": by.section, "contestant": by.number, "agreed": agreed}
        if minutes is not None:
            asked["minutes"] = str(minutes)
        self._step(kept, appealed.state, appeal=asked)
        return self._done(number)

    def uphold(self, number: int) -> RulingAct:
        """The appeal was heard and the ruling stands (Law 93)."""
        self._step(self._find(number), RulingState.UPHELD)
        return self._done(number)

    def undo(self, action: str) -> RulingAct | None:
        """Take an act on rulings back (also an undo); None when it is no such act. Raises EntryError.

        The last act on a ruling is taken back first: what came before it is then as it was.
        """
        events = self._events()
        acts, gone = log.acts_of(events), log.undone(events)
        if action not in acts:
            return None
        if action in gone:
            raise EntryError("this act was undone already.", code="undone-already")
        touched = _touched(acts, action)
        redo = acts[action][0].kind == log.UNDONE
        newest = max(one.number for one in acts[action])
        for one in events:
            other = str(one.data["action"])
            if one.number <= newest or other in gone or other == action or (one.kind == log.UNDONE and not redo):
                continue
            if touched & _touched(acts, other):
                raise EntryError(
                    "something else has happened to this ruling since.",
                    where=f"ruling {min(touched)}",
                    next_step="Take the newest act back first.",
                    code="later-act",
                )
        before = log.fold(events)
        self._append(log.UNDONE, {"target": action, "action": self._action})
        after = self.kept()
        if any(kept[n].counts for kept in (before, after) for n in touched if n in kept):
            self._two_names()
        if results.of_action(self._connection, self._event, action):
            self._changed(self._director().undo(action))
        log.check_all(after)
        return RulingAct(self._action, after.get(min(touched)), (), tuple(self._plays))

    # --- inside ---

    def _events(self) -> list[DeskEvent]:
        return desk.desk_events(self._connection, self._event, *log.KINDS)

    def _append(self, kind: str, data: Mapping[str, Any]) -> int:
        second = {"second": self._by.second} if self._by.second.strip() else {}
        item = DeskEvent(kind, {**data, **second}, self._by.actor, self._by.wall)
        return desk.append_desk(self._connection, self._event, item)

    def _done(self, number: int, notes: Sequence[str] = ()) -> RulingAct:
        kept = self.kept()
        log.check_all(kept)
        return RulingAct(self._action, kept[number], tuple(notes), tuple(self._plays))

    def _changed(self, act: Act) -> None:
        self._plays.update((state.play, None) for state in act.states)

    def _find(self, number: int) -> Kept:
        found = self.kept().get(number)
        if found is None:
            raise EntryError("there is no such ruling.", where=f"ruling {number}", code="no-such-ruling")
        return found

    def _step(self, kept: Kept, state: RulingState, **more: Any) -> None:
        kept.ruling.moved(state)
        data = {"ruling": kept.number, "state": state.value, "by": self._by.actor, "reason": self._by.note}
        self._append(log.STEP, {**data, "action": self._action, **more})

    def _director(self, note: str = "") -> Director:
        by = replace(self._by, note=note[:500] if note else self._by.note)
        return Director(self._connection, self._setup, by, final=self._final, action=lambda: self._action)

    def _two_names(self) -> None:
        if self._final and self._by.names < 2:
            raise EntryError(
                "the results are final; a change needs two names (Law 79C).",
                next_step="Give the name of a second person who agrees.",
                code="needs-two-names",
            )

    def _content(self, play: PlayKey) -> BoardState | None:
        return resolve(play, results.of_play(self._connection, self._event, play)).content

    def _checked(self, kept: Kept) -> list[str]:
        """Refuse a ruling that can't be, and give the notes for one that can."""
        ruling = kept.ruling
        current = None if kept.play is None else self._content(kept.play)
        if kept.stands:
            if current is None:
                raise EntryError("there is no result that could stand.", where=str(kept.play), code="no-result")
            if kept.replaces:
                raise EntryError(
                    "That the result of the table stands takes no ruling's place.",
                    where=str(kept.play),
                    next_step=f"Withdraw ruling {kept.replaces}: the result of the table stands again.",
                    code="contradictory-ruling",
                )
            ruling = replace(ruling, result=current)
        if kept.forms:
            play, form = next(iter(kept.forms.items()))
            ruling = replace(ruling, line=log.line_key(play), form=form)
            for one in kept.forms:
                if self._content(one) is None:
                    raise EntryError("there is no result of this play.", where=str(one), code="no-result")
        whom = _whom(kept)
        if whom is not None:
            self._contestant(whom)
        notes = list(check_ruling(ruling, current, self._profile))
        stray = None if kept.play is None else unscheduled(self._setup, kept.play)
        return notes if stray is None else [*notes, stray.words]

    def _contestant(self, one: Contestant) -> None:
        section = self._setup.section_called(one.section)
        if section is None or section.movement is None or one.number not in section.movement.contestants:
            raise EntryError("the event has no such contestant.", where=str(one), code="no-such-pair")

    def _give(self, kept: Kept, seen: int | None) -> None:
        """Let a ruling count: what it replaces is changed, and its play gets the result."""
        if kept.replaces:
            other = self._find(kept.replaces)
            same = (other.play, sorted(other.forms), _whom(other)) == (kept.play, sorted(kept.forms), _whom(kept))
            if not same and not (other.forms and other.board == kept.board):
                raise EntryError(
                    f"Ruling {other.number} is about something else.",
                    where=f"ruling {kept.number or 'new'}",
                    next_step="Withdraw that one, then make this one.",
                    code="contradictory-ruling",
                )
            self._step(other, RulingState.CHANGED)
        if kept.play is not None and kept.decides_result:
            content = self._content(kept.play) if kept.stands else kept.ruling.result
            assert content is not None
            note = f"ruling {kept.number}, Law {kept.ruling.law}: {kept.ruling.reason}"
            log.check_all(self.kept())
            self._changed(self._director(note).rule(kept.play, content, seen))

    def _chain(self, kept: Kept) -> list[str]:
        """The acts that gave the play its result: of the ruling, and of those that it replaced one after the other."""
        every, acts, at = self.kept(), list(kept.acts), kept
        while at.replaces and at.replaces in every and every[at.replaces].number < at.number:
            at = every[at.replaces]
            acts += at.acts
        return acts

    def _of_the_table(self, kept: Kept, by: Contestant) -> None:
        """A contestant may appeal against a ruling made at his own table (Law 92A)."""
        self._contestant(by)
        concerned: set[int] = set()
        if kept.play is not None:
            concerned = {kept.play.ns, kept.play.ew}
            section = self._setup.section_called(kept.play.section)
            movement = None if section is None else section.movement
            if movement is not None:
                for pair in tuple(concerned):
                    team = movement.team_of(pair)
                    concerned |= {team.number} if team is not None else set()
                for seating in movement.seatings:
                    if (seating.ns, seating.ew) == (kept.play.ns, kept.play.ew):
                        concerned |= set(seating.players)
            if by.section != kept.play.section:
                concerned = set()
        elif kept.forms:
            concerned = {n for play in kept.forms for n in (play.ns, play.ew) if play.section == by.section}
        else:
            whom = _whom(kept)
            concerned = {by.number} if by == whom else set()
        if by.number not in concerned:
            raise EntryError(
                f"{by} was not at the table of this ruling (Law 92A).",
                where=f"ruling {kept.number}",
                code="bad-appeal",
            )


def _whom(kept: Kept) -> Contestant | None:
    about = kept.ruling.penalty or kept.ruling.award
    return None if about is None else about.contestant


def _touched(acts: Mapping[str, Sequence[DeskEvent]], action: str) -> frozenset[int]:
    """Numbers of the rulings that an act is about; of an undo, those of the act that it takes back."""
    out: set[int] = set()
    for one in acts.get(action, ()):
        if one.kind == log.RULING:
            out.add(log.number_of(one))
        elif one.kind == log.STEP:
            out.add(int(one.data["ruling"]))
        else:
            out |= _touched(acts, str(one.data["target"]))
    return frozenset(out)
