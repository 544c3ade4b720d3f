"""The audit as a page that is good to read."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from terminals.interop.audit_beside import PLACE
from terminals.interop.audit_found import AuditReport
from terminals.interop.audit_values import Mismatch
from terminals.scoring.rounding import decimal_text

SHOWN = 40
"""Differences of one kind that the page lists; the JSON has them all."""


def audit_text(report: AuditReport, name: str = "") -> str:
    """Lines for a person, without a final line end."""
    out = [f"Audit of {name or report.title or 'the file'}"]
    if name and report.title:
        out.append(f"  event            {report.title}")
    out.append(f"  scored by        {report.method}, profile {report.profile}{_changes(report)}")
    out.append(f"  result lines     {report.lines}")
    out.append(_row("contract scores", report.contract_scores_checked, len(report.score_mismatches)))
    out.append(_row("board points", report.points_checked, len(report.points_mismatches)))
    places = sum(one.detail == PLACE for one in report.total_mismatches)
    out.append(_row("totals", report.totals_checked, len(report.total_mismatches) - places))
    out.append(_row("places", report.places_checked, places))
    for title, found in (
        ("Contract scores that differ", report.score_mismatches),
        ("Board points that differ", report.points_mismatches),
        ("Totals and places that differ", report.total_mismatches),
    ):
        out += _list(title, found)
    if report.notes:
        out += ["", "Notes"]
        out += [f"  {note}" for note in report.notes[:SHOWN]]
        if len(report.notes) > SHOWN:
            out.append(f"  and {len(report.notes) - SHOWN} more")
    out += ["", _verdict(report)]
    return "\n".join(out)


def _verdict(report: AuditReport) -> str:
    if not report.equal:
        return "Not all published numbers are equal."
    if not report.contract_scores_checked + report.points_checked + report.totals_checked:
        return "There was no published number to compare."
    return "All published numbers are equal."


def _changes(report: AuditReport) -> str:
    if not report.changes:
        return ""
    return " with " + ", ".join(f"{key.replace('_', ' ')} = {value}" for key, value in report.changes.items())


def _row(what: str, checked: int, wrong: int) -> str:
    verdict = "none to check" if not checked else "all equal" if not wrong else f"{wrong} different"
    return f"  {what:<16} {checked} checked, {verdict}" if checked else f"  {what:<16} {verdict}"


def _list(title: str, found: Sequence[Mismatch]) -> list[str]:
    if not found:
        return []
    width = max(len(one.place) for one in found[:SHOWN])
    out = ["", title]
    for one in found[:SHOWN]:
        published, computed = _number(one.published, one), _number(one.computed, one)
        detail = f"   {one.detail}" if one.detail else ""
        out.append(f"  {one.place:<{width}}  published {published:>8}  computed {computed:>8}{detail}")
    if len(found) > SHOWN:
        out.append(f"  and {len(found) - SHOWN} more; --json lists them all")
    return out


def _number(value: Fraction | None, one: Mismatch) -> str:
    if value is None:
        return "nothing"
    if value.denominator == 1 and not one.decimals:
        return str(value)
    return decimal_text(value, max(one.decimals, 2))
