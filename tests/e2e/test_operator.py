"""An operator at a real terminal: all that has to be known is on the screen, through faults and a killed program."""

from __future__ import annotations

import os
import re
import select
import signal
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from evening_runs import command, environment
from test_devices import Device

from dealer.cards import card_name
from dealer.formats.api import WriteOptions, format_named
from dealer.generate import new_set

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")

DEALS = new_set(range(1, 4), seed=12).boards


class Terminal:
    """One run of the command in a pseudo-terminal. ``text``: all that was ever on the screen, without its colours."""

    def __init__(self, *words: str) -> None:
        import pty

        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execvpe(sys.executable, command(*words), {**environment(), "TERM": "xterm", "COLUMNS": "100"})
        self._raw = b""

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self._raw.decode(errors="replace"))

    @property
    def bells(self) -> int:
        return self._raw.count(b"\a")

    def wait_for(self, pattern: str, limit: float = 40.0) -> None:
        end = time.monotonic() + limit
        while not re.search(pattern, self.text):
            assert self._read(end), f"{pattern} is not in {self.text[-2000:]}"

    def end(self, limit: float = 60.0) -> int:
        end = time.monotonic() + limit
        while self._read(end):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self._fd)
        return os.waitstatus_to_exitcode(status)

    def kill(self, number: int) -> int:
        os.kill(self.pid, number)
        return self.end()

    def hang_up(self) -> int:
        """The terminal is closed over the program's head."""
        os.close(self._fd)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def press(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def _read(self, end: float) -> bool:
        if not select.select([self._fd], [], [], max(0.0, end - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            return False  # the other end is closed
        self._raw += data
        return bool(data)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    file = tmp_path / "club.pbn"
    file.write_bytes(format_named("pbn").load().write(DEALS, WriteOptions()))
    return tmp_path


def duplicate(room: Path, device: Device, *words: str) -> Terminal:
    return Terminal(
        "duplicate",
        str(room / "club.pbn"),
        "--machine",
        device.url,
        "--data",
        str(room / "data"),
        "--patience",
        "60",
        *words,
    )


def cards_dropped(room: Path) -> int:
    """What the simulated machine remembers of the board that it deals."""
    return sum(path.read_bytes().count(b'"drop"') for path in (room / "dealing-machine").glob("world-*.nv"))


def dropped_at_rest(room: Path) -> int:
    """How many cards the simulated machine has dropped once it drops no more: all, or it has missed its host.

    It misses its host after 5 s; on a computer that is busy otherwise it gets less far until then.
    """
    seen, since = -1, time.monotonic()
    while (dropped := cards_dropped(room)) < 52 and time.monotonic() < since + 20:
        if dropped != seen:
            seen, since = dropped, time.monotonic()
        time.sleep(0.05)
    return dropped


def states(room: Path) -> dict[tuple[int, int], str]:
    connection = sqlite3.connect(room / "data" / "dealing.db")
    try:
        return {(b, c): s for b, c, s in connection.execute("SELECT board, copy, state FROM board_copy").fetchall()}
    finally:
        connection.close()


def test_an_evening_of_trouble_read_from_the_screen_alone(room: Path) -> None:
    faults = ("jam@20", "smudge@80", "cover@170", "unplug@250,for=1")
    device = Device(
        "dealing-machine", room, "--speed", "demo", "--seed", "3", *(w for f in faults for w in ("--fault", f))
    )
    try:
        terminal = duplicate(room, device, "--boards", "1-2", "--copies", "2", "--order", "by-copy")
        assert terminal.end() == 0, terminal.text[-3000:]
    finally:
        device.unplug()
    flat = " ".join(terminal.text.split())
    for words in (
        "a card is stuck at the reader. Cards: 19 in the board, 1 in the machine",
        "> Clear the jam and put that card back on top of the hopper.",
        "a card was hard to read",
        "the cover was opened",
        "the machine does not answer",
        "> Check cable and power.",
        "Next: Board 2, copy 1",
        "All 4 boards are made and good.",
        "4 of 4 boards are good.",
    ):
        assert words in flat, words
    assert terminal.bells >= 4 + 4, "a sound on every stop and on every board that is done"
    assert not [card for card in range(52) if re.search(rf"\b{card_name(card)}\b", flat)]
    assert set(states(room).values()) == {"good"}


@pytest.mark.parametrize("how", ["kill -9", "hang-up"])
def test_a_run_that_was_cut_off_says_at_the_next_start_what_to_do(room: Path, how: str) -> None:
    # Killed, the machine goes on by itself, as a rule to the end; hung up, the program stops it in mid-board.
    device = Device("dealing-machine", room, "--speed", "real", "--seed", "3")
    try:
        first = duplicate(room, device, "--boards", "1")
        first.wait_for(r"[1-4][0-9] cards")
        whole = False
        if how == "kill -9":
            assert first.kill(signal.SIGKILL) == -signal.SIGKILL
            whole = dropped_at_rest(room) == 52
        else:
            assert first.hang_up() > 0, "not killed by the signal: the motors were stopped first"
        assert states(room) == {(1, 1): "dealing" if how == "kill -9" else "unknown"}
        second = duplicate(room, device, "--boards", "1")
        second.wait_for("Board 1: the program ended while it was in work.")
        second.wait_for("> Put the board back: I'll read it." if whole else "> Put all 52 cards back")
        second.kill(signal.SIGTERM)
    finally:
        device.unplug()


def test_without_a_label_reader_only_enter_or_the_key_confirms_the_number(room: Path) -> None:
    device = Device("dealing-machine", room, "--speed", "real", "--seed", "3", "--no-label-reader")
    try:
        terminal = duplicate(room, device, "--boards", "1")
        terminal.wait_for(r"Is this board 1\?")
        terminal.wait_for("or Enter here")
        terminal.press(b"\n")
        terminal.wait_for("being dealt")
        terminal.kill(signal.SIGTERM)
    finally:
        device.unplug()
