"""``results slips`` and ``results enter``: the evening on which terminals fail, by paper and keyboard."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from firmware_bridge.cli.out_file import OutFile
from firmware_bridge.cli.output import Outcome, command, progress
from firmware_bridge.errors import ConfigError, EntryError

if TYPE_CHECKING:
    from terminals.interop.exchange import ExchangePlayer
    from terminals.interop.publish import EventInfo
    from terminals.interop.slip_session import PaperSession
    from terminals.interop.slips import SlipEntry
    from terminals.interop.team_event import TeamScoring
    from terminals.movement.model import Movement
    from terminals.scoring.lines import Contestant
    from terminals.scoring.profile import Profile

SOURCE_HELP = "SOURCE is a .yaml or .csv file, or a movement such as mitchell:7x4 (see: movement kinds)."
ENTRY_HELP = (
    "One line a board: 3nt n 10, 3ntn+1, 4sxe-2 hk, p for passed out, np for not played, 12: p to name the board. "
    "u takes back, g ROUND TABLE goes to a slip, s leaves this slip for later, ? shows what is missing, q ends."
)
MAX_INPUT = 4096
PAIR_METHODS = ["matchpoints", "butler", "cross_imps"]
TEAM_METHODS = ["imps", "board_a_match", "aggregate"]
METHODS = [*PAIR_METHODS, *TEAM_METHODS]
SCALE_HELP = "Teams by IMPs: victory points, continuous, discrete, none or FILE.toml; by default the profile's."


def movement_of(text: str) -> Movement:
    """The movement in a file, or the one that a text such as ``mitchell:7x4`` names. Raises EntryError."""
    from terminals.movement import catalog, files

    if text.lower().endswith((".yaml", ".yml", ".csv")) or Path(text).exists():
        return files.load(text)
    return catalog.build(text)


@click.command("slips", epilog=SOURCE_HELP)
@click.argument("source")
@click.option("--out", required=True, type=OutFile(".pdf"), help="PDF to write.")
@click.option("--paper", type=click.Choice(["a4", "letter"]), default="a4", show_default=True)
@click.option("--title", default="Pick-up slips", show_default=True, help="Printed on every page.")
@click.option("--section", default="A", show_default=True)
@command("results slips")
def slips(source: str, out: str, paper: str, title: str, section: str) -> Outcome:
    """Print pick-up slips, one for each table and round."""
    from dealer.files import write_file
    from terminals.interop.slip_session import slips_of
    from terminals.interop.slips import slips_pdf

    found = slips_of(movement_of(source), section)
    write_file(out, slips_pdf(found, title=title, page=paper))
    return Outcome({"out": out, "slips": len(found)}, f"{len(found)} slips in {out}.")


@click.command("enter", epilog=f"{ENTRY_HELP} {SOURCE_HELP}")
@click.argument("source")
@click.option("--out", required=True, type=OutFile(".json"), help="JSON file; an earlier one is continued.")
@click.option("--title", default="", help="Name of the event.")
@click.option("--date", default="", metavar="YYYY-MM-DD")
@click.option("--section", default="A", show_default=True)
@click.option("--profile", default="plain", show_default=True, metavar="NAME|FILE.toml", help="Scoring profile.")
@click.option("--method", type=click.Choice(METHODS), help="Default: matchpoints, and imps for teams.")
@click.option("--scale", default="profile", show_default=True, help=SCALE_HELP)
@click.option("--names", type=click.Path(path_type=Path), help="CSV: number and names; of a team, its own name first.")
@click.option("--knockout", is_flag=True, help="Teams: a board with unequal scores counts the mean (Law 12C4).")
@command("results enter")
def enter(
    source: str,
    out: str,
    title: str,
    date: str,
    section: str,
    profile: str,
    method: str | None,
    scale: str,
    names: Path | None,
    knockout: bool,
) -> Outcome:
    """Key in pick-up slips, one short line a board; every slip is saved when it is complete."""
    from terminals.interop.publish import EventInfo
    from terminals.interop.slip_session import PaperSession
    from terminals.scoring.profile_file import load_profile

    if date and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date, re.ASCII):
        raise ConfigError(f"{date[:20]!r} is no date.", where="--date", next_step="Write it like 2026-11-26.")
    chosen = load_profile(profile)
    movement = movement_of(source)
    method = _method(movement, method)
    session = PaperSession(movement, section, teams=_team_scoring(movement, method, scale, knockout, chosen))
    target = Path(out)
    info = EventInfo(title, date, players={} if names is None else _names(names, session))
    if target.exists():
        info = _continue(session, target, info)
    keeper = _Keeper(session, target, info, chosen, method)
    rejected = keeper.run(typed_lines())
    keeper.save()
    fields: dict[str, Any] = {
        "out": out,
        "entered": session.entered,
        "missing": session.missing,
        "rejected": rejected,
    }
    return Outcome(fields, f"{session.entered} results in {out}, {session.missing} missing.")


def _of_matches(movement: Movement) -> bool:
    """Teams that are compared match by match; multiple teams are compared over the field, as pairs are."""
    from terminals.movement.model import Format
    from terminals.movement.teams import MULTIPLE_TEAMS

    return movement.format is Format.TEAMS and movement.kind != MULTIPLE_TEAMS


def _method(movement: Movement, method: str | None) -> str:
    teams = _of_matches(movement)
    wanted = method or ("imps" if teams else "matchpoints")
    if (wanted in TEAM_METHODS) != teams:
        known = TEAM_METHODS if teams else PAIR_METHODS
        raise ConfigError(
            f"{wanted} is no scoring of {'matches' if teams else 'a whole field'}.",
            where="--method",
            next_step=f"Take one of {', '.join(known)}.",
        )
    return wanted


def _team_scoring(movement: Movement, method: str, scale: str, knockout: bool, profile: Profile) -> TeamScoring:
    from terminals.interop.team_event import TeamScoring
    from terminals.scoring.profile import VpScale
    from terminals.scoring.profile_file import load_vp_table
    from terminals.scoring.teams import TeamMethod

    if not _of_matches(movement):
        if knockout or scale != "profile":
            raise ConfigError("--scale and --knockout are for team movements.", where="results enter")
        return TeamScoring()
    if method != "imps" or scale == "none" or (knockout and scale == "profile"):
        return TeamScoring(TeamMethod(method), None, knockout)
    if scale in tuple(VpScale):
        return TeamScoring(TeamMethod.IMPS, VpScale(scale), knockout)
    if scale == "profile":
        return TeamScoring(TeamMethod.IMPS, profile.vp_scale, knockout)
    return TeamScoring(TeamMethod.IMPS, load_vp_table(Path(scale)), knockout)


def _continue(session: PaperSession, target: Path, info: EventInfo) -> EventInfo:
    from dataclasses import replace

    from terminals.interop.exchange import ExchangePlayer
    from terminals.interop.result_files import read_results_file

    event = read_results_file(target)
    count = session.restore(event)
    progress(f"{count} results of an earlier run were taken over.")
    kept = {
        one.contestant: ((ExchangePlayer(one.name), *one.players) if one.name else one.players)
        for one in event.entrants
        if one.players or one.name
    }
    return replace(
        info, title=info.title or event.title, date=info.date or event.date, players={**kept, **info.players}
    )


def _names(path: Path, session: PaperSession) -> dict[Contestant, tuple[ExchangePlayer, ...]]:
    """Rows of a number and one name or several; a first row without a number is a heading."""
    from terminals.interop.csv_text import read_csv
    from terminals.interop.exchange import ExchangePlayer
    from terminals.interop.result_files import read_bytes

    known = {one.number: one for one in session.contestants}
    out: dict[Contestant, tuple[ExchangePlayer, ...]] = {}
    for at, (line, cells) in enumerate(read_csv(read_bytes(path), str(path))):
        number = int(cells[0]) if re.fullmatch(r"\d{1,4}", cells[0], re.ASCII) else 0
        if not number and at == 0:
            continue
        people = tuple(ExchangePlayer(cell[:80]) for cell in cells[1:9] if cell)
        if number not in known or known[number] in out or not people:
            twice = number in known and known[number] in out
            raise EntryError(
                "This number is there twice." if twice else "A number of this movement and a name are wanted.",
                where=f"{path}, line {line}",
                next_step="Write each line like 7;Anna Nowak;Jan Kot.",
                code="bad-names",
            )
        out[known[number]] = people
    return out


def typed_lines() -> Iterator[str]:
    """Lines from the keyboard or a pipe, until they end."""
    while True:
        line = sys.stdin.readline(MAX_INPUT)
        if not line:
            return
        yield line.strip()


class _Keeper:
    """Walks from slip to slip, echoes every entry, saves after each complete slip."""

    def __init__(self, session: PaperSession, target: Path, info: EventInfo, profile: Profile, method: str) -> None:
        self.session, self.target, self.info, self.profile, self.method = session, target, info, profile, method
        self.later: set[tuple[int, int]] = set()
        self.wanted: tuple[int, int] | None = None

    def save(self) -> None:
        from dealer.files import write_file
        from terminals.interop.results_json import write_results_json
        from terminals.scoring.boards import Method

        method = Method(self.method) if self.method in PAIR_METHODS else Method.MATCHPOINTS
        event = self.session.event(self.info, self.profile, method)
        write_file(self.target, write_results_json(event))

    def current(self) -> SlipEntry | None:
        if self.wanted is not None:
            entry = self.session.slip(*self.wanted)
            if entry.next_board is not None:
                return entry
            self.wanted = None
        for place, entry in sorted(self.session.entries.items()):
            if entry.next_board is not None and place not in self.later:
                return entry
        self.later.clear()
        return self.session.next_slip()

    def run(self, typed: Iterator[str]) -> int:
        """Returns how many lines were refused."""
        rejected = 0
        last: SlipEntry | None = None
        shown: SlipEntry | None = None
        while (entry := self.current()) is not None:
            if entry is not shown:
                progress(f"\n{entry.slip.title}: N-S {entry.slip.ns}, E-W {entry.slip.ew}")
                shown = entry
            click.echo(f"{entry.next_board:>3}  ", err=True, nl=False)
            text = next(typed, None)
            if text is None or text.lower() in ("q", "quit"):
                break
            try:
                last = self._one(text, entry, last)
            except EntryError as error:
                rejected += 1
                progress(f"     {error.what} {error.next_step}".rstrip())
            if entry.next_board is None:
                self.save()
        return rejected

    def _one(self, text: str, entry: SlipEntry, last: SlipEntry | None) -> SlipEntry | None:
        word = text.lower()
        if not word:
            return last
        if word == "u":
            taken = None if last is None else last.undo()
            if taken is None or last is None:
                raise EntryError("There is nothing to take back.", code="nothing-to-undo")
            progress(f"     board {taken.board} is open again")
            self.wanted = (last.slip.round, last.slip.table)
            return last
        if word == "s":
            self.later.add((entry.slip.round, entry.slip.table))
            self.wanted = None
            return last
        if word == "?":
            from terminals.interop.slip_session import table_of_slips

            for (number, table), boards in table_of_slips(self.session).items():
                progress(f"     round {number}, table {table}: boards {boards}")
            return last
        match = re.fullmatch(r"g\s*(\d{1,3})\s+(\d{1,3})", word, re.ASCII)
        if match:
            place = (int(match[1]), int(match[2]))
            self.session.slip(*place)
            self.wanted = place
            self.later.discard(place)
            return last
        progress(f"     {entry.enter(text).echo}")
        return entry
