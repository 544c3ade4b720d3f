"""How to write a set: the choices that all formats share."""

from __future__ import annotations

from dataclasses import dataclass

from dealer.generate import Origin

SEEDED_MARK = "NOT FOR PLAY (seeded)"
CONSTRAINED_MARK = "constrained"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to write a set.

    dialect: "export" (PBN: dealer first, CRLF) or "import" (PBN: the bytes BigDeal writes).
    title: free text for the formats that have a place for one (PBN Event, DLM Headline); None leaves the default.
    blind: hide the cards that a human could read in the file (DUP, DLM).
    copies: how often a machine shall deal each board (DUP, DLM).
    """

    dialect: str = "export"
    title: str | None = None
    site: str = ""
    date: str = ""
    blind: bool = False
    copies: int = 0
    set_id: str = ""
    origin: Origin | None = None
    fingerprint: str = ""

    @property
    def mark(self) -> str:
        """Words that must go with the set wherever it goes, or ""."""
        if self.origin is Origin.SEEDED:
            return SEEDED_MARK
        return CONSTRAINED_MARK if self.origin is Origin.CONSTRAINED else ""
