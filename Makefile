# serve · test · lint · bench · record: each sets up what it needs, in .venv, and does not need the others.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8000
# The newest one is in the environment itself, the others beside it: .venv/tritons/<version>.
TRITONS := 3.9.0 3.6.0
SOURCES := $(shell find explorer/static explorer/templates -path explorer/static/dist -prune -o -type f -print 2>/dev/null)

.PHONY: serve test lint bench record bundle clean

serve: $(VENV)/installed
	@exec $(BIN)/triton-explorer serve --host $(HOST) --port $(PORT)

# Two processes: each has a server, a browser and sandboxes of its own.
test: $(VENV)/installed-test $(VENV)/installed-chromium
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST)

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python hatch_build.py --check

bench: $(VENV)/installed-test $(VENV)/installed-chromium
	$(BIN)/python -m bench

# The gallery's profiles, measured on this machine's GPU: make record, or make record EXAMPLES="matmul softmax".
record: $(VENV)/installed
	$(BIN)/triton-explorer record $(EXAMPLES) --output proton_profiles

bundle: $(VENV)/installed
	$(BIN)/python hatch_build.py

clean:
	rm -rf $(VENV) explorer/static/dist node_modules

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name it by PYTHON=…, this is $$($(PYTHON) --version)." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { sh tools/install-debian-packages python3-venv && $(PYTHON) -m venv --clear $(VENV); }

# Without a GPU the CPU build of torch will do; where pip finds one, it spares gigabytes of CUDA packages.
$(VENV)/installed-torch: | $(VENV)/bin/pip
	@if [ ! -e /dev/nvidiactl ] && $(BIN)/pip install -q 'torch==2.13.0+cpu' 2>/dev/null; then :; \
	  else $(BIN)/pip install 'torch>=2.11,<3'; fi
	@touch $@

$(VENV)/installed-tritons: | $(VENV)/installed-torch
	@$(BIN)/pip show -q triton 2>/dev/null || $(BIN)/pip install triton==$(firstword $(TRITONS))
	@for version in $(TRITONS); do \
	  [ "$$($(BIN)/python -c 'import importlib.metadata as m; print(m.version("triton"))')" = $$version ] || \
	  $(BIN)/pip install --no-deps --upgrade --target $(VENV)/tritons/$$version triton==$$version || exit 1; \
	done
	@touch $@

$(VENV)/installed: pyproject.toml package.json package-lock.json hatch_build.py $(SOURCES) | $(VENV)/installed-tritons
	$(BIN)/pip install -q -e .
	@touch $@

$(VENV)/installed-test: pyproject.toml $(VENV)/installed
	$(BIN)/pip install -q -e '.[test]'
	@touch $@

$(VENV)/installed-chromium: | $(VENV)/bin/pip
	@command -v chromium >/dev/null || sh tools/install-debian-packages chromium
	@touch $@
