"""Files put together: a field over two sections, a ranking over sessions, the window of Law 12C2(c), master points."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from interop_sessions import mitchell, published
from interop_teams import round_robin

from firmware_bridge.cli.main import main
from firmware_bridge.errors import EntryError
from terminals.interop.audit import audit_event
from terminals.interop.combine import combine_sections, combine_sessions
from terminals.interop.exchange import ExchangeEvent
from terminals.interop.publish import EventInfo, publish_session
from terminals.interop.results_json import read_results_json, write_results_json
from terminals.interop.usebio_read import read_usebio
from terminals.interop.usebio_write import write_usebio
from terminals.result import Artificial, Average
from terminals.scoring.lines import ResultLine, two_winners
from terminals.scoring.profile import PLAIN, Window
from terminals.scoring.session import score_session


def section(letter: str, tables: int, seed: int, rounds: int = 5) -> list[ResultLine]:
    return [
        replace(line, section=letter, ns=replace(line.ns, section=letter), ew=replace(line.ew, section=letter))
        for line in mitchell(tables, rounds, 2, seed=seed)
    ]


def test_sections_of_different_size_are_one_field() -> None:
    parts = [section("A", 5, 1), section("B", 7, 2, 7)]
    event = combine_sections([published(part) for part in parts])
    lines = parts[0] + parts[1]
    again = score_session(lines, expected=dict.fromkeys(range(1, 15), 12), groups=two_winners(lines))
    told = {one.contestant: (one.place, one.total and one.total.text) for one in event.entrants}
    assert told == {row.contestant: (row.place_text, row.percent_text) for rank in again.rankings for row in rank}
    back = read_results_json(write_results_json(event))
    assert audit_event(back).equal
    assert back.sections == ("A", "B")


def sessions(profile=PLAIN) -> list[ExchangeEvent]:  # type: ignore[no-untyped-def]
    """The second session has an AVE+ for the best of it; E differs between the two."""
    first, second = section("A", 7, 3, 7), section("A", 7, 4, 7)
    artificial = [replace(second[0], result=Artificial(Average.PLUS, Average.MINUS)), *second[1:]]
    return [published(first, profile), published(artificial, profile)]


@pytest.mark.parametrize("window", [Window.SESSION, Window.STAGE])
def test_sessions_add_up_board_by_board(window: Window) -> None:
    profile = replace(PLAIN, percentage_window=window)
    parts = sessions(profile)
    event = combine_sessions(parts, profile)
    totals = [{one.contestant: one.total for one in part.entrants} for part in parts]
    lucky = parts[1].lines[0].line.ns if isinstance(parts[1].lines[0].line.result, Artificial) else None
    assert lucky is not None
    for one in event.entrants:
        first, second = totals[0][one.contestant], totals[1][one.contestant]
        assert one.total is not None
        assert first is not None
        assert second is not None
        assert one.boards == 28
        if window is Window.SESSION:
            # equally long sessions: the mean of the two percentages, which were rounded for print
            assert abs(one.total.value - (first.value + second.value) / 2) <= Fraction(1, 100)
    if window is Window.STAGE:
        assert audit_event(read_results_json(write_results_json(event))).equal
        back = read_usebio(write_usebio(event))
        assert audit_event(back).equal
        assert back.sections == ("1/A", "2/A")


def test_a_session_in_which_every_board_was_played_once() -> None:
    """After one round: E is known from the published points only."""
    lines = [line for line in section("A", 5, 1) if line.ns.number == (line.board - 1) // 2 % 5 + 1]
    assert len(lines) == len({line.board for line in lines}) == 10
    score = score_session(lines, expected=dict.fromkeys(range(1, 11), 5), groups=two_winners(lines))
    event = publish_session(EventInfo("x", "2026-11-26"), score, PLAIN)
    assert audit_event(event).equal
    assert {one.total and one.total.text for one in combine_sessions([event, event]).entrants} == {"50.00"}


def test_what_does_not_fit_together_is_refused() -> None:
    one, other = published(section("A", 5, 1)), published(section("B", 5, 2))
    for wrong, words in (
        ([one, one], "same name"),
        ([one, replace(other, winners=1)], "one winner and another two"),
        ([one, round_robin()], "Team matches"),
    ):
        with pytest.raises(EntryError, match=words):
            combine_sections(wrong)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = []
    for letter in "AB":
        names.append(str(tmp_path / f"{letter}.json"))
        Path(names[-1]).write_bytes(write_results_json(published(section(letter, 5, ord(letter)))))
    awards = tmp_path / "awards.toml"
    awards.write_text('name = "Club"\n[[award]]\nfrom = 1\nplaces = [12, 8, 4]\n')
    out = tmp_path / "c.json"
    assert main(["results", "combine", *names, "--out", str(out), "--awards", str(awards)]) == 0
    event = read_results_json(out.read_bytes())
    best = [one.master_points.text for one in event.entrants if one.master_points is not None]
    assert sorted(best, key=float) == ["4.00", "4.00", "8.00", "8.00", "12.00", "12.00"]
    assert main(["results", "print", str(out), "ranking", "--out", str(tmp_path / "c.pdf")]) == 0
    assert main(["results", "combine", names[0], names[0], "--sessions", "--window", "stage", "--out", str(out)]) == 0
    assert main(["results", "combine", names[0], names[0], "--out", str(out)]) == 1
    assert "--sessions" in capsys.readouterr().err
