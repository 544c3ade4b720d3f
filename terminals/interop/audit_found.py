"""What an audit found, as values and as the JSON object of the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from terminals.interop.audit_explain import Explanation
from terminals.interop.audit_values import Mismatch


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What the audit found. lines: result lines read; the ``*_checked`` say how many numbers were compared.

    Places that differ are among the total mismatches. explanation: the way of scoring that leaves the fewest
    differences.
    """

    title: str
    lines: int
    contract_scores_checked: int
    points_checked: int
    totals_checked: int
    score_mismatches: tuple[Mismatch, ...]
    points_mismatches: tuple[Mismatch, ...]
    total_mismatches: tuple[Mismatch, ...]
    profile: str
    changes: Mapping[str, str]
    method: str
    explanation: Explanation
    notes: tuple[str, ...] = ()
    places_checked: int = 0

    @property
    def equal(self) -> bool:
        return not (self.score_mismatches or self.points_mismatches or self.total_mismatches)

    def as_dict(self) -> dict[str, object]:
        """The keys of the command's JSON object."""
        return {
            "lines": self.lines,
            "contract_scores_checked": self.contract_scores_checked,
            "points_checked": self.points_checked,
            "totals_checked": self.totals_checked,
            "places_checked": self.places_checked,
            "score_mismatches": [one.as_dict() for one in self.score_mismatches],
            "points_mismatches": [one.as_dict() for one in self.points_mismatches],
            "total_mismatches": [one.as_dict() for one in self.total_mismatches],
            "profile": self.profile,
            "profile_changes": dict(self.changes),
            "method": self.method,
            "notes": list(self.notes),
        }
