"""Large regular PBN files are checked fast and alike; whatever is unusual goes to the careful reader."""

import random

import pytest

from dealer import bulk_read
from dealer.bulk_read import check_regular_pbn
from dealer.formats.api import WriteOptions, read_deals, write_deals
from dealer.generate import Origin, SeededBytes, generate
from firmware_bridge.cli.main import main

BOARDS = generate(range(1, 401), SeededBytes("bulk read"))


@pytest.mark.parametrize("dialect", ["export", "import"])
@pytest.mark.parametrize("block", [1500, 9000, 1 << 20])
def test_good_files_of_both_dialects(tmp_path, monkeypatch, dialect, block):
    monkeypatch.setattr(bulk_read, "BLOCK", block)
    monkeypatch.setattr(bulk_read, "_ROWS", 7)
    path = tmp_path / "a.pbn"
    path.write_bytes(write_deals(BOARDS, "pbn", WriteOptions(dialect, set_id="ab12", origin=Origin.OWN)))
    found = check_regular_pbn(path)
    assert found is not None
    assert (found.found, found.set_id, found.origin) == (400, "ab12", Origin.OWN)


def test_nothing_bad_passes(tmp_path):
    """Every single changed byte either leaves the boards what they are, or is handed to the careful reader."""
    good = write_deals(BOARDS[:20], "pbn")
    path = tmp_path / "a.pbn"
    rng = random.Random(4)
    passed = 0
    for _ in range(700):
        at = rng.randrange(len(good))
        changed = bytearray(good)
        changed[at] = rng.choice(b'AKQJT98765432. ."[]NESW{};%#0\r\n')
        path.write_bytes(changed)
        if check_regular_pbn(path) is not None:
            passed += 1
            result = read_deals(bytes(changed), format_name="pbn")
            assert {f.code for f in result.problems} <= {"tag-syntax"}, changed[max(0, at - 20) : at + 20]
            assert [board.number for board in result.boards] == list(range(1, 21))
    assert passed > 50


@pytest.mark.parametrize(
    "change",
    [
        (b'[Board "3"]', b'[Board "2"]'),
        (b'[Board "3"]', b'[Board "x"]'),
        (b'[Dealer "S"]', b'[Dealer "N"]'),
        (b'[Vulnerable "EW"]', b'[Vulnerable "NS"]'),
        (b'[Scoring "?"]', b'{ } [Scoring "?"]'),
        (b'[Deal "S:', b'[Deal "W:'),
        (b'[Board "3"]\r\n', b""),
        (b"\r\n\r\n", b"\r\n"),
    ],
)
def test_unusual_files_are_left_to_the_careful_reader(tmp_path, change):
    data = write_deals(BOARDS, "pbn")
    assert change[0] in data
    path = tmp_path / "a.pbn"
    path.write_bytes(data.replace(change[0], change[1]))
    assert check_regular_pbn(path) is None or change[0] == b'[Deal "S:'


def test_the_same_deal_twice_is_seen(tmp_path):
    lines = write_deals(BOARDS, "pbn").decode().split("\r\n")
    deals = [place for place, line in enumerate(lines) if line.startswith('[Deal "N:')]
    lines[deals[40]] = lines[deals[2]]
    path = tmp_path / "a.pbn"
    path.write_text("\r\n".join(lines), newline="")
    assert check_regular_pbn(path) is None


def test_command_says_the_same_either_way(tmp_path, capsys):
    path = tmp_path / "a.pbn"
    main(["deal", "generate", "--boards", "1-2500", "--seed", "3", "--out", str(path)])
    capsys.readouterr()
    assert main(["deal", "verify", str(path)]) == 0
    assert "2500 boards, 2500 good" in capsys.readouterr().out
    path.write_bytes(path.read_bytes().replace(b'[Board "7"]', b'[Board "8"]'))
    assert main(["deal", "verify", str(path)]) == 1
    assert "line " in capsys.readouterr().err
