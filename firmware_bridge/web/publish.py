"""Results as static files: plain HTML that needs no script and no service, for a club's web space or a stick.

Pages link to each other by relative paths with names that do not change: ``index.html``, ``board-A-7.html``,
``pair-A-3.html``. Values come from the service's own public views, so that page and file say the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from firmware_bridge.errors import ConfigError, EntryError
from firmware_bridge.web.pages import read_files

STYLE = "style.css"


@dataclass(frozen=True, slots=True)
class Board:
    """A board's public view, see ``api_public``: lines, dealer, vulnerable, deal (four hands or None).

    makes: tricks by declarer and strain ("N" -> {"NT": 9}) from double dummy, when it is known.
    """

    view: dict[str, Any]
    makes: dict[str, dict[str, int]] | None = None


def publish(
    out: Path, results: dict[str, Any], boards: Sequence[Board], scorecards: Sequence[dict[str, Any]]
) -> list[Path]:
    """Write the pages into ``out``, each under a temporary name first; gives what was written.

    results: as ``/api/v1/public/results`` gives it. Raises EntryError when they are not published, ConfigError when
    the directory can't be written.
    """
    if results["state"] != "published":
        raise EntryError(
            "the results are not published.",
            next_step="Publish them first, at the desk or with: firmware-bridge td publish",
            code="not-published",
        )
    many = len(results["sections"]) > 1
    files = {STYLE: _style(), "index.html": _index(results, many)}
    for board in boards:
        files[board_name(board.view["section"], board.view["board"])] = _board(results["name"], board, many)
    for card in scorecards:
        files[pair_name(card["section"], card["pair"])] = _scorecard(results["name"], card, many)
    written = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            path = out / name
            temporary = out / f".{name}.part"
            temporary.write_text(text, encoding="utf-8")
            os.replace(temporary, path)
            written.append(path)
    except OSError as error:
        raise ConfigError(
            f"{error.strerror}.", where=str(out), next_step="Give another directory with --out.", code="out-directory"
        ) from error
    return written


def from_service(ask: Any, out: Path) -> list[Path]:
    """Publish what a running service shows: ``ask(path)`` gives the JSON of a path below ``/api/v1``."""
    results = ask("/public/results")
    boards, cards = [], []
    for section in results.get("sections", ()):
        letter = section["letter"]
        boards += [Board(ask(f"/public/boards/{letter}/{number}")) for number in section["boards"]]
        cards += [ask(f"/public/pairs/{letter}/{pair}") for pair in section["pairs"]]
    return publish(out, results, boards, cards)


def board_name(section: str, board: int) -> str:
    return f"board-{section}-{board}.html"


def pair_name(section: str, pair: int) -> str:
    return f"pair-{section}-{pair}.html"


def _style() -> str:
    files = read_files()
    return files["base.css"].decode() + files["results.css"].decode()


def _page(title: str, event: str, *body: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n"
        f'<link rel="stylesheet" href="{STYLE}">\n</head>\n<body>\n'
        f'<header class="top"><h1>{escape(event)}</h1></header>\n<main>\n'
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>\n{lines}\n</tbody></table></div>'


def _index(results: dict[str, Any], many: bool) -> str:
    parts = []
    for group in results["groups"]:
        rows = (
            (
                escape(row["place"]),
                f'<a href="{pair_name(row["section"], row["pair"])}">'
                f"{escape(row['section'] if many else '')}{row['pair']} {escape(row['names'])}</a>",
                escape(row["value"]),
                str(row["boards"]),
            )
            for row in group["rows"]
        )
        table = _table(("Place", "Pair", "Result", "Boards"), rows)
        parts.append(f'<section class="card"><h2>{escape(group["name"] or "Ranking")}</h2>{table}</section>')
    for section in results["sections"]:
        links = " ".join(
            f'<a class="button" href="{board_name(section["letter"], number)}">{number}</a>'
            for number in section["boards"]
        )
        title = f"Boards, section {escape(section['letter'])}" if many else "Boards"
        parts.append(f'<section class="card"><h2>{title}</h2><div class="links">{links}</div></section>')
    state = "" if results.get("final") else '<p class="soft">Provisional: corrections are still possible.</p>'
    return _page(results["name"], results["name"], state, *parts)


_BACK = '<p><a href="index.html">&larr; Ranking</a></p>'


def _board(event: str, board: Board, many: bool) -> str:
    view = board.view
    rows = (
        (
            _pair(view["section"], line["ns"], line["ns_names"]),
            _pair(view["section"], line["ew"], line["ew_names"]),
            escape(line["text"]),
            _signed(line["score"]),
            escape(str(line["percent"] if line["percent"] is not None else line["ns_points"] or "")),
        )
        for line in view["lines"]
    )
    name = f"Board {escape(view['section']) if many else ''}{view['board']}"
    table = _table(("NS", "EW", "Contract", "Score", "NS %"), rows)
    makes = board.makes or (view.get("deal") or {}).get("makes")
    about = f'<p class="soft">Dealer {view["dealer"]}, vulnerable {escape(view["vulnerable"])}</p>'
    body = f'<section class="card"><h2>{name}</h2>{about}{_deal(view)}{_makes(makes)}{table}</section>'
    return _page(name, event, _BACK, body)


def _deal(view: dict[str, Any]) -> str:
    deal = view.get("deal")
    if not deal:
        return ""
    hands = []
    for seat in "NESW":
        suits = [
            f'<div><span class="{"red" if at in (1, 2) else ""}">{"♠♥♦♣"[at]}</span> {escape(cards) or "&ndash;"}</div>'
            for at, cards in enumerate(deal[seat].split("."))
        ]
        hands.append(f'<div class="{seat}"><strong>{seat}</strong><div class="hand">{"".join(suits)}</div></div>')
    return f'<div class="deal">{"".join(hands)}<div class="C soft">{view["board"]}</div></div>'


def _makes(makes: dict[str, dict[str, int]] | None) -> str:
    if not makes:
        return ""
    strains = ("NT", "S", "H", "D", "C")
    rows = ((seat, *(str(makes[seat][one]) for one in strains)) for seat in "NSEW" if seat in makes)
    return "<h3>Double dummy tricks</h3>" + _table(("", *strains), rows)


def _scorecard(event: str, card: dict[str, Any], many: bool) -> str:
    rows = (
        (
            str(line["round"]),
            f'<a href="{board_name(card["section"], line["board"])}">{line["board"]}</a>',
            escape(line["direction"]),
            _pair(card["section"], line["opponents"], line["names"]),
            escape(line["text"]),
            _signed(line["score"]),
            escape(str(line["percent"] if line["percent"] is not None else line["points"] or "")),
        )
        for line in card["lines"]
    )
    name = f"Pair {escape(card['section']) if many else ''}{card['pair']} {escape(card['names'])}"
    table = _table(("Round", "Board", "", "Against", "Contract", "Score", "%"), rows)
    return _page(f"Pair {card['pair']}", event, _BACK, f'<section class="card"><h2>{name}</h2>{table}</section>')


def _pair(section: str, pair: int, names: str) -> str:
    return f'<a href="{pair_name(section, pair)}">{pair}</a> {escape(names)}'


def _signed(score: int | None) -> str:
    return "" if score is None else "0" if score == 0 else f"{score:+d}".replace("-", "−")
