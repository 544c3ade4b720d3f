"""Which Laws of which edition the program has a source for. Where there is none it says so and guesses nothing.

Sources: the 2007 edition from Law 2 to Law 93, the 1997 edition to Law 31; nothing of 2017.
"""

from __future__ import annotations

import re

from firmware_bridge.errors import EntryError
from terminals.scoring.profile_file import RULESETS

_COVERED = {"laws-1997": range(1, 32), "laws-2007": range(1, 94), "laws-2017": range(0)}
_LAW = re.compile(r"(?:Law\s+)?(\d{1,2})(?:[A-H](?:\d{1,2}(?:(?:\([a-h]\)|[a-h])(?:\((?:i|ii|iii)\))?)?)?)?", re.ASCII)


def law_number(law: str) -> int:
    """The number of ``12C1(c)``, ``12C1c`` or ``Law 12C1(c)``: 12. Raises EntryError for what is no Law."""
    match = _LAW.fullmatch(law.strip())
    number = int(match.group(1)) if match else 0
    if not 1 <= number <= 93:
        raise EntryError(
            f"{law[:20]!r} is no Law.", next_step="Write it as 12C1(c), 79B2 or 90, from 1 to 93.", code="bad-law"
        )
    return number


def is_covered(ruleset: str, law: str) -> bool:
    """Whether the text of this Law is known in the edition of ``ruleset``. Raises EntryError."""
    number = law_number(law)
    if ruleset not in RULESETS:
        raise EntryError(f"There is no ruleset {ruleset[:20]!r}.", code="bad-ruleset")
    return number in _COVERED[ruleset]


def edition_note(ruleset: str, law: str) -> str:
    """ "" when the edition is covered, else what to tell the director and to write into the record."""
    if is_covered(ruleset, law):
        return ""
    return (
        f"edition not covered: Law {law_number(law)} of {ruleset} has no source here; "
        "this is recorded as the director's own ruling"
    )
