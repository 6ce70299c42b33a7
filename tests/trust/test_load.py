"""Many people at work on one server, on loopback, for a bounded time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scripts import load_script

SHOWN = (
    "people",
    "minutes",
    "pages",
    "jobs",
    "idle median ms",
    "median ms without hostile client",
    "median ms with hostile client",
)
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "server_load.py"


@pytest.mark.trust(
    "Under load",
    "Fifty people upload, edit, run jobs, follow them and look at pages for ten minutes: no error, no lost job, memory stays "
    "flat, the median page takes less than three times as long as on an idle server",
)
def test_people_at_work(effort: Callable[[int, int], int], record_property: Callable[[str, object], None]) -> None:
    people = effort(2, 50)
    messages: list[str] = []
    figures = load_script(BENCHMARK).run(
        people, effort(8, 600) / 60, pause=effort(5, 40) / 10, idle_seconds=effort(2, 12), say=messages.append
    )
    for name in ("people", "minutes", "pages", "jobs", "events", "idle median ms", "median ms", "memory MB"):
        record_property(name, round(figures[name]))  # also where one of these is not kept
    assert figures["errors"] == 0, messages
    assert figures["jobs"] >= people
    assert figures["events"] > 0
    assert figures["memory growth after the first minutes"] < effort(150, 120) / 100
    if effort(0, 1):  # in `make test` other tests run beside it, so that times say nothing
        assert figures["median against idle"] < 3


@pytest.mark.trust(
    "Under load",
    "Beside half-open sockets, large bodies, parallel guesses and one user's flood, people at work get no error, and their "
    "median page takes less than three times as long as on an idle server",
)
def test_people_at_work_beside_a_hostile_client(
    effort: Callable[[int, int], int], record_property: Callable[[str, object], None]
) -> None:
    people = effort(2, 50)
    messages: list[str] = []
    figures = load_script(BENCHMARK).run(
        people,
        effort(12, 300) / 60,
        pause=effort(5, 40) / 10,
        idle_seconds=effort(2, 12),
        hostile=True,
        say=messages.append,
    )
    for name, value in figures.items():
        if name in SHOWN or name.startswith(("hostile", "own process: median")):
            record_property(name, round(value))
    assert figures["errors"] == 0, messages
    assert figures["jobs"] >= people
    assert figures["hostile: half-open sockets"] > 100
    assert figures["hostile: large bodies"] > 0
    assert figures["hostile: guesses"] > 0
    assert figures["hostile: requests of the flood"] > 0
    if effort(0, 1):
        assert figures["with hostile client against idle"] < 3
        assert figures["own process: ms with hostile client against idle"] < 3
