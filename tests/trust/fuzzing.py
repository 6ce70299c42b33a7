"""A fuzzer in a separate process: ``python fuzzing.py TARGET FOLDER SECONDS RUNS SEED [plain]``.

If Atheris (libFuzzer for Python) is installed, branch coverage of discreet guides the search; otherwise, or with ``plain``,
seed inputs are changed at random. An input that raises an unexpected exception, takes longer than ``TIMEOUT_SECONDS`` or
more memory than ``MEMORY_LIMIT_MB`` ends the process with an error and is saved in the folder. The last line reports the
number of inputs as JSON.
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

TIMEOUT_SECONDS = 60
MEMORY_LIMIT_MB = 4096


def guided(name: str, folder: Path, seconds: int, runs: int, seed: int) -> None:
    """Run under Atheris, which ends the process itself; the figures are parsed from its output."""
    tokens = folder / "words"
    tokens.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in WORDS))
    corpus = folder / "corpus"
    corpus.mkdir()
    for index, content in enumerate(TARGETS[name].seed_inputs):
        (corpus / str(index)).write_bytes(content)
    options = [
        f"-seed={seed % 2**31 or 1}", f"-max_total_time={seconds}", f"-runs={runs}", f"-max_len={TARGETS[name].max_length}",
        f"-timeout={TIMEOUT_SECONDS}", f"-rss_limit_mb={MEMORY_LIMIT_MB}", f"-dict={tokens}", f"-artifact_prefix={folder}/fault-",
        "-print_final_stats=1", "-len_control=20",
    ]  # fmt: skip
    child = [sys.executable, __file__, "child", name, str(folder), *options, str(corpus)]
    environment = os.environ | {"POLARS_MAX_THREADS": "1"}  # for small tables one thread is fastest
    done = subprocess.run(child, capture_output=True, text=True, errors="replace", check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"{name}: {_format_faults(folder)}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
    executed = int(re.findall(r"number_of_executed_units:\s*(\d+)", done.stderr)[-1])
    edges = int(re.findall(r"cov: (\d+)", done.stderr)[-1])
    print(json.dumps({"inputs": executed, "edges": edges}))


def child(name: str, folder: Path, options: list[str]) -> None:
    """The process that Atheris controls."""
    import atheris

    target = TARGETS[name]
    with atheris.instrument_imports(include=list(target.modules)):
        load(target)
    (folder / "place").mkdir()
    fuzz = target.make(folder / "place")
    atheris.Setup([sys.argv[0], *options], fuzz)
    atheris.Fuzz()


def plain(name: str, folder: Path, seconds: int, runs: int, seed: int) -> None:
    """Change seed inputs at random."""
    random_source = random.Random(seed)
    target = TARGETS[name]
    (folder / "place").mkdir()
    fuzz = target.make(folder / "place")
    pieces = [*WORDS, b"\xff", b",", b"{", b"}"]
    end, tried = time.monotonic() + seconds, 0
    while tried < runs and time.monotonic() < end:
        content = bytearray(random_source.choice(target.seed_inputs))
        for _ in range(random_source.randint(0, 6)):
            position = random_source.randrange(len(content) + 1)
            replacement = random_source.choice(
                [
                    b"",
                    bytes([random_source.randrange(256)]),
                    random_source.choice(pieces),
                    bytes(content[: random_source.randrange(20)]),
                ]
            )
            content[position : position + random_source.choice([0, 1, 1, 8])] = replacement
        data = bytes(content[: target.max_length])
        (folder / "fault-last").write_bytes(data)
        faulthandler.dump_traceback_later(TIMEOUT_SECONDS, exit=True)
        fuzz(data)
        faulthandler.cancel_dump_traceback_later()
        tried += 1
    print(json.dumps({"inputs": tried}))


def _format_faults(folder: Path) -> str:
    return "; ".join(f"{path.name}: {path.read_bytes()[:2000]!r}" for path in folder.glob("fault-*")) or "no input was saved"


if __name__ == "__main__":
    if sys.argv[1] == "child":
        child(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    else:
        run = plain if "plain" in sys.argv or importlib.util.find_spec("atheris") is None else guided
        run(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:6]))
