"""Prepare a release: the section of the changelog, the citation, and the tag that the version comes from.

    python tools/release.py 1.2.3

Where the commit has no tag v1.2.3 yet, it dates the section of the changelog and sets the version of the citation and of untagged
builds, and says how to commit and tag that (exit status 1). Where the commit has the tag, it checks that all of this was done,
and the distributions can be built (exit status 0).
"""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_VERSION = re.compile(r"\d+\.\d+\.\d+")


def date_changelog(text: str, version: str, today: dt.date) -> str:
    """The changelog with a dated section for the version; raises ValueError if there is nothing to release.

    >>> date_changelog("# Changelog\\n\\n## 0.2.0, not yet released\\n\\n- New.\\n", "0.2.0", dt.date(2027, 1, 2))
    '# Changelog\\n\\n## 0.2.0, 2027-01-02\\n\\n- New.\\n'
    """
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    for number, section in enumerate(sections):
        title, _, body = section.partition("\n")
        if re.fullmatch(rf"## {re.escape(version)}, \d{{4}}-\d\d-\d\d", title):
            return text
        if title.startswith("## ") and title.endswith(", not yet released"):
            if not body.strip():
                raise ValueError(
                    "the changelog's section of unreleased changes is empty: write what changed for people who use it"
                )
            sections[number] = f"## {version}, {today.isoformat()}\n{body}"
            return "".join(sections)
    raise ValueError("the changelog has no section that ends with ', not yet released'")


def set_versions(root: Path, version: str, today: dt.date) -> list[str]:
    """Write the version to every file that names it; the files that changed."""
    replacements: dict[str, Callable[[str], str]] = {
        "CHANGELOG.md": lambda text: date_changelog(text, version, today),
        "CITATION.cff": lambda text: re.sub(r"^version: .*$", f"version: {version}", text, flags=re.MULTILINE),
        "setup.py": lambda text: re.sub(r'^NEXT = ".*"$', f'NEXT = "{version}"', text, flags=re.MULTILINE),
    }
    changed = []
    for name, replace in replacements.items():
        before = (root / name).read_text(encoding="utf-8")
        after = replace(before)
        if after != before:
            (root / name).write_text(after, encoding="utf-8")
            changed.append(name)
    return changed


def run_git(root: Path, *arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout.strip()


def prepare(root: Path, version: str, today: dt.date) -> tuple[int, str]:
    """The exit status and a sentence for the person who releases."""
    if not _VERSION.fullmatch(version):
        return 2, f"'{version}' is not a version; write three numbers, as in: make release VERSION=1.2.3"
    changed = set_versions(root, version, today)
    tagged = f"v{version}" in run_git(root, "tag", "--points-at", "HEAD").split()
    if changed:
        steps = f"git commit -m 'Release {version}' {' '.join(changed)} && git tag v{version}"
        return 1, f"{', '.join(changed)} now name {version}; read them, then run: {steps} && make release VERSION={version}"
    if not tagged:
        return 1, f"this commit has no tag v{version}; run: git tag v{version} && make release VERSION={version}"
    if uncommitted := run_git(root, "status", "--porcelain"):
        return 1, f"these files are not as in the tag: {uncommitted}"
    return 0, f"this commit is the release {version}"


def main(arguments: list[str]) -> int:
    """Prepare the release that is named."""
    try:
        status, sentence = prepare(ROOT, arguments[0] if arguments else "", dt.datetime.now(dt.UTC).date())
    except ValueError as error:
        status, sentence = 1, str(error)
    print(sentence)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
