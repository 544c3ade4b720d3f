"""How a terminal words things: what the host lets it show (0x7B, 0x7C), and what it knows alone of its round."""

from __future__ import annotations

from collections.abc import Iterable

from hwsim.messages import Fields, unpack_body
from hwsim.numbers import RecordKind
from hwsim.station.player import Play

NOT_SHOWN = 65535
SCORE_ZERO = 32768
SUITS = ("", "♣", "♦", "♥", "♠", "NT")
STRAINS = ("?", "C", "D", "H", "S", "NT", "?", "?")


def feedback_lines(told: Fields) -> list[str]:
    """Own percentage, then the board's results, the own one marked."""
    if not told:
        return []
    head = f"Board {told['board']}"
    if told["percent"] != NOT_SHOWN:
        head += f": NS {percent_text(told['percent'])}"
    return [head, *(traveller_line(told, line) for line in told["lines"])]


def traveller_line(told: Fields, line: Fields) -> str:
    mark = ">" if (line["ns"], line["ew"]) == (told["ns"], told["ew"]) else " "
    what = "adjusted"
    if line["kind"] == RecordKind.PLAYED:
        level, strain, doubling = line["contract"] & 7, line["contract"] >> 3 & 7, line["contract"] >> 6
        over = line["tricks"] - level - 6
        what = f"{level}{STRAINS[strain]}{'x' * doubling} {'NESW'[line['declarer'] & 3]} {over:+d}"
    elif line["kind"] == RecordKind.PASSED_OUT:
        what = "passed out"
    elif line["kind"] == RecordKind.NOT_PLAYED:
        what = "not played"
    score = str(line["score"] - SCORE_ZERO) if line["score"] else "-"
    share = "" if line["percent"] == NOT_SHOWN else percent_text(line["percent"])
    return f"{mark}{line['ns']}-{line['ew']} {what} {score} {share}".rstrip()


def ranking_lines(told: Fields) -> list[str]:
    return [
        f"Pair {one['pair']}: {one['place']} of {one['of']}, {percent_text(one['percent'])}"
        for one in told.get("pairs", ())
    ]


def percent_text(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02} %"


def boards_of(shown: Fields) -> list[int]:
    """The boards of a round at this table, none in a sit-out."""
    if not shown["ns"] or not shown["ew"] or not shown["first_board"]:
        return []
    return list(range(shown["first_board"], shown["first_board"] + shown["board_count"]))


def next_lines(shown: Fields) -> list[str]:
    """Where the two pairs go when the round is over; a sit-out is told as such."""
    places = (("NS", shown["ns"], shown["next_ns"], 1), ("EW", shown["ew"], shown["next_ew"], 2))
    return [_next_line(side, pair, table, bool(shown["next_swap"] & bit)) for side, pair, table, bit in places if pair]


def _next_line(side: str, pair: int, table: int, swap: bool) -> str:
    if table == 255:
        return f"Pair {pair}: end of session"
    if table == 0:
        return f"Pair {pair}: sits out"
    return f"Pair {pair}: table {table} {({'NS': 'EW', 'EW': 'NS'}[side]) if swap else side}"


def play_words(play: Play) -> str:
    """``4♠x S -1``, for the line about a board just keyed in."""
    if play.kind == RecordKind.PASSED_OUT:
        return "passed out"
    if play.kind in (RecordKind.NOT_PLAYED, RecordKind.ERASED):
        return "erased" if play.kind == RecordKind.ERASED else "not played"
    over = play.tricks - play.level - 6
    contract = f"{play.level}{SUITS[play.strain]}{'x' * play.doubling} {'NESW'[play.declarer]}"
    return f"{contract} {over:+d}" if over else f"{contract} ="


def session_lines(told: Fields) -> list[str]:
    """A pair's whole session."""
    if not told:
        return []
    lines = [f"Pair {told['pair']}, all boards"]
    for line in told["lines"]:
        both = (told["pair"], line["opponents"])
        ns, ew = both if line["direction"] == 0 else both[::-1]
        words = traveller_line({"ns": -1, "ew": -1}, {**line, "ns": ns, "ew": ew}).strip()
        lines.append(f"Round {line['round']} board {line['board']}: {words}")
    return lines


def standings_lines(told: Fields) -> list[str]:
    """One whole ranking."""
    return [
        told["name"] or "Ranking",
        *(
            f"{one['place']}. {chr(64 + one['section']) if one['section'] < 27 else one['section']}{one['pair']}"
            f" {one['name']} {percent_text(one['percent'])}".replace("  ", " ")
            for one in told["pairs"]
        ),
    ]


def recap_lines(bodies: Iterable[bytes], round_: int) -> list[str]:
    """What stands at this table in a round, by board; ``bodies`` in the order of keying in."""
    standing: dict[int, str] = {}
    for body in bodies:
        told = unpack_body(body)
        if told["round"] != round_:
            continue
        if told["kind"] == RecordKind.ERASED:
            standing.pop(told["board"], None)
        elif told["kind"] == RecordKind.PLAYED:
            over = told["tricks"] - told["level"] - 6
            doubled = "x" * told["doubling"]
            standing[told["board"]] = (
                f"{told['level']}{STRAINS[told['strain']]}{doubled} {'NESW'[told['declarer']]} {over:+d}"
            )
        else:
            standing[told["board"]] = "passed out" if told["kind"] == RecordKind.PASSED_OUT else "not played"
    return [f"Board {board}: {words}" for board, words in sorted(standing.items())]
