"""The rulings page in a real browser: the effect before the ruling, the list, an appeal, another way of scoring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from web_browser import DESKTOP, PATIENCE_MS, accessible, fits, service

pytestmark = pytest.mark.external("chromium")


def test_a_ruling_is_seen_before_it_counts(found: Any, tmp_path: Path) -> None:
    with service(tmp_path, "--tables", "3", "--boards", "6") as one:
        for ns, ew, tricks in ((1, 4, "="), (2, 6, "+1"), (3, 5, "-1")):
            body = {"section": "A", "board": 1, "ns": ns, "ew": ew, "contract": "4S N", "tricks": tricks}
            one.api("/actions/correct", {**body, "actor": "Ann"})
        page = found.new_context(viewport=DESKTOP, locale="en-GB").new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{one.url}/desk#{one.code}")
        page.click("[data-view='boards']")
        page.click("[aria-label='Open: 1 against 4']")
        page.click("[data-form='ruling']")
        assert page.is_disabled("#confirmruling"), "first the effect"
        page.fill("#r_score", "60% +420, 50% -50")
        page.fill("#actor", "Anna")
        page.fill("#note", "Hesitation before the save")
        page.click("#previewruling")
        page.wait_for_selector("text=sum to 11/10, not to 1")
        assert page.is_disabled("#confirmruling")
        page.fill("#r_score", "60% +420, 40% -50")
        page.click("#previewruling")
        page.wait_for_selector("#confirmruling:enabled")
        accessible(page, "ruling form")
        page.fill("#note", "Hesitation before the sacrifice")
        assert page.is_disabled("#confirmruling"), "what was changed is looked at again"
        page.click("#previewruling")
        page.click("#confirmruling:enabled")
        page.wait_for_selector(".trail >> text=60% +420, 40% -50")
        page.click("#closepanel")
        page.click("[data-view='rulings']")
        page.wait_for_selector("[data-ruling] >> text=Law 12C1(c)")
        accessible(page, "rulings")
        fits(page, "rulings")
        page.click("[data-ruling] >> text=Appeal")
        page.fill("#a_pair", "4")
        page.check("#a_agreed")
        page.fill("#actor", "Anna")
        page.click("#sendappeal")
        page.wait_for_selector("[data-ruling] >> text=under appeal")
        page.click("[data-ruling] >> text=Upheld")
        page.wait_for_selector("[data-ruling] .tag:has-text('upheld')")
        page.click("[data-form='scoring-now']")
        page.select_option("#sc_method", "cross_imps")
        page.fill("#actor", "Anna")
        page.click("#previewruling")
        page.click("#confirmruling:enabled")
        page.wait_for_selector("#sc_method", state="detached")
        assert one.api("/scoring")["method"] == "cross_imps"
        assert {row["state"] for row in one.api("/rulings")["rulings"]} == {"upheld"}
        page.click("[data-form='fouled']")
        page.fill("#f_board", "1")
        page.select_option("#f_marked", "EW")
        page.fill("#note", "Cards exchanged")
        page.click("#previewruling")
        accessible(page, "fouled board")
        page.click("#confirmruling:enabled")
        page.wait_for_selector("[data-ruling] >> text=Law 87")
        page.wait_for_selector("[data-ruling] >> text=marked EW vulnerable")
        page.click("[data-undo-ruling] >> nth=0")
        page.wait_for_selector("[data-ruling] >> text=Law 87", state="detached")
