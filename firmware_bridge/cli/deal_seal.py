"""``deal seal`` and ``deal unseal``: deal files at rest under a passphrase, opened for the job and nothing else."""

from __future__ import annotations

import getpass
import os
import warnings
from pathlib import Path

import click

from dealer.files import replacing
from dealer.formats.api import DealFile, read_bytes, read_deal_file, read_deals
from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.config import data_directory, ensure_directory
from firmware_bridge.errors import ConfigError

VARIABLE = "FIRMWARE_BRIDGE_PASSPHRASE"
SUFFIX = ".sealed"


def passphrase(*, new: bool = False) -> str:
    """From the environment, else asked for without an echo (twice when it is a new one). Raises ConfigError."""
    found = os.environ.get(VARIABLE)
    if found:
        return found
    try:
        with warnings.catch_warnings():
            # Without a terminal it could only be asked for in plain sight.
            warnings.simplefilter("error", getpass.GetPassWarning)
            asked = click.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True)
    except (click.Abort, getpass.GetPassWarning):
        raise ConfigError(
            "A passphrase is needed.",
            next_step=f"Type it in a terminal, or set {VARIABLE}.",
            code="passphrase",
        ) from None
    return str(asked)


def open_deals(path: Path) -> DealFile:
    """A deal file, sealed or not. What is in a sealed one goes to the caller's memory only."""
    from dealer.sealed import is_sealed, unseal

    if path.suffix == SUFFIX or _begins_sealed(path):
        data = read_bytes(path)
        if is_sealed(data):
            opened = unseal(data, passphrase(), where=str(path))
            return read_deals(opened.data, name=opened.name)
    return read_deal_file(path)


def _begins_sealed(path: Path) -> bool:
    from dealer.sealed import MAGIC

    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@click.command("seal")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Sealed file; FILE.sealed if left out.")
@click.option("--keep", is_flag=True, help="Keep the plain file; it is removed otherwise.")
@command("deal seal")
def seal(file: Path, out: Path | None, keep: bool) -> Outcome:
    """Seal a deal file with a passphrase, so that nobody reads it on the club's computer.

    `duplicate` opens a sealed file for the job; no plain copy is written.
    """
    from dealer.sealed import seal as sealed

    content = read_bytes(file)
    read_deal_file(file).require_good(str(file))
    target = out or file.with_name(file.name + SUFFIX)
    with replacing(str(target), private=True) as handle:
        handle.write(sealed(content, passphrase(new=True), name=file.name))
    if not keep:
        file.unlink()
    return Outcome(
        {"out": str(target), "kept": keep}, f"Sealed in {target}." + ("" if keep else f" {file} is removed.")
    )


@click.command("unseal")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File for the deals, readable by anybody.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory, where the reveal is put on record.")
@command("deal unseal")
def unseal(file: Path, out: Path, data: Path | None) -> Outcome:
    """Write the deals of a sealed file into a plain one. The reveal is put on record first."""
    from dealer.sealed import unseal as unsealed
    from firmware_bridge.service.reading import record_unsealing

    opened = unsealed(read_bytes(file), passphrase(), where=str(file))
    record_unsealing(ensure_directory(data_directory(data)), str(file))
    with replacing(str(out), private=True) as handle:
        handle.write(opened.data)
    return Outcome({"out": str(out), "name": opened.name}, f"Written to {out}; it can be read by whoever opens it.")
