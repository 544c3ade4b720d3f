"""``serve``: the whole evening as a service: base stations, browsers, desk, dealing screen, public results."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command, progress
from firmware_bridge.cli.running import run_async
from firmware_bridge.config import PACKS, data_directory, ensure_directory, load_config
from firmware_bridge.errors import ConfigError

SERVICE_FILE = "service.json"


@click.command()
@click.option("--station", "station_urls", multiple=True, help="Device URL of a base station; may be repeated.")
@click.option("--machine", "machine_url", help="Device URL of the dealing machine, for the dealing screen.")
@click.option("--packs", type=click.Choice(PACKS), help="Red packs for odd boards, blue for even ones; or any pack.")
@click.option("--pairs", type=click.IntRange(3, 400), help="Begin an event with so many pairs.")
@click.option("--tables", type=click.IntRange(2, 200), help="Begin an event with so many tables.")
@click.option("--boards", type=click.IntRange(2, 99), help="Boards of the new event.")
@click.option("--host", help="Address to listen on; 127.0.0.1 if left out, 0.0.0.0 for the phones in the room.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one.")
@click.option("--cert", type=click.Path(path_type=Path), help="TLS certificate (PEM).")
@click.option("--key", type=click.Path(path_type=Path), help="Key of the certificate (PEM).")
@click.option(
    "--data-connector",
    "connector",
    is_flag=False,
    flag_value="127.0.0.1:5079",
    metavar="[HOST:PORT]",
    help="Let scoring programs connect as to Bridgemate's Data Connector; 127.0.0.1:5079 if no address is given.",
)
@click.option(
    "--data-connector-club", "clubs", multiple=True, metavar="CLUB", help="Make a licence key for a club's programs."
)
@click.option(
    "--data-connector-restore",
    "restored",
    multiple=True,
    metavar="CLUB",
    help="Bring back what a club's program cleared from its queues.",
)
@click.option(
    "--data-connector-shutdown",
    "may_stop",
    is_flag=True,
    help="Let a scoring program on this computer close the service (ManageBCS), once no terminal holds results.",
)
@click.option("--until-complete", is_flag=True, help="End when every scheduled board has a result.")
@click.option("--data", type=click.Path(path_type=Path), help="Data directory; its event goes on.")
@command("serve")
def serve(
    station_urls: tuple[str, ...],
    machine_url: str | None,
    packs: str | None,
    pairs: int | None,
    tables: int | None,
    boards: int | None,
    host: str | None,
    port: int | None,
    cert: Path | None,
    key: Path | None,
    connector: str | None,
    clubs: tuple[str, ...],
    restored: tuple[str, ...],
    may_stop: bool,
    until_complete: bool,
    data: Path | None,
) -> Outcome:
    """Collect results from base stations and browsers, each exactly once, and serve the pages of the evening.

    Begin an event with --pairs or --tables and --boards, or on the page /desk; after that the event in --data goes on.
    """
    from drivers.registry import check_url
    from firmware_bridge.cli.evening_view import choose_view
    from firmware_bridge.service.evening_plan import EveningRequest
    from firmware_bridge.service.logfile import close_log, open_log
    from firmware_bridge.service.ownership import owned

    directory = ensure_directory(data_directory(data))
    config = load_config(directory)
    urls = station_urls or config.stations
    machine = machine_url or config.machine
    if (cert is None) != (key is None):
        raise ConfigError("--cert and --key belong together.", next_step="Give both or neither.", code="usage")
    for url in (*urls, *([machine] if machine else [])):
        check_url(url)
    request = EveningRequest(pairs, tables, boards)
    log = open_log(directory)
    view = choose_view()
    try:
        with owned(directory):
            address = (config.host if host is None else host, config.port if port is None else port)
            fields, text = run_async(
                _serve(
                    directory,
                    request,
                    urls,
                    machine,
                    packs or config.packs,
                    address,
                    (cert, key),
                    (connector, clubs, restored),
                    may_stop,
                    until_complete,
                    view,
                )
            )
    finally:
        view.close()
        close_log(log)
    return Outcome(fields, text)


async def _serve(
    directory: Path,
    request: Any,
    urls: tuple[str, ...],
    machine: str,
    packs: str,
    address: tuple[str, int],
    tls: tuple[Path | None, Path | None],
    connector: tuple[str | None, tuple[str, ...], tuple[str, ...]],
    may_stop: bool,
    until_complete: bool,
    view: Any,
) -> tuple[dict[str, Any], str]:
    from firmware_bridge.service.api import make_app
    from firmware_bridge.service.api_guard import serving
    from firmware_bridge.service.data_connector import data_connector
    from firmware_bridge.service.desk_clock import NEXT
    from firmware_bridge.service.desk_dealing import DealingDesk
    from firmware_bridge.service.desk_running import running
    from firmware_bridge.service.host import host_identity
    from firmware_bridge.service.known_clock import words
    from firmware_bridge.service.ranking import rank_stored, rankings_json, rankings_text
    from firmware_bridge.web.pages import routes
    from terminals.sync.event_store import FILE_NAME, EventStore

    store = EventStore.open(directory / FILE_NAME)
    try:
        setup = await _event(store, request)
        if setup is None and until_complete:
            raise ConfigError(
                "no event is set up here.",
                next_step="Say what is played, for example --pairs 13 --boards 28.",
                code="no-event",
            )
        host = host_identity(directory)
        async with contextlib.AsyncExitStack() as stack:
            desk, collection = await stack.enter_async_context(
                running(directory, store, setup, urls, host, on_event=view)
            )
            dealing = DealingDesk(desk, machine, host, packs)
            dealing.resume()
            stack.push_async_callback(dealing.close)
            desk.listens = address[0]
            app = make_app(desk, dealing, routes())
            url = await stack.enter_async_context(serving(app, *address, certificate=tls[0], key=tls[1]))
            stopped = asyncio.Event()
            stop = stopped.set if may_stop else None
            await stack.enter_async_context(data_connector(desk, directory, *connector, progress, stop))
            stack.enter_context(_announced(directory, url, desk.access))
            progress(f"Serving at {url}. Ctrl-C ends it.")
            progress(f"The director's desk: {url}/desk#{desk.access.codes['director']}")
            if desk.clock.doubt:
                progress(f"This computer says it is {words(desk.clock.wall())}; that can't be right. {NEXT}")
            if until_complete:
                await collection.until_complete()
            else:
                await _either(collection.watch(), stopped.wait())
            setup = desk.setup
        if not setup.sections:
            return {"results_expected": 0, "results_stored": 0, "rankings": []}, ""
        rows = store.current(setup.id)
        rankings = store.read(lambda connection: rank_stored(connection, setup))
        fields = {
            "results_expected": setup.expected_results(),
            "results_stored": sum(row.content is not None for row in rows),
            "rankings": rankings_json(rankings),
        }
        return fields, rankings_text(rankings)
    finally:
        store.close()


async def _either(*waits: Coroutine[Any, Any, Any]) -> None:
    """Until one of them is over; raises what it raises."""
    tasks = [asyncio.ensure_future(one) for one in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for one in done:
            one.result()
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.contextmanager
def _announced(directory: Path, url: str, access: Any) -> Any:
    """Where this service answers, for ``td`` and others of the same user; the file goes away with the service."""
    from firmware_bridge.service.api_access import write_private

    path = directory / SERVICE_FILE

    def write() -> None:
        write_private(path, {"url": url, "token": access.codes["director"], "pid": os.getpid()})

    write()
    access.on_renewed = write
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


async def _event(store: Any, request: Any) -> Any:
    """The event that goes on, a new one if the flags say what is played, or None."""
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
        return None
    setup = new_event(secrets.randbits(63) | 1, "Event", {1: movement_of(request)}, EventSettings(admit_all=True))
    await store.save_setup(setup)
    return setup
