"""What is wrong with many deals at once: the checks of ``dealer.verify``, and repeats among millions of indices."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dealer.bulk import BulkDeals, pack_hands


def verify_bulk(deals: BulkDeals) -> list[int]:
    """Places of the deals that are no deals or that no shuffled pack gives; an empty list when all are good.

    Counts 13 different cards for each of three hands that share none, which leaves 13 for West, and looks at the few
    deals whose spades or hearts could belong to an unshuffled pack one by one.
    """
    from dealer.verify import unshuffled_name

    north, east, south = pack_hands(deals)
    thirteen = np.uint8(13)
    bad = (
        (np.bitwise_count(north) != thirteen)
        | (np.bitwise_count(east) != thirteen)
        | (np.bitwise_count(south) != thirteen)
        | (north & east != 0)
        | ((north | east) & south != 0)
    )
    places = [int(place) for place in np.flatnonzero(bad)]
    odd = _odd_holdings()
    for place in np.flatnonzero(odd[deals.masks[0, 0]] & odd[deals.masks[0, 1]] & odd[deals.masks[0, 2]]):
        if int(place) not in places and unshuffled_name(deals.deal(int(place))):
            places.append(int(place))
    return sorted(places)


@lru_cache(maxsize=1)
def _odd_holdings() -> npt.NDArray[np.bool_]:
    """Holdings of one hand in one suit that an unshuffled pack can give: every fourth card, or cards in one piece."""
    odd = np.zeros(8192, dtype=np.bool_)
    for order in (list(range(13)), [*range(1, 13), 0]):
        for start in range(13):
            for size in range(14):
                run = [order[(start + place) % 13] for place in range(size)]
                odd[sum(1 << (12 - rank) for rank in run)] = True
        for start in range(4):
            odd[sum(1 << (12 - order[place]) for place in range(start, 13, 4))] = True
    return odd


def repeated_places(index: npt.NDArray[np.uint32]) -> list[int]:
    """Places of deals that are in ``index`` more than once (the later ones)."""
    if len(index) < 2:
        return []
    top = index[:, 0].astype(np.uint64)
    top <<= np.uint64(32)
    top |= index[:, 1]
    top.sort()
    if not np.any(top[1:] == top[:-1]):
        return []
    _, first = np.unique(index, axis=0, return_index=True)
    return sorted(set(range(len(index))) - {int(place) for place in first})
