"""House rules of the simulator: it shares no code with the host, and a state folder has one user and one seed."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hwsim.codec
from hwsim import state
from hwsim.evidence import Evidence, FileEvidence, NoEvidence
from hwsim.state import StateError, StateFolder

ROOM = Path(hwsim.codec.__file__).parent


def test_the_simulator_imports_only_itself_and_the_standard_library() -> None:
    allowed = {"hwsim", "usb", *sys.stdlib_module_names}
    for path in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] in allowed, f"{path.name} imports {name}"


def test_a_state_folder_keeps_its_seed(tmp_path: Path) -> None:
    first = StateFolder.open(tmp_path / "s", None, 41)
    assert first.seed == 41
    first.close()
    again = StateFolder.open(tmp_path / "s", None, 99)
    assert again.seed == 41
    again.close()
    with pytest.raises(StateError, match="belongs to seed 41, not 42"):
        StateFolder.open(tmp_path / "s", 42, 0)
    same = StateFolder.open(tmp_path / "s", 41, 0)
    same.close()


def test_a_state_folder_has_one_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "LOCK_WAIT", 0.1)
    first = StateFolder.open(tmp_path / "s", 1, 0)
    code = (
        "import sys; from pathlib import Path; from hwsim import state; state.LOCK_WAIT = 0.1\n"
        "try: state.StateFolder.open(Path(sys.argv[1]), 1, 0)\n"
        "except state.StateError as error: print(error)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "s")]
    assert "is using" in subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    first.close()
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout == ""


def test_evidence_is_appended_line_by_line(tmp_path: Path) -> None:
    for number in range(3):
        evidence = FileEvidence(tmp_path / "e")
        evidence.write("truth", {"at": number})
        assert (tmp_path / "e" / "truth.jsonl").read_text().count("\n") == number + 1  # before it is closed
        evidence.close()
    if os.name == "posix":
        assert (tmp_path / "e" / "truth.jsonl").stat().st_mode & 0o077 == 0
    kept = Evidence()
    kept.write("faults", {"kind": "jam"})
    assert kept.lines == {"faults": [{"kind": "jam"}]}
    nothing = NoEvidence()
    nothing.write("faults", {"kind": "jam"})
    assert nothing.lines == {}
