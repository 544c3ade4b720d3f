"""A session kept by paper: a movement's slips, the results keyed in from them, and the event that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from firmware_bridge.errors import EntryError
from terminals.interop.exchange import EventKind, ExchangeEvent
from terminals.interop.publish import EventInfo, publish_session
from terminals.interop.slips import Slip, SlipEntry, SlipLine, by_round
from terminals.interop.team_event import TeamScoring, team_event
from terminals.movement.model import Format, Movement, Seating
from terminals.movement.teams import MULTIPLE_TEAMS
from terminals.result import NotEntered
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant, ResultLine, WinnerGroup, field_expected
from terminals.scoring.profile import PLAIN, Profile
from terminals.scoring.session import score_session

Place = tuple[int, int]
"""Round and table of a slip."""


def slips_of(movement: Movement, section: str = "A") -> list[Slip]:
    """One slip for each table and round, in the order in which they are handed out."""
    slips = []
    for seating in movement.seatings:
        north_south, east_west = _names(seating)
        slips.append(Slip(section, seating.table, seating.round, north_south, east_west, seating.boards))
    return by_round(slips)


def _names(seating: Seating) -> tuple[str, str]:
    if not seating.players:
        return str(seating.ns), str(seating.ew)
    north, east, south, west = seating.players
    return f"{north}+{south}", f"{east}+{west}"


@dataclass(slots=True)
class PaperSession:
    """Results of a movement, slip by slip. teams: how matches are scored.

    Multiple teams have no matches: both pairs of a team score for it against the whole field.
    """

    movement: Movement
    section: str = "A"
    entries: dict[Place, SlipEntry] = field(default_factory=dict)
    teams: TeamScoring = field(default_factory=TeamScoring)

    def __post_init__(self) -> None:
        if self.of_matches:
            team_event(self.movement, {}, EventInfo("", ""), PLAIN, self.teams)
        for slip in slips_of(self.movement, self.section):
            self.entries[slip.round, slip.table] = SlipEntry(slip)

    @property
    def of_matches(self) -> bool:
        """Teams that are compared match by match."""
        return self.movement.format is Format.TEAMS and self.movement.kind != MULTIPLE_TEAMS

    @property
    def missing(self) -> int:
        """Results that nobody has keyed in."""
        return sum(len(entry.slip.boards) - len(entry.lines) for entry in self.entries.values())

    @property
    def entered(self) -> int:
        return sum(len(entry.lines) for entry in self.entries.values())

    def next_slip(self) -> SlipEntry | None:
        """The first slip that is not complete, by round and table."""
        return next((entry for _, entry in sorted(self.entries.items()) if entry.next_board is not None), None)

    def slip(self, round_number: int, table: int) -> SlipEntry:
        """Raises EntryError when nobody sits at that table in that round."""
        found = self.entries.get((round_number, table))
        if found is None:
            raise EntryError(f"Nobody plays at table {table} in round {round_number}.", code="no-slip")
        return found

    @property
    def contestants(self) -> list[Contestant]:
        """Everybody of the movement, as they are ranked."""
        if self.of_matches:
            return [Contestant("", team.number) for team in self.movement.teams]
        return [self._contestant(number) for number in self.movement.contestants]

    def _contestant(self, number: int) -> Contestant:
        return Contestant(self.section, number)

    def lines(self, *, complete: bool = False) -> list[ResultLine]:
        """Result lines of everything keyed in; ``complete``: also a line "not entered" for whatever is missing."""
        out = []
        team_of = self._teams() if not self.of_matches else {}
        for seating in self.movement.seatings:
            entry = self.entries[seating.round, seating.table]
            known = {line.board: line.state for line in entry.lines}
            ns_players: tuple[Contestant, ...] = ()
            ew_players: tuple[Contestant, ...] = ()
            if seating.players:
                north, east, south, west = map(self._contestant, seating.players)
                ns_players, ew_players = (north, south), (east, west)
            for board in seating.boards:
                if board not in known and not complete:
                    continue
                individual = bool(seating.players)
                out.append(
                    ResultLine(
                        board,
                        Contestant(self.section, team_of.get(seating.ns, seating.ns), "NS" if individual else ""),
                        Contestant(self.section, team_of.get(seating.ew, seating.ew), "EW" if individual else ""),
                        known.get(board, NotEntered()),
                        self.section,
                        ns_players=ns_players,
                        ew_players=ew_players,
                    )
                )
        return out

    def event(self, info: EventInfo, profile: Profile = PLAIN, method: Method = Method.MATCHPOINTS) -> ExchangeEvent:
        """The event as far as it is keyed in, scored with E of the movement; teams by their matches, or multiple teams
        by what both their pairs score against the field."""
        if self.of_matches:
            states = {(one.board, one.ns.number, one.ew.number): one.result for one in self.lines()}
            return team_event(self.movement, states, info, profile, self.teams)
        groups = [
            WinnerGroup(group.name, tuple(map(self._contestant, group.contestants))) for group in self.movement.groups
        ]
        score = score_session(
            self.lines(),
            expected=field_expected(self.movement.expected_per_board()),
            groups=groups,
            profile=profile,
            method=method,
        )
        directions: dict[Contestant, str] = {}
        if len(groups) > 1:
            directions = {
                one: group.name for group in groups if group.name in ("NS", "EW") for one in group.contestants
            }
        kind = EventKind.INDIVIDUAL if self.movement.format is Format.INDIVIDUAL else EventKind.PAIRS
        made = publish_session(replace(info, kind=kind, directions=directions), score, profile, method)
        if not self.movement.teams:
            return made
        # the first of a team's names is the team's own
        named = (
            replace(one, name=one.players[0].name if one.players else f"Team {one.label}", players=one.players[1:])
            for one in made.entrants
        )
        return replace(made, entrants=tuple(named))

    def _teams(self) -> dict[int, int]:
        return {pair: team.number for team in self.movement.teams for pair in team.pairs}

    def restore(self, event: ExchangeEvent) -> int:
        """Take over results of an earlier run from its file; returns how many. Raises EntryError for a stranger.

        A board that was marked as not played is not in a result file; it is asked again.
        """
        places: dict[tuple[int, int, int], Place] = {}
        team_of = self._teams()
        for seating in self.movement.seatings:
            for board in seating.boards:
                ns, ew = team_of.get(seating.ns, seating.ns), team_of.get(seating.ew, seating.ew)
                places[board, ns, ew] = (seating.round, seating.table)
        count = 0
        for one in event.lines:
            line = one.line
            place = places.get((line.board, line.ns.number, line.ew.number))
            if place is None:
                raise EntryError(
                    f"{line.ns.number} against {line.ew.number} is not in this movement.",
                    where=f"board {line.board}",
                    next_step="Give the movement that this file was made with, or another --out.",
                    code="other-movement",
                )
            self.entries[place].lines.append(SlipLine(line.board, line.result, one.score))
            count += 1
        return count


def table_of_slips(session: PaperSession) -> Mapping[Place, str]:
    """What is still missing, for people: (round, table) -> boards."""
    out = {}
    for place, entry in sorted(session.entries.items()):
        done = {line.board for line in entry.lines}
        left = [board for board in entry.slip.boards if board not in done]
        if left:
            out[place] = ", ".join(map(str, left))
    return out
