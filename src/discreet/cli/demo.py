"""discreet demo: a generated hospital table goes through all the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output

_RISK = {"known_sets": {"alpha": 1, "epsilon": 0.01, "threshold": 0.5}, "k_anonymity": {}}
_LIMITS = {"k_anonymity.k": 5, "ncp.loss": 0.6, "integrity.mean": 0.01}
_STEPS = (
    {"method": "remove_identifiers"},
    {"method": "generalization", "k": 5, "suppression_limit": 0.02},
    {"method": "rounding", "columns": ["income", "bill"], "base": 100, "how": "random"},
)


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Write the files to this folder.")] = Path("demo"),
    records: Annotated[int, typer.Option("--records", min=100, help="Number of generated patients.")] = 2000,
) -> None:
    """Generate a hospital table and take it through convert, analyze, risk, mask and assess."""
    from discreet import convert, verbs
    from discreet.convert.writing.atomic import write_text
    from discreet.engine.runtime.private_files import create_private_folder
    from discreet.model.policy import Policy
    from discreet.testing import hospital

    if not folder.exists():
        create_private_folder(folder)
    table, parquet, proposal = folder / "hospital.csv", folder / "hospital.parquet", folder / "proposed.yaml"
    policy_file, released = folder / "policy.yaml", folder / "released.csv"
    patients = hospital(records)
    with output.show_progress():
        _print_title("1. convert: a generated table of patients, from CSV to Parquet")
        verbs.write(patients, table, overwrite=True)
        height, width = convert.convert(table, parquet, Policy(), overwrite=True)
        print(f"{height:,} records x {width} attributes: {table} -> {parquet}\n")

        _print_title("2. analyze: a proposed role, known probability and sensitivity for each attribute")
        profile = verbs.analyze(verbs.read(parquet))
        write_text(proposal, profile.to_yaml(), private=True)
        fields = ("attribute", "role", "level", "known", "sensitivity")
        output.print_table("", fields, [[row[field] for field in fields] for row in profile.rows()])
        print(f"reasons for each in {proposal}; the policy that the owner decided on is in {policy_file}\n")

        policy = Policy.from_dict(
            patients.policy.model_dump(exclude_defaults=True)
            | {"risk": _RISK, "limits": _LIMITS, "plan": {"steps": [dict(step) for step in _STEPS]}}
        )
        write_text(policy_file, policy.to_yaml(), private=True)
        data = verbs.read(parquet, policy_file)

        _print_title("3. risk: which records are at risk before masking")
        scores = verbs.risk(data)
        output.print_scores(scores, verbs.meanings("risk", scores))
        per_record = scores["known_sets"].per_record
        riskiest = 0 if per_record is None else per_record["risk"].arg_max() or 0
        print("\n".join(verbs.explain(data, riskiest, ["known_sets"])) + "\n")

        _print_title("4. mask: the plan, step by step")
        release = verbs.mask(data)
        verbs.write(release, released, overwrite=True)
        output.print_release(release)

        _print_title("5. assess: the verdict, risk before and after, and information loss")
        assessment = verbs.assess(data, release)
        output.print_assessment(assessment)
    for warning in (*release.warnings, *assessment.warnings):
        output.print_message(f"note: {warning}")
    verdict = assessment.sentences[-1] if assessment.ok else assessment.sentences[0]
    print(f"{verdict} The release is in {released}. To repeat it by hand:\n")
    print(f"  discreet mask {parquet} {released} -p {policy_file} --overwrite")
    print(f"  discreet assess {parquet} {released} -p {policy_file}")
    print(f"\nThe same in a browser: start `discreet serve`, open the link that it prints, and upload {table}.")
    raise typer.Exit(0 if assessment.ok else 1)


def _print_title(text: str) -> None:
    print(f"{text}\n{'-' * len(text)}")
