# One command each, for people and for CI. Needs Python >= 3.11 (with venv) and make; everything else is installed into .venv
# from hash-pinned lock files. A stamp file per lock keeps repeated calls fast.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
LOCKED := install --quiet --require-hashes

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)

export PIP_ROOT_USER_ACTION := ignore
export PYTHONNOUSERSITE := 1
# The tests start hundreds of programs: who keeps no compiled modules compiles all of them each time.
unexport PYTHONDONTWRITEBYTECODE

# Twice as many tests at once as there are cores: half of their time they wait, for programs that start, clocks and disks.
# JOBS=0 runs them one by one.
JOBS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((2 * n)))
FAST_TESTS = scripts/fast_tests.sh $(BIN)/python $(JOBS) -m "not slow and not peers" $(ARGS)

# The page is built when one of its sources is newer than the build. Its tests lie among its sources, so they are named apart.
PAGE := src/trunkline/server/static/page/weight.json
PAGE_TESTS := $(shell find web/src web/test -name '*.test.ts' -o -name '*.test.tsx' 2>/dev/null)
PAGE_SOURCES := $(filter-out $(PAGE_TESTS),$(shell find web/src web/public web/vite -type f 2>/dev/null)) \
  web/index.html web/vite.config.ts web/tsconfig.json
PAGE_TOOLS := web/node_modules/.installed
NODE := PYTHON="$(PYTHON)" ../scripts/with_node.sh
PEERS := .bench/peers

.PHONY: help install page run wheel test test-all test-faults test-terminals check docs notices bench bench-peers lock browser screenshots
.DEFAULT_GOAL := help

help:
	@echo "make install    make .venv with .venv/bin/trunkline"
	@echo "make page       build the web page (run, test and check do it by themselves when it changed)"
	@echo "make run        start the hub (ARGS=\"--port 0 --no-open\" passes flags to trunkline serve)"
	@echo "make wheel      build the wheel, with the page in it, into dist/"
	@echo "make test       the fast tests, four at once on two cores (JOBS=0: one by one)"
	@echo "make test-all   every test, also the slow ones and those with real agents"
	@echo "make test-faults   what was done to a hub on purpose, and what became of it; writes docs/reliability.md"
	@echo "make test-terminals   real programs in real terminals, and what the hub does for them; writes docs/agents.md"
	@echo "make check      lint, types, layers, docs and the spec manifest"
	@echo "make docs       renew the generated tables of docs/reference"
	@echo "make notices    renew the licence notices of what the page is built from"
	@echo "make bench      the benchmarks; prints and stores the figures; AGAINST=REV compares with an older commit"
	@echo "make bench-peers   the hub beside other programs that do the same; writes their table into docs/performance.md"
	@echo "make browser    find a Chromium for the tests of the page, or fetch one"
	@echo "make screenshots   renew the pictures in docs/screenshots"
	@echo "make lock       renew requirements/*.txt from pyproject.toml"

install: $(VENV)/.installed

# Says nothing itself, as the installing steps say nothing on stdout: the only line there is the hub's own, with its address.
run: $(VENV)/.installed $(PAGE)
	@exec $(BIN)/trunkline serve $(ARGS)

# The page's own tests run beside the others, in the time in which those wait; what they said is shown at the end, and counts.
test: $(VENV)/.installed-browser $(VENV)/.installed-sandbox $(PAGE)
	@said=$$(mktemp); trap 'rm -f "$$said"' EXIT; trap 'kill $$page; exit 130' INT TERM; \
	(cd web && $(NODE) nice -n 5 node node_modules/vitest/vitest.mjs run --reporter=dot) >"$$said" 2>&1 & page=$$!; \
	(set -x; $(FAST_TESTS)); rest=$$?; \
	wait $$page; of_page=$$?; cat "$$said"; \
	test $$rest -ne 0 || exit $$of_page; exit $$rest

test-all: $(VENV)/.installed-browser $(VENV)/.installed-sandbox $(PAGE)
	@cd web && $(NODE) npx --no-install vitest run --reporter=dot
	THOROUGH=1 $(BIN)/python -m pytest -q $(ARGS)

# One by one, as test-all: their figures are of a machine that does nothing else.
test-faults: $(VENV)/.installed-test $(VENV)/.installed-sandbox $(PAGE)
	FAULT_LOAD_S=480 FAULT_ROUNDS=100 $(BIN)/python -m pytest -q tests/faults --fault-table docs/reliability.md $(ARGS)

# ARGS="-k gemini" renews one program's column.
test-terminals: $(VENV)/.installed-browser $(PAGE)
	$(BIN)/python -m pytest -q tests/peers -m shows --ability-table docs/agents.md $(ARGS)

check: $(VENV)/.installed-test $(PAGE_TOOLS)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	cd web && $(NODE) npm run --silent check
	$(BIN)/python -m pytest -q tests/docs tests/spec/test_manifest.py

docs: $(VENV)/.installed-test
	$(BIN)/python -m scripts.reference

# After a change of web/package-lock.json; a test says when it is due.
notices: $(VENV)/.installed $(PAGE_TOOLS)
	$(BIN)/python -m scripts.notices

wheel: $(VENV)/.installed $(PAGE)
	$(BIN)/python -m hatchling build -t wheel -d dist

bench: $(VENV)/.installed-browser $(PAGE)
	$(BIN)/python -m benchmarks$(if $(AGAINST),.against $(AGAINST)) $(ARGS)

# Under ten minutes; the machine should do nothing else meanwhile.
bench-peers: $(VENV)/.installed-test $(PEERS)/.installed $(PAGE)
	@PYTHON="$(PYTHON)" scripts/with_node.sh $(BIN)/python -m benchmarks.peers $(ARGS)

# They are measured and nothing else, so they stay out of the project's own environment.
$(PEERS)/.installed: benchmarks/peers/package-lock.json requirements/peers.txt | $(VENV)/bin/python
	@echo "Installing what the hub is measured beside into $(PEERS)" >&2
	@mkdir -p $(PEERS)
	@cp benchmarks/peers/package.json benchmarks/peers/package-lock.json benchmarks/peers/.npmrc $(PEERS)/
	@cd $(PEERS) && PYTHON="$(PYTHON)" ../../scripts/with_node.sh npm ci --no-audit --no-fund --loglevel=error >&2
	@$(BIN)/python -m venv --clear $(PEERS)/sdk >&2
	@$(PEERS)/sdk/bin/python -m pip --disable-pip-version-check --no-input $(LOCKED) -r requirements/peers.txt >&2
	@touch $@

browser: $(VENV)/.installed-test
	@$(BIN)/python -m scripts.browser
	@touch $(VENV)/.installed-browser

screenshots: $(VENV)/.installed-browser $(PAGE)
	$(BIN)/python -m scripts.screenshots $(ARGS)

page: $(PAGE)

# Both say nothing on stdout, as the steps below: `make run` has only the hub's own line there.
$(PAGE): $(PAGE_SOURCES) $(PAGE_TOOLS)
	@echo "Building the page" >&2
	@cd web && $(NODE) npx --no-install vite build --logLevel warn >&2

$(PAGE_TOOLS): web/package-lock.json web/.npmrc
	@echo "Installing what builds the page into web/node_modules" >&2
	@cd web && $(NODE) npm ci --no-audit --no-fund --loglevel=error >&2
	@touch $@

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || \
	  { echo "Trunkline needs Python 3.11 or newer: none found on PATH (or set PYTHON=/path/to/python)" >&2; exit 1; }
	@echo "Making $(VENV) with $(PYTHON)" >&2
	@$(PYTHON) -m venv $(VENV) >&2

$(VENV)/.installed: requirements/build.txt requirements/runtime.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing Trunkline into $(VENV)" >&2
	@$(PIP) $(LOCKED) -r requirements/build.txt -r requirements/runtime.txt >&2
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable . >&2
	@touch $@

$(VENV)/.installed-test: requirements/test.txt $(VENV)/.installed
	@echo "Installing what the tests need into $(VENV)" >&2
	@$(PIP) $(LOCKED) -r requirements/test.txt >&2
	@touch $@

# Looks once, and remembers what it found; `make browser` looks again.
$(VENV)/.installed-browser: scripts/browser.py $(VENV)/.installed-test
	@$(BIN)/python -m scripts.browser
	@touch $@

# The sandbox that agents can be kept in; without it its tests are skipped.
$(VENV)/.installed-sandbox: scripts/sandbox.py $(VENV)/.installed-test
	@$(BIN)/python -m scripts.sandbox
	@touch $@

# The lowest supported Python resolves, so that what only older versions need is in the lock; the user's own pip settings stay
# out of it, so that a lock holds the public files' hashes and no address.
LOCK_VENV := build/lock
PIP_COMPILE = PIP_CONFIG_FILE=/dev/null CUSTOM_COMPILE_COMMAND="make lock" $(LOCK_VENV)/bin/pip-compile --quiet --no-config \
  --generate-hashes --allow-unsafe --strip-extras --upgrade --no-emit-options

lock: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "make lock runs on Python 3.11: set PYTHON")'
	test -x $(LOCK_VENV)/bin/python || $(PYTHON) -m venv $(LOCK_VENV)
	$(LOCK_VENV)/bin/python -m pip --disable-pip-version-check $(LOCKED) -r requirements/lock.txt
	$(PIP_COMPILE) --output-file requirements/build.txt requirements/build.in
	$(PIP_COMPILE) --output-file requirements/lock.txt requirements/lock.in
	$(PIP_COMPILE) --output-file requirements/node.txt requirements/node.in
	$(PIP_COMPILE) --output-file requirements/runtime.txt pyproject.toml
	$(PIP_COMPILE) --output-file requirements/test.txt --extra test --constraint requirements/runtime.txt pyproject.toml
	$(PIP_COMPILE) --output-file requirements/peers.txt --constraint requirements/test.txt requirements/peers.in
