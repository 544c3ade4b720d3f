"""``results vps``, ``carry-over`` and ``mismatch``: numbers that a director looks up, each with its regulation."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from firmware_bridge.cli.output import Outcome, command
from firmware_bridge.errors import ConfigError

_FAULTS = ("none", "partly", "full")


def _number(text: str, where: str) -> Fraction:
    """An exact number such as 12.5 or -1/4. Raises ConfigError."""
    try:
        value = Fraction(text) if len(text) <= 16 else None
    except (ValueError, ZeroDivisionError):
        value = None
    if value is None or abs(value) > 100_000:
        raise ConfigError(f"{text[:20]!r} is no number.", where=where, next_step="Write it like 12.5 or -3.")
    return value


@click.command("vps", context_settings={"ignore_unknown_options": True})  # -12 is a margin
@click.argument("margin")
@click.argument("boards", type=click.IntRange(1, 1000))
@click.option("--scale", default="profile", show_default=True, help="continuous, discrete, or FILE.toml.")
@click.option("--profile", default="plain", show_default=True, metavar="NAME|FILE.toml", help="Scoring profile.")
@click.option("--played", type=click.IntRange(0, 1000), help="Boards that were played, where the match lost some.")
@click.option(
    "--fault", type=click.Choice(_FAULTS), default="none", show_default=True, help="Of the side whose margin it is."
)
@command("results vps")
def vps(margin: str, boards: int, scale: str, profile: str, played: int | None, fault: str) -> Outcome:
    """Victory points of a side that won by MARGIN IMPs over BOARDS boards; of a match that lost boards too."""
    from terminals.scoring.profile import VpScale
    from terminals.scoring.profile_file import load_profile, load_vp_table
    from terminals.scoring.rounding import decimal_text
    from terminals.scoring.swiss import Fault, short_match_margin
    from terminals.scoring.vp import VpTable, victory_points

    chosen = load_profile(profile)
    kind: VpScale | VpTable = chosen.vp_scale
    if scale in tuple(VpScale):
        kind = VpScale(scale)
    elif scale != "profile":
        kind = load_vp_table(Path(scale))
    own = _number(margin, "MARGIN")
    counted = own if played is None else short_match_margin(own, played, boards, Fault(fault), chosen)
    won = victory_points(counted, boards, kind)
    name = kind.name if isinstance(kind, VpTable) else kind.value
    fields: dict[str, Any] = {
        "vps": decimal_text(won),
        "margin": decimal_text(counted),
        "boards": boards,
        "scale": name,
    }
    lines = [f"{decimal_text(won)} VP ({name}, {boards} boards, margin {decimal_text(counted)})."]
    if played is None:
        fields["opponents"] = decimal_text(victory_points(-own, boards, kind))
        lines.append(f"Their opponents: {fields['opponents']} VP.")
    elif played < boards:
        lines.append("The match lost boards: EBU White Book 3.3.7-9. Their opponents are looked up by themselves.")
    return Outcome(fields, "\n".join(lines))


@click.command("carry-over")
@click.argument("scored")
@click.option("--length-before", type=click.IntRange(1, 10_000), required=True, help="Length of the first stage.")
@click.option("--maximum-before", required=True, help="The most that could be scored in it.")
@click.option("--length-after", type=click.IntRange(1, 10_000), required=True, help="Length of the next stage.")
@click.option("--maximum-after", required=True, help="The most that can be scored in it.")
@command("results carry-over")
def carry_over_command(
    scored: str, length_before: int, maximum_before: str, length_after: int, maximum_after: str
) -> Outcome:
    """What a contestant that SCORED so much takes along: half of it, by length and maximum of both stages."""
    from terminals.scoring.rounding import decimal_text
    from terminals.scoring.swiss import carry_over

    carried = carry_over(
        _number(scored, "SCORED"),
        length_before=length_before,
        maximum_before=_number(maximum_before, "--maximum-before"),
        length_after=length_after,
        maximum_after=_number(maximum_after, "--maximum-after"),
    )
    text = decimal_text(carried)
    words = f"Carried over: {text} (EBU White Book 3.8). In a running event: td scoring --carry A3={text}"
    return Outcome({"carried": text, "exact": str(carried)}, words)


@click.command("mismatch", context_settings={"ignore_unknown_options": True})
@click.argument("vps")
@click.argument("difference")
@click.option("--at-fault", is_flag=True, help="The contestant caused the wrong match.")
@command("results mismatch")
def mismatch(vps: str, difference: str, at_fault: bool) -> Outcome:
    """What VPS of a wrongly drawn match count for; DIFFERENCE: how far the opponent stood above the right one."""
    from terminals.scoring.rounding import decimal_text
    from terminals.scoring.swiss import mismatch_vp

    text = decimal_text(mismatch_vp(_number(vps, "VPS"), _number(difference, "DIFFERENCE"), at_fault))
    words = f"{text} VP (EBU White Book 3.5.2). In a running event: td ruling award TEAM MATCH {text} --law 82"
    return Outcome({"vps": text}, words)
