"""A service in a process of its own and Debian's chromium before it, for tests of the pages."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib import resources, util
from pathlib import Path
from typing import Any

import pytest
from spare_port import spare_port

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
SCREENS = os.environ.get("FIRMWARE_BRIDGE_SCREENS")
PATIENCE_MS = 40_000
"""How long a page may take on a busy machine; only a failure takes so long."""
PHONE = {"width": 390, "height": 780}
SMALL = {"width": 320, "height": 640}
DESKTOP = {"width": 1280, "height": 860}


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Service:
    """``firmware-bridge serve`` on a free port; may be killed and started again with the same port."""

    def __init__(self, data: Path, *flags: str) -> None:
        self.data = data
        self._flags = flags
        self.port = spare_port()
        self.process: subprocess.Popen[str] | None = None
        self.start(*flags)

    def start(self, *flags: str) -> None:
        words = [
            sys.executable,
            "-m",
            "firmware_bridge.cli",
            "serve",
            "--data",
            str(self.data),
            "--port",
            str(self.port),
        ]
        self.process = subprocess.Popen([*words, *flags], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert self.process.stderr is not None
        said = ""
        for line in self.process.stderr:
            said += line
            if "desk#" in line:
                break
        else:
            raise AssertionError(f"the service did not start: {said[-2000:]}")
        # Nobody reads the rest; a full pipe must not stop the service.
        os.set_blocking(self.process.stderr.fileno(), False)

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)
        self._close()

    def stop(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)
        self._close()

    def _close(self) -> None:
        if self.process is not None and self.process.stderr is not None:
            self.process.stderr.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def code(self) -> str:
        return str(json.loads((self.data / "access.json").read_text())["codes"]["director"])

    def api(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data)
        request.add_header("authorization", f"Bearer {self.code}")
        request.add_header("content-type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def table(self, number: int) -> str:
        """The link on the card of a table."""
        tables = self.api("/cards")["tables"]
        return self.url + next(one["path"] for one in tables if one["table"] == number)

    def cells(self) -> list[dict[str, Any]]:
        return list(self.api("/results")["cells"])

    def until(self, wanted: Any, seconds: float = PATIENCE_MS / 1000) -> None:
        """Wait until ``wanted(cells)`` is true."""
        end = time.monotonic() + seconds
        while not wanted(self.cells()):
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.1)


@contextlib.contextmanager
def service(data: Path, *flags: str) -> Iterator[Service]:
    one = Service(data, *flags)
    try:
        yield one
    finally:
        one.stop()


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=chromium(), headless=True, args=FLAGS)
        try:
            yield found
        finally:
            found.close()


def phone(found: Any, url: str, **more: Any) -> Any:
    """A page in a context of its own: another phone."""
    context = found.new_context(viewport=PHONE, locale="en-GB", **more)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    return page


# --- answers that come late --------------------------------------------------------------------------------------

GATE = """
    const send = self.fetch, waiting = [];
    self.held = [];
    self.hold = (part) => held.push(part);
    const told = () => { document.body.dataset.held = waiting.length; };
    self.release = async (which = 0) => {
      const [one] = waiting.splice(which, 1);
      told();
      one.go();
      await one.over;
      await new Promise((done) => setTimeout(done, 60));
    };
    self.fetch = async (url, options) => {
      const at = held.findIndex((part) => String(url).includes(part));
      if (at < 0) return send(url, options);
      held.splice(at, 1);
      const answer = await send(url, options);
      let end;
      const one = { over: new Promise((done) => { end = done; }) };
      const gone = new Promise((done) => { one.go = done; });
      waiting.push(one);
      told();
      await gone;
      setTimeout(end, 0);
      return answer;
    };
"""
"""hold(part): the next answer of an address with this part waits for release(), which comes back when it was taken."""


def held(page: Any, count: int = 1) -> None:
    """Wait until so many answers are held back."""
    page.wait_for_selector(f"body[data-held='{count}']")


# --- for everybody -----------------------------------------------------------------------------------------------


def photograph(page: Any, name: str, *, sizes: tuple[str, ...] = ("phone", "desktop")) -> None:
    """Keep a picture of the page in each size, if pictures are wanted."""
    if not SCREENS:
        return
    before = page.viewport_size
    for size in sizes:
        page.set_viewport_size(PHONE if size == "phone" else DESKTOP)
        page.wait_for_timeout(150)
        page.screenshot(path=Path(SCREENS) / f"{name}-{size}.png")
    page.set_viewport_size(before)


def axe_source() -> str:
    if util.find_spec("axe_playwright_python") is None:
        pytest.skip("axe-playwright-python, which carries axe-core, is not installed here")
    root = resources.files("axe_playwright_python")
    return next(p for p in Path(str(root)).rglob("axe*.js")).read_text(encoding="utf-8")


def accessible(page: Any, where: str) -> None:
    """No violation of WCAG 2.1 A and AA that axe-core can find."""
    page.evaluate(axe_source())
    report = page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
        ".then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html).join(' | ')))"
    )
    assert report == [], f"{where}: {report}"


def fits(page: Any, where: str) -> None:
    """Nothing sticks out sideways, also with text at 200 %."""
    for size in ("100%", "200%"):
        page.evaluate(f"document.documentElement.style.fontSize = '{size}'")
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1] + 1, f"{where} at {size}: {wide}"
    page.evaluate("document.documentElement.style.fontSize = ''")


# --- what a player touches ---------------------------------------------------------------------------------------


def at(page: Any, name: str) -> None:
    """Wait for a screen of the terminal."""
    page.wait_for_selector(f"#screen[data-at='{name}']")


def start_round(page: Any) -> None:
    page.wait_for_selector("#screen[data-at='round'], #screen[data-at='boards']")
    if page.locator("#start").count():
        page.click("#start")
    at(page, "boards")


def key_in(page: Any, board: int, level: int, strain: str, seat: str, tricks: int, doubling: int = 0) -> None:
    """From the choice of the board to the screen that the other side accepts."""
    page.click(f"[data-board='{board}']")
    at(page, "contract")
    page.click(f".k7 button:nth-child({level})")
    page.click(f".k5 button:nth-child({'CDHSN'.index(strain) + 1})")
    if doubling:
        page.click(f".k3 button:nth-child({doubling + 1})")
    page.click("#next")
    page.click(f"[data-seat='{seat}']")
    page.wait_for_selector("#nolead, [data-tricks]")
    if page.locator("#nolead").count():
        page.click("#nolead")
    page.click(f"[data-tricks='{tricks}']")
    at(page, "accept")


def accept(page: Any) -> None:
    page.click("#accept")
    at(page, "stored")


def back_to_boards(page: Any) -> None:
    page.wait_for_selector("#nextboard, #endround")
    page.evaluate("history.pushState({at: 'boards'}, ''); dispatchEvent(new PopStateEvent('popstate'))")
    page.wait_for_selector("#screen[data-at='boards'], #screen[data-at='roundEnd']")
