"""Whole cards and whole rankings are told when the session is over, at any table of the section, and never before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import SMALL, FakeHost, FakeTerminal, an_event, body

from firmware_bridge.wire.messages import Ask, Recap, Standings
from firmware_bridge.wire.numbers import AskFor
from terminals.store import desk
from terminals.store.desk import Person
from terminals.sync.period import publish


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    made = FakeHost(tmp_path / "events.db")
    yield made
    made.close()


def at_tables(host: FakeHost) -> dict[int, FakeTerminal]:
    return {table: host.introduce(FakeTerminal(0xA00 + table, table, table=table)) for table in (1, 2, 3)}


def play(host: FakeHost, tables: dict[int, FakeTerminal], leave: int = 0) -> None:
    """Everything but the last ``leave`` boards; the higher the NS pair, the more tricks."""
    schedule = [(seating, board) for seating in SMALL.seatings for board in seating.boards]
    for seating, board in schedule[: len(schedule) - leave]:
        place = {"table": seating.table, "round": seating.round, "ns": seating.ns, "ew": seating.ew}
        tables[seating.table].enter(body(board=board, tricks=6 + seating.ns, **place))
    host.run()
    host.wait(3.0)


def ask(host: FakeHost, terminal: FakeTerminal, what: AskFor, board: int = 0) -> list[Any]:
    seen = len(terminal.seen)
    host.give(terminal, Ask(int(what), 3, board))
    host.run()
    return [one for one in terminal.seen[seen:] if isinstance(one, (Recap, Standings))]


def test_nothing_is_told_while_a_scheduled_board_is_missing(host: FakeHost) -> None:
    tables = at_tables(host)
    play(host, tables, leave=1)
    for terminal in tables.values():
        assert ask(host, terminal, AskFor.RECAP, 1) == []
        assert ask(host, terminal, AskFor.STANDINGS) == []


def test_a_pairs_card_at_any_table_of_its_section(host: FakeHost) -> None:
    tables = at_tables(host)
    play(host, tables)
    for pair, terminal in ((1, tables[1]), (1, tables[3]), (4, tables[2])):
        (card,) = ask(host, terminal, AskFor.RECAP, pair)
        assert card.pair == pair
        assert sorted(line.board for line in card.lines) == [1, 2, 3, 4, 5, 6]
        assert [line.round for line in card.lines] == sorted(line.round for line in card.lines)
        assert {line.direction for line in card.lines} == {0 if pair < 4 else 1}
        assert all(line.opponents not in (0, pair) for line in card.lines)
        if pair == 1:  # it has the fewest tricks everywhere, so no matchpoint
            assert [line.percent for line in card.lines] == [0] * 6
    assert ask(host, tables[1], AskFor.RECAP, 99) == []


def test_whole_rankings_one_after_the_other(host: FakeHost) -> None:
    tables = at_tables(host)
    play(host, tables)
    host.ask(lambda c: desk.save_person(c, host.event, Person("A", 3, "1", "7", "Ada")))
    host.ask(lambda c: desk.save_person(c, host.event, Person("A", 3, "2", "8", "Łukasz")))
    first, second = ask(host, tables[2], AskFor.STANDINGS)
    assert (first.number, first.of, second.number, second.of) == (1, 2, 2, 2)
    assert [(one.pair, one.place, one.percent, one.boards) for one in first.pairs] == [
        (3, 1, 10000, 6),
        (2, 2, 5000, 6),
        (1, 3, 0, 6),
    ]
    assert first.pairs[0].name == "Ada - Łukasz"
    assert {one.pair for one in second.pairs} == {4, 5, 6}


def test_the_publication_opens_what_is_missing_nothing_else(host: FakeHost) -> None:
    tables = at_tables(host)
    play(host, tables, leave=1)
    host.ask(lambda connection: publish(connection, host.setup, 0.0, "Ann"))
    (card,) = ask(host, tables[1], AskFor.RECAP, 1)
    assert len(card.lines) in (5, 6)


@pytest.mark.parametrize("setting", ["ranking", "percentages", "names"])
def test_the_settings_withhold(tmp_path: Path, setting: str) -> None:
    host = FakeHost(tmp_path / "events.db", an_event(**{setting: False}))
    tables = at_tables(host)
    play(host, tables)
    host.ask(lambda c: desk.save_person(c, host.event, Person("A", 3, "1", "7", "Ada")))
    told = ask(host, tables[1], AskFor.STANDINGS)
    if setting == "ranking":
        assert told == []
    else:
        assert [one.name for one in told[0].pairs] == (["", "", ""] if setting == "names" else ["Ada", "", ""])
    (card,) = ask(host, tables[1], AskFor.RECAP, 2)
    assert all((line.percent == 65535) == (setting == "percentages") for line in card.lines)
    host.close()


def test_an_event_without_a_movement_is_over_when_it_is_published(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "events.db", an_event(None))
    terminal = host.introduce(FakeTerminal(0xA1, 1))
    terminal.enter(body())
    host.run()
    assert ask(host, terminal, AskFor.RECAP, 1) == []
    host.close()
