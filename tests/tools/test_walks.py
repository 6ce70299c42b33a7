"""The count of modules and functions that a command passes through."""

from __future__ import annotations

from scripts import load_tool

from discreet.errors import nearest
from discreet.model.policy import Policy

walks = load_tool("walks")


def test_a_function_that_runs_is_counted_once_with_its_module():
    names = walks.functions_that_run(lambda: [nearest("agee", ["age"]), nearest("zipp", ["zip"])])
    assert ("errors.py", "nearest") in names
    assert {module for module, _ in names} == {"errors.py"}


def test_functions_of_libraries_and_those_that_do_not_run_are_not_counted():
    assert walks.functions_that_run(lambda: sorted([2, 1])) == set()
    names = walks.functions_that_run(lambda: Policy().named())
    assert ("model/policy.py", "Policy.named") in names
    assert ("errors.py", "nearest") not in names


def test_functions_in_other_threads_are_counted():
    from concurrent.futures import ThreadPoolExecutor

    def in_thread() -> None:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(nearest, "agee", ["age"]).result()

    assert ("errors.py", "nearest") in walks.functions_that_run(in_thread)
