"""A whole evening in a real browser: four tables on phones, everything goes wrong once, and the totals are right."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from web_browser import (
    PATIENCE_MS,
    Service,
    accept,
    accessible,
    at,
    back_to_boards,
    key_in,
    phone,
    service,
    start_round,
)

pytestmark = pytest.mark.external("chromium")

VULNERABLE = {"NS": {2, 4, 5, 7, 10, 12, 13, 15}, "EW": {3, 4, 6, 7, 9, 10, 13, 16}}


def score_ns(board: int, level: int, strain: str, seat: str, tricks: int) -> int:
    """Undoubled contracts only, worked out anew from Law 77."""
    side = "NS" if seat in "NS" else "EW"
    vulnerable = board in VULNERABLE[side]
    need = level + 6
    if tricks < need:
        points = -(100 if vulnerable else 50) * (need - tricks)
    else:
        each = 20 if strain in "CD" else 30
        below = level * each + (10 if strain == "N" else 0)
        points = below + (tricks - need) * each
        points += (500 if vulnerable else 300) if below >= 100 else 50
        points += {6: 750 if vulnerable else 500, 7: 1500 if vulnerable else 1000}.get(level, 0)
    return points if side == "NS" else -points


def recount(cells: list[dict[str, Any]], scores: dict[tuple[int, int, int], int]) -> dict[int, Fraction]:
    """Pair -> percentage, by comparing every two scores of a board; boards that fewer tables played than others are
    factored up to the most that one has (Neuberg)."""
    boards: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for cell in cells:
        key = (cell["board"], cell["ns"], cell["ew"])
        boards[cell["board"]].append((cell["ns"], cell["ew"], scores[key]))
    most = max(len(lines) for lines in boards.values())
    top = 2 * (most - 1)
    won: dict[int, Fraction] = defaultdict(Fraction)
    played: dict[int, int] = defaultdict(int)
    for lines in boards.values():
        for ns, ew, own in lines:
            others = [other for a, b, other in lines if (a, b) != (ns, ew)]
            raw = sum(2 * (own > other) + (own == other) for other in others)
            points = Fraction(raw * most + most - len(lines), len(lines))
            for pair, share in ((ns, points), (ew, top - points)):
                won[pair] += share
                played[pair] += 1
    return {pair: 100 * won[pair] / (top * played[pair]) for pair in played}


class Room:
    """The phones of four tables, and what was keyed in at them."""

    def __init__(self, found: Any, one: Service) -> None:
        self.service = one
        self.random = random.Random(7)
        self.pages = {table: phone(found, one.table(table)) for table in range(1, 5)}
        self.entered: dict[tuple[int, int, int], tuple[int, str, str, int]] = {}

    def boards(self, table: int, round: int) -> list[dict[str, Any]]:
        return [c for c in self.service.cells() if (c["table"], c["round"]) == (table, round)]

    def key(self, table: int, cell: dict[str, Any]) -> tuple[int, str, str, int]:
        pick = self.random
        what = (pick.randint(1, 7), pick.choice("CDHSN"), pick.choice("NESW"), pick.randint(5, 13))
        key_in(self.pages[table], cell["board"], what[0], what[1], what[2], what[3])
        self.entered[cell["board"], cell["ns"], cell["ew"]] = what
        return what

    def received(self, table: int) -> None:
        self.pages[table].wait_for_selector("#state.good")

    def more(self, table: int) -> None:
        self.pages[table].click("#nextboard, #endround")

    def play(self, table: int, round: int) -> None:
        """The rest of a round at a table, then on to the next."""
        page = self.pages[table]
        page.wait_for_selector("#screen:not([data-at='wait'])")
        cells = [c for c in self.boards(table, round) if (c["board"], c["ns"], c["ew"]) not in self.entered]
        for cell in cells:
            page.evaluate("history.pushState({at: 'boards'}, ''); dispatchEvent(new PopStateEvent('popstate'))")
            at(page, "boards")
            self.key(table, cell)
            accept(page)
            self.received(table)
        self.leave(table)

    def leave(self, table: int) -> None:
        page = self.pages[table]
        page.evaluate("history.pushState({at: 'boards'}, ''); dispatchEvent(new PopStateEvent('popstate'))")
        page.wait_for_selector("#screen[data-at='roundEnd'], #screen[data-at='sitout']")
        page.click("#nextround")


@pytest.mark.slow
def test_an_evening_on_four_tables_in_which_everything_goes_wrong_once(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--pairs", "7", "--boards", "8") as one:
        room = Room(found, one)
        playing = sorted({c["table"] for c in one.cells() if c["round"] == 1})
        assert len(playing) == 3
        first, second, third = playing

        # The network goes away before the other side accepts: kept on the phone, then received.
        page = room.pages[first]
        start_round(page)
        page.context.set_offline(True)
        room.key(first, room.boards(first, 1)[0])
        accept(page)
        page.wait_for_selector("#sent >> text=1 waiting")
        assert "received" not in page.inner_text("#state")
        page.context.set_offline(False)
        room.received(first)

        # Reload in mid-entry comes back to the same step; Back goes one step back.
        page = room.pages[second]
        start_round(page)
        cell = room.boards(second, 1)[0]
        page.click(f"[data-board='{cell['board']}']")
        at(page, "contract")
        page.click(".k7 button:nth-child(4)")
        page.click(".k5 button:nth-child(4)")
        page.click("#next")
        at(page, "declarer")
        page.reload()
        at(page, "declarer")
        page.go_back()
        at(page, "contract")
        assert page.get_attribute(".k7 button:nth-child(4)", "aria-pressed") == "true"
        page.go_forward()
        page.click("[data-seat='N']")
        page.click("#nolead")
        page.click("[data-tricks='10']")
        accept(page)
        room.entered[cell["board"], cell["ns"], cell["ew"]] = (4, "S", "N", 10)
        room.received(second)

        # Two tabs on one table: one log, and the second entry of a board is refused.
        page = room.pages[third]
        start_round(page)
        tab = page.context.new_page()
        tab.set_default_timeout(PATIENCE_MS)
        tab.goto(one.table(third))
        start_round(tab)
        cell = room.boards(third, 1)[0]
        key_in(tab, cell["board"], 2, "H", "E", 9)
        room.key(third, cell)
        accept(page)
        room.received(third)
        tab.wait_for_selector("#screen[data-at='boards'], #screen[data-at='accept']")
        if tab.locator("#accept").count():
            tab.click("#accept")
        at(tab, "boards")
        tab.close()
        for table in range(1, 5):
            room.play(table, 1)

        # The service is killed while a table keys in, and started again.
        table = next(t for t in range(1, 5) if room.boards(t, 2))
        page = room.pages[table]
        cell = room.boards(table, 2)[0]
        start_round(page)
        room.key(table, cell)
        one.kill()
        accept(page)
        page.wait_for_selector("#sent >> text=1 waiting")
        one.start()
        page.wait_for_selector("#state.good")

        # The director corrects at the same time.
        fixed = {"section": "A", "board": cell["board"], "ns": cell["ns"], "ew": cell["ew"], "actor": "Ann"}
        one.api("/actions/correct", {**fixed, "contract": "3NT", "declarer": "S", "tricks": "+1"})
        room.entered[cell["board"], cell["ns"], cell["ew"]] = (3, "N", "S", 10)
        for number in range(1, 5):
            room.play(number, 2)

        # A late pair from round 3 on.
        event = {"kind": "late-pair", "round": 3, "place": "phantom"}
        assert one.api("/plan/preview", {"section": "A", "event": event})["ok"] is True
        one.api("/plan/change", {"section": "A", "event": event, "actor": "Ann"})
        one.until(lambda cells: len({c["table"] for c in cells if c["round"] == 3}) == 4)
        for page in room.pages.values():
            page.wait_for_selector("#screen[data-at='round'], #screen[data-at='boards']")
        for number in (3, 4):
            for table in range(1, 5):
                room.play(table, number)

        cells = one.cells()
        assert all(cell["state"] in ("confirmed", "amended") for cell in cells)
        assert {(c["board"], c["ns"], c["ew"]) for c in cells} == set(room.entered)
        scores = {key: score_ns(key[0], *what) for key, what in room.entered.items()}
        assert {(c["board"], c["ns"], c["ew"]): c["score"] for c in cells} == scores
        wanted = recount(cells, scores)
        shown = {row["pair"]: row["value"] for group in one.api("/ranking") for row in group["rows"]}
        assert set(shown) == set(wanted)
        for pair, value in wanted.items():
            assert abs(Fraction(shown[pair]) - value) <= Fraction(1, 199), pair
        for page in room.pages.values():
            at(page, "end")
            assert page.inner_text("#sent") == "received"


def test_a_second_phone_accepts_for_the_other_side_and_what_the_first_still_holds_arrives_in_its_own_evening(
    found: Any, tmp_path: Path
) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        north, east = phone(found, one.table(1)), None
        start_round(north)
        east = phone(found, one.table(1))
        at(east, "companion")
        accessible(east, "companion")
        key_in(north, 1, 4, "H", "W", 9)
        east.wait_for_selector("text=ACCEPT")
        accessible(east, "accepting on the other phone")
        east.click("text=ACCEPT")
        at(north, "stored")
        north.wait_for_selector("#state.good")
        one.until(lambda cells: any(c["state"] == "confirmed" for c in cells))
        # The next event begins while a result waits on a phone without a connection.
        back_to_boards(north)
        north.context.set_offline(True)
        key_in(north, 2, 3, "N", "S", 8)
        accept(north)
        north.wait_for_selector("#sent >> text=1 waiting")
        one.api("/setup/start", {"again": True, "name": "Next", "instead": True})
        at(east, "over")
        north.context.set_offline(False)
        for _ in range(2):
            at(north, "over")
            north.wait_for_selector("#screen >> text=Received.")
            assert north.locator("#foot > *").count() == 0, "it calls nobody any more"
            north.reload()
        accessible(north, "an evening that is over")
        assert not any(cell["state"] != "missing" for cell in one.cells()), "nothing comes into the event of now"
        late = [alert["text"] for alert in one.api("/desk")["alerts"] if alert["code"] == "alarm-late"]
        assert len(late) == 1
        assert "Table A1" in late[0]
        assert "delivered 1 result late" in late[0]


SLOW_TO_SHOW = """
    const send = self.fetch;
    self.fetch = async (url, options) => {
      if (options?.body?.includes('"pending":{')) {
        await new Promise((done) => setTimeout(done, 1200));
        setTimeout(() => { document.body.dataset.shown = "1"; }, 1000);
      }
      return send(url, options);
    };
"""
"""The exchange that shows an entry to the other phones is slow: the entry is accepted meanwhile."""


def test_a_new_phone_takes_over_with_the_directors_consent(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        old = phone(found, one.table(1))
        start_round(old)
        old.evaluate(SLOW_TO_SHOW)
        key_in(old, 1, 1, "N", "N", 7)
        accept(old)
        old.wait_for_selector("#state.good")
        old.wait_for_selector("body[data-shown]")
        new = phone(found, one.table(1))
        at(new, "companion")
        assert new.locator("button.primary").count() == 0, "nothing waits for the other side any more"
        new.click("text=Score on this phone instead")
        desk = phone(found, f"{one.url}/desk#{one.code}")
        desk.click("text=Let it take over")
        at(new, "boards")
        assert new.locator("button.done").count() == 1, "it knows what was entered here"
        key_in(new, 2, 2, "N", "S", 8)
        accept(new)
        new.wait_for_selector("#state.good")
        at(old, "companion")
