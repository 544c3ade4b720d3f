"""The uniformity suite: passes over our generator with keys fixed beforehand, and fails over shuffles that are wrong.

The limit is p < 1e-6 for each test (a false alarm in a hundred thousand runs); every test of TESTS is looked at.
"""

import json
import math
import os
import shutil
import subprocess

import numpy as np
import pytest

from dealer.bulk import BulkDeals, random_indices, rank, unrank
from dealer.deal import N_DEALS
from dealer.formats.api import read_deals
from dealer.generate import SeededBytes
from dealer.uniformity import (
    TESTS,
    ace_table,
    chi_p,
    chi_square,
    first_deals,
    points_table,
    poisson_tails,
    run_suite,
    shape_table,
    stays_variance,
    table_text,
)
from firmware_bridge.cli.main import main

LIMIT = 1e-6


def from_owners(owners):
    """Deals from (52, n) owners: the masks of BulkDeals are (3, 4, n), a bit for each card of a seat's suit."""
    masks = np.zeros((3, 4, owners.shape[1]), dtype=np.uint16)
    for card in range(52):
        for seat in range(3):
            masks[seat, card // 13] |= (owners[card] == seat).astype(np.uint16) << (12 - card % 13)
    return BulkDeals(rank(masks), masks)


def test_exact_tables_count_every_hand():
    hands = math.comb(52, 13)
    assert sum(shape_table().values()) == hands
    assert len(shape_table()) == 39
    assert shape_table()[4040302] == 136_852_887_600
    assert shape_table()[13000000] == 4
    assert sum(points_table()) == hands
    assert (points_table()[0], points_table()[10], points_table()[37]) == (2_310_789_600, 59_723_754_816, 4)
    assert sum(ace_table()) == pytest.approx(1)
    assert ace_table()[0] == pytest.approx(13 * 12 * 11 * 10 / (52 * 51 * 50 * 49))


@pytest.mark.parametrize(
    ("statistic", "df", "p"),
    [(3.841458821, 1, 0.05), (18.30703805, 10, 0.05), (153, 153, 0.48479), (0, 5, 1.0), (398.5, 15, 1.43e-75)],
)
def test_chi_square_tail(statistic, df, p):
    assert chi_p(statistic, df) == pytest.approx(p, rel=1e-3)


def test_poisson_tails():
    assert poisson_tails(0, 2.0) == (pytest.approx(math.exp(-2)), 1.0)
    low, high = poisson_tails(5, 5.0)
    assert low + high == pytest.approx(1 + math.exp(-5) * 5**5 / 120)


def test_cells_that_are_too_small_are_put_together():
    result = chi_square("x", np.array([10, 1, 0, 9]), np.array([10.0, 0.5, 0.5, 9.0]))
    assert result.df == 1


def test_variance_of_the_stays_by_brute_force():
    rng = np.random.default_rng(5)
    base = np.repeat(np.arange(4), 13)
    stays = [(rng.permutation(base) == rng.permutation(base)).sum() for _ in range(20_000)]
    assert np.mean(stays) == pytest.approx(13, abs=0.1)
    assert np.var(stays) == pytest.approx(stays_variance(), rel=0.05)


@pytest.mark.parametrize("key", [1, 2, 3])
def test_our_generator_passes_with_fixed_keys(key):
    results = run_suite(200_000, randbytes=SeededBytes(f"uniformity {key}"))
    assert tuple(result.name for result in results) == TESTS
    assert {result.name: result.p for result in results if result.p < LIMIT} == {}


def test_p_values_are_spread_evenly():
    """A suite whose p-values crowd at 1 would pass anything. Over 40 runs each test's p must look uniform."""
    runs = [run_suite(24_000, randbytes=SeededBytes(f"spread {key}")) for key in range(40)]
    for place, name in enumerate(TESTS):
        if name == "index top bits":
            continue  # no collision is expected in so few deals
        values = np.sort([results[place].p for results in runs])
        steps = (np.arange(40) + 0.5) / 40
        assert np.max(np.abs(values - steps)) < 0.3, name


def test_first_deals_of_fresh_runs():
    keys = iter(range(3000))

    def fresh():
        stream = SeededBytes(f"run {next(keys)}")
        return lambda count: unrank(random_indices(count, stream))

    assert first_deals(3000, fresh).p > LIMIT


def swap_with_any(deals, seed, keep_order):
    """The textbook mistake: each place is swapped with any place. With keep_order the pack is not sorted between deals,
    which hides it from every test that looks at one deal at a time.
    """
    rng = np.random.default_rng(seed)
    pack = list(range(52))
    owners = np.empty((52, deals), dtype=np.uint8)
    for place in range(deals):
        if not keep_order:
            pack = list(range(52))
        for i, j in enumerate(rng.integers(0, 52, 52).tolist()):
            pack[i], pack[j] = pack[j], pack[i]
        for position, card in enumerate(pack):
            owners[card, place] = position // 13
    return from_owners(owners)


def test_suite_fails_over_a_biased_shuffle():
    deals = swap_with_any(20_000, 1, keep_order=False)
    failed = {result.name for result in run_suite(20_000, lambda count: deals) if result.p < LIMIT}
    assert "card by seat" in failed


def test_serial_test_catches_a_shuffle_that_remembers():
    deals = swap_with_any(40_000, 2, keep_order=True)
    results = {result.name: result for result in run_suite(40_000, lambda count: deals)}
    assert results["card by seat"].p > LIMIT
    assert results["shape"].p > LIMIT
    assert results["serial"].p < LIMIT
    assert results["stays"].p < LIMIT
    assert "0.263" in results["stays"].note or "0.264" in results["stays"].note


def test_index_tests_catch_a_modulo_instead_of_rejection():
    def draw(count):
        raw = SeededBytes("modulo")(12 * count)
        indices = [int.from_bytes(raw[at : at + 12], "big") % N_DEALS for at in range(0, len(raw), 12)]
        parts = [[i >> 64, i >> 32 & 0xFFFFFFFF, i & 0xFFFFFFFF] for i in indices]
        return unrank(np.array(parts, dtype=np.uint32))

    results = {result.name: result for result in run_suite(30_000, draw)}
    assert results["index"].p < LIMIT


def test_command_prints_the_table(capsys):
    assert main(["deal", "uniformity", "--deals", "5000", "--json"]) == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [row["name"] for row in report["tests"]] == [*TESTS, "first deal"]
    assert all(0 <= row["p"] <= 1 for row in report["tests"])
    assert "p" in table_text(run_suite(100)).splitlines()[0]


@pytest.mark.external("dealer")
def test_debians_dealer_is_caught_by_the_serial_test():
    """A real program with the fault: its hands look right one by one and remember the deal before."""
    program = shutil.which("dealer", path=os.environ.get("PATH", "") + os.pathsep + "/usr/games")
    script = b"generate 100000\nproduce 6000\naction printpbn\n"
    done = subprocess.run([program, "-s", "1"], input=script, capture_output=True, check=True)
    boards = read_deals(done.stdout, format_name="pbn").boards
    assert len(boards) == 6000
    owners = np.frombuffer(b"".join(board.deal.owners for board in boards), dtype=np.uint8).reshape(-1, 52).T
    results = {result.name: result for result in run_suite(6000, lambda count: from_owners(owners))}
    assert results["stays"].p < LIMIT
    assert results["shape"].p > LIMIT
