"""Faults of the tables' side that happen on purpose: at the N-th record that is ever keyed in."""

from __future__ import annotations

import json

from hwsim.machine.faults import Fault, FaultPlan
from hwsim.memory import Media

KINDS = {
    "unplug": "the base station's line is unplugged for `for` seconds (default 1)",
    "battery": "the terminal that keyed it in is without battery for `for` seconds (default 1)",
    "hub": "the base station alone starts anew",
}


class StationFaults:
    """Strikes once each, however often the process restarts."""

    def __init__(self, faults: list[Fault], media: Media) -> None:
        self._memory = media.memory("station-faults")
        self._used: list[int] = json.loads(self._memory.load() or b"[]")
        self._plan = FaultPlan(faults, self._used)

    def strike(self, record: int) -> Fault | None:
        """The fault that is due with the ``record``-th record, marked as used."""
        due = self._plan.due(record, *KINDS)
        if due is None:
            return None
        number, fault = due
        self._plan.mark(number)
        self._used.append(number)
        self._memory.save(json.dumps(self._used).encode())
        return fault
