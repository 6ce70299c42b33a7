"""discreet demo: a generated hospital table walks through the house."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show

_RISK = {"known_sets": {"alpha": 1, "epsilon": 0.01, "threshold": 0.5}, "k_anonymity": {}}
_LIMITS = {"k_anonymity.k": 5, "ncp.loss": 0.6, "integrity.mean": 0.01}
_STEPS = (
    {"method": "remove_identifiers"},
    {"method": "generalization", "k": 5, "suppression_limit": 0.02},
    {"method": "rounding", "columns": ["income", "bill"], "base": 100, "how": "random"},
)


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where the files go.")] = Path("demo"),
    records: Annotated[int, typer.Option("--records", min=100, help="How many patients to make up.")] = 2000,
) -> None:
    """Make up a hospital table and take it through convert, analyze, risk, mask and assess."""
    from discreet import convert, verbs
    from discreet.convert.writing.atomic import write_text
    from discreet.engine.runtime.private_files import create_private_folder
    from discreet.model.policy import Policy
    from discreet.testing import hospital

    if not folder.exists():
        create_private_folder(folder)
    table, parquet, proposal = folder / "hospital.csv", folder / "hospital.parquet", folder / "proposed.yaml"
    chosen, released = folder / "policy.yaml", folder / "released.csv"
    made = hospital(records)
    with show.progress():
        _title("1. convert: a table of patients, made up, from CSV to Parquet")
        verbs.write(made, table, overwrite=True)
        height, width = convert.convert(table, parquet, Policy(), overwrite=True)
        print(f"{height:,} records x {width} attributes: {table} -> {parquet}\n")

        _title("2. analyze: what each attribute is to the owner and to an intruder, as proposed")
        found = verbs.analyze(verbs.read(parquet))
        write_text(proposal, found.to_yaml(), private=True)
        fields = ("attribute", "role", "level", "known", "sensitivity")
        show.table("", fields, [[row[field] for field in fields] for row in found.rows()])
        print(f"with a reason for each in {proposal}; what the owner made of it is in {chosen}\n")

        policy = Policy.from_dict(
            made.policy.model_dump(exclude_defaults=True)
            | {"risk": _RISK, "limits": _LIMITS, "plan": {"steps": [dict(step) for step in _STEPS]}}
        )
        write_text(chosen, policy.to_yaml(), private=True)
        data = verbs.read(parquet, chosen)

        _title("3. risk: which records are at risk before anything is masked")
        show.scores(risks := verbs.risk(data), verbs.meanings("risk", risks))
        rows = risks["known_sets"].per_record
        worst = 0 if rows is None else rows["risk"].arg_max() or 0
        print("\n".join(verbs.explain(data, worst, ["known_sets"])) + "\n")

        _title("4. mask: the plan, step by step")
        release = verbs.mask(data)
        verbs.write(release, released, overwrite=True)
        show.release(release)

        _title("5. assess: risk before and after, what was lost, and the verdict")
        assessment = verbs.assess(data, release)
        show.assessment(assessment)
    for warning in (*release.warnings, *assessment.warnings):
        show.say(f"note: {warning}")
    print(f"{assessment.sentences[-1] if assessment.ok else assessment.sentences[0]} The release is in {released}. By hand:\n")
    print(f"  discreet mask {parquet} {released} -p {chosen} --overwrite\n  discreet assess {parquet} {released} -p {chosen}")
    raise typer.Exit(0 if assessment.ok else 1)


def _title(text: str) -> None:
    print(f"{text}\n{'-' * len(text)}")
