"""``firmware-bridge deal``: the group only. Each subcommand's module is imported when it is called, so that making 36
boards waits neither for numpy nor for a PDF library.
"""

from __future__ import annotations

import importlib
from typing import Any

import click

_COMMANDS: dict[str, tuple[str, str]] = {
    "generate": ("deal_generate", "Deal random boards into a file."),
    "verify": ("deal_files", "Check a deal file of any format."),
    "convert": ("deal_files", "Write a deal file in another format."),
    "export": ("deal_files", "Write what another maker's dealing program reads."),
    "record": ("deal_record", "Print hand records: PDF, HTML, PBN or a card-by-card sheet."),
    "commit": ("deal_audit", "Publish commitments of a set before it is played."),
    "reveal": ("deal_audit", "Open the commitments of a set after it was played."),
    "audit": ("deal_audit", "Check that a set played is the set committed."),
    "history": ("deal_history", "Show or extend the record of all deals ever dealt here."),
    "seal": ("deal_seal", "Seal a deal file with a passphrase."),
    "unseal": ("deal_seal", "Write the deals of a sealed file into a plain one; put on record."),
    "uniformity": ("deal_uniformity", "Test the generator with fresh deals and print p-values."),
}


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"firmware_bridge.cli.{_COMMANDS[cmd_name][0]}")
        found: Any = getattr(module, cmd_name)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=_Lazy)
def deal() -> None:
    """Generate, verify, convert, print and audit deals."""
