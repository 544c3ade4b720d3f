"""Hand records as one HTML file with its style inside; prints three columns of boards that no page break cuts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dealer.board import Board
from dealer.cards import RANKS, Seat, Suit
from dealer.records.content import STRAIN_ORDER, RecordBoard, RecordPage

_STYLE = """
body { font: 14px/1.35 system-ui, sans-serif; margin: 1rem; color: #111; background: #fff; }
header { display: flex; flex-wrap: wrap; gap: 0 1.5rem; align-items: baseline; margin-bottom: .5rem; }
h1 { font-size: 1.3rem; margin: 0; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); gap: .5rem; }
article { border: 1px solid #999; padding: .5rem; break-inside: avoid; display: grid;
  grid-template-columns: 31% 33% 36%; gap: .25rem 0; }
article > h2 { font-size: 1.5rem; margin: 0; grid-area: 1 / 1; } h2 small { display: block; font: 12px sans-serif; }
.n { grid-area: 1 / 2; } .w { grid-area: 2 / 1; } .e { grid-area: 2 / 3; } .s { grid-area: 3 / 2; }
.c { grid-area: 2 / 2; place-self: center; width: 3.4rem; height: 3.4rem; box-sizing: border-box;
  border: 1px solid #111; display: grid; grid-template: 1fr 1fr 1fr / 1fr 1fr 1fr; place-items: center;
  font-size: 11px; }
.ns { border-top-width: 6px; border-bottom-width: 6px; } .ew { border-left-width: 6px; border-right-width: 6px; }
.c b { text-decoration: underline; } .h { grid-area: 3 / 1; font-size: 12px; } .d { grid-area: 3 / 3; }
ul { list-style: none; margin: 0; padding: 0; } li { white-space: nowrap; } .red { color: #b00000; }
table { border-collapse: collapse; font-size: 12px; } td, th { padding: 0 .22em; text-align: center; }
.p { grid-column: 1 / 4; font-size: 13px; }
main.sheet { grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); } .sheet article { display: block; }
.sheet h2 { display: flex; gap: .8rem; align-items: baseline; } .sheet td { font-weight: bold; }
.sheet table { width: 100%; }
@page { size: A4; margin: 10mm; }
@media print { body { margin: 0 1mm; font-size: 9pt; } .c { width: 2.6rem; height: 2.6rem; font-size: 8px; }
  .ns { border-top-width: 4px; border-bottom-width: 4px; } .ew { border-left-width: 4px; border-right-width: 4px; }
  main { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  main.sheet { grid-template-columns: repeat(2, minmax(0, 1fr)); } .sheet table { font-size: 10pt; }
  article { padding: 1.5mm; } table, .h, h2 small { font-size: 7.5pt; } .d td, .d th { padding: 0 .16em; }
  .red { color: #000; } }
"""

_FULL_SIZE = 7
"""Letters of a holding that have room in a third of a board."""


def _symbol(suit: int) -> str:
    red = ' class="red"' if suit in (1, 2) else ""
    return f"<span{red}>{Suit(suit).symbol}</span>"


def _holding(board: Board, seat: Seat, suit: int) -> str:
    """The ranks of a suit, smaller when they would not fit beside the next hand."""
    ranks = board.deal.holding(seat, suit).replace("T", "10") or "–"
    if len(ranks) <= _FULL_SIZE:
        return ranks
    return f'<span style="font-size: {100 * _FULL_SIZE // len(ranks)}%">{ranks}</span>'


def _hand(board: Board, seat: Seat) -> str:
    rows = "".join(f"<li>{_symbol(suit)} {_holding(board, seat, suit)}</li>" for suit in range(4))
    return f'<ul class="{seat.letter.lower()}" aria-label="{seat.name.title()}">{rows}</ul>'


def _compass(board: Board) -> str:
    classes = "c"
    if board.vulnerability.includes(Seat.NORTH):
        classes += " ns"
    if board.vulnerability.includes(Seat.EAST):
        classes += " ew"
    areas = {Seat.NORTH: "1 / 2", Seat.WEST: "2 / 1", Seat.EAST: "2 / 3", Seat.SOUTH: "3 / 2"}
    letters = "".join(
        f'<{tag} style="grid-area: {areas[seat]}">{seat.letter}</{tag}>'
        for seat in Seat
        for tag in ("b" if seat == board.dealer else "span",)
    )
    return f'<div class="{classes}">{letters}</div>'


def _article(item: RecordBoard) -> str:
    board = item.board
    head = (
        f"<h2>{board.number}<small>Dealer {board.dealer.letter}<br>Vul {board.vulnerability.pbn}</small></h2>"
        + "".join(_hand(board, seat) for seat in Seat)
        + _compass(board)
    )
    north, east, south, west = item.points
    head += f'<div class="h">HCP<br>N&nbsp;{north} S&nbsp;{south}<br>E&nbsp;{east} W&nbsp;{west}</div>'
    if item.tricks is not None:
        heads = "".join(f"<th>{'NT' if strain == 4 else _symbol(strain)}</th>" for strain in STRAIN_ORDER)
        rows = "".join(
            f"<tr><th>{seat.letter}</th>"
            + "".join(f"<td>{item.makeable(seat, strain)}</td>" for strain in STRAIN_ORDER)
            + "</tr>"
            for seat in (Seat.NORTH, Seat.SOUTH, Seat.EAST, Seat.WEST)
        )
        head += f'<div class="d"><table><tr><th></th>{heads}</tr>{rows}</table></div>'
    if item.par is not None:
        head += f'<div class="p">Par {escape(str(item.par))}</div>'
    return f"<article>{head}</article>"


def _document(page: RecordPage, kind: str, body: str, layout: str = "") -> bytes:
    title = escape(" ".join(filter(None, (page.event, page.date))) or kind)
    words = [page.club, page.date, page.mark]
    if page.fingerprint:
        words.append(f"Fingerprint {page.fingerprint}")
    if page.set_id:
        words.append(f"Set {page.set_id}")
    spans = "".join(f"<span>{escape(word)}</span>" for word in [*words, page.note] if word)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>'
        f"<style>{_STYLE}</style></head>\n<body><header><h1>{escape(page.event or kind)}</h1>{spans}</header>\n"
        f"<main{layout}>\n{body}\n</main></body></html>\n"
    ).encode()


def record_html(boards: Sequence[RecordBoard], page: RecordPage) -> bytes:
    """One HTML document."""
    return _document(page, "Hand record", "\n".join(_article(item) for item in boards))


def sheet_html(boards: Sequence[Board], page: RecordPage) -> bytes:
    """The card-by-card sheet: for each card of a sorted pack, the seat that it goes to."""
    parts = []
    for board in boards:
        heads = "".join(f"<th>{rank.replace('T', '10')}</th>" for rank in RANKS)
        rows = "".join(
            f"<tr><th>{_symbol(suit)}</th>"
            + "".join(f"<td>{Seat(board.deal.owners[13 * suit + rank]).letter}</td>" for rank in range(13))
            + "</tr>"
            for suit in range(4)
        )
        title = f"{board.number}<small>Dealer {board.dealer.letter}, vul {board.vulnerability.pbn}</small>"
        parts.append(f'<article><h2>{title}</h2><table class="p"><tr><th></th>{heads}</tr>{rows}</table></article>')
    return _document(page, "Dealing sheet", "\n".join(parts), ' class="sheet"')
