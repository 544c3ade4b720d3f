# Two commands do everything on a fresh machine with Python 3.11+ and make: `make evening` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# Tests run on all cores; JOBS=0 runs them one after the other.
JOBS ?= auto

.PHONY: evening test lint soak benchmarks clean

evening: $(VENV)/.runtime
	$(BIN)/firmware-bridge evening --simulate

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Long runs that try to break the promises: minutes, not part of `make test`. SEEDS="1 2 3" chooses others.
SEEDS ?= 1 2 3
soak: $(VENV)/.runtime
	for seed in $(SEEDS); do \
	  for machine in fast camera diy; do \
	    $(BIN)/firmware-bridge soak dealing --boards 2000 --faults harsh --seed $$seed --machine $$machine || exit 1; \
	  done; \
	  for carrier in usb gpio gpio-polled; do \
	    $(BIN)/firmware-bridge soak dealing --boards 300 --faults harsh --seed $$seed --carrier $$carrier || exit 1; \
	  done; \
	  $(BIN)/firmware-bridge soak results --terminals 100 --hours 4 --faults harsh --seed $$seed || exit 1; \
	done

# Ratios within one run, with memory and the machine named; nothing is asserted.
benchmarks: $(VENV)/.test
	for one in benchmarks/[a-z]*.py; do case $$one in */plain_*) continue;; esac; \
	  echo "== $$one"; $(BIN)/python $$one || exit 1; done

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
