# make demo: train a small player and show it.  make test: everything CI runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check install --quiet -c constraints.txt
RUN := runs/tictactoe-demo

.PHONY: demo install dev test check format

install: $(VENV)/.installed
dev: $(VENV)/.installed-dev

# torch comes first and exact: asked for later or loosely, it may bring gigabytes of CUDA packages.
$(VENV)/.torch: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) "$$(grep '^torch==' constraints.txt)"
	touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml
	$(PIP) -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.torch pyproject.toml
	$(PIP) -e ".[dev]"
	touch $@ $(VENV)/.installed

demo: install
	@if [ -e $(RUN) ]; then \
	  echo "$(RUN) exists and is kept; delete it to train again."; \
	else \
	  $(BIN)/rookery train tictactoe --run $(RUN); \
	fi
	$(BIN)/rookery eval $(RUN)
	@echo "Play against it: $(BIN)/rookery play $(RUN)"

check: dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Tests that begin processes and watch clocks come last, one after the other, on a machine of their own.
ALONE := tests/cluster tests/run tests/runtime

test: check
	$(BIN)/pytest -n auto --dist loadscope --no-loadscope-reorder $(ALONE:%=--ignore=%)
	$(BIN)/pytest $(ALONE)

format: dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
