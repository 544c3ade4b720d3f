"""Printed results, black and white, A4 or Letter: ranking, travellers of every board, scorecards of every pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dealer.board import vulnerability_of
from dealer.cards import Suit, rank_of, suit_of
from terminals.interop.adjusted_note import assigned_words, without_adjusted
from terminals.interop.exchange import Entrant, EventKind, ExchangeEvent, ExchangeLine
from terminals.interop.print_sheet import MARGIN, Sheet, TableColumn
from terminals.interop.publish import rankings
from terminals.result import Artificial, Assigned, PassedOut, Played
from terminals.scoring.boards import Method
from terminals.scoring.lines import Contestant, LineKey
from terminals.scoring.rounding import decimal_text
from terminals.scoring.teams import TeamMethod

_TOTAL = "Total"
_POINT_NAMES = {
    Method.MATCHPOINTS: "MP",
    Method.BUTLER: "IMP",
    Method.CROSS_IMPS: "IMP",
    Method.AGGREGATE: "Points",
}
_TOTAL_NAMES = {
    Method.MATCHPOINTS: "%",
    Method.BUTLER: "IMPs",
    Method.CROSS_IMPS: "IMPs",
    Method.AGGREGATE: "Points",
}


def _subtitle(event: ExchangeEvent) -> str:
    return "  ".join(part for part in (event.club, event.date) if part)


def _label(contestant: Contestant, event: ExchangeEvent) -> str:
    many = len({one.contestant.section for one in event.entrants}) > 1
    return f"{contestant.section if many else ''}{contestant.number}"


def _side_label(contestants: Sequence[Contestant], event: ExchangeEvent) -> str:
    """``7``, or ``3+8`` for the two players of a passing partnership."""
    return "+".join(_label(one, event) for one in contestants)


def _total_name(event: ExchangeEvent, entrants: Sequence[Entrant]) -> str:
    if event.kind is EventKind.TEAMS:
        return {"VPS": "VP", "VP": "VP", "IMPS": "IMPs"}.get(event.match_scoring.upper(), "Points")
    names = {"VP" if one.in_vps else _TOTAL_NAMES[event.method] for one in entrants}
    return names.pop() if len(names) == 1 else _TOTAL


def _point_name(event: ExchangeEvent) -> str:
    if event.kind is EventKind.TEAMS:
        return "IMP" if event.team_method is TeamMethod.IMPS else "Points"
    return _POINT_NAMES[event.method]


def _match_points(event: ExchangeEvent) -> dict[tuple[LineKey, bool], str]:
    """What a team match made of a line's board, from the side of its North-South or its East-West."""
    out: dict[tuple[LineKey, bool], str] = {}
    full = 2 if event.team_method is TeamMethod.BOARD_A_MATCH else 0
    for match in event.matches:
        for board in match.boards:
            if board.points is None or board.north_south is None or board.east_west is None:
                continue
            theirs = decimal_text(full - board.points.value, board.points.decimals)
            first, second = board.north_south.line.key, board.east_west.line.key
            out[first, True] = out[second, False] = board.points.text
            out[first, False] = out[second, True] = theirs
    return out


def ranking_pdf(event: ExchangeEvent, *others: ExchangeEvent, page: str = "a4") -> bytes:
    """The ranking of every winner group, in the order of the event; others: what was played beside it."""
    sheet = Sheet(event.title or "Ranking", page=page, subtitle=_subtitle(event))
    for one in (event, *others):
        if one is not event:
            sheet.new_page(one.title or "Ranking")
        _ranking(sheet, one)
    return sheet.finish()


def _ranking(sheet: Sheet, event: ExchangeEvent) -> None:
    with_master_points = any(one.master_points is not None for one in event.entrants)
    with_penalties = any(one.adjustment is not None and one.adjustment.value for one in event.entrants)
    fixed = [
        TableColumn("Place", 40, "right"),
        TableColumn("No.", 40, "right"),
        TableColumn("Names", 0),
        TableColumn("Boards", 42, "right"),
        *([TableColumn("Adj.", 50, "right")] if with_penalties else []),
        TableColumn(_TOTAL, 56, "right"),
        *([TableColumn("Master points", 70, "right")] if with_master_points else []),
    ]
    names = sheet.inner - sum(column.width for column in fixed)
    columns = [TableColumn(one.title, names) if one.title == "Names" else one for one in fixed]
    for title, group in rankings(event.entrants):
        if title:
            sheet.heading(title)
        rows = []
        for one in group:
            row = [
                one.place or "-",
                _label(one.contestant, event),
                one.names,
                "" if one.boards is None else str(one.boards),
                *([one.adjustment.text if one.adjustment is not None else ""] if with_penalties else []),
                one.total.text if one.total is not None else "-",
            ]
            if with_master_points:
                row.append(one.master_points.text if one.master_points is not None else "")
            rows.append(row)
        total = _total_name(event, group)
        sheet.table([replace(one, title=total) if one.title == _TOTAL else one for one in columns], rows)


def result_cells(one: ExchangeLine) -> tuple[str, str, str, str]:
    """Contract with suit symbols, declarer, lead, tricks against the contract."""
    result = one.line.result
    if isinstance(result, Played):
        contract = result.contract
        lead = "" if result.lead is None else f"{Suit(suit_of(result.lead)).symbol}{rank_of(result.lead)}"
        text = f"{contract.level}{contract.strain.symbol}{contract.doubling.text}"
        return text, contract.declarer.letter, lead, result.relative_text
    if isinstance(result, PassedOut):
        return "Pass", "", "", ""
    if isinstance(result, Artificial):
        return str(result), "", "", ""
    if isinstance(result, Assigned):
        return "Adjusted", "", "", ""
    return str(result), "", "", ""


def travellers_pdf(event: ExchangeEvent, *others: ExchangeEvent, page: str = "a4") -> bytes:
    """Every board with all its results, best North-South score first; a board is not divided when it fits a page."""
    sheet = Sheet(f"{event.title or 'Results'}: travellers", page=page, subtitle=_subtitle(event))
    for one in (event, *others):
        if one is not event:
            sheet.new_page(f"{one.title or 'Results'}: travellers")
        _travellers(sheet, one)
    return sheet.finish()


def _travellers(sheet: Sheet, event: ExchangeEvent) -> None:
    points, compared = _point_name(event), _match_points(event)
    columns = [
        TableColumn("N-S", 40, "centre"),
        TableColumn("E-W", 40, "centre"),
        TableColumn("Contract", 72),
        TableColumn("By", 24, "centre"),
        TableColumn("Lead", 34, "centre"),
        TableColumn("Tricks", 38, "centre"),
        TableColumn("N-S score", 56, "right"),
        TableColumn("E-W score", 56, "right"),
        TableColumn(f"{points} N-S", 56, "right"),
        TableColumn(f"{points} E-W", 56, "right"),
    ]
    boards: dict[tuple[str, int], list[ExchangeLine]] = {}
    for line in event.lines:
        boards.setdefault((line.line.section, line.line.board), []).append(line)
    many = len(event.sections) > 1
    for (section, board), lines in sorted(boards.items(), key=lambda item: (item[0][1], item[0][0])):
        vulnerable = {"None": "nobody", "All": "all"}.get(vulnerability_of(board).pbn, vulnerability_of(board).pbn)
        title = f"Board {board}, vulnerable: {vulnerable}"
        height = 12.0 * (len(lines) + 1) + 12
        sheet.heading(f"{title}, section {section}" if many else title, keep=min(height, 500))
        lines.sort(key=lambda one: (one.score is None, -(one.score or 0), one.line.ns.number))
        sheet.table(columns, [_traveller_row(one, event, compared) for one in lines])
        for one in lines:
            who = f"{_side_label(one.line.credited_ns, event)} - {_side_label(one.line.credited_ew, event)}"
            _remark(sheet, who, one)


def _remark(sheet: Sheet, who: str, one: ExchangeLine) -> None:
    """Below a table: what a line's cells have no room for, its outcomes and weights and what was ruled."""
    result = one.line.result
    words = [assigned_words(result)] if isinstance(result, Assigned) else []
    words += [without_adjusted(one.note)] if one.note else []
    text = ". ".join(filter(None, words))
    if text:
        _below(sheet, f"{who}: {text}")


def _below(sheet: Sheet, text: str) -> None:
    if not sheet.room(12):
        sheet.new_page()
    sheet.y -= 10
    sheet.text(MARGIN, sheet.y, text, 7.5, width=sheet.inner)


def _traveller_row(one: ExchangeLine, event: ExchangeEvent, compared: Mapping[tuple[LineKey, bool], str]) -> list[str]:
    contract, declarer, lead, tricks = result_cells(one)
    score = one.score
    if one.line.form:
        contract = f"{contract} ({one.line.form})"
    return [
        _side_label(one.line.credited_ns, event),
        _side_label(one.line.credited_ew, event),
        contract,
        declarer,
        lead,
        tricks,
        str(score) if score is not None and score >= 0 else "",
        str(-score) if score is not None and score < 0 else "",
        one.ns_points.text if one.ns_points is not None else compared.get((one.line.key, True), ""),
        one.ew_points.text if one.ew_points is not None else compared.get((one.line.key, False), ""),
    ]


def scorecards_pdf(
    event: ExchangeEvent, *others: ExchangeEvent, page: str = "a4", only: Sequence[Contestant] = ()
) -> bytes:
    """A page for each pair (or player, or team): its boards in order, scores from its own side."""
    sheet = Sheet(f"{event.title or 'Results'}: scorecards", page=page, subtitle=_subtitle(event))
    for one in (event, *others):
        if one is not event:
            sheet.new_page(f"{one.title or 'Results'}: scorecards")
        _scorecards(sheet, one, only)
    return sheet.finish()


def _scorecards(sheet: Sheet, event: ExchangeEvent, only: Sequence[Contestant]) -> None:
    points, compared = _point_name(event), _match_points(event)
    columns = [
        TableColumn("Board", 40, "right"),
        TableColumn("Side", 34, "centre"),
        TableColumn("Against", 150),
        TableColumn("Contract", 72),
        TableColumn("By", 24, "centre"),
        TableColumn("Lead", 34, "centre"),
        TableColumn("Tricks", 38, "centre"),
        TableColumn("Score", 50, "right"),
        TableColumn(points, 50, "right"),
    ]
    own_lines: dict[Contestant, list[tuple[ExchangeLine, bool]]] = {}
    for line in event.lines:
        for contestant in line.line.credited_ns:
            own_lines.setdefault(contestant, []).append((line, True))
        for contestant in line.line.credited_ew:
            own_lines.setdefault(contestant, []).append((line, False))
    names = {one.contestant: one for one in event.entrants}
    chosen = [one for one in event.entrants if not only or one.contestant in only]
    first = True
    for entrant in chosen:
        if not first:
            sheet.new_page()
        first = False
        sheet.heading(_card_title(entrant, event))
        own = sorted(own_lines.get(entrant.contestant, []), key=lambda pair: (pair[0].line.board, pair[0].line.play))
        sheet.table(columns, [_card_row(one, north_south, names, event, compared) for one, north_south in own])
        for one, _ in own:
            _remark(sheet, f"Board {one.line.board}", one)
        if entrant.adjustment is not None and entrant.adjustment.value:
            rounds = entrant.in_vps or event.kind is EventKind.TEAMS
            what = "Byes, penalties and the like" if rounds else "Penalties and bonuses"
            _below(sheet, f"{what}: {entrant.adjustment.text}")


def _card_title(entrant: Entrant, event: ExchangeEvent) -> str:
    parts = [_label(entrant.contestant, event), entrant.direction, entrant.names]
    if entrant.total is not None:
        parts.append(f"{entrant.total.text} {_total_name(event, [entrant])}")
    if entrant.place:
        parts.append(f"place {entrant.place}")
    return "   ".join(part for part in parts if part)


def _card_row(
    one: ExchangeLine,
    north_south: bool,
    names: dict[Contestant, Entrant],
    event: ExchangeEvent,
    compared: Mapping[tuple[LineKey, bool], str],
) -> list[str]:
    contract, declarer, lead, tricks = result_cells(one)
    others = one.line.credited_ew if north_south else one.line.credited_ns
    texts = []
    for other in others:
        entrant = names.get(other)
        texts.append(f"{_label(other, event)} {entrant.names if entrant else ''}".strip())
    score = None if one.score is None else one.score if north_south else -one.score
    points = one.ns_points if north_south else one.ew_points
    return [
        str(one.line.board),
        "N-S" if north_south else "E-W",
        ", ".join(texts),
        contract,
        declarer,
        lead,
        tricks,
        "" if score is None else str(score),
        points.text if points is not None else compared.get((one.line.key, north_south), ""),
    ]
