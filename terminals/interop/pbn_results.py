"""Results in PBN 2.1: reads ``ScoreTable`` and ``TotalScoreTable`` of whoever wrote them, else the games themselves.

Source: PBN standard 2.1, sections 3.4, 5.9 and 5.10. An artificial score has ``-`` for contract, declarer and result;
its percentages are in the Percentage columns. Assigned scores are read back from our own remarks.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from dealer.board import Vulnerability, vulnerability_of
from firmware_bridge.errors import EntryError, ExitStatus
from terminals.interop.adjusted_note import read_adjusted_note, read_form, read_marks
from terminals.interop.exchange import (
    MAX_FILE_BYTES,
    MAX_LINES,
    Entrant,
    EventKind,
    ExchangeEvent,
    ExchangeLine,
    ExchangePlayer,
    Published,
    number_plays,
)
from terminals.interop.pbn_games import VULNERABLE, Game, games_event, has_results, told_in
from terminals.interop.pbn_sections import SECTIONS
from terminals.interop.pbn_tables import Column, read_columns, read_row
from terminals.interop.roster import Roster, numbers_collide
from terminals.interop.tokens import (
    IMPOSSIBLE,
    is_pass,
    read_artificial,
    read_card,
    read_contract,
    read_int,
    read_number,
    read_tricks,
)
from terminals.interop.usebio_words import with_imps
from terminals.result import (
    Artificial,
    ArtificialSide,
    Assigned,
    Average,
    BoardState,
    FixedPercent,
    NotPlayed,
    Outcome,
    PassedOut,
    Played,
)
from terminals.scoring.boards import Method
from terminals.scoring.lines import MAX_BOARD, Contestant, ResultLine

_TAG = re.compile(r'\[\s*([A-Za-z0-9_]+)\s+"((?:[^"\\]|\\.)*)"\s*\]')
_FIRST_UNNAMED = 200_001
_NUMBERS = re.compile(r"Score|MP|IMP|VP|Percent|Rank|Total|Mean")
MAX_MULTIPLICITY = 10_000


def read_pbn_results(data: bytes, where: str = "") -> ExchangeEvent:
    """The event in a PBN file with score tables.

    Raises EntryError: exit status 2 for a file without any, 1 for a board or a line that can't be.
    """
    if len(data) > MAX_FILE_BYTES:
        raise _unusable(f"The file is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB.", where)
    try:
        text = data.decode("utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    games = _games(text)
    if not any("ScoreTable" in tables for _, tables, _ in games):
        if has_results(games):
            return games_event(games, where)
        raise _unusable("There are no results in the file: no ScoreTable, and no game that was played.", where)
    return _Reader(games, where).read()


def _unusable(what: str, where: str) -> EntryError:
    return EntryError(what, where=where, code="unparsable", exit_status=ExitStatus.USAGE)


def _games(text: str) -> list[Game]:
    """Split into games; "#" repeats the value of the game before (section 4.8)."""
    games: list[Game] = []
    tags: dict[str, str] = {}
    tables: dict[str, list[str]] = {}
    start, table, noted, previous = 1, "", "", {}  # type: int, str, str, dict[str, str]
    for number, line in enumerate([*text.replace("\r\n", "\n").split("\n"), ""], start=1):
        stripped = line.strip()
        if not stripped:
            if tags:
                games.append((tags, tables, start))
                previous = tags
            tags, tables, table, noted = {}, {}, "", ""
            continue
        if line.startswith("%") or stripped.startswith(";"):
            continue
        found = list(_TAG.finditer(stripped)) if stripped.startswith("[") else []
        if not found:
            if table and (table in SECTIONS or not stripped.startswith("{")):
                tables[table].append(stripped)
            continue
        for match in found:
            name, value = match.group(1), re.sub(r"\\(.)", r"\1", match.group(2))
            if not tags:
                start = number
            if value in ("#", "##"):
                value = previous.get(name, "")
            tags.setdefault(name, match.group(2) if name.endswith("Table") else value)
            if name == "Note":
                tables.setdefault(f"{noted}Note", []).append(value)
            table = name if name in SECTIONS or (name.endswith("Table") and name != "Table") else ""
            noted = table or noted
            if table:
                tables.setdefault(table, [])
    return games


class _Reader:
    def __init__(self, games: list[Game], where: str) -> None:
        self.games, self.where = games, where
        self.warnings: list[str] = []
        self.fault = ""
        self.lines: list[ExchangeLine] = []
        self.rows: dict[tuple[int, str, str, str], list[int]] = {}  # as written: board, section, both sides
        self.roster = Roster()
        self.method = Method.MATCHPOINTS
        self.points_in = self.match_scoring = ""
        self.directions: set[str] = set()  # of the totals, where they have a column for it
        self.unnamed = _FIRST_UNNAMED
        self.kind = EventKind.PAIRS

    def read(self) -> ExchangeEvent:
        self.method = self._method()
        totals_in = ""
        for tags, tables, _ in self.games:
            if "TotalScoreTable" in tables:
                totals_in = self._totals(tags["TotalScoreTable"], tables["TotalScoreTable"]) or totals_in
        # teams whose two pairs score for them are on both sides of a board; their totals have no direction
        self.roster.colliding = numbers_collide(self._plays()) and self.directions != {""}
        self.roster.close()
        board = 0
        for tags, tables, line in self.games:
            number = read_int(tags.get("Board", ""))
            if "ScoreTable" not in tables:
                continue
            if number is None or not 1 <= number <= MAX_BOARD:
                raise EntryError(
                    f"{tags.get('Board', '')[:12]!r} is no board number.",
                    where=f"{self.where}, line {line}",
                    code="bad-board",
                )
            board = number
            self._score_table(board, tags, tables["ScoreTable"])
        if not self.lines:
            raise _unusable("There are no results in the file.", self.where)
        self._recorded_games()
        first = self.games[0][0]
        extra = {name: text for name, text in (("points_in", self.points_in), ("total_in", totals_in)) if text}
        return ExchangeEvent(
            title=first.get("Event", "").strip("?"),
            date=self._date(first.get("EventDate") or first.get("Date", "")),
            club=first.get("Site", "").strip("?"),
            program=first.get("Generator") or first.get("Application", ""),
            kind=self.kind,
            method=self.method,
            match_scoring=self.match_scoring,
            winners=2 if self.roster.two_fields else 1,
            entrants=tuple(self.roster.entrants),
            lines=tuple(number_plays(self.lines)),
            warnings=tuple(dict.fromkeys(self.warnings + self.roster.warnings)),
            extra=extra,
        )

    def _plays(self) -> Iterator[tuple[object, str, str]]:
        for tags, tables, line in self.games:
            columns = read_columns(tags.get("ScoreTable", ""))
            for row in tables.get("ScoreTable", ()):
                values = read_row(row, columns) or {}
                place = (values.get("Section", ""), tags.get("Board", ""), line)
                yield place, values.get("PairId_NS", ""), values.get("PairId_EW", "")

    def _method(self) -> Method:
        scoring = " ".join(tags.get("Scoring", "") for tags, _, _ in self.games).upper()
        specs = ";" + ";".join(tags.get("ScoreTable", "") for tags, _, _ in self.games)
        if "BUTLER" in scoring or "DATUM" in scoring:
            return Method.BUTLER
        if "TOTAL" in scoring or "AGGREGATE" in scoring:
            return Method.AGGREGATE
        if "IMP" in scoring or ("IMP_NS" in specs and ";MP_NS" not in specs):
            return Method.CROSS_IMPS
        return Method.MATCHPOINTS

    @staticmethod
    def _date(text: str) -> str:
        match = re.fullmatch(r"(\d{4})\.(\d{2})\.(\d{2})", text)
        return "-".join(match.groups()) if match else ""

    # totals

    def _totals(self, spec: str, rows: list[str]) -> str:
        """Enter the participants; returns the unit of their totals."""
        columns = read_columns(spec)
        names = [column.name for column in columns]
        choices: tuple[tuple[str, str], ...] = (
            (("TotalPercentage", "percent"), ("MeanPercentage", "percent"), ("TotalMP", "points"))
            if self.method is Method.MATCHPOINTS
            else (("TotalIMP", "total"), ("MeanIMP", "mean"), ("TotalScore", "total"))
        )
        if "TotalVP" in names:  # of rounds, which no column tells apart
            self.match_scoring = "VPS"
        chosen, second = ([(name, unit) for name, unit in choices if name in names] + [("", "")] * 2)[:2]
        if self.method is not Method.MATCHPOINTS or second[1] != "points":
            second = ("", "")
        self._unchecked(columns, {"Rank", "TotalVP", chosen[0], second[0]})
        for row in rows:
            values = read_row(row, columns)
            if values is None:
                self.warnings.append("a row of TotalScoreTable has too few values")
                continue
            pair = values.get("PairId") or values.get("PlayerId") or ""
            if not pair or pair == "-":
                continue
            people = values.get("Names") or values.get("Name") or ""
            players = tuple(ExchangePlayer(name.strip()) for name in re.split(r";| & ", people) if name.strip(" -"))
            in_vps = read_number(values.get("TotalVP", ""))
            direction = {"NS": "NS", "EW": "EW"}.get(values.get("Direction", "").upper(), "")
            if "Direction" in values:
                self.directions.add(direction)
            self.roster.enter(
                pair,
                values.get("Section", "").strip("-"),
                Entrant(
                    Contestant("", 0),
                    pair,
                    players,
                    direction=direction,
                    section=values.get("Section", "").strip("-"),
                    total=in_vps or (read_number(values.get(chosen[0], "")) if chosen[0] else None),
                    place=values.get("Rank", ""),
                    boards=read_int(values.get("NrBoards", "")),
                    second_total=read_number(values.get(second[0], "")) if second[0] and not in_vps else None,
                    adjustment=read_number(values.get("Adjustment", "")),
                    in_vps=in_vps is not None,
                ),
            )
        return chosen[1]

    def _unchecked(self, columns: Iterable[Column], read: Collection[str]) -> None:
        """Say which columns of published numbers nothing here reads."""
        for one in columns:
            if _NUMBERS.search(one.name) and one.name not in read:
                self.warnings.append(f"the column {one.name} was not checked")

    # boards

    def _score_table(self, board: int, tags: Mapping[str, str], rows: list[str]) -> None:
        columns = read_columns(tags["ScoreTable"])
        stem = "MP" if self.method is Method.MATCHPOINTS else "IMP"
        self._unchecked(columns, {f"{one}_{side}" for one in ("Score", stem, "Percentage") for side in ("NS", "EW")})
        marked = VULNERABLE.get(tags.get("Vulnerable", "").strip().upper())
        vulnerability = marked if marked is not None and marked is not vulnerability_of(board) else None
        for index, row in enumerate(rows, start=1):
            at = f"board {board}, line {index}"
            values = read_row(row, columns)
            if values is None:
                raise EntryError(
                    "A row of ScoreTable has too few values.", where=f"{self.where}, {at}", code="bad-line"
                )
            times = read_int(values.get("Multiplicity", "1")) or 1
            if not 1 <= times <= MAX_MULTIPLICITY:
                raise EntryError("A Multiplicity is from 1 on.", where=f"{self.where}, {at}", code="bad-line")
            for _ in range(times):
                if len(self.lines) >= MAX_LINES:
                    raise EntryError(f"The file has more than {MAX_LINES} results.", where=self.where, code="too-large")
                self.rows.setdefault((board, *_as_written(values)), []).append(len(self.lines))
                self.lines.append(self._line(board, values, vulnerability, at))

    def _line(self, board: int, values: dict[str, str], vulnerability: Vulnerability | None, at: str) -> ExchangeLine:
        section = values.get("Section", "").strip("-")[:8]
        self.fault = ""
        state, score = self._state(values, at)
        players: dict[str, tuple[Contestant, ...]] = {"NS": (), "EW": ()}
        seats = [values.get(f"PlayerId_{name}", "") for name in ("North", "South", "East", "West")]
        if all(seats):
            self.kind = EventKind.INDIVIDUAL
            found = [self.roster.seat(one, section, "", at) for one in seats]
            players = {"NS": (found[0], found[1]), "EW": (found[2], found[3])}
            ns, ew = Contestant(section, found[0].number, "NS"), Contestant(section, found[2].number, "EW")
        elif values.get("PairId_NS", "-") != "-" and values.get("PairId_EW", "-") != "-":
            ns = self.roster.seat(values["PairId_NS"], section, "NS", at)
            ew = self.roster.seat(values["PairId_EW"], section, "EW", at)
        else:
            self.unnamed += 1
            ns, ew = Contestant(section, self.unnamed, "NS"), Contestant(section, self.unnamed, "EW")
        ns_points, ew_points = self._points(values)
        marked = read_marks(values.get("Remark", ""))
        if self.method in (Method.BUTLER, Method.CROSS_IMPS):
            state = with_imps(state, ns_points, ew_points)
        try:
            line = ResultLine(
                board,
                ns,
                ew,
                state,
                section,
                read_form(values.get("Remark", "")),
                vulnerability if marked is None else marked,
                ns_players=players["NS"],
                ew_players=players["EW"],
            )
        except EntryError as error:
            raise EntryError(error.what, where=f"{self.where}, {at}", code=error.code) from None
        contract, remark = values.get("Contract", ""), values.get("Remark", "")
        read = ExchangeLine(line, score, ns_points, ew_points, contract, remark, at, self.fault)
        both = self.method is Method.MATCHPOINTS and self.points_in != "percent"
        against = read_number(values.get("Score_EW", ""))
        return replace(
            read,
            score_ew=None if against is None else int(against.value),
            percents=(read_number(values.get("Percentage_NS", "")), read_number(values.get("Percentage_EW", "")))
            if both
            else (None, None),
        )

    def _recorded_games(self) -> None:
        """Auctions and plays of our own files: games beside the tables, which name section and contestants."""
        for tags, tables, line in self.games:
            if "ScoreTable" in tables or "PairNS" not in tags or not any(name in tables for name in SECTIONS):
                continue
            board, instance = read_int(tags.get("Board", "")) or 0, read_int(tags.get("Instance", "1")) or 0
            found = self.rows.get((board, tags.get("Section", "").strip("-"), tags["PairNS"], tags.get("PairEW", "")))
            at = f"board {board}, line {line}"
            if found is None or not 1 <= instance <= len(found):
                self.warnings.append(f"{at}: the auction or the play is left out: no table has its result")
                continue
            place = found[instance - 1]
            held = self.lines[place]
            told = told_in(tags, tables, held.line.result, at, self.warnings)
            self.lines[place] = replace(held, recorded=told)

    def _points(self, values: Mapping[str, str]) -> tuple[Published | None, Published | None]:
        if self.method is Method.AGGREGATE:
            return None, None
        stem = "MP" if self.method is Method.MATCHPOINTS else "IMP"
        if f"{stem}_NS" not in values and f"{stem}_EW" not in values and self.method is Method.MATCHPOINTS:
            stem = "Percentage"
            if "Percentage_NS" in values or "Percentage_EW" in values:
                self.points_in = "percent"
        return read_number(values.get(f"{stem}_NS", "")), read_number(values.get(f"{stem}_EW", ""))

    def _state(self, values: Mapping[str, str], at: str) -> tuple[BoardState, int | None]:
        contract_text = values.get("Contract", "-").strip("- ")
        ns, ew = read_number(values.get("Score_NS", "")), read_number(values.get("Score_EW", ""))
        score = None
        if ns is not None:
            score = int(ns.value)
        elif ew is not None:
            score = -int(ew.value)
        if contract_text and is_pass(contract_text):
            return PassedOut(), score
        artificial = read_artificial(contract_text) or read_artificial(values.get("Score_NS", ""))
        adjusted = read_adjusted_note(values.get("Remark", ""))
        if artificial is not None:
            return adjusted if isinstance(adjusted, Artificial) else artificial, None
        if contract_text:
            try:
                contract = read_contract(contract_text, values.get("Declarer", ""))
                tricks = read_tricks(values.get("Result", ""), contract)
                if tricks is not None:
                    return Played(contract, tricks, read_card(values.get("Lead", ""))), score
            except EntryError as error:
                self.warnings.append(f"{at}: {error.what}")
                self.fault = error.what if error.code == IMPOSSIBLE else ""
        if score is not None:
            split = score if ns is None or ew is None else -int(ew.value)
            return Assigned((Outcome(score),), (Outcome(split),)), score
        if adjusted is not None:
            return adjusted, None
        percents = [read_number(values.get(f"Percentage_{side}", "")) for side in ("NS", "EW")]
        if percents[0] is not None and percents[1] is not None:
            try:
                return Artificial(_side(percents[0].value), _side(percents[1].value)), None
            except EntryError as error:
                raise EntryError(error.what, where=f"{self.where}, {at}", code=error.code) from None
        return NotPlayed(), None


def _as_written(values: Mapping[str, str]) -> tuple[str, str, str]:
    """Section and both sides of a row; players of one side are joined by a hyphen."""
    seats = [values.get(f"PlayerId_{name}", "") for name in ("North", "South", "East", "West")]
    if all(seats):
        sides = (f"{seats[0]}-{seats[1]}", f"{seats[2]}-{seats[3]}")
    else:
        sides = (values.get("PairId_NS", ""), values.get("PairId_EW", ""))
    return values.get("Section", "").strip("-"), *sides


def _side(percent: Fraction) -> ArtificialSide:
    averages = {60: Average.PLUS, 50: Average.EVEN, 40: Average.MINUS}
    return averages.get(int(percent), FixedPercent(percent)) if percent.denominator == 1 else FixedPercent(percent)
