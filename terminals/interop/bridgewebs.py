"""The CSV file that BridgeWebs takes: options, rankings, travellers, each part behind a ``#`` line.

The options follow the list in the BridgeWebs guide ("CSV Format"); of the parts behind them only what other programs
read is known, and no file was sent there, so this export is marked as untried in the documentation. USEBIO is the
format to prefer.
"""

from __future__ import annotations

from dealer.cards import card_name
from firmware_bridge.errors import EntryError
from terminals.interop.csv_text import write_csv
from terminals.interop.exchange import EventKind, ExchangeEvent, ExchangeLine
from terminals.interop.publish import ranked
from terminals.interop.usebio_write import label
from terminals.result import Artificial, PassedOut, Played
from terminals.scoring.boards import Method

LAYOUT = "std1"
METHODS = {Method.BUTLER: "#BUTLER", Method.CROSS_IMPS: "#CROSSIMP", Method.AGGREGATE: "#AGGREGATE"}
SCORE_HEAD = ("POSITION", "PAIR", "NAME1", "NAME2", "PERCENT")
TRAVELLER_HEAD = ("NS", "EW", "BID", "BY", "LEAD", "TRICKS", "SCORE+", "SCORE-", "POINTS+", "POINTS-")


def write_bridgewebs(event: ExchangeEvent, *, director: str = "", scorer: str = "", rounds: int = 0) -> bytes:
    """The bytes of the file, UTF-8. Raises EntryError for team events."""
    if event.kind is EventKind.TEAMS:
        raise EntryError("Team matches are exported as USEBIO, JSON or CSV, not for BridgeWebs.", code="not-exportable")
    date = "/".join(reversed(event.date.split("-"))) if event.date else ""
    boards = sorted({one.line.board for one in event.lines})
    groups = ranked(event.entrants)
    rows: list[tuple[object, ...]] = [
        ("#VERSION", LAYOUT),
        ("#SOURCE", f"{event.program} {event.program_version}".strip()),
        ("#DATE", date),
        ("#TITLE", event.title),
        ("#DIRECTOR", director),
        ("#SCORER", scorer),
        ("#PAIRS", len(event.entrants)),
        ("#BOARDS", len(boards)),
        ("#WINNERS", min(event.winners, 2)),
        ("#ROUNDS", rounds),
    ]
    if event.method in METHODS:
        rows.append((METHODS[event.method], 1))
    if event.kind is EventKind.INDIVIDUAL:
        rows.append(("#INDIVIDUAL", 1))
    for group in groups:
        rows += [("#SCORES",), SCORE_HEAD]
        for one in group:
            names = [player.name for player in one.players] + ["", ""]
            total = one.total.text if one.total is not None else ""
            rows.append((one.place, label(one.contestant, event), names[0], names[1], total))
    rows += [("#BOARDFORMAT", "BOARD"), ("#TRAVELLERS",), TRAVELLER_HEAD]
    for board in boards:
        rows.append(("#BOARD", board))
        rows += [_row(one, event) for one in event.lines if one.line.board == board]
    return write_csv(rows)


def _row(one: ExchangeLine, event: ExchangeEvent) -> tuple[object, ...]:
    result, score = one.line.result, one.score
    bid = by = lead = tricks = ""
    if isinstance(result, Played):
        bid, by, tricks = result.contract.text, result.contract.declarer.letter, str(result.tricks)
        lead = card_name(result.lead) if result.lead is not None else ""
    elif isinstance(result, PassedOut):
        bid = "PASS"
    elif isinstance(result, Artificial):
        bid = str(result)
    plus = score if score is not None and score >= 0 else None
    minus = -score if score is not None and score < 0 else None
    points = [one.ns_points, one.ew_points] if event.method is not Method.AGGREGATE else [None, None]
    return (label(one.line.ns, event), label(one.line.ew, event), bid, by, lead, tricks, plus, minus, *points)
