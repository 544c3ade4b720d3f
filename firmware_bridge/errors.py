"""The errors of the whole program: a small tree by phase, each saying what happened, where, and what to do next.

Every error that a person may see is a ``FirmwareBridgeError``. Its words are meant for a club operator five minutes
before the session; its ``code`` is a stable word for scripts (``error.code`` of the ``--json`` object).
"""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit codes of every command."""

    OK = 0
    FAILED = 1  # input that was parsed but is bad, a missing or failing device, a run that fell short
    USAGE = 2  # wrong use, or input that is missing, empty or unparsable
    INTERRUPTED = 130
    TERMINATED = 143


class FirmwareBridgeError(Exception):
    """Base of all errors that are meant to be read by a person.

    what: what happened, one sentence, no card of an unplayed board in it.
    where: board, device, table, file and line, or "" when there is no place to name.
    next_step: what the reader should do now, or "".
    code: stable identifier, lower-case words joined by "-".
    exit_status: the exit code of a command that ends with this error.
    """

    default_code = "error"
    default_exit_status = ExitStatus.FAILED

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        next_step: str = "",
        code: str | None = None,
        exit_status: ExitStatus | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next_step = next_step
        self.code = code or self.default_code
        self.exit_status = self.default_exit_status if exit_status is None else exit_status

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} {self.next_step}" if self.next_step else text

    def as_dict(self) -> dict[str, str]:
        """The ``error`` object of a command's ``--json`` line."""
        return {"code": self.code, "what": self.what, "where": self.where, "next": self.next_step}


class LinkError(FirmwareBridgeError):
    """Bytes and sessions: what came over a line is not what the protocol allows, or nothing comes any more."""

    default_code = "link"


class LinkLost(LinkError):
    """The other end is gone: unplugged, powered off, or silent for too long."""

    default_code = "link-lost"


class ProtocolMismatch(LinkError):
    """The other end speaks, but not a protocol that this program knows."""

    default_code = "protocol-mismatch"


class DeviceError(FirmwareBridgeError):
    """A device is missing, refuses a command, or reports a fault."""

    default_code = "device"


class DealError(FirmwareBridgeError):
    """A deal, a board or a deal file that can't be."""

    default_code = "deal"


class EntryError(FirmwareBridgeError):
    """A contract, result, movement or ruling that can't be."""

    default_code = "entry"


class StoreError(FirmwareBridgeError):
    """A file or database that can't be read or written, or holds what it must not hold."""

    default_code = "store"


class ConfigError(FirmwareBridgeError):
    """Wrong use: a flag, an environment variable or ``config.toml``."""

    default_code = "usage"
    default_exit_status = ExitStatus.USAGE
