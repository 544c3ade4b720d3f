"""Results in PBN 2.1: writes ``TotalScoreTable`` and, for each board, ``ScoreTable``; export format, CRLF, UTF-8.

An auction or a play that a table recorded follows its board as a game of its own: a game has one of each at most, and a
row of a table none. Source: PBN standard 2.1, sections 3.4 to 3.6, 5.9 and 5.10. A deal is written only when the
caller gives it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from dealer.board import dealer_of, vulnerability_of
from dealer.cards import card_name
from dealer.deal import Deal
from firmware_bridge.errors import EntryError
from terminals.interop.adjusted_note import line_note
from terminals.interop.exchange import EventKind, ExchangeEvent, ExchangeLine, Published
from terminals.interop.pbn_sections import write_sections
from terminals.interop.pbn_tables import Column, write_row
from terminals.interop.publish import published
from terminals.interop.usebio_write import label
from terminals.result import Artificial, ArtificialSide, Average, PassedOut, Played
from terminals.scoring.boards import Method

_SEATS = ("West", "North", "East", "South")
_OUTCOME = ("Declarer", "Contract", "Result")
_TOTALS = {
    Method.MATCHPOINTS: "TotalPercentage",
    Method.BUTLER: "TotalIMP",
    Method.CROSS_IMPS: "TotalIMP",
    Method.AGGREGATE: "TotalScore",
}
_SCORING = {
    Method.MATCHPOINTS: "MatchPoints",
    Method.BUTLER: "Butler",
    Method.CROSS_IMPS: "CrossIMPs",
    Method.AGGREGATE: "TotalPoints",
}


def write_pbn_results(event: ExchangeEvent, deals: Mapping[int, Deal] | None = None) -> bytes:
    """A PBN file: a first game with TotalScoreTable, then for each board one game with its ScoreTable and one for each
    play of it that was recorded; CRLF, UTF-8."""
    if event.kind is EventKind.TEAMS:
        raise EntryError("Team matches are exported as USEBIO, JSON or CSV, not as PBN.", code="not-exportable")
    out = ["% PBN 2.1", "% EXPORT", "%Content-type: text/x-pbn; charset=UTF-8", f"%Creator: {event.program}", ""]
    date = event.date.replace("-", ".") or "?"
    head = [("Event", event.title or "?"), ("Site", event.club or "?"), ("Date", date)]
    out += [_tag(name, value) for name, value in head]
    out += _total_table(event)
    out.append("")
    boards: dict[int, list[ExchangeLine]] = {}
    for line in event.lines:
        boards.setdefault(line.line.board, []).append(line)
    for number, lines in sorted(boards.items()):
        marked = {one.line.vulnerability for one in lines}
        own = marked.pop() if len(marked) == 1 else None
        vulnerability = vulnerability_of(number) if own is None else own
        deal = (deals or {}).get(number)
        above = [*head, ("Board", str(number))]
        below = [
            ("Dealer", dealer_of(number).letter),
            ("Vulnerable", vulnerability.pbn),
            ("Deal", "" if deal is None else deal.to_pbn(dealer_of(number))),
            ("Scoring", _SCORING[event.method]),
        ]
        tags = [*above, *((seat, "") for seat in _SEATS), *below, *((name, "") for name in _OUTCOME)]
        out += [_tag(name, value) for name, value in tags]
        out += _score_table(event, lines)
        out.append("")
        for tags, sections in _recorded_games(event, lines):
            values = dict(tags)
            before = [(seat, values.pop(seat)) for seat in _SEATS]
            out += [_tag(name, value) for name, value in (*above, *before, *below, *values.items())]
            out += [*sections, ""]
    return "\r\n".join(out).encode("utf-8", "replace")


def _recorded_games(
    event: ExchangeEvent, lines: list[ExchangeLine]
) -> Iterator[tuple[list[tuple[str, str]], list[str]]]:
    """Tags and sections of each recorded play of a board. ``Instance`` is our own: which of several lines of the same
    contestants it is about."""
    counts: Counter[tuple[str, str, str]] = Counter()
    people = {one.contestant: [player.name for player in one.players] for one in event.entrants}
    individual = event.kind is EventKind.INDIVIDUAL
    for one in lines:
        line, result = one.line, one.line.result
        sides = [line.ns_players, line.ew_players] if individual else [(line.ns,), (line.ew,)]
        ns, ew = ("-".join(label(player, event) for player in side) for side in sides)
        counts[line.section, ns, ew] += 1
        sections = [] if one.recorded is None else write_sections(one.recorded, result)
        if not sections:
            continue
        names = [[name for who in side for name in people.get(who, ())] for side in sides]
        (north, south), (east, west) = (pair if len(pair) == 2 else ("", "") for pair in names)
        outcome = ("", "", "")
        if isinstance(result, Played):
            outcome = (result.contract.declarer.letter, result.contract.text, str(result.tricks))
        elif isinstance(result, PassedOut):
            outcome = ("", "Pass", "")
        instance = counts[line.section, ns, ew]
        tags = [
            *zip(_SEATS, (west, north, east, south), strict=True),
            *zip(_OUTCOME, outcome, strict=True),
            *([("Instance", str(instance))] if instance > 1 else []),
            ("PairEW", ew),
            ("PairNS", ns),
            *([("Section", line.section)] if line.section else []),
        ]
        yield tags, sections


def _tag(name: str, value: str) -> str:
    text = " ".join(value.split())[:200].replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{text}"]'


def _total_table(event: ExchangeEvent) -> list[str]:
    """The column Adjustment, which other programs pass over, is there where somebody has a penalty or bonus."""
    adjusted = any(one.adjustment is not None for one in event.entrants)
    in_rounds, whole = (any(one.in_vps is vps for one in event.entrants) for vps in (True, False))
    columns = [
        Column("Rank", 4, True),
        Column("PairId" if event.kind is EventKind.PAIRS else "PlayerId", 6, True),
        Column("Direction", 2),
        *((Column("TotalVP", 8, True),) if in_rounds else ()),
        *((Column(_TOTALS[event.method], 8, True),) if whole else ()),
        Column("NrBoards", 3, True),
        *((Column("Adjustment", 6, True),) if adjusted else ()),
        Column("Names"),
    ]
    rows = [
        write_row(
            columns,
            [
                one.place,
                label(one.contestant, event),
                one.direction,
                *((_points(one.total if one.in_vps else None),) if in_rounds else ()),
                *((_points(None if one.in_vps else one.total),) if whole else ()),
                "" if one.boards is None else str(one.boards),
                *(([""] if one.adjustment is None else [one.adjustment.text]) if adjusted else []),
                ";".join(player.name for player in one.players),
            ],
        )
        for one in event.entrants
    ]
    return [f'[TotalScoreTable "{";".join(column.spec for column in columns)}"]', *rows]


def _score_table(event: ExchangeEvent, lines: list[ExchangeLine]) -> list[str]:
    stem = "MP" if event.method is Method.MATCHPOINTS else "IMP"
    individual = event.kind is EventKind.INDIVIDUAL
    seats = [Column(f"PlayerId_{seat}", 5, True) for seat in ("North", "South", "East", "West")]
    pairs = [Column("PairId_NS", 5, True), Column("PairId_EW", 5, True)]
    columns = [
        Column("Section", 2),
        *(seats if individual else pairs),
        Column("Contract", 5),
        Column("Declarer", 1),
        Column("Result", 2, True),
        Column("Lead", 2),
        Column("Score_NS", 6, True),
        *(() if event.method is Method.AGGREGATE else (Column(f"{stem}_NS", 7, True), Column(f"{stem}_EW", 7, True))),
        Column("Percentage_NS", 6, True),
        Column("Percentage_EW", 6, True),
        Column("Remark"),
    ]
    rows = []
    for one in lines:
        line, result = one.line, one.line.result
        players = (*line.ns_players, *line.ew_players) if individual else (line.ns, line.ew)
        who = [label(player, event) for player in players]
        contract = declarer = tricks = lead = ""
        percents = ["", ""]
        if isinstance(result, Played):
            contract, declarer = result.contract.text, result.contract.declarer.letter
            tricks = str(result.tricks)
            lead = card_name(result.lead) if result.lead is not None else ""
        elif isinstance(result, PassedOut):
            contract = "Pass"
        elif isinstance(result, Artificial):
            percents = [_percent(result.ns), _percent(result.ew)]
        remark = one.note or line_note(line)
        rows.append(
            write_row(
                columns,
                [
                    line.section,
                    *who,
                    contract,
                    declarer,
                    tricks,
                    lead,
                    "" if one.score is None else str(one.score),
                    *([] if event.method is Method.AGGREGATE else [_points(one.ns_points), _points(one.ew_points)]),
                    *percents,
                    remark,
                ],
            )
        )
    return [f'[ScoreTable "{";".join(column.spec for column in columns)}"]', *rows]


def _points(value: Published | None) -> str:
    return "" if value is None else value.text


def _percent(side: ArtificialSide) -> str:
    if isinstance(side, Average):
        return {Average.PLUS: "60", Average.EVEN: "50", Average.MINUS: "40"}[side]
    return published(side.percent, 0 if side.percent.denominator == 1 else 2).text
