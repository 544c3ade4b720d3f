"""Re-scores a published event from its table results and compares every published number with our own.

Files do not say by which regulation they were scored, so the audit looks for the profile, and the few differences from
it, that explain the file best; what then still differs is reported. A published contract and a published score that
disagree are one fault: the rest of the board is checked with whichever of the two the published points agree with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from firmware_bridge.errors import EntryError
from terminals.interop.audit_beside import Beside, Share, check_places, check_second_totals, check_shares
from terminals.interop.audit_explain import Explanation
from terminals.interop.audit_found import AuditReport
from terminals.interop.audit_rounds import ROUNDS_UNKNOWN, RoundFindings, audit_rounds, average, without_rounds
from terminals.interop.audit_teams import TeamFindings, audit_matches
from terminals.interop.audit_totals import session_totals
from terminals.interop.audit_values import Mismatch, Tolerance, decimals_of, shared_by
from terminals.interop.exchange import EventKind, ExchangeEvent, ExchangeLine
from terminals.result import Assigned, Outcome, PassedOut, Played
from terminals.scoring.boards import LineScore, Method, SideScore, score_lines
from terminals.scoring.contract_score import score_ns
from terminals.scoring.imps import butler_datum
from terminals.scoring.lines import Contestant, ResultLine
from terminals.scoring.matchpoints import Unequal
from terminals.scoring.profile import Profile
from terminals.scoring.profile_file import PROFILE_NAMES, load_profile
from terminals.scoring.rounding import Rounding, round_to
from terminals.scoring.session import Totals, credits
from terminals.scoring.sides import line_sides

MAX_CHOICES = 4  # lines of one board whose contract and score disagree, for which all combinations are tried
SEARCH_ORDER = ("plain", *(name for name in PROFILE_NAMES if name != "plain"))


@dataclass(slots=True)
class _Findings:
    points: list[Mismatch] = field(default_factory=list)
    totals: list[Mismatch] = field(default_factory=list)
    points_checked: int = 0
    totals_checked: int = 0
    sums: dict[Contestant, Totals] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.points) + len(self.totals)


def audit_event(event: ExchangeEvent, profile: Profile | None = None) -> AuditReport:
    """Audit an event; with ``profile`` only that one is tried, without the five of the program and their variants.

    Raises EntryError when the results can't be scored at all.
    """
    return _Audit(event).run(profile)


class _Audit:
    def __init__(self, event: ExchangeEvent) -> None:
        self.notes = list(event.warnings)
        self.event = without_rounds(event)
        if self.event is not event:
            event = self.event
            self.notes.append(ROUNDS_UNKNOWN)
        self.labels = {one.contestant: one for one in event.entrants}
        self.score_mismatches: list[Mismatch] = []
        self.contract_scores = 0
        self.doubtful: dict[int, list[int]] = {}  # board -> indices of lines whose contract and score disagree
        self.chosen = list(event.lines)  # lines as they are scored
        self.has_points = any(one.ns_points or one.ew_points for one in event.lines)
        # whose totals come from matches
        self.teams = {team for match in event.matches for team in (match.team, match.opponent)}
        self.teams |= {one.contestant for one in event.entrants if one.in_vps}
        self._check_scores()
        self.point_decimals = decimals_of(
            one for line in event.lines for one in (line.ns_points, line.ew_points) if one is not None
        )
        self.total_decimals = decimals_of(one.total for one in event.entrants if one.total is not None)

    # contract scores

    def _check_scores(self) -> None:
        for index, one in enumerate(self.event.lines):
            result = one.line.result
            if one.score is not None and one.fault:
                self.contract_scores += 1
                self.score_mismatches.append(self._score_mismatch(one, None, one.fault))
                continue
            if one.score is None or not isinstance(result, (Played, PassedOut)):
                continue
            computed = score_ns(result, one.line.board, one.line.vulnerability)
            assert computed is not None
            self.contract_scores += 1
            if one.score_ew is not None and computed != -one.score_ew and one.score_ew != -one.score:
                wrong = replace(one, score=one.score_ew)
                self.score_mismatches.append(self._score_mismatch(wrong, -computed, f"{result}, East-West"))
            if computed != one.score:
                self.doubtful.setdefault(one.line.board, []).append(index)
                self.score_mismatches.append(self._score_mismatch(one, computed, str(result)))

    def _score_mismatch(self, one: ExchangeLine, computed: int | None, detail: str) -> Mismatch:
        return Mismatch(
            Fraction(one.score or 0),
            None if computed is None else Fraction(computed),
            board=one.line.board,
            contestant=f"{self._label(one.line.ns)} - {self._label(one.line.ew)}",
            detail=detail,
        )

    def _label(self, contestant: Contestant) -> str:
        entrant = self.labels.get(contestant)
        if entrant is None:
            return str(contestant)
        label = entrant.label
        if contestant.direction and not label.upper().endswith(contestant.direction):
            label = f"{label} {contestant.direction}"
        return f"{entrant.section}{label}" if entrant.section and not label.startswith(entrant.section) else label

    # search

    def run(self, wanted: Profile | None) -> AuditReport:
        bases = [wanted] if wanted is not None else [load_profile(name) for name in SEARCH_ORDER]
        base, best, findings = self._search(bases, free=wanted is None)
        if findings.count and self._results_missing():
            other_base, other, fewer = self._search(bases, free=wanted is None, scheduled=True)
            if fewer.count < findings.count:
                base, best, findings = other_base, other, fewer
        if self.doubtful and self._settle_doubts(best):
            findings = self._evaluate(best)
            if findings.count:
                best, findings = self._climb(best, findings, free=wanted is None)
        matches = self._team_findings(best.profile, free=wanted is None)
        rounds = self._rounds(best, free=wanted is None)
        changes = best.changes(base) | matches.changes | rounds.changes
        seconds, places = self._beside(best, findings)
        shares = self._shares(best)
        self.notes += [*seconds.notes, *places.notes, *shares.notes]
        return AuditReport(
            title=self.event.title,
            lines=len(self.event.lines),
            contract_scores_checked=self.contract_scores,
            points_checked=findings.points_checked + matches.points_checked + shares.checked,
            totals_checked=findings.totals_checked + matches.totals_checked + rounds.checked + seconds.checked,
            places_checked=places.checked,
            score_mismatches=tuple(self.score_mismatches),
            points_mismatches=(*findings.points, *matches.points, *shares.mismatches),
            total_mismatches=(
                *findings.totals,
                *matches.totals,
                *rounds.totals,
                *seconds.mismatches,
                *places.mismatches,
            ),
            profile=base.name,
            changes=changes,
            method=(self.event.team_method if self.event.kind is EventKind.TEAMS else self.event.method).value,
            explanation=best,
            notes=(*self.notes, *matches.notes, *rounds.notes),
        )

    def _search(
        self, bases: Sequence[Profile], *, free: bool, scheduled: bool = False
    ) -> tuple[Profile, Explanation, _Findings]:
        """The profile that leaves the fewest differences, and the explanation that it leads to."""
        tries = []
        shown = self.event.extra.get("total_in", "percent")
        ways = [(one, within) for within in (False, True)[: len(self.event.sections)] for one in bases]
        for one, within in ways:
            start = Explanation(one, total_in=shown, scheduled=scheduled, within=within)
            tried = self._evaluate(start)
            tries.append((tried.count + self._team_findings(one, free=False).count, start, tried))
            if not tries[-1][0]:
                break
        _, best, findings = min(tries, key=lambda entry: entry[0])
        base = best.profile
        if findings.count:
            best, findings = self._climb(best, findings, free=free)
        return base, best, findings

    def _results_missing(self) -> bool:
        """Boards may miss results: they have unequal numbers of lines, or points that no full board can have."""
        if self.event.method is not Method.MATCHPOINTS:
            return False
        counts = Counter((one.line.section.rpartition("/")[0], one.line.board) for one in self.event.lines)
        if len(set(counts.values())) > 1:
            return True
        most = max(counts.values(), default=0)
        shared = {shared_by(one, scale) for one in self.event.lines for scale in (1, 2)} - {0}
        return bool(shared) and most not in shared

    def _team_findings(self, profile: Profile, *, free: bool, only: int | None = None) -> TeamFindings:
        if not self.event.matches:
            return TeamFindings()
        return audit_matches(self.event, self._line_states(), profile, self._label, free=free, only=only)

    def _rounds(self, best: Explanation, *, free: bool) -> RoundFindings:
        if self.event.kind is EventKind.TEAMS or not self.event.matches:
            return RoundFindings()
        boards = [self._score(lines, expected, average(best.profile)) for lines, expected in self._fields(best, None)]
        return audit_rounds(self.event, boards, best.profile, self._label, free=free)

    def _line_states(self) -> dict[int, ResultLine]:
        """id of a line as read -> the line as it is scored."""
        return {id(one): chosen.line for one, chosen in zip(self.event.lines, self.chosen, strict=True)}

    def _climb(self, best: Explanation, findings: _Findings, *, free: bool) -> tuple[Explanation, _Findings]:
        """Change one choice at a time as long as fewer numbers differ. Not ``free``: only how numbers are shown."""
        improved = True
        while improved and findings.count:
            improved = False
            for candidate in best.neighbours(self.event.method, len(self.event.sections), free=free):
                tried = self._evaluate(candidate)
                if tried.count < findings.count:
                    best, findings, improved = candidate, tried, True
                    if not findings.count:
                        break
        return best, findings

    def _settle_doubts(self, best: Explanation) -> bool:
        """Where contract and score of a line disagree, score the board with the one that its points agree with."""
        changed = False
        for board, indices in self.doubtful.items():
            if not 1 <= len(indices) <= MAX_CHOICES:
                choices = [tuple(False for _ in indices), tuple(True for _ in indices)]
            else:
                choices = sorted(product((False, True), repeat=len(indices)), key=sum)
            fewest, taken = None, None
            for choice in choices:
                for index, by_score in zip(indices, choice, strict=True):
                    self.chosen[index] = self._as_scored(self.event.lines[index], by_score)
                count = len(self._evaluate(best, only=board).points)
                count += len(self._team_findings(best.profile, free=True, only=board).points)
                if fewest is None or count < fewest:
                    fewest, taken = count, choice
            assert taken is not None
            for index, by_score in zip(indices, taken, strict=True):
                self.chosen[index] = self._as_scored(self.event.lines[index], by_score)
            changed = changed or any(taken)
        return changed

    @staticmethod
    def _as_scored(one: ExchangeLine, by_score: bool) -> ExchangeLine:
        if not by_score or one.score is None:
            return one
        side = (Outcome(one.score),)
        return replace(one, line=replace(one.line, result=Assigned(side, side)))

    # one explanation

    def _evaluate(self, one: Explanation, only: int | None = None) -> _Findings:
        """Compare all points, and (without ``only``, a board) all totals."""
        findings = _Findings()
        if self.event.kind is EventKind.TEAMS and not self.has_points:
            return findings
        profile, method = one.profile, self.event.method
        totals = findings.sums
        scale = Fraction(profile.matchpoint_scale, 2) if method is Method.MATCHPOINTS else Fraction(1)
        unit = Fraction(1, 10**self.point_decimals)
        for lines, expected in self._fields(one, only):
            scores = self._score(lines, expected, profile)
            shown: Sequence[LineScore] = scores
            if one.raw_points:
                shown = self._score(lines, expected, replace(profile, unequal=Unequal.OWN_TOP))
            for line, score in zip(lines, shown, strict=True):
                self._compare_points(line, score, scale, findings)
            if self.event.datums:
                self._compare_datum(lines, profile, findings)
            if only is None:
                for score in scores:
                    for contestant, side in credits(score):
                        if one.rounded_boards:
                            points = round_to(side.points * scale, unit, Rounding.HALF_AWAY) / scale
                            side = SideScore(points, side.top, side.artificial)
                        totals.setdefault(contestant, Totals()).add(side)
        if only is None:
            self._compare_totals(one, findings)
        return findings

    def _score(self, lines: list[ExchangeLine], expected: int, profile: Profile) -> list[LineScore]:
        try:
            return score_lines([line.line for line in lines], expected, profile, self.event.method)
        except EntryError as error:
            where = error.where or f"board {lines[0].line.board}"
            raise EntryError(error.what, where=where, code=error.code) from None

    def _compare_datum(self, lines: list[ExchangeLine], profile: Profile, findings: _Findings) -> None:
        """A published Butler datum, for boards that were not fouled."""
        board = lines[0].line.board
        published = [
            number for section, of, number in self.event.datums if of == board and section == lines[0].line.section
        ]
        if not published or len({line.line.form for line in lines}) > 1:
            return
        values = [line_sides(line.line)[0] for line in lines]
        datum = butler_datum(
            [value if isinstance(value, tuple) else None for value in values],
            datum=profile.butler_datum,
            drop=profile.butler_drop,
            drop_min=profile.butler_drop_min,
            unit=profile.butler_unit,
        )
        for one in published:
            findings.points_checked += 1
            if datum is None or not Tolerance(one.decimals).equal(one.value, datum):
                findings.points.append(Mismatch(one.value, datum, board, detail="datum", decimals=one.decimals))

    def _fields(self, way: Explanation, only: int | None) -> list[tuple[list[ExchangeLine], int]]:
        """Boards with their lines and E: the largest number of lines of any board of the field, or ``scheduled``."""
        fields: dict[str, dict[int, list[ExchangeLine]]] = {}
        largest: dict[str, int] = {}
        shared: dict[str, Counter[int]] = {}
        for one in self.chosen:
            section = one.line.section
            name = section if way.within else section.partition("/")[0] if "/" in section else ""
            held = fields.setdefault(name, {}).setdefault(one.line.board, [])
            held.append(one)
            largest[name] = max(largest.get(name, 0), len(held))
            if way.scheduled and (share := shared_by(one, way.profile.matchpoint_scale)):
                shared.setdefault(name, Counter())[share] += 1
        for name, counted in shared.items():
            largest[name] = max(largest[name], counted.most_common(1)[0][0])
        return [
            (lines, largest[name])
            for name, boards in fields.items()
            for board, lines in boards.items()
            if only is None or board == only
        ]

    def _compare_points(self, line: ExchangeLine, score: LineScore, scale: Fraction, findings: _Findings) -> None:
        tolerance = Tolerance(self.point_decimals)
        sides = ((line.ns_points, score.ns, line.line.ns, "NS"), (line.ew_points, score.ew, line.line.ew, "EW"))
        for published, side, contestant, direction in sides:
            if published is None:
                continue
            findings.points_checked += 1
            if side is None:
                if published.value:
                    findings.points.append(
                        Mismatch(published.value, None, line.line.board, self._label(contestant), direction)
                    )
                continue
            computed = side.points * scale
            if self.event.extra.get("points_in") == "percent":
                computed = side.percent or Fraction(0)
            if not tolerance.equal(published.value, computed):
                findings.points.append(
                    Mismatch(
                        published.value,
                        computed,
                        line.line.board,
                        self._label(contestant),
                        direction,
                        decimals=self.point_decimals,
                    )
                )

    def _compare_totals(self, one: Explanation, findings: _Findings) -> None:
        computed = session_totals(self.event, one, findings.sums, one.total_in, self.teams)
        tolerance = Tolerance(self.total_decimals)
        for entrant in self.event.entrants:
            own = computed.get(entrant.contestant)
            if entrant.total is None or own is None:
                continue
            findings.totals_checked += 1
            if not tolerance.equal_total(entrant.total, own, entrant.adjustment):
                findings.totals.append(
                    Mismatch(
                        entrant.total.value,
                        own if entrant.adjustment is None else own + entrant.adjustment.value,
                        contestant=self._label(entrant.contestant),
                        decimals=self.total_decimals,
                    )
                )

    def _beside(self, one: Explanation, findings: _Findings) -> tuple[Beside, Beside]:
        """Second totals and places, which only follow from what explains the rest."""
        ways = [
            session_totals(self.event, one, findings.sums, unit, self.teams) for unit in ("points", "factored_points")
        ]
        totals = session_totals(self.event, one, findings.sums, one.total_in, self.teams)
        return check_second_totals(self.event, ways, self._label), check_places(self.event, totals, self._label)

    def _shares(self, one: Explanation) -> Beside:
        """Percentages beside matchpoints: of the full top, or each of what its own number of results makes."""
        if all(line.percents == (None, None) for line in self.event.lines):
            return Beside()
        ways = []
        for profile in (one.profile, replace(one.profile, unequal=Unequal.OWN_TOP)):
            way: list[Share] = []
            for lines, expected in self._fields(one, None):
                for line, score in zip(lines, self._score(lines, expected, profile), strict=True):
                    sides = ((score.ns, line.line.ns, "NS"), (score.ew, line.line.ew, "EW"))
                    for published, (side, who, direction) in zip(line.percents, sides, strict=True):
                        if published is not None and side is not None and side.percent is not None:
                            way.append(Share(published, side.percent, line.line.board, self._label(who), direction))
            ways.append(way)
        return check_shares(ways)
