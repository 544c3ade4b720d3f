"""``soak``: long simulated runs with faults, in virtual time, judged by what is physically true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.errors import ConfigError, FirmwareBridgeError

FAULTS = click.Choice(["none", "realistic", "harsh"])


@click.group()
def soak() -> None:
    """Run long simulations that try to break the two promises; the same seed gives the same trace."""


@soak.command("dealing")
@click.option(
    "--boards", type=click.IntRange(1, 90_000), default=300, show_default=True, help="Physical boards to make."
)
@click.option("--faults", type=FAULTS, default="realistic", show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True)
@click.option("--machine", type=click.Choice(["fast", "camera", "diy"]), default="fast", show_default=True)
@click.option(
    "--carrier",
    type=click.Choice(["serial", "usb", "gpio", "gpio-polled", "all"]),
    default="serial",
    show_default=True,
    help="What lies between program and machine; on pins the machine is the home-built one.",
)
@click.option(
    "--code",
    type=click.Choice(["strong", "weak"]),
    default="strong",
    show_default=True,
    help="Code on the cards; a reader can't tell the weak one's damaged cards from others.",
)
@click.option("--evidence", type=click.Path(path_type=Path), help="Write evidence of the run into this new directory.")
@command("soak dealing")
def dealing(
    boards: int, faults: str, seed: int, machine: str, carrier: str, code: str, evidence: Path | None
) -> Outcome:
    """Make thousands of boards on a machine that breaks, and look into every board that is called good."""
    from firmware_bridge.simulation.soak_dealing import SoakOptions
    from firmware_bridge.simulation.soak_dealing import soak as run

    if code == "weak" and carrier not in ("serial", "usb"):
        raise ConfigError(
            "The reader of a machine on pins reads the strong code.",
            where=f"--carrier {carrier} --code weak",
            next_step="Choose --carrier serial or usb with the weak code.",
        )
    _prepare(evidence, f"soak dealing {boards} {faults} {seed} {machine} {carrier} {code}")
    options = SoakOptions(
        boards=boards, faults=faults, seed=seed, machine=machine, carrier=carrier, code=code, evidence=evidence
    )
    result = run(options)
    fields = {
        "seed": seed,
        "fault_profile": faults,
        "machine": "diy" if carrier.startswith("gpio") else machine,
        "carrier": carrier,
        "code": code,
        **result.as_dict(),
    }
    wrong = result.wrong_good
    error = None
    if wrong:
        error = _broken(f"{wrong} boards were called good whose true cards differ.", seed)
    return Outcome(fields, _text(fields), error=error)


@soak.command("results")
@click.option("--terminals", type=click.IntRange(2, 5000), default=100, show_default=True)
@click.option(
    "--hours", type=click.FloatRange(0.05, 48), default=4.0, show_default=True, help="Simulated hours of play."
)
@click.option("--faults", type=FAULTS, default="realistic", show_default=True)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True)
@click.option("--evidence", type=click.Path(path_type=Path), help="Write evidence of the run into this new directory.")
@click.option("--restore", is_flag=True, help="In mid-evening put an older backup of the database back.")
@click.option("--without", default="", metavar="SAFEGUARD", help="Leave a safeguard out: the run must then fail.")
@command("soak results")
def results(
    terminals: int, hours: float, faults: str, seed: int, evidence: Path | None, restore: bool, without: str
) -> Outcome:
    """Play an evening at many tables over bad lines, and compare what screens showed with what is stored."""
    from firmware_bridge.simulation.soak_results import SoakOptions
    from firmware_bridge.simulation.soak_results import soak as run

    _prepare(evidence, f"soak results {terminals} {hours} {faults} {seed}")
    result = run(SoakOptions(terminals, hours, faults, seed, evidence, without, restore))
    fields = {"seed": seed, "fault_profile": faults, "terminals": terminals, "hours": hours, **result.as_dict()}
    error = None
    if not result.passed:
        words = f"{result.lost} results are lost, {result.duplicated} are doubled, {result.invented} were never sent,"
        words += f" {result.missing} never came, {result.waiting} are still waiting at terminals."
        error = _control(words, without) if without else _broken(words, seed)
    elif without:
        error = FirmwareBridgeError(
            f"this run could not see that the safeguard {without} was left out.",
            next_step="Let it run for longer, or with more faults.",
            code="control-saw-nothing",
        )
    return Outcome(fields, _text(fields), error=error)


def _prepare(evidence: Path | None, run: str) -> None:
    from firmware_bridge.cli.running import quiet_log
    from firmware_bridge.service.evidence import prepare_evidence

    quiet_log()

    if evidence is not None:
        prepare_evidence(evidence, run)


def _control(what: str, without: str) -> FirmwareBridgeError:
    return FirmwareBridgeError(
        what,
        where=f"without {without}",
        next_step="That is what the safeguard is for: with it the same run must pass.",
        code="safeguard-left-out",
    )


def _broken(what: str, seed: int) -> FirmwareBridgeError:
    return FirmwareBridgeError(
        what,
        where=f"seed {seed}",
        next_step="Please report the command and its seed: this must never happen.",
        code="promise-broken",
    )


def _text(fields: dict[str, Any]) -> str:
    width = max(len(name) for name in fields)
    return "\n".join(f"{name.replace('_', ' '):<{width}}  {_words(value)}" for name, value in fields.items())


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items()) or "none"
    return str(value)
