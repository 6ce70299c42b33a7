"""What each kind of job does in its process: from a brief to a message with ``result``, ``made`` and ``sentence``.

``result`` is what people see of the job; ``made`` is for the rows that the supervisor writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.convert import convert, read_source, write_target
from discreet.convert.files.formats import format_of
from discreet.convert.reading.source import is_url
from discreet.engine.runtime.private_files import create_private_folder
from discreet.engine.runtime.progress import tell
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.web.jobs.labels import keep_labels, read_with_labels
from discreet.web.jobs.messages import Voice
from discreet.web.projects.paging import column_rows
from discreet.web.projects.policy_sandbox import FOLDER

Brief = dict[str, Any]
Message = dict[str, Any]


def policy_of(brief: Brief) -> Policy:
    """The policy that a job works under; a relative file name starts from the project's own folder of files."""
    origin = f"the policy of '{brief['project']['name']}'"
    return Policy.from_dict(brief["policy"], origin=origin, folder=str(Path(brief["folder"]) / FOLDER), confined=True)


def data_of(brief: Brief, policy: Policy | None = None) -> Microdata:
    """The dataset that a job works on, under its policy."""
    tell(f"reading {brief['dataset']['name']}", 0, 1)
    data = read_with_labels(Path(brief["folder"]) / brief["dataset"]["file"], policy or policy_of(brief))
    return replace(data, source=f"'{brief['dataset']['name']}'")


def import_(brief: Brief, _voice: Voice) -> Message:
    """A file or a database table becomes Parquet in the project's folder."""
    from discreet.report.provenance import sha256

    said = policy_of(brief)
    policy = Policy(read=said.read, missing=said.missing)
    folder = Path(brief["folder"]) / "data"
    create_private_folder(folder)
    target = folder / f"{brief['job']}.parquet"
    tell(f"reading {brief['name']}", 0, 1)
    source: str = brief["source"]
    if not is_url(source) and format_of(Path(source)).streams:
        records, _ = convert(source, target, policy, overwrite=True)
        keep_labels(target, {}, {})
    else:
        data = read_source(source, policy)
        records = len(data)
        write_target(data, target, private=True)
        keep_labels(target, data.labels, data.variable_labels)
    columns = column_rows(target)
    made = {
        "name": brief["name"], "file": f"data/{target.name}", "records": records, "bytes": target.stat().st_size,
        "sha256": sha256(target), "columns": columns,
    }  # fmt: skip
    sentence = f"{records:,} records with {len(columns):,} attributes were read"
    return {"made": made, "result": {"records": records, "columns": len(columns)}, "sentence": sentence}


def analyze(brief: Brief, _voice: Voice) -> Message:
    """The Analyzer's proposal."""
    from discreet import verbs

    policy = policy_of(brief)
    data = data_of(brief, Policy(read=policy.read, missing=policy.missing))
    known = {name: one for name, one in policy.attributes.items() if name in data.columns}
    profile = verbs.analyze(data.with_policy(policy.with_(attributes=known))).to_dict()
    result = {"dataset": brief["dataset"]["id"], "profile": profile}
    return {"result": result, "sentence": f"{len(data.columns):,} attributes were looked at"}


def select(brief: Brief, voice: Voice) -> Message:
    """The wizard's search; each plan tried on the whole table is told as it is found."""
    from discreet import verbs

    asked = dict(brief["parameters"])
    options = {name: asked[name] for name in ("seconds", "trials", "seed", "sample", "risk", "loss", "cost") if name in asked}
    policy = policy_of(brief)
    if "limits" in asked:
        policy = policy_of({**brief, "policy": {**brief["policy"], "limits": asked["limits"]}})
    data = data_of(brief, policy)
    found = verbs.select(data, on_trial=lambda trial: voice.say("point", point=trial.to_dict()), **options)
    result = found.to_dict() | {
        "placed": [one.to_dict() for one in found.placed],
        "limits_wanted": dict(policy.limits),
        "policy": found.policy.model_dump(mode="json", exclude_defaults=True),
    }
    kept = "meets every limit" if found.met else f"is the nearest; {found.obstacles}"
    return {"result": result, "sentence": f"{found.tried + found.tried_on_sample:,} plans were tried; the chosen one {kept}"}


def risk(brief: Brief, _voice: Voice) -> Message:
    """The risks of the initial microdata."""
    from discreet.web.jobs.measuring import measure

    return measure(data_of(brief), brief["parameters"].get("measures"))


def generate(brief: Brief, _voice: Voice) -> Message:
    """A release."""
    from discreet.web.jobs import releasing

    return releasing.generate(data_of(brief), brief)


def report(brief: Brief, _voice: Voice) -> Message:
    """The report on a release, in another form."""
    from discreet.web.jobs import releasing

    under = policy_of(brief | {"policy": brief["release"]["policy"]})
    return releasing.report(data_of(brief, under), brief)


def publish(brief: Brief, _voice: Voice) -> Message:
    """A release stored as a table of its own."""
    from discreet.web.jobs import releasing

    return releasing.publish(brief)


WORK: dict[str, Callable[[Brief, Voice], Message]] = {
    "import": import_,
    "analyze": analyze,
    "risk": risk,
    "generate": generate,
    "select": select,
    "report": report,
    "publish": publish,
}
