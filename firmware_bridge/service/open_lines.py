"""Which base stations are reached over a network that others are in as well: what comes from there must be signed."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from drivers.registry import normal_url


def open_lines(urls: Iterable[str]) -> frozenset[str]:
    """Those of ``urls`` that are TCP and not within this computer."""
    return frozenset(url for url in urls if _is_open(url))


def _is_open(url: str) -> bool:
    parts = urlsplit(normal_url(url))
    if parts.scheme.lower() != "tcp":
        return False
    host = parts.hostname or ""
    if host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True
