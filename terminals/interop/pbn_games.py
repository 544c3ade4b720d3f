"""Results in PBN files without score tables: every game is one play, with Contract, Declarer, Result and Score tags.

Source: PBN standard 2.1, sections 3.4 and 4.2. Two rooms of one team match become a match: the home team sits
North-South in the open room.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dealer.board import Vulnerability, vulnerability_of
from firmware_bridge.errors import EntryError
from terminals.interop.exchange import (
    MAX_LINES,
    Entrant,
    EventKind,
    ExchangeEvent,
    ExchangeLine,
    ExchangeMatch,
    ExchangePlayer,
    MatchBoard,
    Published,
    number_plays,
)
from terminals.interop.pbn_sections import read_sections
from terminals.interop.tokens import is_pass, read_contract, read_int, read_number, read_tricks
from terminals.result import BoardState, PassedOut, Played
from terminals.scoring.lines import MAX_BOARD, Contestant, ResultLine
from terminals.table_record import Recorded

VULNERABLE = {
    "NONE": Vulnerability.NONE,
    "LOVE": Vulnerability.NONE,
    "-": Vulnerability.NONE,
    "NS": Vulnerability.NS,
    "EW": Vulnerability.EW,
    "ALL": Vulnerability.ALL,
    "BOTH": Vulnerability.ALL,
}
_SCORE = re.compile(r"(?:(NS|EW)\s*)?([+-]?\d{1,5})(?:\s+(NS|EW)\s*([+-]?\d{1,5}))?", re.ASCII | re.IGNORECASE)
_FIRST_PAIR = 200_001

Game = tuple[dict[str, str], dict[str, list[str]], int]
"""Tags, rows of each table, and the line of the first tag."""


def has_results(games: Sequence[Game]) -> bool:
    """True when any game says what was played and how it ended."""
    return any(_is_played(tags) for tags, _, _ in games)


def _is_played(tags: Mapping[str, str]) -> bool:
    contract = tags.get("Contract", "").strip()
    return bool(contract.strip("?-")) and (is_pass(contract) or bool(tags.get("Result", "").strip("?- ")))


def told_in(
    tags: Mapping[str, str], tables: Mapping[str, list[str]], state: BoardState, at: str, warnings: list[str]
) -> Recorded | None:
    """What a game tells of its auction and its play. One that can't be read is a warning: its result counts all the
    same."""
    try:
        return read_sections(tags, tables, state)
    except EntryError as error:
        warnings.append(f"{at}: the auction or the play is left out: {error.what}")
        return None


def games_event(games: Sequence[Game], where: str = "") -> ExchangeEvent:
    """The event that the games make up. Raises EntryError for a result that can't be."""
    return _Games(where).read(games)


class _Games:
    def __init__(self, where: str) -> None:
        self.where = where
        self.warnings: list[str] = []
        self.numbers: dict[str, Contestant] = {}
        self.entrants: list[Entrant] = []
        self.rooms: dict[tuple[str, str, str, str], dict[int, dict[str, ExchangeLine]]] = {}
        self.points: dict[tuple[tuple[str, str, str, str], int], Published] = {}

    def read(self, games: Sequence[Game]) -> ExchangeEvent:
        lines: list[ExchangeLine] = []
        board: int | None = None
        vulnerable = ""
        for tags, tables, start in games:
            text = tags.get("Board", "").strip()
            if text:
                board = read_int(text)
                vulnerable = ""
            vulnerable = tags.get("Vulnerable", vulnerable)
            if not _is_played(tags):
                continue
            at = f"line {start}" if board is None else f"board {board}, line {start}"
            if board is None or not 1 <= board <= MAX_BOARD:
                raise EntryError("A result has no board number.", where=f"{self.where}, {at}", code="bad-board")
            if len(lines) >= MAX_LINES:
                raise EntryError(f"The file has more than {MAX_LINES} results.", where=self.where, code="too-large")
            lines.append(self._line(board, tags, tables, vulnerable, at))
        numbered = number_plays(lines)
        matches = self._matches()
        first = games[0][0]
        date = re.fullmatch(r"(\d{4})\.(\d{2})\.(\d{2})", first.get("Date", ""))
        return ExchangeEvent(
            title=first.get("Event", "").strip("?"),
            date="-".join(date.groups()) if date else "",
            club=first.get("Site", "").strip("?"),
            program=first.get("Generator") or first.get("Application", ""),
            kind=EventKind.TEAMS if matches else EventKind.PAIRS,
            entrants=tuple(self.entrants),
            lines=tuple(numbered),
            matches=tuple(matches),
            warnings=tuple(dict.fromkeys(self.warnings)),
        )

    def _contestant(self, name: str, players: Sequence[str] = ()) -> Contestant:
        found = self.numbers.get(name)
        if found is None:
            found = self.numbers[name] = Contestant("", _FIRST_PAIR + len(self.numbers))
            people = tuple(ExchangePlayer(one) for one in players)
            self.entrants.append(Entrant(found, name[:40], people, name="" if players else name))
        return found

    def _line(
        self, board: int, tags: Mapping[str, str], tables: Mapping[str, list[str]], vulnerable: str, at: str
    ) -> ExchangeLine:
        state = self._state(tags, at)
        score = self._score(tags.get("Score", ""), state, at)
        marked = VULNERABLE.get(vulnerable.strip().upper())
        vulnerability = marked if marked is not None and marked is not vulnerability_of(board) else None
        home, visit = tags.get("HomeTeam", "").strip("?"), tags.get("VisitTeam", "").strip("?")
        room = tags.get("Room", "").strip().lower()
        in_match = bool(home and visit and home != visit and room in ("open", "closed"))
        if in_match:
            first, second = self._contestant(home), self._contestant(visit)
            ns, ew = (first, second) if room == "open" else (second, first)
        else:
            pairs = (("North", "South"), ("East", "West"))
            sides = [[tags.get(seat, "").strip("?") for seat in pair] for pair in pairs]
            names = [" - ".join(side) for side in sides]
            if names[0] == names[1]:
                names = ["North - South", "East - West"]
            ns, ew = self._contestant(names[0], sides[0]), self._contestant(names[1], sides[1])
        line = ExchangeLine(
            ResultLine(board, ns, ew, state, "", vulnerability=vulnerability),
            score,
            contract_text=tags.get("Contract", ""),
            at=at,
            recorded=told_in(tags, tables, state, at, self.warnings),
        )
        if in_match:
            key = (tags.get("Round", ""), tags.get("Table", ""), home, visit)
            self.rooms.setdefault(key, {}).setdefault(board, {})[room] = line
            points = read_number(re.sub(r"(?i)^NS\s*", "", tags.get("ScoreIMP", "").strip()))
            if points is not None and room == "open":
                self.points[key, board] = points
        return line

    def _state(self, tags: Mapping[str, str], at: str) -> BoardState:
        text = tags.get("Contract", "")
        if is_pass(text):
            return PassedOut()
        try:
            contract = read_contract(text, tags.get("Declarer", "").lstrip("^"))
            tricks = read_tricks(re.sub(r"(?i)^(NS|EW)\s*", "", tags.get("Result", "").strip()), contract)
            if tricks is None:
                raise EntryError(f"{tags.get('Result', '')[:12]!r} is no number of tricks.", code="bad-tricks")
            return Played(contract, tricks)
        except EntryError as error:
            raise EntryError(error.what, where=f"{self.where}, {at}", code=error.code) from None

    def _score(self, text: str, state: BoardState, at: str) -> int | None:
        """Points from North-South's side; without a side named they are declarer's."""
        match = _SCORE.fullmatch(text.strip())
        if match is None:
            if text.strip("? -"):
                self.warnings.append(f"{at}: {text.strip()[:16]!r} is no score")
            return None
        side, points = (match.group(1) or "").upper(), int(match.group(2))
        if side == "EW":
            second = match.group(4)
            return -points if second is None else int(second)
        if not side and isinstance(state, Played) and not state.contract.by_north_south:
            return -points
        return points

    def _matches(self) -> list[ExchangeMatch]:
        out: list[ExchangeMatch] = []
        for (round_text, table, home, visit), boards in self.rooms.items():
            held = tuple(
                MatchBoard(
                    board,
                    rooms.get("open"),
                    rooms.get("closed"),
                    self.points.get(((round_text, table, home, visit), board)),
                )
                for board, rooms in sorted(boards.items())
            )
            number = read_int(round_text) or len(out) + 1
            out.append(ExchangeMatch(number, self.numbers[home], self.numbers[visit], held))
        return out
