"""``python -m hwsim machine|station``: one simulated device behind a pty or a TCP port.

Prints one line of JSON when the device is ready and then nothing more. Ends on SIGTERM, SIGINT or, with
``--with-parent``, when standard input ends; then the evidence is complete and ``summary.json`` is in the state folder.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from dataclasses import replace
from pathlib import Path

from hwsim.endpoints import open_endpoint
from hwsim.evidence import Evidence, FileEvidence, NoEvidence
from hwsim.line import Device
from hwsim.machine.device import Machine
from hwsim.machine.faults import KINDS as MACHINE_FAULTS
from hwsim.machine.faults import Fault, FaultError, parse_fault
from hwsim.machine.pack import CODE_BOOKS
from hwsim.machine.profile import PROFILES
from hwsim.memory import Media
from hwsim.numbers import Capability
from hwsim.runner import Runner
from hwsim.speeds import SPEEDS, Speed
from hwsim.state import StateFolder
from hwsim.station.device import Station
from hwsim.station.faults import KINDS as STATION_FAULTS

MAX_TERMINALS = 2000


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hwsim", description="Simulated bridge-club hardware.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--line", default="pty" if os.name == "posix" else "tcp://127.0.0.1:0", metavar="pty|tcp://...")
    common.add_argument("--link", type=Path, metavar="PATH", help="keep a symlink to the pty under this name")
    common.add_argument("--baud", type=int, default=115200)
    common.add_argument("--state", type=Path, required=True, metavar="DIR", help="memory and truth, kept between runs")
    common.add_argument("--seed", type=int, default=None)
    common.add_argument("--speed", choices=SPEEDS, default="real")
    common.add_argument("--evidence", type=Path, metavar="DIR")
    common.add_argument("--with-parent", action="store_true", help="end when standard input does")
    devices = parser.add_subparsers(dest="device", required=True)
    machine = devices.add_parser("machine", parents=[common], help="a dealing machine and its operator")
    machine.add_argument("--profile", choices=PROFILES, default="fast")
    machine.add_argument("--no-label-reader", action="store_true")
    machine.add_argument("--two-packs", action="store_true", help="two packs at a time, with a stop card between")
    machine.add_argument("--code", choices=CODE_BOOKS, default="strong", help="what is printed on the cards")
    machine.add_argument("--sorted-pack", action="store_true", help="packs come sorted, for a test deal")
    known = "; ".join(f"{kind}: {what}" for kind, what in MACHINE_FAULTS.items())
    machine.add_argument("--fault", action="append", default=[], metavar="KIND@CARD[,for=N]", help=known)
    station = devices.add_parser("station", parents=[common], help="a base station with terminals and players")
    known = "; ".join(f"{kind}: {what}" for kind, what in STATION_FAULTS.items())
    station.add_argument("--fault", action="append", default=[], metavar="KIND@RECORD[,for=N]", help=known)
    station.add_argument("--terminals", type=int, default=7)
    station.add_argument("--corrections", type=float, default=0.0, metavar="SHARE", help="results keyed in wrong first")
    station.add_argument("--do-not-wait", action="store_true", help="tables do not wait for each other between rounds")
    station.add_argument(
        "--checks", action="store_true", help="each entry is compared by the host before it is accepted"
    )
    station.add_argument("--curious", action="store_true", help="tables look at travellers, rankings and recaps")
    station.add_argument("--sign-in", action="store_true", help="players say who they are before they play")
    return parser


def _device(
    args: argparse.Namespace, speed: Speed, media: Media, evidence: Evidence, faults: list[Fault], now: float
) -> Device:
    byte_time = 10 / args.baud if speed.paced else 0.0
    if args.device == "station":
        return Station(
            media,
            now,
            terminals=args.terminals,
            seed=args.seed,
            speed=speed,
            evidence=evidence,
            wait_for_all=not args.do_not_wait,
            corrections=args.corrections,
            checks=args.checks,
            curious=args.curious,
            sign_in=args.sign_in,
            faults=faults,
            byte_time=byte_time,
        )
    profile = replace(PROFILES[args.profile], code=args.code)
    if args.no_label_reader:
        profile = profile.without(Capability.LABEL | Capability.ORIENTATION)
    return Machine(
        media,
        now,
        seed=args.seed,
        speed=speed,
        profile=profile,
        evidence=evidence,
        faults=faults,
        byte_time=byte_time,
        sorted_pack=args.sorted_pack,
        two_packs=args.two_packs,
    )


def main(argv: list[str] | None = None) -> int:
    """0 after an orderly end; 2, with one sentence on stderr, if it cannot begin."""
    args = _parser().parse_args(argv)
    speed = SPEEDS[args.speed]
    try:
        if not 300 <= args.baud <= 4_000_000:
            raise ValueError(f"--baud is 300 to 4000000, not {args.baud}")
        if args.device == "station" and not 1 <= args.terminals <= MAX_TERMINALS:
            raise ValueError(f"--terminals is 1 to {MAX_TERMINALS}, not {args.terminals}")
        kinds = STATION_FAULTS if args.device == "station" else MACHINE_FAULTS
        faults = [parse_fault(text, kinds) for text in args.fault]
        state = StateFolder.open(args.state, args.seed, random.SystemRandom().getrandbits(32))
        args.seed = state.seed
        evidence = FileEvidence(args.evidence) if args.evidence else NoEvidence()
        device = _device(args, speed, state.media, evidence, faults, time.monotonic())
        endpoint = open_endpoint(args.line, args.baud, args.link)
    except (FaultError, ValueError, OSError) as error:
        print(f"hwsim: {error}", file=sys.stderr)
        return 2
    runner = Runner(device, endpoint, args.baud if speed.paced else None, time.monotonic)
    runner.stop_on_signals()
    if args.with_parent:
        runner.stop_with_parent()
    ready = {"ready": True, "device": args.device, "url": endpoint.url, "seed": args.seed, "speed": speed.name}
    print(json.dumps(ready), flush=True)
    runner.run()
    device.close()
    summary = {"device": args.device, "seed": args.seed, **runner.line.statistics(), **device.statistics()}
    fresh = args.state / "summary.json.new"
    fresh.write_text(json.dumps(summary) + "\n")
    os.replace(fresh, args.state / "summary.json")
    state.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
