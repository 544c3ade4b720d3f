"""The typeface of everything that is printed: DejaVu Sans Condensed, shipped with the program and embedded in each PDF.

It has Latin with all accents, Greek, Cyrillic and the four suits, so that a name looks the same on every machine.
Letters that it lacks lose their accent rather than turn into boxes. Licence: ``typeface/LICENSE.txt``.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from io import BytesIO

# reportlab is imported when something is drawn: its start is slow.

REGULAR, BOLD = "FirmwareBridge-Sans", "FirmwareBridge-SansBold"
_FILES = {REGULAR: "DejaVuSansCondensed.ttf", BOLD: "DejaVuSansCondensed-Bold.ttf"}


@dataclass(frozen=True, slots=True)
class Typeface:
    """Names of the two faces in reportlab, and the characters that both have."""

    regular: str
    bold: str
    known: frozenset[int]

    def face(self, bold: bool) -> str:
        return self.bold if bold else self.regular


@lru_cache(maxsize=1)
def typeface() -> Typeface:
    """The typeface, known to reportlab from now on."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    folder = resources.files("dealer.records") / "typeface"
    known: set[int] | None = None
    for name, file in _FILES.items():
        font = TTFont(name, BytesIO((folder / file).read_bytes()))
        pdfmetrics.registerFont(font)
        letters = set(font.face.charToGlyph)
        known = letters if known is None else known & letters
    return Typeface(REGULAR, BOLD, frozenset(known or ()))


def printable(text: str) -> str:
    """Text in letters that the typeface has. Line breaks and control characters become one space."""
    known = typeface().known
    out: list[str] = []
    for letter in unicodedata.normalize("NFC", text):
        kind = unicodedata.category(letter)
        if kind in ("Cc", "Zl", "Zp"):
            if out and out[-1] != " ":
                out.append(" ")
        elif ord(letter) in known:
            out.append(letter)
        elif kind[0] != "M" and kind not in ("Cf", "Cs", "Co", "Cn"):
            simpler = "".join(c for c in unicodedata.normalize("NFKD", letter) if ord(c) in known)
            out.append(simpler or "?")
    return "".join(out).rstrip()


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Points that ``text``, already printable, takes at ``size``."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    return float(stringWidth(text, typeface().face(bold), size))


def fitted(text: str, size: float, width: float, *, bold: bool = False) -> str:
    """Printable text, cut with three points when it is wider than ``width`` points."""
    shown = printable(text)
    if width_of(shown, size, bold=bold) <= width:
        return shown
    while shown and width_of(shown + "...", size, bold=bold) > width:
        shown = shown[:-1].rstrip()
    return shown + "..." if shown else ""
