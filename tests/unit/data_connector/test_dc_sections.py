"""Events of many sections: each keeps its letters, and what is ranked together there is so here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import client_events as events
import pytest
from dc_host import Host, a_client, ok

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
