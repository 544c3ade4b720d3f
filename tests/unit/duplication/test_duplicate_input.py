"""``duplicate``, ``read`` and ``restore`` used wrongly: refused in words before a machine hears of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dealer.duplication.options import JobOptions
from dealer.formats.api import WriteOptions, format_named
from dealer.generate import new_set
from firmware_bridge.cli.main import main
from firmware_bridge.errors import DeviceError

NOBODY = ["--machine", "tcp://127.0.0.1:9"]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "club.pbn"
    path.write_bytes(format_named("pbn").load().write(new_set(range(1, 5), seed=2).boards, WriteOptions()))
    return str(path)


def refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, *words: str) -> tuple[int, dict[str, str]]:
    code = main([*words, "--data", str(tmp_path / "data"), "--json"])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    error = json.loads(out.splitlines()[-1])["error"]
    assert error["what"]
    assert error["next"]
    return code, error


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--boards", "3-9"], "no board 5, 6, 7, 8, 9"),
        (["--boards", "x"], "'x'"),
        (["--boards", ""], "can't be read"),
        (["--copies", "0"], "not in the range"),
        (["--copies", "1000"], "not in the range"),
        (["--order", "backwards"], "not one of"),
        (["--patience", "0"], "not in the range"),
    ],
)
def test_a_plan_that_can_not_be_is_wrong_use(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, file: str, words: list[str], told: str
) -> None:
    code, error = refused(capsys, tmp_path, "duplicate", file, *NOBODY, *words)
    assert code == 2
    assert told in error["what"]


def test_a_machine_has_to_be_named_and_has_to_be_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, file: str
) -> None:
    assert refused(capsys, tmp_path, "duplicate", file)[0] == 2
    code, error = refused(capsys, tmp_path, "duplicate", file, *NOBODY)
    assert (code, error["where"]) == (1, "127.0.0.1:9")
    code, error = refused(capsys, tmp_path, "machine", "test", *NOBODY)
    assert (code, error["where"]) == (1, "127.0.0.1:9")


def test_a_broken_deal_file_is_named_by_line_and_no_machine_is_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, file: str
) -> None:
    broken = tmp_path / "broken.pbn"
    broken.write_bytes(Path(file).read_bytes()[:400])
    code, error = refused(capsys, tmp_path, "duplicate", str(broken), *NOBODY)
    assert code == 1
    assert "broken.pbn" in error["where"]
    assert refused(capsys, tmp_path, "read", "--verify", str(broken), *NOBODY)[0] == 1
    assert refused(capsys, tmp_path, "restore", str(broken), "--board", "1", "--yes")[0] == 1


def test_a_board_that_is_not_there_is_said_before_anybody_is_asked_to_confirm(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, file: str
) -> None:
    code, error = refused(capsys, tmp_path, "restore", file, "--board", "9")
    assert (code, error["code"]) == (2, "no-such-board")
    assert refused(capsys, tmp_path, "read", "--verify", file, "--boards", "9", *NOBODY)[0] == 2


@pytest.mark.parametrize("flag", [None, "red-blue", "any"])
@pytest.mark.parametrize("config", [None, "any"])
@pytest.mark.parametrize("command", ["duplicate", "evening"])
def test_which_packs_go_into_which_boards_is_said_by_flag_or_once_for_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str, command: str, config: str | None, flag: str | None
) -> None:
    asked: list[JobOptions] = []

    async def make_boards(*_: object, options: JobOptions, **__: object) -> None:
        asked.append(options)
        raise DeviceError("that is all.")

    place = "dealing" if command == "duplicate" else "evening"
    monkeypatch.setattr(f"firmware_bridge.service.{place}.make_boards", make_boards)
    data = tmp_path / "data"
    data.mkdir()
    if config is not None:
        (data / "config.toml").write_text(f'packs = "{config}"')
    words = [file] if command == "duplicate" else ["--station", NOBODY[1], "--pairs", "8", "--boards", "8"]
    said = ["--packs", flag] if flag is not None else []
    assert main([command, *words, *NOBODY, *said, "--data", str(data)]) == 1
    assert [options.packs for options in asked] == [flag or config or "red-blue"]


def test_packs_of_no_kind_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, file: str) -> None:
    assert refused(capsys, tmp_path, "duplicate", file, *NOBODY, "--packs", "green")[0] == 2
    assert refused(capsys, tmp_path, "evening", "--simulate", "--packs", "any")[0] == 2
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "config.toml").write_text('packs = "green"')
    code, error = refused(capsys, tmp_path, "duplicate", file, *NOBODY)
    assert (code, "'packs'" in error["what"]) == (2, True)
