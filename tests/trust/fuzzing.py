"""A fuzzer in a process of its own: ``python fuzzing.py TARGET FOLDER SECONDS RUNS SEED [plain]``.

Where Atheris (libFuzzer for Python) can be installed, branches of discreet that were not seen before lead the search;
elsewhere, or with ``plain``, beginnings are changed at random. An input that raises what it may not, takes longer than
``LONGEST`` seconds or more memory than ``ROOM`` ends the process with an error, and is kept in the folder.
The last line says what was done, as JSON.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from fuzz_targets import TARGETS, WORDS, load

LONGEST = 60
ROOM = 4096


def guided(name: str, folder: Path, seconds: int, runs: int, seed: int) -> None:
    """Run under Atheris, which ends the process itself; its figures are taken from what it says."""
    tokens = folder / "words"
    tokens.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in WORDS))
    corpus = folder / "corpus"
    corpus.mkdir()
    for at, content in enumerate(TARGETS[name].beginnings):
        (corpus / str(at)).write_bytes(content)
    options = [
        f"-seed={seed % 2**31 or 1}", f"-max_total_time={seconds}", f"-runs={runs}", f"-max_len={TARGETS[name].longest}",
        f"-timeout={LONGEST}", f"-rss_limit_mb={ROOM}", f"-dict={tokens}", f"-artifact_prefix={folder}/fault-",
        "-print_final_stats=1", "-len_control=20",
    ]  # fmt: skip
    child = [sys.executable, __file__, "child", name, str(folder), *options, str(corpus)]
    one = os.environ | {"POLARS_MAX_THREADS": "1"}  # tables this small are read sooner by one thread
    done = subprocess.run(child, capture_output=True, text=True, errors="replace", check=False, env=one)
    if done.returncode != 0:
        sys.exit(f"{name}: {_shown(folder)}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
    tried = int(re.findall(r"number_of_executed_units:\s*(\d+)", done.stderr)[-1])
    edges = int(re.findall(r"cov: (\d+)", done.stderr)[-1])
    print(json.dumps({"inputs": tried, "edges": edges}))


def child(name: str, folder: Path, options: list[str]) -> None:
    """The process that Atheris owns."""
    import atheris

    target = TARGETS[name]
    with atheris.instrument_imports(include=list(target.modules)):
        load(target)
    (folder / "place").mkdir()
    feed = target.make(folder / "place")
    atheris.Setup([sys.argv[0], *options], feed)
    atheris.Fuzz()


def plain(name: str, folder: Path, seconds: int, runs: int, seed: int) -> None:
    """Change beginnings at random."""
    chance = random.Random(seed)
    target = TARGETS[name]
    (folder / "place").mkdir()
    feed = target.make(folder / "place")
    pieces = [*WORDS, b"\xff", b",", b"{", b"}"]
    end, tried = time.monotonic() + seconds, 0
    while tried < runs and time.monotonic() < end:
        content = bytearray(chance.choice(target.beginnings))
        for _ in range(chance.randint(0, 6)):
            at = chance.randrange(len(content) + 1)
            put = chance.choice(
                [b"", bytes([chance.randrange(256)]), chance.choice(pieces), bytes(content[: chance.randrange(20)])]
            )
            content[at : at + chance.choice([0, 1, 1, 8])] = put
        given = bytes(content[: target.longest])
        (folder / "fault-last").write_bytes(given)
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        feed(given)
        faulthandler.cancel_dump_traceback_later()
        tried += 1
    print(json.dumps({"inputs": tried}))


def _shown(folder: Path) -> str:
    return "; ".join(f"{path.name}: {path.read_bytes()[:2000]!r}" for path in folder.glob("fault-*")) or "no input was kept"


if __name__ == "__main__":
    if sys.argv[1] == "child":
        child(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    else:
        run = plain if "plain" in sys.argv or importlib.util.find_spec("atheris") is None else guided
        run(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:6]))
