"""Any sequence of acts on rulings: the log and the results say the same, and an undo gives back exactly what was."""

from __future__ import annotations

import random
import tempfile
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sync_fakes import EVENT, FakeHost, FakeTerminal, body

from firmware_bridge.db import Connection
from firmware_bridge.errors import EntryError
from terminals.result import Artificial, Assigned, Average, BoardState, Outcome
from terminals.scoring.lines import Contestant, PenaltyUnit, SessionAdjustment
from terminals.scoring.profile import PLAIN
from terminals.scoring.rulings import Authority, Award, Ruling, RulingState
from terminals.store import desk as desk_store
from terminals.store.desk import DeskEvent
from terminals.store.values import PlayKey
from terminals.sync import ruling_log
from terminals.sync.director import By
from terminals.sync.rebuild import rebuild
from terminals.sync.ruling_acts import RulingAct, RulingActs
from terminals.sync.ruling_log import Kept

F = Fraction
PLAYS = [PlayKey("A", board, 1, 4) for board in (1, 2)]
WEIGHTED = Assigned((Outcome(620, F(1, 3)), Outcome(-100, F(2, 3))), (Outcome(-100),))


def kept(
    result: BoardState | None = None,
    play: PlayKey | None = PLAYS[0],
    state: RulingState = RulingState.CONFIRMED,
    **more: Any,
) -> Kept:
    stands, forms = more.pop("stands", False), more.pop("forms", {})
    line = None if play is None else ruling_log.line_key(play)
    ruling = Ruling("new", "12C1(c)", "facts", "Ann", line, result, state=state, **more)
    return Kept(0, ruling, play, stands, 1, forms)


def acts(connection: Connection, host: FakeHost, second: str = "", final: bool = False) -> RulingActs:
    return RulingActs(connection, host.setup, By("Ann", second), PLAIN, final=final)


def taken_back(connection: Connection, host: FakeHost, action: str) -> RulingAct | None:
    return acts(connection, host).undo(action)


def ruled(connection: Connection, host: FakeHost, made: Kept) -> RulingAct:
    return acts(connection, host).make(made)


def look(host: FakeHost) -> tuple[dict[int, Kept], dict[PlayKey, BoardState | None]]:
    found = host.ask(lambda connection: acts(connection, host).kept())
    return found, {row.play: row.content for row in host.current() if row.content is not None}


def one_act(made: RulingActs, dice: random.Random) -> RulingAct | None:
    known = list(made.kept())
    kind = dice.choice(["make", "make", "make", "confirm", "withdraw", "appeal", "uphold"])
    if kind == "make" or not known:
        state = dice.choice([RulingState.CONFIRMED, RulingState.CONFIRMED, RulingState.PROPOSED])
        play = dice.choice(PLAYS)
        what = dice.choice(["weighted", "artificial", "stands", "penalty", "form", "award"])
        replaces = str(dice.choice(known)) if known and dice.randrange(2) else ""
        if what == "penalty":
            fine = SessionAdjustment(Contestant("A", 1), F(-1, 4), PenaltyUnit.TOP_FRACTION)
            return made.make(kept(None, None, state, penalty=fine, replaces=replaces))
        if what == "award":
            return made.make(kept(None, None, state, award=Award(Contestant("A", 1), 1, F(12)), replaces=replaces))
        if what == "form":
            return made.make(kept(None, None, state, forms={play: dice.choice("BC")}, replaces=replaces))
        if what == "stands":
            return made.make(kept(None, play, state, stands=True, replaces=replaces))
        result = WEIGHTED if what == "weighted" else Artificial(Average.PLUS, Average.MINUS)
        return made.make(kept(result, play, state, replaces=replaces))
    number = dice.choice(known)
    if kind == "confirm":
        return made.confirm(number)
    if kind == "withdraw":
        return made.withdraw(number)
    if kind == "uphold":
        return made.uphold(number)
    return made.appeal(number, Contestant("A", 1), True, None)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 32))
def test_log_and_results_say_the_same_and_undo_gives_back_what_was(seed: int) -> None:
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        host = FakeHost(Path(folder) / "events.db")
        terminal = host.introduce(FakeTerminal(0xA1, 1))
        try:
            for board in (1, 2):
                terminal.enter(body(board=board, tricks=9))
            host.run()
            table = look(host)[1]
            done: list[str] = []
            for _ in range(14):
                before = look(host)
                try:
                    if done and dice.randrange(4) == 0:
                        target = dice.choice(done)
                        act = host.ask(partial(taken_back, host=host, action=target))
                    else:
                        act = host.ask(lambda connection: one_act(acts(connection, host), dice))
                except EntryError:
                    assert look(host) == before, "an act that was refused changes nothing"
                    continue
                assert act is not None
                if dice.randrange(3) == 0:
                    host.ask(partial(taken_back, host=host, action=act.action))
                    after = look(host)
                    assert after == before
                else:
                    done.append(act.action)
                log, contents = look(host)
                ruling_log.check_all(log)
                for play in PLAYS:
                    found = ruling_log.standing(log, play)
                    if found is None:
                        assert contents[play] == table[play], "without a ruling the table's result counts"
                    elif not found.stands:
                        assert contents[play] == found.ruling.result
                adjusted = [one.contestant for one in ruling_log.adjustments(log)]
                assert len(adjusted) == sum(one.counts and one.ruling.penalty is not None for one in log.values())
            assert host.ask(lambda connection: rebuild(connection, EVENT)) == 0
        finally:
            host.close()


@pytest.fixture
def host(tmp_path: Path) -> Any:
    made = FakeHost(tmp_path / "events.db")
    terminal = made.introduce(FakeTerminal(0xA1, 1))
    terminal.enter(body(board=1, tricks=9))
    made.run()
    yield made
    made.close()


def test_everything_of_a_ruling_comes_back_from_the_store(host: FakeHost) -> None:
    fine = SessionAdjustment(Contestant("A", 4), F(-2, 3), PenaltyUnit.PERCENT, "facts", "12C1(c)")
    more: dict[str, Any] = {
        "authority": Authority.COMMITTEE,
        "ruleset": "laws-2017",
        "outside_agency": True,
        "approvals": ("A", "B"),
    }
    made = kept(WEIGHTED, state=RulingState.PROPOSED, penalty=fine, **more)
    act = host.ask(lambda connection: acts(connection, host).make(made))
    assert act.notes[0].startswith("edition not covered")
    found = look(host)[0][act.kept.number].ruling
    for name in (
        "law",
        "reason",
        "ruled_by",
        "result",
        "penalty",
        "authority",
        "ruleset",
        "outside_agency",
        "approvals",
    ):
        assert getattr(found, name) == getattr(made.ruling, name)
    assert found.line == ruling_log.line_key(PLAYS[0])
    events = host.ask(lambda connection: desk_store.desk_events(connection, host.event, *ruling_log.KINDS))
    data = ruling_log.to_data(ruling_log.fold(events)[act.kept.number], act.action)
    assert DeskEvent("ruling", data, "Ann", number=act.kept.number) == events[0]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (kept(), "decides nothing"),
        (kept(WEIGHTED, PlayKey("A", 1, 1, 1)), "can't be"),
        (kept(WEIGHTED, PlayKey("B", 1, 1, 4)), "no such section"),
        (kept(WEIGHTED, PlayKey("A", 1, 1, 99)), "no such pair"),
        (kept(None, PLAYS[1], stands=True), "could stand"),
        (kept(None, None, forms={PLAYS[1]: "B"}), "no result of this play"),
        (kept(None, None, award=Award(Contestant("A", 99), 1, F(12))), "no such contestant"),
        (kept(WEIGHTED, replaces="77"), "no such ruling"),
    ],
)
def test_what_can_not_be_ruled(host: FakeHost, made: Kept, words: str) -> None:
    with pytest.raises(EntryError, match=words):
        host.ask(lambda connection: acts(connection, host).make(made))
    assert look(host)[0] == {}


def test_a_ruling_takes_the_place_of_one_about_the_same_thing_only(host: FakeHost) -> None:
    first = host.ask(lambda connection: acts(connection, host).make(kept(WEIGHTED)))
    number = str(first.kept.number)
    fine = SessionAdjustment(Contestant("A", 4), F(-1), PenaltyUnit.PERCENT)
    for other in (kept(None, None, penalty=fine, replaces=number), kept(WEIGHTED, PLAYS[1], replaces=number)):
        with pytest.raises(EntryError, match="something else"):
            host.ask(partial(ruled, host=host, made=other))
    with pytest.raises(EntryError, match="takes no ruling's place"):
        host.ask(lambda connection: acts(connection, host).make(kept(stands=True, replaces=number)))


def test_what_happened_later_is_taken_back_first(host: FakeHost) -> None:
    first = host.ask(lambda connection: acts(connection, host).make(kept(WEIGHTED, state=RulingState.PROPOSED)))
    second = host.ask(lambda connection: acts(connection, host).confirm(first.kept.number))
    back = host.ask(lambda connection: acts(connection, host).undo(second.action))
    host.ask(lambda connection: acts(connection, host).withdraw(first.kept.number))
    for action in (first.action, back.action):
        with pytest.raises(EntryError, match="something else has happened"):
            host.ask(partial(taken_back, host=host, action=action))
    with pytest.raises(EntryError, match="undone already"):
        host.ask(lambda connection: acts(connection, host).undo(second.action))
    assert host.ask(lambda connection: acts(connection, host).undo("0" * 16)) is None


def test_final_results_need_two_different_people(host: FakeHost) -> None:
    def confirmed(connection: Connection, number: int, second: str) -> RulingAct:
        return acts(connection, host, second, True).confirm(number)

    def appealed(connection: Connection, number: int) -> RulingAct:
        return acts(connection, host, final=True).appeal(number, Contestant("A", 4), True, 5)

    made = kept(WEIGHTED, state=RulingState.PROPOSED)
    number = host.ask(lambda connection: acts(connection, host, final=True).make(made)).kept.number
    for second in ("", "ann", " Ann "):
        with pytest.raises(EntryError, match="79C"):
            host.ask(partial(confirmed, number=number, second=second))
    done = host.ask(partial(confirmed, number=number, second="Ben"))
    assert [step.second for step in done.kept.steps] == ["", "Ben"]
    assert host.ask(partial(appealed, number=number)).kept.counts
