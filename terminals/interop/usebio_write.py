"""Writes USEBIO 1.2 result files, and checks them against a schema of our own (``usebio_schema``).

Scores are seen from North-South; artificial ones are ``A`` and two percentages; one line stands for one actual play,
sit-outs and boards not played have none. Split and weighted rulings have no field in the format: their points are on
the line and the ruling in NOTES.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dealer.cards import card_name
from firmware_bridge.errors import EntryError
from terminals.interop.exchange import Entrant, EventKind, ExchangeEvent, ExchangeLine, ExchangeMatch, Published
from terminals.interop.usebio_schema import MAX_TEAM_NAME, MAX_TEXT, validate_usebio
from terminals.result import Artificial, ArtificialSide, Average, PassedOut, Played
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant
from terminals.scoring.rounding import decimal_text
from terminals.scoring.teams import TeamMethod

_METHOD_TAGS = {
    Method.MATCHPOINTS: ("MATCH_POINTS", "MATCH_POINTS"),
    Method.CROSS_IMPS: ("CROSS_IMPS", "CROSS_IMP_POINTS"),
    Method.BUTLER: ("BUTLER_IMPS", "BUTLER_POINTS"),
    Method.AGGREGATE: ("AGGREGATE", "AGGREGATE_POINTS"),
}
_TEAM_TAGS = {TeamMethod.IMPS: "IMPS", TeamMethod.BOARD_A_MATCH: "PAB", TeamMethod.AGGREGATE: "AGGREGATE"}


def write_usebio(event: ExchangeEvent, *others: ExchangeEvent) -> bytes:
    """The bytes of a USEBIO 1.2 file, an EVENT for each event.

    others: what was played beside it, such as pairs beside teams; their club is the same. Raises EntryError when an
    event can't be written so that it is valid.
    """
    root = Element("USEBIO", Version="1.2")
    club = SubElement(root, "CLUB")
    _text(club, "CLUB_NAME", event.club)
    _text(club, "CLUB_ID_NUMBER", event.club_id)
    for one in (event, *others):
        _event(root, one)
    problems = validate_usebio(root)
    if problems:
        raise EntryError(f"The event can't be written as USEBIO: {problems[0]}.", where="USEBIO", code="not-exportable")
    indent(root, "  ")
    body: str = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'.encode()


def _event(root: Element, event: ExchangeEvent) -> None:
    kind = {EventKind.PAIRS: "PAIRS", EventKind.INDIVIDUAL: "INDIVIDUAL", EventKind.TEAMS: "TEAMS"}[event.kind]
    in_matches = {one.north_south.line.key for match in event.matches for one in match.boards if one.north_south}
    if event.kind is EventKind.PAIRS and event.lines and all(one.line.key in in_matches for one in event.lines):
        kind = "SWISS_PAIRS"
    element = SubElement(root, "EVENT", EVENT_TYPE=kind)
    _head(element, event)
    participants = SubElement(element, "PARTICIPANTS")
    for entrant in event.entrants:
        _entrant(participants, entrant, event)
    containers = _containers(element, event)
    if event.kind is not EventKind.TEAMS:
        boards: dict[tuple[str, int], Element] = {}
        for line in event.lines:
            key = (line.line.section, line.line.board)
            if line.line.key in in_matches:
                continue
            if key not in boards:
                boards[key] = SubElement(containers[key[0]], "BOARD")
                _text(boards[key], "BOARD_NUMBER", str(key[1]))
            _line(SubElement(boards[key], "TRAVELLER_LINE"), line, event)
    for match in event.matches:
        if event.kind is EventKind.TEAMS:
            _match(SubElement(element, "MATCH"), match, event)
        else:
            _table(SubElement(containers.get(_section(match), element), "MATCH"), match, event)


def _containers(element: Element, event: ExchangeEvent) -> dict[str, Element]:
    """Where the boards of each section go. A section such as ``2/A`` is section A of the second session."""
    if len(event.sections) < 2:
        return dict.fromkeys(event.sections, element)
    out: dict[str, Element] = {}
    sessions: dict[str, Element] = {}
    for section in event.sections:
        before, slash, name = section.rpartition("/")
        number = before if slash else "1"
        if number not in sessions:
            sessions[number] = SubElement(element, "SESSION", SESSION_ID=number)
        session = sessions[number]
        out[section] = SubElement(session, "SECTION", SECTION_ID=name) if name else session
    return out


def _clean(text: str, longest: int) -> str:
    """XML 1.0 has no place for control characters, not even as references; line ends and tabs become spaces."""
    kept = (c for c in " ".join(text.split()) if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    return "".join(kept)[:longest]


def _text(parent: Element, tag: str, text: str) -> None:
    SubElement(parent, tag).text = _clean(text, MAX_TEXT)


def _number(parent: Element, tag: str, value: Published | None) -> None:
    if value is not None:
        _text(parent, tag, value.text)


def _head(element: Element, event: ExchangeEvent) -> None:
    _text(element, "EVENT_DESCRIPTION", event.title)
    if event.date:
        year, month, day = event.date.split("-")
        _text(element, "DATE", f"{day}/{month}/{year}")
    _text(element, "PROGRAM_NAME", event.program)
    _text(element, "PROGRAM_VERSION", event.program_version)
    if event.kind is EventKind.TEAMS:
        _text(element, "BOARD_SCORING_METHOD", _TEAM_TAGS[event.team_method])
    else:
        _text(element, "BOARD_SCORING_METHOD", _METHOD_TAGS[event.method][0])
    if event.match_scoring:
        _text(element, "MATCH_SCORING_METHOD", event.match_scoring)
    if event.kind is not EventKind.TEAMS:
        _text(element, "WINNER_TYPE", str(min(event.winners, 2)))
    places = [section.rpartition("/") for section in event.sections]
    _text(element, "SESSION_COUNT", str(max(1, len({before for before, _, _ in places}))))
    _text(element, "SECTION_COUNT", str(max(1, len({name for _, _, name in places}))))
    _text(element, "BOARDS_PLAYED", str(max((one.boards or 0 for one in event.entrants), default=0)))


def _entrant(parent: Element, entrant: Entrant, event: ExchangeEvent) -> None:
    if event.kind is EventKind.INDIVIDUAL:
        element = SubElement(parent, "PLAYER")
        _text(element, "PLAYER_NUMBER", label(entrant.contestant, event))
        _standing(element, entrant, event)
        if entrant.players:
            _person(element, entrant, 0)
        return
    if event.kind is EventKind.TEAMS:
        element = SubElement(parent, "TEAM", TEAM_ID=entrant.label, TEAM_NAME=_clean(entrant.name, MAX_TEAM_NAME))
        _standing(element, entrant, event)
    else:
        element = SubElement(parent, "PAIR")
        _text(element, "PAIR_NUMBER", label(entrant.contestant, event))
        if entrant.direction:
            _text(element, "DIRECTION", entrant.direction)
        _standing(element, entrant, event)
    for index in range(len(entrant.players)):
        _person(SubElement(element, "PLAYER"), entrant, index)


def _standing(element: Element, entrant: Entrant, event: ExchangeEvent) -> None:
    if entrant.boards is not None:
        _text(element, "BOARDS_PLAYED", str(entrant.boards))
    percent = event.kind is not EventKind.TEAMS and event.method is Method.MATCHPOINTS and not entrant.in_vps
    _number(element, "PERCENTAGE" if percent else "TOTAL_SCORE", entrant.total)
    if entrant.place:
        _text(element, "PLACE", entrant.place)
    _number(element, "ADJUSTMENT", entrant.adjustment)
    if entrant.master_points is not None:
        awarded = SubElement(element, "MASTER_POINTS")
        _number(awarded, "MASTER_POINTS_AWARDED", entrant.master_points)


def _person(element: Element, entrant: Entrant, index: int) -> None:
    player = entrant.players[index]
    _text(element, "PLAYER_NAME", player.name)
    if player.national_id:
        _text(element, "NATIONAL_ID_NUMBER", player.national_id)
    if player.club_id:
        _text(element, "CLUB_ID_NUMBER", player.club_id)


def label(contestant: Contestant, event: ExchangeEvent) -> str:
    """A number that is unique in the file: the section's letter goes before it when there is more than one section."""
    sections = {one.contestant.section for one in event.entrants}
    return f"{contestant.section}{contestant.number}" if len(sections) > 1 else str(contestant.number)


def _line(element: Element, one: ExchangeLine, event: ExchangeEvent, direction: str = "") -> None:
    line, result = one.line, one.line.result
    if direction:
        _text(element, "DIRECTION", direction)
    if line.ns_players and line.ew_players:
        seats = zip("NSEW", (*line.ns_players, *line.ew_players), strict=True)
        for seat, player in sorted(seats, key=lambda pair: "NSEW".index(pair[0])):
            _text(element, f"{seat}_PLAYER_NUMBER", label(player, event))
    else:
        _text(element, "NS_PAIR_NUMBER", label(line.ns, event))
        _text(element, "EW_PAIR_NUMBER", label(line.ew, event))
    if isinstance(result, Played):
        _text(element, "CONTRACT", result.contract.text)
        _text(element, "PLAYED_BY", result.contract.declarer.letter)
        if result.lead is not None:
            _text(element, "LEAD", card_name(result.lead))
        _text(element, "TRICKS", str(result.tricks))
    elif isinstance(result, PassedOut):
        _text(element, "CONTRACT", "PASS")
    note = one.note
    if isinstance(result, Artificial):
        _text(element, "SCORE", f"A{_percent(result.ns)}{_percent(result.ew)}")
    elif one.score is not None:
        _text(element, "SCORE", str(one.score))
    tag = _METHOD_TAGS[event.method][1]
    _number(element, f"NS_{tag}", one.ns_points)
    _number(element, f"EW_{tag}", one.ew_points)
    if note:
        _text(element, "NOTES", note)


def _percent(side: ArtificialSide) -> str:
    if isinstance(side, Average):
        return {Average.PLUS: "60", Average.EVEN: "50", Average.MINUS: "40"}[side]
    return decimal_text(side.percent, 0).rjust(2, "0")


def _match(element: Element, match: ExchangeMatch, event: ExchangeEvent) -> None:
    _text(element, "ROUND_NUMBER", str(match.round))
    _text(element, "TEAM", _team_label(match.team, event))
    _text(element, "OPPOSING_TEAM", _team_label(match.opponent, event))
    _number(element, "TEAM_SCORE", match.team_score)
    _number(element, "OPPOSING_TEAM_SCORE", match.opposing_score)
    for board in match.boards:
        child = SubElement(element, "BOARD")
        _text(child, "BOARD_NUMBER", str(board.board))
        _number(child, "IMPS" if event.team_method is TeamMethod.IMPS else "TEAM_POINTS", board.points)
        for direction, line in (("NS", board.north_south), ("EW", board.east_west)):
            if line is not None:
                _line(SubElement(child, "TRAVELLER_LINE"), line, event, direction)


def _section(match: ExchangeMatch) -> str:
    """The section whose tables played it, "" for a match without a board."""
    return next((one.north_south.line.section for one in match.boards if one.north_south is not None), "")


def _table(element: Element, match: ExchangeMatch, event: ExchangeEvent) -> None:
    """A round of two pairs at one table, as a match: the only element that says to which round a result belongs."""
    _text(element, "ROUND_NUMBER", str(match.round))
    _text(element, "NS_PAIR_NUMBER", label(match.team, event))
    _text(element, "EW_PAIR_NUMBER", label(match.opponent, event))
    _number(element, "NS_SCORE", match.team_score)
    _number(element, "EW_SCORE", match.opposing_score)
    for board in match.boards:
        if board.north_south is not None:
            child = SubElement(element, "BOARD")
            _text(child, "BOARD_NUMBER", str(board.board))
            _line(SubElement(child, "TRAVELLER_LINE"), board.north_south, event)


def _team_label(contestant: Contestant, event: ExchangeEvent) -> str:
    entrant = event.entrant(contestant)
    return entrant.label if entrant is not None else str(contestant.number)
