"""``serve``: collect results from base stations until it is stopped."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command, progress
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import data_directory, ensure_directory, load_config
from firmware_bridge.errors import ConfigError


@click.command()
@click.option("--station", "station_urls", multiple=True, help="Device URL of a base station; may be repeated.")
@click.option("--pairs", type=click.IntRange(3, 400), help="Begin an event with so many pairs.")
@click.option("--tables", type=click.IntRange(2, 200), help="Begin an event with so many tables.")
@click.option("--boards", type=click.IntRange(2, 99), help="Boards of the new event.")
@click.option("--host", help="Address to listen on; 127.0.0.1 if left out.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one.")
@click.option("--until-complete", is_flag=True, help="End when every scheduled board has a result.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory; its event goes on.")
@command("serve")
def serve(
    station_urls: tuple[str, ...],
    pairs: int | None,
    tables: int | None,
    boards: int | None,
    host: str | None,
    port: int | None,
    until_complete: bool,
    data: Path | None,
) -> Outcome:
    """Collect results from base stations, each exactly once, and answer questions about them over HTTP.

    The first time say what is played (--pairs or --tables, --boards); after that the event in --data goes on.
    """
    from drivers.registry import check_url
    from firmware_bridge.cli.evening_view import choose_view
    from firmware_bridge.service.evening_plan import EveningRequest
    from firmware_bridge.service.logfile import close_log, open_log
    from firmware_bridge.service.ownership import owned

    directory = ensure_directory(data_directory(data))
    config = load_config(directory)
    urls = station_urls or config.stations
    if not urls:
        raise ConfigError(
            "no base station is named.", next_step="Name it with --station URL; see: firmware-bridge devices."
        )
    for url in urls:
        check_url(url)
    request = EveningRequest(pairs, tables, boards)
    log = open_log(directory)
    view = choose_view()
    try:
        with owned(directory):
            address = (config.host if host is None else host, config.port if port is None else port)
            fields, text = run_async(_serve(directory, request, urls, address, until_complete, view))
    finally:
        view.close()
        close_log(log)
    return Outcome(fields, text)


async def _serve(
    directory: Path, request: Any, urls: tuple[str, ...], address: tuple[str, int], until_complete: bool, view: Any
) -> tuple[dict[str, Any], str]:
    from firmware_bridge.service.api import serving
    from firmware_bridge.service.collecting import collecting
    from firmware_bridge.service.host import host_identity
    from firmware_bridge.service.ranking import rank_event, rankings_json, rankings_text
    from terminals.sync.event_store import FILE_NAME, EventStore

    store = EventStore.open(directory / FILE_NAME)
    try:
        setup = await _event(store, request)
        async with contextlib.AsyncExitStack() as stack:
            collection = await stack.enter_async_context(
                collecting(store, setup, urls, host_identity(directory), on_event=view)
            )
            url = await stack.enter_async_context(serving(collection, *address))
            progress(f"Serving at {url}. Ctrl-C ends it.")
            if until_complete:
                await collection.until_complete()
            else:
                await collection.watch()
        rows = store.current(setup.id)
        rankings = rank_event(setup, rows)
        fields = {
            "results_expected": setup.expected_results(),
            "results_stored": sum(row.content is not None for row in rows),
            "rankings": rankings_json(rankings),
        }
        return fields, rankings_text(rankings)
    finally:
        store.close()


async def _event(store: Any, request: Any) -> Any:
    """The event that goes on, or a new one if the flags say what is played."""
    from firmware_bridge.service.evening_plan import movement_of
    from terminals.settings import EventSettings
    from terminals.sync.setup import new_event

    known = store.load_setup()
    asked = request.pairs is not None or request.tables is not None
    if known is not None:
        if asked and known.sections[0].movement != movement_of(request):
            raise ConfigError(
                "another event was begun in this data directory.",
                next_step="Leave out --pairs, --tables and --boards to go on with it, or choose another --data.",
                code="other-evening",
            )
        return known
    if not asked:
        raise ConfigError(
            "no event is set up here.",
            next_step="Say what is played, for example --pairs 13 --boards 28.",
            code="no-event",
        )
    setup = new_event(secrets.randbits(64) or 1, "Event", {1: movement_of(request)}, EventSettings(admit_all=True))
    await store.save_setup(setup)
    return setup
