"""Events of many sections: each keeps its letters, and what is ranked together there is so here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import client_events as events
import pytest
from dc_host import Host, a_client, ok

from terminals.scoring.session import score_session
from terminals.sync.tables import scoring_input

ALL = [chr(65 + letter) * times for times in (1, 2, 3) for letter in range(26)]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path / "events.db")
    yield made
    made.database.close()


def many(letters: list[str], groups: dict[str, int] | None = None) -> events.dto.SessionDTO:
    """One table, one round, two boards in each section."""
    rows = [[(1, 2, 1, 2)]]
    return events.a_session(
        [events.a_section(rows, one, group=(groups or {}).get(one, n)) for n, one in enumerate(letters, start=1)]
    )


def test_seventy_eight_sections_keep_their_letters(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(events.an_event(many(ALL))))
    assert [section.letter for section in host.setup.sections] == ALL
    assert host.alarms() == []
    for number in (26, 27, 53, 78):
        host.key_in(1, 1, 1, 1, 2, section=number)
        host.call(1, 1, section=number)
    assert [one.section_letters for one in client.poll_for_results(events.SESSION)] == ["Z", "AA", "AAA", "ZZZ"]
    assert [one.section_letters for one in client.poll_for_td_calls(events.SESSION)] == ["Z", "AA", "AAA", "ZZZ"]
    again = events.a_result(1, 1, 1, 1, 2, section_letters="ZZZ", total_tricks=10)
    ok(client.send_results(events.SESSION, [again]))
    assert str(host.result(1, 1, 2, "ZZZ")) == "3NT N+1"
    plan = host.setup.table_plan(78, 1)
    assert plan is not None
    assert (plan.section, plan.rounds[0].ns, plan.rounds[0].ew) == (78, 1, 2)


def test_a_letter_that_is_no_section_is_refused_by_both(host: Host) -> None:
    client = a_client(host)
    refused = client.initialize(events.an_event(many(["A", "AAAA"])))
    assert int(refused.data_type) == 4
    assert not host.has_event


def groups_of(host: Host) -> list[tuple[str, set[str]]]:
    found = scoring_input(host.setup, host.current())
    assert sorted("".join(sorted(one.sections or ())) for one in found.fields) == sorted(
        {"".join(sorted({c.section for c in group.contestants})) for group in found.groups}
    )
    return [(group.name, {one.section for one in group.contestants}) for group in found.groups]


def test_sections_of_one_scoring_group_are_one_field(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(events.an_event(many(["A", "B", "C", "DD"], {"A": 7, "C": 7, "B": 8, "DD": 8}))))
    assert groups_of(host) == [("A+C all", {"A", "C"}), ("B+DD all", {"B", "DD"})]
    for section, tricks in ((1, 9), (3, 10), (2, 9), (30, 9)):
        host.key_in(1, 1, 1, 1, 2, section=section, tricks=tricks)
    found = scoring_input(host.setup, host.current())
    score = score_session(found.lines, fields=found.fields, groups=found.groups)
    first = {(row.contestant.section, row.contestant.number): row.value_text for row in score.rankings[0]}
    assert first == {("C", 1): "100.00", ("A", 2): "100.00", ("A", 1): "0.00", ("C", 2): "0.00"}
    assert {row.value_text for row in score.rankings[1]} == {"50.00"}


def test_the_program_regroups_and_the_desk_may_too(host: Host) -> None:
    client = a_client(host)
    session = many(["A", "B", "C"], {"A": 1, "B": 1, "C": 1})
    ok(client.initialize(events.an_event(session)))
    assert host.setup.settings.across
    assert groups_of(host) == [("all", {"A", "B", "C"})]
    version = host.setup.plan_version
    apart = many(["A", "B", "C"], {"A": 1, "B": 1, "C": 9})
    ok(client.update_scoring_groups(apart.scoring_groups))
    assert groups_of(host) == [("A+B all", {"A", "B"}), ("C all", {"C"})]
    assert host.setup.plan_version == version, "terminals need no new plan for that"
    own = host.setup.settings.changed({"fields": ["A+C"]})
    host.save(replace(host.setup, settings=own))
    for group in apart.scoring_groups:
        group.name = "Other"
    ok(client.update_scoring_groups(apart.scoring_groups))
    assert host.setup.settings.fields == ("A+C",), "the program has changed nothing of that"
