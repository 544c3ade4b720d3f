# Two commands do everything on a fresh machine with Python 3.11+ and make: `make evening` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: evening test lint soak benchmarks clean

evening: $(VENV)/.runtime
	$(BIN)/firmware-bridge evening --simulate

test: $(VENV)/.test
	$(BIN)/python -m pytest

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Long runs that try to break the promises; minutes to hours, not part of `make test`.
soak: $(VENV)/.test
	$(BIN)/python -m pytest -m "slow or not slow" --timeout 3600 tests/simulation tests/power tests/e2e

benchmarks: $(VENV)/.test
	$(BIN)/python benchmarks/link.py

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --upgrade pip

$(VENV)/.runtime: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip --disable-pip-version-check install --quiet -e .
	touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip --disable-pip-version-check install --quiet -e '.[test]'
	touch $@ $(VENV)/.runtime

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip --disable-pip-version-check install --quiet -e '.[test,dev]'
	touch $@ $(VENV)/.test $(VENV)/.runtime

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
