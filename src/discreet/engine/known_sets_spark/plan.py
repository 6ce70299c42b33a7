"""How the known sets of a family are counted on a cluster: which by tables, which by what shuffles.

A set whose table (the product of its attributes' values) is small is counted where the rows lie, and the tables are added up and
sent to everybody. All others are covered by few *shuffles*: one by the attributes K brings all records that share K's values into
one partition, where every set that contains K is counted exactly. So the shuffles are a cover of the large sets by subsets of
them, as few as a greedy choice finds.

Where K has a value that too many records share (*heavy*), those records do not move by it. They are few different values, so the
sets behind them have small tables of their own: heavy value x the set's other attributes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.engine.spark.value_counts import Dictionary

LARGEST_TABLE = 1 << 20
ALL_TABLES = 1 << 23
MOVED_FROM = 1 << 12
MOST_ROWS = 16_000_000
_WIDEST_KEY = 3

Members = frozenset[str]
Heavy = tuple[tuple[int, ...], ...]
"""Heavy values of a shuffle: codes in the order of its attributes."""


@dataclass(frozen=True)
class Shuffle:
    """One shuffle: its attributes, their heavy values, and the sets (by number) that it counts."""

    key: tuple[str, ...]
    heavy: Heavy
    sets: tuple[int, ...]


@dataclass(frozen=True)
class Counting:
    """Sets counted by tables and sets counted by shuffles; a set is known by its number in ``members``."""

    members: tuple[tuple[str, ...], ...]
    tables: tuple[int, ...]
    shuffles: tuple[Shuffle, ...]


def plan(
    members: Sequence[tuple[str, ...]],
    dictionary: Mapping[str, Dictionary],
    records: int,
    partitions: int,
    heavy_of: Callable[[tuple[str, ...], int], Heavy],
) -> Counting:
    """Divide the sets; ``heavy_of`` asks the table for the values of a key that more than so many records share."""
    rooms = [room(own, dictionary) for own in members]
    large = _large(rooms)
    if not large:
        return Counting(tuple(members), tuple(range(len(members))), ())
    shares = {name: own.most / max(records, 1) for name, own in dictionary.items()}
    shuffles: list[Shuffle] = []
    left = {at: frozenset(members[at]) for at in large}
    while left:
        key = _best(left, shares, records, partitions)
        heavy: Heavy = ()
        if key is None:
            key, heavy = _heaviest(left, shares, dictionary, records, heavy_of)
        inside = frozenset(key)
        covered = [at for at, own in left.items() if inside <= own and _light(own - inside, heavy, dictionary)]
        shuffles.append(Shuffle(key, heavy, tuple(covered)))
        for at in covered:
            del left[at]
    return _moved(tuple(members), rooms, set(large), shuffles, dictionary)


def room(members: Sequence[str] | Members, dictionary: Mapping[str, Dictionary]) -> int:
    """The entries of a set's table; none is large enough where a wide attribute is in it."""
    if any(dictionary[name].wide for name in members):
        return 1 << 62
    return math.prod(max(1, dictionary[name].cardinality) for name in members)


def _large(rooms: Sequence[int]) -> list[int]:
    """The sets without a table of their own: too large alone, or beyond what all tables together may be."""
    total, chosen = 0, []
    for at in sorted(range(len(rooms)), key=lambda at: (rooms[at], at)):
        if rooms[at] > LARGEST_TABLE or total + rooms[at] > ALL_TABLES:
            chosen.append(at)
        else:
            total += rooms[at]
    return sorted(chosen)


def _bound(key: Sequence[str], shares: Mapping[str, float]) -> float:
    """The largest share of the records that one value of a key can have."""
    return min(shares[name] for name in key)


def _best(left: Mapping[int, Members], shares: Mapping[str, float], records: int, partitions: int) -> tuple[str, ...] | None:
    """The key that covers most sets, of those that spread the rows evenly; of those that at least fit, where none does."""
    times = _covers(left)
    for most in (1 / max(partitions, 1), MOST_ROWS / max(records, 1)):
        able = [key for key in times if _bound(key, shares) <= most]
        if able:
            return min(able, key=lambda key: (-times[key], len(key), _bound(key, shares), key))
    return None


def _covers(left: Mapping[int, Members]) -> dict[tuple[str, ...], int]:
    """Keys of a few attributes, and whole sets, with how many sets contain them."""
    sets = list(left.values())
    names = sorted(frozenset().union(*sets))
    bit = {name: 1 << at for at, name in enumerate(names)}
    kind = np.int64 if len(names) < 63 else object
    masks = np.array([sum(bit[name] for name in own) for own in sets], dtype=kind)
    keys = {key for own in sets for width in range(1, _WIDEST_KEY + 1) for key in combinations(sorted(own), width)}
    keys |= {tuple(sorted(own)) for own in sets}
    bits = {key: sum(bit[name] for name in key) for key in keys if key}
    return {key: int(((masks & own) == own).sum()) for key, own in bits.items()}


def _light(others: Members, heavy: Heavy, dictionary: Mapping[str, Dictionary]) -> bool:
    """Whether the records with heavy values can be counted by a table of these values and the other attributes."""
    return not heavy or not others or len(heavy) * room(others, dictionary) <= LARGEST_TABLE


def _heaviest(
    left: Mapping[int, Members],
    shares: Mapping[str, float],
    dictionary: Mapping[str, Dictionary],
    records: int,
    heavy_of: Callable[[tuple[str, ...], int], Heavy],
) -> tuple[tuple[str, ...], Heavy]:
    """A key with heavy values: the one whose light rows spread and whose heavy ones leave most sets small."""
    most = MOST_ROWS
    guess = max(1, math.ceil(records / most))

    def cover(key: tuple[str, ...]) -> int:
        inside = frozenset(key)
        return sum(inside <= own and guess * room(own - inside, dictionary) <= LARGEST_TABLE for own in left.values())

    keys = sorted(_covers(left), key=lambda key: (-cover(key), len(key), _bound(key, shares), key))
    for key in keys[:8]:
        heavy = heavy_of(key, most)
        inside = frozenset(key)
        if any(inside <= own and _light(own - inside, heavy, dictionary) for own in left.values()):
            return key, heavy
    key = tuple(sorted(next(iter(left.values()))))  # the whole set: nothing is left beside its heavy values
    return key, heavy_of(key, most)


def _moved(
    members: tuple[tuple[str, ...], ...],
    rooms: Sequence[int],
    large: set[int],
    shuffles: list[Shuffle],
    dictionary: Mapping[str, Dictionary],
) -> Counting:
    """Sets with a table of some size that a shuffle counts anyway are left to it."""
    tables, taken = [], [list(own.sets) for own in shuffles]
    for at, own in enumerate(members):
        if at in large:
            continue
        home = next(
            (
                number
                for number, shuffle in enumerate(shuffles)
                if set(shuffle.key) <= set(own) and _light(frozenset(own) - frozenset(shuffle.key), shuffle.heavy, dictionary)
            ),
            None,
        )
        if home is None or rooms[at] < MOVED_FROM:
            tables.append(at)
        else:
            taken[home].append(at)
    filled = tuple(Shuffle(own.key, own.heavy, tuple(sorted(sets))) for own, sets in zip(shuffles, taken, strict=True))
    return Counting(members, tuple(tables), filled)
