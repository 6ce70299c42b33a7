"""Column names that a table can have: none empty, none twice."""

from __future__ import annotations

from collections.abc import Iterable


def unique(names: Iterable[object]) -> list[str]:
    """The names as text; an empty one is 'column_<its place>', the second of a name is '<name>_2', and so on.

    A name that stands once in the source keeps its spelling whatever the others become.

    >>> unique(["age", "age", "", "age_2", None])
    ['age', 'age_3', 'column_3', 'age_2', 'column_5']
    """
    wanted = ["" if name is None else str(name) for name in names]
    wanted = [name if name.strip() else f"column_{place}" for place, name in enumerate(wanted, 1)]
    taken, given, made = set(wanted), set[str](), list[str]()
    tried: dict[str, int] = {}
    for name in wanted:
        if name not in given:
            made.append(name)
        else:
            number = tried.get(name, 2)
            while f"{name}_{number}" in taken:
                number += 1
            tried[name] = number + 1
            made.append(f"{name}_{number}")
            taken.add(made[-1])
        given.add(made[-1])
    return made
