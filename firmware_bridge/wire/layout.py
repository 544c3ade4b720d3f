"""Field types of the protocol, and how a dataclass becomes a layout.

A message is a frozen dataclass whose annotations name the types of docs/protocol.md (``U16``, ``Str8``, ...), in the
order of the wire. ``MessageType`` derives the construct layout from them, so that fields and layout can't drift apart.
construct is used interpreted only: its generated parsers accept payloads that are too short.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Annotated, Any, get_args, get_type_hints

from construct import (
    Adapter,
    Bytes,
    Construct,
    ConstructError,
    GreedyBytes,
    Int8ul,
    Int16ul,
    Int32ul,
    Int64ul,
    Prefixed,
    PrefixedArray,
    StringError,
    Struct,
)

from firmware_bridge.wire.wire_error import WireError


@dataclass(frozen=True, slots=True)
class FieldType:
    """One type of the page. name: as written there; size: bytes, None if variable; subcon: does it in construct.

    item: the dataclass of the items of a list, if they are more than numbers.
    """

    name: str
    size: int | None
    subcon: Construct
    item: type[Any] | None = None


class _Text(Adapter):  # type: ignore[misc]  # construct is not typed
    """UTF-8 text of at most ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(Prefixed(Int8ul, GreedyBytes))
        self.limit = limit

    def _decode(self, obj: bytes, context: Any, path: str) -> str:
        if len(obj) > self.limit:
            raise StringError("too long", path=path)
        try:
            return obj.decode("utf-8")
        except UnicodeDecodeError:
            raise StringError("not UTF-8", path=path) from None

    def _encode(self, obj: str, context: Any, path: str) -> bytes:
        try:
            data = obj.encode("utf-8")
        except UnicodeEncodeError:
            raise StringError("not UTF-8", path=path) from None
        if len(data) > self.limit:
            raise StringError("too long", path=path)
        return data


class _Blob(Adapter):  # type: ignore[misc]  # construct is not typed
    """At most ``limit`` raw bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(Prefixed(Int16ul, GreedyBytes))
        self.limit = limit

    def _decode(self, obj: bytes, context: Any, path: str) -> bytes:
        if len(obj) > self.limit:
            raise StringError("too long", path=path)
        return obj

    def _encode(self, obj: bytes, context: Any, path: str) -> bytes:
        if len(obj) > self.limit:
            raise StringError("too long", path=path)
        return obj


class _List(Adapter):  # type: ignore[misc]  # construct is not typed
    """At most ``limit`` items, as a tuple."""

    def __init__(self, item: Construct, limit: int) -> None:
        super().__init__(PrefixedArray(Int8ul, item))
        self.limit = limit

    def _decode(self, obj: list[Any], context: Any, path: str) -> tuple[Any, ...]:
        if len(obj) > self.limit:
            raise StringError("too many", path=path)
        return tuple(obj)

    def _encode(self, obj: tuple[Any, ...], context: Any, path: str) -> list[Any]:
        if len(obj) > self.limit:
            raise StringError("too many", path=path)
        return list(obj)


class _Item(Adapter):  # type: ignore[misc]  # construct is not typed
    """A dataclass inside a message."""

    def __init__(self, cls: type[Any]) -> None:
        layout = layout_of(cls)
        super().__init__(Struct(*(name / kind.subcon for name, kind in layout)))
        self.cls = cls
        self.names = tuple(name for name, _ in layout)

    def _decode(self, obj: dict[str, Any], context: Any, path: str) -> Any:
        return self.cls(*(obj[name] for name in self.names))

    def _encode(self, obj: Any, context: Any, path: str) -> dict[str, Any]:
        return {name: getattr(obj, name) for name in self.names}


_U64 = FieldType("u64", 8, Int64ul)
_U16 = FieldType("u16", 2, Int16ul)

U8 = Annotated[int, FieldType("u8", 1, Int8ul)]
U16 = Annotated[int, _U16]
U32 = Annotated[int, FieldType("u32", 4, Int32ul)]
U64 = Annotated[int, _U64]
Bytes4 = Annotated[bytes, FieldType("bytes[4]", 4, Bytes(4))]
Bytes6 = Annotated[bytes, FieldType("bytes[6]", 6, Bytes(6))]
Bytes8 = Annotated[bytes, FieldType("bytes[8]", 8, Bytes(8))]
Bytes13 = Annotated[bytes, FieldType("bytes[13]", 13, Bytes(13))]
Bytes14 = Annotated[bytes, FieldType("bytes[14]", 14, Bytes(14))]
Str8 = Annotated[str, FieldType("str8", None, _Text(255))]
Str8Max32 = Annotated[str, FieldType("str8", None, _Text(32))]
BLOB_LIMIT = 1024
Blob16 = Annotated[bytes, FieldType("blob16", None, _Blob(BLOB_LIMIT))]
U64ListMax8 = Annotated[tuple[int, ...], FieldType("list8[u64]", None, _List(_U64.subcon, 8))]
U16List = Annotated[tuple[int, ...], FieldType("list8[u16]", None, _List(_U16.subcon, 255))]


def list_of(cls: type[Any], name: str) -> FieldType:
    """The type ``list8[name]`` of items that are themselves a dataclass with a layout."""
    return FieldType(f"list8[{name}]", None, _List(_Item(cls), 255), cls)


def layout_of(cls: type[Any]) -> tuple[tuple[str, FieldType], ...]:
    """Names and types of a dataclass's fields in wire order."""
    hints = get_type_hints(cls, include_extras=True)
    layout = []
    for item in fields(cls):
        kinds = [extra for extra in get_args(hints[item.name])[1:] if isinstance(extra, FieldType)]
        if len(kinds) != 1:
            raise TypeError(f"{cls.__name__}.{item.name} has no place on the wire")
        layout.append((item.name, kinds[0]))
    return tuple(layout)


class Direction(Enum):
    """Who sends a message."""

    BOTH = "both ways"
    TO_DEVICE = "to the device"
    FROM_DEVICE = "from the device"


@dataclass(frozen=True, slots=True)
class MessageType:
    """A kind of message: its number and name on the page, its dataclass, who sends it and how.

    sequenced: its frames take link sequence numbers. command: it changes the world and begins with a command id.
    hidden: traces leave its payload out, because it holds cards or words that people wrote.
    """

    kind: int
    name: str
    cls: type[Any]
    direction: Direction
    sequenced: bool = True
    command: bool = False
    hidden: bool = False
    layout: tuple[tuple[str, FieldType], ...] = field(init=False, repr=False)
    _struct: Construct = field(init=False, repr=False)
    _size: int | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        layout = layout_of(self.cls)
        sizes = [kind.size for _, kind in layout]
        set_once: Callable[[Any, str, Any], None] = object.__setattr__
        set_once(self, "layout", layout)
        set_once(self, "_struct", Struct(*(name / kind.subcon for name, kind in layout)))
        set_once(self, "_size", None if None in sizes else sum(size or 0 for size in sizes))

    @property
    def size(self) -> int | None:
        """Bytes of the payload, None if it varies."""
        return self._size

    def parse(self, payload: bytes) -> Any:
        """The message in ``payload``. Raises WireError unless the payload fits the layout to the last byte."""
        if self._size is not None and len(payload) != self._size:
            raise WireError(f"{self.name} has {self._size} bytes, not {len(payload)}.", code="malformed")
        stream = io.BytesIO(payload)
        try:
            values = self._struct.parse_stream(stream)
        except ConstructError as error:
            raise WireError(
                f"{self.name} of {len(payload)} bytes does not fit its table{_field_named(error)}.", code="malformed"
            ) from None
        if stream.tell() != len(payload):
            raise WireError(
                f"{self.name} of {len(payload)} bytes has {len(payload) - stream.tell()} too many.", code="malformed"
            )
        return self.cls(*(values[name] for name, _ in self.layout))

    def build(self, message: Any) -> bytes:
        """The payload of ``message``. Raises WireError, naming the field, if a value has no room on the wire."""
        try:
            data: bytes = self._struct.build({name: getattr(message, name) for name, _ in self.layout})
        except (ConstructError, TypeError, AttributeError) as error:
            raise WireError(
                f"{self.name} can't be sent{_field_named(error)}: a value has no room on the wire."
            ) from None
        return data


def _field_named(error: Exception) -> str:
    # construct's own text quotes the value, which may be a card; only the name of the field is passed on.
    path = getattr(error, "path", None)
    if not path or "->" not in path:
        return ""
    return f" at {path.split('->', 1)[1].strip()}"
