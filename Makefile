# `make demo` shows it, `make check` checks it in minutes, `make test` checks everything. All need only Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash
STAMP := $(VENV)/installed
BASE := $(VENV)/base-installed
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

# files in the order of tests/shared/sharing.py, the longest first
WORKERS ?= 2
PYTEST = OPENBLAS_NUM_THREADS=1 bash tools/in_memory.sh $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# an environment that forbids compiled modules would compile them anew in each of thousands of processes
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo lint check test durations dist release docs setup base bench trust clean

demo: base
	$(BIN)/discreet demo

base: $(BASE) # only what the demonstration needs

setup: $(STAMP) # everything, with the locked hashes

$(BASE): pyproject.toml setup.py constraints.txt
	test -e $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	test -e $(STAMP) || $(PIP) --no-compile -c constraints.txt -e .
	touch $(BASE)

$(STAMP): pyproject.toml setup.py requirements.lock examples/plugin/pyproject.toml
	$(PYTHON) -m venv --clear $(VENV) # pip does not check the hash of what is there already
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e . -e examples/plugin
	touch $(BASE) $(STAMP)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/borders.py

check: lint # without servers, browser, Spark and whatever takes seconds
	$(PYTEST) -m "not slow and not servers and not browser and not spark"

# a third of the time of the whole suite is waiting for servers, browsers and timeouts: a worker more than cores
test durations: WORKERS = 3

test: lint # everything
	bash tools/servers.sh
	$(PYTEST)

durations: setup # everything on a quiet machine, and tests/slow_tests.txt from what each test took
	bash tools/servers.sh
	set -o pipefail; $(PYTEST) --durations=0 --durations-min=0.1 | tee durations.log
	$(BIN)/python tools/slow_tests.py durations.log

dist: setup # the wheel and the source distribution, tried in empty environments
	bash tools/servers.sh
	$(BIN)/python tools/dist.py

release: setup # make release VERSION=1.2.3: the changelog's section, then, for the tagged commit, dist/
	$(BIN)/python tools/release.py $(VERSION)
	$(BIN)/python tools/supply.py verify
	$(BIN)/python tools/dist.py

docs: setup
	$(BIN)/mkdocs build --strict --quiet

trust: setup # faults, bad input and strangers, at length: writes docs/trust.md, under 30 minutes
	bash tools/servers.sh
	$(BIN)/python tools/trust.py

bench: setup
	for job in benchmarks/*.py; do $(BIN)/python $$job; done

clean:
	rm -rf $(VENV) demo dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis
