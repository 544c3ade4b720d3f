"""The audit: clean files are equal, each kind of fault is found once and alone, the right profile is named."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interop_sessions import mitchell, published, with_rulings

from dealer.cards import Seat
from firmware_bridge.errors import EntryError
from terminals.contract import Contract, Doubling, Strain
from terminals.interop.audit import audit_event
from terminals.interop.exchange import ExchangeEvent, Published
from terminals.interop.pbn_results import read_pbn_results
from terminals.interop.pbn_results_write import write_pbn_results
from terminals.interop.publish import EventInfo, publish_session
from terminals.interop.usebio_read import read_usebio
from terminals.interop.usebio_write import write_usebio
from terminals.result import Played
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant, PenaltyUnit, ResultLine, SessionAdjustment, two_winners
from terminals.scoring.matchpoints import Unequal
from terminals.scoring.profile import PLAIN, CrossImpMode, Profile
from terminals.scoring.profile_file import load_profile
from terminals.scoring.session import score_session


def audit(lines: list[ResultLine], profile: Profile = PLAIN, method: Method = Method.MATCHPOINTS, **changes: object):  # type: ignore[no-untyped-def]
    return audit_event(read_usebio(write_usebio(published(lines, profile, method, **changes))))  # type: ignore[arg-type]


@pytest.mark.parametrize("method", list(Method))
@pytest.mark.parametrize("one", [False, True])
def test_our_own_files_are_equal(method: Method, one: bool) -> None:
    lines = mitchell(one=one)
    report = audit(lines, method=method, one=one)
    assert report.equal, (report.points_mismatches, report.total_mismatches)
    assert report.lines == len(lines) == report.contract_scores_checked
    assert report.points_checked == 2 * len(lines)
    assert report.totals_checked == 14
    assert report.profile == "plain"
    assert report.changes == {}


@pytest.mark.parametrize("method", [Method.MATCHPOINTS, Method.BUTLER, Method.CROSS_IMPS])
def test_our_own_files_with_rulings_are_equal(method: Method) -> None:
    report = audit(with_rulings(mitchell(9, 9, 3)), method=method)
    assert report.equal, (report.points_mismatches, report.total_mismatches)


def test_unequal_boards_and_every_way_to_factor_them() -> None:
    lines = [line for index, line in enumerate(mitchell(9, 9, 2, seed=5)) if index % 11]
    for unequal in Unequal:
        report = audit(lines, replace(PLAIN, unequal=unequal))
        assert report.equal, unequal
        assert report.changes.get("unequal", "neuberg") == unequal.value


@pytest.mark.parametrize("name", ["plain", "ebu", "acbl", "pzbs"])
def test_an_unfinished_session_is_explained_by_the_results_that_are_expected(name: str) -> None:
    """No board has all nine results, so that E can't be counted."""
    profile = load_profile(name)
    lines = [line for line in mitchell(9, 9, 2, seed=7) if (line.ns.number + line.board) % 9 > line.board % 3]
    expected = dict.fromkeys({line.board for line in lines}, 9)
    score = score_session(lines, expected=expected, groups=two_winners(lines), profile=profile)
    event = publish_session(EventInfo("Half-time", "2026-11-26"), score, profile)
    report = audit_event(read_usebio(write_usebio(event)))
    assert report.equal, (report.changes, report.points_mismatches[:3], report.total_mismatches[:3])
    assert report.changes["results_expected"] == "by the published points"
    assert audit_event(read_usebio(write_usebio(event)), profile).equal


def test_half_points_are_explained_by_the_profile_that_uses_them() -> None:
    assert audit(mitchell(), load_profile("acbl")).profile == "acbl"


def test_butler_rules_are_found() -> None:
    for drop in (0, 2):
        report = audit(mitchell(9, 9, 2), replace(PLAIN, butler_drop=drop), Method.BUTLER)
        assert report.equal
        assert report.profile == ("wbf" if drop == 0 else "plain")
    total = audit(mitchell(), replace(PLAIN, cross_imp_mode=CrossImpMode.TOTAL), Method.CROSS_IMPS)
    assert total.equal
    assert total.changes == {"cross_imp_mode": "total"}


def edited(pattern: str, new: str, lines: list[ResultLine] | None = None, count: int = 1, **more: object):  # type: ignore[no-untyped-def]
    text = write_usebio(published(lines or mitchell(), **more)).decode()  # type: ignore[arg-type]
    changed, found = re.subn(pattern, new, text, count=count)
    assert found == count
    return audit_event(read_usebio(changed.encode()))


def test_a_wrong_score_is_one_fault_and_nothing_else() -> None:
    report = edited(r"<SCORE>-?\d+</SCORE>", "<SCORE>-2470</SCORE>")
    assert (len(report.score_mismatches), report.points_mismatches, report.total_mismatches) == (1, (), ())
    fault = report.score_mismatches[0].as_dict()
    assert fault["board"] == 1
    assert fault["published"] == -2470
    assert isinstance(fault["computed"], int)


def test_a_wrong_contract_is_one_fault_and_nothing_else() -> None:
    report = edited(r"<TRICKS>\d+</TRICKS>", "<TRICKS>0</TRICKS>")
    assert (len(report.score_mismatches), report.points_mismatches, report.total_mismatches) == (1, (), ())


def test_wrong_points_and_wrong_totals_are_found_where_they_are() -> None:
    report = edited(r"<NS_MATCH_POINTS>[\d.]+<", "<NS_MATCH_POINTS>99<")
    assert [one.as_dict()["published"] for one in report.points_mismatches] == [99]
    assert (report.score_mismatches, report.total_mismatches) == ((), ())
    report = edited(r"<PERCENTAGE>[\d.]+<", "<PERCENTAGE>71.23<")
    assert [one.as_dict()["published"] for one in report.total_mismatches] == [71.23]
    assert "contestant" in report.total_mismatches[0].as_dict()
    assert (report.score_mismatches, report.points_mismatches) == ((), ())


def test_a_hundredth_is_enough() -> None:
    clean = published(mitchell())
    best = clean.entrants[0]
    assert best.total is not None
    for step in (Fraction(1, 100), Fraction(-1, 100)):
        value = f"{float(best.total.value + step):.2f}"
        report = edited(rf"<PERCENTAGE>{best.total.text}<", f"<PERCENTAGE>{value}<")
        assert len(report.total_mismatches) == 1


def test_raw_points_on_the_lines_with_factored_totals() -> None:
    lines = [line for index, line in enumerate(mitchell(9, 9, 2, seed=5)) if index % 11]
    event = published(lines)
    raw = published(lines, replace(PLAIN, unequal=Unequal.OWN_TOP))
    mixed = replace(event, lines=raw.lines)
    report = audit_event(read_usebio(write_usebio(mixed)))
    assert report.equal
    assert report.changes == {"points_shown": "before factoring"}


def test_sections_across_the_field_and_apart() -> None:
    across = mitchell(5, 5, 2, seed=3, section="A") + mitchell(5, 5, 2, seed=4, section="B")
    report = audit(across)
    assert report.equal
    assert report.changes == {}


def test_only_the_wanted_profile_is_tried() -> None:
    event = read_usebio(write_usebio(published(mitchell(), load_profile("acbl"))))
    report = audit_event(event, load_profile("ebu"))
    assert report.profile == "ebu"
    assert len(report.points_mismatches) > 100


def test_json_keys_are_the_promised_ones() -> None:
    report = audit(mitchell(3, 3, 1)).as_dict()
    assert isinstance(report["lines"], int)
    assert isinstance(report["contract_scores_checked"], int)
    for name in ("score_mismatches", "points_mismatches", "total_mismatches"):
        assert report[name] == []
    assert report["profile"] == "plain"


def test_penalties_are_part_of_the_total() -> None:
    text = write_usebio(published(mitchell())).decode()
    best = re.search(r"<PERCENTAGE>([\d.]+)<", text)
    assert best is not None
    fined = f"{float(best.group(1)) - 2:.2f}"
    text = text.replace(best.group(0), f"<PERCENTAGE>{fined}<", 1)
    total = f"<PERCENTAGE>{fined}</PERCENTAGE>"
    text = text.replace(total, f"{total}<ADJUSTMENT>-2.00</ADJUSTMENT>", 1)
    assert audit_event(read_usebio(text.encode())).equal


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 8), st.sampled_from(list(Method)))
def test_any_clean_file_is_equal(seed: int, tables: int, method: Method) -> None:
    report = audit(mitchell(tables, tables, 2, seed), method=method)
    assert report.equal


BUTLER = """<USEBIO Version="1.2"><EVENT EVENT_TYPE="NOTSUP"><PROGRAM_NAME>P</PROGRAM_NAME>
<SCORING_METHOD>IMPS</SCORING_METHOD><PARTICIPANTS EVENT_TYPE="BUTLER_PAIRS">{people}</PARTICIPANTS>
<BOARD EVENT_TYPE="BUTLER_PAIRS"><BOARD_NUMBER>1</BOARD_NUMBER><BOARD_AVERAGE>{datum}</BOARD_AVERAGE>{lines}</BOARD>
</EVENT></USEBIO>"""


def butler_file(datum: int) -> bytes:
    results = ["3S E 9 -140 -3", "3S E 9 -140 -3", "4S E 9 50 2", "4S E 8 100 4", "4S E 10 -420 -9", "4S W 9 50 2"]
    people = lines = ""
    for number, text in enumerate([*results, results[2]], start=1):
        contract, by, tricks, score, worth = text.split()
        points = int(worth)
        for side, value in (("NS", points), ("EW", -points)):
            people += (
                f"<PAIR><PAIR_NUMBER>{number}{side}</PAIR_NUMBER><DIRECTION>{side}</DIRECTION>"
                f"<TOTAL_SCORE>{value}.00</TOTAL_SCORE></PAIR>"
            )
        lines += (
            f"<TRAVELLER_LINE><NS_PAIR_NUMBER>{number}NS</NS_PAIR_NUMBER><EW_PAIR_NUMBER>{number}EW</EW_PAIR_NUMBER>"
            f"<CONTRACT>{contract}</CONTRACT><PLAYED_BY>{by}</PLAYED_BY><LEAD>TD</LEAD><TRICKS>{tricks}</TRICKS>"
            f"<SCORE>{score}</SCORE><NS_BUTLER_POINTS>{points}</NS_BUTLER_POINTS>"
            f"<EW_BUTLER_POINTS>{-points}</EW_BUTLER_POINTS></TRAVELLER_LINE>"
        )
    return BUTLER.format(people=people, datum=datum, lines=lines).encode()


def test_a_published_butler_file_with_its_datum() -> None:
    report = audit_event(read_usebio(butler_file(-30)))
    assert report.equal, (report.points_mismatches, report.total_mismatches, report.notes)
    assert (report.lines, report.points_checked, report.totals_checked) == (7, 15, 14)
    assert report.method == "butler"
    wrong = audit_event(read_usebio(butler_file(-20)))
    assert [one.as_dict() for one in wrong.points_mismatches] == [
        {"board": 1, "published": -20, "computed": -30, "detail": "datum"}
    ]


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=40), st.integers(0, 9000), st.integers(0, 300))
def test_damaged_files_raise_nothing_but_entry_errors(noise: bytes, start: int, length: int) -> None:
    good = write_usebio(published(with_rulings(mitchell(7, 7, 1))))
    try:
        audit_event(read_usebio(good[:start] + noise + good[start + length :]))
    except EntryError:
        pass


def test_matches_between_pairs_are_checked_by_their_boards() -> None:
    def match(number: int, ns: int, ew: int, score: int, points: int) -> str:
        return (
            f"<MATCH><ROUND_NUMBER>1</ROUND_NUMBER><NS_PAIR_NUMBER>{ns}</NS_PAIR_NUMBER>"
            f"<EW_PAIR_NUMBER>{ew}</EW_PAIR_NUMBER><NS_SCORE>15</NS_SCORE><EW_SCORE>5</EW_SCORE>"
            f"<BOARD><BOARD_NUMBER>1</BOARD_NUMBER><TRAVELLER_LINE><SCORE>{score}</SCORE>"
            f"<NS_MATCH_POINTS>{points}</NS_MATCH_POINTS><EW_MATCH_POINTS>{2 - points}</EW_MATCH_POINTS>"
            "</TRAVELLER_LINE></BOARD></MATCH>"
        )

    people = "".join(f"<PAIR><PAIR_NUMBER>{n}</PAIR_NUMBER><TOTAL_SCORE>15</TOTAL_SCORE></PAIR>" for n in range(1, 5))
    body = match(1, 1, 2, 100, 2) + match(2, 3, 4, -100, 0)
    text = f'<USEBIO><EVENT EVENT_TYPE="SWISS_PAIRS"><PARTICIPANTS>{people}</PARTICIPANTS>{body}</EVENT></USEBIO>'
    report = audit_event(read_usebio(text.encode()))
    assert report.equal, (report.points_mismatches, report.total_mismatches)
    assert (report.lines, report.points_checked, report.totals_checked) == (2, 4, 0)
    assert any("follow no scale known here" in note for note in report.notes)


def test_places_that_contradict_the_totals_are_differences() -> None:
    event = read_usebio(write_usebio(published(mitchell())))
    assert audit_event(event).places_checked == len(event.entrants)
    first, second, *rest = event.entrants
    swapped = replace(event, entrants=(replace(first, place=second.place), replace(second, place=first.place), *rest))
    report = audit_event(swapped)
    assert not report.equal
    assert [one.as_dict() for one in report.total_mismatches] == [
        {
            "contestant": one.label if one.label.endswith(one.direction) else f"{one.label} {one.direction}",
            "published": int(other.place.strip("=")),
            "computed": int(one.place.strip("=")),
            "detail": "place",
        }
        for one, other in ((first, second), (second, first))
    ]


def test_places_by_something_else_are_a_note() -> None:
    event = read_usebio(write_usebio(published(mitchell())))
    backwards = tuple(replace(one, place=str(99 - int(one.place.strip("=")))) for one in event.entrants)
    report = audit_event(replace(event, entrants=backwards))
    assert report.equal
    assert report.notes == ("the places do not follow these totals; they were not checked",)


def test_places_of_equal_totals_may_be_shared_or_not() -> None:
    event = read_usebio(write_usebio(published(mitchell())))
    same = event.entrants[0].total
    tied = tuple(replace(one, total=same, place=str(place)) for place, one in enumerate(event.entrants, start=1))
    assert not [one for one in audit_event(replace(event, entrants=tied)).total_mismatches if one.detail == "place"]


def with_matchpoints(event: ExchangeEvent, *, wrong: int) -> ExchangeEvent:
    """The event with the sum of each pair's matchpoints beside its percentage, ``wrong`` of them one too high."""
    sums: dict[object, Fraction] = {}
    for one in event.lines:
        for side, points in ((one.line.ns, one.ns_points), (one.line.ew, one.ew_points)):
            assert points is not None
            sums[side] = sums.get(side, Fraction(0)) + points.value
    entrants = [
        replace(one, second_total=Published(sums[one.contestant] + (place < wrong), 1, "x"))
        for place, one in enumerate(event.entrants)
    ]
    return replace(event, entrants=tuple(entrants))


def test_matchpoints_beside_the_percentage_are_checked_too() -> None:
    event = read_usebio(write_usebio(published(mitchell())))
    good = audit_event(with_matchpoints(event, wrong=0))
    assert (good.equal, good.totals_checked) == (True, 2 * len(event.entrants))
    bad = audit_event(with_matchpoints(event, wrong=1))
    assert [(one.detail, one.published - (one.computed or 0)) for one in bad.total_mismatches] == [("second total", 1)]
    other = audit_event(with_matchpoints(event, wrong=len(event.entrants)))
    assert other.equal
    assert len(other.notes) == 1


@pytest.mark.parametrize("seed", range(12))
def test_our_own_files_with_penalties_are_equal(seed: int) -> None:
    lines = mitchell(7, 7, 3, seed)
    groups = two_winners(lines)
    fines = [
        SessionAdjustment(one, Fraction(-1, 4), PenaltyUnit.TOP_FRACTION)
        for group in groups
        for one in group.contestants[: 2 + seed % 3]
    ]
    expected = dict.fromkeys(range(1, 22), 7)
    score = score_session(lines, expected=expected, groups=groups, adjustments=fines)
    event = publish_session(EventInfo("E", "2026-11-26"), score, PLAIN)
    report = audit_event(read_usebio(write_usebio(event)))
    assert report.equal, report.total_mismatches


IMPOSSIBLE = [("4S", "8S", "one to seven"), ("10", "14", "0 to 13"), ("10", "-12", "0 to 13")]


@pytest.mark.parametrize(("right", "wrong", "why"), IMPOSSIBLE)
@pytest.mark.parametrize("kind", ["usebio", "pbn"])
def test_a_result_that_cannot_be_has_no_score(kind: str, right: str, wrong: str, why: str) -> None:
    played = Played(Contract(4, Strain.SPADES, Doubling.NONE, Seat.NORTH), 10)
    event = published([ResultLine(1, Contestant("A", 1, "NS"), Contestant("A", 2, "EW"), played)])
    if kind == "usebio":
        event = read_usebio(write_usebio(event).replace(f">{right}<".encode(), f">{wrong}<".encode()))
    else:
        head, table = write_pbn_results(event).split(b"[ScoreTable")
        table = table.replace(f" {right} ".encode(), f" {wrong} ".encode())
        event = read_pbn_results(head + b"[ScoreTable" + table)
    report = audit_event(event)
    (one,) = report.score_mismatches
    assert (one.board, one.published, one.computed) == (1, 420, None)
    assert why in one.detail
    assert report.contract_scores_checked == 1
    assert not report.equal
