"""What a director does beside the usual, in a real browser: sections with files of their own, a Swiss draw, names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from web_browser import DESKTOP, PATIENCE_MS, accessible, fits, service

from terminals.movement import written
from terminals.movement.catalog import build

pytestmark = pytest.mark.external("chromium")


def test_sections_a_draw_and_a_round_that_went_wrong_on_the_desks_pages(found: Any, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(written.to_yaml(build("howell:3x3")))
    with service(tmp_path / "data") as one:
        page = found.new_context(viewport=DESKTOP, locale="en-GB").new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{one.url}/desk#{one.code}")
        page.wait_for_selector("#beginsections")
        page.fill("#sec_text_0", "swiss-pairs:6x5")
        page.click("#addsection")
        page.select_option("#sec_source_1", "file")
        page.set_input_files("#sec_file_1", own)
        page.fill("#sec_boards_1", "17-31")
        page.click("#checksections")
        page.wait_for_selector("text=17-31")
        accessible(page, "sections")
        fits(page, "sections")
        page.click("#beginsections")
        page.wait_for_selector("nav [data-view='terminals'][aria-current='page']")
        sections = {s["section"]: s for s in one.api("/plan")["sections"]}
        assert sections["A"]["swiss"] is True
        assert sections["B"]["boards"] == "17-31"
        for cell in one.cells():
            if cell["section"] == "A":
                key = {name: cell[name] for name in ("section", "board", "ns", "ew")}
                one.api(
                    "/actions/correct", {**key, "contract": "1NT N", "tricks": str(7 + cell["table"]), "actor": "A"}
                )
        page.click("nav [data-view='plan']")
        page.click("#draw_preview_A")
        page.wait_for_selector("text=Table 3:")
        page.click("#draw_it_A")
        page.wait_for_selector("text=Round 2 drawn")
        assert one.api("/plan")["sections"][0]["rounds"] == 2
        page.fill("#names", "1;Anna Nowak;Jan Kot")
        page.click("#keepnames")
        one.until(lambda cells: {p["name"] for p in one.api("/people")} == {"Anna Nowak", "Jan Kot"})
        one.until(lambda cells: page.input_value("#names") == "")  # the page has been drawn anew
        # two pairs of section B sat down at each other's table
        page.click("[data-plan='played-as']")
        page.select_option("#p_section", "B")
        seats = [page.input_value(f"#pa_ew_{table}") for table in (2, 3)]
        page.fill("#pa_ew_2", seats[1])
        page.fill("#pa_ew_3", seats[0])
        page.click("#planpreview")
        page.wait_for_selector("text=Nobody plays a board twice")
        accessible(page, "plan")
        page.click("#planchange")
        page.wait_for_selector("[data-undo='B0']")
        assert one.api("/plan")["sections"][1]["events"][0]["kind"] == "played-as"
        # sections that are one field; what else is on the form stays as it is
        page.fill("#s_fields", "a+b")
        page.click("#keepsettings")
        one.until(lambda cells: one.api("/desk")["event"]["settings"]["fields"] == ["A+B"])
        one.until(lambda cells: page.input_value("#s_fields") == "A+B")
