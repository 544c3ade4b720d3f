"""What tables are told follows the event's own way of scoring, its rulings and its penalties."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sync_fakes import FakeHost, FakeTerminal, body

from firmware_bridge.errors import EntryError
from firmware_bridge.wire.messages import Ask, Feedback, Ranking
from firmware_bridge.wire.numbers import AskFor
from terminals.scoring.lines import Contestant, PenaltyUnit, SessionAdjustment
from terminals.scoring.profile import PLAIN, Profile
from terminals.scoring.profile_file import load_profile, profile_to_json
from terminals.scoring.rulings import Ruling, RulingState
from terminals.scoring.scheme import METHODS, SCALES, Scheme, scheme_as_dict, scheme_from_dict
from terminals.scoring.vp import VpTable
from terminals.store import desk as desk_store
from terminals.store.desk import DeskEvent
from terminals.store.values import PlayKey
from terminals.sync.conditions import decided
from terminals.sync.director import By
from terminals.sync.feedback import NOT_SHOWN
from terminals.sync.ruling_acts import RulingActs
from terminals.sync.ruling_log import Kept

FORM = {PlayKey("A", 1, 3, 5): "B"}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[FakeHost]:
    made = FakeHost(tmp_path / "events.db")
    yield made
    made.close()


def told(host: FakeHost, terminal: FakeTerminal, what: int, round: int, board: int = 0) -> Any:
    seen = len(terminal.seen)
    host.give(terminal, Ask(what, round, board))
    host.run()
    return next(one for one in terminal.seen[seen:] if isinstance(one, (Feedback, Ranking)))


def log(host: FakeHost, kind: str, **data: Any) -> None:
    host.ask(lambda connection: desk_store.append_desk(connection, host.event, DeskEvent(kind, data)))


def rule(host: FakeHost, **more: Any) -> None:
    forms = more.pop("forms", {})
    ruling = Ruling("new", "87", "facts", "Ann", state=RulingState.CONFIRMED, **more)
    kept = Kept(0, ruling, None, False, 1, forms)
    host.ask(lambda connection: RulingActs(connection, host.setup, By("Ann"), PLAIN).make(kept))


def test_tables_are_told_by_the_events_method_and_rulings(host: FakeHost) -> None:
    one, two, three = (host.introduce(FakeTerminal(0xA00 + table, table, table=table)) for table in (1, 2, 3))
    for terminal, changes in (
        (one, {"tricks": 10}),
        (one, {"board": 2, "tricks": 10}),
        (three, {"round": 2, "ns": 3, "ew": 5, "tricks": 9}),
        (two, {"round": 3, "ns": 2, "ew": 6, "tricks": 8}),
    ):
        terminal.enter(body(table=terminal.table, **changes))
        host.run()
    seen = told(host, one, AskFor.TRAVELLER, 1, 1)
    assert seen.percent == 10000
    first = told(host, one, AskFor.RANKING, 1).pairs
    assert [(pair.place, pair.percent) for pair in first] == [(1, 7500), (3, 2500)]
    rule(host, forms=FORM)
    assert told(host, one, AskFor.TRAVELLER, 1, 1).percent == 8750, "two scores in its form, three expected"
    rule(host, penalty=SessionAdjustment(Contestant("A", 1), Fraction(-70), PenaltyUnit.PERCENT))
    assert told(host, one, AskFor.RANKING, 1).pairs[0].percent == 0, "below nothing is shown as nothing"
    assert told(host, one, AskFor.RANKING, 1).pairs[0].place == 3
    host.ask(lambda connection: RulingActs(connection, host.setup, By("Ann"), PLAIN).withdraw(2))
    log(host, "scoring", method="cross_imps")
    assert told(host, one, AskFor.TRAVELLER, 1, 1).percent == NOT_SHOWN
    assert {(pair.place, pair.percent) for pair in told(host, one, AskFor.RANKING, 1).pairs} == {
        (1, NOT_SHOWN),
        (3, NOT_SHOWN),
    }


def test_the_profile_of_the_event_is_the_stored_one_until_its_setting_changes(host: FakeHost) -> None:
    def profile() -> Profile:
        found: Profile = host.ask(lambda connection: decided(connection, host.setup).profile(host.setup))
        return found

    assert profile().name == "plain"
    log(host, "profile", profile=profile_to_json(load_profile("ebu")))
    assert profile().name == "ebu"
    log(host, "settings", names=["lead"])
    assert profile().name == "ebu"
    log(host, "settings", names=["profile"])
    assert profile().name == "plain"


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("word", ["", *METHODS])
def test_a_way_of_scoring_is_stored_and_read_back(word: str, scale: str) -> None:
    table = VpTable("ours", ((0, 3, Fraction(10), Fraction(10)), (4, None, Fraction(31, 2), Fraction(9, 2))))
    carried = {Contestant("A", 7): Fraction(25, 2), Contestant("BB", 12): Fraction(-1, 3)}
    scheme = Scheme(word, scale, table if scale == "table" else None, True, carried)
    assert scheme_from_dict(scheme_as_dict(scheme)) == scheme
    assert scheme.changed({}) == scheme
    assert scheme.changed({"method": "butler"}).word == "butler"


@pytest.mark.parametrize(
    "values",
    [
        {"method": "bridge"},
        {"scale": "table"},
        {"scale": "table", "table": {"name": "x", "rows": []}},
        {"scale": "table", "table": {"name": "x", "rows": [[0, None, "1/0", "1"]]}},
        {"knockout": "yes"},
        {"carried": {"7": "1"}},
        {"carried": {"A7": "a lot"}},
        {"carried": {"A7": "1e99"}},
        {"carried": 7},
        {"table": []},
    ],
)
def test_a_way_of_scoring_that_can_not_be(values: dict[str, Any]) -> None:
    if "table" in values and "scale" not in values:
        assert Scheme().changed(values) == Scheme()
        return
    with pytest.raises(EntryError, match=r"method|scale|Scale|scoring|knockout|contestant|number|can't be"):
        Scheme().changed(values)
