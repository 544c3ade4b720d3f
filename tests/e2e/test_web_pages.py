"""The pages one by one in a real browser: what a director does at the desk, how it looks, whether everybody can use it.

With FIRMWARE_BRIDGE_SCREENS set to a directory the photographs of docs/screens are taken anew.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from web_browser import (
    DESKTOP,
    PATIENCE_MS,
    PHONE,
    SMALL,
    Service,
    accept,
    accessible,
    at,
    fits,
    key_in,
    phone,
    photograph,
    service,
    start_round,
)

pytestmark = pytest.mark.external("chromium")

STATIC = Path(str(resources.files("firmware_bridge.web"))) / "static"


def desktop(found: Any, url: str, **more: Any) -> Any:
    context = found.new_context(viewport=DESKTOP, locale="en-GB", **more)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(url)
    return page


def results(one: Service, count: int) -> None:
    """Give the first plays results from the desk, so that there is something to look at."""
    contracts = [
        ("3NT", "N", "="),
        ("4S", "E", "-1"),
        ("2H", "S", "+1"),
        ("5C", "W", "="),
        ("6NT", "N", "-2"),
        ("1NT", "S", "+2"),
    ]
    for cell in one.cells()[:count]:
        contract, declarer, tricks = contracts[(cell["board"] * 5 + cell["ns"]) % 6]
        key = {name: cell[name] for name in ("section", "board", "ns", "ew")}
        one.api(
            "/actions/correct", {**key, "contract": contract, "declarer": declarer, "tricks": tricks, "actor": "Ann"}
        )


def test_every_screen_of_the_terminal(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        (tmp_path / "players.csv").write_text("number,name\n12,Zofia Żółć\n13,Jan Nowak\n", encoding="utf-8")
        page = phone(found, one.table(1))
        at(page, "round")
        photograph(page, "terminal-round")
        accessible(page, "round")
        fits(page, "round")
        page.click("button:has-text('Names')")
        page.fill("#player0", "zol")
        page.click("text=Zofia Żółć")
        page.click("text=Guest >> nth=1")
        photograph(page, "terminal-names", sizes=("phone",))
        accessible(page, "names")
        page.click("#savenames")
        page.click("text=Later")
        page.wait_for_selector("text=Zofia Żółć")
        page.click("#start")
        for step in ("boards", "contract", "declarer", "lead", "result", "accept"):
            at(page, step)
            if step == "contract":
                page.click(".k7 button:nth-child(4)")
                page.click(".k5 button:nth-child(3)")
            if step == "lead":
                page.click(".k4 button:nth-child(1)")
            photograph(
                page, f"terminal-{step}", sizes=("phone", "desktop") if step in ("contract", "accept") else ("phone",)
            )
            accessible(page, step)
            fits(page, step)
            if step == "boards":
                page.click("[data-board] >> nth=0")
            elif step == "contract":
                page.click("#next")
            elif step == "declarer":
                page.click("[data-seat='W']")
            elif step == "lead":
                page.click(".k5 button >> nth=0")
            elif step == "result":
                page.click("[data-tricks='9']")
        accept(page)
        page.wait_for_selector("#state.good")
        photograph(page, "terminal-received")
        accessible(page, "stored")
        page.click("text=All results of this board")
        page.wait_for_selector("tr.own")
        photograph(page, "terminal-traveller", sizes=("phone",))
        accessible(page, "traveller")
        page.click("text=Back")
        page.click("#nextboard")
        page.click("#pass")
        accept(page)
        page.wait_for_selector("#state.good")
        page.click("#endround")
        at(page, "roundEnd")
        photograph(page, "terminal-end-of-round", sizes=("phone",))
        accessible(page, "end of round")
        fits(page, "end of round")
        page.click("text=Ranking")
        page.wait_for_selector("#screen[data-at='ranking'] tr")
        accessible(page, "ranking at the table")
        page.click("text=Back")
        page.click("#more")
        accessible(page, "more")
        fits(page, "more")
        page.select_option("#lang", "pl")
        page.wait_for_selector("text=Wezwij sędziego")
        page.click("text=Wstecz")
        photograph(page, "terminal-polish", sizes=("phone",))
        lost = phone(found, f"{one.url}/t/aaaaaaaaaaaaaaaa")
        lost.wait_for_selector("text=This card is not valid")
        accessible(lost, "no card")
        cells = {(c["board"], c["ns"]): c["text"] for c in one.cells() if c["state"] != "missing"}
        assert list(cells.values()) == ["4H W-1", "Pass"]


def test_the_terminal_in_the_dark_and_from_the_keyboard_with_auction_play_and_hands(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        wanted = {"auction": True, "play": True, "hand_entry": True, "positions": True}
        one.api("/actions/settings", {"settings": wanted})
        page = phone(found, one.table(1), color_scheme="dark")
        at(page, "round")
        page.wait_for_selector("#otherwise")
        page.click("#otherwise")
        accessible(page, "positions")
        page.go_back()
        page.focus("#start")
        page.keyboard.press("Enter")
        at(page, "boards")
        assert page.evaluate("document.activeElement.tagName") == "H1", "the new screen is read out"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        at(page, "contract")
        photograph(page, "terminal-dark", sizes=("phone",))
        accessible(page, "dark contract")
        for key in ("4", "4♠"):  # every step by its key: the level, the suit, next, declarer, lead, tricks, accept
            page.focus(f".k7 button:nth-child({key})" if key == "4" else ".k5 button:nth-child(4)")
            page.keyboard.press("Enter")
        for selector in ("#next", "[data-seat='N']", "#nolead", "[data-tricks='10']", "#accept"):
            page.focus(selector)
            page.keyboard.press("Enter")
        at(page, "stored")
        page.wait_for_selector("#state.good")

        page.click("[data-record='auction']")
        at(page, "auction")
        for level, strain in ((1, 4), (2, 2), (4, 4)):  # 1S Pass 2D Pass 4S Pass Pass Pass
            page.click(f".k7 button:nth-child({level})")
            page.click(f".k5 button:nth-child({strain})")
            if level == 2:
                page.reload()
                at(page, "auction")
            page.click("#callpass")
        photograph(page, "terminal-auction", sizes=("phone",))
        accessible(page, "auction")
        fits(page, "auction")
        page.click("#callpass")
        page.click("#callpass")
        assert page.locator(".note.warn").count() == 0, "it is the contract of the result"
        page.click("#storerecord")
        at(page, "stored")

        page.click("[data-record='play']")
        at(page, "play")
        for suit, ranks in ((2, "AKQJ"), (0, "2345")):
            for rank in ranks:
                page.click(f".k4 button:nth-child({suit + 1})")
                page.click(f".k5 button >> text=/^{rank}$/")
        accessible(page, "play")
        photograph(page, "terminal-play", sizes=("phone",))
        page.click("#storerecord")
        at(page, "stored")

        page.click("[data-record='hands']")
        at(page, "hands")
        for suit in range(3):
            for rank in range(13):
                page.click(f".k8 >> nth={suit} >> button >> nth={rank}")
            if suit == 0:
                photograph(page, "terminal-hands", sizes=("phone",))
                accessible(page, "hands")
                fits(page, "hands")
            page.click("#nexthand")
        page.wait_for_selector("text=West: is this your hand?")
        accessible(page, "the fourth hand")
        page.click("#storerecord")
        at(page, "stored")
        page.wait_for_selector("#sent >> text=received")
        with contextlib.closing(sqlite3.connect(tmp_path / "events.db")) as store:
            kinds = [kind for (kind,) in store.execute("SELECT kind FROM table_event ORDER BY number")]
        assert kinds == ["positions", "auction", "play", "hands"]
        cell = one.cells()[0]
        key = "&".join(f"{name}={cell[name]}" for name in ("section", "board", "ns", "ew"))
        shown = one.api(f"/recorded?{key}")
        assert [call["call"] for call in shown["auction"]] == ["1S", "Pass", "2D", "Pass", "4S", "Pass", "Pass", "Pass"]
        assert shown["causes"] == []
        desk = desktop(found, f"{one.url}/desk#{one.code}", color_scheme="dark")
        desk.click("nav >> text=Boards")
        desk.click("tr.click >> text=Open")
        desk.wait_for_selector("dialog .auction")
        photograph(desk, "desk-dark")
        accessible(desk, "desk in the dark")


def test_an_erased_and_a_corrected_result_reach_the_desk(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        page = phone(found, one.table(1))
        page.on("dialog", lambda dialog: dialog.accept())
        # Names that are keyed without a connection wait on the phone like results, also through a closed page.
        at(page, "round")
        page.wait_for_selector("#sent >> text=connected")
        page.context.set_offline(True)
        page.click("button:has-text('Names')")
        page.fill("#player0", "Nina Nowhere")
        page.click("#savenames")
        page.wait_for_selector("#sent >> text=waiting to be sent")
        page.click("text=Later")
        page.context.set_offline(False)
        page.reload()
        page.wait_for_selector("text=Nina Nowhere")
        page.wait_for_selector("#sent >> text=connected")
        assert "Nina Nowhere" in json.dumps(one.api("/people"))
        start_round(page)
        key_in(page, 1, 4, "S", "N", 10)
        accept(page)
        page.wait_for_selector("#state.good")
        page.evaluate("history.pushState({at: 'entry', board: 1}, ''); dispatchEvent(new PopStateEvent('popstate'))")
        page.click("text=Correct")
        page.click(".k7 button:nth-child(3)")
        page.click(".k5 button:nth-child(5)")
        page.click("#next")
        page.click("[data-seat='S']")
        page.click("#nolead")
        page.click("[data-tricks='9']")
        accept(page)
        one.until(lambda cells: cells[0]["text"] == "3NT S=")
        page.evaluate("history.pushState({at: 'entry', board: 1}, ''); dispatchEvent(new PopStateEvent('popstate'))")
        page.click("text=Erase")
        one.until(lambda cells: cells[0]["state"] == "missing")


def speaks_polish(page: Any) -> None:
    """No line of any view of the desk is English, but those that are marked as English words of the program."""
    english, polish = (json.loads((STATIC / f"messages/{code}.json").read_text("utf-8")) for code in ("en", "pl"))
    foreign = {text for key, text in english.items() if text not in polish.values() and len(text) > 5}
    page.select_option("#lang", "pl")
    page.wait_for_selector("html[lang='pl']")
    for view in page.eval_on_selector_all("[data-view]", "all => all.map((one) => one.dataset.view)"):
        page.click(f"[data-view='{view}']")
        page.wait_for_selector(f"[data-view='{view}'][aria-current='page']")
        page.wait_for_timeout(300)
        shown = page.evaluate(
            "[...document.querySelectorAll('body *')].filter((e) => !e.children.length)"
            ".filter((e) => !e.closest('[lang=en]') && e.getClientRects().length)"
            ".map((e) => e.textContent.trim()).filter(Boolean)"
        )
        assert not foreign & set(shown), (view, foreign & set(shown))
        accessible(page, f"{view} in Polish")
        page.set_viewport_size(SMALL)
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], f"{view} on a small phone: {wide}"
        page.set_viewport_size(DESKTOP)
        if view == "now":
            photograph(page, "desk-polish")
    page.select_option("#lang", "en")


def test_an_evening_begins_on_one_page_and_ends_with_a_checklist(found: Any, tmp_path: Path) -> None:
    with service(tmp_path) as one:
        page = desktop(found, f"{one.url}/desk#{one.code}")
        page.wait_for_selector("#propose")
        assert one.code not in page.url, "the code must not stay in the address"
        page.fill("#pairs", "8")
        page.click("#propose")
        page.wait_for_selector(".props .card")
        assert page.locator(".props .card").count() == 3
        photograph(page, "desk-begin")
        accessible(page, "begin")
        fits(page, "begin")
        page.click(".props button >> nth=0")
        page.click("text=Table cards to print")
        page.wait_for_selector(".tablecard img")
        page.wait_for_timeout(800)
        assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
        photograph(page, "desk-cards")
        accessible(page, "cards")
        fits(page, "cards")
        results(one, len(one.cells()) * 2 // 3)
        table = phone(found, one.table(2))
        table.wait_for_selector("#call")
        table.click("#call")
        page.goto(f"{one.url}/desk#now")
        page.click("[data-alert='call'] >> text=Coming")
        table.wait_for_selector("text=Director is coming")
        page.wait_for_selector(".grid .full")
        photograph(page, "desk-now")
        accessible(page, "now")
        fits(page, "now")
        page.click("nav >> text=Boards")
        page.wait_for_selector("tr.click")
        accessible(page, "boards")
        fits(page, "boards")
        page.focus("tr.click >> nth=-1 >> button")
        page.keyboard.press("Enter")
        page.click("[data-form='correct']")
        page.fill("#contract", "7NTXX")
        page.select_option("#declarer", "N")
        page.fill("#tricks", "=")
        page.fill("#actor", "Ann")
        page.click("text=Preview")
        page.wait_for_selector("dialog table tbody tr")
        photograph(page, "desk-correct")
        accessible(page, "correct")
        page.click("#doit")
        page.wait_for_selector("#doit", state="detached")
        page.wait_for_selector("dialog >> text=ruled")
        page.click("dialog >> text=Undo >> nth=-1")
        page.wait_for_selector("dialog >> text=undone")
        page.click("#closepanel")
        page.wait_for_selector(".chart")
        photograph(page, "desk-board")
        page.click("nav >> text=Ranking")
        page.wait_for_selector(".chart .line")
        photograph(page, "desk-ranking")
        accessible(page, "ranking")
        page.click("nav >> text=Terminals")
        page.wait_for_selector("td >> text=Phone")
        photograph(page, "desk-terminals")
        accessible(page, "terminals")
        page.click("nav >> text=Plan")
        page.click("[data-plan='curtailed']")
        page.click("#planpreview")
        page.wait_for_selector("text=Nobody plays a board twice.")
        photograph(page, "desk-plan")
        accessible(page, "plan")
        fits(page, "plan")
        before = len(one.cells())
        page.click("#planchange")
        page.wait_for_selector("[data-undo='A0']")
        assert len(one.cells()) < before
        page.once("dialog", lambda dialog: dialog.accept())
        page.click("[data-undo='A0']")
        page.wait_for_selector("text=taken back")
        assert len(one.cells()) == before
        page.click("nav >> text=End")
        page.click("#publish")
        page.wait_for_selector("text=Law 79C")
        photograph(page, "desk-end")
        accessible(page, "end")
        fits(page, "end")
        page.fill("#folder", str(tmp_path / "no stick"))
        page.click("#backuphere")
        page.wait_for_selector("text=there is no such folder")
        stick = tmp_path / "stick"
        stick.mkdir()
        page.fill("#folder", str(stick))
        page.click("#backuphere")
        page.wait_for_selector("text=Written and read back")
        assert [path.suffix for path in stick.iterdir()] == [".db"]
        speaks_polish(page)
        viewer = phone(found, f"{one.url}/desk#{one.api('/codes')['viewer']}")
        viewer.wait_for_selector(".grid")
        assert viewer.locator("[data-view='setup']").count() == 0
        for view in ("end", "plan", "terminals"):
            viewer.click(f"[data-view='{view}']")
            viewer.wait_for_selector("main h2")
            assert viewer.locator("#publish, #planchange, #keepsettings, #stick, a[href='/cards']").count() == 0, view
        public = phone(found, f"{one.url}/results")
        public.wait_for_selector("td.place")
        photograph(public, "results-ranking")
        accessible(public, "results")
        fits(public, "results")
        public.wait_for_selector(".chart .line")
        public.click("td a >> nth=0")
        public.wait_for_selector(".chart .own")
        photograph(public, "results-scorecard")
        accessible(public, "scorecard")
        fits(public, "scorecard")
        public.click("td a >> nth=0")
        public.wait_for_selector(".chart .bar")
        photograph(public, "results-board")
        accessible(public, "board")
        fits(public, "board")


def test_a_pair_accepts_with_its_own_code(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        one.api("/actions/settings", {"settings": {"confirm_code": True}})
        page = phone(found, one.table(1))
        start_round(page)
        for board, code in ((1, "42"), (2, "41"), (2, "42")):
            if page.get_attribute("#screen", "data-at") != "accept":
                page.wait_for_selector("#nextboard, [data-board]")
                page.evaluate("history.pushState({at: 'boards'}, ''); dispatchEvent(new PopStateEvent('popstate'))")
                at(page, "boards")
                key_in(page, board, 1, "N", "N", 7)
            page.fill("#code", code)
            page.click("#accept")
            if (board, code) == (2, "41"):
                page.wait_for_selector("text=not the code of this pair")
            else:
                page.wait_for_selector("#state.good")
        page.wait_for_selector("#sent >> text=received")
        assert sum(c["state"] == "confirmed" for c in one.cells()) == 2
        # Each acceptance is a record of its own, and its proof belongs to exactly that result.
        with contextlib.closing(sqlite3.connect(tmp_path / "events.db")) as store:
            assert store.execute("SELECT kind, count(*) FROM table_event GROUP BY kind").fetchall() == [("accepted", 2)]
        assert not [alert for alert in one.api("/desk")["alerts"] if alert["kind"] in ("check", "alarm")]


def test_names_that_look_like_code_are_only_names(found: Any, tmp_path: Path) -> None:
    nasty = "<img src=x onerror=alert(1)>"
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        alerts: list[str] = []
        page = phone(found, one.table(1))
        page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
        at(page, "round")
        page.click("button:has-text('Names')")
        page.fill("#player0", nasty)
        page.click("#savenames")
        results(one, 4)
        desk = desktop(found, f"{one.url}/desk#{one.code}")
        desk.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
        desk.click("nav >> text=Ranking")
        desk.wait_for_selector(f"text={nasty}")
        assert alerts == []
        assert desk.locator("img[src='x']").count() == 0


def test_a_playing_director_sees_that_it_is_entered_and_nothing_else(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        one.api("/actions/settings", {"settings": {"playing_director": ["A1"]}})
        other = next(c for c in one.cells() if 1 not in (c["ns"], c["ew"]))
        key = {name: other[name] for name in ("section", "board", "ns", "ew")}
        one.api("/actions/correct", {**key, "contract": "6HX", "declarer": "E", "tricks": "=", "actor": "Bob"})
        desk = desktop(found, f"{one.url}/desk#{one.code}")
        desk.click("nav >> text=Boards")
        desk.click(f"[aria-label='Board {other['board']}']")
        desk.wait_for_selector("td >> text=veiled")
        photograph(desk, "desk-veiled")
        for path in ("/desk", "/results", "/export", f"/boards/A/{other['board']}", "/ranking", "/rounds"):
            text = json.dumps(one.api(path))
            assert "6HX" not in text, path
            assert not re.search(r'"score": -?1\d\d\d', text), path
        desk.on("dialog", lambda dialog: dialog.accept())
        desk.click("text=Reveal it")
        desk.wait_for_selector("td >> text=6")
        assert any(item["kind"] == "reveal" for item in one.api("/log"))


def test_pages_are_light_and_the_dealing_screen_says_when_it_has_no_machine(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        for path, ready in (
            ("/desk", "form"),
            ("/deal", "form"),
            ("/results", "main .card"),
            (one.table(1).removeprefix(one.url), "#start"),
        ):
            context = found.new_context(viewport=PHONE)
            page = context.new_page()
            sizes: list[int] = []
            page.on(
                "response",
                lambda r, sizes=sizes: sizes.append(len(r.body()) if r.status == 200 and "stream" not in r.url else 0),
            )
            page.goto(one.url + path)
            page.wait_for_selector(ready)
            page.wait_for_timeout(300)
            assert 0 < sum(sizes) < 150_000, (path, sum(sizes))
            assert len(sizes) <= 20, (path, len(sizes))
            accessible(page, path.partition("/t/")[0] or "terminal")
            context.close()
        page = desktop(found, f"{one.url}/desk#{one.code}")
        page.wait_for_selector(".grid")
        page.goto(f"{one.url}/deal")
        page.click("#generate")
        page.wait_for_selector("#startdeal")
        photograph(page, "deal-begin")
        accessible(page, "deal")
        fits(page, "deal")
        page.click("#startdeal")
        page.wait_for_selector("text=no dealing machine is named")
        # Another site can't show a page of ours in a frame of its own.
        page.goto("about:blank")
        page.set_content(f"<iframe src='{one.url}/results'></iframe>")
        page.wait_for_timeout(300)
        assert "results" not in [frame.url.rpartition("/")[2] for frame in page.frames]


def test_individuals_and_teams_are_called_what_they_are(found: Any, tmp_path: Path) -> None:
    with service(tmp_path) as one:
        one.api("/setup/start", {"name": "Individual", "spec": "individual:8x2"})
        page = phone(found, one.table(1))
        at(page, "round")
        assert page.locator(".pairs dd >> text=Player").count() == 4
        photograph(page, "terminal-individual", sizes=("phone",))
        accessible(page, "individual")
        start_round(page)
        for board in (1, 2):
            if board == 2:
                page.click("#nextboard")
                at(page, "contract")
                page.click("#pass")
            else:
                page.click("[data-board='1']")
                page.click(".k7 button:nth-child(3)")
                page.click(".k5 button:nth-child(5)")
                page.click("#next")
                assert page.locator(".compass button >> text=Player").count() == 4
                page.click("[data-seat='S']")
                page.click("#nolead")
                page.click("[data-tricks='9']")
            accept(page)
            page.wait_for_selector("#state.good")
        page.click("#endround")
        assert page.locator(".card dt >> text=Player").count() == 4, "each of the four is told where to go"
        page.click("#more")
        page.click("[data-recap] >> nth=2")
        page.wait_for_selector("#screen[data-at='recap'] td >> text=3NT")
        accessible(page, "own boards")
        results(one, len(one.cells()))
        one.api("/actions/publish", {"actor": "Ann"})
        public = phone(found, f"{one.url}/results")
        public.wait_for_selector("th >> text=Player")
        public.click("td a >> nth=0")
        public.wait_for_selector("th >> text=Partner")
        one.api("/setup/start", {"name": "League", "spec": "round-robin:4x2", "instead": True})
        table = phone(found, one.table(2))
        at(table, "round")
        assert table.locator(".pairs dd >> text=Team").count() == 2
        photograph(table, "terminal-teams", sizes=("phone",))
        desk = desktop(found, f"{one.url}/desk#{one.code}")
        desk.click("nav >> text=Ranking")
        desk.wait_for_selector("th >> text=Team")
        accessible(desk, "ranking of teams")
