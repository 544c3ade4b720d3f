"""Promises about what terminals ask: answers only from what is stored, and nothing can be found out by asking."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import FakeHost, FakeTerminal, an_event, body

from firmware_bridge.wire.messages import Call, CallStateTold, EntryCheck, EntryChecked, Message
from firmware_bridge.wire.numbers import CallState, CheckCode
from terminals.entry import NEUTRAL
from terminals.store import desk
from terminals.store.desk import DeskEvent
from terminals.sync.calls import call_list, calls
from terminals.sync.contacts import Limits


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    made = FakeHost(tmp_path / "events.db")
    yield made
    made.close()


def at_table(host: FakeHost, table: int = 1) -> FakeTerminal:
    return host.introduce(FakeTerminal(0xA00 + table, table, table=table))


def ask(host: FakeHost, terminal: FakeTerminal, message: Message, kind: type[Message]) -> list[Any]:
    seen = len(terminal.seen)
    host.give(terminal, message)
    host.run()
    return [one for one in terminal.seen[seen:] if isinstance(one, kind)]


def check(host: FakeHost, terminal: FakeTerminal, **changes: int) -> EntryChecked:
    (answer,) = ask(host, terminal, EntryCheck(9, body(**changes)), EntryChecked)
    assert answer.check == 9
    assert isinstance(answer, EntryChecked)
    return answer


def test_an_entry_of_the_movement_is_fine(host: FakeHost) -> None:
    assert check(host, at_table(host)) == EntryChecked(9, CheckCode.FINE, "")


def test_the_movement_is_told_in_words(host: FakeHost) -> None:
    terminal = at_table(host)
    assert check(host, terminal, board=3).code == CheckCode.NOT_IN_ROUND
    assert check(host, terminal, ew=5).code == CheckCode.WRONG_PAIRS
    answer = check(host, terminal, board=2)
    assert (answer.code, answer.text) == (CheckCode.OUT_OF_ORDER, "Board 1 comes before board 2. Is this board 2?")
    terminal.enter(body())
    host.run()
    assert check(host, terminal, board=2).code == CheckCode.FINE
    assert check(host, terminal, board=1).code == CheckCode.FINE, "the table corrects its own entry"


def test_the_field_gives_one_neutral_text_and_the_desk_the_cause(host: FakeHost) -> None:
    first = at_table(host)
    others = [FakeTerminal(0xB00 + n, 10 + n, table=n) for n in (2, 3)]
    for other in others:
        host.introduce(other)
    # Board 1 as spades of the other side: both sides can't make ten tricks in one suit.
    others[0].enter(body(table=2, round=3, board=1, ns=2, ew=6, declarer=1, strain=4, tricks=10, level=4))
    host.run()
    wrong = {"declarer": 0, "strain": 4, "tricks": 10, "level": 4}
    answer = check(host, first, **wrong)
    assert (answer.code, answer.text) == (CheckCode.CHECK, NEUTRAL)
    again = check(host, first, **wrong)
    assert again.code == CheckCode.FINE, "only the first entry of a board is compared: nothing can be probed"
    logged = host.ask(lambda connection: desk.desk_events(connection, host.event, "entry-check"))
    assert logged[0].data["causes"] == ["both-sides-in-one-suit"]
    assert len(logged) == 2


def test_nonsense_strangers_and_other_tables_get_no_answer(host: FakeHost) -> None:
    terminal = at_table(host)
    assert ask(host, terminal, EntryCheck(1, body(table=2)), EntryChecked) == []
    assert ask(host, terminal, EntryCheck(1, bytes(14)), EntryChecked) == []
    assert ask(host, terminal, EntryCheck(1, b"\xff" * 14), EntryChecked) == []
    assert ask(host, terminal, EntryCheck(1, body(lead=99)), EntryChecked) == []
    waiting = host.add(FakeTerminal(0xC, 7, table=0))
    host.give(waiting, waiting.hello())
    assert ask(host, waiting, EntryCheck(1, body()), EntryChecked) == []
    assert check(host, terminal).code == CheckCode.FINE


def test_questions_are_limited_and_records_are_not(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "events.db", limits=Limits(asks_burst=3.0))
    terminal = at_table(host)
    answers = [ask(host, terminal, EntryCheck(n, body()), EntryChecked) for n in range(6)]
    assert [len(one) for one in answers] == [1, 1, 1, 0, 0, 0]
    host.now += 1.0
    assert len(ask(host, terminal, EntryCheck(9, body()), EntryChecked)) == 1
    terminal.enter(body())
    host.run()
    assert not terminal.waiting()
    host.close()


def test_a_store_that_fails_answers_nothing_and_recovers(host: FakeHost) -> None:
    terminal = at_table(host)
    host.broken = "the disk is full."
    assert ask(host, terminal, EntryCheck(1, body()), EntryChecked) == []
    assert ask(host, terminal, EntryCheck(2, body()), EntryChecked) == []
    host.recover()
    assert check(host, terminal).code == CheckCode.FINE


def test_settings_without_checks(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "events.db", an_event(checks=False))
    terminal = at_table(host)
    other = host.introduce(FakeTerminal(0xB02, 12, table=2))
    other.enter(body(table=2, round=3, board=1, ns=2, ew=6, declarer=1, strain=4, tricks=10, level=4))
    host.run()
    assert check(host, terminal, declarer=0, strain=4, tricks=10, level=4).code == CheckCode.FINE
    host.close()


def test_a_call_is_told_back_after_it_is_stored(host: FakeHost) -> None:
    terminal = at_table(host)
    (told,) = ask(host, terminal, Call(1, 1, 1, CallState.CALLED), CallStateTold)
    assert told.state == CallState.CALLED
    stored = [number for number, (what, _) in enumerate(host.log) if what == "commit"][-1]
    assert host.log.index(("out", told)) > stored
    host._deliver(host.collector.call_state(1, 1, CallState.COMING))
    assert terminal.seen[-1] == CallStateTold(CallState.COMING)
    (again,) = ask(host, terminal, Call(1, 1, 1, CallState.CALLED), CallStateTold)
    assert again.state == CallState.COMING, "asking twice takes nothing back"
    for message in terminal.boot():
        host.give(terminal, message)
    host.run()
    assert CallStateTold(CallState.COMING) in terminal.seen[-4:]
    (back,) = ask(host, terminal, Call(1, 1, 1, CallState.NONE), CallStateTold)
    assert back.state == CallState.NONE


def test_a_table_can_only_call_for_itself_and_only_call(host: FakeHost) -> None:
    terminal = at_table(host)
    assert ask(host, terminal, Call(1, 1, 1, CallState.DONE), CallStateTold) == []
    ask(host, terminal, Call(1, 3, 1, CallState.CALLED), CallStateTold)
    (call,) = host.ask(lambda connection: call_list(connection, host.event))
    assert (call.section, call.table) == (1, 1)


def test_the_list_of_calls_serves_who_waits_longest() -> None:
    def event(number: int, kind: str, **data: object) -> DeskEvent:
        return DeskEvent(kind, data, wall=f"19:{number:02}", number=number)

    told = [
        event(1, "call", section=1, table=1, round=2, state=1),
        event(2, "call", section=1, table=2, round=2, state=1),
        event(3, "call", section=1, table=1, round=2, state=1),
        event(4, "call-answered", section="A", table=1, state=2),
        event(5, "call-answered", section="A", table=9, state=2),
        event(6, "call", section=2, table=1, round=2, state=1),
        event(7, "call", section=2, table=1, round=2, state=0),
        event(8, "message", section=1, table=1, state=1),
        event(9, "call", section="?", table=1, state=1),
        event(10, "call", section=1, table=1, state=77),
    ]
    found = calls(told)
    assert (found[1, 1].state, found[1, 1].number, found[1, 1].wall) == (CallState.COMING, 1, "19:01")
    assert (found[1, 2].state, found[1, 2].open) == (CallState.CALLED, True)
    assert not found[2, 1].open
    assert (1, 9) not in found


def test_a_solved_deal_makes_an_impossible_result_a_question_and_only_the_desk_learns_why(host: FakeHost) -> None:
    from dealer.cards import Seat
    from dealer.deal import Deal
    from terminals.contract import Strain

    terminal = at_table(host)
    host.collector.deals = lambda section, board: Deal.from_index(7)
    asked: list[Deal] = []

    def solved(deal: Deal) -> dict[tuple[Seat, Strain], int]:
        asked.append(deal)
        return {(seat, strain): 5 for seat in Seat for strain in Strain}

    host.collector.double_dummy = solved
    assert check(host, terminal, tricks=8).code == CheckCode.FINE
    answer = check(host, terminal, board=2, tricks=9)
    assert answer.text.splitlines()[-1] == NEUTRAL
    assert asked == [Deal.from_index(7)] * 2
    logged = host.ask(lambda connection: desk.desk_events(connection, host.event, "entry-check"))
    assert logged[-1].data["causes"] == ["far-from-double-dummy"]


def test_the_field_is_everybody_who_is_compared_with_this_table(tmp_path: Path) -> None:
    """With one field for all sections the results of the other section count as well."""
    from dataclasses import replace

    from sync_fakes import SMALL

    from terminals.sync.setup import Section

    for across in (False, True):
        event = an_event(across=across, admit_all=True)
        host = FakeHost(tmp_path / f"{across}.db", replace(event, sections=(*event.sections, Section(2, SMALL))))
        place = {"section": 2, "table": 1, "round": 1}
        other = host.introduce(FakeTerminal(0xB1, 11, section=2, table=1))
        other.enter(body(**place, board=1))
        host.run()
        for table, (ns, ew, number) in {2: (2, 4, 2), 3: (3, 4, 3)}.items():
            more = host.introduce(FakeTerminal(0xB0 + table, 10 + table, section=2, table=table))
            more.enter(body(section=2, table=table, round=number, board=1, ns=ns, ew=ew))
            host.run()
        terminal = at_table(host)
        # Every other result is 400 for North-South; this one is 50 for East-West.
        answer = check(host, terminal, tricks=8)
        assert answer.text == (NEUTRAL if across else "")
        host.close()
