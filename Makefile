# make demo: train a small player and show it.  make test: everything CI runs.
PYTHON ?= python3
unexport PYTHONDONTWRITEBYTECODE  # every process would compile thousands of modules again
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check install --quiet --no-compile -c constraints.txt
RUN := runs/tictactoe-demo
# The compilers of GPU kernels, in a folder of their own; without them tests/test_kernels.py is skipped.
COMPILERS := numba-cuda==0.30.4 cuda-bindings==13.5.0 cuda-core==1.2.2 cuda-pathfinder==1.8.6 \
  nvidia-nvvm==13.4.92 nvidia-cuda-nvrtc==13.4.92 nvidia-cuda-runtime==13.4.92
# The browser of the tests in tests/web, where root can install one; without it they are skipped.
CHROMIUM := if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
  then apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; fi

.PHONY: demo install dev kernels test test-slow test-gpu sanitize fuzz soak audit check format site

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

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) -e ".[dev]"
	-$(PIP) --no-deps --upgrade --target $(VENV)/cuda $(COMPILERS)
	-$(CHROMIUM)
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) -e ".[docs]"
	touch $@

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

# Compiles the kernels that many tests share, while mypy and what it needs are installed and run.
kernels: install
	PYTHONPATH=src:tests $(BIN)/python tests/compile_first.py

test:
	$(MAKE) -j 2 check kernels
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

test-slow: dev
	$(BIN)/pytest -m slow

# About an hour: 100,000 cases of hostile input.
fuzz: dev
	ROOKERY_FUZZ=100000 $(BIN)/pytest -n auto tests/fuzz

# Five hours on two cores: 1,000 random faults against a training run, then three without.
soak: dev
	$(BIN)/python tools/soak.py

# The documentation site, in site/; a warning is an error.
site: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

test-gpu: dev
	$(BIN)/pytest -m gpu

# Asks PyPI for known vulnerabilities of the pinned packages; make test checks their licences.
audit:
	$(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/pip --disable-pip-version-check install --quiet pip-audit
	$(VENV)-audit/bin/pip-audit -r constraints.txt --no-deps --disable-pip --strict

# Needs a GPU and NVIDIA's compute-sanitizer; `overflow` proves that a write out of bounds is seen.
SANITIZE := PYTORCH_NO_CUDA_MEMORY_CACHING=1 PYTHONPATH=src:tests compute-sanitizer --error-exitcode 9 \
  --report-api-errors no
sanitize: dev
	! $(SANITIZE) --tool memcheck $(BIN)/python tests/gpu_kernels.py chess overflow
	for tool in memcheck racecheck; do \
	  for game in tictactoe connect4 chess tests/wide.py; do \
	    $(SANITIZE) --tool $$tool $(BIN)/python tests/gpu_kernels.py $$game || exit 1; \
	  done; \
	done

format: dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
