"""Deal files as other programs write them, and as mail, editors and copying leave them: read right, or refused.

The deals are our own; the shapes are those of Bridge Composer, BBO and its hand viewer, Duplimate, and of files that
somebody made by hand.
"""

import random
import re
from functools import reduce
from operator import xor
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.board import Board
from dealer.bulk_read import check_regular_pbn
from dealer.cards import Seat
from dealer.formats.api import FORMATS, read_deals, write_deals
from dealer.generate import SeededBytes, generate
from firmware_bridge.errors import DealError

# Board 3 of this set has a void with North and another with West.
BOARDS = generate(range(1, 5), SeededBytes("variants"))
TRUTH = {board.number: board.deal for board in BOARDS}
DEALER = {"S": 1, "W": 2, "N": 3, "E": 4}
SV = {"None": "o", "NS": "n", "EW": "e", "All": "b"}


def found(data, name):
    result = read_deals(data if isinstance(data, bytes) else data.encode(), name=name)
    return {board.number: board.deal for board in result.boards}, result


def codes(findings):
    return [finding.code for finding in findings]


def md(board, hands=3):
    texts = [
        "".join("SHDC"[suit] + board.deal.holding(seat, suit)[::-1] for suit in range(4))
        for seat in (Seat.SOUTH, Seat.WEST, Seat.NORTH, Seat.EAST)
    ]
    return f"{DEALER[board.dealer.letter]}{','.join(texts[:hands])}" + ("," if hands == 3 else "")


def bbo(board, explanation="15-17"):
    return (
        f"pn|A,B,C,D|st||md|{md(board)}|rh||ah|Board {board.number}|sv|{SV[board.vulnerability.pbn]}|mb|1N|"
        f"an|{explanation}|mb|p|mb|p|mb|p|pg||pc|HA|pc|H2|pg||mc|7|\n"
    )


def every(form):
    return "".join(form(board) for board in BOARDS)


def game(board, deal=None, extra="", number=None):
    extra += "\n" * bool(extra)
    return (
        f'[Event ""]\n[Site ""]\n[Date ""]\n[Board "{number or board.number}"]\n[West ""]\n[North ""]\n[East ""]\n'
        f'[South ""]\n[Dealer "{board.dealer.letter}"]\n[Vulnerable "{board.vulnerability.pbn}"]\n'
        f'[Deal "{deal or board.deal.to_pbn()}"]\n[Scoring ""]\n{extra}\n'
    )


LIN = {
    "no line ends": (every(bbo).replace("\n", ""), []),
    "a bar in front": ("|" + every(bbo), []),
    "a bar in an explanation": (every(lambda b: bbo(b, "5+ | or so")), ["tag-unknown"]),
    "a tag's name in an explanation": (every(lambda b: bbo(b, "sv|mb")), ["tag-unknown"]),
    "an explanation that hides the next deal": (
        every(lambda b: f"qx|o{b.number}|an|4+|no|md|{md(b)}|sv|{SV[b.vulnerability.pbn]}|pg||"),
        ["tag-unknown"],
    ),
    "calls before the deal": (
        every(lambda b: f"st||rh||ah|Board {b.number}|mb|1N|md|{md(b)}|pg||\n"),
        [],
    ),
    "headings first": (every(lambda b: f"ah|Deal No. {b.number}|md|{md(b)}|pg||\n"), []),
    "rooms without letter": (every(lambda b: f"qx|{b.number}|md|{md(b, 4)}|pg||\n"), []),
    "a line for each hand": (every(bbo).replace(",S", ",\nS"), []),
    "hand viewer's link": ("https://www.bridgebase.com/tools/handviewer.html?bbo=y&lin=" + every(bbo).strip(), []),
    "escaped link": (
        "\n".join("https://bridgebase.com/x?lin=" + quote(bbo(b).strip()) + "&x=y" for b in BOARDS[:1]),
        ["percent-codes"],
    ),
    "the other room's deal left out": (
        every(lambda b: f"qx|o{b.number}|md|{md(b)}|mb|1S|pg||\nqx|c{b.number}|mb|1N|pg||\n"),
        ["shared-deal"],
    ),
    "words between": (every(lambda b: "A set for Friday\n" + bbo(b)), ["text-ignored"]),
}


@pytest.mark.parametrize("shape", LIN)
def test_lin_as_others_write_it(shape):
    text, repairs = LIN[shape]
    for name in ("x.lin", "x.txt"):
        boards, result = found(text, name)
        assert boards == (TRUTH if shape != "escaped link" else {1: TRUTH[1]})
        assert result.problems == ()
        assert sorted(set(codes(result.repairs))) == repairs


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        (bbo(BOARDS[0]) + "qx|o2|mb|p|pg||\n", 2, "deal-missing"),
        (bbo(BOARDS[0]) + bbo(BOARDS[1])[:3].replace("|", ""), 2, "file-cut"),
        (bbo(BOARDS[0]) + bbo(BOARDS[1]).replace("|md|", "|mdx|"), 2, "tag-syntax"),
        (bbo(BOARDS[0]) + bbo(BOARDS[1]).replace("|md|", "|d|"), 2, "tag-syntax"),
        (bbo(BOARDS[0]) + bbo(BOARDS[1]).replace("|md|", "|nd|"), 2, "tag-syntax"),
        (bbo(BOARDS[0]) + bbo(BOARDS[1]).replace(",", ""), 2, "deal-syntax"),
        (bbo(BOARDS[3]) + bbo(BOARDS[1]).replace("Board 2", "Bored 2"), 2, "board-number"),
    ],
)
def test_lin_never_drops_a_board_in_silence(text, line, code):
    _, result = found(text, "x.lin")
    assert (line, code) in [(finding.line, finding.code) for finding in result.problems]


def test_a_heading_behind_a_full_page_belongs_to_the_next_board():
    # The first board has no heading of its own; the second one's must not be taken for it.
    text = f"md|{md(BOARDS[0])}|pg||\nah|Board 2|md|{md(BOARDS[1])}|pg||\n"
    boards, result = found(text, "x.lin")
    assert boards == {1: TRUTH[1], 2: TRUTH[2]}
    assert codes(result.repairs) == ["board-number"]


PBN = {
    "names with marks in a table": (
        every(
            lambda b: game(
                b,
                extra='[ScoreTable "Rank;Names_NS"]\n1 "A [B] C"\n2 "D; E - {F}"\n3 "{ G"\n4 - "[ H"\n5 {why} "I" ; J',
            )
        ),
        ["comment"],
    ),
    "marks in a comment": (every(lambda b: game(b, extra='{\\S [Deal "N:x"]\n\n ; % }')), ["comment"]),
    "an empty line before the deal": (every(game).replace("[Deal", "\n[Deal"), ["game-torn"]),
    "an empty line after each line": (
        every(
            lambda b: f'[Board "{b.number}"]\n\n[Dealer "{b.dealer.letter}"]\n\n[Deal "{b.deal.to_pbn()}"]\n\n',
        ),
        ["game-torn"],
    ),
    "CRLF made twice": (every(game).replace("\n", "\r\r\n"), ["line-ends"]),
    "padded with empty bytes": (every(game) + "\x00" * 100, ["end-mark"]),
    "small tag names": (every(lambda b: f'[board "{b.number}"]\n[deal "{b.deal.to_pbn()}"]\n\n'), ["tag-case"]),
    "capital tag names": (every(lambda b: f'[BOARD "{b.number}"]\n[DEAL "{b.deal.to_pbn()}"]\n\n'), ["tag-case"]),
    "seats in words": (
        every(
            lambda b: (
                f'[Board "{b.number}"]\n[Dealer "{b.dealer.name.title()}"]\n[Deal "North{b.deal.to_pbn()[1:]}"]\n\n'
            )
        ),
        ["seat-name"],
    ),
    "a dash for a void": (
        every(lambda b: game(b, deal=re.sub(r"(?<=[.: ])(?=[. ]|$)", "-", b.deal.to_pbn()))),
        ["rank-letters"],
    ),
    "play behind its tag": (every(lambda b: game(b, extra='[Play "W"]SJ S2 S3 S4\n*')), []),
    "quoted in a mail": ("".join(f"> {line}\n" for line in every(game).split("\n")), ["game-not-separated"]),
}


@pytest.mark.parametrize("shape", PBN)
def test_pbn_as_others_write_it(shape):
    text, repairs = PBN[shape]
    boards, result = found(text, "x.pbn")
    assert boards == TRUTH
    assert result.problems == ()
    assert sorted({code for code in codes(result.repairs) if code != "text-ignored"}) == repairs


def test_only_what_an_empty_line_tore_apart_is_put_together():
    # A result without a deal is one, and takes no deal from the game behind it.
    text = '[Board "1"]\n[Contract "3NT"]\n\n' + f'[Deal "{BOARDS[1].deal.to_pbn()}"]\n\n'
    boards, result = found(text, "x.pbn")
    assert codes(result.problems) == ["deal-missing"]
    assert boards == {2: TRUTH[2]}
    # Neither does a board whose tags come again in the game behind it.
    text = '[Board "1"]\n[Dealer "N"]\n\n' + f'[Dealer "E"]\n[Deal "{BOARDS[1].deal.to_pbn()}"]\n\n'
    boards, result = found(text, "x.pbn")
    assert codes(result.problems) == ["deal-missing"]
    assert boards == {2: TRUTH[2]}


@pytest.mark.parametrize(
    ("change", "line", "code"),
    [
        (("[Deal ", "[Dale "), 24, "deal-missing"),
        (("[Deal ", "Deal "), 24, "tag-syntax"),
        (("[Deal ", "; [Deal "), 17, "deal-missing"),
        (('[Board "2"]\n', ""), None, None),
        (('[Board "2"]', '[Bored "3"]'), None, None),
    ],
)
@pytest.mark.parametrize("between", ["\n", ""])
def test_pbn_never_gives_a_board_the_next_ones_deal(change, line, code, between):
    games = [game(board).rstrip("\n") + "\n" for board in BOARDS]
    games[1] = games[1].replace(*change)
    if code and not between:
        line -= 1
    _, result = found(between.join(games), "x.pbn")
    boards = {board.number: board.deal for board in result.boards}
    assert all(TRUTH[number] == deal for number, deal in boards.items())
    if code:
        assert (line, code) in [(finding.line, finding.code) for finding in result.problems]
        assert set(boards) == {1, 3, 4}
    else:  # it can only be number 2
        assert boards == TRUTH
        assert result.problems == ()


def test_results_find_their_deal_by_number_wherever_it_stands():
    deals = every(lambda b: f'[Board "{b.number}"]\n[Deal "{b.deal.to_pbn()}"]\n\n')
    results = every(lambda b: f'[Board "{b.number}"]\n[Contract "3NT"]\n[Declarer "N"]\n[Result "9"]\n\n')
    for text in (deals + results, results + deals):
        boards, result = found(text, "x.pbn")
        assert (boards, result.problems) == (TRUTH, ())
        assert codes(result.repairs) == ["shared-deal"] * 4
    _, result = found(deals + results.replace('"4"', '"5"'), "x.pbn")
    assert [(finding.code, finding.board) for finding in result.problems] == [("deal-missing", 5)]


def test_two_deals_in_one_game_are_never_chosen_between():
    text = f'[Board "1"]\n[Deal "{BOARDS[0].deal.to_pbn()}"]\n[Deal "{BOARDS[1].deal.to_pbn()}"]\n'
    assert [(f.code, f.line) for f in found(text, "x.pbn")[1].problems] == [("deal-syntax", 3)]
    # Without a number in between they are one game each.
    assert found(text.replace('[Board "1"]\n', ""), "x.pbn")[0] == {1: TRUTH[1], 2: TRUTH[2]}


def test_a_place_among_other_numbers_is_a_number_only_where_it_fits():
    lost = [game(board, number=board.number + 20) for board in BOARDS]
    lost[2] = lost[2].replace('[Board "23"]\n', "")
    _, result = found("".join(lost), "x.pbn")
    assert codes(result.problems) == ["board-number"]


def test_a_game_that_has_only_begun_is_a_file_cut_short():
    _, result = found(every(game) + '[Event ""]\n[Site ""]\n', "x.pbn")
    assert [(finding.code, finding.line) for finding in result.problems] == [("file-cut", 53)]


@pytest.mark.parametrize("change", [('[Event "', '[event "'), ('[Deal "N', '[DEAL "N')])
def test_large_files_are_not_judged_faster_than_they_are_understood(tmp_path, change):
    path = tmp_path / "x.pbn"
    text = every(game)
    path.write_text(text)
    assert check_regular_pbn(path).found == 4
    path.write_text(text.replace(*change))
    assert check_regular_pbn(path) is None
    path.write_text(text + '[Event ""]\n[Site ""]\n')
    assert check_regular_pbn(path) is None


def test_dlm_of_a_set_that_was_dealt_counts_each_boards_copies_in():
    text = write_deals(BOARDS, "dlm").decode()
    for number, copies in ((1, 1), (2, 3), (3, 2)):
        letters = re.search(rf"Board {number:02d}=([a-p]+)", text)[1]
        value = reduce(xor, letters.encode(), number ^ copies)
        text = text.replace(f"Duplicates {number:02d}=0", f"Duplicates {number:02d}={copies}")
        text = re.sub(rf"(Board {number:02d}=[a-p]+)\d+", rf"\g<1>{value:03d}", text)
    boards, result = found(text, "x.dlm")
    assert boards == TRUTH
    assert (result.repairs, result.problems) == ((), ())
    wrong = text.replace("Duplicates 02=3", "Duplicates 02=4")
    assert [(f.code, f.board) for f in found(wrong, "x.dlm")[1].problems] == [("checksum", 2)]


@pytest.mark.parametrize(
    ("trailer", "repairs"),
    [
        (b"YN  1 1  4", []),
        (b"YN00101004", []),
        (b"yn1  0 4  ", []),
        (b"NY1  1 4  ", ["backwards"]),
        (b" " * 10, ["lowest-board"]),
        (bytes(10), ["lowest-board"]),
    ],
)
def test_dup_as_other_versions_of_the_program_end_their_records(trailer, repairs):
    data = write_deals(BOARDS, "dup")
    records = [data[place : place + 146] + trailer for place in range(0, len(data), 156)]
    boards, result = found(b"".join(records), "x.dup")
    assert boards == TRUTH
    assert (codes(result.repairs), result.problems) == (repairs, ())


def test_csv_never_takes_a_board_for_a_heading_or_two_for_one():
    text = write_deals(BOARDS, "csv").decode()
    heading = ",".join(["card"] * 16) + ",board,dealer\n"
    assert found(heading + text, "x.csv")[0] == TRUTH
    assert codes(found(heading + text, "x.csv")[1].repairs) == ["heading"]
    first, rest = text.split("\n", 1)
    for broken, code in (
        (first.replace('"A', '"Z', 1), "deal-syntax"),
        (first[:-1], "record-syntax"),
        (first + '"', "record-syntax"),
        (first + ',"x"', "column-count"),
    ):
        boards, result = found(f"{broken}\n{rest}", "x.csv")
        assert [(finding.code, finding.line) for finding in result.problems] == [(code, 1)]
        assert set(boards) == {2, 3, 4}


def test_an_index_that_lost_digits_is_no_other_index():
    lines = write_deals(BOARDS, "index").decode().splitlines(keepends=True)
    assert found("".join(lines), "x.goe")[1].repairs == ()
    cut = "".join(lines)[:-6]
    assert codes(found(cut, "x.goe")[1].problems) == ["index-syntax"]
    shorter = "".join(lines)[:-5]  # ends between two groups of digits
    assert codes(found(shorter, "x.goe")[1].problems) == ["index-syntax"]
    plain = "\n".join(str(board.deal.index) for board in BOARDS)
    boards, result = found(plain, "x.idx")
    assert boards == TRUTH
    assert codes(result.repairs) == ["line-end-missing"]


def test_the_beginning_of_a_file_of_digits_is_no_list_of_indices():
    for name in ("bri", "dup", "ber"):
        data = write_deals(BOARDS, name)
        for cut in (5, 20, 28, 29, 51):
            with pytest.raises(DealError):
                assert found(data[:cut], f"x{FORMATS[name].extensions[0]}")[1].require_good()


def test_verify_output_says_how_many_boards_it_has():
    text = f'{{"boards": 2, "deals": [{{"board": 1, "index": "{BOARDS[0].deal.index}"}}]}}'
    assert codes(found(text, "x.json")[1].problems) == ["count"]
    assert found(text.replace("2,", "1,", 1), "x.json")[1].problems == ()


def test_every_code_is_explained_on_the_page():
    root = Path(__file__).parents[3]
    source = "".join(path.read_text() for path in [*root.glob("dealer/formats/*.py"), root / "dealer/verify.py"])
    given_out = set(re.findall(r'(?:\.note|\.refuse|Finding)\(\s*"([a-z-]+)"', source))
    page = (root / "docs/formats.md").read_text()
    rows = re.findall(r"^\| ([a-z0-9, -]+) \| (?:repair|problem|repair or problem) \|", page, re.MULTILINE)
    assert len(given_out) > 50
    assert given_out <= {code for row in rows for code in row.split(", ")}


SAMPLES = {name: write_deals(BOARDS, name) for name in ("pbn", "lin", "csv", "json", "dlm", "dup")}


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(sorted(SAMPLES)), seed=st.integers(0, 2**32))
def test_one_wrong_byte_never_makes_a_board_vanish(name, seed):
    """After one byte is changed, lost, doubled or exchanged, every board is there or something is refused."""
    rng = random.Random(seed)
    body = bytearray(SAMPLES[name])
    at = rng.randrange(len(body))
    match rng.randrange(4):
        case 0:
            body[at] ^= 1 << rng.randrange(8)
        case 1:
            del body[at]
        case 2:
            body[at:at] = bytes([rng.choice(SAMPLES[name])])
        case _:
            other = rng.randrange(len(body))
            body[at], body[other] = body[other], body[at]
    try:
        boards, result = found(bytes(body), f"x.{name}")
    except DealError:
        return
    if not result.problems and set(boards) != set(TRUTH):
        # Only a number can have become another one, and that is seen by dealer, vulnerability or range.
        assert len(boards) == len(TRUTH)
        assert result.repairs
    assert all(isinstance(board, Board) for board in result.boards)
