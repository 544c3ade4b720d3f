"""``deal generate`` for thousands of boards: numpy, constant memory, the same deals as one by one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from dealer.bulk_job import generate_to_file, second_process
from dealer.files import replacing, write_failed
from dealer.formats.options import WriteOptions
from dealer.generate import DealSet, Origin, SeededBytes, seeded_set_id
from firmware_bridge.cli.deal_generate import REPLACED, open_dealing_db, outcome, was_there
from firmware_bridge.cli.output import Outcome, progress

_TELL_EVERY = 250_000


def generate_bulk(runs: Sequence[tuple[int, int]], out: str, data: str | None, choices: dict[str, Any]) -> Outcome:
    """Deal runs (first, count) of board numbers into a PBN file, as a club's set but without keys and fingerprint."""
    from dealer.store.history import recording
    from firmware_bridge.clock import SystemClock

    total = sum(count for _, count in runs)
    seed = choices["seed"]
    set_id = os.urandom(8).hex() if seed is None else seeded_set_id(seed)
    deals = DealSet(set_id, Origin.OWN if seed is None else Origin.SEEDED, ())
    options = WriteOptions(
        dialect=choices["dialect"],
        title=choices["title"] or None,
        date=choices["date"],
        set_id=deals.id,
        origin=deals.origin,
    )

    def tell(done: int) -> None:
        if done // _TELL_EVERY > told[0]:
            told[0] = done // _TELL_EVERY
            progress(f"{done} of {total} boards dealt")

    told = [0]
    replaced = was_there(out)
    source = os.urandom if seed is None else SeededBytes(seed)
    # Before the database is opened, and before there is a second thread.
    half = second_process(total, options, with_digests=seed is None)
    database = None
    try:
        database = open_dealing_db(data) if seed is None else None
        with replacing(out, private=True) as file:
            day = SystemClock().wall().date().isoformat()
            keep = (
                recording(database, set_id=deals.id, origin=deals.origin, dealt_on=day)
                if database is not None
                else nullcontext()
            )
            with keep as record:
                try:
                    generate_to_file(runs, file, options, randbytes=source, record=record, progress=tell, half=half)
                except OSError as error:
                    # Said here, or the database would take the trouble for its own.
                    raise write_failed(out, error) from error
    finally:
        if half is not None:
            half.close()
        if database is not None:
            database.close()
    return outcome(deals, total, out, [REPLACED] if replaced else ())
