"""Hand records as PBN: the export format with DoubleDummyTricks, OptimumScore and OptimumResultTable."""

from __future__ import annotations

from collections.abc import Sequence

from dealer.cards import Seat
from dealer.formats.options import WriteOptions
from dealer.formats.pbn_write import charset_for, game_tags, header
from dealer.records.content import STRAIN_ORDER, RecordBoard

_STRAINS = ("S", "H", "D", "C", "NT")


def record_pbn(boards: Sequence[RecordBoard], options: WriteOptions) -> bytes:
    """Export-conforming PBN; boards without double dummy have the 15 tags only.

    DoubleDummyTricks is 20 hex digits, North, South, East, West by NT, S, H, D, C, the order that programs read.
    """
    charset = charset_for(options)
    lines = header(options, charset)
    for item in boards:
        lines += [f'[{name} "{value}"]' for name, value in game_tags(item.board, options)]
        if item.tricks is not None:
            seats = (Seat.NORTH, Seat.SOUTH, Seat.EAST, Seat.WEST)
            digits = "".join(f"{item.tricks[strain][seat]:x}" for seat in seats for strain in STRAIN_ORDER)
            lines.append(f'[DoubleDummyTricks "{digits}"]')
            if item.par is not None:
                side, score = ("NS", item.par.score) if item.par.score >= 0 else ("EW", -item.par.score)
                lines.append(f'[OptimumScore "{side} {score}"]')
            lines.append('[OptimumResultTable "Declarer;Denomination\\2R;Result\\2R"]')
            lines += [
                f"{seat.letter} {_STRAINS[strain]:>2} {item.tricks[strain][seat]:>2}"
                for seat in seats
                for strain in STRAIN_ORDER
            ]
        lines.append("")
    return ("\r\n".join(lines) + "\r\n").encode(charset, "replace")
