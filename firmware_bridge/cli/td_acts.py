"""Acts of a director that change totals, from the command line: who does it, what it would do first, then the act.

``--yes`` does it without a question, ``--preview`` shows only the effect.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, progress
from firmware_bridge.cli.td import Service, who
from firmware_bridge.config import data_directory
from firmware_bridge.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Act:
    """What the options of ``signed`` and ``with_effect`` say. yes: nobody is asked; only: nothing is done."""

    actor: str | None
    second: str
    data: Path | None
    yes: bool = False
    only: bool = False

    def body(self, **more: Any) -> dict[str, Any]:
        """The fields of a request: who acts, and more."""
        return {"actor": who(self.actor), **({"second": self.second} if self.second else {}), **more}

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """The service's answer. Raises FirmwareBridgeError."""
        service = Service(data_directory(self.data))
        return service.ask(path) if body is None else service.ask(path, body)

    def run(self, name: str, body: dict[str, Any]) -> Outcome:
        """Show what an act would do, ask, do it."""
        shown = self.ask(f"/actions/{name}/preview", body)
        text = effect_text(shown)
        if self.only:
            return Outcome({"preview": shown}, text)
        if not self.yes and not body.get("propose"):
            if not sys.stdin.isatty():
                raise ConfigError(
                    "this changes totals, and nobody can be asked.",
                    where=f"td {name}",
                    next_step="Look with --preview, then do it with --yes.",
                    code="not-confirmed",
                )
            progress(text)
            if not click.confirm("Do it?", default=False, err=True):
                return Outcome({"preview": shown, "done": False}, "Nothing was done.")
        found = self.ask(f"/actions/{name}", body)
        words = "Done."
        if found.get("ruling"):
            words = f"Ruling {found['ruling']['ruling']} is {found['ruling']['state']}: {found['ruling']['text']}."
        if "action" in found:
            words += f" Take it back with: firmware-bridge td undo {found['action']}"
        return Outcome({**found, "changes": shown["changes"]}, f"{text}\n\n{words}")


def signed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that say who acts; the command gets them as ``act``."""

    @functools.wraps(function)
    def with_act(*, actor: str | None, second: str, data: Path | None, **rest: Any) -> Any:
        return function(act=Act(actor, second, data, rest.pop("yes", False), rest.pop("only", False)), **rest)

    found: Callable[..., Any] = with_act
    found = click.option("--data", type=click.Path(path_type=Path), help="Data directory of the service.")(found)
    found = click.option("--second", default="", help="Second name, once results are final (Law 79C).")(found)
    return click.option("--by", "actor", default=None, help="Who rules; your log-in name if left out.")(found)


def with_effect(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, and options of an act that is shown by its effect before it counts."""
    function = signed(function)
    function = click.option("--yes", is_flag=True, help="Do it without a question.")(function)
    return click.option("--preview", "only", is_flag=True, help="Show the effect, do nothing.")(function)


def effect_text(shown: Mapping[str, Any]) -> str:
    """A preview for people: notes, then everybody whose place or value changes."""
    lines = [f"Note: {note}" for note in shown.get("notes", ())]
    for one in shown.get("proposal", ()):
        unsure = "  not certain" if one["uncertain"] else ""
        form = one["form"] or "as dealt"
        lines.append(f"round {one['round']:>2}  {one['section']}  {one['ns']:>3} - {one['ew']:<3}  {form}{unsure}")
    if not shown["changes"]:
        return "\n".join([*lines, "Nobody's total changes."])
    lines.append(f"{len(shown['changes'])} of {len(shown['effects'])} totals change:")
    for one in shown["changes"]:
        before, after = (_standing(one[key]) for key in ("before", "after"))
        who = f"{one['section']}{one['pair']}"
        lines.append(f"  {who:<6} {before:>18}  to {after:<18} {one['names']}".rstrip())
    return "\n".join(lines)


def _standing(one: Mapping[str, str] | None) -> str:
    return "-" if one is None else f"{one['place']:>3}  {one['value']} {_UNIT_WORDS[one['unit']]}"


_UNIT_WORDS = {"percent": "%", "imps": "IMPs", "points": "points", "vps": "VP"}
