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

from firmware_bridge.errors import ConfigError, EntryError, ExitStatus
from firmware_bridge.web.pages import read_files
from firmware_bridge.web.pictures import distribution, rounds, signed
from firmware_bridge.web.words import DEFAULT, Words, read_words

STYLE = "style.css"


@dataclass(frozen=True, slots=True)
class Board:
    """A board's public view, see ``api_public``: lines, dealer, vulnerable, deal (four hands or None).

    makes: tricks by declarer and strain ("N" -> {"NT": 9}) from double dummy, when it is known.
    """

    view: dict[str, Any]
    makes: dict[str, dict[str, int]] | None = None


def publish(
    out: Path,
    results: dict[str, Any],
    boards: Sequence[Board],
    scorecards: Sequence[dict[str, Any]],
    standings: Sequence[dict[str, Any]] = (),
    language: str = DEFAULT,
) -> list[Path]:
    """Write the pages into ``out``, each under a temporary name first; gives what was written.

    results: as ``/api/v1/public/results`` gives it; standings: as ``/public/rounds``, for the charts. Raises EntryError
    when they are not published or the language is not there, ConfigError when the directory can't be written.
    """
    if results["state"] != "published":
        raise EntryError(
            "the results are not published.",
            next_step="Publish them first, at the desk or with: firmware-bridge td publish",
            code="not-published",
        )
    known = read_words(read_files())
    if language not in known:
        raise EntryError(
            f"there are no words in the language {language!r}.",
            next_step=f"Known: {', '.join(sorted(known))}.",
            code="no-language",
            exit_status=ExitStatus.USAGE,
        )
    writer = _Writer(results, known[language], list(standings))
    files = {STYLE: _style(), "index.html": writer.index()}
    for board in boards:
        files[board_name(board.view["section"], board.view["board"])] = writer.board(board)
    for card in scorecards:
        files[pair_name(card["section"], card["pair"])] = writer.scorecard(card)
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


def from_service(ask: Any, out: Path, language: str = DEFAULT) -> list[Path]:
    """Publish what a running service shows: ``ask(path)`` gives the JSON of a path below ``/api/v1``."""
    results = ask("/public/results")
    boards, cards = [], []
    for section in results.get("sections", ()):
        letter = section["letter"]
        boards += [Board(ask(f"/public/boards/{letter}/{number}")) for number in section["boards"]]
        cards += [ask(f"/public/pairs/{letter}/{pair}") for pair in section["pairs"]]
    standings = ask("/public/rounds") if results["state"] == "published" else ()
    return publish(out, results, boards, cards, standings, language)


def board_name(section: str, board: int) -> str:
    return f"board-{section}-{board}.html"


def pair_name(section: str, pair: int) -> str:
    return f"pair-{section}-{pair}.html"


def _style() -> str:
    files = read_files()
    return files["base.css"].decode() + files["results.css"].decode()


class _Writer:
    """Makes the pages of one event in one language."""

    def __init__(self, results: dict[str, Any], words: Words, standings: list[dict[str, Any]]) -> None:
        self.results = results
        self.words = words
        self.standings = standings
        self.many = len(results["sections"]) > 1
        self.back = f'<p><a href="index.html">&larr; {escape(words.get("ranking"))}</a></p>'

    def _page(self, title: str, *body: str) -> str:
        return (
            f'<!doctype html>\n<html lang="{escape(self.words.code)}">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(title)}</title>\n"
            f'<link rel="stylesheet" href="{STYLE}">\n</head>\n<body>\n'
            f'<header class="top"><h1>{escape(self.results["name"])}</h1></header>\n<main>\n'
            + "\n".join(part for part in body if part)
            + "\n</main>\n</body>\n</html>\n"
        )

    def _table(self, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
        top = "".join(f"<th>{escape(name)}</th>" for name in head)
        lines = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>\n{lines}\n</tbody></table></div>'

    def _card(self, title: str, *body: str) -> str:
        whole = "".join(body)
        return f'<section class="card"><h2>{escape(title)}</h2>{whole}</section>' if whole else ""

    def index(self) -> str:
        t, parts = self.words.get, []
        who = {"teams": "results.team", "individual": "results.player"}.get(_format(self.results), "results.who")
        for group in self.results["groups"]:
            rows = (
                (
                    escape(row["place"]),
                    f'<a href="{pair_name(row["section"], row["pair"])}">'
                    f"{escape(row['section'] if self.many else '')}{row['pair']} {escape(row['names'])}</a>",
                    escape(row["value"]),
                    str(row["boards"]),
                )
                for row in group["rows"]
            )
            name = t(group["direction"]) if group.get("direction") else group["name"] or t("ranking")
            parts.append(self._card(name, self._table((t("place"), t(who), t("results.value"), t("boards")), rows)))
        parts.append(self._card(t("chart.over-rounds"), rounds(self.standings, self.words)))
        for section in self.results["sections"]:
            links = " ".join(
                f'<a class="button" href="{board_name(section["letter"], number)}">{number}</a>'
                for number in section["boards"]
            )
            title = t("results.boards-of", section=section["letter"]) if self.many else t("boards")
            parts.append(self._card(title, f'<div class="links">{links}</div>'))
        state = "" if self.results.get("final") else f'<p class="soft">{escape(t("results.provisional"))}</p>'
        return self._page(self.results["name"], state, *parts)

    def board(self, board: Board) -> str:
        t, view = self.words.get, board.view
        teams = {str(pair): team for pair, team in (view.get("teams") or {}).items()}
        rows = (
            (
                _who(view["section"], line["ns"], line["ns_names"], teams),
                _who(view["section"], line["ew"], line["ew_names"], teams),
                escape(line["text"]),
                signed(line["score"]),
                escape(str(line["percent"] if line["percent"] is not None else line["ns_points"] or "")),
            )
            for line in view["lines"]
        )
        name = t("board", board=f"{view['section'] if self.many else ''}{view['board']}")
        vulnerable = self.words.words.get(f"vulnerable.{view['vulnerable']}", view["vulnerable"])
        about = t("dealer-vulnerable", dealer=view["dealer"], vulnerable=vulnerable)
        head = ("NS", "EW", t("contract"), t("score"), t("ns-percent"))
        makes = board.makes or (view.get("deal") or {}).get("makes")
        return self._page(
            name,
            self.back,
            self._card(
                name,
                f'<p class="soft">{escape(about)}</p>',
                _deal(view),
                self._makes(makes),
                self._table(head, rows),
            ),
            self._card(t("chart.scores"), distribution(view["lines"], self.words)),
        )

    def _makes(self, makes: dict[str, dict[str, int]] | None) -> str:
        if not makes:
            return ""
        strains = ("NT", "S", "H", "D", "C")
        rows = ((seat, *(str(makes[seat][one]) for one in strains)) for seat in "NSEW" if seat in makes)
        return f"<h3>{escape(self.words.get('results.double-dummy'))}</h3>" + self._table(("", *strains), rows)

    def scorecard(self, card: dict[str, Any]) -> str:
        t = self.words.get
        teams = card.get("format") == "teams"
        rows = (
            (
                str(line["round"]),
                f'<a href="{board_name(card["section"], line["board"])}">{line["board"]}</a>',
                escape(line["direction"]),
                " + ".join(
                    f'<a href="{pair_name(card["section"], one)}">{one}</a>'
                    for one in line.get("against") or [line["opponents"]]
                )
                + f" {escape(line['names'])}",
                escape(line["text"]),
                signed(line["score"]),
                escape(str(line["percent"] if line["percent"] is not None else line["points"] or "")),
            )
            for line in card["lines"]
        )
        number = f"{card['section'] if self.many else ''}{card['pair']}"
        name = f"{t('team', team=number) if teams else t('pair', pair=number)} {card['names']}"
        head = (t("round-label"), t("results.board"), "", t("results.against"), t("contract"), t("score"), "%")
        own = f"{card['section']}{card['pair']}"
        return self._page(
            name,
            self.back,
            self._card(name, self._table(head, rows)),
            self._card(t("chart.over-rounds"), rounds(self.standings, self.words, own=own)),
        )


def _format(results: dict[str, Any]) -> str:
    sections = results["sections"]
    return str(sections[0].get("format", "pairs")) if sections else "pairs"


def _deal(view: dict[str, Any]) -> str:
    deal = view.get("deal")
    if not deal:
        return ""
    hands = []
    for seat in "NESW":
        suits = []
        for at, cards in enumerate(deal[seat].split(".")):
            shown = escape(cards.replace("T", "10")) or "&ndash;"
            suits.append(f'<div><span class="{"red" if at in (1, 2) else ""}">{"♠♥♦♣"[at]}</span> {shown}</div>')
        hands.append(f'<div class="{seat}"><strong>{seat}</strong><div class="hand">{"".join(suits)}</div></div>')
    return f'<div class="deal">{"".join(hands)}<div class="C soft">{view["board"]}</div></div>'


def _who(section: str, pair: int, names: str, teams: dict[str, int]) -> str:
    return f'<a href="{pair_name(section, teams.get(str(pair), pair))}">{pair}</a> {escape(names)}'
