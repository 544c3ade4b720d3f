"""Deal files at rest, sealed with a passphrase: who deals may play, and a file on a club PC is read by anybody.

One file: a magic line, the parameters of the key derivation (scrypt), a nonce, and the deal file itself under
AES-256-GCM together with its name. A wrong passphrase and a damaged file look the same, on purpose. Opened in memory
only; no plain copy is written unless the user asks for one by name.
"""

from __future__ import annotations

import os
import struct
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from firmware_bridge.errors import ConfigError, DealError, ExitStatus

MAGIC = b"firmware-bridge sealed deals 1\n"
MAX_BYTES = 64 * 1024 * 1024
MIN_PASSPHRASE = 8

_HEADER = struct.Struct("<BBB16s12s")  # log2 n, r, p, salt, nonce
_LOG_N, _R, _P = 15, 8, 1
"""scrypt: 32 MiB and about a tenth of a second, also on a Raspberry Pi a second at most."""

_MAX_LOG_N, _MAX_R, _MAX_P = 18, 16, 4
"""What a file may ask of this machine before it is refused."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A deal file that was sealed. ``name``: its file name, without any directory."""

    name: str
    data: bytes = field(repr=False)


def is_sealed(data: bytes) -> bool:
    """True when these are the bytes of a sealed file."""
    return data.startswith(MAGIC)


def seal(data: bytes, passphrase: str, *, name: str = "", randbytes: Callable[[int], bytes] = os.urandom) -> bytes:
    """The sealed file. Raises ConfigError for a passphrase that is too short, DealError for a file too large."""
    if len(passphrase) < MIN_PASSPHRASE:
        raise ConfigError(
            f"The passphrase is too short: {MIN_PASSPHRASE} characters or more are wanted.",
            next_step="Choose a few words that nobody at the club would guess.",
        )
    if len(data) > MAX_BYTES:
        raise DealError("The file is too large to be sealed.", code="file-too-large")
    title = os.path.basename(name).encode(errors="replace")[:255]
    header = MAGIC + _HEADER.pack(_LOG_N, _R, _P, randbytes(16), randbytes(12))
    key, nonce = _key(header, passphrase)
    plain = bytes([len(title)]) + title + data
    return header + AESGCM(key).encrypt(nonce, plain, header)


def unseal(sealed: bytes, passphrase: str, *, where: str = "") -> Opened:
    """The file that was sealed.

    Raises DealError: code "not-sealed" (exit status 2) for other bytes, "wrong-passphrase" when passphrase or file is
    wrong.
    """
    if not is_sealed(sealed) or len(sealed) < len(MAGIC) + _HEADER.size + 17 or len(sealed) > 2 * MAX_BYTES:
        raise DealError(
            "This is not a sealed deal file, or it is cut short.",
            where=where,
            next_step="Check the file name.",
            code="not-sealed",
            exit_status=ExitStatus.USAGE,
        )
    header, body = sealed[: len(MAGIC) + _HEADER.size], sealed[len(MAGIC) + _HEADER.size :]
    key, nonce = _key(header, passphrase, where)
    try:
        plain = AESGCM(key).decrypt(nonce, body, header)
    except InvalidTag:
        raise DealError(
            "The passphrase is wrong, or the file is damaged.",
            where=where,
            next_step="Try the passphrase again; if that does not help, take the file from its backup.",
            code="wrong-passphrase",
        ) from None
    length = plain[0]
    return Opened(plain[1 : 1 + length].decode(errors="replace"), plain[1 + length :])


def _key(header: bytes, passphrase: str, where: str = "") -> tuple[bytes, bytes]:
    log_n, r, p, salt, nonce = _HEADER.unpack(header[len(MAGIC) :])
    if not 10 <= log_n <= _MAX_LOG_N or not 1 <= r <= _MAX_R or not 1 <= p <= _MAX_P:
        raise DealError(
            "The file asks for a key derivation that this program refuses.",
            where=where,
            next_step="It was not written by this program, or is damaged.",
            code="not-sealed",
            exit_status=ExitStatus.USAGE,
        )
    # The same words typed on another keyboard may arrive composed otherwise, or in another character set.
    secret = unicodedata.normalize("NFC", passphrase).encode(errors="surrogateescape")
    return Scrypt(salt=salt, length=32, n=1 << log_n, r=r, p=p).derive(secret), nonce
