"""What we export audits clean, whatever was ruled: fouled boards, penalties, pairs that sat out more than others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interop_sessions import mitchell, names, published

from dealer.board import Vulnerability
from dealer.cards import Seat
from terminals.contract import Contract, Doubling, Strain
from terminals.interop.adjusted_note import form_note, line_note, read_adjusted_note, read_form, without_made
from terminals.interop.audit import audit_event
from terminals.interop.audit_rounds import ROUNDS_UNKNOWN
from terminals.interop.exchange import ExchangeEvent, Published
from terminals.interop.pbn_results_write import write_pbn_results
from terminals.interop.publish import EventInfo, publish_session
from terminals.interop.result_files import parse_results
from terminals.interop.results_json import write_results_json
from terminals.interop.usebio_schema import validate_usebio
from terminals.interop.usebio_write import write_usebio
from terminals.interop.xml_file import parse_xml
from terminals.result import Artificial, Assigned, Average, FixedPercent, Outcome, Played
from terminals.scoring.boards import Method
from terminals.scoring.lines import (
    Contestant,
    PenaltyUnit,
    ResultLine,
    ScoringField,
    SessionAdjustment,
    WinnerGroup,
    field_expected,
    two_winners,
)
from terminals.scoring.profile_file import load_profile
from terminals.scoring.session import score_session

WRITERS: tuple[Callable[[ExchangeEvent], bytes], ...] = (write_usebio, write_pbn_results, write_results_json)


@pytest.mark.parametrize("method", [Method.MATCHPOINTS, Method.BUTLER, Method.CROSS_IMPS])
@pytest.mark.parametrize("name", ["plain", "ebu"])
@pytest.mark.parametrize("write", WRITERS)
def test_fouled_boards_penalties_and_sit_outs(
    write: Callable[[ExchangeEvent], bytes], name: str, method: Method
) -> None:
    """A pair East-West is missing, so that everybody North-South plays fewer boards than everybody East-West."""
    profile = load_profile(name)
    lines = [line for line in mitchell(one=True) if line.ew.number != 14]
    # two of six plays are a small group under some regulations
    changed = {(3, 1), (3, 2), (5, 1), (5, 2), (5, 3)}
    lines = [replace(one, form="B" if (one.board, one.ns.number) in changed else "") for one in lines]
    unit = PenaltyUnit.TOP_FRACTION if method is Method.MATCHPOINTS else PenaltyUnit.IMPS
    late = SessionAdjustment(Contestant("", 2), Fraction(-1, 4), unit, "late", "90")
    groups = two_winners(lines)
    expected = {line.board: 6 for line in lines}
    score = score_session(lines, expected=expected, groups=groups, profile=profile, method=method, adjustments=[late])
    everybody = {contestant for group in groups for contestant in group.contestants}
    info = EventInfo("Thursday", "2026-11-26", "Club", "", "1.0", names(everybody))
    report = audit_event(parse_results(write(publish_session(info, score, profile, method))))
    assert report.equal, (report.points_mismatches, report.total_mismatches)
    assert (report.totals_checked, report.points_checked) == (13, 2 * len(lines))


OWN = (
    Artificial(FixedPercent(Fraction(60), Fraction(2)), FixedPercent(Fraction(40), Fraction(-5, 2))),
    Artificial(FixedPercent(Fraction(125, 2), Fraction(1)), Average.MINUS),
    Artificial(FixedPercent(Fraction(100), Fraction(0)), FixedPercent(Fraction(0), Fraction(0))),
    Assigned(FixedPercent(Fraction(45), Fraction(-1)), (Outcome(420),)),
)


@pytest.mark.parametrize("method", [Method.MATCHPOINTS, Method.BUTLER])
@pytest.mark.parametrize("write", WRITERS)
def test_artificial_scores_of_the_directors_own_come_back_as_they_were(
    write: Callable[[ExchangeEvent], bytes], method: Method
) -> None:
    """60 % that was ruled is no average plus, which the rest of the session would raise (Law 12C2(c))."""
    lines = mitchell(one=True)
    for at, result in enumerate(OWN):
        lines[7 * at] = replace(lines[7 * at], result=result)
    event = published(lines, one=True, method=method)
    back = parse_results(write(event))
    held = {(one.line.board, one.line.ns.number): one.line.result for one in back.lines}
    for at, result in enumerate(OWN):
        assert held[lines[7 * at].board, lines[7 * at].ns.number] == result
    report = audit_event(back)
    assert report.equal, report.total_mismatches
    assert report.totals_checked == 14


@pytest.mark.parametrize("write", WRITERS)
def test_a_wrongly_marked_board_is_published_as_it_was_marked(write: Callable[[ExchangeEvent], bytes]) -> None:
    """Board 1 marked as if all were vulnerable keeps that (Law 2), in rulings too."""
    made = Played(Contract(4, Strain.SPADES, Doubling.NONE, Seat.NORTH), 10)
    down = Played(Contract(4, Strain.SPADES, Doubling.DOUBLED, Seat.NORTH), 9)
    weighted = (Outcome(made, Fraction(1, 4)), Outcome(down, Fraction(3, 4)))
    lines = [
        replace(one, vulnerability=Vulnerability.ALL) if one.board == 1 else one for one in mitchell(one=True, seed=3)
    ]
    on_one = [at for at, one in enumerate(lines) if one.board == 1]
    for at, result in zip(
        on_one, (Assigned((Outcome(made),), (Outcome(made),)), Assigned(weighted, weighted)), strict=False
    ):
        lines[at] = replace(lines[at], result=result)
    event = published(lines, one=True)
    assert [one.score for one in event.lines if one.line.key == lines[on_one[0]].key] == [620]
    back = parse_results(write(event))
    assert {one.line.vulnerability for one in back.lines if one.line.board == 1} == {Vulnerability.ALL}
    report = audit_event(back)
    assert report.equal, (report.score_mismatches, report.points_mismatches)


def test_what_is_made_for_a_note_can_be_taken_off_again() -> None:
    result = Assigned((Outcome(420),), (Outcome(-50),))
    line = ResultLine(4, Contestant("A", 1), Contestant("A", 2), result, "A", "B", Vulnerability.EW)
    note = line_note(line)
    assert read_adjusted_note(note) == result
    assert without_made(f"{note} Law 87: turned (Anna).") == "Law 87: turned (Anna)."


@pytest.mark.parametrize("write", [write_usebio, write_pbn_results])
def test_sections_that_were_ranked_apart_count_a_full_number_of_boards_each(
    write: Callable[[ExchangeEvent], bytes],
) -> None:
    """Section B played three rounds, section A seven; a section's letter is part of a pair's number in the file."""
    lines = [*mitchell(one=True, section="A"), *mitchell(rounds=3, one=True, section="B", seed=2)]
    lines = [one for one in lines if one.section == "A" or one.ew.number != 14]
    everybody = sorted({one for line in lines for one in (line.ns, line.ew)})
    groups = [WinnerGroup(letter, tuple(one for one in everybody if one.section == letter)) for letter in "AB"]
    counts: dict[int, int] = {}
    for line in lines:
        counts[line.board] = counts.get(line.board, 0) + 1
    fields = [ScoringField(field_expected(counts))]
    profile = load_profile("plain")
    score = score_session(lines, fields=fields, groups=groups, profile=profile, method=Method.BUTLER)
    info = EventInfo("Thursday", "2026-11-26", "Club", "", "1.0", names(set(everybody)))
    report = audit_event(parse_results(write(publish_session(info, score, profile, Method.BUTLER))))
    assert report.equal, report.total_mismatches
    assert (report.totals_checked, report.places_checked) == (27, 27)


def test_words_of_people_never_make_a_file_that_is_refused() -> None:
    event = published(mitchell(one=True), one=True)
    long = replace(event.lines[0], note="Law 12: " + "x " * 400)
    event = replace(event, title="a\tb\x01\n\ud800c\uffff", lines=(long, *event.lines[1:]))
    root, _ = parse_xml(write_usebio(event))
    assert validate_usebio(root) == []
    assert parse_results(write_usebio(event)).title == "a b c"


def test_teams_whose_pairs_score_against_the_field_keep_one_number_in_pbn() -> None:
    """Multiple teams: both pairs of a team are credited to it, so its number is on both sides of a board."""
    lines = [replace(one, ew=Contestant("", (one.ns.number + one.board % 6) % 7 + 1)) for one in mitchell(one=True)]
    lines = list({(one.board, one.ns): one for one in lines}.values())
    report = audit_event(parse_results(write_pbn_results(published(lines, one=True))))
    assert report.equal, report.total_mismatches
    assert report.totals_checked == 7


def test_victory_points_in_pbn_are_no_percentages() -> None:
    event = published(mitchell(one=True), one=True)
    totals = tuple(
        replace(one, total=Published(Fraction(40 + at), 2, f"{40 + at}.00"), in_vps=True)
        for at, one in enumerate(event.entrants)
    )
    swiss = replace(event, match_scoring="VPS", entrants=totals)
    text = write_pbn_results(swiss)
    assert b"TotalVP" in text
    assert b"TotalPercentage" not in text
    back = parse_results(text)
    assert (back.match_scoring, [one.total for one in back.entrants]) == ("VPS", [one.total for one in totals])
    report = audit_event(back)
    assert report.equal
    assert ROUNDS_UNKNOWN in report.notes


@given(st.from_regex(r"[A-Za-z0-9ÄŻ]([A-Za-z0-9 ]{0,10}[A-Za-z0-9])?", fullmatch=True))
def test_the_form_in_a_note_is_read_back(form: str) -> None:
    assert read_form(f"Law 87. {form_note(form)} Adjusted: NS 1 +50; EW AVE") == form
    assert read_form("Form follows function") == ""
