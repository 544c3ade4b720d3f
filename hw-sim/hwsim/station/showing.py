"""How a terminal words what the host lets it show: travellers and rankings (0x7B, 0x7C)."""

from __future__ import annotations

from hwsim.messages import Fields
from hwsim.numbers import RecordKind

NOT_SHOWN = 65535
SCORE_ZERO = 32768
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
