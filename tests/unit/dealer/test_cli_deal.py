"""The ``deal`` commands from outside: files, JSON, exit codes, and that nothing but the named file holds a card."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from dealer.deal import Deal
from dealer.formats.api import read_deal_file
from firmware_bridge.cli.deal_words import boards_text
from firmware_bridge.cli.main import main


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FIRMWARE_BRIDGE_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = main(["deal", *map(str, words)])
        out, err = capsys.readouterr()
        call.said = out + err
        try:
            return code, json.loads(out.splitlines()[-1])
        except (IndexError, ValueError):
            return code, None

    call.said = ""
    return call


def test_generate_and_verify(run):
    code, report = run("generate", "--boards", "1-24", "--out", "a.pbn", "--json")
    assert code == 0
    assert report["ok"]
    assert (report["boards"], report["origin"], report["not_for_play"]) == (24, "own", False)
    code, report = run("verify", "a.pbn", "--json")
    assert code == 0
    assert (report["command"], report["boards"], report["good"]) == ("deal verify", 24, 24)
    assert (report["problems"], report["repairs"]) == ([], [])
    assert [row["board"] for row in report["deals"]] == list(range(1, 25))
    for row in report["deals"]:
        assert sorted(row) == ["board", "dealer", "index", "pbn", "vulnerable"]
        assert Deal.from_index(int(row["index"])).to_pbn() == row["pbn"]
        assert row["dealer"] == "NESW"[(row["board"] - 1) % 4]
        assert row["vulnerable"] in ("None", "NS", "EW", "All")
    assert os.stat("a.pbn").st_mode & 0o077 == 0


def test_no_output_but_the_file_shows_a_card(run):
    said = ""
    for words in (
        ("generate", "--boards", "1-4", "--out", "a.pbn"),
        ("generate", "--boards", "5-6", "--extend", "a.pbn", "--out", "b.pbn", "--json"),
        ("verify", "b.pbn"),
        ("convert", "b.pbn", "--out", "b.lin", "--json"),
        ("commit", "b.pbn", "--out", "c.json", "--json"),
        ("history", "b.pbn", "--json"),
        ("history", "--json"),
        ("reveal", "c.json", "--out", "r.json", "--json"),
        ("audit", "c.json", "r.json", "b.pbn", "--json"),
    ):
        code, _ = run(*words)
        assert code == 0, words
        said += run.said
    for name in Path("data").rglob("*"):
        if name.is_file() and name.parent.name != "secrets":
            said += name.read_bytes().decode("latin-1")
    said += Path("c.json").read_text()
    for board in read_deal_file("b.pbn").boards:
        assert str(board.deal.index) not in said
        for hand in board.deal.to_pbn()[2:].split():
            assert hand not in said
        assert board.deal.routing.decode("latin-1") not in said


def test_cards_are_shown_on_record_and_never_without(run, tmp_path):
    run("generate", "--boards", "1-2", "--out", "a.pbn")
    run("history", "--reveals")
    assert "No cards were shown." in run.said
    assert run("verify", "a.pbn", "--show-cards")[0] == 0
    assert read_deal_file("a.pbn").boards[0].deal.to_pbn() in run.said
    code, report = run("history", "--reveals", "--json")
    (shown,) = report["reveals"]
    assert (shown["what"], shown["source"], shown["board"]) == ("deal verify --show-cards", "a.pbn", None)
    run("history", "--reveals")
    assert "Cards were shown 1 time." in run.said
    (tmp_path / "file").write_text("")
    code, _ = run("verify", "a.pbn", "--show-cards", "--data", tmp_path / "file")
    assert code == 2
    assert read_deal_file("a.pbn").boards[0].deal.to_pbn() not in run.said


def test_seeded_sets_repeat_are_marked_and_stay_out_of_the_history(run):
    for name in ("a.pbn", "b.pbn"):
        code, report = run("generate", "--boards", "1-8", "--seed", "7", "--out", name, "--json")
        assert (code, report["not_for_play"], report["origin"]) == (0, True, "seeded")
    assert Path("a.pbn").read_bytes() == Path("b.pbn").read_bytes()
    assert b"NOT FOR PLAY" in Path("a.pbn").read_bytes()
    code, report = run("verify", "a.pbn", "--json")
    assert report["not_for_play"]
    code, report = run("convert", "a.pbn", "--out", "a.dlm", "--json")
    assert report["not_for_play"]
    assert b"NOT FOR PLAY" in Path("a.dlm").read_bytes()
    code, report = run("convert", "a.pbn", "--out", "a.bri", "--json")
    assert (code, report["error"]["code"]) == (1, "mark-lost")
    assert not Path("a.bri").exists()
    code, report = run("history", "--json")
    assert report["deals"] == 0


def test_extension_keeps_the_set_and_is_blind(run):
    run("generate", "--boards", "1-24", "--out", "a.pbn", "--json")
    code, first = run("verify", "a.pbn", "--json")
    code, more = run("generate", "--extend", "a.pbn", "--boards", "25-27", "--out", "a.pbn", "--json")
    assert (code, more["boards"], more["set"]) == (0, 27, first["set"])
    assert more["fingerprint"] not in ("", first["fingerprint"])
    code, both = run("verify", "a.pbn", "--json")
    assert both["deals"][:24] == first["deals"]
    code, report = run("generate", "--extend", "a.pbn", "--boards", "27", "--out", "x.pbn", "--json")
    assert (code, report["error"]["code"]) == (1, "board-repeated")
    run("commit", "a.pbn", "--out", "c.json")
    run("reveal", first["set"], "--out", "r.json")
    code, report = run("audit", "c.json", "r.json", "a.pbn", "--json", "--fingerprint", more["fingerprint"])
    assert (code, report["matching"], report["problems"]) == (0, 27, [])


def test_an_older_file_of_a_set_is_never_extended_by_the_same_numbers(run):
    run("generate", "--boards", "1-4", "--out", "a.pbn")
    code, first = run("generate", "--extend", "a.pbn", "--boards", "5-6", "--out", "b.pbn", "--json")
    code, report = run("generate", "--extend", "a.pbn", "--boards", "6-7", "--out", "c.pbn", "--json")
    assert (code, report["error"]["code"]) == (1, "board-repeated")
    assert not Path("c.pbn").exists()
    # The next step that it names gives the same board again.
    assert f"--set {first['set']} --boards 6" in report["error"]["next"]
    assert run("generate", "--set", first["set"], "--boards", "6", "--out", "c.pbn", "--json")[0] == 0
    _, both = run("verify", "b.pbn", "--json")
    _, again = run("verify", "c.pbn", "--json")
    assert again["deals"] == both["deals"][5:]
    # Other numbers go on from it: the chain has all parts, whichever file holds them.
    code, more = run("generate", "--extend", "a.pbn", "--boards", "9", "--out", "d.pbn", "--json")
    assert (code, more["boards"], more["repairs"]) == (0, 5, [])
    assert more["fingerprint"] not in ("", first["fingerprint"])


def test_audit_finds_a_changed_board(run):
    run("generate", "--boards", "1-4", "--out", "a.pbn")
    run("generate", "--boards", "1-4", "--out", "b.pbn")
    run("commit", "a.pbn", "--out", "c.json")
    run("reveal", "c.json", "--out", "r.json")
    code, report = run("audit", "c.json", "r.json", "b.pbn", "--json")
    assert (code, report["ok"], report["matching"]) == (1, False, 0)
    assert {finding["code"] for finding in report["problems"]} == {"deal-differs"}
    text = Path("c.json").read_text()
    Path("c2.json").write_text(text.replace('"board": 1,', '"board": 9,'))
    code, report = run("audit", "c2.json", "r.json", "a.pbn", "--json")
    assert code == 1
    assert "commitment-wrong" in {finding["code"] for finding in report["problems"]}


def test_public_entropy(run):
    code, report = run("commit", "--boards", "1-6", "--entropy-from", "Lotto of Saturday", "--out", "c.json", "--json")
    assert code == 0
    set_id = report["set"]
    code, report = run("generate", "--set", set_id, "--boards", "1-6", "--out", "a.pbn", "--json")
    assert (code, report["error"]["code"]) == (1, "entropy")
    code, report = run("reveal", set_id, "--out", "r.json", "--json")
    assert code == 1
    code, report = run(
        "generate", "--set", set_id, "--entropy", "4 8 15", "--boards", "1-6", "--out", "a.pbn", "--json"
    )
    assert (code, report["set"], report["origin"]) == (0, set_id, "own")
    code, report = run(
        "generate", "--set", set_id, "--entropy", "4 8 16", "--boards", "1-6", "--out", "b.pbn", "--json"
    )
    assert (code, report["error"]["code"]) == (1, "entropy-changed")
    run("reveal", set_id, "--out", "r.json")
    code, report = run("audit", "c.json", "r.json", "a.pbn", "--entropy", "4 8 15", "--json")
    assert (code, report["matching"]) == (0, 6)
    code, report = run("audit", "c.json", "r.json", "a.pbn", "--entropy", "4 8 16", "--json")
    assert code == 1


def test_each_part_has_its_own_entropy_and_the_auditor_is_shown_it(run, capsys):
    code, report = run("commit", "--boards", "1-3", "--entropy-from", "Lotto 1", "--out", "c.json", "--json")
    set_id = report["set"]
    run("commit", "--set", set_id, "--boards", "4-6", "--entropy-from", "Lotto\x1b[7m 2", "--out", "c.json")
    run("generate", "--set", set_id, "--entropy", "4 8", "--boards", "1-3", "--out", "a.pbn")
    run("reveal", set_id, "--boards", "1-3", "--out", "r.json")
    capsys.readouterr()
    audit = ["audit", "c.json", "r.json", "a.pbn"]
    assert main(["deal", *audit, "--entropy", "4 8"]) == 0
    text = capsys.readouterr().out
    assert "entropy: 4 8\n" in text
    assert "entropy: not revealed\n" in text
    assert "Not opened: boards 4-6." in text
    assert "\x1b" not in text
    run("generate", "--set", set_id, "--entropy", "15 16", "--boards", "4-6", "--out", "b.pbn")
    run("reveal", set_id, "--out", "r.json")
    run("generate", "--set", set_id, "--boards", "1-6", "--out", "a.pbn")
    assert run(*audit, "--entropy", "4 8", "--entropy", "15 16", "--json")[0] == 0
    code, report = run(*audit, "--entropy", "4 8", "--entropy", "4 8", "--json")
    assert (code, [finding["message"][:6] for finding in report["problems"]]) == (1, ["Part 2"])
    assert run(*audit, *["--entropy", "1"] * 3, "--json")[0] == 2
    code, report = run("audit", "c.json", "r.json", "b.pbn", "--json")
    assert (code, report["matching"], report["not_revealed"]) == (1, 3, [])
    assert [(finding["code"], finding["board"]) for finding in report["problems"]] == [
        ("not-played", number) for number in (1, 2, 3)
    ]


def test_the_mark_of_a_set_is_said_wherever_the_set_is_named(run, capsys):
    def said(*arguments):
        capsys.readouterr()
        assert main(["deal", *arguments]) == 0
        return capsys.readouterr().out

    run("generate", "--boards", "1-2", "--seed", "7", "--out", "a.pbn")
    run("generate", "--boards", "1-2", "--require", "N hcp 5+", "--out", "b.pbn")
    for name, word in (("a.pbn", "NOT FOR PLAY"), ("b.pbn", "constrained")):
        for arguments in (
            ("verify", name),
            ("convert", name, "--out", "x.lin"),
            ("verify", "x.lin"),
            ("export", name, "--for", "dealer4", "--out", "y.pbn", "--no-record"),
            ("record", name, "--out", "x.html", "--no-dd"),
        ):
            assert word in said(*arguments), arguments
    assert "NOT FOR PLAY" in said("commit", "a.pbn", "--out", "c.json")
    code, report = run("convert", "b.pbn", "--out", "x.bri", "--json")
    assert (code, [finding["code"] for finding in report["repairs"]]) == (0, ["mark-lost"])
    code, report = run("history", "a.pbn", "--add", "--json")
    assert (code, report["error"]["code"]) == (1, "set-origin")
    code, report = run("history", "a.pbn", "--add", "--origin", "replay", "--json")
    assert (code, run("history", "--json")[1]["deals"]) == (0, 4)


def test_words_that_are_not_in_utf_8_are_wrong_use_and_no_fault(run, capsys):
    odd = b"Z\xfcrich".decode(errors="surrogateescape")
    run("generate", "--boards", "1-2", "--out", "a.pbn")
    for arguments in (
        ("generate", "--boards", "1-2", "--title", odd, "--out", "b.pbn"),
        ("generate", "--boards", "1-2", "--seed", odd, "--out", "b.pbn"),
        ("generate", "--boards", "1-2", "--require", odd, "--out", "b.pbn"),
        ("commit", "--boards", "1-2", "--entropy-from", odd, "--out", "c.json"),
        ("record", "a.pbn", "--club", odd, "--out", "b.html"),
    ):
        assert main(["deal", *arguments]) == 2, arguments
        assert "UTF-8" in capsys.readouterr().err
    row = f'{{"board": 1, "index": "{10**27}"}}'
    Path("s.json").write_text('{"set": {"title": "a\\ud800b"}, "boards": [' + row + "]}")
    for name in ("x.pbn", "x.json"):
        assert run("convert", "s.json", "--out", name, "--json")[0] == 0
    assert main(["deal", "record", "s.json", "--no-dd", "--out", "x.html"]) == 0


def test_verify_says_which_boards_there_are(run, capsys):
    run("generate", "--boards", "1-8,25,27-28", "--out", "a.pbn")
    capsys.readouterr()
    assert main(["deal", "verify", "a.pbn"]) == 0
    assert "\nBoards 1-8, 25, 27-28.\n" in capsys.readouterr().out
    assert boards_text([3]) == "board 3"
    assert boards_text(range(1, 101, 2)).endswith("37, 39, ...")


def test_a_sealed_file_is_called_one(run, monkeypatch):
    monkeypatch.setenv("FIRMWARE_BRIDGE_PASSPHRASE", "three black swans")
    run("generate", "--boards", "1-2", "--out", "a.pbn")
    assert main(["deal", "seal", "a.pbn"]) == 0
    for arguments in (("verify", "a.pbn.sealed"), ("convert", "a.pbn.sealed", "--out", "b.lin")):
        code, report = run(*arguments, "--json")
        assert (code, report["error"]["code"]) == (2, "sealed")


def test_repeat_in_an_own_set_is_refused_and_leaves_no_file(run, monkeypatch):
    from dealer import generate

    run("generate", "--boards", "1-4", "--out", "a.pbn")
    board = read_deal_file("a.pbn").boards[2]
    monkeypatch.setattr(generate, "random_index", lambda randbytes: board.deal.index)
    code, report = run("generate", "--boards", "9", "--out", "b.pbn", "--json")
    assert (code, report["error"]["code"]) == (1, "dealt-before")
    assert not Path("b.pbn").exists()
    monkeypatch.undo()


def test_repeat_of_an_outside_set_is_only_reported(run):
    run("generate", "--boards", "1-4", "--out", "a.pbn")
    run("convert", "a.pbn", "--out", "a.bri")
    code, report = run("history", "a.bri", "--add", "--origin", "replay", "--json")
    assert code == 0
    assert [row["code"] for row in report["repeats"]] == ["dealt-before"] * 4


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("verify", "missing.pbn"), 2),
        (("verify", "empty.pbn"), 2),
        (("verify", "noise.pbn"), 2),
        (("verify", "bad.pbn"), 1),
        (("convert", "bad.pbn", "--out", "x.lin"), 1),
        (("convert", "good.pbn", "--out", "x.unknown"), 2),
        (("convert", "good.pbn", "--out", "no/such/x.lin"), 2),
        (("generate", "--boards", "3-1", "--out", "x.pbn"), 2),
        (("generate", "--boards", "1-4", "--out", "no/such/x.pbn"), 2),
        (("generate", "--boards", "1-4"), 2),
        (("generate", "--boards", "1-4", "--out", "x.hrf"), 2),
        (("generate", "--boards", "1-4", "--seed", "1", "--set", "ab", "--out", "x.pbn"), 2),
        (("generate", "--boards", "1-4", "--set", "0011223344556677", "--out", "x.pbn"), 1),
        (("nonsense",), 2),
    ],
)
def test_exit_codes(run, words, code):
    Path("empty.pbn").write_bytes(b"")
    Path("noise.pbn").write_bytes(random.Random(1).randbytes(500) + b"\x00")
    Path("bad.pbn").write_text(
        '[Board "1"]\n[Deal "N:AKQJT9876543... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"]'
    )
    run("generate", "--boards", "1-2", "--out", "good.pbn")
    got, report = run(*words, "--json")
    assert got == code
    assert report["ok"] is False
    assert sorted(report["error"]) == ["code", "next", "what", "where"]
    assert "Traceback" not in run.said
    assert [path.name for path in Path().iterdir() if path.suffix == ".part"] == []


def test_thousands_of_boards_take_the_fast_path_and_are_the_same(run):
    code, report = run("generate", "--boards", "1-2100", "--seed", "5", "--out", "a.pbn", "--json")
    assert (code, report["boards"]) == (0, 2100)
    code, report = run("generate", "--boards", "1-40", "--seed", "5", "--out", "b.pbn", "--json")
    big, small = read_deal_file("a.pbn"), read_deal_file("b.pbn")
    assert big.boards[:40] == small.boards
    assert big.set_id == small.set_id
    code, report = run("generate", "--boards", "1-2100", "--out", "c.pbn", "--json")
    assert report["origin"] == "own"
    code, report = run("history", "--json")
    assert report["deals"] == 2100


def test_small_sets_wait_for_no_large_module(tmp_path):
    script = (
        "import sys\nfrom firmware_bridge.cli.main import main\n"
        f"main(['deal', 'generate', '--boards', '1-4', '--out', {str(tmp_path / 'a.pbn')!r},"
        f" '--data', {str(tmp_path)!r}])\n"
        "print([m for m in ('numpy', 'rich', 'construct', 'starlette', 'uvicorn', 'reportlab', 'endplay') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("count", [60, 2500])
def test_full_disk_leaves_nothing_and_records_nothing(run, monkeypatch, count):
    """The disk is full after some bytes: no file, no half file, no history, and the right file is blamed."""
    from dealer import files

    class Full:
        def __init__(self, file):
            self._file = file

        def write(self, data):
            if self._file.tell() + len(data) > 8000:
                raise OSError(28, "No space left on device")
            return self._file.write(data)

        def __getattr__(self, name):
            return getattr(self._file, name)

        def __enter__(self):
            self._file.__enter__()
            return self

        def __exit__(self, *error):
            return self._file.__exit__(*error)

    real = os.fdopen
    monkeypatch.setattr(files.os, "fdopen", lambda *words: Full(real(*words)))
    code, report = run("generate", "--boards", f"1-{count}", "--out", "a.pbn", "--json")
    monkeypatch.undo()
    assert (code, report["error"]["code"]) == (1, "write-failed")
    assert report["error"]["where"].endswith("a.pbn")
    assert not list(Path().glob("*a.pbn*"))
    assert not list(Path().glob(".a.pbn*"))


def test_extension_elsewhere_says_that_the_chain_is_missing(run):
    run("generate", "--boards", "1-4", "--out", "a.pbn")
    code, report = run("generate", "--extend", "a.pbn", "--boards", "5", "--out", "b.pbn", "--data", "other", "--json")
    assert (code, report["fingerprint"]) == (0, "")
    assert [row["code"] for row in report["repairs"]] == ["chain-missing"]


@pytest.mark.parametrize("boards", ["1-4", "1-2500"])
def test_a_file_that_is_replaced_is_said(run, boards):
    assert run("generate", "--boards", boards, "--out", "a.pbn", "--json")[1]["repairs"] == []
    code, report = run("generate", "--boards", boards, "--out", "a.pbn", "--json")
    assert code == 0
    assert [row["code"] for row in report["repairs"]] == ["replaced"]
    assert run("generate", "--boards", "2501-2502", "--extend", "a.pbn", "--out", "a.pbn", "--json")[0] == 0
    assert "replaced" not in run.said


def test_repairs_are_listed_by_line(run):
    assert run("generate", "--boards", "1-3", "--out", "a.pbn")[0] == 0
    text = Path("a.pbn").read_bytes().decode()
    text = text.replace('[Vulnerable "None"]', '[Vulnerable "Love"]').replace('[Dealer "E"]', '[Dealer "S"]')
    Path("b.pbn").write_bytes(("\ufeff" + text).encode())
    code, report = run("verify", "b.pbn", "--json")
    assert code == 0
    lines = [row["line"] for row in report["repairs"]]
    placed = [line for line in lines if line is not None]
    assert len(placed) >= 2
    assert lines[: len(placed)] == sorted(placed)
