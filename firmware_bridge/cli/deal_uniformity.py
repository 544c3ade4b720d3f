"""``deal uniformity``: the tests of the generator with fresh keys, for anybody who does not believe it."""

from __future__ import annotations

import click

from firmware_bridge.cli.output import Outcome, command, progress
from firmware_bridge.errors import DealError

LIMIT = 1e-6
"""A fair generator falls below this in one test of one run in a million."""


@click.command("uniformity")
@click.option("--deals", type=click.IntRange(1, 100_000_000), default=1_000_000, show_default=True)
@click.option("--seed", help="Repeat a run; without it every run has fresh keys from the operating system.")
@command("deal uniformity")
def uniformity(deals: int, seed: str | None) -> Outcome:
    """Deal at random and test whether it was uniform.

    The tests are fixed and all are printed. Expect p-values spread evenly between 0 and 1; the command fails when one
    is below 0.000001.
    """
    import os

    from dealer.bulk import random_indices, unrank
    from dealer.generate import RandBytes, SeededBytes
    from dealer.uniformity import Source, first_deals, run_suite, table_text

    source: RandBytes = os.urandom if seed is None else SeededBytes(seed)
    told = [0]

    def tell(done: int) -> None:
        if done // 2_000_000 > told[0]:
            told[0] = done // 2_000_000
            progress(f"{done} of {deals} deals")

    results = run_suite(deals, randbytes=source, progress=tell)
    runs = min(deals, 2000)
    counter = iter(range(runs))

    def fresh() -> Source:
        key = next(counter)
        stream: RandBytes = os.urandom if seed is None else SeededBytes(f"{seed} run {key}")
        return lambda count: unrank(random_indices(count, stream))

    results.append(first_deals(runs, fresh))
    low = [result for result in results if result.p < LIMIT]
    fields = {
        "deals": deals,
        "seeded": seed is not None,
        "limit": LIMIT,
        "tests": [{"name": r.name, "statistic": r.statistic, "df": r.df, "p": r.p, "remarks": r.note} for r in results],
    }
    error = None
    if low:
        error = DealError(
            f"{len(low)} of {len(results)} tests fail, the first is {low[0].name!r}.",
            next_step="Run it again; if it fails again, do not deal with this computer and report it.",
            code="not-uniform",
        )
    return Outcome(fields, table_text(results), error)
