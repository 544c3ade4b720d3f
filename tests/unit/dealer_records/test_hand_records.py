"""Hand records: what is on them, the same bytes twice, and double dummy from a worker, a cache, or not at all."""

import base64
import json
import re
import zlib

import pytest

from dealer.board import Board
from dealer.cards import Seat
from dealer.deal import Deal
from dealer.formats.api import WriteOptions, read_deals, write_deals
from dealer.generate import Origin, SeededBytes, generate
from dealer.records import double_dummy, pdf
from dealer.records.content import RecordPage, high_card_points, record_boards
from dealer.records.double_dummy import Solver, find_library, tables_of
from dealer.records.fonts import width_of
from dealer.records.html import record_html, sheet_html
from dealer.records.pbn_record import record_pbn
from dealer.records.pdf import record_pdf, sheet_pdf
from dealer.store.dd_cache import MIGRATIONS, load_tables, store_tables
from firmware_bridge.cli.main import main
from firmware_bridge.db import Database
from firmware_bridge.errors import DealError

BOARDS = generate(range(1, 37), SeededBytes("records"))
PAGE = RecordPage("Klub Żółw", "Pairs & <teams>", "2026-01-02", "0011223344556677", "ABCD-EFGH-IJKL-MNOP")
TRICKS = ((9, 3, 9, 3), (6, 7, 6, 7), (7, 6, 7, 6), (9, 3, 9, 3), (10, 3, 9, 3))
TABLES = {board.deal: TRICKS for board in BOARDS}
needs_library = pytest.mark.skipif(find_library() is None, reason="no double-dummy library is installed")


def pdf_text(data):
    """The strings of a PDF's pages, in order of drawing."""
    words = []
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
        if not stream.strip().endswith(b"~>"):
            continue  # an embedded typeface
        content = zlib.decompress(base64.a85decode(b"<~" + stream.strip(), adobe=True))
        words += re.findall(r"\((.*?)(?<!\\)\) Tj", content.decode("latin-1"))
    return words


def test_pdf_is_repeatable_and_has_every_board():
    items = record_boards(BOARDS, TABLES)
    data = record_pdf(items, PAGE)
    assert data == record_pdf(items, PAGE)
    assert data.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", data)) == 3
    assert len(re.findall(rb"/Type /Page\b", record_pdf(items, PAGE, per_page=15))) == 3
    assert len(re.findall(rb"/Type /Page\b", record_pdf(items[:30], PAGE, per_page=15))) == 2
    words = pdf_text(data)
    for board in BOARDS:
        assert str(board.number) in words
    assert any(word.startswith("Fingerprint ABCD-EFGH-IJKL-MNOP") for word in words)
    assert words.count("HCP") == 36
    assert "Par NS +430: 3NT-N +1" in words


def test_pdf_draws_every_hand_once():
    words = pdf_text(record_pdf(record_boards(BOARDS[:1], {}), PAGE))
    deal = BOARDS[0].deal
    for seat in range(4):
        for suit in range(4):
            held = deal.holding(seat, suit).replace("T", "10")
            if held:
                assert held in words
    assert not any(word.startswith("Par") for word in words)


def test_sheet_sends_every_card_to_its_seat():
    words = pdf_text(sheet_pdf(BOARDS[:1], PAGE))
    letters = [word for word in words if word in ("N", "E", "S", "W")]
    assert letters == ["NESW"[owner] for owner in BOARDS[0].deal.owners]
    page = sheet_html(BOARDS[:1], PAGE).decode()
    assert re.findall(r"<td>([NESW])</td>", page) == letters


def test_html_is_escaped_and_complete():
    page = record_html(record_boards(BOARDS, TABLES), PAGE).decode()
    assert "Pairs &amp; &lt;teams&gt;" in page
    assert "Klub Żółw" in page
    assert page.count("<article>") == 36
    assert "@media print" in page
    assert "http" not in page
    assert "Par NS +430: 3NT-N +1" in page


def test_pbn_record_carries_tables_and_reads_back():
    data = record_pbn(record_boards(BOARDS, TABLES), WriteOptions(set_id="0011223344556677", origin=Origin.OWN))
    text = data.decode()
    digits = re.findall(r'\[DoubleDummyTricks "([0-9a-d]{20})"\]', text)
    assert set(digits) == {"a9679" + "99679" + "33763" + "33763"}
    assert '[OptimumScore "NS 430"]' in text
    table = text.split('[OptimumResultTable "Declarer;Denomination\\2R;Result\\2R"]\r\n')[1].split("\r\n")[:20]
    assert table[0] == "N NT 10"
    assert table[-1] == "W  C  3"
    assert len({row[:4] for row in table}) == 20
    result = read_deals(data)
    assert list(result.boards) == BOARDS
    assert result.problems == ()
    assert result.repairs == ()


def test_points():
    deal = Deal.from_pbn("N:AKQJ.AKQJ.AKQJ.A T987.T987.T987.T 6543.6543.6543.9 2.2.2.KQJ8765432")
    assert [high_card_points(deal, seat) for seat in range(4)] == [34, 0, 0, 6]


@needs_library
def test_worker_solves_in_its_own_process():
    """Suits that fall to one hand: what must come out can be said without a solver."""
    own_suits = Deal.from_pbn("N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432")
    mirrored = Deal.from_pbn("N:AKQJT9.8765432.. 8765432.AKQJT9.. ..AKQJT9.8765432 ..8765432.AKQJT9")
    with Solver(find_library() or "", threads=1) as solver:
        first, second = solver.solve([own_suits, mirrored])
        [(again, words)] = solver.solve_with_par([own_suits], 0)
    assert first[0] == (13, 0, 13, 0)
    assert first[1] == (0, 13, 0, 13)
    assert first[4] == (0, 0, 0, 0)
    assert again == first
    assert words[0].startswith("NS") or words[0].startswith("EW")
    assert len(second) == 5


@needs_library
def test_worker_that_dies_is_an_error_and_not_a_crash():
    with Solver(find_library() or "", threads=1) as solver:
        solver._process.kill()
        with pytest.raises(DealError) as caught:
            solver.solve([BOARDS[0].deal])
    assert caught.value.code == "double-dummy"
    with Solver("/no/such/library.so") as solver, pytest.raises(DealError):
        solver.solve([BOARDS[0].deal])


def test_cache_is_asked_first_and_holds_no_deal(tmp_path):
    database = Database.open(tmp_path / "cache.db", MIGRATIONS)
    store_tables(database, TABLES)
    deals = [board.deal for board in BOARDS]
    seen = []
    found = tables_of(
        deals,
        load=lambda wanted: load_tables(database, wanted),
        progress=lambda done, total: seen.append((done, total)),
        library="/no/such/library.so",
    )
    assert found == TABLES
    assert seen == [(36, 36)]
    database.close()
    content = (tmp_path / "cache.db").read_bytes()
    for deal in deals:
        assert deal.index.to_bytes(12, "big") not in content
        assert deal.routing not in content


def test_record_without_a_library_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(double_dummy, "find_library", lambda: None)
    source = tmp_path / "a.pbn"
    data = ["--data", str(tmp_path / "data")]
    assert main(["deal", "generate", "--boards", "1-3", "--out", str(source), *data]) == 0
    capsys.readouterr()
    for name in ("a.pdf", "a.html", "r.pbn"):
        code = main(["deal", "record", str(source), "--out", str(tmp_path / name), "--json", *data])
        report = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert (code, report["double_dummy"]) == (0, 0)
        assert "No double-dummy library" in report["note"]
        assert (tmp_path / name).stat().st_size > 500
    assert "Without makeable contracts" in (tmp_path / "a.html").read_text()
    assert any(word.startswith("Without makeable") for word in pdf_text((tmp_path / "a.pdf").read_bytes()))
    code = main(["deal", "record", str(source), "--out", str(tmp_path / "sheet.pdf"), "--sheet", "--json", *data])
    assert code == 0
    assert main(["deal", "record", str(source), "--out", str(tmp_path / "a.doc"), "--json", *data]) == 2
    capsys.readouterr()


@pytest.mark.parametrize(("maker", "name"), [("duplimate", "x.dlm"), ("duplimate", "x.dup"), ("dealer4", "x.pbn")])
def test_export_for_other_makers(tmp_path, capsys, maker, name):
    source, out = tmp_path / "a.pbn", tmp_path / name
    data = ["--data", str(tmp_path / "data")]
    main(["deal", "generate", "--boards", "11-20", "--out", str(source), *data])
    capsys.readouterr()
    code = main(["deal", "export", str(source), "--for", maker, "--out", str(out), "--json"])
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (code, report["first"], report["last"]) == (0, 11, 20)
    assert read_deals(out.read_bytes()).boards == read_deals(source.read_bytes()).boards
    assert (tmp_path / "x-record.pdf").exists()
    assert main(["deal", "export", str(source), "--for", maker, "--out", str(tmp_path / "x.bri"), "--json"]) == 2
    capsys.readouterr()


LONG = Deal.from_pbn("N:AKQJT9876543.2.. 2.AKQJT987654.2. .3.AKQJT9876.432 ..543.AKQJT98765")
"""Every hand has a suit that no other hand has in the same length."""


@pytest.mark.parametrize("per_page", [12, 15])
def test_long_suits_stay_in_their_place_and_are_never_cut(monkeypatch, per_page):
    drawn = []
    draw = pdf._Canvas.text

    def text(paper, x, y, words, size, **how):
        drawn.append((x, x + width_of(words, size), words))
        draw(paper, x, y, words, size, **how)

    monkeypatch.setattr(pdf._Canvas, "text", text)
    boards = [Board(1, LONG.turned(1)), Board(2, LONG)]
    record_pdf(record_boards(boards, {board.deal: TRICKS for board in boards}), PAGE, per_page=per_page)
    cell = (595.28 - 2 * pdf.MARGIN) / 3
    for place, board in enumerate(boards):
        left = pdf.MARGIN + place * cell
        for seat in Seat:
            ranks = max((board.deal.holding(seat, suit).replace("T", "10") for suit in range(4)), key=len)
            [(start, end)] = [(a, b) for a, b, words in drawn if words == ranks and left < a < left + cell]
            # West ends before the compass, South before the table, the others within the board.
            limit = {Seat.WEST: 0.4, Seat.SOUTH: 0.65}.get(seat, 1.0)
            assert start < end < left + limit * cell
    page = record_html(record_boards(boards, {}), PAGE).decode()
    assert 'font-size: 53%">AKQJ109876543<' in page


def test_words_around_a_record_keep_clear_of_each_other_and_keep_their_letters(tmp_path, capsys):
    source = tmp_path / "a.pbn"
    main(["deal", "generate", "--boards", "1-3", "--seed", "1", "--title", "Żółw", "--out", str(source)])
    for name in ("a.pdf", "a.pbn", "b.pbn"):
        club = ["--club", "Players of the Old Town " * 4] if name == "a.pdf" else []
        title = ["--title", "The Championship of the Old Town Bridge Club and its Friends " * 3] if club else []
        assert main(["deal", "record", str(source), "--no-dd", "--out", str(tmp_path / name), *club, *title]) == 0
    words = [word for word in pdf_text((tmp_path / "a.pdf").read_bytes()) if len(word) > 20]
    assert all(word.endswith("...") for word in words if word.startswith(("The Champ", "Players")))
    assert len([word for word in words if word.endswith("...")]) == 2
    record = read_deals((tmp_path / "b.pbn").read_bytes())
    assert (record.title, record.repairs) == ("Żółw", ())
    assert read_deals(write_deals(BOARDS[:2], "pbn", WriteOptions(title="Zürich"))).repairs == ()
    capsys.readouterr()


def test_record_of_a_seeded_set_says_not_for_play(tmp_path, capsys):
    source = tmp_path / "a.pbn"
    main(["deal", "generate", "--boards", "1-3", "--seed", "1", "--out", str(source)])
    main(["deal", "record", str(source), "--no-dd", "--out", str(tmp_path / "a.pdf")])
    assert "NOT FOR PLAY \\(seeded\\)" in pdf_text((tmp_path / "a.pdf").read_bytes())
    capsys.readouterr()
    assert Board(1, BOARDS[0].deal) == BOARDS[0]
