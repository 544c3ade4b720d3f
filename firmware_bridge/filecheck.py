"""A leaf for everybody who opens a file that a user named: only regular files are read or replaced.

A pipe would make the program wait for ever, a device would be replaced by a file for the whole machine.
"""

from __future__ import annotations

import os
import stat


def not_regular(path: str | os.PathLike[str]) -> str:
    """Why ``path`` is no regular file ("a directory", "a pipe", ...); "" when it is one, or does not exist."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return ""
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISDIR(mode):
        return "a directory"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "a device"
    return "no regular file"
