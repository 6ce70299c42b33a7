"""The version comes from the tag, a release has its section in the changelog, and the distributions hold every file."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
TODAY = dt.date(2027, 1, 2)


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name in ("CHANGELOG.md", "CITATION.cff", "setup.py"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".gitignore").write_text("__pycache__/\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Begin")
    return tmp_path


@pytest.mark.parametrize(
    ("description", "version"),
    [
        ("v1.2.3-0-g0a1b2c3", "1.2.3"),
        ("v1.2.3-7-g0a1b2c3", "1.2.4.dev7"),
        ("v0.10.0-0-gabcdef0", "0.10.0"),
    ],
)
def test_the_version_is_that_of_the_tag(description: str, version: str) -> None:
    assert load_script(ROOT / "setup.py").version_of_description(description) == version


def test_without_a_tag_or_without_git_there_is_a_version_all_the_same(repository: Path) -> None:
    setup = load_script(ROOT / "setup.py")
    assert setup.read_version(repository) == setup.NEXT
    git(repository, "tag", "v3.1.4")
    assert setup.read_version(repository) == "3.1.4"
    shutil.rmtree(repository / ".git")
    assert setup.read_version(repository) == setup.NEXT
    (repository / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: discreet\nVersion: 9.9.9\n")
    assert setup.read_version(repository) == "9.9.9"


def test_a_release_is_written_tagged_and_then_accepted(repository: Path) -> None:
    release = load_script(ROOT / "tools" / "release.py")
    status, sentence = release.prepare(repository, "0.2.0", TODAY)
    assert status == 1
    assert "git tag v0.2.0" in sentence
    assert "## 0.2.0, 2027-01-02\n" in (repository / "CHANGELOG.md").read_text()
    assert "version: 0.2.0\n" in (repository / "CITATION.cff").read_text()
    assert load_script(repository / "setup.py").NEXT == "0.2.0"
    git(repository, "commit", "-qam", "Release")
    assert release.prepare(repository, "0.2.0", TODAY)[0] == 1
    git(repository, "tag", "v0.2.0")
    assert release.prepare(repository, "0.2.0", TODAY) == (0, "this commit is the release 0.2.0")
    (repository / "left.txt").write_text("")
    assert "left.txt" in release.prepare(repository, "0.2.0", TODAY)[1]
    assert release.prepare(repository, "two", TODAY)[0] == 2


def test_a_changelog_without_news_is_not_released() -> None:
    release = load_script(ROOT / "tools" / "release.py")
    with pytest.raises(ValueError, match="is empty"):
        release.date_changelog("# Changelog\n\n## 0.2.0, not yet released\n\n", "0.2.0", TODAY)
    with pytest.raises(ValueError, match="has no section"):
        release.date_changelog("# Changelog\n", "0.2.0", TODAY)


def test_a_file_that_a_distribution_lacks_is_reported(tmp_path: Path) -> None:
    dist = load_script(ROOT / "tools" / "dist.py")
    wheel, source = tmp_path / "discreet-1-py3-none-any.whl", tmp_path / "discreet-1.tar.gz"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("discreet/__init__.py", "")
        archive.writestr("discreet/surplus.txt", "")
        archive.writestr("discreet-1.dist-info/METADATA", "")
    with tarfile.open(source, "w:gz"):
        pass
    missing = dist.missing_files(wheel, source)
    assert "wheel: src/discreet/web/static/style.css" in missing
    assert "wheel: src/discreet/web/templates/base.html" in missing
    assert "not in the tree, but in the wheel: src/discreet/surplus.txt" in missing
    assert "source distribution: pyproject.toml" in missing
    assert "wheel: src/discreet/__init__.py" not in missing


def test_the_wheel_of_this_tree_has_every_file_of_the_package(tmp_path: Path) -> None:
    call = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    dist = load_script(ROOT / "tools" / "dist.py")
    assert dist.missing_files(next(tmp_path.glob("*.whl")), next(tmp_path.glob("*.tar.gz"))) == []
