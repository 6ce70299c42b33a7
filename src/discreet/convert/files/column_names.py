"""Valid column names: none empty, no duplicates."""

from __future__ import annotations

from collections.abc import Iterable


def unique_names(names: Iterable[object]) -> list[str]:
    """The names as text; an empty one becomes 'column_<position>', the second 'age' becomes 'age_2', and so on.

    A name that occurs once in the source is never changed to make room for another.

    >>> unique_names(["age", "age", "", "age_2", None])
    ['age', 'age_3', 'column_3', 'age_2', 'column_5']
    """
    originals = ["" if name is None else str(name) for name in names]
    originals = [name if name.strip() else f"column_{position}" for position, name in enumerate(originals, 1)]
    reserved, used, result = set(originals), set[str](), list[str]()
    next_number: dict[str, int] = {}
    for name in originals:
        if name not in used:
            result.append(name)
        else:
            suffix = next_number.get(name, 2)
            while f"{name}_{suffix}" in reserved:
                suffix += 1
            next_number[name] = suffix + 1
            result.append(f"{name}_{suffix}")
            reserved.add(result[-1])
        used.add(result[-1])
    return result
