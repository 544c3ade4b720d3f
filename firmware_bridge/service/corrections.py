"""Corrections on their way back to the tables: a result that the director or a scoring program has changed is shown
there as it stands now, while its round is on the screen.

A keypad gets the board's traveller anew, by the rules of its own question (``terminals.sync.feedback``): nothing that
the event's settings do not allow, nothing of a round that is over. Pages of browsers ask by themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from firmware_bridge.errors import FirmwareBridgeError
from firmware_bridge.service.browser_hub import MODEL
from firmware_bridge.wire.messages import Ask
from firmware_bridge.wire.numbers import AskFor
from terminals.store.results import CurrentResult
from terminals.sync.contacts import Send
from terminals.sync.feedback import feedback
from terminals.sync.setup import section_number

if TYPE_CHECKING:
    from firmware_bridge.service.desk import Desk

logger = logging.getLogger(__name__)


def tell_tables(desk: Desk, rows: Iterable[CurrentResult]) -> int:
    """Send what was ruled to the terminals that show its round; gives how many messages that were."""
    setup, count = desk.setup, 0
    for row in rows:
        if not row.ruled or not row.table:
            continue
        seat = (section_number(row.play.section), row.table)
        here = [
            one
            for one in desk.service.collector.terminals
            if one.seat == seat
            and one.present
            and one.model != MODEL
            and one.status is not None
            and one.status.round == row.round
        ]
        if not here:
            continue
        asked = Ask(int(AskFor.TRAVELLER), row.round, row.play.board)
        try:
            found = desk.store.read(lambda c, seat=seat, asked=asked: feedback(c, setup, seat, asked))  # type: ignore[misc]
        except FirmwareBridgeError as error:
            logger.info("a correction can't be shown at its table: %s", error.code)
            continue
        desk.service.send([Send(one.station, one.address, message) for one in here for message in found])
        count += len(here) * len(found)
    return count
