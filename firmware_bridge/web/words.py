"""The words of the pages: one message file for each language, divided among the pages by the prefix of their keys.

A key without a dot belongs to every page; ``desk.``, ``deal.``, ``results.`` and ``cards.`` to one of them. A further
language is one more file in ``static/messages``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

FOLDER = "messages/"
DEFAULT = "en"
PREFIXES: Mapping[str, tuple[str, ...] | None] = {
    "terminal.html": ("terminal", "notice", "heard"),
    "desk.html": None,
    "deal.html": ("deal", "error", "do", "why", "board-state", "health", "trouble"),
    "results.html": ("results", "chart", "vulnerable"),
    "cards.html": ("cards",),
}
"""Page -> prefixes of the keys that it needs beside those without a prefix; None: all but those of ELSEWHERE."""
ELSEWHERE = frozenset({"deal", "do", "why", "board-state", "health", "trouble", "cards", "notice", "heard"})
"""Prefixes that the desk does not need."""
SENTENCES = frozenset({"said", "heard"})
"""Prefixes of sentences of the program by their English words: of no use in English."""


@dataclass(frozen=True, slots=True)
class Words:
    """code: of the language ("pl"). words: key -> text."""

    code: str
    words: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.words.get("language-name", self.code)

    def get(self, key: str, **values: object) -> str:
        """The text of a key with its places filled in; the key itself when there is none."""
        text = self.words.get(key, key)
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        return text


def read_words(files: Mapping[str, bytes]) -> dict[str, Words]:
    """Language code -> its words."""
    found = {}
    for name, data in sorted(files.items()):
        if name.startswith(FOLDER):
            code = name.removeprefix(FOLDER).removesuffix(".json")
            found[code] = Words(code, {str(key): str(text) for key, text in json.loads(data).items()})
    return found


def words_for(page: str, language: Words) -> dict[str, str]:
    """The words that a page needs."""
    wanted = PREFIXES.get(page)

    def needed(prefix: str) -> bool:
        if language.code == DEFAULT and prefix in SENTENCES:
            return False
        return prefix not in ELSEWHERE if wanted is None else prefix in wanted

    return {key: text for key, text in language.words.items() if "." not in key or needed(key.partition(".")[0])}


def page_html(page: str, html: str, language: Words, known: Mapping[str, Words]) -> str:
    """A page with its words in it: ``{{key}}`` replaced, and a block of data from which its script takes the rest.

    The block is data, not code: a browser that obeys our policy runs nothing of it.
    """
    for key in set(_places(html)):
        html = html.replace("{{" + key + "}}", escape(language.get(key)))
    block = {
        "language": language.code,
        "languages": [{"code": one.code, "name": one.name} for one in known.values()],
        "words": words_for(page, language),
    }
    data = json.dumps(block, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    html = html.replace('<html lang="en">', f'<html lang="{escape(language.code)}">')
    return html.replace("<!--words-->", f'<script type="application/json" id="words">{data}</script>')


def _places(html: str) -> list[str]:
    return [part.partition("}}")[0] for part in html.split("{{")[1:]]


def chosen(accept: str, known: Mapping[str, Words]) -> str:
    """The language for an Accept-Language header: the known one with the highest quality, else English."""
    best, quality = DEFAULT, 0.0
    for item in accept[:200].split(","):
        name, _, rest = item.partition(";")
        code = name.strip()[:2].lower()
        try:
            wanted = float(rest.partition("=")[2]) if rest.strip().startswith("q=") else 1.0
        except ValueError:
            wanted = 0.0
        if code in known and wanted > quality:
            best, quality = code, wanted
    return best
