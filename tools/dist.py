"""What people install is what is tested: the wheel and the source distribution, in empty environments.

    python tools/dist.py            builds both into dist/, checks their content, and tries the wheel
    python tools/dist.py build      only builds and checks the content
    python tools/dist.py web spark  builds, checks, and tries only these environments

Each environment holds the wheel with one extra and nothing else, and runs its part there: the base runs ``discreet demo`` (on
every Python from 3.11 that this machine has) and names the extra that a command needs; ``web`` serves a page with its style and
a database at its newest migration, and serves again by the commands of deploy/Containerfile: as a plain user without a home, from
a package folder that nobody can write to; ``databases`` takes a table to PostgreSQL and back; ``spark`` measures a risk. The base
is installed by pip, the others by uv, which shares one cache of downloads among them. Two environments are tried at a time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import extra_needed

ROOT = Path(__file__).resolve().parents[1]
DIST, CONSTRAINTS = ROOT / "dist", ROOT / "constraints.txt"
OLDEST, NEWEST = 11, 20
"""The minor versions of Python 3 that are looked for."""
AT_ONCE = 2
"""Environments that are tried at the same time."""
SOURCES = (
    "Makefile",
    "pyproject.toml",
    "setup.py",
    "constraints.txt",
    "requirements.lock",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
)


class DistributionError(Exception):
    """Something that people would install is not as it should be."""


def run(call: Sequence[str | Path], folder: Path | None = None, allowed: Sequence[int] = (0,)) -> str:
    """Run a program with nothing of this tree in its environment; its standard output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    if folder is not None:
        environment["DISCREET_HOME"] = str(folder / "home")
    done = subprocess.run(
        [str(part) for part in call], cwd=folder, env=environment, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode not in allowed:
        shown = " ".join(map(str, call))
        raise DistributionError(f"{shown} exits with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from it; both checked."""
    shutil.rmtree(DIST, ignore_errors=True)
    run([sys.executable, "-m", "build", "--outdir", DIST, ROOT])
    wheel, source = next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))
    if missing := missing_files(wheel, source):
        raise DistributionError("not in the distributions: " + ", ".join(missing))
    run([sys.executable, "-m", "twine", "check", "--strict", wheel, source])
    return wheel, source


def missing_files(wheel: Path, source: Path) -> list[str]:
    """Files of the tree that the wheel or the source distribution lacks, and files of the wheel that are not in the tree."""
    own = {str(path.relative_to(ROOT)) for path in (ROOT / "src" / "discreet").rglob("*") if is_source(path)}
    with zipfile.ZipFile(wheel) as content:
        packed = {f"src/{name}" for name in content.namelist() if not re.match(r"discreet-[^/]+\.dist-info/", name)}
    with tarfile.open(source) as archive:
        unpacked = {name.partition("/")[2] for name in archive.getnames()}
    faults = [f"wheel: {name}" for name in sorted(own - packed)]
    faults += [f"not in the tree, but in the wheel: {name}" for name in sorted(packed - own)]
    return faults + [f"source distribution: {name}" for name in sorted((own | set(SOURCES)) - unpacked)]


def is_source(path: Path) -> bool:
    """Whether a file of the package's folder belongs into a distribution."""
    return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"


def find_pythons() -> Iterator[tuple[str, str]]:
    """Versions and programs of the Pythons of this machine that discreet supports, the running one first."""
    yield f"3.{sys.version_info.minor}", sys.executable
    folders = [Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"]
    for minor in range(OLDEST, NEWEST):
        name = f"python3.{minor}"
        candidates = [shutil.which(name), *(str(path) for folder in folders for path in folder.glob(f"3.{minor}.*/bin/{name}"))]
        for program in filter(None, candidates):
            works = subprocess.run([program, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode == 0
            if works and minor != sys.version_info.minor:
                yield f"3.{minor}", program
                break


def find_public_python(own: str) -> str:
    """A Python that every account of this machine may run: the system's, where the running one is in somebody's home."""
    if os.getuid() != 0 or can_nobody_run(Path(own)):
        return own
    for minor in range(OLDEST, NEWEST):
        program = Path(f"/usr/bin/python3.{minor}")
        if program.exists() and can_nobody_run(program):
            return str(program)
    return own


def create_environment(folder: Path, wheel: Path, extra: str = "", python: str = sys.executable, *, by_pip: bool = False) -> Path:
    """An empty environment with the wheel, with an extra if one is named; the folder of its programs."""
    wanted = f"discreet[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
    if by_pip:
        run([python, "-m", "venv", folder])
        run([folder / "bin" / "pip", "install", "--quiet", "--no-compile", "-c", CONSTRAINTS, wanted])
    else:
        uv = Path(sys.executable).parent / "uv"
        run([uv, "venv", "--quiet", "--python", python, folder])
        run([uv, "pip", "install", "--quiet", "--python", folder / "bin" / "python", "-c", CONSTRAINTS, wanted])
    return folder / "bin"


def try_base(programs: Path, folder: Path) -> str:
    """The demonstration runs, and a command that needs more names its extra."""
    out = run([programs / "discreet", "demo"], folder)
    if "released.csv" not in out:
        raise DistributionError(f"discreet demo ended without a release:\n{out[-2000:]}")
    if faults := list(extra_needed.find_faults([str(programs / "discreet")], folder)):
        raise DistributionError("\n".join(faults))
    return "demo runs, and each command that needs an extra names it"


def try_demo(programs: Path, folder: Path) -> str:
    """The demonstration runs on another Python."""
    run([programs / "discreet", "demo"], folder)
    return "demo runs"


def try_web(programs: Path, folder: Path) -> str:
    """The server answers with its page, its style and its scripts, on a database at the newest migration; a report is written."""
    extra_needed.write_inputs(folder)
    call: list[str | Path] = [programs / "discreet", "report", "table.csv", "table.csv", "-p", "policy.yaml", "-o", "report.html"]
    run(call, folder, allowed=(0, 1))
    options: list[str | Path] = ["serve", "--port", "0", "--home", folder / "home"]
    with serve([str(programs / "discreet"), *map(str, options)], folder) as address:
        page = fetch(f"{address}/login")
        linked = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
        if not linked:
            raise DistributionError(f"the page names no style and no script:\n{page[:1000]}")
        for name in linked:
            if not fetch(address + name).strip():
                raise DistributionError(f"{name} is empty")
    with closing(sqlite3.connect(folder / "home" / "discreet.db")) as database:
        (revision,) = database.execute("SELECT version_num FROM discreet_schema").fetchone()
    who = try_container(programs, folder)
    return f"serve answers with its page and {len(linked)} files of it, on a database at the migration {revision}; {who}"


def try_container(programs: Path, folder: Path) -> str:
    """The commands of the Containerfile: as a plain user without HOME, from folders that nobody can write to."""
    text = re.sub(r"(?m)^#.*\n", "", (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8"))
    (entry,) = re.findall(r"(?m)^ENTRYPOINT (\[.*\])$", text)
    (health,) = re.findall(r"(?m)^HEALTHCHECK .* CMD (\[.*\])$", text)
    (settings,) = re.findall(r"(?m)^ENV (.*)$", text)
    state = folder / "state"
    state.mkdir(mode=0o700)
    environment = dict(re.findall(r"(\S+?)=(\S+)", settings.replace("/var/lib/discreet", str(state))))
    environment["PATH"] = f"{programs}:/usr/bin:/bin"
    user: dict[str, Any] = {}
    if os.getuid() == 0 and can_nobody_run(programs / "python"):
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(state, "nobody", "nogroup")
    run(["chmod", "-R", "a-w", programs.parent])
    port = str(find_port())
    replaced = {"8080": port, "0.0.0.0": "127.0.0.1"}
    program, *options = [replaced.get(part, part) for part in json.loads(entry)]
    try:
        with serve([str(programs / program), *options], folder, environment, user):
            check, *arguments = [part.replace("8080", port) for part in json.loads(health)]
            done = subprocess.run([programs / check, *arguments], env=environment, **user, check=False)
    finally:
        run(["chmod", "-R", "u+w", programs.parent])
    if done.returncode:
        raise DistributionError(f"the health check of deploy/Containerfile exits with {done.returncode}")
    return "the container's commands run as a plain user" if user else "the container's commands run"


def can_nobody_run(program: Path) -> bool:
    """Whether the account nobody may start a program: not where its Python is in a private folder."""
    try:
        return subprocess.run([program, "-c", ""], user="nobody", group="nogroup", extra_groups=[], check=False).returncode == 0
    except OSError:
        return False


def find_port() -> int:
    """A free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serve(
    call: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, user: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Run the server; its address."""
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            call, cwd=folder, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=environment, **(user or {})
        )
    try:
        deadline = time.monotonic() + 120
        while (address := re.search(r"discreet is at (http://\S+)", log.read_text(errors="replace"))) is None:
            if process.poll() is not None or time.monotonic() > deadline:
                raise DistributionError(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.2)
        wait_until_answering(address[1], deadline)
        yield address[1]
    finally:
        process.terminate()
        process.wait(30)


def wait_until_answering(address: str, deadline: float) -> None:
    """Return when the server answers."""
    while True:
        try:
            fetch(f"{address}/healthz")
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def fetch(address: str) -> str:
    """The body of a page on this machine."""
    with urllib.request.urlopen(address, timeout=60) as response:
        return str(response.read().decode())


def try_databases(programs: Path, folder: Path) -> str:
    """A table goes to PostgreSQL and back unchanged, and likewise through SQLite and DuckDB."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pgserver asks for a runtime folder that not every machine has
        import pgserver

    extra_needed.write_inputs(folder)
    data = folder / "pg"
    data.mkdir(mode=0o755)
    folder.chmod(0o755)
    server = pgserver.get_server(data / "data", cleanup_mode="delete")
    try:
        for place in (f"{server.get_uri()}#people", "sqlite:///people.db#people", "duckdb:///people.duckdb#people"):
            back = folder / "back.csv"
            run([programs / "discreet", "convert", "table.csv", place], folder)
            run([programs / "discreet", "convert", place, back, "--overwrite"], folder)
            if back.read_text() != extra_needed.TABLE:
                raise DistributionError(f"{place.partition(':')[0]} returns another table:\n{back.read_text()[:500]}")
    finally:
        server.cleanup()
    return "a table comes back unchanged from PostgreSQL, SQLite and DuckDB"


def try_spark(programs: Path, folder: Path) -> str:
    """A risk on Spark is the risk of the local engine."""
    extra_needed.write_inputs(folder)
    call: list[str | Path] = [programs / "discreet", "risk", "table.csv", "-p", "policy.yaml", "--json"]
    local, distributed = (json.loads(run([*call, *engine], folder, allowed=(0, 1))) for engine in ((), ("--engine", "spark")))
    if local["measures"] != distributed["measures"]:
        raise DistributionError(f"Spark measures {distributed}, the local engine {local}")
    return "a risk on Spark is that of the local engine"


def try_wheel(wheel: Path, chosen: Sequence[str]) -> None:
    """Try the wheel in each environment, or in the chosen ones."""
    pythons = list(find_pythons())
    own = pythons[0][1]
    # the longest first
    jobs: list[tuple[str, str, str, Callable[[Path, Path], str]]] = [
        ("base", "", own, try_base),
        ("spark", "spark", own, try_spark),
    ]
    jobs += [("web", "web", find_public_python(own), try_web), ("databases", "databases", own, try_databases)]
    jobs += [(f"base on Python {version}", "", program, try_demo) for version, program in pythons[1:]]

    def try_environment(job: tuple[str, str, str, Callable[[Path, Path], str]]) -> None:
        name, extra, python, attempt = job
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="discreet-dist-") as scratch:
            Path(scratch).chmod(0o755)  # the account nobody runs programs in it
            programs = create_environment(Path(scratch) / "env", wheel, extra, python, by_pip=name == "base")
            installed = time.monotonic()
            folder = Path(scratch) / "work"
            folder.mkdir()
            outcome = attempt(programs, folder)
        seconds = f"{installed - started:.0f} s to install, {time.monotonic() - installed:.0f} s to try"
        print(f"{name}: {outcome} ({seconds})", flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done in [pool.submit(try_environment, job) for job in jobs if not chosen or job[0] in chosen]:
            done.result()


def main(arguments: Sequence[str]) -> int:
    """Build, and try."""
    if not {"build", "base", "web", "databases", "spark"}.issuperset(arguments):
        print(__doc__)
        return 2
    started = time.monotonic()
    try:
        wheel, source = build()
        print(f"{wheel.name} and {source.name} hold every file of the package", flush=True)
        if "build" not in arguments:
            try_wheel(wheel, arguments)
    except DistributionError as error:
        print(error)
        return 1
    print(f"done in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
