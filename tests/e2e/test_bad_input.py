"""What a club operator gets for bad input: what, where, what next, an exit code, and never a traceback."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from evening_runs import firmware_bridge

from dealer.generate import new_set

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")


def error_of(*words: str, code: int) -> dict[str, str]:
    run = firmware_bridge(*words, "--json")
    assert run.code == code, run.out + run.err
    assert run.result["ok"] is False
    error = run.result["error"]
    assert error["what"]
    assert set(error) == {"code", "what", "where", "next"}
    return dict(error)


def pbn(path: Path, text: str) -> str:
    path.write_text(f'[Board "1"]\n[Deal "{text}"]\n', encoding="ascii")
    return str(path)


def test_a_hand_with_twelve_cards(tmp_path: Path) -> None:
    hands = new_set([1], seed=1).boards[0].deal.to_pbn().split()
    hands[1] = hands[1][:-1] if hands[1][-1] != "." else hands[1][1:]
    file = pbn(tmp_path / "twelve.pbn", " ".join(hands))
    for words in (
        ["evening", "--simulate", "--deals", file, "--data", str(tmp_path / "data")],
        ["duplicate", file, "--machine", "tcp://127.0.0.1:9", "--data", str(tmp_path / "data")],
    ):
        error = error_of(*words, code=1)
        assert "12 cards" in error["what"]
        assert "line 2" in error["where"]
        assert "twelve.pbn" in error["where"]


@pytest.mark.parametrize("content", ["", "\n\n", "% PBN 2.1\n", "\x00\x01\x02" * 100])
def test_a_file_that_is_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.pbn"
    path.write_text(content, encoding="latin-1")
    error_of("evening", "--simulate", "--deals", str(path), "--data", str(tmp_path / "data"), code=2)
    error_of("evening", "--simulate", "--deals", str(tmp_path / "none.pbn"), "--data", str(tmp_path / "d"), code=2)
    assert not (tmp_path / "data" / "evening.json").exists()


def good_file(tmp_path: Path) -> str:
    return pbn(tmp_path / "good.pbn", new_set([1], seed=1).boards[0].deal.to_pbn())


def test_a_port_that_does_not_exist(tmp_path: Path) -> None:
    words = ["--data", str(tmp_path / "data")]
    error = error_of("duplicate", good_file(tmp_path), "--machine", "serial:///dev/ttyNOSUCH0", *words, code=1)
    assert "ttyNOSUCH0" in error["where"] + error["what"]
    assert error["next"]
    error = error_of(
        "evening", "--machine", "serial:///dev/ttyNOSUCH0", "--station", "serial:///dev/ttyNOSUCH1", *words, code=1
    )
    assert "ttyNOSUCH" in error["where"] + error["what"]


@pytest.mark.parametrize("url", ["", "nonsense", "serial://", "tcp://host", "http://x", "serial:///dev/x?bauds=1"])
def test_a_url_that_is_none(tmp_path: Path, url: str) -> None:
    error_of("duplicate", good_file(tmp_path), "--machine", url, "--data", str(tmp_path / "data"), code=2)


@pytest.fixture
def web_server() -> Iterator[int]:
    """Something on the network that speaks another protocol."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.recv(100)
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\nnot here" * 20)
                    connection.recv(100000)
                except OSError:
                    pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.close()


def test_a_device_that_speaks_another_protocol(tmp_path: Path, web_server: int) -> None:
    url = f"tcp://127.0.0.1:{web_server}"
    error = error_of("duplicate", good_file(tmp_path), "--machine", url, "--data", str(tmp_path / "data"), code=1)
    assert str(web_server) in error["where"]
    assert error["next"]


def test_without_simulate_devices_must_be_named(tmp_path: Path) -> None:
    error = error_of("evening", "--data", str(tmp_path / "data"), code=2)
    assert "--simulate" in error["next"]


@pytest.mark.parametrize(
    "words",
    [
        ["--tables", "1"],
        ["--tables", "5", "--boards", "13"],
        ["--pairs", "0"],
        ["--boards", "-3"],
        ["--speed", "warp"],
        ["--seed", "x"],
        ["--nonsense"],
    ],
)
def test_flags_that_can_not_be(tmp_path: Path, words: list[str]) -> None:
    error_of("evening", "--simulate", "--data", str(tmp_path / "data"), *words, code=2)


def test_a_data_directory_that_can_not_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    error_of("evening", "--simulate", "--data", str(tmp_path / "file"), code=2)
    if os.name == "posix" and os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        error_of("evening", "--simulate", "--data", str(tmp_path / "locked"), code=2)


def test_an_evidence_directory_of_another_run(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    folder.mkdir()
    (folder / "truth.jsonl").write_text("{}\n")
    words = ["--data", str(tmp_path / "data"), "--evidence", str(folder)]
    error = error_of("evening", "--simulate", *words, code=2)
    assert error["code"] == "evidence-directory"
