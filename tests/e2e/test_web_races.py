"""Answers that come late, in another order, or not at all, and fingers that are quicker than the page.

Answers are held back here until a test lets them go, so that nothing depends on how quick a machine is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from web_browser import DESKTOP, GATE, PATIENCE_MS, accept, at, held, key_in, phone, service, start_round

pytestmark = pytest.mark.external("chromium")

FULL = """
    self.put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); };
    0;
"""
CLOSED = """
    const real = IDBDatabase.prototype.transaction;
    IDBDatabase.prototype.transaction = function (...what) {
      IDBDatabase.prototype.transaction = real;
      throw new DOMException("closed", "InvalidStateError");
    };
    0;
"""
BASE = "import(document.querySelector('script[type=module]').src.replace(/[^/]+$/, 'base.js'))"
DESK = "import(document.querySelector('script[type=module]').src.replace(/[^/]+$/, 'desk.js'))"


def show(page: Any, step: str) -> None:
    page.evaluate(f"history.pushState({step}, ''); dispatchEvent(new PopStateEvent('popstate'))")


def test_a_phone_that_is_touched_twice_and_answered_late(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        one.api("/actions/settings", {"settings": {"director_pin": "1234"}})
        (tmp_path / "players.csv").write_text("number,name\n12,Zofia Maj\n13,Zygmunt Lis\n", encoding="utf-8")
        page = phone(found, one.table(1))
        page.on("dialog", lambda dialog: dialog.accept())
        at(page, "round")
        page.wait_for_selector("#sent >> text=connected")
        page.evaluate(GATE)

        # names: what was found for fewer letters comes after what was found for more
        page.click("button:has-text('Names')")
        page.evaluate("hold('players')")
        page.fill("#player0", "z")
        held(page)
        page.fill("#player0", "zo")
        page.wait_for_selector("button:has-text('Zofia Maj')")
        page.evaluate("release()")
        assert page.locator("button:has-text('Zygmunt Lis')").count() == 0
        page.click("text=Later")

        # "not played": the PIN is looked at while the players have gone on to another board
        start_round(page)
        page.click("[data-board='1']")
        page.wait_for_selector("#pass")
        page.click("button:has-text('Not played')")
        page.fill("#pin", "1234")
        page.evaluate("hold('table/pin')")
        page.click("button:has-text('Next')")
        held(page)
        page.click("button:has-text('Next')")
        page.go_back()
        page.go_back()
        page.click("[data-board='2']")
        at(page, "contract")
        page.evaluate("release()")
        assert page.get_attribute("#screen", "data-at") == "contract"
        show(page, "{at: 'boards', round: 1}")
        at(page, "boards")
        assert page.locator("button.done").count() == 0, "nothing is stored for a board that they had left"

        # a double tap on the number of tricks is no acceptance by the other side
        key_in(page, 1, 4, "H", "W", 9)
        page.click("#change")
        at(page, "result")
        page.evaluate(
            """() => {
              const tap = (what, detail) => document.querySelector(what).dispatchEvent(
                new MouseEvent("click", { bubbles: true, cancelable: true, detail }));
              tap("[data-tricks='9']", 1);
              tap("#accept", 2);
            }"""
        )
        at(page, "accept")
        page.click("#accept")
        at(page, "stored")
        page.wait_for_selector("#state.good")

        # a full log says so, and one that the browser has closed is opened anew
        page.click("#nextboard")
        at(page, "contract")
        page.click("#pass")
        at(page, "accept")
        page.evaluate(FULL)
        page.click("#accept")
        page.wait_for_selector(".note.bad:has-text('could not keep')")
        page.evaluate("IDBObjectStore.prototype.put = self.put; 0")
        page.evaluate(CLOSED)
        accept(page)
        page.wait_for_selector("#state.good")

        # two touches on "next round" before the page has moved are one round
        page.click("#endround")
        at(page, "roundEnd")
        page.evaluate(
            "(async () => { const one = document.querySelector('#nextround'); one.click();"
            " await Promise.resolve(); await Promise.resolve(); one.click(); })()"
        )
        page.wait_for_selector("#screen[data-at='round'] h1:has-text('Round 2')")
        # a director's call that is tapped twice is a call
        page.click("#call", click_count=2)
        one.until(lambda cells: bool(one.api("/desk")["calls"]))
        page.wait_for_selector("#call.danger")
        states = {(c["board"], c["text"]) for c in one.cells() if c["state"] != "missing"}
        assert states == {(1, "4H W-1"), (2, "Pass")}


def test_what_every_page_uses_when_news_comes_at_the_wrong_moment(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        page = found.new_context(viewport=DESKTOP, locale="en-GB").new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{one.url}/desk")
        page.wait_for_selector("#code")
        drawn = page.evaluate(
            f"""(async () => {{
              const {{ whenUntouched, newestOnly, keepFocus, h }} = await {BASE}, out = [];
              whenUntouched("a", () => out.push("free"));
              dispatchEvent(new Event("pointerdown"));
              whenUntouched("a", () => out.push("first"));
              whenUntouched("a", () => out.push("last"));
              out.push("touched");
              dispatchEvent(new Event("pointerup"));
              await new Promise((done) => setTimeout(done, 200));
              const asking = newestOnly(), one = asking(), two = asking();
              out.push(one(), two());
              const place = document.querySelector("main");
              const row = (name) => h("li", {{}}, name, h("button", {{}}, "Coming"));
              place.replaceChildren(row("A1"), h("input", {{ id: "words" }}));
              place.querySelector("button").focus();
              document.getElementById("words").value = "half a sent";
              keepFocus(place, [row("B2"), row("A1"), h("input", {{ id: "words" }})], {{ typed: true }});
              out.push(document.activeElement.closest("li").textContent, document.getElementById("words").value);
              return out;
            }})()"""
        )
        assert drawn == ["free", "touched", "last", False, True, "A1Coming", "half a sent"]

        told = page.evaluate(
            f"""(async () => {{
              const {{ heard, loadWords, said }} = await {BASE};
              await loadWords("pl");
              const found = [
                "Three-quarter Howell, 8 tables, 15 pairs (one sits out), 13 rounds of 2",
                "North-South stay. East-West move up one table through the whole room. 2 copies of every board.",
                "3 plays board 7 in rounds 2 and 5 (Law 15).",
                "Another movement: Swiss pairs, 12 pairs, 1 round of 5 drawn",
              ].map((text) => said(text));
              for (const text of ["This terminal needs a key. Call the director.", "Round 1 is over, boards to me"])
                found.push(heard(text));
              await loadWords("en");
              return [...found, said("Boards stay.")];
            }})()"""
        )
        assert told == [
            "Howell skrócony (3/4), 8 stołów, 15 par (jedna pauzuje), 13 rund po 2",
            "NS zostają. EW idą o stół w górę przez całą salę. Kopii każdego rozdania: 2.",
            "3 gra rozdanie 7 w rundach 2 i 5 (przepis 15).",
            "Inny ruch: Szwajcar par, 12 par, 1 runda po 5 losowanych",
            "Ten terminal potrzebuje klucza. Wezwij sędziego.",
            "Round 1 is over, boards to me",
            "Boards stay.",
        ]

        # the desk: every table has played board 1
        for cell in (one for one in one.cells() if one["board"] == 1):
            key = {name: cell[name] for name in ("section", "board", "ns", "ew")}
            one.api("/actions/correct", {**key, "contract": "3NT", "declarer": "N", "tricks": "=", "actor": "Ann"})
        page.goto(f"{one.url}/desk#{one.code}")
        page.wait_for_selector("[data-view='boards']")
        page.evaluate(GATE)

        # a result whose answer comes when another one is open, or the panel was closed
        page.click("[data-view='boards']")
        page.wait_for_selector("tr.click")
        page.evaluate("hold('/play?')")
        page.click("tr.click >> nth=0 >> button")
        held(page)
        page.click("#closepanel")
        page.evaluate("release()")
        assert not page.is_visible("#panel")
        page.evaluate("hold('/play?')")
        page.click("tr.click >> nth=0 >> button")
        held(page)
        page.click("#closepanel")
        page.click("tr.click >> nth=1 >> button")
        page.wait_for_selector("[data-form='ruling']")
        title = page.inner_text("#paneltitle")
        page.evaluate("release()")
        assert page.inner_text("#paneltitle") == title

        # a preview of what has been written over since
        page.click("[data-form='ruling']")
        page.fill("#r_score", "60% +420, 40% -50")
        page.fill("#note", "Hesitation")
        page.evaluate("hold('ruling/preview')")
        page.click("#previewruling")
        held(page)
        page.fill("#r_score", "100% -2000")
        page.evaluate("release()")
        assert page.is_disabled("#confirmruling")
        page.click("#closepanel")

        # an older state of the room after a newer one
        page.evaluate("hold('/desk')")
        page.evaluate(f"(async () => (await {DESK}).reload(0))()")
        held(page)
        body = {"section": "A", "pair": 1, "amount": "-1/4", "unit": "top", "reason": "late", "actor": "Ann"}
        one.api("/actions/penalty", body)
        page.evaluate(f"(async () => {{ await (await {DESK}).again('plan'); }})()")
        page.wait_for_selector("li:has-text('late')")
        page.evaluate("release()")
        assert page.evaluate(f"(async () => (await {DESK}).D.data.event.penalties.length)()") == 1

        # an act that was done whose news can't be fetched has not failed
        page.fill("#pen_pair", "2")
        page.fill("#pen_reason", "noise")
        page.route("**/api/v1/desk", lambda route: route.abort())
        page.click("button:has-text('Give it')")
        one.until(lambda cells: len(one.api("/desk")["event"]["penalties"]) == 2)
        one.until(lambda cells: page.input_value("#pen_reason") == "")
        assert page.locator(".note.bad").count() == 0
        page.unroute("**/api/v1/desk")

        # an act that was done whose own answer got lost is done once, however often it is asked for
        def lose(route: Any) -> None:
            route.fetch()
            route.abort()

        page.wait_for_selector("li:has-text('noise')")
        page.fill("#pen_pair", "2")
        page.fill("#pen_reason", "slow play")
        page.route("**/api/v1/actions/penalty", lose, times=1)
        page.click("button:has-text('Give it')")
        page.wait_for_selector(".note.bad")
        page.fill("#pen_pair", "2")
        page.fill("#pen_reason", "slow play")
        page.click("button:has-text('Give it')")
        one.until(lambda cells: page.input_value("#pen_reason") == "")
        assert len(one.api("/desk")["event"]["penalties"]) == 3

        # settings that another desk has changed meanwhile stay as it has set them
        page.wait_for_selector("li:has-text('noise')")
        one.api("/actions/settings", {"settings": {"traveller": False}})
        page.uncheck("#s_lead")
        page.click("#keepsettings")
        one.until(lambda cells: one.api("/desk")["event"]["settings"]["lead"] is False)
        assert one.api("/desk")["event"]["settings"]["traveller"] is False

        # a change of plan that was looked at before another one came is looked at again
        page.wait_for_selector("#s_traveller:not(:checked)")
        page.click("[data-plan='renumbered']")
        page.fill("#p_number", "91")
        page.click("#planpreview")
        page.wait_for_selector("text=Nobody plays a board twice.")
        one.api("/plan/change", {"section": "A", "event": {"kind": "renumbered", "pair": 2, "number": 92, "round": 1}})
        page.click("#planchange")
        page.wait_for_selector("[role='alert']:has-text('has changed since it was looked at')")
        page.click("#planpreview")
        page.wait_for_selector("text=Nobody plays a board twice.")
        page.click("#planchange")
        page.wait_for_selector("[data-undo='A1']")

        # rows of a section that is not asked for any more, and a file that is ready when another view is open
        page.click("[data-view='end']")
        page.wait_for_selector("#publish")
        page.evaluate("hold('/export')")
        page.click("button:has-text('JSON')")
        held(page)
        page.evaluate(
            "self.later = self.setTimeout; self.setTimeout = (work, wait, ...more) => later(work, wait / 8, ...more)"
        )
        page.click("[data-view='plan']")
        page.wait_for_selector("#keepsettings")
        page.evaluate("release()")
        page.wait_for_timeout(300)
        assert page.get_attribute("[data-view='plan']", "aria-current") == "page"
