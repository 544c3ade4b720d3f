"""The dealing screen before a simulated machine: boards get made, a stop says one next step, no card is ever shown."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from test_devices import Device, deal_file
from web_browser import DESKTOP, GATE, PATIENCE_MS, accessible, held, photograph, service

from dealer.cards import Seat, Suit, rank_of, suit_of
from dealer.formats.api import read_deal_file

pytestmark = [
    pytest.mark.external("chromium"),
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals"),
]


def long_suits(path: Path) -> set[str]:
    """Suit holdings of five cards and more of a file's deals, as people write them."""
    found = set()
    for board in read_deal_file(path).require_good(str(path)):
        for seat in Seat:
            for suit in Suit:
                held = "".join(rank_of(c) for c in sorted(board.deal.hand(seat)) if suit_of(c) is suit)
                if len(held) >= 5:
                    found.add(held)
    return found


def test_boards_are_made_through_a_stop_without_showing_a_card(found: Any, tmp_path: Path) -> None:
    file = deal_file(tmp_path, 6)
    planted = long_suits(Path(file))
    assert planted
    machine = Device("dealing-machine", tmp_path, "--speed", "demo", "--seed", "3", "--fault", "jam@30")
    try:
        with service(tmp_path / "data", "--tables", "3", "--boards", "6", "--machine", machine.url) as one:
            page = found.new_context(viewport=DESKTOP, locale="en-GB").new_page()
            page.set_default_timeout(PATIENCE_MS)
            told: list[str] = []
            page.goto(f"{one.url}/desk#{one.code}")
            page.wait_for_selector(".grid")
            page.goto(f"{one.url}/deal")
            page.set_input_files("#file", file)
            page.click("#load")
            page.wait_for_selector("text=: boards 1 to 6")
            page.evaluate(GATE)
            page.evaluate("hold('/deal/start')")
            page.click("#startdeal")
            page.wait_for_selector(".step.stop")
            held(page)
            page.evaluate("release()")  # what was true when the job began is not drawn over its stop
            stop = page.inner_text(".step.stop")
            assert "stuck" in stop
            assert page.evaluate("document.body.dataset.sound") == "stop"
            page.select_option("#lang", "pl")
            page.wait_for_selector(".step.stop >> text=Usuń zacięcie")
            page.select_option("#lang", "en")
            photograph(page, "deal-stop")
            for _ in range(300):
                state = one.api("/deal")
                told.append(json.dumps(state) + page.inner_text("body"))
                if not state["running"]:
                    break
                page.wait_for_timeout(150)
            assert state["made"] == state["planned"] == 6, state
            page.wait_for_selector(".step.done")
            photograph(page, "deal-done")
            # A service that was killed and started again knows what was made here, and how the machine is.
            one.kill()
            one.start("--machine", machine.url)
            page.reload()
            page.wait_for_selector("td >> text=6/6")
            page.wait_for_selector(".history li")
            page.wait_for_selector(".figures")
            accessible(page, "deal after a restart")
            photograph(page, "deal-again")
            told.append(page.inner_text("body") + json.dumps(one.api("/deal/record")))
            everything = "\n".join(told)
            assert not [cards for cards in planted if re.search(rf"\b{cards}\b", everything)]
            assert not re.search(r"[♠♥♦♣]", everything)
    finally:
        machine.unplug()
