"""Every format both ways: golden bytes, asymmetric deals turned through all seats, repairs and refusals by line."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dealer.board import Board
from dealer.cards import Seat
from dealer.deal import N_DEALS, Deal
from dealer.formats.api import FORMATS, WriteOptions, read_deal_file, read_deals, write_deals
from dealer.generate import Origin, generate
from firmware_bridge.errors import ConfigError, DealError

WRITERS = [name for name, info in FORMATS.items() if info.writes]
# Four long, unlike hands: any mix-up of seats, suits or ranks shows.
ASYMMETRIC = Deal.from_pbn("N:AKQJT98.7.AQ8.T2 765.AKQJ.97652.3 432.T98.KJT4.AQ9 .65432.3.KJ87654")
FOUR = [
    "N:AQ3.9.AQ8742.J83 64.83.KJ63.T9542 K9875.KJT5.T9.K7 JT2.AQ7642.5.AQ6",
    "N:73.A9864.2.AJ843 J6.JT532.KJ6.Q92 842.Q.AQT9743.K5 AKQT95.K7.85.T76",
    "N:T75.AQJ.AJT543.9 AJ8.543.KQ2.A653 Q62.T972.96.KQJ8 K943.K86.87.T742",
    "N:AT654.963.J9.642 9.AKT854.862.AQ3 KQ832.Q.KQT3.KJ8 J7.J72.A754.T975",
]
BOARDS = [Board(number, Deal.from_pbn(text)) for number, text in enumerate(FOUR, 1)]


def codes(findings):
    return [finding.code for finding in findings]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("first", [1, 2, 7, 96])
def test_asymmetric_deal_through_all_seats(name, turn, first):
    boards = [Board(first + place, ASYMMETRIC.turned(turn + place)) for place in range(4)]
    data = write_deals(boards, name)
    result = read_deals(data, format_name=name, first_board=1 if FORMATS[name].numbered else first)
    assert list(result.boards) == boards
    # Dealt by turns the four boards are one and the same line of Borel.
    assert codes(result.repairs) == (["line-repeated"] * 3 if name == "borel" else [])
    assert result.problems == ()
    assert read_deals(data, first_board=first).format == name, "the content alone must say what it is"


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(WRITERS),
    st.lists(st.integers(1000, N_DEALS - 1000), min_size=1, max_size=9, unique=True),
    st.booleans(),
    st.sampled_from(["export", "import"]),
)
def test_any_deals_round_trip(name, indices, blind, dialect):
    boards = [Board(number, Deal.from_index(index)) for number, index in enumerate(indices, 1)]
    data = write_deals(boards, name, WriteOptions(dialect=dialect, blind=blind, title='Club \\ "evening"'))
    result = read_deals(data, format_name=name)
    assert list(result.boards) == boards
    assert not [f for f in result.problems if f.code != "unshuffled"]


# Layouts spelled out by hand for the four boards above, which BigDeal 2.0 dealt.
GOLDEN = {
    "ber": (
        b"1314433323214434331244342412123311241214341221342212444244312431314322114121223232334324"
        b"3311321421443112243214213144314113343422231221134431112233341342242413341234111332234212"
        b"41221443313124244322323443414121"
    ),
    "borel": (
        b"\n"
        b"ACLSacghkmqtyIKTYbdilrswxzBFGHJOQRWefouDEMNPUVXZjnpv\n"
        b"DIQRWYZbdipszGKMPacefhklowABCEFJOUgjruvHLNSTVXmnqtxy\n"
        b"CIMRSUZfiopqtBFKLOTVghruxzEHJNPQadejklsADGWXYbcmnvwy\n"
        b"DHQUZahjkrsuwAEIJKSVYdfvxzFNORTWXgimnpyBCGLMPbceloqt\n"
    ),
    "kops": bytes.fromhex(
        "0400202020202020202020202033a633e4e98990b277ad7114f1c8f6e954dbc98c3b47de88189141"
        "f6864223e87e2fb911d3d1a71d9aa9f21b4396ff041f1c89b4"
    ),
    "cds": bytes.fromhex(
        "0144fb44393edee5c788f2866906021d0b3ea92c1ed14c9823dd6de603960bdb97743d8370ce6624"
        "26f80462effe076c94eb00596061dec9"
    ),
    "csv": (
        b'"AQ3","9","AQ8742","J83","64","83","KJ63","T9542","K9875","KJT5","T9","K7","JT2","AQ7642'
        b'","5","AQ6","1","N/-"\n'
        b'"73","A9864","2","AJ843","J6","JT532","KJ6","Q92","842","Q","AQT9743","K5","AKQT95","K7"'
        b',"85","T76","2","E/NS"\n'
        b'"T75","AQJ","AJT543","9","AJ8","543","KQ2","A653","Q62","T972","96","KQJ8","K943","K86",'
        b'"87","T742","3","S/EW"\n'
        b'"AT654","963","J9","642","9","AKT854","862","AQ3","KQ832","Q","KQT3","KJ8","J7","J72","A'
        b'754","T975","4","W/All"\n'
    ),
    "index": (
        b" 5,413,583,477,027,176,930,120,235,474\n"
        b"48,674,608,113,898,499,892,489,416,899\n"
        b"39,567,384,941,519,864,894,414,191,158\n"
        b" 8,355,893,498,153,595,276,176,138,050\n"
    ),
    "lin": (
        b"qx|o1|md|3SK9875HKJT5DT9CK7,SJT2HAQ7642D5CAQ6,SAQ3H9DAQ8742CJ83|rh||ah|Board 1|sv|o|pg||"
        b"\n"
        b"qx|o2|md|4S842HQDAQT9743CK5,SAKQT95HK7D85CT76,S73HA9864D2CAJ843|rh||ah|Board 2|sv|n|pg||"
        b"\n"
        b"qx|o3|md|1SQ62HT972D96CKQJ8,SK943HK86D87CT742,ST75HAQJDAJT543C9|rh||ah|Board 3|sv|e|pg||"
        b"\n"
        b"qx|o4|md|2SKQ832HQDKQT3CKJ8,SJ7HJ72DA754CT975,SAT654H963DJ9C642|rh||ah|Board 4|sv|b|pg||"
        b"\n"
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_bytes(name):
    assert write_deals(BOARDS, name) == GOLDEN[name]
    result = read_deals(GOLDEN[name], format_name=name)
    assert (list(result.boards), result.repairs, result.problems) == (BOARDS, (), ())


def test_golden_records():
    bri = write_deals(BOARDS[:1], "bri")
    digits = b"010312192729333437394346510911202528303538444549505202060708101517182331324147"
    assert bri == digits + b" " * 32 + bytes(18)
    hands = (
        b"\x06AQ3\x039\x04AQ8742\x05J83\x0664\x0383\x04KJ63\x05T9542"
        b"\x06K9875\x03KJT5\x04T9\x05K7\x06JT2\x03AQ7642\x045\x05AQ6"
    )
    assert write_deals(BOARDS[:1], "dge") == hands + bytes(60)
    dup = write_deals(BOARDS, "dup")
    assert dup[:156] == digits + hands + b"YN1  0 04 "
    assert len(dup) == 4 * 156
    blind = write_deals(BOARDS, "dup", WriteOptions(blind=True))
    assert blind[78:146] == b" " * 68
    assert blind[:78] + blind[146:] == dup[:78] + dup[146:]
    assert list(read_deals(blind).boards) == BOARDS
    dlm = write_deals(BOARDS, "dlm").decode().split("\n")
    assert dlm[:10] == [
        "[Document]",
        "Headline=Generated by Big Deal version 2.0",
        "Status=Show",
        "Duplicates=0",
        "From board=1",
        "To board=4",
        "Next board to duplimate=0",
        "PrintOuts=0",
        "Crypto key=0",
        "Checksum=4",
    ]
    assert dlm[11] == "Board 01=cdokgeplkbplhbbkahbdlbelfb006"
    assert dlm[19] == "Board 05=aaaaaabffffffkkkkkklpppppp011"
    assert len(dlm) == 10 + 2 * 99 + 1


def test_dup_numbers_a_range_rightly():
    boards = generate(range(11, 21))
    data = write_deals(boards, "dup", WriteOptions(copies=2))
    assert data[146:156] == b"YN11 2 20 "
    assert [board.number for board in read_deals(data).boards] == list(range(11, 21))


@pytest.mark.parametrize("name", ["dup", "dlm"])
def test_formats_that_number_by_place_refuse_gaps_and_too_many(name):
    for numbers in ([1, 2, 4], [2, 1], range(1, 101)):
        with pytest.raises(DealError):
            write_deals(generate(numbers), name)


def test_seeded_set_keeps_its_mark_or_is_not_written():
    options = WriteOptions(origin=Origin.SEEDED, set_id="0123456789abcdef", title="Test")
    for name in WRITERS:
        if FORMATS[name].marks:
            for dialect in ("export", "import"):
                data = write_deals(BOARDS, name, WriteOptions(dialect, "Test", set_id="ab", origin=Origin.SEEDED))
                result = read_deals(data)
                assert result.not_for_play, name
                assert list(result.boards) == BOARDS
        else:
            with pytest.raises(DealError, match="not for play"):
                write_deals(BOARDS, name, options)


def test_pbn_export_is_dealer_first_with_crlf_and_15_tags():
    text = write_deals(BOARDS, "pbn").decode()
    assert text.startswith("% PBN 2.1\r\n% EXPORT\r\n")
    assert text.count("\r\n") == text.count("\n")
    games = [game for game in text.split("\r\n\r\n") if game]
    assert len(games) == 4
    names = [
        "Event",
        "Site",
        "Date",
        "Board",
        "West",
        "North",
        "East",
        "South",
        "Dealer",
        "Vulnerable",
        "Deal",
        "Scoring",
        "Declarer",
        "Contract",
        "Result",
    ]
    for game in games:
        tags = [line for line in game.split("\r\n") if line.startswith("[")]
        assert [tag[1:].split()[0] for tag in tags] == names
    assert '[Deal "E:J6.JT532.KJ6.Q92 842.Q.AQT9743.K5 AKQT95.K7.85.T76 73.A9864.2.AJ843"]' in text
    assert '[Declarer ""]' in text


def test_pbn_import_dialect_layout():
    text = write_deals(BOARDS, "pbn", WriteOptions(dialect="import")).decode()
    assert text.startswith('% PBN 2.1\n% EXPORT\n%\n[Generator "Big Deal version 2.0"]\n[Event "?"]\n[Site "?"]\n')
    assert "\r" not in text
    assert '[Deal "N:73.A9864.2.AJ843' in text
    assert text.endswith('[Declarer "?"]\n[Contract "?"]\n[Result "?"]\n\n')


D1, D2 = FOUR[0], FOUR[1]
W1 = Deal.from_pbn(D1).to_pbn(Seat.WEST)


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        (f'\ufeff[Board "1"]\n[Deal "{D1}"]\n', ["bom"]),
        (f'[Event "Caf\u00e9"]\n[Board "1"]\n[Deal "{D1}"]\n'.encode("latin-1"), ["charset"]),
        (f'[Board "1"]\r\n[Deal "{D1}"]\r\n', []),
        (f'[Board "1"]\r\n[Deal "{D1}"]\n', ["line-ends"]),
        (f'[Board "1"]\r[Deal "{D1}"]\r', ["line-ends"]),
        (f'[Deal "{W1}"]', ["board-number"]),
        (f'[Board "1"][Deal "{W1}"]', ["tags-on-line"]),
        (f'[Board "1"]\n[Vulnerable "Love"]\n[Deal "{W1}"]', ["vulnerable-name"]),
        (f'[Board "1"]\n[Dealer "S"]\n[Vulnerable "All"]\n[Deal "{W1}"]', ["dealer-differs", "vulnerability-differs"]),
        (f'[Board "1"]\n[Contract "3NX"]\n[Deal "{W1}"]', ["nt-as-n"]),
        (f'[Board "1"] ; why\n{{ many\n\nlines }}[Deal "{W1}"]', ["comment", "comment"]),
        (f'[Board ; here too\n"1"]\n[Deal "{W1}"]', ["tag-repaired"]),
        (f'[Event "The "Big" one"]\n[Board "1"]\n[Deal "{W1}"]', ["tag-repaired"]),
        (f'[Board "1"]\n[Deal "{D1.replace("JT2", "J102")}"]', ["rank-letters"]),
        (f'[Board "1"]\n[Deal "{D1.replace("JT2", "jt2")}"]', ["rank-letters"]),
        (f'[Board "1"]\n[Deal "{D1.replace("64.83.KJ63.T9542", "-")}"]', ["hand-completed"]),
        (f'[Board "1"]\n[Deal "{D1.replace("64.83.KJ63.T9542", "S64.H83.DKJ63.CT9542")}"]', ["suit-letters"]),
        (f'[Board "1"]\n[Deal "{D1.replace("64.83.KJ63.T9542", "♠64♥83♦KJ63♣T9542")}"]', ["suit-letters"]),
        (f'[Board "1"]\n[Deal "{D1}"]\n\nProduced 1 hands\nTime needed 0.1 s\n', ["text-ignored"]),
        (f'[Board "1"]\n[Deal "{D1}"]\n[Board "1"]\n[Deal "{D1}"]', ["game-not-separated", "same-board-again"]),
        (f'[Board "1"]\n[Deal "{D1}"]\n\n[Declarer "N"]\n[Result "9"]', ["shared-deal"]),
        (f'[Board "1"]\n[Deal "{D1}"]\n\n[Board "#"]\n[Deal "#"]', ["inherited", "inherited", "same-board-again"]),
    ],
)
def test_pbn_repairs_what_is_meant_and_lists_it(text, repairs):
    result = read_deals(text if isinstance(text, bytes) else text.encode(), name="a.pbn")
    assert list(result.boards) == BOARDS[:1]
    assert codes(result.repairs) == repairs
    assert result.problems == ()


def test_pbn_sticky_inheritance_lasts():
    games = [f'[Board "{place}"]\n[Deal "{FOUR[place - 1]}"]\n' for place in (1, 2, 3)]
    text = f'[Event "X"]\n{games[0]}\n[Event "##"]\n{games[1]}\n{games[2]}'
    result = read_deals(text.encode(), name="a.pbn")
    assert list(result.boards) == BOARDS[:3]


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        (f'[Board "1"]\n[Deal "{D1.replace("JT2", "JT")}"]', 2, "hand-size"),
        (f'[Board "1"]\n\n\n[Board "2"]\n[Deal "{D1.replace("JT2", "JT3")}"]', 5, "duplicate-card"),
        (f'[Board "1"]\n[Deal "{D1[2:]}"]', 2, "deal-syntax"),
        (f'[Board "1"]\n[Deal "{D1.replace("JT2.", "JT2")}"]', 2, "deal-syntax"),
        (f'[Board "1"]\n[Deal "{D1.replace("JT2", "JTX")}"]', 2, "deal-syntax"),
        ('[Board "1"]\n[Deal "N:AKQJT98765432... - - ..."]', 2, "hands-missing"),
        (f'[Board "one"]\n[Deal "{D1}"]', 1, "board-number"),
        (f'[Board "1"]\n[Deal "{D1}"]\n\n[Board "1"]\n[Deal "{D2}"]', 5, "board-repeated"),
        (f'[Board "1"]\n[Deal "{D1}"]\n\n[Board "2"]\n[Deal "{D1}"]', 5, "deal-repeated"),
        ('[Board "1"]\n[Dealer "N"]\n', 1, "deal-missing"),
        ('[Board "4"]\n[Deal "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. -"]', 2, "unshuffled"),
        (f'[Board "1"]\n[Deal "{D1}"]\n{{ open', 3, "comment-open"),
        (f'[Board "#"]\n[Deal "{D1}"]', 1, "inherit-nothing"),
        (f'[Board "1"]\n[Deal {D1}"]', 2, "tag-syntax"),
    ],
)
def test_pbn_refuses_with_the_line_what_can_not_be_meant(text, line, code):
    result = read_deals(text.encode(), name="a.pbn")
    assert (line, code) in [(finding.line, finding.code) for finding in result.problems]
    with pytest.raises(DealError) as caught:
        result.require_good("a.pbn")
    assert caught.value.exit_status == 1
    assert "JT2" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "file-empty"),
        (b"  \r\n", "file-empty"),
        (b"% PBN 2.1\n% EXPORT\n", "no-boards"),
        (b"\x00\x01\x02\x03" * 50, "unparsable"),
        (b'[Event "x"]\x00\n', "unparsable"),
        (b"hello", "unparsable"),
        (b"{}", "unparsable"),
        (b'{"boards": ' + b"[" * 100_000, "unparsable"),
        (b"[Document]\nFrom board=1\nTo board=0\n", "no-boards"),
        (b"% noise\n\xe9\xe8 { \xf1", "no-boards"),
    ],
)
def test_files_without_boards_are_errors(tmp_path, data, code):
    path = tmp_path / "a.dat"
    path.write_bytes(data)
    with pytest.raises(DealError) as caught:
        read_deal_file(path)
    assert (caught.value.code, caught.value.exit_status) == (code, 2)
    assert str(path) in caught.value.where


def test_missing_file_and_directory(tmp_path):
    for path in (tmp_path / "no.pbn", tmp_path):
        with pytest.raises(DealError) as caught:
            read_deal_file(path)
        assert caught.value.exit_status == 2


def test_wrong_name_is_seen_and_said(tmp_path):
    path = tmp_path / "a.dup"
    path.write_bytes(write_deals(BOARDS, "pbn"))
    result = read_deal_file(path)
    assert (result.format, codes(result.repairs)) == ("pbn", ["format-differs"])
    path = tmp_path / "set"
    path.write_bytes(write_deals(BOARDS, "dlm"))
    assert read_deal_file(path).format == "dlm"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ((b"Checksum=4", b"Checksum=5"), "checksum"),
        ((b"fb006", b"fb007"), "checksum"),
        ((b"=cdokge", b"=afokge"), "hand-size"),  # the checksum is blind to this one
        ((b"To board=4", b"To board=5"), "checksum"),
        ((b"Checksum=4", b"Checksum=x"), "header-syntax"),
        ((b"Crypto key=0", b"Crypto key=7"), "encrypted"),
        ((b"Board 02=p", b"Board 02=z"), "record-syntax"),
        ((b"Board 02=", b"Bored 02="), "record-missing"),
    ],
)
def test_dlm_respects_checksums_and_range(change, code):
    data = write_deals(BOARDS, "dlm")
    assert data.count(change[0]) == 1
    result = read_deals(data.replace(*change))
    assert code in codes(result.problems)


def test_dlm_filler_inside_the_range_is_refused_by_name():
    data = write_deals(BOARDS, "dlm").replace(b"To board=4", b"To board=5").replace(b"Checksum=4", b"Checksum=5")
    [finding] = read_deals(data).problems
    assert (finding.code, finding.board) == ("unshuffled", 5)
    assert "filler" in finding.message


def test_dlm_records_outside_the_range_are_left_out_and_said():
    data = write_deals(BOARDS, "dlm").replace(b"To board=4", b"To board=3").replace(b"Checksum=4", b"Checksum=3")
    result = read_deals(data)
    assert [board.number for board in result.boards] == [1, 2, 3]
    assert codes(result.repairs) == ["outside-range"]


def test_dup_compares_its_two_parts():
    data = write_deals(BOARDS, "dup")
    turned = write_deals([Board(b.number, b.deal.turned(1)) for b in BOARDS], "dup")
    mixed = data[:78] + turned[78:146] + data[146:]
    assert codes(read_deals(mixed).problems) == ["bri-dge-differ"]


@pytest.mark.parametrize(
    ("name", "size"), [("bri", 128), ("dge", 128), ("dup", 156), ("ber", 52), ("cds", 14), ("kops", 13)]
)
def test_cut_records_are_problems_and_stray_line_ends_are_not(name, size):
    data = write_deals(BOARDS, name)
    cut = read_deals(data[: -size // 2], format_name=name)
    assert cut.problems
    padded = read_deals(data + b"\r\n", format_name=name)
    assert list(padded.boards) == BOARDS
    assert padded.problems == ()


def test_lin_repairs_and_refusals():
    good = b"md|3SK9875HKJT5DT9CK7,SJT2HAQ7642D5CAQ6,SAQ3H9DAQ8742CJ83"
    for data, expected in [
        (b"qx|o1|" + good + b"|sv|0|", ["sv-digit"]),
        (b"qx|o1|" + good + b",S64H83DKJ63CT9542|sv|o|", []),
        (b"pn|a,b,c,d|st||" + good + b",|rh||ah|Board 1|sv|o|", []),
        (good + b"|sv|o|", ["board-number"]),
        (b"qx|o1|" + good + b"|sv|b|", ["vulnerability-differs"]),
        (b"qx|o1|" + good.replace(b"|3", b"|1") + b"|", ["dealer-differs"]),
        (b"qx|o1|" + good.replace(b"JT2", b"J102") + b"|", []),
        (b"qx|o1|" + good + b"|\r\nqx|c1|" + good + b"|", ["same-board-again"]),
    ]:
        result = read_deals(data, name="x.lin")
        assert list(result.boards) == BOARDS[:1], data
        assert codes(result.repairs) == expected, data
        assert result.problems == ()
    for data, code in [
        (b"qx|o1|" + good.replace(b"JT2", b"JT") + b"|", "hand-size"),
        (b"qx|o1|" + good.replace(b"JT2", b"JT3") + b"|", "duplicate-card"),
        (b"qx|o1|md|3SK9875HKJT5DT9CK7,SJT2HAQ7642D5CAQ6|", "hands-missing"),
        (b"qx|o1|" + good.replace(b"JT2", b"JTZ") + b"|", "deal-syntax"),
        (b"qx|o1|" + good + b",S,S|", "deal-syntax"),
    ]:
        assert code in codes(read_deals(data, name="x.lin").problems)


def test_hrf_is_read_and_marked_unverified():
    record = b"12 SAQ3H9DAQ8742CJ83 S64H83DKJ63CT9542 SK9875HKJT5DT9CK7 SJT2HAQ7642D5CAQ6"
    result = read_deals(record.ljust(128), name="x.hrf")
    assert [board.number for board in result.boards] == [12]
    assert result.boards[0].deal == BOARDS[0].deal
    assert codes(result.repairs) == ["unverified"]
    with pytest.raises(ConfigError):
        write_deals(BOARDS, "hrf")


def test_json_index_and_pbn_must_agree():
    data = write_deals(BOARDS, "json")
    assert b'"index": "5413583477027176930120235474"' in data
    result = read_deals(data.replace(b"5413583477027176930120235474", b"5413583477027176930120235475"))
    assert codes(result.problems) == ["index-pbn-differ"]


def test_no_finding_shows_a_card():
    for name in WRITERS:
        data = write_deals(BOARDS, name)
        for place in range(0, len(data), 37):
            try:
                result = read_deals(data[:place] + b"2" + data[place + 1 :], format_name=name)
            except DealError as error:
                said = str(error)
            else:
                said = " ".join(map(str, (*result.repairs, *result.problems)))
            assert not any(hand in said for text in FOUR for hand in text[2:].split()), name
            assert "AQ" not in said


shared = os.environ.get("FIRMWARE_BRIDGE_TEST_DATA")


@pytest.mark.skipif(not shared, reason="FIRMWARE_BRIDGE_TEST_DATA names no folder with further files")
def test_bigdeals_files_read_alike_and_are_written_alike():
    folder = Path(shared) / "bigdeal"
    for path in sorted(folder.glob("s.*")):
        if path.suffix == ".txt":
            continue
        result = read_deal_file(path)
        assert list(result.boards) == BOARDS, path.name
        assert result.problems == ()
        if path.suffix != ".lin":
            assert write_deals(BOARDS, result.format, WriteOptions(dialect="import")) == path.read_bytes(), path.name


@pytest.mark.skipif(not shared, reason="FIRMWARE_BRIDGE_TEST_DATA names no folder with further files")
@pytest.mark.parametrize(
    ("name", "numbers", "problems"),
    [
        ("bbo-one-board.lin", [15], []),
        ("bigdeal-1.1.pbn", list(range(1, 15)), []),
        ("comments-everywhere.pbn", [1], []),
        ("hands-not-given.pbn", [1, 2, 3, 4], ["hands-missing"]),
        ("match-export.pbn", [1], []),
        ("two-rooms-shared-deal.pbn", [62, 7], []),
        ("utf8-bom-no-board-tags.pbn", [1, 2, 3, 4], []),
        ("vugraph-deals-only.lin", [1, 2, 3, 4], []),
    ],
)
def test_real_files(name, numbers, problems):
    result = read_deal_file(Path(shared) / "deals" / name)
    assert [board.number for board in result.boards] == numbers
    assert codes(result.problems) == problems


@pytest.mark.parametrize("name", ["pbn", "json", "dlm"])
@pytest.mark.parametrize("origin", [None, Origin.SEEDED, Origin.CONSTRAINED])
def test_title_and_mark_come_back(name, origin):
    options = WriteOptions(title='Pairs "A" \\ B', date="2026.01.02", origin=origin, set_id="0011223344556677")
    result = read_deals(write_deals(BOARDS, name, options))
    assert result.title == 'Pairs "A" \\ B'
    assert result.origin is origin
    if name == "pbn":
        assert result.date == "2026.01.02"
    assert read_deals(write_deals(BOARDS, name, WriteOptions())).title == ""
