"""What we export audits clean, whatever was ruled: fouled boards, penalties, pairs that sat out more than others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interop_sessions import mitchell, names, published

from terminals.interop.adjusted_note import form_note, read_form
from terminals.interop.audit import ROUNDS_UNKNOWN, audit_event
from terminals.interop.exchange import ExchangeEvent, Published
from terminals.interop.pbn_results_write import write_pbn_results
from terminals.interop.publish import EventInfo, publish_session
from terminals.interop.result_files import parse_results
from terminals.interop.results_json import write_results_json
from terminals.interop.usebio_write import write_usebio
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant, PenaltyUnit, SessionAdjustment, two_winners
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
        replace(one, total=Published(Fraction(40 + at), 2, f"{40 + at}.00")) for at, one in enumerate(event.entrants)
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
