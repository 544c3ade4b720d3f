"""Results as CSV for spreadsheets: a ranking and a list of results, one header row each."""

from __future__ import annotations

from dealer.cards import card_name
from terminals.interop.csv_text import write_csv
from terminals.interop.exchange import ExchangeEvent
from terminals.interop.usebio_write import label
from terminals.result import Artificial, Assigned, PassedOut, Played

RANKING_HEAD = (
    *("place", "number", "direction", "name_1", "name_2", "national_id_1", "national_id_2"),
    *("boards", "total", "adjustment", "master_points"),
)
RESULTS_HEAD = (
    *("board", "section", "ns", "ew", "kind", "contract", "declarer", "lead", "tricks", "score_ns"),
    *("ns_points", "ew_points", "form", "remark"),
)


def ranking_csv(event: ExchangeEvent) -> bytes:
    """The ranking: one row for each entrant."""
    rows: list[tuple[object, ...]] = [RANKING_HEAD]
    for one in event.entrants:
        players = [*one.players, None, None][:2]
        names = [player.name if player is not None else None for player in players]
        if not one.players and one.name:
            names[0] = one.name
        rows.append(
            (
                one.place,
                label(one.contestant, event),
                one.direction,
                *names,
                *(player.national_id if player is not None else None for player in players),
                one.boards,
                one.total,
                one.adjustment,
                one.master_points,
            )
        )
    return write_csv(rows)


def results_csv(event: ExchangeEvent) -> bytes:
    """All results: one row for each actual play, scores from North-South's side."""
    rows: list[tuple[object, ...]] = [RESULTS_HEAD]
    for one in event.lines:
        line, result = one.line, one.line.result
        contract = declarer = lead = tricks = None
        kind = "not-played"
        if isinstance(result, Played):
            kind, contract, declarer = "played", result.contract.text, result.contract.declarer.letter
            tricks = str(result.tricks)
            lead = card_name(result.lead) if result.lead is not None else None
        elif isinstance(result, PassedOut):
            kind = "passed-out"
        elif isinstance(result, Artificial):
            kind, contract = "artificial", str(result)
        elif isinstance(result, Assigned):
            kind = "assigned"
        rows.append(
            (
                line.board,
                line.section,
                "+".join(label(player, event) for player in line.credited_ns),
                "+".join(label(player, event) for player in line.credited_ew),
                kind,
                contract,
                declarer,
                lead,
                tricks,
                one.score,
                one.ns_points,
                one.ew_points,
                line.form,
                one.note,
            )
        )
    return write_csv(rows)
