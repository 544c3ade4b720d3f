"""XML from outside, safely: bounded, without entities, without fetching anything, with a repair for the usual slips.

A DOCTYPE is accepted and ignored: published result files name several addresses of a DTD, none of which is ever
fetched (``defusedxml`` forbids external references and entity definitions). A bare ``&`` and HTML's named characters
are the usual slips; they are repaired and reported.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from html.entities import name2codepoint
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
from defusedxml.common import DefusedXmlException

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.interop.exchange import MAX_FILE_BYTES

MAX_DEPTH = 40
MAX_ELEMENTS = 8_000_000
_BARE = re.compile(rb"&(?!(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos);)")
_NAMED = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,8});")
_DECLARATION = re.compile(rb"\s*<\?xml[^>]{0,120}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_DECLARATION_TEXT = re.compile(r"\A\s*<\?xml[^>]{0,160}\?>")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def parse_xml(data: bytes, where: str = "") -> tuple[Element, list[str]]:
    """The root element and what had to be repaired.

    Raises EntryError (exit status 2) for what is no XML, too large or too deep, defines entities or refers outside.
    """
    if not data.strip():
        raise _unusable("The file is empty.", where)
    if len(data) > MAX_FILE_BYTES:
        raise _unusable(f"The file is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB.", where)
    data, recoded = _as_declared(data.lstrip(b" \t\r\n"))  # some programs begin with an empty line, which XML forbids
    repairs = list(recoded)
    try:
        root = _parse(data)
    except ParseError as first:
        repaired, more = _repair(data)
        if not more:
            raise _no_xml(first, where) from None
        repairs += more
        try:
            root = _parse(repaired)
        except ParseError as second:
            raise _no_xml(second, where) from None
        except DefusedXmlException:
            raise _forbidden(where) from None
    except DefusedXmlException:
        raise _forbidden(where) from None
    except (LookupError, ValueError) as error:  # an unknown or multi-byte encoding in the declaration
        raise _unusable(f"The file's encoding can't be read: {str(error)[:80]}.", where) from None
    _check_depth(root, where)
    return root, repairs


def _as_declared(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The data in an encoding that its declaration agrees with, and what had to be repaired for that.

    Programs write a declaration as text, and the file in whatever the computer's encoding is.
    """
    start = data[:400].removeprefix(BOM_UTF8).removeprefix(BOM_UTF16_LE).removeprefix(BOM_UTF16_BE)
    declaration = _DECLARATION.match(start.replace(b"\0", b""))
    declared = declaration[1].decode("ascii").lower() if declaration else "utf-8"
    wide = data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\0" in data[:4]
    if wide:
        name = (
            "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-16-be" if data[0] == 0 else "utf-16-le"
        )
        text = data.decode(name, "replace").removeprefix("\ufeff")
    elif declared in ("utf-8", "utf8", "utf-16", "utf16", "us-ascii", "ascii"):
        name = "utf-8"
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            name = "windows-1252"
            text = data.decode("cp1252", "replace")
        if name == declared.replace("utf8", "utf-8") or (name == "utf-8" and "ascii" in declared and text.isascii()):
            return data, ()
    else:
        return data, ()
    bare = _DECLARATION_TEXT.sub("", text, count=1)
    if wide and declared in ("utf-16", "utf16"):
        return bare.encode("utf-8"), ()  # said rightly; what follows looks for slips in single bytes
    return bare.encode("utf-8"), (f"the file says that it is {declared}, but is written in {name}",)


def _parse(data: bytes) -> Element:
    return defusedxml.ElementTree.fromstring(data, forbid_dtd=False, forbid_entities=True, forbid_external=True)


def _repair(data: bytes) -> tuple[bytes, list[str]]:
    repairs: list[str] = []

    def line_of(position: int, text: bytes) -> int:
        return text.count(b"\n", 0, position) + 1

    def named(match: re.Match[bytes]) -> bytes:
        name = match.group(1).decode("ascii")
        if name in ("amp", "lt", "gt", "quot", "apos"):
            return match.group(0)
        code = name2codepoint.get(name)
        return match.group(0) if code is None else f"&#{code};".encode("ascii")

    replaced = _NAMED.sub(named, data)
    if replaced != data:
        repairs.append("characters are written by HTML names, such as &eacute;")
    bare = _BARE.search(replaced)
    if bare:
        repairs.append(f"line {line_of(bare.start(), replaced)}: & is not written as &amp;")
        replaced = _BARE.sub(b"&amp;", replaced)
    cleaned = _CONTROL.sub(b"", replaced)
    if cleaned != replaced:
        repairs.append("control characters were left out")
    return cleaned, repairs


def _check_depth(root: Element, where: str) -> None:
    level = [root]
    depth = count = 0
    while level:
        depth += 1
        count += len(level)
        if depth > MAX_DEPTH or count > MAX_ELEMENTS:
            raise _unusable("The file has too many elements, or too many inside each other.", where)
        level = [child for element in level for child in element]


def _no_xml(error: ParseError, where: str) -> EntryError:
    line, _ = error.position
    return _unusable(f"This is no XML file: {str(error).split(':')[0]}, line {line}.", where)


def _forbidden(where: str) -> EntryError:
    return _unusable("The file defines entities or refers to other files; that is not accepted.", where)


def _unusable(what: str, where: str) -> EntryError:
    return EntryError(what, where=where, code="unparsable", exit_status=ExitStatus.USAGE)


def text_of(element: Element, tag: str, default: str = "") -> str:
    """The stripped text of a child, or ``default``."""
    found = element.find(tag)
    return (found.text or "").strip() if found is not None else default
