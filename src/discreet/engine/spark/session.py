"""A Spark session: the running one, or a new one from the address or the environment.

An address is ``spark://host:port`` (a classic master), ``spark://local[4]`` (this machine, so many threads) or
``sc://host:port`` (a server of Spark Connect). Without one SPARK_REMOTE decides, then a running session, then spark.master of
the environment, then this machine with all its threads.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from discreet.engine.spark.errors import translate_errors
from discreet.errors import SourceError
from discreet.model.extras import require_libraries

_HERE = re.compile(r"^local(?:\[[\d*]+(?:,\d+)?\])?$")
_PORTS = {"spark": 7077, "sc": 15002}
_PATIENCE = 5.0
JAVA = 17


def session(address: str | None = None) -> Any:
    """The session behind an address, started if it does not run yet."""
    _check_installed()
    without_remarks()
    from pyspark.sql import SparkSession

    address = address or os.environ.get("SPARK_REMOTE") or None
    if address is None and (running := SparkSession.getActiveSession()) is not None:
        return running
    if address is not None and address.startswith("sc://"):
        _check_reachable(address)
        with translate_errors(address, "no session can be started"):
            return SparkSession.builder.remote(address).getOrCreate()
    if address is not None:
        place = address.removeprefix("spark://")
        master = place if _HERE.match(place) else address
        if master == address:
            _check_reachable(address)
    else:
        master = ""
    _check_java()
    _use_own_python(master)
    builder = SparkSession.builder.appName("discreet").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.log.level", "ERROR")
    with translate_errors(address or master or "Spark", "no session can be started"):
        spark = (builder.master(master) if master else builder).getOrCreate()  # without one: spark.master, or local[*]
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _use_own_python(master: str) -> None:
    """The workers of this machine run the Python of this process, which has what they need."""
    if not master or _HERE.match(master):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _check_installed() -> None:
    require_libraries("Spark", "pyspark")


def _check_java() -> None:
    """Raise where no Java that Spark can use is there: Spark itself would say so in a hundred lines."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME is {home}, where there is none" if home else "there is no java on the PATH"
        raise SourceError(f"Spark needs Java {JAVA} or newer, and {where}; install one, or use an address sc://host of a server")
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"Spark needs Java {JAVA} or newer, and {java} cannot be run: {error}") from None
    version = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    if done.returncode or (version and int(version[1]) < JAVA):
        state = f"is Java {version[1]}" if version else "does not work"
        raise SourceError(f"Spark needs Java {JAVA} or newer, and {java} {state}; install one, or set JAVA_HOME")


def _check_reachable(address: str) -> None:
    """Raise where nobody listens: Spark itself would try for minutes."""
    scheme, _, rest = address.partition("://")
    reachable, tried = False, []
    for place in rest.split("/")[0].split(";")[0].split(","):
        host, _, port = place.rpartition(":") if re.search(r":\d+$", place) else (place, "", str(_PORTS[scheme]))
        tried.append(f"{host}:{port}")
        try:
            with socket.create_connection((host.strip("[]").rpartition("@")[2], int(port)), timeout=_PATIENCE):
                reachable = True
        except (OSError, ValueError):
            continue
    if not reachable:
        raise SourceError(f"{scheme}://{','.join(tried)}: no Spark answers there; is the address right and the cluster up?")


def without_remarks() -> None:
    """Silence Spark's warning about the version of pandas, which is not used, and its log of errors that are translated."""
    logging.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
