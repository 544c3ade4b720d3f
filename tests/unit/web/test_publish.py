"""Results as static files: whatever is linked is there, numbers are those of the ranking, no script, two languages."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_table_looks import enter
from web_fakes import Client, service

from firmware_bridge.errors import EntryError
from firmware_bridge.web.pages import read_files
from firmware_bridge.web.pictures import distribution, rounds, signed
from firmware_bridge.web.publish import Board, publish
from firmware_bridge.web.words import Words, read_words

WORDS = read_words(read_files())


async def collect(client: Client) -> tuple[dict[str, Any], list[Board], list[dict[str, Any]], list[dict[str, Any]]]:
    async def ask(path: str) -> Any:
        found = await client.http.get(f"/api/v1{path}")
        assert found.status_code == 200, path
        return found.json()

    results = await ask("/public/results")
    boards, cards = [], []
    for section in results["sections"]:
        boards += [Board(await ask(f"/public/boards/{section['letter']}/{n}")) for n in section["boards"]]
        cards += [await ask(f"/public/pairs/{section['letter']}/{n}") for n in section["pairs"]]
    return results, boards, cards, await ask("/public/rounds")


@pytest.mark.parametrize("spec", ["mitchell:3x1", "round-robin:4x2", "individual:8x2"])
def test_every_link_leads_to_a_page_and_every_page_to_the_ranking(tmp_path: Path, spec: str) -> None:
    async def run() -> None:
        async with service(tmp_path, spec) as client:
            dealt = spec == "mitchell:3x1"
            if dealt:
                await client.post("/deal/generate", {"first": 1, "last": 3})
            await enter(client, (await client.get("/results")).json()["cells"], random.Random(5))
            with pytest.raises(EntryError):
                publish(tmp_path / "out", {"state": "live"}, [], [])
            await client.post("/actions/publish", {"actor": "Ann"})
            results, boards, cards, standings = await collect(client)
            for language in ("en", "pl"):
                out = tmp_path / language
                files = publish(out, results, boards, cards, standings, language)
                assert {path.name for path in out.iterdir()} == {path.name for path in files}
                linked = set()
                for path in files:
                    text = path.read_text(encoding="utf-8")
                    if path.suffix != ".html":
                        continue
                    assert f'<html lang="{language}">' in text
                    assert "<script" not in text
                    links = set(re.findall(r'href="([^"]+)"', text))
                    assert all((out / link).is_file() for link in links), (path.name, links)
                    linked |= links
                    ElementTree.fromstring(re.sub(r"&(ndash|larr);|<!doctype html>|<(meta|link)[^>]*>", "", text))
                assert linked == {path.name for path in files}
                index = (out / "index.html").read_text(encoding="utf-8")
                assert 'class="chart"' in index
                for group in results["groups"]:
                    for row in group["rows"]:
                        assert f"<td>{row['value']}</td>" in index
                page = (out / "board-A-1.html").read_text(encoding="utf-8")
                assert ("Rozdanie 1" in page) == (language == "pl")
                assert page.count('class="hand"') == (4 if dealt else 0)
                assert (WORDS[language].get("results.double-dummy") in page) is dealt
                assert 'class="chart"' in page
            with pytest.raises(EntryError):
                publish(tmp_path / "none", results, [], [], language="xx")

    asyncio.run(run())


@given(
    st.lists(
        st.tuples(st.integers(1, 20), st.lists(st.none() | st.floats(-300, 300), min_size=1, max_size=9)),
        max_size=12,
        unique_by=lambda one: one[0],
    ),
    st.sampled_from(("percent", "points")),
)
def test_a_chart_stays_in_its_frame(standings: list[tuple[int, list[float | None]]], kind: str) -> None:
    told = [{"section": "A", "pair": pair, kind: line} for pair, line in standings]
    text = rounds(told, WORDS["en"], own="A3")
    if not text:
        assert all(value is None for _, line in standings for value in line)
        return
    picture = ElementTree.fromstring(text)
    for line in picture.iter("polyline"):
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= 460
            assert 0 <= y <= 230


@given(st.lists(st.none() | st.integers(-7600, 7600), max_size=40))
def test_a_distribution_counts_every_score(scores: list[int | None]) -> None:
    text = distribution([{"score": score} for score in scores], Words("en", {}))
    known = [score for score in scores if score is not None]
    if not known:
        assert text == ""
        return
    texts = [one.text for one in ElementTree.fromstring(text).iter("text")]
    assert texts[::2] == [signed(score) for score in sorted(set(known), reverse=True)]
    assert sum(int(one or 0) for one in texts[1::2]) == len(known)
