"""The typeface: which letters it has, that it is embedded, and that a page has the same bytes on every machine."""

import io
import shutil
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from dealer.records.content import RecordPage, record_boards
from dealer.records.fonts import BOLD, REGULAR, fitted, printable, typeface, width_of
from dealer.records.pdf import record_pdf
from terminals.movement.cards import guide_cards, table_cards
from terminals.movement.catalog import build

NAME = "Łódź Żółw Ğş Ψυχή Щукин ♠♥♦♣"


def written(pdf, tmp_path):
    program = shutil.which("pdftotext")
    if program is None:
        pytest.skip("pdftotext is not installed")
    path = tmp_path / "x.pdf"
    path.write_bytes(pdf)
    return subprocess.run([program, str(path), "-"], capture_output=True, text=True, check=True).stdout


def test_every_letter_of_the_alphabets_is_there():
    blocks = ((0xA1, 0x180), (0x391, 0x3A2), (0x3B1, 0x3CA), (0x401, 0x460))
    wanted = [chr(c) for block in blocks for c in range(*block)]
    wanted = [letter for letter in wanted if letter != "\u00ad"]
    assert printable("".join(wanted)) == "".join(wanted)
    assert printable("ȘșȚțґҐẞ♠♥♦♣−–—„”’…€→") == "ȘșȚțґҐẞ♠♥♦♣−–—„”’…€→"


def test_letters_that_it_lacks_lose_their_accents():
    assert printable("Nguyễn Thị 日") == "Nguyen Thi ?"
    assert printable("Z\u0307o\u0301łw") == "Żółw"
    assert printable("a\x00\n\tb\u200f") == "a b"
    assert printable("") == ""


@given(st.text(max_size=40), st.floats(1, 300), st.booleans())
def test_fitted_text_fits_and_can_be_drawn(text, width, bold):
    shown = fitted(text, 9, width, bold=bold)
    assert width_of(shown, 9, bold=bold) <= width
    assert {ord(letter) for letter in shown} <= typeface().known
    if width_of(printable(text), 9, bold=bold) <= width:
        assert shown == printable(text)
    canvas = Canvas(io.BytesIO())
    canvas.setFont(BOLD if bold else REGULAR, 9)
    canvas.drawString(10, 10, shown)
    canvas.save()


def test_every_page_is_written_in_the_embedded_typeface(tmp_path):
    plan = build("mitchell:3x2")
    record = record_pdf(record_boards([], {}), RecordPage(NAME, NAME))
    for pdf in (guide_cards(plan, title=NAME), table_cards(plan, title=NAME)):
        assert NAME in written(pdf, tmp_path)
        assert b"/FontFile2" in pdf
    assert record.startswith(b"%PDF")


def test_the_same_bytes_in_another_process():
    script = (
        "import hashlib; from terminals.movement.catalog import build\n"
        "from terminals.movement.cards import guide_cards\n"
        f"print(hashlib.sha256(guide_cards(build('mitchell:3x2'), title={NAME!r})).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.parametrize("spec", ["individual:12x3", "individual:24x2", "rainbow:9x2", "mitchell:13x2,missing=ew"])
@pytest.mark.parametrize("page", ["a4", "letter"])
def test_nothing_on_a_card_is_cut(spec, page, tmp_path):
    plan = build(spec)
    for cards in (guide_cards, table_cards):
        found = written(cards(plan, page=page, title="x"), tmp_path)
        assert "..." not in found
        assert not [line for line in found.splitlines() if line.strip() == ","]
