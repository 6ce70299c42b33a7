"""What each kind of job does in its process: from its inputs to a message with ``result``, ``row`` and ``sentence``.

``result`` is what users see of the job; ``row`` holds the values of the database row that the supervisor writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.convert import convert, read_source, write_target
from discreet.convert.files.expansion import check_expansion
from discreet.convert.files.formats import format_of
from discreet.convert.places.archives import split_member, unpack_table
from discreet.convert.reading.source import is_url
from discreet.engine.runtime.private_files import create_private_folder
from discreet.engine.runtime.progress import report_progress
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.sections.reading import Reading
from discreet.web.jobs.distributions import describe_distributions
from discreet.web.jobs.labels import read_with_labels, write_labels
from discreet.web.jobs.messages import MessageWriter
from discreet.web.projects.paging import describe_columns
from discreet.web.projects.policy_sandbox import FOLDER

if TYPE_CHECKING:
    from discreet.selection.trials import Trial

JobInputs = dict[str, Any]
Message = dict[str, Any]


def load_policy(inputs: JobInputs) -> Policy:
    """The policy of a job; relative file names refer to the project's own folder of files."""
    origin = f"the policy of '{inputs['project']['name']}'"
    return Policy.from_dict(inputs["policy"], origin=origin, folder=str(Path(inputs["folder"]) / FOLDER), confined=True)


def load_data(inputs: JobInputs, policy: Policy | None = None) -> Microdata:
    """Read the dataset of a job under its policy."""
    report_progress(f"reading {inputs['dataset']['name']}", 0, 1)
    data = read_with_labels(Path(inputs["folder"]) / inputs["dataset"]["file"], policy or load_policy(inputs))
    return replace(data, source=f"'{inputs['dataset']['name']}'")


def reading_options(inputs: JobInputs, policy: Policy) -> Reading:
    """The reading options of an import: its own, or those of the project's policy."""
    given = inputs["parameters"].get("read")
    return policy.read if given is None else Reading.model_validate(given)


def preview(inputs: JobInputs, _messages: MessageWriter) -> Message:
    """Show how a file or a database table would be read."""
    from discreet.web.jobs.previewing import write_preview

    policy = load_policy(inputs)
    return write_preview(inputs, Policy(read=reading_options(inputs, policy), missing=policy.missing))


def import_(inputs: JobInputs, _messages: MessageWriter) -> Message:
    """Convert a file or a database table to Parquet in the project's folder."""
    from discreet.report.provenance import sha256

    project_policy = load_policy(inputs)
    policy = Policy(read=reading_options(inputs, project_policy), missing=project_policy.missing)
    folder = Path(inputs["folder"]) / "data"
    create_private_folder(folder)
    target = folder / f"{inputs['job']}.parquet"
    report_progress(f"reading {inputs['name']}", 0, 1)
    source: str = inputs["source"]
    limit = (inputs.get("limits") or {}).get("expanded_bytes")
    archive = None if is_url(source) else split_member(source)
    member = unpack_table(*archive, inputs["name"], limit) if archive else None  # lasts until the job ends
    if member is not None:
        source = str(member.path)
    if not is_url(source):
        check_expansion(Path(source), limit)
    if not is_url(source) and format_of(Path(source)).streams:
        records, _ = convert(source, target, policy, overwrite=True)
        write_labels(target, {}, {})
    else:
        data = read_source(source, policy)
        records = len(data)
        write_target(data, target, private=True)
        write_labels(target, data.labels, data.variable_labels)
    columns = describe_columns(target)
    row = {
        "name": inputs["name"], "file": f"data/{target.name}", "records": records, "bytes": target.stat().st_size,
        "sha256": sha256(target), "columns": columns,
    }  # fmt: skip
    sentence = f"{records:,} records with {len(columns):,} attributes were read"
    return {"row": row, "result": {"records": records, "columns": len(columns)}, "sentence": sentence}


def analyze(inputs: JobInputs, _messages: MessageWriter) -> Message:
    """Run the Analyzer."""
    from discreet import verbs

    policy = load_policy(inputs)
    data = load_data(inputs, Policy(read=policy.read, missing=policy.missing))
    known = {name: attribute for name, attribute in policy.attributes.items() if name in data.columns}
    profile = verbs.analyze(data.with_policy(policy.with_(attributes=known))).to_dict()
    for name, distribution in describe_distributions(data.frame).items():
        profile["attributes"][name]["distribution"] = distribution
    result = {"dataset": inputs["dataset"]["id"], "profile": profile}
    return {"result": result, "sentence": f"{len(data.columns):,} attributes were analysed"}


def select(inputs: JobInputs, messages: MessageWriter) -> Message:
    """Run the wizard's search; each plan evaluated on the whole table is reported immediately."""
    from discreet import verbs
    from discreet.selection.options import SelectOptions

    parameters = dict(inputs["parameters"])
    options = {name: parameters[name] for name in SelectOptions.model_fields if name in parameters}
    policy = load_policy(inputs)
    if "limits" in parameters:
        policy = load_policy({**inputs, "policy": {**inputs["policy"], "limits": parameters["limits"]}})
    data = load_data(inputs, policy)
    hierarchies = _missing_hierarchies(data)

    def send_plan(trial: Trial) -> None:
        point = trial.to_dict()
        if trial.number == 1 and hierarchies:  # the plans refer to their levels, so whoever adopts one needs them too
            point["hierarchies"] = hierarchies
        messages.send("point", point=point)

    search = verbs.select(data, on_trial=send_plan, **options)
    result = search.to_dict() | {
        "placed": [point.to_dict() for point in search.placed],
        "limits_wanted": dict(policy.limits),
        "policy": search.policy.model_dump(mode="json", exclude_defaults=True),
    }
    outcome = "meets every limit" if search.met else f"is the closest; {search.obstacles}"
    return {
        "result": result,
        "sentence": f"{search.tried + search.tried_on_sample:,} plans were evaluated; the selected one {outcome}",
    }


def _missing_hierarchies(data: Microdata) -> dict[str, Any]:
    """The hierarchies that a search adds to the policy, by attribute."""
    from discreet.selection.proposals import add_missing_hierarchies

    attributes = add_missing_hierarchies(data).attributes
    return {
        name: attribute.hierarchy.model_dump(mode="json", exclude_defaults=True)
        for name, attribute in attributes.items()
        if attribute.hierarchy is not None and data.attribute(name).hierarchy is None
    }


def risk(inputs: JobInputs, _messages: MessageWriter) -> Message:
    """Measure the risks of the initial microdata."""
    from discreet.web.jobs.measuring import measure_risks

    data, known = load_data(inputs), inputs["parameters"].get("known") or {}
    message = measure_risks(
        data.with_policy(data.policy.with_known(known)) if known else data, inputs["parameters"].get("measures")
    )
    if known:
        message["result"]["known"] = known
    return message


def generate(inputs: JobInputs, _messages: MessageWriter) -> Message:
    """Create a release."""
    from discreet.web.jobs import releasing

    return releasing.generate_release(load_data(inputs), inputs)


def report(inputs: JobInputs, _messages: MessageWriter) -> Message:
    """Write the report on a release in another format."""
    from discreet.web.jobs import releasing

    policy = load_policy(inputs | {"policy": inputs["release"]["policy"]})
    return releasing.write_report(load_data(inputs, policy), inputs)


def publish(inputs: JobInputs, _messages: MessageWriter) -> Message:
    """Publish an approved release."""
    from discreet.web.jobs.publishing import publish_release

    return publish_release(inputs)


def export(inputs: JobInputs, _messages: MessageWriter) -> Message:
    """Write the masked table of a release in another format."""
    from discreet.web.jobs.exporting import write_export

    return write_export(inputs)


HANDLERS: dict[str, Callable[[JobInputs, MessageWriter], Message]] = {
    "import": import_,
    "preview": preview,
    "analyze": analyze,
    "risk": risk,
    "generate": generate,
    "select": select,
    "report": report,
    "publish": publish,
    "export": export,
}
