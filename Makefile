# `make demo` shows it, `make check` checks it in minutes, `make test` checks everything. All need only Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash
STAMP := $(VENV)/installed

# two workers; files in the order of tests/shared/sharing.py, the longest first
PYTEST := $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo lint check test docs setup bench trust clean

demo: setup
	$(BIN)/discreet demo

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt examples/plugin/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]" -e examples/plugin
	touch $(STAMP)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/borders.py

check: lint # without servers, browser, Spark and whatever takes seconds
	$(PYTEST) -m "not slow and not servers and not browser and not spark"

test: lint # everything
	bash tools/servers.sh
	$(PYTEST)

docs: setup
	$(BIN)/mkdocs build --strict --quiet

trust: setup # faults, bad input and strangers, at length: writes docs/trust.md, under 30 minutes
	bash tools/servers.sh
	$(BIN)/python tools/trust.py

bench: setup
	for job in benchmarks/*.py; do $(BIN)/python $$job; done

clean:
	rm -rf $(VENV) demo site .mypy_cache .ruff_cache .pytest_cache .hypothesis
