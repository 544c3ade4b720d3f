"""Promises of the director's acts: history stays, undo works, two names once results are final, locks hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sync_fakes import EVENT, SMALL, FakeHost, FakeTerminal, an_event, body

from firmware_bridge.errors import EntryError
from terminals.contract import Contract
from terminals.result import Artificial, Average, FixedPercent, NotPlayed, NotPlayedReason, PassedOut, Played
from terminals.store import desk, results
from terminals.store.values import PlayKey, PlayState
from terminals.sync.director import By, Director, artificial_side, score_text
from terminals.sync.period import finish_when_due, is_final, locked_tables, period, publish
from terminals.sync.rebuild import rebuild
from terminals.sync.tables import CellState, cells

PLAY = PlayKey("A", 1, 1, 4)
OTHER = PlayKey("A", 2, 1, 4)
NINE, TEN = Played(Contract.parse("3NT N"), 9), Played(Contract.parse("3NT N"), 10)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    host = FakeHost(tmp_path / "events.db")
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    terminal.enter(body())
    host.run()
    yield host
    assert host.ask(lambda connection: rebuild(connection, EVENT)) == 0, "the projection follows from the events"
    host.close()


def act(host: FakeHost, what: Callable[[Director], Any], name: str = "Ewa", second: str = "") -> Any:
    return host.ask(lambda connection: what(Director(connection, host.setup, By(name, second, "why", "21:00"))))


def state(host: FakeHost, play: PlayKey = PLAY) -> PlayState:
    from terminals.sync.projection import resolve

    return host.ask(lambda connection: resolve(play, results.of_play(connection, host.event, play)))


def test_a_ruling_replaces_nothing_and_can_be_undone(host: FakeHost) -> None:
    done = act(host, lambda director: director.rule(PLAY, TEN))
    assert (state(host).content, state(host).status) == (TEN, "amended")
    assert len(host.ask(lambda connection: results.of_play(connection, host.event, PLAY))) == 2
    undone = act(host, lambda director: director.undo(done.action))
    assert (state(host).content, state(host).status) == (NINE, "confirmed")
    act(host, lambda director: director.undo(undone.action))
    assert state(host).content == TEN
    with pytest.raises(EntryError, match="undone already"):
        act(host, lambda director: director.undo(undone.action))
    with pytest.raises(EntryError, match="no such act"):
        act(host, lambda director: director.undo("00"))


def test_who_did_it_and_why_is_kept(host: FakeHost) -> None:
    act(host, lambda director: director.rule(PLAY, TEN), "Ewa")
    event = host.ask(lambda connection: results.of_play(connection, host.event, PLAY))[-1]
    assert (event.actor, event.note, event.wall) == ("Ewa", "why", "21:00")
    with pytest.raises(EntryError):
        By("  ")


def test_erase_not_played_and_artificial_are_three_different_things(host: FakeHost) -> None:
    act(host, lambda director: director.erase(PLAY))
    assert cells(host.setup, host.current())[0].state is CellState.MISSING
    with pytest.raises(EntryError, match="no result to erase"):
        act(host, lambda director: director.erase(PLAY))
    act(host, lambda director: director.not_played(PLAY, NotPlayedReason.NO_TIME))
    assert cells(host.setup, host.current())[0].state is CellState.NOT_PLAYED
    assert state(host).content == NotPlayed(NotPlayedReason.NO_TIME)
    act(host, lambda director: director.artificial(PLAY, Average.PLUS, FixedPercent(Fraction(45))))
    assert state(host).content == Artificial(Average.PLUS, FixedPercent(Fraction(45)))


def test_moving_is_one_act_of_two_events_and_one_undo(host: FakeHost) -> None:
    done = act(host, lambda director: director.move(PLAY, OTHER))
    assert [(one.play.board, one.content) for one in done.states] == [(1, None), (2, NINE)]
    events = host.ask(lambda connection: results.of_action(connection, host.event, done.action))
    assert [(event.kind, event.note) for event in events] == [
        ("moved-away", f"to {OTHER}; why"),
        ("moved-here", f"from {PLAY}; why"),
    ]
    act(host, lambda director: director.undo(done.action))
    assert (state(host).content, state(host, OTHER).content) == (NINE, None)


def test_moving_on_top_of_a_result_is_refused(host: FakeHost) -> None:
    host.terminals[1].enter(body(board=2))
    host.run()
    with pytest.raises(EntryError, match="a result already"):
        act(host, lambda director: director.move(PLAY, OTHER))


def test_swapping_changes_the_contestants_and_not_the_declarer(host: FakeHost) -> None:
    act(host, lambda director: director.swap(PLAY))
    assert (state(host).content, state(host, PlayKey("A", 1, 4, 1)).content) == (None, NINE)


def test_a_look_that_is_too_old_is_refused(host: FakeHost) -> None:
    seen = state(host).changes
    host.terminals[1].enter(body(tricks=8, replaces=1))
    host.run()
    with pytest.raises(EntryError, match="changed since"):
        act(host, lambda director: director.rule(PLAY, TEN, seen))
    act(host, lambda director: director.rule(PLAY, TEN, seen + 1))


def test_of_two_entries_the_director_chooses_one_or_leaves_it(host: FakeHost) -> None:
    second = desk.Device(0xA2, desk.DeviceState.ADMITTED, 1, 2)
    host.ask(lambda connection: desk.save_device(connection, second))
    host.collector.set_device(second, 0.0)
    revived = host.introduce(FakeTerminal(0xA2, 2, table=2))
    revived.enter(body(tricks=10))
    host.run()
    assert state(host).attention == ("contested",)
    act(host, lambda director: director.leave(PLAY))
    assert (state(host).content, state(host).attention) == (NINE, ())
    act(host, lambda director: director.choose(PLAY, 1))
    assert state(host).content == TEN
    with pytest.raises(EntryError, match="no such entry"):
        act(host, lambda director: director.choose(PLAY, 5))


def test_what_a_table_sends_after_a_ruling_asks_and_does_not_win(host: FakeHost) -> None:
    act(host, lambda director: director.rule(PLAY, TEN))
    host.terminals[1].enter(body(tricks=7, replaces=1))
    host.run()
    assert (state(host).content, state(host).attention) == (TEN, ("after-ruling",))


@pytest.mark.parametrize(
    "play", [PlayKey("B", 1, 1, 4), PlayKey("A", 99, 1, 4), PlayKey("A", 1, 1, 99), PlayKey("A", 1, 1, 1)]
)
def test_plays_that_can_not_be_are_refused_by_name(host: FakeHost, play: PlayKey) -> None:
    with pytest.raises(EntryError) as caught:
        act(host, lambda director: director.rule(play, TEN))
    assert str(play) in str(caught.value)


def test_a_pairing_that_the_movement_lacks_may_be_given_a_result(host: FakeHost) -> None:
    act(host, lambda director: director.rule(PlayKey("A", 1, 1, 5), PassedOut()))
    act(host, lambda director: director.rule(PlayKey("A", 1, 1, 4, 2), PassedOut()))
    assert {(row.play.ew, row.play.play) for row in host.current()} == {(4, 1), (4, 2), (5, 1)}


# --- the correction period ---


def test_after_the_period_a_change_needs_two_names(host: FakeHost) -> None:
    host.ask(lambda connection: publish(connection, host.setup, 1000.0, "Ewa"))
    ends = 1000.0 + 60 * host.setup.settings.correction_minutes
    assert host.ask(lambda connection: period(connection, host.event)).ends_at == ends
    assert not host.ask(lambda connection: finish_when_due(connection, host.event, ends - 1))
    act(host, lambda director: director.rule(PLAY, TEN))
    assert host.ask(lambda connection: finish_when_due(connection, host.event, ends))
    assert not host.ask(lambda connection: finish_when_due(connection, host.event, ends + 1)), "only once"
    for second in ("", "ewa "):
        with pytest.raises(EntryError, match="two names"):
            act(host, lambda director: director.rule(PLAY, NINE), "Ewa", second)
    act(host, lambda director: director.rule(PLAY, NINE), "Ewa", "Jan")
    assert state(host).content == NINE
    with pytest.raises(EntryError, match="final already"):
        host.ask(lambda connection: publish(connection, host.setup, 9e9, "Ewa"))


def test_a_clock_that_goes_back_does_not_open_final_results(host: FakeHost) -> None:
    host.ask(lambda connection: publish(connection, host.setup, 1000.0, "Ewa"))
    host.ask(lambda connection: finish_when_due(connection, host.event, 1e6))
    assert host.ask(lambda connection: is_final(connection, host.event))
    assert not host.ask(lambda connection: period(connection, host.event)).due(0.0)


def test_publishing_again_begins_the_period_anew(host: FakeHost) -> None:
    host.ask(lambda connection: publish(connection, host.setup, 1000.0, "Ewa"))
    host.ask(lambda connection: publish(connection, host.setup, 2000.0, "Ewa"))
    assert not host.ask(lambda connection: finish_when_due(connection, host.event, 1000.0 + 1800))
    assert host.ask(lambda connection: finish_when_due(connection, host.event, 2000.0 + 1800))


def test_what_tables_send_when_results_are_final_is_held(host: FakeHost) -> None:
    host.ask(lambda connection: publish(connection, host.setup, 1000.0, "Ewa"))
    host.ask(lambda connection: finish_when_due(connection, host.event, 1e6))
    host.terminals[1].enter(body(tricks=11, replaces=1))
    host.terminals[1].enter(body(board=2))
    host.run()
    assert (state(host).content, state(host).attention) == (NINE, ("held",))
    assert (state(host, OTHER).content, state(host, OTHER).attention) == (None, ("held",))
    assert len(host.terminals[1].shown) == 3, "it is stored all the same"
    act(host, lambda director: director.choose(OTHER, 0), "Ewa", "Jan")
    assert (state(host, OTHER).content, state(host, OTHER).attention) == (NINE, ())


# --- the session ---


def test_a_locked_table_is_held_until_it_is_unlocked(host: FakeHost) -> None:
    act(host, lambda director: director.lock("a", 1))
    assert host.ask(lambda connection: locked_tables(connection, host.event)) == {("A", 1)}
    host.terminals[1].enter(body(tricks=11, replaces=1))
    host.run()
    assert (state(host).content, state(host).attention) == (NINE, ("held",))
    act(host, lambda director: director.lock("A", 1, locked=False))
    host.terminals[1].enter(body(tricks=12, replaces=1))
    host.run()
    assert (state(host).content.tricks, state(host).attention) == (12, ())
    with pytest.raises(EntryError, match="no such table"):
        act(host, lambda director: director.lock("A", 9))


def test_closing_a_round_names_what_is_missing_and_invents_nothing(host: FakeHost) -> None:
    with pytest.raises(EntryError, match="5 results are missing: board 2 at table 1, board 3 at table 2") as caught:
        act(host, lambda director: director.close_round("A", 1))
    assert caught.value.where == "section A, round 1"
    left = act(host, lambda director: director.close_round("A", 1, anyway=True))
    assert (1, 2) in left
    assert len(host.current()) == 1
    with pytest.raises(EntryError, match="no such round"):
        act(host, lambda director: director.close_round("A", 9))
    for place in left:
        seating = SMALL.at(1, place[0])
        assert seating is not None
        play = PlayKey("A", place[1], seating.ns, seating.ew)
        act(host, lambda director, play=play: director.not_played(play, NotPlayedReason.NO_TIME))
    assert act(host, lambda director: director.close_round("A", 1)) == []


def test_a_revealed_board_is_on_record(host: FakeHost) -> None:
    act(host, lambda director: director.reveal("A", 5))
    (event,) = host.ask(lambda connection: desk.desk_events(connection, host.event, "reveal"))
    assert (event.actor, event.data["board"]) == ("Ewa", 5)


# --- words ---


SIDES = [("ave+", Average.PLUS), (" AVE- ", Average.MINUS), ("50=", Average.EVEN), ("55%", FixedPercent(Fraction(55)))]


@pytest.mark.parametrize(("text", "value"), [*SIDES, ("100/3", FixedPercent(Fraction(100, 3)))])
def test_artificial_scores_in_words(text: str, value: object) -> None:
    assert artificial_side(text) == value


@settings(deadline=None)
@given(st.text(max_size=20))
def test_any_other_word_is_refused_in_words(text: str) -> None:
    try:
        side = artificial_side(text)
    except EntryError:
        return
    assert isinstance(side, Average) or 0 <= side.percent <= 100


def test_scores_in_words() -> None:
    assert [score_text(result, 1) for result in (TEN, PassedOut(), NotPlayed(), None)] == ["+430", "0", "", ""]
    assert SMALL.tables == an_event().sections[0].movement.tables  # type: ignore[union-attr]
