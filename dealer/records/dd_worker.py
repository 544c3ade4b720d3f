"""The process that holds the double-dummy library: it reads deals on stdin and writes tricks on stdout.

Some builds of the library crash when a process that loaded it ends, and two of them in one process crash at once;
here they may, after the results are out. Started by ``dealer.records.double_dummy`` as ``python -m`` with the library's
path and the number of threads. A request is a count (one byte), a mode (one byte, 255 for no par) and 52 owners a deal;
the answer is the count, 20 bytes of tricks a deal (strains S H D C NT by seats N E S W), and with a mode 144 bytes a
deal of the library's own par. A count of 0 ends the process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import BinaryIO

MAX_DEALS = 40
_TABLES = 200


class _Deals(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("cards", ctypes.c_uint * 4 * 4 * _TABLES)]


class _Results(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("tricks", ctypes.c_int * 4 * 5 * _TABLES)]


class _Par(ctypes.Structure):
    _fields_ = [("score", ctypes.c_char * 16 * 2), ("contracts", ctypes.c_char * 128 * 2)]


class _Pars(ctypes.Structure):
    _fields_ = [("pars", _Par * 40)]


def solve(library: ctypes.CDLL, owners: list[bytes], mode: int) -> bytes:
    """Answer to one request. Raises RuntimeError with the library's error number."""
    deals, results, pars = _Deals(), _Results(), _Pars()
    deals.count = len(owners)
    for place, deal in enumerate(owners):
        for card, seat in enumerate(deal):
            deals.cards[place][seat][card // 13] |= 1 << (14 - card % 13)
    filters = (ctypes.c_int * 5)(0, 0, 0, 0, 0)
    code = library.CalcAllTables(
        ctypes.byref(deals), -1 if mode == 255 else mode, filters, ctypes.byref(results), ctypes.byref(pars)
    )
    if code != 1:
        raise RuntimeError(str(code))
    answer = bytearray()
    for place in range(len(owners)):
        for strain in range(5):
            answer += bytes(int(number) for number in results.tricks[place][strain])
        if mode != 255:
            par = pars.pars[place]
            for side in (0, 1):
                answer += bytes(par.score[side].value).ljust(16, b"\x00")
                answer += bytes(par.contracts[side].value)[:56].ljust(56, b"\x00")
    return bytes(answer)


def serve(library: ctypes.CDLL, source: BinaryIO, target: BinaryIO) -> None:
    while True:
        head = source.read(2)
        if len(head) < 2 or not 0 < head[0] <= MAX_DEALS:
            return
        body = source.read(52 * head[0])
        if len(body) < 52 * head[0]:
            return
        owners = [body[52 * place : 52 * place + 52] for place in range(head[0])]
        target.write(head[:1] + solve(library, owners, head[1]))
        target.flush()


def main() -> None:
    # The library prints to stdout on trouble; the answers keep a descriptor of their own.
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    library = ctypes.CDLL(sys.argv[1])
    library.SetMaxThreads(int(sys.argv[2]))
    serve(library, sys.stdin.buffer, target)
    # Leave without the library's own clean-up, which crashes in some builds.
    os._exit(0)


if __name__ == "__main__":
    main()
