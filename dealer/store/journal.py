"""The journal of the dealing job: the truth about which physical board is in which state, safe against any crash.

Write-ahead: ``begin`` commits before the machine is armed, ``finish`` when the verdict stands. Whatever was in work
when the program ended is found as ``dealing`` by the next run and becomes ``unknown``: it is never assumed to be made,
which is how two identical boards come about. Rows are ordered by number, never by time of day.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dealer.duplication.plan import BoardKey
from dealer.duplication.verdict import BoardState, Reason, Verdict
from dealer.store.schema import MIGRATIONS
from firmware_bridge.clock import Clock, SystemClock
from firmware_bridge.db import Connect, Connection, Database, Writer, connect_sqlite3
from firmware_bridge.errors import StoreError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JournalRow:
    """State of one physical board. ``digest``: 8 bytes; ``machine_id``: 16 hex digits or ""."""

    set_id: str
    key: BoardKey
    state: BoardState
    digest: bytes
    attempts: int
    job_id: int
    machine_id: str
    boot_id: int
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt, for reports and the health statistics. ``kind``: deal or read."""

    number: int
    key: BoardKey
    kind: str
    job_id: int
    machine_id: str
    state: BoardState
    reasons: tuple[Reason, ...]
    fault: int
    cards: int
    began_at: str
    ended_at: str


class Journal:
    """The tables ``deal_set``, ``set_board``, ``board_copy`` and ``attempt`` of one ``dealing.db``.

    All access goes through one writer, so that a slow disk never holds up the event loop. Every method raises
    StoreError when the file can't be read or written; nothing of that call is then kept.
    """

    def __init__(self, database: Database, *, clock: Clock | None = None, threaded: bool = True) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self._writer = Writer(database, threaded=threaded)

    @classmethod
    def open(
        cls, path: Path, *, clock: Clock | None = None, threaded: bool = True, connect: Connect = connect_sqlite3
    ) -> Journal:
        """Open or create ``path``. ``threaded=False`` commits inline, which virtual time needs."""
        return cls(Database.open(path, MIGRATIONS, connect=connect), clock=clock, threaded=threaded)

    def close(self) -> None:
        """Commit what is queued and close the file."""
        self._writer.close()
        self._database.close()

    @property
    def commits(self) -> int:
        return self._writer.commits

    async def register(self, set_id: str, digests: Mapping[int, bytes], keys: Sequence[BoardKey]) -> None:
        """Enter a set and its physical boards; the same set again changes nothing, new boards are added.

        Raises StoreError (code "set-differs") when a board of this set is known with another deal.
        """

        def job(connection: Connection) -> None:
            now = self._now()
            connection.execute("INSERT OR IGNORE INTO deal_set (set_id, registered_at) VALUES (?, ?)", (set_id, now))
            known = {
                int(board): bytes(digest)
                for board, digest in connection.execute(
                    "SELECT board, digest FROM set_board WHERE set_id = ?", (set_id,)
                ).fetchall()
            }
            for board, digest in digests.items():
                if known.get(board, digest) != digest:
                    raise StoreError(
                        f"board {board} of set {set_id} has been made from another deal before.",
                        where=str(self._database.path),
                        next_step="Use the file that the set was begun with, or begin a new set in another data "
                        "directory.",
                        code="set-differs",
                    )
                if board not in known:
                    connection.execute(
                        "INSERT INTO set_board (set_id, board, digest) VALUES (?, ?, ?)", (set_id, board, digest)
                    )
            for key in keys:
                connection.execute(
                    "INSERT OR IGNORE INTO board_copy (set_id, board, copy, state, changed_at) VALUES (?, ?, ?, ?, ?)",
                    (set_id, key.board, key.copy, BoardState.PLANNED.value, now),
                )

        await self._submit(job)

    async def take_over(
        self, set_id: str, keys: Collection[BoardKey], state: BoardState = BoardState.UNKNOWN
    ) -> list[BoardKey]:
        """What a new run does first: rows that are still ``dealing`` become ``unknown``. Returns which.

        ``state`` is another one only in tests that show what happens when such boards are assumed to be made.
        """

        def job(connection: Connection) -> list[BoardKey]:
            found = []
            for key in keys:
                rows = connection.execute(
                    "UPDATE board_copy SET state = ?, reasons = ?, changed_at = ?"
                    " WHERE set_id = ? AND board = ? AND copy = ? AND state = ? RETURNING job_id",
                    (
                        state.value,
                        Reason.INTERRUPTED.value,
                        self._now(),
                        set_id,
                        key.board,
                        key.copy,
                        BoardState.DEALING.value,
                    ),
                ).fetchall()
                for (job_id,) in rows:
                    found.append(key)
                    connection.execute(
                        "UPDATE attempt SET state = ?, reasons = ?, ended_at = ? WHERE job_id = ? AND ended_at = ''",
                        (BoardState.UNKNOWN.value, Reason.INTERRUPTED.value, self._now(), job_id),
                    )
            return found

        return await self._submit(job)

    async def begin(
        self, set_id: str, key: BoardKey, *, job_id: int, machine_id: int, boot_id: int, kind: str = "deal"
    ) -> None:
        """An attempt begins; committed before the machine hears of it.

        Raises StoreError when the board is not registered, or is in work by another run at this moment.
        """

        def job(connection: Connection) -> None:
            now = self._now()
            machine = f"{machine_id:016x}"
            changed = connection.execute(
                "UPDATE board_copy SET state = ?, attempts = attempts + 1, job_id = ?, machine_id = ?, boot_id = ?,"
                " reasons = '', changed_at = ?"
                " WHERE set_id = ? AND board = ? AND copy = ? AND state <> ? RETURNING attempts",
                (
                    BoardState.DEALING.value,
                    job_id,
                    machine,
                    boot_id,
                    now,
                    set_id,
                    key.board,
                    key.copy,
                    BoardState.DEALING.value,
                ),
            ).fetchall()
            if not changed:
                raise StoreError(
                    f"{key} of set {set_id} is being made by another run of the program, or was never planned.",
                    where=str(self._database.path),
                    next_step="Let the other run finish, then start again.",
                    code="board-in-work",
                )
            connection.execute(
                "INSERT INTO attempt (set_id, board, copy, kind, job_id, machine_id, boot_id, state, began_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (set_id, key.board, key.copy, kind, job_id, machine, boot_id, BoardState.DEALING.value, now),
            )

        await self._submit(job)

    async def finish(
        self, set_id: str, key: BoardKey, *, job_id: int, verdict: Verdict, cards: int = 0, fault: int = 0
    ) -> bool:
        """The verdict of the attempt ``job_id``. False when the row has meanwhile been taken over by another run."""

        def job(connection: Connection) -> bool:
            changed = self._judge(connection, set_id, key, job_id, verdict, (BoardState.DEALING,))
            if changed:
                connection.execute(
                    "UPDATE attempt SET state = ?, reasons = ?, fault = ?, cards = ?, ended_at = ?"
                    " WHERE job_id = ? AND set_id = ? AND board = ? AND copy = ? AND ended_at = ''",
                    (
                        verdict.state.value,
                        _join(verdict.reasons),
                        fault,
                        cards,
                        self._now(),
                        job_id,
                        set_id,
                        key.board,
                        key.copy,
                    ),
                )
            return changed

        return await self._submit(job)

    async def withdraw(self, set_id: str, key: BoardKey, *, job_id: int, state: BoardState) -> None:
        """The attempt never began: the machine was not started. The row gets back the state it had before."""

        def job(connection: Connection) -> None:
            connection.execute(
                "UPDATE board_copy SET state = ?, attempts = attempts - 1, changed_at = ?"
                " WHERE set_id = ? AND board = ? AND copy = ? AND job_id = ? AND state = ?",
                (state.value, self._now(), set_id, key.board, key.copy, job_id, BoardState.DEALING.value),
            )
            connection.execute("DELETE FROM attempt WHERE job_id = ? AND ended_at = ''", (job_id,))

        await self._submit(job)

    async def take_back(self, set_id: str, key: BoardKey, *, job_id: int, verdict: Verdict) -> bool:
        """The verdict of the attempt ``job_id`` no longer stands. False when the board has been made anew since."""

        def job(connection: Connection) -> bool:
            stood = (BoardState.GOOD, BoardState.UNCONFIRMED)
            changed = self._judge(connection, set_id, key, job_id, verdict, stood)
            if changed:
                connection.execute(
                    "UPDATE attempt SET state = ?, reasons = ?"
                    " WHERE job_id = ? AND set_id = ? AND board = ? AND copy = ?",
                    (verdict.state.value, _join(verdict.reasons), job_id, set_id, key.board, key.copy),
                )
            return changed

        return await self._submit(job)

    def _judge(
        self,
        connection: Connection,
        set_id: str,
        key: BoardKey,
        job_id: int,
        verdict: Verdict,
        before: tuple[BoardState, ...],
    ) -> bool:
        """Write a verdict on the board. False when it is of another attempt by now, or in none of the states before."""
        states = ", ".join("?" * len(before))
        changed = connection.execute(
            "UPDATE board_copy SET state = ?, reasons = ?, changed_at = ?"
            f" WHERE set_id = ? AND board = ? AND copy = ? AND job_id = ? AND state IN ({states}) RETURNING board",
            (
                verdict.state.value,
                _join(verdict.reasons),
                self._now(),
                set_id,
                key.board,
                key.copy,
                job_id,
                *(one.value for one in before),
            ),
        ).fetchall()
        return bool(changed)

    async def settle(self, set_id: str, key: BoardKey, verdict: Verdict) -> None:
        """Change the state of a board that is not in work: given up, or read back."""

        def job(connection: Connection) -> None:
            connection.execute(
                "UPDATE board_copy SET state = ?, reasons = ?, changed_at = ?"
                " WHERE set_id = ? AND board = ? AND copy = ?",
                (verdict.state.value, _join(verdict.reasons), self._now(), set_id, key.board, key.copy),
            )

        await self._submit(job)

    async def rows(self, set_id: str) -> dict[BoardKey, JournalRow]:
        """All physical boards of a set, in ascending order."""

        def job(connection: Connection) -> dict[BoardKey, JournalRow]:
            found = connection.execute(
                "SELECT c.board, c.copy, c.state, b.digest, c.attempts, c.job_id, c.machine_id, c.boot_id, c.reasons"
                " FROM board_copy AS c JOIN set_board AS b ON b.set_id = c.set_id AND b.board = c.board"
                " WHERE c.set_id = ? ORDER BY c.board, c.copy",
                (set_id,),
            ).fetchall()
            return {row.key: row for row in (_journal_row(set_id, values) for values in found)}

        return await self._submit(job)

    async def attempts(self, set_id: str) -> list[AttemptRow]:
        """Every attempt at a board of this set, oldest first."""

        def job(connection: Connection) -> list[AttemptRow]:
            found = connection.execute(
                "SELECT number, board, copy, kind, job_id, machine_id, state, reasons, fault, cards, began_at, ended_at"
                " FROM attempt WHERE set_id = ? ORDER BY number",
                (set_id,),
            ).fetchall()
            return [_attempt_row(values) for values in found]

        return await self._submit(job)

    async def sets(self) -> list[str]:
        """Names of all sets that were ever begun here."""

        def job(connection: Connection) -> list[str]:
            rows = connection.execute("SELECT set_id FROM deal_set ORDER BY registered_at, set_id").fetchall()
            return [str(row[0]) for row in rows]

        return await self._submit(job)

    # --- helpers -------------------------------------------------------------------------------------------------

    def _now(self) -> str:
        return self._clock.wall().isoformat(timespec="milliseconds")

    async def submit(self, job: Callable[[Connection], T]) -> T:
        """Run ``job`` in a transaction of this file; for the other stores that live in it."""
        return await self._submit(job)

    async def _submit(self, job: Callable[[Connection], T]) -> T:
        try:
            return await self._writer.submit(job)
        except StoreError as error:
            if error.code != "store-full":
                raise
            raise StoreError(
                error.what,
                where=error.where,
                next_step="Free some space, then start the same command again: the board in work is looked at first.",
                code=error.code,
            ) from error


def _join(reasons: tuple[Reason, ...]) -> str:
    return ",".join(reason.value for reason in reasons)


def _split(text: str) -> tuple[Reason, ...]:
    return tuple(Reason(word) for word in text.split(",") if word)


def _journal_row(set_id: str, values: Sequence[Any]) -> JournalRow:
    board, copy, state, digest, attempts, job_id, machine_id, boot_id, reasons = values
    return JournalRow(
        set_id=set_id,
        key=BoardKey(int(board), int(copy)),
        state=BoardState(state),
        digest=bytes(digest),
        attempts=int(attempts),
        job_id=int(job_id),
        machine_id=str(machine_id),
        boot_id=int(boot_id),
        reasons=_split(str(reasons)),
    )


def _attempt_row(values: Sequence[Any]) -> AttemptRow:
    number, board, copy, kind, job_id, machine_id, state, reasons, fault, cards, began_at, ended_at = values
    return AttemptRow(
        number=int(number),
        key=BoardKey(int(board), int(copy)),
        kind=str(kind),
        job_id=int(job_id),
        machine_id=str(machine_id),
        state=BoardState(state),
        reasons=_split(str(reasons)),
        fault=int(fault),
        cards=int(cards),
        began_at=str(began_at),
        ended_at=str(ended_at),
    )
