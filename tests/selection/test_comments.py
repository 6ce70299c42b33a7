"""The owner's comments survive where a policy is written again."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import yaml
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.model.policy import Policy
from discreet.selection.comments import Comments, read_comments

TEXT = """# Our survey of 2020.
# Second line.

# what we know
attributes:
  # agreed with the DPO on 3 May
  age: {role: key}  # in years
  'a: b':
    # inside
    role: key
# the adversary
risk:
  k_anonymity: {}
limits: {k_anonymity.k: 2} # strict
# to do: ask the board
"""


def test_comments_are_found_with_their_keys() -> None:
    comments = read_comments(TEXT)
    assert comments.top == ("# Our survey of 2020.", "# Second line.")
    assert comments.above == {
        ("attributes",): ("# what we know",),
        ("attributes", "age"): ("# agreed with the DPO on 3 May", "# in years"),
        ("risk",): ("# the adversary",),
        ("limits",): ("# strict",),
    }
    assert comments.end == ("# to do: ask the board",)


def test_comments_are_written_above_the_same_keys_and_change_nothing() -> None:
    policy = Policy.from_dict({"attributes": {"age": {"role": "key"}, "sex": {"role": "key"}}, "limits": {"k_anonymity.k": 2}})
    text = read_comments(TEXT).insert(policy.to_yaml())
    lines = text.splitlines()
    assert lines[:2] == ["# Our survey of 2020.", "# Second line."]
    at = lines.index("  age:")
    assert lines[at - 2 : at] == ["  # agreed with the DPO on 3 May", "  # in years"]
    assert "# the adversary" not in text
    assert lines[-1] == "# to do: ask the board"
    assert Policy.from_dict(yaml.safe_load(text)) == policy


def test_hostile_texts_are_no_comments() -> None:
    for text in ("", "# only", "a: '# no comment'", "a: |\n  # text\n  more\nb: 1", "]: [", "- 1\n- 2"):
        comments = read_comments(text)
        assert isinstance(comments, Comments)
    assert read_comments("a: '# no comment'").above == {}


def test_select_keeps_the_comments_of_the_policy(tmp_path: Path) -> None:
    pl.DataFrame({"age": [20, 20, 30, 30, 40, 41] * 10, "sex": ["f", "m"] * 30}).write_csv(tmp_path / "t.csv")
    policy = (
        "# by Anna\n\nattributes:\n  # known to neighbours\n  age: {role: key}\n  sex: {role: key}\nlimits: {k_anonymity.k: 3}\n"
    )
    (tmp_path / "p.yaml").write_text(policy)
    files = [str(tmp_path / name) for name in ("t.csv", "p.yaml", "c.yaml")]
    done = CliRunner().invoke(app, ["select", files[0], "-p", files[1], "-o", files[2], "--trials", "3"])
    assert done.exit_code in (0, 1), done.output
    written = (tmp_path / "c.yaml").read_text()
    assert "# by Anna" in written
    assert "  # known to neighbours\n  age:" in written
