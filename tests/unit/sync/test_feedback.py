"""Promises about travellers and rankings on the screens: only one's own finished board, only what settings allow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import FakeHost, FakeTerminal, an_event, body

from firmware_bridge.wire.messages import Ask, Feedback, Message, Ranking, encode
from firmware_bridge.wire.numbers import AskFor
from terminals.movement.mitchell import mitchell
from terminals.sync.feedback import MAX_LINES, NOT_SHOWN, SCORE_ZERO

# SMALL: 3 tables, board 1 is played in round 1 at table 1 (1-4), round 2 at table 3 (3-5), round 3 at table 2 (2-6)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    made = FakeHost(tmp_path / "events.db")
    yield made
    made.close()


def tables(host: FakeHost) -> list[FakeTerminal]:
    return [host.introduce(FakeTerminal(0xA00 + table, table, table=table)) for table in (1, 2, 3)]


def enter(host: FakeHost, terminal: FakeTerminal, **changes: int) -> None:
    terminal.enter(body(table=terminal.table, **changes))
    host.run()


def ask(host: FakeHost, terminal: FakeTerminal, what: int, round: int, board: int = 0) -> list[Message]:
    seen = len(terminal.seen)
    host.give(terminal, Ask(what, round, board))
    host.run()
    return [one for one in terminal.seen[seen:] if isinstance(one, (Feedback, Ranking))]


def traveller(host: FakeHost, terminal: FakeTerminal, round: int, board: int) -> Any:
    found = ask(host, terminal, AskFor.TRAVELLER, round, board)
    return found[0] if found else None


def test_a_traveller_comes_only_after_the_own_board(host: FakeHost) -> None:
    one, _, three = tables(host)
    enter(host, one, tricks=10)
    assert traveller(host, three, 2, 1) is None, "table 3 has yet to play board 1"
    enter(host, three, round=2, ns=3, ew=5, tricks=9)
    told = traveller(host, three, 2, 1)
    assert (told.ns, told.ew, told.percent) == (3, 5, 1250), "Neuberg: (0 + 1) x 3/2 - 1 of 4"
    assert [(line.ns, line.ew, line.score - SCORE_ZERO) for line in told.lines] == [(1, 4, 430), (3, 5, 400)]
    assert [line.percent for line in told.lines] == [8750, 1250]
    assert told.lines[0].contract == 3 | 5 << 3
    assert traveller(host, one, 1, 2) is None
    assert traveller(host, one, 2, 1) is None


def test_a_board_of_an_earlier_round_is_not_shown_to_the_next_pair(host: FakeHost) -> None:
    one, *_ = tables(host)
    enter(host, one)
    assert traveller(host, one, 1, 1) is not None
    enter(host, one, round=2, board=3, ew=6)
    assert traveller(host, one, 1, 1) is None, "the pair that now sits there has yet to play it"
    assert traveller(host, one, 2, 1) is None


def test_unconfirmed_or_contested_boards_show_nothing(host: FakeHost) -> None:
    one, *_ = tables(host)
    enter(host, one, confirmed_by=0)
    assert traveller(host, one, 1, 1) is None
    enter(host, one, replaces=1)
    assert traveller(host, one, 1, 1) is not None


@pytest.mark.parametrize(
    ("settings", "percent", "lines"),
    [
        ({"percentages": False}, NOT_SHOWN, 1),
        ({"traveller": False}, 5000, 0),
    ],
)
def test_settings_decide_what_is_shown(tmp_path: Path, settings: dict[str, bool], percent: int, lines: int) -> None:
    host = FakeHost(tmp_path / "events.db", an_event(**settings))
    one, *_ = tables(host)
    enter(host, one)
    told = traveller(host, one, 1, 1)
    assert told.percent == percent
    assert len(told.lines) == lines
    assert all(line.percent == percent for line in told.lines)
    host.close()


@pytest.mark.parametrize("settings", [{"traveller": False, "percentages": False}])
def test_settings_can_close_it(tmp_path: Path, settings: dict[str, bool]) -> None:
    host = FakeHost(tmp_path / "events.db", an_event(**settings))
    one, *_ = tables(host)
    enter(host, one)
    assert traveller(host, one, 1, 1) is None
    host.close()


def test_passed_out_and_not_played(host: FakeHost) -> None:
    one, *_ = tables(host)
    enter(host, one, kind=2)
    (line,) = traveller(host, one, 1, 1).lines
    assert (line.kind, line.contract, line.score) == (2, 0, SCORE_ZERO)
    enter(host, one, kind=3, board=2, confirmed_by=3)
    assert traveller(host, one, 1, 2) is None, "nothing was played, so there is nothing to compare"


def test_a_long_traveller_keeps_the_own_line(tmp_path: Path) -> None:
    """The pairs of 60 tables all play board 1 in a wild evening without order (Law 15); ours is the worst."""
    host = FakeHost(tmp_path / "events.db", an_event(mitchell(60, 1)))
    last = None
    for table in range(1, 61):
        last = host.introduce(FakeTerminal(0xA00 + table, table, table=table))
        last.enter(body(table=table, round=1, ns=table, ew=60 + table, tricks=13 - table // 6, board=1))
        host.run()
    assert last is not None
    told = traveller(host, last, 1, 1)
    assert len(told.lines) == MAX_LINES
    assert [line.score for line in told.lines] == sorted((line.score for line in told.lines), reverse=True)
    assert told.lines[-1].ns == 60
    assert len(encode(told)) < 16384
    host.close()


def test_the_ranking_comes_when_the_round_is_over(host: FakeHost) -> None:
    one, two, _ = tables(host)
    enter(host, one, tricks=10)
    enter(host, two, round=3, ns=2, ew=6, tricks=9)
    assert ask(host, one, AskFor.RANKING, 1) == []
    enter(host, one, board=2)
    (told,) = ask(host, one, AskFor.RANKING, 1)
    assert isinstance(told, Ranking)
    assert [(pair.pair, pair.boards) for pair in told.pairs] == [(1, 2), (4, 2)]
    assert told.pairs[0].place == 1
    assert told.pairs[0].percent + told.pairs[1].percent == 10000
    assert ask(host, one, AskFor.RANKING, 2) == []
    assert ask(host, one, 99, 1) == []


def test_the_ranking_can_be_closed(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "events.db", an_event(ranking=False))
    one, *_ = tables(host)
    enter(host, one)
    enter(host, one, board=2)
    assert ask(host, one, AskFor.RANKING, 1) == []
    host.close()


def test_without_a_movement_there_is_a_traveller_but_no_ranking(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "events.db", an_event(None))
    one, *_ = tables(host)
    enter(host, one)
    assert len(traveller(host, one, 1, 1).lines) == 1
    assert ask(host, one, AskFor.RANKING, 1) == []
    host.close()
