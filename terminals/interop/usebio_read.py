"""Reads USEBIO result files (1.0 to 1.3) in the dialects that scoring programs really write.

Containers may be EVENT, SESSION or SESSION/SECTION; the method may be a tag or the event's type; pair numbers may carry
a direction; scores may be artificial (``A6040``); see ``tokens`` for the spellings. What can't be meant is refused with
the board; what is odd but clear is read and listed in the event's warnings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.interop.adjusted_note import read_adjusted_note, read_form, read_marks
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
from terminals.interop.roster import Roster, numbers_collide
from terminals.interop.several import only_event
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
from terminals.interop.usebio_words import POINT_TAGS, TEAM_METHODS, event_kind, event_method, iso_date, with_imps
from terminals.interop.xml_file import parse_xml, text_of
from terminals.result import (
    Artificial,
    Assigned,
    BoardState,
    NotPlayed,
    NotPlayedReason,
    Outcome,
    PassedOut,
    Played,
)
from terminals.scoring.boards import Method
from terminals.scoring.lines import MAX_BOARD, Contestant, ResultLine
from terminals.scoring.teams import TeamMethod

VPS = ("VPS", "VP")


def read_usebio(data: bytes, where: str = "") -> ExchangeEvent:
    """The only event in a USEBIO file. Raises EntryError as ``read_usebio_events`` does, and for several events."""
    return only_event(read_usebio_events(data, where), where)


def read_usebio_events(data: bytes, where: str = "") -> list[ExchangeEvent]:
    """Every event in a USEBIO file; those without results are left out where others have some.

    Raises EntryError: exit status 2 for what is no XML or no USEBIO event with results, 1 for a result that can't be.
    """
    root, repairs = parse_xml(data, where)
    found = [root] if root.tag == "EVENT" else root.findall(".//EVENT")
    if not found:
        raise EntryError(
            "There is no USEBIO event in the file.", where=where, code="unparsable", exit_status=ExitStatus.USAGE
        )
    held = [one for one in found if one.find(".//TRAVELLER_LINE") is not None] or found[:1]
    return [_Reader(root, one, where, repairs).read() for one in held]


class _Reader:
    """One pass over one event."""

    def __init__(self, root: Element, event: Element, where: str, repairs: list[str]) -> None:
        self.root, self.event, self.where = root, event, where
        self.warnings = list(repairs)
        self.fault = ""
        self.lines: list[ExchangeLine] = []
        self.matches: list[ExchangeMatch] = []
        self.datums: list[tuple[str, int, Published]] = []
        winners = read_int(text_of(event, "WINNER_TYPE")) or 0
        self.kind = event_kind(event)
        self.method = event_method(event, self.kind)
        self.in_vps = self.kind is not EventKind.TEAMS and text_of(event, "MATCH_SCORING_METHOD").upper() in VPS
        self.roster = Roster(winners)
        self.sessions = len([one for one in event.iter("SESSION") if one.find(".//TRAVELLER_LINE") is not None])

    def read(self) -> ExchangeEvent:
        event = self.event
        for container, section in self._containers():
            for participants in container.findall("PARTICIPANTS"):
                self._participants(participants, section)
        self.roster.colliding = self.roster.winners != 1 and numbers_collide(self._of_two(list(self._plays())))
        self.roster.close()
        session = 0
        for container, section in self._containers():
            if container.tag == "SESSION":
                session += 1
            prefix = f"{session}/" if self.sessions > 1 and session else ""
            for board in container.findall("BOARD"):
                self._board(board, section, prefix)
            for match in container.findall("MATCH"):
                self._match(match, section, prefix)
        if not self.lines and not self.matches:
            raise EntryError(
                "There are no results in the file.", where=self.where, code="no-results", exit_status=ExitStatus.USAGE
            )
        club = self.root.find("CLUB")
        extra = {
            tag: text
            for tag in ("MASTER_POINT_SCALE", "P2P_CHARGE_RATE", "MPS_AWARDED_FLAG", "EVENT_IDENTIFIER", "COUNTRY")
            if (text := text_of(event, tag))
        }
        winners = self.roster.winners or (2 if self.roster.two_fields else 1)
        return ExchangeEvent(
            title=text_of(event, "EVENT_DESCRIPTION") or text_of(event, "TITLE"),
            date=self._date(),
            club="" if club is None else text_of(club, "CLUB_NAME"),
            club_id="" if club is None else text_of(club, "CLUB_ID_NUMBER"),
            program=text_of(event, "PROGRAM_NAME"),
            program_version=text_of(event, "PROGRAM_VERSION"),
            kind=self.kind,
            method=self.method,
            team_method=TEAM_METHODS.get(text_of(event, "BOARD_SCORING_METHOD").upper(), TeamMethod.IMPS),
            match_scoring=text_of(event, "MATCH_SCORING_METHOD").upper(),
            winners=winners,
            entrants=tuple(self._entrants()),
            lines=tuple(number_plays(self.lines)),
            matches=tuple(self.matches),
            datums=tuple(self.datums),
            warnings=tuple(dict.fromkeys(self.warnings + self.roster.warnings)),
            extra=extra,
        )

    def _entrants(self) -> list[Entrant]:
        """Pairs that played outside of the matches, as those of a Mitchell beside a Swiss section, have no VPs."""
        if self.kind is EventKind.TEAMS or not self.matches:
            return self.roster.entrants
        inside = {pair for match in self.matches for pair in (match.team, match.opponent)}
        outside = {pair for one in self.lines for pair in (one.line.ns, one.line.ew)} - inside
        return [replace(one, in_vps=False) if one.contestant in outside else one for one in self.roster.entrants]

    def _plays(self) -> Iterator[tuple[object, str, str]]:
        for container, section in self._containers():
            for board in container.findall("BOARD"):
                number = text_of(board, "BOARD_NUMBER")
                for line in board.findall("TRAVELLER_LINE"):
                    yield (section, number), text_of(line, "NS_PAIR_NUMBER"), text_of(line, "EW_PAIR_NUMBER")

    def _of_two(self, plays: list[tuple[object, str, str]]) -> Iterator[tuple[object, str, str]]:
        """The plays without the numbers of teams whose pairs score for them against a field: such a number is listed
        once, without a direction, sits on both sides of a board, and never plays against itself."""
        alone = set() if any(ns == ew for _, ns, ew in plays) else self.roster.listed_once()
        for place, ns, ew in plays:
            yield place, "" if ns in alone else ns, "" if ew in alone else ew

    def _containers(self) -> Iterator[tuple[Element, str]]:
        """EVENT and the SESSIONs and SECTIONs in it, each with the section it stands for."""
        yield self.event, ""
        for child in self.event:
            if child.tag == "SECTION":
                yield child, self._section(child)
            elif child.tag == "SESSION":
                yield child, ""
                for section in child.findall("SECTION"):
                    yield section, self._section(section)

    @staticmethod
    def _section(element: Element) -> str:
        return (element.get("SECTION_ID") or text_of(element, "SECTION_ID") or text_of(element, "SECTION_NAME"))[:8]

    def _date(self) -> str:
        text = text_of(self.event, "DATE")
        date = iso_date(text)
        if text and not date:
            self.warnings.append(f"the date {text[:20]!r} is not day/month/year")
        return date

    # participants

    def _participants(self, element: Element, section: str) -> None:
        for team in element.iter("TEAM"):
            self._team(team, section)
        if element.find(".//TEAM") is not None:
            return
        for pair in element.iter("PAIR"):
            self._pair(pair, section)
        for player in element.findall("PLAYER"):
            label = text_of(player, "PLAYER_NUMBER")
            if label:
                self._enter(player, label, section, (self._player(player),))

    def _team(self, team: Element, section: str) -> None:
        label = team.get("TEAM_ID") or text_of(team, "TEAM_ID")
        players = tuple(self._player(player) for player in team.iter("PLAYER"))
        self._enter(team, label, section, players, name=(team.get("TEAM_NAME") or text_of(team, "TEAM_NAME")).strip())
        for pair in team.iter("PAIR"):
            number = text_of(pair, "PAIR_NUMBER")
            if number:
                self._enter(
                    pair, number, section, tuple(self._player(p) for p in pair.iter("PLAYER")), total_tag="PAIR_IMPS"
                )

    def _pair(self, pair: Element, section: str) -> None:
        label = text_of(pair, "PAIR_NUMBER")
        if not label:
            raise EntryError("A pair has no number.", where=self.where, code="bad-pair")
        self._enter(pair, label, section, tuple(self._player(player) for player in pair.iter("PLAYER")))

    def _enter(
        self,
        element: Element,
        label: str,
        section: str,
        players: tuple[ExchangePlayer, ...],
        *,
        name: str = "",
        total_tag: str = "",
    ) -> None:
        tags = (total_tag,) if total_tag else ("PERCENTAGE", "TOTAL_SCORE", "TOTAL_IMPS", "SCORE")
        total = next((found for tag in tags if (found := self._number(element, tag)) is not None), None)
        # A percentage may be given beside a total in another unit; the method decides which one is checked.
        if not total_tag and self.method is not Method.MATCHPOINTS:
            total = self._number(element, "TOTAL_SCORE") or total
        second, percent = self._number(element, "TOTAL_SCORE"), self._number(element, "PERCENTAGE")
        in_vps = self.in_vps and (second is not None or percent is None)
        total = second or total if in_vps else total
        beside = self.method is Method.MATCHPOINTS and percent is not None and not in_vps
        self.roster.enter(
            label,
            section,
            Entrant(
                Contestant("", 0),
                label,
                players,
                direction=text_of(element, "DIRECTION").upper().replace("/", ""),
                section=section,
                total=total,
                place=text_of(element, "PLACE"),
                boards=read_int(text_of(element, "BOARDS_PLAYED")),
                adjustment=self._number(element, "ADJUSTMENT"),
                master_points=self._number(element, ".//MASTER_POINTS_AWARDED"),
                name=name,
                second_total=second if beside and not total_tag else None,
                in_vps=in_vps,
            ),
            team=element.tag == "TEAM",
        )

    @staticmethod
    def _player(element: Element) -> ExchangePlayer:
        name = text_of(element, "PLAYER_NAME") or text_of(element, "NAME")
        return ExchangePlayer(
            " ".join(name.split()), text_of(element, "NATIONAL_ID_NUMBER"), text_of(element, "CLUB_ID_NUMBER")
        )

    @staticmethod
    def _number(element: Element, tag: str) -> Published | None:
        text = text_of(element, tag)
        return read_number(text.rstrip("%")) if text else None

    # results

    def _board_number(self, element: Element) -> int:
        text = text_of(element, "BOARD_NUMBER")
        number = read_int(text)
        if number is None or not 1 <= number <= MAX_BOARD:
            raise EntryError(f"{text[:12]!r} is no board number.", where=self.where, code="bad-board")
        return number

    def _board(self, element: Element, section: str, prefix: str) -> None:
        travellers = element.findall("TRAVELLER_LINE")
        if not travellers:  # deals are boards too, with hands in place of lines
            return
        number = self._board_number(element)
        datum = self._number(element, "BOARD_AVERAGE")
        if datum is not None and self.method is Method.BUTLER:
            self.datums.append((prefix + section, number, datum))
        for index, traveller in enumerate(travellers, start=1):
            self._add(self._line(traveller, number, section, prefix, index))

    def _add(self, line: ExchangeLine | None) -> None:
        if line is None:
            return
        if len(self.lines) >= MAX_LINES:
            raise EntryError(f"The file has more than {MAX_LINES} results.", where=self.where, code="too-large")
        self.lines.append(line)

    def _line(
        self,
        element: Element,
        board: int,
        section: str,
        prefix: str,
        index: int,
        default: tuple[Contestant, Contestant] | None = None,
    ) -> ExchangeLine | None:
        at = f"board {board}, line {index}"
        self.fault = ""
        state, score, contract = self._state(element, at)
        ns_players: tuple[Contestant, ...] = ()
        ew_players: tuple[Contestant, ...] = ()
        if element.find("N_PLAYER_NUMBER") is not None:
            seats = [text_of(element, f"{seat}_PLAYER_NUMBER") for seat in "NSEW"]
            players = [self.roster.seat(label, section, "", at) for label in seats]
            ns_players, ew_players = (players[0], players[1]), (players[2], players[3])
            ns, ew = Contestant(section, players[0].number, "NS"), Contestant(section, players[2].number, "EW")
        else:
            ns_label, ew_label = text_of(element, "NS_PAIR_NUMBER"), text_of(element, "EW_PAIR_NUMBER")
            if not (ns_label and ew_label) and default is None:
                if isinstance(state, NotPlayed) or not (ns_label or ew_label):
                    self.warnings.append(f"{at}: a line without two pairs was left out")
                    return None
                raise EntryError("A line names only one pair.", where=f"{self.where}, {at}", code="bad-line")
            if ns_label and ew_label:
                ns = self.roster.seat(ns_label, section, "NS", at)
                ew = self.roster.seat(ew_label, section, "EW", at)
            else:
                assert default is not None
                ns, ew = default
        ns_points = ew_points = None
        for tag, method in POINT_TAGS:
            if method is self.method:
                ns_points = self._number(element, f"NS_{tag}")
                ew_points = self._number(element, f"EW_{tag}")
        if self.method in (Method.BUTLER, Method.CROSS_IMPS):
            state = with_imps(state, ns_points, ew_points)
        note = text_of(element, "NOTES")
        try:
            form, marked = read_form(note), read_marks(note)
            line = ResultLine(board, ns, ew, state, prefix + section, form, marked, 1, ns_players, ew_players)
        except EntryError as error:
            raise EntryError(error.what, where=f"{self.where}, {at}", code=error.code) from None
        return ExchangeLine(line, score, ns_points, ew_points, contract, note[:200], at, self.fault)

    def _state(self, element: Element, at: str) -> tuple[BoardState, int | None, str]:
        """What the line says happened, the published score, and the contract as written."""
        score_text, contract_text = text_of(element, "SCORE"), text_of(element, "CONTRACT")
        artificial = read_artificial(score_text) if score_text and read_int(score_text) is None else None
        artificial = artificial or (read_artificial(contract_text) if contract_text else None)
        adjusted = read_adjusted_note(text_of(element, "NOTES"))
        if artificial is not None:
            return adjusted if isinstance(adjusted, Artificial) else artificial, None, contract_text
        number = read_number(score_text) if score_text else None
        score = int(number.value) if number is not None and number.value.denominator == 1 else None
        if number is not None and score is None:
            raise EntryError(
                f"{score_text[:12]!r} is no score in points.", where=f"{self.where}, {at}", code="bad-score"
            )
        if contract_text and is_pass(contract_text):
            return PassedOut(), score, contract_text
        tricks_text = text_of(element, "TRICKS")
        if contract_text:
            played = self._played(element, contract_text, tricks_text, at)
            if played is not None:
                return played, score, contract_text
        if score is not None:
            if score == 0 and not contract_text:
                return PassedOut(), score, contract_text
            side = (Outcome(score),)
            return Assigned(side, side), score, contract_text
        if score_text and is_pass(score_text):
            return PassedOut(), 0, contract_text
        if adjusted is not None:
            return adjusted, None, contract_text
        if score_text or contract_text:
            self.warnings.append(f"{at}: {(score_text or contract_text)[:16]!r} is no result; taken as not played")
        return NotPlayed(NotPlayedReason.OTHER), None, contract_text

    def _played(self, element: Element, contract_text: str, tricks_text: str, at: str) -> Played | None:
        try:
            contract = read_contract(contract_text, text_of(element, "PLAYED_BY"))
            tricks = read_tricks(tricks_text, contract)
            if tricks is None:
                return None
            lead = read_card(text_of(element, "LEAD"))
            return Played(contract, tricks, lead)
        except EntryError as error:
            self.warnings.append(f"{at}: {error.what}")
            self.fault = error.what if error.code == IMPOSSIBLE else ""
            return None

    # teams

    def _match(self, element: Element, section: str, prefix: str) -> None:
        team_label = text_of(element, "TEAM") or text_of(element, "NS_PAIR_NUMBER")
        other_label = text_of(element, "OPPOSING_TEAM") or text_of(element, "EW_PAIR_NUMBER")
        is_team = self.kind is EventKind.TEAMS
        team = self.roster.seat(team_label, section, "", "match", team=is_team)
        other = self.roster.seat(other_label, section, "", "match", team=is_team)
        number = read_int(text_of(element, "ROUND_NUMBER")) or len(self.matches) + 1
        boards = []
        for board_element in element.findall("BOARD"):
            board = self._board_number(board_element)
            sides: dict[str, ExchangeLine] = {}
            for index, traveller in enumerate(board_element.findall("TRAVELLER_LINE"), start=1):
                direction = text_of(traveller, "DIRECTION").upper() or ("NS" if index == 1 else "EW")
                pairs = (team, other) if direction == "NS" else (other, team)
                line = self._line(traveller, board, section, prefix, index, pairs)
                if line is not None:
                    line = replace(line, at=f"round {number}, {line.at}")
                    sides[direction] = line
                    self._add(line)
            points = self._number(board_element, "IMPS") or self._number(board_element, "TEAM_POINTS")
            boards.append(MatchBoard(board, sides.get("NS"), sides.get("EW"), points))
        self.matches.append(
            ExchangeMatch(
                number,
                team,
                other,
                tuple(boards),
                self._number(element, "TEAM_SCORE") or self._number(element, "NS_SCORE"),
                self._number(element, "OPPOSING_TEAM_SCORE") or self._number(element, "EW_SCORE"),
            )
        )
