"""Events of many sections: each keeps its letters, and what is ranked together there is so here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import client_events as events
import pytest
from bridgemate_dataconnector import dto
from dc_host import Host, a_client, ok
from test_dc_workflow import an_update

from firmware_bridge.wire.messages import Ask
from firmware_bridge.wire.numbers import AskFor
from terminals.scoring.session import score_session
from terminals.settings import DEFAULT
from terminals.sync.feedback import NOT_SHOWN, feedback
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


def test_each_section_has_its_own_settings(host: Host) -> None:
    client = a_client(host)
    first = events.bm2("A", "4711", show_results=True, lead_card=False)
    second = events.bm2("BB", "0815", show_results=False, lead_card=True)
    ok(client.initialize(events.an_event(many(["A", "BB", "C"]), bridgemate2_settings=[first, second])))
    assert [said(host, number) for number in (1, 28, 3)] == [
        ("4711", True, False),
        ("0815", False, True),
        ("", DEFAULT.traveller, DEFAULT.lead),
    ]
    assert not any("first one" in text for text in host.alarms())
    ok(client.send_bridgemate2_settings(events.SESSION, [events.bm2("C", "0000", show_results=True, lead_card=False)]))
    assert said(host, 3) == ("", True, False)
    assert said(host, 28) == ("0815", False, True), "a section that no row names keeps its settings"
    version = host.setup.plan_version
    ok(client.send_bridgemate3_settings(events.SESSION, [events.bm3("BB", "0000")]))
    assert said(host, 28) == ("0815", False, False), "a PIN of 0000 never replaces another one"
    ok(client.update_movement(an_update(events.a_section([[(1, 2, 1, 3)]], "BB", group=2))))
    assert said(host, 28) == ("0815", False, False), "another movement leaves the settings alone"
    assert host.setup.plan_version == version + 1
    host.save(host.setup.with_changed_settings({"traveller": True}))
    assert {said(host, number)[1] for number in (1, 28, 3)} == {True}, "what the desk says is for all sections"


def said(host: Host, number: int) -> tuple[str, bool, bool]:
    settings = host.setup.settings_of(number)
    return settings.director_pin, settings.traveller, settings.lead


def test_settings_come_with_a_session_that_is_added(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(events.an_event(many(["A"]), bridgemate2_settings=[events.bm2("A", "4711", lead_card=True)])))
    session = events.a_session([events.a_section([[(1, 2, 1, 2)]], "B", events.OTHER, 2)], events.OTHER)
    payload = {"EventGuid": events.EVENT, "Session": session.to_dict()}
    payload["Bridgemate2Settings"] = [events.bm2("B", "1234", session=events.OTHER, lead_card=False).to_dict()]
    request = events.dto.ScoringProgramRequest()
    request.command, request.session_guid = events.dto.ScoringProgramDataConnectorCommands.AddSession, events.EVENT
    request.serialized_data = json.dumps(payload)
    ok(client.send_request(request))
    assert (said(host, 1)[0], said(host, 2)[0]) == ("4711", "1234")
    assert (said(host, 1)[2], said(host, 2)[2]) == (True, False)


def test_a_traveller_has_the_lines_of_its_field(host: Host) -> None:
    client = a_client(host)
    ok(client.initialize(events.an_event(many(["A", "B", "C"], {"A": 7, "C": 7, "B": 8}))))
    for section, tricks in ((1, 9), (3, 10), (2, 11)):
        host.key_in(1, 1, 1, 1, 2, section=section, tricks=tricks)
    asked = Ask(int(AskFor.TRAVELLER), 1, 1)
    told = {number: feedback(host.database._connection, host.setup, (number, 1), asked)[0] for number in (1, 2, 3)}
    assert {number: [line.tricks for line in one.lines] for number, one in told.items()} == {
        1: [10, 9],
        2: [11],
        3: [10, 9],
    }
    assert (told[1].percent, told[2].percent, told[3].percent) == (0, NOT_SHOWN, 10000)


def test_a_new_scoring_group_may_come_before_its_section(host: Host) -> None:
    """The order that the vendor's guide asks for: the groups with the section that is to come, then the section."""
    client = a_client(host)
    first = events.a_section(events.howell_two())
    ok(client.initialize(events.an_event(events.a_session([first]))))
    second = events.a_section(events.howell_two(), "B", group=2)
    ok(client.update_scoring_groups(events.a_session([first, second]).scoring_groups))
    assert [section.letter for section in host.setup.sections] == ["A"]
    ok(client.update_movement(an_update(second)))
    assert [section.letter for section in host.setup.sections] == ["A", "B"]
    assert not host.setup.settings.across
    second.scoring_group_number = 1
    (group,) = events.a_session([first, second]).scoring_groups
    gone = dto.ScoringGroupDTO(session_guid=events.SESSION, scoring_group_number=2, scoring_method=10, is_deleted=True)
    ok(client.update_scoring_groups([group, gone]))
    assert host.setup.settings.across
