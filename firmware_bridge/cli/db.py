"""``db``: look after the database of results: check, backup, export, rebuild, and erase a person."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import data_directory
from firmware_bridge.errors import ConfigError

DATA = click.option("--data", type=click.Path(path_type=Path), help="Data directory.")


@click.group()
def db() -> None:
    """Look after the database of results."""


@db.command("check")
@DATA
@command("db check")
def check(data: Path | None) -> Outcome:
    """Let the database look for damage, and count what is in it."""
    from terminals.store import ledger

    with _store(data) as store:
        store.database.check()
        counts = store.read(lambda connection: ledger.counts(connection))
    text = "No damage. " + ", ".join(f"{number} {name}" for name, number in counts.items()) + "."
    return Outcome({"records": dict(counts)}, text)


@db.command("backup")
@click.argument("target", type=click.Path(path_type=Path))
@DATA
@command("db backup")
def backup(target: Path, data: Path | None) -> Outcome:
    """Write a consistent copy to TARGET, also while results come in; TARGET may be on a stick."""
    place = target / "events.db" if target.is_dir() else target
    with _store(data) as store:
        store.backup(place)
    return Outcome({"out": str(place), "bytes": place.stat().st_size}, f"Copied to {place}.")


@db.command("restore")
@click.argument("source", type=click.Path(path_type=Path))
@DATA
@command("db restore")
def restore(source: Path, data: Path | None) -> Outcome:
    """Put the backup SOURCE in the place of the database, which is kept beside it. Not while a service runs.

    Terminals send again what they still hold of the time since; what can't be had again is told at the desk.
    """
    from firmware_bridge.service.put_back import put_back
    from terminals.store.schema import MIGRATIONS
    from terminals.sync.event_store import FILE_NAME

    with _owned(data):
        target = data_directory(data) / FILE_NAME
        kept = put_back(source / FILE_NAME if source.is_dir() else source, target, MIGRATIONS)
    before = f" What was there before is in {kept}." if kept is not None else ""
    return Outcome(
        {"restored": str(source), "kept": None if kept is None else str(kept)},
        f"{source} is the database now.{before} Terminals send again what they still hold.",
    )


@db.command("export")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--without-people", is_flag=True, help="Leave names and numbers of players out.")
@click.option("--active", is_flag=True, help="Only the event that is played now.")
@DATA
@command("db export")
def export(out: Path, without_people: bool, active: bool, data: Path | None) -> Outcome:
    """Write everything as JSON lines: every event with all its records, in the order in which they were stored."""
    from terminals.sync.export import write

    with _store(data) as store:
        event = _event(store) if active else None
        count = store.read(lambda connection: write(connection, event, out, people=not without_people))
    return Outcome({"lines": count, "out": str(out)}, f"{count} lines in {out}.")


@db.command("rebuild")
@DATA
@command("db rebuild")
def rebuild(data: Path | None) -> Outcome:
    """Work out all current results again from the events. Not while an evening or service runs."""
    with _owned(data), _store(data) as store:
        changed = run_async(store.rebuild(_event(store)))
    return Outcome({"changed": changed}, f"Rebuilt; {changed} current results were different.")


@db.command("erase-person")
@click.option("--number", default="", help="Membership number.")
@click.option("--name", default="", help="Name, exactly as it is stored.")
@DATA
@command("db erase-person")
def erase_person(number: str, name: str, data: Path | None) -> Outcome:
    """Take a person out of every event. Results stay; earlier backups and exports keep the name."""
    if not number and not name:
        raise ConfigError("say who is to be erased.", next_step="Give --number or --name.")
    with _owned(data), _store(data) as store:
        places = run_async(store.submit(lambda connection: _erase(connection, number, name)))
    return Outcome({"places": places}, f"Erased in {places} places. Earlier backups and exports keep the name.")


def _erase(connection: Any, number: str, name: str) -> int:
    """Names of people stand where terminals and pages put them, and where scoring programs sent them."""
    from terminals.interop.data_connector import people
    from terminals.store import desk

    return desk.erase_person(connection, number, name) + int(people.erase_person(connection, number, name))


@contextlib.contextmanager
def _store(data: Path | None) -> Iterator[Any]:
    from terminals.sync.event_store import FILE_NAME, EventStore

    path = data_directory(data) / FILE_NAME
    if not path.exists():
        raise ConfigError("there are no results here.", where=str(path), next_step="Name the directory with --data.")
    with contextlib.ExitStack() as stack:
        if not os.access(path.parent, os.W_OK):
            # A backup on a stick that can't be written to: SQLite itself wants to write beside a file that it reads.
            path = _copied(path, Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="firmware-bridge-"))))
        store = EventStore.open(path)
        stack.callback(store.close)
        yield store


def _copied(path: Path, folder: Path) -> Path:
    for suffix in ("", "-wal"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            shutil.copyfile(part, folder / part.name)
    return folder / path.name


def _owned(data: Path | None) -> contextlib.AbstractContextManager[None]:
    from firmware_bridge.service.ownership import owned

    directory = data_directory(data)
    if not directory.is_dir():
        raise ConfigError(
            "there are no results here.", where=str(directory), next_step="Name the directory with --data."
        )
    return owned(directory)


def _event(store: Any) -> int:
    setup = store.load_setup()
    if setup is None:
        raise ConfigError("no event is active here.", next_step="Name another directory with --data.", code="no-event")
    return int(setup.id)
