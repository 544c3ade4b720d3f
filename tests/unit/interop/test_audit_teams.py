"""Auditing team matches: IMPs, board-a-match, both victory-point scales, and scales that nobody knows."""

from __future__ import annotations

import re

import pytest
from interop_teams import round_robin

from terminals.interop.audit import audit_event
from terminals.interop.audit_found import AuditReport
from terminals.interop.usebio_read import read_usebio
from terminals.interop.usebio_write import write_usebio
from terminals.scoring.profile import VpScale
from terminals.scoring.teams import TeamMethod


def audit(text: bytes) -> AuditReport:
    return audit_event(read_usebio(text))


@pytest.mark.parametrize("method", list(TeamMethod))
def test_our_own_team_files_are_equal(method: TeamMethod) -> None:
    scale = VpScale.CONTINUOUS if method is TeamMethod.IMPS else None
    report = audit(write_usebio(round_robin(method=method, scale=scale)))
    assert report.equal, (report.points_mismatches, report.total_mismatches)
    assert report.points_checked == 36
    assert report.totals_checked == 12 + 4
    assert report.contract_scores_checked == report.lines == 72
    assert report.method == method.value


def test_the_scale_is_found() -> None:
    report = audit(write_usebio(round_robin(scale=VpScale.DISCRETE)))
    assert report.equal
    assert (report.profile, report.changes) == ("ebu", {})


@pytest.mark.parametrize(
    ("pattern", "new", "where"),
    [
        (r"<IMPS>-?\d+<", "<IMPS>77<", "points"),
        (r"<TEAM_SCORE>[\d.]+<", "<TEAM_SCORE>0.07<", "totals"),
        (r"<TOTAL_SCORE>[\d.]+<", "<TOTAL_SCORE>99.99<", "totals"),
        (r"<SCORE>-?\d+<", "<SCORE>12340<", "scores"),
        (r"<TRICKS>\d+<", "<TRICKS>0<", "scores"),
    ],
)
def test_each_fault_is_found_alone(pattern: str, new: str, where: str) -> None:
    text, found = re.subn(pattern, new, write_usebio(round_robin()).decode(), count=1)
    assert found == 1
    report = audit(text.encode())
    counts = {
        "scores": len(report.score_mismatches),
        "points": len(report.points_mismatches),
        "totals": len(report.total_mismatches),
    }
    assert counts == {name: int(name == where) for name in counts}


def test_an_unknown_scale_is_only_checked_for_consistency() -> None:
    text = write_usebio(round_robin(5, 6, seed=3)).decode()
    doubled = re.sub(
        r"<(TEAM_SCORE|OPPOSING_TEAM_SCORE|TOTAL_SCORE)>([\d.]+)<",
        lambda match: f"<{match.group(1)}>{float(match.group(2)) * 3:.2f}<",
        text,
    )
    report = audit(doubled.encode())
    assert report.equal, report.total_mismatches
    assert any("no scale known" in note for note in report.notes)
