"""A page's modules put together into one file when the service starts, so that a phone asks once instead of nine times.

No tool and no build step: the modules keep their names and are joined in the order in which they need each other,
their imports and exports left out. That is the same program as long as no two of them declare the same name, which is
checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_IMPORT = re.compile(r'^import\s*(?:\{([^}]*)\}\s*from\s*)?"\./([\w-]+\.js)";\n?', re.MULTILINE)
_OTHER_IMPORT = re.compile(r"^\s*(?:import\b|export\s*(?:\{|\*|default))", re.MULTILINE)
_DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function\*?|class) +([\w$]+)", re.MULTILINE)
_VARIABLES = re.compile(r"^(?:export )?(?:const|let|var) +", re.MULTILINE)
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|/(?:[^/\\\n ]|\\.)+/')
_COMMENT = re.compile(r"^\s*//[^\n]*\n", re.MULTILINE)
_INDENT = re.compile(r"^[ ]+", re.MULTILINE)


class BundleError(ValueError):
    """Modules that can't be joined; the words name module and reason."""


def bundle(files: Mapping[str, bytes], entry: str) -> bytes:
    """``entry`` and every module that it needs as one module. Raises BundleError when that would change its meaning."""
    parts: list[str] = []
    declared: dict[str, str] = {}
    for name in in_order(files, entry):
        text = _IMPORT.sub("", files[name].decode("utf-8"))
        if _OTHER_IMPORT.search(text):
            raise BundleError(f"{name}: only import {{names}} from a module beside it, and no export lists.")
        for found in declared_in(text):
            if found in declared:
                raise BundleError(f"{name}: {found} is declared in {declared[found]} as well.")
            declared[found] = name
        parts.append(lean(name, re.sub(r"^export ", "", text, flags=re.MULTILINE)))
    return "\n".join(parts).encode()


def lean(name: str, text: str) -> str:
    """A module without its lines of comment and its indentation. Raises BundleError for a text over several lines."""
    if any(line.count("`") % 2 for line in _COMMENT.sub("", text).splitlines()):
        raise BundleError(f"{name}: a text in backquotes ends on the line where it begins.")
    return _INDENT.sub("", _COMMENT.sub("", text))


def declared_in(text: str) -> list[str]:
    """Names that a module declares at its top level, which begins in the first column."""
    found: list[str] = _DECLARED.findall(text)
    bare = _QUOTED.sub('""', _COMMENT.sub("", text))
    for match in _VARIABLES.finditer(bare):
        depth, at, wanted = 0, match.end(), True
        while at < len(bare) and not (depth == 0 and bare[at] == ";"):
            name = re.compile(r"[\w$]+").match(bare, at)
            if wanted and name is not None:
                found.append(name.group())
                at, wanted = name.end(), False
                continue
            depth += (bare[at] in "([{") - (bare[at] in ")]}")
            wanted = (wanted and bare[at].isspace()) or (depth == 0 and bare[at] == ",")
            at += 1
    return found


def in_order(files: Mapping[str, bytes], entry: str) -> list[str]:
    """Modules in the order in which a browser runs them: each after what it imports. Raises BundleError."""
    done: list[str] = []
    begun: set[str] = set()

    def visit(name: str) -> None:
        if name in begun:
            return
        begun.add(name)
        if name not in files:
            raise BundleError(f"there is no module {name}.")
        for imported, other in _IMPORT.findall(files[name].decode("utf-8")):
            if " as " in imported:
                raise BundleError(f"{name}: names are imported as they are.")
            visit(other)
        done.append(name)

    visit(entry)
    return done


def style(files: Mapping[str, bytes], *names: str) -> bytes:
    """Style sheets as one."""
    return b"\n".join(files[name] for name in names)
