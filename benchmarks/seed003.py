"""The experiment that Kartal & Li (2016) had no room for: what protects persons with several records, and at what cost.

    python benchmarks/seed003.py                              # generated patients
    python benchmarks/seed003.py diabetic_data.parquet        # hospital encounters (UCI, Diabetes 130-US Hospitals)
    python benchmarks/seed003.py … --chart risk.svg

Four ways of partitioning the same keys by the same code: record-based k-anonymity, distinct l-diversity of records, distinct
K-anonymity and g-balance with h-affiliation. Prints Markdown tables: for equal loss (NCP) the persons above 50 % and the
largest h, and for equal protection the loss.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import discreet
from discreet.engine.draws.draw import KeyedDraw
from discreet.losses.ncp.measure import Ncp
from discreet.masking.balanced_partition.method import BalancedPartition
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.risks.repeated_records.measure import RepeatedRecords
from discreet.testing import patients

LOSSES = (0.02, 0.05, 0.1, 0.15)
MOST_H = (0.6, 0.5, 0.4)
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200, 250, 320, 400, 500, 650, 800, 1000)
RECORDS = 100_000
DIABETES = {
    "missing": ["?"],
    "attributes": {
        "patient_nbr": {"role": "person"},
        "age": {"role": "key", "order": [f"[{start}-{start + 10})" for start in range(0, 100, 10)]},
        "gender": {"role": "key", "order": ["Female", "Male", "Unknown/Invalid"]},
        "race": {
            "role": "key",
            "hierarchy": {"groups": [{"white": ["Caucasian"], "not white": ["AfricanAmerican", "Asian", "Hispanic", "Other"]}]},
        },
        "time_in_hospital": {"role": "key"},
        "num_medications": {"role": "key"},
        "num_lab_procedures": {"role": "key"},
        "diag_1": {"role": "confidential"},
    },
}


@dataclass(frozen=True)
class Outcome:
    """One partition: what it cost, and what an intruder finds in it."""

    family: str
    setting: str
    loss: float
    over: float
    h: float


def outcomes(data: Microdata) -> list[Outcome]:
    """Every family of partitions over its settings."""
    made = []
    for family, method in settings():
        masked = method.mask(data, data.named(Role.KEY), KeyedDraw(0))
        risk, loss = RepeatedRecords().measure(masked), Ncp().measure(data, masked)
        limits = [(name, getattr(method, name)) for name in ("k", "l", "g", "h")]
        setting = ", ".join(
            f"{name} {value:.3g}" for name, value in limits if value is not None and (family != "l-diversity" or name == "l")
        )
        made.append(Outcome(family, setting, loss["loss"], risk["over_threshold_share"], risk["max_h"]))
    return made


def settings() -> Iterable[tuple[str, BalancedPartition]]:
    for size in SIZES:
        yield "k-anonymity (records)", BalancedPartition(criterion="records", k=size)
        yield "distinct K-anonymity", BalancedPartition(criterion="persons", k=size)
        if size <= 20:
            yield "l-diversity", BalancedPartition(criterion="records", k=size, l=size)
        # as balanced as so many persons with equally many records
        yield "g-balance", BalancedPartition(g=1 - 1 / size)
        for h in MOST_H:
            yield f"g-balance, h* {h}", BalancedPartition(g=1 - 1 / size, h=h)


def equal_loss(found: list[Outcome]) -> None:
    families = ["k-anonymity (records)", "l-diversity", "distinct K-anonymity", "g-balance", "g-balance, h* 0.5"]
    print("| NCP about | method | setting | NCP | persons above 50 % | largest h |\n|---|---|---|---|---|---|")
    for target in LOSSES:
        for family in families:
            one = min((o for o in found if o.family == family), key=lambda o: abs(o.loss - target))
            if abs(one.loss - target) <= 0.15 * target:
                print(f"| {target} | {family} | {one.setting} | {one.loss:.4f} | {one.over:.3%} | {one.h:.3f} |")
            else:
                print(f"| {target} | {family} | no setting comes near | | | |")


def equal_protection(found: list[Outcome]) -> None:
    print("| nobody above 50 %, and h at most | method | setting | NCP |\n|---|---|---|---|")
    for most in MOST_H:
        for family in ("k-anonymity (records)", "l-diversity", "distinct K-anonymity", "g-balance", f"g-balance, h* {most}"):
            kept = [o for o in found if o.family == family and o.over == 0 and o.h <= most]
            one = min(kept, key=lambda o: o.loss, default=None)
            print(f"| {most} | {family} | {one.setting} | {one.loss:.4f} |" if one else f"| {most} | {family} | not reached | |")


def chart(found: list[Outcome], target: str) -> None:
    """Loss against the persons above 50 % and against the largest h, a line a family."""
    import altair as alt

    families = ["k-anonymity (records)", "l-diversity", "distinct K-anonymity", "g-balance, h* 0.5"]
    rows = [
        {"method": o.family, "loss": o.loss, "persons above 50 %": 100 * o.over, "largest h": o.h}
        for o in sorted(found, key=lambda o: o.loss)
        if o.family in families
    ]
    base = alt.Chart(alt.Data(values=rows)).mark_line(point=True).encode(
        x=alt.X("loss:Q", title="loss (NCP)", scale=alt.Scale(domain=[0, 2 * max(LOSSES)], clamp=False)),
        color=alt.Color("method:N", sort=families, title=None),
    )  # fmt: skip
    base = base.transform_filter(f"datum.loss <= {2 * max(LOSSES)}").properties(width=300, height=240)
    over = base.encode(y=alt.Y("persons above 50 %:Q", title="persons found with more than 50 %, in %"))
    most = base.encode(y=alt.Y("largest h:Q", title="largest h-affiliation", scale=alt.Scale(domain=[0, 1])))
    (over | most).save(target)


def main() -> None:
    arguments = sys.argv[1:]
    target = arguments[arguments.index("--chart") + 1] if "--chart" in arguments else None
    files = [argument for argument in arguments if not argument.startswith("--") and argument != target]
    data = discreet.read(files[0], DIABETES) if files else stays(RECORDS)
    persons = RepeatedRecords().measure(data)
    print(
        f"{data.source}: {len(data):,} records of {persons['persons']:,} persons, keys {', '.join(data.named(Role.KEY))}; ",
        end="",
    )
    print(f"before masking {persons['over_threshold_share']:.1%} of the persons are found with more than 50 %\n")
    found = outcomes(data)
    equal_loss(found)
    print()
    equal_protection(found)
    if target:
        chart(found, target)


def stays(size: int) -> Microdata:
    """The generated patients; race has no order to be cut in and is no key here, diagnosis is confidential."""
    data = patients(size)
    changed = {
        name: attribute.model_copy(update={"role": Role.OTHER}) if name in ("race", "medication", "charge") else attribute
        for name, attribute in data.policy.attributes.items()
    }
    return data.with_policy(data.policy.with_(attributes=changed))


if __name__ == "__main__":
    main()
