"""The type of an option that names a file to write: what its name ends in is what will be in it."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import click


class OutFile(click.Path):
    """A file that a command writes in one of these kinds, such as ``.pdf``; a name without ending is taken as it is.

    A PDF called ``slips.doc`` would be opened by the wrong program, or sent to somebody who can't open it.
    """

    def __init__(self, *endings: str) -> None:
        super().__init__(dir_okay=False)
        self.endings = endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        ending = PurePath(str(found)).suffix
        if ending and ending.lower() not in self.endings:
            known = " or ".join(self.endings)
            self.fail(f"{ending[:12]} is not what is written here; let the name end in {known}.", param, ctx)
        return found
