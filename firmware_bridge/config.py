"""Where this machine keeps its things, and what ``config.toml`` may say.

Order of authority: flags over environment over ``config.toml`` over defaults. Unknown keys are refused, because a
misspelt key that is silently ignored is found on the evening on which it matters.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from firmware_bridge.errors import ConfigError

DATA_VARIABLE = "FIRMWARE_BRIDGE_DATA"
MAX_CONFIG_BYTES = 1_000_000
PACKS = ("red-blue", "any")
"""Red packs for odd boards and blue for even ones, or any pack, where the dealing machine sees the backs."""


@dataclass(frozen=True, slots=True)
class Config:
    """``config.toml`` of one machine; every key is optional. director_pin: the club's, for every new event that has
    none of its own; four digits, never 0000. packs: which backs go into which boards, of ``PACKS``."""

    club: str = ""
    machine: str = ""
    stations: tuple[str, ...] = field(default=())
    host: str = "127.0.0.1"
    port: int = 8080
    director_pin: str = field(default="", repr=False)
    packs: str = "red-blue"


def data_directory(flag: str | Path | None = None) -> Path:
    """The data directory: the flag, else FIRMWARE_BRIDGE_DATA, else the platform's default. Not created here.

    Raises ConfigError when the name is taken by something that is no directory.
    """
    if flag:
        path = Path(flag)
    elif os.environ.get(DATA_VARIABLE):
        path = Path(os.environ[DATA_VARIABLE])
    else:
        from platformdirs import user_data_path

        path = user_data_path("firmware-bridge", appauthor=False)
    if path.exists() and not path.is_dir():
        raise ConfigError(
            "the data directory is a file.",
            where=str(path),
            next_step="Give a directory with --data.",
            code="data-directory",
        )
    return path


def ensure_directory(path: Path) -> Path:
    """Create a directory that only its owner may look into. Raises ConfigError when that can't be done."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(path, os.W_OK):
            raise PermissionError(13, "no permission to write")
        load_config(path)  # a misspelt key is told by every command, not only by the one that needs it
    except OSError as error:
        raise ConfigError(
            f"the directory can't be used: {error.strerror or error}.",
            where=str(path),
            next_step="Give another one with --data.",
            code="data-directory",
        ) from error
    return path


def load_config(directory: Path) -> Config:
    """Read ``config.toml`` of a data directory. Raises ConfigError naming the key."""
    path = directory / "config.toml"
    if not path.exists():
        return Config()
    import tomllib  # here, because most commands never get this far

    try:
        if path.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError("the file is far too long.", where=str(path), code="config")
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"the file can't be read: {error}.",
            where=str(path),
            next_step="Correct it, or move it away.",
            code="config",
        ) from error
    return _checked(found, path)


def _checked(found: dict[str, Any], path: Path) -> Config:
    kinds: dict[str, type | tuple[type, ...]] = {
        "club": str,
        "machine": str,
        "stations": list,
        "host": str,
        "port": int,
        "director_pin": str,
        "packs": str,
    }
    known = {f.name for f in fields(Config)}
    for key, value in found.items():
        if key not in known:
            raise ConfigError(
                f"unknown key {key!r}.",
                where=str(path),
                next_step=f"Known keys: {', '.join(sorted(known))}.",
                code="config-key",
            )
        if not isinstance(value, kinds[key]) or isinstance(value, bool):
            raise ConfigError(f"the key {key!r} has a value of the wrong kind.", where=str(path), code="config-value")
    stations = tuple(found.get("stations", ()))
    if not all(isinstance(url, str) for url in stations):
        raise ConfigError("the key 'stations' is a list of device URLs.", where=str(path), code="config-value")
    port = found.get("port", Config().port)
    if not 0 <= port <= 65535:
        raise ConfigError("the key 'port' is a number from 0 to 65535.", where=str(path), code="config-value")
    pin = found.get("director_pin", "")
    if pin and (len(pin) != 4 or not (pin.isascii() and pin.isdigit()) or pin == "0000"):
        raise ConfigError(
            "the key 'director_pin' has four digits, and not 0000: everybody tries that first.",
            where=str(path),
            code="config-value",
        )
    if found.get("packs", PACKS[0]) not in PACKS:
        raise ConfigError(f"the key 'packs' is one of {', '.join(PACKS)}.", where=str(path), code="config-value")
    return Config(**{**found, "stations": stations})
