"""The lines that people at a table see. It knows a terminal; the terminal knows nothing of how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hwsim.numbers import CallState
from hwsim.station.showing import (
    boards_of,
    feedback_lines,
    next_lines,
    ranking_lines,
    session_lines,
    standings_lines,
)

if TYPE_CHECKING:
    from hwsim.station.terminal import Terminal

CALLS = {
    CallState.CALLED: "Director called",
    CallState.COMING: "The director is coming",
    CallState.DONE: "",
    CallState.NONE: "",
}


def screen(terminal: Terminal) -> list[str]:
    """Empty when it is off."""
    if not terminal.on:
        return []
    if not terminal.admitted:
        text = str(terminal.memory.admission.get("text", ""))
        return ["Not admitted yet. Call the director.", text, *_foot(terminal)]
    lines = []
    if terminal.table:
        lines.append(f"Section {_letters(terminal.section)}  Table {terminal.table}")
    else:
        lines.append(str(terminal.memory.admission.get("text", "")) or "At no table")
    shown = terminal.shown_round()
    if shown is not None:
        lines.append(f"Round {shown['round']}")
        if shown["ns"] and shown["ew"] and shown["first_board"]:
            ns, ew = terminal.seated(shown)
            last = shown["first_board"] + shown["board_count"] - 1
            lines.append(f"NS {ns}  EW {ew}  Boards {shown['first_board']}-{last}")
            if terminal.names:
                lines += [_pair_text(terminal, "NS", ns), _pair_text(terminal, "EW", ew)]
        else:
            lines.append("Sit-out")
        left = [board for board in boards_of(shown) if not terminal.keyed(shown["round"], board)]
        lines += [f"To play: {' '.join(map(str, left))}"] if left else next_lines(shown)
    elif terminal.round_index is not None:
        lines.append("End of session")
    return lines + _foot(terminal)


def _foot(terminal: Terminal) -> list[str]:
    lines = []
    if terminal.last_line:
        lines.append(terminal.last_line)
    waiting = terminal.waiting()
    if waiting:
        lines.append(f"On this terminal, {waiting} waiting")
    lines += [f"{one['number']} {one['name']}".strip() for one in terminal.found.get("players", ())]
    lines += feedback_lines(terminal.feedback) + ranking_lines(terminal.ranking)
    lines += session_lines(terminal.session)
    for standings in terminal.standings.values():
        lines += standings_lines(standings)
    if terminal.calling:
        lines.append("Calling the director" if terminal.host_listens() else "No contact. Fetch the director.")
    elif CALLS[terminal.call]:
        lines.append(CALLS[terminal.call])
    if terminal.menu.line:
        lines.append(terminal.menu.line)
    if terminal.message_line:
        lines.append(terminal.message_line)
    return lines


def _pair_text(terminal: Terminal, direction: str, pair: int) -> str:
    who = " - ".join(name for seat in (1, 2) if (name := terminal.names.get((pair, seat))))
    return f"{direction} {pair} {who}".rstrip()


def _letters(section: int) -> str:
    """A to Z, then AA to ZZ, then AAA to ZZZ; the number if it is none of them."""
    if not 0 < section < 79:
        return str(section)
    times, letter = divmod(section - 1, 26)
    return chr(65 + letter) * (times + 1)
