"""The room in which the tables stand: a round begins when every table of the section has finished the one before."""

from __future__ import annotations

from collections.abc import Callable

Place = tuple[int, int, int]  # event, section, table


class Room:
    """wait_for_all False: every table goes on as soon as it has finished itself."""

    def __init__(self, wait_for_all: bool = True) -> None:
        self._wait = wait_for_all
        self._at: dict[Place, int] = {}  # how many rounds this table has finished
        self._known: dict[tuple[int, int], int] = {}  # event, section: rounds finished by the slowest table
        self._listeners: list[Callable[[], None]] = []

    def listen(self, callback: Callable[[], None]) -> None:
        self._listeners.append(callback)

    def finished(self, place: Place, rounds: int) -> None:
        """This table has finished its first ``rounds`` rounds."""
        if self._at.get(place) == rounds:
            return
        before = self._slowest(place)
        self._at[place] = rounds
        self._known.pop(place[:2], None)
        if self._slowest(place) != before:
            for callback in self._listeners:
                callback()

    def leave(self, place: Place) -> None:
        if self._at.pop(place, None) is not None:
            self._known.pop(place[:2], None)
            for callback in self._listeners:
                callback()

    def round_of(self, place: Place, index: int) -> int:
        """What the table's screen shows when its own next round is the ``index``-th."""
        return min(index, self._slowest(place)) if self._wait else index

    def may_begin(self, place: Place, index: int) -> bool:
        """Whether the table may begin its ``index``-th round, 0 is the first."""
        return not self._wait or self._slowest(place) >= index

    def _slowest(self, place: Place) -> int:
        section = place[:2]
        if section not in self._known:
            self._known[section] = min((n for p, n in self._at.items() if p[:2] == section), default=0)
        return self._known[section]
